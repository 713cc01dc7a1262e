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
