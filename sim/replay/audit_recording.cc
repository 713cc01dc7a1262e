#include "sim/replay/audit_recording.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/workloads.h"
#include "core/base/check.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/base/text_search.h"
#include "sim/cluster/admission/namespace_lifecycle.h"
#include "sim/cluster/api_server.h"
#include "sim/formats/audit_log.h"
#include "sim/kernel/event_loop.h"
#include "sim/replay/audit_replayer.h"

namespace schedsim::sim {
namespace {

// How no user agent begins: all writes are to be told alike.
constexpr absl::string_view kNobody = "\n";

// Why the log is not enough; OK: it is.
absl::Status CheckLog(const AuditLog& log, absl::string_view file,
                      const std::vector<api::ObjectPtr>& objects) {
  if (log.changes.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        file, ": the log has no write that scheduling depends on, expected some of pods and nodes"));
  }
  std::set<std::string> nodes;
  for (const api::ObjectPtr& object : objects) {
    if (object->kind == api::Kind::kNode) nodes.insert(object->metadata.name);
  }
  for (const AuditChange& change : log.changes) {
    if (change.kind == api::Kind::kNode && change.verb == AuditChange::Verb::kCreate)
      nodes.insert(change.name);
  }
  int64_t without_body = 0;
  int64_t elsewhere = 0;
  for (const AuditPod& pod : log.pods) {
    if (!pod.has_body) ++without_body;
    if (pod.bound.has_value() && !nodes.contains(pod.node)) ++elsewhere;
  }
  if (without_body > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": the log has no body for ", without_body, " of ", log.pods.size(),
                     " pods that it creates, expected audit level Request or RequestResponse for them"));
  }
  if (elsewhere == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", elsewhere,
                                                 " pods were bound to nodes whose creation is not in the "
                                                 "log, expected the cluster at its beginning with "
                                                 "-f FILE"));
}

// The namespaces that objects of the input and of the log are in and that neither makes.
std::set<std::string> MissingNamespaces(const AuditLog& log, const std::vector<api::ObjectPtr>& objects) {
  std::set<std::string> missing;
  const auto add = [&missing](const std::string& name) {
    if (!name.empty() && !IsSystemNamespace(name)) missing.insert(name);
  };
  for (const api::ObjectPtr& object : objects) add(object->metadata.namespace_);
  for (const AuditChange& change : log.changes) add(change.name_space);
  for (const api::ObjectPtr& object : objects) {
    if (object->kind == api::Kind::kNamespace) missing.erase(object->metadata.name);
  }
  for (const AuditChange& change : log.changes) {
    const bool is_made = change.verb == AuditChange::Verb::kCreate;
    if (is_made && change.kind == api::Kind::kNamespace) missing.erase(change.name);
  }
  return missing;
}

// What there is before the first write.
absl::Status CreateFirst(const AuditLog& log, const ClusterInput& input, ApiServer& server,
                         Recording& recording) {
  for (const api::ObjectPtr& object : input.objects) server.ReserveUid(object->metadata.uid);
  for (const AuditChange& change : log.changes) server.ReserveUid(change.uid);
  const auto create = [&](const api::ObjectPtr& object) -> absl::Status {
    RETURN_IF_ERROR(server.Create(object));
    recording.objects.push_back(server.Find(*object));
    return absl::OkStatus();
  };
  for (const std::string& name : MissingNamespaces(log, input.objects)) {
    auto name_space = std::make_shared<api::Namespace>();
    name_space->api_version = "v1";
    name_space->kind_name = "Namespace";
    name_space->metadata.name = name;
    RETURN_IF_ERROR(create(name_space));
  }
  for (size_t i = 0; i < input.objects.size(); ++i) {
    const absl::Status status = create(input.objects[i]);
    if (status.ok()) continue;
    const std::string place = input.places.empty() ? "" : absl::StrCat(input.PlaceOf(i), ": ");
    return absl::InvalidArgumentError(absl::StrCat(place, Printable(status.message())));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsAuditLog(absl::string_view text) {
  const size_t start = text.find_first_not_of(" \t\r\n");
  if (start == absl::string_view::npos || text[start] != '{') return false;
  const absl::string_view line = text.substr(start, text.find('\n', start) - start);
  return ContainsWord(line, "\"audit.k8s.io/");
}

absl::StatusOr<Recording> RecordAuditLog(std::string text, absl::string_view file,
                                         const ClusterInput& input) {
  AuditLog log;
  ASSIGN_OR_RETURN(log, ParseAuditLog(std::move(text), file, kNobody));
  RETURN_IF_ERROR(CheckLog(log, file, input.objects));
  Recording recording;
  recording.zero = log.changes.front().at;
  EventLoop loop(recording.zero);
  ApiServer server({}, loop);
  ReplayResult result;
  AuditReplayer replayer(log, result, AuditReplayer::Decisions::kOfLog);
  int32_t line = 0;
  RETURN_IF_ERROR(CreateFirst(log, input, server, recording));
  server.Watch([&](const WatchEvent& event) {
    recording.changes.push_back(
        {.at = loop.Now(), .before = event.old_object, .after = event.new_object, .line = line});
  });
  for (const AuditChange& change : log.changes) {
    loop.AdvanceTo(std::max(loop.Now(), change.at));
    line = change.line;
    replayer.Apply(change, server);
  }
  if (result.ignored > 0) {
    recording.warnings.push_back(
        absl::StrCat(file, ": ", result.ignored, " of ", result.applied + result.ignored,
                     " writes could not be carried out; the first: ", Printable(result.first_ignored)));
  }
  return recording;
}

}  // namespace schedsim::sim
