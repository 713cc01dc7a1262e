// A run that goes on, and one that starts from a snapshot of it: what a snapshot keeps decides alike.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

// Runs from virtual zero on are saved at this time, and go on from there.
constexpr double kSavedAt = 60;
constexpr char kStart[] = "2000-01-01T00:01:00Z";

struct Case {
  const char* name;
  std::string objects;
  // What happens before the snapshot, with times; and behind it, with `AT+5` for five seconds after it.
  std::string before;
  std::string after;
  std::string format = "db";
};

std::string Node(const std::string& name, const std::string& zone, const std::string& more = "") {
  return absl::StrCat("- {apiVersion: v1, kind: Node, metadata: {name: ", name, ", labels: {zone: ", zone,
                      ", kubernetes.io/hostname: ", name, "}}, ", more,
                      "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}}\n");
}

std::string Pod(const std::string& name, const std::string& cpu, const std::string& spec = "") {
  return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name,
                      ", labels: {app: ", name.substr(0, name.find('-')), "}}, spec: {", spec,
                      "containers: [{name: c, image: i, resources: {requests: {cpu: ", cpu, "}}}]}}");
}

std::string Create(const std::string& time, const std::string& object) {
  return absl::StrCat("- at: ", time, "\n  create: ", object, "\n");
}

std::string ThreeNodes() { return Node("n1", "a") + Node("n2", "b") + Node("n3", "c"); }

void AddSimpleCases(std::vector<Case>& cases) {
  cases.push_back({.name = "PodsThatRunCount",
                   .objects = ThreeNodes() + "- " + Pod("a-1", "2") + "\n- " + Pod("a-2", "1") + "\n",
                   .before = Create("10s", Pod("a-3", "3")),
                   .after = Create("AT+5", Pod("b-1", "2")) + Create("AT+6", Pod("b-2", "2")) +
                            Create("AT+7", Pod("b-3", "2"))});
  // Objects of the snapshot have the uids that a run gives out.
  std::string many;
  for (int i = 0; i < 9; ++i)
    absl::StrAppend(&many, Create(absl::StrCat("AT+", 5 + i), Pod(absl::StrCat("m-", i), "100m")));
  cases.push_back({.name = "NewPodsHaveUidsOfTheirOwn",
                   .objects = ThreeNodes() + "- " + Pod("a-1", "1") + "\n- " + Pod("a-2", "1") + "\n",
                   .before = Create("10s", Pod("a-3", "1")),
                   .after = many});
  cases.push_back({.name = "PodsThatWaitAreWoken",
                   .objects = ThreeNodes() + "- " + Pod("a-1", "5") + "\n- " + Pod("a-2", "6") + "\n",
                   .before = Create("10s", Pod("a-3", "7")),
                   .after = Create("AT+30",
                                   "{apiVersion: v1, kind: Node, metadata: {name: n4}, status: {allocatable: "
                                   "{cpu: 12, memory: 8Gi, pods: 10}}}"),
                   .format = "yaml"});
  cases.push_back(
      {.name = "PrioritiesEvict",
       .objects =
           Node("n1", "a") + Node("n2", "b") +
           "- {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}\n"
           "- {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: "
           "2, "
           "selector: {matchLabels: {app: a}}}}\n- " +
           Pod("a-1", "4") + "\n- " + Pod("b-1", "3") + "\n",
       .before = Create("10s", Pod("a-2", "1")),
       .after = Create("AT+5", Pod("c-1", "2", "priorityClassName: high, ")) +
                Create("AT+9", Pod("c-2", "4", "priorityClassName: high, ")),
       .format = "json"});
}

void AddCasesOfPlugins(std::vector<Case>& cases) {
  const std::string spread =
      "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, "
      "labelSelector: "
      "{matchLabels: {app: s}}}], ";
  cases.push_back(
      {.name = "SpreadingGoesOn",
       .objects = ThreeNodes() + "- " + Pod("s-1", "1", spread) + "\n- " + Pod("s-2", "1", spread) + "\n",
       .before = Create("10s", Pod("s-3", "1", spread)) + "- at: 20s\n  cordon: n2\n",
       .after = Create("AT+5", Pod("s-4", "1", spread)) + Create("AT+6", Pod("s-5", "1", spread)) +
                Create("AT+7", Pod("s-6", "1", spread)) + "- at: AT+20\n  uncordon: n2\n"});
  cases.push_back(
      {.name = "TaintsAndAffinity",
       .objects = ThreeNodes() + "- " + Pod("a-1", "1", "nodeSelector: {zone: b}, ") + "\n",
       .before = "- at: 5s\n  taint: {nodes: n1, taints: [{key: k, value: v, effect: NoSchedule}]}\n",
       .after =
           Create(
               "AT+5",
               Pod("b-1", "1",
                   "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
                   "zone, labelSelector: {matchLabels: {app: a}}}]}}, ")) +
           Create("AT+6",
                  Pod("b-2", "1", "tolerations: [{key: k, operator: Exists}], nodeSelector: {zone: a}, ")) +
           Create("AT+7", Pod("b-3", "1",
                              "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                              "[{topologyKey: zone, labelSelector: {matchLabels: {app: a}}}]}}, ")),
       .format = "yaml"});
  cases.push_back(
      {.name = "ClaimsStayBound",
       .objects = ThreeNodes() +
                  "- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, "
                  "provisioner: x.example, "
                  "volumeBindingMode: WaitForFirstConsumer}\n"
                  "- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: one}, spec: "
                  "{storageClassName: fast, "
                  "accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}\n"
                  "- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: two}, spec: "
                  "{storageClassName: fast, "
                  "accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}\n- " +
                  Pod("a-1", "1", "volumes: [{name: v, persistentVolumeClaim: {claimName: one}}], ") + "\n",
       .before = Create("20s", Pod("a-2", "1")),
       .after = "- at: AT+1\n  delete: {name: a-1}\n" +
                Create("AT+5",
                       Pod("b-1", "1", "volumes: [{name: v, persistentVolumeClaim: {claimName: one}}], ")) +
                Create("AT+6",
                       Pod("b-2", "1", "volumes: [{name: v, persistentVolumeClaim: {claimName: two}}], "))});
  cases.push_back(
      {.name = "WorkloadsGoOn",
       .objects = ThreeNodes() + kDeployment,
       .before = "- at: 5s\n  scale: {name: api, replicas: 6}\n",
       .after = "- at: AT+5\n  scale: {name: api, replicas: 9}\n- at: AT+20\n  drain: n1\n- at: AT+40\n  "
                "uncordon: n1\n- at: AT+50\n  scale: {name: api, replicas: 12}\n"});
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  AddSimpleCases(cases);
  AddCasesOfPlugins(cases);
  return cases;
}

// Entries with times since `zero` for those behind the snapshot.
std::string Later(const std::string& entries, double zero) {
  std::string text = entries;
  for (int seconds = 60; seconds > 0; --seconds) {
    text = absl::StrReplaceAll(text,
                               {{absl::StrCat("AT+", seconds, "\n"), absl::StrCat(zero + seconds, "s\n")}});
  }
  return text;
}

// Bindings behind the snapshot: pod, node and time since then. Names that a controller makes up differ, so
// these count without their ends.
Strings BindingsSince(const Played& played, double zero, bool names_count) {
  Strings found;
  for (const Json& record : played.Records("bind")) {
    const double time = record["t"].get<double>() - zero;
    if (time < 0) continue;
    std::string pod = record["pod"];
    if (!names_count) pod = pod.substr(0, pod.rfind('-'));
    found.push_back(
        absl::StrCat(pod, " on ", record["node"].get<std::string>(), " at ", std::lround(time * 1000)));
  }
  return found;
}

class SnapshotResumeTest : public testing::TestWithParam<Case> {};

TEST_P(SnapshotResumeTest, DecidesAsTheRunThatGoesOn) {
  const Case& row = GetParam();
  const TestFolder folder;
  const std::string head = "apiVersion: schedsim/v1\nkind: Scenario\n";
  const std::string path = folder.Path(absl::StrCat("saved.", row.format));
  const Played whole =
      Play(absl::StrCat(head, "objects:\n", row.objects, "timeline:\n", row.before,
                        "- at: 60s\n  snapshot: ", path, "\n", Later(row.after, kSavedAt), "end: 180s\n"));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const Played rest = Play(absl::StrCat(head, "inputs: [", path, "]\nstart: ", kStart, "\ntimeline:\n",
                                        Later(row.after, 0), "end: 120s\n"));
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  const bool names_count = std::string(row.name) != "WorkloadsGoOn";
  const Strings wanted = BindingsSince(whole, kSavedAt, names_count);
  EXPECT_FALSE(wanted.empty());
  EXPECT_EQ(BindingsSince(rest, 0, names_count), wanted);
  for (const char* count : {"bound", "pending"}) EXPECT_EQ(rest.report[count], whole.report[count]) << count;
}

INSTANTIATE_TEST_SUITE_P(All, SnapshotResumeTest, testing::ValuesIn(Cases()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace schedsim
