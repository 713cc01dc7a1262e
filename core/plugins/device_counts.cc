#include "core/plugins/device_counts.h"

#include <algorithm>
#include <optional>

#include "absl/status/statusor.h"
#include "core/cel/device_expression.h"
#include "core/framework/claim_cache.h"
#include "core/framework/selector.h"

namespace schedsim::plugins {

bool DeviceCounts::MayCount(const std::vector<ScoredResource>& resources, const framework::Handle& handle) {
  return handle.line().dra_extended_resource &&
         std::any_of(resources.begin(), resources.end(), [](const ScoredResource& resource) {
           return resource.type == ScoredResource::Type::kScalar;
         });
}

ResourceUse DeviceCounts::UseOf(const framework::NodeInfo& node, const ScoredResource& scored,
                                int64_t pod_request, bool non_zero) {
  ResourceUse use = plugins::UseOf(node, scored, pod_request, non_zero);
  const bool is_scalar = scored.type == ScoredResource::Type::kScalar;
  if (use.allocatable != 0 || !is_scalar || pod_request == 0 || !handle_.line().dra_extended_resource) {
    return use;
  }
  const api::DeviceClass* const device_class = DeviceClassOf(handle_.symbols().Text(scored.name), handle_);
  if (device_class == nullptr) return use;
  const Selected& selected = SelectedBy(*device_class);
  if (selected.has_error) return use;
  const framework::ClaimCache& claims = handle_.claims();
  for (const SelectedDevice& one : selected.devices) {
    if (!IsForNode(one, node)) continue;
    ++use.allocatable;
    const bool is_taken = claims.allocated().IsTaken(one.key) || claims.allocated().IsShared(one.key) ||
                          claims.pending().IsTaken(one.key) || claims.pending().IsShared(one.key);
    use.allocated += is_taken ? 1 : 0;
  }
  return use;
}

const DeviceCounts::Selected& DeviceCounts::SelectedBy(const api::DeviceClass& device_class) {
  const framework::InformerCache& informers = handle_.informers();
  const uint64_t slices_count = informers.ChangeCount(api::Kind::kResourceSlice);
  const uint64_t classes_count = informers.ChangeCount(api::Kind::kDeviceClass);
  if (slices_count != slices_count_ || classes_count != classes_count_) {
    slices_count_ = slices_count;
    classes_count_ = classes_count;
    selected_.Clear();
    kept_.clear();
    for (const auto& [name, object] : informers.List(api::Kind::kResourceSlice)) kept_.push_back(object);
  }
  if (const Selected* known = selected_.Find(device_class.metadata.name)) return *known;
  Selected& selected = selected_[device_class.metadata.name];
  for (const auto& object : kept_) {
    Select(device_class, static_cast<const api::ResourceSlice&>(*object), selected);
  }
  return selected;
}

void DeviceCounts::Select(const api::DeviceClass& device_class, const api::ResourceSlice& slice,
                          Selected& selected) {
  const api::ResourceSliceSpec& spec = slice.spec;
  for (const api::Device& device : spec.devices) {
    const cel::CelResult value = cel::DeviceValue(spec.driver, device);
    bool matches = true;
    for (const api::DeviceSelector& selector : device_class.selectors) {
      if (!matches || !selector.expression.has_value()) continue;
      const auto expression = cel::DeviceExpression::Compile(*selector.expression);
      const absl::StatusOr<bool> one =
          expression.ok() && value.ok() ? expression->Matches(*value) : absl::StatusOr<bool>(false);
      selected.has_error = selected.has_error || !expression.ok() || !value.ok() || !one.ok();
      matches = one.ok() && *one;
    }
    if (!matches) continue;
    selected.devices.push_back({.slice = &slice,
                                .device = &device,
                                .key = framework::DeviceKey(spec.driver, spec.pool.name, device.name)});
  }
}

bool DeviceCounts::IsForNode(const SelectedDevice& selected, const framework::NodeInfo& node) const {
  const auto is_for = [&](const auto& where) {
    if (where.node_name.has_value() && !where.node_name->empty()) {
      return *where.node_name == handle_.symbols().Text(node.name);
    }
    if (where.all_nodes) return true;
    return where.node_selector.has_value() &&
           framework::NodeSelectorMatcher(*where.node_selector, handle_.symbols())
               .Matches(node.labels, node.name, handle_.symbols());
  };
  const api::ResourceSliceSpec& spec = selected.slice->spec;
  return spec.per_device_node_selection ? is_for(*selected.device) : is_for(spec);
}

}  // namespace schedsim::plugins
