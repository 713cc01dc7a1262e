// The program on good input: what it reads, what it prints, and that it prints the same again.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/tools/json_schema.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;
using Strings = std::vector<std::string>;

constexpr char kSmall[] = SCHEDSIM_SOURCE_DIR "/snapshots/small";
constexpr char kMixed[] = SCHEDSIM_SOURCE_DIR "/snapshots/mixed";
constexpr char kConformance[] = SCHEDSIM_SOURCE_DIR "/tests/conformance/";

// Three nodes of 2 cores, two bound pods, three pending ones of which the last does not fit.
constexpr char kCluster[] = R"(apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 2, memory: 4Gi, pods: 10}}}
- {apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 2, memory: 4Gi, pods: 10}}}
- {apiVersion: v1, kind: Node, metadata: {name: n3}, status: {allocatable: {cpu: 2, memory: 4Gi, pods: 10}}}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, labels: {app: web}}
spec: {nodeName: n1, containers: [{name: c, image: app, resources: {requests: {cpu: 1}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: db-0, labels: {app: db}}
spec: {nodeName: n1, containers: [{name: c, image: app, resources: {requests: {cpu: 1}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: new-0}
spec: {containers: [{name: c, image: app, resources: {requests: {cpu: 1500m}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: new-1}
spec: {containers: [{name: c, image: app, resources: {requests: {cpu: 1500m}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: large}
spec: {containers: [{name: c, image: app, resources: {requests: {cpu: 3}}}]}
)";

// Runs and expects exit code 0.
ProgramResult Good(const Strings& arguments, absl::string_view input = "") {
  ProgramResult result = RunProgram(arguments, input);
  EXPECT_EQ(result.exit_code, 0) << absl::StrJoin(arguments, " ") << "\n" << result.err;
  return result;
}

Json GoodJson(Strings arguments, absl::string_view input = "") {
  arguments.insert(arguments.end(), {"--output", "json"});
  const std::string out = Good(arguments, input).out;
  Json report = Json::parse(out, nullptr, /*allow_exceptions=*/false);
  EXPECT_TRUE(report.is_object()) << out;
  return report;
}

// The node of a pod of a report; "-" without such a pod.
std::string NodeOf(const Json& report, const std::string& pod) {
  for (const Json& row : report["pods"]) {
    if (row["name"] == pod) return row["node"].get<std::string>();
  }
  return "-";
}

TEST(RunTest, ReadsStandardInputFilesFoldersAndArchivesAlike) {
  const TestFolder folder;
  const std::string want = BelowHead(Good({"run", "-f", folder.Write("cluster.yaml", kCluster)}).out);
  EXPECT_TRUE(absl::StrContains(want, "Pending         1\n")) << want;
  EXPECT_EQ(BelowHead(Good({"run", "-f", "-"}, kCluster).out), want);
  EXPECT_EQ(BelowHead(Good({"run", "-f", folder.Write("packed.yaml.gz", Gzip(kCluster))}).out), want);
  EXPECT_EQ(BelowHead(Good({"run", "-f", folder.Write("packed.yaml.xz", Xz(kCluster))}).out), want);
  EXPECT_EQ(BelowHead(Good({"run", "-f", "-"}, Gzip(kCluster)).out), want);
  folder.Write("folder/cluster.yml", kCluster);
  folder.Write("folder/notes.txt", "not read");
  EXPECT_EQ(BelowHead(Good({"run", "-f", folder.Path("folder")}).out), want);
}

TEST(RunTest, TakesSeveralFilesInTheirOrder) {
  const TestFolder folder;
  const Strings documents = absl::StrSplit(kCluster, "---\n");
  Strings arguments = {"run"};
  for (size_t i = 0; i < documents.size(); ++i) {
    arguments.push_back("-f");
    arguments.push_back(folder.Write(absl::StrCat(i, ".yaml"), documents[i]));
  }
  EXPECT_EQ(BelowHead(Good(arguments).out), BelowHead(Good({"run", "-f", "-"}, kCluster).out));
}

TEST(RunTest, PlacesWhatFitsAndSaysWhyTheRestDoesNot) {
  const Json report = GoodJson({"run", "-f", "-"}, kCluster);
  EXPECT_EQ(report["nodes"], 3);
  EXPECT_EQ(report["boundBefore"], 2);
  EXPECT_EQ(report["bound"], 4);
  EXPECT_EQ(report["pending"], 1);
  EXPECT_EQ(NodeOf(report, "new-0"), "n2");
  EXPECT_EQ(NodeOf(report, "new-1"), "n3");
  EXPECT_EQ(NodeOf(report, "large"), "");
  EXPECT_EQ(
      report["pendingByMessage"][0]["message"],
      "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 Preemption is not "
      "helpful for scheduling.");
  EXPECT_EQ(report["exact"], true);
}

// The status of a pod of a report; "-" without such a pod.
std::string StatusOf(const Json& report, const std::string& pod) {
  for (const Json& row : report["pods"]) {
    if (row["name"] == pod) return row["status"].get<std::string>();
  }
  return "-";
}

// A snapshot has 300 pods in files of its own; all of them are rows and in the counts.
TEST(RunTest, TheCountsOfPodsAddUp) {
  for (const char* snapshot : {kSmall, kMixed}) {
    for (const char* bound : {"keep", "reset"}) {
      for (const char* until : {"876600h", "0s", "20ms"}) {
        const bool ends = absl::string_view(until) == "876600h";
        Strings arguments = {"run", "-f", snapshot, "--bound", bound};
        if (!ends) arguments.insert(arguments.end(), {"--until", until});
        const Json report = GoodJson(arguments);
        int64_t sum = 0;
        for (const char* count : {"bound", "pending", "ignored", "finished", "evicted", "deleted", "refused"})
          sum += report[count].get<int64_t>();
        EXPECT_EQ(sum, static_cast<int64_t>(report["pods"].size())) << snapshot;
        EXPECT_EQ(sum, snapshot == kSmall ? 300 : 590) << snapshot;
        int64_t pending = 0;
        for (const Json& entry : report["pendingByMessage"]) pending += entry["count"].get<int64_t>();
        EXPECT_EQ(pending, report["pending"]);
      }
    }
  }
}

TEST(RunTest, CountsAndNamesThePodsOfOtherSchedulers) {
  constexpr char kForeign[] = R"(---
apiVersion: v1
kind: Pod
metadata: {name: custom}
spec: {schedulerName: my-scheduler, containers: [{name: c, image: app}]}
)";
  const std::string cluster = absl::StrCat(kCluster, kForeign);
  const std::string text = Good({"run", "-f", "-"}, cluster).out;
  EXPECT_TRUE(absl::StrContains(text,
                                "Ignored         1 of schedulers that no profile names\n"
                                "      1 x  my-scheduler\n"
                                "           default/custom\n"))
      << text;
  const Json report = GoodJson({"run", "-f", "-"}, cluster);
  EXPECT_EQ(report["ignored"], 1);
  EXPECT_EQ(report["ignoredByScheduler"][0]["schedulerName"], "my-scheduler");
  const Json schema = Json::parse(FileContent(SCHEDSIM_SOURCE_DIR "/docs/report.schema.json"));
  const Strings violations = SchemaViolations(schema, report);
  EXPECT_TRUE(violations.empty()) << absl::StrJoin(violations, "\n");
  const std::string csv = Good({"run", "-f", "-", "--output", "csv"}, cluster).out;
  EXPECT_TRUE(absl::StrContains(csv, "default,custom,Ignored,,OtherScheduler,")) << csv;
}

TEST(RunTest, NamesThePodsThatWereEvicted) {
  const std::string cluster = absl::StrCat(kCluster, R"(---
apiVersion: v1
kind: Pod
metadata: {name: urgent}
spec: {priority: 100, nodeSelector: {kubernetes.io/hostname: n1}, containers: [{name: c, image: app, resources: {requests: {cpu: 1500m}}}]}
)");
  const std::string labelled = absl::StrReplaceAll(
      cluster, {{"metadata: {name: n1}", "metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}"}});
  const Json report = GoodJson({"run", "-f", "-"}, labelled);
  EXPECT_EQ(NodeOf(report, "urgent"), "n1");
  EXPECT_EQ(report["evicted"], 2);
  EXPECT_EQ(report["deleted"], 0);
  for (const char* victim : {"web-0", "db-0"}) {
    EXPECT_EQ(StatusOf(report, victim), "Gone");
    EXPECT_EQ(NodeOf(report, victim), "n1");
  }
  const Json schema = Json::parse(FileContent(SCHEDSIM_SOURCE_DIR "/docs/report.schema.json"));
  const Strings violations = SchemaViolations(schema, report);
  EXPECT_TRUE(violations.empty()) << absl::StrJoin(violations, "\n");
  EXPECT_TRUE(absl::StrContains(Good({"run", "-f", "-"}, labelled).out, "Evicted         2\n"));
}

TEST(RunTest, BindsAClaimThatWaitsForNoConsumerToTheSmallestVolume) {
  const std::string volumes = R"(---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: disk}, provisioner: kubernetes.io/no-provisioner, volumeBindingMode: Immediate}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: a-large}
spec:
  hostPath: {path: /a}
  capacity: {storage: 9Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: disk
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: host, operator: In, values: [n2]}]}]}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: b-small}
spec:
  hostPath: {path: /b}
  capacity: {storage: 2Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: disk
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: host, operator: In, values: [n3]}]}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: disk, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: stateful}
spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: data}}], containers: [{name: c, image: app}]}
)";
  const std::string cluster = absl::StrReplaceAll(
      kCluster,
      {{"{name: n2}", "{name: n2, labels: {host: n2}}"}, {"{name: n3}", "{name: n3, labels: {host: n3}}"}});
  const Json report = GoodJson({"run", "-f", "-"}, absl::StrCat(cluster, volumes));
  EXPECT_EQ(NodeOf(report, "stateful"), "n3");
  EXPECT_EQ(report["exact"], true);
}

TEST(RunTest, MarksPodsWhoseExtendedResourceADeviceClassGivesWhereTaintRulesCount) {
  const std::string pod = absl::StrCat(kCluster, R"(---
apiVersion: v1
kind: Pod
metadata: {name: gpu}
spec: {containers: [{name: c, image: app, resources: {limits: {example.com/gpu: 1}}}]}
)");
  EXPECT_EQ(GoodJson({"run", "-f", "-"}, pod)["exact"], true);
  const std::string device_class = R"(---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {extendedResourceName: example.com/gpu}}
)";
  EXPECT_EQ(GoodJson({"run", "-f", "-"}, absl::StrCat(pod, device_class))["exact"], true);
  const std::string rule = R"(---
{apiVersion: resource.k8s.io/v1, kind: DeviceTaintRule, metadata: {name: r}, spec: {taint: {key: a, effect: NoSchedule}}}
)";
  const Json report = GoodJson({"run", "-f", "-"}, absl::StrCat(pod, device_class, rule));
  ASSERT_EQ(report["inexactPods"].size(), 1U);
  EXPECT_EQ(GoodJson({"run", "-f", "-", "--kubernetes-version", "1.34"},
                     absl::StrCat(pod, device_class, rule))["exact"],
            true);
}

TEST(RunTest, FeaturesOfNodesDoNotCountWithoutTheirGate) {
  const TestFolder folder;
  const std::string config =
      folder.Write("config.yaml",
                   "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
                   "- plugins: {filter: {enabled: [{name: NodeDeclaredFeatures}]}}\n");
  const std::string pod = absl::StrCat(kCluster, R"(---
apiVersion: v1
kind: Pod
metadata: {name: own-users, uid: u}
spec: {hostNetwork: true, hostUsers: false, containers: [{name: c, image: app}]}
)");
  const Strings run = {"run", "-f", "-", "--kubernetes-version", "1.36"};
  EXPECT_EQ(NodeOf(GoodJson(run, pod), "own-users"), "");
  const Strings without = {
      "run", "-f", "-", "--kubernetes-version", "1.36", "--feature-gates", "NodeDeclaredFeatures=false"};
  EXPECT_NE(NodeOf(GoodJson(without, pod), "own-users"), "");
  // The gate is off in 1.35: a profile that names the plugin has one that does nothing.
  EXPECT_NE(NodeOf(GoodJson({"run", "-f", "-", "--kubernetes-version", "1.35", "--config", config}, pod),
                   "own-users"),
            "");
}

TEST(RunTest, SchedulesBoundPodsAnewWhenAsked) {
  const Json all = GoodJson({"run", "-f", "-", "--bound", "reset"}, kCluster);
  EXPECT_EQ(all["boundBefore"], 0);
  EXPECT_NE(NodeOf(all, "web-0"), NodeOf(all, "db-0"));
  const Json some = GoodJson({"run", "-f", "-", "--bound", "reset=app=web"}, kCluster);
  EXPECT_EQ(some["boundBefore"], 1);
  EXPECT_EQ(NodeOf(some, "db-0"), "n1");
  EXPECT_NE(NodeOf(some, "web-0"), "n1");
  EXPECT_EQ(GoodJson({"run", "-f", "-", "--bound", "reset=app!=web,app"}, kCluster)["boundBefore"], 1);
  EXPECT_EQ(GoodJson({"run", "-f", "-", "--bound", "reset=app=none"}, kCluster)["boundBefore"], 2);
}

TEST(RunTest, TheJsonReportIsAsItsSchemaSays) {
  const Json schema = Json::parse(FileContent(SCHEDSIM_SOURCE_DIR "/docs/report.schema.json"));
  const Strings runs[] = {{"run", "-f", kSmall},
                          {"run", "-f", kMixed},
                          {"run", "-f", kSmall, "--bound", "reset"},
                          {"run", "-f", kMixed, "--counters"}};
  for (const Strings& arguments : runs) {
    const Strings violations = SchemaViolations(schema, GoodJson(arguments));
    EXPECT_TRUE(violations.empty()) << absl::StrJoin(arguments, " ") << "\n"
                                    << absl::StrJoin(violations, "\n");
  }
}

TEST(RunTest, TheCsvReportHasALineAPod) {
  const std::string out = Good({"run", "-f", "-", "--output", "csv"}, kCluster).out;
  const Strings lines = absl::StrSplit(out, '\n');
  ASSERT_EQ(lines.size(), 7u) << out;
  EXPECT_EQ(lines[0], "namespace,name,status,node,reason,message,queue_latency_microseconds,inexact");
  EXPECT_EQ(lines[1], "default,db-0,Bound,n1,,,,false");
  EXPECT_TRUE(absl::StartsWith(lines[2], "default,large,Pending,,Unschedulable,")) << lines[2];
  EXPECT_EQ(lines[6], "");
}

TEST(RunTest, TheSameRunTwiceGivesTheSameBytes) {
  const TestFolder folder;
  for (const char* snapshot : {kSmall, kMixed}) {
    for (const char* output : {"text", "json", "csv"}) {
      const Strings run = {"run",      "-f",   snapshot,        "--bound", "reset",
                           "--output", output, "--trace-level", "full",    "--trace"};
      Strings first = run;
      first.push_back(folder.Path("first.jsonl"));
      Strings second = run;
      second.push_back(folder.Path("second.jsonl"));
      EXPECT_EQ(Good(first).out, Good(second).out);
      const std::string trace = FileContent(folder.Path("first.jsonl"));
      EXPECT_FALSE(trace.empty());
      EXPECT_TRUE(trace == FileContent(folder.Path("second.jsonl"))) << snapshot << " " << output;
    }
  }
}

TEST(RunTest, ThereIsNoLatencyWhereNothingWasBound) {
  const ProgramResult run =
      RunProgram({"run", "-f", "-"},
                 "apiVersion: v1\nkind: Node\nmetadata: {name: node}\nstatus: {allocatable: {cpu: 1}}\n");
  EXPECT_TRUE(absl::StrContains(run.out, "Queue latency   p50 -  p90 -  p99 -  max -\n")) << run.out;
}

TEST(RunTest, TheReportIsTheSameAtEveryTraceLevelAndWithoutFastPaths) {
  const TestFolder folder;
  const Strings run = {"run", "-f", kSmall, "--bound", "reset", "--output", "json"};
  const std::string want = Good(run).out;
  const Strings variants[] = {
      {"--reference"},
      {"--trace", folder.Path("decisions.jsonl")},
      {"--trace", folder.Path("ties.jsonl"), "--trace-level", "ties"},
      {"--trace", folder.Path("full.jsonl"), "--trace-level", "full"},
  };
  for (const Strings& variant : variants) {
    Strings arguments = run;
    arguments.insert(arguments.end(), variant.begin(), variant.end());
    std::string out = Good(arguments).out;
    // Only a full trace has a digest over its lines.
    const size_t at = out.find("\"traceDigest\":");
    EXPECT_EQ(at != std::string::npos, variant.back() == "full") << absl::StrJoin(variant, " ");
    if (at != std::string::npos) out.erase(at, out.find(',', at) + 1 - at);
    EXPECT_EQ(out, want) << absl::StrJoin(variant, " ");
  }
}

TEST(RunTest, TheTraceIsJsonLinesThatEndWithTheDigest) {
  const TestFolder folder;
  const Json report = GoodJson({"run", "-f", "-", "--trace", folder.Path("out.jsonl")}, kCluster);
  Strings lines = absl::StrSplit(FileContent(folder.Path("out.jsonl")), '\n');
  ASSERT_EQ(lines.back(), "");
  lines.pop_back();
  int attempts = 0;
  Json record;
  for (const std::string& line : lines) {
    record = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(record.is_object()) << line;
    ASSERT_TRUE(record.contains("t") && record.contains("ev") && record.contains("digest")) << line;
    attempts += record["ev"] == "attempt" ? 1 : 0;
  }
  EXPECT_EQ(record["ev"], "final");
  EXPECT_EQ(record["digest"], report["digest"]);
  EXPECT_EQ(attempts, report["attempts"]);
}

TEST(RunTest, StartsAndEndsWhenTold) {
  const Json report =
      GoodJson({"run", "-f", "-", "--start", "2026-01-31T12:00:00Z", "--until", "90s"}, kCluster);
  EXPECT_TRUE(absl::StartsWith(report["virtualZero"].get<std::string>(), "2026-01-31T12:00:00"));
  EXPECT_EQ(report["virtualTimeMicroseconds"], 90'000'000);
  EXPECT_EQ(GoodJson({"run", "-f", "-", "--until", "0s"}, kCluster)["virtualTimeMicroseconds"], 0);
}

TEST(RunTest, RunsEachLine) {
  for (const char* line : {"1.34", "1.35", "1.36", "1.37"}) {
    EXPECT_EQ(GoodJson({"run", "-f", "-", "--kubernetes-version", line}, kCluster)["kubernetesVersion"],
              line);
  }
  EXPECT_EQ(GoodJson({"run", "-f", "-", "--kubernetes-version", "v1.36.2"}, kCluster)["kubernetesVersion"],
            "1.36");
}

TEST(RunTest, TakesAConfiguration) {
  const TestFolder folder;
  const std::string config = folder.Write("config.yaml", R"(apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
  plugins:
    score: {disabled: [{name: NodeResourcesBalancedAllocation}]}
)");
  const std::string cluster = absl::StrReplaceAll(kCluster, {{"nodeName: n1, ", ""}});
  const Json spread = GoodJson({"run", "-f", "-"}, cluster);
  EXPECT_NE(NodeOf(spread, "web-0"), NodeOf(spread, "db-0"));
  const Json packed = GoodJson({"run", "-f", "-", "--config", config}, cluster);
  EXPECT_EQ(NodeOf(packed, "web-0"), NodeOf(packed, "db-0"));
}

TEST(RunTest, WritesSpeedAndWarningsToStandardErrorOnly) {
  const ProgramResult result = Good({"run", "-f", kSmall});
  EXPECT_TRUE(absl::StrContains(result.err, "attempts in")) << result.err;
  EXPECT_FALSE(absl::StrContains(result.out, "attempts in")) << result.out;
}

TEST(RunTest, HelpAndVersionAreGood) {
  for (const Strings& arguments :
       {Strings{"--help"}, Strings{"run", "--help"}, Strings{"conform", "--help"}}) {
    EXPECT_TRUE(absl::StrContains(Good(arguments).out, "--help"));
  }
  EXPECT_TRUE(absl::StrContains(Good({"--version"}).out, "schedsim "));
}

TEST(ConformTest, IsDoneWhenAllCasesAgree) {
  const ProgramResult result = Good({"conform", absl::StrCat(kConformance, "cases/ports.jsonl.gz"),
                                     absl::StrCat(kConformance, "traces-1.37/ports.jsonl.gz")});
  EXPECT_TRUE(absl::StrContains(result.out, "ports: 40 of 40 the same")) << result.out;
  EXPECT_TRUE(absl::EndsWith(result.out, "40 passed, 0 failed\n")) << result.out;
}

// A DeviceClass that comes later gives a resource that no node has; what was remembered of the nodes must not
// stand.
TEST(ConformTest, ADeviceClassChangesTheAnswersOfTheFastPathToo) {
  const TestFolder folder;
  const std::string cases = folder.Write(
      "cases.jsonl",
      R"({"name":"device-1","end":30,"objects":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},)"
      R"("status":{"allocatable":{"cpu":"1","memory":"1Gi","pods":"9"}}},{"apiVersion":"v1","kind":"Pod","metadata":)"
      R"({"name":"p","namespace":"default"},"spec":{"containers":[{"name":"c","image":"a","resources":)"
      R"({"requests":{"example.com/gpu":"1"},"limits":{"example.com/gpu":"1"}}}]}}],"steps":[{"at":2,"create":)"
      R"({"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"gpu"},)"
      R"("spec":{"extendedResourceName":"example.com/gpu"}}}]})"
      "\n");
  const std::string trace = folder.Write("trace.jsonl", R"({"case":"device-1","trace":[]})");
  RunProgram({"conform", cases, trace, "--write", folder.Path("fast")});
  RunProgram({"conform", cases, trace, "--write", folder.Path("reference"), "--reference"});
  const std::string fast = FileContent(folder.Path("fast/device-1.jsonl"));
  EXPECT_TRUE(absl::StrContains(fast, "Insufficient example.com/gpu")) << fast;
  EXPECT_TRUE(absl::StrContains(fast, "cannot allocate all claims")) << fast;
  EXPECT_EQ(fast, FileContent(folder.Path("reference/device-1.jsonl")));
}

// A case and its trace, for a pod that fits nowhere or, `host` given, takes that node.
TEST(ConformTest, JudgesADifference) {
  const TestFolder folder;
  const std::string cases = folder.Write(
      "cases.jsonl",
      R"({"name":"tiny-1","end":1,"record":"decisions","objects":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},)"
      R"("status":{"allocatable":{"cpu":"1","memory":"1Gi","pods":"9"}}},{"apiVersion":"v1","kind":"Pod","metadata":)"
      R"({"name":"p","namespace":"default"},"spec":{"containers":[{"name":"c","image":"a"}]}}]})"
      "\n");
  const char trace[] =
      R"({"case":"tiny-1","trace":[{"ev":"attempt","t":0,"pod":"default/p","attempts":1,"profile":"default-scheduler","start":0,"host":"%s"},)"
      R"({"ev":"bind","t":0,"pod":"default/p","node":"%s"},{"ev":"event","t":0,"pod":"default/p","type":"Normal",)"
      R"("reason":"Scheduled","note":"Successfully assigned default/p to %s"}]})";
  const std::string good = folder.Write("good.jsonl", absl::StrReplaceAll(trace, {{"%s", "n1"}}));
  const std::string bad = folder.Write("bad.jsonl", absl::StrReplaceAll(trace, {{"%s", "n2"}}));
  Good({"conform", cases, good, "--write", folder.Path("written")});
  EXPECT_TRUE(absl::StrContains(FileContent(folder.Path("written/tiny-1.jsonl")), "\"host\":\"n1\""));
  const ProgramResult result = RunProgram({"conform", cases, bad});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(result.out, "tiny-1: attempt 1 of default/p")) << result.out;
  EXPECT_TRUE(absl::EndsWith(result.out, "0 passed, 1 failed\n")) << result.out;
  EXPECT_EQ(RunProgram({"conform", cases, good, "--family", "none"}).exit_code, 2);
  const std::string malformed = folder.Write(
      "malformed.jsonl",
      R"({"case":"tiny-1","trace":[{"ev":"attempt","t":0,"pod":7,"attempts":"x","host":[],"postFilter":{"nominate":3}}]})");
  const ProgramResult refused = RunProgram({"conform", cases, malformed});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(refused.err,
                                "malformed.jsonl:1: record 1: attempt: pod: expected a string, got a number"))
      << refused.err;
}

// Nobody here would place them anew.
TEST(RunTest, BoundPodsOfOtherSchedulersAreNotReset) {
  const std::string cluster = absl::StrCat(kCluster, R"(---
apiVersion: v1
kind: Pod
metadata: {name: foreign}
spec: {schedulerName: volcano, nodeName: n3, containers: [{name: c, image: app, resources: {requests: {cpu: 2}}}]}
)");
  const ProgramResult result =
      RunProgram({"run", "-f", "-", "--bound", "reset", "--output", "json"}, cluster);
  const Json report = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  int64_t found = 0;
  for (const Json& pod : report["pods"]) {
    if (pod["name"] != "foreign") {
      EXPECT_NE(pod.value("node", ""), "n3") << pod;
      continue;
    }
    ++found;
    EXPECT_EQ(pod["node"], "n3") << pod;
  }
  EXPECT_EQ(found, 1) << result.out << result.err;
}

}  // namespace
}  // namespace schedsim
