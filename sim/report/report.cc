#include "sim/report/report.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/base/percentile.h"
#include "core/base/printable.h"
#include "core/codec/text/json_writer.h"
#include "sim/report/drain_report.h"
#include "sim/report/duration_text.h"
#include "sim/report/wakeups_report.h"

namespace schedsim::sim {
namespace {

using framework::NodeInfo;

constexpr size_t kMostUsedNodes = 5;
constexpr size_t kPodsPerMessage = 3;

// How much of a text the report for people shows: names as long as Kubernetes allows them, and messages of
// many reasons, but nothing without an end.
constexpr size_t kNameBytesMax = 253;
constexpr size_t kTextBytesMax = 10'000;

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E*SZ", time, absl::UTCTimeZone());
}

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
absl::int128 BasisPoints(const Report::Resource& resource) {
  return resource.allocatable == 0 ? 0 : resource.requested * 10'000 / resource.allocatable;
}

std::string PercentText(const Report::Resource& resource) {
  return resource.allocatable == 0 ? "-" : FractionText(BasisPoints(resource), 100, 2);
}

// What all pods of the node ask for. The node's own sums wrap around where they are too large.
std::vector<Report::Resource> ResourcesOf(const NodeInfo& node, const SymbolTable& symbols) {
  std::map<std::string, Report::Resource> resources;
  const auto add = [&](absl::string_view name, absl::int128 requested, absl::int128 allocatable) {
    Report::Resource& resource = resources[std::string(name)];
    resource.requested += requested;
    resource.allocatable += allocatable;
  };
  const framework::Resource& allocatable = node.allocatable;
  for (const framework::ScalarResource& scalar : allocatable.scalars)
    add(symbols.Text(scalar.name), 0, scalar.value);
  absl::int128 milli_cpu = 0;
  absl::int128 memory_bytes = 0;
  absl::int128 ephemeral_storage_bytes = 0;
  for (const framework::PodInfoPtr& pod : node.pods) {
    const framework::Resource& requests = pod->requests;
    milli_cpu += requests.milli_cpu;
    memory_bytes += requests.memory_bytes;
    ephemeral_storage_bytes += requests.ephemeral_storage_bytes;
    for (const framework::ScalarResource& scalar : requests.scalars)
      add(symbols.Text(scalar.name), scalar.value, 0);
  }
  add("cpu", milli_cpu, allocatable.milli_cpu);
  add("memory", memory_bytes, allocatable.memory_bytes);
  add("ephemeral-storage", ephemeral_storage_bytes, allocatable.ephemeral_storage_bytes);
  add("pods", static_cast<int64_t>(node.pods.size()), allocatable.allowed_pod_number);
  std::vector<Report::Resource> list;
  for (auto& [name, resource] : resources) {
    if (resource.requested == 0 && resource.allocatable == 0) continue;
    resource.name = name;
    list.push_back(std::move(resource));
  }
  return list;
}

// The largest share of any resource but pods, in hundredths of a percent.
absl::int128 DominantShare(const Report::Node& node) {
  absl::int128 share = 0;
  for (const Report::Resource& resource : node.resources) {
    if (resource.name != "pods") share = std::max(share, BasisPoints(resource));
  }
  return share;
}

void AddNodes(Simulation& simulation, Report& report) {
  std::map<std::string, Report::Resource> totals;
  for (const NodeInfo* info : simulation.scheduler().UpdateSnapshot().List()) {
    Report::Node node = {.name = info->node->metadata.name,
                         .pod_count = static_cast<int64_t>(info->pods.size()),
                         .resources = ResourcesOf(*info, simulation.scheduler().symbols())};
    for (const Report::Resource& resource : node.resources) {
      Report::Resource& total = totals[resource.name];
      total.name = resource.name;
      total.requested += resource.requested;
      total.allocatable += resource.allocatable;
    }
    report.most_used_nodes.push_back(std::move(node));
    ++report.node_count;
  }
  for (auto& [name, total] : totals) report.totals.push_back(total);
  std::vector<Report::Node>& nodes = report.most_used_nodes;
  const size_t kept = std::min(kMostUsedNodes, nodes.size());
  std::partial_sort(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(kept), nodes.end(),
                    [](const Report::Node& a, const Report::Node& b) {
                      const absl::int128 share_a = DominantShare(a);
                      const absl::int128 share_b = DominantShare(b);
                      return share_a != share_b ? share_a > share_b : a.name < b.name;
                    });
  nodes.resize(kept);
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
void ExplainPending(const api::Pod& pod, Report::Pod& row) {
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
  }
}

void AddPodsThere(Simulation& simulation, Report& report) {
  MessageCounter pending;
  MessageCounter ignored;
  for (const auto& [key, object] : simulation.server().List(api::Kind::kPod)) {
    const auto& pod = static_cast<const api::Pod&>(*object);
    Report::Pod row = {
        .name_space = pod.metadata.namespace_, .name = pod.metadata.name, .node = pod.node_name};
    const PodTimes* const times = simulation.FindPodTimes(key);
    const bool was_bound = times != nullptr && times->queued.has_value() && times->bound.has_value();
    if (was_bound && !pod.IsTerminal()) row.queue_latency = *times->bound - *times->queued;
    if (pod.IsTerminal()) {
      row.status = "Finished";
      row.reason = pod.status.phase;
      ++report.finished_count;
    } else if (!pod.node_name.empty()) {
      row.status = "Bound";
      ++report.bound_count;
    } else if (!simulation.scheduler().ResponsibleFor(pod)) {
      row.status = "Ignored";
      row.reason = "OtherScheduler";
      row.message = absl::StrCat("of scheduler ", pod.spec->scheduler_name, ", which no profile names");
      ++report.ignored_count;
      ignored.Add(pod.spec->scheduler_name, key);
    } else {
      row.status = "Pending";
      ExplainPending(pod, row);
      ++report.pending_count;
      pending.Add(row.message.empty() ? "(no attempt yet)" : row.message, key);
    }
    if (pod.metadata.deletion_timestamp.has_value() && !pod.IsTerminal()) {
      ++report.terminating_count;
      if (row.reason.empty()) row.reason = "Terminating";
    }
    report.pods.push_back(std::move(row));
  }
  report.pending_by_message = pending.Take();
  report.ignored_by_scheduler = ignored.Take();
}

void AddPodsGone(Simulation& simulation, Report& report) {
  for (const auto& [key, pod] : simulation.gone()) {
    const size_t slash = key.find('/');
    if (simulation.server().FindPod(key.substr(0, slash), key.substr(slash + 1)) != nullptr) continue;
    const bool is_evicted = simulation.evicted().count(key) > 0;
    ++(is_evicted ? report.evicted_count : report.deleted_count);
    report.pods.push_back({.name_space = key.substr(0, slash),
                           .name = key.substr(slash + 1),
                           .node = pod.node,
                           .status = "Gone",
                           .reason = is_evicted ? "Evicted" : "Deleted"});
  }
}

// Objects that the API server refused to create.
void AddRefused(Simulation& simulation, Report& report) {
  for (const Simulation::Refused& refused : simulation.refused()) {
    const api::Object& object = *refused.object;
    report.warnings.push_back(
        absl::StrCat(object.kind_name, " ", object.Key(), " was not created: ", refused.message));
    if (object.kind != api::Kind::kPod) continue;
    ++report.refused_count;
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
    if (object->kind != api::Kind::kPod) continue;
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

void AddPods(Simulation& simulation, Report& report) {
  AddPodsThere(simulation, report);
  AddPodsGone(simulation, report);
  AddRefused(simulation, report);
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

// A field of a CSV line, quoted where RFC 4180 asks for it.
std::string CsvField(absl::string_view text) {
  // What a terminal would act on is escaped as in the report for people: line feeds, too.
  std::string field = Printable(text);
  if (field.find_first_of(",\"") == std::string::npos) return field;
  std::string quoted = "\"";
  for (char c : field) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
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

}  // namespace

Report MakeReport(Simulation& simulation, const ClusterInput& input) {
  Report report;
  report.kubernetes_version = std::string(api::KubernetesLineName(simulation.options().line.line));
  report.bound_before = input.bound_pod_count;
  report.other_kinds = input.other_kinds;
  if (simulation.options().controllers.workloads) {
    for (const char* kind : {"ControllerRevision", "CronJob", "DaemonSet", "Deployment", "Job"}) {
      report.other_kinds.erase(kind);
    }
  }
  report.warnings = input.warnings;
  for (std::string& warning : simulation.Warnings()) report.warnings.push_back(std::move(warning));
  report.attempt_count = simulation.trace().attempt_count();
  report.inexact_pods = simulation.trace().inexact_pods();
  report.digest = simulation.trace().DecisionDigest();
  report.virtual_zero = simulation.zero();
  report.virtual_time = simulation.now() - simulation.zero();
  report.latency_model = simulation.options().latency.ToString();
  report.workloads = MakeWorkloadReports(simulation.server());
  AddNodes(simulation, report);
  AddPods(simulation, report);
  AddFates(simulation, input, report);
  std::map<std::string, bool> inexact;
  for (const Trace::InexactPod& pod : report.inexact_pods) inexact[pod.key] = true;
  for (Report::Pod& pod : report.pods) pod.inexact = inexact.count(pod.name_space + "/" + pod.name) > 0;
  return report;
}

std::string ReportText(const Report& report) {
  std::string text;
  absl::StrAppend(&text, "Kubernetes      ", report.kubernetes_version, "\n");
  absl::StrAppend(&text, "Nodes           ", report.node_count, "\n");
  AppendPodCounts(report, text);
  for (const std::string& failure : report.failures)
    absl::StrAppend(&text, "FAILED          ", Printable(failure, kTextBytesMax), "\n");
  text += DrainsText(report.drains, report.virtual_zero);
  text += WorkloadsText(report.workloads);
  AppendInexact(report, text);
  if (report.missed_wakeups.has_value()) text += MissedWakeupsText(*report.missed_wakeups);
  absl::StrAppend(&text, "Attempts        ", report.attempt_count, "\n");
  AppendLatency(report, text);
  absl::StrAppendFormat(&text, "%-28s %20s %20s %8s\n", "Resource", "requested", "allocatable", "percent");
  for (const Report::Resource& resource : report.totals) {
    absl::StrAppendFormat(&text, "  %-26s %20s %20s %8s\n", Printable(resource.name, kNameBytesMax),
                          AmountText(resource, resource.requested),
                          AmountText(resource, resource.allocatable), PercentText(resource));
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
  if (!report.other_kinds.empty()) {
    std::vector<std::string> kinds;
    for (const auto& [kind, count] : report.other_kinds)
      kinds.push_back(absl::StrCat(Printable(kind, kNameBytesMax), " ", count));
    absl::StrAppend(&text, "Kept, not used  ", absl::StrJoin(kinds, ", "), "\n");
  }
  for (const std::string& warning : report.warnings)
    absl::StrAppend(&text, "Warning         ", Printable(warning, kTextBytesMax), "\n");
  absl::StrAppend(&text, "Virtual time    ", absl::FormatDuration(report.virtual_time), " from ",
                  TimeText(report.virtual_zero), "\n");
  absl::StrAppend(&text, "Digest          ", report.digest, "\n");
  if (!report.trace_digest.empty()) absl::StrAppend(&text, "Trace digest    ", report.trace_digest, "\n");
  if (report.work.has_value()) absl::StrAppend(&text, WorkReportText(*report.work));
  return text;
}

std::string ReportJson(const Report& report) {
  codec::JsonWriter json;
  json.BeginObject().Field("apiVersion", "schedsim/v1").Field("kind", "RunReport");
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
  if (!report.drains.empty()) {
    json.Key("drains");
    WriteDrains(report.drains, report.virtual_zero, json);
  }
  if (report.missed_wakeups.has_value()) {
    json.Key("missedWakeups");
    WriteMissedWakeups(*report.missed_wakeups, json);
  }
  if (report.work.has_value()) {
    json.Key("counters");
    WriteWorkReport(*report.work, json);
  }
  json.Field("virtualZero", TimeText(report.virtual_zero));
  json.Field("virtualTimeMicroseconds", absl::ToInt64Microseconds(report.virtual_time));
  json.Field("digest", report.digest);
  if (!report.trace_digest.empty()) json.Field("traceDigest", report.trace_digest);
  json.Key("pods").BeginArray();
  for (const Report::Pod& pod : report.pods) WritePod(pod, json);
  json.EndArray().EndObject();
  return json.text() + "\n";
}

std::string ReportCsv(const Report& report) {
  std::string text = "namespace,name,status,node,reason,message,queue_latency_microseconds,inexact\n";
  for (const Report::Pod& pod : report.pods) {
    const std::string latency = pod.queue_latency < absl::ZeroDuration()
                                    ? std::string()
                                    : absl::StrCat(absl::ToInt64Microseconds(pod.queue_latency));
    absl::StrAppend(&text, CsvField(pod.name_space), ",", CsvField(pod.name), ",", pod.status, ",",
                    CsvField(pod.node), ",", CsvField(pod.reason), ",", CsvField(pod.message), ",", latency,
                    ",", pod.inexact ? "true" : "false", "\n");
  }
  return text;
}

}  // namespace schedsim::sim
