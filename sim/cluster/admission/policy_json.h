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

// The amounts of a map, but for those that cannot be read. `map` may be nullptr.
api::ResourceList AmountsOf(const codec::Value* map);

// The canonical text of an amount, as the API server's messages have it. Amounts of memory and storage are
// in powers of 1024 where that is shorter: the notation of the input is not kept.
// Source: apimachinery v0.37, pkg/api/resource/quantity.go, String.
std::string AmountText(absl::string_view resource, const api::Quantity& amount);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_POLICY_JSON_H_
