#include "sim/autoscaler/cluster_snapshot.h"

#include "core/api/custom_resources.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

const api::Pod& AsPod(const api::ObjectPtr& object) { return static_cast<const api::Pod&>(*object); }

// The pod on this node; "": on none, as before it was scheduled.
api::PodPtr WithNode(const api::PodPtr& pod, const std::string& node_name) {
  if (pod->node_name == node_name) return pod;
  auto copy = std::static_pointer_cast<api::Pod>(pod->Clone());
  copy->node_name = node_name;
  copy->status.nominated_node_name.clear();
  return copy;
}

}  // namespace

ClusterSnapshot::ClusterSnapshot(Options options)
    : options_(std::move(options)),
      pod_infos_(options_.scheduler.line, symbols_),
      nobody_(std::make_unique<scheduler::IdleClient>()) {}

ClusterSnapshot::~ClusterSnapshot() = default;

absl::StatusOr<std::unique_ptr<ClusterSnapshot>> ClusterSnapshot::Make(
    Options options, const std::vector<framework::RegisteredPlugin>& registry, EventLoop& loop,
    const Rng& rng) {
  std::unique_ptr<ClusterSnapshot> snapshot(new ClusterSnapshot(std::move(options)));
  ASSIGN_OR_RETURN(snapshot->scheduler_, scheduler::Scheduler::Make(snapshot->options_.scheduler, registry,
                                                                    {.clock = loop,
                                                                     .executor = loop,
                                                                     .client = *snapshot->nobody_,
                                                                     .observer = *snapshot->nobody_,
                                                                     .rng = rng.Fork("autoscaler/scheduler"),
                                                                     .on_poppable = [] {}}));
  return snapshot;
}

// Pods that wait, and those that are over, take no room.
bool ClusterSnapshot::IsThere(const api::ObjectPtr& object) const {
  if (object == nullptr) return false;
  if (object->kind == api::Kind::kOther) return api::CustomKindOf(*object) != api::CustomKind::kNone;
  if (object->kind != api::Kind::kPod) return true;
  const api::Pod& pod = AsPod(object);
  return !pod.node_name.empty() && !pod.IsTerminal() && pod.Priority() >= options_.priority_cutoff;
}

void ClusterSnapshot::OnEvent(const WatchEvent& event) {
  CHECK(changes_.empty());
  const api::ObjectPtr old_object = IsThere(event.old_object) ? event.old_object : nullptr;
  const api::ObjectPtr new_object = IsThere(event.new_object) ? event.new_object : nullptr;
  if (old_object != nullptr || new_object != nullptr) Apply(old_object, new_object);
}

void ClusterSnapshot::Apply(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  const api::Kind kind = (new_object != nullptr ? new_object : old_object)->kind;
  if (kind == api::Kind::kNode) {
    if (old_object != nullptr) nodes_.erase(old_object->metadata.name);
    if (new_object != nullptr) {
      nodes_[new_object->metadata.name] = std::static_pointer_cast<const api::Node>(new_object);
    }
  } else if (kind == api::Kind::kPod) {
    if (old_object != nullptr) {
      const auto found = pods_.find(AsPod(old_object).node_name);
      CHECK(found != pods_.end() && found->second.erase(old_object->Key()) > 0);
      if (found->second.empty()) pods_.erase(found);
    }
    if (new_object != nullptr) {
      pods_[AsPod(new_object).node_name][new_object->Key()] =
          std::static_pointer_cast<const api::Pod>(new_object);
    }
  }
  if (old_object == nullptr) {
    scheduler_->OnAdd(new_object);
  } else if (new_object == nullptr) {
    scheduler_->OnDelete(old_object);
  } else {
    scheduler_->OnUpdate(old_object, new_object);
  }
}

const ClusterSnapshot::Pods& ClusterSnapshot::PodsOn(const std::string& node_name) const {
  static const Pods* const kNone = new Pods();
  const auto found = pods_.find(node_name);
  return found == pods_.end() ? *kNone : found->second;
}

const framework::Resource& ClusterSnapshot::RequestsOf(const api::PodPtr& pod) {
  pod_info_ = pod_infos_.Make(pod);
  return pod_info_->requests;
}

ClusterSnapshot::Shape ClusterSnapshot::ShapeOf(const api::PodPtr& pod) {
  const framework::PodInfoPtr info = pod_infos_.Make(pod);
  return {pod->metadata.namespace_, info->spec_info->id, info->labels_id, info->volumes_id};
}

scheduler::Scheduler::Fit ClusterSnapshot::FindFit(const api::PodPtr& pod,
                                                   absl::Span<const std::string> node_names) {
  return scheduler_->FindFit(WithNode(pod, ""), node_names);
}

void ClusterSnapshot::Try(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  Apply(old_object, new_object);
  changes_.emplace_back(old_object, new_object);
}

void ClusterSnapshot::RevertTo(size_t mark) {
  while (changes_.size() > mark) {
    const auto [before, after] = std::move(changes_.back());
    changes_.pop_back();
    Apply(after, before);
  }
}

void ClusterSnapshot::PutNode(const api::NodePtr& node) {
  const auto found = nodes_.find(node->metadata.name);
  Try(found == nodes_.end() ? nullptr : found->second, node);
}

void ClusterSnapshot::PutPod(const api::PodPtr& pod, const std::string& node_name) {
  Try(nullptr, WithNode(pod, node_name));
}

void ClusterSnapshot::RemovePod(const api::PodPtr& pod) { Try(pod, nullptr); }

}  // namespace schedsim::sim
