// Objects of the input that the API server completes or refuses, by the program.
#include <gtest/gtest.h>

#include <algorithm>
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
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: old, uid: u}\nstatus: {phase: Terminating}\n---\n";
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

TEST(AdmissionTest, ATimelineCreatesObjectsWithAGenerateName) {
  const std::string pod =
      "{apiVersion: v1, kind: Pod, metadata: {generateName: web-}, spec: {containers: [{name: c, image: "
      "i}]}}";
  const Played played =
      Play(Cluster(0) + "timeline:\n- create: " + pod + "\n- create: [" + pod + ", " + pod + "]\n");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  std::vector<std::string> names = PodsOf(played.report, "web-");
  ASSERT_EQ(names.size(), 3U) << played.report["pods"];
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
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

TEST(AdmissionTest, AQuantityThatCannotBeReadIsNoLimit) {
  const std::string quota =
      "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: abc}}\n---\n";
  const std::string range =
      "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l}\nspec:\n  limits:\n  - {type: Container, max: "
      "{cpu: [1]}}\n---\n";
  const std::string runtime_class =
      "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: r}\nhandler: h\noverhead: {podFixed: "
      "{cpu: 1 core}}\n---\n";
  const std::pair<std::string, std::string> kRows[] = {
      {quota, "a.yaml:9:21: spec.hard.pods: \"abc\" is not a quantity, expected "},
      {range, "a.yaml:11:34: spec.limits[0].max.cpu: expected a quantity such as 500m or 1.5Gi"},
      {runtime_class, "a.yaml:10:28: overhead.podFixed.cpu: \"1 core\" is not a quantity, expected "},
  };
  for (const auto& [policy, message] : kRows) {
    const Ran refused = RunFile(Node("n1") + policy + Pod("a", "", ""));
    EXPECT_EQ(refused.result.exit_code, 2) << message;
    EXPECT_TRUE(absl::StrContains(refused.result.err, message)) << message << "\n" << refused.result.err;
    const std::string old = absl::StrReplaceAll(policy, {{"metadata: {", "metadata: {uid: u, "}});
    const Ran warned = RunFile(Node("n1") + old + Pod("a", "", ""));
    EXPECT_EQ(warned.result.exit_code, 0) << warned.result.err;
    EXPECT_TRUE(absl::StrContains(warned.result.err, ", so it counts for nothing")) << warned.result.err;
    EXPECT_EQ(RunFile(Node("n1") + old + Pod("a", "", ""), {"--strict"}).result.exit_code, 2) << message;
  }
}

std::string Policy(const std::string& api_version, const std::string& kind, const std::string& rest) {
  return absl::StrCat("{apiVersion: ", api_version, ", kind: ", kind, ", metadata: {name: x}, ", rest,
                      "}\n---\n");
}

std::string Quota(const std::string& spec) {
  return Policy("v1", "ResourceQuota", absl::StrCat("spec: {", spec, "}"));
}
std::string Range(const std::string& limits) {
  return Policy("v1", "LimitRange", absl::StrCat("spec: {limits: [", limits, "]}"));
}
std::string Budget(const std::string& spec) {
  return Policy("policy/v1", "PodDisruptionBudget", absl::StrCat("spec: {", spec, ", selector: {}}"));
}

constexpr char kNotNegative[] = "must be greater than or equal to 0";

// Refuses each policy with its text, unless it came out of a cluster. The texts are those of a kube-apiserver
// v1.37.2, with which these were created.
void ExpectRefused(const std::vector<std::pair<std::string, std::string>>& rows) {
  for (const auto& [policy, message] : rows) {
    const Ran ran = RunFile(Node("n1") + policy);
    EXPECT_EQ(ran.result.exit_code, 2) << message;
    EXPECT_TRUE(absl::StrContains(ran.result.err, message)) << message << "\n" << ran.result.err;
    EXPECT_TRUE(absl::StrContains(ran.result.err, "a.yaml:6:1: ")) << ran.result.err;
    const std::string old = absl::StrReplaceAll(policy, {{"{name: x}", "{name: x, uid: u}"}});
    EXPECT_EQ(RunFile(Node("n1") + old).result.exit_code, 0) << message;
  }
}

TEST(AdmissionTest, QuotasThatWouldCountForNothingAreRefused) {
  ExpectRefused({
      {Quota("hard: {cpus: 1}"),
       "ResourceQuota \"x\" is invalid: [spec.hard[cpus]: Invalid value: \"cpus\": must be a standard "
       "resource "
       "type or fully qualified, spec.hard[cpus]: Invalid value: \"cpus\": must be a standard resource for "
       "quota]"},
      {Quota("hard: {pods: -1, count/pods: 1.5}"),
       "[spec.hard[count/pods]: Invalid value: \"1500m\": must be an integer, spec.hard[pods]: Invalid "
       "value: "
       "\"-1\": " +
           std::string(kNotNegative) + "]"},
      {Quota("scopes: [Never]"), "spec.scopes: Invalid value: [\"Never\"]: unsupported scope"},
      {Quota("hard: {pods: 1}, scopes: [BestEffort, NotBestEffort]"),
       "spec.scopes: Invalid value: [\"BestEffort\",\"NotBestEffort\"]: conflicting scopes"},
      {Quota("scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In}]}"),
       "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when "
       "`operator` "
       "is 'In' or 'NotIn' for scope selector"},
  });
}

TEST(AdmissionTest, LimitRangesThatContradictThemselvesAreRefused) {
  ExpectRefused({
      {Range("{type: Contaner, max: {cpu: 1}}"),
       "LimitRange \"x\" is invalid: spec.limits[0].type: Invalid value: \"Contaner\": must be a standard "
       "limit "
       "type or fully qualified"},
      {Range("{type: Container, min: {cpu: 2}, max: {cpu: 1}, default: {cpu: 3}, defaultRequest: {cpu: 4}, "
             "maxLimitRequestRatio: {cpu: 500m}}, {type: Container}"),
       "[spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater than max value 1, "
       "spec.limits[0].defaultRequest[cpu]: Invalid value: \"4\": default request value 4 is greater than "
       "max "
       "value 1, spec.limits[0].defaultRequest[cpu]: Invalid value: \"4\": default request value 4 is "
       "greater "
       "than default limit value 3, spec.limits[0].default[cpu]: Invalid value: \"1\": default value 3 is "
       "greater than max value 1, spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"500m\": ratio "
       "500m "
       "is less than 1, spec.limits[1].type: Duplicate value: \"Container\"]"},
      {Range("{type: Container, max: {memory: 1000Mi}, min: {memory: 2000Mi}}"),
       "[spec.limits[0].min[memory]: Invalid value: \"2000Mi\": min value 2000Mi is greater than max value "
       "1000Mi, spec.limits[0].defaultRequest[memory]: Invalid value: \"1000Mi\": min value 2000Mi is "
       "greater "
       "than default request value 1000Mi, spec.limits[0].default[memory]: Invalid value: \"2000Mi\": min "
       "value "
       "2000Mi is greater than default value 1000Mi]"},
      {Range("{type: Container, min: {cpu: 100m}, max: {cpu: 1}, maxLimitRequestRatio: {cpu: 20}}"),
       "maxLimitRequestRatio[cpu]: Invalid value: \"20\": ratio 20 is greater than max/min = 10.000000"},
      {Range("{type: Pod, default: {cpu: 1}}"),
       "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"},
      {Range("{type: Pod, max: {\"a b\": 1, pods: 2, kubernetes.io/x: 1}}"),
       "[spec.limits[0].max[a b]: Invalid value: \"a b\": "},
      {Range("{type: Container, maxLimitRequestRatio: {cpus: 2, requests.example.com/gpu: 2}}"),
       "[spec.limits[0].maxLimitRequestRatio[cpus]: Invalid value: \"cpus\": must be a standard resource "
       "type "
       "or fully qualified, spec.limits[0].maxLimitRequestRatio[cpus]: Invalid value: \"cpus\": must be a "
       "standard resource for containers, "
       "spec.limits[0].maxLimitRequestRatio[requests.example.com/gpu]: Invalid value: "
       "\"requests.example.com/gpu\": doesn't follow extended resource name standard]"},
      {Range("{type: Container, maxLimitRequestRatio: {cpu: 500m}}"),
       "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"500m\": ratio 500m is less than 1"},
      {Range("{type: example.com/thing, max: {\"a b\": 1}}"),
       "spec.limits[0].max[a b]: Invalid value: \"a b\": "},
      {Range("{type: PersistentVolumeClaim}"),
       "spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but "
       "neither "
       "was provided"},
  });
}

// Only containers and pods are asked for what containers need.
TEST(AdmissionTest, LimitRangesMayBeAboutOtherTypes) {
  const TestFolder folder;
  const ProgramResult result = RunProgram(
      {"run", "-f",
       folder.Write("f.yaml", Range("{type: example.com/thing, max: {pods: 1}}, {type: Container, max: "
                                    "{example.com/gpu: 2, kubernetes.io/batch-cpu: 1}}")),
       "--allow-empty"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_FALSE(absl::StrContains(result.err, "is invalid")) << result.err;
}

TEST(AdmissionTest, BudgetsAndRuntimeClassesThatMeanNothingAreRefused) {
  const std::string percent =
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
      "regex "
      "used for validation is '[0-9]+%')";
  ExpectRefused({
      {Budget("minAvailable: 1, maxUnavailable: 1"),
       "PodDisruptionBudget.policy \"x\" is invalid: spec: Invalid value: "
       "{\"MinAvailable\":1,\"Selector\":{},\"MaxUnavailable\":1,\"UnhealthyPodEvictionPolicy\":null}: "
       "minAvailable and maxUnavailable cannot be both set"},
      {Budget("minAvailable: abc"), "spec.minAvailable: Invalid value: \"abc\": " + percent},
      {Budget("minAvailable: -5%"), "spec.minAvailable: Invalid value: \"-5%\": " + percent},
      {Budget("minAvailable: 150%"),
       "spec.minAvailable: Invalid value: \"150%\": must not be greater than 100%"},
      {Budget("maxUnavailable: -1"), "spec.maxUnavailable: Invalid value: -1: " + std::string(kNotNegative)},
      {Policy("node.k8s.io/v1", "RuntimeClass", "overhead: {podFixed: {cpu: -1}}"),
       "RuntimeClass.node.k8s.io \"x\" is invalid: [overhead.limits[cpu]: Invalid value: \"-1\": " +
           std::string(kNotNegative) + ", handler: Required value]"},
  });
}

TEST(AdmissionTest, PoliciesOfAllFormsAreTaken) {
  const Ran ran = RunFile(
      Node("n1") +
      Policy(
          "v1", "ResourceQuota",
          "spec: {hard: {pods: null, hugepages-2Mi: 1, requests.hugepages-2Mi: 1, requests.example.com/gpu: "
          "1.5, gold.storageclass.storage.k8s.io/requests.storage: 1, services.nodeports: 1, "
          "count/deployments.apps: 3}, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, "
          "operator: "
          "Exists}]}}") +
      Policy("v1", "LimitRange",
             "spec: {limits: [{type: Container, max: {cpu: 2, hugepages-2Mi: 4Mi}, min: {cpu: 50m}, "
             "maxLimitRequestRatio: {cpu: 4}}, {type: Pod, max: {memory: 2Gi}}, {type: "
             "PersistentVolumeClaim, max: "
             "{storage: 1Gi}}, {type: example.com/x}]}") +
      Policy("policy/v1", "PodDisruptionBudget", "spec: {minAvailable: 100%, selector: {}}") +
      Policy("node.k8s.io/v1", "RuntimeClass", "handler: h, overhead: {podFixed: {cpu: 1}}"));
  EXPECT_EQ(ran.result.exit_code, 0) << ran.result.err;
}

TEST(AdmissionTest, LabelsThatAreNoneAreRefused) {
  const std::string name =
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character";
  const std::pair<std::string, std::string> kRows[] = {
      {Pod("a", "labels: {a b: c}", ""),
       "Pod \"a\" is invalid: metadata.labels: Invalid value: \"a b\": " + name},
      {Pod("a", "labels: {a: c d}", ""),
       "metadata.labels: Invalid value: \"c d\": a valid label must be an empty string or consist of"},
      {Pod("a", "", "nodeSelector: {a b: c}"), "spec.nodeSelector: Invalid value: \"a b\": " + name},
      {Pod("a", "", "schedulingGates: [{name: a b}]"),
       "spec.schedulingGates[0]: Invalid value: \"a b\": " + name},
  };
  for (const auto& [objects, message] : kRows) {
    const Ran ran = RunFile(Node("n1") + objects);
    EXPECT_EQ(ran.result.exit_code, 2) << message;
    EXPECT_TRUE(absl::StrContains(ran.result.err, message)) << message << "\n" << ran.result.err;
  }
}

TEST(AdmissionTest, APatchToAQuantityThatCannotBeReadIsRefused) {
  const Played played = Play(
      Cluster(0) +
      "- {apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: \"1\"}}}\ntimeline:\n"
      "- patch: {kind: ResourceQuota, name: q, patch: {spec: {hard: {pods: one}}}}\n");
  EXPECT_EQ(played.exit_code, 1) << played.err;
  ASSERT_EQ(played.report["failures"].size(), 1U) << played.report["failures"];
  EXPECT_TRUE(absl::StrContains(played.report["failures"][0].get<std::string>(),
                                "ResourceQuota \"q\" is invalid: spec.hard.pods: \"one\" is not a quantity"))
      << played.report["failures"];
}

TEST(AdmissionTest, PoliciesOfOtherGroupsAreNone) {
  const Ran ran = RunFile(
      Node("n1") +
      "apiVersion: example.com/v1\nkind: LimitRange\nmetadata: {name: l}\nspec: {limits: [{type: Container, "
      "max: {cpu: 1m}}]}\n---\n" +
      Pod("a", "", ""));
  EXPECT_EQ(ran.result.exit_code, 0) << ran.result.err;
  EXPECT_EQ(ran.report["bound"], 1);
}

TEST(AdmissionTest, AQuotaMayComeBeforeItsNamespace) {
  const Ran ran = RunFile(
      Node("n1") +
      "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: shop}\nspec: {hard: {pods: 1}}\n"
      "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: l, namespace: shop}\nspec: {limits: []}\n"
      "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\n" +
      Pod("a", "namespace: shop", ""));
  EXPECT_EQ(ran.result.exit_code, 0) << ran.result.err;
  EXPECT_EQ(ran.report["bound"], 1);
}

// A default class that is made at some time of a second.
std::string DefaultClass(const std::string& name, const std::string& time) {
  return absl::StrCat("apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: ", name,
                      ", creationTimestamp: \"2026-01-01T00:00:", time,
                      "Z\", annotations: {storageclass.kubernetes.io/is-default-class: \"true\"}}\n"
                      "provisioner: none.example\n---\n");
}

TEST(AdmissionTest, DefaultClassesAreAsOldAsTheirSecond) {
  const std::string classes =
      DefaultClass("b", "00.9") + DefaultClass("a", "00.1") + DefaultClass("old", "00");
  const std::string spec = "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n";
  const std::string claims = absl::StrCat(
      "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: new}\n", spec,
      "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: old, uid: u}\n", spec, "---\n");
  const auto class_of = [&](const std::string& more, const std::string& claim) -> std::string {
    const TestFolder folder;
    const ProgramResult result =
        RunProgram({"run", "-f", folder.Write("a.yaml", Node("n1") + classes + claims + more), "--output",
                    "objects", "--until", "10s"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const Json list = Json::parse(result.out);
    for (const Json& item : list["items"]) {
      if (item["kind"] == "PersistentVolumeClaim" && item["metadata"]["name"] == claim)
        return item["spec"].value("storageClassName", "");
    }
    return "none";
  };
  for (const char* claim : {"new", "old"}) {
    EXPECT_EQ(class_of("", claim), "a");
    EXPECT_EQ(class_of(DefaultClass("young", "01"), claim), "young");
  }
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
