#include "core/plugins/dynamic_resources/device_slices.h"

#include <map>
#include <set>
#include <utility>

#include "core/framework/claim_cache.h"

namespace schedsim::plugins {
namespace {

std::unique_ptr<DeviceSlice> MakeSlice(std::shared_ptr<const api::ResourceSlice> object) {
  auto made = std::make_unique<DeviceSlice>();
  made->object = std::move(object);
  const api::ResourceSliceSpec& spec = made->spec();
  for (const api::Device& device : spec.devices) {
    SliceDevice entry;
    entry.device = &device;
    entry.key = framework::DeviceKey(spec.driver, spec.pool.name, device.name);
    made->devices.push_back(std::move(entry));
  }
  return made;
}

}  // namespace

void DeviceSlices::Update() {
  const uint64_t change_count = handle_.informers().ChangeCount(api::Kind::kResourceSlice);
  if (change_count_ == change_count) return;
  change_count_ = change_count;
  ++version_;
  std::map<std::string, std::unique_ptr<DeviceSlice>> slices;
  for (const auto& [name, object] : handle_.informers().List(api::Kind::kResourceSlice)) {
    const auto known = slices_.find(name);
    if (known != slices_.end() && known->second->object == object) {
      slices[name] = std::move(known->second);
    } else {
      slices[name] = MakeSlice(std::static_pointer_cast<const api::ResourceSlice>(object));
    }
  }
  slices_ = std::move(slices);
  all_.clear();
  shared_.clear();
  by_node_.Clear();
  const bool shares_counters = handle_.line().line == api::KubernetesLine::k1_36;
  for (const auto& [name, slice] : slices_) {
    all_.push_back(slice.get());
    const std::string node_name = slice->spec().node_name.value_or("");
    // In 1.36 all nodes see counters.
    const bool is_shared = node_name.empty() || (shares_counters && !slice->spec().shared_counters.empty());
    (is_shared ? shared_ : by_node_[node_name]).push_back(slice.get());
  }
  LookForSharedNames();
}

void DeviceSlices::LookForSharedNames() {
  shares_counter_names_ = false;
  const api::KubernetesLine line = handle_.line().line;
  if (line == api::KubernetesLine::k1_34 || line >= api::KubernetesLine::k1_37) return;
  std::map<absl::string_view, absl::string_view> drivers;
  std::set<absl::string_view> with_counters;
  std::set<absl::string_view> shared;
  for (const DeviceSlice* slice : all_) {
    const api::ResourceSliceSpec& spec = slice->spec();
    const auto known = drivers.emplace(spec.pool.name, spec.driver).first;
    if (known->second != spec.driver) shared.insert(spec.pool.name);
    if (!spec.shared_counters.empty()) with_counters.insert(spec.pool.name);
  }
  for (const absl::string_view name : shared) {
    shares_counter_names_ = shares_counter_names_ || with_counters.count(name) > 0;
  }
}

const std::vector<DeviceSlice*>& DeviceSlices::OnNode(absl::string_view node_name) const {
  static const auto* const kNone = new std::vector<DeviceSlice*>();
  const std::vector<DeviceSlice*>* found = by_node_.Find(std::string(node_name));
  return found == nullptr ? *kNone : *found;
}

}  // namespace schedsim::plugins
