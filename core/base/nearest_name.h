// Finding the name that was most likely meant.
#ifndef SCHEDSIM_CORE_BASE_NEAREST_NAME_H_
#define SCHEDSIM_CORE_BASE_NEAREST_NAME_H_

#include <vector>

#include "absl/strings/string_view.h"

namespace schedsim {

// How many letters must be changed, added, left out or swapped with their neighbour to make one of the
// other, upper and lower case being the same; `limit` + 1 for all that is more than `limit`.
int EditDistance(absl::string_view a, absl::string_view b, int limit);

// Of `names` the one that `name` most likely stands for; "": none is near. Of equally near ones the first.
absl::string_view NearestName(absl::string_view name, const std::vector<absl::string_view>& names);

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_NEAREST_NAME_H_
