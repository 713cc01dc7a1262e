// What an event costs for the pods that wait: hints are asked for groups of pods that are alike.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/extension_point.h"
#include "core/framework/plugin.h"
#include "gtest/gtest.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

using framework::HintScope;
using framework::QueueingHint;

// Rejects all nodes, and notes the pods for which its hint is asked.
class Wall : public framework::Plugin, public framework::FilterPlugin, public framework::EnqueueExtensions {
 public:
  using Answer = std::function<QueueingHint(const framework::PodInfo& pod, const api::Object* new_object)>;

  Wall(framework::ClusterEvent event, HintScope scope, Answer answer, std::vector<std::string>& asked)
      : event_(event), scope_(scope), answer_(std::move(answer)), asked_(asked) {}
  absl::string_view Name() const override { return "Wall"; }
  framework::Status Filter(const framework::CycleState&, const framework::PodInfo&,
                           const framework::NodeInfo&) override {
    return framework::Status(framework::Code::kUnschedulable, "node(s) were walled off");
  }
  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    return {{.event = event_,
             .hint =
                 [this](const framework::PodInfo& pod, const api::Object*, const api::Object* new_object) {
                   asked_.push_back(pod.pod->metadata.name);
                   return answer_(pod, new_object);
                 },
             .scope = scope_}};
  }

 private:
  const framework::ClusterEvent event_;
  const HintScope scope_;
  const Answer answer_;
  std::vector<std::string>& asked_;
};

constexpr framework::ClusterEvent kNodeAdd = {.resource = framework::EventResource::kNode,
                                              .action = framework::kAdd};

QueueingHint Never(const framework::PodInfo&, const api::Object*) { return QueueingHint::kSkip; }

std::string Node(absl::string_view name) {
  return absl::StrCat("apiVersion: v1\nkind: Node\nmetadata: {name: ", name,
                      "}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}\n");
}

std::string Pod(absl::string_view name, absl::string_view labels = "{}", absl::string_view priority = "0",
                absl::string_view status = "{}") {
  return absl::StrCat("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name, ", labels: ", labels,
                      ", namespace: default, uid: ", name,
                      "}\nspec:\n  containers: [{name: c, image: i}]\n  priority: ", priority,
                      "\nstatus: ", status, "\n");
}

class Requeue : public testing::Test {
 protected:
  // Three pods that are alike, and three that differ in labels, spec, and what they hold by their status.
  Requeue()
      : cluster_(Node("node") + Pod("a1") + Pod("a2") + Pod("a3") + Pod("labels", "{app: x}") +
                 Pod("spec", "{}", "5") +
                 Pod("status", "{}", "0",
                     "{containerStatuses: [{name: c, allocatedResources: {cpu: 1}, resources: {requests: "
                     "{cpu: 1}}}]}")) {}

  void AddWall(framework::ClusterEvent event, HintScope scope, Wall::Answer answer) {
    AddPlugin(cluster_.options, "Wall", api::ExtensionPoint::kFilter,
              [this, event, scope, answer](framework::Handle&) {
                return std::make_unique<Wall>(event, scope, answer, asked_);
              });
  }
  std::string Run() {
    asked_.clear();
    return cluster_.Run(60)->trace().DecisionDigest();
  }

  SmallCluster cluster_;
  std::vector<std::string> asked_;
};

TEST_F(Requeue, AsksOncePerGroupOfPodsThatAreAlike) {
  AddWall(kNodeAdd, HintScope::kSpecAndLabels, Never);
  cluster_.Create(30, Node("more"));
  Run();
  std::sort(asked_.begin(), asked_.end());
  EXPECT_EQ(asked_, (std::vector<std::string>{"a1", "labels", "spec", "status"}));
}

TEST_F(Requeue, AsksForEachPodWhereTheHintSaysSo) {
  AddWall(kNodeAdd, HintScope::kPod, Never);
  cluster_.Create(30, Node("more"));
  Run();
  EXPECT_EQ(asked_.size(), 6u);
}

TEST_F(Requeue, AsksForEachPodWithReference) {
  AddWall(kNodeAdd, HintScope::kSpecAndLabels, Never);
  cluster_.options.reference = true;
  cluster_.Create(30, Node("more"));
  Run();
  EXPECT_EQ(asked_.size(), 6u);
}

TEST_F(Requeue, AsksNoOneForAnEventThatNoneOfThemWaitsFor) {
  AddWall(kNodeAdd, HintScope::kPod, Never);
  cluster_.Update(30, Node("node") + "spec: {taints: [{key: k, effect: NoSchedule}]}\n");
  Run();
  EXPECT_TRUE(asked_.empty());
}

TEST_F(Requeue, MovesTheGroupInItsOrder) {
  AddWall(kNodeAdd, HintScope::kSpecAndLabels, [](const framework::PodInfo& pod, const api::Object*) {
    return pod.labels.entries().empty() ? QueueingHint::kQueue : QueueingHint::kSkip;
  });
  cluster_.Create(30, Node("more"));
  const std::string digest = Run();
  const std::vector<std::string> records = cluster_.records;
  cluster_.options.reference = true;
  EXPECT_EQ(Run(), digest);
  EXPECT_EQ(cluster_.records, records);
}

// The answer for the pod that the event is about does not stand for the others, nor theirs for it.
TEST_F(Requeue, AsksForThePodItselfApart) {
  const framework::ClusterEvent pod_delete = {.resource = framework::EventResource::kAssignedPod,
                                              .action = framework::kDelete};
  AddWall(pod_delete, HintScope::kSpecAndLabels, Never);
  // The end of a nomination counts as a pod that leaves its node, also for the pod itself.
  cluster_.Create(10, Pod("b1", "{}", "0", "{nominatedNodeName: node}"));
  cluster_.Update(30, Pod("b1"));
  Run();
  std::sort(asked_.begin(), asked_.end());
  EXPECT_EQ(asked_, (std::vector<std::string>{"a1", "b1", "labels", "spec", "status"}));
}

}  // namespace
}  // namespace schedsim::sim
