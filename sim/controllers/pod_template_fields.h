// A pod's template as the API server keeps it: the fields of its Go types, with their defaults.
#ifndef SCHEDSIM_SIM_CONTROLLERS_POD_TEMPLATE_FIELDS_H_
#define SCHEDSIM_SIM_CONTROLLERS_POD_TEMPLATE_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/kubernetes_line.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

inline constexpr absl::string_view kPodTemplateType = "v1.PodTemplateSpec";

struct GoField {
  absl::string_view name;
  absl::string_view json;  // "": the fields of its struct stand in the one around it.
  absl::string_view type;
  char kind = 's';  // See kPodTemplateTypes.
  int since = 0;    // Minors.
  int until = 0;    // 0: it is there still.

  // Absent: in one release at least.
  bool IsIn(std::optional<api::KubernetesLine> line) const;
};

// The fields of a struct, in the order of its declaration.
const std::vector<GoField>& FieldsOf(absl::string_view struct_type);

// The kind of what lists, maps and pointers have. Scalars are s, but for bool.
char GoKindOf(absl::string_view type);

// What the API server stores of a field of `owner`, a struct of `type`: the value that is given, or the
// default. Absent: none. Source: kubernetes v1.37, pkg/apis/core/v1/defaults.go.
std::optional<codec::Value> StoredValue(absl::string_view type, const codec::Value& owner,
                                        const GoField& field);

// A quantity in the notation in which the API server keeps it.
std::string StoredQuantity(absl::string_view text);

codec::Value EmptyMap();

// In the order of the keys.
std::vector<const codec::Member*> SortedMembers(const codec::Value& map);

// A hash as names have it: ten characters at most, without vowels.
// Source: apimachinery v0.37, pkg/util/rand, SafeEncodeString.
std::string SafeEncoded(uint32_t hash);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_POD_TEMPLATE_FIELDS_H_
