#include "core/plugins/dynamic_resources/device_capacity.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/base/status_macros.h"

namespace schedsim::plugins {
namespace {

using api::NotedQuantity;
using api::Quantity;

constexpr absl::string_view kNotRepresentable =
    "capacity request cannot be represented in the device's range arithmetic";

bool IsMilli(const NotedQuantity& quantity) {
  return Quantity::FromMilli(quantity.amount.MilliValue()) == quantity.amount;
}

// Whether a range is computed with in thousandths.
bool UsesMilli(const api::CapacityRequestPolicyRange& range, const api::LineBehavior& line) {
  if (!line.dra.fractional_capacity_range) return false;
  for (const std::optional<NotedQuantity>* part : {&range.min, &range.max, &range.step}) {
    if (part->has_value() && !IsMilli(**part)) return false;
  }
  return !range.step.has_value() || range.step->amount.MilliValue() >= 1;
}

absl::Status NotRepresentable(const NotedQuantity& request, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(kNotRepresentable, ": ", why, " ",
                                                 api::NotedQuantityText(request.amount, request.format)));
}

// The next step from `min` on that is no less than `wanted`; absent: beyond what 64 bits hold.
std::optional<int64_t> NextStep(int64_t wanted, int64_t min, int64_t step) {
  const int64_t added = wanted - min;
  const int64_t count = added / step + (added % step != 0 ? 1 : 0);
  int64_t value = 0;
  if (__builtin_mul_overflow(step, count, &value) || __builtin_add_overflow(min, value, &value)) {
    return std::nullopt;
  }
  return value;
}

absl::StatusOr<NotedQuantity> RoundUp(const NotedQuantity& request,
                                      const api::CapacityRequestPolicyRange& range,
                                      const api::LineBehavior& line) {
  if (request.amount < range.min->amount) return *range.min;
  if (!range.step.has_value()) return request;
  const bool milli = UsesMilli(range, line);
  if (milli && !IsMilli(request)) return NotRepresentable(request, "request");
  const auto number = [milli](const NotedQuantity& quantity) {
    return milli ? quantity.amount.MilliValue() : quantity.amount.Value();
  };
  if (number(*range.step) == 0) return NotRepresentable(request, "request");
  const std::optional<int64_t> value = NextStep(number(request), number(*range.min), number(*range.step));
  if (!value.has_value()) return NotRepresentable(request, "rounding request");
  // Up to 1.36 it is a binary quantity, whatever the step is.
  const bool keeps_format = line.line >= api::KubernetesLine::k1_37;
  return NotedQuantity{.amount = milli ? Quantity::FromMilli(*value) : Quantity::FromValue(*value),
                       .format = keeps_format ? range.step->format : api::QuantityFormat::kBinary};
}

absl::StatusOr<NotedQuantity> Consumed(const NotedQuantity* request, const api::DeviceCapacity& capacity,
                                       const api::LineBehavior& line) {
  const std::optional<api::CapacityRequestPolicy>& policy = capacity.request_policy;
  if (request == nullptr) {
    return policy.has_value() && policy->default_.has_value() ? *policy->default_ : capacity.value;
  }
  if (!policy.has_value()) return *request;
  if (policy->valid_range.has_value() && policy->valid_range->min.has_value()) {
    return RoundUp(*request, *policy->valid_range, line);
  }
  for (const NotedQuantity& valid : policy->valid_values) {
    if (request->amount <= valid.amount) return valid;
  }
  return *request;
}

bool ViolatesRange(const NotedQuantity& amount, const api::CapacityRequestPolicyRange& range,
                   const api::LineBehavior& line) {
  if (range.max.has_value() && amount.amount > range.max->amount) return true;
  if (!range.step.has_value() || !range.min.has_value()) return false;
  const bool milli = UsesMilli(range, line);
  if (milli && !IsMilli(amount)) return true;
  const auto number = [milli](const NotedQuantity& quantity) {
    return milli ? quantity.amount.MilliValue() : quantity.amount.Value();
  };
  const int64_t step = number(*range.step);
  return step == 0 || (number(amount) - number(*range.min)) % step != 0;
}

bool Violates(const NotedQuantity& amount, const api::DeviceCapacity& capacity,
              const api::LineBehavior& line) {
  if (!capacity.request_policy.has_value()) return false;
  const api::CapacityRequestPolicy& policy = *capacity.request_policy;
  if (policy.default_.has_value() && amount.amount == policy.default_->amount) return false;
  if (policy.valid_range.has_value()) return ViolatesRange(amount, *policy.valid_range, line);
  if (policy.valid_values.empty()) return false;
  return std::none_of(policy.valid_values.begin(), policy.valid_values.end(),
                      [&](const NotedQuantity& valid) { return valid.amount == amount.amount; });
}

}  // namespace

absl::StatusOr<api::MapByName<NotedQuantity>> ConsumedCapacityOf(
    const api::MapByName<NotedQuantity>& requests, const api::Device& device, const api::LineBehavior& line) {
  api::MapByName<NotedQuantity> consumed;
  for (const auto& [name, capacity] : device.capacity) {
    const absl::StatusOr<NotedQuantity> amount = Consumed(api::FindByName(requests, name), capacity, line);
    if (!amount.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("capacity ", api::GoQuote(name), ": ", amount.status().message()));
    }
    consumed.emplace_back(name, *amount);
  }
  return consumed;
}

absl::StatusOr<bool> HasCapacity(const api::MapByName<NotedQuantity>& requests, const api::Device& device,
                                 std::initializer_list<const framework::ConsumedCapacity*> used,
                                 const api::LineBehavior& line) {
  for (const auto& [name, amount] : requests) {
    if (api::FindByName(device.capacity, name) == nullptr) return false;
  }
  const absl::StatusOr<api::MapByName<NotedQuantity>> consumed = ConsumedCapacityOf(requests, device, line);
  if (!consumed.ok()) {
    if (line.line >= api::KubernetesLine::k1_37) return consumed.status();
    return false;
  }
  for (size_t i = 0; i < consumed->size(); ++i) {
    const auto& [name, amount] = (*consumed)[i];
    const api::DeviceCapacity& capacity = device.capacity[i].second;
    if (Violates(amount, capacity, line)) return false;
    Quantity total = amount.amount;
    for (const framework::ConsumedCapacity* other : used) {
      const auto found = other == nullptr ? framework::ConsumedCapacity::const_iterator() : other->find(name);
      if (other != nullptr && found != other->end()) total += found->second;
    }
    if (total > capacity.value.amount) return false;
  }
  return true;
}

std::string LackOfCapacity(const api::MapByName<NotedQuantity>& requests, const api::Device& device,
                           std::initializer_list<const framework::ConsumedCapacity*> used,
                           const api::LineBehavior& line) {
  for (const auto& [name, amount] : requests) {
    if (api::FindByName(device.capacity, name) == nullptr) return absl::StrCat("it has no capacity ", name);
  }
  const absl::StatusOr<api::MapByName<NotedQuantity>> consumed = ConsumedCapacityOf(requests, device, line);
  if (!consumed.ok()) return std::string(consumed.status().message());
  for (size_t i = 0; i < consumed->size(); ++i) {
    const auto& [name, amount] = (*consumed)[i];
    const NotedQuantity& value = device.capacity[i].second.value;
    const auto text = [&value](Quantity shown) { return api::NotedQuantityText(shown, value.format); };
    if (Violates(amount, device.capacity[i].second, line)) {
      return absl::StrCat(text(amount.amount), " of ", name, " is none of what can be asked for");
    }
    Quantity before;
    for (const framework::ConsumedCapacity* other : used) {
      if (other == nullptr) continue;
      const auto found = other->find(name);
      if (found != other->end()) before += found->second;
    }
    if (before + amount.amount <= value.amount) continue;
    return absl::StrCat("it has ", text(value.amount - before), " of ", text(value.amount), " ", name,
                        ", of which ", text(amount.amount), " would be taken");
  }
  return "";
}

}  // namespace schedsim::plugins
