// What the program says of input that is odd: exit code, standard output and standard error.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Strings = std::vector<std::string>;

constexpr char kNode[] =
    "apiVersion: v1\n"
    "kind: Node\n"
    "metadata: {name: n1}\n"
    "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}\n";

std::string Pod(absl::string_view name) {
  return absl::StrCat("apiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
                      "}\nspec: {containers: [{name: c, image: app}]}\n");
}

std::string Documents(const Strings& documents) { return absl::StrJoin(documents, "---\n"); }

// The lines on standard error that begin with `warning: `, without that.
Strings WarningsOf(const ProgramResult& result) {
  Strings warnings;
  for (absl::string_view line : absl::StrSplit(result.err, '\n')) {
    if (absl::ConsumePrefix(&line, "warning: ")) warnings.emplace_back(line);
  }
  return warnings;
}

// Runs with `content` as the only file and expects these warnings, `FILE` standing for its path; and the same
// as a refusal with --strict.
void ExpectWarnings(const std::string& content, const Strings& want) {
  const TestFolder folder;
  const std::string path = folder.Write("objects.yaml", content);
  const ProgramResult result = RunProgram({"run", "-f", path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  Strings expected;
  for (const std::string& warning : want) expected.push_back(absl::StrReplaceAll(warning, {{"FILE", path}}));
  EXPECT_EQ(WarningsOf(result), expected);
  const ProgramResult strict = RunProgram({"run", "-f", path, "--strict"});
  EXPECT_EQ(strict.exit_code, want.empty() ? 0 : 2) << strict.err;
  if (want.empty()) return;
  EXPECT_EQ(strict.out, "");
  for (const std::string& warning : expected) {
    EXPECT_TRUE(absl::StrContains(strict.err, warning)) << strict.err;
  }
}

TEST(InputWarningsTest, AKindThatIsSpelledWrongIsSaidWithTheNearestOne) {
  ExpectWarnings(
      Documents({kNode, "apiVersion: v1\nkind: pod\nmetadata: {name: a, namespace: x}\n",
                 "apiVersion: v1\nkind: Pods\nmetadata: {name: b}\n",
                 "apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: c}\n",
                 "apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: d}\n"}),
      {"FILE:7:7: pod x/a is left out: Kubernetes has no kind \"pod\" in v1, did you mean Pod of v1?",
       "FILE:11:7: Pods b is left out: Kubernetes has no kind \"Pods\" in v1, did you mean Pod of v1?",
       "FILE:15:7: Deploymnet c is left out: Kubernetes has no kind \"Deploymnet\" in apps/v1, did you mean "
       "Deployment of "
       "apps/v1? (2 times)"});
}

TEST(InputWarningsTest, AnApiVersionThatIsNotServedIsSaid) {
  ExpectWarnings(
      Documents({kNode, "apiVersion: v1\nkind: Deployment\nmetadata: {name: a}\n",
                 "apiVersion: apps/v1beta9\nkind: Deployment\nmetadata: {name: b}\n",
                 "apiVersion: app/v1\nkind: Deployment\nmetadata: {name: c}\n",
                 "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: d}\nspec: {}\n",
                 "apiVersion: policy.k8s.io/v1\nkind: PodDisruptionBudget\nmetadata: {name: e}\n"}),
      {"FILE:7:7: Deployment a is left out: Kubernetes 1.34 to 1.37 serves no Deployment in v1, expected "
       "apps/v1",
       "FILE:11:7: Deployment b is left out: Kubernetes 1.34 to 1.37 serves no Deployment in apps/v1beta9, "
       "expected "
       "apps/v1",
       "FILE:15:7: Deployment c is left out: Kubernetes 1.34 to 1.37 serves no Deployment in app/v1, "
       "expected apps/v1",
       "FILE:19:7: PodDisruptionBudget d is read all the same: Kubernetes 1.34 to 1.37 serves no "
       "PodDisruptionBudget in "
       "policy/v1beta1, expected policy/v1",
       "FILE:24:7: PodDisruptionBudget e is left out: Kubernetes 1.34 to 1.37 serves no PodDisruptionBudget "
       "in "
       "policy.k8s.io/v1, expected policy/v1"});
}

// What is left out takes no part, not even as a workload without pods.
TEST(InputWarningsTest, WhatIsNotServedIsLeftOut) {
  constexpr char kDeployment[] =
      "apiVersion: apps/v1beta2\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 2, selector: "
      "{matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "
      "i}]}}}\n";
  const ProgramResult result =
      RunProgram({"run", "-f", "-", "-o", "objects"}, Documents({kNode, kDeployment}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "\"kind\":\"Node\"")) << result.out;
  EXPECT_FALSE(absl::StrContains(result.out, "Deployment")) << result.out;
  // A file of nothing else is no empty one.
  EXPECT_EQ(WarningsOf(RunProgram({"run", "-f", "-", "--allow-empty"}, kDeployment)),
            (Strings{"stdin:2:7: Deployment a is left out: Kubernetes 1.34 to 1.37 serves no Deployment in "
                     "apps/v1beta2, expected apps/v1"}));
}

TEST(InputWarningsTest, KindsOfOtherGroupsMayBeCustomResources) {
  ExpectWarnings(
      Documents({kNode, "apiVersion: example.com/v1\nkind: Pods\nmetadata: {name: a}\nspek: 1\n",
                 "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: a}\nspek: 1\n",
                 "apiVersion: snapshot.storage.k8s.io/v1\nkind: VolumeSnapshot\nmetadata: {name: a}\n",
                 "apiVersion: metrics.k8s.io/v1beta1\nkind: NodeMetrics\nmetadata: {name: n1}\n",
                 "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
                 "metadata: {name: a.b}\nspec: {anything: 1}\n"}),
      {});
}

TEST(InputWarningsTest, AKeyThatIsThereTwiceIsSaid) {
  const std::string pod =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - {name: c, image: x, image: "
      "z}\n  nodeSelector: {a: b}\n  nodeSelector: {a: c}\n";
  ExpectWarnings(
      Documents({kNode, pod}),
      {"FILE:11:25: Pod a: spec.containers[0].image: is there twice, and the last one counts; the "
       "first is on line 11",
       "FILE:13:3: Pod a: spec.nodeSelector: is there twice, and the last one counts; the first is "
       "on line 12"});
  const ProgramResult result = RunProgram({"run", "-f", "-", "--output", "objects"}, Documents({kNode, pod}));
  EXPECT_TRUE(absl::StrContains(result.out, R"("nodeSelector":{"a":"c"})")) << result.out;
  EXPECT_FALSE(absl::StrContains(result.out, R"("nodeSelector":{"a":"b"})")) << result.out;
}

TEST(InputWarningsTest, AListWithoutItsItemsIsSaid) {
  constexpr char kItem[] =
      "- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}\n";
  ExpectWarnings(
      Documents({kNode, absl::StrCat("apiVersion: v1\nkind: List\nitem:\n", kItem),
                 absl::StrCat("apiVersion: v1\nkind: PodList\nmetadata: {}\nItems:\n", kItem),
                 "apiVersion: v1\nkind: List\n", "apiVersion: v1\nkind: List\nlist: []\n",
                 "apiVersion: v1\nkind: List\nitems: []\n", "apiVersion: v1\nkind: NodeList\nitems: null\n",
                 "apiVersion: example.com/v1\nkind: AllowList\nmetadata: {name: a}\nitem: []\n"}),
      {"FILE:8:1: List: item: no such field, did you mean items?",
       "FILE:14:1: PodList: Items: no such field, did you mean items?",
       "FILE:17:1: List: has no items, expected a list of objects in them (2 times)",
       "FILE:22:1: List: list: no such field"});
}

// A list of a pod, with this metadata; on one line.
std::string PodList(absl::string_view metadata, absl::string_view pod) {
  return absl::StrCat("{apiVersion: v1, kind: PodList, metadata: {", metadata,
                      "}, items: [{metadata: {name: ", pod,
                      "}, spec: {containers: [{name: c, image: i}]}}]}\n");
}

TEST(InputWarningsTest, AListThatWasCutOffIsSaid) {
  constexpr char kRest[] =
      "so they count for nothing; a request without a limit gets all of them, -f adds the rest";
  ExpectWarnings(
      Documents({kNode, PodList("continue: abc, remainingItemCount: 500, resourceVersion: '7'", "a")}),
      {absl::StrCat("FILE:6:1: PodList: 500 more are not in it (metadata.remainingItemCount), ", kRest)});
  ExpectWarnings(
      Documents({kNode, PodList("continue: abc", "a"), PodList("continue: abd, resourceVersion: '7'", "b"),
                 "apiVersion: v1\nitems: []\nkind: ServiceList\nmetadata: {remainingItemCount: 2}\n"}),
      {absl::StrCat("FILE:6:1: PodList: more are not in it (metadata.continue), ", kRest, " (and 1 more)"),
       absl::StrCat("FILE:10:1: ServiceList: 2 more are not in it (metadata.remainingItemCount), ", kRest)});
  // The pages of a list, all but the last of which say that more follow.
  const std::string pages[] = {PodList("continue: a, remainingItemCount: 2, resourceVersion: '7'", "a"),
                               PodList("continue: b, remainingItemCount: 1, resourceVersion: '7'", "b"),
                               PodList("resourceVersion: '7'", "c")};
  ExpectWarnings(Documents({kNode, pages[0], pages[1], pages[2]}), {});
  ExpectWarnings(
      Documents({kNode, pages[0], pages[1]}),
      {absl::StrCat("FILE:8:1: PodList: 1 more are not in it (metadata.remainingItemCount), ", kRest)});
  ExpectWarnings(Documents({kNode, PodList("continue: '', remainingItemCount: 0", "a")}), {});
}

TEST(InputWarningsTest, TheRestOfACutListMayBeAnotherFile) {
  const TestFolder folder;
  const std::string first = folder.Write("1.yaml", PodList("continue: a, remainingItemCount: 1", "a"));
  const std::string last = folder.Write("2.yaml", Documents({PodList("resourceVersion: '7'", "b"), kNode}));
  EXPECT_EQ(WarningsOf(RunProgram({"run", "-f", last, "-f", first})), Strings());
  EXPECT_EQ(WarningsOf(RunProgram({"run", "-f", first, "--allow-empty"})).size(), 1u);
}

TEST(InputWarningsTest, SnapshotsSayWhichListsWereCutOff) {
  const TestFolder folder;
  const std::string json = R"({"kind": "PodList", "apiVersion": "v1", "metadata": {"continue": "x",
    "remainingItemCount": 3}, "items": [{"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c",
    "image": "i"}]}}]})";
  const std::string path = folder.Write("pods.json", json);
  const std::string want = absl::StrCat("warning: ", path, ":1:1: PodList: 3 more are not in it ");
  const ProgramResult inspected = RunProgram({"snapshot", "inspect", path});
  EXPECT_TRUE(absl::StrContains(inspected.out, want)) << inspected.out;
  const ProgramResult converted = RunProgram({"snapshot", "convert", path, folder.Path("out.yaml")});
  EXPECT_TRUE(absl::StrContains(converted.err, want)) << converted.err;
}

TEST(InputWarningsTest, AnItemThatIsNullIsAnError) {
  const TestFolder folder;
  const std::pair<std::string, std::string> rows[] = {
      {folder.Write("list.yaml", "apiVersion: v1\nkind: List\nitems: [null]\n"), ":3:9: "},
      {folder.Write("pods.yaml", "apiVersion: v1\nkind: PodList\nitems:\n-\n"), ":4:2: "},
      {folder.Write("list.json", R"({"kind": "List", "apiVersion": "v1", "items": [null]})"), ":1:48: "},
      {folder.Write("inner.yaml",
                    "apiVersion: v1\nkind: List\nitems:\n"
                    "- {apiVersion: v1, kind: List, items: [~]}\n"),
       ":4:40: "},
  };
  for (const auto& [path, place] : rows) {
    const ProgramResult result = RunProgram({"run", "-f", path, "--allow-empty"});
    EXPECT_EQ(result.exit_code, 2) << path;
    EXPECT_TRUE(absl::StrContains(
        result.err,
        absl::StrCat(path, place, "expected an object with apiVersion, kind and metadata, got null")))
        << result.err;
  }
}

TEST(InputWarningsTest, UnknownFieldsAreOneLineAPath) {
  ExpectWarnings(
      Documents(
          {kNode,
           "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  nodeSelecter: {a: b}\n  nodename: n1\n"
           "  image: app\n  containers:\n  - {name: c, image: app, imagePullPolcy: x}\n"
           "  - {name: d, image: app, nodeSelector: {}}\n",
           "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec:\n  nodeSelecter: {a: b}\n"
           "  containers: [{name: c, image: app}, {name: d, image: app, imagePullPolcy: x}]\n",
           "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: x}\nspec:\n  strategy:\n"
           "    rollingUpdate: {maxUnavailabel: 1}\n  selector: {matchLabels: {a: b}}\n"
           "  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: app}]}}\n"
           "replicas: 3\n"}),
      {"FILE:10:3: Pod a: spec.nodeSelecter: no such field (2 times), did you mean nodeSelector?",
       "FILE:11:3: Pod a: spec.nodename: no such field, did you mean nodeName?",
       "FILE:12:3: Pod a: spec.image: no such field, did you mean spec.containers.image?",
       "FILE:14:27: Pod a: spec.containers[0].imagePullPolcy: no such field (2 times), did you mean "
       "imagePullPolicy?",
       "FILE:15:27: Pod a: spec.containers[1].nodeSelector: no such field, did you mean spec.nodeSelector?",
       "FILE:29:21: Deployment x/web: spec.strategy.rollingUpdate.maxUnavailabel: no such field, did you "
       "mean "
       "maxUnavailable?",
       "FILE:32:1: Deployment x/web: replicas: no such field, did you mean spec.replicas?"});
}

TEST(InputWarningsTest, MapsWithFreeKeysTakeAnything) {
  ExpectWarnings(
      Documents(
          {kNode,
           "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  uid: u\n  labels: {nodeSelecter: b}\n"
           "  annotations: {x: z}\n  managedFields:\n  - {manager: m, operation: Apply, apiVersion: v1,\n"
           "     fieldsType: FieldsV1, fieldsV1: {'f:spec': {'f:x': {}}}}\n"
           "spec:\n  nodeSelector: {spec: x}\n  containers:\n  - name: c\n    image: app\n"
           "    resources: {limits: {example.com/gpu: 1, cpu: 1}, requests: {cpu: 1}}\n"
           "status: {phase: Pending, qosClass: Burstable}\n",
           "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {spec: '', nodeSelecter: ''}\n"}),
      {});
}

TEST(InputWarningsTest, TwoPodsOfOneUidAreSaidAndBothAreScheduled) {
  const std::string a = absl::StrReplaceAll(Pod("a"), {{"name: a}", "name: a, uid: u-1}"}});
  const std::string b = absl::StrReplaceAll(Pod("b"), {{"name: b}", "name: b, uid: u-1}"}});
  const TestFolder folder;
  const std::string path = folder.Write("objects.yaml", Documents({kNode, a, b}));
  const ProgramResult result = RunProgram({"run", "-f", path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "Bound           2 ")) << result.out;
  EXPECT_EQ(WarningsOf(result),
            Strings{absl::StrCat(path, ":11:1: Pod default/b: metadata.uid is that of Pod default/a at ",
                                 path, ":6:1, so it gets a new one; leave the uid out in copies")});
}

TEST(InputWarningsTest, ObjectsOfOneUidAreOneLineForPodsAndOneForTheRest) {
  std::vector<std::string> documents;
  for (const char* name : {"n1", "n2", "n3"}) {
    documents.push_back(
        absl::StrReplaceAll(kNode, {{"name: n1", absl::StrCat("name: ", name, ", uid: u-1")}}));
  }
  for (const char* name : {"a", "b", "c", "d"}) {
    documents.push_back(absl::StrReplaceAll(
        Pod(name),
        {{"metadata: {", absl::StrCat("metadata: {uid: u-", name < std::string("c") ? "1" : "2", ", ")}}));
  }
  for (const char* api_version : {"v1", "events.k8s.io/v1"}) {
    documents.push_back(
        absl::StrCat("apiVersion: ", api_version, "\nkind: Event\nmetadata: {name: e, uid: u-3}\n"));
  }
  ExpectWarnings(
      Documents(documents),
      {"FILE:6:1: Node n2: metadata.uid is that of Node n1 at FILE:1:1; leave the uid out in copies "
       "(2 times)",
       "FILE:21:1: Pod default/b: metadata.uid is that of Pod default/a at FILE:16:1, so it gets a "
       "new one; leave the uid out in copies (2 times)"});
}

TEST(InputWarningsTest, AreInTheOrderOfFilesAndPlaces) {
  const TestFolder folder;
  const std::string first = folder.Write("b.yaml", Documents({Pod("a") + "spek: 1\n", kNode}));
  const std::string second = folder.Write(
      "a.yaml", Documents({absl::StrReplaceAll(Pod("lost"), {{"spec: {", "spec: {nodeName: ghost, "}}),
                           Pod("b") + "stats: 1\n"}));
  const ProgramResult result = RunProgram({"run", "-f", first, "-f", second});
  EXPECT_EQ(WarningsOf(result),
            (Strings{absl::StrCat(first, ":5:1: Pod a: spek: no such field, did you mean spec?"),
                     absl::StrCat(second,
                                  ":1:1: pod default/lost on node ghost: no such node in the input; they "
                                  "count once it is there, -f adds nodes"),
                     absl::StrCat(second, ":10:1: Pod b: stats: no such field, did you mean status?")}));
}

TEST(InputWarningsTest, InputWithoutNodesIsSaid) {
  const TestFolder folder;
  const std::string path = folder.Write("pods.yaml", Pod("a"));
  const ProgramResult result = RunProgram({"run", "-f", path});
  EXPECT_EQ(result.exit_code, 0);
  ASSERT_EQ(WarningsOf(result).size(), 1u) << result.err;
  EXPECT_TRUE(absl::StartsWith(WarningsOf(result)[0], "no nodes in the input")) << result.err;
  EXPECT_EQ(RunProgram({"run", "-f", path, "--strict"}).exit_code, 2);
}

TEST(InputWarningsTest, CustomResourcesWithPodTemplatesMakeNoPods) {
  const std::string rollout =
      "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: web}\n"
      "spec: {replicas: 2, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "
      "i}]}}}\n";
  const Strings warning = {
      "FILE:6:1: Rollout web: has a pod template, but no controller here makes pods of a Rollout, so none of "
      "its pods count; -f adds pods, or a Deployment or Job with that template"};
  ExpectWarnings(Documents({kNode, rollout}), warning);
  ExpectWarnings(Documents({kNode, rollout, absl::StrReplaceAll(rollout, {{"name: web", "name: api"}})}),
                 {warning[0] + " (2 times)"});
  // What its controller made is in the input.
  ExpectWarnings(
      Documents(
          {kNode, rollout,
           "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web-1, namespace: default, "
           "ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: web, uid: u}]}\n"
           "spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, "
           "spec: {containers: [{name: c, image: i}]}}}\n"}),
      {});
  ExpectWarnings(Documents({kNode,
                            "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: web}\n"
                            "spec: {template: {spec: {replicas: 1}}}\n"}),
                 {});
  // The template of another one's template counts; a policy that shows what pods are to be like does not.
  ExpectWarnings(
      Documents(
          {kNode,
           "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: j}\nspec: {replicatedJobs: "
           "[{template: {spec: {template: {spec: {containers: [{name: c, image: app}]}}}}}]}\n",
           "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: k}\nspec: {rules: "
           "[{validate: {pattern: {spec: {containers: [{name: '*'}]}}}}]}\n"}),
      {"FILE:6:1: JobSet j: has a pod template, but no controller here makes pods of a JobSet, so none of "
       "its "
       "pods count; -f adds pods, or a Deployment or Job with that template"});
}

TEST(InputWarningsTest, AutoscalersOfPodsThatWouldActAreSaid) {
  const std::string deployment =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
      "spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, "
      "spec: {containers: [{name: c, image: i}]}}}\n";
  const std::string autoscaler =
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\n"
      "spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 3, "
      "maxReplicas: 9}\n";
  ExpectWarnings(
      Documents({kNode, deployment, autoscaler}),
      {"FILE:11:1: HorizontalPodAutoscaler web: autoscaling of pods is not simulated, so Deployment "
       "default/web keeps its replicas: 1, less than spec.minReplicas 3"});
  const auto with_replicas = [&](absl::string_view replicas) {
    return absl::StrReplaceAll(deployment,
                               {{"spec: {sel", absl::StrCat("spec: {replicas: ", replicas, ", sel")}});
  };
  ExpectWarnings(
      Documents({kNode, with_replicas("10"), autoscaler}),
      {"FILE:11:1: HorizontalPodAutoscaler web: autoscaling of pods is not simulated, so Deployment "
       "default/web keeps its replicas: 10, more than spec.maxReplicas 9"});
  ExpectWarnings(Documents({kNode, with_replicas("3"), autoscaler}), {});
  ExpectWarnings(Documents({kNode, with_replicas("0"), autoscaler}), {});
  ExpectWarnings(Documents({kNode, autoscaler}), {});
}

TEST(InputWarningsTest, WhatKedaWouldScaleIsSaid) {
  const std::string deployment =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
      "spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, "
      "spec: {containers: [{name: c, image: i}]}}}\n";
  const auto scaled = [](absl::string_view spec, absl::string_view metadata = "") {
    return absl::StrCat("apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: web", metadata,
                        "}\nspec: {scaleTargetRef: {name: web}, ", spec, "}\n");
  };
  constexpr char kBelow[] =
      "FILE:11:1: ScaledObject web: autoscaling of pods is not simulated, so Deployment default/web keeps "
      "its "
      "replicas: 2, less than spec.minReplicaCount 3";
  ExpectWarnings(Documents({kNode, deployment, scaled("minReplicaCount: 3")}), {kBelow});
  ExpectWarnings(Documents({kNode, deployment, scaled("maxReplicaCount: 1")}),
                 {"FILE:11:1: ScaledObject web: autoscaling of pods is not simulated, so Deployment "
                  "default/web keeps its "
                  "replicas: 2, more than spec.maxReplicaCount 1"});
  ExpectWarnings(Documents({kNode, deployment, scaled("minReplicaCount: 1")}), {});
  ExpectWarnings(Documents({kNode, deployment, scaled("minReplicaCount: 3, idleReplicaCount: 2")}), {});
  ExpectWarnings(
      Documents({kNode, deployment,
                 scaled("minReplicaCount: 3", ", annotations: {autoscaling.keda.sh/paused: 'true'}")}),
      {});
  // KEDA's own autoscaler says the same.
  ExpectWarnings(
      Documents({kNode, deployment, scaled("minReplicaCount: 3"),
                 "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: keda-hpa-web}\n"
                 "spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 3, "
                 "maxReplicas: 100}\n"}),
      {kBelow});
}

TEST(InputWarningsTest, RecommendationsThatNewPodsWouldGetAreSaid) {
  const std::string deployment =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
      "spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, "
      "spec: {containers: [{name: c, image: i}]}}}\n";
  const auto autoscaler = [](absl::string_view name, absl::string_view mode, bool has_recommendation) {
    return absl::StrCat(
        "apiVersion: autoscaling.k8s.io/v1\nkind: VerticalPodAutoscaler\nmetadata: {name: ", name,
        "}\nspec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}", mode, "}\n",
        !has_recommendation ? ""
                            : "status: {recommendation: {containerRecommendations: [{containerName: "
                              "c, target: {cpu: 500m, memory: 1Gi}}]}}\n");
  };
  constexpr char kWarning[] =
      "FILE:11:1: VerticalPodAutoscaler web: its webhook is not asked, so new pods of Deployment default/web "
      "keep "
      "the requests of their template, instead of status.recommendation's c: cpu 500m, memory 1Gi";
  ExpectWarnings(Documents({kNode, deployment, autoscaler("web", "", true)}), {kWarning});
  ExpectWarnings(
      Documents({kNode, deployment, autoscaler("web", ", updatePolicy: {updateMode: Initial}", true),
                 autoscaler("api", "", true)}),
      {absl::StrCat(kWarning, " (2 such autoscalers)")});
  ExpectWarnings(
      Documents({kNode, deployment, autoscaler("web", ", updatePolicy: {updateMode: 'Off'}", true)}), {});
  ExpectWarnings(Documents({kNode, deployment, autoscaler("web", "", false)}), {});
  ExpectWarnings(Documents({kNode, autoscaler("web", "", true)}), {});
}

TEST(InputWarningsTest, NamesAreShortenedAndTheirEscapesShown) {
  const std::string name(900, 'x');
  const TestFolder folder;
  const std::string path =
      folder.Write("objects.yaml", Documents({absl::StrReplaceAll(kNode, {{"n1", name.substr(0, 253)}}),
                                              absl::StrCat(Pod("a"), "\"e\\e[2J\": 1\n", name, ": 1\n"),
                                              absl::StrCat("apiVersion: example.com/v1\nkind: \"Po\\e[2J",
                                                           name, "\"\nmetadata: {name: b}\n")}));
  const ProgramResult result = RunProgram({"run", "-f", path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_FALSE(absl::StrContains(result.err, "\033"));
  EXPECT_TRUE(absl::StrContains(result.err, "Pod a: e\\x1b[2J: no such field")) << result.err;
  EXPECT_FALSE(absl::StrContains(result.err, std::string(200, 'x'))) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "Most used nodes\n  xxx")) << result.out;
  EXPECT_TRUE(absl::StrContains(result.out, "Kept, not used  Po\\x1b[2Jxxx")) << result.out;
  EXPECT_FALSE(absl::StrContains(result.out, std::string(300, 'x'))) << result.out;
}

TEST(InputWarningsTest, ObjectsInAScenarioAreLookedAtAsWell) {
  const TestFolder folder;
  folder.Write("pods.yaml", Pod("b") + "spek: 1\n");
  const std::string path = folder.Write(
      "scenario.yaml",
      "apiVersion: schedsim/v1\nkind: Scenario\nobjects:\n"
      "- {apiVersion: v1, kind: Node, metadata: {name: n1}, statas: {allocatable: {cpu: 4, pods: 10}}}\n"
      "timeline:\n- {at: 1s, create: pods.yaml}\n");
  const ProgramResult result = RunProgram({"run", path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(
      WarningsOf(result),
      (Strings{absl::StrCat(path, ":4:54: Node n1: statas: no such field, did you mean status?"),
               absl::StrCat(folder.Path("pods.yaml"), ":5:1: Pod b: spek: no such field, did you mean spec?"),
               "Node n1: no `pods` in status.allocatable, so that it takes none; kubelets fill that in, "
               "and --stage node-fast does where nothing is written"}));
}

TEST(EmptyInputTest, IsAnErrorUnlessAllowed) {
  const TestFolder folder;
  const std::string empty = folder.Write("empty.yaml", "");
  const std::string comments = folder.Write("comments.yaml", "# nothing\n---\n# here\n");
  folder.Write("folder/notes.txt", "");
  const ProgramResult no_files = RunProgram({"run", "-f", folder.Path("folder")});
  EXPECT_EQ(no_files.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(no_files.err, ".gz, .xz or .zst; --allow-empty takes it as it is"))
      << no_files.err;
  EXPECT_EQ(RunProgram({"run", "-f", folder.Path("folder"), "--allow-empty"}).exit_code, 0);
  const std::string list = folder.Write("list.json", R"({"apiVersion":"v1","kind":"List","items":[]})");
  for (const std::string& path : {empty, comments, list, std::string("-"), std::string("/dev/null")}) {
    const ProgramResult result = RunProgram({"run", "-f", path});
    EXPECT_EQ(result.exit_code, 2) << path;
    EXPECT_EQ(result.out, "") << path;
    EXPECT_EQ(result.err,
              absl::StrCat("schedsim run: ", path == "-" ? "stdin" : path,
                           ": no objects in it, expected at least one; --allow-empty takes it as it "
                           "is\n"));
    const ProgramResult allowed = RunProgram({"run", "-f", path, "--allow-empty"});
    EXPECT_EQ(allowed.exit_code, 0) << allowed.err;
    EXPECT_EQ(WarningsOf(allowed), Strings());
  }
}

TEST(InputWarningsTest, AManifestThatTheApiServerCannotDecodeIsRefused) {
  const std::string value = "env: [{name: A, value: 1}]";
  const auto run = [](const std::string& metadata, const std::string& more) {
    const std::string pod = absl::StrCat("apiVersion: v1\nkind: Pod\nmetadata: {name: a", metadata,
                                         "}\nspec: {containers: [{name: c, image: app, ", more, "}]}\n");
    return RunProgram({"run", "-f", "-"}, Documents({kNode, pod}));
  };
  const ProgramResult refused = run("", value);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(refused.err,
                                "stdin:9:66: spec.containers[0].env[0].value: expected a string, got "
                                "the number 1 (Pod a)"))
      << refused.err;
  // What a cluster gave out was decoded there.
  const ProgramResult stored = run(", uid: u", value);
  EXPECT_EQ(stored.exit_code, 0) << stored.err;
  EXPECT_EQ(WarningsOf(stored).size(), 1U) << stored.err;
  // Nobody reads the data of a secret.
  const std::string secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {port: 5432}\n";
  const ProgramResult other = RunProgram({"run", "-f", "-"}, Documents({kNode, secret}));
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_EQ(WarningsOf(other),
            Strings{"stdin:9:20: Secret s: stringData[port]: expected a string, got the number 5432"});
}

// In the words of kube-apiserver v1.37.2, with the place in front.
TEST(InputWarningsTest, WhatTheApiServerWarnsOfIsWarnedOf) {
  const std::string pod =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n"
      "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: h}]}}\n"
      "  containers:\n"
      "  - {name: c, image: app, resources: {limits: {memory: 100m}}}\n";
  const std::string deployment =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w}\nspec:\n"
      "  replicas: 0\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n"
      "    spec:\n"
      "      topologySpreadConstraints: [{maxSkew: 1, topologyKey: h, whenUnsatisfiable: DoNotSchedule}]\n"
      "      containers: [{name: c, image: app}]\n";
  ExpectWarnings(
      Documents({kNode, pod, deployment}),
      {"FILE:10:81: Pod a: "
       "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a "
       "null "
       "labelSelector results in matching no pod",
       "FILE:12:56: Pod a: spec.containers[0].resources.limits[memory]: fractional byte value \"100m\" is "
       "invalid, must be an integer",
       "FILE:23:35: Deployment w: spec.template.spec.topologySpreadConstraints[0].labelSelector: a null "
       "labelSelector results in matching no pod"});
  // What a cluster gave out was warned of there.
  const ProgramResult stored = RunProgram(
      {"run", "-f", "-"}, Documents({kNode, absl::StrReplaceAll(pod, {{"name: a}", "name: a, uid: u}"}})}));
  EXPECT_EQ(WarningsOf(stored), Strings{}) << stored.err;
}

// In the words of the kubelet of v1.37. What it refuses takes no room from others; what a cluster gave out
// runs already, and comes first.
TEST(InputWarningsTest, APodOnANodeWithoutRoomForItIsNamed) {
  const auto pod = [](absl::string_view name, absl::string_view metadata, absl::string_view requests) {
    return absl::StrCat("apiVersion: v1\nkind: Pod\nmetadata: {name: ", name, metadata,
                        "}\nspec: {nodeName: n1, containers: [{name: c, image: app, resources: {requests: {",
                        requests, "}}}]}\n");
  };
  const std::string cluster = absl::StrReplaceAll(kNode, {{"pods: 110", "pods: 3"}});
  const std::string small = pod("small", "", "cpu: 500m");
  const std::string there = pod("there", ", uid: u", "cpu: 1, memory: 7Gi");
  const ProgramResult result =
      RunProgram({"run", "-f", "-"},
                 Documents({cluster, pod("big", "", "cpu: 40"), small, there, pod("wide", "", "memory: 2Gi"),
                            pod("gpu", "", "example.com/gpu: 1}, limits: {example.com/gpu: 1"),
                            pod("last", "", "cpu: 1m")}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto refused = [](absl::string_view name, absl::string_view why) {
    return absl::StrCat("Pod default/", name,
                        ": it names its node n1 itself, and a real kubelet would refuse it: ", why,
                        "; here it counts as bound");
  };
  EXPECT_EQ(WarningsOf(result),
            (Strings{refused("big",
                             "OutOfcpu: Node didn't have enough resource: cpu, requested: 40000, used: 1000, "
                             "capacity: 4000"),
                     refused("wide",
                             "OutOfmemory: Node didn't have enough resource: memory, requested: 2147483648, "
                             "used: 7516192768, capacity: 8589934592"),
                     refused("last",
                             "OutOfpods: Node didn't have enough resource: pods, requested: 1, used: 3, "
                             "capacity: 3")}));
  const ProgramResult strict = RunProgram({"run", "-f", "-", "--strict"}, Documents({cluster, small, there}));
  EXPECT_EQ(strict.exit_code, 0) << strict.err;
  const ProgramResult refused_run =
      RunProgram({"run", "-f", "-", "--strict"}, Documents({cluster, pod("big", "", "cpu: 40")}));
  EXPECT_EQ(refused_run.exit_code, 2) << refused_run.err;
  // A dump is as it is.
  const ProgramResult dump =
      RunProgram({"run", "-f", "-", "--strict"}, Documents({cluster, pod("big", ", uid: v", "cpu: 40")}));
  EXPECT_EQ(dump.exit_code, 0) << dump.err;
}

// Who writes nodes by hand forgets that their number of pods is an amount as well.
TEST(InputWarningsTest, ANodeThatTakesNoPodsIsNamed) {
  const std::string cluster = Documents({kNode, "apiVersion: v1\nkind: Node\nmetadata: {name: n2}\n",
                                         "apiVersion: v1\nkind: Node\nmetadata: {name: n3}\n"
                                         "status: {allocatable: {cpu: 4}}\n",
                                         "apiVersion: v1\nkind: Node\nmetadata: {name: n4}\n"
                                         "status: {capacity: {cpu: 4, pods: 5}}\n",
                                         Pod("a")});
  EXPECT_EQ(WarningsOf(RunProgram({"run", "-f", "-"}, cluster)),
            (Strings{"Node n2: no `pods` in status.allocatable, so that it takes none (and 1 more); kubelets "
                     "fill that in, and --stage node-fast does where nothing is written"}));
  EXPECT_EQ(
      WarningsOf(RunProgram({"run", "-f", "-", "--stage", "node-fast"}, cluster)),
      (Strings{"Node n3: no `pods` in status.allocatable, so that it takes none; kubelets fill that in, "
               "and --stage node-fast does where nothing is written"}));
}

// Beside the amounts, kubelets look at what the pod selects, at ports, and at taints of NoExecute.
TEST(InputWarningsTest, APodOnANodeThatIsNotForItIsNamed) {
  const auto pod = [](absl::string_view name, absl::string_view spec, absl::string_view ports = "[]") {
    return absl::StrCat("apiVersion: v1\nkind: Pod\nmetadata: {name: ", name, "}\nspec: {nodeName: n1, ",
                        spec, "containers: [{name: c, image: app, ports: ", ports, "}]}\n");
  };
  constexpr char kTolerates[] = "tolerations: [{operator: Exists}], ";
  const std::string cluster =
      absl::StrCat(kNode, "spec: {taints: [{key: a, effect: NoSchedule}, {key: b, effect: NoExecute}]}\n");
  const ProgramResult result =
      RunProgram({"run", "-f", "-"},
                 Documents({cluster, pod("first", kTolerates, "[{containerPort: 80, hostPort: 80}]"),
                            pod("elsewhere", absl::StrCat(kTolerates, "nodeSelector: {zone: a}, ")),
                            pod("second", kTolerates, "[{containerPort: 8080, hostPort: 80}]"),
                            pod("udp", kTolerates, "[{containerPort: 80, hostPort: 80, protocol: UDP}]"),
                            pod("tainted", "tolerations: [{key: a, operator: Exists}], "),
                            pod("half", "tolerations: [{key: b, operator: Exists}], ")}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto refused = [](absl::string_view name, absl::string_view why) {
    return absl::StrCat("Pod default/", name,
                        ": it names its node n1 itself, and a real kubelet would refuse it: ", why,
                        "; here it counts as bound");
  };
  EXPECT_EQ(
      WarningsOf(result),
      (Strings{refused("elsewhere",
                       "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node "
                       "affinity/selector"),
               refused("second",
                       "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the "
                       "requested pod ports"),
               refused("tainted",
                       "TaintToleration: Predicate TaintToleration failed: node(s) had taints that the pod "
                       "didn't tolerate")}));
}

}  // namespace
}  // namespace schedsim
