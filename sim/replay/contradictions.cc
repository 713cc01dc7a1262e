#include "sim/replay/contradictions.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/pod.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {
namespace {

// What a controller takes at most to hear of its pods and to say so.
constexpr absl::Duration kSettleTime = absl::Seconds(2);
// Pods that fall silent so long before the rest have most likely lost their stream.
constexpr absl::Duration kSilentTime = absl::Seconds(5);

// A number of a status, and which pods it counts.
struct Claim {
  absl::string_view kind;
  absl::string_view field;
  enum class Counts : uint8_t { kReady, kReadyOrEnding, kActive } counts;
};

// Source: kubernetes v1.37, pkg/controller: replicaset/replica_set.go, job/job_controller.go count no pods
// that are being deleted; statefulset/stateful_set_control.go and daemon/daemon_controller.go do.
constexpr Claim kClaims[] = {
    {"ReplicaSet", "replicas", Claim::Counts::kActive},
    {"ReplicaSet", "readyReplicas", Claim::Counts::kReady},
    {"ReplicationController", "replicas", Claim::Counts::kActive},
    {"ReplicationController", "readyReplicas", Claim::Counts::kReady},
    {"StatefulSet", "readyReplicas", Claim::Counts::kReadyOrEnding},
    {"DaemonSet", "numberReady", Claim::Counts::kReadyOrEnding},
    {"Job", "active", Claim::Counts::kActive},
};

struct OwnPods {
  int64_t ready = 0;
  int64_t ready_or_ending = 0;  // Those that are being deleted and still ready among them.
  int64_t active = 0;
  int64_t without_node = 0;
};

bool IsReady(const api::Pod& pod) {
  const api::PodCondition* const ready = pod.FindCondition("Ready");
  return ready != nullptr && ready->status == "True";
}

void Count(const api::Pod& pod, OwnPods& own) {
  if (pod.node_name.empty()) ++own.without_node;
  if (pod.IsTerminal()) return;
  if (IsReady(pod)) ++own.ready_or_ending;
  if (pod.metadata.deletion_timestamp.has_value()) return;
  ++own.active;
  if (IsReady(pod)) ++own.ready;
}

int64_t NumberOf(const codec::Value& object, absl::string_view field) {
  const codec::Value* const status = object.Find("status");
  const codec::Value* const value = status == nullptr ? nullptr : status->Find(field);
  int64_t number = 0;
  return value != nullptr && absl::SimpleAtoi(value->text, &number) ? number : 0;
}

// When objects changed last, by uid.
std::map<std::string, absl::Time> LastChanges(const Recording& recording) {
  std::map<std::string, absl::Time> last;
  for (const RecordedChange& change : recording.changes) {
    const api::Object& object = change.object();
    last[object.metadata.uid] = change.at;
    const api::OwnerReference* const owner = api::ControllerOf(object);
    if (object.kind == api::Kind::kPod && owner != nullptr) last[owner->uid] = change.at;
  }
  return last;
}

absl::string_view NameOf(Claim::Counts counts) {
  return counts == Claim::Counts::kActive ? "that are not finished" : "ready";
}

int64_t CountOf(const OwnPods& own, Claim::Counts counts) {
  switch (counts) {
    case Claim::Counts::kReady:
      return own.ready;
    case Claim::Counts::kReadyOrEnding:
      return own.ready_or_ending;
    case Claim::Counts::kActive:
      break;
  }
  return own.active;
}

// What is wrong with the statuses of one object; "": nothing.
std::string ContradictionOf(const api::Object& object, const OwnPods& own) {
  std::string what;
  codec::VisitObjectTree(object, [&](const codec::Value& root) {
    for (const Claim& claim : kClaims) {
      if (claim.kind != object.kind_name || !what.empty()) continue;
      const int64_t said = NumberOf(root, claim.field);
      const int64_t there = CountOf(own, claim.counts);
      if (said == there) continue;
      what = absl::StrCat(object.kind_name, " ", object.Key(), ": its status says ", claim.field, " ", said,
                          ", the recording has ", there, " pods of it ", NameOf(claim.counts), ", and ",
                          own.without_node, " without a node");
    }
  });
  return what;
}

// Says where pods change no more long before all else does.
std::optional<std::string> SilenceOfPods(const Recording& recording) {
  std::optional<absl::Time> last_pod;
  std::optional<absl::Time> last_workload;
  for (const RecordedChange& change : recording.changes) {
    const api::Object& object = change.object();
    if (object.kind == api::Kind::kPod) last_pod = change.at;
    // Their statuses follow pods.
    if (object.kind == api::Kind::kReplicaSet || object.kind == api::Kind::kStatefulSet)
      last_workload = change.at;
  }
  const absl::Time pods = last_pod.value_or(recording.zero);
  if (!last_workload.has_value() || *last_workload - pods < kSilentTime) return std::nullopt;
  const auto seconds = [&](absl::Time time) { return absl::FormatDuration(time - recording.zero); };
  return absl::StrCat("the last change of a pod is at ", seconds(pods), ", while workloads change up to ",
                      seconds(*last_workload), ": the stream of pods seems to end too early");
}

}  // namespace

std::vector<std::string> FindContradictions(const Recording& recording,
                                            absl::Span<const api::ObjectPtr> objects) {
  std::map<std::string, OwnPods> own;
  for (const api::ObjectPtr& object : objects) {
    const api::OwnerReference* const owner = api::ControllerOf(*object);
    if (object->kind == api::Kind::kPod && owner != nullptr)
      Count(static_cast<const api::Pod&>(*object), own[owner->uid]);
  }
  const std::map<std::string, absl::Time> last = LastChanges(recording);
  std::vector<std::string> found;
  for (const api::ObjectPtr& object : objects) {
    const bool has_claim = std::any_of(std::begin(kClaims), std::end(kClaims),
                                       [&](const Claim& claim) { return claim.kind == object->kind_name; });
    if (!has_claim) continue;
    const auto changed = last.find(object->metadata.uid);
    if (changed != last.end() && recording.end() - changed->second < kSettleTime) continue;
    std::string what = ContradictionOf(*object, own[object->metadata.uid]);
    if (!what.empty()) found.push_back(std::move(what));
  }
  const std::optional<std::string> silence = found.empty() ? std::nullopt : SilenceOfPods(recording);
  if (silence.has_value()) found.push_back(*silence);
  return found;
}

}  // namespace schedsim::sim
