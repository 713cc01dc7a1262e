// schedsim conform: bad input, and where --write writes.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

constexpr char kGoodTrace[] =
    R"({"case":"tiny-1","trace":[{"ev":"attempt","t":0,"pod":"default/p","attempts":1}]})";

// A case without a node. `name` is JSON text, `more` are members.
std::string Case(const std::string& name, const std::string& more = "") {
  return absl::StrCat(
      R"({"name":)", name, R"(,"end":1,"objects":[{"apiVersion":"v1","kind":"Pod","metadata":)",
      R"({"name":"p","namespace":"default"},"spec":{"containers":[{"name":"c","image":"a"}]}}])", more,
      "}\n");
}

std::string Trace(const std::string& name) {
  return absl::StrCat(R"({"case":)", name, R"(,"trace":[]})", "\n");
}

class Conform : public testing::Test {
 protected:
  ProgramResult Run(const std::string& cases, const std::string& traces,
                    const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"conform", folder_.Write("cases.jsonl", cases),
                                          folder_.Write("traces.jsonl", traces)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments);
  }

  // Exit code 2, and a message of our own with file, line and what was expected.
  void ExpectRefused(const ProgramResult& result, const std::string& error) const {
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_TRUE(absl::StrContains(result.err, error)) << result.err;
    EXPECT_TRUE(absl::StrContains(result.err, "expected")) << result.err;
    EXPECT_FALSE(absl::StrContains(result.err, "json.exception")) << result.err;
    EXPECT_LT(result.err.size(), 2000U);
  }

  const TestFolder folder_;
};

TEST_F(Conform, WriteNeverLeavesItsFolder) {
  namespace fs = std::filesystem;
  const std::string inside = folder_.Path("out/inside");
  fs::create_directories(inside);
  const std::vector<std::string> names = {
      R"("../x")", R"("/x")",        R"("a/b")", R"("x\u0000y")",
      R"("x\ny")", R"("..\/..\/x")", R"("")",    absl::StrCat("\"", std::string(300, 'x'), "\"")};
  for (const std::string& name : names) {
    ExpectRefused(Run(Case(name), Trace(name), {"--write", inside}), "cases.jsonl:1:");
    EXPECT_TRUE(fs::is_empty(inside)) << name;
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_.Path("out")), fs::directory_iterator()), 1)
        << name;
  }
  Run(Case(R"("..")"), Trace(R"("..")"), {"--write", inside});
  EXPECT_TRUE(fs::exists(inside + "/...jsonl"));
}

TEST_F(Conform, RefusesCasesAndTracesThatAreThereTwice) {
  const std::string name = R"("tiny-1")";
  ExpectRefused(Run(Case(name) + Case(name), Trace(name), {"--write", folder_.Path("out")}),
                "cases.jsonl:2: name: tiny-1 is there twice");
  ExpectRefused(Run(Case(name), Trace(name) + Trace(name)), "traces.jsonl:2: case tiny-1 is there twice");
}

TEST_F(Conform, NamesThePlaceOfABadTrace) {
  const std::string cases = Case(R"("tiny-1")");
  const struct {
    std::string traces;
    std::string error;
  } rows[] = {
      {"\n{\"case\":\"tiny-1\",\"trace\":[{\"ev\":\"att", "traces.jsonl:2:37: the text ends in a string"},
      {"[1,2]\n", "traces.jsonl:1: expected an object with the text `case`"},
      {R"({"case":"tiny-1","trace":[{"ev":"attempt","t":0}]})",
       "traces.jsonl:1: record 1: attempt: pod: missing"},
      {R"({"case":"tiny-1","trace":[{"ev":"gone","t":0,"pod":"d/p"},{"ev":"bind","t":0,"pod":1,"node":"n"}]})",
       "traces.jsonl:1: record 2: bind: pod: expected a string, got a number"},
      {R"({"case":"tiny-1","trace":[{"ev":"queue","t":0,"active":null}]})",
       "traces.jsonl:1: record 1: queue: active: missing"},
      {absl::StrCat(R"({"case":"tiny-1","trace":[{"ev":"bind","t":")", std::string(20'000'000, 'x'),
                    R"("}]})"),
       "traces.jsonl:1: record 1: expected a record of a trace: t: expected a number of seconds, got a "
       "string"},
  };
  for (const auto& row : rows) ExpectRefused(Run(cases, row.traces), row.error);
  ExpectRefused(Run(cases, R"({"case":"tiny-1","trace":[{"ev":"attempt","t":0}]})", {"--single-attempts"}),
                "traces.jsonl:1: record 1: attempt: pod: missing");
}

TEST_F(Conform, NamesThePlaceOfABadCase) {
  const std::string name = R"("tiny-1")";
  const struct {
    std::string more;
    std::string error;
  } rows[] = {
      {R"(,"ends":1)", "case.ends: an unknown field, expected one of name, config"},
      {R"(,"provision":"yes")", "provision: expected true or false, got a string"},
      {R"(,"record":"all")", "record: expected full or decisions"},
      {R"(,"terminationSeconds":"1")", "terminationSeconds: expected a number of seconds"},
      {R"(,"terminationSeconds":1e300)", "terminationSeconds: expected a number of seconds"},
      {R"(,"terminationSeconds":-1)", "terminationSeconds: expected a number of seconds"},
      {R"(,"featureGates":[])", "featureGates: expected a map, got a list"},
      {R"(,"featureGates":{"GenericWorkload":"true"})",
       "featureGates.GenericWorkload: expected true or false"},
      {R"(,"steps":{})", "steps: expected a list, got a map"},
      {R"(,"steps":[{"at":1}])", "steps: expected at, and one of create, update and delete"},
      {R"(,"steps":[{"at":1,"remove":{}}])", "steps.remove: an unknown field, expected one of at, create"},
      {R"(,"steps":[{"at":1,"delete":{"kind":1}}])", "kind: expected a string, got a number"},
      {R"(,"steps":[{"at":1,"delete":{"names":"x"}}])", "delete.names: an unknown field"},
  };
  for (const auto& row : rows) {
    const ProgramResult result = Run(Case(name, row.more), kGoodTrace);
    ExpectRefused(result, row.error);
    EXPECT_TRUE(absl::StrContains(result.err, "cases.jsonl:1:")) << result.err;
  }
  ExpectRefused(Run("{\"name\":\"tiny-1\",", kGoodTrace), "cases.jsonl:1:");
  ExpectRefused(Run(Case(R"("a\u001b[31m")"), kGoodTrace), "cases.jsonl:1:9: name: control characters");
  ExpectRefused(Run("{\"name\":1}", kGoodTrace), "cases.jsonl:1:9: name: expected a string, got a number");
}

}  // namespace
}  // namespace schedsim
