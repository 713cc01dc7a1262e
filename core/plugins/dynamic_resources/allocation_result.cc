// What a search found, as the status of claims.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/plugins/dynamic_resources/allocation_search.h"

namespace schedsim::plugins {
namespace {

bool Names(const std::vector<std::string>& requests, absl::string_view name) {
  return std::find(requests.begin(), requests.end(), name) != requests.end();
}

bool SameRequirement(const api::NodeSelectorRequirement& a, const api::NodeSelectorRequirement& b) {
  return a.key == b.key && a.operator_ == b.operator_ &&
         std::set<std::string>(a.values.begin(), a.values.end()) ==
             std::set<std::string>(b.values.begin(), b.values.end());
}

// Adds the requirements that are not there yet.
void AddRequirements(const std::vector<api::NodeSelectorRequirement>& from,
                     std::vector<api::NodeSelectorRequirement>& to) {
  for (const api::NodeSelectorRequirement& requirement : from) {
    const bool is_known = std::any_of(to.begin(), to.end(),
                                      [&](const auto& other) { return SameRequirement(other, requirement); });
    if (!is_known) to.push_back(requirement);
  }
}

}  // namespace

bool AllocationSearch::MakeResult(ClaimData& data, api::AllocationResult& result) {
  for (ChosenDevice& chosen : data.chosen) {
    const Candidate& candidate = chosen.candidate;
    const api::DeviceRequestSpec& spec = *chosen.request->spec;
    api::DeviceRequestAllocationResult entry;
    entry.request = chosen.request->FullName();
    entry.driver = candidate.pool->driver;
    entry.pool = candidate.pool->name;
    entry.device = candidate.device->device->name;
    entry.admin_access = spec.admin_access;
    if (line_.line >= api::KubernetesLine::k1_35) entry.tolerations = spec.tolerations;
    if (line_.dra.binding_conditions) {
      entry.binding_conditions = candidate.device->device->binding_conditions;
      entry.binding_failure_conditions = candidate.device->device->binding_failure_conditions;
    }
    entry.consumed_capacity = std::move(chosen.consumed);
    // Reserve gives shares an identity of their own.
    if (chosen.is_shared) entry.share_id = "new";
    result.results.push_back(std::move(entry));
  }
  AddClassConfig(data, result);
  AddClaimConfig(data, result);
  return MakeNodeSelector(data, result);
}

void AllocationSearch::AddClassConfig(const ClaimData& data, api::AllocationResult& result) const {
  std::map<std::string, std::pair<size_t, size_t>> ranges;  // Of the configs of a class.
  for (size_t i = 0; i < data.requests.size(); ++i) {
    const RequestData& request = data.requests[i][data.selected[i]];
    const api::DeviceClass& device_class = *request.device_class;
    const auto [range, is_new] = ranges.try_emplace(device_class.metadata.name);
    if (!is_new) {
      for (size_t at = range->second.first; at < range->second.second; ++at) {
        result.config[at].requests.push_back(request.FullName());
      }
      continue;
    }
    range->second.first = result.config.size();
    for (const api::DeviceClassConfiguration& config : device_class.config) {
      result.config.push_back(
          {.source = "FromClass", .requests = {request.FullName()}, .opaque = config.opaque});
    }
    range->second.second = result.config.size();
  }
}

void AllocationSearch::AddClaimConfig(const ClaimData& data, api::AllocationResult& result) const {
  const bool repeats = line_.line < api::KubernetesLine::k1_37;
  for (const api::DeviceClaimConfiguration& config : data.claim->spec.config) {
    const api::DeviceAllocationConfiguration entry = {
        .source = "FromClaim", .requests = config.requests, .opaque = config.opaque};
    if (config.requests.empty()) {
      result.config.push_back(entry);
      continue;
    }
    for (size_t i = 0; i < data.requests.size(); ++i) {
      const RequestData& request = data.requests[i][data.selected[i]];
      if (!Names(config.requests, request.request->name) && !Names(config.requests, request.FullName()))
        continue;
      result.config.push_back(entry);
      if (!repeats) break;
    }
  }
  if (repeats) return;
  for (api::DeviceAllocationConfiguration& config : result.config) {
    bool has_all = true;
    for (size_t i = 0; i < data.requests.size(); ++i) {
      const RequestData& request = data.requests[i][data.selected[i]];
      has_all = has_all &&
                (Names(config.requests, request.request->name) || Names(config.requests, request.FullName()));
    }
    if (has_all) config.requests.clear();
  }
}

bool AllocationSearch::MakeNodeSelector(const ClaimData& data, api::AllocationResult& result) {
  api::NodeSelectorTerm term;
  for (const ChosenDevice& chosen : data.chosen) {
    const api::ResourceSliceSpec& slice = chosen.candidate.slice->spec();
    const api::Device& device = *chosen.candidate.device->device;
    const bool per_device = slice.per_device_node_selection;
    const std::optional<std::string>& node_name = per_device ? device.node_name : slice.node_name;
    const std::optional<api::NodeSelector>& selector =
        per_device ? device.node_selector : slice.node_selector;
    if (node_name.has_value() || device.binds_to_node) {
      api::NodeSelectorRequirement requirement;
      requirement.key = "metadata.name";
      requirement.operator_ = "In";
      requirement.values = {std::string(parts_.handle.symbols().Text(node_.name))};
      api::NodeSelectorTerm this_node;
      this_node.match_fields.push_back(std::move(requirement));
      result.node_selector.emplace().node_selector_terms.push_back(std::move(this_node));
      return true;
    }
    if (!selector.has_value() || selector->node_selector_terms.empty()) continue;
    if (selector->node_selector_terms.size() > 1) {
      return Fail(absl::StrCat("create NodeSelector for claim ", data.claim->metadata.name,
                               ": unsupported ResourceSlice.NodeSelector with ",
                               selector->node_selector_terms.size(), " terms"));
    }
    AddRequirements(selector->node_selector_terms[0].match_fields, term.match_fields);
    AddRequirements(selector->node_selector_terms[0].match_expressions, term.match_expressions);
  }
  if (!term.match_fields.empty() || !term.match_expressions.empty()) {
    result.node_selector.emplace().node_selector_terms.push_back(std::move(term));
  }
  return true;
}

}  // namespace schedsim::plugins
