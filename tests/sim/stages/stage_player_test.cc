// Stages in a simulated cluster.
#include "sim/stages/stage_player.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/codec/objects/object_writer.h"
#include "gtest/gtest.h"
#include "sim/stages/default_stages.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

constexpr char kNode[] = R"(
apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {podCIDR: 10.1.0.0/24}
status:
  allocatable: {cpu: "4", memory: 8Gi, pods: "10"}
  addresses: [{type: InternalIP, address: 192.0.2.7}]
)";

std::string PodOf(const std::string& name, const std::string& metadata = "") {
  return absl::StrCat("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name, ", namespace: default",
                      metadata, "}\nspec: {containers: [{name: c, image: i}]}\n");
}

// A run with stages: names of sets, or YAML.
class StagedCluster : public SmallCluster {
 public:
  StagedCluster(absl::string_view objects, const std::vector<std::string>& stages) : SmallCluster(objects) {
    StageFile read;
    for (const std::string& text : stages) {
      absl::Status status = AddDefaultStages(text, read);
      if (absl::IsNotFound(status)) status = ReadStagesOfText(text, "s.yaml", read);
      CHECK(status.ok());
    }
    options.stages = std::make_shared<const std::vector<Stage>>(std::move(read.stages));
  }
};

std::string JsonOf(const Simulation& simulation, const std::string& name) {
  const api::PodPtr pod = simulation.server().FindPod("default", name);
  return pod == nullptr ? "" : codec::ObjectJson(*pod);
}

TEST(StagePlayerTest, PodsRunInTheInstantInWhichTheyAreBound) {
  StagedCluster cluster(absl::StrCat(kNode, PodOf("a"), PodOf("b")), {"fast"});
  const std::unique_ptr<Simulation> simulation = cluster.Run(std::nullopt);
  const std::string a = JsonOf(*simulation, "a");
  EXPECT_TRUE(absl::StrContains(a, "\"phase\":\"Running\"")) << a;
  EXPECT_TRUE(absl::StrContains(a, "\"type\":\"Ready\"")) << a;
  // What the scheduler wrote stays.
  EXPECT_TRUE(absl::StrContains(a, "\"type\":\"PodScheduled\"")) << a;
  EXPECT_TRUE(absl::StrContains(a, "\"podIP\":\"10.1.0.1\"")) << a;
  EXPECT_TRUE(absl::StrContains(a, "\"hostIP\":\"192.0.2.7\"")) << a;
  EXPECT_TRUE(absl::StrContains(JsonOf(*simulation, "b"), "\"podIP\":\"10.1.0.2\""));
  const std::string node = codec::ObjectJson(*simulation->server().Find(api::Kind::kNode, "Node", "", "n1"));
  EXPECT_TRUE(absl::StrContains(node, "\"reason\":\"KubeletReady\"")) << node;
  EXPECT_EQ(simulation->Warnings(), std::vector<std::string>());
}

TEST(StagePlayerTest, PodsOfJobsAreDoneAtOnce) {
  StagedCluster cluster(
      absl::StrCat(kNode,
                   PodOf("a", ", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: u}]")),
      {"fast"});
  EXPECT_TRUE(absl::StrContains(JsonOf(*cluster.Run(std::nullopt), "a"), "\"phase\":\"Succeeded\""));
}

TEST(StagePlayerTest, ADeletedPodIsGoneWhenAStageDeletesIt) {
  StagedCluster cluster(absl::StrCat(kNode, PodOf("a")), {"fast"});
  cluster.DeletePod(10, "a");
  EXPECT_EQ(JsonOf(*cluster.Run(std::nullopt), "a"), "");
  // Nobody deletes it without such a stage.
  StagedCluster other(absl::StrCat(kNode, PodOf("a")),
                      {"kind: Stage\nmetadata: {name: s}\nspec: {resourceRef: {kind: Pod}}\n"});
  other.DeletePod(10, "a");
  EXPECT_TRUE(absl::StrContains(JsonOf(*other.Run(100), "a"), "deletionTimestamp"));
}

TEST(StagePlayerTest, GeneralStagesTakeTheirTime) {
  StagedCluster cluster(absl::StrCat(kNode, PodOf("a")), {"general"});
  EXPECT_TRUE(absl::StrContains(JsonOf(*cluster.Run(1.5), "a"), "\"phase\":\"Pending\""));
  EXPECT_TRUE(absl::StrContains(JsonOf(*cluster.Run(12), "a"), "\"phase\":\"Running\""));
  cluster.DeletePod(20, "a");
  EXPECT_TRUE(absl::StrContains(JsonOf(*cluster.Run(20.5), "a"), "deletionTimestamp"));
  EXPECT_EQ(JsonOf(*cluster.Run(51), "a"), "");
}

TEST(StagePlayerTest, TheSeedSaysWhatIsDrawn) {
  StagedCluster cluster(absl::StrCat(kNode, PodOf("a"), PodOf("b")), {"general"});
  cluster.Run(30);
  const std::vector<std::string> first = cluster.records;
  const std::string json = JsonOf(*cluster.Run(30), "a");
  EXPECT_EQ(cluster.records, first);
  cluster.options.seed = 2;
  EXPECT_NE(JsonOf(*cluster.Run(30), "a"), json);
}

constexpr char kStage[] = "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\n";

TEST(StagePlayerTest, AHeartbeatDoesNotKeepTheRunGoing) {
  const std::string beat = absl::StrCat(kStage, R"(metadata: {name: beat}
spec:
  resourceRef: {kind: Node}
  selector: {}
  delay: {durationMilliseconds: 20000}
  next:
    statusTemplate: '{conditions: [{type: Ready, status: "True", lastHeartbeatTime: {{ Now | Quote }}}]}'
)");
  StagedCluster cluster(absl::StrCat(kNode, PodOf("a")), {beat});
  const std::unique_ptr<Simulation> simulation = cluster.Run(std::nullopt);
  EXPECT_LT(simulation->now() - simulation->zero(), absl::Minutes(2));
  const std::unique_ptr<Simulation> longer = cluster.Run(61);
  EXPECT_TRUE(absl::StrContains(codec::ObjectJson(*longer->server().Find(api::Kind::kNode, "Node", "", "n1")),
                                "\"lastHeartbeatTime\":\"2000-01-01T00:01:00Z\""));
}

TEST(StagePlayerTest, AStageThatComesAgainAtOnceIsLeftOut) {
  const std::string loop = absl::StrCat(kStage, R"(metadata: {name: loop}
spec:
  resourceRef: {kind: Node}
  selector: {}
  next:
    patches: [{root: metadata, template: '{annotations: {n: {{ randAlphaNum 8 }}}}'}]
)");
  StagedCluster cluster(kNode, {loop});
  const std::vector<std::string> warnings = cluster.Run(std::nullopt)->Warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            "Stage loop (s.yaml:1): comes again at once, without end, for Node/n1; it is left out there");
}

// Two stages that take turns, each with `delay`.
std::string TakingTurns(const std::string& delay) {
  std::string text;
  for (const char* stage : {"A", "B"}) {
    absl::StrAppend(&text, "---\n", kStage, "metadata: {name: ", stage,
                    "}\nspec:\n  resourceRef: {kind: Node}\n",
                    "  selector:\n    matchExpressions: [{key: .status.phase, operator: ",
                    stage[0] == 'A' ? "NotIn" : "In", ", values: [A]}]\n", delay,
                    "  next: {statusTemplate: 'phase: ", stage, "'}\n");
  }
  return text;
}

TEST(StagePlayerTest, StagesThatTakeTurnsAtOnceAreLeftOut) {
  StagedCluster cluster(kNode, {TakingTurns("")});
  const std::vector<std::string> warnings = cluster.Run(std::nullopt)->Warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            "Stage A (s.yaml:2): comes again at once, without end, for Node/n1; it is left out there");
}

TEST(StagePlayerTest, StagesThatTakeTurnsDoNotKeepTheRunGoing) {
  StagedCluster cluster(kNode, {TakingTurns("  delay: {durationMilliseconds: 1000}\n")});
  const std::unique_ptr<Simulation> simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(simulation->Warnings(), std::vector<std::string>());
  EXPECT_LT(simulation->now() - simulation->zero(), absl::Minutes(1));
  const std::unique_ptr<Simulation> longer = cluster.Run(100.5);
  EXPECT_TRUE(absl::StrContains(codec::ObjectJson(*longer->server().Find(api::Kind::kNode, "Node", "", "n1")),
                                "\"phase\":\"B\""));
}

// It matches all the time, and has nothing to do until someone changes the label.
TEST(StagePlayerTest, AStageWithoutAnythingToDoIsNoEndlessOne) {
  const std::string mirror = absl::StrCat(kStage, R"(metadata: {name: mirror}
spec:
  resourceRef: {kind: Node}
  selector: {matchExpressions: [{key: .metadata.labels.x, operator: Exists}]}
  next: {statusTemplate: 'phase: {{ .metadata.labels.x | Quote }}'}
)");
  const std::string later = absl::StrCat(mirror, "  delay: {durationMilliseconds: 5000}\n");
  const auto node = [](const std::string& label) {
    return absl::StrCat("apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {x: ", label, "}}\n");
  };
  for (const std::string& stages : {mirror, later}) {
    StagedCluster cluster(node("a"), {stages});
    cluster.Update(20, node("b"));
    cluster.Update(30, node("c"));
    const std::unique_ptr<Simulation> simulation = cluster.Run(std::nullopt);
    EXPECT_EQ(simulation->Warnings(), std::vector<std::string>());
    const std::string json =
        codec::ObjectJson(*simulation->server().Find(api::Kind::kNode, "Node", "", "n1"));
    EXPECT_TRUE(absl::StrContains(json, "\"phase\":\"c\"")) << json;
  }
}

TEST(StagePlayerTest, StepsApplyOtherObjectsAndFinalizersHoldAnObject) {
  const std::string make = absl::StrCat(kStage, R"(metadata: {name: make}
spec:
  resourceRef: {kind: Pod}
  selector:
    matchLabels: {make: "1"}
    matchExpressions: [{key: .status.phase, operator: NotIn, values: [Running]}]
  steps:
  - finalizers: {add: [{value: x/hold}]}
  - apply:
      template: |
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: of-{{ .metadata.name }}}
        data: {node: {{ .spec.nodeName }}}
  - patch: {subresource: status, root: status, template: 'phase: Running'}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: delete}
spec:
  resourceRef: {kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: Exists}
    - {key: .metadata.annotations.asked, operator: DoesNotExist}
  steps:
  - patch: {root: metadata, template: '{annotations: {asked: "1"}}'}
  - delete: true
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: free}
spec:
  resourceRef: {kind: Pod}
  selector: {matchExpressions: [{key: .metadata.annotations.asked, operator: Exists}]}
  delay: {durationMilliseconds: 5000}
  steps:
  - finalizers: {remove: [{value: x/hold}]}
)");
  StagedCluster cluster(absl::StrCat(kNode, PodOf("a", ", labels: {make: '1'}")), {make});
  cluster.DeletePod(10, "a");
  const std::unique_ptr<Simulation> before = cluster.Run(12);
  EXPECT_TRUE(absl::StrContains(JsonOf(*before, "a"), "x/hold"));
  EXPECT_NE(before->server().Find(api::Kind::kOther, "ConfigMap", "default", "of-a"), nullptr);
  EXPECT_EQ(JsonOf(*cluster.Run(20), "a"), "");
}

// The Event objects, by name.
std::vector<std::string> EventsOf(const Simulation& simulation) {
  std::vector<std::string> events;
  for (const auto& [key, object] : simulation.server().List(api::Kind::kOther)) {
    if (object->kind_name == "Event") events.push_back(codec::ObjectJson(*object));
  }
  return events;
}

TEST(StagePlayerTest, EventsAreObjectsForAnHour) {
  StagedCluster cluster(absl::StrCat(kNode, PodOf("a")), {"general"});
  const std::vector<std::string> events = EventsOf(*cluster.Run(60));
  ASSERT_EQ(events.size(), 1u);
  for (const char* part :
       {"\"name\":\"a.", "\"reason\":\"Created\"", "\"message\":\"Created container\"", "\"count\":1",
        "\"source\":{\"component\":\"kwok_controller\"}", "\"type\":\"Normal\"", "\"kind\":\"Pod\"",
        "\"firstTimestamp\":\"2000-01-01T00:00:0"}) {
    EXPECT_TRUE(absl::StrContains(events[0], part)) << part << "\n" << events[0];
  }
  EXPECT_TRUE(EventsOf(*cluster.Run(3700)).empty());
}

TEST(StagePlayerTest, AnEventThatComesAgainCounts) {
  const std::string beat = absl::StrCat(kStage, R"(metadata: {name: beat}
spec:
  resourceRef: {kind: Node}
  selector: {}
  delay: {durationMilliseconds: 10000}
  next:
    event: {type: Warning, reason: Beat, message: again}
    statusTemplate: '{phase: {{ Now | Quote }}}'
)");
  StagedCluster cluster(kNode, {beat});
  const std::vector<std::string> events = EventsOf(*cluster.Run(35));
  ASSERT_EQ(events.size(), 1u);
  for (const char* part :
       {"\"count\":3", "\"firstTimestamp\":\"2000-01-01T00:00:10Z\"", "\"namespace\":\"default\"",
        "\"lastTimestamp\":\"2000-01-01T00:00:30Z\"", "\"kind\":\"Node\""}) {
    EXPECT_TRUE(absl::StrContains(events[0], part)) << part << "\n" << events[0];
  }
}

TEST(StagePlayerTest, ChaosStagesFailWhatHasTheirLabel) {
  const std::string pod =
      absl::StrCat(PodOf("a",
                         ", labels: {pod-container-running-failed.stage.kwok.x-k8s.io: 'true'}, annotations: "
                         "{pod-container-running-failed.stage.kwok.x-k8s.io/exit-code: '7'}"),
                   PodOf("b"));
  StagedCluster cluster(absl::StrCat(kNode, pod), {"fast", "chaos"});
  const std::unique_ptr<Simulation> simulation = cluster.Run(std::nullopt);
  const std::string a = JsonOf(*simulation, "a");
  for (const char* part : {"\"phase\":\"Failed\"", "\"exitCode\":7", "\"reason\":\"containerFailed\""}) {
    EXPECT_TRUE(absl::StrContains(a, part)) << part << "\n" << a;
  }
  EXPECT_TRUE(absl::StrContains(JsonOf(*simulation, "b"), "\"phase\":\"Running\""));
}

TEST(StagePlayerTest, ChaosStagesTakeANodeDown) {
  const std::string node =
      "apiVersion: v1\nkind: Node\nmetadata:\n  name: n2\n  labels: {node-not-ready.stage.kwok.x-k8s.io: "
      "'true'}\n"
      "  annotations: {node-not-ready.stage.kwok.x-k8s.io/type: DiskPressure}\n";
  StagedCluster cluster(node, {"node-fast", "node-chaos", "node-heartbeat"});
  const std::unique_ptr<Simulation> simulation = cluster.Run(5);
  const std::string json = codec::ObjectJson(*simulation->server().Find(api::Kind::kNode, "Node", "", "n2"));
  for (const char* part :
       {"\"message\":\"node failed\",\"reason\":\"nodeFailed\",\"status\":\"False\",\"type\":\"Ready\"",
        "\"status\":\"True\",\"type\":\"DiskPressure\"", "\"status\":\"False\",\"type\":\"PIDPressure\""}) {
    EXPECT_TRUE(absl::StrContains(json, part)) << part << "\n" << json;
  }
}

// A pod whose container ends after 30 s.
std::string MortalPod(const std::string& policy, const std::string& failures) {
  return absl::StrCat(
      "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: default\n  annotations:\n"
      "    pod-exit.stage.schedsim/delay: 30s\n    pod-exit.stage.schedsim/failures: '",
      failures, "'\nspec: {restartPolicy: ", policy, ", containers: [{name: c, image: i}]}\n");
}

TEST(StagePlayerTest, ContainersEndAndAreStartedAgain) {
  struct Row {
    const char* policy;
    const char* failures;
    const char* phase;
    const char* restarts;
  };
  const std::vector<Row> rows = {
      {"Never", "0", "Succeeded", "0"},
      {"Never", "1", "Failed", "0"},
      {"OnFailure", "0", "Succeeded", "0"},
      // Two runs fail, the third one does not.
      {"OnFailure", "2", "Succeeded", "2"},
  };
  for (const Row& row : rows) {
    StagedCluster cluster(absl::StrCat(kNode, MortalPod(row.policy, row.failures)), {"fast", "pod-lifetime"});
    const std::string json = JsonOf(*cluster.Run(200), "a");
    EXPECT_TRUE(absl::StrContains(json, absl::StrCat("\"phase\":\"", row.phase, "\""))) << json;
    EXPECT_TRUE(absl::StrContains(json, absl::StrCat("\"restartCount\":", row.restarts))) << json;
  }
}

TEST(StagePlayerTest, RestartsTakeLongerEachTime) {
  StagedCluster cluster(absl::StrCat(kNode, MortalPod("Always", "9")), {"fast", "pod-lifetime"});
  // At 30 s at once, at 60 s after 10 s, at 100 s after 20 s.
  EXPECT_TRUE(absl::StrContains(JsonOf(*cluster.Run(31), "a"), "\"restartCount\":1"));
  const std::string waits = JsonOf(*cluster.Run(65), "a");
  EXPECT_TRUE(absl::StrContains(waits, "CrashLoopBackOff")) << waits;
  EXPECT_TRUE(absl::StrContains(waits, "\"exitCode\":1")) << waits;
  EXPECT_TRUE(absl::StrContains(JsonOf(*cluster.Run(71), "a"), "\"restartCount\":2"));
  EXPECT_TRUE(absl::StrContains(JsonOf(*cluster.Run(119), "a"), "\"restartCount\":2"));
  EXPECT_TRUE(absl::StrContains(JsonOf(*cluster.Run(121), "a"), "\"restartCount\":3"));
  // It never ends, but the run does.
  EXPECT_LT(cluster.Run(std::nullopt)->now() - absl::FromUnixSeconds(946'684'800), absl::Minutes(5));
}

TEST(StagePlayerTest, AllSetsCanBeRead) {
  for (const std::string& name : DefaultStageSetNames()) {
    StageFile read;
    const absl::Status status = AddDefaultStages(name, read);
    EXPECT_TRUE(status.ok()) << name << ": " << status;
    EXPECT_FALSE(read.stages.empty()) << name;
  }
}

TEST(StagePlayerTest, NodesBeat) {
  StagedCluster cluster(kNode, {"node-fast", "node-heartbeat"});
  const std::unique_ptr<Simulation> simulation = cluster.Run(26);
  const std::string json = codec::ObjectJson(*simulation->server().Find(api::Kind::kNode, "Node", "", "n1"));
  EXPECT_FALSE(absl::StrContains(json, "\"lastHeartbeatTime\":\"2000-01-01T00:00:00Z\"")) << json;
  EXPECT_TRUE(absl::StrContains(json, "\"lastHeartbeatTime\":\"2000-01-01T00:00:2")) << json;
}

TEST(StagePlayerTest, AFailedExpressionIsSaidOnce) {
  const std::string bad = absl::StrCat(kStage, R"(metadata: {name: bad}
spec:
  resourceRef: {kind: Node}
  selector: {matchExpressions: [{cel: {expression: "self.metadata.labels['x'] == 'y'"}}]}
)");
  StagedCluster cluster(kNode, {bad});
  const std::vector<std::string> warnings = cluster.Run(std::nullopt)->Warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            "Stage bad (s.yaml:1): spec.selector.matchExpressions[0].cel.expression: no such key: the field "
            "is not set");
}

// A stage that patches objects of a kind once, as `patch` says.
std::string PatchStage(const std::string& kind, const std::string& patch) {
  return absl::StrCat(kStage, "metadata: {name: s}\nspec:\n  resourceRef: ", kind,
                      "\n  selector: {matchLabels: {patch: 'yes'}}\n  next: {patches: [", patch, "]}\n");
}

// The one object of another kind than Node.
std::string OtherJson(const Simulation& simulation) {
  for (const api::Kind kind : {api::Kind::kOther, api::Kind::kReplicaSet}) {
    for (const auto& [key, object] : simulation.server().List(kind)) {
      if (object->kind_name != "Namespace") return codec::ObjectJson(*object);
    }
  }
  return "";
}

TEST(StagePlayerTest, APatchThatTheApiServerRefusesChangesNothing) {
  constexpr char kJob[] = R"(---
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: default, labels: {patch: 'yes'}}
spec: {completions: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
)";
  const auto warnings_of = [&](const std::string& patch) {
    StagedCluster cluster(absl::StrCat(kNode, kJob), {PatchStage("{apiGroup: batch/v1, kind: Job}", patch)});
    const std::unique_ptr<Simulation> simulation = cluster.Run(std::nullopt);
    const bool is_patched = absl::StrContains(OtherJson(*simulation), "\"parallelism\":2");
    EXPECT_EQ(is_patched, simulation->Warnings().empty()) << OtherJson(*simulation);
    return simulation->Warnings();
  };
  EXPECT_EQ(warnings_of("{root: spec, template: '{parallelism: 2}'}"), std::vector<std::string>());
  EXPECT_EQ(warnings_of("{root: spec, template: '{parallelism: 2, completions: 5}'}"),
            (std::vector<std::string>{"Stage s (s.yaml:1): Job/default/j: Job.batch \"j\" is invalid: "
                                      "spec.completions: Invalid value: 5: field is immutable"}));
  const std::string bad_label =
      "metadata.labels: Invalid value: \"b c\": a valid label must be an empty string or consist of "
      "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
      "'MyValue',  or 'my_value',  or '12345', regex used for validation is "
      "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
  for (const char* subresource : {"''", "status"}) {
    EXPECT_EQ(warnings_of(absl::StrCat("{subresource: ", subresource,
                                       ", template: '{metadata: {labels: {a: b c}}}'}")),
              std::vector<std::string>{absl::StrCat(
                  "Stage s (s.yaml:1): Job/default/j: Job.batch \"j\" is invalid: ", bad_label)});
  }
}

TEST(StagePlayerTest, APatchOfAnUnknownSubresourceIsDropped) {
  const auto warnings_of = [](const std::string& patch) {
    StagedCluster cluster(absl::StrReplaceAll(kNode, {{"{name: n1}", "{name: n1, labels: {patch: 'yes'}}"}}),
                          {PatchStage("{kind: Node}", patch)});
    const std::unique_ptr<Simulation> simulation = cluster.Run(std::nullopt);
    const std::string json =
        codec::ObjectJson(*simulation->server().Find(api::Kind::kNode, "Node", "", "n1"));
    EXPECT_EQ(absl::StrContains(json, "unschedulable"), simulation->Warnings().empty()) << json;
    return simulation->Warnings();
  };
  EXPECT_EQ(warnings_of("{root: spec, template: 'unschedulable: true'}"), std::vector<std::string>());
  for (const char* subresource : {"statuss", "resize", "scale"}) {
    EXPECT_EQ(warnings_of(absl::StrCat("{subresource: ", subresource,
                                       ", root: spec, template: 'unschedulable: true'}")),
              std::vector<std::string>{absl::StrCat("Stage s (s.yaml:1): Node/n1: subresource ", subresource,
                                                    ": the server could not find the requested resource")});
  }
}

TEST(StagePlayerTest, ASubresourceTakesItsPartOfTheSpecAlone) {
  constexpr char kSet[] = R"(---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: r, namespace: default, labels: {patch: 'yes'}}
spec:
  replicas: 0
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}
)";
  StagedCluster cluster(absl::StrCat(kNode, kSet),
                        {PatchStage("{apiGroup: apps/v1, kind: ReplicaSet}",
                                    "{subresource: scale, root: spec, template: '{replicas: 3, "
                                    "minReadySeconds: 7}'}")});
  const std::unique_ptr<Simulation> simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(simulation->Warnings(), std::vector<std::string>());
  EXPECT_TRUE(absl::StrContains(OtherJson(*simulation), "\"replicas\":3")) << OtherJson(*simulation);
  EXPECT_FALSE(absl::StrContains(OtherJson(*simulation), "minReadySeconds"));
}

// As `kubectl patch --subresource resize`, with what the API server says of it.
TEST(StagePlayerTest, AResizeFollowsItsRules) {
  const auto warnings_of = [](const std::string& cpu) {
    StagedCluster cluster(
        absl::StrCat(kNode, absl::StrReplaceAll(PodOf("a", ", labels: {patch: 'yes'}"),
                                                {{"image: i",
                                                  "image: i, resources: {requests: {cpu: 1}, "
                                                  "limits: {cpu: 2}}"}})),
        {PatchStage("{kind: Pod}", absl::StrCat("{subresource: resize, root: spec, template: '{containers: "
                                                "[{name: c, resources: {requests: {cpu: ",
                                                cpu, "}}}]}'}"))});
    return cluster.Run(std::nullopt)->Warnings();
  };
  EXPECT_EQ(warnings_of("1500m"), std::vector<std::string>());
  EXPECT_EQ(warnings_of("3"),
            std::vector<std::string>{
                "Stage s (s.yaml:1): Pod/default/a: Pod \"a\" is invalid: "
                "spec.containers[0].resources.requests: Invalid value: \"3\": must be less than or equal to "
                "cpu limit of 2"});
}

}  // namespace
}  // namespace schedsim::sim
