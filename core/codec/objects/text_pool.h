// Texts of objects that share what objects of one shape have in common.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_TEXT_POOL_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_TEXT_POOL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "core/api/object_text.h"
#include "core/base/lookup_map.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// Makes the texts of objects: compact JSON. The first object of a shape (the same lists and maps of the same
// sizes, whatever the keys and values are) is kept whole, the others by their differences from it. Objects of
// one group, such as the pods of one controller, differ least: they are kept by their differences from the
// group's first. The pool keeps no text alive.
class TextPool {
 public:
  // The text of `object`, a map. `group` may be "": then the object is of none.
  std::shared_ptr<const api::ObjectText> Make(const Value& object, absl::string_view group);

 private:
  LookupMap<uint64_t, std::weak_ptr<api::ObjectText>> roots_;  // By shape.
  LookupMap<std::pair<uint64_t, std::string>, std::weak_ptr<const api::ObjectText>> groups_;
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_TEXT_POOL_H_
