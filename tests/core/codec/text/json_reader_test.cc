#include "core/codec/text/json_reader.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tests/core/codec/text/codec_test_util.h"

namespace schedsim::codec {
namespace {

struct Row {
  absl::string_view text;
  absl::string_view json;
};

TEST(JsonReaderTest, ReadsValuesExactly) {
  constexpr Row kRows[] = {
      {"", ""},
      {" \n", ""},
      {"{}", "{}"},
      {"[]", "[]"},
      {"\xef\xbb\xbf{}", "{}"},
      {"{\"a\": [1, 1.50, -0, 1e300, 1E+2, 123456789012345678901234567890]}",
       "{\"a\":[1,1.50,-0,1e300,1E+2,123456789012345678901234567890]}"},
      {"{\"a\":{\"b\":[{}, [], null, true, false, \"\"]}}", "{\"a\":{\"b\":[{},[],null,true,false,\"\"]}}"},
      {"{\"\\u00fc\":\"\\ud83d\\ude00\\/\\n\\u0001\"}", "{\"\xc3\xbc\":\"\xf0\x9f\x98\x80/\\n\\u0001\"}"},
      {"\"\xe2\x80\xa8\"", "\"\xe2\x80\xa8\""},
      {"1", "1"},
      {"null", "null"},
      {"true", "true"},
      {"\"a\"", "\"a\""},
      {"{\"a\":1}\n{\"a\":2}\n\n[3]", "{\"a\":1}\n{\"a\":2}\n[3]"},
      {"{}{}[]1 2\"x\"null", "{}\n{}\n[]\n1\n2\n\"x\"\nnull"},
      {"{\"y\": \"no\"}", "{\"y\":\"no\"}"},
  };
  for (const Row& row : kRows) EXPECT_EQ(JsonOf(row.text, "f.json"), row.json) << row.text;
}

struct BadRow {
  absl::string_view text;
  absl::string_view place;
  absl::string_view what;
};

TEST(JsonReaderTest, ErrorsNameThePlaceAndWhatWasExpected) {
  constexpr BadRow kRows[] = {
      {"{\"a\": 1,\n \"a\": 2}", "f.json:2:2: ", "key \"a\" is already set on line 1"},
      {"{\n\"a\": [1, 2", "f.json:2:11: ", "the text ends in a list that starts on line 2, expected `]`"},
      {"{\n\"a\": ", "f.json:2:6: ", "the text ends in a map that starts on line 1, expected `}`"},
      {"{\"a\": \"b", "f.json:1:9: ", "the text ends in a string that starts on line 1"},
      {"{\"a\": [1}", "f.json:1:9: ", "expected `]` first"},
      {"{} }", "f.json:1:4: ", "expected another value or the end of the file"},
      {"{},{}", "f.json:1:3: ", "expected another value"},
      {"{} x", "f.json:1:4: ", "malformed JSON"},
      {"{\"a\" 1}", "f.json:1:6: ", "expected"},
      {"{a: 1}", "f.json:1:2: ", "expected"},
      {"{\"a\": 1,}", "f.json:1:9: ", "expected"},
      {"[1,]", "f.json:1:4: ", "expected"},
      {"[1 2]", "f.json:1:4: ", "expected"},
      {"[,1]", "f.json:1:2: ", "expected"},
      {"[01]", "f.json:1:2: ", "is no JSON number"},
      {"[1.]", "f.json:1:2: ", "is no JSON number"},
      {"[1e999]", "f.json:1:2: ", "is beyond 64-bit floating point"},
      {"{\"a\": -1E400}", "f.json:1:7: ", "is beyond 64-bit floating point"},
      {"[+1]", "f.json:1:2: ", "expected"},
      {"[.5]", "f.json:1:2: ", "expected"},
      {"[NaN]", "f.json:1:2: ", "expected"},
      {"[trux]", "f.json:1:2: ", "expected true, false, null"},
      {"[nul]", "f.json:1:2: ", "expected true, false, null"},
      {"['a']", "f.json:1:2: ", "expected"},
      {"[\"\\x\"]", "f.json:1:2: ", "bad escape"},
      {"[\"\\ud800\"]", "f.json:1:2: ", "bad escape"},
      {"[\"a\nb\"]", "f.json:1:4: ", "control character in a string"},
      {"[\n\"a\xff\"]", "f.json:2:3: ", "invalid UTF-8"},
      {"{\"a\": 1} // x", "f.json:1:10: ", "expected"},
      {absl::string_view("{}\0", 3), "f.json:1:3: ", "expected"},
  };
  for (const BadRow& row : kRows) {
    const std::string message = JsonOf(row.text, "f.json");
    EXPECT_TRUE(absl::StartsWith(message, row.place)) << row.text << "\n" << message;
    EXPECT_TRUE(absl::StrContains(message, row.what)) << row.text << "\n" << message;
    EXPECT_TRUE(absl::StrContains(message, "expected")) << row.text << "\n" << message;
  }
}

TEST(JsonReaderTest, NestingIsBounded) {
  const auto nested = [](int depth) {
    return absl::StrCat(std::string(depth, '['), std::string(depth, ']'));
  };
  EXPECT_EQ(JsonOf(nested(kDepthMax), "f.json"), nested(kDepthMax));
  EXPECT_EQ(JsonOf(nested(kDepthMax + 1), "f.json"),
            "f.json:1:100: nested too deeply, expected at most 99 levels");
  EXPECT_TRUE(absl::StrContains(JsonOf(nested(1'000'000), "f.json"), "nested too deeply"));
}

// The text is never closed, but that is not what it is refused for: nobody looks for its end.
TEST(JsonReaderTest, NestingIsBoundedBeforeTheValueIsParsed) {
  EXPECT_EQ(JsonOf("[1,\n" + std::string(1'000, '['), "f.json"),
            "f.json:2:99: nested too deeply, expected at most 99 levels");
}

TEST(JsonReaderTest, ValuesOfADocumentAreBounded) {
  const auto read = [](absl::string_view text, absl::string_view file) {
    const ReadOptions options = {.split_lists = true, .value_count_max = 8};
    return std::string(ReadText(std::string(text), file, options, [](const Document&) {
                         return absl::OkStatus();
                       }).message());
  };
  EXPECT_EQ(read("[1, 2, 3, 4, 5, [], {\"a\": 2}]", "f.json"),
            "f.json:1:27: more than 8 values in one document, expected fewer; of a list of objects (`kind: "
            "List`) each item counts by itself");
  EXPECT_EQ(read("[1, 2, 3, 4, 5, 6, 7] [1, 2, 3, 4, 5, 6, 7]", "f.json"), "");
  const std::string yaml = read("- [1, 2, 3, 4, 5]\n- a: 2\n", "f.yaml");
  EXPECT_TRUE(absl::StartsWith(yaml, "f.yaml:2:6: more than 8 values in one document")) << yaml;
  constexpr char kHead[] = R"({"kind": "List", "apiVersion": "v1", "items": [)";
  EXPECT_EQ(read(absl::StrCat(kHead, R"({"a": [1, 2]}, {"b": [3, 4]}, {"c": [5, 6]}]})"), "f.json"), "");
  const std::string item =
      read(absl::StrCat(kHead, R"({"a": [1, 2]}, {"b": [1, 2, 3, 4, 5, 6, 7]}]})"), "f.json");
  EXPECT_TRUE(absl::StrContains(item, "more than 8 values in one document")) << item;
}

TEST(JsonReaderTest, FormatFollowsNameAndContent) {
  EXPECT_EQ(JsonOf("{\"a\": 1}", "stdin"), "{\"a\":1}");
  EXPECT_EQ(JsonOf(" {\"a\": 1}\n{\"a\": 2}", "x.yaml"), "{\"a\":1}\n{\"a\":2}");
  EXPECT_EQ(JsonOf("a: 1", "stdin"), "{\"a\":1}");
  EXPECT_TRUE(absl::StrContains(JsonOf("a: 1", "x.json.gz"), "expected"));
}

// Documents of both syntaxes, and by both readers of each.
TEST(JsonReaderTest, AListOfTheRootIsHandedOnByEntries) {
  const auto read = [](absl::string_view text, absl::string_view file, bool by_full_syntax) {
    const ReadOptions options = {.split_member = "objects", .by_full_syntax = by_full_syntax};
    std::string seen;
    const absl::Status status = ReadText(std::string(text), file, options, [&seen](const Document& document) {
      absl::StrAppend(&seen, document.is_entry ? "entry " : "root ", ToJson(document.root), "\n");
      return absl::OkStatus();
    });
    return status.ok() ? seen : std::string(status.message());
  };
  const std::string json = R"({"name": "a", "objects": [{"b": 1}, 2], "steps": [{"objects": [3]}]})";
  const std::string wanted =
      "entry {\"b\":1}\nentry 2\nroot {\"name\":\"a\",\"objects\":[],\"steps\":[{\"objects\":[3]}]}\n";
  for (const bool full : {false, true}) {
    // The second document repeats the bytes of the first, entries included.
    EXPECT_EQ(read(json + "\n" + json + "\n", "f.jsonl", full), wanted + wanted);
    EXPECT_EQ(read("objects: [&x {b: 1}]\nlast: *x\n", "f.yaml", full),
              "entry {\"b\":1}\nroot {\"objects\":[],\"last\":{\"b\":1}}\n");
    EXPECT_EQ(read(R"({"objects": 1})", "f.json", full), "root {\"objects\":1}\n");
  }
}

TEST(JsonReaderTest, ListsAreHandedOnByItems) {
  constexpr Row kRows[] = {
      {"{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[{\"a\":1},{\"a\":2}]}", "{\"a\":1}\n{\"a\":2}"},
      {"{\"apiVersion\":\"v1\",\"items\":[{\"a\":1},{\"a\":2}],\"kind\":\"PodList\"}",
       "{\"a\":1}\n{\"a\":2}"},
      {"{\"items\":[{\"a\":[{\"items\":[1]}]}],\"kind\":\"List\",\"apiVersion\":\"v1\"}",
       "{\"a\":[{\"items\":[1]}]}"},
      {"{\"items\":[{\"a\":1}],\"kind\":\"Widget\"}", "{\"items\":[{\"a\":1}],\"kind\":\"Widget\"}"},
      {"{\"items\":[{\"a\":1}]}", "{\"items\":[{\"a\":1}]}"},
      {"{\"kind\":\"List\",\"items\":[]}{\"b\":1}", "{\"b\":1}"},
  };
  for (const Row& row : kRows) EXPECT_EQ(JsonOf(row.text, "f.json", true), row.json) << row.text;
}

TEST(JsonReaderTest, ValuesKnowTheirPlace) {
  const absl::Status status = ReadText("\n{\"a\":\n  [1,\n   {\"b\": \"\xc3\xbc\", \"c\": 2}]}\n  {\"d\": 3}",
                                       "f.json", {}, [](const Document& document) {
                                         if (const Value* a = document.root.Find("a")) {
                                           EXPECT_EQ(a->position.line, 3);
                                           EXPECT_EQ(a->position.column, 3);
                                           EXPECT_EQ(a->items[1].Find("c")->position.line, 4);
                                           EXPECT_EQ(a->items[1].Find("c")->position.column, 21);
                                         } else {
                                           EXPECT_EQ(document.root.Find("d")->position.line, 5);
                                           EXPECT_EQ(document.root.Find("d")->position.column, 9);
                                         }
                                         return absl::OkStatus();
                                       });
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace schedsim::codec
