// What playing a stage does, call by call.
#ifndef SCHEDSIM_SIM_STAGES_STAGE_ACTIONS_H_
#define SCHEDSIM_SIM_STAGES_STAGE_ACTIONS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/codec/text/value.h"
#include "sim/stages/stage.h"
#include "sim/stages/stage_object.h"
#include "sim/templates/go_template_functions.h"

namespace schedsim::sim {

// One call that playing a stage makes.
struct StageAction {
  enum class Type : uint8_t { kEvent, kPatch, kApply, kDelete, kImmediate };

  Type type = Type::kEvent;
  StageEvent event;  // kEvent.
  // kPatch and kApply. Never kDefault.
  StagePatch::Type patch_type = StagePatch::Type::kMerge;
  std::string subresource;
  std::string username;
  std::shared_ptr<codec::Document> patch;
};

// What `stage` does to `object`, in order; all templates see the object as it is now. `typed`: pods and nodes
// are patched as the types that they are, by strategic merge patches where the stage does not say otherwise.
// InvalidArgument, with the place in the stage's file, for templates that fail or give no YAML.
// Source: kwok v0.8.0, pkg/utils/lifecycle/next.go.
absl::StatusOr<std::vector<StageAction>> StageActions(const Stage& stage, const StageObject& object,
                                                      bool typed, const GoTemplateFunctions& functions);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_STAGES_STAGE_ACTIONS_H_
