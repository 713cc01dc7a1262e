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
      {"{input: 1, now: 2} | .input + .now", "i:3"},
      {".metadata.name | test(\"^[a-z]+$\")", "b:true"},
      {".status.conditions[-1:][0].type", "s:Other"},
      {".metadata.name, .metadata.name.x", ""},
  };
  for (const Row& row : rows) EXPECT_EQ(Outcome(row.text, JqProgram::By::kBoth), row.want) << row.text;
}

TEST(JqProgramTest, SaysWhatIsWrong) {
  for (const char* program : {".a[", "foo(", ".a | nosuch"}) {
    EXPECT_EQ(Outcome(program, JqProgram::By::kBoth).substr(0, 24), "ERROR no jq expression: ") << program;
  }
}

std::string Repeated(absl::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) absl::StrAppend(&out, text);
  return out;
}

TEST(JqProgramTest, RefusesWhatLooksElsewhereOrMayNotEnd) {
  for (const char* program : {"now", "env.HOME", "$ENV.HOME", "input", "def f: f; f", "[range(9)]",
                              "repeat(.)", "last(recurse(.))", "while(true; .)"}) {
    EXPECT_NE(Outcome(program, JqProgram::By::kBoth).find("allowed here"), std::string::npos) << program;
  }
  const std::vector<Row> rows = {
      // What crashes libjq, or never ends.
      {".[input:]", "input is not allowed here"},
      {".spec.replicas % 0.5", "the character \"%\" is not allowed here"},
      {".a[1000000000] = 1", "the index 1000000000 is not allowed here"},
      {".a[1e300]", "the index 1e300 is not allowed here"},
      {".a[.spec.replicas] = 1", "an assignment beside a computed index is not allowed here"},
      {"1e300 | todate", "todate is not allowed here"},
      {"{a: [recurse (.)]}", "recurse is not allowed here"},
      {"any(recurse # x\n(.); false)", "recurse is not allowed here"},
      {"$ # x\n ENV.HOME", "$ENV is not allowed here"},
      {".[now:]", "now is not allowed here"},
      {"{a: 1 | input}", "input is not allowed here"},
      {"\"\\(input)\"", "input is not allowed here"},
      {"\"ab\" | gsub(\"\"; \"x\")", "gsub is not allowed here"},
      {"indices(\"\")", "indices is not allowed here"},
      {"\"x\" * 1000000000", "the operator *, which can repeat a text, is not allowed here"},
      {"combinations(30)", "combinations is not allowed here"},
      {"reduce .[] as $x (0; 1)", "reduce is not allowed here"},
      {"@base64d", "@base64d is not allowed here"},
      {"import \"a\" as a; 1", "import is not allowed here"},
      {"\"a\"" + Repeated(" | . + .", 30), "a program whose output doubles so often is not allowed here"},
      {"[1]" + Repeated(" | [., .]", 30), "a program whose output doubles so often is not allowed here"},
      {".a" + Repeated(" | {a: ., b: .}", 30), "a program whose output doubles so often is not allowed here"},
      {". " + Repeated("| [.[] as $a | .[] | 1]", 2), "a program with more than 3 loops is not allowed here"},
      {"test(.spec.text)", "test with anything but a text as it stands is not allowed here"},
      {"test(\"(a+)+b\")", "test with several repetitions and no ^ in front is not allowed here"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(Outcome(row.text, JqProgram::By::kBoth), "ERROR no jq expression: " + row.want);
  // Fields and texts may be called so.
  EXPECT_EQ(Outcome(".now // \"now\" | {env: .} | .env", JqProgram::By::kBoth), "s:now");
}

}  // namespace
}  // namespace schedsim::sim
