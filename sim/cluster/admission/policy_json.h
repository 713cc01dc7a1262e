// Reading the policies that have no struct: LimitRange, ResourceQuota, RuntimeClass.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_POLICY_JSON_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_POLICY_JSON_H_

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/api/quantity.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// Calls `read` with the object as a document.
void ReadPolicy(const api::Object& object, absl::FunctionRef<void(const codec::Value& root)> read);

// The value below `root` by these names, one in the other; nullptr where one is missing.
const codec::Value* Below(const codec::Value* root, std::initializer_list<absl::string_view> names);

// The text of a member; "" where it is absent or no text.
std::string TextOf(const codec::Value* root, absl::string_view name);

// The items of a list of texts; empty for anything else.
std::vector<std::string> TextsOf(const codec::Value* list);

// The amounts of a map, but for those that cannot be read (see AmountFaults). `map` may be nullptr.
api::ResourceList AmountsOf(const codec::Value* map);

// One of a LimitRange's spec.limits.
struct LimitRangeItem {
  std::string type;  // Container, Pod or PersistentVolumeClaim.
  api::ResourceList min, max, default_limits, default_requests, max_ratio;
};

// Those of a LimitRange, with the API's defaults: for containers a maximum is the default limit, the default
// limit the default request, and so is the minimum.
// Source: kubernetes v1.37, pkg/apis/core/v1/defaults.go, SetDefaults_LimitRangeItem.
std::vector<LimitRangeItem> LimitRangeItems(const codec::Value& root);

// A value of a policy that should be a quantity and is none.
struct AmountFault {
  codec::Position position;
  // With its path, and what was expected.
  std::string text;
};

// Those of a policy; none for other kinds.
std::vector<AmountFault> AmountFaults(const codec::Value& root, absl::string_view api_version,
                                      absl::string_view kind);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_POLICY_JSON_H_
