#include "sim/report/workload_report.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/api/kinds.h"
#include "core/base/printable.h"
#include "core/codec/objects/object_writer.h"
#include "sim/cluster/disruption_budget.h"
#include "sim/cluster/node_condition.h"
#include "sim/controllers/cron_job.h"

namespace schedsim::sim {
namespace {

constexpr size_t kShownCount = 10;
constexpr size_t kNameBytesMax = 253;

constexpr absl::string_view kWorkloadKinds[] = {"CronJob",    "DaemonSet",   "Deployment",           "Job",
                                                "ReplicaSet", "StatefulSet", "ReplicationController"};

bool IsWorkload(const api::Object& object) {
  const bool is_named = std::find(std::begin(kWorkloadKinds), std::end(kWorkloadKinds), object.kind_name) !=
                        std::end(kWorkloadKinds);
  return is_named && api::FindKind(object.api_version, object.kind_name) != nullptr;
}

// The kind of workload that makes workloads of this kind; "": none does.
absl::string_view ControllerKindOf(absl::string_view kind) {
  if (kind == "ReplicaSet") return "Deployment";
  return kind == "Job" ? "CronJob" : "";
}

std::optional<int64_t> NumberAt(const codec::Value& root, absl::string_view part, absl::string_view key) {
  const codec::Value* map = root.Find(part);
  const codec::Value* value = map == nullptr ? nullptr : map->Find(key);
  int64_t number = 0;
  if (value == nullptr || !absl::SimpleAtoi(value->text, &number)) return std::nullopt;
  return number;
}

absl::string_view TextOf(const codec::Value& map, absl::string_view key) {
  const codec::Value* value = map.Find(key);
  return value != nullptr && value->is_string() ? value->text : absl::string_view();
}

// That of status.conditions which has the type and is True; nullptr: there is none.
const codec::Value* FindCondition(const codec::Value& root, absl::string_view type) {
  const codec::Value* status = root.Find("status");
  const codec::Value* conditions = status == nullptr ? nullptr : status->Find("conditions");
  if (conditions == nullptr) return nullptr;
  for (const codec::Value& condition : conditions->items)
    if (TextOf(condition, "type") == type && TextOf(condition, "status") == "True") return &condition;
  return nullptr;
}

void ReadJob(const codec::Value& root, absl::Time zero, WorkloadReport& row) {
  row.wanted = NumberAt(root, "spec", "completions");
  if (!row.wanted.has_value() && !NumberAt(root, "spec", "parallelism").has_value()) row.wanted = 1;
  row.parallelism = NumberAt(root, "spec", "parallelism");
  const codec::Value* const failure = FindCondition(root, "Failed");
  row.has_failed = failure != nullptr;
  row.is_finished = row.has_failed || FindCondition(root, "Complete") != nullptr;
  absl::Time failed_at;
  if (failure != nullptr &&
      absl::ParseTime(absl::RFC3339_full, TextOf(*failure, "lastTransitionTime"), &failed_at, nullptr) &&
      failed_at > zero) {
    row.failed_by = std::string(TextOf(*failure, "reason"));
  }
  row.succeeded = NumberAt(root, "status", "succeeded").value_or(0);
  row.failed = NumberAt(root, "status", "failed").value_or(0);
}

// When the next job is due after `end`.
std::optional<absl::Time> NextJobOf(const api::Object& cron_job, absl::Time end) {
  CronJobSpec spec;
  const bool is_going = !cron_job.metadata.deletion_timestamp.has_value();
  if (!is_going || !ReadCronJob(cron_job, spec).ok() || spec.is_suspended) return std::nullopt;
  const absl::Time next = spec.schedule.Next(end);
  if (next == absl::InfiniteFuture()) return std::nullopt;
  return next;
}

// The row of the object as it describes itself.
WorkloadReport RowOf(const api::Object& object, absl::Time zero, absl::Time end) {
  WorkloadReport row;
  row.kind = object.kind_name;
  row.name_space = object.metadata.namespace_;
  row.name = object.metadata.name;
  if (object.kind_name == "CronJob") row.next_job = NextJobOf(object, end);
  codec::VisitObjectTree(object, [&](const codec::Value& root) {
    const codec::Value* spec = root.Find("spec");
    const auto is_set = [spec](absl::string_view field) {
      const codec::Value* value = spec == nullptr ? nullptr : spec->Find(field);
      return value != nullptr && value->boolean;
    };
    row.is_suspended = is_set("suspend");
    row.is_paused = is_set("paused");
    if (object.kind_name == "DaemonSet") {
      row.wanted = NumberAt(root, "status", "desiredNumberScheduled");
    } else if (object.kind_name == "Job") {
      ReadJob(root, zero, row);
    } else if (object.kind_name != "CronJob") {
      row.wanted = NumberAt(root, "spec", "replicas").value_or(1);
    }
  });
  return row;
}

// Workloads by uid, and for those that another one may control, by whom.
struct Index {
  std::map<std::string, WorkloadReport> rows;
  std::map<std::string, std::string> controllers;
  // What the statuses of Jobs count: pods of them may be gone.
  std::map<std::string, std::pair<int64_t, int64_t>> succeeded_and_failed;

  // The row for what this one controls; nullptr: none is there.
  WorkloadReport* Find(const std::string& uid) {
    const auto controller = controllers.find(uid);
    const auto row = rows.find(controller == controllers.end() ? uid : controller->second);
    return row == rows.end() ? nullptr : &row->second;
  }

  // Leaves a row only to those that no other row counts for.
  void DropControlled() {
    for (auto at = controllers.begin(); at != controllers.end();) {
      const auto above = rows.find(at->second);
      const auto row = rows.find(at->first);
      const bool is_there = above != rows.end() && above->second.kind == ControllerKindOf(row->second.kind);
      if (is_there) rows.erase(row);
      at = is_there ? std::next(at) : controllers.erase(at);
    }
  }
};

void Add(const api::Object& object, absl::Time zero, absl::Time end, Index& index) {
  if (!IsWorkload(object)) return;
  const api::OwnerReference* owner = ControllerOf(object);
  const bool is_controlled = owner != nullptr && owner->kind == ControllerKindOf(object.kind_name);
  if (is_controlled) index.controllers[object.metadata.uid] = owner->uid;
  WorkloadReport row = RowOf(object, zero, end);
  index.succeeded_and_failed[object.metadata.uid] = {std::exchange(row.succeeded, 0),
                                                     std::exchange(row.failed, 0)};
  index.rows[object.metadata.uid] = std::move(row);
}

// Whether the kubelet of the pod's node is not heard and has said nothing of the pod.
bool IsOnUnheardNode(const api::Pod& pod, const ApiServer& server) {
  if (pod.node_name.empty() || pod.FindCondition("Ready") != nullptr || pod.status.phase != "Pending")
    return false;
  const api::ObjectPtr node = server.Find(api::Kind::kNode, "Node", "", pod.node_name);
  return node != nullptr && IsKubeletUnheard(static_cast<const api::Node&>(*node));
}

void Count(const api::Pod& pod, const ApiServer& server, WorkloadReport& row) {
  if (pod.status.phase == "Succeeded") {
    ++row.succeeded;
  } else if (pod.status.phase == "Failed") {
    ++row.failed;
  } else if (!pod.metadata.deletion_timestamp.has_value()) {
    if (IsHealthy(pod) && !IsOnUnheardNode(pod, server)) ++row.ready;
    if (pod.node_name.empty()) ++row.pending;
  }
}

// When the first of the jobs that CronJobs wait for is due; "" where none is.
std::string NextJobText(const std::vector<WorkloadReport>& workloads) {
  const WorkloadReport* first = nullptr;
  int64_t count = 0;
  for (const WorkloadReport& row : workloads) {
    if (!row.next_job.has_value()) continue;
    ++count;
    if (first == nullptr || *row.next_job < *first->next_job) first = &row;
  }
  if (first == nullptr) return "";
  const std::string name = Printable(absl::StrCat(first->name_space, "/", first->name), kNameBytesMax);
  return absl::StrCat("                ", count,
                      count == 1 ? " CronJob waits for its time: " : " CronJobs wait for their times: ", name,
                      " makes a job at ", api::FormatRfc3339(*first->next_job),
                      ", after the end of the run\n");
}

std::string CountsText(const WorkloadReport& row) {
  std::string text;
  if (row.wanted.has_value()) absl::StrAppend(&text, *row.wanted, " wanted, ");
  if (row.kind == "Job" || row.kind == "CronJob") absl::StrAppend(&text, row.succeeded, " succeeded, ");
  if (row.failed > 0) absl::StrAppend(&text, row.failed, " failed, ");
  absl::StrAppend(&text, row.ready, " ready, ", row.pending, " pending");
  if (row.is_suspended) absl::StrAppend(&text, ", suspended");
  if (row.is_paused) absl::StrAppend(&text, ", paused");
  if (!row.failed_by.empty()) absl::StrAppend(&text, ", failed: ", row.failed_by);
  return text;
}

}  // namespace

bool WorkloadReport::IsShort() const {
  if (is_finished && failed_by.empty()) return false;
  if (!wanted.has_value()) return pending > 0;
  return (kind == "Job" ? succeeded : ready) < *wanted;
}

std::vector<WorkloadReport> MakeWorkloadReports(const ApiServer& server, absl::Time zero, absl::Time end) {
  Index index;
  for (const api::Kind kind : {api::Kind::kOther, api::Kind::kReplicationController, api::Kind::kReplicaSet,
                               api::Kind::kStatefulSet}) {
    for (const auto& [key, object] : server.List(kind)) Add(*object, zero, end, index);
  }
  index.DropControlled();
  std::vector<WorkloadReport> list;
  if (index.rows.empty()) return list;
  server.ForEachPod([&](const api::Pod& pod) {
    const api::OwnerReference* owner = ControllerOf(pod);
    WorkloadReport* row = owner == nullptr ? nullptr : index.Find(owner->uid);
    if (row != nullptr) Count(pod, server, *row);
  });
  for (auto& [uid, row] : index.rows) {
    const auto& [succeeded, failed] = index.succeeded_and_failed[uid];
    row.succeeded = std::max(row.succeeded, succeeded);
    row.failed = std::max(row.failed, failed);
    list.push_back(std::move(row));
  }
  std::sort(list.begin(), list.end(), [](const WorkloadReport& a, const WorkloadReport& b) {
    return std::tie(a.kind, a.name_space, a.name) < std::tie(b.kind, b.name_space, b.name);
  });
  return list;
}

std::string WorkloadsText(const std::vector<WorkloadReport>& workloads) {
  if (workloads.empty()) return "";
  const auto short_count = std::count_if(workloads.begin(), workloads.end(),
                                         [](const WorkloadReport& row) { return row.IsShort(); });
  std::string text =
      absl::StrCat("Workloads       ", workloads.size(), ", ", short_count, " short of pods\n");
  size_t shown = 0;
  for (const WorkloadReport& row : workloads) {
    if (!row.IsShort()) continue;
    if (shown++ == kShownCount) {
      absl::StrAppend(&text, "                … and ", short_count - static_cast<int64_t>(kShownCount),
                      " more, see --output json\n");
      break;
    }
    absl::StrAppend(&text, "                ", row.kind, " ",
                    Printable(absl::StrCat(row.name_space, "/", row.name), kNameBytesMax), ": ",
                    CountsText(row), "\n");
  }
  return text + NextJobText(workloads);
}

void WriteWorkloads(const std::vector<WorkloadReport>& workloads, codec::JsonWriter& json) {
  json.BeginArray();
  for (const WorkloadReport& row : workloads) {
    json.BeginObject().Field("kind", row.kind).Field("namespace", row.name_space).Field("name", row.name);
    json.Key("wanted");
    if (row.wanted.has_value()) {
      json.Int(*row.wanted);
    } else {
      json.Null();
    }
    json.Field("ready", row.ready).Field("pending", row.pending).Field("succeeded", row.succeeded);
    json.Field("failed", row.failed);
    if (row.is_suspended) json.Key("suspended").Bool(true);
    if (row.is_paused) json.Key("paused").Bool(true);
    if (!row.failed_by.empty()) json.Field("failedBy", row.failed_by);
    if (row.next_job.has_value()) json.Field("nextJob", api::FormatRfc3339(*row.next_job));
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace schedsim::sim
