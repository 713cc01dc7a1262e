// Single places in JSON text, changed without reading the rest into a tree. Finding them: json_member.h.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_JSON_EDIT_H_
#define SCHEDSIM_CORE_CODEC_TEXT_JSON_EDIT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace schedsim::codec {

// `json` with the member at `path` set to the JSON `value`; maps on the way that are not there are made, and
// what is no map gives way to one. `json` is a compact object, as ToJson writes it; keys need no escapes.
std::string SetJsonMember(absl::string_view json, absl::Span<const absl::string_view> path,
                          absl::string_view value);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_JSON_EDIT_H_
