// The examples of RFC 7396, appendix A, and what an object is patched with.
#include "core/codec/merge_patch.h"

#include <string>

#include "core/codec/reader.h"
#include "core/codec/writer.h"
#include "gtest/gtest.h"

namespace schedsim::codec {
namespace {

std::string Merged(const std::string& target, const std::string& patch) {
  std::string result;
  Document merged;
  // A map around the value, so that it may be anything.
  const absl::Status status = ReadText("{\"v\":" + target + "}", "target.json", {}, [&](const Document& stored) {
    return ReadText("{\"v\":" + patch + "}", "patch.json", {}, [&](const Document& change) {
      result = ToJson(MergePatch(*stored.root.Find("v"), *change.root.Find("v"), merged));
      return absl::OkStatus();
    });
  });
  EXPECT_TRUE(status.ok()) << status;
  return result;
}

struct Example {
  const char* target;
  const char* patch;
  const char* result;
};

TEST(MergePatchTest, DoesWhatTheExamplesOfTheRfcSay) {
  const Example examples[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", R"(null)", R"(null)"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const Example& example : examples) {
    EXPECT_EQ(Merged(example.target, example.patch), example.result) << example.target << " " << example.patch;
  }
}

}  // namespace
}  // namespace schedsim::codec
