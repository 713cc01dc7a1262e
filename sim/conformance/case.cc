#include "sim/conformance/case.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "core/api/feature_gates.h"
#include "core/api/kinds.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/input.h"
#include "core/codec/text/reader.h"
#include "core/plugins/registry.h"
#include "sim/record/record_writer.h"
#include "sim/record/records.h"

namespace schedsim::sim {
namespace {

using codec::Value;

absl::Status Expected(absl::string_view file, const Value& value, absl::string_view path,
                      absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(file, ":", value.position.line, ":", value.position.column,
                                                 ": ", path, ": expected ", what, ", got ",
                                                 Describe(value.type)));
}

// Refuses fields that a map does not have: they are mistakes of spelling.
absl::Status CheckMembers(absl::string_view file, const Value& parent, absl::string_view what,
                          absl::Span<const absl::string_view> known) {
  if (parent.type != Value::Type::kObject) return Expected(file, parent, what, "a map");
  for (const codec::Member& member : parent.members) {
    if (absl::c_linear_search(known, member.key)) continue;
    return codec::ErrorAt({file, member.key_position},
                          absl::StrCat(what, ".", Printable(member.key, kShownBytesMax),
                                       ": an unknown field, expected one of ", absl::StrJoin(known, ", ")));
  }
  return absl::OkStatus();
}

// A number of seconds; zero where it is absent.
absl::StatusOr<absl::Duration> SecondsOf(const Value& parent, absl::string_view key, absl::string_view file) {
  constexpr double kSecondsMax = 1e9;
  const Value* value = parent.Find(key);
  if (value == nullptr) return absl::ZeroDuration();
  double seconds = 0;
  const bool is_number = value->type == Value::Type::kNumber && absl::SimpleAtod(value->text, &seconds);
  if (!is_number || seconds < 0 || seconds > kSecondsMax) {
    return Expected(file, *value, key, "a number of seconds from 0 to 1e9");
  }
  // Recorded times are multiples of a microsecond.
  return absl::Microseconds(static_cast<int64_t>(seconds * 1e6 + 0.5));
}

// "" where it is absent.
absl::StatusOr<std::string> TextOf(const Value& parent, absl::string_view key, absl::string_view file) {
  const Value* value = parent.Find(key);
  if (value == nullptr) return std::string();
  if (value->type != Value::Type::kString) return Expected(file, *value, key, "a string");
  return std::string(value->text);
}

// False where it is absent.
absl::StatusOr<bool> BoolOf(const Value& parent, absl::string_view key, absl::string_view file) {
  const Value* value = parent.Find(key);
  if (value == nullptr) return false;
  if (value->type != Value::Type::kBool) return Expected(file, *value, key, "true or false");
  return value->boolean;
}

// The items of a list; nullptr where it is absent.
absl::StatusOr<const Value*> ListOf(const Value& parent, absl::string_view key, absl::string_view file) {
  const Value* value = parent.Find(key);
  if (value != nullptr && value->type != Value::Type::kArray) return Expected(file, *value, key, "a list");
  return value;
}

// Where plugins make the scheduler go round in circles, the recorder ended a case with a seed after so many
// pods.
constexpr int64_t kSeededPopsMax = 400;

constexpr absl::string_view kObjectsField = "objects";
constexpr absl::string_view kCaseFields[] = {
    "name",   "config", "featureGates",       "lineGates", "lines",     kObjectsField,
    "steps",  "end",    "terminationSeconds", "provision", "claims",    "devices",
    "record", "seed",   "extenderServers",    "start",     "endAtRest", "maxPops"};
constexpr absl::string_view kDevicesFields[] = {"after", "fail", "ignore"};
constexpr absl::string_view kStepFields[] = {"at", "create", "update", "delete"};
constexpr absl::string_view kReferenceFields[] = {"apiVersion", "kind", "namespace", "name"};

class CaseReader {
 public:
  using Objects = std::vector<api::ObjectPtr>;

  CaseReader(absl::string_view file, api::KubernetesLine line, hosting::LoadedPlugins plugins,
             codec::ObjectReader& objects)
      : file_(file), line_(line), plugins_(std::move(plugins)), objects_(objects) {}

  // Read tells what is wrong with it: only then it is known whether this is a case, and for which lines.
  void ReadObject(const Value& value) {
    if (!created_.ok()) return;
    if (!IsOfLine(value)) {
      created_->push_back(nullptr);
      return;
    }
    absl::StatusOr<api::ObjectPtr> object = objects_.Decode(value, file_);
    if (object.ok()) {
      created_->push_back(*std::move(object));
    } else {
      created_ = object.status();
    }
  }

  // The case whose objects ReadObject has read.
  absl::StatusOr<Case> Read(const Value& root) {
    absl::StatusOr<Objects> created = std::exchange(created_, Objects());
    RETURN_IF_ERROR(CheckMembers(file_, root, "case", kCaseFields));
    Case result;
    result.place = absl::StrCat(file_, ":", root.position.line);
    ASSIGN_OR_RETURN(result.name, TextOf(root, "name", file_));
    if (result.name.empty()) {
      return codec::ErrorAt({file_, root.position}, "name: missing, expected the case's name");
    }
    if (Printable(result.name) != result.name) {
      return codec::ErrorAt({file_, root.Find("name")->position},
                            "name: control characters, expected text that can be printed as it is");
    }
    RETURN_IF_ERROR(ReadLines(root, result));
    if (!result.is_for_line) return result;
    RETURN_IF_ERROR(ReadConfig(root, result));
    RETURN_IF_ERROR(ListOf(root, kObjectsField, file_).status());
    ASSIGN_OR_RETURN(result.objects, std::move(created));
    ASSIGN_OR_RETURN(const Value* steps, ListOf(root, "steps", file_));
    for (const Value& item : steps == nullptr ? absl::Span<const Value>() : steps->items) {
      RETURN_IF_ERROR(ReadStep(item, result));
    }
    std::stable_sort(result.steps.begin(), result.steps.end(),
                     [](const Step& a, const Step& b) { return a.at < b.at; });
    ASSIGN_OR_RETURN(result.end, SecondsOf(root, "end", file_));
    ASSIGN_OR_RETURN(result.pod_termination, SecondsOf(root, "terminationSeconds", file_));
    ASSIGN_OR_RETURN(result.provision, BoolOf(root, "provision", file_));
    // The number seeds what is random in the real scheduler, which a run follows in the record.
    if (const Value* seed = root.Find("seed")) {
      if (seed->type != Value::Type::kNumber) return Expected(file_, *seed, "seed", "a number");
      result.pops_max = kSeededPopsMax;
    }
    RETURN_IF_ERROR(ReadBounds(root, result));
    RETURN_IF_ERROR(ReadClaims(root, result));
    ASSIGN_OR_RETURN(const std::string level, TextOf(root, "record", file_));
    if (level == "decisions") {
      // The records have the names of all nodes with the highest total.
      result.trace_level = TraceLevel::kTies;
    } else if (!level.empty() && level != "full") {
      return codec::ErrorAt({file_, root.Find("record")->position}, "record: expected full or decisions");
    }
    return result;
  }

 private:
  // The items of a list of texts; none where it is absent.
  absl::StatusOr<std::vector<std::string>> TextsOf(const Value& parent, absl::string_view key) {
    std::vector<std::string> texts;
    ASSIGN_OR_RETURN(const Value* list, ListOf(parent, key, file_));
    for (const Value& item : list == nullptr ? absl::Span<const Value>() : list->items) {
      if (item.type != Value::Type::kString) return Expected(file_, item, key, "a string");
      texts.emplace_back(item.text);
    }
    return texts;
  }

  // When the case begins, and what ends it beside its end.
  absl::Status ReadBounds(const Value& root, Case& result) {
    ASSIGN_OR_RETURN(const std::string start, TextOf(root, "start", file_));
    if (!start.empty()) {
      result.start.emplace();
      if (!absl::ParseTime(absl::RFC3339_full, start, &*result.start, nullptr))
        return Expected(file_, *root.Find("start"), "start", "a time as RFC 3339 has it");
    }
    ASSIGN_OR_RETURN(result.ends_at_rest, BoolOf(root, "endAtRest", file_));
    const Value* const most = root.Find("maxPops");
    if (most == nullptr) return absl::OkStatus();
    int64_t count = 0;
    if (most->type != Value::Type::kNumber || !absl::SimpleAtoi(most->text, &count) || count < 1)
      return Expected(file_, *most, "maxPops", "a number from 1 on");
    result.pops_max = count;
    return absl::OkStatus();
  }

  absl::Status ReadLines(const Value& root, Case& result) {
    if (root.Find("lines") == nullptr) return absl::OkStatus();
    std::vector<std::string> lines;
    ASSIGN_OR_RETURN(lines, TextsOf(root, "lines"));
    result.names_lines = true;
    result.is_for_line = absl::c_linear_search(lines, std::string(api::KubernetesLineName(line_)));
    return absl::OkStatus();
  }

  absl::Status ReadClaims(const Value& root, Case& result) {
    ASSIGN_OR_RETURN(const bool claims, BoolOf(root, "claims", file_));
    if (!claims) return absl::OkStatus();
    ResourceClaimOptions& options = result.claims.emplace();
    options.watches = false;
    options.lead = absl::Milliseconds(10);
    const Value* devices = root.Find("devices");
    if (devices == nullptr) return absl::OkStatus();
    RETURN_IF_ERROR(CheckMembers(file_, *devices, "devices", kDevicesFields));
    ASSIGN_OR_RETURN(options.devices_after, SecondsOf(*devices, "after", file_));
    ASSIGN_OR_RETURN(options.failing_devices, TextsOf(*devices, "fail"));
    ASSIGN_OR_RETURN(options.silent_devices, TextsOf(*devices, "ignore"));
    return absl::OkStatus();
  }

  // Sets the gates that `wanted`, a map of this name, says.
  absl::Status SetGates(const Value& wanted, absl::string_view name, api::FeatureGates& gates) {
    if (wanted.type != Value::Type::kObject) return Expected(file_, wanted, name, "a map");
    std::string list;
    for (const codec::Member& member : wanted.members) {
      if (member.value.type != Value::Type::kBool) {
        return Expected(file_, member.value, absl::StrCat(name, ".", member.key), "true or false");
      }
      absl::StrAppend(&list, list.empty() ? "" : ",", member.key, "=",
                      member.value.boolean ? "true" : "false");
    }
    const absl::Status set = gates.Set(list);
    if (set.ok()) return set;
    return codec::ErrorAt({file_, wanted.position}, absl::StrCat(name, ": ", set.message()));
  }

  absl::Status ReadConfig(const Value& root, Case& result) {
    api::FeatureGates gates(line_);
    if (const Value* wanted = root.Find("featureGates")) {
      RETURN_IF_ERROR(SetGates(*wanted, "featureGates", gates));
    }
    const Value* by_line = root.Find("lineGates");
    const Value* wanted = by_line == nullptr ? nullptr : by_line->Find(api::KubernetesLineName(line_));
    if (wanted != nullptr) RETURN_IF_ERROR(SetGates(*wanted, "lineGates", gates));
    result.line = api::LineBehaviorOf(gates);
    std::vector<api::PluginInfo> known = plugins::KnownPlugins(line_);
    known.insert(known.end(), plugins_.infos.begin(), plugins_.infos.end());
    std::sort(known.begin(), known.end(),
              [](const api::PluginInfo& a, const api::PluginInfo& b) { return a.name < b.name; });
    result.more_plugins = plugins_.plugins;
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
      const Value* const servers = root.Find("extenderServers");
      if (servers == nullptr) RETURN_IF_ERROR(RefuseExtenders(place, loaded->config));
      result.config = *std::move(loaded);
      if (servers != nullptr) RETURN_IF_ERROR(ReadExtenders(*servers, result));
    } else {
      result.config_error = std::string(loaded.status().message());
    }
    return absl::OkStatus();
  }

  // The servers' rules are for the recorder; what counts here is who is who, and who binds.
  absl::Status ReadExtenders(const Value& servers, Case& result) {
    if (servers.type != Value::Type::kArray) return Expected(file_, servers, "extenderServers", "a list");
    std::vector<CaseExtender> known;
    for (const Value& item : servers.items) {
      CaseExtender& server = known.emplace_back();
      ASSIGN_OR_RETURN(server.name, TextOf(item, "name", file_));
      ASSIGN_OR_RETURN(server.url, TextOf(item, "url", file_));
      ASSIGN_OR_RETURN(const Value* rules, ListOf(item, "bind", file_));
      for (const Value& rule : rules == nullptr ? absl::Span<const Value>() : rules->items) {
        ASSIGN_OR_RETURN(const std::string action, TextOf(rule, "do", file_));
        const bool refuses = rule.Find("error") != nullptr || rule.Find("status") != nullptr ||
                             rule.Find("raw") != nullptr || action == "none";
        server.bind_rules.push_back(refuses            ? CaseExtender::Binds::kNever
                                    : action == "late" ? CaseExtender::Binds::kLate
                                                       : CaseExtender::Binds::kAtOnce);
      }
    }
    for (const api::Extender& extender : result.config.config.extenders) {
      const auto server = absl::c_find_if(known, [&extender](const CaseExtender& candidate) {
        return absl::StripSuffix(candidate.url, "/") == absl::StripSuffix(extender.url_prefix, "/");
      });
      if (server == known.end()) {
        return codec::ErrorAt({file_, servers.position},
                              absl::StrCat("extenderServers: none has the url ", extender.url_prefix));
      }
      result.extenders.push_back(*server);
    }
    return absl::OkStatus();
  }

  absl::Status ReadStep(const Value& item, Case& result) {
    RETURN_IF_ERROR(CheckMembers(file_, item, "steps", kStepFields));
    if (item.members.size() != (item.Find("at") == nullptr ? 1U : 2U)) {
      return codec::ErrorAt({file_, item.position},
                            "steps: expected at, and one of create, update and delete");
    }
    Step step;
    for (const absl::string_view field : {"create", "update", "delete"}) {
      const Value* object = item.Find(field);
      if (object != nullptr && !IsOfLine(*object)) {
        ASSIGN_OR_RETURN(step.at, SecondsOf(item, "at", file_));
        result.steps.push_back(std::move(step));
        return absl::OkStatus();
      }
    }
    ASSIGN_OR_RETURN(step.at, SecondsOf(item, "at", file_));
    if (const Value* create = item.Find("create")) {
      ASSIGN_OR_RETURN(step.create, objects_.Decode(*create, file_));
    } else if (const Value* update = item.Find("update")) {
      ASSIGN_OR_RETURN(step.update, objects_.Decode(*update, file_));
    } else if (const Value* remove = item.Find("delete")) {
      RETURN_IF_ERROR(CheckMembers(file_, *remove, "delete", kReferenceFields));
      Step::Reference& reference = step.remove.emplace();
      ASSIGN_OR_RETURN(reference.kind_name, TextOf(*remove, "kind", file_));
      ASSIGN_OR_RETURN(reference.name_space, TextOf(*remove, "namespace", file_));
      ASSIGN_OR_RETURN(reference.name, TextOf(*remove, "name", file_));
      reference.kind = KindOf(reference.kind_name);
    }
    result.steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  // Whether the line has this version of the kind. Groups of pods change theirs from line to line, and cases
  // have one for each.
  bool IsOfLine(const Value& object) const {
    const auto text_of = [&object](absl::string_view key) {
      const Value* value = object.Find(key);
      return value == nullptr ? absl::string_view() : absl::string_view(value->text);
    };
    const absl::string_view kind = text_of("kind");
    const absl::string_view version = text_of("apiVersion");
    if (kind == "Workload" && version == "scheduling.k8s.io/v1alpha1") {
      return line_ == api::KubernetesLine::k1_35;
    }
    if (kind != "PodGroup") return true;
    if (version == "scheduling.k8s.io/v1alpha2") return line_ == api::KubernetesLine::k1_36;
    if (version == "scheduling.k8s.io/v1beta1") return line_ == api::KubernetesLine::k1_37;
    return true;
  }

  // References to what is deleted need no apiVersion.
  static api::Kind KindOf(absl::string_view kind_name) {
    const api::KindInfo* const info = api::FindKindByName(kind_name);
    return info == nullptr ? api::Kind::kOther : info->kind;
  }

  const absl::string_view file_;
  const api::KubernetesLine line_;
  const hosting::LoadedPlugins plugins_;
  codec::ObjectReader& objects_;
  // Of the case that is to come; or what is wrong with the first one that can't be.
  absl::StatusOr<Objects> created_ = Objects();
};

}  // namespace

struct CaseFileReader::Parts {
  Parts(absl::string_view name, api::KubernetesLine line, hosting::LoadedPlugins plugins)
      : file(name), reader(file, line, std::move(plugins), objects) {}

  std::string file;
  codec::ObjectReader objects =
      codec::ObjectReader(codec::DecodeOptions{.validate = false, .by_source = true});
  CaseReader reader;
};

CaseFileReader::CaseFileReader(absl::string_view file, api::KubernetesLine line,
                               hosting::LoadedPlugins plugins)
    : parts_(std::make_unique<Parts>(file, line, std::move(plugins))) {}

CaseFileReader::~CaseFileReader() = default;

codec::ReadOptions CaseFileReader::Options() { return {.split_member = std::string(kObjectsField)}; }

absl::StatusOr<std::optional<Case>> CaseFileReader::Read(const codec::Document& document) {
  if (!document.is_entry) return parts_->reader.Read(document.root);
  parts_->reader.ReadObject(document.root);
  return std::nullopt;
}

absl::Status ReadCases(absl::string_view path, api::KubernetesLine line,
                       const std::function<absl::Status(Case)>& sink, hosting::LoadedPlugins plugins) {
  ASSIGN_OR_RETURN(std::string text, codec::ReadFile(path));
  const absl::string_view file = path == "-" ? "stdin" : path;
  CaseFileReader reader(file, line, std::move(plugins));
  return codec::ReadText(std::move(text), file, CaseFileReader::Options(),
                         [&](const codec::Document& document) -> absl::Status {
                           std::optional<Case> test_case;
                           ASSIGN_OR_RETURN(test_case, reader.Read(document));
                           return test_case.has_value() ? sink(*std::move(test_case)) : absl::OkStatus();
                         });
}

namespace {

// What is recorded of a scheduler that does not start.
CaseRun ConfigErrorRun(absl::string_view message) {
  CaseRun run;
  RecordWriter writer;
  writer.Start(absl::ZeroDuration(), record::ConfigError{.message = std::string(message)});
  run.records.push_back(writer.Finish(/*digest=*/""));
  return run;
}

}  // namespace

SimulationOptions OptionsOf(const Case& test_case, bool reference) {
  SimulationOptions options;
  options.line = test_case.line;
  options.config = test_case.config;
  options.more_plugins = test_case.more_plugins;
  options.pops_max = test_case.pops_max;
  options.pops_last = test_case.pops_max.has_value();
  constexpr int64_t kStart = 946'684'800;  // 2000-01-01T00:00:00Z
  // Up to 1.35 the client library looks only every 100 ms whether its informers have synced.
  const bool polls = test_case.line.line <= api::KubernetesLine::k1_35;
  options.zero = test_case.start.value_or(absl::FromUnixSeconds(kStart)) +
                 (polls ? absl::Milliseconds(100) : absl::ZeroDuration()) +
                 options.creation_interval * static_cast<int64_t>(test_case.objects.size());
  if (test_case.provision) {
    options.controllers.persistent_volumes = {
        .delay = absl::Milliseconds(1), .lead = absl::Milliseconds(10), .watches = false};
    options.zero +=
        options.controllers.persistent_volumes->delay + options.controllers.persistent_volumes->lead;
  }
  if (test_case.claims.has_value()) {
    options.controllers.resource_claims = test_case.claims;
    options.zero += options.controllers.resource_claims->lead;
    options.counts_names = true;
  }
  options.holds_cycles = test_case.claims.has_value() || test_case.names_lines;
  options.ties_by_creation = options.holds_cycles && test_case.line.line <= api::KubernetesLine::k1_36;
  if (!test_case.ends_at_rest) options.until = test_case.end;
  options.latency.pod_termination = test_case.pod_termination;
  options.complete_admission = false;
  options.deletes_terminal_pods = true;
  options.preemption_starts_at_first = true;
  // The recorder's scheduler has one worker, whatever the configuration says.
  options.config.config.parallelism = 1;
  options.reference = reference;
  options.trace_level = test_case.trace_level;
  return options;
}

absl::StatusOr<CaseRun> RunCase(const Case& test_case, bool reference, RecordedChoice* choice,
                                const RecordedExtenders* extenders) {
  CaseRun run;
  SimulationOptions options = OptionsOf(test_case, reference);
  static const RecordedExtenders* const kNoCalls = new RecordedExtenders();
  const RecordedExtenders& calls = extenders == nullptr ? *kNoCalls : *extenders;
  options.extenders.make_transport = [&](const ExtenderWorld& world) {
    return NewRecordedTransport(calls, test_case.extenders, world);
  };
  for (const CaseExtender& extender : test_case.extenders) options.extenders.names.push_back(extender.name);
  // As in the recorder's API server.
  options.extenders.sends_types = true;
  options.extenders.binds = false;
  options.choice = choice;
  options.trace_sink = [&run](absl::string_view line) { run.records.emplace_back(line); };
  if (!test_case.config_error.empty()) return ConfigErrorRun(test_case.config_error);
  absl::StatusOr<std::unique_ptr<Simulation>> made = Simulation::Make(std::move(options));
  // A plugin refused its arguments, or its events.
  if (absl::IsInvalidArgument(made.status())) return ConfigErrorRun(made.status().message());
  std::unique_ptr<Simulation> simulation;
  ASSIGN_OR_RETURN(simulation, std::move(made));
  run.zero = simulation->zero();
  simulation->CreateObjects(test_case.objects);
  simulation->AddSteps(test_case.steps);
  simulation->Run();
  run.decision_digest = simulation->trace().DecisionDigest();
  return run;
}

}  // namespace schedsim::sim
