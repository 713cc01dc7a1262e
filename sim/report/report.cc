#include "sim/report/report.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/base/percentile.h"
#include "core/codec/text/json_writer.h"
#include "sim/report/wakeups_report.h"

namespace schedsim::sim {
namespace {

using framework::NodeInfo;

constexpr size_t kMostUsedNodes = 5;
constexpr size_t kPodsPerMessage = 3;

std::string DurationText(absl::Duration duration) {
  return absl::StrFormat("%.3fs", absl::ToDoubleSeconds(duration));
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", time, absl::UTCTimeZone());
}

// Hundredths of a percent, without floating point.
int64_t BasisPoints(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<int64_t>(static_cast<__int128>(part) * 10'000 / whole);
}

std::string PercentText(int64_t part, int64_t whole) {
  if (whole == 0) return "-";
  const int64_t points = BasisPoints(part, whole);
  return absl::StrFormat("%d.%02d", points / 100, points % 100);
}

std::vector<Report::Resource> ResourcesOf(const NodeInfo& node, const SymbolTable& symbols) {
  std::vector<Report::Resource> resources = {
      {"cpu", node.requested.milli_cpu, node.allocatable.milli_cpu},
      {"memory", node.requested.memory_bytes, node.allocatable.memory_bytes},
      {"ephemeral-storage", node.requested.ephemeral_storage_bytes, node.allocatable.ephemeral_storage_bytes},
      {"pods", static_cast<int64_t>(node.pods.size()), node.allocatable.allowed_pod_number}};
  for (const framework::ScalarResource& scalar : node.allocatable.scalars) {
    resources.push_back(
        {std::string(symbols.Text(scalar.name)), node.requested.Scalar(scalar.name), scalar.value});
  }
  std::erase_if(resources, [](const Report::Resource& resource) {
    return resource.requested == 0 && resource.allocatable == 0;
  });
  std::sort(resources.begin(), resources.end(),
            [](const Report::Resource& a, const Report::Resource& b) { return a.name < b.name; });
  return resources;
}

// The largest share of any resource but pods, in hundredths of a percent.
int64_t DominantShare(const Report::Node& node) {
  int64_t share = 0;
  for (const Report::Resource& resource : node.resources) {
    if (resource.name != "pods")
      share = std::max(share, BasisPoints(resource.requested, resource.allocatable));
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
                      const int64_t share_a = DominantShare(a);
                      const int64_t share_b = DominantShare(b);
                      return share_a != share_b ? share_a > share_b : a.name < b.name;
                    });
  nodes.resize(kept);
}

void AddPods(Simulation& simulation, Report& report) {
  std::map<std::string, Report::MessageCount> messages;
  std::vector<absl::Duration> latencies;
  for (const auto& [key, object] : simulation.server().List(api::Kind::kPod)) {
    const auto& pod = static_cast<const api::Pod&>(*object);
    if (pod.IsTerminal()) continue;
    Report::Pod row = {
        .name_space = pod.metadata.namespace_, .name = pod.metadata.name, .node = pod.node_name};
    auto times = simulation.pod_times().find(key);
    if (times != simulation.pod_times().end() && times->second.queued.has_value() &&
        times->second.bound.has_value()) {
      row.queue_latency = *times->second.bound - *times->second.queued;
      latencies.push_back(row.queue_latency);
    }
    if (!pod.node_name.empty()) {
      row.status = "Bound";
      ++report.bound_count;
    } else if (!simulation.scheduler().ResponsibleFor(pod)) {
      row.status = "Ignored";
    } else {
      row.status = "Pending";
      const api::PodCondition* condition = pod.FindCondition("PodScheduled");
      if (condition != nullptr && condition->status == "False") {
        row.reason = condition->reason;
        row.message = condition->message;
      }
      ++report.pending_count;
      Report::MessageCount& entry = messages[row.message];
      ++entry.count;
      if (entry.pods.size() < kPodsPerMessage) entry.pods.push_back(key);
    }
    report.pods.push_back(std::move(row));
  }
  for (const auto& [key, pod] : simulation.gone()) {
    const size_t slash = key.find('/');
    if (simulation.server().FindPod(key.substr(0, slash), key.substr(slash + 1)) != nullptr) continue;
    ++(simulation.evicted().count(key) > 0 ? report.evicted_count : report.deleted_count);
    report.pods.push_back({.name_space = key.substr(0, slash),
                           .name = key.substr(slash + 1),
                           .node = pod.node,
                           .status = "Gone"});
  }
  std::sort(report.pods.begin(), report.pods.end(), [](const Report::Pod& a, const Report::Pod& b) {
    return std::tie(a.name_space, a.name) < std::tie(b.name_space, b.name);
  });
  for (auto& [message, entry] : messages) {
    entry.message = message.empty() ? "(no attempt yet)" : message;
    report.pending_by_message.push_back(std::move(entry));
  }
  std::stable_sort(
      report.pending_by_message.begin(), report.pending_by_message.end(),
      [](const Report::MessageCount& a, const Report::MessageCount& b) { return a.count > b.count; });
  if (latencies.empty()) return;
  std::sort(latencies.begin(), latencies.end());
  report.latency_p50 = Percentile(latencies, 50);
  report.latency_p90 = Percentile(latencies, 90);
  report.latency_p99 = Percentile(latencies, 99);
  report.latency_max = latencies.back();
}

std::string AmountText(const Report::Resource& resource, int64_t amount) {
  if (resource.name != "cpu") return absl::StrCat(amount);
  if (amount % 1000 == 0) return absl::StrCat(amount / 1000);
  return absl::StrFormat("%d.%03d", amount / 1000, amount % 1000);
}

void WriteResources(const std::vector<Report::Resource>& resources, codec::JsonWriter& json) {
  json.BeginArray();
  for (const Report::Resource& resource : resources) {
    json.BeginObject().Field("name", resource.name);
    json.Field("requested", AmountText(resource, resource.requested));
    json.Field("allocatable", AmountText(resource, resource.allocatable));
    json.Field("percent", PercentText(resource.requested, resource.allocatable)).EndObject();
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
  if (text.find_first_of(",\"\r\n") == absl::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

void AppendPending(const Report& report, std::string& text) {
  absl::StrAppend(&text, "Pending         ", report.pending_count, "\n");
  for (const Report::MessageCount& entry : report.pending_by_message) {
    absl::StrAppendFormat(&text, "  %5d x  %s\n", entry.count, entry.message);
    absl::StrAppend(&text, "           ", absl::StrJoin(entry.pods, ", "));
    const int64_t left_out = entry.count - static_cast<int64_t>(entry.pods.size());
    absl::StrAppend(&text, left_out > 0 ? absl::StrCat(" and ", left_out, " more") : "", "\n");
  }
}

void AppendInexact(const Report& report, std::string& text) {
  if (report.inexact_pods.empty()) return;
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const Trace::InexactPod& pod : report.inexact_pods) by_reason[pod.reason].push_back(pod.key);
  absl::StrAppend(&text, "INEXACT         ", report.inexact_pods.size(),
                  " pods use what is not simulated yet; results may differ from the real scheduler's\n");
  for (const auto& [reason, keys] : by_reason) {
    absl::StrAppend(&text, "  ", reason, " (", keys.size(), "): ", absl::StrJoin(keys, ", "), "\n");
  }
}

void AppendLatency(const Report& report, std::string& text) {
  const bool any = std::any_of(report.pods.begin(), report.pods.end(), [](const Report::Pod& pod) {
    return pod.queue_latency >= absl::ZeroDuration();
  });
  auto value = [any](absl::Duration latency) { return any ? DurationText(latency) : std::string("-"); };
  absl::StrAppend(&text, "Queue latency   p50 ", value(report.latency_p50), "  p90 ",
                  value(report.latency_p90), "  p99 ", value(report.latency_p99), "  max ",
                  value(report.latency_max), "\n");
  absl::StrAppend(&text, "                virtual time; model: ", report.latency_model, "\n");
}

}  // namespace

Report MakeReport(Simulation& simulation, const ClusterInput& input, const LatencyModel& latency,
                  absl::string_view kubernetes_version) {
  Report report;
  report.kubernetes_version = std::string(kubernetes_version);
  report.bound_before = input.bound_pod_count;
  report.other_kinds = input.other_kinds;
  report.warnings = input.warnings;
  for (std::string& warning : simulation.Warnings()) report.warnings.push_back(std::move(warning));
  report.attempt_count = simulation.trace().attempt_count();
  report.inexact_pods = simulation.trace().inexact_pods();
  report.digest = simulation.trace().DecisionDigest();
  report.virtual_zero = simulation.zero();
  report.virtual_time = simulation.now() - simulation.zero();
  report.latency_model = latency.ToString();
  AddNodes(simulation, report);
  AddPods(simulation, report);
  std::map<std::string, bool> inexact;
  for (const Trace::InexactPod& pod : report.inexact_pods) inexact[pod.key] = true;
  for (Report::Pod& pod : report.pods) pod.inexact = inexact.count(pod.name_space + "/" + pod.name) > 0;
  return report;
}

std::string ReportText(const Report& report) {
  std::string text;
  absl::StrAppend(&text, "Kubernetes      ", report.kubernetes_version, "\n");
  absl::StrAppend(&text, "Nodes           ", report.node_count, "\n");
  absl::StrAppend(&text, "Bound           ", report.bound_count, " (", report.bound_before,
                  " of them before)\n");
  AppendPending(report, text);
  if (report.evicted_count > 0) absl::StrAppend(&text, "Evicted         ", report.evicted_count, "\n");
  if (report.deleted_count > 0) absl::StrAppend(&text, "Deleted         ", report.deleted_count, "\n");
  for (const std::string& failure : report.failures)
    absl::StrAppend(&text, "FAILED          ", failure, "\n");
  AppendInexact(report, text);
  if (report.missed_wakeups.has_value()) text += MissedWakeupsText(*report.missed_wakeups);
  absl::StrAppend(&text, "Attempts        ", report.attempt_count, "\n");
  AppendLatency(report, text);
  absl::StrAppendFormat(&text, "%-28s %20s %20s %8s\n", "Resource", "requested", "allocatable", "percent");
  for (const Report::Resource& resource : report.totals) {
    absl::StrAppendFormat(
        &text, "  %-26s %20s %20s %8s\n", resource.name, AmountText(resource, resource.requested),
        AmountText(resource, resource.allocatable), PercentText(resource.requested, resource.allocatable));
  }
  if (!report.most_used_nodes.empty()) absl::StrAppend(&text, "Most used nodes\n");
  for (const Report::Node& node : report.most_used_nodes) {
    std::vector<std::string> shares;
    for (const Report::Resource& resource : node.resources) {
      if (resource.allocatable > 0 && resource.requested > 0) {
        shares.push_back(
            absl::StrCat(resource.name, " ", PercentText(resource.requested, resource.allocatable), "%"));
      }
    }
    absl::StrAppendFormat(&text, "  %-26s %4d pods  %s\n", node.name, node.pod_count,
                          absl::StrJoin(shares, "  "));
  }
  if (!report.other_kinds.empty()) {
    std::vector<std::string> kinds;
    for (const auto& [kind, count] : report.other_kinds) kinds.push_back(absl::StrCat(kind, " ", count));
    absl::StrAppend(&text, "Kept, not used  ", absl::StrJoin(kinds, ", "), "\n");
  }
  for (const std::string& warning : report.warnings)
    absl::StrAppend(&text, "Warning         ", warning, "\n");
  absl::StrAppend(&text, "Virtual time    ", absl::FormatDuration(report.virtual_time), " from ",
                  TimeText(report.virtual_zero), "\n");
  absl::StrAppend(&text, "Digest          ", report.digest, "\n");
  if (!report.trace_digest.empty()) absl::StrAppend(&text, "Trace digest    ", report.trace_digest, "\n");
  return text;
}

std::string ReportJson(const Report& report) {
  codec::JsonWriter json;
  json.BeginObject().Field("apiVersion", "schedsim/v1").Field("kind", "RunReport");
  json.Field("kubernetesVersion", report.kubernetes_version).Field("nodes", report.node_count);
  json.Field("boundBefore", report.bound_before).Field("bound", report.bound_count);
  json.Field("pending", report.pending_count).Field("evicted", report.evicted_count);
  json.Field("deleted", report.deleted_count).Key("pendingByMessage").BeginArray();
  for (const Report::MessageCount& entry : report.pending_by_message) {
    json.BeginObject().Field("message", entry.message).Field("count", entry.count).EndObject();
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
  json.EndArray().Key("otherKinds").BeginObject();
  for (const auto& [kind, count] : report.other_kinds) json.Field(kind, count);
  json.EndObject().Key("warnings").BeginArray();
  for (const std::string& warning : report.warnings) json.String(warning);
  json.EndArray().Key("failures").BeginArray();
  for (const std::string& failure : report.failures) json.String(failure);
  json.EndArray();
  if (report.missed_wakeups.has_value()) {
    json.Key("missedWakeups");
    WriteMissedWakeups(*report.missed_wakeups, json);
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
