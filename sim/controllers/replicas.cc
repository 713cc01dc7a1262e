#include "sim/controllers/replicas.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/api/kinds.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/patch/merge_patch.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"

namespace schedsim::sim {
namespace {

// Source: apimachinery v0.37, pkg/util/rand/rand.go: no vowels, and nothing that looks like another.
constexpr absl::string_view kNameCharacters = "bcdfghjklmnpqrstvwxz2456789";
constexpr int kSuffixLength = 5;
constexpr absl::Duration kInterval = absl::Milliseconds(1);
// As many as `scale` takes. More pods than any cluster has would only fill the memory.
constexpr int64_t kReplicasMax = 1'000'000;

// Draws.
std::string Suffix(Rng& rng) {
  std::string suffix;
  for (int i = 0; i < kSuffixLength; ++i) {
    suffix += kNameCharacters[static_cast<size_t>(rng.Below(static_cast<int64_t>(kNameCharacters.size())))];
  }
  return suffix;
}

// Of a Deployment's template. The real one is another hash over another text.
std::string TemplateHash(const api::Object& deployment) {
  Digest digest;
  codec::ReadText(codec::ObjectJson(deployment), deployment.Key(), {},
                  [&digest](const codec::Document& document) {
                    const codec::Value* spec = document.root.Find("spec");
                    const codec::Value* pod_template = spec == nullptr ? nullptr : spec->Find("template");
                    if (pod_template != nullptr) digest.Add(ToJson(*pod_template));
                    return absl::OkStatus();
                  })
      .IgnoreError();
  Rng rng(digest.value());
  return Suffix(rng) + Suffix(rng);
}

// What a StatefulSet says of a pod of its own in the pod's labels.
void WriteIdentity(const std::string& pod_name, codec::JsonWriter& metadata) {
  metadata.Key("labels").BeginObject().Field("statefulset.kubernetes.io/pod-name", pod_name);
  metadata.Field("apps.kubernetes.io/pod-index", pod_name.substr(pod_name.rfind('-') + 1)).EndObject();
}

std::string TextOf(const codec::Value& object, absl::string_view key) {
  const codec::Value* found = object.Find(key);
  return found == nullptr || !found->is_string() ? "" : std::string(found->text);
}

// The claim templates of a workload's spec. InvalidArgument for what has no name.
absl::StatusOr<absl::Span<const codec::Value>> ClaimTemplates(const codec::Value& spec,
                                                              const std::string& file) {
  const codec::Value* templates = spec.Find("volumeClaimTemplates");
  if (templates == nullptr || templates->is_null()) return absl::Span<const codec::Value>();
  bool named = templates->is_array();
  for (const codec::Value& claim : templates->items) {
    const codec::Value* metadata = claim.Find("metadata");
    named = named && metadata != nullptr && !TextOf(*metadata, "name").empty();
  }
  if (named) return templates->items;
  return codec::ErrorAt({file, templates->position},
                        "spec.volumeClaimTemplates: expected a list of claims with metadata.name");
}

std::string NameOf(const codec::Value& claim_template) {
  return TextOf(*claim_template.Find("metadata"), "name");
}

// The pod's volumes, where the workload has claim templates: each claim, under the name of its template, and
// the volumes of other names. InvalidArgument where the template's volumes are no list.
absl::Status WriteVolumes(absl::Span<const codec::Value> claim_templates, const codec::Value& pod_spec,
                          const std::string& pod_name, const std::string& file, codec::JsonWriter& pod) {
  std::set<std::string> claimed;
  for (const codec::Value& claim : claim_templates) claimed.insert(NameOf(claim));
  if (claimed.empty()) return absl::OkStatus();
  const codec::Value* volumes = pod_spec.Find("volumes");
  if (volumes != nullptr && !volumes->is_null() && !volumes->is_array()) {
    return codec::ErrorAt({file, volumes->position},
                          "spec.template.spec.volumes: expected a list of volumes");
  }
  pod.Key("spec").BeginObject().Key("volumes").BeginArray();
  for (const std::string& name : claimed) {
    pod.BeginObject().Field("name", name).Key("persistentVolumeClaim").BeginObject();
    pod.Field("claimName", absl::StrCat(name, "-", pod_name)).EndObject().EndObject();
  }
  for (size_t i = 0; volumes != nullptr && i < volumes->items.size(); ++i) {
    if (claimed.count(TextOf(volumes->items[i], "name")) == 0) pod.Raw(codec::ToJson(volumes->items[i]));
  }
  pod.EndArray().EndObject();
  return absl::OkStatus();
}

// spec.replicas of a workload; what it is where it is left out. Absent where it is no number.
// Source: kubernetes v1.37, pkg/apis/apps/v1/defaults.go.
std::optional<int64_t> ReplicasOf(const api::Object& workload) {
  std::optional<int64_t> replicas = 1;
  codec::ReadText(codec::ObjectJson(workload), workload.Key(), {},
                  [&replicas](const codec::Document& document) {
                    const codec::Value* spec = document.root.Find("spec");
                    const codec::Value* found = spec == nullptr ? nullptr : spec->Find("replicas");
                    int64_t number = 0;
                    if (found == nullptr || found->is_null()) return absl::OkStatus();
                    replicas.reset();
                    if (absl::SimpleAtoi(found->text, &number) && number >= 0) replicas = number;
                    return absl::OkStatus();
                  })
      .IgnoreError();
  return replicas;
}

// The workload that a pod belongs to, if it is one whose pods are counted here.
std::optional<Workload> OwnerOf(const api::Pod& pod) {
  for (const api::OwnerReference& owner : pod.metadata.owner_references) {
    const bool counts =
        owner.kind == "ReplicaSet" || owner.kind == "ReplicationController" || owner.kind == "StatefulSet";
    if (owner.controller && counts) {
      return Workload{.kind = owner.kind, .name_space = pod.metadata.namespace_, .name = owner.name};
    }
  }
  return std::nullopt;
}

int64_t OrdinalOf(const api::Pod& pod) {
  int64_t ordinal = -1;
  const size_t dash = pod.metadata.name.rfind('-');
  if (dash == std::string::npos || !absl::SimpleAtoi(pod.metadata.name.substr(dash + 1), &ordinal)) return -1;
  return ordinal;
}

int64_t DeletionCost(const api::Pod& pod) {
  const std::string* text = pod.metadata.annotations.Find("controller.kubernetes.io/pod-deletion-cost");
  int64_t cost = 0;
  return text != nullptr && absl::SimpleAtoi(*text, &cost) ? cost : 0;
}

// Whose pods go first. Source: kubernetes v1.37, pkg/controller/controller_utils.go, ActivePodsWithRanks:
// without a node, the lowest deletion cost, on the node with the most pods of the workload, the youngest.
// Readiness and restarts are not simulated; the name decides what upstream leaves open.
void SortByDeletion(std::vector<api::PodPtr>& pods) {
  std::map<std::string, int64_t> on_node;
  for (const api::PodPtr& pod : pods) ++on_node[pod->node_name];
  const auto rank = [&on_node](const api::Pod& pod) {
    const absl::Time created = pod.metadata.creation_timestamp.value_or(absl::InfinitePast());
    return std::make_tuple(pod.node_name.empty() ? 0 : 1, DeletionCost(pod), -on_node[pod.node_name],
                           absl::UnixEpoch() - created, pod.metadata.name);
  };
  std::sort(pods.begin(), pods.end(),
            [&rank](const api::PodPtr& a, const api::PodPtr& b) { return rank(*a) < rank(*b); });
}

}  // namespace

ReplicaController::ReplicaController(const ControllerContext& context)
    : rng_(context.rng.Fork("controllers/replicas")),
      loop_(context.loop),
      server_(context.server),
      trace_(context.trace),
      may_follow_(context.options.workloads),
      may_replace_(context.options.replaces_deleted_pods) {}

void ReplicaController::Start() {
  follows_ = may_follow_;
  if (!may_replace_) return;
  replaces_ = true;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    const auto& pod = static_cast<const api::Pod&>(*object);
    const std::optional<Workload> owner = OwnerOf(pod);
    if (!owner.has_value() || pod.IsTerminal() || pod.metadata.deletion_timestamp.has_value()) continue;
    ++wanted_[*owner];
    models_[*owner] = std::static_pointer_cast<const api::Pod>(object);
  }
}

void ReplicaController::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind == api::Kind::kPod) {
    OnPod(event);
  } else {
    OnWorkload(event);
  }
}

// What was there at the start keeps the pods that the input gave it: only a change is followed. A change that
// someone made who asked for the pods as well is done.
void ReplicaController::OnWorkload(const WatchEvent& event) {
  if (!follows_ || event.old_object == nullptr || event.new_object == nullptr) return;
  const api::Object& object = *event.new_object;
  const bool counts = object.kind != api::Kind::kOther || object.kind_name == "Deployment";
  if (!counts) return;
  const std::optional<int64_t> replicas = ReplicasOf(object);
  if (!replicas.has_value() || replicas == ReplicasOf(*event.old_object)) return;
  const Workload workload = {
      .kind = object.kind_name, .name_space = object.metadata.namespace_, .name = object.metadata.name};
  loop_.At(loop_.Now(), EventLoop::Phase::kWork, [this, workload, replicas = *replicas] {
    const auto asked = asked_.find(workload);
    if (asked != asked_.end() && asked->second == replicas) return;
    const absl::Status status = Scale(workload, replicas);
    if (status.ok()) return;
    failures_.push_back(
        absl::StrCat(workload.kind, " ", workload.name_space, "/", workload.name, ": ", status.message()));
  });
}

// A ReplicaSet does not wait until a pod that is being deleted is gone; a StatefulSet needs its name.
void ReplicaController::OnPod(const WatchEvent& event) {
  if (!replaces_ || event.old_object == nullptr) return;
  const auto& before = static_cast<const api::Pod&>(*event.old_object);
  const std::optional<Workload> owner = OwnerOf(before);
  if (!owner.has_value() || wanted_.count(*owner) == 0) return;
  const bool is_gone = event.new_object == nullptr;
  const bool leaves = !is_gone && event.new_object->metadata.deletion_timestamp.has_value() &&
                      !before.metadata.deletion_timestamp.has_value();
  if (is_gone || (leaves && owner->kind != "StatefulSet")) {
    loop_.At(loop_.Now() + kInterval, EventLoop::Phase::kWork,
             [this, workload = *owner] { Refill(workload); });
  }
}

void ReplicaController::Refill(const Workload& workload) {
  const Pods pods = PodsOf(workload);
  const int64_t missing = Missing(workload, pods);
  if (missing <= 0) return;
  const absl::Status status = MakePods(workload, pods, missing);
  if (!status.ok()) trace_.ApiError("create", status.message());
}

int64_t ReplicaController::Missing(const Workload& workload, const Pods& pods) {
  return wanted_[workload] - static_cast<int64_t>(pods.size() + coming_[workload].size());
}

ReplicaController::Pods ReplicaController::PodsOf(const Workload& workload) const {
  Pods pods;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    auto pod = std::static_pointer_cast<const api::Pod>(object);
    if (pod->IsTerminal() || pod->metadata.deletion_timestamp.has_value() || OwnerOf(*pod) != workload)
      continue;
    pods.push_back(std::move(pod));
  }
  return pods;
}

api::ObjectPtr ReplicaController::Find(const Workload& workload) const {
  const api::KindInfo* const info = api::FindKindByName(workload.kind);
  if (info == nullptr) return nullptr;
  return server_.Find(info->kind, workload.kind, workload.name_space, workload.name);
}

absl::Status ReplicaController::Scale(const Workload& asked_for, int64_t replicas) {
  if (replicas > kReplicasMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("spec.replicas: expected at most ", kReplicasMax, ", got ", replicas));
  }
  Workload workload = asked_for;
  asked_[asked_for] = replicas;
  if (workload.kind == "Deployment") {
    ASSIGN_OR_RETURN(workload, ReplicaSetOf(asked_for));
  }
  Pods pods = PodsOf(workload);
  if (Find(workload) == nullptr && pods.empty() && models_.count(workload) == 0) {
    return absl::NotFoundError(
        absl::StrCat("there is no ", workload.kind, " ", workload.name_space, "/", workload.name));
  }
  wanted_[workload] = replicas;
  if (!pods.empty()) models_[workload] = pods.front();
  const int64_t missing = Missing(workload, pods);
  if (missing > 0) return MakePods(workload, pods, missing);
  DeleteSurplus(workload, std::move(pods), std::min(-missing, static_cast<int64_t>(pods.size())));
  return absl::OkStatus();
}

void ReplicaController::DeleteSurplus(const Workload& workload, Pods pods, int64_t surplus) {
  if (workload.kind == "StatefulSet") {
    std::sort(pods.begin(), pods.end(),
              [](const api::PodPtr& a, const api::PodPtr& b) { return OrdinalOf(*a) > OrdinalOf(*b); });
  } else {
    SortByDeletion(pods);
  }
  pods.resize(static_cast<size_t>(surplus));
  for (const api::PodPtr& pod : pods) server_.DeletePod(*pod).IgnoreError();
}

absl::Status ReplicaController::MakePods(const Workload& workload, const Pods& pods, int64_t count) {
  const api::PodPtr model = pods.empty() ? models_[workload] : pods.front();
  std::set<std::string> taken = coming_[workload];
  for (const api::PodPtr& pod : pods) taken.insert(pod->metadata.name);
  int64_t ordinal = 0;
  for (int64_t i = 0; i < count; ++i) {
    const std::string name = NewName(workload, taken, ordinal);
    taken.insert(name);
    api::ObjectPtr pod;
    ASSIGN_OR_RETURN(pod, MakePod(workload, model, name));
    RETURN_IF_ERROR(server_.Admit(static_cast<const api::Pod&>(*pod)));
    std::vector<api::ObjectPtr> claims;
    ASSIGN_OR_RETURN(claims, MakeClaims(workload, name));
    coming_[workload].insert(name);
    const absl::Time at = loop_.Now() + kInterval * i;
    busy_until_ = std::max(busy_until_, at);
    loop_.At(at, EventLoop::Phase::kWork, [this, workload, pod, claims] {
      coming_[workload].erase(pod->metadata.name);
      // A claim outlives its pod, so it may be there already.
      for (const api::ObjectPtr& claim : claims) server_.Create(claim).IgnoreError();
      // A StatefulSet's pod of this name may still be there; it is made when that is gone.
      server_.Create(pod).IgnoreError();
    });
  }
  return absl::OkStatus();
}

absl::StatusOr<api::ObjectPtr> ReplicaController::MakeClaim(const codec::Value& claim_template,
                                                            const std::string& name_space,
                                                            const std::string& pod_name,
                                                            const std::string& file) {
  codec::JsonWriter own;
  own.BeginObject()
      .Field("apiVersion", "v1")
      .Field("kind", "PersistentVolumeClaim")
      .Key("metadata")
      .BeginObject();
  own.Field("name", absl::StrCat(NameOf(claim_template), "-", pod_name))
      .Field("namespace", name_space)
      .EndObject();
  own.Key("status").BeginObject().Field("phase", "Pending").EndObject().EndObject();
  api::ObjectPtr claim;
  codec::Document merged;
  RETURN_IF_ERROR(codec::ReadText(own.text(), file, {}, [&](const codec::Document& change) -> absl::Status {
    ASSIGN_OR_RETURN(claim, reader_.Decode(codec::MergePatch(claim_template, change.root, merged), file));
    return absl::OkStatus();
  }));
  return claim;
}

absl::StatusOr<std::vector<api::ObjectPtr>> ReplicaController::MakeClaims(const Workload& workload,
                                                                          const std::string& pod_name) {
  std::vector<api::ObjectPtr> claims;
  const api::ObjectPtr owner = workload.kind == "StatefulSet" ? Find(workload) : nullptr;
  if (owner == nullptr) return claims;
  const std::string file = absl::StrCat(owner->kind_name, " ", owner->Key());
  RETURN_IF_ERROR(codec::ReadText(
      codec::ObjectJson(*owner), file, {}, [&](const codec::Document& stored) -> absl::Status {
        const codec::Value* spec = stored.root.Find("spec");
        if (spec == nullptr) return absl::OkStatus();
        absl::Span<const codec::Value> claim_templates;
        ASSIGN_OR_RETURN(claim_templates, ClaimTemplates(*spec, file));
        for (const codec::Value& claim_template : claim_templates) {
          ASSIGN_OR_RETURN(claims.emplace_back(),
                           MakeClaim(claim_template, workload.name_space, pod_name, file));
        }
        return absl::OkStatus();
      }));
  return claims;
}

std::string ReplicaController::NewName(const Workload& workload, const std::set<std::string>& taken,
                                       int64_t& ordinal) {
  std::string name;
  do {
    name = workload.kind == "StatefulSet" ? absl::StrCat(workload.name, "-", ordinal++)
                                          : absl::StrCat(workload.name, "-", Suffix(rng_));
  } while (taken.count(name) > 0);
  return name;
}

absl::StatusOr<api::ObjectPtr> ReplicaController::MakePod(const Workload& workload, const api::PodPtr& model,
                                                          const std::string& name) {
  const api::ObjectPtr owner = Find(workload);
  if (owner != nullptr) {
    absl::StatusOr<api::ObjectPtr> made = FromTemplate(*owner, name);
    if (made.ok() || model == nullptr) return made;
  }
  auto pod = std::static_pointer_cast<api::Pod>(model->Clone());
  pod->metadata.name = name;
  pod->metadata.uid.clear();
  pod->metadata.resource_version = 0;
  pod->metadata.creation_timestamp.reset();
  pod->metadata.deletion_timestamp.reset();
  pod->node_name.clear();
  pod->status = api::PodStatus();
  return api::ObjectPtr(std::move(pod));
}

absl::StatusOr<api::ObjectPtr> ReplicaController::FromTemplate(const api::Object& owner,
                                                               const std::string& name) {
  codec::JsonWriter own;
  own.BeginObject()
      .Field("apiVersion", "v1")
      .Field("kind", "Pod")
      .Key("metadata")
      .BeginObject()
      .Field("name", name);
  own.Field("namespace", owner.metadata.namespace_).Key("ownerReferences").BeginArray().BeginObject();
  own.Field("apiVersion", owner.api_version)
      .Field("kind", owner.kind_name)
      .Field("name", owner.metadata.name);
  own.Field("uid", owner.metadata.uid).Key("controller").Bool(true).EndObject().EndArray();
  if (owner.kind == api::Kind::kStatefulSet) WriteIdentity(name, own);
  own.EndObject();
  const std::string file = absl::StrCat(owner.kind_name, " ", owner.Key());
  api::ObjectPtr pod;
  codec::Document merged;
  RETURN_IF_ERROR(
      codec::ReadText(codec::ObjectJson(owner), file, {}, [&](const codec::Document& stored) -> absl::Status {
        const codec::Value* spec = stored.root.Find("spec");
        const codec::Value* pod_template = spec == nullptr ? nullptr : spec->Find("template");
        if (pod_template == nullptr || pod_template->Find("spec") == nullptr) {
          return absl::FailedPreconditionError(absl::StrCat(file, " has no template of a pod"));
        }
        absl::Span<const codec::Value> claim_templates;
        ASSIGN_OR_RETURN(claim_templates, ClaimTemplates(*spec, file));
        const absl::Status written =
            WriteVolumes(claim_templates, *pod_template->Find("spec"), name, file, own);
        if (!written.ok()) return written;
        own.EndObject();
        return codec::ReadText(own.text(), file, {}, [&](const codec::Document& change) -> absl::Status {
          ASSIGN_OR_RETURN(pod, reader_.Decode(codec::MergePatch(*pod_template, change.root, merged), file));
          return absl::OkStatus();
        });
      }));
  return pod;
}

absl::StatusOr<Workload> ReplicaController::ReplicaSetOf(const Workload& deployment) {
  api::ObjectPtr newest;
  for (const auto& [key, object] : server_.List(api::Kind::kReplicaSet)) {
    if (object->metadata.namespace_ != deployment.name_space) continue;
    const auto& owners = object->metadata.owner_references;
    const bool is_its = std::any_of(owners.begin(), owners.end(), [&](const api::OwnerReference& owner) {
      return owner.controller && owner.kind == "Deployment" && owner.name == deployment.name;
    });
    if (!is_its) continue;
    if (newest == nullptr || object->metadata.creation_timestamp > newest->metadata.creation_timestamp)
      newest = object;
  }
  if (newest != nullptr) {
    return Workload{.kind = "ReplicaSet", .name_space = deployment.name_space, .name = newest->metadata.name};
  }
  const api::ObjectPtr owner = Find(deployment);
  if (owner == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("there is no Deployment ", deployment.name_space, "/", deployment.name));
  }
  // The Deployment's own template and selector, with the hash, and the Deployment as the owner.
  const std::string hash = TemplateHash(*owner);
  const std::string name = absl::StrCat(deployment.name, "-", hash);
  codec::JsonWriter own;
  own.BeginObject().Field("apiVersion", "apps/v1").Field("kind", "ReplicaSet").Key("metadata").BeginObject();
  own.Field("name", name).Key("uid").Null().Key("resourceVersion").Null().Key("creationTimestamp").Null();
  own.Key("labels")
      .BeginObject()
      .Field("pod-template-hash", hash)
      .EndObject()
      .Key("ownerReferences")
      .BeginArray();
  own.BeginObject()
      .Field("apiVersion", owner->api_version)
      .Field("kind", "Deployment")
      .Field("name", deployment.name);
  own.Field("uid", owner->metadata.uid).Key("controller").Bool(true).EndObject().EndArray().EndObject();
  own.Key("spec").BeginObject().Key("selector").BeginObject().Key("matchLabels").BeginObject();
  own.Field("pod-template-hash", hash).EndObject().EndObject().Key("template").BeginObject().Key("metadata");
  own.BeginObject()
      .Key("labels")
      .BeginObject()
      .Field("pod-template-hash", hash)
      .EndObject()
      .EndObject()
      .EndObject();
  own.EndObject().Key("status").Null().EndObject();
  api::ObjectPtr replica_set;
  codec::Document merged;
  RETURN_IF_ERROR(codec::ReadText(codec::ObjectJson(*owner), name, {}, [&](const codec::Document& stored) {
    return codec::ReadText(own.text(), name, {}, [&](const codec::Document& change) -> absl::Status {
      ASSIGN_OR_RETURN(replica_set,
                       reader_.Decode(codec::MergePatch(stored.root, change.root, merged), name));
      return absl::OkStatus();
    });
  }));
  RETURN_IF_ERROR(server_.Create(replica_set));
  return Workload{.kind = "ReplicaSet", .name_space = deployment.name_space, .name = name};
}

}  // namespace schedsim::sim
