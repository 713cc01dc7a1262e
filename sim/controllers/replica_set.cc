#include "sim/controllers/replica_set.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/api/workloads.h"
#include "core/base/status_macros.h"
#include "sim/controllers/pod_template.h"

namespace schedsim::sim {
namespace {

// The selector of a ReplicationController is a map of labels; left out, it is that of the template.
absl::Status CheckLabelsOfController(const codec::Value& root) {
  absl::Status error;
  const FieldReader selector(root, {"spec", "selector"}, error);
  const FieldReader labels(root, {"spec", "template", "metadata", "labels"}, error);
  if (!error.ok()) return error;
  const codec::Value* spec = root.Find("spec");
  const codec::Value* wanted = spec == nullptr ? nullptr : spec->Find("selector");
  if (wanted == nullptr || wanted->members.empty()) {
    if (labels.is_present()) return absl::OkStatus();
    return absl::InvalidArgumentError("spec.selector: expected a selector of the template's pods, got none");
  }
  for (const codec::Member& member : wanted->members) {
    const codec::Value* label = labels.is_present() ? labels.Find(member.key) : nullptr;
    if (label != nullptr && label->text == member.value.text) continue;
    return absl::InvalidArgumentError(
        "spec.template.metadata.labels: expected labels that spec.selector selects, got others");
  }
  return absl::OkStatus();
}

std::string KeyOf(const api::Object& object) { return absl::StrCat(object.kind_name, "/", object.Key()); }

int64_t DeletionCost(const api::Pod& pod) {
  const std::string* text = pod.metadata.annotations.Find("controller.kubernetes.io/pod-deletion-cost");
  int64_t cost = 0;
  return text != nullptr && absl::SimpleAtoi(*text, &cost) ? cost : 0;
}

int PhaseRank(const std::string& phase) { return phase == "Pending" ? 0 : phase == "Unknown" ? 1 : 2; }

// Times that differ by less than their own order of magnitude count as equal: the binary logarithm of how
// long ago it was, in nanoseconds; -1 for what is still to come.
int AgeRank(absl::Time time, absl::Time now) {
  if (time == absl::InfinitePast()) return 64;
  int64_t age = absl::ToInt64Nanoseconds(now - time);
  int rank = -1;
  for (; age > 0; age /= 2) ++rank;
  return rank;
}

// A ReplicationController without one has the labels of its template; that is left to those who make it.
std::optional<api::LabelSelector> SelectorOf(const api::Object& object) {
  if (object.kind == api::Kind::kReplicaSet) return static_cast<const api::ReplicaSet&>(object).selector;
  const api::StringMap& labels = static_cast<const api::ReplicationController&>(object).selector;
  if (labels.empty()) return std::nullopt;
  return api::LabelSelector{.match_labels = labels, .match_expressions = {}};
}

}  // namespace

absl::Status ReadReplicaSet(const api::Object& object, ReplicaSetSpec& spec) {
  return ReadFields(object, [&spec](const codec::Value& root) {
    absl::Status error;
    const FieldReader metadata(root, {"metadata"}, error);
    spec.generation = metadata.OptionalLong("generation");
    const FieldReader fields(root, {"spec"}, error);
    spec.replicas = fields.Int("replicas", 1);
    spec.min_ready_seconds = fields.Count("minReadySeconds", 0);
    const FieldReader status(root, {"status"}, error);
    spec.status = {.observed_generation = status.OptionalLong("observedGeneration"),
                   .replicas = status.Int("replicas", 0),
                   .fully_labeled_replicas = status.Int("fullyLabeledReplicas", 0),
                   .ready_replicas = status.Int("readyReplicas", 0),
                   .available_replicas = status.Int("availableReplicas", 0),
                   .terminating_replicas = status.OptionalInt("terminatingReplicas"),
                   .conditions = WorkloadConditions::Read(root, "")};
    error.Update(CheckPodCount("spec.replicas", spec.replicas));
    error.Update(CheckTemplate(root));
    const bool is_controller = FieldReader(root, {}, error).Text("kind", "") == "ReplicationController";
    if (error.ok()) error = is_controller ? CheckLabelsOfController(root) : CheckSelector(root);
    return error;
  });
}

ReplicaSetController::ReplicaSetController(const ControllerContext& context)
    : rng_(context.rng.Fork("controllers/replicas")),
      call_rng_(rng_.Fork("calls")),
      api_call_(context.api_call),
      loop_(context.loop),
      server_(context.server),
      owned_pods_(context.owned_pods),
      refs_(context.refs),
      warnings_(context.warnings),
      queue_(context, [this](const std::string& key) { return Sync(key); }) {
  for (const char* kind : {"ReplicaSet", "ReplicationController"}) {
    owned_pods_.Listen(kind, [this, kind](const std::string& owner_key, const WatchEvent&) {
      queue_.Add(absl::StrCat(kind, "/", owner_key));
    });
  }
}

void ReplicaSetController::OnEvent(const WatchEvent& event) {
  if (!started_ || specs_.is_writing()) return;
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (event.new_object == nullptr) specs_.Erase(object.metadata.uid);
  queue_.Add(KeyOf(object));
}

void ReplicaSetController::Start() {
  started_ = true;
  for (const api::Kind kind : Watches()) {
    for (const auto& [key, object] : server_.List(kind)) {
      queue_.AddAt(KeyOf(*object), loop_.Now(), /*in_background=*/false);
    }
  }
}

api::ObjectPtr ReplicaSetController::Find(const std::string& key) const {
  const std::vector<std::string> parts = absl::StrSplit(key, '/');
  const api::Kind kind =
      parts[0] == "ReplicaSet" ? api::Kind::kReplicaSet : api::Kind::kReplicationController;
  return server_.Find(kind, parts[0], parts[1], parts[2]);
}

absl::Status ReplicaSetController::Sync(const std::string& key) {
  const api::ObjectPtr object = Find(key);
  if (object == nullptr) {
    creations_.erase(key);
    queue_.Forget(key);
    return absl::OkStatus();
  }
  std::string error;
  ReplicaSetSpec* spec = specs_.Of(object, error);
  if (!error.empty()) Warn(error, warnings_);
  if (spec == nullptr) return absl::OkStatus();
  if (!object->metadata.deletion_timestamp.has_value()) {
    const auto takes_all = [](const api::Pod&) { return true; };
    refs_.Claim(*object, SelectorOf(*object), takes_all, [this, key] { queue_.Add(key); });
  }
  // The status is that of the pods before they are changed; each change brings another look.
  const OwnedPods::Counts counts = owned_pods_.CountsOf(object->metadata.uid);
  if (!object->metadata.deletion_timestamp.has_value()) Manage(key, object, *spec);
  WriteStatus(key, object, *spec, counts);
  const absl::Duration min_ready = absl::Seconds(spec->min_ready_seconds);
  const absl::Time available = owned_pods_.NextAvailable(object->metadata.uid, min_ready);
  if (available != absl::InfiniteFuture()) queue_.AddAt(key, available, /*in_background=*/false);
  return absl::OkStatus();
}

void ReplicaSetController::Manage(const std::string& key, const api::ObjectPtr& object,
                                  const ReplicaSetSpec& spec) {
  const int64_t active = owned_pods_.CountsOf(object->metadata.uid).active;
  const auto known = creations_.find(key);
  if (known == creations_.end() && active == spec.replicas) return;
  Creation& creation = creations_[key];
  creation.left = std::max<int64_t>(spec.replicas - active, 0);
  if (creation.left > 0) {
    if (creation.is_running) return;
    creation.is_running = true;
    creation.batches.Restart();
    queue_.Continue(absl::ZeroDuration(), [this, key] { CreateNext(key); });
    return;
  }
  creation.error.clear();
  queue_.Forget(key);
  if (active > spec.replicas) DeleteSurplus(*object, active - spec.replicas);
}

void ReplicaSetController::CreateNext(const std::string& key) {
  const auto found = creations_.find(key);
  if (found == creations_.end()) return;
  Creation& creation = found->second;
  creation.is_running = false;
  const api::ObjectPtr object = Find(key);
  if (creation.left == 0 || object == nullptr) return;
  std::string error;
  ReplicaSetSpec* spec = specs_.Of(object, error);
  if (spec == nullptr) return;
  const absl::Status status = CreatePod(object, *spec);
  const std::optional<absl::Duration> pause = creation.batches.Next(status, api_call_, call_rng_);
  const absl::Status& error_of_batch = creation.batches.error();
  creation.error = std::string(error_of_batch.message());
  --creation.left;
  // What is no valid pod does not become one by itself.
  const bool is_over = absl::IsInvalidArgument(status) || creation.left == 0 || !pause.has_value();
  if (!is_over) {
    creation.is_running = true;
    queue_.Continue(*pause, [this, key] { CreateNext(key); });
  } else if (!error_of_batch.ok()) {
    Fail(key, object, *spec, error_of_batch);
  } else {
    queue_.Forget(key);
  }
}

void ReplicaSetController::Fail(const std::string& key, const api::ObjectPtr& object, ReplicaSetSpec& spec,
                                const absl::Status& error) {
  creations_[key].left = 0;
  WriteStatus(key, object, spec, owned_pods_.CountsOf(object->metadata.uid));
  if (absl::IsInvalidArgument(error)) {
    Warn(WithObject(*object, error.message()), warnings_);
    queue_.Forget(key);
  } else {
    queue_.AddRateLimited(key, absl::StrCat(WorkloadOf(*object), ": ", error.message()));
  }
}

absl::Status ReplicaSetController::CreatePod(const api::ObjectPtr& object, ReplicaSetSpec& spec) {
  const std::string base = absl::StrCat(object->metadata.name, "-");
  if (spec.prototype == nullptr) {
    codec::JsonWriter metadata;
    metadata.BeginObject().Field("generateName", base).EndObject();
    RETURN_IF_ERROR(ReadFields(*object, [&](const codec::Value& root) -> absl::Status {
      absl::Status error;
      const FieldReader fields(root, {"spec", "template"}, error);
      const codec::Value* of_spec = root.Find("spec");
      const codec::Value* pod_template = of_spec == nullptr ? nullptr : of_spec->Find("template");
      if (!fields.is_present()) return absl::FailedPreconditionError("has no template of a pod");
      ASSIGN_OR_RETURN(spec.prototype,
                       PodFromTemplate(*object, *pod_template, metadata.text(), "{}", reader_));
      return absl::OkStatus();
    }));
  }
  std::string name;
  do {
    name = GenerateName(base, rng_);
  } while (server_.FindPod(object->metadata.namespace_, name) != nullptr);
  return server_.Create(CopyWithName(*spec.prototype, name));
}

std::map<std::string, int64_t> ReplicaSetController::CountOnNodes(const api::Object& object) const {
  std::map<std::string, int64_t> counts;
  const auto count = [&](const std::string& uid) {
    for (const auto& [name, entry] : owned_pods_.Of(uid)) {
      if (IsActive(*entry.pod) && IsReady(*entry.pod)) ++counts[entry.pod->node_name];
    }
  };
  const api::OwnerReference* owner = ControllerOf(object);
  if (owner == nullptr) {
    count(object.metadata.uid);
    return counts;
  }
  for (const auto& [key, other] : server_.List(object.kind)) {
    const api::OwnerReference* owner_of_other = ControllerOf(*other);
    if (owner_of_other != nullptr && owner_of_other->uid == owner->uid) count(other->metadata.uid);
  }
  return counts;
}

// Whose pods go first. Source: kubernetes v1.37, pkg/controller/controller_utils.go, ActivePodsWithRanks.
// Restarts are not simulated; what upstream leaves to the uid is left to the name.
void ReplicaSetController::DeleteSurplus(const api::Object& object, int64_t surplus) {
  std::map<std::string, int64_t> on_nodes = CountOnNodes(object);
  std::vector<OwnedPods::Entry> entries;
  for (const auto& [name, entry] : owned_pods_.Of(object.metadata.uid)) {
    if (IsActive(*entry.pod)) entries.push_back(entry);
  }
  const auto rank = [&](const OwnedPods::Entry& entry) {
    const api::Pod& pod = *entry.pod;
    const bool is_ready = IsReady(pod);
    const absl::Time created = pod.metadata.creation_timestamp.value_or(absl::InfinitePast());
    return std::make_tuple(pod.node_name.empty() ? 0 : 1, PhaseRank(pod.status.phase), is_ready ? 1 : 0,
                           DeletionCost(pod), -on_nodes[pod.node_name],
                           is_ready ? AgeRank(entry.ready_since, loop_.Now()) : 0,
                           AgeRank(created, loop_.Now()), pod.metadata.name);
  };
  std::sort(entries.begin(), entries.end(),
            [&rank](const OwnedPods::Entry& a, const OwnedPods::Entry& b) { return rank(a) < rank(b); });
  entries.resize(std::min(entries.size(), static_cast<size_t>(surplus)));
  for (const OwnedPods::Entry& entry : entries) server_.DeletePod(*entry.pod).IgnoreError();
}

void ReplicaSetController::WriteStatus(const std::string& key, const api::ObjectPtr& object,
                                       ReplicaSetSpec& spec, const OwnedPods::Counts& counts) {
  ReplicaSetSpec::Status status = spec.status;
  status.observed_generation = spec.generation;
  status.replicas = counts.active;
  status.fully_labeled_replicas = counts.active;
  status.ready_replicas = counts.ready;
  status.available_replicas =
      owned_pods_.AvailableOf(object->metadata.uid, absl::Seconds(spec.min_ready_seconds));
  // Releases before 1.35 do not count them.
  if (counts.terminating > 0 || status.terminating_replicas.has_value()) {
    status.terminating_replicas = counts.terminating;
  }
  const auto creation = creations_.find(key);
  const bool has_failed = creation != creations_.end() && !creation->second.error.empty();
  if (has_failed) {
    status.conditions.Set({.type = "ReplicaFailure",
                           .status = "True",
                           .reason = "FailedCreate",
                           .message = creation->second.error,
                           .last_transition = loop_.Now()});
  } else {
    status.conditions.Erase("ReplicaFailure");
  }
  if (status == spec.status) return;
  codec::JsonWriter json;
  json.BeginObject().Field("replicas", status.replicas);
  const auto write = [&json](absl::string_view name, int64_t count) {
    if (count != 0) json.Field(name, count);
  };
  write("fullyLabeledReplicas", status.fully_labeled_replicas);
  write("readyReplicas", status.ready_replicas);
  write("availableReplicas", status.available_replicas);
  if (status.terminating_replicas.has_value())
    json.Field("terminatingReplicas", *status.terminating_replicas);
  if (status.observed_generation.has_value()) json.Field("observedGeneration", *status.observed_generation);
  status.conditions.Write("", json);
  json.EndObject();
  if (specs_.WriteStatus(server_, *object, json.text()) == nullptr) return;
  spec.status = std::move(status);
}

}  // namespace schedsim::sim
