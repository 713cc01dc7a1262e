// kwok's stages: objects of a kind that match a selector get, after a delay, these changes.
#ifndef SCHEDSIM_SIM_STAGES_STAGE_H_
#define SCHEDSIM_SIM_STAGES_STAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/cel/cel_program.h"
#include "core/codec/patch/object_patch.h"
#include "core/codec/text/value.h"
#include "sim/jq/jq_program.h"
#include "sim/templates/go_template.h"

namespace schedsim::sim {

// An expression in one of two languages, one of which is there.
struct StageExpression {
  std::optional<JqProgram> jq;
  std::optional<cel::CelProgram> cel;
  // The path of its field, for messages.
  std::string path;
};

// One of selector.matchExpressions.
struct StageRequirement {
  enum class Operator : uint8_t { kIn, kNotIn, kExists, kDoesNotExist };

  StageExpression expression;
  Operator op = Operator::kExists;  // Of jq alone.
  std::vector<std::string> values;  // Of kIn and kNotIn.
};

// How long after it was chosen the stage is played: see DelayOf.
struct StageDelay {
  absl::Duration duration;
  std::optional<StageExpression> duration_from;
  std::optional<absl::Duration> jitter_duration;
  std::optional<StageExpression> jitter_duration_from;
};

// An event about the object.
struct StageEvent {
  std::string type;
  std::string reason;
  std::string message;
};

// Changes of metadata.finalizers: those that go, or all (`empty`), then those that come.
struct StageFinalizers {
  std::vector<std::string> add;
  std::vector<std::string> remove;
  bool empty = false;
};

// A patch whose text is a template over the object.
struct StagePatch {
  enum class Type : uint8_t { kDefault, kJson, kMerge, kStrategic, kApply };

  std::string subresource;  // "": the object itself.
  std::string root;         // "": the template is the whole patch.
  Type type = Type::kDefault;
  std::string username;  // Whom it is done as; "": the stage's own.
  GoTemplate text;
};

// What one entry of `steps` does, in this order.
struct StageStep {
  std::optional<StageEvent> event;
  std::optional<StageFinalizers> finalizers;
  bool deletes = false;
  std::optional<StagePatch> patch;
  // To another object, which the template names.
  std::optional<StagePatch> apply;
};

// One Stage object. Source: kwok v0.8.0, pkg/apis/v1alpha1/stage_types.go.
struct Stage {
  std::string name;
  // Whose place messages give; the file is named in them.
  std::string file;
  codec::Position position;

  // resourceRef.
  std::string api_version;
  std::string kind;

  // Without one, the stage is never chosen.
  bool has_selector = false;
  std::vector<std::pair<std::string, std::string>> match_labels;
  std::vector<std::pair<std::string, std::string>> match_annotations;
  std::vector<StageRequirement> match_expressions;

  int64_t weight = 0;
  std::optional<StageExpression> weight_from;
  std::optional<StageDelay> delay;
  // Whether the object is looked at again at once.
  bool immediate_next_stage = false;
  // Those of `next` as well.
  std::vector<StageStep> steps;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_STAGES_STAGE_H_
