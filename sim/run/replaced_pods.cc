#include "sim/run/replaced_pods.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/codec/objects/object_writer.h"
#include "sim/controllers/workload_fields.h"

namespace schedsim::sim {
namespace {

// What tells the pods of two rollouts of one workload apart; "": the ReplicaSet itself does.
absl::string_view RevisionOf(const api::Pod& pod) {
  const std::string* const hash = pod.metadata.labels.Find("controller-revision-hash");
  return hash == nullptr ? absl::string_view() : absl::string_view(*hash);
}

bool IsOwnedBy(const api::Pod& pod, absl::string_view uid) {
  const api::OwnerReference* const owner = ControllerOf(pod);
  return owner != nullptr && owner->uid == uid;
}

}  // namespace

void ReplacedPods::OnChangeFromOutside(absl::Time now) {
  ++outside_epoch_;
  OnProgress(now);
}

void ReplacedPods::OnProgress(absl::Time now) {
  ++epoch_;
  since_ = now;
  circle_.reset();
}

bool ReplacedPods::OnPod(const WatchEvent& event, bool counts, bool is_victim, absl::Time now) {
  const auto* const before = static_cast<const api::Pod*>(event.old_object.get());
  const auto* const after = static_cast<const api::Pod*>(event.new_object.get());
  const api::Pod& pod = after != nullptr ? *after : *before;
  const api::OwnerReference* const owner = ControllerOf(pod);
  if (owner == nullptr) {
    const bool waited = before != nullptr && before->node_name.empty();
    return waited && after != nullptr && !after->node_name.empty();
  }
  const bool was_active = before != nullptr && !before->IsTerminal() && IsOwnedBy(*before, owner->uid);
  const bool is_active = after != nullptr && !after->IsTerminal();
  const bool was_placed = was_active && !before->node_name.empty();
  const bool has_succeeded = owner->kind == "Job" && after != nullptr && after->status.phase == "Succeeded";
  const bool is_placed = (is_active && !after->node_name.empty()) || (was_placed && has_succeeded);
  if (was_active != is_active) {
    Workload& workload = workloads_[owner->uid];
    workload.active += is_active ? 1 : -1;
    workload.active_max = std::max(workload.active_max, workload.active);
    if (was_active && !has_succeeded && counts) NoteReplaced(pod, *owner, is_victim, now);
  }
  return was_placed != is_placed && NotePlaced(pod, *owner, is_placed ? 1 : -1);
}

bool ReplacedPods::NotePlaced(const api::Pod& pod, const api::OwnerReference& owner, int64_t by) {
  Revision& revision = revisions_[absl::StrCat(owner.uid, "/", RevisionOf(pod))];
  if (revision.outside_epoch != outside_epoch_) {
    revision.outside_epoch = outside_epoch_;
    revision.placed_max = revision.placed;
  }
  revision.placed += by;
  if (revision.placed <= revision.placed_max) return false;
  revision.placed_max = revision.placed;
  return true;
}

void ReplacedPods::NoteReplaced(const api::Pod& pod, const api::OwnerReference& owner, bool is_victim,
                                absl::Time now) {
  Workload& workload = workloads_[owner.uid];
  if (workload.epoch != epoch_) {
    workload.epoch = epoch_;
    workload.replaced = 0;
    workload.victims = 0;
  }
  ++workload.replaced;
  workload.victims += is_victim ? 1 : 0;
  if (GoesRound()) {
    if (owner.uid != circle_uid_) return;
    circle_->replaced_count = workload.replaced;
    circle_->victim_count = workload.victims;
    return;
  }
  if (workload.replaced < std::max(kReplacedMin, kRoundsMax * workload.active_max)) return;
  if (workload.replaced < kRoundsMax * CompletionsOf(pod, owner)) return;
  circle_ = Circle{.workload = absl::StrCat(owner.kind, " ", pod.metadata.namespace_, "/", owner.name),
                   .replaced_count = workload.replaced,
                   .victim_count = workload.victims,
                   .since = since_,
                   .seen = now};
  circle_uid_ = owner.uid;
  circle_epoch_ = epoch_;
  replaced_when_seen_ = workload.replaced;
}

int64_t ReplacedPods::ReplacedSinceSeen() const {
  CHECK(GoesRound());
  return circle_->replaced_count - replaced_when_seen_;
}

int64_t ReplacedPods::CompletionsOf(const api::Pod& pod, const api::OwnerReference& owner) const {
  if (owner.kind != "Job") return 0;
  const api::ObjectPtr job =
      server_.FindOther(owner.api_version, "Job", absl::StrCat(pod.metadata.namespace_, "/", owner.name));
  int64_t completions = 0;
  if (job == nullptr) return completions;
  codec::VisitObjectTree(*job, [&completions](const codec::Value& root) {
    absl::Status error;
    completions = FieldReader(root, {"spec"}, error).Count("completions", 0);
  });
  return completions;
}

}  // namespace schedsim::sim
