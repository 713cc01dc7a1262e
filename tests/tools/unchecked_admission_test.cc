// What the program says of admission that a cluster has and that nothing here asks: PodSecurity, service
// accounts, webhooks and policies, and quotas that count what the input lacks.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

constexpr char kNode[] =
    "{apiVersion: v1, kind: Node, metadata: {name: n1, uid: n1}, status: {allocatable: {cpu: 8, memory: "
    "16Gi, pods: "
    "99}}}\n---\n";

std::string Object(const std::string& api_version, const std::string& kind, const std::string& metadata,
                   const std::string& more) {
  return absl::StrCat("{apiVersion: ", api_version, ", kind: ", kind, ", metadata: {", metadata, "}",
                      more.empty() ? "" : ", ", more, "}\n---\n");
}

// The spec of a pod with one container.
std::string Spec(const std::string& container, const std::string& more) {
  return absl::StrCat("{", more, more.empty() ? "" : ", ", "containers: [{name: c, image: i",
                      container.empty() ? "" : ", ", container, "}]}");
}

std::string Pod(const std::string& metadata, const std::string& container = "",
                const std::string& more = "") {
  return Object("v1", "Pod", metadata, absl::StrCat("spec: ", Spec(container, more)));
}

std::string Workload(const std::string& kind, const std::string& metadata, const std::string& spec,
                     const std::string& more, const std::string& status = "") {
  return Object("apps/v1", kind, metadata,
                absl::StrCat("spec: {", spec, spec.empty() ? "" : ", ",
                             "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: ",
                             Spec("", more), "}}", status.empty() ? "" : ", status: ", status));
}

// The warnings of a run, without their places.
Strings Warnings(const std::string& objects, const std::string& more = "") {
  const ProgramResult result = RunProgram({"run", "-f", "-"}, absl::StrCat(kNode, objects, more));
  Strings warnings;
  for (absl::string_view line : absl::StrSplit(result.err, '\n')) {
    if (!absl::ConsumePrefix(&line, "warning: stdin:")) continue;
    warnings.emplace_back(line.substr(line.find(": ") + 2));
  }
  if (!warnings.empty()) {
    EXPECT_EQ(RunProgram({"run", "-f", "-", "--strict"}, absl::StrCat(kNode, objects, more)).exit_code, 2);
  }
  return warnings;
}

std::string Level(const std::string& level) {
  return Object("v1", "Namespace",
                absl::StrCat("name: shop, labels: {pod-security.kubernetes.io/enforce: ", level, "}"), "");
}

std::string Violates(const std::string& object, const std::string& level, const std::string& faults) {
  return absl::StrCat(object, ": violates PodSecurity \"", level, "\", which Namespace shop enforces (",
                      faults, "); that is not checked here, where a cluster creates no such pod");
}

TEST(UncheckedAdmissionTest, PodsThatBreakTheLevelOfTheirNamespaceAreSaid) {
  constexpr char kInShop[] = "name: a, namespace: shop";
  const std::pair<std::string, std::string> rows[] = {
      {Pod(kInShop, "", "hostNetwork: true, hostPID: true, hostIPC: true"),
       "hostNetwork=true, hostPID=true, hostIPC=true"},
      {Pod(kInShop, "securityContext: {privileged: true}"), "privileged"},
      {Pod(kInShop, "", "volumes: [{name: v, hostPath: {path: /v}}]"), "hostPath volumes"},
      {Pod(kInShop, "ports: [{containerPort: 80, hostPort: 80}]"), "hostPort"},
  };
  for (const auto& [pod, faults] : rows) {
    EXPECT_EQ(Warnings(Level("baseline"), pod), Strings({Violates("Pod shop/a", "baseline", faults)}));
    EXPECT_EQ(Warnings(Level("restricted"), pod),
              Strings({Violates(
                  "Pod shop/a", "restricted",
                  absl::StrCat(faults, ", allowPrivilegeEscalation != false, runAsNonRoot != true"))}));
    EXPECT_EQ(Warnings(Level("privileged"), pod), Strings());
    EXPECT_EQ(Warnings("", pod), Strings());
  }
  EXPECT_EQ(Warnings(Level("baseline"), Pod(kInShop)), Strings());
  EXPECT_EQ(Warnings(Level("restricted"), Pod(kInShop, "securityContext: {allowPrivilegeEscalation: false}",
                                              "securityContext: {runAsNonRoot: true}")),
            Strings());
  EXPECT_EQ(Warnings(Level("restricted"),
                     Pod(kInShop, "securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: false}",
                         "securityContext: {runAsNonRoot: true}")),
            Strings({Violates("Pod shop/a", "restricted", "runAsNonRoot != true")}));
  // In another namespace, and what passed admission before.
  EXPECT_EQ(Warnings(Level("baseline"), Pod("name: a", "", "hostNetwork: true")), Strings());
  EXPECT_EQ(Warnings(Level("baseline"), Pod("name: a, namespace: shop, uid: a", "", "hostNetwork: true")),
            Strings());
}

TEST(UncheckedAdmissionTest, WorkloadsCountWhereTheyMakePods) {
  const std::string owned =
      Pod("name: a, namespace: shop, uid: a, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: "
          "w, uid: "
          "w, controller: true}]",
          "", "nodeName: n1, hostNetwork: true");
  const std::string replica_set =
      Workload("ReplicaSet", "name: w, namespace: shop, uid: w", "replicas: 1", "hostNetwork: true");
  const Strings warning = {Violates("ReplicaSet shop/w", "baseline", "hostNetwork=true")};
  EXPECT_EQ(Warnings(Level("baseline"), replica_set), warning);
  EXPECT_EQ(Warnings(Level("baseline"), replica_set + owned), Strings());
  EXPECT_EQ(Warnings(Level("baseline"),
                     Workload("Deployment", "name: d, namespace: shop", "", "hostNetwork: true") +
                         Pod("name: b, namespace: shop", "", "hostNetwork: true")),
            Strings({Violates("Deployment shop/d", "baseline", "hostNetwork=true") + " (and 1 more)"}));
  EXPECT_EQ(Warnings(Level("baseline"),
                     Workload("Deployment", "name: d, namespace: shop", "replicas: 0", "hostNetwork: true")),
            Strings());
  const std::string daemon_set = Workload("DaemonSet", "name: d, namespace: shop, uid: d", "",
                                          "hostNetwork: true", "{desiredNumberScheduled: 0}");
  EXPECT_EQ(Warnings(Level("baseline"), daemon_set), Strings());
  // A node that is new gets a pod of it.
  EXPECT_EQ(
      Warnings(Level("baseline"), daemon_set + "{apiVersion: v1, kind: Node, metadata: {name: n2}, status: "
                                               "{allocatable: {cpu: 1, pods: 9}}}\n"),
      Strings({Violates("DaemonSet shop/d", "baseline", "hostNetwork=true")}));
}

TEST(UncheckedAdmissionTest, ServiceAccountsThatAreNotThereAreSaid) {
  const std::string account = Object("v1", "ServiceAccount", "name: builder", "");
  const std::string typo = Pod("name: a", "", "serviceAccountName: typo");
  EXPECT_EQ(
      Warnings(account, typo),
      Strings(
          {"Pod default/a: serviceaccount \"typo\" not found among those of Namespace default; that is not "
           "checked here, where a cluster creates no such pod"}));
  EXPECT_EQ(Warnings(account, Pod("name: a", "", "serviceAccountName: builder") + Pod("name: b")), Strings());
  EXPECT_EQ(Warnings(account, Pod("name: a", "", "serviceAccountName: default")), Strings());
  EXPECT_EQ(Warnings(account, Pod("name: a, namespace: shop", "", "serviceAccountName: typo")), Strings());
  EXPECT_EQ(Warnings("", typo), Strings());
}

std::string Webhook(const std::string& kind, const std::string& name, const std::string& rule,
                    const std::string& more = "") {
  return Object(
      "admissionregistration.k8s.io/v1", kind, absl::StrCat("name: ", name),
      absl::StrCat("webhooks: [{name: w.example.com, sideEffects: None, admissionReviewVersions: [v1], "
                   "clientConfig: {url: 'https://w'}, rules: [{",
                   rule, "}]", more.empty() ? "" : ", ", more, "}]"));
}

constexpr char kNotAsked[] =
    ": matches the creation of pods and is not asked, so pods that it would refuse or change are created as "
    "they are";
constexpr char kPodRule[] = "apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]";

TEST(UncheckedAdmissionTest, WebhooksThatPodsWouldPassAreSaid) {
  const std::string mutating = Webhook("MutatingWebhookConfiguration", "m", kPodRule);
  EXPECT_EQ(Warnings(mutating, Pod("name: a")),
            Strings({absl::StrCat("MutatingWebhookConfiguration m", kNotAsked)}));
  EXPECT_EQ(Warnings(mutating +
                         Webhook("ValidatingWebhookConfiguration", "v",
                                 "apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*']"),
                     Workload("Deployment", "name: d", "", "")),
            Strings({absl::StrCat("MutatingWebhookConfiguration m", kNotAsked, " (and 1 more)")}));
  // No pod is created.
  EXPECT_EQ(Warnings(mutating, Pod("name: a, uid: a")), Strings());
  for (const char* const rule :
       {"apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: ['*']",
        "apiGroups: [''], apiVersions: [v1], operations: [UPDATE], resources: [pods]",
        "apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods/binding, services]"})
    EXPECT_EQ(Warnings(Webhook("ValidatingWebhookConfiguration", "v", rule), Pod("name: a")), Strings());
  const auto selecting = [](const std::string& selector) {
    return Webhook("MutatingWebhookConfiguration", "m", kPodRule, selector);
  };
  const std::string pod = Pod("name: a, namespace: shop, labels: {mesh: 'on'}") +
                          Object("v1", "Namespace", "name: shop, labels: {team: a}", "");
  EXPECT_EQ(Warnings(selecting("namespaceSelector: {matchLabels: {team: a}}"), pod).size(), 1u);
  EXPECT_EQ(Warnings(selecting("namespaceSelector: {matchLabels: {team: b}}"), pod), Strings());
  EXPECT_EQ(
      Warnings(
          selecting("namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: "
                    "NotIn, values: [shop]}]}"),
          pod),
      Strings());
  EXPECT_EQ(
      Warnings(selecting("objectSelector: {matchExpressions: [{key: mesh, operator: Exists}]}"), pod).size(),
      1u);
  EXPECT_EQ(
      Warnings(selecting("objectSelector: {matchExpressions: [{key: mesh, operator: DoesNotExist}]}"), pod),
      Strings());
}

TEST(UncheckedAdmissionTest, PoliciesCountWithTheirBindings) {
  const std::string policy = Object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "name: p",
                                    absl::StrCat("spec: {matchConstraints: {resourceRules: [{", kPodRule,
                                                 "}]}, validations: [{expression: 'false'}]}"));
  const auto binding = [](const std::string& spec) {
    return Object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "name: b",
                  absl::StrCat("spec: {policyName: p, ", spec, "}"));
  };
  const Strings warning = {absl::StrCat("ValidatingAdmissionPolicy p", kNotAsked)};
  EXPECT_EQ(Warnings(policy + binding("validationActions: [Deny]"), Pod("name: a")), warning);
  EXPECT_EQ(Warnings(policy + binding("validationActions: [Audit, Warn]"), Pod("name: a")), Strings());
  EXPECT_EQ(
      Warnings(
          policy + binding("validationActions: [Deny], matchResources: {namespaceSelector: {matchLabels: "
                           "{team: a}}}"),
          Pod("name: a")),
      Strings());
  EXPECT_EQ(Warnings(policy, Pod("name: a")), Strings());
  EXPECT_EQ(Warnings(Object("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "name: p",
                            absl::StrCat("spec: {matchConstraints: {resourceRules: [{", kPodRule,
                                         "}]}, reinvocationPolicy: Never, mutations: []}")) +
                         Object("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding",
                                "name: b", "spec: {policyName: p}"),
                     Pod("name: a")),
            Strings({absl::StrCat("MutatingAdmissionPolicy p", kNotAsked)}));
}

std::string Quota(const std::string& hard, const std::string& used) {
  return Object("v1", "ResourceQuota", "name: q, namespace: default, uid: q",
                absl::StrCat("spec: {hard: {", hard, "}}, status: {hard: {", hard, "}, used: {", used, "}}"));
}

TEST(UncheckedAdmissionTest, QuotasThatCountMoreThanTheInputHasAreSaid) {
  const std::string there =
      Pod("name: old, namespace: default, uid: old", "resources: {requests: {cpu: 500m}}", "nodeName: n1");
  const std::string pod = Pod("name: a", "resources: {requests: {cpu: 500m}}");
  const auto warning = [](const std::string& what) {
    return Strings(
        {absl::StrCat("ResourceQuota default/q: status.used says ", what,
                      ": objects of its namespace are missing, so it admits more here than in the cluster")});
  };
  EXPECT_EQ(Warnings(Quota("pods: 5", "pods: 5"), pod), warning("pods 5, the input has 0"));
  EXPECT_EQ(Warnings(Quota("pods: 5, requests.cpu: 4", "pods: 3, requests.cpu: 1500m") + there, pod),
            warning("pods 3, the input has 1; requests.cpu 1500m, the input has 500m"));
  EXPECT_EQ(Warnings(Quota("pods: 5, requests.cpu: 4", "pods: 1, requests.cpu: 500m") + there, pod),
            Strings());
  EXPECT_EQ(Warnings(Quota("pods: 5", "pods: 0") + there, pod), Strings());
  // Nothing is created that it would refuse.
  EXPECT_EQ(Warnings(Quota("pods: 5", "pods: 5"), there), Strings());
  EXPECT_EQ(Warnings(Quota("count/secrets: 5", "count/secrets: 5"), pod), Strings());
  EXPECT_EQ(Warnings(Quota("count/secrets: 5", "count/secrets: 5"), Object("v1", "Secret", "name: s", "")),
            warning("count/secrets 5, the input has 0"));
  EXPECT_EQ(Warnings(Quota("count/replicasets.apps: 5", "count/replicasets.apps: 4"),
                     Workload("Deployment", "name: d", "", "")),
            warning("count/replicasets.apps 4, the input has 0"));
  // A manifest's status means nothing.
  EXPECT_EQ(
      Warnings("{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: 5}}, status: "
               "{used: {pods: 5}}}\n---\n",
               pod),
      Strings());
}

}  // namespace
}  // namespace schedsim
