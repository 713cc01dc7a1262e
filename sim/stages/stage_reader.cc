#include "sim/stages/stage_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/api/kinds.h"
#include "core/base/status_macros.h"
#include "core/codec/config/strict_reader.h"
#include "core/codec/text/reader.h"
#include "sim/stages/cel_fields.h"
#include "sim/stages/kwok_object.h"
#include "sim/stages/stage_functions.h"

namespace schedsim::sim {
namespace {

using codec::ErrorList;
using codec::StrictReader;
using codec::Value;

constexpr char kGroup[] = "kwok.x-k8s.io";

class Reader {
 public:
  Reader(absl::string_view file, ErrorList& errors) : file_(file), errors_(errors) {}

  void Read(const Value& root, Stage& stage) {
    StrictReader reader(root, "", errors_);
    stage.name = ReadKwokObjectHead(root, reader, errors_).name;
    const bool has_spec = reader.ReadMap(
        "spec", [&](const Value& value, const std::string& path) { ReadSpec(value, path, stage); });
    if (!has_spec && !reader.Has("spec")) errors_.Add(root.position, "spec: expected a map");
    reader.Finish();
  }

 private:
  void ReadSpec(const Value& value, const std::string& path, Stage& stage) {
    StrictReader reader(value, path, errors_);
    stage.api_version = "v1";
    reader.ReadMap("resourceRef", [&](const Value& item, const std::string& below) {
      StrictReader resource(item, below, errors_);
      resource.Read("apiGroup", stage.api_version);
      resource.Read("kind", stage.kind);
      resource.Finish();
    });
    api_version_ = stage.api_version;
    kind_ = stage.kind;
    if (stage.kind.empty())
      errors_.Add(value.position, absl::StrCat(path, ".resourceRef.kind: expected a kind"));
    stage.has_selector = reader.ReadMap(
        "selector", [&](const Value& item, const std::string& below) { ReadSelector(item, below, stage); });
    reader.Read("weight", stage.weight);
    if (stage.weight < 0)
      errors_.Add(reader.Take("weight")->position,
                  absl::StrCat(path, ".weight: expected a number from 0 on"));
    ReadExpressionFrom(reader, "weightFrom", stage.weight_from);
    reader.ReadMap("delay", [&](const Value& item, const std::string& below) {
      ReadDelay(item, below, stage.delay.emplace());
    });
    reader.Read("immediateNextStage", stage.immediate_next_stage);
    std::vector<StageStep> steps_of_next;
    reader.ReadMap(
        "next", [&](const Value& item, const std::string& below) { ReadNext(item, below, steps_of_next); });
    reader.ReadList("steps", [&](const Value& item, const std::string& below) {
      ReadStep(item, below, stage.steps.emplace_back());
    });
    // Files that kwokctl wrote have both, for old controllers.
    if (stage.steps.empty()) stage.steps = std::move(steps_of_next);
    reader.Finish();
  }

  void ReadSelector(const Value& value, const std::string& path, Stage& stage) {
    StrictReader reader(value, path, errors_);
    ReadPairs(reader, "matchLabels", stage.match_labels);
    ReadPairs(reader, "matchAnnotations", stage.match_annotations);
    reader.ReadList("matchExpressions", [&](const Value& item, const std::string& below) {
      ReadRequirement(item, below, stage.match_expressions.emplace_back());
    });
    reader.Finish();
  }

  void ReadPairs(StrictReader& reader, absl::string_view name,
                 std::vector<std::pair<std::string, std::string>>& pairs) {
    reader.ReadMap(name, [&](const Value& map, const std::string& path) {
      for (const codec::Member& member : map.members) {
        if (!member.value.is_string()) {
          errors_.Add(member.value.position, absl::StrCat(path, ".", member.key, ": expected a string, got ",
                                                          codec::Describe(member.value.type)));
          continue;
        }
        pairs.emplace_back(member.key, member.value.text);
      }
    });
  }

  void ReadRequirement(const Value& value, const std::string& path, StageRequirement& requirement) {
    StrictReader reader(value, path, errors_);
    StrictReader* jq = nullptr;
    const Value* jq_value = reader.Take("jq");
    const Value* cel_value = reader.Take("cel");
    StrictReader inner(jq_value != nullptr ? *jq_value : value, jq_value != nullptr ? path + ".jq" : path,
                       errors_);
    // The flat form is an older way to write jq.
    const bool is_flat = jq_value == nullptr && reader.Has("key");
    if (jq_value != nullptr || is_flat) jq = &inner;
    for (const char* flat : {"key", "operator", "values"}) reader.Skip(flat);
    reader.Finish();
    if (jq != nullptr) {
      ReadJqRequirement(*jq, is_flat, requirement);
    } else if (cel_value != nullptr) {
      ReadCel(*cel_value, path + ".cel", requirement.expression, /*checks_fields=*/true);
    } else {
      errors_.Add(value.position, absl::StrCat(path, ": expected jq or cel"));
    }
  }

  void ReadJqRequirement(StrictReader& reader, bool is_flat, StageRequirement& requirement) {
    std::string key;
    std::string op;
    reader.Read("key", key);
    reader.Read("operator", op);
    reader.ReadStrings("values", requirement.values);
    const Value* key_value = reader.Take("key");
    const Value* op_value = reader.Take("operator");
    if (is_flat) reader.Skip("cel");
    reader.Finish();
    const codec::Position position = key_value != nullptr ? key_value->position : codec::Position();
    SetJq(key, position, reader.PathOf("key"), requirement.expression);
    const codec::Position op_position = op_value != nullptr ? op_value->position : position;
    const std::string op_path = reader.PathOf("operator");
    const bool has_values = !requirement.values.empty();
    if (op == "In" || op == "NotIn") {
      requirement.op = op == "In" ? StageRequirement::Operator::kIn : StageRequirement::Operator::kNotIn;
      if (!has_values) errors_.Add(op_position, absl::StrCat(op_path, ": ", op, " needs values"));
    } else if (op == "Exists" || op == "DoesNotExist") {
      requirement.op =
          op == "Exists" ? StageRequirement::Operator::kExists : StageRequirement::Operator::kDoesNotExist;
      if (has_values) errors_.Add(op_position, absl::StrCat(op_path, ": ", op, " takes no values"));
    } else {
      errors_.Add(op_position, absl::StrCat(op_path, ": expected In, NotIn, Exists or DoesNotExist, got ",
                                            api::GoQuote(op)));
    }
  }

  void SetJq(const std::string& text, codec::Position position, const std::string& path,
             StageExpression& expression) {
    expression.path = path;
    absl::StatusOr<JqProgram> program = JqProgram::Parse(text);
    if (program.ok()) {
      expression.jq = *std::move(program);
    } else {
      errors_.Add(position, absl::StrCat(path, ": ", program.status().message(), " in ", QuotedJq(text)));
    }
  }

  // `checks_fields`: as kwok does. The delays of our own stages look at more than kwok knows.
  void ReadCel(const Value& value, const std::string& path, StageExpression& expression,
               bool checks_fields = false) {
    StrictReader reader(value, path, errors_);
    std::string text;
    reader.Read("expression", text);
    const Value* text_value = reader.Take("expression");
    reader.Finish();
    expression.path = reader.PathOf("expression");
    absl::StatusOr<cel::CelProgram> program =
        cel::CelProgram::Parse(text, KnownStageCelFunctions(), {"self"});
    std::string problem(program.ok() ? "" : program.status().message());
    if (program.ok() && checks_fields) problem = UnknownCelField(text, api_version_, kind_);
    if (problem.empty()) {
      expression.cel = *std::move(program);
      return;
    }
    errors_.Add(text_value != nullptr ? text_value->position : value.position,
                absl::StrCat(expression.path, ": ", problem, ", in ", api::GoQuote(text)));
  }

  // weightFrom and the like. With both languages, cel wins here.
  void ReadExpressionFrom(StrictReader& reader, absl::string_view name,
                          std::optional<StageExpression>& expression, bool ignores_cel = false) {
    reader.ReadMap(name, [&](const Value& value, const std::string& path) {
      StrictReader from(value, path, errors_);
      const Value* cel = from.Take("cel");
      const Value* jq = from.Take("jq");
      std::string text;
      from.Read("expressionFrom", text);
      const Value* flat = from.Take("expressionFrom");
      from.Finish();
      if (cel != nullptr && ignores_cel) {
        StageExpression checked;
        ReadCel(*cel, path + ".cel", checked);
      } else if (cel != nullptr) {
        ReadCel(*cel, path + ".cel", expression.emplace());
        return;
      }
      std::string text_path = from.PathOf("expressionFrom");
      if (jq != nullptr) {
        StrictReader inner(*jq, path + ".jq", errors_);
        text.clear();
        inner.Read("expression", text);
        text_path = inner.PathOf("expression");
        inner.Finish();
      }
      if (jq != nullptr || flat != nullptr) {
        SetJq(text, jq != nullptr ? jq->position : flat->position, text_path, expression.emplace());
      } else if (cel == nullptr) {
        errors_.Add(value.position, absl::StrCat(path, ": expected cel, jq or expressionFrom"));
      }
    });
  }

  void ReadDelay(const Value& value, const std::string& path, StageDelay& delay) {
    StrictReader reader(value, path, errors_);
    int64_t duration = 0;
    reader.Read("durationMilliseconds", duration);
    std::optional<int64_t> jitter;
    reader.Read("jitterDurationMilliseconds", jitter);
    delay.duration = absl::Milliseconds(duration);
    if (jitter.has_value()) delay.jitter_duration = absl::Milliseconds(*jitter);
    for (const char* name : {"durationMilliseconds", "jitterDurationMilliseconds"}) {
      const Value* number = reader.Take(name);
      if (number != nullptr && absl::StartsWith(number->text, "-"))
        errors_.Add(number->position, absl::StrCat(path, ".", name, ": expected a number from 0 on"));
    }
    ReadExpressionFrom(reader, "durationFrom", delay.duration_from);
    // kwok does not look at CEL for the jitter.
    ReadExpressionFrom(reader, "jitterDurationFrom", delay.jitter_duration_from, /*ignores_cel=*/true);
    reader.Finish();
  }

  // The older way to say what a stage does, in the order in which it is done.
  void ReadNext(const Value& value, const std::string& path, std::vector<StageStep>& steps) {
    StrictReader reader(value, path, errors_);
    StageStep first;
    ReadEvent(reader, first);
    ReadFinalizers(reader, first);
    if (first.event.has_value() || first.finalizers.has_value()) steps.push_back(std::move(first));
    std::vector<StageStep> patches;
    reader.ReadList("patches", [&](const Value& item, const std::string& below) {
      ReadPatch(item, below, patches.emplace_back().patch);
    });
    std::string text;
    std::string subresource = "status";
    std::string username;
    reader.Read("statusTemplate", text);
    reader.Read("statusSubresource", subresource);
    reader.ReadMap("statusPatchAs", [&](const Value& item, const std::string& below) {
      StrictReader as(item, below, errors_);
      as.Read("username", username);
      as.Finish();
    });
    if (patches.empty() && !text.empty()) {
      std::optional<GoTemplate> parsed =
          ParseTemplate(*reader.Take("statusTemplate"), path + ".statusTemplate");
      if (parsed.has_value()) {
        patches.emplace_back().patch = StagePatch{
            .subresource = subresource, .root = "status", .username = username, .text = *std::move(parsed)};
      }
    }
    for (StageStep& patch : patches) steps.push_back(std::move(patch));
    StageStep last;
    reader.Read("delete", last.deletes);
    if (last.deletes) steps.push_back(std::move(last));
    reader.Finish();
  }

  void ReadStep(const Value& value, const std::string& path, StageStep& step) {
    StrictReader reader(value, path, errors_);
    ReadEvent(reader, step);
    ReadFinalizers(reader, step);
    reader.Read("delete", step.deletes);
    reader.ReadMap("patch",
                   [&](const Value& item, const std::string& below) { ReadPatch(item, below, step.patch); });
    reader.ReadMap("apply", [&](const Value& item, const std::string& below) {
      ReadPatch(item, below, step.apply, /*is_apply=*/true);
    });
    reader.Finish();
  }

  void ReadEvent(StrictReader& reader, StageStep& step) {
    reader.ReadMap("event", [&](const Value& item, const std::string& below) {
      StrictReader event(item, below, errors_);
      StageEvent& read = step.event.emplace();
      event.Read("type", read.type);
      event.Read("reason", read.reason);
      event.Read("message", read.message);
      event.Finish();
    });
  }

  void ReadFinalizers(StrictReader& reader, StageStep& step) {
    reader.ReadMap("finalizers", [&](const Value& item, const std::string& below) {
      StrictReader finalizers(item, below, errors_);
      StageFinalizers& read = step.finalizers.emplace();
      ReadValues(finalizers, "add", read.add);
      ReadValues(finalizers, "remove", read.remove);
      finalizers.Read("empty", read.empty);
      finalizers.Finish();
    });
  }

  void ReadValues(StrictReader& reader, absl::string_view name, std::vector<std::string>& values) {
    reader.ReadList(name, [&](const Value& item, const std::string& below) {
      StrictReader entry(item, below, errors_);
      entry.Read("value", values.emplace_back());
      entry.Finish();
    });
  }

  void ReadPatch(const Value& value, const std::string& path, std::optional<StagePatch>& patch,
                 bool is_apply = false) {
    StrictReader reader(value, path, errors_);
    std::string subresource;
    std::string root;
    std::string type;
    std::string text;
    std::string username;
    reader.Read("subresource", subresource);
    if (!is_apply) reader.Read("root", root);
    reader.Read("type", type);
    reader.Read("template", text);
    reader.ReadMap("impersonation", [&](const Value& item, const std::string& below) {
      StrictReader impersonation(item, below, errors_);
      impersonation.Read("username", username);
      impersonation.Finish();
    });
    const Value* text_value = reader.Take("template");
    const Value* type_value = reader.Take("type");
    reader.Finish();
    if (text_value == nullptr) {
      errors_.Add(value.position, absl::StrCat(path, ".template: expected a template"));
      return;
    }
    std::optional<GoTemplate> parsed = ParseTemplate(*text_value, path + ".template");
    if (!parsed.has_value()) return;
    patch = StagePatch{.subresource = subresource,
                       .root = root,
                       .type = TypeOf(type, is_apply, type_value, path),
                       .username = username,
                       .text = *std::move(parsed)};
  }

  StagePatch::Type TypeOf(const std::string& type, bool is_apply, const Value* value,
                          const std::string& path) {
    if (type.empty()) return StagePatch::Type::kDefault;
    if (type == "merge") return StagePatch::Type::kMerge;
    if (type == "strategic") return StagePatch::Type::kStrategic;
    if (type == "json" && !is_apply) return StagePatch::Type::kJson;
    if (type == "apply" && is_apply) return StagePatch::Type::kApply;
    errors_.Add(value->position, absl::StrCat(path, ".type: expected ", is_apply ? "apply" : "json",
                                              ", merge or strategic, got ", api::GoQuote(type)));
    return StagePatch::Type::kDefault;
  }

  std::optional<GoTemplate> ParseTemplate(const Value& value, const std::string& path) {
    absl::StatusOr<GoTemplate> parsed = ParseTemplateOf(value, file_, KnownStageFunctions());
    if (parsed.ok()) return *std::move(parsed);
    errors_.Add(value.position, absl::StrCat(path, ": ", parsed.status().message()));
    return std::nullopt;
  }

  const absl::string_view file_;
  ErrorList& errors_;
  // What resourceRef says.
  std::string api_version_;
  std::string kind_;
};

absl::string_view TextOf(const Value& root, absl::string_view key) {
  const Value* value = root.Find(key);
  return value != nullptr && value->is_string() ? value->text : absl::string_view();
}

absl::Status AddDocument(const codec::Document& document, absl::string_view file, StageFile& read) {
  const Value& root = document.root;
  if (root.is_null()) return absl::OkStatus();
  if (!root.is_object()) {
    return codec::ErrorAt({.file = file, .position = root.position},
                          absl::StrCat("expected an object, got ", codec::Describe(root.type)));
  }
  const absl::string_view api_version = TextOf(root, "apiVersion");
  const absl::string_view kind = TextOf(root, "kind");
  // kwok goes by the kind alone.
  const bool is_of_kwok = api_version.empty() || api::GroupOf(api_version) == kGroup;
  if (is_of_kwok && (kind == "ResourceUsage" || kind == "ClusterResourceUsage")) {
    UsageRule rule;
    ASSIGN_OR_RETURN(rule, ReadUsageRule(root, file));
    read.usages.push_back(std::move(rule));
    return absl::OkStatus();
  }
  if (is_of_kwok && kind == "Metric") {
    MetricRule rule;
    ASSIGN_OR_RETURN(rule, ReadMetricRule(root, file, read.metrics));
    read.metrics.push_back(std::move(rule));
    return absl::OkStatus();
  }
  if (is_of_kwok && kind == "Stage") {
    Stage stage;
    ASSIGN_OR_RETURN(stage, ReadStage(root, file));
    read.stages.push_back(std::move(stage));
    return absl::OkStatus();
  }
  // Files of kwokctl have its configuration beside stages.
  if (kind == "KwokctlConfiguration" || kind == "KwokConfiguration") return absl::OkStatus();
  read.skipped.push_back(absl::StrCat(file, ":", root.position.line, ": ", kind.empty() ? "?" : kind));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<GoTemplate> ParseTemplateOf(const Value& value, absl::string_view file,
                                           const GoTemplateFunctions& functions) {
  // A text of several lines begins below its mark, `|`.
  const bool is_block = absl::StrContains(value.text, '\n');
  const int32_t first_line = std::max(value.position.line, 1) + (is_block ? 1 : 0);
  return GoTemplate::Parse(value.text, std::string(file), functions, first_line);
}

absl::StatusOr<Stage> ReadStage(const Value& document, absl::string_view file) {
  ErrorList errors(file);
  Stage stage;
  stage.file = std::string(file);
  stage.position = document.position;
  Reader(file, errors).Read(document, stage);
  RETURN_IF_ERROR(errors.ToStatus());
  return stage;
}

absl::Status ReadStages(absl::string_view path, StageFile& read) {
  codec::ReadOptions options;
  options.split_lists = true;
  return codec::ReadPath(path, options, [&](const codec::Document& document, absl::string_view file) {
    return AddDocument(document, file, read);
  });
}

absl::Status ReadStagesOfText(std::string text, absl::string_view file, StageFile& read) {
  codec::ReadOptions options;
  options.split_lists = true;
  return codec::ReadText(std::move(text), file, options,
                         [&](const codec::Document& document) { return AddDocument(document, file, read); });
}

}  // namespace schedsim::sim
