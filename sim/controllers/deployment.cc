#include "sim/controllers/deployment.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/patch/merge_patch.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "sim/controllers/controller_refs.h"
#include "sim/controllers/pod_template.h"
#include "sim/controllers/pod_template_hash.h"

namespace schedsim::sim {
namespace {

constexpr char kKind[] = "Deployment";
constexpr char kApiVersion[] = "apps/v1";

bool IsDeployment(const api::Object& object) {
  return object.kind == api::Kind::kOther && object.kind_name == kKind && object.api_version == kApiVersion;
}

// Annotations of a Deployment that are its own, rather than its ReplicaSets'.
bool IsCopied(absl::string_view annotation) {
  return annotation != "kubectl.kubernetes.io/last-applied-configuration" &&
         annotation != kRevisionAnnotation && annotation != kRevisionHistoryAnnotation &&
         annotation != kDesiredReplicasAnnotation && annotation != kMaxReplicasAnnotation &&
         annotation != "deprecated.deployment.rollback.to";
}

// Returns whether anything changed.
bool CopyAnnotations(const api::Object& deployment, api::StringMap& annotations) {
  bool changed = false;
  for (const auto& [key, value] : deployment.metadata.annotations) {
    const std::string* known = annotations.Find(key);
    if (!IsCopied(key) || (known != nullptr && *known == value)) continue;
    annotations.Set(key, value);
    changed = true;
  }
  return changed;
}

bool SetReplicasAnnotations(const DeploymentSpec& spec, api::StringMap& annotations) {
  const std::string desired = absl::StrCat(spec.replicas);
  const std::string max = absl::StrCat(spec.replicas + spec.MaxSurge());
  const std::string* known_desired = annotations.Find(kDesiredReplicasAnnotation);
  const std::string* known_max = annotations.Find(kMaxReplicasAnnotation);
  if (known_desired != nullptr && *known_desired == desired && known_max != nullptr && *known_max == max) {
    return false;
  }
  annotations.Set(kDesiredReplicasAnnotation, desired);
  annotations.Set(kMaxReplicasAnnotation, max);
  return true;
}

}  // namespace

DeploymentController::DeploymentController(const ControllerContext& context)
    : line_(context.options.template_line.value_or(api::kDefaultKubernetesLine)),
      loop_(context.loop),
      server_(context.server),
      owned_pods_(context.owned_pods),
      warnings_(context.warnings),
      queue_(context, [this](const std::string& key) { return Sync(key); }) {
  // Recreate waits until the old pods are gone.
  owned_pods_.Listen("ReplicaSet", [this](const std::string& owner_key, const WatchEvent& event) {
    if (event.new_object != nullptr) return;
    const api::ObjectPtr set = server_.FindByKey(api::Kind::kReplicaSet, "ReplicaSet", owner_key);
    if (set != nullptr) OnReplicaSet({.old_object = set, .new_object = set});
  });
}

void DeploymentController::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind == api::Kind::kReplicaSet) {
    OnReplicaSet(event);
    return;
  }
  if (!IsDeployment(object)) return;
  if (event.new_object == nullptr) {
    specs_.Erase(object.metadata.uid);
    takers_[object.metadata.namespace_].erase(object.metadata.uid);
  }
  if (started_) queue_.Add(object.Key());
}

void DeploymentController::OnReplicaSet(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  const OwnerChange change = OwnerChangeOf(event, kKind);
  if (change.before != change.now && !change.before.empty()) {
    names_[change.before].erase(object.metadata.name);
    sets_.Erase(object.metadata.uid);
  }
  if (!change.now.empty()) names_[change.now].insert(object.metadata.name);
  const bool is_orphan = event.new_object != nullptr && ControllerOf(object) == nullptr &&
                         !object.metadata.deletion_timestamp.has_value();
  std::map<std::string, framework::LabelSet>& orphans = orphans_[object.metadata.namespace_];
  if (!is_orphan) orphans.erase(object.metadata.name);
  const bool is_news = is_orphan && (orphans.count(object.metadata.name) == 0 ||
                                     event.old_object->metadata.labels != object.metadata.labels);
  if (is_news) {
    framework::LabelSet& labels = orphans[object.metadata.name];
    labels = framework::LabelSet(object.metadata.labels, symbols_);
    TellTakers(object, labels);
  }
  if (!started_) return;
  for (const api::ObjectPtr& version : {event.old_object, event.new_object}) {
    const api::OwnerReference* owner = version == nullptr ? nullptr : ControllerOf(*version);
    if (owner == nullptr || owner->kind != kKind) continue;
    queue_.Add(absl::StrCat(object.metadata.namespace_, "/", owner->name));
  }
}

void DeploymentController::Start() {
  started_ = true;
  NoteLostSets();
  for (const auto& [key, object] : server_.List(api::Kind::kOther)) {
    if (IsDeployment(*object)) queue_.AddAt(object->Key(), loop_.Now(), /*in_background=*/false);
  }
}

void DeploymentController::TellTakers(const api::Object& set, const framework::LabelSet& labels) {
  const auto takers = takers_.find(set.metadata.namespace_);
  if (takers == takers_.end()) return;
  for (auto& [uid, taker] : takers->second) {
    if (!taker.matcher.has_value() || !taker.matcher->Matches(labels, symbols_)) continue;
    taker.found.insert(set.metadata.name);
    queue_.Add(taker.key);
  }
}

void DeploymentController::AdoptSets(const Rollout& rollout) {
  const api::ObjectMeta& meta = rollout.object->metadata;
  const std::optional<api::LabelSelector>& selector = rollout.spec->selector;
  if (!selector.has_value() || meta.deletion_timestamp.has_value()) return;
  std::map<std::string, framework::LabelSet>& orphans = orphans_[meta.namespace_];
  const auto [known, is_new] = takers_[meta.namespace_].try_emplace(meta.uid);
  Taker& taker = known->second;
  if (is_new || !SameSelector(taker.selector, selector)) {
    taker.key = rollout.object->Key();
    taker.selector = selector;
    taker.matcher = framework::LabelMatcher::Make(selector, symbols_);
    for (const auto& [name, labels] : orphans) {
      if (taker.matcher.has_value() && taker.matcher->Matches(labels, symbols_)) taker.found.insert(name);
    }
  }
  const std::set<std::string> found = std::exchange(taker.found, {});
  for (const std::string& name : found) {
    const auto labels = orphans.find(name);
    const bool is_taken = labels != orphans.end() && taker.matcher.has_value() &&
                          taker.matcher->Matches(labels->second, symbols_);
    const api::ObjectPtr set = server_.Find(api::Kind::kReplicaSet, "ReplicaSet", meta.namespace_, name);
    if (is_taken && set != nullptr) server_.Update(WithController(*set, *rollout.object)).IgnoreError();
  }
}

void DeploymentController::FindSets(Rollout& rollout) {
  const api::ObjectMeta& meta = rollout.object->metadata;
  for (const std::string& name : names_[meta.uid]) {
    const api::ObjectPtr object = server_.Find(api::Kind::kReplicaSet, "ReplicaSet", meta.namespace_, name);
    if (object == nullptr) continue;
    std::string error;
    RolloutSet* set = sets_.Of(object, error);
    if (set == nullptr) continue;
    set->object = object;
    rollout.sets.push_back(*set);
  }
  const auto age = [](const RolloutSet& set) {
    const api::ObjectMeta& set_meta = set.object->metadata;
    return std::make_tuple(set_meta.creation_timestamp.value_or(absl::InfinitePast()), set_meta.name);
  };
  std::sort(rollout.sets.begin(), rollout.sets.end(),
            [&age](const RolloutSet& a, const RolloutSet& b) { return age(a) < age(b); });
  for (RolloutSet& set : rollout.sets) {
    if (set.pod_template != rollout.spec->pod_template) continue;
    rollout.new_set = &set;
    break;
  }
}

absl::Status DeploymentController::Sync(const std::string& key) {
  Rollout rollout;
  rollout.object = server_.FindOther(kApiVersion, kKind, key);
  if (rollout.object == nullptr || !IsDeployment(*rollout.object)) {
    queue_.Forget(key);
    return absl::OkStatus();
  }
  std::string error;
  rollout.spec = specs_.Of(rollout.object, error);
  if (!error.empty()) Warn(error, warnings_);
  if (rollout.spec == nullptr) return absl::OkStatus();
  AdoptSets(rollout);
  FindSets(rollout);
  absl::Status status = Roll(rollout);
  if (!status.ok()) status = absl::Status(status.code(), WithObject(*rollout.object, status.message()));
  if (absl::IsInvalidArgument(status)) {
    Warn(std::string(status.message()), warnings_);
    status = absl::OkStatus();
  }
  if (status.ok()) queue_.Forget(key);
  return status;
}

absl::Status DeploymentController::Roll(Rollout& rollout) {
  if (rollout.object->metadata.deletion_timestamp.has_value()) {
    SyncStatus(rollout, /*estimates_progress=*/false);
    return absl::OkStatus();
  }
  SetPausedCondition(rollout);
  RETURN_IF_ERROR(SyncNewSet(rollout, /*may_create=*/false));
  if (!rollout.spec->is_paused && !IsScalingEvent(rollout)) {
    return rollout.spec->is_recreate ? Recreate(rollout) : RollingUpdate(rollout);
  }
  ScaleProportionally(rollout);
  CleanUp(rollout);
  SyncStatus(rollout, /*estimates_progress=*/false);
  return absl::OkStatus();
}

// Which revision the new set is: one above all others.
absl::Status DeploymentController::SyncNewSet(Rollout& rollout, bool may_create) {
  int64_t revision = 0;
  for (const RolloutSet& set : rollout.sets) {
    if (rollout.IsOld(set)) revision = std::max(revision, set.Revision());
  }
  ++revision;
  if (rollout.new_set == nullptr) return may_create ? CreateNewSet(rollout, revision) : absl::OkStatus();
  if (SyncAnnotations(rollout, revision)) return absl::OkStatus();
  if (const std::string* known = rollout.new_set->object->metadata.annotations.Find(kRevisionAnnotation)) {
    SetRevision(rollout, *known);
  }
  const bool has_condition = rollout.spec->status.conditions.Find("Progressing") != nullptr;
  if (rollout.spec->progress_deadline.has_value() && !has_condition) {
    DeploymentSpec::Status status = rollout.spec->status;
    status.conditions.Set(
        Condition("Progressing", "True", "FoundNewReplicaSet",
                  absl::StrCat("Found new replica set \"", rollout.new_set->object->metadata.name, "\"")));
    WriteStatus(rollout, std::move(status));
  }
  return absl::OkStatus();
}

bool DeploymentController::SyncAnnotations(Rollout& rollout, int64_t revision) {
  RolloutSet& set = *rollout.new_set;
  api::StringMap annotations = set.object->metadata.annotations;
  bool changed = CopyAnnotations(*rollout.object, annotations);
  const std::string* old_revision = annotations.Find(kRevisionAnnotation);
  if (set.Revision() < revision) {
    // A set that is taken up again keeps the revisions that it had.
    if (old_revision != nullptr) {
      const std::string* history = annotations.Find(kRevisionHistoryAnnotation);
      annotations.Set(kRevisionHistoryAnnotation, history == nullptr || history->empty()
                                                      ? *old_revision
                                                      : absl::StrCat(*history, ",", *old_revision));
    }
    annotations.Set(kRevisionAnnotation, absl::StrCat(revision));
    changed = true;
  }
  const bool has_delay = set.min_ready_seconds == rollout.spec->min_ready_seconds;
  if (!changed && has_delay) return false;
  std::shared_ptr<api::Object> copy = has_delay ? set.object->Clone()
                                                : WithField(*set.object, {"spec", "minReadySeconds"},
                                                            absl::StrCat(rollout.spec->min_ready_seconds));
  copy->metadata.annotations = std::move(annotations);
  if (server_.Update(copy).ok()) set.object = server_.Find(*copy);
  set.min_ready_seconds = rollout.spec->min_ready_seconds;
  return true;
}

void DeploymentController::SetRevision(Rollout& rollout, const std::string& revision) {
  const std::string* known = rollout.object->metadata.annotations.Find(kRevisionAnnotation);
  if (known != nullptr && *known == revision) return;
  std::shared_ptr<api::Object> copy = rollout.object->Clone();
  copy->metadata.annotations.Set(kRevisionAnnotation, revision);
  if (!server_.Update(copy).ok()) return;
  rollout.object = server_.Find(*copy);
  specs_.Keep(rollout.object);
}

// Dumps often have Deployments and pods, but no ReplicaSets. Pods name theirs; a new one would make all of
// them once more.
void DeploymentController::NoteLostSets() {
  // Most pods of a set follow each other and share the list of their owners.
  const void* last_owners = nullptr;
  LostSet* last = nullptr;
  server_.ForEachPod([&](const api::Pod& pod) {
    const auto& owners = pod.metadata.owner_references;
    const absl::Time created = pod.metadata.creation_timestamp.value_or(absl::InfinitePast());
    if (owners.empty() || owners.storage().get() == last_owners) {
      if (!owners.empty() && last != nullptr) last->youngest = std::max(last->youngest, created);
      return;
    }
    last_owners = owners.storage().get();
    last = nullptr;
    const api::OwnerReference* const owner = ControllerOf(pod);
    const std::string* const hash = pod.metadata.labels.Find(kPodTemplateHashLabel);
    if (owner == nullptr || owner->kind != "ReplicaSet" || hash == nullptr) return;
    absl::string_view name = owner->name;
    if (!absl::ConsumeSuffix(&name, *hash) || !absl::ConsumeSuffix(&name, "-")) return;
    if (server_.Find(api::Kind::kReplicaSet, "ReplicaSet", pod.metadata.namespace_, owner->name) != nullptr)
      return;
    std::vector<LostSet>& sets = lost_sets_[absl::StrCat(pod.metadata.namespace_, "/", name)];
    auto found = std::find_if(sets.begin(), sets.end(),
                              [owner](const LostSet& set) { return set.identity.uid == owner->uid; });
    if (found == sets.end()) {
      found = sets.insert(sets.end(), {.identity = {.name = owner->name, .uid = owner->uid, .hash = *hash},
                                       .youngest = created});
    }
    found->youngest = std::max(found->youngest, created);
    last = &*found;
  });
}

std::optional<DeploymentController::SetIdentity> DeploymentController::FindLostSet(
    const Rollout& rollout, const std::string& fresh_name) const {
  const std::string key = rollout.object->Key();
  const auto lost = lost_sets_.find(key);
  if (lost == lost_sets_.end() || !rollout.sets.empty()) return std::nullopt;
  const LostSet* youngest = nullptr;
  const LostSet* same = nullptr;
  for (const LostSet& set : lost->second) {
    if (youngest == nullptr || set.youngest > youngest->youngest) youngest = &set;
    if (set.identity.name == fresh_name) same = &set;
  }
  const bool is_of_cluster = rollout.spec->status.replicas != 0;
  const LostSet* const found = same == nullptr && is_of_cluster ? youngest : same;
  if (found == nullptr) {
    Warn(absl::StrCat("Deployment ", key, ": the input has pods of ReplicaSet ", youngest->identity.name,
                      ", which may be an older one of it; they stay beside the pods that it makes"),
         warnings_);
    return std::nullopt;
  }
  Warn(absl::StrCat("Deployment ", key, ": ReplicaSet ", found->identity.name,
                    ", which its pods name, is not in the input; it was made from the Deployment's template"),
       warnings_);
  return found->identity;
}

// The Deployment's own template and selector, with the hash, and the Deployment as the owner.
absl::StatusOr<api::ObjectPtr> DeploymentController::MakeNewSet(const Rollout& rollout,
                                                                const std::string& name,
                                                                const std::string& hash) {
  const DeploymentSpec& spec = *rollout.spec;
  const api::Object& deployment = *rollout.object;
  codec::JsonWriter labels;
  labels.BeginObject().Field(kPodTemplateHashLabel, hash).EndObject();
  codec::JsonWriter own;
  own.BeginObject().Field("apiVersion", "apps/v1").Field("kind", "ReplicaSet").Key("metadata").BeginObject();
  own.Field("name", name);
  own.Field("namespace", deployment.metadata.namespace_).Key("labels").Raw(labels.text());
  WriteControllerRef(deployment, own);
  own.EndObject().Key("spec").BeginObject();
  own.Field("replicas", NewSetReplicas(spec, SumOfReplicas(rollout.sets), 0));
  if (spec.min_ready_seconds != 0) own.Field("minReadySeconds", spec.min_ready_seconds);
  own.Key("selector").BeginObject().Key("matchLabels").Raw(labels.text()).EndObject();
  own.Key("template").BeginObject().Key("metadata").BeginObject().Key("labels").Raw(labels.text());
  own.EndObject().EndObject().EndObject().EndObject();
  api::ObjectPtr set;
  codec::Document merged;
  RETURN_IF_ERROR(ReadFields(deployment, [&](const codec::Value& root) -> absl::Status {
    const codec::Value* of_spec = root.Find("spec");
    const codec::Value* pod_template = of_spec == nullptr ? nullptr : of_spec->Find("template");
    if (pod_template == nullptr || !pod_template->is_object()) {
      return absl::FailedPreconditionError("has no template of a pod");
    }
    const codec::Value* selector = of_spec->Find("selector");
    const codec::Value* metadata = pod_template->Find("metadata");
    const codec::Value* template_labels = metadata == nullptr ? nullptr : metadata->Find("labels");
    codec::JsonWriter base;
    base.BeginObject().Key("metadata").BeginObject();
    if (template_labels != nullptr) base.Key("labels").Raw(codec::ToJson(*template_labels));
    base.EndObject().Key("spec").BeginObject();
    if (selector != nullptr) base.Key("selector").Raw(codec::ToJson(*selector));
    base.Key("template").Raw(codec::ToJson(*pod_template)).EndObject().EndObject();
    // The endings make JSON of the texts.
    return codec::ReadText(base.text(), "base.json", {}, [&](const codec::Document& below) {
      return codec::ReadText(own.text(), "own.json", {}, [&](const codec::Document& above) -> absl::Status {
        ASSIGN_OR_RETURN(set,
                         reader_.Decode(codec::MergePatch(below.root, above.root, merged), deployment.Key()));
        return absl::OkStatus();
      });
    });
  }));
  return set;
}

// A name that nobody has: each collision makes another hash.
DeploymentController::SetIdentity DeploymentController::FreshSet(const Rollout& rollout,
                                                                 DeploymentSpec::Status& status) const {
  const api::ObjectMeta& meta = rollout.object->metadata;
  SetIdentity fresh;
  ReadFields(*rollout.object, [&](const codec::Value& root) {
    const codec::Value none;
    const codec::Value* spec = root.Find("spec");
    const codec::Value* pod_template = spec == nullptr ? nullptr : spec->Find("template");
    for (;;) {
      fresh.hash =
          PodTemplateHash(pod_template == nullptr ? none : *pod_template, line_, status.collision_count);
      // Source: kubernetes v1.37, pkg/controller/deployment/sync.go, generateReplicaSetName.
      constexpr size_t kNameBytesMax = 253;
      const size_t base_bytes = std::min(meta.name.size(), kNameBytesMax - 1 - fresh.hash.size());
      fresh.name = absl::StrCat(meta.name.substr(0, base_bytes), "-", fresh.hash);
      const bool is_free =
          server_.Find(api::Kind::kReplicaSet, "ReplicaSet", meta.namespace_, fresh.name) == nullptr;
      if (is_free) return absl::OkStatus();
      status.collision_count = status.collision_count.value_or(0) + 1;
    }
  }).IgnoreError();
  return fresh;
}

absl::Status DeploymentController::CreateNewSet(Rollout& rollout, int64_t revision) {
  api::ObjectPtr made;
  DeploymentSpec::Status new_status = rollout.spec->status;
  DeploymentSpec::Status fresh_status = new_status;
  const SetIdentity fresh = FreshSet(rollout, fresh_status);
  const std::optional<SetIdentity> lost = FindLostSet(rollout, fresh.name);
  const SetIdentity identity = lost.value_or(fresh);
  if (!lost.has_value()) new_status.collision_count = fresh_status.collision_count;
  absl::StatusOr<api::ObjectPtr> set = MakeNewSet(rollout, identity.name, identity.hash);
  absl::Status status = set.status();
  if (status.ok()) {
    std::shared_ptr<api::Object> copy = (*set)->Clone();
    CopyAnnotations(*rollout.object, copy->metadata.annotations);
    copy->metadata.annotations.Set(kRevisionAnnotation, absl::StrCat(revision));
    SetReplicasAnnotations(*rollout.spec, copy->metadata.annotations);
    copy->metadata.uid = identity.uid;
    status = server_.Create(copy);
    made = server_.Find(*copy);
  }
  const bool has_deadline = rollout.spec->progress_deadline.has_value();
  if (!status.ok()) {
    if (has_deadline) {
      new_status.conditions.Set(
          Condition("Progressing", "False", "ReplicaSetCreateError",
                    absl::StrCat("Failed to create new replica set: ", status.message())));
      WriteStatus(rollout, std::move(new_status));
    }
    return status;
  }
  // Later sets have nothing to do with what the input lacks.
  lost_sets_.erase(rollout.object->Key());
  std::string error;
  RolloutSet* read = sets_.Of(made, error);
  if (read == nullptr) return absl::InvalidArgumentError(error);
  read->object = made;
  rollout.sets.push_back(*read);
  rollout.new_set = &rollout.sets.back();
  SetRevision(rollout, absl::StrCat(revision));
  if (has_deadline) {
    new_status.conditions.Set(
        Condition("Progressing", "True", "NewReplicaSetCreated",
                  absl::StrCat("Created new replica set \"", made->metadata.name, "\"")));
  }
  WriteStatus(rollout, std::move(new_status));
  return absl::OkStatus();
}

bool DeploymentController::IsScalingEvent(const Rollout& rollout) const {
  return std::any_of(rollout.sets.begin(), rollout.sets.end(), [&rollout](const RolloutSet& set) {
    const std::optional<int64_t> desired = set.Annotation(kDesiredReplicasAnnotation);
    return set.replicas > 0 && desired.has_value() && *desired != rollout.spec->replicas;
  });
}

absl::Status DeploymentController::RollingUpdate(Rollout& rollout) {
  RETURN_IF_ERROR(SyncNewSet(rollout, /*may_create=*/true));
  if (!ScaleNewSet(rollout) && !ScaleOldSets(rollout)) {
    if (rollout.spec->IsComplete(rollout.spec->status)) CleanUp(rollout);
  }
  SyncStatus(rollout, /*estimates_progress=*/true);
  return absl::OkStatus();
}

absl::Status DeploymentController::Recreate(Rollout& rollout) {
  bool scaled = false;
  for (RolloutSet& set : rollout.sets) {
    if (rollout.IsOld(set) && set.replicas > 0) scaled |= Scale(rollout, set, 0, /*force=*/false);
  }
  if (!scaled && !HasOldPods(rollout)) {
    RETURN_IF_ERROR(SyncNewSet(rollout, /*may_create=*/true));
    Scale(rollout, *rollout.new_set, rollout.spec->replicas, /*force=*/false);
    if (rollout.spec->IsComplete(rollout.spec->status)) CleanUp(rollout);
  }
  SyncStatus(rollout, /*estimates_progress=*/true);
  return absl::OkStatus();
}

bool DeploymentController::HasOldPods(const Rollout& rollout) const {
  for (const RolloutSet& set : rollout.sets) {
    if (!rollout.IsOld(set)) continue;
    for (const auto& [name, entry] : owned_pods_.Of(set.object->metadata.uid)) {
      if (!entry.pod->IsTerminal()) return true;
    }
  }
  return false;
}

bool DeploymentController::ScaleNewSet(Rollout& rollout) {
  RolloutSet& set = *rollout.new_set;
  const int64_t wanted = rollout.spec->replicas;
  if (set.replicas == wanted) return false;
  const int64_t size = set.replicas > wanted
                           ? wanted
                           : NewSetReplicas(*rollout.spec, SumOfReplicas(rollout.sets), set.replicas);
  return Scale(rollout, set, size, /*force=*/false);
}

// First the pods that are not available, then as many as the new ones make up for.
bool DeploymentController::ScaleOldSets(Rollout& rollout) {
  std::vector<RolloutSet*> old;
  for (RolloutSet& set : rollout.sets) {
    if (rollout.IsOld(set) && set.replicas > 0) old.push_back(&set);
  }
  if (old.empty()) return false;
  const RolloutSet& new_set = *rollout.new_set;
  const int64_t min_available = rollout.spec->replicas - rollout.spec->MaxUnavailable();
  const int64_t not_available = new_set.replicas - new_set.status.available_replicas;
  int64_t left = SumOfReplicas(rollout.sets) - min_available - not_available;
  if (left <= 0) return false;
  bool scaled = false;
  for (RolloutSet* set : old) {
    const int64_t unhealthy = std::min(left, set->replicas - set->status.available_replicas);
    if (left <= 0 || unhealthy <= 0) continue;
    left -= unhealthy;
    scaled |= Scale(rollout, *set, set->replicas - unhealthy, /*force=*/false);
  }
  int64_t available = 0;
  for (const RolloutSet& set : rollout.sets) available += set.status.available_replicas;
  int64_t surplus = available - min_available;
  for (RolloutSet* set : old) {
    const int64_t count = std::min(surplus, set->replicas);
    if (count <= 0) continue;
    surplus -= count;
    scaled |= Scale(rollout, *set, set->replicas - count, /*force=*/false);
  }
  return scaled;
}

void DeploymentController::ScaleProportionally(Rollout& rollout) {
  const DeploymentSpec& spec = *rollout.spec;
  std::vector<RolloutSet*> active;
  for (RolloutSet& set : rollout.sets) {
    if (set.replicas > 0) active.push_back(&set);
  }
  if (active.size() < 2) {
    RolloutSet* only = rollout.new_set;
    if (!active.empty()) only = active.front();
    if (only == nullptr && !rollout.sets.empty()) only = &rollout.sets.back();
    if (only != nullptr) Scale(rollout, *only, spec.replicas, /*force=*/false);
    return;
  }
  RolloutSet* const newest = rollout.new_set;
  const bool is_saturated = newest != nullptr && newest->replicas == spec.replicas &&
                            newest->Annotation(kDesiredReplicasAnnotation) == spec.replicas &&
                            newest->status.available_replicas == spec.replicas;
  if (is_saturated) {
    for (RolloutSet* set : active) {
      if (set != newest) Scale(rollout, *set, 0, /*force=*/false);
    }
    return;
  }
  if (spec.is_recreate) return;
  const int64_t allowed = spec.replicas > 0 ? spec.replicas + spec.MaxSurge() : 0;
  const int64_t to_add = allowed - SumOfReplicas(rollout.sets);
  // The largest first; of equal ones the newer when there are to be more, the older when fewer.
  if (to_add > 0) std::reverse(active.begin(), active.end());
  std::stable_sort(active.begin(), active.end(),
                   [](const RolloutSet* a, const RolloutSet* b) { return a->replicas > b->replicas; });
  std::vector<int64_t> sizes;
  int64_t added = 0;
  for (const RolloutSet* set : active) {
    const int64_t share = ProportionOf(*set, spec, to_add, added);
    sizes.push_back(set->replicas + share);
    added += share;
  }
  sizes[0] = std::max<int64_t>(sizes[0] + to_add - added, 0);
  for (size_t i = 0; i < active.size(); ++i) Scale(rollout, *active[i], sizes[i], /*force=*/true);
}

bool DeploymentController::Scale(const Rollout& rollout, RolloutSet& set, int64_t replicas, bool force) {
  const bool changes = set.replicas != replicas;
  if (!changes && !force) return false;
  api::StringMap annotations = set.object->metadata.annotations;
  if (!SetReplicasAnnotations(*rollout.spec, annotations) && !changes) return false;
  std::shared_ptr<api::Object> copy =
      changes ? WithField(*set.object, {"spec", "replicas"}, absl::StrCat(replicas)) : set.object->Clone();
  copy->metadata.annotations = std::move(annotations);
  if (!server_.Update(copy).ok()) return false;
  set.object = server_.Find(*copy);
  set.replicas = replicas;
  return changes;
}

// Old sets without pods, but the newest ones of them.
void DeploymentController::CleanUp(const Rollout& rollout) {
  std::vector<const RolloutSet*> old;
  for (const RolloutSet& set : rollout.sets) {
    if (rollout.IsOld(set) && !set.object->metadata.deletion_timestamp.has_value()) old.push_back(&set);
  }
  std::stable_sort(old.begin(), old.end(),
                   [](const RolloutSet* a, const RolloutSet* b) { return a->Revision() < b->Revision(); });
  const int64_t surplus = static_cast<int64_t>(old.size()) - rollout.spec->revision_history_limit;
  for (int64_t i = 0; i < surplus; ++i) {
    const RolloutSet& set = *old[static_cast<size_t>(i)];
    if (set.replicas != 0 || set.status.replicas != 0) continue;
    const api::ObjectMeta& meta = set.object->metadata;
    server_.Delete(api::Kind::kReplicaSet, "ReplicaSet", meta.namespace_, meta.name).IgnoreError();
  }
}

}  // namespace schedsim::sim
