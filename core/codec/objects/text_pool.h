// Texts of objects that share what objects of one shape have in common.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_TEXT_POOL_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_TEXT_POOL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/object_text.h"
#include "core/base/lookup_map.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// Finds texts that are parts of many objects, such as the names of images on nodes.
class CommonTexts {
 public:
  // Returns the number of a text that some objects before had, too. Absent: too few had it, or it is short.
  std::optional<size_t> Find(absl::string_view text);
  // The next texts are of another object.
  void BeginObject() { ++object_; }

  const std::shared_ptr<api::SharedTexts>& shared_texts() const { return shared_texts_; }

 private:
  // A text that few objects had so far.
  struct Candidate {
    uint32_t hash = 0;
    uint32_t object_count = 0;
    uint64_t last_object = 0;
  };

  std::shared_ptr<api::SharedTexts> shared_texts_ = std::make_shared<api::SharedTexts>();
  LookupMap<std::string, size_t> numbers_;
  // By the lowest bits of the hash. A new candidate takes the place of an old one.
  std::vector<Candidate> candidates_;
  uint64_t object_ = 0;
};

// Makes the texts of objects: compact JSON. The first object of a shape (the same lists and maps of the same
// sizes, whatever the keys and values are) is kept whole, the others by their differences from it. Objects of
// one group, such as the pods of one controller, differ least: they are kept by their differences from the
// group's first. A difference that many objects have is kept once. The pool keeps no text alive.
class TextPool {
 public:
  // The text of `object`, a map. `group` may be "": then the object is of none.
  std::shared_ptr<const api::ObjectText> Make(const Value& object, absl::string_view group);

 private:
  LookupMap<uint64_t, std::weak_ptr<api::ObjectText>> roots_;  // By shape.
  LookupMap<std::pair<uint64_t, std::string>, std::weak_ptr<const api::ObjectText>> groups_;
  CommonTexts common_texts_;
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_TEXT_POOL_H_
