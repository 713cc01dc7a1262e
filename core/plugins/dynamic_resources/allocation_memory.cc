#include "core/plugins/dynamic_resources/allocation_memory.h"

#include <algorithm>
#include <utility>

#include "core/framework/extender.h"

namespace schedsim::plugins {
namespace {

// Of more kinds of claims than these, which come by turns, nothing is remembered.
constexpr size_t kShapesMax = 32;

bool Same(const api::DeviceSelector& a, const api::DeviceSelector& b) { return a.expression == b.expression; }

bool Same(const api::DeviceRequestSpec& a, const api::DeviceRequestSpec& b) {
  return a.name == b.name && a.device_class_name == b.device_class_name &&
         a.allocation_mode == b.allocation_mode && a.count == b.count && a.admin_access == b.admin_access &&
         std::equal(a.selectors.begin(), a.selectors.end(), b.selectors.begin(), b.selectors.end(),
                    [](const auto& x, const auto& y) { return Same(x, y); }) &&
         a.tolerations == b.tolerations && a.capacity_requests == b.capacity_requests;
}

bool Same(const api::DeviceRequest& a, const api::DeviceRequest& b) {
  if (a.name != b.name || a.exactly.has_value() != b.exactly.has_value()) return false;
  if (a.exactly.has_value() && !Same(*a.exactly, *b.exactly)) return false;
  return std::equal(a.first_available.begin(), a.first_available.end(), b.first_available.begin(),
                    b.first_available.end(), [](const auto& x, const auto& y) { return Same(x, y); });
}

bool Same(const api::DeviceConstraint& a, const api::DeviceConstraint& b) {
  return a.requests == b.requests && a.match_attribute == b.match_attribute &&
         a.distinct_attribute == b.distinct_attribute;
}

bool Same(const api::DeviceClaimConfiguration& a, const api::DeviceClaimConfiguration& b) {
  return a.requests == b.requests && a.opaque == b.opaque;
}

bool Same(const api::ResourceClaimSpec& a, const api::ResourceClaimSpec& b) {
  const auto same_list = [](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](const auto& left, const auto& right) { return Same(left, right); });
  };
  return same_list(a.requests, b.requests) && same_list(a.constraints, b.constraints) &&
         same_list(a.config, b.config);
}

}  // namespace

std::shared_ptr<const Allocation> AllocationMemory::Shape::Find(int32_t node_index, uint64_t stamp) const {
  const auto place = static_cast<size_t>(node_index);
  if (place >= slots_.size() || slots_[place].stamp != stamp) return nullptr;
  return slots_[place].allocation;
}

void AllocationMemory::Shape::Keep(int32_t node_index, uint64_t stamp,
                                   std::shared_ptr<const Allocation> allocation) {
  using Outcome = Allocation::Outcome;
  const Outcome outcome = allocation->outcome;
  if (outcome != Outcome::kFound && outcome != Outcome::kNone && outcome != Outcome::kFailedOnNode) return;
  if (node_index == framework::kForeignIndex) return;
  const auto place = static_cast<size_t>(node_index);
  if (place >= slots_.size()) slots_.resize(place + 1);
  slots_[place] = {.stamp = stamp, .allocation = std::move(allocation)};
}

std::shared_ptr<AllocationMemory::Shape> AllocationMemory::ShapeOf(
    absl::Span<const framework::ClaimPtr> claims) {
  const uint64_t classes_count = handle_.informers().ChangeCount(api::Kind::kDeviceClass);
  if (classes_count_ != classes_count) shapes_.clear();
  classes_count_ = classes_count;
  const auto found = std::find_if(shapes_.begin(), shapes_.end(), [&](const auto& shape) {
    return std::equal(claims.begin(), claims.end(), shape->specs_.begin(), shape->specs_.end(),
                      [](const framework::ClaimPtr& claim, const api::ResourceClaimSpec& spec) {
                        return Same(claim->spec, spec);
                      });
  });
  if (found != shapes_.end()) {
    std::rotate(shapes_.begin(), found, found + 1);
    return shapes_.front();
  }
  if (shapes_.size() == kShapesMax) shapes_.pop_back();
  auto shape = std::make_shared<Shape>();
  for (const framework::ClaimPtr& claim : claims) shape->specs_.push_back(claim->spec);
  shapes_.insert(shapes_.begin(), shape);
  return shape;
}

}  // namespace schedsim::plugins
