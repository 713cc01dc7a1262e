#include "sim/explain/volume_memory.h"

#include <optional>

#include "core/framework/selector.h"

namespace schedsim::sim {

using plugins::VolumePtr;

const std::vector<VolumePtr>& VolumeMemory::FreeFor(const api::PersistentVolumeClaim& claim) {
  const auto [place, is_new] = free_.try_emplace(claim.Key());
  if (!is_new) return place->second;
  const std::optional<framework::LabelMatcher> selector =
      claim.spec.selector.has_value() ? framework::LabelMatcher::Make(claim.spec.selector, handle_.symbols())
                                      : std::nullopt;
  for (const auto& [name, object] : handle_.informers().List(api::Kind::kPersistentVolume)) {
    const auto volume = std::static_pointer_cast<const api::PersistentVolume>(object);
    if (plugins::ClassOf(*volume) != plugins::ClassOf(claim)) continue;
    const auto found = plugins::FindMatchingVolume(claim, selector, {compiler_.Compile(volume)}, {},
                                                   /*node_labels=*/nullptr, handle_.symbols());
    if (found != nullptr) place->second.push_back(volume);
  }
  return place->second;
}

const DomainPods::Pods& VolumeMemory::UsersOf(const plugins::ClaimPtr& claim,
                                              const framework::NodeInfo& any_node) {
  std::unique_ptr<DomainPods>& users = users_[claim->Key()];
  if (users == nullptr) {
    users = std::make_unique<DomainPods>(handle_);
    const std::vector<size_t> all = {users->AddGroup(std::nullopt, claim->Key())};
    users->set_groups_of([claim, all, none = std::vector<size_t>()](
                             const framework::PodInfo& pod) -> const std::vector<size_t>& {
      return plugins::NamesClaim(*pod.pod, *claim) ? all : none;
    });
  }
  users->Update();
  return users->In(0, any_node);
}

}  // namespace schedsim::sim
