// Differences of two versions, and that the patch leads from one to the other.
#include "core/codec/patch/strategic_merge_diff.h"

#include <optional>
#include <string>

#include "core/api/kinds.h"
#include "core/base/check.h"
#include "core/codec/patch/strategic_merge_patch.h"
#include "core/codec/patch/value_copy.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "gtest/gtest.h"

namespace schedsim::codec {
namespace {

// The patch as JSON, after it was checked against `after`; "none" where there is none.
std::string Diff(const std::string& before, const std::string& after, const char* kind = "Pod") {
  const api::KindInfo* const info = api::FindKindByName(kind);
  CHECK(info != nullptr);
  std::string text = "none";
  const auto read = [](const std::string& json, DocumentSink sink) {
    CHECK(ReadText(json, "a.json", {}, sink).ok());
  };
  read(before, [&](const Document& old_object) {
    read(after, [&](const Document& new_object) {
      Document document;
      const std::optional<Value> patch =
          StrategicMergeDiff(old_object.root, new_object.root, *info, document);
      if (!patch.has_value()) return absl::OkStatus();
      text = ToJson(*patch);
      // As whoever reads the text applies it.
      read(text, [&](const Document& reread) {
        const auto patched = StrategicMergePatch(old_object.root, reread.root, *info, document);
        EXPECT_TRUE(patched.ok());
        EXPECT_TRUE(SameTree(WithoutNulls(*patched, document), WithoutNulls(new_object.root, document)))
            << ToJson(*patched);
        return absl::OkStatus();
      });
      return absl::OkStatus();
    });
    return absl::OkStatus();
  });
  return text;
}

TEST(StrategicMergeDiffTest, SaysNothingOfWhatIsTheSame) {
  EXPECT_EQ(Diff(R"({"a":{"b":1}})", R"({"a":{"b":1}})"), "{}");
  EXPECT_EQ(Diff(R"({"a":{"b":1,"c":null}})", R"({"a":{"b":1},"d":null})"), "{}");
}

TEST(StrategicMergeDiffTest, TakesMembersAwayByNull) {
  EXPECT_EQ(Diff(R"({"metadata":{"labels":{"a":"1","b":"2"}},"spec":{"x":1}})",
                 R"({"metadata":{"labels":{"a":"1"}}})"),
            R"({"spec":null,"metadata":{"labels":{"b":null}}})");
}

TEST(StrategicMergeDiffTest, MergesItemsByTheirKey) {
  EXPECT_EQ(
      Diff(R"({"status":{"conditions":[{"type":"A","status":"1"},{"type":"B","status":"1"}]}})",
           R"({"status":{"conditions":[{"type":"B","status":"2"},{"type":"C","status":"3"}]}})"),
      R"({"status":{"$setElementOrder/conditions":[{"type":"B"},{"type":"C"}],"conditions":[{"status":"2","type":"B"},{"type":"C","status":"3"},{"$patch":"delete","type":"A"}]}})");
}

TEST(StrategicMergeDiffTest, GivesListsWithoutAKeyWhole) {
  EXPECT_EQ(Diff(R"({"spec":{"tolerations":[{"key":"a"}]}})", R"({"spec":{"tolerations":[{"key":"b"}]}})"),
            R"({"spec":{"tolerations":[{"key":"b"}]}})");
}

TEST(StrategicMergeDiffTest, MergesSets) {
  EXPECT_EQ(
      Diff(R"({"metadata":{"finalizers":["a","b"]}})", R"({"metadata":{"finalizers":["c","b"]}})"),
      R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"$setElementOrder/finalizers":["c","b"],"finalizers":["c"]}})");
}

TEST(StrategicMergeDiffTest, ReplacesListsWhoseItemsShareAKey) {
  const std::string before =
      R"({"spec":{"containers":[{"name":"c","ports":[{"containerPort":53,"protocol":"TCP"}]}]}})";
  const std::string after =
      R"({"spec":{"containers":[{"name":"c","ports":[{"containerPort":53,"protocol":"TCP"},{"containerPort":53,"protocol":"UDP"}]}]}})";
  // Whatever the patch is, it leads there, or there is none.
  EXPECT_NE(Diff(before, after), "{}");
}

TEST(StrategicMergeDiffTest, GoesDownIntoTemplates) {
  EXPECT_EQ(
      Diff(
          R"({"spec":{"template":{"spec":{"containers":[{"name":"a","image":"x"},{"name":"b","image":"x"}]}}}})",
          R"({"spec":{"template":{"spec":{"containers":[{"name":"a","image":"x"},{"name":"b","image":"y"}]}}}})",
          "Deployment"),
      R"({"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],"containers":[{"image":"y","name":"b"}]}}}})");
}

}  // namespace
}  // namespace schedsim::codec
