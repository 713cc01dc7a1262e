// How a field of an API struct is called on the wire. One table of fields a struct drives all codecs.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_FIELD_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_FIELD_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace schedsim::codec {

// A step from a message to a part of it. With an empty name only protobuf has that level: JSON
// writes the parts of such a message directly into the one around it.
struct Segment {
  absl::string_view name;
  int number = 0;  // In protobuf.
};

// How the member stands for the field.
enum class Form : uint8_t {
  kValue,     // It is the field's value.
  kPresence,  // A bool: whether the field is there.
  kKeys,      // A sorted vector: the keys of a map.
  kJson,      // A string: the value, whatever it is, as JSON.
};

// A field of the struct S with a member of type T. Made by F and refined by the functions below.
template <typename S, typename T>
struct Field {
  static constexpr int kDepthMax = 3;

  std::array<Segment, kDepthMax> path;  // path[0] to path[depth - 1], from the outside.
  int depth = 0;
  T S::*member = nullptr;
  Form form = Form::kValue;
  // Whether a simulation changes it: then ObjectJson compares it with the object's JSON.
  bool live = false;
  // For lists of structs with a merge key: whether it changes the live fields of the items.
  bool live_items = false;
  // For lists of structs: the field that tells entries apart in a strategic merge patch; "": the list
  // is replaced as a whole.
  absl::string_view merge_key;
  // For strings: what validation lets through; empty: anything.
  absl::Span<const absl::string_view> allowed;
  // For NamedVolumeSource: the field of the source that holds the id.
  Segment inner;

  // The field is a part of the message `name`, which has no struct of its own.
  constexpr Field In(absl::string_view name, int number) const {
    Field out = *this;
    for (int i = depth; i > 0; --i) out.path[static_cast<size_t>(i)] = path[static_cast<size_t>(i - 1)];
    out.path[0] = {name, number};
    ++out.depth;
    return out;
  }
  constexpr Field Live() const {
    Field out = *this;
    out.live = true;
    return out;
  }
  constexpr Field LiveItems() const {
    Field out = *this;
    out.live_items = true;
    return out;
  }
  constexpr Field MergeBy(absl::string_view key) const {
    Field out = *this;
    out.merge_key = key;
    return out;
  }
  constexpr Field OneOf(absl::Span<const absl::string_view> values) const {
    Field out = *this;
    out.allowed = values;
    return out;
  }
  constexpr Field As(Form new_form) const {
    Field out = *this;
    out.form = new_form;
    return out;
  }
  constexpr Field Inner(absl::string_view name, int number) const {
    Field out = *this;
    out.inner = {name, number};
    return out;
  }
};

// The field `name`, with its number in protobuf, as the member of S.
template <typename S, typename T>
constexpr Field<S, T> F(absl::string_view name, int number, T S::*member) {
  Field<S, T> field;
  field.path[0] = {name, number};
  field.depth = 1;
  field.member = member;
  return field;
}

// The table of a struct: specialisations have `static constexpr auto kList`, a std::tuple of Field.
template <typename S>
struct Fields;

template <typename S>
concept HasFields = requires {
  Fields<S>::kList;
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_FIELD_H_
