// Coscheduling: the pods of a PodGroup of scheduling.x-k8s.io are placed together or not at all. Each is
// scheduled for itself and waits on Permit until as many as `minMember` have a node.
// Source: scheduler-plugins (903da7d), pkg/coscheduling/coscheduling.go, core/core.go.
// Extension points: QueueSort, PreFilter, PostFilter, Reserve, Permit. Arguments: permitWaitingTimeSeconds
// (60; 0 stands for 60 on Permit), podGroupBackoffSeconds (0: none), podGroupRejectPercentage (10, of 0 to
// 100).
//
// What the plugin knows of groups is not of one cycle: which pods have a node, which groups passed the look
// at the cluster's resources, which failed. A group passes that look for as long as pods may wait; here it is
// put down at Reserve or PostFilter of the same cycle, so that a cycle that only asks leaves nothing behind.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/lookup_map.h"
#include "core/base/status_macros.h"
#include "core/framework/custom_resources.h"
#include "core/framework/informer_cache.h"
#include "core/framework/plugin.h"
#include "core/plugins/plain_args.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using api::CoschedulingPodGroup;
using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

constexpr char kName[] = "Coscheduling";
constexpr char kLabel[] = "scheduling.x-k8s.io/pod-group";
constexpr absl::Duration kDefaultWait = absl::Seconds(60);
// What the original's cache takes in the place of no time.
constexpr absl::Duration kPermittedDefault = absl::Seconds(3);

struct CoschedulingArgs {
  int64_t permit_waiting_time_seconds = 60;
  int64_t backoff_seconds = 0;
  int64_t reject_percentage = 10;
};

// "" for a pod without a group.
absl::string_view GroupNameOf(const api::Pod& pod) {
  const std::string* const name = pod.metadata.labels.Find(kLabel);
  return name == nullptr ? absl::string_view() : absl::string_view(*name);
}

// "namespace/group", or "".
std::string FullNameOf(const api::Pod& pod) {
  const absl::string_view name = GroupNameOf(pod);
  return name.empty() ? "" : absl::StrCat(pod.metadata.namespace_, "/", name);
}

// A quantity as Go keeps it: `value` times ten to the power of `scale`.
struct GoQuantity {
  __int128 nano = 0;
  int scale = 0;
  bool is_binary = false;
};

constexpr int kNanoScale = -9;

// The coarsest scale of those in which quantities are written that loses nothing.
int ScaleOf(__int128 nano) {
  int scale = kNanoScale;
  for (__int128 unit = 1000; scale < 0 && nano % unit == 0; unit *= 1000) scale += 3;
  return scale;
}

// As Go prints the struct with %v.
std::string GoText(const GoQuantity& quantity) {
  __int128 unit = 1;
  for (int scale = kNanoScale; scale < quantity.scale; ++scale) unit *= 10;
  return absl::StrCat("{{", static_cast<int64_t>(quantity.nano / unit), " ", quantity.scale, "} {<nil>}  ",
                      quantity.is_binary ? "BinarySI" : "DecimalSI", "}");
}

// What is still wanted of the cluster's resources, by name.
class Wanted {
 public:
  explicit Wanted(const CoschedulingPodGroup& group) {
    for (const auto& [name, quantity] : *group.min_resources) {
      const __int128 nano = quantity.amount.NanoValue();
      wanted_[name] = {
          .nano = nano, .scale = ScaleOf(nano), .is_binary = quantity.format == api::QuantityFormat::kBinary};
    }
    wanted_["pods"] = {.nano = api::Quantity::FromValue(group.min_member).NanoValue()};
  }

  // Takes off what a node has left; less than nothing adds to what is wanted.
  void Subtract(const std::map<std::string, api::Quantity>& left) {
    for (auto entry = wanted_.begin(); entry != wanted_.end();) {
      GoQuantity& quantity = entry->second;
      const auto found = left.find(entry->first);
      const __int128 nano = found == left.end() ? 0 : found->second.NanoValue();
      if (nano != 0) {
        // Sums are kept in the finer of the two scales; that of a node's cpu is always thousandths.
        quantity.scale = std::min(quantity.scale, entry->first == "cpu" ? -3 : 0);
        quantity.nano -= nano;
      }
      entry = quantity.nano <= 0 ? wanted_.erase(entry) : std::next(entry);
    }
  }

  bool empty() const { return wanted_.empty(); }

  // "map[cpu:{{500 -3} {<nil>}  DecimalSI}]".
  std::string ToString() const {
    std::string text = "map[";
    for (const auto& [name, quantity] : wanted_) {
      absl::StrAppend(&text, text.back() == '[' ? "" : " ", name, ":", GoText(quantity));
    }
    return text + "]";
  }

 private:
  std::map<std::string, GoQuantity> wanted_;
};

// The group's resources were looked at in this cycle, and the cluster has them.
struct Permitted : framework::StateData {
  std::unique_ptr<StateData> Clone() const override { return std::make_unique<Permitted>(*this); }
};

class Coscheduling final : public framework::Plugin,
                           public framework::QueueSortPlugin,
                           public framework::PreFilterPlugin,
                           public framework::PostFilterPlugin,
                           public framework::ReservePlugin,
                           public framework::PermitPlugin,
                           public framework::SignPlugin,
                           public framework::EnqueueExtensions,
                           public framework::InformerHandler {
 public:
  Coscheduling(CoschedulingArgs args, framework::Handle& handle)
      : args_(args), handle_(handle), id_(handle.plugin_names().IdOf(kName)) {
    handle.AddInformerHandler(*this);
  }

  absl::string_view Name() const override { return kName; }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    return {{.event = {.resource = framework::EventResource::kPod, .action = framework::kAdd}},
            {.event = {.resource = framework::EventResourceOf(api::CustomKind::kCoschedulingPodGroup),
                       .action = framework::kAdd | framework::kUpdate}}};
  }

  // The original signs nothing.
  bool SignsPods() const override { return false; }
  bool SignPod(const PodInfo&, framework::PodSigner&) const override { return false; }

  // A group that failed goes behind. So the place of a pod may change while it stands in the queue, which, as
  // the original's, only looks again when it moves the pod for another reason.
  bool Less(const framework::QueuedPodInfo& a, const framework::QueuedPodInfo& b) const override {
    const int32_t priority_a = a.pod_info->Priority();
    const int32_t priority_b = b.pod_info->Priority();
    if (priority_a != priority_b) return priority_a > priority_b;
    const absl::Time time_a = SortTimeOf(a);
    const absl::Time time_b = SortTimeOf(b);
    return time_a != time_b ? time_a < time_b : a.key < b.key;
  }
  framework::QueueSortKey KeyOf(const framework::QueuedPodInfo& pod) const override {
    return {.rank = -int64_t{pod.pod_info->Priority()}};
  }

  framework::PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                                       framework::NodeInfos nodes) override {
    const auto group = FindGroup(*pod.pod);
    if (group == nullptr) return {};
    const std::string full_name = FullNameOf(*pod.pod);
    const std::string& name = pod.pod->metadata.name;
    if (IsIn(backed_off_, full_name)) return Refuse("podGroup ", full_name, " failed recently");
    const Members* const members = members_.Find(full_name);
    const auto count = static_cast<int64_t>(members == nullptr ? 0 : members->names.size());
    if (count < group->min_member) {
      return Refuse("pre-filter pod ", name, " cannot find enough sibling pods, current pods number: ", count,
                    ", minMember of group: ", group->min_member);
    }
    if (members != nullptr && group->min_member - count + members->gated_count > 0) {
      return Refuse("pre-filter pod ", name, " cannot proceed due to gated pods in the same PodGroup");
    }
    if (!group->min_resources.has_value() || IsIn(permitted_, full_name)) return {};
    Wanted wanted(*group);
    for (const NodeInfo* node : nodes) {
      wanted.Subtract(LeftOf(*node, full_name));
      if (wanted.empty()) break;
    }
    if (!wanted.empty()) return Refuse("resource gap: ", wanted.ToString());
    state.Write(id_, CycleState::kFilterSlot, std::make_unique<Permitted>());
    return {};
  }

  framework::PostFilterResult PostFilter(CycleState& state, const PodInfo& pod,
                                         const framework::NodeToStatus&) override {
    Keep(state, *pod.pod);
    const auto group = FindGroup(*pod.pod);
    if (group == nullptr) return {.status = Status(Code::kUnschedulable, "can not find pod group")};
    const std::string full_name = FullNameOf(*pod.pod);
    const int64_t missing = group->min_member - AssignedCount(full_name);
    // In floating point, as there.
    const double share = static_cast<double>(missing) / static_cast<double>(group->min_member);
    if (missing <= 0 || share <= static_cast<double>(args_.reject_percentage) / 100.0) {
      return {.status = Status(Code::kUnschedulable, std::vector<std::string>())};
    }
    RejectWaiting(full_name, "optimistic rejection in PostFilter");
    const Members* const members = members_.Find(full_name);
    const bool is_whole = members != nullptr && std::ssize(members->names) >= group->min_member;
    if (args_.backoff_seconds > 0 && is_whole && !IsIn(backed_off_, full_name)) {
      backed_off_[full_name] = handle_.clock().Now() + absl::Seconds(args_.backoff_seconds);
    }
    MarkFailed(full_name);
    return {.status =
                Status(Code::kUnschedulable,
                       absl::StrCat("PodGroup ", full_name, " gets rejected due to Pod ",
                                    pod.pod->metadata.name, " is unschedulable even after PostFilter"))};
  }

  Status Reserve(CycleState& state, const PodInfo& pod, const NodeInfo&) override {
    Keep(state, *pod.pod);
    return Status();
  }

  // One pod of the group lost its node, so the others that wait for it lose theirs.
  void Unreserve(CycleState&, const PodInfo& pod, absl::string_view) override {
    if (FindGroup(*pod.pod) == nullptr) return;
    const std::string full_name = FullNameOf(*pod.pod);
    Unassign(full_name, pod.pod->metadata.name);
    RejectWaiting(full_name, "rejection in Unreserve");
    MarkFailed(full_name);
  }

  framework::PermitResult Permit(CycleState& state, const PodInfo& pod, absl::string_view) override {
    const std::string full_name = FullNameOf(*pod.pod);
    if (full_name.empty()) return {};
    const auto group = FindGroup(*pod.pod);
    if (group == nullptr)
      return {.status = Status(Code::kUnschedulable, "PodGroup not found"), .timeout = {}};
    absl::btree_set<std::string>& assigned = assigned_[full_name];
    assigned.insert(pod.pod->metadata.name);
    if (std::ssize(assigned) >= group->min_member) {
      last_failed_.Erase(full_name);
      handle_.IterateOverWaitingPods([&](framework::WaitingPod& waiting) {
        if (FullNameOf(*waiting.pod().pod) == full_name) waiting.Allow(kName);
      });
      return {};
    }
    if (assigned.size() == 1) state.pods_to_activate = SiblingsOf(*pod.pod, full_name);
    return {.status = Status(Code::kWait, std::vector<std::string>()), .timeout = WaitOf(*group)};
  }

  void OnChange(const api::Object* old_object, const api::Object* new_object) override {
    const api::Object& object = new_object == nullptr ? *old_object : *new_object;
    if (object.kind != api::Kind::kPod) return;
    const auto* const old_pod = static_cast<const api::Pod*>(old_object);
    const auto* const new_pod = static_cast<const api::Pod*>(new_object);
    if (old_pod != nullptr) Leave(*old_pod);
    if (new_pod != nullptr) Join(*new_pod);
    // A pod that another scheduler binds later is not counted, there as here.
    if (old_pod == nullptr && !new_pod->node_name.empty()) {
      const std::string full_name = FullNameOf(*new_pod);
      if (!full_name.empty()) assigned_[full_name].insert(new_pod->metadata.name);
    }
    if (new_pod == nullptr && !old_pod->node_name.empty()) {
      Unassign(FullNameOf(*old_pod), old_pod->metadata.name);
    }
  }

 private:
  // The pods of a group that the informers know.
  struct Members {
    absl::btree_set<std::string> names;
    int64_t gated_count = 0;
  };
  using Expiries = LookupMap<std::string, absl::Time>;  // By "namespace/group".

  template <typename... Parts>
  static framework::PreFilterResult Refuse(const Parts&... parts) {
    return {.status = Status(Code::kUnschedulableAndUnresolvable, absl::StrCat(parts...)),
            .node_names = std::nullopt};
  }

  std::shared_ptr<const CoschedulingPodGroup> FindGroup(const api::Pod& pod) const {
    const absl::string_view name = GroupNameOf(pod);
    if (name.empty()) return nullptr;
    return framework::FindCustom<CoschedulingPodGroup>(handle_.informers(), pod.metadata.namespace_, name);
  }

  absl::Time SortTimeOf(const framework::QueuedPodInfo& pod) const {
    const absl::Time own = pod.initial_attempt_timestamp.value_or(absl::InfinitePast());
    const std::string full_name = FullNameOf(*pod.pod_info->pod);
    if (full_name.empty()) return own;
    if (const absl::Time* const failed = last_failed_.Find(full_name)) return *failed;
    const auto group = FindGroup(*pod.pod_info->pod);
    if (group == nullptr || !group->metadata.creation_timestamp.has_value()) return own;
    // The API server gives out whole seconds.
    return absl::FromUnixSeconds(absl::ToUnixSeconds(*group->metadata.creation_timestamp));
  }

  bool IsIn(const Expiries& expiries, const std::string& full_name) const {
    const absl::Time* const expiry = expiries.Find(full_name);
    return expiry != nullptr && handle_.clock().Now() < *expiry;
  }

  // What the node has left where the group's own pods do not count.
  std::map<std::string, api::Quantity> LeftOf(const NodeInfo& node, const std::string& full_name) const {
    framework::Resource left = node.allocatable;
    left.AddScaled(node.requested, -1);
    int64_t pods = node.allocatable.allowed_pod_number - std::ssize(node.pods);
    for (const framework::PodInfoPtr& pod : node.pods) {
      if (FullNameOf(*pod->pod) != full_name) continue;
      left.AddScaled(pod->requests, 1);
      ++pods;
    }
    std::map<std::string, api::Quantity> amounts = {
        {"cpu", api::Quantity::FromMilli(left.milli_cpu)},
        {"memory", api::Quantity::FromValue(left.memory_bytes)},
        {"ephemeral-storage", api::Quantity::FromValue(left.ephemeral_storage_bytes)},
        {"pods", api::Quantity::FromValue(pods)}};
    for (const framework::ScalarResource& scalar : left.scalars) {
      // What is only requested is not among what is left.
      if (!node.allocatable.HasScalar(scalar.name)) continue;
      amounts[std::string(handle_.symbols().Text(scalar.name))] = api::Quantity::FromValue(scalar.value);
    }
    return amounts;
  }

  // Puts down that the group's resources were there in this cycle.
  void Keep(const CycleState& state, const api::Pod& pod) {
    if (state.Read<Permitted>(id_, CycleState::kFilterSlot) == nullptr) return;
    const absl::Duration time = absl::Seconds(args_.permit_waiting_time_seconds);
    permitted_[FullNameOf(pod)] =
        handle_.clock().Now() + (time == absl::ZeroDuration() ? kPermittedDefault : time);
  }

  int64_t AssignedCount(const std::string& full_name) const {
    const absl::btree_set<std::string>* const assigned = assigned_.Find(full_name);
    return assigned == nullptr ? 0 : std::ssize(*assigned);
  }

  void Unassign(const std::string& full_name, const std::string& pod) {
    absl::btree_set<std::string>* const assigned = assigned_.Find(full_name);
    if (assigned == nullptr) return;
    assigned->erase(pod);
    if (assigned->empty()) assigned_.Erase(full_name);
  }

  void RejectWaiting(const std::string& full_name, absl::string_view message) const {
    handle_.IterateOverWaitingPods([&](framework::WaitingPod& waiting) {
      if (FullNameOf(*waiting.pod().pod) == full_name) waiting.Reject(kName, message);
    });
  }

  void MarkFailed(const std::string& full_name) {
    permitted_.Erase(full_name);
    last_failed_[full_name] = handle_.clock().Now();
  }

  absl::Duration WaitOf(const CoschedulingPodGroup& group) const {
    const absl::Duration wait = absl::Seconds(args_.permit_waiting_time_seconds);
    const absl::Duration own = absl::Seconds(group.schedule_timeout_seconds.value_or(0));
    if (own != absl::ZeroDuration()) return own;
    // A group that says 0 seconds gets the plugin's time as it is.
    const bool has_own = group.schedule_timeout_seconds.has_value();
    return wait == absl::ZeroDuration() && !has_own ? kDefaultWait : wait;
  }

  std::vector<api::PodPtr> SiblingsOf(const api::Pod& pod, const std::string& full_name) const {
    std::vector<api::PodPtr> siblings;
    const Members* const members = members_.Find(full_name);
    if (members == nullptr) return siblings;
    for (const std::string& name : members->names) {
      api::PodPtr sibling = handle_.informers().FindPod(pod.metadata.namespace_, name);
      if (sibling == nullptr || sibling->metadata.uid == pod.metadata.uid) continue;
      siblings.push_back(std::move(sibling));
    }
    return siblings;
  }

  void Join(const api::Pod& pod) {
    const std::string full_name = FullNameOf(pod);
    if (full_name.empty()) return;
    Members& members = members_[full_name];
    members.names.insert(pod.metadata.name);
    if (!pod.spec->scheduling_gates.empty()) ++members.gated_count;
  }

  void Leave(const api::Pod& pod) {
    const std::string full_name = FullNameOf(pod);
    Members* const members = full_name.empty() ? nullptr : members_.Find(full_name);
    if (members == nullptr || members->names.erase(pod.metadata.name) == 0) return;
    if (!pod.spec->scheduling_gates.empty()) --members->gated_count;
    if (members->names.empty()) members_.Erase(full_name);
  }

  const CoschedulingArgs args_;
  framework::Handle& handle_;
  const framework::PluginId id_;
  LookupMap<std::string, Members> members_;                        // By "namespace/group", as what follows.
  LookupMap<std::string, absl::btree_set<std::string>> assigned_;  // Names of pods that have a node.
  Expiries permitted_;
  Expiries backed_off_;
  LookupMap<std::string, absl::Time> last_failed_;
};

}  // namespace

PluginOr NewCoscheduling(const api::PluginArgs& args, framework::Handle& handle) {
  CoschedulingArgs own;
  PlainArgs reader(args);
  reader.Read("permitWaitingTimeSeconds", own.permit_waiting_time_seconds);
  reader.Read("podGroupBackoffSeconds", own.backoff_seconds);
  reader.Read("podGroupRejectPercentage", own.reject_percentage);
  if (own.permit_waiting_time_seconds < 0) reader.Error("permitWaitingTimeSeconds", "a number from 0 on");
  if (own.backoff_seconds < 0) reader.Error("podGroupBackoffSeconds", "a number from 0 on");
  if (own.reject_percentage < 0 || own.reject_percentage > 100) {
    reader.Error("podGroupRejectPercentage", "a number from 0 to 100");
  }
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<Coscheduling>(own, handle);
}

}  // namespace schedsim::plugins
