// Objects of the input that the API server completes or refuses, by the program.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

std::string Node(const std::string& name, const std::string& labels = "") {
  return absl::StrCat("apiVersion: v1\nkind: Node\nmetadata: {name: ", name,
                      ", labels: {kubernetes.io/hostname: ", name, labels,
                      "}}\nstatus: {allocatable: {cpu: \"8\", memory: 16Gi, pods: \"110\"}}\n---\n");
}

std::string Pod(const std::string& name, const std::string& metadata, const std::string& spec) {
  return absl::StrCat("apiVersion: v1\nkind: Pod\nmetadata: {", name.empty() ? "" : "name: ", name,
                      name.empty() ? "" : ", ", metadata, "}\nspec: {", spec, spec.empty() ? "" : ", ",
                      "containers: [{name: c, image: x, resources: {requests: {cpu: 100m}}}]}\n---\n");
}

struct Ran {
  ProgramResult result;
  Json report;

  // The row of a pod, by the beginning of its name.
  Json Row(const std::string& name) const {
    for (const Json& pod : report["pods"]) {
      if (absl::StartsWith(pod["name"].get<std::string>(), name)) return pod;
    }
    return nullptr;
  }
};

Ran RunFile(const std::string& content, const Strings& more = {}) {
  const TestFolder folder;
  Strings arguments = {"run", "-f", folder.Write("a.yaml", content), "--output", "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Ran ran = {.result = RunProgram(arguments)};
  ran.report = Json::parse(ran.result.out, nullptr, /*allow_exceptions=*/false);
  return ran;
}

// Anti-affinity among pods of one revision: three old pods are everywhere.
std::string Shop(const std::string& name, const std::string& revision, const std::string& node) {
  const std::string selector =
      node.empty() ? "{matchLabels: {app: shop}}"
                   : absl::StrCat(
                         "{matchExpressions: [{key: app, operator: In, values: [shop]}, {key: "
                         "pod-template-hash, operator: In, values: [",
                         revision, "]}]}");
  return Pod(name, absl::StrCat("labels: {app: shop, pod-template-hash: ", revision, "}"),
             absl::StrCat(node.empty() ? "" : "nodeName: ", node, node.empty() ? "" : ", ",
                          "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                          "[{labelSelector: ",
                          selector,
                          ", topologyKey: kubernetes.io/hostname, matchLabelKeys: [pod-template-hash]}]}}"));
}

TEST(AdmissionTest, LabelKeysOfAManifestCountForItsOwnRevisionOnly) {
  const std::string cluster = absl::StrCat(Node("w1"), Node("w2"), Node("w3"), Shop("old-1", "aaa", "w1"),
                                           Shop("old-2", "aaa", "w2"), Shop("old-3", "aaa", "w3"));
  const Ran ran = RunFile(absl::StrCat(cluster, Shop("new-1", "bbb", ""), Shop("new-2", "bbb", "")));
  EXPECT_EQ(ran.result.exit_code, 0) << ran.result.err;
  EXPECT_EQ(ran.Row("new-1")["node"], "w1");
  EXPECT_EQ(ran.Row("new-2")["node"], "w2");
}

TEST(AdmissionTest, AClaimWithoutAClassGetsTheDefaultOne) {
  const Ran ran = RunFile(absl::StrCat(
      Node("n1"),
      "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: noclass}\nspec: {accessModes: "
      "[ReadWriteOnce], resources: {requests: {storage: 3Gi}}}\n---\n",
      Pod("web", "", "volumes: [{name: v, persistentVolumeClaim: {claimName: noclass}}]"),
      "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast, annotations: "
      "{storageclass.kubernetes.io/is-default-class: \"true\"}}\nprovisioner: csi.example.com\n"
      "volumeBindingMode: WaitForFirstConsumer\n"));
  EXPECT_EQ(ran.result.exit_code, 0) << ran.result.err;
  // Without a class the claim would count as unbound for good, before any node is looked at.
  EXPECT_FALSE(absl::StrContains(ran.Row("web")["message"].get<std::string>(),
                                 "pod has unbound immediate PersistentVolumeClaims"))
      << ran.Row("web");
}

TEST(AdmissionTest, WhatAdmissionRefusesIsBadInputWithItsPlace) {
  const std::string limits =
      "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l}\nspec: {limits: [{type: Container, min: {cpu: "
      "200m}}]}\n---\n";
  const std::string quota =
      "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: \"1\"}}\n---\n";
  const std::string ending =
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: old}\nstatus: {phase: Terminating}\n---\n";
  const std::pair<std::string, std::string> kRows[] = {
      {Pod("a", "", "") + limits,
       "a.yaml:6:1: pods \"a\" is forbidden: minimum cpu usage per Container is 200m, but request is 100m"},
      {Pod("a", "", "") + Pod("b", "", "") + quota,
       "a.yaml:11:1: pods \"b\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: "
       "pods=1"},
      {Pod("a", "", "runtimeClassName: none"),
       "a.yaml:6:1: pods \"a\" is forbidden: pod rejected: RuntimeClass \"none\" not found"},
      {Pod("a", "namespace: old", "") + ending,
       "a.yaml:6:1: pods \"a\" is forbidden: unable to create new content in namespace old because it is "
       "being "
       "terminated"},
      {Pod("", "generateName: web-", "runtimeClassName: none"),
       "a.yaml:6:1: pods \"web-\" is forbidden: pod rejected: RuntimeClass \"none\" not found"},
      {Pod("a", "", "priorityClassName: gone") + Pod("b", "", "priorityClassName: gone"),
       "a.yaml:6:1: pods \"a\" is forbidden: no PriorityClass with name gone was found (and 1 more objects "
       "were "
       "refused)"},
  };
  for (const auto& [objects, message] : kRows) {
    const Ran ran = RunFile(Node("n1") + objects);
    EXPECT_EQ(ran.result.exit_code, 2) << message;
    EXPECT_EQ(ran.result.out, "") << message;
    EXPECT_TRUE(absl::StrContains(ran.result.err, message)) << message << "\n" << ran.result.err;
    // The same objects, from a cluster, passed before.
    const Ran dump =
        RunFile(Node("n1") +
                absl::StrReplaceAll(
                    objects, {{"kind: Pod\nmetadata: {", "kind: Pod\nmetadata: {resourceVersion: \"7\", "}}));
    EXPECT_EQ(dump.result.exit_code, 0) << message << dump.result.err;
  }
}

TEST(AdmissionTest, PodsWithAGenerateNameGetNamesOfTheirOwn) {
  const std::string pod = Pod("", "generateName: web-", "");
  const Ran ran = RunFile(Node("n1") + pod + pod);
  EXPECT_EQ(ran.result.exit_code, 0) << ran.result.err;
  ASSERT_EQ(ran.report["pods"].size(), 2U) << ran.report;
  const std::string first = ran.report["pods"][0]["name"];
  EXPECT_TRUE(absl::StartsWith(first, "web-"));
  EXPECT_EQ(first.size(), 9U);
  EXPECT_NE(first, ran.report["pods"][1]["name"]);
  EXPECT_EQ(ran.report["bound"], 2);
  EXPECT_EQ(RunFile(Node("n1") + pod + pod).report["pods"], ran.report["pods"]);
}

TEST(AdmissionTest, ATimelineIsRefusedAsByTheServer) {
  const Played played = Play(Cluster(0) + R"(timeline:
- create: {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: nowhere}, spec: {containers: [{name: c, image: i}]}}
- create: {apiVersion: v1, kind: Namespace, metadata: {name: nowhere}}
- create: {apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: nowhere}, spec: {hard: {pods: "1"}}}
- create: {apiVersion: v1, kind: Pod, metadata: {name: b, namespace: nowhere}, spec: {containers: [{name: c, image: i}]}}
- create: {apiVersion: v1, kind: Pod, metadata: {name: c, namespace: nowhere}, spec: {containers: [{name: c, image: i}]}}
- delete: {kind: Pod, namespace: nowhere, name: b}
- create: {apiVersion: v1, kind: Pod, metadata: {name: d, namespace: nowhere}, spec: {containers: [{name: c, image: i}]}}
)");
  EXPECT_EQ(played.exit_code, 1) << played.err;
  ASSERT_EQ(played.report["failures"].size(), 2U) << played.report["failures"];
  EXPECT_TRUE(
      absl::EndsWith(played.report["failures"][0].get<std::string>(), "namespaces \"nowhere\" not found"));
  EXPECT_TRUE(absl::StrContains(played.report["failures"][1].get<std::string>(),
                                "pods \"c\" is forbidden: exceeded quota: q, requested: pods=1"));
  EXPECT_EQ(played.Pod("d")["status"], "Bound");
}

TEST(AdmissionTest, ANamespaceThatIsMissingIsMadeWithANote) {
  const std::string objects = Node("n1") + Pod("a", "namespace: shop", "") + Pod("b", "namespace: shop", "") +
                              Pod("c", "namespace: kube-system", "") +
                              Pod("d", "namespace: there, uid: u-1", "");
  const Ran ran = RunFile(objects);
  EXPECT_EQ(ran.result.exit_code, 0) << ran.result.err;
  EXPECT_EQ(ran.report["bound"], 4);
  EXPECT_TRUE(
      absl::StrContains(ran.result.err, "a.yaml:6:1: namespace shop is not in the input, so it is made; "))
      << ran.result.err;
  EXPECT_FALSE(absl::StrContains(ran.result.err, "kube-system")) << ran.result.err;
  EXPECT_FALSE(absl::StrContains(ran.result.err, "there")) << ran.result.err;
  const Ran strict = RunFile(objects, {"--strict"});
  EXPECT_EQ(strict.result.exit_code, 2);
  EXPECT_EQ(strict.result.out, "");
}

TEST(AdmissionTest, ANamespaceThatIsDeletedTakesWhatIsInItAlong) {
  const Played played = Play(Cluster(0) + R"(latency: {podTermination: 5s}
timeline:
- create:
  - {apiVersion: v1, kind: Namespace, metadata: {name: shop}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop}}
  - {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {containers: [{name: c, image: i}]}}
  - {apiVersion: v1, kind: Pod, metadata: {name: b, namespace: shop}, spec: {nodeSelector: {no: where}, containers: [{name: c, image: i}]}}
- at: 10s
  delete: {kind: Namespace, name: shop}
- at: 11s
  create: {apiVersion: v1, kind: Pod, metadata: {name: late, namespace: shop}, spec: {containers: [{name: c, image: i}]}}
- at: 100s
  create: {apiVersion: v1, kind: Pod, metadata: {name: later, namespace: shop}, spec: {containers: [{name: c, image: i}]}}
- delete: {kind: Namespace, name: kube-system}
)",
                             {"--until", "200s"});
  EXPECT_EQ(played.exit_code, 1) << played.err;
  const Json& failures = played.report["failures"];
  ASSERT_EQ(failures.size(), 3U) << failures;
  EXPECT_TRUE(
      absl::EndsWith(failures[0].get<std::string>(),
                     "pods \"late\" is forbidden: unable to create new content in namespace shop because "
                     "it is being terminated"))
      << failures;
  EXPECT_TRUE(absl::EndsWith(failures[1].get<std::string>(), "namespaces \"shop\" not found")) << failures;
  EXPECT_EQ(played.Pod("a")["status"], "Gone");
  EXPECT_EQ(played.Pod("b")["status"], "Gone");
}

}  // namespace
}  // namespace schedsim
