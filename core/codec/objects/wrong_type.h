// The words for a value of a wrong type.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_WRONG_TYPE_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_WRONG_TYPE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// `expected a string, got the number 5`; `expected` is "a string".
std::string WrongTypeText(absl::string_view expected, const Value& value);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_WRONG_TYPE_H_
