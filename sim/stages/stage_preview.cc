#include "sim/stages/stage_preview.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "core/api/go_text.h"
#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/base/status_macros.h"
#include "core/codec/text/writer.h"
#include "sim/stages/stage_actions.h"
#include "sim/stages/stage_choice.h"
#include "sim/stages/stage_functions.h"
#include "sim/stages/stage_object.h"
#include "sim/templates/go_value.h"

namespace schedsim::sim {
namespace {

class FixedClock : public Clock {
 public:
  // 2006-01-02T15:04:05Z.
  absl::Time Now() const override { return absl::FromUnixSeconds(1'136'214'245); }
};

// As fmt.Sprintf("%#v").
std::string GoSyntax(const GoValue& value) {
  if (value.AsString() != nullptr) return api::GoQuote(*value.AsString());
  return value.is_nil() ? "<nil>" : value.Text();
}

class Marks : public StageEnvironment {
 public:
  GoResult Call(absl::string_view function, const GoArguments& arguments) override {
    const auto append = [](std::string* out, const GoValue& argument) { *out += GoSyntax(argument); };
    const bool has_arguments = !arguments.empty();
    const std::string call = has_arguments
                                 ? absl::StrCat(function, "(", absl::StrJoin(arguments, ", ", append), ")")
                                 : std::string(function);
    if (function == "NodeIPsWith" || function == "PodIPsWith") {
      GoValue::List list;
      for (const char* index : {"0", "1"}) list.emplace_back(absl::StrCat("<", index, " of ", call, ">"));
      return GoValue(std::move(list));
    }
    return GoValue(absl::StrCat("<", call, ">"));
  }
};

GoValue Text(absl::string_view text) { return {std::string(text)}; }

absl::string_view MimeTypeOf(StagePatch::Type type) {
  switch (type) {
    case StagePatch::Type::kJson:
      return "application/json-patch+json";
    case StagePatch::Type::kStrategic:
      return "application/strategic-merge-patch+json";
    case StagePatch::Type::kApply:
      return "application/apply-patch+yaml";
    case StagePatch::Type::kDefault:
    case StagePatch::Type::kMerge:
      break;
  }
  return "application/merge-patch+json";
}

GoValue Describe(const StageAction& action) {
  GoValue::Map map;
  const auto add = [&](const char* key, absl::string_view text) {
    if (!text.empty()) map.emplace_back(key, Text(text));
  };
  switch (action.type) {
    case StageAction::Type::kEvent:
      add("kind", "event");
      add("type", action.event.type);
      add("reason", action.event.reason);
      add("message", action.event.message);
      break;
    case StageAction::Type::kPatch:
    case StageAction::Type::kApply:
      add("kind", action.type == StageAction::Type::kPatch ? "patch" : "apply");
      add("type", MimeTypeOf(action.patch_type));
      add("subresource", action.subresource);
      add("impersonation", action.username);
      map.emplace_back("data", GoValueOf(action.patch->root, GoNumbers::kJsonNumber));
      break;
    case StageAction::Type::kDelete:
      add("kind", "delete");
      break;
    case StageAction::Type::kImmediate:
      add("kind", "immediate");
      break;
  }
  return GoValue(std::move(map));
}

GoValue Describe(const DelayRange& delay) {
  GoValue::List list;
  list.emplace_back(absl::ToInt64Nanoseconds(delay.from));
  if (delay.to.has_value()) list.emplace_back(absl::ToInt64Nanoseconds(*delay.to));
  return GoValue(std::move(list));
}

}  // namespace

absl::StatusOr<std::string> PreviewStages(const std::vector<Stage>& stages, const codec::Value& object) {
  const FixedClock clock;
  Rng rng(0);
  Marks marks;
  const GoTemplateFunctions functions = StageFunctions(marks, clock, rng);
  const cel::CelFunctions cel_functions = StageCelFunctions(clock, rng);
  const StageContext context = {.clock = clock, .cel_functions = cel_functions};
  const StageObject seen(object);
  std::vector<StageCandidate> candidates;
  ASSIGN_OR_RETURN(candidates, PossibleStages(stages, seen, context));
  GoValue::List described;
  for (const StageCandidate& candidate : candidates) {
    GoValue::Map map = {{"stage", Text(candidate.stage->name)}};
    if (candidate.weight.has_value()) map.emplace_back("weight", GoValue(*candidate.weight));
    const std::optional<DelayRange> delay = DelayOf(*candidate.stage, seen, context);
    if (delay.has_value()) map.emplace_back("delay", Describe(*delay));
    std::vector<StageAction> actions;
    ASSIGN_OR_RETURN(actions, StageActions(*candidate.stage, seen, /*typed=*/false, functions));
    GoValue::List next;
    for (const StageAction& action : actions) next.push_back(Describe(action));
    if (!next.empty()) map.emplace_back("next", GoValue(std::move(next)));
    described.emplace_back(std::move(map));
  }
  GoValue::Map root = {{"apiGroup", Text(seen.api_version())},
                       {"kind", Text(seen.kind())},
                       {"stages", GoValue(std::move(described))}};
  if (!seen.name().empty()) root.emplace_back("name", Text(seen.name()));
  if (!seen.name_space().empty()) root.emplace_back("namespace", Text(seen.name_space()));
  codec::Document document;
  return codec::ToYaml(DocumentValueOf(GoValue(std::move(root)), document));
}

}  // namespace schedsim::sim
