// Parts of a JSON text as they are written, without a tree of them.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_JSON_SLICES_H_
#define SCHEDSIM_CORE_CODEC_TEXT_JSON_SLICES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace schedsim::codec {

// A JSON object that has a name and a list of objects.
struct NamedList {
  std::string name;
  // Shape: the text of one object an entry, in their order.
  std::vector<std::string> items;
};

// Takes the text of the field `name_field` and the objects of the list `list_field` out of the object `text`.
// What is within them is not looked at, so this may find less wrong with a text than ReadJson does.
// Errors: InvalidArgument, `expected an object with ...`, without a place.
absl::StatusOr<NamedList> SliceNamedList(absl::string_view text, absl::string_view name_field,
                                         absl::string_view list_field);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_JSON_SLICES_H_
