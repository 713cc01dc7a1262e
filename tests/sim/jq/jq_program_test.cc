// Programs, with what gojq makes of them.
#include "sim/jq/jq_program.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/codec/text/reader.h"
#include "gtest/gtest.h"

namespace schedsim::sim {
namespace {

constexpr char kObject[] = R"({
  "metadata": {"name": "a", "labels": {"b": "2", "a/x": "1"}, "ownerReferences": [{"kind": "Job"}, {"kind": "X"}]},
  "spec": {"replicas": 3, "ratio": 0.5, "on": true, "text": "h\u00e9"},
  "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "False"}]}
})";

// Outputs with a letter for their type in front, `|` between; "ERROR " and the message.
std::string Outcome(const std::string& program, JqProgram::By by) {
  const absl::StatusOr<JqProgram> parsed = JqProgram::Parse(program, by);
  if (!parsed.ok()) return absl::StrCat("ERROR ", parsed.status().message());
  std::string out;
  const absl::Status status = codec::ReadText(kObject, "x.json", {}, [&](const codec::Document& document) {
    for (const JqOutput& output : parsed->Run(document.root)) {
      constexpr char kLetters[] = "sbifo";
      absl::StrAppend(&out, out.empty() ? "" : "|", std::string(1, kLetters[static_cast<int>(output.type)]),
                      ":", output.text);
    }
    return absl::OkStatus();
  });
  return status.ok() ? out : absl::StrCat("ERROR ", status.message());
}

struct Row {
  std::string text;
  std::string want;
};

// Each of these gives the same by libjq and without it.
TEST(JqProgramTest, GivesWhatGojqGives) {
  const std::vector<Row> rows = {
      {".metadata.name", "s:a"},
      {".metadata.labels[\"a/x\"]", "s:1"},
      {".metadata.labels.\"a/x\"", "s:1"},
      {".metadata.labels.[]", "s:1|s:2"},
      {".metadata.labels[]", "s:1|s:2"},
      {".metadata.ownerReferences.[].kind", "s:Job|s:X"},
      {".metadata.ownerReferences[-1].kind", "s:X"},
      {".metadata.ownerReferences.[0].kind", "s:Job"},
      {".metadata.ownerReferences[7].kind", ""},
      {".status.conditions.[] | select( .type == \"Ready\" ) | .status", "s:True"},
      {".status.conditions[] | select(.type != \"Ready\") | .status", "s:False"},
      {".spec.missing", ""},
      {".spec.missing.deeper", ""},
      {".spec.missing[]", ""},
      {".metadata.name.deeper", ""},
      {".spec.on", "b:true"},
      {".spec.replicas", "f:3"},
      {".spec.ratio", "f:0.5"},
      {".spec.replicas | tostring", "s:3"},
      {".spec.ratio | tostring", "s:0.5"},
      {".spec.on | tostring", "s:true"},
      {".spec.missing | tostring", "s:null"},
      {".metadata.labels | tostring", "s:{\"a/x\":\"1\",\"b\":\"2\"}"},
      {".status.conditions | length", "i:2"},
      {".spec.text | length", "i:2"},
      {".spec.missing | length", "i:0"},
      {".spec.replicas | length", "f:3"},
      {".status.conditions[0]", "o:{\"status\":\"True\",\"type\":\"Ready\"}"},
      {".metadata.labels.[] | select(. == \"2\")", "s:2"},
      {" .metadata . name", "ERROR"},
  };
  for (const Row& row : rows) {
    if (row.want == "ERROR") continue;
    EXPECT_EQ(Outcome(row.text, JqProgram::By::kBoth), row.want) << row.text;
    EXPECT_EQ(Outcome(row.text, JqProgram::By::kLibrary), row.want) << row.text;
  }
}

TEST(JqProgramTest, LeavesAllElseToLibjq) {
  const std::vector<Row> rows = {
      {".spec.missing // \"none\"", "s:none"},
      {"[.metadata.ownerReferences[].kind] | join(\",\")", "s:Job,X"},
      {"if .spec.on then .metadata.name else \"off\" end", "s:a"},
      {".status.conditions | map(select(.status == \"True\")) | length", "i:1"},
      {"any(.metadata.ownerReferences.[]; .kind == \"Job\")", "b:true"},
      {"\"\\(.metadata.ownerReferences.[0].kind)-x.[\"", "s:Job-x.["},
      {".spec.replicas + 1", "f:4"},
      {"3", "i:3"},
      {".metadata.labels | keys", "o:[\"a/x\",\"b\"]"},
      {".metadata.labels | to_entries[0].value", "s:1"},
      {".metadata | .labels.[\"b\"]?", "s:2"},
      {".spec.text | error", ""},
      {".metadata.name, .metadata.name.x", ""},
  };
  for (const Row& row : rows) EXPECT_EQ(Outcome(row.text, JqProgram::By::kBoth), row.want) << row.text;
}

TEST(JqProgramTest, SaysWhatIsWrong) {
  for (const char* program : {".a[", "foo(", ".a | nosuch"}) {
    EXPECT_EQ(Outcome(program, JqProgram::By::kBoth).substr(0, 24), "ERROR no jq expression: ") << program;
  }
}

TEST(JqProgramTest, RefusesWhatLooksElsewhereOrMayNotEnd) {
  for (const char* program : {"now", "env.HOME", "$ENV.HOME", "input", "def f: f; f", "[range(9)]",
                              "repeat(.)", "last(recurse(.))", "while(true; .)"}) {
    EXPECT_NE(Outcome(program, JqProgram::By::kBoth).find("allowed here"), std::string::npos) << program;
  }
  // Fields and texts may be called so.
  EXPECT_EQ(Outcome(".now // \"now\" | {env: .} | .env", JqProgram::By::kBoth), "s:now");
}

}  // namespace
}  // namespace schedsim::sim
