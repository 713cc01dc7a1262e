#include "sim/replay/audit_replayer.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/node.h"
#include "core/api/pod.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/patch/merge_patch.h"
#include "core/codec/patch/object_patch.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"

namespace schedsim::sim {
namespace {

using codec::TextValue;
using codec::Value;

// `body` with the name, namespace and uid that the log says, and without a status that is not kept at
// creation.
Value CompleteCreation(const AuditChange& change, absl::string_view uid, const Value& body,
                       codec::Document& document) {
  std::vector<codec::Member> identity;
  identity.push_back({"name", {}, TextValue(change.name)});
  if (!change.name_space.empty()) identity.push_back({"namespace", {}, TextValue(change.name_space)});
  if (!uid.empty()) identity.push_back({"uid", {}, TextValue(uid)});
  std::vector<codec::Member> members;
  members.push_back({"metadata", {}, document.MakeObject(identity, body.position)});
  // The status of a node comes with its creation; all others begin without.
  if (!change.is_answer && change.kind != api::Kind::kNode) members.push_back({"status", {}, Value()});
  return codec::MergePatch(body, document.MakeObject(members, body.position), document);
}

// `body` with the part `status` of `stored`, or the other way round.
Value CombineUpdate(const Value& stored, const Value& body, bool is_status, codec::Document& document) {
  const Value& main = is_status ? stored : body;
  const Value* status = (is_status ? body : stored).Find("status");
  std::vector<codec::Member> members;
  for (const codec::Member& member : main.members) {
    if (member.key != "status") members.push_back(member);
  }
  if (status != nullptr) members.push_back({"status", {}, *status});
  return document.MakeObject(members, main.position);
}

// The log does not say of which type a patch is. Lists are JSON patches; the clients that write to what is
// built in send strategic merge patches.
codec::PatchType PatchTypeOf(const Value& patch) {
  return patch.is_array() ? codec::PatchType::kJson : codec::PatchType::kStrategicMerge;
}

// What is the scheduler's to say stays as it is.
void KeepDecisions(const api::Pod& stored, api::Pod& pod) {
  pod.node_name = stored.node_name;
  pod.status.nominated_node_name = stored.status.nominated_node_name;
  const api::PodCondition* scheduled = stored.FindCondition("PodScheduled");
  if (scheduled != nullptr) {
    pod.SetCondition(*scheduled);
  } else {
    std::erase_if(pod.status.conditions.Mutable(),
                  [](const api::PodCondition& condition) { return condition.type == "PodScheduled"; });
  }
}

absl::Status NotThere(const AuditChange& change) {
  return absl::NotFoundError(absl::StrCat("there is no ", api::KindName(change.kind), " ", change.name_space,
                                          change.name_space.empty() ? "" : "/", change.name,
                                          " at this time"));
}

api::ObjectPtr FindObject(const AuditChange& change, const ApiServer& server) {
  return server.Find(change.kind, api::KindName(change.kind), change.name_space, change.name);
}

absl::Status DeleteObject(const api::Object& object, ApiServer& server) {
  return server.Delete(object.kind, object.kind_name, object.metadata.namespace_, object.metadata.name);
}

}  // namespace

AuditReplayer::AuditReplayer(const AuditLog& log, ReplayResult& result, Decisions decisions)
    : log_(log), result_(result), decisions_(decisions) {
  result_.bound.assign(log.pods.size(), std::nullopt);
}

const AuditPod* AuditReplayer::PodOf(const AuditChange& change) const {
  return change.pod < 0 ? nullptr : &log_.pods[static_cast<size_t>(change.pod)];
}

void AuditReplayer::Apply(const AuditChange& change, ApiServer& server) {
  const absl::Status status = TryApply(change, server);
  if (status.ok()) {
    ++result_.applied;
    return;
  }
  if (result_.ignored++ == 0)
    result_.first_ignored = absl::StrCat("line ", change.line, ": ", status.message());
}

absl::Status AuditReplayer::TryApply(const AuditChange& change, ApiServer& server) {
  const AuditPod* pod = PodOf(change);
  switch (change.verb) {
    case AuditChange::Verb::kCreate:
      return Create(change, server);
    case AuditChange::Verb::kUpdate:
    case AuditChange::Verb::kPatch:
      if (decisions_ == Decisions::kSimulated && pod != nullptr && change.is_status &&
          pod->bound.has_value() && *pod->bound <= change.at) {
        const api::PodPtr stored = server.FindPod(change.name_space, change.name);
        if (stored != nullptr && stored->node_name.empty()) {
          held_[change.pod].push_back(&change);
          return absl::OkStatus();
        }
      }
      return Modify(change, server);
    case AuditChange::Verb::kDelete:
      return Delete(change, server);
    case AuditChange::Verb::kDeleteAll:
      return DeleteAll(change, server);
    case AuditChange::Verb::kBind: {
      const api::PodPtr stored = server.FindPod(change.name_space, change.name);
      if (stored == nullptr) return NotThere(change);
      return server.Bind(*stored, change.node);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<api::ObjectPtr> AuditReplayer::Decode(const AuditChange& change, const api::Object* stored) {
  const std::string name = absl::StrCat(api::KindName(change.kind), " ", change.name);
  if (change.body.empty()) return absl::InvalidArgumentError(absl::StrCat(name, ": the log has no body"));
  api::ObjectPtr object;
  codec::Document merged;
  std::string uid = change.uid;
  if (uid.empty() && change.pod >= 0) uid = absl::StrCat("pod-of-the-log-", change.pod);
  const auto decode = [&](const codec::Document& body) -> absl::Status {
    if (stored == nullptr) {
      ASSIGN_OR_RETURN(object, reader_.Decode(CompleteCreation(change, uid, body.root, merged), name));
      return absl::OkStatus();
    }
    if (change.verb == AuditChange::Verb::kPatch) {
      ASSIGN_OR_RETURN(object, codec::PatchObject(*stored, PatchTypeOf(body.root), body.root, reader_));
      return absl::OkStatus();
    }
    const auto update_stored = [&](const codec::Document& before) -> absl::Status {
      const Value value = CombineUpdate(before.root, body.root, change.is_status, merged);
      ASSIGN_OR_RETURN(object, reader_.Decode(value, name));
      return absl::OkStatus();
    };
    return codec::ReadText(codec::ObjectJson(*stored), name, {}, update_stored);
  };
  // The root of a document that is no map needs the ending to be taken for JSON.
  RETURN_IF_ERROR(codec::ReadText(change.body, absl::StrCat(name, ".json"), {}, decode));
  const bool is_same = stored == nullptr || object->Key() == stored->Key();
  if (object->kind != change.kind || !is_same) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": expected kind, namespace and name of the request"));
  }
  return object;
}

absl::Status AuditReplayer::Create(const AuditChange& change, ApiServer& server) {
  api::ObjectPtr object;
  ASSIGN_OR_RETURN(object, Decode(change, nullptr));
  // A name that is used again: the simulation has not come so far yet.
  const api::ObjectPtr stored = FindObject(change, server);
  if (stored != nullptr) RETURN_IF_ERROR(DeleteObject(*stored, server));
  if (change.kind == api::Kind::kNode && change.taints_change && !change.is_answer) {
    auto node = std::static_pointer_cast<api::Node>(object->Clone());
    // What the API server gives a node whose kubelet has not been heard of.
    // Source: kubernetes v1.37, plugin/pkg/admission/nodetaint.
    node->spec.taints.push_back(
        {.key = std::string(api::kTaintNodeNotReady), .value = "", .effect = "NoSchedule"});
    object = node;
  }
  if (change.pod >= 0) pod_by_uid_[object->metadata.uid] = change.pod;
  if (!Admission::PassedBefore(*object)) {
    // The real server let it in, whatever the log leaves out of it and of its namespace.
    const std::shared_ptr<api::Object> known = object->Clone();
    known->metadata.resource_version = 1;
    object = known;
  }
  return server.Create(object);
}

absl::Status AuditReplayer::Modify(const AuditChange& change, ApiServer& server) {
  const api::ObjectPtr stored = FindObject(change, server);
  if (stored == nullptr) return NotThere(change);
  if (change.ends) return DeleteObject(*stored, server);
  api::ObjectPtr object;
  ASSIGN_OR_RETURN(object, Decode(change, stored.get()));
  if (change.kind == api::Kind::kPod && decisions_ == Decisions::kSimulated) {
    auto pod = std::static_pointer_cast<api::Pod>(object->Clone());
    KeepDecisions(static_cast<const api::Pod&>(*stored), *pod);
    object = pod;
  }
  // The versions of the log are those of another server.
  return server.Update(object, ApiServer::VersionCheck::kUnchecked);
}

absl::Status AuditReplayer::Delete(const AuditChange& change, ApiServer& server) {
  const api::ObjectPtr stored = FindObject(change, server);
  // It may be deleted twice, or the scheduler was faster.
  if (stored == nullptr) return absl::OkStatus();
  if (change.kind != api::Kind::kPod) {
    if (!change.lingers) return DeleteObject(*stored, server);
    std::shared_ptr<api::Object> copy = stored->Clone();
    copy->metadata.deletion_timestamp = change.at;
    return server.Update(copy);
  }
  const auto& pod = static_cast<const api::Pod&>(*stored);
  if (!LogEnds(pod)) return change.at_once ? DeleteObject(pod, server) : server.DeletePod(pod);
  if (change.at_once || pod.node_name.empty() || pod.IsTerminal()) return DeleteObject(pod, server);
  if (pod.metadata.deletion_timestamp.has_value()) return absl::OkStatus();
  return server.MarkDeleted(pod, kDefaultGracePeriod);
}

absl::Status AuditReplayer::DeleteAll(const AuditChange& change, ApiServer& server) {
  if (change.has_selector) return absl::UnimplementedError("a deletion by selector");
  std::vector<api::ObjectPtr> objects;
  for (const auto& [key, object] : server.List(change.kind)) {
    if (object->metadata.namespace_ == change.name_space) objects.push_back(object);
  }
  for (const api::ObjectPtr& object : objects) RETURN_IF_ERROR(DeleteObject(*object, server));
  return absl::OkStatus();
}

bool AuditReplayer::LogEnds(const api::Pod& pod) const {
  const auto found = pod_by_uid_.find(pod.metadata.uid);
  if (found == pod_by_uid_.end()) return false;
  const AuditPod& in_log = log_.pods[static_cast<size_t>(found->second)];
  return in_log.gone.has_value() && !in_log.deleted_by_scheduler;
}

bool AuditReplayer::OnWatch(const WatchEvent& event, absl::Time now) {
  if (event.new_object == nullptr || event.new_object->kind != api::Kind::kPod) return false;
  const auto& pod = static_cast<const api::Pod&>(*event.new_object);
  const bool was_bound =
      event.old_object != nullptr && !static_cast<const api::Pod&>(*event.old_object).node_name.empty();
  const auto found = pod_by_uid_.find(pod.metadata.uid);
  if (pod.node_name.empty() || was_bound || found == pod_by_uid_.end()) return false;
  result_.bound[static_cast<size_t>(found->second)] = now;
  return held_.contains(found->second);
}

void AuditReplayer::ApplyHeld(ApiServer& server) {
  for (auto held = held_.begin(); held != held_.end();) {
    const AuditPod& in_log = log_.pods[static_cast<size_t>(held->first)];
    const api::PodPtr pod = server.FindPod(in_log.name_space, in_log.name);
    const bool waits = pod != nullptr && pod->node_name.empty();
    if (waits) {
      ++held;
      continue;
    }
    const std::vector<const AuditChange*> changes = std::move(held->second);
    held = held_.erase(held);
    // They count already.
    for (const AuditChange* change : changes) {
      if (pod != nullptr) Modify(*change, server).IgnoreError();
    }
  }
}

}  // namespace schedsim::sim
