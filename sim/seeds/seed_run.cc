#include "sim/seeds/seed_run.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/pod.h"
#include "core/base/status_macros.h"
#include "core/codec/text/reader.h"
#include "sim/seeds/invariants.h"

namespace schedsim::sim {
namespace {

using codec::Value;

// The pods of the input by name, and whether each is on a node from the start.
std::map<std::string, bool> PodsOf(const ClusterInput& input) {
  std::map<std::string, bool> pods;
  for (const api::ObjectPtr& object : input.objects) {
    if (object->kind == api::Kind::kPod)
      pods[object->Key()] = !static_cast<const api::Pod&>(*object).node_name.empty();
  }
  return pods;
}

// Where the pods of the API server are that the scheduler had to place. `given`: see PodsOf.
void AddPods(const Simulation& simulation, const std::map<std::string, bool>& given, SeedRun& run) {
  simulation.server().ForEachPod([&](const api::Pod& pod) {
    const bool waits = pod.node_name.empty() && !pod.IsTerminal() && simulation.ResponsibleFor(pod);
    const api::OwnerReference* maker = ControllerOf(pod);
    const std::string key = pod.Key();
    const auto pod_of_input = given.find(key);
    const bool is_named = maker == nullptr || pod_of_input != given.end();
    const bool was_bound = pod_of_input != given.end() && pod_of_input->second;
    if (is_named && !was_bound && (waits || !pod.node_name.empty())) run.placements[key] = pod.node_name;
    if (!waits) return;
    ++run.pending_pods[is_named ? key
                                : absl::StrCat("pods of ", maker->kind, " ", pod.metadata.namespace_, "/",
                                               maker->name)];
  });
}

void AddReport(const Report& report, SeedRun& run) {
  run.nodes = report.node_count;
  run.bound = report.bound_count;
  run.pending = report.pending_count;
  run.evicted = report.evicted_count;
  run.attempts = report.attempt_count;
  run.virtual_time_ms = absl::ToInt64Milliseconds(report.virtual_time);
  run.digest = report.digest;
  for (const Report::Resource& resource : report.totals) {
    if (resource.allocatable <= 0) continue;
    run.utilization.emplace_back(resource.name,
                                 static_cast<int64_t>(resource.requested * 10'000 / resource.allocatable));
  }
  run.problems.insert(run.problems.end(), report.failures.begin(), report.failures.end());
}

int64_t IntOf(const Value& map, absl::string_view key) {
  const Value* value = map.Find(key);
  int64_t number = 0;
  return value != nullptr && absl::SimpleAtoi(value->text, &number) ? number : 0;
}

std::string TextOf(const Value& map, absl::string_view key) {
  const Value* value = map.Find(key);
  return value == nullptr ? "" : std::string(value->text);
}

// The members of the map `key`, as names with numbers.
template <typename Add>
void ForEachNumber(const Value& map, absl::string_view key, const Add& add) {
  const Value* value = map.Find(key);
  if (value == nullptr) return;
  for (const codec::Member& member : value->members) {
    int64_t number = 0;
    if (absl::SimpleAtoi(member.value.text, &number)) add(std::string(member.key), number);
  }
}

void WriteNearness(absl::string_view name, const std::optional<SeedRun::Nearness>& nearness,
                   codec::JsonWriter& json) {
  if (!nearness.has_value()) return;
  json.Key(name).BeginObject().Field("sameNode", nearness->same_node);
  json.Field("samePending", nearness->same_pending).EndObject();
}

// All but the placements, into an object that is begun.
void WriteFields(const SeedRun& run, codec::JsonWriter& json) {
  json.Field("seed", static_cast<int64_t>(run.seed)).Field("error", run.error);
  json.Field("nodes", run.nodes).Field("bound", run.bound).Field("pending", run.pending);
  json.Field("evicted", run.evicted);
  json.Field("attempts", run.attempts).Field("virtualTimeMilliseconds", run.virtual_time_ms);
  json.Key("utilizationHundredths").BeginObject();
  for (const auto& [name, value] : run.utilization) json.Field(name, value);
  json.EndObject().Key("pendingPods").BeginObject();
  for (const auto& [name, count] : run.pending_pods) json.Field(name, count);
  json.EndObject();
  WriteNearness("toReference", run.to_reference, json);
  WriteNearness("toRunBefore", run.to_run_before, json);
  json.Key("faults").BeginObject();
  for (size_t i = 0; i < kFaultCount; ++i)
    if (run.faults[i] > 0) json.Field(FaultName(static_cast<Fault>(i)), run.faults[i]);
  json.EndObject().Key("problems").BeginArray();
  for (const std::string& problem : run.problems) json.String(problem);
  json.EndArray().Key("settled").Bool(run.had_settled).Field("digest", run.digest);
}

SeedRun RunOf(const Value& root) {
  SeedRun run;
  run.seed = static_cast<uint64_t>(IntOf(root, "seed"));
  run.error = TextOf(root, "error");
  run.nodes = IntOf(root, "nodes");
  run.bound = IntOf(root, "bound");
  run.pending = IntOf(root, "pending");
  run.evicted = IntOf(root, "evicted");
  run.attempts = IntOf(root, "attempts");
  run.virtual_time_ms = IntOf(root, "virtualTimeMilliseconds");
  run.digest = TextOf(root, "digest");
  ForEachNumber(root, "utilizationHundredths",
                [&run](std::string name, int64_t value) { run.utilization.emplace_back(name, value); });
  ForEachNumber(root, "pendingPods",
                [&run](std::string name, int64_t count) { run.pending_pods[name] = count; });
  ForEachNumber(root, "faults", [&run](const std::string& name, int64_t count) {
    for (size_t i = 0; i < kFaultCount; ++i)
      if (FaultName(static_cast<Fault>(i)) == name) run.faults[i] = count;
  });
  if (const Value* settled = root.Find("settled")) run.had_settled = settled->boolean;
  if (const Value* problems = root.Find("problems"))
    for (const Value& problem : problems->items) run.problems.emplace_back(problem.text);
  return run;
}

}  // namespace

absl::StatusOr<SeedRun> RunSeed(Plan plan, uint64_t seed) {
  SeedRun run;
  run.seed = seed;
  const std::map<std::string, bool> given = PodsOf(plan.input);
  std::unique_ptr<Invariants> invariants;
  plan.simulation.seed = seed;
  plan.pod_rows = PodRows::kNone;
  plan.on_made = [&invariants](Simulation& simulation) {
    invariants = std::make_unique<Invariants>(simulation);
  };
  plan.on_end = [&](const Simulation& simulation) {
    run.problems = invariants->Check();
    run.had_settled = invariants->had_settled();
    AddPods(simulation, given, run);
    if (simulation.faults() == nullptr) return;
    for (size_t i = 0; i < kFaultCount; ++i)
      run.faults[i] = simulation.faults()->count(static_cast<Fault>(i));
  };
  Report report;
  ASSIGN_OR_RETURN(report, RunPlan(std::move(plan)));
  AddReport(report, run);
  return run;
}

SeedRun BrokenRun(uint64_t seed, const absl::Status& status) {
  SeedRun run;
  run.seed = seed;
  run.error = std::string(status.message());
  return run;
}

SeedRun::Nearness Compare(const Placements& one, const Placements& other) {
  SeedRun::Nearness nearness;
  for (const auto& [key, node] : one) {
    const auto found = other.find(key);
    if (found == other.end() || found->second != node) continue;
    ++(node.empty() ? nearness.same_pending : nearness.same_node);
  }
  return nearness;
}

void WriteSeedRun(const SeedRun& run, codec::JsonWriter& json) {
  json.BeginObject();
  WriteFields(run, json);
  json.EndObject();
}

std::string SeedRunToText(const SeedRun& run) {
  codec::JsonWriter json;
  json.BeginObject();
  WriteFields(run, json);
  json.Key("placements").BeginObject();
  for (const auto& [pod, node] : run.placements) json.Field(pod, node);
  json.EndObject().EndObject();
  return json.text();
}

absl::StatusOr<SeedRun> SeedRunFromText(const std::string& text) {
  std::optional<SeedRun> run;
  RETURN_IF_ERROR(codec::ReadText(text, "run.json", {}, [&run](const codec::Document& document) {
    run = RunOf(document.root);
    if (const Value* placements = document.root.Find("placements"))
      for (const codec::Member& member : placements->members)
        run->placements[std::string(member.key)] = std::string(member.value.text);
    return absl::OkStatus();
  }));
  if (!run.has_value()) return absl::InvalidArgumentError("run.json: expected a run, got nothing");
  return *std::move(run);
}

}  // namespace schedsim::sim
