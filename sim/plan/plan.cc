#include "sim/plan/plan.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/go_text.h"
#include "core/api/kinds.h"
#include "core/api/kubernetes_version.h"
#include "core/base/nearest_name.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "core/codec/text/input.h"
#include "core/codec/text/reader.h"
#include "sim/analysis/wakeups.h"
#include "sim/cluster/object_list.h"
#include "sim/conformance/case.h"
#include "sim/kernel/time_limits.h"
#include "sim/measure/cluster_events.h"
#include "sim/measure/scheduler_metrics.h"
#include "sim/plan/ignored_groups.h"
#include "sim/plan/other_scheduler_limits.h"
#include "sim/plan/plan_parts.h"
#include "sim/plan/recorder_limits.h"
#include "sim/plan/recorder_run.h"
#include "sim/plan/recording_plan.h"
#include "sim/plan/run_arguments.h"
#include "sim/replay/reschedule.h"
#include "sim/scenario/autoscaler_reader.h"
#include "sim/scenario/kwokctl_config.h"
#include "sim/scenario/scenario.h"
#include "sim/stages/default_stages.h"
#include "sim/stages/metric_table.h"

namespace schedsim::sim {
namespace {

absl::Status Invalid(absl::string_view what) { return absl::InvalidArgumentError(what); }

// Standard input can be read once.
absl::Status RefuseSecondStandardInput(const std::vector<std::string>& paths) {
  if (std::count(paths.begin(), paths.end(), "-") < 2) return absl::OkStatus();
  return Invalid("standard input (-) is given twice, expected it once");
}

// The request goes before `start`, that of a scenario or case, which goes before what the input says.
absl::Status SetTimes(const RunRequest& request, std::optional<absl::Time> start, Plan& plan) {
  SimulationOptions& simulation = plan.simulation;
  const absl::Time newest = plan.input.newest_timestamp.value_or(DefaultRecordingZero());
  simulation.zero = request.start.has_value() ? *request.start : start.value_or(newest);
  if (!IsRunTime(simulation.zero)) {
    return Invalid(absl::StrCat(
        "the newest time that a server wrote in the input is ", api::FormatRfc3339(simulation.zero),
        ", expected one of the years 1 to 9999, or another virtual zero with --start"));
  }
  if (request.until.has_value()) simulation.until = request.until;
  if (!simulation.until.has_value() || IsRunTime(simulation.zero + *simulation.until))
    return absl::OkStatus();
  return Invalid(absl::StrCat(request.until.has_value() ? "--until" : "end",
                              ": the run would end after the year 9999, expected an earlier start or end"));
}

// A request with what a configuration of kwokctl says beside it.
struct Resolved {
  RunRequest request;
  std::vector<std::string> notices;
  // Whether the Stage objects of the input are played.
  bool plays_stages_of_input = false;
  // The file of the configuration; "": there is none.
  std::string kwokctl_path;
};

absl::StatusOr<Resolved> Resolve(const RunRequest& request) {
  Resolved resolved = {.request = request};
  std::optional<KwokctlConfig> kwokctl;
  ASSIGN_OR_RETURN(kwokctl, KwokctlConfigOf(request.scheduler));
  if (!kwokctl.has_value()) return resolved;
  resolved.kwokctl_path = *request.scheduler.config;
  resolved.request.scheduler = ChoiceWith(*kwokctl, request.scheduler);
  resolved.notices = std::move(kwokctl->notices);
  if (!kwokctl->has_controllers) {
    resolved.request.controllers = false;
    if (request.controllers) {
      resolved.notices.push_back(absl::StrCat("note: ", resolved.kwokctl_path,
                                              " disables kube-controller-manager: no controller takes part"));
    }
  }
  if (request.stages.empty() && kwokctl->has_stages) resolved.request.stages = {resolved.kwokctl_path};
  resolved.plays_stages_of_input = kwokctl->plays_stages_of_cluster && resolved.request.stages.empty();
  return resolved;
}

// A plan whose input is still to be read.
struct Draft {
  Plan plan;
  // Absent: the plan has its objects already.
  std::optional<ClusterInputOptions> input = std::nullopt;
  // When virtual zero is, where the request does not say it.
  std::optional<absl::Time> start = std::nullopt;
  // Not OK: this scheduler cannot be, but that of another line of Kubernetes may, by the input.
  absl::Status scheduler = absl::OkStatus();
};

// Where nobody says which Kubernetes is meant, it is the one that the input is from, if that can be
// simulated.
absl::Status FollowServerVersion(const RunRequest& request, Draft& draft) {
  const ClusterInput& input = draft.plan.input;
  const bool is_open = request.scenario.empty() && !request.scheduler.kubernetes_version.has_value();
  if (!is_open) return draft.scheduler;
  const auto note_default = [&draft](absl::string_view versions, absl::string_view of) {
    draft.plan.notices.push_back(absl::StrCat(
        "note: Kubernetes ", api::KubernetesLineName(api::kDefaultKubernetesLine), " is simulated, though ",
        of, " say ", versions, "; --kubernetes-version chooses another"));
  };
  if (!input.differing_versions.empty()) {
    const std::string versions = absl::StrJoin(input.differing_versions, ", ");
    note_default(absl::StrCat(Printable(versions, kShownBytesMax),
                              input.differing_versions.size() == 1 ? " or nothing" : ""),
                 "the kubelets of the nodes");
  }
  if (input.server_version.empty()) return draft.scheduler;
  // What follows the three numbers, as in v1.36.2-gke.100, is the provider's.
  const std::string plain = input.server_version.substr(0, input.server_version.find_first_of("+-"));
  const absl::StatusOr<api::KubernetesVersion> version = api::ParseKubernetesVersion(plain);
  if (!version.ok() || version->is_warning) {
    note_default(Printable(input.server_version, kShownBytesMax), input.server_version_of);
    return draft.scheduler;
  }
  if (version->line == api::kDefaultKubernetesLine) return draft.scheduler;
  SchedulerChoice choice = request.scheduler;
  const bool is_read_once = std::any_of(choice.other_configs.begin(), choice.other_configs.end(),
                                        [](const std::string& path) { return codec::IsDescriptor(path); });
  if (is_read_once || (choice.config.has_value() && codec::IsDescriptor(*choice.config))) {
    draft.plan.notices.push_back(absl::StrCat("warning: the input is from Kubernetes ",
                                              Printable(input.server_version, kShownBytesMax), " by ",
                                              input.server_version_of,
                                              ", which is not followed beside a configuration that can be "
                                              "read once; --kubernetes-version chooses it"));
    return draft.scheduler;
  }
  choice.kubernetes_version = std::string(api::KubernetesLineName(version->line));
  RETURN_IF_ERROR(SetScheduler(choice, draft.plan));
  draft.plan.notices.push_back(
      absl::StrCat("note: Kubernetes ", *choice.kubernetes_version, " is simulated, as the input is from ",
                   Printable(input.server_version, kShownBytesMax), " by ", input.server_version_of,
                   "; --kubernetes-version chooses another"));
  return absl::OkStatus();
}

absl::StatusOr<Draft> DraftOfFiles(const RunRequest& request) {
  if (request.files.empty()) return Invalid("expected a scenario, or a cluster with --filename (-f)");
  if (request.recorded.has_value())
    return Invalid("--follow and --reschedule: expected a recording of kwok or an audit log before them");
  if (request.case_name.has_value()) return Invalid("--case: expected a file of cases before it");
  std::vector<std::string> read_paths;
  if (request.scheduler.config.has_value()) read_paths.push_back(*request.scheduler.config);
  read_paths.insert(read_paths.end(), request.scheduler.other_configs.begin(),
                    request.scheduler.other_configs.end());
  Plan plan;
  absl::Status scheduler = SetScheduler(request.scheduler, plan);
  if (request.scheduler.kubernetes_version.has_value()) RETURN_IF_ERROR(scheduler);
  plan.simulation.controllers.persistent_volumes = PersistentVolumeOptions();
  plan.simulation.controllers.resource_claims = ResourceClaimOptions();
  plan.simulation.controllers.disruption = true;
  plan.simulation.controllers.nodes = true;
  plan.simulation.ends_terminating_pods = true;
  plan.simulation.controllers.workloads = true;
  plan.read_paths = std::move(read_paths);
  return Draft{.plan = std::move(plan), .input = ClusterInputOptions(), .scheduler = std::move(scheduler)};
}

absl::StatusOr<Draft> DraftOfScenario(const RunRequest& request, std::string text, absl::string_view file) {
  if (request.case_name.has_value())
    return Invalid(absl::StrCat("--case: ", file, " is a scenario, expected a file of cases"));
  Scenario scenario;
  ASSIGN_OR_RETURN(scenario, ReadScenario(std::move(text), file, request.scheduler));
  Plan plan;
  plan.simulation = std::move(scenario.simulation);
  plan.timeline = std::move(scenario.timeline);
  plan.arrivals = std::move(scenario.arrivals);
  plan.window = scenario.window;
  plan.usages = std::move(scenario.usages);
  plan.metrics = std::move(scenario.metrics);
  plan.header.feature_gates = std::move(scenario.feature_gates);
  plan.notices = std::move(scenario.notices);
  plan.read_paths = std::move(scenario.read_paths);
  plan.read_paths.push_back(request.scenario);
  return Draft{.plan = std::move(plan), .input = std::move(scenario.input), .start = scenario.start};
}

// Looks for the case that was asked for in a file that is read document by document.
class CaseSearch {
 public:
  // Both must outlive the search.
  CaseSearch(const RunRequest& request, absl::string_view file) : request_(request), file_(file) {}

  // Looks at the next document. What is wrong with it, or with the request, is told by Take.
  void Look(const codec::Document& document) {
    if (status_.ok()) status_ = Read(document);
  }

  // After the last document. A file with several cases needs the name of one.
  absl::StatusOr<Draft> Take() {
    RETURN_IF_ERROR(status_);
    RETURN_IF_ERROR(Start());
    if (names_.empty()) {
      return Invalid(absl::StrCat(
          file_,
          ": expected a scenario, a case of the conformance suite, a recording of kwok or an audit log, "
          "got an empty file"));
    }
    if (!chosen_.has_value() || (!request_.case_name.has_value() && names_.size() > 1)) {
      return Invalid(absl::StrCat(file_, ": has ", names_.size(),
                                  " cases, expected the name of one with --case", ", such as ", names_[0]));
    }
    if (!chosen_->config_error.empty()) return Invalid(chosen_->config_error);
    if (!chosen_->extenders.empty()) {
      return Invalid(absl::StrCat(chosen_->place, ": case ", chosen_->name,
                                  ": has extenders, whose answers are in its trace: conform runs it"));
    }
    return DraftOf(*std::move(chosen_));
  }

 private:
  // Once: what a case asks of the request.
  absl::Status Start() {
    if (reader_ != nullptr) return absl::OkStatus();
    const SchedulerChoice& scheduler = request_.scheduler;
    if (!request_.files.empty() || request_.bound.has_value() || scheduler.config.has_value() ||
        scheduler.feature_gates.has_value() || scheduler.extenders.any() || !request_.controllers ||
        !scheduler.other_configs.empty()) {
      return Invalid(absl::StrCat(file_,
                                  ": expected a case without -f, --bound, --config, --controllers, "
                                  "--extender-live, --extender-replay, --feature-gates and "
                                  "--other-scheduler: it has its own"));
    }
    // For the line and what is to be said of it; all else is in the case.
    SchedulerChoice choice = scheduler;
    // Which plugins are enabled says the case.
    choice.plugins_are_shared = true;
    ASSIGN_OR_RETURN(scheduler_, LoadScheduler(choice));
    reader_ = std::make_unique<CaseFileReader>(file_, scheduler_.behavior.line, scheduler_.plugins);
    return absl::OkStatus();
  }

  absl::Status Read(const codec::Document& document) {
    RETURN_IF_ERROR(Start());
    std::optional<Case> test_case;
    ASSIGN_OR_RETURN(test_case, reader_->Read(document));
    if (!test_case.has_value()) return absl::OkStatus();
    names_.push_back(test_case->name);
    if (request_.case_name.value_or(test_case->name) == test_case->name) chosen_ = std::move(test_case);
    return absl::OkStatus();
  }

  Draft DraftOf(Case test_case) {
    Plan plan;
    plan.simulation = OptionsOf(test_case, request_.reference);
    plan.steps = std::move(test_case.steps);
    plan.notices = std::move(scheduler_.notices);
    plan.read_paths = {request_.scenario};
    // The order of what the line has is what counts; when the rest would have come does not.
    std::erase(test_case.objects, nullptr);
    for (const api::ObjectPtr& object : test_case.objects) {
      if (object->kind != api::Kind::kPod) continue;
      const auto& pod = static_cast<const api::Pod&>(*object);
      if (!pod.node_name.empty() && !pod.IsTerminal()) ++plan.input.bound_pod_count;
    }
    plan.input.objects = std::move(test_case.objects);
    const absl::Time start = plan.simulation.zero;
    return Draft{.plan = std::move(plan), .start = start};
  }

  const RunRequest& request_;
  const absl::string_view file_;
  ChosenScheduler scheduler_;
  std::unique_ptr<CaseFileReader> reader_;
  std::optional<Case> chosen_;
  std::vector<std::string> names_;
  absl::Status status_;
};

// The API server's answer to the first object of the input that it refused, with the object's place.
absl::Status RefusedInput(const Simulation& simulation, const ClusterInput& input) {
  const std::vector<Simulation::Refused>& refused = simulation.refused();
  if (refused.empty() || input.places.empty()) return absl::OkStatus();
  return Invalid(absl::StrCat(
      input.PlaceOf(refused[0].index), ": ", Printable(refused[0].message),
      refused.size() == 1 ? "" : absl::StrCat(" (and ", refused.size() - 1, " more objects were refused)")));
}

// A scenario, a case, a recording or an audit log, whichever it is.
absl::StatusOr<Draft> DraftOfDocument(const RunRequest& request) {
  // A pipe can be read once, and what is in it decides what it is.
  std::string text;
  ASSIGN_OR_RETURN(text, codec::ReadFile(request.scenario));
  const std::string file = request.scenario == "-" ? "stdin" : request.scenario;
  if (IsRecordedRun(text, file)) {
    Plan plan;
    ASSIGN_OR_RETURN(plan, MakeRecordingPlan(request, std::move(text), file));
    const absl::Time zero = plan.recording->zero;
    return Draft{.plan = std::move(plan), .start = zero};
  }
  if (request.recorded.has_value()) {
    return Invalid(absl::StrCat(*request.recorded == RecordedRun::kFollow ? "--follow" : "--reschedule", ": ",
                                file, " is no recording of kwok and no audit log, expected one"));
  }
  ScenarioCheck check(file);
  CaseSearch cases(request, file);
  // Cases may be large, so they are read at once; a scenario is read again.
  const absl::Status read =
      codec::ReadKeptText(text, file, CaseFileReader::Options(), [&](const codec::Document& document) {
        const absl::Status looked = document.is_entry ? absl::OkStatus() : check.Look(document);
        if (looked.ok() && !check.is_scenario()) cases.Look(document);
        return looked;
      });
  RETURN_IF_ERROR(read);
  return check.is_scenario() ? DraftOfScenario(request, std::move(text), file) : cases.Take();
}

// Stages of a kind that nobody has are never played.
void WarnOfUnknownKinds(const std::vector<Stage>& stages, Plan& plan) {
  for (const Stage& stage : stages) {
    if (api::FindKind(stage.api_version, stage.kind) != nullptr) continue;
    std::set<std::string> kinds;
    for (const api::ObjectPtr& object : plan.input.objects) kinds.insert(object->kind_name);
    if (kinds.count(stage.kind) > 0 || plan.input.other_kinds.count(stage.kind) > 0) continue;
    std::vector<absl::string_view> names = {"Pod", "Node"};
    for (const std::string& kind : kinds) names.push_back(kind);
    const absl::string_view nearest = NearestName(stage.kind, names);
    // A timeline may create objects of other kinds.
    if (nearest.empty() && !plan.timeline.empty()) continue;
    plan.notices.push_back(absl::StrCat(
        "warning: ", stage.file, ": Stage ", Printable(stage.name, kShownBytesMax),
        ": resourceRef: there is no kind ", Printable(stage.kind, kShownBytesMax), " in ",
        Printable(stage.api_version, kShownBytesMax), " and none in the input, so it is never played",
        nearest.empty() || nearest == stage.kind ? "" : absl::StrCat("; did you mean ", nearest, "?")));
  }
}

// kwok leaves stages alone that do not say whose they are.
void WarnOfMissingSelectors(Plan& plan) {
  if (plan.simulation.stages == nullptr) return;
  for (const Stage& stage : *plan.simulation.stages) {
    if (stage.has_selector) continue;
    plan.notices.push_back(absl::StrCat("warning: ", stage.file, ": Stage ",
                                        Printable(stage.name, kShownBytesMax),
                                        ": spec has no selector, so it is never played"));
  }
}

absl::Status SetStages(const RunRequest& request, Plan& plan) {
  if (request.stages.empty()) return absl::OkStatus();
  StageFile read;
  const std::vector<std::string> sets = DefaultStageSetNames();
  for (const std::string& stages : request.stages) {
    RETURN_IF_ERROR(ReadStagesOrSet(stages, read));
    // A file of a set's name is not read.
    if (std::find(sets.begin(), sets.end(), stages) == sets.end()) plan.read_paths.push_back(stages);
  }
  AppendStageNotices(read, plan.notices);
  if (!read.usages.empty()) plan.usages = std::move(read.usages);
  if (!read.metrics.empty()) plan.metrics = std::move(read.metrics);
  if (read.stages.empty()) return absl::OkStatus();
  WarnOfUnknownKinds(read.stages, plan);
  plan.simulation.stages = std::make_shared<const std::vector<Stage>>(std::move(read.stages));
  return absl::OkStatus();
}

absl::Status ReadAutoscalerOf(const RunRequest& request, Plan& plan) {
  if (request.autoscaler.empty()) return absl::OkStatus();
  if (request.case_name.has_value())
    return Invalid("--autoscaler: expected no case, which has its own cluster");
  AutoscalerOptions options;
  std::vector<std::string> warnings;
  ASSIGN_OR_RETURN(options, ReadAutoscalerFile(request.autoscaler, warnings));
  for (const std::string& warning : warnings) plan.notices.push_back(absl::StrCat("warning: ", warning));
  plan.read_paths.push_back(request.autoscaler);
  plan.simulation.autoscaler = std::make_shared<const AutoscalerOptions>(std::move(options));
  // Pods leave nodes that are gone.
  plan.simulation.controllers.nodes = true;
  return absl::OkStatus();
}

// Gives pools the nodes of the input that they are like.
absl::Status SetPoolTemplates(Plan& plan) {
  if (plan.simulation.autoscaler == nullptr) return absl::OkStatus();
  AutoscalerOptions options = *plan.simulation.autoscaler;
  RETURN_IF_ERROR(SetLikeTemplates(plan.input.objects, options));
  plan.simulation.autoscaler = std::make_shared<const AutoscalerOptions>(std::move(options));
  return absl::OkStatus();
}

absl::Status CheckUsage(const Plan& plan) {
  if (!plan.usage_interval.has_value()) return absl::OkStatus();
  if (plan.notes_metrics && plan.metrics.empty())
    return Invalid("--usage: a .prom file is for Metric objects, expected one with --stage, got none");
  if (!plan.notes_metrics && plan.usages.empty())
    return Invalid("--usage: expected a ResourceUsage or ClusterResourceUsage with --stage, got none");
  return absl::OkStatus();
}

// What nodes use, or what they say in their metrics.
class UsageNotes {
 public:
  // `simulation` must outlive it.
  UsageNotes(Plan& plan, Simulation& simulation)
      : meter_(std::move(plan.usages), simulation.loop(), Rng(simulation.options().seed),
               simulation.server()) {
    if (!plan.usage_interval.has_value()) return;
    const absl::Duration interval = *plan.usage_interval;
    if (plan.notes_metrics) {
      metrics_.emplace(std::move(plan.metrics), meter_, interval, simulation.loop(), simulation.server(),
                       Rng(simulation.options().seed));
      metrics_->Start();
    } else {
      table_.emplace(meter_, interval, simulation.loop(), simulation.server());
      table_->Start();
    }
  }

  void AddTo(Report& report) const {
    if (table_.has_value()) report.usage_csv = table_->Csv();
    if (metrics_.has_value()) report.usage_csv = metrics_->Text();
    report.warnings.insert(report.warnings.end(), meter_.warnings().begin(), meter_.warnings().end());
    if (!metrics_.has_value()) return;
    report.warnings.insert(report.warnings.end(), metrics_->warnings().begin(), metrics_->warnings().end());
  }

 private:
  UsageMeter meter_;
  std::optional<UsageTable> table_;
  std::optional<MetricTable> metrics_;
};

// Plays the Stage objects of the input, in the order of their creation.
absl::Status SetStagesOfInput(Plan& plan) {
  StageFile read;
  for (size_t i = 0; i < plan.input.objects.size(); ++i) {
    const api::Object& object = *plan.input.objects[i];
    const bool is_stage = object.kind == api::Kind::kOther && object.kind_name == "Stage" &&
                          api::GroupOf(object.api_version) == "kwok.x-k8s.io";
    if (!is_stage) continue;
    RETURN_IF_ERROR(ReadStagesOfText(object.json->ToString(),
                                     absl::StrCat(plan.input.PlaceOf(i), ": Stage ", object.metadata.name),
                                     read));
  }
  if (!read.stages.empty())
    plan.simulation.stages = std::make_shared<const std::vector<Stage>>(std::move(read.stages));
  return absl::OkStatus();
}

// A cluster of kwok plays the Stage objects that it has.
void WarnOfUnplayedStages(Plan& plan) {
  const auto found = plan.input.other_kinds.find("Stage");
  if (found == plan.input.other_kinds.end() || plan.simulation.stages != nullptr) return;
  plan.notices.push_back(
      absl::StrCat("warning: the input has ", found->second,
                   " Stage objects, which are not played; --stage FILE plays those of a file"));
}

}  // namespace

std::vector<std::string> RunRequest::Paths() const {
  std::vector<std::string> paths = files;
  if (!scenario.empty()) paths.push_back(scenario);
  if (scheduler.config.has_value()) paths.push_back(*scheduler.config);
  paths.insert(paths.end(), scheduler.other_configs.begin(), scheduler.other_configs.end());
  paths.insert(paths.end(), scheduler.plugins.begin(), scheduler.plugins.end());
  if (!scheduler.extenders.replay.empty()) paths.push_back(scheduler.extenders.replay);
  if (!scheduler.recorder.empty()) paths.push_back(scheduler.recorder);
  if (!autoscaler.empty()) paths.push_back(autoscaler);
  paths.insert(paths.end(), stages.begin(), stages.end());
  return paths;
}

absl::Status SetScheduler(const SchedulerChoice& choice, Plan& plan) {
  ChosenScheduler scheduler;
  ASSIGN_OR_RETURN(scheduler, LoadScheduler(choice));
  RETURN_IF_ERROR(ChooseExtenders(choice.config.has_value() ? *choice.config + ": " : "", choice.extenders,
                                  scheduler.config.config, plan.simulation.extenders));
  plan.simulation.line = scheduler.behavior;
  plan.simulation.config = std::move(scheduler.config);
  plan.simulation.config_file = choice.config.value_or("");
  plan.simulation.other_schedulers = std::move(scheduler.others);
  plan.simulation.more_plugins = std::move(scheduler.plugins.plugins);
  plan.header.feature_gates = std::move(scheduler.feature_gates);
  plan.notices = std::move(scheduler.notices);
  return absl::OkStatus();
}

void AddInputNotices(const ClusterInput& input, Plan& plan) {
  for (const std::string& warning : input.warnings)
    plan.notices.push_back(absl::StrCat("warning: ", warning));
  for (const std::string& note : input.notes) plan.notices.push_back(absl::StrCat("note: ", note));
}

namespace {

// Those that the pods of a cluster may name; none where another program is to judge the configuration.
std::vector<std::string> SchedulerNames(const SimulationOptions& options) {
  std::vector<std::string> names;
  const auto add = [&names](const codec::LoadedSchedulerConfig& config) {
    for (const api::KubeSchedulerProfile& profile : config.config.profiles)
      names.push_back(profile.scheduler_name);
  };
  add(options.config);
  for (const OtherScheduler& other : options.other_schedulers) add(other.config);
  return names;
}

// The same where it is the input that says by its version which scheduler judges the configuration.
std::vector<std::string> SchedulerNames(const RunRequest& request, const Draft& draft) {
  if (draft.scheduler.ok()) return SchedulerNames(draft.plan.simulation);
  SchedulerChoice choice = request.scheduler;
  const bool is_read_once = choice.config.has_value() && codec::IsDescriptor(*choice.config);
  for (int i = 0; i < api::kKubernetesLineCount; ++i) {
    const auto line = static_cast<api::KubernetesLine>(i);
    choice.kubernetes_version = std::string(api::KubernetesLineName(line));
    Plan plan;
    if (!is_read_once && SetScheduler(choice, plan).ok()) return SchedulerNames(plan.simulation);
  }
  return {};
}

// The plan but for its header.
absl::StatusOr<Plan> ReadPlan(const RunRequest& asked) {
  Resolved resolved;
  ASSIGN_OR_RETURN(resolved, Resolve(asked));
  const RunRequest& request = resolved.request;
  RETURN_IF_ERROR(RefuseSecondStandardInput(request.Paths()));
  Draft draft;
  ASSIGN_OR_RETURN(draft, request.scenario.empty() ? DraftOfFiles(request) : DraftOfDocument(request));
  Plan& plan = draft.plan;
  if (!draft.input.has_value() && !resolved.kwokctl_path.empty())
    return Invalid(absl::StrCat(
        "--config: expected no configuration of kwokctl beside ",
        plan.recording != nullptr ? "a recording, but one of the scheduler" : "a case, which has its own"));
  RETURN_IF_ERROR(ReadAutoscalerOf(request, plan));
  if (draft.input.has_value()) {
    ClusterInputOptions& input = *draft.input;
    for (const std::string& path : request.files) input.paths.push_back({.path = path});
    plan.read_paths.insert(plan.read_paths.end(), request.files.begin(), request.files.end());
    RETURN_IF_ERROR(RefuseSecondStandardInput(plan.read_paths));
    input.allow_empty = request.allow_empty;
    // Nodes may come later.
    if (plan.simulation.autoscaler != nullptr) input.has_timeline = true;
    if (request.bound.has_value()) input.bound = *request.bound;
    input.schedulers = SchedulerNames(request, draft);
    ASSIGN_OR_RETURN(plan.input, ReadClusterInput(input));
    RETURN_IF_ERROR(FollowServerVersion(request, draft));
    for (std::string& warning : IgnoredGroupWarnings(plan.input, plan.simulation.line))
      plan.input.warnings.push_back(std::move(warning));
    plan.notices.insert(plan.notices.begin(), resolved.notices.begin(), resolved.notices.end());
    if (!resolved.kwokctl_path.empty()) plan.read_paths.push_back(resolved.kwokctl_path);
    AddInputNotices(plan.input, plan);
  }
  RETURN_IF_ERROR(SetPoolTemplates(plan));
  RETURN_IF_ERROR(SetStages(request, plan));
  if (resolved.plays_stages_of_input) RETURN_IF_ERROR(SetStagesOfInput(plan));
  WarnOfMissingSelectors(plan);
  WarnOfUnplayedStages(plan);
  plan.usage_interval = request.usage_interval;
  plan.notes_metrics = request.notes_metrics;
  RETURN_IF_ERROR(CheckUsage(plan));
  RETURN_IF_ERROR(SetTimes(request, draft.start, plan));
  if (!request.controllers) plan.simulation.controllers = ControllerOptions();
  if (request.seed.has_value()) plan.simulation.seed = *request.seed;
  if (request.variation.has_value()) plan.simulation.variation = *request.variation;
  if (request.faults.has_value()) plan.simulation.faults = *request.faults;
  plan.simulation.reference = request.reference;
  plan.check_wakeups = request.check_wakeups;
  plan.counters = request.counters;
  plan.simulation.trace_level = TraceLevel::kOff;
  RETURN_IF_ERROR(CheckOtherSchedulers(request, plan));
  plan.read_paths.insert(plan.read_paths.end(), request.scheduler.plugins.begin(),
                         request.scheduler.plugins.end());
  if (!request.scheduler.extenders.replay.empty())
    plan.read_paths.push_back(request.scheduler.extenders.replay);
  return std::move(draft.plan);
}

// The same where a recorder decides.
absl::StatusOr<Plan> ReadRecorderPlan(RunRequest request) {
  // The program is part of the input.
  RETURN_IF_ERROR(codec::ReadFile(request.scheduler.recorder).status());
  Recorder recorder;
  ASSIGN_OR_RETURN(recorder, DescribeRecorder(request.scheduler.recorder));
  const std::string line(api::KubernetesLineName(recorder.line));
  request.scheduler.default_line = recorder.line;
  const bool is_open = request.scenario.empty() && !request.scheduler.kubernetes_version.has_value();
  if (is_open) request.scheduler.kubernetes_version = line;
  Plan plan;
  ASSIGN_OR_RETURN(plan, ReadPlan(request));
  if (plan.simulation.line.line != recorder.line) {
    return Invalid(absl::StrCat("--recorder: ", recorder.path, " is of Kubernetes ", line,
                                ", expected one of ", api::KubernetesLineName(plan.simulation.line.line),
                                ", which the run is to have"));
  }
  RETURN_IF_ERROR(CheckRecorderLimits(request, plan));
  plan.read_paths.push_back(recorder.path);
  plan.header.recorder = recorder.ToString();
  plan.recorder = std::move(recorder);
  return plan;
}

}  // namespace

absl::StatusOr<Plan> MakePlan(const RunRequest& request) {
  codec::InputLog log(request.expected_inputs);
  Plan plan;
  ASSIGN_OR_RETURN(plan, request.scheduler.recorder.empty() ? ReadPlan(request) : ReadRecorderPlan(request));
  RETURN_IF_ERROR(log.CheckComplete());
  plan.header.program = std::string(ProgramVersion());
  plan.header.arguments = ArgumentsOf(request);
  plan.header.inputs = log.files();
  plan.header.kubernetes_version = std::string(api::KubernetesLineName(plan.simulation.line.line));
  plan.header.latency_model = plan.simulation.latency.ToString();
  plan.header.seed = plan.simulation.seed;
  return plan;
}

std::vector<std::string> SnapshotPaths(const Plan& plan) {
  std::vector<std::string> paths;
  for (const TimelineEntry& entry : plan.timeline) {
    const auto* snapshot = std::get_if<SaveSnapshot>(&entry.action);
    if (snapshot != nullptr) paths.push_back(snapshot->path);
  }
  return paths;
}

namespace {

// `simulation` stays the caller's.
absl::StatusOr<Report> RunPlanIn(std::unique_ptr<Simulation>& simulation, Plan& plan) {
  const bool shows_objects =
      plan.on_objects != nullptr || plan.on_start != nullptr || !SnapshotPaths(plan).empty();
  plan.simulation.all_pods_run = shows_objects && plan.simulation.controllers.workloads;
  if (plan.series != nullptr) plan.series->AddTo(plan.simulation);
  plan.header.level = plan.simulation.trace_level;
  if (plan.header.level != TraceLevel::kOff && plan.simulation.trace_sink != nullptr)
    plan.simulation.trace_sink(HeaderLine(plan.header));
  ASSIGN_OR_RETURN(simulation, Simulation::Make(std::move(plan.simulation)));
  if (plan.series != nullptr) plan.series->Attach(*simulation);
  if (plan.on_made != nullptr) plan.on_made(*simulation);
  RunHistory history(plan.window);
  const bool has_history = plan.window.has_value() || plan.on_history != nullptr;
  if (has_history) history.Attach(*simulation);
  if (plan.scheduler_metrics != nullptr) plan.scheduler_metrics->Attach(*simulation);
  if (plan.cluster_events != nullptr) plan.cluster_events->Attach(*simulation);
  std::optional<WakeupCheck> wakeups;
  if (plan.check_wakeups) wakeups.emplace(*simulation);
  std::optional<RescheduleScript> reschedule;
  if (plan.recording != nullptr) reschedule.emplace(*plan.recording, *simulation);
  simulation->CreateAndRelease(plan.input.objects);
  RETURN_IF_ERROR(RefusedInput(*simulation, plan.input));
  simulation->AddSteps(std::move(plan.steps));
  Timeline timeline(std::move(plan.timeline), *simulation);
  timeline.set_snapshot_sink(plan.on_snapshot);
  simulation->set_script(&timeline);
  if (reschedule.has_value()) simulation->set_script(&*reschedule);
  const UsageNotes usage(plan, *simulation);
  Arrivals arrivals(std::move(plan.arrivals), *simulation);
  if (plan.on_start != nullptr) plan.on_start(*simulation);
  if (plan.scheduler_metrics != nullptr) plan.scheduler_metrics->Start();
  simulation->Run();
  RETURN_IF_ERROR(simulation->failure());
  if (plan.series != nullptr) plan.series->Finish();
  if (!reschedule.has_value()) timeline.Finish();
  Report report = MakeReport(*simulation, plan.input, plan.pod_rows);
  report.header = std::move(plan.header);
  report.failures.insert(report.failures.end(), timeline.failures().begin(), timeline.failures().end());
  for (std::string& failure : arrivals.Failures()) report.failures.push_back(std::move(failure));
  if (plan.scheduler_metrics != nullptr) plan.scheduler_metrics->Finish();
  if (plan.cluster_events != nullptr) plan.cluster_events->Finish();
  if (has_history) history.Finish();
  if (plan.window.has_value()) {
    report.window = history.Summary();
    if (report.window->from >= report.window->until) {
      report.warnings.push_back(absl::StrCat(
          "measure.from: the run ended at ", absl::FormatDuration(report.window->until), ", before ",
          absl::FormatDuration(report.window->from), ", so nothing was measured; `end` makes it go on"));
    }
  }
  if (plan.on_history != nullptr) plan.on_history(history);
  report.drains = timeline.Drains();
  report.warnings.insert(report.warnings.end(), timeline.warnings().begin(), timeline.warnings().end());
  usage.AddTo(report);
  if (reschedule.has_value()) report.recording = reschedule->Compare();
  if (plan.counters) report.work = MakeWorkReport(*simulation);
  if (wakeups.has_value()) report.missed_wakeups = wakeups->findings();
  if (plan.on_end != nullptr) plan.on_end(*simulation);
  if (plan.on_objects != nullptr) plan.on_objects(ServedObjects(simulation->server()), simulation->now());
  if (simulation->trace().is_full()) report.trace_digest = simulation->trace().TraceDigest();
  return report;
}

}  // namespace

absl::StatusOr<Report> RunPlan(Plan plan) {
  if (plan.recorder.has_value()) return RunByRecorder(std::move(plan), RunPlan);
  std::unique_ptr<Simulation> simulation;
  absl::StatusOr<Report> report = RunPlanIn(simulation, plan);
  if (plan.is_last) {
    using Built = std::pair<std::unique_ptr<Simulation>, std::vector<api::ObjectPtr>>;
    // Volatile, so that the pointer stays, and what it leads to counts as in use.
    [[maybe_unused]] static Built* volatile kept = nullptr;
    kept = new Built(std::move(simulation), std::move(plan.input.objects));
  }
  return report;
}

}  // namespace schedsim::sim
