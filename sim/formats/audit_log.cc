#include "sim/formats/audit_log.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "core/codec/text/json_reader.h"
#include "sim/formats/audit_event.h"

namespace schedsim::sim {
namespace {

// How many characters the API server adds to a generateName.
constexpr size_t kSuffixLength = 5;

// Namespace and name.
using PodKey = std::pair<std::string, std::string>;

// A creation of a pod, and the writes that speak of it.
struct Life {
  AuditPod pod;
  size_t creation = 0;         // Index of the event.
  std::vector<size_t> writes;  // Indexes of events, by end.
};

bool IsDeletion(const AuditEvent& event) {
  return (event.verb == "delete" && event.subresource.empty()) || event.subresource == "eviction";
}

bool IsCreation(const AuditEvent& event) { return event.verb == "create" && event.subresource.empty(); }

bool IsFailedAttempt(const AuditEvent& event) {
  return event.by_scheduler && event.verb == "patch" && event.subresource == "status";
}

void SetFirst(std::optional<absl::Time>& first, absl::Time time) {
  first = first.has_value() ? std::min(*first, time) : time;
}

// Makes a log of its events, which are roughly in order, not more.
class Reader {
 public:
  explicit Reader(std::vector<AuditEvent> events) : events_(std::move(events)), pod_of_(events_.size(), -1) {
    std::stable_sort(events_.begin(), events_.end(),
                     [](const AuditEvent& a, const AuditEvent& b) { return a.end < b.end; });
  }

  AuditLog Read() {
    FindPods();
    AddPods();
    AddCalls();
    AddChanges();
    FindSilences();
    SayWhetherToReplay();
    return std::move(log_);
  }

 private:
  using Names = std::vector<std::pair<absl::Time, std::string>>;

  void FindPods();
  void GiveNames();
  // Gives creations the names of their list, in order. `node`: those that are pinned to a node, by that node.
  void GiveInOrder(std::map<std::tuple<std::string, std::string, std::string>, Names>& names, bool by_node,
                   std::set<PodKey>& taken);
  void AddPods();
  void Complete(Life& life);
  void AddCalls();
  void AddChanges();
  void AddChange(const AuditEvent& event, int64_t pod);
  void TellOfObject(const AuditEvent& event);
  void FindSilences();
  void SayWhetherToReplay();

  std::vector<AuditEvent> events_;
  // Shape: by event. Index into the pods of the log; -1: none.
  std::vector<int64_t> pod_of_;
  std::vector<Life> lives_;
  // Of pods, by name: all that is no creation, by end.
  std::map<PodKey, std::vector<size_t>> writes_;
  // Of an object, by kind, namespace and name: indexes of its last creation and deletion in the changes; -1:
  // none.
  struct Open {
    int64_t creation = -1;
    int64_t deletion = -1;
  };
  std::map<std::tuple<api::Kind, std::string, std::string>, Open> open_;
  AuditLog log_;
};

void Reader::FindPods() {
  for (size_t i = 0; i < events_.size(); ++i) {
    const AuditEvent& event = events_[i];
    if (event.kind != api::Kind::kPod || !event.succeeded) continue;
    if (IsCreation(event)) {
      Life life;
      life.creation = i;
      lives_.push_back(std::move(life));
    } else if (!event.name.empty()) {
      writes_[PodKey(event.name_space, event.name)].push_back(i);
    }
  }
  std::stable_sort(lives_.begin(), lives_.end(), [this](const Life& a, const Life& b) {
    return events_[a.creation].start < events_[b.creation].start;
  });
  GiveNames();
}

// Pods without a name get those names that begin with their generateName and are not those of other
// creations, in the order in which the log speaks of them.
void Reader::GiveNames() {
  std::set<PodKey> taken;
  for (const Life& life : lives_) {
    const AuditEvent& creation = events_[life.creation];
    if (!creation.name.empty()) taken.emplace(creation.name_space, creation.name);
  }
  for (const bool by_node : {true, false}) {
    std::map<std::tuple<std::string, std::string, std::string>, Names> names;
    for (const auto& [key, writes] : writes_) {
      const auto& [name_space, name] = key;
      if (name.size() <= kSuffixLength || taken.contains(key)) continue;
      absl::Time first = absl::InfiniteFuture();
      std::string node;
      for (const size_t write : writes) {
        first = std::min(first, events_[write].start);
        if (events_[write].subresource == "binding") node = events_[write].node;
      }
      names[{name_space, name.substr(0, name.size() - kSuffixLength), by_node ? node : ""}].emplace_back(
          first, name);
    }
    for (auto& [prefix, list] : names) std::sort(list.begin(), list.end());
    GiveInOrder(names, by_node, taken);
  }
  int64_t number = 0;
  for (const Life& life : lives_) {
    AuditEvent& creation = events_[life.creation];
    // No API server makes such a suffix: 0 and 1 are not among its characters.
    if (creation.name.empty()) creation.name = absl::StrFormat("%s%05d", creation.generate_name, number++);
  }
}

void Reader::GiveInOrder(std::map<std::tuple<std::string, std::string, std::string>, Names>& names,
                         bool by_node, std::set<PodKey>& taken) {
  std::map<std::tuple<std::string, std::string, std::string>, size_t> used;
  for (Life& life : lives_) {
    AuditEvent& creation = events_[life.creation];
    if (!creation.name.empty() || creation.generate_name.empty()) continue;
    if (by_node && creation.pinned_node.empty()) continue;
    const std::tuple key(creation.name_space, creation.generate_name, by_node ? creation.pinned_node : "");
    const auto list = names.find(key);
    if (list == names.end()) continue;
    const size_t next = used[key]++;
    if (next >= list->second.size()) continue;
    creation.name = list->second[next].second;
    taken.emplace(creation.name_space, creation.name);
    life.pod.paired_by_order = true;
  }
}

void Reader::AddPods() {
  std::map<PodKey, std::vector<size_t>> by_name;
  for (size_t i = 0; i < lives_.size(); ++i) {
    const AuditEvent& creation = events_[lives_[i].creation];
    by_name[PodKey(creation.name_space, creation.name)].push_back(i);
  }
  for (const auto& [key, writes] : writes_) {
    const auto found = by_name.find(key);
    bool is_bound_unknown = false;
    for (const size_t write : writes) {
      // A name may be used again: a write is about the last pod that was being created by then.
      Life* life = nullptr;
      for (const size_t index : found == by_name.end() ? std::vector<size_t>() : found->second) {
        if (events_[lives_[index].creation].start <= events_[write].end) life = &lives_[index];
      }
      if (life != nullptr) life->writes.push_back(write);
      is_bound_unknown |= life == nullptr && events_[write].subresource == "binding";
    }
    if (is_bound_unknown) ++log_.bound_without_creation;
  }
  for (Life& life : lives_) Complete(life);
  std::stable_sort(lives_.begin(), lives_.end(),
                   [](const Life& a, const Life& b) { return a.pod.created < b.pod.created; });
  for (Life& life : lives_) {
    const auto index = static_cast<int64_t>(log_.pods.size());
    pod_of_[life.creation] = index;
    for (const size_t write : life.writes) pod_of_[write] = index;
    log_.pods.push_back(std::move(life.pod));
  }
}

// Takes over what the creation and the writes say.
void Reader::Complete(Life& life) {
  AuditPod& pod = life.pod;
  const AuditEvent& creation = events_[life.creation];
  pod.name_space = creation.name_space;
  pod.name = creation.name;
  pod.uid = creation.uid;
  pod.scheduler_name = creation.scheduler_name;
  pod.priority = creation.priority;
  pod.gated = creation.is_gated;
  pod.created_on_node = !creation.node.empty();
  pod.has_claims = creation.has_claims;
  pod.has_body = !creation.body.empty();
  pod.created = creation.end;
  std::optional<absl::Time> failed;
  for (const size_t index : life.writes) {
    const AuditEvent& write = events_[index];
    if (pod.uid.empty()) pod.uid = write.uid;
    pod.created = std::min(pod.created, std::max(write.start, creation.start));
    if (write.subresource == "binding") {
      if (!pod.bound.has_value()) pod.node = write.node;
      SetFirst(pod.bound, write.end);
      pod.bound_by_other |= !write.by_scheduler;
      if (write.by_scheduler) SetFirst(pod.binding_started, write.start);
    } else if (IsFailedAttempt(write)) {
      SetFirst(failed, write.start);
    } else if (IsDeletion(write)) {
      if (!pod.deleted.has_value() && !pod.gone.has_value()) pod.deleted_by_scheduler = write.by_scheduler;
      SetFirst(write.at_once ? pod.gone : pod.deleted, write.end);
    }
  }
  if (failed.has_value()) SetFirst(pod.first_call, *failed);
  if (pod.binding_started.has_value()) SetFirst(pod.first_call, *pod.binding_started);
  pod.first_attempt_failed = failed.has_value() && *pod.first_call == *failed;
}

void Reader::AddCalls() {
  for (size_t i = 0; i < events_.size(); ++i) {
    const AuditEvent& event = events_[i];
    if (!event.by_scheduler) continue;
    SchedulerCall call = {.start = event.start, .end = event.end};
    if (pod_of_[i] >= 0) {
      const AuditPod& pod = log_.pods[static_cast<size_t>(pod_of_[i])];
      call.is_binding = event.subresource == "binding" && pod.binding_started == event.start;
      // Later attempts wait for something else.
      if (call.is_binding || (IsFailedAttempt(event) && pod.first_call == event.start)) call.pod = pod_of_[i];
    }
    log_.calls.push_back(call);
  }
  std::stable_sort(log_.calls.begin(), log_.calls.end(),
                   [](const SchedulerCall& a, const SchedulerCall& b) { return a.start < b.start; });
}

void Reader::AddChanges() {
  for (size_t i = 0; i < events_.size(); ++i) {
    if (events_[i].kind == api::Kind::kOther || !events_[i].succeeded) continue;
    TellOfObject(events_[i]);
    if (events_[i].kind == api::Kind::kPod) {
      const int64_t created = IsCreation(events_[i]) ? pod_of_[i] : -1;
      log_.pod_writes.push_back(
          {created < 0 ? events_[i].end : log_.pods[static_cast<size_t>(created)].created, created});
    }
    if (!events_[i].by_scheduler) AddChange(events_[i], pod_of_[i]);
  }
  std::stable_sort(log_.changes.begin(), log_.changes.end(),
                   [](const AuditChange& a, const AuditChange& b) { return a.at < b.at; });
  std::stable_sort(log_.pod_writes.begin(), log_.pod_writes.end(),
                   [](const AuditLog::PodWrite& a, const AuditLog::PodWrite& b) { return a.at < b.at; });
}

// What an event says of the creation and the deletion that came before it.
void Reader::TellOfObject(const AuditEvent& event) {
  const auto found = open_.find({event.kind, event.name_space, event.name});
  if (found == open_.end()) return;
  const Open& open = found->second;
  if (open.creation >= 0) {
    AuditChange& creation = log_.changes[static_cast<size_t>(open.creation)];
    if (creation.uid.empty()) creation.uid = event.uid;
    creation.taints_change |= event.kind == api::Kind::kNode && event.sets_taints;
  }
  if (open.deletion >= 0 && event.verb == "update" && event.is_deleting) {
    log_.changes[static_cast<size_t>(open.deletion)].lingers = true;
  }
}

void Reader::AddChange(const AuditEvent& event, int64_t pod) {
  const bool is_status = event.subresource == "status";
  const bool is_main = event.subresource.empty() || event.subresource == "resize";
  AuditChange change = {.at = event.end,
                        .kind = event.kind,
                        .api_version = event.api_version,
                        .name_space = event.name_space,
                        .name = event.name,
                        .uid = event.uid,
                        .pod = pod,
                        .body = event.body,
                        .is_answer = event.is_answer,
                        .is_status = is_status,
                        .node = event.node,
                        .line = event.line};
  Open& open = open_[{event.kind, event.name_space, event.name}];
  const auto index = static_cast<int64_t>(log_.changes.size());
  if (IsCreation(event)) {
    if (pod >= 0) {
      change.at = log_.pods[static_cast<size_t>(pod)].created;
      change.uid = log_.pods[static_cast<size_t>(pod)].uid;
    }
    open = {.creation = index};
  } else if (event.subresource == "binding") {
    change.verb = AuditChange::Verb::kBind;
    change.body.clear();
  } else if (IsDeletion(event)) {
    change.verb = AuditChange::Verb::kDelete;
    change.at_once = event.at_once;
    // Of a victim: it goes because the scheduler deleted it.
    if (pod >= 0 && event.at_once && log_.pods[static_cast<size_t>(pod)].deleted_by_scheduler) return;
    open.deletion = index;
  } else if (event.verb == "deletecollection") {
    change.verb = AuditChange::Verb::kDeleteAll;
    change.has_selector = event.has_selector;
  } else if ((is_main || is_status) && (event.verb == "update" || event.verb == "patch")) {
    change.verb = event.verb == "update" ? AuditChange::Verb::kUpdate : AuditChange::Verb::kPatch;
    change.ends = event.verb == "update" && event.is_deleting && !event.has_finalizers;
  } else {
    return;
  }
  log_.changes.push_back(std::move(change));
}

void Reader::FindSilences() {
  for (const AuditPod& pod : log_.pods) {
    if (!pod.first_call.has_value() || pod.gated || pod.created_on_node) continue;
    const size_t next = log_.CallsBefore(pod.created);
    if (next == log_.calls.size()) continue;
    const absl::Time to = log_.calls[next].start;
    if (to - pod.created < kSilence) continue;
    // The first pod of a silence says when it begins; those that come in it, whatever later, are in it.
    if (log_.silences.empty() || log_.silences.back().to < to) log_.silences.push_back({pod.created, to});
  }
}

void Reader::SayWhetherToReplay() {
  std::set<std::string> nodes;
  for (const AuditChange& change : log_.changes) {
    const bool creates = change.verb == AuditChange::Verb::kCreate && !change.body.empty();
    if (creates && change.kind == api::Kind::kNode) nodes.insert(change.name);
  }
  int64_t without_body = 0;
  int64_t elsewhere = 0;
  for (const AuditPod& pod : log_.pods) {
    if (!pod.has_body) ++without_body;
    if (pod.bound.has_value() && !nodes.contains(pod.node)) ++elsewhere;
  }
  if (without_body > 0) {
    log_.no_replay = absl::StrCat("the log has no body for ", without_body, " of ", log_.pods.size(),
                                  " pods that it creates (audit level Request is needed)");
  } else if (elsewhere > 0) {
    log_.no_replay = absl::StrCat(elsewhere, " pods were bound to nodes whose creation is not in the log");
  }
}

}  // namespace

size_t AuditLog::CallsBefore(absl::Time time) const {
  const auto at = std::lower_bound(calls.begin(), calls.end(), time,
                                   [](const SchedulerCall& call, absl::Time t) { return call.start < t; });
  return static_cast<size_t>(at - calls.begin());
}

absl::Time AuditLog::AfterSilence(absl::Time time) const {
  for (const Silence& silence : silences) {
    if (silence.from <= time && time < silence.to) return silence.to;
  }
  return time;
}

absl::StatusOr<AuditLog> ParseAuditLog(std::string text, absl::string_view file,
                                       absl::string_view scheduler_agent) {
  text.reserve(text.size() + codec::kPaddingBytes);
  int64_t event_count = 0;
  std::vector<AuditEvent> events;
  RETURN_IF_ERROR(codec::ReadJson(text, file, {}, [&](const codec::Document& document) -> absl::Status {
    std::optional<AuditEvent> event;
    ASSIGN_OR_RETURN(event, ParseAuditEvent(document.root, file, scheduler_agent));
    ++event_count;
    if (event.has_value()) events.push_back(*std::move(event));
    return absl::OkStatus();
  }));
  if (event_count == 0) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": empty, expected events of an audit log"));
  }
  AuditLog log = Reader(std::move(events)).Read();
  log.event_count = event_count;
  return log;
}

absl::StatusOr<AuditLog> ReadAuditLog(absl::string_view path, absl::string_view scheduler_agent) {
  std::string text;
  ASSIGN_OR_RETURN(text, codec::ReadFile(path));
  return ParseAuditLog(std::move(text), path, scheduler_agent);
}

}  // namespace schedsim::sim
