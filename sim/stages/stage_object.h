// An object as stages see it.
#ifndef SCHEDSIM_SIM_STAGES_STAGE_OBJECT_H_
#define SCHEDSIM_SIM_STAGES_STAGE_OBJECT_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/cel/cel_value.h"
#include "core/codec/text/value.h"
#include "sim/templates/go_value.h"

namespace schedsim::sim {

// One version of an object, as the tree that jq walks over, and as the values of CEL and of templates, which
// are made when they are first asked for.
class StageObject {
 public:
  explicit StageObject(const api::Object& object);
  // For an object that need not be valid. `root` is copied.
  explicit StageObject(const codec::Value& root);
  StageObject(const StageObject&) = delete;
  StageObject& operator=(const StageObject&) = delete;

  const codec::Value& root() const { return document_.root; }
  absl::string_view api_version() const { return TextAt("apiVersion"); }
  absl::string_view kind() const { return TextAt("kind"); }
  // "" where there is none.
  absl::string_view name() const { return MetadataText("name"); }
  absl::string_view name_space() const { return MetadataText("namespace"); }
  // The value of a label or annotation (`map`: "labels", "annotations"), or nullptr.
  const codec::Value* FindInMetadata(absl::string_view map, absl::string_view key) const;

  // A message for pods and nodes, whose types kwok knows; maps for all others.
  const cel::CelValue& cel() const;
  // Numbers keep their text.
  const GoValue& go() const;

 private:
  absl::string_view TextAt(absl::string_view key) const;
  absl::string_view MetadataText(absl::string_view key) const;

  codec::Document document_;
  mutable std::optional<cel::CelValue> cel_;
  mutable std::optional<GoValue> go_;
};

// `value` as CEL has it. `is_typed`: it is of the built-in kind that it says it is, and not a map alone.
cel::CelValue CelValueOf(const codec::Value& value, bool is_typed);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_STAGES_STAGE_OBJECT_H_
