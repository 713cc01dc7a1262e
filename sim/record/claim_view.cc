#include "sim/record/claim_view.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/framework/claim_cache.h"

namespace schedsim::sim {
namespace {

using record::Text;
using record::Texts;

// Deques do not move what they have.
Text Keep(std::string text, std::deque<std::string>& texts) { return texts.emplace_back(std::move(text)); }

Texts ViewsOf(const std::vector<std::string>& list) { return Texts(list.begin(), list.end()); }

std::vector<record::NodeRequirement> RequirementsOf(const std::vector<api::NodeSelectorRequirement>& list) {
  std::vector<record::NodeRequirement> result;
  for (const api::NodeSelectorRequirement& requirement : list) {
    result.push_back(
        {.key = requirement.key, .operator_ = requirement.operator_, .values = ViewsOf(requirement.values)});
  }
  return result;
}

record::NodeSelector SelectorOf(const api::NodeSelector& selector) {
  record::NodeSelector result;
  for (const api::NodeSelectorTerm& term : selector.node_selector_terms) {
    result.terms.push_back({.match_expressions = RequirementsOf(term.match_expressions),
                            .match_fields = RequirementsOf(term.match_fields)});
  }
  return result;
}

record::ClaimDevice DeviceOf(const api::DeviceRequestAllocationResult& device,
                             std::deque<std::string>& texts) {
  record::ClaimDevice entry;
  entry.request = device.request;
  entry.device = Keep(framework::DeviceKey(device.driver, device.pool, device.device), texts);
  entry.admin_access = device.admin_access;
  entry.shared = !device.share_id.empty();
  for (const auto& [name, amount] : device.consumed_capacity) {
    entry.consumed.emplace_back(name, Keep(api::NotedQuantityText(amount.amount, amount.format), texts));
  }
  entry.tolerations = static_cast<int64_t>(device.tolerations.size());
  entry.binding_conditions = ViewsOf(device.binding_conditions);
  entry.binding_failure_conditions = ViewsOf(device.binding_failure_conditions);
  return entry;
}

}  // namespace

void FillClaimView(const api::ResourceClaim& claim, std::deque<std::string>& texts, record::ClaimView& view) {
  if (claim.status.allocation.has_value()) {
    const api::AllocationResult& allocation = *claim.status.allocation;
    for (const auto& device : allocation.results) view.devices.push_back(DeviceOf(device, texts));
    if (allocation.node_selector.has_value()) view.node_selector = SelectorOf(*allocation.node_selector);
    for (const api::DeviceAllocationConfiguration& config : allocation.config) {
      view.config.push_back({.source = config.source,
                             .requests = ViewsOf(config.requests),
                             .driver = config.opaque.has_value() ? Text(config.opaque->driver) : Text()});
    }
  }
  for (const auto& consumer : claim.status.reserved_for) {
    view.reserved_for.push_back(Keep(absl::StrCat(consumer.resource, "/", consumer.name), texts));
  }
  view.finalizers = ViewsOf(claim.finalizers);
  view.deleting = claim.metadata.deletion_timestamp.has_value();
}

Texts RequestsOf(const api::ResourceClaim& claim, std::deque<std::string>& texts) {
  Texts requests;
  for (const api::DeviceRequest& request : claim.spec.requests) {
    if (!request.exactly.has_value()) continue;
    requests.push_back(
        Keep(absl::StrCat(request.name, " ", request.exactly->device_class_name, " ", request.exactly->count),
             texts));
  }
  return requests;
}

Texts ConditionsOf(const api::ResourceClaim& claim, std::deque<std::string>& texts) {
  Texts conditions;
  for (const api::AllocatedDeviceStatus& device : claim.status.devices) {
    for (const api::DeviceCondition& condition : device.conditions) {
      conditions.push_back(Keep(absl::StrCat(device.device, " ", condition.type), texts));
    }
  }
  return conditions;
}

}  // namespace schedsim::sim
