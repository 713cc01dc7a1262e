#include "sim/cluster/admission/priority.h"

#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace schedsim::sim {
namespace {

// The classes that every cluster has: the API server makes them when it starts.
// Source: kubernetes v1.37, pkg/apis/scheduling/v1/helpers.go.
struct SystemClass {
  absl::string_view name;
  int32_t value = 0;
};
constexpr SystemClass kSystemClasses[] = {
    {"system-cluster-critical", 2'000'000'000},
    {"system-node-critical", 2'000'001'000},
};

constexpr char kSystemPrefix[] = "system-";
constexpr int32_t kUserPriorityMax = 1'000'000'000;

constexpr char kController[] = "priority admission controller computed ";
constexpr char kFromClass[] = " from the given PriorityClass name";

std::string PolicyOf(const api::PriorityClass& priority_class) {
  return priority_class.preemption_policy.empty() ? "PreemptLowerPriority" : priority_class.preemption_policy;
}

const api::PriorityClass* FindSystemClass(absl::string_view name) {
  static const auto* const kClasses = [] {
    auto* classes = new std::map<std::string, api::PriorityClass>;
    for (const SystemClass& system_class : kSystemClasses) {
      (*classes)[std::string(system_class.name)].value = system_class.value;
    }
    return classes;
  }();
  const auto found = kClasses->find(std::string(name));
  return found == kClasses->end() ? nullptr : &found->second;
}

// What is wrong with a class whose name is for the system's own; "": nothing.
std::string SystemClassFault(const api::PriorityClass& priority_class) {
  const std::string& name = priority_class.metadata.name;
  const api::PriorityClass* system_class = FindSystemClass(name);
  if (system_class == nullptr) return absl::StrCat(name, " is not a known system priority class");
  if (priority_class.value != system_class->value)
    return absl::StrCat("value of ", name, " PriorityClass must be ", system_class->value);
  if (priority_class.global_default)
    return absl::StrCat("globalDefault of ", name, " PriorityClass must be false");
  return "";
}

std::string ClassFault(const api::PriorityClass& priority_class) {
  if (absl::StartsWith(priority_class.metadata.name, kSystemPrefix)) {
    const std::string fault = SystemClassFault(priority_class);
    if (fault.empty()) return "";
    return absl::StrCat("metadata.name: Forbidden: priority class names with '", kSystemPrefix,
                        "' prefix are reserved for system use only. error: ", fault);
  }
  if (priority_class.value <= kUserPriorityMax) return "";
  return absl::StrCat("value: Forbidden: maximum allowed value of a user defined priority is ",
                      kUserPriorityMax);
}

}  // namespace

bool PriorityPlugin::OnChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  const api::Object& object = new_object != nullptr ? *new_object : *old_object;
  if (object.kind != api::Kind::kPriorityClass) return false;
  if (new_object == nullptr) {
    classes_.erase(object.metadata.name);
  } else {
    classes_[object.metadata.name] = std::static_pointer_cast<const api::PriorityClass>(new_object);
  }
  return true;
}

absl::Status PriorityPlugin::MutateSpec(absl::string_view /*name_space*/, api::PodSpec& spec) const {
  const api::PriorityClass* const found = ClassOf(spec);
  if (found == nullptr && !spec.priority_class_name.empty()) {
    return absl::PermissionDeniedError(
        absl::StrCat("no PriorityClass with name ", spec.priority_class_name, " was found"));
  }
  if (found == nullptr) return absl::OkStatus();
  if (spec.priority.value_or(found->value) != found->value) {
    return absl::PermissionDeniedError(absl::StrCat("the integer value of priority (", *spec.priority,
                                                    ") must not be provided in pod spec; ", kController,
                                                    found->value, kFromClass));
  }
  const std::string policy = PolicyOf(*found);
  if (!spec.preemption_policy.empty() && spec.preemption_policy != policy) {
    return absl::PermissionDeniedError(
        absl::StrCat("the string value of PreemptionPolicy (", spec.preemption_policy,
                     ") must not be provided in pod spec; ", kController, policy, kFromClass));
  }
  spec.priority = found->value;
  // The field of a class is often left out, and then says nothing that a pod would not say without it.
  if (spec.preemption_policy.empty()) spec.preemption_policy = found->preemption_policy;
  return absl::OkStatus();
}

absl::Status PriorityPlugin::Validate(const api::Object& object) const {
  if (object.kind != api::Kind::kPriorityClass) return absl::OkStatus();
  const std::string fault = ClassFault(static_cast<const api::PriorityClass&>(object));
  if (fault.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("PriorityClass.scheduling.k8s.io \"", object.metadata.name, "\" is invalid: ", fault));
}

const api::PriorityClass* PriorityPlugin::ClassOf(const api::PodSpec& spec) const {
  if (!spec.priority_class_name.empty()) {
    const auto found = classes_.find(spec.priority_class_name);
    return found != classes_.end() ? found->second.get() : FindSystemClass(spec.priority_class_name);
  }
  // Of several defaults the lowest counts.
  const api::PriorityClass* lowest = nullptr;
  for (const auto& [name, priority_class] : classes_) {
    if (!priority_class->global_default) continue;
    if (lowest == nullptr || priority_class->value < lowest->value) lowest = priority_class.get();
  }
  return lowest;
}

void PriorityPlugin::SetPriority(api::PodSpec& spec) const {
  if (spec.priority.has_value()) return;
  const api::PriorityClass* const found = ClassOf(spec);
  if (found == nullptr) return;
  spec.priority = found->value;
  if (spec.preemption_policy.empty()) spec.preemption_policy = found->preemption_policy;
}

}  // namespace schedsim::sim
