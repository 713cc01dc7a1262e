#include "sim/run/node_room.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "core/api/node.h"
#include "core/base/and_more.h"
#include "core/framework/node_info.h"

namespace schedsim::sim {
namespace {

// The first resource of which a node's pods ask for more than it has although one that asks for some was
// bound in the run; "": there is none. `is_bound` tells of a pod whether it was.
std::string OvercommittedResource(const framework::NodeInfo& node, const SymbolTable& symbols,
                                  absl::FunctionRef<bool(const api::Pod& pod)> is_bound) {
  const framework::Resource& asked = node.requested;
  const framework::Resource& has = node.allocatable;
  const auto any_bound = [&](const auto& amount_of) {
    return std::any_of(node.pods.begin(), node.pods.end(), [&](const framework::PodInfoPtr& pod) {
      return amount_of(pod->spec_info->requests) > 0 && is_bound(*pod->pod);
    });
  };
  using framework::Resource;
  if (asked.milli_cpu > has.milli_cpu && any_bound([](const Resource& amounts) { return amounts.milli_cpu; }))
    return "cpu";
  if (asked.memory_bytes > has.memory_bytes &&
      any_bound([](const Resource& amounts) { return amounts.memory_bytes; }))
    return "memory";
  if (asked.ephemeral_storage_bytes > has.ephemeral_storage_bytes &&
      any_bound([](const Resource& amounts) { return amounts.ephemeral_storage_bytes; }))
    return "ephemeral-storage";
  for (const framework::ScalarResource& scalar : asked.scalars) {
    // Kubelets do not look for resources that their node does not have.
    const bool is_over = has.HasScalar(scalar.name) && scalar.value > has.Scalar(scalar.name);
    if (is_over && any_bound([&scalar](const Resource& amounts) { return amounts.Scalar(scalar.name); }))
      return std::string(symbols.Text(scalar.name));
  }
  return "";
}

}  // namespace

std::string NodesForNoPod(const ApiServer& server) {
  std::string first;
  size_t count = 0;
  for (const auto& [name, node] : server.List(api::Kind::kNode)) {
    const api::Quantity* const pods = static_cast<const api::Node&>(*node).status.allocatable.Find("pods");
    if (pods != nullptr && pods->Value() > 0) continue;
    if (count++ == 0) first = name;
  }
  if (count == 0) return "";
  return absl::StrCat("Node ", first, ": no `pods` in status.allocatable, so that it takes none",
                      AndMore(count),
                      "; kubelets fill that in, and --stage node-fast does where nothing is written");
}

std::string OvercommittedNodes(const scheduler::Scheduler& scheduler,
                               absl::FunctionRef<bool(const api::Pod& pod)> is_bound) {
  std::string first;
  size_t count = 0;
  for (const auto& node : scheduler.cache().nodes()) {
    if (node == nullptr || node->node == nullptr) continue;
    const std::string resource = OvercommittedResource(*node, scheduler.symbols(), is_bound);
    if (resource.empty() || count++ > 0) continue;
    first = absl::StrCat("Node ", node->node->metadata.name, ": its pods ask for more ", resource,
                         " than it has, and some of them were bound in this run");
  }
  if (count == 0) return "";
  return absl::StrCat(first, AndMore(count),
                      "; real kubelets refuse what does not fit, here it counts as bound");
}

}  // namespace schedsim::sim
