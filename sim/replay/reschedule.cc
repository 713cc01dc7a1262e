#include "sim/replay/reschedule.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/percentile.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

// What binding writes into a pod from its node. Source: kubernetes v1.37,
// plugin/pkg/admission/podtopologylabels.
constexpr absl::string_view kTopologyLabels[] = {"topology.kubernetes.io/zone",
                                                 "topology.kubernetes.io/region"};
// A volume that a provisioner made. Source: component-helpers v0.37, storage/volume/pv_helpers.go.
constexpr absl::string_view kProvisionedBy = "pv.kubernetes.io/provisioned-by";

const api::Pod* AsPod(const api::ObjectPtr& object) {
  const bool is_pod = object != nullptr && object->kind == api::Kind::kPod;
  return is_pod ? static_cast<const api::Pod*>(object.get()) : nullptr;
}

// The scheduler deletes the pod for another one.
bool IsVictim(const api::Pod& pod) {
  const api::PodCondition* const target = pod.FindCondition("DisruptionTarget");
  return target != nullptr && target->reason == "PreemptionByScheduler";
}

api::StringMap LabelsWithoutTopology(const api::Pod& pod) {
  api::StringMap labels = pod.metadata.labels;
  for (const absl::string_view label : kTopologyLabels) labels.Erase(label);
  return labels;
}

// Of a pod: whether anything changed but what binding and statuses say.
bool IsOfUser(const api::Pod& before, const api::Pod& after) {
  return before.spec != after.spec || LabelsWithoutTopology(before) != LabelsWithoutTopology(after) ||
         before.metadata.annotations != after.metadata.annotations;
}

// Leases and events tell no scheduler anything.
bool IsNoise(const api::Object& object) {
  return object.kind_name == "Lease" || object.kind_name == "Event" || object.kind_name == "EndpointSlice" ||
         object.kind_name == "Endpoints";
}

bool IsVolumeKind(api::Kind kind) {
  return kind == api::Kind::kPersistentVolume || kind == api::Kind::kPersistentVolumeClaim ||
         kind == api::Kind::kResourceClaim;
}

RecordingComparison::Latencies LatenciesOf(std::vector<absl::Duration> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  return {.p50 = Percentile(samples, 50),
          .p90 = Percentile(samples, 90),
          .p99 = Percentile(samples, 99),
          .max = samples.back()};
}

}  // namespace

RescheduleScript::RescheduleScript(const Recording& recording, Simulation& simulation)
    : recording_(recording), simulation_(simulation) {
  ReadLives();
  // What is made here takes no uid of an object that comes later.
  for (const RecordedChange& change : recording_.changes)
    simulation_.server().ReserveUid(change.object().metadata.uid);
  simulation_.server().Watch([this](const WatchEvent& event) { OnWatch(event); });
}

std::vector<api::ObjectPtr> RescheduleScript::FirstObjects(const Recording& recording) {
  std::vector<api::ObjectPtr> objects;
  for (const api::ObjectPtr& object : recording.objects) {
    if (!IsNoise(*object)) objects.push_back(object);
  }
  // Nodes and all else first; then pods, those that wait in the order of their creation.
  const auto rank = [](const api::ObjectPtr& object) {
    const api::Pod* const pod = AsPod(object);
    if (pod == nullptr) return object->kind == api::Kind::kNode ? 0 : 1;
    return pod->node_name.empty() ? 3 : 2;
  };
  std::stable_sort(objects.begin(), objects.end(), [&](const api::ObjectPtr& a, const api::ObjectPtr& b) {
    const int rank_a = rank(a);
    const int rank_b = rank(b);
    if (rank_a != rank_b || rank_a != 3) return rank_a < rank_b;
    return a->metadata.creation_timestamp < b->metadata.creation_timestamp;
  });
  return objects;
}

void RescheduleScript::ReadLife(const api::ObjectPtr& before, const api::ObjectPtr& after, absl::Time at) {
  const api::Pod* const pod = AsPod(after);
  if (pod == nullptr) return;
  Life& life = lives_[pod->metadata.uid];
  if (life.key.empty()) {
    life.key = pod->Key();
    life.created = at;
  }
  const api::Pod* const old_pod = AsPod(before);
  const bool is_same = old_pod != nullptr && old_pod->metadata.uid == pod->metadata.uid;
  if (pod->node_name.empty() && !pod->IsTerminal() && simulation_.ResponsibleFor(*pod)) life.waited = true;
  if (!pod->node_name.empty() && life.node.empty()) {
    life.node = pod->node_name;
    if (is_same) life.bound = at;
  }
  if (pod->IsTerminal() && !life.finished.has_value() && is_same) {
    life.finished = at;
    life.last = std::static_pointer_cast<const api::Pod>(after);
  }
  life.is_victim |= IsVictim(*pod);
}

void RescheduleScript::ReadLives() {
  for (const api::ObjectPtr& object : recording_.objects) ReadLife(nullptr, object, recording_.zero);
  for (const RecordedChange& change : recording_.changes) ReadLife(change.before, change.after, change.at);
}

void RescheduleScript::OnWatch(const WatchEvent& event) {
  const api::Pod* const pod = AsPod(event.new_object);
  if (pod == nullptr || pod->node_name.empty()) return;
  const api::Pod* const before = AsPod(event.old_object);
  const auto found = lives_.find(pod->metadata.uid);
  if (found == lives_.end() || (before != nullptr && !before->node_name.empty())) return;
  Life& life = found->second;
  life.node_here = pod->node_name;
  if (before == nullptr) return;
  life.bound_here = simulation_.now();
  FinishLater(life);
}

// A pod that finished in the recording runs here as long as there.
void RescheduleScript::FinishLater(Life& life) {
  if (!life.finished.has_value() || !life.bound.has_value()) return;
  const absl::Time at = *life.bound_here + (*life.finished - *life.bound);
  const std::string uid = life.last->metadata.uid;
  simulation_.loop().At(std::max(at, simulation_.now()), EventLoop::Phase::kStep,
                        [this, uid] { Finish(uid); });
}

void RescheduleScript::Finish(const std::string& uid) {
  const Life& life = lives_[uid];
  const api::PodPtr stored =
      simulation_.server().FindPod(life.last->metadata.namespace_, life.last->metadata.name);
  if (stored == nullptr || stored->metadata.uid != uid) return;
  const auto pod = std::static_pointer_cast<api::Pod>(stored->Clone());
  pod->status.phase = life.last->status.phase;
  simulation_.server().Update(pod, ApiServer::VersionCheck::kUnchecked).IgnoreError();
}

void RescheduleScript::OnSettled() {
  if (Done() && simulation_.Quiet()) simulation_.Stop();
}

// Each change is put into the loop when the one before is done, so that what it sets off comes before the
// next.
void RescheduleScript::Schedule() {
  if (Done()) return;
  EventLoop& loop = simulation_.loop();
  loop.At(std::max(loop.Now(), recording_.changes[next_].at), EventLoop::Phase::kStep, [this] {
    Apply(recording_.changes[next_]);
    ++next_;
    Schedule();
  });
}

void RescheduleScript::Apply(const RecordedChange& change) {
  is_left_out_ = false;
  const api::Object& object = change.object();
  absl::Status status;
  if (IsNoise(object)) {
    is_left_out_ = true;
  } else if (object.kind == api::Kind::kPod) {
    status = ApplyPod(change);
  } else if (IsVolumeKind(object.kind)) {
    status = ApplyVolume(change);
  } else {
    status = ApplyOther(change);
  }
  if (!status.ok()) {
    if (result_.failed_count++ == 0)
      result_.first_failed = absl::StrCat("line ", change.line, ": ", status.message());
  } else {
    ++(is_left_out_ ? result_.left_out_count : result_.applied_count);
  }
}

absl::Status RescheduleScript::ApplyPod(const RecordedChange& change) {
  const api::Pod* const before = AsPod(change.before);
  const api::Pod* const after = AsPod(change.after);
  const bool is_other = before != nullptr && after != nullptr && before->metadata.uid != after->metadata.uid;
  if (before == nullptr || is_other) return CreatePod(*after);
  if (after != nullptr) return UpdatePod(*before, *after, change.at);
  if (lives_[before->metadata.uid].is_victim) {
    is_left_out_ = true;
    return absl::OkStatus();
  }
  const api::PodPtr stored = simulation_.server().FindPod(before->metadata.namespace_, before->metadata.name);
  // The scheduler may have made room with it here.
  if (stored == nullptr || stored->metadata.uid != before->metadata.uid) return absl::OkStatus();
  return simulation_.server().Delete(*stored);
}

absl::Status RescheduleScript::CreatePod(const api::Pod& pod) {
  ApiServer& server = simulation_.server();
  // A name that is used again: the run has not come so far yet.
  const api::PodPtr stored = server.FindPod(pod.metadata.namespace_, pod.metadata.name);
  if (stored != nullptr) RETURN_IF_ERROR(server.Delete(*stored));
  const auto created = std::static_pointer_cast<api::Pod>(pod.Clone());
  created->status.nominated_node_name.clear();
  created->status.conditions.Mutable().clear();
  return server.Create(created);
}

absl::Status RescheduleScript::UpdatePod(const api::Pod& before, const api::Pod& after, absl::Time at) {
  ApiServer& server = simulation_.server();
  const api::PodPtr stored = server.FindPod(after.metadata.namespace_, after.metadata.name);
  const bool begins_to_end =
      !before.metadata.deletion_timestamp.has_value() && after.metadata.deletion_timestamp.has_value();
  const bool is_of_user = IsOfUser(before, after);
  const Life& life = lives_[after.metadata.uid];
  if (life.is_victim && begins_to_end) {
    is_left_out_ = true;
    return absl::OkStatus();
  }
  if (!is_of_user && !begins_to_end) {
    is_left_out_ = true;
    // A pod that never had a node is finished by whoever gives up on it.
    if (before.IsTerminal() || !after.IsTerminal() || life.bound.has_value()) return absl::OkStatus();
    Finish(after.metadata.uid);
    return absl::OkStatus();
  }
  if (stored == nullptr || stored->metadata.uid != after.metadata.uid) {
    return absl::NotFoundError(absl::StrCat("there is no Pod ", after.Key(), " at this time"));
  }
  if (is_of_user) {
    const auto pod = std::static_pointer_cast<api::Pod>(after.Clone());
    pod->metadata.deletion_timestamp = stored->metadata.deletion_timestamp;
    pod->node_name = stored->node_name;
    pod->status = stored->status;
    pod->metadata.labels = LabelsWithoutTopology(after);
    for (const absl::string_view label : kTopologyLabels) {
      const std::string* const value = stored->metadata.labels.Find(label);
      if (value != nullptr) pod->metadata.labels.Set(label, *value);
    }
    RETURN_IF_ERROR(server.Update(pod, ApiServer::VersionCheck::kUnchecked));
  }
  return begins_to_end ? EndPod(*stored, after, at) : absl::OkStatus();
}

// A pod that waits here is gone at once, whatever it did in the recording.
absl::Status RescheduleScript::EndPod(const api::Pod& stored, const api::Pod& after, absl::Time at) {
  ApiServer& server = simulation_.server();
  if (stored.node_name.empty() || stored.IsTerminal()) return server.Delete(stored);
  const absl::Duration grace = *after.metadata.deletion_timestamp - at;
  return server.MarkDeleted(stored, std::max(grace, absl::ZeroDuration()));
}

// Claims come and go; to whom they are bound is said by the scheduler and the volume controller.
absl::Status RescheduleScript::ApplyVolume(const RecordedChange& change) {
  ApiServer& server = simulation_.server();
  is_left_out_ = change.before != nullptr && change.after != nullptr;
  if (is_left_out_) return absl::OkStatus();
  const api::Object& object = change.object();
  const bool is_provisioned = object.kind == api::Kind::kPersistentVolume &&
                              object.metadata.annotations.Find(kProvisionedBy) != nullptr;
  if (is_provisioned) {
    is_left_out_ = true;
    return absl::OkStatus();
  }
  if (change.after != nullptr) {
    // Claims of ephemeral volumes are made here, too.
    is_left_out_ = server.Find(object) != nullptr;
    return is_left_out_ ? absl::OkStatus() : server.Create(change.after);
  }
  return server.Find(object) == nullptr ? absl::OkStatus() : server.Delete(object);
}

absl::Status RescheduleScript::ApplyOther(const RecordedChange& change) {
  ApiServer& server = simulation_.server();
  if (change.after == nullptr) {
    return server.Find(*change.before) == nullptr ? absl::OkStatus() : server.Delete(*change.before);
  }
  if (server.Find(*change.after) == nullptr) return server.Create(change.after);
  // The versions of a recording are those of another server.
  return server.Update(change.after, ApiServer::VersionCheck::kUnchecked);
}

RecordingComparison RescheduleScript::Compare() const {
  RecordingComparison result = result_;
  std::vector<absl::Duration> recorded;
  std::vector<absl::Duration> here;
  for (const auto& [uid, life] : lives_) {
    if (life.is_victim) ++result.recorded_victim_count;
    if (!life.waited) continue;
    ++result.pod_count;
    const bool was_bound = !life.node.empty();
    const bool is_bound = !life.node_here.empty();
    const bool is_same = was_bound && life.node == life.node_here;
    ++(is_same                 ? result.same_node_count
       : was_bound && is_bound ? result.other_node_count
       : was_bound             ? result.recorded_only_count
       : is_bound              ? result.here_only_count
                               : result.neither_count);
    if (!is_same && (was_bound || is_bound))
      result.others.push_back({.pod = life.key, .recorded_node = life.node, .node = life.node_here});
    if (!life.bound.has_value() || !life.bound_here.has_value()) continue;
    recorded.push_back(*life.bound - life.created);
    here.push_back(*life.bound_here - life.created);
  }
  std::stable_sort(
      result.others.begin(), result.others.end(),
      [](const RecordingComparison::Pod& a, const RecordingComparison::Pod& b) { return a.pod < b.pod; });
  result.recorded = LatenciesOf(std::move(recorded));
  result.here = LatenciesOf(std::move(here));
  return result;
}

}  // namespace schedsim::sim
