#include "sim/scenario/timeline.h"

#include <algorithm>
#include <map>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/api/kinds.h"
#include "core/api/node.h"
#include "core/api/pod.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/api_fields.h"
#include "core/codec/objects/field_check.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/objects/wrong_type.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "sim/cluster/object_list.h"
#include "sim/cluster/resource_name.h"
#include "sim/controllers/garbage_collector.h"
#include "sim/controllers/node_lifecycle.h"

namespace schedsim::sim {
namespace {

const api::Pod& PodOf(const api::Object& object) { return static_cast<const api::Pod&>(object); }

std::shared_ptr<api::Node> NodeCopy(const api::Object& object) {
  return std::static_pointer_cast<api::Node>(object.Clone());
}

constexpr char kAllowMissing[] = "; allowMissing: true where that is meant";

bool IsOneOf(const api::Taint& taint, const std::vector<api::Taint>& taints, bool any_effect) {
  return std::any_of(taints.begin(), taints.end(), [&](const api::Taint& other) {
    return other.key == taint.key && (other.effect == taint.effect || (any_effect && other.effect.empty()));
  });
}

// As kubectl writes a taint: `key=value:effect`.
std::string TaintText(const api::Taint& taint) {
  return absl::StrCat(taint.key, taint.value.empty() ? "" : "=", taint.value, taint.effect.empty() ? "" : ":",
                      taint.effect);
}

// NotFound for the first of `wanted` that `taints` does not have, as kubectl says it.
absl::Status CheckTaints(const std::vector<api::Taint>& wanted, const std::vector<api::Taint>& taints,
                         const std::string& node) {
  for (const api::Taint& taint : wanted) {
    const bool is_there = std::any_of(taints.begin(), taints.end(), [&](const api::Taint& other) {
      return IsOneOf(other, {taint}, /*any_effect=*/true);
    });
    if (is_there) continue;
    return absl::NotFoundError(
        absl::StrCat("taint \"", TaintText(taint), "\" not found on Node ", node, kAllowMissing));
  }
  return absl::OkStatus();
}

// Aborted, a conflict, where an update is meant for another object of the name.
absl::Status CheckUid(const api::Object& before, const api::Object& after) {
  const std::string& uid = after.metadata.uid;
  if (uid.empty() || uid == before.metadata.uid) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(
      "Operation cannot be fulfilled on ", ResourceOf(after), " \"", after.metadata.name,
      "\": Precondition failed: UID in precondition: ", uid, ", UID in object meta: ", before.metadata.uid));
}

constexpr absl::Duration kInterval = absl::Milliseconds(1);

// Pods that are over match no selector.
bool Matches(const Target& target, const api::Object& object) {
  const api::ObjectMeta& meta = object.metadata;
  if (object.kind != target.kind || object.kind_name != target.kind_name) return false;
  if (!target.name_space.empty() && meta.namespace_ != target.name_space) return false;
  if (!target.selector.has_value()) {
    return std::find(target.names.begin(), target.names.end(), meta.name) != target.names.end();
  }
  const bool is_over = object.kind == api::Kind::kPod && static_cast<const api::Pod&>(object).IsTerminal();
  return !is_over && target.selector->Matches(meta.labels);
}

// Fields of an object, each with what is wrong with it.
struct FieldFaults {
  // Those that its kind does not have, with what helps: `spec.nodeSelecter` and `no such field, did you mean
  // nodeSelector?`.
  std::map<std::string, std::string> unknown;
  // Those with a value that the API server could not decode: `expected a string, got the number 1`.
  std::map<std::string, std::string> mistyped;
};

FieldFaults FieldFaultsOf(const api::Object& object) {
  FieldFaults faults;
  const codec::ApiKind* kind = codec::ApiFields::Get().Find(object.api_version, object.kind_name);
  if (kind == nullptr || kind->type == nullptr) return faults;
  codec::VisitObjectTree(object, [&](const codec::Value& root) {
    codec::FieldCheck check;
    check.Run(
        root, *kind->type,
        [&](const codec::UnknownField& field) {
          const std::string nearest = check.NearestOf(field);
          const std::string help = nearest.empty() ? "" : absl::StrCat(", did you mean ", nearest, "?");
          faults.unknown[check.PatternOf(field)] = absl::StrCat("no such field", help);
        },
        [&faults](const codec::MistypedValue& found) {
          faults.mistyped[found.path] = codec::WrongTypeText(found.expected, *found.value);
        });
  });
  return faults;
}

// InvalidArgument where a patch brings a value that the API server could not decode.
absl::Status CheckTypes(const api::Object& before, const api::Object& after) {
  const FieldFaults faults = FieldFaultsOf(after);
  if (faults.mistyped.empty()) return absl::OkStatus();
  const FieldFaults faults_before = FieldFaultsOf(before);
  for (const auto& [field, what] : faults.mistyped) {
    if (faults_before.mistyped.contains(field)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(after.kind_name, " ", after.Key(), ": ", field, ": ", what));
  }
  return absl::OkStatus();
}

// What a target names, for messages: "Pod web-1 in namespace default", "Node with zone=a".
std::string Describe(const Target& target, const std::vector<std::string>& names) {
  std::string text = target.kind_name;
  if (!target.selector.has_value()) {
    absl::StrAppend(&text, " ", absl::StrJoin(names, ", "));
  } else if (!target.selector_text.empty()) {
    absl::StrAppend(&text, " with ", target.selector_text);
  }
  if (!target.name_space.empty()) absl::StrAppend(&text, " in namespace ", target.name_space);
  return text;
}

absl::Status NeedsControllers() {
  return absl::FailedPreconditionError("no controller takes part, expected --controllers all");
}

// `missing`: the names that are not there.
absl::Status NamesNothing(const Target& target, const std::vector<std::string>& missing) {
  return absl::NotFoundError(absl::StrCat("there is no ", Describe(target, missing), kAllowMissing));
}

}  // namespace

Timeline::Timeline(std::vector<TimelineEntry> entries, Simulation& simulation)
    : entries_(std::move(entries)),
      simulation_(simulation),
      drainer_(simulation.loop(), simulation.server()) {
  drainer_.set_is_made_anew([this](const api::Pod& pod) { return simulation_.controllers().Owns(pod); });
  simulation_.server().Watch([this](const WatchEvent& event) {
    if (!unseen_.empty()) NoteSeen(event.new_object);
    if (wait_ == nullptr) return;
    Count(event.old_object, -1);
    Count(event.new_object, 1);
  });
}

void Timeline::Start() {
  for (const TimelineEntry& entry : entries_) {
    const auto* wait = std::get_if<WaitUntil>(&entry.action);
    if (wait != nullptr && wait->condition == WaitUntil::Condition::kGone) unseen_.push_back(wait);
  }
  for (int kind = 0; !unseen_.empty() && kind < api::kKindCount; ++kind) {
    for (const auto& [key, object] : simulation_.server().List(static_cast<api::Kind>(kind)))
      NoteSeen(object);
  }
  Schedule(0);
}

void Timeline::NoteSeen(const api::ObjectPtr& object) {
  if (object == nullptr) return;
  std::erase_if(unseen_, [&](const WaitUntil* wait) { return Matches(wait->target, *object); });
}

// Each entry is put into the loop when the one before is done, so that what an entry sets off comes before
// the next one.
void Timeline::Schedule(size_t index) {
  index_ = index;
  if (index == entries_.size()) {
    done_ = true;
    return;
  }
  EventLoop& loop = simulation_.loop();
  const TimelineEntry& entry = entries_[index];
  // What an entry sets off with the controllers is a part of it.
  awaits_controllers_ = !entry.at.has_value() && simulation_.controllers().IsBusy();
  if (awaits_controllers_) return;
  absl::Time ready = std::max(loop.Now(), busy_until_);
  if (entry.round.has_value()) ready = std::max(ready, came_[entry.round->first] + entry.round->span);
  const absl::Time at =
      entry.at.has_value() ? std::max(ready, simulation_.zero() + *entry.at) : ready + entry.after;
  loop.At(at, EventLoop::Phase::kStep, [this, index] { Carry(index); });
}

void Timeline::Carry(size_t index) {
  simulation_.trace().Step(static_cast<int64_t>(index));
  came_.push_back(simulation_.now());
  const absl::Status status =
      std::visit([this](const auto& action) { return Do(action); }, entries_[index].action);
  if (!status.ok() && std::holds_alternative<WaitUntil>(entries_[index].action)) {
    GiveUp(absl::StrCat(entries_[index].place, ": ", status.message()));
    return;
  }
  Note(entries_[index].place, status);
  if (wait_ == nullptr) Schedule(index + 1);
}

void Timeline::Note(const std::string& place, const absl::Status& status) {
  if (status.ok()) return;
  simulation_.trace().ApiError("timeline", status.message());
  failures_.push_back(absl::StrCat(place, ": ", status.message()));
}

void Timeline::GiveUp(std::string failure) {
  failures_.push_back(std::move(failure));
  wait_ = nullptr;
  done_ = true;
  simulation_.Stop();
}

void Timeline::OneByOne(const std::vector<api::ObjectPtr>& objects,
                        const std::function<absl::Status(const api::ObjectPtr&)>& change) {
  EventLoop& loop = simulation_.loop();
  busy_until_ = loop.Now();
  for (const api::ObjectPtr& object : objects) {
    loop.At(busy_until_, EventLoop::Phase::kStep,
            [this, place = &entries_[index_].place, object, change] { Note(*place, change(object)); });
    if (object != objects.back()) busy_until_ += kInterval;
  }
}

void Timeline::OnSettled() {
  const bool is_busy = simulation_.controllers().IsBusy();
  if (awaits_controllers_ && !is_busy) Schedule(index_);
  // A count of pods that are still to be made says nothing.
  if (wait_ == nullptr || (is_busy && CountsAll(*wait_)) || !Holds(*wait_)) return;
  simulation_.loop().Cancel(deadline_);
  wait_ = nullptr;
  Schedule(index_ + 1);
}

bool Timeline::CountsAll(const WaitUntil& wait) {
  return wait.condition == WaitUntil::Condition::kPending ||
         (wait.condition == WaitUntil::Condition::kBound && !wait.count.has_value());
}

void Timeline::TimeOut() {
  GiveUp(absl::StrCat(entries_[index_].place, ": not so after ", absl::FormatDuration(wait_->timeout), ": ",
                      StateOf(*wait_)));
}

void Timeline::Finish() {
  const auto drain = std::find_if(entries_.begin(), entries_.end(), [](const TimelineEntry& entry) {
    return std::holds_alternative<DrainNodes>(entry.action);
  });
  if (drainer_.evicted_of_workloads() > 0) {
    warnings_.push_back(absl::StrCat(
        drain->place, ": ", drainer_.evicted_of_workloads(),
        " evicted pods of workloads were not made anew: the input has no such workloads, or no controllers"));
  }
  if (done_) return;
  const std::string end =
      absl::StrCat("the run ended at ", absl::FormatDuration(simulation_.now() - simulation_.zero()));
  failures_.push_back(
      wait_ == nullptr ? absl::StrCat(entries_[index_].place, ": never came: ", end, " before")
                       : absl::StrCat(entries_[index_].place, ": not so when ", end, ": ", StateOf(*wait_)));
}

absl::Status Timeline::Do(const CreateObjects& action) {
  OneByOne(action.objects,
           [this](const api::ObjectPtr& object) { return simulation_.server().Create(object); });
  return absl::OkStatus();
}

absl::Status Timeline::Do(const UpdateObjects& action) {
  // A version in a manifest is that of another server.
  OneByOne(action.objects, [this](const api::ObjectPtr& object) {
    const api::ObjectPtr before = simulation_.server().Find(*object);
    if (before != nullptr) RETURN_IF_ERROR(CheckUpdate(*before, *object));
    return simulation_.server().Update(object, ApiServer::VersionCheck::kUnchecked);
  });
  return absl::OkStatus();
}

absl::Status Timeline::CheckUpdate(const api::Object& before, const api::Object& after) const {
  RETURN_IF_ERROR(CheckUid(before, after));
  RETURN_IF_ERROR(simulation_.server().AdmitUpdate(before, after));
  const bool names_node = after.kind == api::Kind::kPod && !PodOf(after).node_name.empty();
  return names_node ? ValidatePodNode(PodOf(before), PodOf(after)) : absl::OkStatus();
}

absl::Status Timeline::Do(const PatchObjects& action) {
  return ForEach(action.target, [&](const api::Object& object) { return Patch(object, action); });
}

absl::Status Timeline::Patch(const api::Object& object, const PatchObjects& action) {
  const auto check = [this, &action](const api::Object& before, const api::Object& after) {
    RETURN_IF_ERROR(CheckTypes(before, after));
    if (after.kind != api::Kind::kPod) return simulation_.server().AdmitUpdate(before, after);
    return ValidatePodUpdate(simulation_.server(), PodOf(before), PodOf(after), action.subresource);
  };
  // The ending makes JSON of a patch that is a list.
  return codec::ReadText(
      action.patch, "patch.json", {}, [&](const codec::Document& document) -> absl::Status {
        api::ObjectPtr patched;
        ASSIGN_OR_RETURN(patched, simulation_.server().Patch(object, action.type, document.root, check));
        WarnOfFields(object, *patched);
        return absl::OkStatus();
      });
}

void Timeline::WarnOfFields(const api::Object& before, const api::Object& after) {
  const FieldFaults faults = FieldFaultsOf(after);
  if (faults.unknown.empty()) return;
  const FieldFaults faults_before = FieldFaultsOf(before);
  for (const auto& [field, what] : faults.unknown) {
    if (faults_before.unknown.contains(field)) continue;
    std::string warning =
        absl::StrCat(entries_[index_].place, ": ", after.kind_name, ", patched: ", field, ": ", what);
    // A patch of many objects is one fault.
    const bool is_said = std::find(warnings_.begin(), warnings_.end(), warning) != warnings_.end();
    if (!is_said) warnings_.push_back(std::move(warning));
  }
}

absl::Status Timeline::Do(const DeleteObjects& action) {
  auto* collector = simulation_.controllers().Get<GarbageCollector>();
  return ForEach(action.target, [&](const api::Object& object) {
    if (action.orphans && collector != nullptr) collector->Orphan(object);
    if (object.kind == api::Kind::kPod) {
      return simulation_.server().DeletePod(static_cast<const api::Pod&>(object));
    }
    return simulation_.server().Delete(object.kind, object.kind_name, object.metadata.namespace_,
                                       object.metadata.name);
  });
}

absl::Status Timeline::Do(const CompletePods& action) {
  return ForEach(action.target, [&](const api::Object& object) {
    auto pod = std::static_pointer_cast<api::Pod>(object.Clone());
    if (pod->IsTerminal()) return absl::OkStatus();
    pod->status.phase = action.phase;
    return simulation_.server().Update(pod);
  });
}

absl::Status Timeline::Do(const CordonNodes& action) {
  return ForEach(action.nodes, [&](const api::Object& object) {
    auto node = NodeCopy(object);
    if (node->spec.unschedulable == action.unschedulable) return absl::OkStatus();
    node->spec.unschedulable = action.unschedulable;
    return simulation_.server().Update(node);
  });
}

absl::Status Timeline::Do(const TaintNodes& action) {
  return ForEach(action.nodes, [&](const api::Object& object) {
    auto node = NodeCopy(object);
    std::vector<api::Taint>& taints = node->spec.taints;
    const std::vector<api::Taint> before = taints;
    if (action.remove && !action.nodes.allow_missing) {
      RETURN_IF_ERROR(CheckTaints(action.taints, before, node->metadata.name));
    }
    std::erase_if(taints,
                  [&](const api::Taint& taint) { return IsOneOf(taint, action.taints, action.remove); });
    if (!action.remove) taints.insert(taints.end(), action.taints.begin(), action.taints.end());
    return taints == before ? absl::OkStatus() : simulation_.server().Update(node);
  });
}

absl::Status Timeline::Do(const LabelObjects& action) {
  return ForEach(action.target, [&](const api::Object& object) {
    std::shared_ptr<api::Object> copy = object.Clone();
    for (const auto& [key, value] : action.labels) {
      if (value.has_value()) {
        copy->metadata.labels.Set(key, *value);
      } else {
        copy->metadata.labels.Erase(key);
      }
    }
    return simulation_.server().Update(copy);
  });
}

// Nodes that are there are drained, even if others that are named are not.
absl::Status Timeline::Do(const DrainNodes& action) {
  absl::Status status = Do(CordonNodes{.nodes = action.nodes, .unschedulable = true});
  std::vector<std::string> nodes;
  status.Update(ForEach(action.nodes, [&nodes](const api::Object& node) {
    nodes.push_back(node.metadata.name);
    return absl::OkStatus();
  }));
  drainer_.Drain(nodes, action.options, [this, place = &entries_[index_].place](const std::string& message) {
    Note(*place, absl::FailedPreconditionError(message));
  });
  return status;
}

absl::Status Timeline::Do(const NodeDown& action) {
  auto* node_lifecycle = simulation_.controllers().Get<NodeLifecycleController>();
  if (node_lifecycle == nullptr) return NeedsControllers();
  return ForEach(action.nodes, [&](const api::Object& node) {
    const std::string& name = node.metadata.name;
    // What the timeline says of the node holds until it says that the node is up.
    simulation_.HoldNode(name, true);
    if (!action.silent) return node_lifecycle->SetNotReady(name);
    // The kubelet stops: it sends no heartbeats, and ends no pods.
    simulation_.SetSilent(name, true);
    return node_lifecycle->MissHeartbeats(name, action.grace_period);
  });
}

absl::Status Timeline::Do(const NodeUp& action) {
  auto* node_lifecycle = simulation_.controllers().Get<NodeLifecycleController>();
  if (node_lifecycle == nullptr) return NeedsControllers();
  return ForEach(action.nodes, [&](const api::Object& node) {
    const absl::Status status = node_lifecycle->Recover(node.metadata.name);
    simulation_.HoldNode(node.metadata.name, false);
    simulation_.SetSilent(node.metadata.name, false);
    return status;
  });
}

// As kubectl scale: the object says how many pods there are to be, and its controller sees to it.
absl::Status Timeline::Do(const ScaleWorkload& action) {
  const api::KindInfo* const info = api::FindKindByName(action.kind);
  CHECK(info != nullptr);
  const api::ObjectPtr object =
      simulation_.server().Find(info->kind, action.kind, action.name_space, action.name);
  if (object == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("there is no ", action.kind, " ", action.name_space, "/", action.name));
  }
  PatchObjects patch;
  patch.patch = absl::StrCat("{\"spec\": {\"replicas\": ", action.replicas, "}}");
  return Patch(*object, patch);
}

absl::Status Timeline::Do(const SaveSnapshot& action) {
  if (snapshot_sink_ == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("the snapshot ", action.path, " is not saved: nothing takes snapshots of this run"));
  }
  snapshot_sink_(action, ServedObjects(simulation_.server()));
  return absl::OkStatus();
}

absl::Status Timeline::Do(const ScaleSet& action) {
  ApiServer& server = simulation_.server();
  ScaleChange change;
  ASSIGN_OR_RETURN(change, ChangeToScale(*action.scaler, server, simulation_.loop()));
  if (!change.create.empty()) {
    OneByOne(change.create, [&server](const api::ObjectPtr& object) { return server.Create(object); });
    return absl::OkStatus();
  }
  OneByOne(change.remove, [&server](const api::ObjectPtr& object) {
    if (object->kind == api::Kind::kPod) return server.DeletePod(PodOf(*object));
    return server.Delete(object->kind, object->kind_name, object->metadata.namespace_, object->metadata.name);
  });
  return absl::OkStatus();
}

absl::Status Timeline::CheckNames(const WaitUntil& wait) const {
  if (wait.target.allow_missing) return absl::OkStatus();
  if (wait.condition == WaitUntil::Condition::kGone) {
    const bool unseen = std::find(unseen_.begin(), unseen_.end(), &wait) != unseen_.end();
    if (!unseen) return absl::OkStatus();
    return absl::NotFoundError(
        absl::StrCat("there has never been a ", Describe(wait.target, wait.target.names), kAllowMissing));
  }
  if (wait.condition != WaitUntil::Condition::kDrained) return absl::OkStatus();
  std::vector<std::string> missing;
  const std::vector<api::ObjectPtr> nodes = Find(wait.target, &missing);
  if (nodes.empty() || !missing.empty()) return NamesNothing(wait.target, missing);
  for (const api::ObjectPtr& node : nodes) {
    if (drainer_.IsBegun(node->metadata.name)) continue;
    return absl::NotFoundError(absl::StrCat("no drain of Node ", node->metadata.name, " was begun"));
  }
  return absl::OkStatus();
}

absl::Status Timeline::Do(const WaitUntil& action) {
  RETURN_IF_ERROR(CheckNames(action));
  wait_ = &action;
  tally_ = Tally();
  for (const auto& [key, object] : simulation_.server().List(api::Kind::kPod)) Count(object, 1);
  if (action.target.kind != api::Kind::kPod) {
    for (const auto& [key, object] : simulation_.server().List(action.target.kind)) Count(object, 1);
  }
  EventLoop& loop = simulation_.loop();
  deadline_ =
      loop.AtInBackground(loop.Now() + action.timeout, EventLoop::Phase::kStep, [this] { TimeOut(); });
  return absl::OkStatus();
}

std::vector<api::ObjectPtr> Timeline::Find(const Target& target, std::vector<std::string>* missing) const {
  std::vector<api::ObjectPtr> found;
  const int64_t limit = target.count.value_or(INT64_MAX);
  if (!target.selector.has_value()) {
    absl::flat_hash_set<absl::string_view> seen;
    for (const std::string& name : target.names) {
      if (!seen.insert(name).second) continue;
      api::ObjectPtr object =
          simulation_.server().Find(target.kind, target.kind_name, target.name_space, name);
      if (object != nullptr)
        found.push_back(std::move(object));
      else if (missing != nullptr)
        missing->push_back(name);
    }
    return found;
  }
  for (const auto& [key, object] : simulation_.server().List(target.kind)) {
    if (static_cast<int64_t>(found.size()) == limit) break;
    if (Matches(target, *object)) found.push_back(object);
  }
  return found;
}

template <typename Change>
absl::Status Timeline::ForEach(const Target& target, const Change& change) {
  std::vector<std::string> missing;
  absl::Status first;
  const std::vector<api::ObjectPtr> objects = Find(target, &missing);
  for (const api::ObjectPtr& object : objects) first.Update(change(*object));
  const bool all_there = !objects.empty() && missing.empty();
  if (!all_there && !target.allow_missing) first.Update(NamesNothing(target, missing));
  return first;
}

void Timeline::Count(const api::ObjectPtr& object, int64_t by) {
  if (object == nullptr) return;
  const bool is_pod = object->kind == api::Kind::kPod;
  if (is_pod && PodOf(*object).node_name.empty() && !PodOf(*object).IsTerminal() &&
      simulation_.ResponsibleFor(PodOf(*object))) {
    tally_.pending += by;
  }
  if (!Matches(wait_->target, *object)) return;
  tally_.matching += by;
  if (is_pod && !PodOf(*object).node_name.empty()) tally_.bound += by;
}

bool Timeline::Holds(const WaitUntil& wait) const {
  switch (wait.condition) {
    case WaitUntil::Condition::kBound:
      return EnoughBound(wait);
    case WaitUntil::Condition::kPending:
      return tally_.pending <= wait.count.value_or(0);
    case WaitUntil::Condition::kGone:
      return tally_.matching == 0;
    case WaitUntil::Condition::kDrained:
      return AllDrained(wait);
    case WaitUntil::Condition::kQuiet:
      return simulation_.Quiet() || simulation_.CirclesWithoutRest();
  }
  CHECK(false);
}

bool Timeline::EnoughBound(const WaitUntil& wait) const {
  if (wait.count.has_value()) return tally_.bound >= *wait.count;
  const auto wanted = static_cast<int64_t>(wait.target.names.size());
  return tally_.matching >= std::max<int64_t>(wanted, 1) && tally_.bound == tally_.matching;
}

bool Timeline::AllDrained(const WaitUntil& wait) const {
  const std::vector<api::ObjectPtr> nodes = Find(wait.target, nullptr);
  return std::all_of(nodes.begin(), nodes.end(),
                     [this](const api::ObjectPtr& node) { return drainer_.IsDrained(node->metadata.name); });
}

std::string Timeline::StateOf(const WaitUntil& wait) const {
  switch (wait.condition) {
    case WaitUntil::Condition::kBound:
      if (tally_.matching == 0) return absl::StrCat("there is no ", Describe(wait.target, wait.target.names));
      return absl::StrCat(tally_.bound, " of ", tally_.matching, " pods are bound");
    case WaitUntil::Condition::kPending:
      return absl::StrCat(tally_.pending, " pods are pending");
    case WaitUntil::Condition::kGone:
      return absl::StrCat(tally_.matching, " are still there");
    case WaitUntil::Condition::kDrained: {
      std::vector<std::string> left;
      for (const api::ObjectPtr& node : Find(wait.target, nullptr)) {
        for (std::string& pod : drainer_.Left(node->metadata.name)) left.push_back(std::move(pod));
      }
      return absl::StrCat("still there: ", absl::StrJoin(left, ", "));
    }
    case WaitUntil::Condition::kQuiet:
      return "something still goes on";
  }
  CHECK(false);
}

}  // namespace schedsim::sim
