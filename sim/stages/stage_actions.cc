#include "sim/stages/stage_actions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codec/text/reader.h"

namespace schedsim::sim {
namespace {

using PatchType = StagePatch::Type;

GoValue Text(std::string text) { return {std::move(text)}; }

// One operation of a JSON patch.
GoValue Operation(absl::string_view op, std::string path) {
  return {GoValue::Map{{"op", Text(std::string(op))}, {"path", Text(std::move(path))}}};
}
GoValue Operation(absl::string_view op, std::string path, GoValue value) {
  return {GoValue::Map{
      {"op", Text(std::string(op))}, {"path", Text(std::move(path))}, {"value", std::move(value)}}};
}

bool Contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

std::vector<std::string> FinalizersOf(const StageObject& object) {
  std::vector<std::string> finalizers;
  const codec::Value* metadata = object.root().Find("metadata");
  const codec::Value* list = metadata == nullptr ? nullptr : metadata->Find("finalizers");
  if (list == nullptr) return finalizers;
  for (const codec::Value& item : list->items) finalizers.emplace_back(item.text);
  return finalizers;
}

// Empty: nothing changes.
GoValue::List FinalizerOperations(const StageFinalizers& wanted, const std::vector<std::string>& now) {
  constexpr char kPath[] = "/metadata/finalizers";
  std::vector<std::string> kept;
  for (const std::string& finalizer : now) {
    if (!wanted.empty && !Contains(wanted.remove, finalizer)) kept.push_back(finalizer);
  }
  GoValue::List operations;
  if (kept.empty()) {
    if (!now.empty()) operations.push_back(Operation("remove", kPath));
    GoValue::List added;
    for (const std::string& finalizer : wanted.add) added.push_back(Text(finalizer));
    if (!added.empty()) operations.push_back(Operation("add", kPath, GoValue(std::move(added))));
    // Taking away and adding the same is no change.
    return now == wanted.add ? GoValue::List() : operations;
  }
  for (size_t i = now.size(); i-- > 0;) {
    if (Contains(wanted.remove, now[i]))
      operations.push_back(Operation("remove", absl::StrCat(kPath, "/", i)));
  }
  for (const std::string& finalizer : wanted.add) {
    if (!Contains(kept, finalizer))
      operations.push_back(Operation("add", absl::StrCat(kPath, "/-"), Text(finalizer)));
  }
  return operations;
}

class Maker {
 public:
  Maker(const Stage& stage, const StageObject& object, bool typed, const GoTemplateFunctions& functions)
      : stage_(stage), object_(object), typed_(typed), functions_(functions) {}

  absl::StatusOr<std::vector<StageAction>> Make() {
    bool is_deleted = false;
    for (const StageStep& step : stage_.steps) {
      if (step.event.has_value())
        actions_.push_back({.type = StageAction::Type::kEvent, .event = *step.event});
      if (is_deleted) continue;
      if (step.finalizers.has_value()) AddFinalizers(*step.finalizers);
      if (step.deletes) {
        actions_.push_back({.type = StageAction::Type::kDelete});
        is_deleted = true;
        continue;
      }
      if (step.patch.has_value()) RETURN_IF_ERROR(AddPatch(*step.patch));
      if (step.apply.has_value()) RETURN_IF_ERROR(AddApply(*step.apply));
    }
    if (stage_.immediate_next_stage) actions_.push_back({.type = StageAction::Type::kImmediate});
    return std::move(actions_);
  }

 private:
  void AddFinalizers(const StageFinalizers& finalizers) {
    GoValue::List operations = FinalizerOperations(finalizers, FinalizersOf(object_));
    if (operations.empty()) return;
    auto document = std::make_shared<codec::Document>();
    document->root = DocumentValueOf(GoValue(std::move(operations)), *document);
    actions_.push_back(
        {.type = StageAction::Type::kPatch, .patch_type = PatchType::kJson, .patch = std::move(document)});
  }

  absl::Status AddPatch(const StagePatch& patch) {
    StageAction action = {.type = StageAction::Type::kPatch,
                          .patch_type = patch.type == PatchType::kDefault ? DefaultType() : patch.type,
                          .subresource = patch.subresource,
                          .username = patch.username};
    GoValue value;
    ASSIGN_OR_RETURN(value, Render(patch));
    if (action.patch_type == PatchType::kJson) {
      ASSIGN_OR_RETURN(value, BelowRoot(patch, value));
    } else if (!patch.root.empty()) {
      value = GoValue(GoValue::Map{{patch.root, value}});
    }
    return Add(std::move(action), value);
  }

  absl::Status AddApply(const StagePatch& patch) {
    StageAction action = {.type = StageAction::Type::kApply,
                          .patch_type = patch.type == PatchType::kDefault ? PatchType::kApply : patch.type,
                          .subresource = patch.subresource,
                          .username = patch.username};
    GoValue value;
    ASSIGN_OR_RETURN(value, Render(patch));
    for (const char* field : {"apiVersion", "kind"}) {
      if (value.Find(field).AsString() == nullptr) {
        return Error(absl::StrCat("what is applied has no ", field));
      }
    }
    return Add(std::move(action), value);
  }

  absl::Status Add(StageAction action, const GoValue& value) {
    action.patch = std::make_shared<codec::Document>();
    action.patch->root = DocumentValueOf(value, *action.patch);
    actions_.push_back(std::move(action));
    return absl::OkStatus();
  }

  // kwok knows the types of pods and nodes alone.
  PatchType DefaultType() const {
    const bool is_known =
        typed_ && stage_.api_version == "v1" && (stage_.kind == "Pod" || stage_.kind == "Node");
    return is_known ? PatchType::kStrategic : PatchType::kMerge;
  }

  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(stage_.file, ":", stage_.position.line, ": Stage ", stage_.name, ": ", what));
  }

  absl::StatusOr<GoValue> Render(const StagePatch& patch) const {
    std::string text;
    ASSIGN_OR_RETURN(text, patch.text.Execute(object_.go(), functions_));
    absl::StripAsciiWhitespace(&text);
    GoValue value;
    int count = 0;
    const absl::Status status =
        codec::ReadText(std::move(text), "rendered.yaml", {}, [&](const codec::Document& document) {
          value = GoValueOf(document.root, GoNumbers::kJsonNumber);
          return ++count > 1 ? absl::InvalidArgumentError("several documents") : absl::OkStatus();
        });
    if (!status.ok()) return Error(absl::StrCat("what the template gives is no YAML: ", status.message()));
    return value;
  }

  // The operations with the root in front of their paths.
  absl::StatusOr<GoValue> BelowRoot(const StagePatch& patch, const GoValue& value) const {
    if (value.AsList() == nullptr) return Error("expected a list of operations for a patch of type json");
    GoValue::List operations;
    for (const GoValue& operation : *value.AsList()) {
      if (operation.AsMap() == nullptr) return Error("expected an operation of a JSON patch");
      GoValue::Map map = *operation.AsMap();
      for (auto& [key, field] : map) {
        const bool is_path = (key == "path" || key == "from") && field.AsString() != nullptr;
        if (is_path && !patch.root.empty()) field = Text(absl::StrCat("/", patch.root, *field.AsString()));
      }
      operations.emplace_back(std::move(map));
    }
    return GoValue(std::move(operations));
  }

  const Stage& stage_;
  const StageObject& object_;
  const bool typed_;
  const GoTemplateFunctions& functions_;
  std::vector<StageAction> actions_;
};

}  // namespace

absl::StatusOr<std::vector<StageAction>> StageActions(const Stage& stage, const StageObject& object,
                                                      bool typed, const GoTemplateFunctions& functions) {
  return Maker(stage, object, typed, functions).Make();
}

}  // namespace schedsim::sim
