#include "sim/bench/workload_op_reader.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/go_text.h"

namespace schedsim::sim {

using codec::StrictReader;
using codec::Value;

namespace {

// The text below a value that begins with $. Documents are no deeper than codec::kDepthMax.
void AddParams(const Value& value, std::vector<std::string>& params) {
  if (value.is_string() && absl::StartsWith(value.text, "$")) params.emplace_back(value.text);
  for (const Value& item : value.items) AddParams(item, params);
  for (const codec::Member& member : value.members) AddParams(member.value, params);
}

}  // namespace

// What reads an operation, or why it cannot be simulated.
struct WorkloadOpReader::Opcode {
  absl::string_view name;
  WorkloadOp (WorkloadOpReader::*read)(const Value& value, const std::string& path,
                                       StrictReader& reader) = nullptr;
  absl::string_view why;
};

const WorkloadOpReader::Opcode WorkloadOpReader::kOpcodes[] = {
    {"allocResourceClaims", nullptr, "operations on claims and devices are not simulated here"},
    {"barrier", &WorkloadOpReader::ReadBarrier, ""},
    {"churn", &WorkloadOpReader::ReadChurn, ""},
    {"createAny", &WorkloadOpReader::ReadCreateAny, ""},
    {"createNamespaces", &WorkloadOpReader::ReadCreateNamespaces, ""},
    {"createNodes", &WorkloadOpReader::ReadCreateNodes, ""},
    {"createPodGroups", &WorkloadOpReader::ReadCreatePodGroups, ""},
    {"createPodSets", &WorkloadOpReader::ReadCreatePodSets, ""},
    {"createPods", &WorkloadOpReader::ReadCreatePods, ""},
    {"createResourceClaims", nullptr, "operations on claims and devices are not simulated here"},
    {"createResourceDriver", nullptr, "operations on claims and devices are not simulated here"},
    {"deletePods", &WorkloadOpReader::ReadDeletePods, ""},
    {"sleep", &WorkloadOpReader::ReadSleep, ""},
    {"startCollectingMetrics", &WorkloadOpReader::ReadStartCollecting, ""},
    {"startCollectingProfile", nullptr, "profiles of a Go program are not taken"},
    {"stopCollectingMetrics", &WorkloadOpReader::ReadStopCollecting, ""},
    {"stopCollectingProfile", nullptr, "profiles of a Go program are not taken"},
    {"updateAny", &WorkloadOpReader::ReadUpdateAny, ""},
};

const WorkloadOpReader::Opcode* WorkloadOpReader::FindOpcode(absl::string_view name) {
  for (const Opcode& opcode : kOpcodes) {
    if (opcode.name == name) return &opcode;
  }
  return nullptr;
}

WorkloadStep WorkloadOpReader::Read(const Value& value, const std::string& path) {
  WorkloadStep step;
  StrictReader reader(value, path, errors_);
  if (!value.is_object()) return step;
  step.place = std::string(codec::ErrorAt({.file = file_, .position = value.position}, path).message());
  reader.Read("opcode", step.opcode);
  const Opcode* opcode = FindOpcode(step.opcode);
  if (opcode == nullptr) {
    const std::string names = absl::StrJoin(
        kOpcodes, ", ", [](std::string* out, const Opcode& known) { absl::StrAppend(out, known.name); });
    Error(value,
          absl::StrCat(path, ": unknown opcode ", api::GoQuote(step.opcode), ", expected one of ", names));
    return step;
  }
  if (opcode->read == nullptr) {
    UnsimulatedOp op = {.why = std::string(opcode->why)};
    AddParams(value, op.params);
    step.op = std::move(op);
    return step;
  }
  step.op = (this->*opcode->read)(value, path, reader);
  reader.Finish();
  return step;
}

void WorkloadOpReader::ReadPath(StrictReader& reader, absl::string_view name, std::string& target) const {
  std::string path;
  reader.Read(name, path);
  if (!path.empty()) target = absl::StrCat(path[0] == '/' ? "" : folder_, path);
}

void WorkloadOpReader::ReadLabels(StrictReader& reader, absl::string_view name, Labels& target) const {
  reader.ReadMap(name, [&](const Value& map, const std::string& path) {
    for (const codec::Member& member : map.members) {
      if (!member.value.is_string()) {
        errors_.Add(member.value.position, absl::StrCat(path, ".", member.key, ": expected a string, got ",
                                                        codec::Describe(member.value.type)));
      }
      target[std::string(member.key)] = std::string(member.value.text);
    }
  });
}

void WorkloadOpReader::ReadParams(StrictReader& reader, absl::string_view name, TemplateParams& target) {
  reader.ReadMap(name, [&](const Value& map, const std::string&) {
    for (const codec::Member& member : map.members) target[std::string(member.key)] = GoValueOf(member.value);
  });
}

void WorkloadOpReader::ReadParamName(const Value& value, StrictReader& reader, absl::string_view name,
                                     std::string& target) {
  reader.Read(name, target);
  if (target.empty() || (absl::StartsWith(target, "$") && target.size() > 1)) return;
  Error(value, absl::StrCat(reader.PathOf(name), ": expected the name of a parameter behind a $, got ",
                            api::GoQuote(target)));
}

void WorkloadOpReader::ReadNumber(const Value& value, StrictReader& reader, absl::string_view name,
                                  int64_t& target) {
  reader.Read(name, target);
  if (target < 0) Error(value, absl::StrCat(reader.PathOf(name), ": expected a number that is not negative"));
}

void WorkloadOpReader::ReadCount(const Value& value, StrictReader& reader, absl::string_view name,
                                 Parameterized<int64_t>& target) {
  ReadNumber(value, reader, name, target.value);
  ReadParamName(value, reader, absl::StrCat(name, "Param"), target.param);
}

WorkloadOp WorkloadOpReader::ReadCreateNodes(const Value& value, const std::string&, StrictReader& reader) {
  CreateNodesOp op;
  ReadCount(value, reader, "count", op.count);
  ReadPath(reader, "nodeTemplatePath", op.template_path);
  ReadParams(reader, "templateParams", op.template_params);
  op.strategy = ReadStrategy(reader);
  return op;
}

// Where several are given, the first of these counts.
NodeStrategy WorkloadOpReader::ReadStrategy(StrictReader& reader) {
  NodeStrategy strategy;
  reader.ReadMap("uniqueNodeLabelStrategy", [&](const Value& map, const std::string& path) {
    StrictReader fields(map, path, errors_);
    UniqueNodeLabelStrategy unique;
    fields.Read("labelKey", unique.key);
    fields.Finish();
    strategy = unique;
  });
  reader.ReadMap("labelNodePrepareStrategy", [&](const Value& map, const std::string& path) {
    StrictReader fields(map, path, errors_);
    LabelNodePrepareStrategy label;
    fields.Read("labelKey", label.key);
    fields.ReadStrings("labelValues", label.values);
    fields.Finish();
    if (label.values.empty()) Error(map, absl::StrCat(path, ".labelValues: expected at least one value"));
    strategy = label;
  });
  reader.ReadMap("nodeAllocatableStrategy",
                 [&](const Value& map, const std::string& path) { strategy = ReadAllocatable(map, path); });
  return strategy;
}

NodeAllocatableStrategy WorkloadOpReader::ReadAllocatable(const Value& value, const std::string& path) {
  NodeAllocatableStrategy strategy;
  StrictReader reader(value, path, errors_);
  ReadLabels(reader, "nodeAllocatable", strategy.node_allocatable);
  reader.ReadMap("csiNodeAllocatable", [&](const Value& map, const std::string& map_path) {
    for (const codec::Member& member : map.members) {
      StrictReader fields(member.value, absl::StrCat(map_path, ".", member.key), errors_);
      fields.Read("count", strategy.csi_counts[std::string(member.key)]);
      fields.Finish();
    }
  });
  reader.ReadStrings("migratedPlugins", strategy.migrated_plugins);
  reader.Finish();
  return strategy;
}

WorkloadOp WorkloadOpReader::ReadCreateNamespaces(const Value& value, const std::string&,
                                                  StrictReader& reader) {
  CreateNamespacesOp op;
  reader.Read("prefix", op.prefix);
  ReadCount(value, reader, "count", op.count);
  ReadPath(reader, "namespaceTemplatePath", op.template_path);
  return op;
}

WorkloadOp WorkloadOpReader::ReadCreatePods(const Value& value, const std::string& path,
                                            StrictReader& reader) {
  return ReadPods(value, path, reader);
}

CreatePodsOp WorkloadOpReader::ReadPods(const Value& value, const std::string& path, StrictReader& reader) {
  CreatePodsOp op;
  ReadCount(value, reader, "count", op.count);
  ReadParamName(value, reader, "countMultiplierParam", op.count_multiplier_param);
  reader.Read("steadyState", op.steady_state.value);
  ReadParamName(value, reader, "steadyStateParam", op.steady_state.param);
  reader.Read("duration", op.duration.value);
  ReadParamName(value, reader, "durationParam", op.duration.param);
  reader.Read("collectMetrics", op.collect_metrics);
  reader.Read("namespace", op.name_space);
  ReadPath(reader, "podTemplatePath", op.template_path);
  reader.Read("skipWaitToCompletion", op.skip_wait_to_completion);
  ReadPath(reader, "persistentVolumeTemplatePath", op.volume_template_path);
  ReadPath(reader, "persistentVolumeClaimTemplatePath", op.claim_template_path);
  ReadParams(reader, "templateParams", op.template_params);
  ReadCount(value, reader, "signatureBatchSize", op.signature_batch_size);
  if (op.collect_metrics && op.skip_wait_to_completion) {
    Error(value,
          absl::StrCat(path, ": collectMetrics and skipWaitToCompletion cannot be true at the same time"));
  }
  if (op.skip_wait_to_completion && op.steady_state.value) {
    Error(value,
          absl::StrCat(path, ": skipWaitToCompletion and steadyState cannot be true at the same time"));
  }
  if (!op.claim_template_path.empty() && op.volume_template_path.empty()) {
    Error(value, absl::StrCat(path,
                              ": persistentVolumeClaimTemplatePath: expected persistentVolumeTemplatePath, "
                              "too"));
  }
  return op;
}

WorkloadOp WorkloadOpReader::ReadCreatePodSets(const Value& value, const std::string& path,
                                               StrictReader& reader) {
  CreatePodSetsOp op;
  ReadCount(value, reader, "count", op.count);
  reader.Read("namespacePrefix", op.namespace_prefix);
  const bool has_pods = reader.ReadMap("createPodsOp", [&](const Value& map, const std::string& map_path) {
    StrictReader fields(map, map_path, errors_);
    fields.Skip("opcode");
    op.pods = ReadPods(map, map_path, fields);
    fields.Finish();
  });
  if (!has_pods) Error(value, absl::StrCat(path, ".createPodsOp: expected the operation that creates a set"));
  return op;
}

WorkloadOp WorkloadOpReader::ReadDeletePods(const Value& value, const std::string& path,
                                            StrictReader& reader) {
  DeletePodsOp op;
  reader.Read("namespace", op.name_space);
  ReadLabels(reader, "labelSelector", op.label_selector);
  reader.Read("skipWaitToCompletion", op.skip_wait_to_completion);
  ReadNumber(value, reader, "deletePodsPerSecond", op.per_second);
  if (op.name_space.empty()) Error(value, absl::StrCat(path, ".namespace: expected a namespace"));
  return op;
}

WorkloadOp WorkloadOpReader::ReadChurn(const Value& value, const std::string& path, StrictReader& reader) {
  ChurnOp op;
  std::string mode;
  reader.Read("mode", mode);
  op.recreate = mode == "recreate";
  if (!op.recreate && mode != "create") {
    Error(value, absl::StrCat(path, ".mode: expected create or recreate, got ", api::GoQuote(mode)));
  }
  ReadNumber(value, reader, "number", op.number);
  if (op.recreate && op.number == 0) {
    Error(value, absl::StrCat(path, ".number: number cannot be 0 when mode is recreate"));
  }
  int64_t interval_ms = 0;
  ReadNumber(value, reader, "intervalMilliseconds", interval_ms);
  if (interval_ms > 0) op.interval = absl::Milliseconds(interval_ms);
  reader.Read("namespace", op.name_space);
  std::vector<std::string> paths;
  reader.ReadStrings("templatePaths", paths);
  if (paths.empty()) Error(value, absl::StrCat(path, ".templatePaths: expected at least one path"));
  for (const std::string& template_path : paths) {
    const bool is_absolute = absl::StartsWith(template_path, "/");
    op.template_paths.push_back(absl::StrCat(is_absolute ? "" : folder_, template_path));
  }
  return op;
}

AnyObjectOp WorkloadOpReader::ReadAny(const Value& value, const std::string& path, StrictReader& reader) {
  AnyObjectOp op;
  op.count.value = 1;
  reader.Read("namespace", op.name_space);
  ReadPath(reader, "templatePath", op.template_path);
  if (op.template_path.empty()) Error(value, absl::StrCat(path, ".templatePath: expected a path"));
  ReadCount(value, reader, "count", op.count);
  return op;
}

WorkloadOp WorkloadOpReader::ReadCreateAny(const Value& value, const std::string& path,
                                           StrictReader& reader) {
  AnyObjectOp op = ReadAny(value, path, reader);
  ReadParams(reader, "templateParams", op.template_params);
  return op;
}

WorkloadOp WorkloadOpReader::ReadCreatePodGroups(const Value& value, const std::string& path,
                                                 StrictReader& reader) {
  AnyObjectOp op = ReadAny(value, path, reader);
  op.are_pod_groups = true;
  if (op.name_space.empty()) Error(value, absl::StrCat(path, ".namespace: expected a name"));
  ReadParams(reader, "templateParams", op.template_params);
  return op;
}

WorkloadOp WorkloadOpReader::ReadUpdateAny(const Value& value, const std::string& path,
                                           StrictReader& reader) {
  AnyObjectOp op = ReadAny(value, path, reader);
  op.update = true;
  ReadNumber(value, reader, "updatePerSecond", op.per_second);
  reader.ReadStrings("subresources", op.subresources);
  return op;
}

WorkloadOp WorkloadOpReader::ReadBarrier(const Value& value, const std::string& path, StrictReader& reader) {
  BarrierOp op;
  reader.ReadStrings("namespaces", op.namespaces);
  ReadLabels(reader, "labelSelector", op.label_selector);
  std::string stage;
  reader.Read("stageRequirement", stage);
  op.attempted = stage == "Attempted";
  if (!op.attempted && !stage.empty() && stage != "Scheduled") {
    Error(value, absl::StrCat(path, ".stageRequirement: expected Attempted or Scheduled, got ",
                              api::GoQuote(stage)));
  }
  return op;
}

WorkloadOp WorkloadOpReader::ReadSleep(const Value& value, const std::string&, StrictReader& reader) {
  SleepOp op;
  reader.Read("duration", op.duration.value);
  ReadParamName(value, reader, "durationParam", op.duration.param);
  return op;
}

WorkloadOp WorkloadOpReader::ReadStartCollecting(const Value& value, const std::string& path,
                                                 StrictReader& reader) {
  StartCollectingMetricsOp op;
  reader.Read("name", op.name);
  reader.ReadStrings("namespaces", op.namespaces);
  ReadLabels(reader, "labelSelector", op.label_selector);
  if (op.namespaces.empty()) Error(value, absl::StrCat(path, ".namespaces: namespaces cannot be empty"));
  return op;
}

WorkloadOp WorkloadOpReader::ReadStopCollecting(const Value&, const std::string&, StrictReader&) {
  return StopCollectingMetricsOp{};
}

}  // namespace schedsim::sim
