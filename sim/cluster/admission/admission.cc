#include "sim/cluster/admission/admission.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/taints.h"
#include "core/base/check.h"
#include "core/base/json_member.h"
#include "core/base/status_macros.h"
#include "core/codec/text/reader.h"
#include "sim/cluster/admission/default_storage_class.h"
#include "sim/cluster/admission/default_toleration_seconds.h"
#include "sim/cluster/admission/defaults.h"
#include "sim/cluster/admission/device_defaults.h"
#include "sim/cluster/admission/label_keys.h"
#include "sim/cluster/admission/metadata_validation.h"
#include "sim/cluster/admission/namespace_lifecycle.h"
#include "sim/cluster/admission/object_validation.h"
#include "sim/cluster/admission/pod_validation.h"
#include "sim/cluster/admission/runtime_class.h"
#include "sim/cluster/admission/storage_defaults.h"
#include "sim/cluster/admission/workload_defaults.h"
#include "sim/cluster/resource_name.h"

namespace schedsim::sim {
namespace {

// The name in messages: that of an object whose name is still to be made up is the name's beginning.
const std::string& NameOf(const api::ObjectMeta& metadata) {
  return metadata.name.empty() ? metadata.generate_name : metadata.name;
}

// A plugin's refusal as the API server says it.
absl::Status Forbidden(const api::Object& object, const absl::Status& status) {
  if (!absl::IsPermissionDenied(status)) return status;
  return absl::PermissionDeniedError(absl::StrCat(ResourceOf(object), " \"", NameOf(object.metadata),
                                                  "\" is forbidden: ", status.message()));
}

bool IsGatedOnNode(const api::Pod& pod) {
  return !pod.node_name.empty() && !pod.spec->scheduling_gates.empty();
}

void AddNotReadyTaint(api::Node& node) {
  const api::Taint taint = {.key = std::string(api::kTaintNodeNotReady), .value = "", .effect = "NoSchedule"};
  const bool is_there = std::any_of(
      node.spec.taints.begin(), node.spec.taints.end(),
      [&taint](const api::Taint& other) { return other.key == taint.key && other.effect == taint.effect; });
  if (!is_there) node.spec.taints.push_back(taint);
}

}  // namespace

Admission::Admission(const Options& options) : options_(options) {
  auto priority = std::make_unique<PriorityPlugin>();
  auto limits = std::make_unique<LimitRangerPlugin>();
  auto quotas = std::make_unique<ResourceQuotaPlugin>();
  priority_ = priority.get();
  limits_ = limits.get();
  quotas_ = quotas.get();
  // Source: kubernetes v1.37, pkg/kubeapiserver/options/plugins.go, AllOrderedPlugins.
  plugins_.push_back(std::make_unique<NamespaceLifecyclePlugin>());
  plugins_.push_back(std::move(limits));
  plugins_.push_back(std::move(priority));
  plugins_.push_back(std::make_unique<DefaultTolerationSecondsPlugin>());
  plugins_.push_back(std::make_unique<DefaultStorageClassPlugin>());
  plugins_.push_back(std::make_unique<RuntimeClassPlugin>());
  plugins_.push_back(std::move(quotas));
}

void Admission::OnChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  bool is_new_rule = false;
  for (const auto& plugin : plugins_) is_new_rule |= plugin->OnChange(old_object, new_object);
  if (!is_new_rule) return;
  old_specs_.Clear();
  answers_.Clear();
  with_keys_.Clear();
  spec_faults_.Clear();
  spec_faults_bytes_ = 0;
}

bool Admission::PassedBefore(const api::Object& object) { return api::CameFromCluster(object); }

std::shared_ptr<const api::PodSpec> Admission::CompleteOldSpec(
    const std::shared_ptr<const api::PodSpec>& spec) {
  if (const Answer* known = old_specs_.Find(spec.get())) return known->completed;
  auto completed = std::make_shared<api::PodSpec>(*spec);
  SetPodDefaults(*completed);
  if (options_.complete) {
    SetPodLevelDefaults(*completed);
    priority_->SetPriority(*completed);
  }
  std::shared_ptr<const api::PodSpec> result = spec;
  if (!IsSameAfterDefaults(*spec, *completed)) result = std::move(completed);
  Answer& answer = old_specs_[spec.get()];
  answer.given = spec;
  answer.completed = result;
  return result;
}

Admission::Answer Admission::MakeAnswer(const api::Pod& pod) const {
  const std::string& name_space = pod.metadata.namespace_;
  auto completed = std::make_shared<api::PodSpec>(*pod.spec);
  SetPodDefaults(*completed);
  RoundAmounts(*completed);
  Answer answer = {.given = pod.spec, .completed = completed};
  answer.limit_ranger = limits_->AnnotationFor(name_space, *completed);
  for (const auto& plugin : plugins_) {
    // An update takes what the others set, also where one refuses.
    const absl::Status status = plugin->MutateSpec(name_space, *completed);
    if (answer.mutated.ok()) answer.mutated = status;
  }
  SetPodLevelDefaults(*completed);
  for (const auto& plugin : plugins_) {
    if (answer.validated.ok()) answer.validated = plugin->ValidateSpec(name_space, *completed);
  }
  answer.label_keys = LabelKeysOf(*completed);
  return answer;
}

const Admission::Answer& Admission::AnswerFor(const api::Pod& pod) {
  SpecKey key = {pod.spec.get(), {}};
  for (const auto& plugin : plugins_) {
    const void* rules = plugin->RulesOf(pod.metadata.namespace_);
    if (rules != nullptr) std::get<1>(key).push_back(rules);
  }
  if (const Answer* known = answers_.Find(key)) return *known;
  return answers_[key] = MakeAnswer(pod);
}

const std::vector<std::string>& Admission::SpecFaults(const api::Pod& pod) {
  constexpr size_t kTextBytesMax = 1 << 20;
  const std::string whole = pod.json == nullptr ? "" : pod.json->ToString();
  const absl::string_view written = FindJsonMember(whole, "spec");
  const std::pair<const api::PodSpec*, std::string> key = {pod.spec.get(), std::string(written)};
  if (const std::vector<std::string>* known = spec_faults_.Find(key)) return *known;
  spec_faults_bytes_ += written.size();
  if (spec_faults_bytes_ > kTextBytesMax) {
    spec_faults_.Clear();
    spec_faults_bytes_ = written.size();
  }
  std::vector<std::string>& faults = spec_faults_[key];
  if (written.empty()) return faults = PodFaults(*pod.spec, nullptr, options_.line);
  codec::ReadText(key.second, "spec.json", {}, [&](const codec::Document& document) {
    faults = PodFaults(*pod.spec, &document.root, options_.line);
    return absl::OkStatus();
  }).IgnoreError();
  return faults;
}

std::shared_ptr<const api::PodSpec> Admission::WithLabelKeys(const Answer& answer,
                                                             const api::StringMap& labels) {
  if (answer.label_keys.empty()) return answer.completed;
  std::string values;
  for (const std::string& key : answer.label_keys) {
    const std::string* value = labels.Find(key);
    // Label values have no slash, so that the text tells all of them apart.
    absl::StrAppend(&values, value == nullptr ? "" : "=", value == nullptr ? "" : *value, "/");
  }
  std::shared_ptr<const api::PodSpec>& known = with_keys_[{answer.completed.get(), values}];
  if (known == nullptr) {
    auto merged = std::make_shared<api::PodSpec>(*answer.completed);
    MergeLabelKeys(labels, *merged);
    known = std::move(merged);
  }
  return known;
}

absl::Status Admission::Mutate(api::Object& object) {
  if (object.kind == api::Kind::kNamespace && options_.complete) SetNamespaceDefaults(object);
  const bool is_pod = object.kind == api::Kind::kPod;
  if (!options_.complete || PassedBefore(object)) {
    if (!is_pod) return absl::OkStatus();
    auto& pod = static_cast<api::Pod&>(object);
    CHECK(pod.spec != nullptr);
    pod.spec = CompleteOldSpec(pod.spec);
    return absl::OkStatus();
  }
  SetWorkloadDefaults(object, options_.line);
  SetStorageDefaults(object);
  SetDeviceDefaults(object);
  for (const auto& plugin : plugins_) RETURN_IF_ERROR(Forbidden(object, plugin->Mutate(object)));
  if (object.kind == api::Kind::kNode && taints_new_nodes_) AddNotReadyTaint(static_cast<api::Node&>(object));
  if (!is_pod) return absl::OkStatus();
  auto& pod = static_cast<api::Pod&>(object);
  CHECK(pod.spec != nullptr);
  const Answer& answer = AnswerFor(pod);
  RETURN_IF_ERROR(Forbidden(object, answer.mutated));
  pod.spec = WithLabelKeys(answer, pod.metadata.labels);
  if (!answer.limit_ranger.empty())
    pod.metadata.annotations.Set("kubernetes.io/limit-ranger", answer.limit_ranger);
  return absl::OkStatus();
}

absl::Status Admission::Validate(const api::Object& given, const api::Object& object) {
  if (!options_.complete) return absl::OkStatus();
  // Classes are of use to pods that come later, so they are looked at wherever they come from.
  if (PassedBefore(given)) return priority_->Validate(object);
  const bool is_pod = given.kind == api::Kind::kPod;
  const Answer* answer = is_pod ? &AnswerFor(static_cast<const api::Pod&>(given)) : nullptr;
  std::vector<std::string> faults = MetadataFaults(object, options_.line);
  if (is_pod) {
    for (std::string& fault : PodAnnotationFaults(object.metadata.annotations, "metadata.annotations"))
      faults.push_back(std::move(fault));
  }
  const std::vector<std::string> of_spec =
      is_pod ? SpecFaults(static_cast<const api::Pod&>(object)) : ObjectFaults(object, options_.line);
  faults.insert(faults.end(), of_spec.begin(), of_spec.end());
  if (is_pod && IsGatedOnNode(static_cast<const api::Pod&>(object)))
    faults.emplace_back(
        "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared");
  // Validation comes before the plugins that look at the whole.
  RETURN_IF_ERROR(InvalidObject(object, faults));
  if (is_pod) RETURN_IF_ERROR(Forbidden(object, answer->validated));
  for (const auto& plugin : plugins_) RETURN_IF_ERROR(Forbidden(object, plugin->Validate(object)));
  return absl::OkStatus();
}

absl::Status Admission::ValidateUpdate(const api::Object& before, const api::Object& after) const {
  if (!options_.complete) return absl::OkStatus();
  const std::shared_ptr<api::Object> completed = after.Clone();
  SetWorkloadDefaults(*completed, options_.line);
  SetStorageDefaults(*completed);
  SetDeviceDefaults(*completed);
  if (completed->kind == api::Kind::kPod) {
    auto& pod = static_cast<api::Pod&>(*completed);
    auto spec = std::make_shared<api::PodSpec>(*pod.spec);
    SetPodDefaults(*spec);
    RoundAmounts(*spec);
    SetPodLevelDefaults(*spec);
    pod.spec = std::move(spec);
  }
  return sim::ValidateUpdate(before, *completed, options_.line);
}

absl::Status Admission::Check(const api::Pod& pod) {
  api::Pod copy = pod;
  RETURN_IF_ERROR(Mutate(copy));
  return Validate(pod, copy);
}

void Admission::Patch(api::Pod& pod) const {
  if (!options_.complete) return;
  auto completed = std::make_shared<api::PodSpec>(*pod.spec);
  CHECK(DefaultTolerationSecondsPlugin().MutateSpec(pod.metadata.namespace_, *completed).ok());
  if (completed->tolerations.size() > pod.spec->tolerations.size()) pod.spec = std::move(completed);
}

void Admission::Bind(const api::Node* node, api::Pod& pod) {
  const bool copies = options_.complete && options_.line >= api::KubernetesLine::k1_35;
  if (copies) topology_labels_.Set(node, pod.metadata.labels);
}

std::vector<ResourceQuotaPlugin::StatusUpdate> Admission::TakeQuotaUpdates(
    ResourceQuotaPlugin::Objects objects) {
  if (!options_.complete || !quotas_->HasWork()) return {};
  return quotas_->Work(objects);
}

void Admission::Update(api::Pod& pod) {
  CHECK(pod.spec != nullptr);
  if (!options_.complete || PassedBefore(pod)) {
    pod.spec = CompleteOldSpec(pod.spec);
    return;
  }
  pod.spec = WithLabelKeys(AnswerFor(pod), pod.metadata.labels);
}

}  // namespace schedsim::sim
