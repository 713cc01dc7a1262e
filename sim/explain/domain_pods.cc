#include "sim/explain/domain_pods.h"

#include <algorithm>
#include <utility>

#include "core/plugins/topology_domains.h"

namespace schedsim::sim {

size_t DomainPods::AddGroup(std::optional<Symbol> key, const std::string& text) {
  const auto found = std::find_if(groups_.begin(), groups_.end(),
                                  [&](const Group& group) { return group.key == key && group.text == text; });
  if (found != groups_.end()) return static_cast<size_t>(found - groups_.begin());
  groups_.push_back({.key = key, .text = text});
  domains_.emplace_back();
  return groups_.size() - 1;
}

void DomainPods::Update() {
  const auto clear = [this] {
    for (auto& domains : domains_) domains.clear();
    parts_.clear();
  };
  plugins::FollowSnapshot(handle_.snapshot(), position_, clear,
                          [this](const framework::NodeInfo& node) { UpdateNode(node); });
}

void DomainPods::UpdateNode(const framework::NodeInfo& node) {
  const size_t index = static_cast<size_t>(node.index);
  if (index >= parts_.size()) parts_.resize(static_cast<size_t>(handle_.snapshot().IndexLimit()));
  std::vector<Part>& parts = parts_[index];
  for (const Part& part : parts) {
    const auto domain = domains_[part.group].find(part.domain);
    domain->second.erase(part.pod);
    if (domain->second.empty()) domains_[part.group].erase(domain);
  }
  parts.clear();
  for (const framework::PodInfoPtr& pod : node.pods) {
    for (const size_t group : groups_of_(*pod)) {
      const std::optional<absl::string_view> domain = DomainOf(group, node);
      if (!domain.has_value()) continue;
      parts.push_back({.group = group, .domain = std::string(*domain), .pod = pod->pod->Key()});
      domains_[group][parts.back().domain].emplace(parts.back().pod, node.name);
    }
  }
}

std::optional<absl::string_view> DomainPods::DomainOf(size_t group, const framework::NodeInfo& node) const {
  const std::optional<Symbol>& key = groups_[group].key;
  if (!key.has_value()) return "";
  const Symbol* const value = node.labels.Find(*key);
  return value == nullptr ? std::nullopt : std::optional(handle_.symbols().Text(*value));
}

const DomainPods::Pods& DomainPods::In(size_t group, const framework::NodeInfo& node) const {
  static const Pods kNone;
  const std::optional<absl::string_view> domain = DomainOf(group, node);
  if (!domain.has_value()) return kNone;
  const auto found = domains_[group].find(*domain);
  return found == domains_[group].end() ? kNone : found->second;
}

std::string DomainPods::FirstDomain(size_t group) const {
  return domains_[group].empty() ? "" : domains_[group].begin()->first;
}

}  // namespace schedsim::sim
