#include "sim/bench/bench_client.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"
#include "core/api/node.h"
#include "core/api/workloads.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

// Source: apimachinery v0.37, pkg/util/rand/rand.go.
constexpr absl::string_view kNameCharacters = "bcdfghjklmnpqrstvwxz2456789";
constexpr int kSuffixLength = 5;
// Source: kubernetes v1.37, apiserver/pkg/registry/generic/registry/store.go,
// maxNameGenerationCreateAttempts.
constexpr int kNameAttemptsMax = 8;

constexpr char kNamespaceNameLabel[] = "kubernetes.io/metadata.name";

}  // namespace

BenchClient::BenchClient(ApiServer& server, const Rng& rng) : server_(server), rng_(rng) {
  server_.set_grace_period([this](const api::Pod& pod) { return GracePeriod(pod); });
}

std::string BenchClient::Suffix() {
  std::string suffix;
  for (int i = 0; i < kSuffixLength; ++i) {
    suffix += kNameCharacters[static_cast<size_t>(rng_.Below(static_cast<int64_t>(kNameCharacters.size())))];
  }
  return suffix;
}

std::string BenchClient::Uuid() {
  constexpr absl::string_view kDigits = "0123456789abcdef";
  std::string uuid;
  for (int i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) uuid += '-';
    uuid += kDigits[static_cast<size_t>(rng_.Below(static_cast<int64_t>(kDigits.size())))];
  }
  return uuid;
}

absl::StatusOr<std::string> BenchClient::Create(std::shared_ptr<api::Object> object) {
  api::ObjectMeta& metadata = object->metadata;
  const bool draws = metadata.name.empty();
  for (int attempt = 1;; ++attempt) {
    if (draws) metadata.name = absl::StrCat(metadata.generate_name, Suffix());
    const absl::Status status = server_.Create(object);
    if (status.ok()) return metadata.name;
    if (!draws || !absl::IsAlreadyExists(status) || attempt == kNameAttemptsMax) return status;
  }
}

absl::StatusOr<std::string> BenchClient::Create(TemplateObject made, absl::string_view name_space) {
  made.object->metadata.namespace_ = std::string(name_space);
  const bool is_pod = made.object->kind == api::Kind::kPod;
  const bool is_named = !made.object->metadata.name.empty();
  std::string name;
  ASSIGN_OR_RETURN(name, Create(std::move(made.object)));
  if (!is_pod) return name;
  std::string key = absl::StrCat(name_space, "/", name);
  if (made.ends_at_once || made.has_finalizers) {
    ends_[key] = {.at_once = made.ends_at_once, .has_finalizers = made.has_finalizers};
  } else if (is_named) {
    ends_.Erase(key);  // Of an earlier pod of that name.
  }
  return name;
}

absl::Status BenchClient::CreateNamespace(const api::StringMap& labels, absl::string_view name) {
  if (server_.Find(api::Kind::kNamespace, "Namespace", "", name) != nullptr) return absl::OkStatus();
  auto object = std::make_shared<api::Namespace>();
  object->api_version = "v1";
  object->kind_name = "Namespace";
  object->metadata.name = std::string(name);
  object->metadata.labels = labels;
  object->metadata.labels.Set(kNamespaceNameLabel, name);
  return server_.Create(object);
}

// A PUT of the object leaves the status as it is; that of the status leaves the rest.
absl::Status BenchClient::Update(const TemplateObject& made, absl::string_view name_space,
                                 const std::vector<std::string>& subresources) {
  made.object->metadata.namespace_ = std::string(name_space);
  const bool resizes = subresources.size() == 1 && subresources[0] == "resize";
  if (!subresources.empty() && (!resizes || made.object->kind != api::Kind::kPod)) {
    return absl::UnimplementedError(
        absl::StrCat("subresource ", subresources[0], " of ", made.object->kind_name, " is not simulated"));
  }
  if (resizes) return Resize(static_cast<const api::Pod&>(*made.object), name_space);
  const api::ObjectPtr stored = server_.Find(*made.object);
  if (stored == nullptr) return server_.Update(made.object);
  if (stored->kind == api::Kind::kPod) {
    // What the status has is the scheduler's to say, and its kubelet's; conditions and nomination stay.
    auto pod = std::static_pointer_cast<api::Pod>(made.object->Clone());
    if (!made.has_status) pod->status = static_cast<const api::Pod&>(*stored).status;
    return server_.Update(pod);
  }
  if (stored->kind == api::Kind::kNode) {
    auto node = std::static_pointer_cast<api::Node>(made.object->Clone());
    node->status = static_cast<const api::Node&>(*stored).status;
    RETURN_IF_ERROR(server_.Update(node));
  }
  return server_.Update(made.object);
}

absl::Status BenchClient::Resize(const api::Pod& pod, absl::string_view name_space) {
  const api::PodPtr stored = server_.FindPod(name_space, pod.metadata.name);
  if (stored == nullptr) {
    return absl::NotFoundError(absl::StrCat("pods \"", pod.metadata.name, "\" not found"));
  }
  auto resized = std::static_pointer_cast<api::Pod>(stored->Clone());
  auto spec = std::make_shared<api::PodSpec>(*stored->spec);
  for (const api::Container& wanted : pod.spec->containers) {
    const auto container =
        std::find_if(spec->containers.begin(), spec->containers.end(),
                     [&wanted](const api::Container& known) { return known.name == wanted.name; });
    if (container != spec->containers.end()) container->resources = wanted.resources;
  }
  resized->spec = std::move(spec);
  return server_.Update(resized);
}

std::optional<absl::Duration> BenchClient::GracePeriod(const api::Pod& pod) const {
  const PodEnd* end = ends_.Find(pod.Key());
  const bool stays = end == nullptr || end->has_finalizers;
  if (!stays) return absl::ZeroDuration();
  if (pod.metadata.deletion_timestamp.has_value()) return std::nullopt;
  return kDefaultGracePeriod;
}

absl::Status BenchClient::DeletePod(absl::string_view name_space, absl::string_view name) {
  const api::PodPtr pod = server_.FindPod(name_space, name);
  if (pod == nullptr) return absl::NotFoundError(absl::StrCat("pods \"", name, "\" not found"));
  const PodEnd* end = ends_.Find(pod->Key());
  const bool waits_for_finalizers = end != nullptr && end->has_finalizers && pod->node_name.empty();
  if (!waits_for_finalizers) return server_.DeletePod(*pod);
  if (pod->metadata.deletion_timestamp.has_value()) return absl::OkStatus();
  // A pod without a node has nothing to end.
  return server_.MarkDeleted(*pod, absl::ZeroDuration());
}

absl::Status BenchClient::Delete(const api::Object& like, absl::string_view name_space,
                                 absl::string_view name) {
  if (like.kind == api::Kind::kPod) return DeletePod(name_space, name);
  return server_.Delete(like.kind, like.kind_name, name_space, name);
}

std::optional<bool> IsNamespaced(const api::Object& object) {
  const api::KindInfo* info = api::FindKind(object.api_version, object.kind_name);
  if (info == nullptr) return std::nullopt;
  return info->is_namespaced;
}

}  // namespace schedsim::sim
