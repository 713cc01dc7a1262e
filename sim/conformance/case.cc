#include "sim/conformance/case.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/default_profile.h"
#include "core/api/feature_gates.h"
#include "core/api/kinds.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/reader.h"

namespace schedsim::sim {
namespace {

using codec::Value;

absl::Status Expected(absl::string_view file, const Value& value, absl::string_view path,
                      absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(file, ":", value.position.line, ":", value.position.column,
                                                 ": ", path, ": expected ", what, ", got ",
                                                 Describe(value.type)));
}

// A number of seconds; zero where it is absent.
absl::StatusOr<absl::Duration> SecondsOf(const Value& parent, absl::string_view key, absl::string_view file) {
  const Value* value = parent.Find(key);
  if (value == nullptr) return absl::ZeroDuration();
  double seconds = 0;
  if (value->type != Value::Type::kNumber || !absl::SimpleAtod(value->text, &seconds)) {
    return Expected(file, *value, key, "a number of seconds");
  }
  // Recorded times are multiples of a microsecond.
  return absl::Microseconds(static_cast<int64_t>(seconds * 1e6 + 0.5));
}

std::string TextOf(const Value& parent, absl::string_view key) {
  const Value* value = parent.Find(key);
  return value == nullptr || value->type != Value::Type::kString ? std::string() : std::string(value->text);
}

class CaseReader {
 public:
  CaseReader(absl::string_view file, api::KubernetesLine line, codec::ObjectReader& objects)
      : file_(file), line_(line), objects_(objects) {}

  absl::StatusOr<Case> Read(const Value& root) {
    if (root.type != Value::Type::kObject) return Expected(file_, root, "case", "a map");
    Case result;
    result.name = TextOf(root, "name");
    if (result.name.empty()) return Expected(file_, root, "name", "the case's name");
    RETURN_IF_ERROR(ReadConfig(root, result));
    if (const Value* objects = root.Find("objects")) {
      if (objects->type != Value::Type::kArray) return Expected(file_, *objects, "objects", "a list");
      for (const Value& item : objects->items) {
        api::ObjectPtr object;
        ASSIGN_OR_RETURN(object, objects_.Decode(item, file_));
        result.objects.push_back(std::move(object));
      }
    }
    if (const Value* steps = root.Find("steps")) {
      if (steps->type != Value::Type::kArray) return Expected(file_, *steps, "steps", "a list");
      for (const Value& item : steps->items) RETURN_IF_ERROR(ReadStep(item, result));
      std::stable_sort(result.steps.begin(), result.steps.end(),
                       [](const Step& a, const Step& b) { return a.at < b.at; });
    }
    ASSIGN_OR_RETURN(result.end, SecondsOf(root, "end", file_));
    ASSIGN_OR_RETURN(result.pod_termination, SecondsOf(root, "terminationSeconds", file_));
    const Value* provision = root.Find("provision");
    result.provision = provision != nullptr && provision->boolean;
    if (TextOf(root, "record") == "decisions") result.trace_level = TraceLevel::kDecisions;
    return result;
  }

 private:
  absl::Status ReadConfig(const Value& root, Case& result) {
    api::FeatureGates gates(line_);
    if (const Value* wanted = root.Find("featureGates")) {
      std::string list;
      for (const codec::Member& member : wanted->members) {
        absl::StrAppend(&list, list.empty() ? "" : ",", member.key, "=",
                        member.value.boolean ? "true" : "false");
      }
      RETURN_IF_ERROR(gates.Set(list));
    }
    result.line = api::LineBehaviorOf(gates);
    const std::vector<api::PluginInfo> known = api::InTreePlugins(line_);
    const Value* config = root.Find("config");
    if (config == nullptr) {
      ASSIGN_OR_RETURN(result.config, codec::DefaultSchedulerConfig(gates, known));
      return absl::OkStatus();
    }
    absl::StatusOr<codec::LoadedSchedulerConfig> loaded =
        codec::DecodeSchedulerConfig(*config, file_, gates, known);
    if (loaded.ok()) {
      const std::string place =
          absl::StrCat(file_, ":", config->position.line, ":", config->position.column, ": config.");
      RETURN_IF_ERROR(RefuseExtenders(place, loaded->config));
      result.config = *std::move(loaded);
    } else {
      result.config_error = std::string(loaded.status().message());
    }
    return absl::OkStatus();
  }

  absl::Status ReadStep(const Value& item, Case& result) {
    Step step;
    ASSIGN_OR_RETURN(step.at, SecondsOf(item, "at", file_));
    if (const Value* create = item.Find("create")) {
      ASSIGN_OR_RETURN(step.create, objects_.Decode(*create, file_));
    } else if (const Value* update = item.Find("update")) {
      ASSIGN_OR_RETURN(step.update, objects_.Decode(*update, file_));
    } else if (const Value* remove = item.Find("delete")) {
      step.remove = Step::Reference{.kind = KindOf(TextOf(*remove, "kind")),
                                    .kind_name = TextOf(*remove, "kind"),
                                    .name_space = TextOf(*remove, "namespace"),
                                    .name = TextOf(*remove, "name")};
    } else {
      return Expected(file_, item, "steps", "one of create, update and delete");
    }
    result.steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  // References to what is deleted have no apiVersion.
  static api::Kind KindOf(absl::string_view kind_name) {
    const api::KindInfo* const info = api::FindKindByName(kind_name);
    return info == nullptr ? api::Kind::kOther : info->kind;
  }

  const absl::string_view file_;
  const api::KubernetesLine line_;
  codec::ObjectReader& objects_;
};

}  // namespace

absl::Status ReadCases(absl::string_view path, api::KubernetesLine line,
                       const std::function<absl::Status(Case)>& sink) {
  codec::ObjectReader objects(codec::DecodeOptions{.validate = false});
  CaseReader reader(path, line, objects);
  return codec::ReadValues(path, [&](const codec::Document& document) -> absl::Status {
    Case test_case;
    ASSIGN_OR_RETURN(test_case, reader.Read(document.root));
    return sink(std::move(test_case));
  });
}

SimulationOptions OptionsOf(const Case& test_case, bool reference) {
  SimulationOptions options;
  options.line = test_case.line;
  options.config = test_case.config;
  constexpr int64_t kStart = 946'684'800;  // 2000-01-01T00:00:00Z
  // Up to 1.35 the client library looks only every 100 ms whether its informers have synced.
  const bool polls = test_case.line.line <= api::KubernetesLine::k1_35;
  options.zero = absl::FromUnixSeconds(kStart) + (polls ? absl::Milliseconds(100) : absl::ZeroDuration()) +
                 options.creation_interval * static_cast<int64_t>(test_case.objects.size());
  if (test_case.provision) {
    options.controllers.persistent_volumes = {
        .delay = absl::Milliseconds(1), .lead = absl::Milliseconds(10), .watches = false};
    options.zero +=
        options.controllers.persistent_volumes->delay + options.controllers.persistent_volumes->lead;
  }
  options.until = test_case.end;
  options.latency.pod_termination = test_case.pod_termination;
  options.complete_admission = false;
  options.deletes_terminal_pods = true;
  options.preemption_starts_at_first = true;
  options.reference = reference;
  options.trace_level = test_case.trace_level;
  return options;
}

absl::StatusOr<CaseRun> RunCase(const Case& test_case, bool reference, RecordedChoice* choice) {
  CaseRun run;
  SimulationOptions options = OptionsOf(test_case, reference);
  options.choice = choice;
  options.trace_sink = [&run](absl::string_view line) { run.records.emplace_back(line); };
  if (!test_case.config_error.empty()) {
    codec::JsonWriter json;
    json.BeginObject()
        .Key("t")
        .Int(0)
        .Field("ev", "configError")
        .Field("message", test_case.config_error)
        .EndObject();
    run.records.push_back(json.text());
    return run;
  }
  std::unique_ptr<Simulation> simulation;
  ASSIGN_OR_RETURN(simulation, Simulation::Make(std::move(options)));
  run.zero = simulation->zero();
  simulation->CreateObjects(test_case.objects);
  simulation->AddSteps(test_case.steps);
  simulation->Run();
  run.decision_digest = simulation->trace().DecisionDigest();
  return run;
}

}  // namespace schedsim::sim
