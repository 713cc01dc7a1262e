// A look into JSON that is known to be right.
#ifndef SCHEDSIM_CORE_API_JSON_MEMBER_H_
#define SCHEDSIM_CORE_API_JSON_MEMBER_H_

#include "absl/strings/string_view.h"

namespace schedsim::api {

// The text of a member's value in compact JSON, as objects keep it; "" where `object` is no map or has no
// such member. `name` has nothing that JSON writes otherwise.
absl::string_view JsonMember(absl::string_view object, absl::string_view name);

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_JSON_MEMBER_H_
