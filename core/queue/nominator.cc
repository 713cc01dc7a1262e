#include "core/queue/nominator.h"

#include <memory>
#include <utility>

namespace schedsim::queue {

using framework::PodInfoPtr;

namespace {

// Whoever lags further behind looks at all nodes.
constexpr size_t kLogSizeMax = 10'000;

// The pod as one of which nothing but the name is known.
PodInfoPtr NameOnly(const api::Pod& pod) {
  static const auto* const kEmptySpec =
      new std::shared_ptr<const api::PodSpec>(std::make_shared<api::PodSpec>());
  static const auto* const kNoSpecInfo =
      new std::shared_ptr<const framework::PodSpecInfo>(std::make_shared<framework::PodSpecInfo>());
  auto name_only = std::make_shared<api::Pod>();
  name_only->metadata.name = pod.metadata.name;
  name_only->metadata.namespace_ = pod.metadata.namespace_;
  name_only->metadata.uid = pod.metadata.uid;
  name_only->spec = *kEmptySpec;
  auto info = std::make_shared<framework::PodInfo>();
  info->pod = std::move(name_only);
  info->spec_info = *kNoSpecInfo;
  return info;
}

}  // namespace

void Nominator::AddNominatedPod(const PodInfoPtr& pod, const std::optional<std::string>& node_name) {
  DeleteNominatedPodIfExists(*pod->pod);
  const std::string& node = node_name.has_value() ? *node_name : pod->pod->status.nominated_node_name;
  if (node.empty()) return;
  // No event would end the nomination of a pod that is gone or bound by now.
  const api::PodPtr known = informers_.FindPod(pod->pod->metadata.namespace_, pod->pod->metadata.name);
  if (known == nullptr || !known->node_name.empty()) return;
  const Symbol symbol = symbols_.Intern(node);
  node_of_pod_[pod->pod->metadata.uid] = symbol;
  pods_of_node_[symbol].push_back(pod);
  LogChange(symbol);
}

void Nominator::UpdateNominatedPod(const api::Pod& old_pod, const PodInfoPtr& new_pod) {
  // An update without any nomination may be older than the one that the scheduler has made in memory. That
  // one stays.
  std::optional<std::string> node_name;
  if (old_pod.status.nominated_node_name.empty() && new_pod->pod->status.nominated_node_name.empty()) {
    const Symbol* node = node_of_pod_.Find(old_pod.metadata.uid);
    if (node != nullptr) node_name = std::string(symbols_.Text(*node));
  }
  DeleteNominatedPodIfExists(old_pod);
  AddNominatedPod(new_pod, node_name);
}

void Nominator::DeleteNominatedPodIfExists(const api::Pod& pod) {
  const Symbol* found = node_of_pod_.Find(pod.metadata.uid);
  if (found == nullptr) return;
  const Symbol node = *found;
  std::vector<PodInfoPtr>& pods = pods_of_node_[node];
  std::erase_if(pods, [&pod](const PodInfoPtr& other) { return other->Uid() == pod.metadata.uid; });
  if (pods.empty()) pods_of_node_.Erase(node);
  node_of_pod_.Erase(pod.metadata.uid);
  LogChange(node);
}

void Nominator::ReduceToName(const api::Pod& pod) {
  const Symbol* node = node_of_pod_.Find(pod.metadata.uid);
  if (node == nullptr) return;
  for (PodInfoPtr& nominated : pods_of_node_[*node]) {
    if (nominated->Uid() == pod.metadata.uid) nominated = NameOnly(pod);
  }
  LogChange(*node);
}

const std::vector<PodInfoPtr>& Nominator::NominatedPodsForNode(Symbol node_name) const {
  static const std::vector<PodInfoPtr>* const kNone = new std::vector<PodInfoPtr>();
  const std::vector<PodInfoPtr>* pods = pods_of_node_.Find(node_name);
  return pods == nullptr ? *kNone : *pods;
}

std::optional<Symbol> Nominator::NodeOf(const api::Pod& pod) const {
  const Symbol* node = node_of_pod_.Find(pod.metadata.uid);
  return node == nullptr ? std::nullopt : std::optional<Symbol>(*node);
}

framework::NominationChanges Nominator::ChangesSince(int64_t position) const {
  const int64_t end = log_start_ + static_cast<int64_t>(log_.size());
  if (position < log_start_) return {.all = true, .nodes = {}, .position = end};
  const absl::Span<const Symbol> log(log_);
  return {.all = false, .nodes = log.subspan(static_cast<size_t>(position - log_start_)), .position = end};
}

void Nominator::LogChange(Symbol node) {
  if (log_.size() == kLogSizeMax) {
    log_start_ += static_cast<int64_t>(log_.size());
    log_.clear();
  }
  log_.push_back(node);
}

}  // namespace schedsim::queue
