#include "sim/scenario/scenario.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/default_profile.h"
#include "core/api/feature_gates.h"
#include "core/base/status_macros.h"
#include "core/codec/config/strict_reader.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/reader.h"
#include "sim/formats/object_inspector.h"
#include "sim/scenario/latency_reader.h"
#include "sim/scenario/timeline_reader.h"

namespace schedsim::sim {
namespace {

using codec::ErrorList;
using codec::StrictReader;
using codec::Value;

constexpr char kApiVersion[] = "schedsim/v1";
constexpr char kKind[] = "Scenario";

std::string FolderOf(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

class ScenarioReader {
 public:
  ScenarioReader(absl::string_view file, const ScenarioOverrides& overrides)
      : file_(file),
        overrides_(overrides),
        errors_(file_),
        timeline_options_{.file = file_, .folder = FolderOf(file)} {
    objects_.set_inspector(
        [this](const Value& document, absl::string_view api_version, absl::string_view kind,
               absl::string_view origin) { return inspector_.Inspect(document, api_version, kind, origin); });
  }

  absl::StatusOr<Scenario> Read(const Value& root) {
    StrictReader reader(root, "", errors_);
    if (!root.is_object()) return errors_.ToStatus();
    std::string text;
    reader.Read("apiVersion", text);
    if (text != kApiVersion) {
      Error(root.Find("apiVersion"), root, absl::StrCat("apiVersion: expected ", kApiVersion));
    }
    std::string kind;
    reader.Read("kind", kind);
    if (kind != kKind) Error(root.Find("kind"), root, absl::StrCat("kind: expected ", kKind));
    // Of another version, nothing below is known.
    if (!errors_.empty()) return errors_.ToStatus();
    reader.ReadMap("metadata", [this](const Value& value, const std::string& path) {
      StrictReader metadata(value, path, errors_);
      metadata.Read("name", scenario_.name);
      metadata.Finish();
    });
    std::string description;
    reader.Read("description", description);
    RETURN_IF_ERROR(ReadScheduler(reader));
    RETURN_IF_ERROR(ReadInput(reader));
    ReadRun(reader, root);
    if (const Value* timeline = reader.Take("timeline")) RETURN_IF_ERROR(ReadEntries(*timeline));
    reader.Finish();
    RETURN_IF_ERROR(errors_.ToStatus());
    for (InputWarning& warning : inspector_.Warnings()) {
      scenario_.input.warnings.push_back(std::move(warning.text));
    }
    return std::move(scenario_);
  }

 private:
  void Error(const Value* value, const Value& parent, absl::string_view what) {
    errors_.Add((value == nullptr ? parent : *value).position, what);
  }

  absl::Status ReadScheduler(StrictReader& reader) {
    std::string version(api::KubernetesLineName(api::kDefaultKubernetesLine));
    const Value* given = reader.Take("kubernetesVersion");
    // YAML takes 1.37 for a number.
    if (given != nullptr && (given->is_string() || given->type == Value::Type::kNumber)) {
      version = std::string(given->text);
    } else if (given != nullptr) {
      Error(given, *given, "kubernetesVersion: expected a version such as \"1.37\"");
    }
    std::string gate_list;
    reader.ReadMap("featureGates", [&](const Value& value, const std::string& path) {
      for (const codec::Member& member : value.members) {
        if (member.value.type != Value::Type::kBool) {
          Error(&member.value, value, absl::StrCat(path, ".", member.key, ": expected true or false"));
        }
        absl::StrAppend(&gate_list, gate_list.empty() ? "" : ",", member.key, "=",
                        member.value.boolean ? "true" : "false");
      }
    });
    const absl::StatusOr<api::KubernetesVersion> parsed =
        api::ParseKubernetesVersion(overrides_.kubernetes_version.value_or(version));
    if (!parsed.ok()) {
      if (overrides_.kubernetes_version.has_value() || given == nullptr) return parsed.status();
      return ErrorAt(*given, absl::StrCat("kubernetesVersion: ", parsed.status().message()));
    }
    if (!parsed->note.empty()) {
      scenario_.notes.push_back(absl::StrCat(parsed->is_warning ? "warning: " : "note: ", parsed->note));
    }
    scenario_.line = parsed->line;
    api::FeatureGates gates(parsed->line);
    const absl::Status set = gates.Set(overrides_.feature_gates.value_or(gate_list));
    if (!set.ok()) return absl::InvalidArgumentError(absl::StrCat(file_, ": featureGates: ", set.message()));
    scenario_.behavior = api::LineBehaviorOf(gates);
    return ReadConfig(reader, gates);
  }

  // `scheduler`: the path of a configuration, or the configuration itself.
  absl::Status ReadConfig(StrictReader& reader, const api::FeatureGates& gates) {
    const std::vector<api::PluginInfo> known = api::InTreePlugins(scenario_.line);
    const Value* config = reader.Take("scheduler");
    if (overrides_.config.has_value() || (config != nullptr && config->is_string())) {
      scenario_.config_file = overrides_.config.has_value()
                                  ? *overrides_.config
                                  : PathFrom(timeline_options_.folder, config->text);
      ASSIGN_OR_RETURN(scenario_.config, codec::LoadSchedulerConfig(scenario_.config_file, gates, known));
    } else if (config != nullptr) {
      scenario_.config_file = file_;
      ASSIGN_OR_RETURN(scenario_.config, codec::DecodeSchedulerConfig(*config, file_, gates, known));
    } else {
      ASSIGN_OR_RETURN(scenario_.config, codec::DefaultSchedulerConfig(gates, known));
    }
    for (const std::string& note : scenario_.config.notes)
      scenario_.notes.push_back(absl::StrCat("note: ", note));
    return absl::OkStatus();
  }

  absl::Status ReadInput(StrictReader& reader) {
    std::vector<std::string> paths;
    reader.ReadStrings("inputs", paths);
    for (const std::string& path : paths) {
      scenario_.input.paths.push_back(PathFrom(timeline_options_.folder, path));
    }
    absl::Status status;
    reader.ReadList("objects", [&](const Value& item, const std::string&) {
      status.Update(
          objects_.ReadValue(item, file_, [&](api::ObjectPtr object, const codec::Location& location) {
            scenario_.input.objects.push_back(
                {.object = std::move(object), .file = file_, .position = location.position});
            return absl::OkStatus();
          }));
    });
    RETURN_IF_ERROR(status);
    std::string bound = "keep";
    const Value* given = reader.Take("bound");
    if (given == nullptr) return absl::OkStatus();
    if (given->is_string()) bound = std::string(given->text);
    const absl::StatusOr<BoundPods> parsed = ParseBoundPods(bound);
    if (!parsed.ok() || !given->is_string()) {
      errors_.Add(given->position,
                  absl::StrCat("bound: expected keep, reset or reset=SELECTOR",
                               parsed.ok() ? "" : absl::StrCat("; ", parsed.status().message())));
    } else {
      scenario_.input.bound = *parsed;
    }
    return absl::OkStatus();
  }

  void ReadRun(StrictReader& reader, const Value& root) {
    int64_t seed = 1;
    reader.Read("seed", seed);
    if (seed < 0) Error(root.Find("seed"), root, "seed: expected a whole number that is not negative");
    scenario_.seed = static_cast<uint64_t>(seed);
    std::optional<std::string> start;
    reader.Read("start", start);
    absl::Time time;
    std::string error;
    if (start.has_value() && absl::ParseTime(absl::RFC3339_full, *start, &time, &error)) {
      scenario_.start = time;
    } else if (start.has_value()) {
      Error(root.Find("start"), root, "start: expected a time in RFC 3339, such as \"2026-01-31T12:00:00Z\"");
    }
    reader.Read("end", scenario_.end);
    if (scenario_.end.value_or(absl::ZeroDuration()) < absl::ZeroDuration()) {
      Error(root.Find("end"), root, "end: expected a duration that is not negative");
    }
    reader.Read("replaceDeletedPods", scenario_.controllers.replaces_deleted_pods);
    reader.ReadMap("latency", [this](const Value& value, const std::string& path) {
      ReadLatencyModel(value, path, errors_, scenario_.latency);
    });
  }

  absl::Status ReadEntries(const Value& timeline) {
    if (!timeline.is_array()) {
      errors_.Add(timeline.position,
                  absl::StrCat("timeline: expected a list, got ", Describe(timeline.type)));
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(scenario_.timeline,
                     ReadTimeline(timeline, "timeline", timeline_options_, objects_, errors_));
    scenario_.input.has_timeline = !scenario_.timeline.empty();
    absl::Duration last;
    for (size_t i = 0; i < scenario_.timeline.size(); ++i) {
      const std::optional<absl::Duration>& at = scenario_.timeline[i].at;
      if (!at.has_value()) continue;
      const std::string path = absl::StrCat("timeline[", i, "].at: ");
      const codec::Position position = timeline.items[i].position;
      if (*at < last) {
        errors_.Add(position,
                    absl::StrCat(path, "expected a time that is not before that of an earlier entry, ",
                                 absl::FormatDuration(last)));
      }
      if (scenario_.end.has_value() && *at >= *scenario_.end) {
        errors_.Add(position, absl::StrCat(path, "expected a time before the end, ",
                                           absl::FormatDuration(*scenario_.end)));
      }
      last = std::max(last, *at);
    }
    return absl::OkStatus();
  }

  absl::Status ErrorAt(const Value& value, absl::string_view what) const {
    return codec::ErrorAt({.file = file_, .position = value.position}, what);
  }

  const std::string file_;
  const ScenarioOverrides& overrides_;
  ErrorList errors_;
  const TimelineReaderOptions timeline_options_;
  codec::ObjectReader objects_;
  ObjectInspector inspector_;  // Of the objects in the scenario and in files that its timeline names.
  Scenario scenario_;
};

}  // namespace

absl::StatusOr<bool> IsScenario(absl::string_view path) {
  bool is_scenario = false;
  bool is_first = true;
  RETURN_IF_ERROR(codec::ReadValues(path, [&](const codec::Document& document) -> absl::Status {
    const Value* kind = document.root.Find("kind");
    if (!is_first || kind == nullptr) return absl::OkStatus();
    is_first = false;
    is_scenario = kind->text == kKind;
    if (is_scenario) return absl::OkStatus();
    return codec::ErrorAt({.file = path, .position = kind->position},
                          absl::StrCat("kind: expected ", kKind, ", got ",
                                       kind->is_string() ? kind->text : Describe(kind->type),
                                       "; objects of a cluster are given with `-f ", path, "`"));
  }));
  return is_scenario;
}

absl::StatusOr<Scenario> ReadScenario(absl::string_view path, const ScenarioOverrides& overrides) {
  std::optional<Scenario> scenario;
  RETURN_IF_ERROR(codec::ReadValues(path, [&](const codec::Document& document) -> absl::Status {
    if (document.root.is_null()) return absl::OkStatus();
    if (scenario.has_value()) {
      return codec::ErrorAt({.file = path, .position = document.root.position},
                            "expected one scenario, got another document");
    }
    ASSIGN_OR_RETURN(scenario, ScenarioReader(path, overrides).Read(document.root));
    return absl::OkStatus();
  }));
  if (!scenario.has_value())
    return absl::InvalidArgumentError(absl::StrCat(path, ": expected a scenario, got nothing"));
  return *std::move(scenario);
}

}  // namespace schedsim::sim
