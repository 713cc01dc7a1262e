// Fields that the API server does not know.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_FIELD_CHECK_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_FIELD_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "core/codec/objects/api_fields.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// A field that its type does not have. Valid until the next Run.
struct UnknownField {
  absl::string_view name;
  Position position;
  int32_t step = 0;  // The map around it, as FieldCheck numbers them.
};

// A value of another type than its field has. Valid until the next Run.
struct MistypedValue {
  const Value* value = nullptr;
  // "a string", "an integer", "true or false", "a list" or "a map", also of two of them.
  absl::string_view expected;
  std::string path;  // `spec.containers[0].env[0].value`.
};

// Walks over objects. Keeps its memory from one object to the next.
class FieldCheck {
 public:
  // Calls `report` for each field of `object` that `type` does not have, at any depth, and `report_type` for
  // each value that the API server could not decode because of its type. What lies below either is not looked
  // at.
  void Run(const Value& object, const ApiType& type, absl::FunctionRef<void(const UnknownField&)> report,
           absl::FunctionRef<void(const MistypedValue&)> report_type);

  // Where a field stands: `spec.containers[0].imag`.
  std::string PathOf(const UnknownField& field) const;
  // The same without the places in lists and the keys of maps, `spec.containers[].imag`: equal for equal
  // faults.
  std::string PatternOf(const UnknownField& field) const;
  // What is known instead: "image", or "spec.nodeSelector" where the field belongs elsewhere; "": nothing
  // near.
  std::string NearestOf(const UnknownField& field) const;

 private:
  // A map that is to be checked, with its way from the object: `parent` is the place of the map around it.
  struct Step {
    const Value* map = nullptr;
    const ApiType* type = nullptr;
    int32_t parent = -1;  // -1: this is the object itself.
    absl::string_view name = "";
    absl::string_view key = {};  // Of a map with free keys; without data: of none.
    int32_t index = -1;          // In a list; -1: in none.
  };

  void Add(const Value& value, const ApiField& field, int32_t parent);
  // The first value in `value`, that of a field, whose type is not the field's; there must be one.
  MistypedValue FindMistyped(const Value& value, const ApiField& field, int32_t parent) const;
  std::string PathOf(int32_t at, bool with_places) const;

  std::vector<Step> steps_;
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_FIELD_CHECK_H_
