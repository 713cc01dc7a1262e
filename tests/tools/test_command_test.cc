// schedsim test: expectations that hold and that do not, golden placements, and what CI reads.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

// Two nodes of 4 cores in two zones, and three pods of `web`; `big` fits on none.
constexpr char kCluster[] =
    "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {zone: a}}, status: {allocatable: {cpu: 4, "
    "memory: "
    "8Gi, pods: 9}}}\n---\n"
    "{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {zone: b}}, status: {allocatable: {cpu: 4, "
    "memory: "
    "8Gi, pods: 9}}}\n---\n"
    "{apiVersion: v1, kind: Pod, metadata: {name: web-0, labels: {app: web}}, spec: {containers: [{name: c, "
    "image: "
    "i, resources: {requests: {cpu: 1}}}]}}\n---\n"
    "{apiVersion: v1, kind: Pod, metadata: {name: web-1, labels: {app: web}}, spec: {containers: [{name: c, "
    "image: "
    "i, resources: {requests: {cpu: 1}}}]}}\n---\n"
    "{apiVersion: v1, kind: Pod, metadata: {name: web-2, labels: {app: web}}, spec: {nodeSelector: {zone: "
    "a}, "
    "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}\n---\n"
    "{apiVersion: v1, kind: Pod, metadata: {name: foreign}, spec: {schedulerName: other, containers: [{name: "
    "c, image: i}]}}\n---\n"
    "{apiVersion: v1, kind: Pod, metadata: {name: big, labels: {app: big}}, spec: {containers: [{name: c, "
    "image: i, "
    "resources: {requests: {cpu: 8}}}]}}\n";

class TestCommandTest : public testing::Test {
 protected:
  TestCommandTest() { folder_.Write("cluster.yaml", kCluster); }

  // A test of that cluster; `rest` begins with `expect:` or `placements:`.
  std::string Write(const std::string& name, const std::string& rest) {
    return folder_.Write(
        name, absl::StrCat("apiVersion: schedsim/v1\nkind: Test\nrun: {files: [cluster.yaml]}\n", rest));
  }

  // The failures of a test with this one expectation.
  std::vector<std::string> FailuresOf(const std::string& expectation) {
    const std::string path = Write("one.test.yaml", absl::StrCat("expect:\n- ", expectation, "\n"));
    const ProgramResult result = RunProgram({"test", path, "--output", "json"});
    const Json json = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
    EXPECT_EQ(json["files"][0]["error"], "") << result.out << result.err;
    std::vector<std::string> failures;
    for (const Json& failure : json["files"][0]["expectations"][0]["failures"]) failures.push_back(failure);
    EXPECT_EQ(result.exit_code, failures.empty() ? 0 : 1) << expectation;
    return failures;
  }

  TestFolder folder_;
};

using Strings = std::vector<std::string>;

TEST_F(TestCommandTest, ExpectationsHoldOrSayWhatDoesNot) {
  const struct {
    const char* expectation;
    Strings failures;
  } rows[] = {
      {"{pods: {selector: app=web}, count: 3, bound: true, boundWithin: 5s, attemptsMax: 1}", {}},
      {"{pods: {selector: app=web}, count: 4}", {"expected 4 pods, got 3"}},
      {"{pods: {name: web-7}, bound: true}", {"no pod is chosen, expected at least one"}},
      {"{pods: {name: web-0}, bound: false}", {"default/web-0 is on n1, expected it on no node"}},
      {"{pods: {name: web-2}, node: {selector: zone=a}}", {}},
      {"{pods: {name: web-2}, node: {name: n2}}", {"default/web-2 is on n1, expected another node"}},
      {"{pods: {namespace: default, name: big}, pendingReason: Insufficient cpu}", {}},
      {"{pods: {name: big}, pendingReason: taint}",
       {"default/big is Pending: 0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are "
        "available: 2 Preemption is not helpful for scheduling., expected it pending with \"taint\""}},
      {"{pods: {name: big}, attemptsMax: 0}", {"default/big took 1 attempts, expected at most 0"}},
      {"{pods: {selector: app=web}, perNodeMax: 2}", {}},
      {"{pods: {selector: app=web}, perNodeMax: 1}", {"node n1 has 2 of the pods, expected at most 1"}},
      {"{pods: {selector: app=web}, skew: {topologyKey: zone, max: 1}}", {}},
      {"{pods: {name: web-2}, skew: {topologyKey: zone, max: 0}}",
       {"zone a has 1 of the pods and b has 0, expected a difference of at most 0"}},
      {"{pods: {name: web-2}, skew: {topologyKey: rack, max: 0}}",
       {"no node has the label rack, expected one at least"}},
      // What holds of pods on nodes says nothing where none is on one.
      {"{pods: {name: big}, skew: {topologyKey: zone, max: 0}}",
       {"none of the pods is on a node, expected at least one"}},
      {"{pods: {name: big}, perNodeMax: 0}", {"none of the pods is on a node, expected at least one"}},
      {"{pods: {name: web-7}, count: 0, perNodeMax: 0}", {}},
      {"{pods: {name: foreign}, pendingReason: scheduler}",
       {"default/foreign is Ignored: of scheduler other, which no profile names, expected it pending with "
        "\"scheduler\""}},
      {"{preemptionsMax: 0}", {}},
      {"{utilization: {resource: cpu, min: 37, max: 38}}", {}},
      {"{utilization: {resource: cpu, max: 37}}",
       {"more than 37 percent of cpu are requested, expected at most 37"}},
      {"{utilization: {resource: cpu, min: 80}}", {"37 percent of cpu are requested, expected at least 80"}},
      {"{utilization: {resource: nvidia.com/gpu, max: 9}}",
       {"no node has nvidia.com/gpu, expected one at least"}},
  };
  for (const auto& row : rows) EXPECT_EQ(FailuresOf(row.expectation), row.failures) << row.expectation;
}

// A pod of a Job is over as soon as it is on a node.
TEST_F(TestCommandTest, PodsThatAreOverWereBoundInTheirTime) {
  folder_.Write(
      "job.yaml",
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {metadata: {labels: {app: "
      "j}}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}\n");
  const std::string path = folder_.Write("job.test.yaml",
                                         "apiVersion: schedsim/v1\nkind: Test\nrun: {files: [cluster.yaml, "
                                         "job.yaml]}\nexpect: [{pods: {selector: "
                                         "app=j}, count: 1, bound: true, boundWithin: 1s}]\n");
  const ProgramResult result = RunProgram({"test", path});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST_F(TestCommandTest, GoldenPlacementsAreWrittenAndCompared) {
  const std::string path = Write("golden.test.yaml", "placements: placements.txt\n");
  const ProgramResult missing = RunProgram({"test", path});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(missing.out, "--update writes it")) << missing.out;
  EXPECT_EQ(RunProgram({"test", path, "--update"}).exit_code, 0);
  const std::string golden = FileContent(folder_.Path("placements.txt"));
  EXPECT_EQ(golden.substr(0, golden.find("default/web-0")),
            "default/big  -  Pending: 0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are "
            "available: 2 Preemption is not helpful for scheduling.\n"
            "default/foreign  -  Ignored: of scheduler other, which no profile names\n");
  EXPECT_EQ(RunProgram({"test", path}).exit_code, 0);
  folder_.Write("placements.txt", "default/web-0  n7\ndefault/web-1  n2\ndefault/web-2  n1\n");
  const ProgramResult changed = RunProgram({"test", path});
  EXPECT_EQ(changed.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(changed.out, "    default/web-0: expected n7, got n1\n")) << changed.out;
  EXPECT_TRUE(absl::StrContains(changed.out, "    default/big: expected no such pod, got -  Pending"))
      << changed.out;
  EXPECT_TRUE(absl::StrContains(changed.out, "\n0 passed, 1 failed\n")) << changed.out;
}

// A file without a line holds of a run without pods only, which nobody means.
TEST_F(TestCommandTest, GoldenPlacementsNameAPod) {
  folder_.Write("node.yaml", "{apiVersion: v1, kind: Node, metadata: {name: n1}}\n");
  const std::string path = folder_.Write("empty.test.yaml",
                                         "apiVersion: schedsim/v1\nkind: Test\nrun: {files: [node.yaml]}\n"
                                         "placements: empty.txt\n");
  folder_.Write("empty.txt", "\n");
  const ProgramResult compared = RunProgram({"test", path});
  EXPECT_EQ(compared.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(compared.out, "empty.txt: expected a line a pod, got an empty file"))
      << compared.out;
  const ProgramResult written = RunProgram({"test", path, "--update"});
  EXPECT_EQ(written.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(written.out, "--update: there is no pod in the end")) << written.out;
}

TEST_F(TestCommandTest, NothingThatIsReadIsWrittenOver) {
  const std::string path = Write("golden.test.yaml", "placements: cluster.yaml\n");
  const ProgramResult updated = RunProgram({"test", path, "--update"});
  EXPECT_EQ(updated.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(updated.out, "placements: ")) << updated.out;
  EXPECT_TRUE(absl::StrContains(updated.out, "is the input")) << updated.out;
  EXPECT_EQ(FileContent(folder_.Path("cluster.yaml")), kCluster);
  const std::string other = Write("a.test.yaml", "expect:\n- {pods: {name: web-0}, bound: true}\n");
  const std::string before = FileContent(other);
  for (const std::string& junit : {other, folder_.Path("cluster.yaml")}) {
    const ProgramResult result = RunProgram({"test", other, "--junit", junit});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(absl::StrContains(result.err, "--junit: ")) << result.err;
  }
  EXPECT_EQ(FileContent(other), before);
  EXPECT_EQ(FileContent(folder_.Path("cluster.yaml")), kCluster);
  const Json inputs = Json::parse(RunProgram({"test", other, "--output", "json"}).out)["files"][0]["inputs"];
  EXPECT_EQ(inputs, Json::array({other, folder_.Path("cluster.yaml")}));
}

// What its scenario waits for in vain is a verdict of its own.
TEST_F(TestCommandTest, ARunThatFailsFailsTheTest) {
  folder_.Write("scenario.yaml",
                "apiVersion: schedsim/v1\nkind: Scenario\ninputs: [cluster.yaml]\ntimeline:\n"
                "- waitUntil: {pending: 0, timeout: 5s}\n");
  const std::string path =
      folder_.Write("run.test.yaml",
                    "apiVersion: schedsim/v1\nkind: Test\nrun: {scenario: scenario.yaml}\n"
                    "expect:\n- {pods: {name: web-0}, bound: true}\n");
  const ProgramResult result = RunProgram({"test", path, "--output", "json"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const Json expectations = Json::parse(result.out)["files"][0]["expectations"];
  ASSERT_EQ(expectations.size(), 2u);
  EXPECT_EQ(expectations[0]["name"], "run");
  EXPECT_EQ(expectations[0]["failures"].size(), 1u);
  EXPECT_TRUE(expectations[1]["failures"].empty());
}

TEST_F(TestCommandTest, StagesAreFromTheFolderOfTheTest) {
  folder_.Write("stages/mine.yaml",
                "{apiVersion: kwok.x-k8s.io/v1alpha1, kind: Stage, metadata: {name: s}, spec: {resourceRef: "
                "{apiGroup: v1, kind: Pod}, next: {delete: true}}}\n");
  const std::string path =
      folder_.Write("stages.test.yaml",
                    "apiVersion: schedsim/v1\nkind: Test\nrun: {files: [cluster.yaml], stages: [fast, "
                    "stages/mine.yaml]}\nexpect:\n- {preemptionsMax: 0}\n");
  const ProgramResult result = RunProgram({"test", path, "--output", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  const std::string inputs = Json::parse(result.out)["files"][0]["inputs"].dump();
  EXPECT_TRUE(absl::StrContains(inputs, folder_.Path("stages/mine.yaml"))) << inputs;
}

// No XML has these two characters.
TEST_F(TestCommandTest, JUnitEscapesWhatNoXmlHas) {
  const std::string path =
      Write("xml.test.yaml", "expect:\n- {name: \"a\\uFFFE<\\uFFFF&\", pods: {name: web-0}, bound: true}\n");
  EXPECT_EQ(RunProgram({"test", path, "--junit", folder_.Path("out.xml")}).exit_code, 0);
  const std::string xml = FileContent(folder_.Path("out.xml"));
  EXPECT_TRUE(absl::StrContains(xml, "<testcase name=\"a\\ufffe&lt;\\uffff&amp;\"")) << xml;
}

TEST_F(TestCommandTest, SeveralFilesAreGivenSideBySide) {
  const std::string one = Write("one.yaml", "expect:\n- {pods: {name: web-0}, bound: true}\n");
  const std::string two = Write("two.yaml", "expect:\n- {pods: {name: web-1}, bound: true}\n");
  const ProgramResult result = RunProgram({"test", one, two, "--jobs", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "2 passed, 0 failed\n")) << result.out;
  const ProgramResult none = RunProgram({"test", one, "--jobs", "1025"});
  EXPECT_TRUE(absl::StrContains(none.err,
                                "--jobs: \"1025\" is not a count, expected a whole number from 1 to "
                                "1024"))
      << none.err;
}

TEST_F(TestCommandTest, FoldersAreRunFileByFile) {
  Write("a.test.yaml", "expect:\n- {pods: {name: web-0}, bound: true}\n");
  Write("b.test.yaml", "expect:\n- {name: big is bound, pods: {name: big}, bound: true}\n");
  Write("other.yaml", "expect: 7\n");
  for (const char* jobs : {"1", "3"}) {
    const ProgramResult result =
        RunProgram({"test", folder_.Path(""), "--jobs", jobs, "--junit", folder_.Path("out.xml")});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_TRUE(absl::StrContains(result.out, "b.test.yaml:5: big is bound\n    default/big is Pending"))
        << result.out;
    EXPECT_TRUE(absl::StrContains(result.out, "\n1 passed, 1 failed\n")) << result.out;
    const std::string xml = FileContent(folder_.Path("out.xml"));
    EXPECT_TRUE(absl::StrContains(xml, "tests=\"1\" failures=\"1\" errors=\"0\"")) << xml;
    EXPECT_TRUE(absl::StrContains(xml, "<testcase name=\"big is bound\"")) << xml;
  }
}

TEST_F(TestCommandTest, AFileThatIsNamedTwiceCountsOnce) {
  const std::string path = Write("a.test.yaml", "expect:\n- {pods: {name: web-0}, bound: true}\n");
  const ProgramResult result =
      RunProgram({"test", path, path, folder_.Path(""), folder_.Path("./a.test.yaml")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "\n1 passed, 0 failed\n")) << result.out;
}

TEST_F(TestCommandTest, ThereMustBePlacementsToUpdate) {
  const std::string none = Write("a.test.yaml", "expect:\n- {pods: {name: web-0}, bound: true}\n");
  const ProgramResult refused = RunProgram({"test", none, "--update"});
  EXPECT_EQ(refused.exit_code, 2) << refused.out;
  EXPECT_EQ(refused.err,
            "schedsim test: --update: none of the tests has golden placements, expected the field placements "
            "in one of them\n");
  const std::string golden = Write("b.test.yaml", "placements: placements.txt\n");
  EXPECT_EQ(RunProgram({"test", none, golden, "--update"}).exit_code, 0);
}

// Up to three pods, each once.
TEST_F(TestCommandTest, AFailureSaysWhyThePodIsWhereItIs) {
  const std::string path =
      Write("a.test.yaml",
            "expect:\n- {pods: {name: big}, bound: true}\n- {pods: {name: big}, bound: "
            "true}\n- {pods: {selector: app=web}, perNodeMax: 1}\n- {pods: {selector: "
            "app=web}, skew: {topologyKey: zone, max: 0}}\n- {pods: {name: web-2}, bound: "
            "false}\n- {pods: {name: web-1}, bound: false}\n");
  const ProgramResult result = RunProgram({"test", path, "--junit", folder_.Path("out.xml")});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out,
                                "      default/big\n\n"
                                "             0.003 s  attempt 1: fits on none of 2 nodes\n"))
      << result.out;
  EXPECT_TRUE(absl::StrContains(result.out, "        ask for 5 less cpu\n")) << result.out;
  const Json json = Json::parse(RunProgram({"test", path, "--output", "json"}).out);
  Strings explained;
  for (const Json& verdict : json["files"][0]["expectations"]) {
    const std::string text = verdict["explanation"];
    explained.push_back(text.substr(0, text.find('\n')));
  }
  EXPECT_EQ(explained, (Strings{"default/big", "", "default/web-0", "", "default/web-2", ""}));
  const std::string xml = FileContent(folder_.Path("out.xml"));
  EXPECT_TRUE(absl::StrContains(xml, "\ndefault/big\n       0.003 s  attempt 1: fits on none")) << xml;
}

TEST_F(TestCommandTest, AnnotatesForGitHub) {
  const std::string path = Write("a.test.yaml", "expect:\n- {pods: {name: big}, bound: true}\n");
  const ProgramResult result = RunProgram({"test", path, "--output", "github"});
  EXPECT_TRUE(absl::StartsWith(result.out,
                               absl::StrCat("::error file=", path, ",line=5,title=expect[0]::default/big")))
      << result.out;
  const std::string bad = Write("bad.test.yaml", "expect:\n- {pods: {name: big}, bund: true}\n");
  const ProgramResult refused = RunProgram({"test", bad, "--output", "github"});
  EXPECT_TRUE(absl::StartsWith(refused.out, absl::StrCat("::error file=", bad, ",line=5::", bad, ":5:")))
      << refused.out;
}

// The smallest seed that fails is named, with the command that repeats it.
TEST_F(TestCommandTest, RunsOverSeeds) {
  const std::string path = folder_.Write(
      "ties.test.yaml",
      "apiVersion: schedsim/v1\nkind: Test\nrun: {files: [cluster.yaml], kubernetesVersion: 1.34}\nexpect:\n"
      "- {pods: {name: web-0}, node: {name: n1}}\n");
  const ProgramResult result = RunProgram({"test", path, "--seeds", "1..50", "--output", "json"});
  ASSERT_EQ(result.exit_code, 1) << result.out;
  const Json file = Json::parse(result.out)["files"][0];
  EXPECT_EQ(file["seeds"], file["seed"]);
  const std::string seed = absl::StrCat(file["seed"].get<int>());
  const ProgramResult again = RunProgram({"test", path, "--seeds", seed});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_TRUE(
      absl::StrContains(again.out, absl::StrCat("again with: schedsim test ", path, " --seeds ", seed)));
  if (file["seed"] > 1) {
    EXPECT_EQ(
        RunProgram({"test", path, "--seeds", absl::StrCat("1..", file["seed"].get<int>() - 1)}).exit_code, 0);
  }
}

// What the user should know of a run is known after it only.
TEST_F(TestCommandTest, SaysWhatTheRunWarnsOf) {
  folder_.Write(
      "quota.yaml",
      "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: 0}}\n---\n"
      "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\n"
      "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web}\nspec: {selector: {matchLabels: "
      "{app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: "
      "i}]}}}\n");
  const std::string path = folder_.Write("quota.test.yaml",
                                         "apiVersion: schedsim/v1\nkind: Test\nrun: {files: [quota.yaml]}\n"
                                         "expect:\n- {pods: {selector: app=web}, count: 0}\n");
  const ProgramResult result = RunProgram({"test", path});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_TRUE(absl::StrContains(result.err, "warning: ReplicaSet default/web: ")) << result.err;
}

TEST_F(TestCommandTest, GoldenPlacementsAloneHaveNoSeeds) {
  const std::string path = Write("golden.test.yaml", "placements: placements.txt\n");
  const ProgramResult result = RunProgram({"test", path, "--seeds", "1..3"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.out, "has golden placements only")) << result.out;
}

// Each with `run: {files: [cluster.yaml]}` in front.
TEST_F(TestCommandTest, ExpectationsThatHoldOfAnythingAreRefused) {
  const struct {
    const char* expectation;
    const char* want;
  } rows[] = {
      {"{pods: {name: a}, count: -1}", ".count: expected a whole number that is not negative"},
      {"{preemptionsMax: -1}", ".preemptionsMax: expected a whole number that is not negative"},
      {"{pods: {name: a}, attemptsMax: -1}", ".attemptsMax: expected a whole number that is not negative"},
      {"{pods: {name: a}, skew: {max: 1}}", ".skew: expected topologyKey and max"},
      {"{pods: {name: a}, skew: {topologyKey: zone}}", ".skew: expected topologyKey and max"},
      {"{pods: {name: a}, skew: {topologyKey: zone, max: -1}}", ".skew.max: expected a whole number"},
      {"{pods: {name: a}, node: {}}", ".node: expected name or selector"},
      {"{pods: {name: a}, pendingReason: ''}", ".pendingReason: expected a part of the message"},
      {"{pods: {name: a}, boundWithin: ''}", ".boundWithin: "},
      {"{utilization: {resource: cpu}}", ".utilization: expected resource, and min or max"},
      {"{utilization: {min: 5}}", ".utilization: expected resource, and min or max"},
  };
  for (const auto& row : rows) {
    const std::string path = Write("bad.test.yaml", absl::StrCat("expect:\n- ", row.expectation, "\n"));
    const ProgramResult result = RunProgram({"test", path});
    EXPECT_EQ(result.exit_code, 2) << row.expectation;
    EXPECT_TRUE(absl::StrContains(result.out, absl::StrCat(": expect[0]", row.want))) << result.out;
  }
}

TEST_F(TestCommandTest, BadFilesAreErrorsWithPlaceAndField) {
  const struct {
    const char* content;
    const char* want;
  } rows[] = {
      {"", ": expected a document of kind Test, got an empty file"},
      {"# nothing\n", "bad.test.yaml: expected a document of kind Test"},
      {"kind: Test\n", ":1:1: apiVersion: expected schedsim/v1"},
      {"apiVersion: schedsim/v1\nkind: Test\nrun: {files: [cluster.yaml], seed: -1}\nexpect: "
       "[{preemptionsMax: 1}]\n",
       ": run.seed: expected a whole number that is not negative"},
      {"apiVersion: schedsim/v1\nkind: Test\nexpect: [{bound: true}]\n", "run: expected a map"},
      {"apiVersion: schedsim/v1\nkind: Test\nrun: {files: [cluster.yaml]}\n",
       "expect: expected placements or a list"},
      {"apiVersion: schedsim/v1\nkind: Test\nrun: {files: [cluster.yaml]}\nexpect: [{bound: true}]\n",
       ":4:10: expect[0]: pods: expected a map that chooses pods"},
      {"apiVersion: schedsim/v1\nkind: Test\nrun: {files: [cluster.yaml]}\nexpect: [{pods: {name: a}, bonud: "
       "true}]\n",
       "unknown field \"expect[0].bonud\""},
      {"apiVersion: schedsim/v1\nkind: Test\nrun: {files: [cluster.yaml], until: soon}\nexpect: "
       "[{preemptionsMax: 1}]\n",
       "run.until: "},
      {"apiVersion: schedsim/v1\nkind: Test\nrun: {files: [cluster.yaml]}\nexpect: [{pods: {name: "
       "default/a}, "
       "count: 0}]\n",
       ":4:17: expect[0].pods.name: expected a name without its namespace, and no pattern"},
      {"apiVersion: schedsim/v1\nkind: Test\nrun: {files: [none.yaml]}\nexpect: [{preemptionsMax: 1}]\n",
       "none.yaml"},
  };
  for (const auto& row : rows) {
    const std::string path = folder_.Write("bad.test.yaml", row.content);
    const ProgramResult result = RunProgram({"test", path});
    EXPECT_EQ(result.exit_code, 2) << row.want;
    EXPECT_TRUE(absl::StrContains(result.out, row.want)) << row.want << "\n" << result.out;
  }
  EXPECT_EQ(RunProgram({"test", SCHEDSIM_SOURCE_DIR "/snapshots"}).exit_code, 2);
}

}  // namespace
}  // namespace schedsim
