// Patches of a timeline: of every kind, in every way, and what is said where they cannot be applied.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;

constexpr char kCluster[] = R"(apiVersion: schedsim/v1
kind: Scenario
objects:
- {apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}
- {apiVersion: v1, kind: Node, metadata: {name: n2, labels: {kubernetes.io/hostname: n2}}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: app1, namespace: default}
  spec: {replicas: 0, selector: {matchLabels: {app: app1}}, template: {metadata: {labels: {app: app1}}, spec: {containers: [{name: c, image: "x:1"}]}}}
)";

ProgramResult RunScenario(const std::string& timeline, const std::vector<std::string>& more = {}) {
  const TestFolder folder;
  std::vector<std::string> arguments = {
      "run", folder.Write("scenario.yaml", absl::StrCat(kCluster, timeline)), "--output", "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return RunProgram(arguments);
}

// The texts of a list of the report: its warnings or failures.
std::vector<std::string> TextsOf(const ProgramResult& result, const char* list) {
  const Json report = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  return report.is_object() ? report[list].get<std::vector<std::string>>() : std::vector<std::string>();
}

std::vector<std::string> Warnings(const ProgramResult& result) { return TextsOf(result, "warnings"); }

TEST(PatchTest, ADeploymentIsPatchedBeforeItHasPods) {
  const ProgramResult result = RunScenario(R"(timeline:
- patch: {kind: Deployment, name: app1, patch: {spec: {template: {spec: {nodeSelector: {kubernetes.io/hostname: n2}}}}}}
- scale: {name: app1, replicas: 3}
)");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(Warnings(result).empty()) << result.err;
  const Json report = Json::parse(result.out);
  ASSERT_EQ(report["pods"].size(), 3U);
  for (const Json& pod : report["pods"]) EXPECT_EQ(pod["node"], "n2");
}

TEST(PatchTest, ANewTemplateIsRolledOut) {
  const std::string timeline = R"(timeline:
- scale: {name: app1, replicas: 5}
- waitUntil: {bound: {selector: app=app1, count: 5}}
- patch: {kind: Deployment, name: app1, patch: {spec: {template: {spec: {containers: [{name: c, image: "x:2"}]}}}}}
- waitUntil: {quiet: true}
)";
  const TestFolder folder;
  const ProgramResult result = RunProgram(
      {"run", folder.Write("scenario.yaml", absl::StrCat(kCluster, timeline)), "--output", "objects"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  int pods = 0;
  const Json list = Json::parse(result.out);
  for (const Json& object : list["items"]) {
    if (object["kind"] != "Pod") continue;
    ++pods;
    EXPECT_EQ(object["spec"]["containers"][0]["image"], "x:2");
  }
  EXPECT_EQ(pods, 5);
}

TEST(PatchTest, EveryKindIsFoundInTheNamespaceThatItBelongsTo) {
  const ProgramResult result = RunScenario(R"(timeline:
- create:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: b}}
  - {apiVersion: batch/v1, kind: CronJob, metadata: {name: j}, spec: {schedule: "0 9 * * *", suspend: true, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}}
  - {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}}
  - {apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: kube-public}}
  - {apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: s, namespace: default}}
  - {apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 80, targetPort: 8080}]}}
- patch: {kind: ConfigMap, name: c, patch: {data: {a: null}}}
- update: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: c}}
- patch: {kind: CronJob, name: j, patch: {spec: {suspend: false}}}
- label: {kind: ClusterRole, name: r, labels: {a: b}}
- patch: {kind: Widget, namespace: kube-public, name: w, patch: {spec: {size: 3}}}
- patch: {kind: Service, name: s, type: strategic, patch: {spec: {ports: [{port: 80, targetPort: 9090}]}}}
- patch: {kind: Service, name: s, type: json, patch: [{op: test, path: /spec/ports, value: [{port: 80, targetPort: 9090}]}]}
- delete: {kind: ConfigMap, name: c}
- delete: {kind: ClusterRole, name: r}
- delete: {kind: Widget, namespace: kube-public, name: w}
- waitUntil: {gone: {kind: ConfigMap, name: c}}
)");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Warnings(result), std::vector<std::string>()) << result.err;
}

TEST(PatchTest, WhatCannotBePatchedIsSaidWithItsPath) {
  const struct {
    const char* entry;
    const char* failure;
  } kRows[] = {
      {"patch: {kind: Deployment, name: ghost, patch: {spec: {replicas: 1}}}",
       "timeline[0].patch: there is no Deployment ghost"},
      {"patch: {kind: Node, name: n1, patch: {spec: {taints: 5}}}",
       "timeline[0].patch: Node n1, patched: spec.taints: expected a list, got the number 5"},
      {"patch: {kind: Node, name: n1, patch: {metadata: {name: n3}}}",
       "timeline[0].patch: Node n1, patched: apiVersion, kind, namespace and name cannot change"},
      {"patch: {kind: Node, name: n1, patch: {metadata: {resourceVersion: \"9999\"}}}",
       "timeline[0].patch: Operation cannot be fulfilled on nodes \"n1\": the object has been modified; "
       "please "
       "apply your changes to the latest version and try again"},
      {"patch: {kind: Deployment, name: app1, type: strategic, patch: {spec: {template: {spec: {containers: "
       "[{image: "
       "y}]}}}}}",
       "timeline[0].patch: Deployment default/app1, patched: spec.template.spec.containers[0].name: expected "
       "a value, "
       "by which the list is merged, got none"},
      {"patch: {kind: Node, name: n1, type: json, patch: [{op: remove, path: /spec/taints}]}",
       "timeline[0].patch: Node n1, patched: remove /spec/taints: there is no such place"},
  };
  for (const auto& row : kRows) {
    const ProgramResult result = RunScenario(absl::StrCat("timeline:\n- ", row.entry, "\n"));
    EXPECT_EQ(result.exit_code, 1) << row.entry << result.err;
    const std::vector<std::string> failures = TextsOf(result, "failures");
    ASSERT_EQ(failures.size(), 1U) << row.entry << result.err;
    EXPECT_TRUE(absl::StrContains(failures[0], row.failure)) << failures[0];
  }
}

TEST(PatchTest, AFieldThatTheKindDoesNotHaveIsAWarningAtTheEntry) {
  const std::string timeline = R"(timeline:
- create: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}
- patch: {name: a, patch: {spec: {nodeSelecter: {a: b}}}}
- patch: {kind: Node, selector: "", type: strategic, patch: {spec: {unschedulabel: true}}}
- patch: {kind: Node, name: n1, type: json, patch: [{op: add, path: /spec, value: {taint: []}}]}
- patch: {name: a, patch: {metadata: {labels: {a: b}}}}
- patch: {kind: Node, name: n1, patch: {spec: {unschedulable: true, taint: null}}}
)";
  const ProgramResult result = RunScenario(timeline);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::vector<std::string> warnings = Warnings(result);
  ASSERT_EQ(warnings.size(), 3U) << result.err;
  const char* const kWanted[] = {
      "scenario.yaml:12:10: timeline[1].patch: Pod, patched: spec.nodeSelecter: no such field, did you mean "
      "nodeSelector?",
      "scenario.yaml:13:10: timeline[2].patch: Node, patched: spec.unschedulabel: no such field, did you "
      "mean "
      "unschedulable?",
      "scenario.yaml:14:10: timeline[3].patch: Node, patched: spec.taint: no such field, did you mean "
      "taints?"};
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(absl::EndsWith(warnings[i], kWanted[i])) << warnings[i];
  EXPECT_EQ(RunScenario(timeline, {"--strict"}).exit_code, 2);
}

TEST(PatchTest, APodChangesItsNodeOnlyByABinding) {
  const std::string create = R"(timeline:
- create: {apiVersion: v1, kind: Pod, metadata: {name: q}, spec: {schedulingGates: [{name: g}], containers: [{name: c, image: i}]}}
- create: {apiVersion: v1, kind: Pod, metadata: {name: r}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}
)";
  const struct {
    const char* entry;
    const char* was;
    const char* got;
  } kRows[] = {
      {"patch: {name: q, patch: {spec: {nodeName: n2}}}", "", "n2"},
      {"patch: {name: r, type: strategic, patch: {spec: {nodeName: n2}}}", "n1", "n2"},
      {"patch: {name: r, type: json, patch: [{op: remove, path: /spec/nodeName}]}", "n1", ""},
      {"update: {apiVersion: v1, kind: Pod, metadata: {name: q}, spec: {nodeName: n2, containers: [{name: c, "
       "image: i}]}}",
       "", "n2"},
      {"update: {apiVersion: v1, kind: Pod, metadata: {name: r}, spec: {nodeName: n2, containers: [{name: c, "
       "image: i}]}}",
       "n1", "n2"},
  };
  for (const auto& row : kRows) {
    const ProgramResult result = RunScenario(absl::StrCat(create, "- ", row.entry, "\n"));
    EXPECT_EQ(result.exit_code, 1) << row.entry << result.err;
    const std::vector<std::string> failures = TextsOf(result, "failures");
    ASSERT_EQ(failures.size(), 1U) << row.entry << result.err;
    EXPECT_TRUE(absl::StrContains(
        failures[0], "is invalid: spec: Forbidden: pod updates may not change fields other than `spec."))
        << failures[0];
    const std::string end = absl::StrCat(": spec.nodeName is \"", row.was, "\", got \"", row.got, "\"");
    EXPECT_TRUE(absl::EndsWith(failures[0], end)) << failures[0];
    const Json report = Json::parse(result.out);
    for (const Json& pod : report["pods"]) EXPECT_NE(pod["node"], "n2") << row.entry;
  }
  const ProgramResult same =
      RunScenario(absl::StrCat(create,
                               "- update: {apiVersion: v1, kind: Pod, metadata: {name: r}, spec: "
                               "{containers: [{name: c, image: j}]}}\n"
                               "- patch: {name: r, patch: {spec: {nodeName: n1}}}\n"));
  EXPECT_EQ(same.exit_code, 0) << same.err;
}

TEST(PatchTest, OfAPodOnlyWhatTheApiServerLetsChangeChanges) {
  const std::string create = R"(timeline:
- create: {apiVersion: v1, kind: Pod, metadata: {name: g}, spec: {schedulingGates: [{name: g}, {name: h}], nodeSelector: {a: b}, affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: k, operator: Exists}]}]}}}, containers: [{name: c, image: i}]}}
- create: {apiVersion: v1, kind: Pod, metadata: {name: r}, spec: {nodeName: n1, activeDeadlineSeconds: 60, tolerations: [{key: t, operator: Exists, effect: NoExecute, tolerationSeconds: 600}], containers: [{name: c, image: i, resources: {requests: {cpu: 1, example.com/x: 1}, limits: {example.com/x: 1}}}]}}
)";
  constexpr char kTerms[] =
      "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ";
  const struct {
    std::string entry;
    std::string failure;  // "": the change is allowed.
  } kRows[] = {
      {"{name: r, type: strategic, patch: {spec: {containers: [{name: c, image: j}]}}}", ""},
      {"{name: r, type: strategic, patch: {spec: {containers: [{name: c, resources: {requests: {cpu: "
       "1000m}}}]}}}",
       ""},
      {"{name: r, patch: {spec: {activeDeadlineSeconds: 30, hostNetwork: false, nodeSelector: {}}}}", ""},
      {"{name: r, patch: {spec: {tolerations: [{key: u, operator: Exists}, {key: t, operator: Exists, "
       "effect: "
       "NoExecute, tolerationSeconds: 1}]}}}",
       ""},
      {"{name: g, patch: {spec: {schedulingGates: [{name: h}]}}}", ""},
      {"{name: g, patch: {spec: {schedulingGates: null, nodeSelector: {c: d}}}}", ""},
      {absl::StrCat("{name: g, patch: {spec: {", kTerms,
                    "[{matchExpressions: [{key: k, operator: Exists}, {key: l, operator: Exists}]}]}}}}}}"),
       ""},
      {"{name: r, subresource: resize, type: strategic, patch: {spec: {containers: [{name: c, resources: "
       "{requests: {cpu: 2}}}]}}}",
       ""},
      {"{name: r, type: strategic, patch: {spec: {containers: [{name: c, resources: {requests: {cpu: "
       "2}}}]}}}",
       ": spec.containers[0].resources.requests.cpu is 1, got 2"},
      {"{name: r, subresource: resize, type: strategic, patch: {spec: {containers: [{name: c, resources: "
       "{requests: {example.com/x: 2}}}]}}}",
       "Pod \"r\" is invalid: [spec.containers[0].resources.requests: Invalid value: \"2\": must be equal to "
       "example.com/x limit of 1, spec: Forbidden: only cpu and memory resources are mutable: "
       "spec.containers[0]"},
      {"{name: r, patch: {spec: {nodeSelector: {a: b}}}}", ": spec.nodeSelector.a is \"\", got \"b\""},
      {"{name: r, patch: {spec: {priorityClassName: system-node-critical}}}",
       "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative): "
       "spec.priorityClassName is \"\""},
      {"{name: r, type: strategic, patch: {spec: {containers: [{name: d, image: j}]}}}",
       "Pod \"r\" is invalid: spec.containers: Forbidden: pod updates may not add or remove containers"},
      {"{name: r, patch: {spec: {activeDeadlineSeconds: 61}}}",
       "spec.activeDeadlineSeconds: Invalid value: 61: must be less than or equal to previous value"},
      {"{name: r, patch: {spec: {tolerations: []}}}",
       "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"},
      {"{name: r, patch: {spec: {schedulingGates: [{name: z}]}}}",
       "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate "
       "'z'"},
      {"{name: g, patch: {spec: {nodeSelector: {a: c}}}}",
       "spec.nodeSelector: Invalid value: {\"a\":\"c\"}: only additions to spec.nodeSelector are allowed (no "
       "mutations or deletions)"},
      {"{name: g, patch: {spec: {affinity: null}}}",
       "nodeSelectorTerms: Invalid value: null: no additions/deletions to non-empty NodeSelectorTerms list "
       "are "
       "allowed"},
      {absl::StrCat("{name: g, patch: {spec: {", kTerms,
                    "[{matchExpressions: [{key: l, operator: Exists}]}]}}}}}}"),
       ": only additions are allowed (no mutations or deletions)"},
  };
  for (const auto& row : kRows) {
    const ProgramResult result = RunScenario(absl::StrCat(create, "- patch: ", row.entry, "\n"));
    const std::vector<std::string> failures = TextsOf(result, "failures");
    ASSERT_EQ(failures.size(), row.failure.empty() ? 0U : 1U)
        << row.entry << result.err << absl::StrJoin(failures, "\n");
    if (row.failure.empty()) continue;
    EXPECT_TRUE(absl::StrContains(failures[0], row.failure)) << failures[0];
  }
}

// What a resize of pods `b` (Burstable), `g` (Guaranteed) and `e` (BestEffort) is refused for.
TEST(PatchTest, AResizeKeepsLimitsAndTheQosClass) {
  const auto pod = [](const std::string& name, const std::string& resources) {
    return absl::StrCat("- create: {apiVersion: v1, kind: Pod, metadata: {name: ", name,
                        "}, spec: {nodeName: n1, containers: [{name: c, image: i, resources: {", resources,
                        "}}]}}\n");
  };
  const std::string create =
      absl::StrCat("timeline:\n", pod("b", "requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 2}"),
                   pod("g", "requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}"), pod("e", ""));
  const struct {
    const char* pod;
    const char* resources;
    const char* failure;  // "": the change is allowed.
  } kRows[] = {
      {"b", "requests: {cpu: 2}", ""},
      {"b", "requests: {cpu: 500m, memory: 2Gi}, limits: {cpu: 3}", ""},
      // The limit becomes the request.
      {"b", "requests: {cpu: null}", ""},
      {"g", "requests: {cpu: 2}, limits: {cpu: 2}", ""},
      {"b", "requests: {cpu: 3}",
       "Pod \"b\" is invalid: spec.containers[0].resources.requests: Invalid value: \"3\": must be less than "
       "or equal to cpu limit of 2"},
      {"b", "requests: {memory: null}",
       "Pod \"b\" is invalid: spec.containers[0].resources.requests: Forbidden: resource requests cannot be "
       "removed"},
      {"b", "limits: {cpu: null}",
       "Pod \"b\" is invalid: spec.containers[0].resources.limits: Forbidden: resource limits cannot be "
       "removed"},
      {"g", "limits: {cpu: 2}",
       "Pod \"g\" is invalid: spec: Invalid value: \"Guaranteed\": Pod QOS Class may not change as a result "
       "of resizing"},
      {"e", "requests: {cpu: 1}",
       "Pod \"e\" is invalid: spec: Invalid value: \"BestEffort\": Pod QOS Class may not change as a result "
       "of resizing"},
      {"g", "requests: {cpu: 3}, limits: {cpu: 2}",
       "Pod \"g\" is invalid: [spec.containers[0].resources.requests: Invalid value: \"3\": must be less "
       "than "
       "or equal to cpu limit of 2, spec: Invalid value: \"Guaranteed\": Pod QOS Class may not change as a "
       "result of resizing]"},
  };
  for (const auto& row : kRows) {
    const ProgramResult result = RunScenario(
        absl::StrCat(create, "- patch: {name: ", row.pod,
                     ", subresource: resize, type: strategic, patch: {spec: {containers: [{name: c, "
                     "resources: {",
                     row.resources, "}}]}}}\n"));
    EXPECT_EQ(result.exit_code, *row.failure == '\0' ? 0 : 1) << result.err;
    const std::string failures = absl::StrJoin(TextsOf(result, "failures"), "\n");
    if (*row.failure == '\0') {
      EXPECT_EQ(failures, "") << row.resources << result.err;
    } else {
      EXPECT_TRUE(absl::EndsWith(failures, absl::StrCat(": ", row.failure))) << row.resources << failures;
    }
  }
}

TEST(PatchTest, MetadataIsCheckedAsOfNewObjects) {
  const std::string create =
      "timeline:\n"
      "- create: {apiVersion: v1, kind: Pod, metadata: {name: p, uid: p-1}, spec: {nodeName: n1, "
      "terminationGracePeriodSeconds: 600, containers: [{name: c, image: i}]}}\n"
      "- create: {apiVersion: v1, kind: ConfigMap, metadata: {name: m, uid: m-1}}\n";
  constexpr char kLabel[] =
      "metadata.labels: Invalid value: \"b c\": a valid label must be an empty string or consist of "
      "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  const std::pair<const char*, std::string> kRows[] = {
      {"{labels: {zz: b}, annotations: {zz: b c}, ownerReferences: [{apiVersion: v1, kind: Node, name: n1, "
       "uid: u}]}",
       ""},
      {"{labels: {zz: b c}}", kLabel},
      {"{labels: {'b c': b}}", "metadata.labels: Invalid value: \"b c\": name part must consist of"},
      {"{annotations: {'b c': b}}", "metadata.annotations: Invalid value: \"b c\": "},
      {"{ownerReferences: [{apiVersion: v1, kind: Node}]}",
       "[metadata.ownerReferences[0].name: Required value: must not be empty, "
       "metadata.ownerReferences[0].uid: Required value: must not be empty]"},
      {"{deletionTimestamp: '2030-01-02T03:04:05Z'}",
       "metadata.deletionTimestamp: Invalid value: \"2030-01-02T03:04:05Z\": field is immutable"},
  };
  const auto failures_of = [&create](const std::string& entry) {
    return absl::StrJoin(TextsOf(RunScenario(absl::StrCat(create, "- ", entry, "\n")), "failures"), "\n");
  };
  for (const auto& [metadata, fault] : kRows) {
    for (const char* kind : {"Pod", "ConfigMap"}) {
      const std::string name = *kind == 'P' ? "p" : "m";
      const std::string failures = failures_of(
          absl::StrCat("patch: {kind: ", kind, ", name: ", name, ", patch: {metadata: ", metadata, "}}"));
      if (fault.empty()) {
        EXPECT_EQ(failures, "") << kind << metadata;
      } else {
        EXPECT_TRUE(absl::StrContains(failures, absl::StrCat(kind, " \"", name, "\" is invalid: ", fault)))
            << kind << metadata << failures;
      }
    }
  }
  EXPECT_TRUE(
      absl::EndsWith(failures_of("patch: {kind: ConfigMap, name: m, patch: {metadata: {uid: other}}}"),
                     "ConfigMap \"m\" is invalid: metadata.uid: Invalid value: \"other\": field is "
                     "immutable"));
  EXPECT_EQ(failures_of("patch: {kind: ConfigMap, name: m, patch: {metadata: {uid: null}}}"), "");
  // Whole objects.
  const auto update = [](const std::string& metadata) {
    return absl::StrCat("update: {apiVersion: v1, kind: Pod, metadata: {name: p, ", metadata,
                        "}, spec: {containers: [{name: c, image: i}]}}");
  };
  EXPECT_EQ(failures_of(update("labels: {zz: b}")), "");
  EXPECT_TRUE(absl::StrContains(failures_of(update("labels: {zz: b c}")), kLabel));
  EXPECT_TRUE(absl::EndsWith(failures_of(update("uid: other")),
                             "Operation cannot be fulfilled on pods \"p\": Precondition failed: UID in "
                             "precondition: other, UID in object meta: p-1"));
}

TEST(PatchTest, AnEndingObjectGetsNoMoreFinalizers) {
  const std::string before = R"(timeline:
- create: {apiVersion: v1, kind: Pod, metadata: {name: p, finalizers: [x/a]}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}
- delete: {name: p}
)";
  const ProgramResult more =
      RunScenario(before + "- patch: {name: p, patch: {metadata: {finalizers: [x/a, x/c, x/b]}}}\n");
  const std::string failures = absl::StrJoin(TextsOf(more, "failures"), "\n");
  EXPECT_TRUE(absl::EndsWith(
      failures,
      "Pod \"p\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object "
      "is being deleted, found new finalizers []string{\"x/b\", \"x/c\"}"))
      << failures;
  const ProgramResult fewer =
      RunScenario(before + "- patch: {name: p, patch: {metadata: {finalizers: []}}}\n");
  EXPECT_EQ(fewer.exit_code, 0) << fewer.err;
}

TEST(PatchTest, AnotherKindIsRefusedWhenTheScenarioIsRead) {
  const std::pair<const char*, const char*> kRows[] = {
      {"{name: q, patch: {kind: Foo}}",
       "timeline[0].patch.patch.kind: a patch cannot change the kind, expected Pod or none"},
      {"{kind: Node, name: n1, type: json, patch: [{op: replace, path: /kind, value: Pod}]}",
       "timeline[0].patch.patch[0]: a patch cannot change the kind, expected Node or none"},
      {"{kind: Node, name: n1, subresource: resize, patch: {spec: {}}}",
       "timeline[0].patch.subresource: expected resize, of pods"},
  };
  for (const auto& [entry, want] : kRows) {
    const ProgramResult result = RunScenario(absl::StrCat("timeline:\n- patch: ", entry, "\n"));
    EXPECT_EQ(result.exit_code, 2) << entry;
    EXPECT_TRUE(absl::StrContains(result.err, want)) << entry << result.err;
  }
}

TEST(PatchTest, TheTypeIsOneOfThree) {
  const ProgramResult result =
      RunScenario("timeline:\n- patch: {kind: Node, name: n1, type: apply, patch: {spec: {}}}\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "timeline[0].patch.type: expected merge, strategic or json"))
      << result.err;
}

}  // namespace
}  // namespace schedsim
