#include "sim/report/report.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/api/custom_resources.h"
#include "core/api/go_text.h"
#include "core/api/object_key.h"
#include "core/base/digest.h"
#include "core/base/lookup_map.h"
#include "core/base/percentile.h"
#include "core/base/printable.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/table.h"
#include "sim/report/autoscaler_report.h"
#include "sim/report/binding_hold.h"
#include "sim/report/drain_report.h"
#include "sim/report/duration_text.h"
#include "sim/report/follow_report.h"
#include "sim/report/group_waits.h"
#include "sim/report/wakeups_report.h"
#include "sim/report/window_report.h"

namespace schedsim::sim {
namespace {

using framework::NodeInfo;

constexpr size_t kMostUsedNodes = 5;
constexpr size_t kPodsPerMessage = 3;

// How much of a text the report for people shows: names as long as Kubernetes allows them, and messages of
// many reasons, but nothing without an end.
constexpr size_t kNameBytesMax = 253;
constexpr size_t kTextBytesMax = 10'000;

std::string DecimalText(absl::int128 number) {
  std::string digits;
  // The magnitude of the smallest number is not one of its own type.
  auto rest = static_cast<absl::uint128>(number);
  if (number < 0) rest = -rest;
  do {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (number < 0) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

// `number` in units of which `per_whole` (a power of ten) make a whole, with `places` digits behind the
// point.
std::string FractionText(absl::int128 number, int per_whole, int places) {
  const absl::int128 magnitude = number < 0 ? -number : number;
  return absl::StrFormat("%s%s.%0*d", number < 0 ? "-" : "", DecimalText(magnitude / per_whole), places,
                         static_cast<int>(magnitude % per_whole));
}

// Hundredths of a percent, without floating point.
template <typename Resource>
absl::int128 BasisPoints(const Resource& resource) {
  return resource.allocatable == 0 ? 0 : resource.requested * 10'000 / resource.allocatable;
}

std::string PercentText(const Report::Resource& resource) {
  return resource.allocatable == 0 ? "-" : FractionText(BasisPoints(resource), 100, 2);
}

// What all pods of a node ask for, by resource. The node's own sums wrap around where they are too large.
// Filled anew for each node.
class NodeAmounts {
 public:
  struct Amount {
    absl::string_view name;
    absl::int128 requested = 0;
    absl::int128 allocatable = 0;
  };

  explicit NodeAmounts(const SymbolTable& symbols) : symbols_(symbols) {}

  // In no order that means anything; none that are nothing but zeros.
  const std::vector<Amount>& Fill(const NodeInfo& node) {
    const framework::Resource& allocatable = node.allocatable;
    Amount cpu = {.name = "cpu", .allocatable = allocatable.milli_cpu};
    Amount memory = {.name = "memory", .allocatable = allocatable.memory_bytes};
    Amount storage = {.name = "ephemeral-storage", .allocatable = allocatable.ephemeral_storage_bytes};
    const Amount pods = {.name = "pods",
                         .requested = static_cast<int64_t>(node.pods.size()),
                         .allocatable = allocatable.allowed_pod_number};
    amounts_.clear();
    places_.Clear();
    for (const framework::ScalarResource& scalar : allocatable.scalars)
      Scalar(scalar.name).allocatable += scalar.value;
    for (const framework::PodInfoPtr& pod : node.pods) {
      const framework::Resource& requests = pod->requests;
      cpu.requested += requests.milli_cpu;
      memory.requested += requests.memory_bytes;
      storage.requested += requests.ephemeral_storage_bytes;
      for (const framework::ScalarResource& scalar : requests.scalars)
        Scalar(scalar.name).requested += scalar.value;
    }
    amounts_.insert(amounts_.end(), {cpu, memory, storage, pods});
    std::erase_if(amounts_,
                  [](const Amount& amount) { return amount.requested == 0 && amount.allocatable == 0; });
    return amounts_;
  }

 private:
  Amount& Scalar(Symbol name) {
    if (const size_t* const place = places_.Find(name)) return amounts_[*place];
    places_[name] = amounts_.size();
    return amounts_.emplace_back(Amount{.name = symbols_.Text(name)});
  }

  const SymbolTable& symbols_;
  std::vector<Amount> amounts_;
  LookupMap<Symbol, size_t> places_;  // Of scalar resources in `amounts_`.
};

// The largest share of any resource but pods, in hundredths of a percent.
absl::int128 DominantShare(const std::vector<NodeAmounts::Amount>& amounts) {
  absl::int128 share = 0;
  for (const NodeAmounts::Amount& amount : amounts) {
    if (amount.name != "pods") share = std::max(share, BasisPoints(amount));
  }
  return share;
}

void Add(const NodeAmounts::Amount& amount, std::map<absl::string_view, Report::Resource>& resources) {
  Report::Resource& resource = resources[amount.name];
  if (resource.name.empty()) resource.name = std::string(amount.name);
  resource.requested += amount.requested;
  resource.allocatable += amount.allocatable;
}

// By name.
std::vector<Report::Resource> ListOf(const std::map<absl::string_view, Report::Resource>& resources) {
  std::vector<Report::Resource> list;
  for (const auto& [name, resource] : resources) list.push_back(resource);
  return list;
}

void AddNodes(Simulation& simulation, Report& report) {
  struct UsedNode {
    absl::int128 share = 0;
    const NodeInfo* info = nullptr;
  };
  std::vector<UsedNode> nodes;
  std::map<absl::string_view, Report::Resource> totals;
  NodeAmounts amounts(simulation.scheduler().symbols());
  for (const NodeInfo* info : simulation.scheduler().UpdateSnapshot().List()) {
    const std::vector<NodeAmounts::Amount>& of_node = amounts.Fill(*info);
    for (const NodeAmounts::Amount& amount : of_node) Add(amount, totals);
    nodes.push_back({.share = DominantShare(of_node), .info = info});
  }
  report.node_count = static_cast<int64_t>(nodes.size());
  report.totals = ListOf(totals);
  const size_t kept = std::min(kMostUsedNodes, nodes.size());
  std::partial_sort(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(kept), nodes.end(),
                    [](const UsedNode& a, const UsedNode& b) {
                      if (a.share != b.share) return a.share > b.share;
                      return a.info->node->metadata.name < b.info->node->metadata.name;
                    });
  nodes.resize(kept);
  for (const UsedNode& node : nodes) {
    std::map<absl::string_view, Report::Resource> resources;
    for (const NodeAmounts::Amount& amount : amounts.Fill(*node.info)) Add(amount, resources);
    report.most_used_nodes.push_back({.name = node.info->node->metadata.name,
                                      .pod_count = static_cast<int64_t>(node.info->pods.size()),
                                      .resources = ListOf(resources)});
  }
}

// Counts things by a message, and keeps the first few names.
class MessageCounter {
 public:
  void Add(const std::string& message, const std::string& pod) {
    Report::MessageCount& entry = counts_[message];
    entry.message = message;
    ++entry.count;
    if (entry.pods.size() < kPodsPerMessage) entry.pods.push_back(pod);
  }

  // The most frequent first, then by message.
  std::vector<Report::MessageCount> Take() {
    std::vector<Report::MessageCount> list;
    for (auto& [message, entry] : counts_) list.push_back(std::move(entry));
    std::stable_sort(
        list.begin(), list.end(),
        [](const Report::MessageCount& a, const Report::MessageCount& b) { return a.count > b.count; });
    return list;
  }

 private:
  std::map<std::string, Report::MessageCount> counts_;
};

// The gates of a pod, as they follow the message of its condition.
std::string GatesOf(const api::Pod& pod) {
  std::vector<std::string> names;
  for (const api::PodSchedulingGate& gate : pod.spec->scheduling_gates) names.push_back(gate.name);
  return absl::StrCat(": ", absl::StrJoin(names, ", "));
}

// Why a pod without a node has none: what its condition says, or what keeps the scheduler from trying.
void ExplainPending(const api::Pod& pod, const Simulation& simulation, const GroupWaits& groups,
                    Report::Pod& row) {
  // What its condition says is of an attempt before.
  const std::optional<std::string> hold = BindingHoldText(simulation, pod);
  if (hold.has_value() && !pod.metadata.deletion_timestamp.has_value()) {
    row.message = absl::StrCat("(not bound when the run ended", hold->empty() ? "" : ": ", *hold, ")");
    return;
  }
  const api::PodCondition* condition = pod.FindCondition("PodScheduled");
  if (condition != nullptr && condition->status == "False") {
    row.reason = condition->reason;
    row.message = condition->message;
    if (row.reason == "SchedulingGated") row.message += GatesOf(pod);
  } else if (pod.metadata.deletion_timestamp.has_value()) {
    row.reason = "Terminating";
    row.message = "the pod is being deleted, the scheduler skips it";
  } else if (!pod.spec->scheduling_gates.empty()) {
    // As the API server writes it when the pod is created.
    row.reason = "SchedulingGated";
    row.message = "Scheduling is blocked due to non-empty scheduling gates" + GatesOf(pod);
  } else {
    // The scheduler writes nothing of pods that it does not try.
    row.message = groups.WhyHeld(pod);
  }
}

// Where a pod of the server is.
Report::Pod RowOf(const api::Pod& pod, const Simulation& simulation, const GroupWaits& groups) {
  Report::Pod row = {.name_space = pod.metadata.namespace_, .name = pod.metadata.name, .node = pod.node_name};
  const PodTimes times = simulation.TimesOf(pod);
  const bool was_bound = times.queued.has_value() && times.bound.has_value();
  if (was_bound) row.queue_latency = *times.bound - *times.queued;
  if (pod.IsTerminal()) {
    row.status = "Finished";
    row.reason = pod.status.phase;
  } else if (!pod.node_name.empty()) {
    row.status = "Bound";
  } else if (!simulation.ResponsibleFor(pod)) {
    row.status = "Ignored";
    row.reason = "OtherScheduler";
    row.message = absl::StrCat("of scheduler ", pod.spec->scheduler_name, ", which no profile names");
  } else {
    row.status = "Pending";
    ExplainPending(pod, simulation, groups, row);
  }
  const bool ends = pod.metadata.deletion_timestamp.has_value() && !pod.IsTerminal();
  if (ends && row.reason.empty()) row.reason = "Terminating";
  return row;
}

// The beginning of a name as a number: of two names, the one that comes first has no larger one.
uint64_t NamePrefix(absl::string_view name) {
  uint64_t prefix = 0;
  for (size_t i = 0; i < sizeof(prefix); ++i) {
    prefix = prefix << 8 | (i < name.size() ? static_cast<unsigned char>(name[i]) : 0);
  }
  return prefix;
}

// Over the pods that have a node and have not finished: key and node, in the order of namespaces and names.
std::string PlacementDigest(const std::vector<const api::Pod*>& bound) {
  using PrefixedPod = std::pair<uint64_t, const api::Pod*>;
  std::map<absl::string_view, std::vector<PrefixedPod>> by_namespace;
  for (const api::Pod* pod : bound) {
    by_namespace[pod->metadata.namespace_].emplace_back(NamePrefix(pod->metadata.name), pod);
  }
  Digest digest;
  for (auto& [name_space, pods] : by_namespace) {
    std::sort(pods.begin(), pods.end(), [](const PrefixedPod& a, const PrefixedPod& b) {
      if (a.first != b.first) return a.first < b.first;
      return a.second->metadata.name < b.second->metadata.name;
    });
    for (const auto& [prefix, pod] : pods) {
      digest.Add(api::ObjectKey(*pod).text());
      digest.Add(pod->node_name);
    }
  }
  return digest.Hex();
}

void AddPodsThere(const Simulation& simulation, PodRows rows, Report& report) {
  // Those without a node, which are counted by message in the order of their keys.
  std::map<std::string, const api::Pod*> waiting;
  std::vector<const api::Pod*> bound;
  simulation.server().ForEachPod([&](const api::Pod& pod) {
    if (pod.metadata.deletion_timestamp.has_value() && !pod.IsTerminal()) ++report.terminating_count;
    if (pod.IsTerminal()) {
      ++report.finished_count;
    } else if (!pod.node_name.empty()) {
      ++report.bound_count;
      bound.push_back(&pod);
    } else {
      ++(simulation.ResponsibleFor(pod) ? report.pending_count : report.ignored_count);
      waiting[pod.Key()] = &pod;
    }
  });
  const GroupWaits groups(simulation);
  MessageCounter pending;
  MessageCounter ignored;
  for (const auto& [key, pod] : waiting) {
    if (!simulation.ResponsibleFor(*pod)) {
      ignored.Add(pod->spec->scheduler_name, key);
      continue;
    }
    const std::string message = RowOf(*pod, simulation, groups).message;
    const bool is_held_back =
        !pod->spec->scheduling_gates.empty() || pod->metadata.deletion_timestamp.has_value();
    if (!is_held_back) ++report.placeable_count;
    pending.Add(message.empty() ? "(no attempt yet)" : message, key);
  }
  report.pending_by_message = pending.Take();
  report.ignored_by_scheduler = ignored.Take();
  report.placement_digest = PlacementDigest(bound);
  if (rows == PodRows::kNone) return;
  for (const auto& [key, object] : simulation.server().List(api::Kind::kPod)) {
    report.pods.push_back(RowOf(static_cast<const api::Pod&>(*object), simulation, groups));
  }
}

void AddPodsGone(const Simulation& simulation, PodRows rows, Report& report) {
  for (const auto& [key, pod] : simulation.gone()) {
    const size_t slash = key.find('/');
    if (simulation.server().FindPod(key.substr(0, slash), key.substr(slash + 1)) != nullptr) continue;
    const bool is_evicted = simulation.evicted().count(key) > 0;
    ++(is_evicted ? report.evicted_count : report.deleted_count);
    if (rows == PodRows::kNone) continue;
    report.pods.push_back({.name_space = key.substr(0, slash),
                           .name = key.substr(slash + 1),
                           .node = pod.node,
                           .status = "Gone",
                           .reason = is_evicted ? "Evicted" : "Deleted"});
  }
}

// Objects that the API server refused to create.
void AddRefused(const Simulation& simulation, PodRows rows, Report& report) {
  for (const Simulation::Refused& refused : simulation.refused()) {
    const api::Object& object = *refused.object;
    report.warnings.push_back(
        absl::StrCat(object.kind_name, " ", object.Key(), " was not created: ", refused.message));
    if (object.kind != api::Kind::kPod) continue;
    ++report.refused_count;
    if (rows == PodRows::kNone) continue;
    report.pods.push_back({.name_space = object.metadata.namespace_,
                           .name = object.metadata.name,
                           .status = "Refused",
                           .message = refused.message});
  }
}

void AddLatencies(const Simulation& simulation, Report& report) {
  std::vector<absl::Duration> latencies = simulation.queue_latencies();
  report.latency_count = static_cast<int64_t>(latencies.size());
  if (latencies.empty()) return;
  std::sort(latencies.begin(), latencies.end());
  report.latency_p50 = Percentile(latencies, 50);
  report.latency_p90 = Percentile(latencies, 90);
  report.latency_p99 = Percentile(latencies, 99);
  report.latency_max = latencies.back();
}

void AddFates(const Simulation& simulation, const ClusterInput& input, Report& report) {
  Report::Fates& fates = report.bound_before_fates;
  for (const api::ObjectPtr& object : input.objects) {
    if (object == nullptr || object->kind != api::Kind::kPod) continue;
    const auto& before = static_cast<const api::Pod&>(*object);
    if (before.node_name.empty() || before.IsTerminal()) continue;
    const std::string key = before.Key();
    if (simulation.gone().count(key) == 0) {
      ++fates.bound;
      continue;
    }
    const api::PodPtr now = simulation.server().FindPod(before.metadata.namespace_, before.metadata.name);
    if (now != nullptr) {
      ++(now->IsTerminal() ? fates.finished : fates.replaced);
    } else {
      ++(simulation.evicted().count(key) > 0 ? fates.evicted : fates.deleted);
    }
  }
}

void AddPods(const Simulation& simulation, PodRows rows, Report& report) {
  AddPodsThere(simulation, rows, report);
  AddPodsGone(simulation, rows, report);
  AddRefused(simulation, rows, report);
  const auto by_name = [](const Report::Pod& a, const Report::Pod& b) {
    return std::tie(a.name_space, a.name) < std::tie(b.name_space, b.name);
  };
  // Most often they are in order: that of "namespace/name" differs only where a name goes on with what comes
  // before a slash.
  if (!std::is_sorted(report.pods.begin(), report.pods.end(), by_name)) {
    std::sort(report.pods.begin(), report.pods.end(), by_name);
  }
  AddLatencies(simulation, report);
}

std::string AmountText(const Report::Resource& resource, absl::int128 amount) {
  if (resource.name != "cpu") return DecimalText(amount);
  return amount % 1000 == 0 ? DecimalText(amount / 1000) : FractionText(amount, 1000, 3);
}

// As people read bytes.
std::string ShortAmountText(const Report::Resource& resource, absl::int128 amount) {
  const bool is_bytes = absl::StrContains(resource.name, "memory") ||
                        absl::StrContains(resource.name, "storage") ||
                        absl::StartsWith(resource.name, "hugepages-");
  constexpr int64_t kMi = int64_t{1} << 20;
  constexpr int64_t kGi = int64_t{1} << 30;
  if (!is_bytes || amount < kMi) return AmountText(resource, amount);
  const bool is_large = amount >= kGi;
  const absl::int128 unit = is_large ? kGi : kMi;
  return absl::StrCat(
      amount % unit == 0 ? DecimalText(amount / unit) : FractionText(amount * 100 / unit, 100, 2),
      is_large ? "Gi" : "Mi");
}

void WritePod(const Report::Pod& pod, codec::JsonWriter& json) {
  json.BeginObject().Field("namespace", pod.name_space).Field("name", pod.name).Field("status", pod.status);
  json.Field("node", pod.node).Field("reason", pod.reason).Field("message", pod.message);
  json.Key("queueLatencyMicroseconds");
  if (pod.queue_latency < absl::ZeroDuration()) {
    json.Null();
  } else {
    json.Int(absl::ToInt64Microseconds(pod.queue_latency));
  }
  json.Key("inexact").Bool(pod.inexact).EndObject();
}

void AppendMessages(const std::vector<Report::MessageCount>& entries, std::string& text) {
  for (const Report::MessageCount& entry : entries) {
    absl::StrAppendFormat(&text, "  %5d x  %s\n", entry.count, Printable(entry.message, kTextBytesMax));
    absl::StrAppend(&text, "           ", Printable(absl::StrJoin(entry.pods, ", "), kTextBytesMax));
    const int64_t left_out = entry.count - static_cast<int64_t>(entry.pods.size());
    absl::StrAppend(&text, left_out > 0 ? absl::StrCat(" and ", left_out, " more") : "", "\n");
  }
}

void AppendPodCounts(const Report& report, std::string& text) {
  const Report::Fates& fates = report.bound_before_fates;
  absl::StrAppend(&text, "Bound           ", report.bound_count, " (", fates.bound, " of them before)\n");
  if (fates.bound != report.bound_before) {
    absl::StrAppend(&text, "Bound before    ", report.bound_before, ": ", fates.bound, " still are");
    const auto add = [&text](int64_t count, absl::string_view what) {
      if (count != 0) absl::StrAppend(&text, ", ", count, " ", what);
    };
    add(fates.evicted, "evicted");
    add(fates.deleted, "deleted");
    add(fates.finished, "finished");
    add(fates.replaced, "replaced under the same name");
    text += "\n";
  }
  absl::StrAppend(&text, "Pending         ", report.pending_count, "\n");
  AppendMessages(report.pending_by_message, text);
  if (report.ignored_count > 0)
    absl::StrAppend(&text, "Ignored         ", report.ignored_count,
                    " of schedulers that no profile names\n");
  AppendMessages(report.ignored_by_scheduler, text);
  if (report.terminating_count > 0)
    absl::StrAppend(&text, "Terminating     ", report.terminating_count, " of those above\n");
  if (report.evicted_count > 0) absl::StrAppend(&text, "Evicted         ", report.evicted_count, "\n");
  if (report.deleted_count > 0) absl::StrAppend(&text, "Deleted         ", report.deleted_count, "\n");
  if (report.finished_count > 0) absl::StrAppend(&text, "Finished        ", report.finished_count, "\n");
  if (report.refused_count > 0) absl::StrAppend(&text, "Refused         ", report.refused_count, "\n");
}

void AppendInexact(const Report& report, std::string& text) {
  if (report.inexact_pods.empty()) return;
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const Trace::InexactPod& pod : report.inexact_pods) by_reason[pod.reason].push_back(pod.key);
  absl::StrAppend(&text, "INEXACT         ", report.inexact_pods.size(),
                  " pods use what is not simulated yet; results may differ from the real scheduler's\n");
  for (const auto& [reason, keys] : by_reason) {
    absl::StrAppend(&text, "  ", reason, " (", keys.size(), "): ", Printable(absl::StrJoin(keys, ", ")),
                    "\n");
  }
}

void AppendLatency(const Report& report, std::string& text) {
  const bool any = report.latency_count > 0;
  auto value = [any](absl::Duration latency) { return any ? DurationText(latency) : std::string("-"); };
  absl::StrAppend(&text, "Queue latency   p50 ", value(report.latency_p50), "  p90 ",
                  value(report.latency_p90), "  p99 ", value(report.latency_p99), "  max ",
                  value(report.latency_max), "\n");
  absl::StrAppend(&text, "                virtual time; model: ", report.latency_model, "\n");
}

// Kinds of custom resources that built-in plugins read.
struct ReadKind {
  absl::string_view plugin;
  api::CustomKind kind;
};
constexpr ReadKind kReadKinds[] = {
    {"CapacityScheduling", api::CustomKind::kElasticQuota},
    {"Coscheduling", api::CustomKind::kCoschedulingPodGroup},
    {"CpuRealUsage", api::CustomKind::kNodeMetrics},
    {"LoadVariationRiskBalancing", api::CustomKind::kNodeMetrics},
    {"LowRiskOverCommitment", api::CustomKind::kNodeMetrics},
    {"MemRealUsage", api::CustomKind::kNodeMetrics},
    {"NodeResourceTopologyMatch", api::CustomKind::kNodeResourceTopology},
    {"TargetLoadPacking", api::CustomKind::kNodeMetrics},
};

// Whether a plugin of some profile reads the object.
bool IsRead(const api::Object& object, const std::vector<api::EffectiveProfile>& profiles) {
  const api::CustomKind kind = api::CustomKindOf(object);
  if (kind == api::CustomKind::kNone) return false;
  return std::any_of(std::begin(kReadKinds), std::end(kReadKinds), [&](const ReadKind& read) {
    return read.kind == kind &&
           std::any_of(profiles.begin(), profiles.end(), [&read](const api::EffectiveProfile& profile) {
             return std::binary_search(profile.instances.begin(), profile.instances.end(), read.plugin);
           });
  });
}

// Objects of the input that nobody reads, by kind.
std::map<std::string, int64_t> UnusedKinds(const Simulation& simulation, const ClusterInput& input) {
  std::map<std::string, int64_t> kinds = input.other_kinds;
  // Admission reads these.
  for (const char* kind : {"LimitRange", "ResourceQuota", "RuntimeClass"}) kinds.erase(kind);
  if (simulation.options().controllers.workloads) {
    for (const char* kind : {"ControllerRevision", "CronJob", "DaemonSet", "Deployment", "Job"}) {
      kinds.erase(kind);
    }
  }
  if (kinds.empty()) return kinds;
  const auto is_read = [&simulation](const api::Object& object) {
    const SimulationOptions& options = simulation.options();
    return IsRead(object, options.config.profiles) ||
           std::any_of(
               options.other_schedulers.begin(), options.other_schedulers.end(),
               [&object](const OtherScheduler& other) { return IsRead(object, other.config.profiles); });
  };
  for (const api::ObjectPtr& object : input.objects) {
    if (object == nullptr || !is_read(*object)) continue;
    const auto count = kinds.find(object->kind_name);
    if (count != kinds.end() && --count->second == 0) kinds.erase(count);
  }
  return kinds;
}

}  // namespace

Report MakeReport(Simulation& simulation, const ClusterInput& input, PodRows rows) {
  Report report;
  report.kubernetes_version = std::string(api::KubernetesLineName(simulation.options().line.line));
  report.bound_before = input.bound_pod_count;
  report.other_kinds = UnusedKinds(simulation, input);
  report.warnings = input.warnings;
  for (std::string& warning : simulation.Warnings()) report.warnings.push_back(std::move(warning));
  report.ended_in_circles = simulation.EndedInCircles();
  if (!report.ended_in_circles.empty()) report.failures.push_back(report.ended_in_circles);
  report.has_replaced_in_circles = simulation.HasReplacedInCircles();
  report.attempt_count = simulation.trace().attempt_count();
  report.inexact_pods = simulation.trace().inexact_pods();
  report.digest = simulation.trace().DecisionDigest();
  report.virtual_zero = simulation.zero();
  report.virtual_time = simulation.now() - simulation.zero();
  report.latency_model = simulation.options().latency.ToString();
  if (simulation.autoscaler() != nullptr) report.autoscaler = simulation.autoscaler()->Record();
  report.schedulers = MakeSchedulersReport(simulation);
  report.workloads = MakeWorkloadReports(simulation.server(), simulation.zero(), simulation.now());
  AddNodes(simulation, report);
  AddPods(simulation, rows, report);
  AddFates(simulation, input, report);
  if (report.inexact_pods.empty()) return report;
  std::map<std::string, bool> inexact;
  for (const Trace::InexactPod& pod : report.inexact_pods) inexact[pod.key] = true;
  for (Report::Pod& pod : report.pods) pod.inexact = inexact.count(pod.name_space + "/" + pod.name) > 0;
  return report;
}

void WriteResources(const std::vector<Report::Resource>& resources, codec::JsonWriter& json) {
  json.BeginArray();
  for (const Report::Resource& resource : resources) {
    json.BeginObject().Field("name", resource.name);
    json.Field("requested", AmountText(resource, resource.requested));
    json.Field("allocatable", AmountText(resource, resource.allocatable));
    json.Field("percent", PercentText(resource)).EndObject();
  }
  json.EndArray();
}

std::string Report::Pod::Key() const { return absl::StrCat(name_space, "/", name); }

std::vector<std::string> LateNotices(const Report& report, size_t warnings_before) {
  std::vector<std::string> notices;
  for (size_t i = warnings_before; i < report.warnings.size(); ++i)
    notices.push_back(absl::StrCat("warning: ", report.warnings[i]));
  if (!report.inexact_pods.empty()) {
    notices.push_back(absl::StrCat("warning: the result is inexact for ", report.inexact_pods.size(),
                                   " pods, see the report"));
  }
  return notices;
}

std::string UsageText(const Report& report, ByteUnits units) {
  const auto amount_text = units == ByteUnits::kShort ? ShortAmountText : AmountText;
  std::string text;
  absl::StrAppendFormat(&text, "%-28s %20s %20s %8s\n", "Resource", "requested", "allocatable", "percent");
  for (const Report::Resource& resource : report.totals) {
    absl::StrAppendFormat(&text, "  %-26s %20s %20s %8s\n", Printable(resource.name, kNameBytesMax),
                          amount_text(resource, resource.requested),
                          amount_text(resource, resource.allocatable), PercentText(resource));
  }
  if (!report.most_used_nodes.empty()) absl::StrAppend(&text, "Most used nodes\n");
  for (const Report::Node& node : report.most_used_nodes) {
    std::vector<std::string> shares;
    for (const Report::Resource& resource : node.resources) {
      if (resource.allocatable > 0 && resource.requested > 0)
        shares.push_back(
            absl::StrCat(Printable(resource.name, kNameBytesMax), " ", PercentText(resource), "%"));
    }
    absl::StrAppendFormat(&text, "  %-26s %4d pods  %s\n", Printable(node.name, kNameBytesMax),
                          node.pod_count, absl::StrJoin(shares, "  "));
  }
  return text;
}

std::string ReportText(const Report& report, ByteUnits units) {
  std::string text = HeaderText(report.header);
  absl::StrAppend(&text, "Kubernetes      ", report.kubernetes_version, "\n");
  absl::StrAppend(&text, "Nodes           ", report.node_count, "\n");
  AppendPodCounts(report, text);
  for (const std::string& failure : report.failures)
    absl::StrAppend(&text, "FAILED          ", Printable(failure, kTextBytesMax), "\n");
  if (report.schedulers.has_value()) text += SchedulersText(*report.schedulers, report.virtual_zero);
  text += DrainsText(report.drains, report.virtual_zero);
  if (report.autoscaler.has_value()) text += AutoscalerText(*report.autoscaler, report.virtual_zero);
  if (report.recording.has_value()) text += ComparisonText(*report.recording);
  text += WorkloadsText(report.workloads);
  AppendInexact(report, text);
  if (report.missed_wakeups.has_value()) text += MissedWakeupsText(*report.missed_wakeups);
  absl::StrAppend(&text, "Attempts        ", report.attempt_count, "\n");
  AppendLatency(report, text);
  if (report.window.has_value()) text += WindowText(*report.window);
  text += UsageText(report, units);
  if (!report.other_kinds.empty()) {
    std::vector<std::string> kinds;
    for (const auto& [kind, count] : report.other_kinds)
      kinds.push_back(absl::StrCat(Printable(kind, kNameBytesMax), " ", count));
    absl::StrAppend(&text, "Kept, not used  ", absl::StrJoin(kinds, ", "), "\n");
  }
  for (const std::string& warning : report.warnings)
    absl::StrAppend(&text, "Warning         ", Printable(warning, kTextBytesMax), "\n");
  absl::StrAppend(&text, "Virtual time    ", absl::FormatDuration(report.virtual_time), " from ",
                  api::FormatRfc3339(report.virtual_zero), "\n");
  absl::StrAppend(&text, "Digest          ", report.digest, "\n");
  absl::StrAppend(&text, "Placements      ", report.placement_digest, "\n");
  if (!report.trace_digest.empty()) absl::StrAppend(&text, "Trace digest    ", report.trace_digest, "\n");
  if (report.work.has_value()) absl::StrAppend(&text, WorkReportText(*report.work));
  return text;
}

namespace {

// What only some runs have.
void WriteOptionalParts(const Report& report, codec::JsonWriter& json) {
  if (!report.drains.empty()) {
    json.Key("drains");
    WriteDrains(report.drains, report.virtual_zero, json);
  }
  if (report.schedulers.has_value()) WriteSchedulers(*report.schedulers, report.virtual_zero, json);
  if (report.autoscaler.has_value()) {
    json.Key("autoscaler");
    WriteAutoscaler(*report.autoscaler, report.virtual_zero, json);
  }
  if (report.window.has_value()) {
    json.Key("measured");
    WriteWindow(*report.window, json);
  }
  if (report.missed_wakeups.has_value()) {
    json.Key("missedWakeups");
    WriteMissedWakeups(*report.missed_wakeups, json);
  }
  if (report.recording.has_value()) {
    json.Key("recording");
    WriteComparison(*report.recording, json);
  }
  if (report.work.has_value()) {
    json.Key("counters");
    WriteWorkReport(*report.work, json);
  }
}

}  // namespace

std::string ReportJson(const Report& report) {
  codec::JsonWriter json;
  json.BeginObject().Field("apiVersion", "schedsim/v1").Field("kind", "RunReport").Key("run");
  WriteHeader(report.header, json);
  json.Field("kubernetesVersion", report.kubernetes_version).Field("nodes", report.node_count);
  json.Field("boundBefore", report.bound_before);
  const Report::Fates& fates = report.bound_before_fates;
  json.Key("boundBeforeNow").BeginObject().Field("bound", fates.bound).Field("evicted", fates.evicted);
  json.Field("deleted", fates.deleted).Field("finished", fates.finished);
  json.Field("replaced", fates.replaced).EndObject().Field("bound", report.bound_count);
  json.Field("pending", report.pending_count).Field("terminating", report.terminating_count);
  json.Field("evicted", report.evicted_count);
  json.Field("deleted", report.deleted_count).Field("ignored", report.ignored_count);
  json.Field("finished", report.finished_count).Field("refused", report.refused_count);
  json.Key("pendingByMessage").BeginArray();
  for (const Report::MessageCount& entry : report.pending_by_message) {
    json.BeginObject().Field("message", entry.message).Field("count", entry.count).EndObject();
  }
  json.EndArray().Key("ignoredByScheduler").BeginArray();
  for (const Report::MessageCount& entry : report.ignored_by_scheduler) {
    json.BeginObject().Field("schedulerName", entry.message).Field("count", entry.count).EndObject();
  }
  json.EndArray().Field("attempts", report.attempt_count);
  json.Key("queueLatencyMicroseconds").BeginObject();
  json.Field("p50", absl::ToInt64Microseconds(report.latency_p50));
  json.Field("p90", absl::ToInt64Microseconds(report.latency_p90));
  json.Field("p99", absl::ToInt64Microseconds(report.latency_p99));
  json.Field("max", absl::ToInt64Microseconds(report.latency_max));
  json.Field("model", report.latency_model).EndObject().Key("resources");
  WriteResources(report.totals, json);
  json.Key("mostUsedNodes").BeginArray();
  for (const Report::Node& node : report.most_used_nodes) {
    json.BeginObject().Field("name", node.name).Field("pods", node.pod_count).Key("resources");
    WriteResources(node.resources, json);
    json.EndObject();
  }
  json.EndArray().Key("exact").Bool(report.inexact_pods.empty()).Key("inexactPods").BeginArray();
  for (const Trace::InexactPod& pod : report.inexact_pods) {
    json.BeginObject().Field("pod", pod.key).Field("reason", pod.reason).EndObject();
  }
  json.EndArray().Key("workloads");
  WriteWorkloads(report.workloads, json);
  json.Key("otherKinds").BeginObject();
  for (const auto& [kind, count] : report.other_kinds) json.Field(kind, count);
  json.EndObject().Key("warnings").BeginArray();
  for (const std::string& warning : report.warnings) json.String(warning);
  json.EndArray().Key("failures").BeginArray();
  for (const std::string& failure : report.failures) json.String(failure);
  json.EndArray();
  WriteOptionalParts(report, json);
  json.Field("virtualZero", api::FormatRfc3339(report.virtual_zero));
  json.Field("virtualTimeMicroseconds", absl::ToInt64Microseconds(report.virtual_time));
  json.Field("digest", report.digest).Field("placementDigest", report.placement_digest);
  if (!report.trace_digest.empty()) json.Field("traceDigest", report.trace_digest);
  json.Key("pods").BeginArray();
  for (const Report::Pod& pod : report.pods) WritePod(pod, json);
  json.EndArray().EndObject();
  return json.text() + "\n";
}

std::string ReportCsv(const Report& report) {
  codec::Table table("PodTable", {"namespace", "name", "status", "node", "reason", "message",
                                  "queue_latency_microseconds", "inexact"});
  for (const Report::Pod& pod : report.pods) {
    std::optional<int64_t> latency;
    if (pod.queue_latency >= absl::ZeroDuration()) latency = absl::ToInt64Microseconds(pod.queue_latency);
    table.Add({pod.name_space, pod.name, pod.status, pod.node, pod.reason, pod.message,
               codec::CellOf(latency), pod.inexact});
  }
  return table.Csv();
}

}  // namespace schedsim::sim
