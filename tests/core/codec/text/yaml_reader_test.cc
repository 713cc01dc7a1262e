#include "core/codec/text/yaml_reader.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tests/core/codec/text/codec_test_util.h"

namespace schedsim::codec {
namespace {

struct Row {
  absl::string_view yaml;
  absl::string_view json;
};

// Values, as they stand behind `v: `.
constexpr Row kPlainScalars[] = {
    {"", "null"},
    {"~", "null"},
    {"null", "null"},
    {"Null", "null"},
    {"NULL", "null"},
    {"nULL", "\"nULL\""},
    {"y", "true"},
    {"Y", "true"},
    {"yes", "true"},
    {"Yes", "true"},
    {"YES", "true"},
    {"yEs", "\"yEs\""},
    {"on", "true"},
    {"On", "true"},
    {"ON", "true"},
    {"true", "true"},
    {"True", "true"},
    {"TRUE", "true"},
    {"n", "false"},
    {"N", "false"},
    {"no", "false"},
    {"No", "false"},
    {"NO", "false"},
    {"off", "false"},
    {"Off", "false"},
    {"OFF", "false"},
    {"false", "false"},
    {"False", "false"},
    {"FALSE", "false"},
    {"'y'", "\"y\""},
    {"\"no\"", "\"no\""},
    {"'1'", "\"1\""},
    {"''", "\"\""},
    {"\"~\"", "\"~\""},
    {"0", "0"},
    {"-0", "0"},
    {"12", "12"},
    {"+12", "12"},
    {"-12", "-12"},
    {"1_000", "1000"},
    {"010", "8"},
    {"-010", "-8"},
    {"08", "8"},
    {"09.5", "9.5"},
    {"0o17", "15"},
    {"0x1F", "31"},
    {"0X1f", "31"},
    {"-0x10", "-16"},
    {"0b101", "5"},
    {"-0b11", "-3"},
    {"0b-11", "-3"},
    {"0x", "\"0x\""},
    {"0xg", "\"0xg\""},
    {"0b2", "\"0b2\""},
    {"9223372036854775807", "9223372036854775807"},
    {"18446744073709551615", "18446744073709551615"},
    {"18446744073709551616", "18446744073709551616"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"123456789012345678901234567890", "123456789012345678901234567890"},
    {"0.10", "0.10"},
    {".5", "0.5"},
    {"+.5", "0.5"},
    {"-.5", "-0.5"},
    {"5.", "5"},
    {"1e3", "1e3"},
    {"1E+3", "1E+3"},
    {"1e400", "\"1e400\""},
    {".", "\".\""},
    {"1.2.3", "\"1.2.3\""},
    {"1e", "\"1e\""},
    {"._5", "\"._5\""},
    {"1:30", "\"1:30\""},
    {"190:20:30", "\"190:20:30\""},
    {"2001-12-14", "\"2001-12-14\""},
    {"2001-12-14T21:59:43Z", "\"2001-12-14T21:59:43Z\""},
    {"500m", "\"500m\""},
    {"1.5Gi", "\"1.5Gi\""},
    {"+", "\"+\""},
    {"<<", "\"<<\""},
    {"=", "\"=\""},
    {"a b", "\"a b\""},
    {"!!str 12", "\"12\""},
    {"!!str yes", "\"yes\""},
    {"!!int \"3\"", "3"},
    {"!!float 3", "3"},
    {"!!bool yes", "true"},
    {"!!null ''", "null"},
    {"! 12", "\"12\""},
    {"!!map {a: 1}", "{\"a\":1}"},
    {"!!seq [1]", "[1]"},
    {"!!timestamp 2001-12-14", "\"2001-12-14\""},
    {"|\n  a\n  b\n", "\"a\\nb\\n\""},
    {">-\n  a\n  b\n", "\"a b\""},
    {"\"\\u00fc\\t\"", "\"\xc3\xbc\\t\""},
};

TEST(YamlReaderTest, ResolvesPlainScalarsAsYaml11) {
  for (const Row& row : kPlainScalars) {
    EXPECT_EQ(JsonOf(absl::StrCat("v: ", row.yaml, "\n"), "f.yaml"), absl::StrCat("{\"v\":", row.json, "}"))
        << row.yaml;
  }
}

TEST(YamlReaderTest, ResolvesKeysAndMakesThemStrings) {
  constexpr Row kRows[] = {
      {"n", "false"},
      {"y", "true"},
      {"on", "true"},
      {"'n'", "n"},
      {"012", "10"},
      {"0x10", "16"},
      {"1_0", "10"},
      {"-5", "-5"},
      {"1.50", "1.5"},
      {"1.0", "1"},
      {"1e6", "1e+06"},
      {"1e5", "100000"},
      {"0.00001", "1e-05"},
      {"16777217.5", "1.6777218e+07"},
      {"2001-12-14", "2001-12-14"},
      {"!!str no", "no"},
      {"a b", "a b"},
      {"+.INF", ".inf"},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(JsonOf(absl::StrCat(row.yaml, ": v\n"), "f.yaml"), absl::StrCat("{\"", row.json, "\":\"v\"}"))
        << row.yaml;
  }
}

TEST(YamlReaderTest, ReadsDocumentsAnchorsAndMerges) {
  constexpr Row kRows[] = {
      {"", ""},
      {"# nothing\n", ""},
      {"---\n---\na: 1\n---\n", "null\n{\"a\":1}\nnull"},
      {"a: 1\n...\n---\nb: 2\n", "{\"a\":1}\n{\"b\":2}"},
      {"\xef\xbb\xbf"
       "a: 1\n",
       "{\"a\":1}"},
      {"a: 1\r\nb: 2\r\n", "{\"a\":1,\"b\":2}"},
      {"a: &x {b: [1]}\nc: *x\n", "{\"a\":{\"b\":[1]},\"c\":{\"b\":[1]}}"},
      {"- &k key\n- *k : 1\n", "[\"key\",{\"key\":1}]"},
      {"&k n: 1\nb: *k\n", "{\"false\":1,\"b\":false}"},
      {"x: &x {a: 1, b: 2}\nz: {<<: *x, b: 3}\n", "{\"x\":{\"a\":1,\"b\":2},\"z\":{\"a\":1,\"b\":3}}"},
      // As in yaml.v2, what is merged later wins over a key before it.
      {"x: &x {a: 1}\nz: {a: 3, <<: *x}\n", "{\"x\":{\"a\":1},\"z\":{\"a\":1}}"},
      {"x: [&x {a: 1}, &y {a: 2, c: 3}]\nz: {<<: [*x, *y]}\n",
       "{\"x\":[{\"a\":1},{\"a\":2,\"c\":3}],\"z\":{\"a\":1,\"c\":3}}"},
      {"a: {'<<': 1}\n", "{\"a\":{\"<<\":1}}"},
      {"# flow\n{a: [1, {b: c}], d: }\n", "{\"a\":[1,{\"b\":\"c\"}],\"d\":null}"},
  };
  for (const Row& row : kRows) EXPECT_EQ(JsonOf(row.yaml, "f.yaml"), row.json) << row.yaml;
}

TEST(YamlReaderTest, FindsTwoKeysAlikeInMapsOfAnySize) {
  for (const int count : {2, 11, 12, 13, 14, 40}) {
    std::string yaml;
    for (int i = 0; i < count; ++i) absl::StrAppend(&yaml, "k", i, ": 1\n");
    EXPECT_EQ(JsonOf(absl::StrCat(yaml, "k1: 2\n"), "f.yaml"),
              absl::StrCat("f.yaml:", count + 1,
                           ":1: key \"k1\" is already set on line 2, expected each key once"));
    EXPECT_EQ(JsonOf(absl::StrCat(yaml, "x: 2\n"), "f.yaml").front(), '{');
  }
}

// The message must start with `place` and contain `text`.
struct BadRow {
  absl::string_view yaml;
  absl::string_view place;
  absl::string_view text;
};

TEST(YamlReaderTest, ErrorsNameThePlaceAndWhatWasExpected) {
  constexpr BadRow kRows[] = {
      {"a: 1\na: 2\n", "f.yaml:2:1: ", "key \"a\" is already set on line 1, expected each key once"},
      {"x:\n  n: 1\n  no: 2\n", "f.yaml:3:3: ", "key \"false\" is already set on line 2"},
      {"apiVersion: v1\nkind: A\napiVersion: v1\n",
       "f.yaml:3:1: ", "a line `---` between two documents may be missing"},
      {"a:\n\tb: 1\n", "f.yaml:2:1: ", "expected spaces instead of a tab"},
      {"a: [1, 2\n", "f.yaml:2:1: ", "expected"},
      {"a: {b: 1\nc: 2\n", "f.yaml:2:2: ", "expected"},
      {"a: \"b\n", "f.yaml:2:1: ", "inside of quotes"},
      {"a: b: c\n", "f.yaml:1:5: ", "`: ` where no key can stand"},
      {"a: 1\n b: 2\n", "f.yaml:2:3: ", "expected"},
      {absl::string_view("a: 1\nb: \0\n", 10),
       "f.yaml:2:4: ", "expected UTF-8 text without control characters"},
      {"a: 1\nb: \xff\n", "f.yaml:2:4: ", "expected UTF-8"},
      {"\xc3\xbc: x\n\xc3\xbc\xc3\xbc: {a: 1, a: 2}\n", "f.yaml:2:14: ", "already set"},
      {"a: .inf\n", "f.yaml:1:4: ", "no finite number"},
      {"a: -.INF\n", "f.yaml:1:4: ", "no finite number"},
      {"a: .nan\n", "f.yaml:1:4: ", "no finite number"},
      {"a: !!binary aGk=\n", "f.yaml:1:4: ", "tag !!binary"},
      {"a: !mine 1\n", "f.yaml:1:4: ", "tag !mine"},
      {"a: !!int x\n", "f.yaml:1:4: ", "tag !!int on \"x\""},
      {"a: !!map [1]\n", "f.yaml:1:4: ", "expected !!seq"},
      {"a: !!set {b}\n", "f.yaml:1:4: ", "expected !!map"},
      {"? [a]\n: 1\n", "f.yaml:1:3: ", "a map key is a list, expected a string"},
      {"? {a: b}\n: 1\n", "f.yaml:1:3: ", "a map key is a map"},
      {"~: 1\n", "f.yaml:1:1: ", "a map key is null"},
      {"a: *x\n", "f.yaml:1:4: ", "alias *x has no value yet"},
      {"a: &x [*x]\n", "f.yaml:1:8: ", "alias *x has no value yet"},
      {"a: {<<: 1}\n", "f.yaml:1:5: ", "`<<` merges maps only"},
      {"a: {<<: [{b: 1}, 2]}\n", "f.yaml:1:5: ", "`<<` merges maps only"},
      {"a: &x 1\n---\nb: *x\n", "f.yaml:3:4: ", "alias *x has no value yet"},
      {"%YAML 3.0\n---\na\n", "f.yaml:1:1: ", "expected"},
  };
  for (const BadRow& row : kRows) {
    const std::string message = JsonOf(row.yaml, "f.yaml");
    EXPECT_TRUE(absl::StartsWith(message, row.place)) << row.yaml << "\n" << message;
    EXPECT_TRUE(absl::StrContains(message, row.text)) << row.yaml << "\n" << message;
    EXPECT_TRUE(absl::StrContains(message, "expected")) << row.yaml << "\n" << message;
  }
}

TEST(YamlReaderTest, AliasBombIsAnError) {
  std::string yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    absl::StrAppend(&yaml, "a", i, ": &a", i, " [");
    for (int k = 0; k < 10; ++k) absl::StrAppend(&yaml, k == 0 ? "" : ", ", "*a", i - 1);
    absl::StrAppend(&yaml, "]\n");
  }
  const std::string message = JsonOf(yaml, "f.yaml");
  EXPECT_TRUE(absl::StrContains(message, "aliases blow the document up")) << message.substr(0, 200);
  EXPECT_TRUE(absl::StartsWith(message, "f.yaml:")) << message.substr(0, 200);
}

TEST(YamlReaderTest, MergeBombIsAnError) {
  std::string yaml = "a0: &a0 {k: x}\n";
  for (int i = 1; i < 40; ++i) {
    absl::StrAppend(&yaml, "a", i, ": &a", i, " {l: *a", i - 1, ", r: *a", i - 1, "}\n");
  }
  EXPECT_TRUE(absl::StrContains(JsonOf(yaml, "f.yaml"), "aliases blow the document up"));
}

TEST(YamlReaderTest, NestingIsBounded) {
  const auto nested = [](int depth) {
    return absl::StrCat(std::string(depth, '['), std::string(depth, ']'));
  };
  EXPECT_EQ(JsonOf(nested(kDepthMax), "f.yaml"), nested(kDepthMax));
  EXPECT_EQ(JsonOf(nested(kDepthMax + 1), "f.yaml"),
            "f.yaml:1:100: nested too deeply, expected at most 99 levels");
  EXPECT_TRUE(absl::StrContains(JsonOf(nested(100'000), "f.yaml"), "nested too deeply"));
  std::string block;
  for (int i = 0; i < 200; ++i) absl::StrAppend(&block, std::string(i, ' '), "a:\n");
  EXPECT_TRUE(absl::StrContains(JsonOf(block, "f.yaml"), "nested too deeply"));
  // Also when the levels come from aliases.
  std::string aliases = "- &a0 [x]\n";
  for (int i = 1; i < 120; ++i) absl::StrAppend(&aliases, "- &a", i, " [*a", i - 1, "]\n");
  EXPECT_TRUE(absl::StrContains(JsonOf(aliases, "f.yaml"), "makes the nesting too deep"));
}

TEST(YamlReaderTest, ValuesKnowTheirPlace) {
  const absl::Status status = ReadText("# x\na:\n  - b: \xc3\xbc\n    c: [1, \xc3\xbc, 3]\n", "f.yaml", {},
                                       [](const Document& document) {
                                         const Value& a = *document.root.Find("a");
                                         EXPECT_EQ(a.position.line, 3);
                                         EXPECT_EQ(a.position.column, 3);
                                         const Value& c = *a.items[0].Find("c");
                                         EXPECT_EQ(c.items[2].position.line, 4);
                                         EXPECT_EQ(c.items[2].position.column, 16);
                                         EXPECT_EQ(a.items[0].members[1].key_position.column, 5);
                                         return absl::OkStatus();
                                       });
  EXPECT_TRUE(status.ok()) << status;
}

TEST(YamlReaderTest, ListsAreHandedOnByItems) {
  constexpr Row kRows[] = {
      {"apiVersion: v1\nkind: List\nitems:\n- {a: 1}\n- {a: 2}\n", "{\"a\":1}\n{\"a\":2}"},
      {"apiVersion: v1\nitems:\n- {a: 1}\n- {a: 2}\nkind: PodList\nmetadata: {}\n", "{\"a\":1}\n{\"a\":2}"},
      {"items:\n- &x {a: 1}\n- {b: *x}\nkind: List # all\napiVersion: 'v1'\n",
       "{\"a\":1}\n{\"b\":{\"a\":1}}"},
      {"kind: List\napiVersion: v1\nitems: []\n---\nkind: List\napiVersion: v1\nitems: [{b: 1}]\n",
       "{\"b\":1}"},
      // The kind can't be seen ahead: the list comes as a whole.
      {"{items: [{a: 1}], kind: List}\n", "{\"items\":[{\"a\":1}],\"kind\":\"List\"}"},
      {"kind: Widget\nitems: [{a: 1}]\n", "{\"kind\":\"Widget\",\"items\":[{\"a\":1}]}"},
      {"items: [{a: 1}]\nkind: Widget\n---\nkind: List\n",
       "{\"items\":[{\"a\":1}],\"kind\":\"Widget\"}\n{\"kind\":\"List\"}"},
  };
  // A map in flow style is YAML here although it starts with a brace.
  for (const Row& row : kRows) {
    const bool is_flow = row.yaml[0] == '{';
    EXPECT_EQ(JsonOf(absl::StrCat(is_flow ? "# flow\n" : "", row.yaml), "f.yaml", true), row.json)
        << row.yaml;
  }
}

}  // namespace
}  // namespace schedsim::codec
