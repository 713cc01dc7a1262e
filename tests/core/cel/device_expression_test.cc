// Selectors of devices, with what the real library makes of them.
#include "core/cel/device_expression.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/codec/objects/decode.h"
#include "core/codec/text/input.h"
#include "core/codec/text/reader.h"
#include "gtest/gtest.h"

namespace schedsim::cel {
namespace {

// What one row of the vectors says, or we say: "true", "false", "compile: …" or "runtime: …".
std::string Recorded(const codec::Value& row) {
  for (const absl::string_view key : {"compile", "runtime"}) {
    if (const codec::Value* text = row.Find(key)) return absl::StrCat(key, ": ", text->text);
  }
  return row.Find("result")->boolean ? "true" : "false";
}

std::string Evaluated(const absl::StatusOr<DeviceExpression>& expression, const codec::Value& row) {
  if (absl::IsUnimplemented(expression.status()))
    return absl::StrCat("unknown: ", expression.status().message());
  if (!expression.ok()) return absl::StrCat("compile: ", expression.status().message());
  api::Device device;
  const codec::DecodeContext context = {.validate = false};
  CHECK(codec::Decode(context, *row.Find("device"), codec::Path(), device).ok());
  const CelResult value = DeviceValue(row.Find("driver")->text, device);
  if (!value.ok()) return absl::StrCat("runtime: ", value.status().message());
  const absl::StatusOr<bool> matches = expression->Matches(*value);
  if (!matches.ok()) return absl::StrCat("runtime: ", matches.status().message());
  return *matches ? "true" : "false";
}

// Goes through the vectors of a file; the number of rows.
int CompareAll(const std::string& file) {
  absl::StatusOr<std::string> text = codec::ReadFile(file);
  EXPECT_TRUE(text.ok()) << text.status();
  std::map<std::string, absl::StatusOr<DeviceExpression>> compiled;
  int rows = 0;
  const absl::Status status =
      codec::ReadText(*std::move(text), file, {}, [&](const codec::Document& document) {
        const codec::Value& row = document.root;
        const std::string expression(row.Find("expression")->text);
        auto known = compiled.find(expression);
        if (known == compiled.end())
          known = compiled.emplace(expression, DeviceExpression::Compile(expression)).first;
        EXPECT_EQ(Evaluated(known->second, row), Recorded(row)) << expression;
        ++rows;
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status;
  return rows;
}

TEST(DeviceExpressionTest, SaysWhatTheRealLibrarySays) {
  EXPECT_EQ(CompareAll(SCHEDSIM_SOURCE_DIR "/tests/conformance/cel-selectors.jsonl.gz"), 2460);
}

// Random expressions of all functions, and such with mistakes in names and types.
TEST(DeviceExpressionTest, SaysOfRandomExpressionsWhatTheRealLibrarySays) {
  EXPECT_EQ(CompareAll(SCHEDSIM_SOURCE_DIR "/tests/conformance/cel-random.jsonl.gz"), 5540);
}

TEST(DeviceExpressionTest, NamesWhatIsNotBuilt) {
  const auto unbuilt = [](const char* text) {
    return std::string(DeviceExpression::Compile(text).status().message());
  };
  EXPECT_EQ(unbuilt("ip('1.2.3.4').family() == 4"), "function ip is not known here");
  EXPECT_EQ(unbuilt("{1: true}[1]"), "a map with keys of type int is not known here");
  EXPECT_EQ(unbuilt("b'x' == b'y'"), "bytes are not known here");
}

}  // namespace
}  // namespace schedsim::cel
