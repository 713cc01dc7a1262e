// Objects of an input by which a cluster would refuse pods, or change them, and that nothing here asks.
#ifndef SCHEDSIM_SIM_FORMATS_UNCHECKED_ADMISSION_H_
#define SCHEDSIM_SIM_FORMATS_UNCHECKED_ADMISSION_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/api/object.h"

namespace schedsim::sim {

// What is to be said of an object.
struct UncheckedAdmission {
  size_t index = 0;  // Of the object.
  std::string text;
};

// At most one for each kind of admission: the level of PodSecurity that a namespace enforces, where pods that
// are created break it visibly; ServiceAccounts that such pods name, where others of their namespace are
// there; and webhooks and policies that match such pods. `goes_on`: see PodSources.
std::vector<UncheckedAdmission> FindUncheckedAdmission(absl::Span<const api::ObjectPtr> objects,
                                                       bool goes_on);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_UNCHECKED_ADMISSION_H_
