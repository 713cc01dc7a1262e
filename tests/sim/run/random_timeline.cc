#include "tests/sim/run/random_timeline.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/codec/objects/objects.h"

namespace schedsim::sim {
namespace {

constexpr int64_t kHostPorts[] = {80, 443};

struct NodeDraft {
  std::string name;
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
  int64_t pod_count_max = 0;
  std::string zone;
  bool tainted = false;
  bool unschedulable = false;
  bool exists = true;
  // Taken by pods that start on the node.
  int64_t cpu_taken = 0;
  int64_t memory_taken = 0;
  int64_t pods_taken = 0;
  std::vector<int64_t> ports_taken;
};

struct PodDraft {
  std::string name;
  std::string app;
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
  int64_t port = 0;  // 0: none.
  int64_t priority = 0;
  bool gated = false;
  std::string node;   // "": pending.
  std::string rules;  // More fields of the spec, each with a comma in front.
  bool exists = true;
};

class Maker {
 public:
  explicit Maker(uint64_t seed) : rng_(Rng(seed).Fork("random timeline")) {}

  RandomTimeline Make() {
    const int64_t node_count = 1 + rng_.Below(8);
    for (int64_t i = 0; i < node_count; ++i) timeline_.objects.push_back(Decode(NodeJson(NewNode())));
    if (OneIn(2)) timeline_.objects.push_back(Decode(BudgetJson("budget-0")));
    for (int64_t i = rng_.Below(30); i > 0; --i) AddBoundPod();
    for (int64_t i = 1 + rng_.Below(20); i > 0; --i) timeline_.objects.push_back(Decode(PodJson(NewPod())));
    for (int64_t i = rng_.Below(101); i > 0; --i) {
      // Some steps come at one instant, some between two pods, some after a backoff.
      now_ += absl::Milliseconds(OneIn(3) ? 0 : OneIn(2) ? rng_.Below(20) : rng_.Below(4000));
      AddStep();
    }
    timeline_.end = now_ + absl::Seconds(OneIn(4) ? 400 : 20);
    timeline_.pod_termination = OneIn(2) ? absl::ZeroDuration() : absl::Milliseconds(rng_.Below(5000));
    return std::move(timeline_);
  }

 private:
  bool OneIn(int64_t n) { return rng_.Below(n) == 0; }

  api::ObjectPtr Decode(std::string json) {
    api::ObjectPtr decoded;
    const absl::Status status = reader_.ReadText(std::move(json), "timeline.json",
                                                 [&](api::ObjectPtr object, const codec::Location&) {
                                                   decoded = std::move(object);
                                                   return absl::OkStatus();
                                                 });
    CHECK(status.ok() && decoded != nullptr);
    return decoded;
  }

  NodeDraft& NewNode() {
    NodeDraft node = {.name = absl::StrCat("node-", nodes_.size()),
                      .cpu_milli = 1000 * (1 + rng_.Below(4)),
                      .memory_mib = 1024 * (1 + rng_.Below(4)),
                      .pod_count_max = OneIn(3) ? 2 + rng_.Below(3) : 110,
                      .zone = OneIn(6) ? "" : absl::StrCat("zone-", rng_.Below(3))};
    node.tainted = OneIn(6);
    nodes_.push_back(std::move(node));
    return nodes_.back();
  }

  std::string NodeJson(const NodeDraft& node) const {
    std::string json = absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")", node.name,
                                    R"(","labels":{"kubernetes.io/hostname":")", node.name, "\"");
    if (!node.zone.empty()) absl::StrAppend(&json, R"(,"topology.kubernetes.io/zone":")", node.zone, "\"");
    absl::StrAppend(&json, R"(}},"spec":{)");
    if (node.unschedulable) absl::StrAppend(&json, R"("unschedulable":true)", node.tainted ? "," : "");
    if (node.tainted)
      absl::StrAppend(&json, R"("taints":[{"key":"dedicated","value":"a","effect":"NoSchedule"}])");
    absl::StrAppend(&json, R"(},"status":{"allocatable":{"cpu":")", node.cpu_milli, R"(m","memory":")",
                    node.memory_mib, R"(Mi","pods":")", node.pod_count_max, R"("}}})");
    return json;
  }

  std::string Selector(absl::string_view app) const {
    return absl::StrCat(R"("labelSelector":{"matchLabels":{"app":")", app, R"("}})");
  }

  std::string BudgetJson(absl::string_view name) {
    return absl::StrCat(
        R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":")", name,
        R"(","namespace":"default"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"app-)",
        rng_.Below(3), R"("}}},"status":{"disruptionsAllowed":)", rng_.Below(2), "}}");
  }

  std::string RandomRules(absl::string_view app) {
    const absl::string_view key = OneIn(2) ? "kubernetes.io/hostname" : "topology.kubernetes.io/zone";
    const std::string term =
        absl::StrCat(R"({"topologyKey":")", key, "\",", Selector(OneIn(2) ? app : "app-0"), "}");
    switch (rng_.Below(8)) {
      case 0:
        return absl::StrCat(R"(,"topologySpreadConstraints":[{"maxSkew":)", 1 + rng_.Below(2),
                            R"(,"topologyKey":")", key, R"(","whenUnsatisfiable":")",
                            OneIn(2) ? "DoNotSchedule" : "ScheduleAnyway", "\",", Selector(app), "}]");
      case 1:
        return absl::StrCat(
            R"(,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)", term,
            "]}}");
      case 2:
        return absl::StrCat(
            R"(,"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)", term, "]}}");
      case 3:
        return absl::StrCat(
            R"(,"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":)",
            1 + rng_.Below(100), R"(,"podAffinityTerm":)", term, "}]}}");
      case 4:
        return absl::StrCat(R"(,"nodeSelector":{"topology.kubernetes.io/zone":"zone-)", rng_.Below(3), "\"}");
      case 5:
        return R"(,"tolerations":[{"key":"dedicated","operator":"Exists"}])";
      default:
        return "";
    }
  }

  PodDraft& NewPod() {
    PodDraft pod = {.name = absl::StrCat("pod-", pods_.size()),
                    .app = absl::StrCat("app-", rng_.Below(3)),
                    .cpu_milli = 100 * rng_.Below(16),
                    .memory_mib = 128 * rng_.Below(12)};
    if (OneIn(6)) pod.port = kHostPorts[rng_.Below(2)];
    if (OneIn(3)) pod.priority = 10 * rng_.Below(4);
    pod.gated = OneIn(8);
    pod.rules = RandomRules(pod.app);
    if (OneIn(10)) absl::StrAppend(&pod.rules, R"(,"preemptionPolicy":"Never")");
    pods_.push_back(std::move(pod));
    return pods_.back();
  }

  std::string PodJson(const PodDraft& pod, absl::string_view phase = "") const {
    std::string json =
        absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default","name":")",
                     pod.name, R"(","labels":{"app":")", pod.app, R"("}},"spec":{"priority":)", pod.priority);
    if (!pod.node.empty()) absl::StrAppend(&json, R"(,"nodeName":")", pod.node, "\"");
    if (pod.gated) absl::StrAppend(&json, R"(,"schedulingGates":[{"name":"example.com/gate"}])");
    absl::StrAppend(&json, pod.rules, R"(,"containers":[{"name":"main","resources":{"requests":{)");
    if (pod.cpu_milli > 0)
      absl::StrAppend(&json, R"("cpu":")", pod.cpu_milli, pod.memory_mib > 0 ? "m\"," : "m\"");
    if (pod.memory_mib > 0) absl::StrAppend(&json, R"("memory":")", pod.memory_mib, "Mi\"");
    absl::StrAppend(&json, "}}");
    if (pod.port > 0)
      absl::StrAppend(&json, R"(,"ports":[{"containerPort":)", pod.port, R"(,"hostPort":)", pod.port, "}]");
    absl::StrAppend(&json, "}]}");
    if (!phase.empty()) absl::StrAppend(&json, R"(,"status":{"phase":")", phase, "\"}");
    return absl::StrCat(json, "}");
  }

  void AddBoundPod() {
    PodDraft& pod = NewPod();
    pod.gated = false;
    NodeDraft& node = nodes_[static_cast<size_t>(rng_.Below(static_cast<int64_t>(nodes_.size())))];
    const bool port_taken =
        std::find(node.ports_taken.begin(), node.ports_taken.end(), pod.port) != node.ports_taken.end();
    const bool fits = node.cpu_taken + pod.cpu_milli <= node.cpu_milli &&
                      node.memory_taken + pod.memory_mib <= node.memory_mib &&
                      node.pods_taken < node.pod_count_max && (pod.port == 0 || !port_taken);
    if (!fits) {
      pods_.pop_back();
      return;
    }
    node.cpu_taken += pod.cpu_milli;
    node.memory_taken += pod.memory_mib;
    ++node.pods_taken;
    if (pod.port != 0) node.ports_taken.push_back(pod.port);
    pod.node = node.name;
    timeline_.objects.push_back(Decode(PodJson(pod)));
  }

  void AddCreate(const std::string& json) {
    timeline_.steps.push_back(
        Step{.at = now_, .create = Decode(json), .update = nullptr, .remove = std::nullopt});
  }
  void AddUpdate(const std::string& json) {
    timeline_.steps.push_back(
        Step{.at = now_, .create = nullptr, .update = Decode(json), .remove = std::nullopt});
  }
  void AddRemove(api::Kind kind, absl::string_view kind_name, absl::string_view name_space,
                 const std::string& name) {
    timeline_.steps.push_back(Step{.at = now_,
                                   .create = nullptr,
                                   .update = nullptr,
                                   .remove = Step::Reference{.kind = kind,
                                                             .kind_name = std::string(kind_name),
                                                             .name_space = std::string(name_space),
                                                             .name = name}});
  }

  void AddStep() {
    const int64_t kind = rng_.Below(10);
    if (kind < 3) {
      AddCreate(PodJson(NewPod()));
    } else if (kind < 7) {
      StepPod();
    } else if (kind < 9) {
      StepNode();
    } else if (OneIn(2)) {
      AddCreate(NodeJson(NewNode()));
    } else {
      AddCreate(BudgetJson(absl::StrCat("budget-", timeline_.steps.size() + 1)));
    }
  }

  // Of a pod that may have been bound, or evicted, since: the step then fails, which is on record.
  void StepPod() {
    PodDraft& pod = pods_[static_cast<size_t>(rng_.Below(static_cast<int64_t>(pods_.size())))];
    switch (rng_.Below(4)) {
      case 0:
        if (!pod.exists) {
          // A new pod of the old name, which is pending.
          pod.node = "";
          pod.exists = true;
          return AddCreate(PodJson(pod));
        }
        pod.exists = false;
        return AddRemove(api::Kind::kPod, "Pod", "default", pod.name);
      case 1:
        pod.exists = false;
        return AddUpdate(PodJson(pod, OneIn(2) ? "Succeeded" : "Failed"));
      case 2:
        pod.gated = false;
        return AddUpdate(PodJson(pod));
      default:
        pod.app = absl::StrCat("app-", rng_.Below(3));
        return AddUpdate(PodJson(pod));
    }
  }

  void StepNode() {
    NodeDraft& node = nodes_[static_cast<size_t>(rng_.Below(static_cast<int64_t>(nodes_.size())))];
    if (!node.exists) {
      node.exists = true;
      return AddCreate(NodeJson(node));
    }
    switch (rng_.Below(5)) {
      case 0:
        node.exists = false;
        return AddRemove(api::Kind::kNode, "Node", "", node.name);
      case 1:
        node.unschedulable = !node.unschedulable;
        break;
      case 2:
        node.tainted = !node.tainted;
        break;
      case 3:
        node.cpu_milli += 500;
        node.memory_mib += 512;
        break;
      default:
        node.zone = absl::StrCat("zone-", rng_.Below(3));
        break;
    }
    AddUpdate(NodeJson(node));
  }

  Rng rng_;
  codec::ObjectReader reader_;
  RandomTimeline timeline_;
  absl::Duration now_;
  std::vector<NodeDraft> nodes_;
  std::vector<PodDraft> pods_;
};

}  // namespace

RandomTimeline MakeRandomTimeline(uint64_t seed) { return Maker(seed).Make(); }

}  // namespace schedsim::sim
