#include "sim/explain/device_tally.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/quantity_text.h"
#include "core/plugins/dynamic_resources/device_capacity.h"

namespace schedsim::sim {
namespace {

using plugins::AllocatorParts;
using plugins::Candidate;

// So many devices are named in a fact, and so many things of one kind have one.
constexpr size_t kDevicesShown = 3;
constexpr size_t kFactsShown = 4;

std::string TaintText(const api::DeviceTaint& taint) {
  return absl::StrCat(taint.key, taint.value.empty() ? "" : "=", taint.value, ":", taint.effect);
}

std::string DevicesText(int64_t count) { return absl::StrCat(count, count == 1 ? " device" : " devices"); }

// "gpu-0, gpu-1 and 6 more".
std::string NamesText(const std::vector<std::string>& first, int64_t count) {
  const int64_t more = count - static_cast<int64_t>(first.size());
  return absl::StrCat(absl::StrJoin(first, ", "), more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

bool IsHeld(const framework::AllocatedDevices& devices, const std::string& key) {
  return devices.IsTaken(key) || devices.IsShared(key);
}

}  // namespace

void DeviceTally::Add(const std::string& key, const Candidate& candidate, Fact fact, Groups& groups) {
  Group& group = groups[key];
  if (group.count++ == 0) group.fact = std::move(fact);
  if (group.first.size() < kDevicesShown) group.first.push_back(candidate.device->device->name);
}

int64_t DeviceTally::Sum(const Groups& groups) {
  int64_t sum = 0;
  for (const auto& [key, group] : groups) sum += group.count;
  return sum;
}

void DeviceTally::Count(const RefusedPod& refused, const AllocatorParts& parts,
                        const api::DeviceClass& device_class, const Holders& holders) {
  const bool uses_incomplete = refused.handle.line().line == api::KubernetesLine::k1_34;
  for (const plugins::DevicePool& pool : parts.pools.Of(refused.node)) {
    if (pool.IsInvalid() || (pool.is_incomplete && !uses_incomplete)) {
      const std::string why = pool.IsInvalid() ? absl::StrCat("is invalid: ", pool.invalid_reason)
                                               : "is incomplete: not all slices of its generation are there";
      pools_[pool.Id()].fact = {.kind = "devicePool",
                                .text = absl::StrCat("pool ", pool.Id(), " ", why),
                                .fields = {{"pool", pool.Id()}, {"why", why}, {"driver", pool.driver}}};
      continue;
    }
    for (plugins::DeviceSlice* slice : pool.slices) {
      for (plugins::SliceDevice& device : slice->devices)
        CountDevice(refused, parts, device_class, holders,
                    {.pool = &pool, .slice = slice, .device = &device});
    }
  }
}

void DeviceTally::CountDevice(const RefusedPod& refused, const AllocatorParts& parts,
                              const api::DeviceClass& device_class, const Holders& holders,
                              const Candidate& candidate) {
  const api::Device& device = *candidate.device->device;
  const std::string& key = candidate.device->key;
  const api::LineBehavior& line = refused.handle.line();
  const framework::ClaimCache& claims = refused.handle.claims();
  const bool is_elsewhere = candidate.slice->spec().per_device_node_selection &&
                            !plugins::IsForNode(device.node_name, device.node_selector, device.all_nodes,
                                                refused.node, refused.handle.symbols());
  if (is_elsewhere || (!line.dra.binding_conditions && !device.binding_conditions.empty())) return;
  ++device_count_;
  if (!IsSelected(parts, device_class, candidate)) return;
  const bool is_taken = claims.allocated().IsTaken(key) || claims.pending().IsTaken(key);
  if (is_taken && !spec_.admin_access) {
    const std::string* const holder = holders.Find(key);
    const std::string name = holder == nullptr ? "" : *holder;
    Add(name, candidate, {.kind = "deviceHolder", .text = "", .fields = {{"claim", name}}}, holders_);
    return;
  }
  if (line.dra.consumable_capacity) {
    const std::string lack =
        plugins::LackOfCapacity(spec_.capacity_requests, device,
                                {claims.allocated().CapacityOf(key), claims.pending().CapacityOf(key)}, line);
    if (!lack.empty()) {
      Add(lack, candidate, {.kind = "deviceCapacity", .text = lack, .fields = {{"lacks", lack}}},
          capacities_);
      return;
    }
  }
  const std::string lack = LackOfCounters(parts, candidate);
  if (!lack.empty()) {
    Add(lack, candidate, {.kind = "deviceCounter", .text = lack, .fields = {{"lacks", lack}}}, counters_);
    return;
  }
  for (const api::DeviceTaint& taint : device.taints) {
    api::Device with_one;
    with_one.taints = {taint};
    if (plugins::ToleratesTaints(spec_.tolerations, with_one, line)) continue;
    const std::string text = TaintText(taint);
    Add(text, candidate,
        {.kind = "deviceTaint",
         .text = text,
         .fields = {{"key", taint.key}, {"value", taint.value}, {"effect", taint.effect}}},
        taints_);
    return;
  }
  ++left_count_;
}

bool DeviceTally::IsSelected(const AllocatorParts& parts, const api::DeviceClass& device_class,
                             const Candidate& candidate) {
  const auto select = [&](const std::string& owner, const std::vector<api::DeviceSelector>& selectors,
                          Groups& groups) {
    for (size_t i = 0; i < selectors.size(); ++i) {
      const api::DeviceSelector& selector = selectors[i];
      if (!selector.expression.has_value()) continue;
      const auto matches = parts.selectors.Match(
          {selector}, [&owner] { return owner; }, *candidate.slice, *candidate.device);
      if (matches.ok() && *matches) continue;
      const std::string why = matches.ok() ? "is false for" : "ends in an error for";
      Add(absl::StrCat(absl::Dec(i, absl::kZeroPad2)), candidate,
          {.kind = "deviceSelector",
           .text = absl::StrCat(owner, ": selector #", i, " ", why),
           .fields = {{"of", owner},
                      {"selector", static_cast<int64_t>(i)},
                      {"expression", *selector.expression}}},
          groups);
      return false;
    }
    return true;
  };
  if (!select(absl::StrCat("class ", device_class.metadata.name), device_class.selectors, class_selectors_))
    return false;
  drivers_.insert(candidate.pool->driver);
  return select(absl::StrCat("request ", request_), spec_.selectors, selectors_);
}

std::string DeviceTally::LackOfCounters(const AllocatorParts& parts, const Candidate& candidate) {
  const api::Device& device = *candidate.device->device;
  if (device.consumes_counters.empty()) return "";
  const api::LineBehavior& line = parts.handle.line();
  if (!line.dra.partitionable_devices) return "it consumes counters, and DRAPartitionableDevices is off";
  const framework::ClaimCache& claims = parts.handle.claims();
  const bool counts_shared = line.line > api::KubernetesLine::k1_35;
  const auto is_allocated = [&](const plugins::SliceDevice& other) {
    if (counts_shared) return IsHeld(claims.allocated(), other.key) || IsHeld(claims.pending(), other.key);
    return claims.allocated().IsTaken(other.key) || claims.pending().IsTaken(other.key);
  };
  if (IsHeld(claims.allocated(), candidate.device->key)) return "";
  plugins::DeviceCounters counters(line);
  const plugins::CounterAmounts& available =
      counters.Available(*candidate.pool, *candidate.slice, is_allocated);
  for (const api::DeviceCounterConsumption& consumption : device.consumes_counters) {
    for (const auto& [name, counter] : consumption.counters) {
      const auto found = available.find({consumption.counter_set, name});
      if (found == available.end() || counter.value.amount <= found->second) continue;
      const auto text = [&counter = counter](api::Quantity amount) {
        return api::NotedQuantityText(amount, counter.value.format);
      };
      return absl::StrCat("it takes ", text(counter.value.amount), " of counter ", name, " in ",
                          consumption.counter_set, ", where ", text(found->second), " is left");
    }
  }
  return "";
}

std::string DeviceTally::Text() const {
  const bool wants_all = spec_.allocation_mode == "All";
  std::string text = absl::StrCat("claim ", claim_, ", request ", request_, ": asks for ",
                                  wants_all ? "all devices" : DevicesText(spec_.count), " of class ",
                                  spec_.device_class_name, "; ");
  if (device_count_ == 0) {
    return absl::StrCat(text, pools_.empty() ? "the node has no devices"
                                             : "the node has no devices in a pool that can be used");
  }
  const int64_t class_count = device_count_ - Sum(class_selectors_);
  if (class_count == 0)
    return absl::StrCat(text, "none of the node's ", DevicesText(device_count_), " is of it");
  std::vector<std::string> parts;
  const auto add = [&parts](int64_t count, absl::string_view one, absl::string_view many) {
    if (count > 0) parts.push_back(absl::StrCat(count, " ", count == 1 ? one : many));
  };
  add(Sum(selectors_), "is not selected", "are not selected");
  add(Sum(holders_), "is allocated", "are allocated");
  add(Sum(capacities_), "has too little capacity", "have too little capacity");
  add(Sum(counters_), "finds too little left of shared counters", "find too little left of shared counters");
  add(Sum(taints_), "has a taint that is not tolerated", "have taints that are not tolerated");
  add(left_count_, "could be had", "could be had");
  return absl::StrCat(text, "the node has ", class_count, " of it: ", absl::StrJoin(parts, ", "));
}

std::vector<Fact> DeviceTally::Facts() const {
  std::vector<Fact> facts = {{.kind = "deviceRequest",
                              .text = Text(),
                              .fields = {{"claim", claim_},
                                         {"request", request_},
                                         {"class", spec_.device_class_name},
                                         {"mode", spec_.allocation_mode},
                                         {"count", spec_.count},
                                         {"devices", device_count_},
                                         {"ofClass", device_count_ - Sum(class_selectors_)},
                                         {"notSelected", Sum(selectors_)},
                                         {"allocated", Sum(holders_)},
                                         {"lackCapacity", Sum(capacities_)},
                                         {"lackCounters", Sum(counters_)},
                                         {"tainted", Sum(taints_)},
                                         {"left", left_count_}}}};
  const auto add = [&facts](const Groups& groups, auto text) {
    size_t shown = 0;
    for (const auto& [key, group] : groups) {
      if (++shown > kFactsShown) break;
      Fact fact = group.fact;
      fact.text = text(group);
      if (fact.kind != "devicePool") {
        fact.fields.push_back({"devices", group.count});
        fact.fields.push_back({"device", group.first[0]});
      }
      facts.push_back(std::move(fact));
    }
  };
  Groups pools;
  for (const auto& [id, group] : pools_) {
    const std::string& driver = std::get<std::string>(group.fact.fields[2].second);
    if (drivers_.empty() || drivers_.count(driver) > 0) pools[id] = group;
  }
  add(pools, [](const Group& group) { return group.fact.text; });
  const auto selector_text = [](int64_t all_count) {
    return [all_count](const Group& group) {
      const std::string& expression = std::get<std::string>(group.fact.fields[2].second);
      const std::string all = all_count == 1   ? "the only one"
                              : all_count == 2 ? "both"
                                               : absl::StrCat("all ", all_count);
      return absl::StrCat(group.fact.text, " ",
                          group.count == all_count ? all : NamesText(group.first, group.count), ": ",
                          expression);
    };
  };
  const int64_t class_count = device_count_ - Sum(class_selectors_);
  if (class_count == 0) add(class_selectors_, selector_text(device_count_));
  add(selectors_, selector_text(class_count));
  add(holders_, [](const Group& group) {
    const std::string& claim = std::get<std::string>(group.fact.fields[0].second);
    return absl::StrCat(claim.empty() ? "a claim" : absl::StrCat("claim ", claim), " has ",
                        NamesText(group.first, group.count));
  });
  const auto named = [](const Group& group) {
    return absl::StrCat(NamesText(group.first, group.count), ": ", group.fact.text);
  };
  add(capacities_, named);
  add(counters_, named);
  add(taints_, [](const Group& group) {
    return absl::StrCat(NamesText(group.first, group.count), ": taint ", group.fact.text,
                        " is not tolerated");
  });
  return facts;
}

}  // namespace schedsim::sim
