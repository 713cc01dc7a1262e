// What the API server refuses, in its own words: the rows of validation/*.yaml. A row's object is the file's
// `base` with the merge patch `change`; where there is an `update`, that is a merge patch of the stored
// object. `message` is what a real API server says, "" where it takes it; tests/realcluster/validation.py
// asks one.
// `ours` is what we say where that is something else: what Go prints of a whole struct, and what only
// defaults of the API that are not kept here refuse.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/codec/objects/objects.h"
#include "core/codec/patch/merge_patch.h"
#include "core/codec/text/reader.h"
#include "gtest/gtest.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"

namespace schedsim::sim {
namespace {

constexpr char kFolder[] = SCHEDSIM_SOURCE_DIR "/tests/sim/cluster/admission/validation";

std::vector<std::string> Tables() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

std::string TextOf(const codec::Value& row, absl::string_view key) {
  const codec::Value* value = row.Find(key);
  return value == nullptr ? "" : std::string(value->text);
}

// The field that a message is about first.
std::string FieldOf(absl::string_view message) {
  const size_t begin = message.find("is invalid: ");
  if (begin == absl::string_view::npos) return "";
  message.remove_prefix(begin + absl::string_view("is invalid: ").size());
  absl::ConsumePrefix(&message, "[");
  return std::string(message.substr(0, message.find(": ")));
}

class ValidationTest : public testing::TestWithParam<std::string> {
 protected:
  // What is said of a row of a document.
  absl::Status Answer(const codec::Value& base, const codec::Value& row, bool& is_read) {
    EventLoop loop(absl::UnixEpoch());
    ApiServer server({}, loop);
    codec::Document merged;
    const codec::Value* change = row.Find("change");
    const codec::Value made = change == nullptr ? base : codec::MergePatch(base, *change, merged);
    const absl::StatusOr<api::ObjectPtr> object = codec::ObjectReader().Decode(made, "test.yaml");
    is_read = object.ok();
    if (!object.ok()) return object.status();
    const absl::Status created = server.Create(*object);
    const codec::Value* update = row.Find("update");
    if (!created.ok() || update == nullptr) return created;
    const auto check = [&server](const api::Object& before, const api::Object& after) {
      return server.AdmitUpdate(before, after);
    };
    return server.Patch(**object, codec::PatchType::kMerge, *update, check).status();
  }

  void CheckRow(const codec::Value& base, const codec::Value& row) {
    const bool differs = row.Find("ours") != nullptr;
    const std::string expected = TextOf(row, differs ? "ours" : "message");
    bool is_read = false;
    const absl::Status status = Answer(base, row, is_read);
    if (is_read || expected.empty()) {
      EXPECT_EQ(std::string(status.message()), expected);
      return;
    }
    // Reading refuses some objects before, in words of its own, with the place in the file.
    EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat(FieldOf(expected), ": "))) << status << "\n"
                                                                                            << expected;
  }
};

TEST_P(ValidationTest, SaysWhatARealApiServerSays) {
  int row_count = 0;
  const std::string path = absl::StrCat(kFolder, "/", GetParam(), ".yaml");
  const absl::Status status = codec::ReadValues(path, [&](const codec::Document& document) {
    for (const codec::Value& row : document.root.Find("rows")->items) {
      const codec::Value& base = *document.root.Find("base");
      SCOPED_TRACE(
          absl::StrCat(path, ":", row.position.line, ": ", TextOf(base, "kind"), ": ", TextOf(row, "name")));
      CheckRow(base, row);
      ++row_count;
    }
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_GT(row_count, 0);
}

INSTANTIATE_TEST_SUITE_P(Tables, ValidationTest, testing::ValuesIn(Tables()),
                         [](const auto& table) { return table.param; });

}  // namespace
}  // namespace schedsim::sim
