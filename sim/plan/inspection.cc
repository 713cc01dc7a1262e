#include "sim/plan/inspection.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "core/api/go_text.h"
#include "core/api/kinds.h"
#include "core/api/node.h"
#include "core/api/object_text.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/reader.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {
namespace {

constexpr size_t kNameBytesMax = 253;
constexpr size_t kTextBytesMax = 10'000;

std::string KubeletVersionOf(const api::Object& node) {
  std::string version;
  if (node.json == nullptr) return version;
  codec::ReadText(node.json->ToString(), "node.json", {}, [&version](const codec::Document& document) {
    const codec::Value* value = &document.root;
    for (const char* step : {"status", "nodeInfo", "kubeletVersion"})
      value = value == nullptr ? nullptr : value->Find(step);
    if (value != nullptr && value->is_string()) version = std::string(value->text);
    return absl::OkStatus();
  }).IgnoreError();
  return version;
}

void CountNode(const api::Node& node, Inspection& inspection) {
  const std::string version = KubeletVersionOf(node);
  ++inspection.kubelets[version.empty() ? "unknown" : version];
  if (node.spec.unschedulable) ++inspection.unschedulable_nodes;
  if (!node.spec.taints.empty()) ++inspection.tainted_nodes;
  // As the simulation takes a node that does not say it.
  bool is_ready = true;
  for (const api::NodeCondition& condition : node.status.conditions)
    if (condition.type == "Ready") is_ready = condition.status == "True";
  if (is_ready) ++inspection.ready_nodes;
}

void Count(const api::Object& object, Inspection& inspection) {
  ++inspection.object_count;
  std::string kind = object.kind_name;
  const absl::string_view group = api::GroupOf(object.api_version);
  if (api::FindKind(object.api_version, kind) == nullptr && !group.empty())
    absl::StrAppend(&kind, ".", group);
  ++inspection.kinds[kind];
  ++inspection.api_versions[object.api_version];
  if (!object.metadata.namespace_.empty()) ++inspection.namespaces[object.metadata.namespace_][kind];
  if (object.kind == api::Kind::kNode) CountNode(static_cast<const api::Node&>(object), inspection);
}

void WriteCounts(const Inspection::Counts& counts, codec::JsonWriter& json) {
  json.BeginObject();
  for (const auto& [name, count] : counts) json.Field(name, count);
  json.EndObject();
}

void WriteNodes(const Inspection& inspection, codec::JsonWriter& json) {
  const Report& report = inspection.report;
  json.BeginObject().Field("total", report.node_count).Field("ready", inspection.ready_nodes);
  json.Field("unschedulable", inspection.unschedulable_nodes).Field("tainted", inspection.tainted_nodes);
  json.Key("resources");
  WriteResources(report.totals, json);
  json.Key("mostUsed").BeginArray();
  for (const Report::Node& node : report.most_used_nodes) {
    json.BeginObject().Field("name", node.name).Field("pods", node.pod_count).Key("resources");
    WriteResources(node.resources, json);
    json.EndObject();
  }
  json.EndArray().EndObject();
}

std::string CountsText(const Inspection::Counts& counts) {
  return absl::StrJoin(counts, ", ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, Printable(entry.first, kNameBytesMax), " ", entry.second);
  });
}

}  // namespace

absl::StatusOr<Inspection> Inspect(const RunRequest& request) {
  Plan plan;
  ASSIGN_OR_RETURN(plan, MakePlan(request));
  Inspection inspection;
  for (const api::ObjectPtr& object : plan.input.objects) Count(*object, inspection);
  if (plan.input.newest_timestamp.has_value()) {
    inspection.newest_timestamp = api::FormatRfc3339(*plan.input.newest_timestamp);
  }
  inspection.notices = std::move(plan.notices);
  std::unique_ptr<Simulation> simulation;
  ASSIGN_OR_RETURN(simulation, Simulation::Make(std::move(plan.simulation)));
  simulation->CreateObjects(plan.input.objects);
  for (const Simulation::Refused& refused : simulation->refused()) {
    const std::string place = plan.input.places.empty() ? "" : plan.input.PlaceOf(refused.index) + ": ";
    inspection.notices.push_back(absl::StrCat(
        "warning: ", place, "the API server would refuse it: ", Printable(refused.message, kTextBytesMax)));
  }
  inspection.report = MakeReport(*simulation, plan.input, PodRows::kNone);
  return inspection;
}

std::string InspectionJson(const Inspection& inspection) {
  const Report& report = inspection.report;
  codec::JsonWriter json;
  json.BeginObject().Field("apiVersion", "schedsim/v1").Field("kind", "SnapshotInspection");
  json.Field("objects", inspection.object_count);
  json.Key("kinds");
  WriteCounts(inspection.kinds, json);
  json.Key("namespaces").BeginObject();
  for (const auto& [name, counts] : inspection.namespaces) {
    json.Key(name);
    WriteCounts(counts, json);
  }
  json.EndObject().Key("apiVersions");
  WriteCounts(inspection.api_versions, json);
  json.Key("kubelets");
  WriteCounts(inspection.kubelets, json);
  json.Key("newestTimestamp");
  if (inspection.newest_timestamp.empty()) {
    json.Null();
  } else {
    json.String(inspection.newest_timestamp);
  }
  json.Key("nodes");
  WriteNodes(inspection, json);
  json.Key("pods").BeginObject().Field("bound", report.bound_count).Field("pending", report.pending_count);
  json.Field("ofOtherSchedulers", report.ignored_count).Field("finished", report.finished_count);
  json.Field("terminating", report.terminating_count).EndObject();
  json.Key("notices").BeginArray();
  for (const std::string& notice : inspection.notices) json.String(notice);
  json.EndArray().EndObject();
  return json.text() + "\n";
}

std::string InspectionText(const Inspection& inspection) {
  const Report& report = inspection.report;
  std::string text;
  absl::StrAppend(&text, "Objects         ", inspection.object_count, ": ", CountsText(inspection.kinds),
                  "\n");
  for (const auto& [name, counts] : inspection.namespaces)
    absl::StrAppend(&text, "Namespace       ", Printable(name, kNameBytesMax), ": ", CountsText(counts),
                    "\n");
  absl::StrAppend(&text, "API versions    ", CountsText(inspection.api_versions), "\n");
  if (!inspection.kubelets.empty())
    absl::StrAppend(&text, "Kubelets        ", CountsText(inspection.kubelets), "\n");
  if (!inspection.newest_timestamp.empty())
    absl::StrAppend(&text, "Newest time     ", inspection.newest_timestamp, "\n");
  absl::StrAppendFormat(&text, "Nodes           %d, %d ready, %d unschedulable, %d with taints\n",
                        report.node_count, inspection.ready_nodes, inspection.unschedulable_nodes,
                        inspection.tainted_nodes);
  absl::StrAppendFormat(&text,
                        "Pods            %d on nodes, %d pending, %d of other schedulers, %d finished, %d "
                        "terminating\n",
                        report.bound_count, report.pending_count, report.ignored_count, report.finished_count,
                        report.terminating_count);
  text += UsageText(report);
  for (const std::string& notice : inspection.notices)
    absl::StrAppend(&text, Printable(notice, kTextBytesMax), "\n");
  return text;
}

}  // namespace schedsim::sim
