#include "sim/cluster/admission/pod_group_validation.h"

#include <cstddef>
#include <cstdint>

namespace schedsim::sim {
namespace {

constexpr size_t kTopologyKeysMax = 1;

// A gang, or a basic group, and not both.
void CheckPolicy(const FieldAt& policy, ValidationErrors& errors) {
  const FieldAt gang = policy.Child("gang");
  const bool is_basic = policy.Child("basic").is_present();
  if (gang.is_present() == is_basic) {
    const absl::string_view given = is_basic ? "{basic, gang}" : "";
    errors.Invalid(
        policy.path, given,
        is_basic ? "must specify exactly one of: `basic`, `gang`" : "must specify one of: `basic`, `gang`");
  }
  if (!gang.is_present()) return;
  const FieldAt min_count = gang.Child("minCount");
  const int64_t count = min_count.Number().value_or(0);
  if (count == 0) {
    errors.Required(min_count.path, "");
  } else if (count < 0) {
    errors.Invalid(min_count.path, count, "must be greater than or equal to 1");
  }
}

}  // namespace

void CheckPodGroup(const codec::Value& root, ValidationErrors& errors) {
  const FieldAt spec = RootOf(root).Child("spec");
  CheckPolicy(spec.Child("schedulingPolicy"), errors);
  const FieldAt topology = spec.Child("schedulingConstraints").Child("topology");
  if (topology.size() > kTopologyKeysMax) errors.TooMany(topology.path, topology.size(), kTopologyKeysMax);
}

void CheckWorkload(const codec::Value& root, ValidationErrors& errors) {
  const FieldAt groups = RootOf(root).Child("spec").Child("podGroups");
  for (size_t i = 0; i < groups.size(); ++i) {
    const FieldAt policy = groups.Item(i).Child("policy");
    const FieldAt gang = policy.Child("gang");
    if (gang.is_present() == policy.Child("basic").is_present()) {
      if (!gang.is_present()) {
        errors.Required(policy.path, "exactly one of `basic`, `gang` is required");
      } else {
        errors.Invalid(policy.path, "{`basic`, `gang`}",
                       "exactly one of `basic`, `gang` is required, but multiple fields are set");
      }
      continue;
    }
    if (!gang.is_present()) continue;
    const FieldAt min_count = gang.Child("minCount");
    const int64_t count = min_count.Number().value_or(0);
    if (count <= 0) errors.Invalid(min_count.path, count, "must be greater than zero");
  }
}

}  // namespace schedsim::sim
