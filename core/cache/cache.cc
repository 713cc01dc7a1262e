#include "core/cache/cache.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/framework/resource.h"

namespace schedsim::cache {

using framework::NodeInfo;
using framework::PodInfo;
using framework::PodInfoPtr;

namespace {

// So many lists of images are kept in any case.
constexpr size_t kImageListsMin = 1000;

}  // namespace

NodeInfo& Cache::NodeOf(absl::string_view name) {
  const Symbol symbol = symbols_.Intern(name);
  if (const int32_t* known = node_indices_.Find(symbol)) return *nodes_[static_cast<size_t>(*known)];
  const int32_t index = static_cast<int32_t>(nodes_.size());
  node_indices_[symbol] = index;
  nodes_.push_back(std::make_unique<NodeInfo>());
  is_changed_.push_back(false);
  in_snapshot_.push_back(false);
  images_seen_.push_back(-1);
  node_images_.emplace_back();
  NodeInfo& node = *nodes_.back();
  node.name = symbol;
  node.index = index;
  return node;
}

NodeInfo& Cache::Writable(int32_t index) {
  std::unique_ptr<NodeInfo>& node = nodes_[static_cast<size_t>(index)];
  const auto is_this = [index](const std::unique_ptr<NodeInfo>& held) { return held->index == index; };
  if (is_held_ && std::none_of(held_.begin(), held_.end(), is_this)) {
    auto copy = std::make_unique<NodeInfo>(*node);
    held_.push_back(std::exchange(node, std::move(copy)));
  }
  return *node;
}

bool Cache::ReplaceHeld(Snapshot& snapshot) {
  is_held_ = false;
  if (held_.empty()) return false;
  for (const NodeInfo*& node : snapshot.list_) {
    node = nodes_[static_cast<size_t>(node->index)].get();
    snapshot.by_name_[node->name] = node;
  }
  // They have nodes that are about to go.
  snapshot.changes_.Forget();
  snapshot.object_changes_.Forget();
  held_.clear();
  return true;
}

// Generations come from one counter for all nodes. So what was remembered for a generation can be mistaken
// neither for an older state of its node nor for another node.
void Cache::Touch(NodeInfo& node) {
  node.generation = ++generation_;
  const size_t index = static_cast<size_t>(node.index);
  if (is_changed_[index]) return;
  is_changed_[index] = true;
  changed_.push_back(node.index);
}

void Cache::Insert(PodInfoPtr pod, bool assumed, int32_t node_index) {
  // Where the node is not known yet, this makes an entry without a node: the pod waits there for it.
  NodeInfo& node = Writable(node_index == kUnknownNode ? NodeOf(pod->pod->node_name).index : node_index);
  pods_.Set(*pod->pod, {.pod = pod, .node_index = node.index, .assumed = assumed});
  node.AddPod(std::move(pod));
  Touch(node);
}

void Cache::Remove(const api::Pod& pod) {
  PodState* state = pods_.Find(pod);
  if (state == nullptr) return;
  NodeInfo& node = Writable(state->node_index);
  if (node.RemovePod(pod.metadata.uid)) Touch(node);
  pods_.Erase(pod);
}

absl::Status Cache::AssumePod(PodInfoPtr pod, int32_t node_index) {
  const std::string& uid = pod->pod->metadata.uid;
  if (pods_.Find(*pod->pod) != nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("pod ", uid, "(", pod->pod->Key(), ") is in the cache, so can't be assumed"));
  }
  if (groups_ != nullptr) groups_->AssumePod(pod->pod);
  Insert(std::move(pod), true, node_index);
  return absl::OkStatus();
}

absl::Status Cache::ForgetPod(const PodInfo& pod) {
  const std::string& uid = pod.pod->metadata.uid;
  const PodState* state = pods_.Find(*pod.pod);
  if (state == nullptr) return absl::OkStatus();
  if (!state->assumed) {
    return absl::FailedPreconditionError(absl::StrCat(
        "pod ", uid, "(", pod.pod->Key(), ") is not assumed, so it cannot be removed or forgotten"));
  }
  if (groups_ != nullptr) groups_->ForgetPod(*pod.pod);
  Remove(*pod.pod);
  return absl::OkStatus();
}

bool Cache::Confirm(PodState& state, const PodInfoPtr& pod) {
  const PodInfo& assumed = *state.pod;
  if (assumed.spec_info != pod->spec_info || assumed.pod->node_name != pod->pod->node_name) return false;
  NodeInfo& node = Writable(state.node_index);
  if (!node.ReplaceLastPod(assumed, pod)) return false;
  state = {.pod = pod, .node_index = node.index, .assumed = false};
  Touch(node);
  return true;
}

void Cache::AddPod(PodInfoPtr pod) {
  PodState* state = pods_.Find(*pod->pod);
  if (state != nullptr && !state->assumed) return;
  if (groups_ != nullptr) {
    groups_->RemovePod(*pod->pod);
    groups_->AddPod(pod->pod);
  }
  if (state != nullptr && Confirm(*state, pod)) return;
  // The bound pod may be on another node than the assumed one: another scheduler may have been faster. Taking
  // it out and in again makes it the last on its node in either case, as upstream does.
  Remove(*pod->pod);
  Insert(std::move(pod), false);
}

void Cache::UpdatePod(PodInfoPtr pod) {
  const PodState* state = pods_.Find(*pod->pod);
  if (state == nullptr || state->assumed) return;
  if (groups_ != nullptr) {
    groups_->RemovePod(*pod->pod);
    groups_->AddPod(pod->pod);
  }
  Remove(*pod->pod);
  Insert(std::move(pod), false);
}

void Cache::RemovePod(const api::Pod& pod) {
  if (groups_ != nullptr && HasPod(pod)) groups_->RemovePod(pod);
  Remove(pod);
}

void Cache::Keep(int32_t node_index) {
  if (keeps_nodes_) kept_nodes_.emplace(node_index, *nodes_[static_cast<size_t>(node_index)]);
}

void Cache::TouchInSnapshot(Snapshot& snapshot, NodeInfo& node) {
  node.generation = ++generation_;
  if (node.position < 0) return;
  snapshot.changes_.Add(node, snapshot.list_.size());
  snapshot.columns_.Set(node);
}

void Cache::AddToSnapshot(Snapshot& snapshot, PodInfoPtr pod, int32_t node_index) {
  Keep(node_index);
  NodeInfo& node = *nodes_[static_cast<size_t>(node_index)];
  node.AddPod(std::move(pod));
  TouchInSnapshot(snapshot, node);
}

void Cache::RemoveFromSnapshot(Snapshot& snapshot, const api::Pod& pod, int32_t node_index) {
  Keep(node_index);
  NodeInfo& node = *nodes_[static_cast<size_t>(node_index)];
  if (node.RemovePod(pod.metadata.uid)) TouchInSnapshot(snapshot, node);
}

void Cache::EndMutations(Snapshot& snapshot) {
  keeps_nodes_ = false;
  for (auto& [index, kept] : kept_nodes_) {
    NodeInfo& node = *nodes_[static_cast<size_t>(index)];
    node = std::move(kept);
    TouchInSnapshot(snapshot, node);
  }
  kept_nodes_.clear();
}

bool Cache::IsAssumedPod(const api::Pod& pod) const {
  const PodState* state = pods_.Find(pod);
  return state != nullptr && state->assumed;
}

PodInfoPtr Cache::FindPod(const api::Pod& pod) const {
  const PodState* state = pods_.Find(pod);
  return state == nullptr ? nullptr : state->pod;
}

Cache::ImageListPtr Cache::ImageListOf(const api::SharedList<api::ContainerImage>& images) {
  if (const ImageListPtr* known = image_lists_.Find(images.storage().get())) return *known;
  auto list = std::make_shared<ImageList>();
  list->given = images;
  LookupMap<Symbol, bool> seen;
  for (const api::ContainerImage& image : images) {
    for (const std::string& name : image.names) {
      const Symbol symbol = symbols_.Intern(name);
      // A node may list an image twice.
      if (std::exchange(seen[symbol], true)) continue;
      list->names.push_back(symbol);
      list->sizes.push_back(image.size_bytes);
    }
  }
  // Bounds what is kept of lists that no node has any more.
  if (image_lists_.size() >= 2 * nodes_.size() + kImageListsMin) image_lists_.Clear();
  return image_lists_[images.storage().get()] = std::move(list);
}

void Cache::AddImages(const api::Node& node, int32_t index) {
  if (node.status.images.empty()) return;
  ++images_version_;
  const ImageListPtr list = ImageListOf(node.status.images);
  for (size_t i = 0; i < list->names.size(); ++i) {
    ImageStateEntry& entry = images_[list->names[i]];
    // The size that a node reports later does not count, however much it differs.
    if (entry.node_count == 0) entry.size_bytes = list->sizes[i];
    ++entry.node_count;
  }
  node_images_[static_cast<size_t>(index)] = list;
}

void Cache::RemoveImages(int32_t index) {
  const ImageListPtr list = std::exchange(node_images_[static_cast<size_t>(index)], nullptr);
  if (list == nullptr) return;
  ++images_version_;
  for (const Symbol name : list->names) --images_.Find(name)->node_count;
}

// How many nodes have an image is written down when its node is taken into the snapshot, and stays so until
// the node changes again. Upstream scores with such old numbers, too.
void Cache::RefreshImages(NodeInfo& info) {
  const size_t index = static_cast<size_t>(info.index);
  if (images_seen_[index] == images_version_) return;
  images_seen_[index] = images_version_;
  api::SharedList<framework::ImageState> states;
  if (const ImageListPtr& list = node_images_[index]) {
    if (list->states_version != images_version_) {
      std::vector<framework::ImageState> now;
      now.reserve(list->names.size());
      for (const Symbol name : list->names) {
        const ImageStateEntry& entry = *images_.Find(name);
        now.push_back({.name = name, .node_count = entry.node_count, .size_bytes = entry.size_bytes});
      }
      list->states = std::move(now);
      list->states_version = images_version_;
    }
    states = list->states;
  }
  if (info.images == states) return;
  info.images = std::move(states);
  info.object_generation = info.generation;
}

void Cache::SetNode(NodeInfo& info, api::NodePtr node) {
  info.labels = framework::LabelSet(node->metadata.labels, symbols_);
  info.allocatable = framework::MakeResource(node->status.allocatable, symbols_);
  info.node = std::move(node);
  info.object_generation = info.generation;
}

void Cache::AddNode(api::NodePtr node) {
  NodeInfo& info = Writable(NodeOf(node->metadata.name).index);
  if (info.node != nullptr) RemoveImages(info.index);
  Touch(info);
  node_tree_.AddNode(*node, info.index);
  AddImages(*node, info.index);
  SetNode(info, std::move(node));
}

void Cache::UpdateNode(api::NodePtr old_node, api::NodePtr new_node) {
  NodeInfo& info = Writable(NodeOf(new_node->metadata.name).index);
  if (info.node == nullptr) {
    node_tree_.AddNode(*new_node, info.index);
  } else {
    RemoveImages(info.index);
  }
  Touch(info);
  node_tree_.UpdateNode(*old_node, *new_node, info.index);
  AddImages(*new_node, info.index);
  SetNode(info, std::move(new_node));
}

void Cache::RemoveNode(const api::Node& node) {
  NodeInfo& info = Writable(NodeOf(node.metadata.name).index);
  if (info.node == nullptr) return;
  // The entry stays with its pods: their deletions come later, and the node may come back.
  node_tree_.RemoveNode(node, info.index);
  RemoveImages(info.index);
  info.node = nullptr;
  Touch(info);
}

bool Cache::UpdateSnapshot(Snapshot& snapshot) {
  const bool replaced = ReplaceHeld(snapshot);
  bool rebuild = false;
  for (int32_t index : changed_) {
    NodeInfo& info = *nodes_[static_cast<size_t>(index)];
    is_changed_[static_cast<size_t>(index)] = false;
    // Nodes without an object are no candidates. Whether one left the list is found out below, by the counts.
    if (info.node == nullptr) continue;
    RefreshImages(info);
    if (in_snapshot_[static_cast<size_t>(index)]) {
      if (info.position < 0) continue;
      snapshot.changes_.Add(info, snapshot.list_.size());
      const int64_t known = snapshot.columns_.object_generations[static_cast<size_t>(info.position)];
      if (known != info.object_generation) snapshot.object_changes_.Add(info, snapshot.list_.size());
      snapshot.columns_.Set(info);
      continue;
    }
    in_snapshot_[static_cast<size_t>(index)] = true;
    ++in_snapshot_count_;
    rebuild = true;
  }
  changed_.clear();
  // A node that went and came back since the last snapshot is not noticed here, as upstream: it
  // keeps its place in the list.
  if (in_snapshot_count_ > node_tree_.node_count()) {
    for (size_t index = 0; index < nodes_.size(); ++index) {
      if (!in_snapshot_[index] || nodes_[index]->node != nullptr) continue;
      in_snapshot_[index] = false;
      --in_snapshot_count_;
      nodes_[index]->position = -1;
    }
    rebuild = true;
  }
  if (!rebuild) return replaced;
  // Positions change with the list, so everything that is kept by position starts anew.
  snapshot.changes_.Forget();
  snapshot.object_changes_.Forget();
  snapshot.list_.clear();
  snapshot.by_name_.Clear();
  snapshot.index_limit_ = static_cast<int32_t>(nodes_.size());
  for (int32_t index : node_tree_.List()) {
    NodeInfo& info = *nodes_[static_cast<size_t>(index)];
    info.position = static_cast<int32_t>(snapshot.list_.size());
    snapshot.list_.push_back(&info);
    snapshot.by_name_[info.name] = &info;
  }
  snapshot.columns_.Resize(snapshot.list_.size());
  for (const NodeInfo* info : snapshot.list_) snapshot.columns_.Set(*info);
  return true;
}

}  // namespace schedsim::cache
