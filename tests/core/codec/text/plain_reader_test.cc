// The fast readers and those of the whole syntax see the same in every text: values, places and errors.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/rng.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"

namespace schedsim::codec {
namespace {

void AppendPlaces(const Value& value, std::string& out) {
  absl::StrAppend(&out, " ", value.position.line, ":", value.position.column);
  for (const Value& item : value.items) AppendPlaces(item, out);
  for (const Member& member : value.members) {
    absl::StrAppend(&out, " ", member.key_position.line, ":", member.key_position.column);
    AppendPlaces(member.value, out);
  }
}

// All that reading a text tells. An error stands alone: how many items of a list come before it is up to the
// reader, which may look ahead.
std::string Told(const std::string& text, absl::string_view file, bool by_full_syntax) {
  std::string out;
  std::set<std::string> repeated_keys;  // They may be said several times.
  const ReadOptions options = {
      .split_lists = true,
      .value_count_max = 10'000'000,
      .by_full_syntax = by_full_syntax,
      .on_repeated_key = [&repeated_keys](const RepeatedKey& repeated) {
        repeated_keys.insert(absl::StrCat(repeated.path, " ", repeated.first_line, " ",
                                          repeated.position.line, ":", repeated.position.column, "\n"));
      }};
  const absl::Status status = ReadText(text, file, options, [&](const Document& document) {
    absl::StrAppend(&out, document.list_kind, " ", document.list_api_version, " ");
    AppendJson(document.root, out);
    AppendPlaces(document.root, out);
    out.push_back('\n');
    return absl::OkStatus();
  });
  for (const std::string& repeated : repeated_keys) out += repeated;
  return status.ok() ? out : std::string(status.message());
}

void ExpectSame(const std::string& text, absl::string_view file) {
  ASSERT_EQ(Told(text, file, /*by_full_syntax=*/false), Told(text, file, /*by_full_syntax=*/true)) << text;
}

constexpr absl::string_view kYaml = R"(# a comment
apiVersion: v1
items:
- apiVersion: v1
  kind: Pod # a comment
  metadata:
    annotations: {}
    finalizers: []
    labels:
      a: "1"
      'b''c': 'it''s'
      "d\"e": "\\\n\t"
      k:{"uid":"x"}: .5
      .: 0x1F
    name: p
    empty:

    nothing: ~
    url: http://x:80/#y
    folded: 0/15 nodes are available, 2 node(s)
      were unschedulable - or not
    quoted: 'it''s
      too long  
       for one line: #'
    twice: "a \
      \  b\n\\
      c"
  spec:
    containers:
    - name: c
      args:
      - -v
      - |
        a
          b

        c
      - |-
        tab	in it
      - |+
        kept

      command: ["sh", '-c', x y]
      resources: {requests: {cpu: 100m, memory: "1Gi"}, n: [1, [], {}]}
    - - nested
      -   deep: true
          er: no
    -
      name: below
- q
kind: List
---
apiVersion: v1
kind: Node
metadata:
  name: n\u00fc
---
# nothing
---
a: 1
...
b: 2
)";

constexpr absl::string_view kJson = R"({
    "apiVersion": "v1",
    "items": [
        {"metadata": {"name": "p\u0041\n", "labels": {"a": "\ud83d\ude00", "k:{\"uid\":\"x\"}": {}}},
         "spec": {"cpu": 1.5e0, "n": -0, "t": true, "f": false, "z": null, "l": [1, [], {}, ""]}},
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "ü"}}
    ],
    "kind": "PodList"
}
---
{"a": 1}
[1, 2]
"x" 7 {"items": [{}], "kind": "Service"}
{"items": [{"a": 1}], "n": 12.5, "b": true, "c": null, "d": {"k": ["]"]}, "kind": "NodeList", "apiVersion": "v1"}
)";

constexpr absl::string_view kYamlParts[] = {"a",
                                            "b",
                                            ": ",
                                            ":",
                                            "- ",
                                            "-",
                                            "\n",
                                            "\n  ",
                                            "\n    ",
                                            "\n   x",
                                            " \\\n  ",
                                            "\n- ",
                                            "\n  - ",
                                            " ",
                                            "  ",
                                            "#",
                                            " # c",
                                            "\"",
                                            "'",
                                            "\"x\"",
                                            "'y'",
                                            "{",
                                            "}",
                                            "[",
                                            "]",
                                            ",",
                                            ", ",
                                            "|",
                                            "|-",
                                            "|+",
                                            ">",
                                            "&a",
                                            "*a",
                                            "!!str",
                                            "?",
                                            "? ",
                                            "1",
                                            "1.5",
                                            "~",
                                            "true",
                                            "---",
                                            "\n---\n",
                                            "\n...\n",
                                            "%",
                                            "\t",
                                            "\r\n",
                                            "\xc3\xbc",
                                            "\xc2\x85",
                                            "\xff",
                                            "<<",
                                            "items:\n",
                                            "kind: List\n",
                                            "apiVersion: v1\n",
                                            "a: b\n",
                                            "  c: d\n",
                                            "- e: f\n",
                                            "\\",
                                            "\\n",
                                            "@",
                                            "`",
                                            ".inf"};

constexpr absl::string_view kJsonParts[] = {"{",
                                            "}",
                                            "[",
                                            "]",
                                            ",",
                                            ":",
                                            "\"a\"",
                                            "\"b\"",
                                            "\"items\"",
                                            "\"kind\"",
                                            "\"List\"",
                                            "\"apiVersion\"",
                                            "\"v1\"",
                                            "{\"a\":1}",
                                            "[{}]",
                                            "1",
                                            "-",
                                            "0",
                                            "1.5",
                                            "1e999",
                                            "true",
                                            "false",
                                            "null",
                                            "nul",
                                            " ",
                                            "\n",
                                            "\n  ",
                                            "\t",
                                            "\"\\u00e9\"",
                                            "\"\\ud83d\\ude00\"",
                                            "\\u2028",
                                            "\"\\n\"",
                                            "\"\\x\"",
                                            "\"\xc3\xbc\"",
                                            "\"\xff\"",
                                            "\"",
                                            "\\",
                                            "\n---\n",
                                            "{\"items\":[{},{}],\"kind\":\"PodList\",\"apiVersion\":\"v1\"}"};

std::string Joined(absl::Span<const absl::string_view> parts, Rng& rng) {
  std::string text;
  for (int64_t left = 1 + rng.Below(14); left > 0; --left) {
    absl::StrAppend(&text, parts[static_cast<size_t>(rng.Below(static_cast<int64_t>(parts.size())))]);
  }
  return text;
}

// Changes a byte, removes some, or puts a part in.
std::string Changed(absl::string_view whole, absl::Span<const absl::string_view> parts, Rng& rng) {
  std::string text(whole);
  const size_t at = static_cast<size_t>(rng.Below(static_cast<int64_t>(text.size())));
  const int64_t kind = rng.Below(3);
  if (kind == 0) text[at] = static_cast<char>(text[at] ^ (1 << rng.Below(8)));
  if (kind == 1) text.erase(at, static_cast<size_t>(1 + rng.Below(4)));
  if (kind == 2) {
    const absl::string_view part = parts[static_cast<size_t>(rng.Below(static_cast<int64_t>(parts.size())))];
    text.insert(at, part.data(), part.size());
  }
  return text;
}

TEST(PlainReaderTest, WholeExamplesReadTheSame) {
  ExpectSame(std::string(kYaml), "f.yaml");
  ExpectSame(std::string(kJson), "f.json");
}

TEST(PlainReaderTest, ChangedExamplesReadTheSame) {
  Rng rng(3);
  for (int i = 0; i < 6'000; ++i) {
    std::string yaml = Changed(kYaml, kYamlParts, rng);
    if (i % 3 == 0) yaml = Changed(yaml, kYamlParts, rng);
    ExpectSame(yaml, "f.yaml");
    ExpectSame(Changed(kJson, kJsonParts, rng), "f.json");
    if (HasFatalFailure()) return;
  }
}

TEST(PlainReaderTest, JoinedPartsReadTheSame) {
  Rng rng(4);
  for (int i = 0; i < 60'000; ++i) {
    ExpectSame(Joined(kYamlParts, rng), "f.yaml");
    ExpectSame(Joined(kJsonParts, rng), "f.json");
    if (HasFatalFailure()) return;
  }
}

// Objects that differ in a few places from one to the next.
class LikeItems {
 public:
  explicit LikeItems(uint64_t seed) : rng_(seed) {}

  // `count` of them in JSON, with commas.
  std::string Json(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      Change(kJsonKeys, kJsonValues);
      absl::StrAppend(&text, i == 0 ? "" : Pick(kJsonCommas));
      absl::StrAppend(&text, R"({"kind": "Pod", "metadata": {"name": "p-)", i, R"(", )", key_, ": ",
                      values_[0]);
      absl::StrAppend(&text, R"(, "labels": {"a": )", values_[1], "}},\n  \"spec\": {\"containers\": [",
                      values_[2], R"(, {"b": [)", values_[3], "]}], \"n\":\n [1, 2], \"z\": ", values_[4],
                      "\n}, \"t\": true}");
    }
    return text;
  }

  // `count` of them in YAML, as entries of a list.
  std::string Yaml(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      Change(kYamlKeys, kYamlValues);
      absl::StrAppend(&text, "- kind: Pod\n  metadata:\n    name: p-", i, "\n    ", key_, ":", values_[0],
                      "\n    labels:\n      a:", values_[1],
                      "\n  spec:\n    containers:\n    - name:", values_[2], "\n      b:", values_[3],
                      "\n    n: [1, 2]\n    z:", values_[4], "\n    ", key_, ": x\n  t: true\n");
    }
    return text;
  }

 private:
  using Choices = absl::Span<const absl::string_view>;
  static constexpr absl::string_view kJsonValues[] = {
      "1",     "12", "-1.5",   "true",  "null", R"("x")",      R"("xy")",          R"("\n")",
      R"("")", "{}", "[1, 2]", "[1,2]", "[]",   R"({"a": 1})", "{\"a\":\n \"x\"}", R"([{"a": ["x"]}])",
      R"("ü")"};
  static constexpr absl::string_view kJsonKeys[] = {
      R"("k")",  R"("uid")", R"("uid": 1, "u")",        R"("\u0041")",
      R"("k" )", R"("zz")",  R"("z": {}, "k": 2, "y")", R"("labels")"};
  static constexpr absl::string_view kJsonCommas[] = {",", ", ", ",\n", "\n  ,\n    "};
  static constexpr absl::string_view kYamlValues[] = {"",
                                                      " 1",
                                                      " 12",
                                                      " x # c",
                                                      " 'x'",
                                                      " \"x\\n\"",
                                                      " ~",
                                                      " |\n        x\n",
                                                      " |-\n         y",
                                                      " {}",
                                                      " [a, b]",
                                                      "\n      - q\n      - r",
                                                      "\n       d: e\n       f: g",
                                                      "\n# c\n",
                                                      " x\n\n",
                                                      "\n       d:\n       -f: g",
                                                      "\n      - d: e\n        f:",
                                                      " x\n          y",
                                                      " 'x''\n          y'",
                                                      " \"x\\\n          y\""};
  static constexpr absl::string_view kYamlKeys[] = {"k",          "uid", "\"k\"",       "'k'",    "-k", "- k",
                                                    "# c\n    k", "zz",  "u: 1\n    v", "labels", "z",  "k "};

  std::string Pick(Choices choices) {
    return std::string(choices[static_cast<size_t>(rng_.Below(static_cast<int64_t>(choices.size())))]);
  }

  void Change(Choices keys, Choices values) {
    for (std::string& value : values_) {
      if (value.empty() || rng_.Below(5) == 0) value = Pick(values);
    }
    if (key_.empty() || rng_.Below(6) == 0) key_ = Pick(keys);
  }

  Rng rng_;
  std::string values_[5];
  std::string key_;
};

TEST(PlainReaderTest, ItemsThatAreAlikeReadTheSame) {
  for (uint64_t seed = 1; seed <= 3'000; ++seed) {
    const std::string json = LikeItems(seed).Json(6);
    ExpectSame(absl::StrCat(R"({"kind": "List", "apiVersion": "v1", "items": [)", json, "]}"), "f.json");
    ExpectSame(absl::StrCat(R"({"objects": [)", json, "]}"), "f.json");
    const std::string yaml = LikeItems(seed).Yaml(6);
    ExpectSame(absl::StrCat("kind: List\napiVersion: v1\nitems:\n", yaml), "f.yaml");
    ExpectSame(absl::StrCat("objects:\n", yaml, "---\n", yaml), "f.yaml");
    if (HasFatalFailure()) return;
  }
}

TEST(PlainReaderTest, ItemsThatHaveAKeyTwiceAreNotCopied) {
  const std::string json_item = R"({"a": {"b": [{"c": 1, "d": 2, "c": 3}]}, "e": 1})";
  const std::string json =
      absl::StrCat(R"({"kind": "List", "apiVersion": "v1", "items": [)", json_item, ",\n", json_item, "]}");
  const std::string yaml_item = "- a:\n    b:\n    - c: 1\n      d: 2\n      c: 3\n  e: 1\n";
  const std::string yaml = absl::StrCat("kind: List\napiVersion: v1\nitems:\n", yaml_item, yaml_item);
  for (const bool by_full_syntax : {false, true}) {
    const std::string of_json = Told(json, "f.json", by_full_syntax);
    EXPECT_TRUE(absl::EndsWith(of_json, "\na.b[0].c 1 1:78\na.b[0].c 2 2:31\n")) << of_json;
    const std::string of_yaml = Told(yaml, "f.yaml", by_full_syntax);
    EXPECT_TRUE(absl::EndsWith(of_yaml, "\na.b[0].c 12 14:7\na.b[0].c 6 8:7\n")) << of_yaml;
  }
  // Nor are documents.
  const std::string document = "a:\n  b: 1\n  c: 2\n  b: 3\nd: e\n";
  ExpectSame(absl::StrCat(document, "---\n", document), "f.yaml");
}

// How many maps and lists know how they are written. Each source holds what they hold.
void CountSources(const Value& value, int& count) {
  if (!value.source().empty()) {
    ++count;
    const std::string text = absl::StrCat(std::string(static_cast<size_t>(value.position.column - 1), ' '),
                                          absl::string_view(value.source()));
    std::string wanted;
    std::string got;
    AppendJson(value, wanted);
    EXPECT_EQ(ReadText(text, "f.yaml", {},
                       [&](const Document& document) {
                         AppendJson(document.root, got);
                         return absl::OkStatus();
                       }),
              absl::OkStatus());
    EXPECT_EQ(got, wanted) << text;
  }
  for (const Value& item : value.items) CountSources(item, count);
  for (const Member& member : value.members) CountSources(member.value, count);
}

int SourcesOf(const std::string& text, absl::string_view file) {
  int count = 0;
  EXPECT_EQ(ReadText(text, file, {.split_lists = true},
                     [&](const Document& document) {
                       CountSources(document.root, count);
                       return absl::OkStatus();
                     }),
            absl::OkStatus());
  return count;
}

TEST(PlainReaderTest, SourcesHoldWhatTheValuesHold) {
  EXPECT_EQ(SourcesOf("a:\n- b: |\n    x\n\n  c:\n    d: 1\n    # e\n- f\ng:\n  h:\n", "f.yaml"), 5);
  EXPECT_EQ(SourcesOf("kind: List\napiVersion: v1\nitems:\n- a:\n    b: 1\n- a:\n    b: 1", "f.yaml"), 4);
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const std::string text = absl::StrCat("[", LikeItems(seed).Json(6), "]");
    // Keys that come twice have no sources.
    const auto ignore = [](const Document&) { return absl::OkStatus(); };
    if (!ReadText(text, "f.json", {}, ignore).ok()) continue;
    EXPECT_GT(SourcesOf(text, "f.json"), 25) << text;
  }
}

// So is a list with escapes, as kubectl writes < and U+2028.
TEST(PlainReaderTest, WholeNumbersAreTheirDigitsWhereThatIsAskedFor) {
  // The second object repeats the first one's bytes.
  const std::string object =
      R"({"a":2.0,"b":1e+06,"c":-30e-1,"d":0.0,"e":2.5,"f":"2.0","g":17,"h":1e15,"i":1.5e3,"list":[1.0,{"k":3.0}]})";
  const std::string want =
      R"({"a":2,"b":1000000,"c":-3,"d":0,"e":2.5,"f":"2.0","g":17,"h":1e15,"i":1500,"list":[1,{"k":3}]})";
  for (const bool by_full_syntax : {false, true}) {
    for (const char* file : {"f.json", "f.yaml"}) {
      std::string out;
      const ReadOptions options = {.whole_numbers_as_digits = true, .by_full_syntax = by_full_syntax};
      const absl::Status status = ReadText(absl::StrCat(object, "\n---\n", object, "\n"), file, options,
                                           [&out](const Document& document) {
                                             AppendJson(document.root, out);
                                             out.push_back('\n');
                                             return absl::OkStatus();
                                           });
      EXPECT_EQ(status, absl::OkStatus());
      EXPECT_EQ(out, absl::StrCat(want, "\n", want, "\n")) << file << by_full_syntax;
    }
  }
}

TEST(PlainReaderTest, EscapesAreReadAsTheyAre) {
  const std::string text = R"({"a": "\u003c\u2028\u00e9\ud83d\ude00", "b": {"c": [1]}})";
  EXPECT_EQ(SourcesOf(text, "f.json"), 3);
  ExpectSame(text, "f.json");
  for (const absl::string_view bad :
       {R"("\ud83d")", R"("\ude00")", R"("\ud83d\ud83d")", R"("\ud83dx")", R"("\u12")"})
    ExpectSame(std::string(bad), "f.json");
}

// kubectl folds long texts: such a list need not be read by libyaml.
TEST(PlainReaderTest, FoldedTextsAreReadAsTheyAre) {
  const std::string text =
      "kind: List\napiVersion: v1\nitems:\n- a: b\n    c\n  d: 'e''\n    f'\n  g: \"h\\\n    \\\"i\"\n  j:\n "
      "   k: l\n";
  EXPECT_EQ(SourcesOf(text, "f.yaml"), 2);
  ExpectSame(text, "f.yaml");
  // What only looks like it.
  for (const absl::string_view more :
       {"- a: b\n    c: d\n", "- a: b # c\n    d\n", "- a: b\n    # c\n", "- a: b\n\n    c\n",
        "- a: 'b\n\n    c'\n", "- a: 'b\n  c'\n", "- a: 'b\n    c': d\n", "- a: b\n    - c\n",
        "- a: 1\n    2\n", "- a: ~\n    b\n", "- a: \"b\\ \n    c\"\n", "- 'a\n  b'\n"}) {
    ExpectSame(absl::StrCat("kind: List\napiVersion: v1\nitems:\n", more), "f.yaml");
  }
}

TEST(PlainReaderTest, ItemsBeforeAFaultAreHandedOnOnce) {
  const std::string text = "kind: List\napiVersion: v1\nitems:\n- a: 1\n- a: 2\n- a: &x 3\n- a: *x\n";
  std::string out;
  const absl::Status status = ReadText(text, "f.yaml", {.split_lists = true}, [&](const Document& document) {
    AppendJson(document.root, out);
    return absl::OkStatus();
  });
  EXPECT_EQ(status, absl::OkStatus());
  EXPECT_EQ(out, "{\"a\":1}{\"a\":2}{\"a\":3}{\"a\":3}");
}

TEST(PlainReaderTest, AnErrorOfTheSinkIsReturnedAfterOneCall) {
  for (const absl::string_view file : {"f.yaml", "f.json"}) {
    int calls = 0;
    const absl::Status status = ReadText("{\"a\": 1}\n", file, {}, [&](const Document&) {
      ++calls;
      return absl::InternalError("no");
    });
    EXPECT_EQ(status, absl::InternalError("no"));
    EXPECT_EQ(calls, 1);
  }
}

}  // namespace
}  // namespace schedsim::codec
