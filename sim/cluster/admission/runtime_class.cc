#include "sim/cluster/admission/runtime_class.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"
#include "sim/cluster/admission/policy_json.h"

namespace schedsim::sim {
namespace {

constexpr char kContradiction[] =
    "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

bool IsSame(const api::Toleration& a, const api::Toleration& b) {
  return a.key == b.key && a.operator_ == b.operator_ && a.value == b.value && a.effect == b.effect &&
         a.toleration_seconds == b.toleration_seconds;
}

// Whether `wide` tolerates all that `narrow` tolerates, and for as long.
// Source: kubernetes v1.37, pkg/util/tolerations/tolerations.go, isSuperset.
bool IsSuperset(const api::Toleration& wide, const api::Toleration& narrow) {
  if (IsSame(wide, narrow)) return true;
  if (narrow.key != wide.key && (!wide.key.empty() || wide.operator_ != "Exists")) return false;
  if (narrow.effect != wide.effect && !wide.effect.empty()) return false;
  if (wide.effect == "NoExecute" && wide.toleration_seconds.has_value()) {
    if (!narrow.toleration_seconds.has_value() || *narrow.toleration_seconds > *wide.toleration_seconds)
      return false;
  }
  if (wide.operator_ == "Exists") return true;
  const bool is_equal = wide.operator_.empty() || wide.operator_ == "Equal";
  return is_equal && narrow.operator_ == "Equal" && narrow.value == wide.value;
}

// Both lists, without what another entry covers; of equal ones the first stays.
// Source: kubernetes v1.37, pkg/util/tolerations/tolerations.go, MergeTolerations.
std::vector<api::Toleration> MergeTolerations(std::vector<api::Toleration> all,
                                              const std::vector<api::Toleration>& more) {
  all.insert(all.end(), more.begin(), more.end());
  std::vector<api::Toleration> merged;
  for (size_t i = 0; i < all.size(); ++i) {
    const api::Toleration& toleration = all[i];
    const auto covers = [&toleration](const api::Toleration& other) { return IsSuperset(other, toleration); };
    const auto covers_more = [&](const api::Toleration& other) {
      return !IsSame(other, toleration) && covers(other);
    };
    const auto rest = all.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (std::any_of(merged.begin(), merged.end(), covers) || std::any_of(rest, all.end(), covers_more))
      continue;
    merged.push_back(toleration);
  }
  return merged;
}

api::Toleration TolerationOf(const codec::Value& value) {
  api::Toleration toleration = {.key = TextOf(&value, "key"),
                                .operator_ = TextOf(&value, "operator"),
                                .value = TextOf(&value, "value"),
                                .effect = TextOf(&value, "effect")};
  const codec::Value* seconds = value.Find("tolerationSeconds");
  int64_t number = 0;
  if (seconds != nullptr && absl::SimpleAtoi(seconds->text, &number)) toleration.toleration_seconds = number;
  return toleration;
}

}  // namespace

bool RuntimeClassPlugin::OnChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  const api::Object& object = new_object != nullptr ? *new_object : *old_object;
  const bool is_class = object.kind == api::Kind::kOther && object.kind_name == "RuntimeClass" &&
                        api::GroupOf(object.api_version) == "node.k8s.io";
  if (!is_class) return false;
  if (new_object == nullptr) {
    classes_.erase(object.metadata.name);
    return true;
  }
  RuntimeClass runtime_class;
  ReadPolicy(object, [&runtime_class](const codec::Value& root) {
    if (Below(&root, {"overhead"}) != nullptr)
      runtime_class.overhead = AmountsOf(Below(&root, {"overhead", "podFixed"}));
    const codec::Value* scheduling = Below(&root, {"scheduling"});
    if (scheduling == nullptr) return;
    runtime_class.has_scheduling = true;
    const codec::Value* selector = scheduling->Find("nodeSelector");
    if (selector != nullptr) {
      for (const codec::Member& member : selector->members)
        runtime_class.node_selector.emplace_back(member.key, member.value.text);
    }
    std::sort(runtime_class.node_selector.begin(), runtime_class.node_selector.end());
    const codec::Value* tolerations = scheduling->Find("tolerations");
    if (tolerations == nullptr) return;
    for (const codec::Value& item : tolerations->items)
      runtime_class.tolerations.push_back(TolerationOf(item));
  });
  classes_[object.metadata.name] = std::move(runtime_class);
  return true;
}

const RuntimeClassPlugin::RuntimeClass* RuntimeClassPlugin::Find(const api::PodSpec& spec) const {
  const auto found = classes_.find(spec.runtime_class_name);
  return found == classes_.end() ? nullptr : &found->second;
}

absl::Status RuntimeClassPlugin::MutateSpec(absl::string_view /*name_space*/, api::PodSpec& spec) const {
  if (spec.runtime_class_name.empty()) return absl::OkStatus();
  const RuntimeClass* runtime_class = Find(spec);
  if (runtime_class == nullptr) {
    return absl::PermissionDeniedError(
        absl::StrCat("pod rejected: RuntimeClass \"", spec.runtime_class_name, "\" not found"));
  }
  if (runtime_class->overhead.has_value()) {
    if (!spec.overhead.empty() && !(spec.overhead == *runtime_class->overhead))
      return absl::PermissionDeniedError(kContradiction);
    spec.overhead = *runtime_class->overhead;
  }
  if (!runtime_class->has_scheduling) return absl::OkStatus();
  for (const auto& [key, value] : runtime_class->node_selector) {
    if (!spec.node_selector.has_value()) spec.node_selector.emplace();
    const std::string* own = spec.node_selector->Find(key);
    if (own != nullptr && *own != value) {
      return absl::PermissionDeniedError(absl::StrCat("conflict: runtimeClass.scheduling.nodeSelector[", key,
                                                      "] = ", value, "; pod.spec.nodeSelector[", key,
                                                      "] = ", *own));
    }
    spec.node_selector->Set(key, value);
  }
  spec.tolerations = MergeTolerations(std::move(spec.tolerations), runtime_class->tolerations);
  return absl::OkStatus();
}

absl::Status RuntimeClassPlugin::ValidateSpec(absl::string_view /*name_space*/,
                                              const api::PodSpec& spec) const {
  const RuntimeClass* runtime_class = Find(spec);
  const bool gives_overhead = runtime_class != nullptr && runtime_class->overhead.has_value();
  if (gives_overhead) {
    return spec.overhead == *runtime_class->overhead ? absl::OkStatus()
                                                     : absl::PermissionDeniedError(kContradiction);
  }
  if (spec.overhead.empty()) return absl::OkStatus();
  return absl::PermissionDeniedError(
      "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
}

}  // namespace schedsim::sim
