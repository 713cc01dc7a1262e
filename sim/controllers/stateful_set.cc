#include "sim/controllers/stateful_set.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/api/workloads.h"
#include "core/base/status_macros.h"
#include "core/codec/patch/merge_patch.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "sim/controllers/pod_template.h"

namespace schedsim::sim {
namespace {

constexpr char kKind[] = "StatefulSet";
constexpr char kRevisionLabel[] = "controller-revision-hash";
// What the look at each pod of a set takes that changes its pods in parallel: in the meantime changes gather.
constexpr absl::Duration kLookTime = absl::Microseconds(10);

std::string RevisionOf(const api::Pod& pod) {
  const std::string* label = pod.metadata.labels.Find(kRevisionLabel);
  return label == nullptr ? "" : *label;
}

// -1 for a name that is none of the set's.
int64_t OrdinalOf(const api::Pod& pod, const std::string& set_name) {
  const std::string& name = pod.metadata.name;
  const size_t dash = name.rfind('-');
  int64_t ordinal = -1;
  if (dash != set_name.size() || name.compare(0, dash, set_name) != 0) return -1;
  return absl::SimpleAtoi(name.substr(dash + 1), &ordinal) ? ordinal : -1;
}

std::string TextOf(const codec::Value& map, absl::string_view key) {
  const codec::Value* found = map.Find(key);
  return found == nullptr || !found->is_string() ? "" : std::string(found->text);
}

// The claim templates of a set's spec. InvalidArgument for what has no name.
absl::StatusOr<absl::Span<const codec::Value>> ClaimTemplates(const codec::Value& root) {
  const codec::Value* spec = root.Find("spec");
  const codec::Value* templates = spec == nullptr ? nullptr : spec->Find("volumeClaimTemplates");
  if (templates == nullptr || templates->is_null()) return absl::Span<const codec::Value>();
  bool named = templates->is_array();
  for (const codec::Value& claim : templates->items) {
    const codec::Value* metadata = claim.Find("metadata");
    named = named && metadata != nullptr && !TextOf(*metadata, "name").empty();
  }
  if (named) return templates->items;
  return absl::InvalidArgumentError(
      "spec.volumeClaimTemplates: expected a list of claims with metadata.name");
}

std::string NameOf(const codec::Value& claim_template) {
  return TextOf(*claim_template.Find("metadata"), "name");
}

// The pod's own part of the spec: its name as the host's, and the volumes. Each claim goes under the name of
// its template, in the place of a volume of the template's.
absl::StatusOr<std::string> PodSpecPatch(absl::Span<const codec::Value> claim_templates,
                                         const codec::Value& pod_template, const std::string& pod_name,
                                         const std::string& service_name) {
  codec::JsonWriter spec;
  spec.BeginObject().Field("hostname", pod_name);
  if (!service_name.empty()) spec.Field("subdomain", service_name);
  std::set<std::string> claimed;
  for (const codec::Value& claim : claim_templates) claimed.insert(NameOf(claim));
  if (claimed.empty()) return spec.EndObject().text();
  const codec::Value* pod_spec = pod_template.Find("spec");
  const codec::Value* volumes = pod_spec == nullptr ? nullptr : pod_spec->Find("volumes");
  if (volumes != nullptr && !volumes->is_null() && !volumes->is_array()) {
    return absl::InvalidArgumentError("spec.template.spec.volumes: expected a list of volumes");
  }
  spec.Key("volumes").BeginArray();
  for (const std::string& name : claimed) {
    spec.BeginObject().Field("name", name).Key("persistentVolumeClaim").BeginObject();
    spec.Field("claimName", absl::StrCat(name, "-", pod_name)).EndObject().EndObject();
  }
  for (size_t i = 0; volumes != nullptr && i < volumes->items.size(); ++i) {
    if (claimed.count(TextOf(volumes->items[i], "name")) == 0) spec.Raw(codec::ToJson(volumes->items[i]));
  }
  return spec.EndArray().EndObject().text();
}

// The revision that all pods have; "": they differ, or there is none.
std::string SharedRevisionOf(const OwnedPods::Pods& pods) {
  const std::string revision = pods.empty() ? "" : RevisionOf(*pods.begin()->second.pod);
  const bool is_shared = std::all_of(
      pods.begin(), pods.end(), [&](const auto& entry) { return RevisionOf(*entry.second.pod) == revision; });
  return is_shared ? revision : "";
}

}  // namespace

absl::Status ReadStatefulSet(const api::Object& object, StatefulSetSpec& spec) {
  return ReadFields(object, [&spec](const codec::Value& root) {
    absl::Status error;
    spec.generation = FieldReader(root, {"metadata"}, error).OptionalLong("generation");
    const FieldReader fields(root, {"spec"}, error);
    spec.replicas = fields.Int("replicas", spec.replicas);
    spec.min_ready_seconds = fields.Count("minReadySeconds", 0);
    spec.revision_history_limit = fields.Count("revisionHistoryLimit", spec.revision_history_limit);
    spec.is_parallel = fields.Text("podManagementPolicy", "OrderedReady") == "Parallel";
    spec.service_name = fields.Text("serviceName", "");
    // What is wrong with them is told where a pod is made.
    const absl::StatusOr<absl::Span<const codec::Value>> templates = ClaimTemplates(root);
    if (templates.ok()) {
      for (const codec::Value& claim_template : *templates) spec.claims.push_back(NameOf(claim_template));
    }
    spec.start_ordinal = FieldReader(root, {"spec", "ordinals"}, error).Count("start", 0);
    const FieldReader strategy(root, {"spec", "updateStrategy"}, error);
    spec.updates_on_delete = strategy.Text("type", "") == "OnDelete";
    const FieldReader rolling(root, {"spec", "updateStrategy", "rollingUpdate"}, error);
    // Where the type is left out, the API server writes the whole strategy.
    if (rolling.is_present() || strategy.Text("type", "").empty()) {
      spec.partition = rolling.Count("partition", 0);
    }
    spec.max_unavailable = rolling.OptionalIntOrPercent("maxUnavailable").value_or(spec.max_unavailable);
    const FieldReader retention(root, {"spec", "persistentVolumeClaimRetentionPolicy"}, error);
    const bool deletes_claims = retention.Text("whenDeleted", "Retain") == "Delete" ||
                                retention.Text("whenScaled", "Retain") == "Delete";
    if (deletes_claims) spec.ignored_fields.emplace_back("spec.persistentVolumeClaimRetentionPolicy");
    const FieldReader status(root, {"status"}, error);
    spec.status = {.observed_generation = status.OptionalLong("observedGeneration"),
                   .replicas = status.Int("replicas", 0),
                   .ready_replicas = status.Int("readyReplicas", 0),
                   .available_replicas = status.Int("availableReplicas", 0),
                   .current_replicas = status.Int("currentReplicas", 0),
                   .updated_replicas = status.Int("updatedReplicas", 0),
                   .current_revision = status.Text("currentRevision", ""),
                   .update_revision = status.Text("updateRevision", ""),
                   .collision_count = status.OptionalInt("collisionCount"),
                   .conditions = WorkloadConditions::Read(root, "")};
    error.Update(CheckPodCount("spec.replicas", spec.replicas));
    error.Update(CheckTemplate(root));
    if (error.ok()) error = CheckSelector(root);
    return error;
  });
}

StatefulSetController::StatefulSetController(const ControllerContext& context)
    : call_rng_(context.rng.Fork("controllers/stateful-sets/calls")),
      api_call_(context.api_call),
      loop_(context.loop),
      server_(context.server),
      owned_pods_(context.owned_pods),
      refs_(context.refs),
      warnings_(context.warnings),
      queue_(context, [this](const std::string& key) { return Sync(key); }),
      history_(kKind, context.options.template_line.value_or(api::kDefaultKubernetesLine), context.server) {
  owned_pods_.Listen(kKind, [this](const std::string& owner_key, const WatchEvent&) {
    const auto gathering = gathers_until_.find(owner_key);
    const absl::Time until = gathering == gathers_until_.end() ? absl::InfinitePast() : gathering->second;
    queue_.Add(owner_key, until - loop_.Now());
  });
}

void StatefulSetController::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind == api::Kind::kOther) {
    const std::string owner_key = history_.OnEvent(event);
    if (started_ && !is_updating_history_ && !owner_key.empty()) queue_.Add(owner_key);
    return;
  }
  if (event.new_object == nullptr) specs_.Erase(object.metadata.uid);
  if (started_ && !specs_.is_writing()) queue_.Add(object.Key());
}

void StatefulSetController::Start() {
  started_ = true;
  for (const auto& [key, object] : server_.List(api::Kind::kStatefulSet)) {
    queue_.AddAt(key, loop_.Now(), /*in_background=*/false);
  }
}

absl::Status StatefulSetController::Sync(const std::string& key) {
  Look look;
  look.object = server_.FindByKey(api::Kind::kStatefulSet, kKind, key);
  if (look.object == nullptr) {
    gathers_until_.erase(key);
    queue_.Forget(key);
    return absl::OkStatus();
  }
  // It is looked at when its pods are made.
  if (creations_.count(key) > 0) return absl::OkStatus();
  std::string error;
  look.spec = specs_.Of(look.object, error);
  if (!error.empty()) Warn(error, warnings_);
  if (look.spec == nullptr) return absl::OkStatus();
  if (!look.spec->ignored_fields.empty() && warned_.insert(look.object->metadata.uid).second) {
    Warn(absl::StrCat("StatefulSet ", key, ": ", look.spec->ignored_fields.front(),
                      " is not simulated: claims stay"),
         warnings_);
  }
  if (!look.object->metadata.deletion_timestamp.has_value()) {
    const std::string& name = look.object->metadata.name;
    const auto has_ordinal = [&name](const api::Pod& pod) { return OrdinalOf(pod, name) >= 0; };
    const auto& selector = static_cast<const api::StatefulSet&>(*look.object).selector;
    refs_.Claim(*look.object, selector, has_ordinal, [this, key] { queue_.Add(key); });
  }
  RETURN_IF_ERROR(FindRevisions(look));
  FindReplicas(look);
  absl::Status status;
  if (!look.object->metadata.deletion_timestamp.has_value()) {
    const absl::StatusOr<bool> made = MakeReplicas(key, look);
    status = made.status();
    const bool may_roll_out = made.ok() && !*made && !DeleteCondemned(look) && !look.spec->updates_on_delete;
    if (may_roll_out) RollOut(look);
  }
  WriteStatus(look, StatusOf(look));
  const bool is_done = IsDone(*look.object, status) && creations_.count(key) == 0;
  if (is_done) queue_.Forget(key);
  if (look.spec->is_parallel) gathers_until_[key] = loop_.Now() + kLookTime * look.spec->replicas;
  const absl::Time available =
      owned_pods_.NextAvailable(look.object->metadata.uid, absl::Seconds(look.spec->min_ready_seconds));
  if (available != absl::InfiniteFuture()) queue_.AddAt(key, available, /*in_background=*/false);
  return status;
}

bool StatefulSetController::IsDone(const api::Object& object, absl::Status& status) {
  if (status.ok()) return true;
  status = absl::Status(status.code(), WithObject(object, status.message()));
  if (!absl::IsInvalidArgument(status)) return false;
  // What is no valid pod or claim does not become one by itself.
  Warn(std::string(status.message()), warnings_);
  status = absl::OkStatus();
  return true;
}

absl::Status StatefulSetController::FindRevisions(Look& look) {
  const std::string& current = look.spec->status.current_revision;
  std::string remembered = look.spec->status.update_revision;
  // Manifests have no status.
  if (remembered.empty()) remembered = SharedRevisionOf(owned_pods_.Of(look.object->metadata.uid));
  is_updating_history_ = true;
  absl::StatusOr<Revision> update = history_.Update(*look.object, remembered);
  is_updating_history_ = false;
  if (!update.ok()) {
    const absl::Status& status = update.status();
    return absl::Status(status.code(), WithObject(*look.object, status.message()));
  }
  look.update = *std::move(update);
  look.current = history_.Find(*look.object, current).value_or(look.update);
  return absl::OkStatus();
}

void StatefulSetController::FindReplicas(Look& look) const {
  const StatefulSetSpec& spec = *look.spec;
  for (int64_t i = 0; i < spec.replicas; ++i) look.replicas.push_back({.ordinal = spec.start_ordinal + i});
  for (const auto& [name, entry] : owned_pods_.Of(look.object->metadata.uid)) {
    const int64_t ordinal = OrdinalOf(*entry.pod, look.object->metadata.name);
    if (ordinal < 0) continue;
    const Replica replica = {.ordinal = ordinal, .pod = entry.pod, .ready_since = entry.ready_since};
    const int64_t index = ordinal - spec.start_ordinal;
    if (index >= 0 && index < spec.replicas) {
      look.replicas[static_cast<size_t>(index)] = replica;
    } else {
      look.condemned.push_back(replica);
    }
  }
  std::sort(look.condemned.begin(), look.condemned.end(),
            [](const Replica& a, const Replica& b) { return a.ordinal > b.ordinal; });
}

bool StatefulSetController::IsAvailable(const Replica& replica, const StatefulSetSpec& spec) const {
  return replica.pod != nullptr && IsReady(*replica.pod) &&
         replica.ready_since + absl::Seconds(spec.min_ready_seconds) <= loop_.Now();
}

bool StatefulSetController::IsUnavailable(const Replica& replica, const StatefulSetSpec& spec) const {
  return !IsAvailable(replica, spec) || IsTerminating(*replica.pod);
}

absl::StatusOr<bool> StatefulSetController::MakeReplicas(const std::string& key, Look& look) {
  const StatefulSetSpec& spec = *look.spec;
  const bool monotonic = !spec.is_parallel;
  for (Replica& replica : look.replicas) {
    if (replica.pod == nullptr) {
      if (monotonic) {
        RETURN_IF_ERROR(CreatePod(look, replica.ordinal));
      } else {
        CreateInParallel(key, look);
      }
      return true;
    }
    if (replica.pod->IsTerminal()) {
      // A pod in its place is made when it is gone.
      if (!IsTerminating(*replica.pod)) server_.DeletePod(*replica.pod).IgnoreError();
      return true;
    }
    // What a pod waits for may have been deleted, or may be no part of the input. Source: kubernetes v1.37,
    // pkg/controller/statefulset/stateful_pod_control.go, createMissingPersistentVolumeClaims.
    if (replica.pod->status.phase == "Pending" && LacksClaim(*replica.pod, spec))
      RETURN_IF_ERROR(CreateClaims(look, replica.pod->metadata.name));
    if (!monotonic) continue;
    const bool is_running = replica.pod->status.phase == "Running";
    if (IsTerminating(*replica.pod) || !is_running || !IsAvailable(replica, spec)) return true;
  }
  return false;
}

void StatefulSetController::CreateInParallel(const std::string& key, const Look& look) {
  Creation& creation = creations_[key];
  creation = {.current = look.current, .update = look.update};
  for (auto replica = look.replicas.rbegin(); replica != look.replicas.rend(); ++replica) {
    if (replica->pod == nullptr) creation.ordinals.push_back(replica->ordinal);
  }
  queue_.Continue(absl::ZeroDuration(), [this, key] { CreateNext(key); });
}

void StatefulSetController::CreateNext(const std::string& key) {
  Creation& creation = creations_[key];
  Look look = {.current = creation.current, .update = creation.update};
  look.object = server_.FindByKey(api::Kind::kStatefulSet, kKind, key);
  std::string error;
  if (look.object != nullptr) look.spec = specs_.Of(look.object, error);
  absl::Status status;
  if (look.spec != nullptr && !look.object->metadata.deletion_timestamp.has_value()) {
    const int64_t ordinal = creation.ordinals.back();
    creation.ordinals.pop_back();
    const int64_t index = ordinal - look.spec->start_ordinal;
    if (index >= 0 && index < look.spec->replicas) status = CreatePod(look, ordinal);
    const std::optional<absl::Duration> pause = creation.batches.Next(status, api_call_, call_rng_);
    if (pause.has_value() && !creation.ordinals.empty() && !absl::IsInvalidArgument(status)) {
      queue_.Continue(*pause, [this, key] { CreateNext(key); });
      return;
    }
    status = creation.batches.error();
  }
  creations_.erase(key);
  if (status.ok()) {
    queue_.Add(key);
  } else if (!IsDone(*look.object, status)) {
    queue_.AddRateLimited(key, status.message());
  }
}

bool StatefulSetController::DeleteCondemned(Look& look) {
  const StatefulSetSpec& spec = *look.spec;
  const Replica* first_unavailable = nullptr;
  for (const Replica& replica : look.replicas) {
    if (first_unavailable == nullptr && IsUnavailable(replica, spec)) first_unavailable = &replica;
  }
  for (auto replica = look.condemned.rbegin(); replica != look.condemned.rend(); ++replica) {
    if (first_unavailable == nullptr && IsUnavailable(*replica, spec)) first_unavailable = &*replica;
  }
  for (Replica& replica : look.condemned) {
    if (IsTerminating(*replica.pod)) {
      if (!spec.is_parallel) return true;
      continue;
    }
    if (!spec.is_parallel && !IsAvailable(replica, spec) && &replica != first_unavailable) return true;
    server_.DeletePod(*replica.pod).IgnoreError();
    if (!spec.is_parallel) return true;
  }
  return false;
}

// From the highest ordinal down. Source: kubernetes v1.37,
// pkg/controller/statefulset/stateful_set_control.go, updateStatefulSetAfterInvariantEstablished.
void StatefulSetController::RollOut(Look& look) {
  const StatefulSetSpec& spec = *look.spec;
  const int64_t max_unavailable =
      std::max<int64_t>(spec.max_unavailable.Of(spec.replicas, /*rounds_up=*/false), 1);
  const auto is_old = [&look](const Replica& replica) {
    return RevisionOf(*replica.pod) != look.update.name && !IsTerminating(*replica.pod);
  };
  int64_t unavailable = 0;
  int64_t unavailable_old = 0;
  for (const Replica& replica : look.replicas) {
    if (!IsUnavailable(replica, spec)) continue;
    ++unavailable;
    if (spec.is_parallel && is_old(replica)) ++unavailable_old;
  }
  if (unavailable >= max_unavailable && unavailable_old == 0) return;
  const auto first = static_cast<size_t>(std::clamp<int64_t>(spec.partition.value_or(0), 0, spec.replicas));
  const auto delete_pods = [&](int64_t count, const auto& is_target) {
    for (size_t i = look.replicas.size(); i > first && count > 0; --i) {
      Replica& replica = look.replicas[i - 1];
      if (!is_old(replica) || !is_target(replica)) continue;
      server_.DeletePod(*replica.pod).IgnoreError();
      --count;
    }
  };
  // In parallel, pods that do not work anyway are no loss.
  if (spec.is_parallel) {
    delete_pods(spec.replicas, [&](const Replica& replica) { return !IsAvailable(replica, spec); });
    delete_pods(max_unavailable - unavailable,
                [&](const Replica& replica) { return !IsUnavailable(replica, spec); });
  } else {
    delete_pods(max_unavailable - unavailable, [](const Replica&) { return true; });
  }
}

absl::Status StatefulSetController::CreatePod(const Look& look, int64_t ordinal) {
  const StatefulSetSpec& spec = *look.spec;
  const int64_t index = ordinal - spec.start_ordinal;
  // Those below the partition stay with the old template.
  const bool is_current = spec.partition.has_value()
                              ? index < *spec.partition
                              : !spec.updates_on_delete && index < spec.status.current_replicas;
  const Revision& revision = is_current ? look.current : look.update;
  const std::string name = absl::StrCat(look.object->metadata.name, "-", ordinal);
  RETURN_IF_ERROR(CreateClaims(look, name));
  codec::JsonWriter metadata;
  metadata.BeginObject().Field("name", name);
  metadata.Field("generateName", absl::StrCat(look.object->metadata.name, "-")).Key("labels").BeginObject();
  metadata.Field("statefulset.kubernetes.io/pod-name", name);
  metadata.Field("apps.kubernetes.io/pod-index", absl::StrCat(ordinal));
  metadata.Field(kRevisionLabel, revision.name).EndObject().EndObject();
  std::shared_ptr<const api::Pod> pod;
  RETURN_IF_ERROR(ReadFields(*look.object, [&](const codec::Value& root) -> absl::Status {
    absl::Span<const codec::Value> claims;
    ASSIGN_OR_RETURN(claims, ClaimTemplates(root));
    return codec::ReadText(
        revision.pod_template, "template.json", {}, [&](const codec::Document& document) -> absl::Status {
          std::string patch;
          ASSIGN_OR_RETURN(patch, PodSpecPatch(claims, document.root, name, spec.service_name));
          ASSIGN_OR_RETURN(pod,
                           PodFromTemplate(*look.object, document.root, metadata.text(), patch, reader_));
          return absl::OkStatus();
        });
  }));
  return server_.Create(pod);
}

bool StatefulSetController::LacksClaim(const api::Pod& pod, const StatefulSetSpec& spec) const {
  const api::ObjectMeta& meta = pod.metadata;
  return std::any_of(spec.claims.begin(), spec.claims.end(), [&](const std::string& name) {
    const api::ObjectPtr claim = server_.Find(api::Kind::kPersistentVolumeClaim, "PersistentVolumeClaim",
                                              meta.namespace_, absl::StrCat(name, "-", meta.name));
    return claim == nullptr || claim->metadata.deletion_timestamp.has_value();
  });
}

// A claim outlives its pod, so it may be there already.
absl::Status StatefulSetController::CreateClaims(const Look& look, const std::string& pod_name) {
  const std::string& name_space = look.object->metadata.namespace_;
  return ReadFields(*look.object, [&](const codec::Value& root) -> absl::Status {
    absl::Span<const codec::Value> templates;
    ASSIGN_OR_RETURN(templates, ClaimTemplates(root));
    const codec::Value* selector = root.Find("spec")->Find("selector");
    const codec::Value* labels = selector == nullptr ? nullptr : selector->Find("matchLabels");
    for (const codec::Value& claim_template : templates) {
      const std::string name = absl::StrCat(NameOf(claim_template), "-", pod_name);
      const api::Kind kind = api::Kind::kPersistentVolumeClaim;
      const api::ObjectPtr known = server_.Find(kind, "PersistentVolumeClaim", name_space, name);
      if (known != nullptr && known->metadata.deletion_timestamp.has_value())
        return absl::FailedPreconditionError(absl::StrCat("pvc ", name, " is being deleted"));
      if (known != nullptr) continue;
      codec::JsonWriter own;
      own.BeginObject().Field("apiVersion", "v1").Field("kind", "PersistentVolumeClaim").Key("metadata");
      own.BeginObject().Field("name", name).Field("namespace", name_space);
      own.Key("creationTimestamp").Null();
      if (labels != nullptr) own.Key("labels").Raw(codec::ToJson(*labels));
      own.EndObject().Key("status").BeginObject().Field("phase", "Pending").EndObject().EndObject();
      codec::Document merged;
      RETURN_IF_ERROR(
          codec::ReadText(own.text(), "claim.json", {}, [&](const codec::Document& change) -> absl::Status {
            api::ObjectPtr claim;
            ASSIGN_OR_RETURN(claim,
                             reader_.Decode(codec::MergePatch(claim_template, change.root, merged), name));
            return server_.Create(claim);
          }));
    }
    return absl::OkStatus();
  });
}

// Over the pods that are there now.
StatefulSetSpec::Status StatefulSetController::StatusOf(const Look& look) const {
  const StatefulSetSpec& spec = *look.spec;
  StatefulSetSpec::Status status = {.observed_generation = spec.generation,
                                    .current_revision = look.current.name,
                                    .update_revision = look.update.name,
                                    .collision_count = spec.status.collision_count,
                                    .conditions = spec.status.conditions};
  for (const auto& [name, entry] : owned_pods_.Of(look.object->metadata.uid)) {
    const api::Pod& pod = *entry.pod;
    if (OrdinalOf(pod, look.object->metadata.name) < 0) continue;
    ++status.replicas;
    if (pod.status.phase == "Running" && IsReady(pod)) {
      ++status.ready_replicas;
      const bool is_available = entry.ready_since + absl::Seconds(spec.min_ready_seconds) <= loop_.Now();
      if (is_available) ++status.available_replicas;
    }
    if (IsTerminating(pod)) continue;
    if (RevisionOf(pod) == look.current.name) ++status.current_replicas;
    if (RevisionOf(pod) == look.update.name) ++status.updated_replicas;
  }
  const bool is_complete = status.updated_replicas == spec.replicas &&
                           status.ready_replicas == spec.replicas && status.replicas == spec.replicas;
  if (is_complete) {
    status.current_replicas = status.updated_replicas;
    status.current_revision = status.update_revision;
  }
  return status;
}

void StatefulSetController::WriteStatus(const Look& look, StatefulSetSpec::Status status) {
  std::set<std::string> live = {look.current.name, look.update.name};
  for (const auto& [name, entry] : owned_pods_.Of(look.object->metadata.uid)) {
    live.insert(RevisionOf(*entry.pod));
  }
  history_.Truncate(*look.object, live, look.spec->revision_history_limit);
  if (status == look.spec->status) return;
  if (!status.collision_count.has_value()) status.collision_count = 0;
  codec::JsonWriter json;
  json.BeginObject();
  if (status.observed_generation.has_value()) json.Field("observedGeneration", *status.observed_generation);
  json.Field("replicas", status.replicas);
  const auto write = [&json](absl::string_view name, int64_t count) {
    if (count != 0) json.Field(name, count);
  };
  write("readyReplicas", status.ready_replicas);
  write("currentReplicas", status.current_replicas);
  write("updatedReplicas", status.updated_replicas);
  json.Field("currentRevision", status.current_revision).Field("updateRevision", status.update_revision);
  json.Field("collisionCount", *status.collision_count);
  json.Field("availableReplicas", status.available_replicas);
  status.conditions.Write("", json);
  json.EndObject();
  if (specs_.WriteStatus(server_, *look.object, json.text()) == nullptr) return;
  look.spec->status = std::move(status);
}

}  // namespace schedsim::sim
