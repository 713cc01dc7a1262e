#include "sim/scenario/scenario.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/feature_gates.h"
#include "core/base/status_macros.h"
#include "core/codec/config/strict_reader.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/reader.h"
#include "sim/formats/foreign_file.h"
#include "sim/formats/named_file.h"
#include "sim/formats/object_inspector.h"
#include "sim/kernel/time_limits.h"
#include "sim/scenario/arrivals_reader.h"
#include "sim/scenario/autoscaler_reader.h"
#include "sim/scenario/indexed_template.h"
#include "sim/scenario/latency_reader.h"
#include "sim/scenario/span_reader.h"
#include "sim/scenario/timeline_reader.h"
#include "sim/stages/default_stages.h"

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
  ScenarioReader(absl::string_view file, const SchedulerChoice& choice)
      : file_(file),
        choice_(choice),
        errors_(file_),
        timeline_options_{.file = file_,
                          .folder = FolderOf(file),
                          .read_paths = &scenario_.read_paths,
                          .notices = &scenario_.notices} {
    objects_.set_inspector(
        [this](const Value& document, absl::string_view api_version, absl::string_view kind,
               absl::string_view origin) { return inspector_.Inspect(document, api_version, kind, origin); });
    objects_.set_on_repeated_key([this](const Value& document, const codec::RepeatedKey& repeated) {
      inspector_.NoteRepeatedKey(document, repeated);
    });
  }

  absl::StatusOr<Scenario> Read(const Value& root) {
    scenario_.simulation.controllers = {.persistent_volumes = PersistentVolumeOptions(),
                                        .resource_claims = ResourceClaimOptions(),
                                        .disruption = true,
                                        .nodes = true,
                                        .workloads = true};
    scenario_.simulation.ends_terminating_pods = true;
    StrictReader reader(root, "", errors_);
    if (!root.is_object()) return errors_.ToStatusByPlace();
    std::string text;
    reader.Read("apiVersion", text);
    if (text != kApiVersion) {
      Error(root.Find("apiVersion"), root, absl::StrCat("apiVersion: expected ", kApiVersion));
    }
    std::string kind;
    reader.Read("kind", kind);
    if (kind != kKind) Error(root.Find("kind"), root, absl::StrCat("kind: expected ", kKind));
    // Of another version, nothing below is known.
    if (!errors_.empty()) return errors_.ToStatusByPlace();
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
    if (const Value* autoscaler = reader.Take("autoscaler")) RETURN_IF_ERROR(ReadScaling(*autoscaler));
    if (const Value* timeline = reader.Take("timeline")) RETURN_IF_ERROR(ReadEntries(*timeline));
    if (const Value* arrivals = reader.Take("arrivals")) {
      ASSIGN_OR_RETURN(scenario_.arrivals, ReadArrivals(*arrivals, scenario_.simulation.until,
                                                        timeline_options_, objects_, errors_));
      if (!scenario_.arrivals.empty()) scenario_.input.has_timeline = true;
    }
    ReadMeasure(reader);
    reader.Finish();
    RETURN_IF_ERROR(errors_.ToStatusByPlace());
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
    std::string version = choice_.DefaultVersion();
    const Value* given = reader.Take("kubernetesVersion");
    // YAML takes 1.37 for a number.
    if (given != nullptr && (given->is_string() || given->type == Value::Type::kNumber)) {
      version = std::string(given->text);
    } else if (given != nullptr) {
      Error(given, *given, "kubernetesVersion: expected a version such as \"1.37\"");
    }
    std::vector<GivenGate> given_gates;
    reader.ReadMap("featureGates", [&](const Value& value, const std::string& path) {
      for (const codec::Member& member : value.members) {
        if (member.value.type != Value::Type::kBool) {
          Error(&member.value, value, absl::StrCat(path, ".", member.key, ": expected true or false"));
        }
        given_gates.push_back(
            {.setting = absl::StrCat(member.key, "=", member.value.boolean ? "true" : "false"),
             .position = member.key_position});
      }
    });
    const absl::StatusOr<api::KubernetesVersion> parsed =
        api::ParseKubernetesVersion(choice_.kubernetes_version.value_or(version));
    if (!parsed.ok()) {
      if (choice_.kubernetes_version.has_value() || given == nullptr) {
        return absl::InvalidArgumentError(absl::StrCat("--kubernetes-version: ", parsed.status().message()));
      }
      return ErrorAt(*given, absl::StrCat("kubernetesVersion: ", parsed.status().message()));
    }
    AppendNotices(*parsed, scenario_.notices);
    api::FeatureGates gates(parsed->line);
    RETURN_IF_ERROR(SetGates(given_gates, gates));
    scenario_.simulation.line = api::LineBehaviorOf(gates);
    return ReadConfig(reader, gates);
  }

  // A gate of the scenario, `NAME=true`, and where it stands.
  struct GivenGate {
    std::string setting;
    codec::Position position;
  };

  absl::Status SetGates(const std::vector<GivenGate>& given, api::FeatureGates& gates) {
    const api::FeatureGates defaults = gates;
    if (choice_.feature_gates.has_value()) {
      scenario_.feature_gates = *choice_.feature_gates;
      const absl::Status set = gates.Set(scenario_.feature_gates);
      if (set.ok()) return set;
      return absl::InvalidArgumentError(absl::StrCat("--feature-gates: ", set.message()));
    }
    const auto append = [](std::string* out, const GivenGate& gate) { out->append(gate.setting); };
    scenario_.feature_gates = absl::StrJoin(given, ",", append);
    const absl::Status set = gates.Set(scenario_.feature_gates);
    for (const GivenGate& gate : given) {
      // The one that is wrong is wrong by itself, too.
      if (set.ok() || api::FeatureGates(defaults).Set(gate.setting).ok()) continue;
      return codec::ErrorAt({.file = file_, .position = gate.position},
                            absl::StrCat("featureGates: ", set.message()));
    }
    return set;
  }

  // `plugins`: libraries, beside those of the command line.
  absl::StatusOr<PluginChoice> ReadPlugins(StrictReader& reader) {
    std::vector<std::string> paths = choice_.plugins;
    reader.ReadList("plugins", [&](const Value& item, const std::string& path) {
      if (!item.is_string()) {
        Error(&item, item, absl::StrCat(path, ": expected a string, got ", Describe(item.type)));
        return;
      }
      paths.push_back(PathFrom(timeline_options_.folder, item.text));
    });
    scenario_.read_paths.insert(scenario_.read_paths.end(), paths.begin(), paths.end());
    return LoadPlugins(paths, choice_.processes, scenario_.simulation.line.line);
  }

  // `scheduler`: the path of a configuration, or the configuration itself.
  absl::Status ReadConfig(StrictReader& reader, const api::FeatureGates& gates) {
    codec::LoadedSchedulerConfig& config = scenario_.simulation.config;
    PluginChoice plugins;
    ASSIGN_OR_RETURN(plugins, ReadPlugins(reader));
    const Value* given = reader.Take("scheduler");
    std::string place = file_;
    if (choice_.config.has_value() || (given != nullptr && given->is_string())) {
      place = choice_.config.has_value() ? *choice_.config : PathFrom(timeline_options_.folder, given->text);
      scenario_.read_paths.push_back(place);
      absl::StatusOr<codec::LoadedSchedulerConfig> loaded =
          choice_.recorder.empty() ? LoadConfigWithGuests(place, gates, choice_.guests, plugins)
                                   : LoadForeignConfig(place, gates, plugins.known);
      RETURN_IF_ERROR(
          AtName(loaded.status(), choice_.config.has_value() ? "" : NamedAt(*given, "scheduler")));
      config = *std::move(loaded);
    } else if (given != nullptr) {
      ASSIGN_OR_RETURN(config, choice_.recorder.empty()
                                   ? DecodeConfigWithGuests(*given, file_, gates, choice_.guests, plugins)
                                   : DecodeForeignConfig(*given, file_, gates, plugins.known));
    } else {
      ASSIGN_OR_RETURN(config, codec::DefaultSchedulerConfig(gates, plugins.known));
    }
    if (place != file_ || given != nullptr) scenario_.simulation.config_file = place;
    RETURN_IF_ERROR(ReadOtherSchedulers(reader, gates, plugins));
    const std::vector<OtherScheduler>& others = scenario_.simulation.other_schedulers;
    AppendNotices(config, scenario_.notices);
    for (const OtherScheduler& other : others) AppendNotices(other.config, scenario_.notices);
    AppendNotices(plugins, config, others, choice_, scenario_.notices);
    scenario_.simulation.more_plugins = std::move(plugins.plugins.plugins);
    return ChooseExtenders(absl::StrCat(place, ": "), choice_.extenders, config.config,
                           scenario_.simulation.extenders);
  }

  // `otherSchedulers`: paths of configurations; those of the command line come behind them.
  absl::Status ReadOtherSchedulers(StrictReader& reader, const api::FeatureGates& gates,
                                   PluginChoice& plugins) {
    std::vector<OtherScheduler>& others = scenario_.simulation.other_schedulers;
    absl::Status status;
    reader.ReadList("otherSchedulers", [&](const Value& item, const std::string& path) {
      if (!item.is_string()) {
        Error(&item, item, absl::StrCat(path, ": expected a string, got ", Describe(item.type)));
        return;
      }
      const std::string file = PathFrom(timeline_options_.folder, item.text);
      scenario_.read_paths.push_back(file);
      absl::StatusOr<codec::LoadedSchedulerConfig> loaded =
          LoadConfigWithGuests(file, gates, choice_.guests, plugins);
      status.Update(AtName(loaded.status(), NamedAt(item, path)));
      if (loaded.ok())
        others.push_back({.place = NamedAt(item, path), .file = file, .config = *std::move(loaded)});
    });
    RETURN_IF_ERROR(status);
    std::vector<OtherScheduler> more;
    ASSIGN_OR_RETURN(more, LoadOtherSchedulers(choice_.other_configs, gates, choice_.guests, plugins));
    scenario_.read_paths.insert(scenario_.read_paths.end(), choice_.other_configs.begin(),
                                choice_.other_configs.end());
    others.insert(others.end(), more.begin(), more.end());
    return absl::OkStatus();
  }

  absl::Status ReadInput(StrictReader& reader) {
    reader.ReadList("inputs", [this](const Value& item, const std::string& path) {
      if (!item.is_string()) {
        Error(&item, item, absl::StrCat(path, ": expected a string, got ", Describe(item.type)));
        return;
      }
      scenario_.read_paths.push_back(PathFrom(timeline_options_.folder, item.text));
      scenario_.input.paths.push_back({.path = scenario_.read_paths.back(), .named_at = NamedAt(item, path)});
    });
    absl::Status status;
    reader.ReadList("objects", [&](const Value& item, const std::string& path) {
      const auto take = [&](api::ObjectPtr object, const codec::Location& location) {
        scenario_.input.objects.push_back(
            {.object = std::move(object), .file = file_, .position = location.position});
        return absl::OkStatus();
      };
      status.Update(IsTemplated(item) ? ReadTemplated(item, path, file_, /*round=*/0, objects_, errors_, take)
                                      : objects_.ReadValue(item, file_, take));
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
    scenario_.simulation.seed = static_cast<uint64_t>(seed);
    std::optional<std::string> start;
    reader.Read("start", start);
    if (start.has_value()) {
      const absl::StatusOr<absl::Time> time = ParseRunTime(*start);
      if (time.ok()) {
        scenario_.start = *time;
      } else {
        Error(root.Find("start"), root, absl::StrCat("start: ", time.status().message()));
      }
    }
    std::vector<std::string> provisioners;
    const bool names_provisioners =
        reader.ReadList("provisioners", [&](const Value& item, const std::string& path) {
          if (!item.is_string()) {
            Error(&item, item, absl::StrCat(path, ": expected a string, got ", Describe(item.type)));
            return;
          }
          provisioners.emplace_back(item.text);
        });
    if (names_provisioners) {
      scenario_.simulation.controllers.persistent_volumes->provisioners = std::move(provisioners);
    }
    ReadSpan(reader, "end", errors_, scenario_.simulation.until);
    ReadParsed(reader, root, "vary", ParseVariation, scenario_.simulation.variation);
    ReadParsed(reader, root, "faults", ParseFaults, scenario_.simulation.faults);
    if (const Value* given = reader.Take("replaceDeletedPods")) {
      Error(given, root,
            "replaceDeletedPods: there is no such field any more: controllers always make such pods anew, "
            "where "
            "the input has their workloads");
    }
    ReadStages(reader);
    reader.ReadMap("latency", [this](const Value& value, const std::string& path) {
      ReadLatencyModel(value, path, errors_, scenario_.simulation.latency);
    });
  }

  // A text that `parse` makes a T of.
  template <typename T>
  void ReadParsed(StrictReader& reader, const Value& root, absl::string_view field,
                  absl::StatusOr<T> (*parse)(absl::string_view), T& target) {
    std::optional<std::string> text;
    reader.Read(field, text);
    if (!text.has_value()) return;
    const absl::StatusOr<T> parsed = parse(*text);
    if (parsed.ok()) {
      target = *parsed;
    } else {
      Error(root.Find(field), root, absl::StrCat(field, ": ", parsed.status().message()));
    }
  }

  // `autoscaler`: the path of a file, or what it says.
  absl::Status ReadScaling(const Value& given) {
    AutoscalerOptions options;
    if (given.is_string()) {
      scenario_.read_paths.push_back(PathFrom(timeline_options_.folder, given.text));
      std::vector<std::string> warnings;
      absl::StatusOr<AutoscalerOptions> read = ReadAutoscalerFile(scenario_.read_paths.back(), warnings);
      RETURN_IF_ERROR(AtName(read.status(), NamedAt(given, "autoscaler")));
      options = *std::move(read);
      for (const std::string& warning : warnings)
        scenario_.notices.push_back(absl::StrCat("warning: ", warning));
    } else {
      RETURN_IF_ERROR(ReadAutoscaler(given, "autoscaler", file_, objects_, errors_, options));
    }
    scenario_.simulation.autoscaler = std::make_shared<const AutoscalerOptions>(std::move(options));
    return absl::OkStatus();
  }

  void ReadStages(StrictReader& reader) {
    StageFile read;
    const bool is_given = reader.ReadList("stages", [&](const Value& item, const std::string& path) {
      if (!item.is_string()) {
        Error(&item, item, absl::StrCat(path, ": expected a string, got ", Describe(item.type)));
        return;
      }
      absl::Status status = AddDefaultStages(item.text, read);
      if (absl::IsNotFound(status)) {
        scenario_.read_paths.push_back(PathFrom(timeline_options_.folder, item.text));
        status = sim::ReadStages(scenario_.read_paths.back(), read);
      }
      if (!status.ok()) Error(&item, item, absl::StrCat(path, ": ", status.message()));
    });
    if (!is_given) return;
    AppendStageNotices(read, scenario_.notices);
    scenario_.usages = std::move(read.usages);
    scenario_.metrics = std::move(read.metrics);
    if (read.stages.empty()) return;
    scenario_.simulation.stages = std::make_shared<const std::vector<Stage>>(std::move(read.stages));
  }

  absl::Status ReadEntries(const Value& timeline) {
    if (!timeline.is_array()) {
      errors_.Add(timeline.position,
                  absl::StrCat("timeline: expected a list, got ", Describe(timeline.type)));
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(scenario_.timeline, ReadTimeline(timeline, "timeline", scenario_.simulation.until,
                                                      timeline_options_, objects_, errors_));
    if (!scenario_.timeline.empty()) scenario_.input.has_timeline = true;
    return absl::OkStatus();
  }

  // What is measured, and when: `{from: 10m, until: 70m}`.
  void ReadMeasure(StrictReader& reader) {
    reader.ReadMap("measure", [this](const Value& value, const std::string& path) {
      MeasuredWindow& window = scenario_.window.emplace();
      StrictReader fields(value, path, errors_);
      ReadSpan(fields, "from", errors_, window.from);
      ReadSpan(fields, "until", errors_, window.until);
      fields.Finish();
      const absl::Duration end = std::min(window.until.value_or(absl::InfiniteDuration()),
                                          scenario_.simulation.until.value_or(absl::InfiniteDuration()));
      if (window.from >= end)
        Error(&value, value, absl::StrCat(path, ".from: expected a time before the end"));
    });
  }

  // For the errors of a file: where the scenario names it.
  std::string NamedAt(const Value& value, absl::string_view path) const {
    return std::string(ErrorAt(value, path).message());
  }

  absl::Status ErrorAt(const Value& value, absl::string_view what) const {
    return codec::ErrorAt({.file = file_, .position = value.position}, what);
  }

  const std::string file_;
  const SchedulerChoice& choice_;
  ErrorList errors_;
  const TimelineReaderOptions timeline_options_;
  codec::ObjectReader objects_;
  ObjectInspector inspector_;  // Of the objects in the scenario and in files that its timeline names.
  Scenario scenario_;
};

}  // namespace

absl::Status ScenarioCheck::Look(const codec::Document& document) {
  const Value* kind = document.root.Find("kind");
  // Cases of the conformance suite have no kind.
  const bool is_case = kind == nullptr && document.root.Find("objects") != nullptr;
  if (has_kind_ || is_case) return absl::OkStatus();
  is_scenario_ = kind != nullptr && kind->text == kKind;
  has_kind_ = kind != nullptr;
  if (is_scenario_) return absl::OkStatus();
  const auto text_of = [](const Value* value) { return value == nullptr ? "" : value->text; };
  const std::string foreign = DescribeForeign(document.root, text_of(document.root.Find("apiVersion")),
                                              text_of(kind), file_, "a scenario");
  if (!foreign.empty()) return codec::ErrorAt({.file = file_, .position = document.root.position}, foreign);
  if (kind == nullptr) return absl::OkStatus();
  return codec::ErrorAt(
      {.file = file_, .position = kind->position},
      absl::StrCat("kind: expected ", kKind, ", got ", kind->is_string() ? kind->text : Describe(kind->type),
                   "; objects of a cluster are given with `-f ", file_, "`"));
}

absl::StatusOr<Scenario> ReadScenario(std::string text, absl::string_view file,
                                      const SchedulerChoice& choice) {
  std::optional<Scenario> scenario;
  const auto read = [&](const codec::Document& document) -> absl::Status {
    if (document.root.is_null()) return absl::OkStatus();
    if (scenario.has_value()) {
      return codec::ErrorAt({.file = file, .position = document.root.position},
                            "expected one scenario, got another document");
    }
    ASSIGN_OR_RETURN(scenario, ScenarioReader(file, choice).Read(document.root));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(codec::ReadText(std::move(text), file, {.whole_numbers_as_digits = true}, read));
  if (!scenario.has_value())
    return absl::InvalidArgumentError(absl::StrCat(file, ": expected a scenario, got nothing"));
  return *std::move(scenario);
}

}  // namespace schedsim::sim
