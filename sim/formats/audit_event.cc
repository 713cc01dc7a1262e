#include "sim/formats/audit_event.h"

#include <algorithm>
#include <initializer_list>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"
#include "core/base/status_macros.h"
#include "core/codec/text/writer.h"

namespace schedsim::sim {
namespace {

using codec::Value;

// The value at a path of keys; nullptr where there is none.
const Value* FindPath(const Value& root, std::initializer_list<absl::string_view> path) {
  const Value* value = &root;
  for (const absl::string_view key : path) {
    value = value->Find(key);
    if (value == nullptr) return nullptr;
  }
  return value;
}

// The text at a path of keys; "" where there is none.
std::string TextAt(const Value& root, std::initializer_list<absl::string_view> path) {
  const Value* value = FindPath(root, path);
  return value != nullptr && value->is_string() ? std::string(value->text) : "";
}

int64_t NumberAt(const Value& root, std::initializer_list<absl::string_view> path, int64_t otherwise) {
  const Value* value = FindPath(root, path);
  int64_t number = 0;
  const bool known =
      value != nullptr && value->type == Value::Type::kNumber && absl::SimpleAtoi(value->text, &number);
  return known ? number : otherwise;
}

bool HasItems(const Value& root, std::initializer_list<absl::string_view> path) {
  const Value* value = FindPath(root, path);
  return value != nullptr && !value->items.empty();
}

absl::StatusOr<absl::Time> TimeAt(const Value& event, absl::string_view key, absl::string_view file) {
  const std::string text = TextAt(event, {key});
  absl::Time time;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, nullptr)) return time;
  const Value* value = event.Find(key);
  return codec::ErrorAt({file, (value == nullptr ? event : *value).position},
                        absl::StrCat(key, ": expected a time such as 2026-01-31T12:00:00.000000Z, got ",
                                     value == nullptr ? "none" : absl::StrCat("\"", text, "\"")));
}

bool IsWrite(absl::string_view verb) {
  return verb == "create" || verb == "update" || verb == "patch" || verb == "delete" ||
         verb == "deletecollection";
}

// Takes kind and API version of a resource that scheduling reads.
void SetKind(const Value& event, absl::string_view resource, AuditEvent& result) {
  const std::string group = TextAt(event, {"objectRef", "apiGroup"});
  const std::string version = TextAt(event, {"objectRef", "apiVersion"});
  const api::KindInfo* const info = api::FindKindByResource(group, resource);
  if (info == nullptr || info->kind == api::Kind::kOther) return;
  const absl::string_view of_version = version.empty() ? "v1" : absl::string_view(version);
  result.api_version = group.empty() ? std::string(of_version) : absl::StrCat(group, "/", of_version);
  result.kind = info->kind;
}

// The node that the first term of node affinity names, if it is the only term.
std::string PinnedNode(const Value& body) {
  const Value* terms =
      FindPath(body, {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
                      "nodeSelectorTerms"});
  if (terms == nullptr || terms->items.size() != 1) return "";
  const Value* fields = terms->items.front().Find("matchFields");
  if (fields == nullptr || fields->items.size() != 1) return "";
  const Value& field = fields->items.front();
  const Value* values = field.Find("values");
  const bool pins = TextAt(field, {"key"}) == "metadata.name" && TextAt(field, {"operator"}) == "In" &&
                    values != nullptr && values->items.size() == 1 && values->items.front().is_string();
  return pins ? std::string(values->items.front().text) : "";
}

void ReadCreatedPod(const Value& body, AuditEvent& result) {
  result.node = TextAt(body, {"spec", "nodeName"});
  result.priority = static_cast<int32_t>(NumberAt(body, {"spec", "priority"}, 0));
  result.is_gated = HasItems(body, {"spec", "schedulingGates"});
  result.scheduler_name = TextAt(body, {"spec", "schedulerName"});
  result.pinned_node = PinnedNode(body);
  const Value* volumes = FindPath(body, {"spec", "volumes"});
  if (volumes == nullptr) return;
  result.has_claims = std::any_of(volumes->items.begin(), volumes->items.end(), [](const Value& volume) {
    return volume.Find("persistentVolumeClaim") != nullptr || volume.Find("ephemeral") != nullptr;
  });
}

void ReadBody(const Value& event, AuditEvent& result) {
  const Value* answer = event.Find("responseObject");
  const Value* body = event.Find("requestObject");
  const bool creates = result.verb == "create" && result.subresource.empty();
  // An answer may also be a Status.
  result.is_answer = answer != nullptr && answer->is_object() && answer->Find("metadata") != nullptr &&
                     TextAt(*answer, {"kind"}) != "Status" && (creates || body == nullptr);
  if (result.is_answer) body = answer;
  if (body == nullptr || (!body->is_object() && !body->is_array())) return;
  result.body = codec::ToJson(*body);
  const std::string name = TextAt(*body, {"metadata", "name"});
  if (result.name.empty()) result.name = name;
  if (result.uid.empty()) result.uid = TextAt(*body, {"metadata", "uid"});
  result.generate_name = TextAt(*body, {"metadata", "generateName"});
  result.is_deleting = FindPath(*body, {"metadata", "deletionTimestamp"}) != nullptr;
  result.has_finalizers = HasItems(*body, {"metadata", "finalizers"});
  result.sets_taints = FindPath(*body, {"spec", "taints"}) != nullptr;
  const bool evicts = result.subresource == "eviction";
  result.at_once = evicts ? NumberAt(*body, {"deleteOptions", "gracePeriodSeconds"}, -1) == 0
                          : NumberAt(*body, {"gracePeriodSeconds"}, -1) == 0;
  if (result.subresource == "binding") result.node = TextAt(*body, {"target", "name"});
  if (creates && result.kind == api::Kind::kPod) ReadCreatedPod(*body, result);
}

// A dry run stores nothing: `kubectl diff`, and --dry-run=server.
bool IsDryRun(const Value& event) {
  const Value* const body = event.Find("requestObject");
  return absl::StrContains(TextAt(event, {"requestURI"}), "dryRun=") ||
         (body != nullptr && body->is_object() &&
          (HasItems(*body, {"dryRun"}) || HasItems(*body, {"deleteOptions", "dryRun"})));
}

}  // namespace

absl::StatusOr<std::optional<AuditEvent>> ParseAuditEvent(const Value& event, absl::string_view file,
                                                          absl::string_view scheduler_agent) {
  if (!event.is_object() || TextAt(event, {"kind"}) != "Event" ||
      !absl::StartsWith(TextAt(event, {"apiVersion"}), "audit.k8s.io/")) {
    return codec::ErrorAt({file, event.position},
                          "expected an event of an audit log: kind Event, apiVersion audit.k8s.io/v1");
  }
  if (TextAt(event, {"stage"}) != "ResponseComplete") return std::optional<AuditEvent>();
  AuditEvent result = {.line = event.position.line};
  ASSIGN_OR_RETURN(result.start, TimeAt(event, "requestReceivedTimestamp", file));
  ASSIGN_OR_RETURN(result.end, TimeAt(event, "stageTimestamp", file));
  result.verb = TextAt(event, {"verb"});
  const std::string resource = TextAt(event, {"objectRef", "resource"});
  const bool is_write = IsWrite(result.verb) && !IsDryRun(event);
  if (!is_write || resource.empty() || resource == "events" || resource == "leases") {
    return std::optional<AuditEvent>();
  }
  result.by_scheduler = absl::StartsWith(TextAt(event, {"userAgent"}), scheduler_agent);
  const int64_t code = NumberAt(event, {"responseStatus", "code"}, 0);
  result.succeeded = code >= 200 && code <= 299;
  SetKind(event, resource, result);
  if (!result.by_scheduler && (result.kind == api::Kind::kOther || !result.succeeded)) {
    return std::optional<AuditEvent>();
  }
  result.subresource = TextAt(event, {"objectRef", "subresource"});
  result.name_space = TextAt(event, {"objectRef", "namespace"});
  result.name = TextAt(event, {"objectRef", "name"});
  result.uid = TextAt(event, {"objectRef", "uid"});
  const std::string uri = TextAt(event, {"requestURI"});
  result.has_selector = absl::StrContains(uri, "labelSelector=") || absl::StrContains(uri, "fieldSelector=");
  ReadBody(event, result);
  return std::optional<AuditEvent>(std::move(result));
}

}  // namespace schedsim::sim
