// Single members of JSON objects, found without reading the rest into a tree.
#ifndef SCHEDSIM_CORE_BASE_JSON_MEMBER_H_
#define SCHEDSIM_CORE_BASE_JSON_MEMBER_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace schedsim {

// JSON is compact and right here, as ToJson writes it; keys need no escapes.

// Finds the member of the object that begins at `object`. Sets where its value begins and ends; false where
// there is none, and both are at the closing bracket then.
bool FindJsonMember(absl::string_view json, size_t object, absl::string_view key, size_t& begin, size_t& end);

// The value of the member `key` of `json`, as it stands there; "" where `json` is no object or has none.
absl::string_view FindJsonMember(absl::string_view json, absl::string_view key);

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_JSON_MEMBER_H_
