// The fast readers and those of the whole syntax see the same in every text: values, places and errors.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
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
  const ReadOptions options = {
      .split_lists = true, .value_count_max = 10'000'000, .by_full_syntax = by_full_syntax};
  const absl::Status status = ReadText(text, file, options, [&](const Document& document) {
    absl::StrAppend(&out, document.list_kind, " ", document.list_api_version, " ");
    AppendJson(document.root, out);
    AppendPlaces(document.root, out);
    out.push_back('\n');
    return absl::OkStatus();
  });
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
