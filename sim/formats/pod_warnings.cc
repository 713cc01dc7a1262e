#include "sim/formats/pod_warnings.h"

#include <initializer_list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/api/quantity.h"
#include "core/api/quantity_text.h"

namespace schedsim::sim {
namespace {

using codec::Value;

// A value and its path; nullptr: there is none.
struct Place {
  const Value* value = nullptr;
  std::string path;

  Place Child(absl::string_view key) const {
    return {.value = value == nullptr ? nullptr : value->Find(key),
            .path = path.empty() ? std::string(key) : absl::StrCat(path, ".", key)};
  }
  // The items of a list; none where it is another value.
  std::vector<Place> Items() const {
    std::vector<Place> items;
    if (value == nullptr) return items;
    for (size_t i = 0; i < value->items.size(); ++i)
      items.push_back({.value = &value->items[i], .path = absl::StrCat(path, "[", i, "]")});
    return items;
  }
};

Place TemplateOf(const Value& document, absl::string_view kind) {
  const Place root = {.value = &document, .path = ""};
  if (kind == "Pod") return root;
  if (kind == "CronJob") return root.Child("spec").Child("jobTemplate").Child("spec").Child("template");
  for (const char* const workload :
       {"DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet"}) {
    if (kind == workload) return root.Child("spec").Child("template");
  }
  return {};
}

void CheckAmounts(const Place& amounts, std::vector<PodWarning>& warnings) {
  constexpr int64_t kMilliPerByte = 1000;
  for (const char* const resource : {"memory", "ephemeral-storage"}) {
    const Value* amount = amounts.Child(resource).value;
    if (amount == nullptr) continue;
    const absl::StatusOr<api::Quantity> quantity = api::Quantity::Parse(amount->text);
    if (!quantity.ok() || quantity->MilliValue() % kMilliPerByte == 0) continue;
    warnings.push_back({.position = amount->position,
                        .text = absl::StrCat(amounts.path, "[", resource, "]: fractional byte value ",
                                             api::GoQuote(api::QuantityText(*quantity)),
                                             " is invalid, must be an integer")});
  }
}

void CheckSelector(const Place& owner, std::vector<PodWarning>& warnings) {
  const Place selector = owner.Child("labelSelector");
  const bool is_there = selector.value != nullptr && !selector.value->is_null();
  if (is_there || owner.value == nullptr) return;
  warnings.push_back(
      {.position = owner.value->position,
       .text = absl::StrCat(selector.path, ": a null labelSelector results in matching no pod")});
}

}  // namespace

std::vector<PodWarning> PodWarnings(const Value& document, absl::string_view kind) {
  std::vector<PodWarning> warnings;
  const Place spec = TemplateOf(document, kind).Child("spec");
  if (spec.value == nullptr) return warnings;
  for (const Place& constraint : spec.Child("topologySpreadConstraints").Items())
    CheckSelector(constraint, warnings);
  CheckAmounts(spec.Child("overhead"), warnings);
  for (const char* const list : {"initContainers", "containers"}) {
    for (const Place& container : spec.Child(list).Items()) {
      for (const char* const amounts : {"limits", "requests"})
        CheckAmounts(container.Child("resources").Child(amounts), warnings);
    }
  }
  for (const char* const part : {"podAffinity", "podAntiAffinity"}) {
    const Place affinity = spec.Child("affinity").Child(part);
    for (const Place& term : affinity.Child("requiredDuringSchedulingIgnoredDuringExecution").Items())
      CheckSelector(term, warnings);
    for (const Place& term : affinity.Child("preferredDuringSchedulingIgnoredDuringExecution").Items())
      CheckSelector(term.Child("podAffinityTerm"), warnings);
  }
  return warnings;
}

}  // namespace schedsim::sim
