#include "sim/audit_log.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codec/input.h"
#include "core/codec/json_reader.h"
#include "core/codec/value.h"

namespace schedsim::sim {
namespace {

using codec::Value;

// How many characters the API server adds to a generateName.
constexpr size_t kSuffixLength = 5;

// The value at a path of keys; nullptr where there is none.
const Value* FindPath(const Value& root, std::initializer_list<absl::string_view> path) {
  const Value* value = &root;
  for (const absl::string_view key : path) {
    value = value->Find(key);
    if (value == nullptr) return nullptr;
  }
  return value;
}

// The text at a path of keys; "" where there is none.
absl::string_view TextAt(const Value& root, std::initializer_list<absl::string_view> path) {
  const Value* value = FindPath(root, path);
  return value != nullptr && value->is_string() ? value->text : "";
}

int64_t NumberAt(const Value& root, std::initializer_list<absl::string_view> path, int64_t otherwise) {
  const Value* value = FindPath(root, path);
  int64_t number = 0;
  const bool known =
      value != nullptr && value->type == Value::Type::kNumber && absl::SimpleAtoi(value->text, &number);
  return known ? number : otherwise;
}

absl::StatusOr<absl::Time> TimeAt(const Value& event, absl::string_view key, absl::string_view file) {
  const absl::string_view text = TextAt(event, {key});
  absl::Time time;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, nullptr)) return time;
  const Value* value = event.Find(key);
  return codec::ErrorAt({file, (value == nullptr ? event : *value).position},
                        absl::StrCat(key, ": expected a time such as 2026-01-31T12:00:00.000000Z, got ",
                                     value == nullptr ? "none" : absl::StrCat("\"", text, "\"")));
}

// Namespace and name.
using PodKey = std::pair<std::string, std::string>;

// What the log says of a name, in whatever order.
struct Mentions {
  // The scheduler's first binding and first status, as indexes into the calls; -1: none.
  int64_t binding = -1;
  int64_t status = -1;
  std::optional<absl::Time> first;
  std::optional<absl::Time> bound;
  std::optional<absl::Time> deleted;
  std::optional<absl::Time> gone;
};

// A creation, and the generateName that it came with.
struct Creation {
  AuditPod pod;
  std::string prefix;
};

void SetFirst(std::optional<absl::Time>& first, absl::Time time) {
  first = first.has_value() ? std::min(*first, time) : time;
}

// Takes the events of a log one after the other; they are roughly in order, not more.
class Reader {
 public:
  Reader(absl::string_view file, absl::string_view scheduler_agent)
      : file_(file), scheduler_agent_(scheduler_agent) {}

  absl::Status Add(const Value& event) {
    if (!event.is_object() || TextAt(event, {"kind"}) != "Event" ||
        !absl::StartsWith(TextAt(event, {"apiVersion"}), "audit.k8s.io/")) {
      return codec::ErrorAt({file_, event.position},
                            "expected an event of an audit log: kind Event, apiVersion audit.k8s.io/v1");
    }
    ++log_.event_count;
    if (TextAt(event, {"stage"}) != "ResponseComplete") return absl::OkStatus();
    absl::Time start;
    ASSIGN_OR_RETURN(start, TimeAt(event, "requestReceivedTimestamp", file_));
    absl::Time end;
    ASSIGN_OR_RETURN(end, TimeAt(event, "stageTimestamp", file_));
    AddCall(event, start, end);
    return absl::OkStatus();
  }

  AuditLog Finish() {
    // A name may be used again; its later lives are left out.
    std::stable_sort(created_.begin(), created_.end(),
                     [](const Creation& a, const Creation& b) { return a.pod.created < b.pod.created; });
    GiveNames();
    std::set<PodKey> seen;
    for (Creation& creation : created_) {
      AuditPod& pod = creation.pod;
      if (!pod.name.empty()) {
        if (!seen.emplace(pod.name_space, pod.name).second) continue;
        Complete(pod, static_cast<int64_t>(log_.pods.size()));
      }
      log_.pods.push_back(std::move(pod));
    }
    for (const auto& [key, mentions] : mentions_) {
      if (mentions.bound.has_value() && !seen.contains(key)) ++log_.bound_without_creation;
    }
    std::stable_sort(log_.calls.begin(), log_.calls.end(),
                     [](const SchedulerCall& a, const SchedulerCall& b) { return a.start < b.start; });
    return std::move(log_);
  }

 private:
  void AddCall(const Value& event, absl::Time start, absl::Time end) {
    const absl::string_view verb = TextAt(event, {"verb"});
    const absl::string_view resource = TextAt(event, {"objectRef", "resource"});
    const absl::string_view subresource = TextAt(event, {"objectRef", "subresource"});
    const bool is_write = verb == "create" || verb == "update" || verb == "patch" || verb == "delete";
    if (!is_write || resource.empty() || resource == "events" || resource == "leases") return;
    const bool by_scheduler = absl::StartsWith(TextAt(event, {"userAgent"}), scheduler_agent_);
    if (by_scheduler) log_.calls.push_back({.start = start, .end = end});
    const int64_t code = NumberAt(event, {"responseStatus", "code"}, 0);
    if (resource != "pods" || code < 200 || code > 299) return;
    if (verb == "create" && subresource.empty()) {
      AddCreation(event, end);
      return;
    }
    const PodKey key(TextAt(event, {"objectRef", "namespace"}), TextAt(event, {"objectRef", "name"}));
    // A collection.
    if (key.second.empty()) return;
    Mentions& mentions = mentions_[key];
    SetFirst(mentions.first, start);
    if (verb == "create" && subresource == "binding") SetFirst(mentions.bound, end);
    if (by_scheduler) AddSchedulerCall(verb, subresource, mentions);
    const bool deletes = (verb == "delete" && subresource.empty()) || subresource == "eviction";
    if (!deletes) return;
    const bool at_once = NumberAt(event, {"requestObject", "gracePeriodSeconds"}, -1) == 0;
    SetFirst(at_once ? mentions.gone : mentions.deleted, end);
  }

  void AddSchedulerCall(absl::string_view verb, absl::string_view subresource, Mentions& mentions) {
    const auto index = static_cast<int64_t>(log_.calls.size()) - 1;
    int64_t* slot = subresource == "binding"                       ? &mentions.binding
                    : verb == "patch" && subresource == "status" ? &mentions.status
                                                                   : nullptr;
    if (slot == nullptr) return;
    if (*slot < 0 || StartOf(index) < StartOf(*slot)) *slot = index;
  }

  absl::Time StartOf(int64_t call) const { return log_.calls[static_cast<size_t>(call)].start; }

  void AddCreation(const Value& event, absl::Time end) {
    AuditPod pod;
    pod.name_space = std::string(TextAt(event, {"objectRef", "namespace"}));
    pod.created = end;
    for (const absl::string_view body : {"objectRef", "requestObject", "responseObject"}) {
      const bool is_reference = body == "objectRef";
      const absl::string_view name =
          is_reference ? TextAt(event, {body, "name"}) : TextAt(event, {body, "metadata", "name"});
      if (!name.empty()) pod.name = std::string(name);
      if (is_reference) continue;
      pod.priority =
          static_cast<int32_t>(NumberAt(event, {body, "spec", "priority"}, static_cast<int64_t>(pod.priority)));
      const Value* gates = FindPath(event, {body, "spec", "schedulingGates"});
      pod.gated = pod.gated || (gates != nullptr && !gates->items.empty());
      // A pod that is created on a node is no work of the scheduler.
      if (!TextAt(event, {body, "spec", "nodeName"}).empty()) return;
    }
    pod.paired_by_order = pod.name.empty();
    const absl::string_view prefix = TextAt(event, {"requestObject", "metadata", "generateName"});
    created_.push_back({.pod = std::move(pod), .prefix = std::string(prefix)});
  }

  // Gives pods without a name those names that begin with their generateName and are not those of other
  // creations, in the order in which the log speaks of them.
  void GiveNames() {
    std::set<PodKey> taken;
    for (const Creation& creation : created_) taken.emplace(creation.pod.name_space, creation.pod.name);
    std::map<PodKey, std::vector<std::pair<absl::Time, std::string>>> names;
    for (const auto& [key, mentions] : mentions_) {
      const auto& [name_space, name] = key;
      if (name.size() <= kSuffixLength || taken.contains(key)) continue;
      names[PodKey(name_space, name.substr(0, name.size() - kSuffixLength))].emplace_back(*mentions.first,
                                                                                          name);
    }
    for (auto& [prefix, list] : names) std::sort(list.begin(), list.end());
    std::map<PodKey, size_t> used;
    for (Creation& creation : created_) {
      AuditPod& pod = creation.pod;
      const PodKey prefix(pod.name_space, creation.prefix);
      const auto list = names.find(prefix);
      if (!pod.name.empty() || creation.prefix.empty() || list == names.end()) continue;
      const size_t next = used[prefix]++;
      if (next < list->second.size()) pod.name = list->second[next].second;
    }
  }

  // Adds what the log says of the name; `index` is the pod's in the log.
  void Complete(AuditPod& pod, int64_t index) {
    const auto found = mentions_.find(PodKey(pod.name_space, pod.name));
    if (found == mentions_.end()) return;
    const Mentions& mentions = found->second;
    pod.bound = mentions.bound;
    pod.deleted = mentions.deleted;
    pod.gone = mentions.gone;
    for (const int64_t call : {mentions.binding, mentions.status}) {
      if (call < 0) continue;
      log_.calls[static_cast<size_t>(call)].pod = index;
      SetFirst(pod.first_call, StartOf(call));
    }
    if (mentions.binding >= 0) pod.binding_started = StartOf(mentions.binding);
    pod.first_attempt_failed =
        mentions.status >= 0 && (mentions.binding < 0 || StartOf(mentions.status) < StartOf(mentions.binding));
  }

  const absl::string_view file_;
  const absl::string_view scheduler_agent_;
  AuditLog log_;
  std::vector<Creation> created_;
  std::map<PodKey, Mentions> mentions_;
};

}  // namespace

absl::StatusOr<AuditLog> ReadAuditLog(absl::string_view path, absl::string_view scheduler_agent) {
  std::string text;
  ASSIGN_OR_RETURN(text, codec::ReadFile(path));
  Reader reader(path, scheduler_agent);
  RETURN_IF_ERROR(codec::ReadJson(text, path, {},
                                  [&](const codec::Document& document) { return reader.Add(document.root); }));
  AuditLog log = reader.Finish();
  if (log.event_count == 0) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": empty, expected events of an audit log"));
  }
  return log;
}

}  // namespace schedsim::sim
