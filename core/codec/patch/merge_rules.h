// How strategic merge patches treat the fields of the API's types.
#ifndef SCHEDSIM_CORE_CODEC_PATCH_MERGE_RULES_H_
#define SCHEDSIM_CORE_CODEC_PATCH_MERGE_RULES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace schedsim::codec {

// What happens to a field that the patch has and the object, too.
struct MergeRule {
  enum class How : uint8_t {
    kDefault,  // Maps are merged field by field, everything else is replaced.
    kItems,    // A list of maps: items with the same `key` are merged, others are added.
    kSet,      // A list of strings: those that are not there yet are added.
    kReplace,  // Also a map is replaced.
  };

  How how = How::kDefault;
  absl::string_view key;
  // The type of the map, or of the list's items; "": one in which no field has a rule.
  std::string below;
};

// The rule of a field. Types are called as in the sources of the API, "Pod" and "PodSpec"; that of a whole
// object is its kind.
MergeRule FindMergeRule(absl::string_view type, absl::string_view field);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_PATCH_MERGE_RULES_H_
