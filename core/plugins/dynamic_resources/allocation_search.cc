#include "core/plugins/dynamic_resources/allocation_search.h"

#include <algorithm>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "core/plugins/dynamic_resources/device_capacity.h"

namespace schedsim::plugins {
namespace {

// More steps than the real one takes before its timeout of 10 s.
constexpr int64_t kStepsMax = 2'000'000;

bool Tolerates(const api::DeviceToleration& toleration, const api::DeviceTaint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.operator_ == "Exists") return true;
  const bool compares = toleration.operator_.empty() || toleration.operator_ == "Equal";
  return compares && toleration.value == taint.value;
}

}  // namespace

bool ToleratesTaints(absl::Span<const api::DeviceToleration> tolerations, const api::Device& device,
                     const api::LineBehavior& line) {
  if (!line.dra.device_taints) return true;
  const bool any_effect = line.line == api::KubernetesLine::k1_34;
  return std::all_of(device.taints.begin(), device.taints.end(), [&](const api::DeviceTaint& taint) {
    const bool counts = any_effect || taint.effect == "NoSchedule" || taint.effect == "NoExecute";
    if (!counts) return true;
    return std::any_of(tolerations.begin(), tolerations.end(),
                       [&](const api::DeviceToleration& toleration) { return Tolerates(toleration, taint); });
  });
}

AllocationSearch::Step AllocationSearch::AllocateOne(const Place& place, const Location& start) {
  if (++step_count_ > kStepsMax) {
    is_timeout_ = true;
    return Step::kError;
  }
  if (place.claim >= claims_.size()) return Step::kDone;
  ClaimData& data = claims_[place.claim];
  if (place.request >= data.requests.size()) {
    const Step step = AllocateOne({.claim = place.claim + 1}, {});
    return step == Step::kTooMany ? Step::kFailed : step;
  }
  const std::vector<RequestData>& alternatives = data.requests[place.request];
  if (!place.is_alternative_fixed && alternatives[0].IsSubrequest()) return TryAlternatives(place);
  const RequestData& request = alternatives[place.alternative];
  const bool is_all = request.TakesAll();
  if (is_all && request.all_devices.empty()) return Step::kFailed;
  if (place.device >= request.device_count) return NextRequest(place);
  const int64_t remaining = request.device_count - place.device;
  if (remaining > kAllocationResultsMax - static_cast<int64_t>(data.chosen.size())) return Step::kTooMany;
  return is_all ? TryAllDevices(place) : TryDevices(place, start);
}

AllocationSearch::Step AllocationSearch::NextRequest(const Place& place) {
  return AllocateOne({.claim = place.claim, .request = place.request + 1}, {});
}

AllocationSearch::Step AllocationSearch::TryAlternatives(Place place) {
  ClaimData& data = claims_[place.claim];
  bool all_too_many = true;
  place.is_alternative_fixed = true;
  for (size_t i = 0; i < data.requests[place.request].size(); ++i) {
    place.alternative = i;
    const Step step = AllocateOne(place, {});
    if (step == Step::kTooMany) continue;
    all_too_many = false;
    if (step == Step::kDone) data.selected[place.request] = i;
    if (step != Step::kFailed) return step;
  }
  return all_too_many ? Step::kTooMany : Step::kFailed;
}

AllocationSearch::Step AllocationSearch::TryAllDevices(const Place& place) {
  const RequestData& request = claims_[place.claim].requests[place.request][place.alternative];
  const Step chosen = Choose(place, request.all_devices[static_cast<size_t>(place.device)], /*must=*/true);
  if (chosen != Step::kDone) return chosen;
  Place next = place;
  ++next.device;
  // Up to 1.35 all devices but the first one are those of the first alternative.
  if (IsOld()) next.alternative = 0;
  const Step step = AllocateOne(next, {});
  if (step != Step::kDone) TakeBack(place.claim);
  return step;
}

AllocationSearch::Step AllocationSearch::TryDevices(const Place& place, const Location& start) {
  const bool skips_incomplete = line_.line >= api::KubernetesLine::k1_35;
  for (size_t p = start.pool; p < pools_->size(); ++p) {
    const DevicePool& pool = (*pools_)[p];
    if (!skips_incomplete && pool.IsInvalid()) {
      return FailStep(absl::StrCat("pool ", pool.name, " is invalid: ", pool.invalid_reason));
    }
    if (skips_incomplete && (pool.is_incomplete || pool.IsInvalid())) continue;
    const bool is_start_pool = p == start.pool;
    for (size_t s = is_start_pool ? start.slice : 0; s < pool.slices.size(); ++s) {
      DeviceSlice* const slice = pool.slices[s];
      const bool continues = is_start_pool && s == start.slice;
      for (size_t d = continues ? start.device : 0; d < slice->devices.size(); ++d) {
        const Candidate candidate = {.pool = &pool, .slice = slice, .device = &slice->devices[d]};
        const Step step = TryCandidate(place, candidate, {.pool = p, .slice = s, .device = d + 1});
        if (step != Step::kFailed) return step;
      }
    }
  }
  return Step::kFailed;
}

AllocationSearch::Step AllocationSearch::TryCandidate(const Place& place, const Candidate& candidate,
                                                      const Location& next_location) {
  const ClaimData& data = claims_[place.claim];
  const RequestData& request = data.requests[place.request][place.alternative];
  const std::string& key = candidate.device->key;
  const bool admin = request.spec->admin_access;
  if (admin ? IsChosenFor(key, place.claim) : IsInUse(key)) return Step::kFailed;
  Step step = Step::kFailed;
  if (!IsSelectable(data, request, candidate, step)) return step;
  if (line_.dra.consumable_capacity && !HasRoom(request, candidate, step, data)) return step;
  step = Choose(place, candidate, /*must=*/false);
  if (step != Step::kDone) return step;
  Place next = place;
  ++next.device;
  // Up to 1.35 each device of a request is looked for from the first one on: a shared one may come again.
  step = AllocateOne(next, IsOld() ? Location() : next_location);
  if (step != Step::kDone) TakeBack(place.claim);
  return step;
}

bool AllocationSearch::IsSelectable(const ClaimData& data, const RequestData& request,
                                    const Candidate& candidate, Step& step) {
  const api::Device& device = *candidate.device->device;
  if (!line_.dra.binding_conditions && !device.binding_conditions.empty()) return false;
  const auto match = [&](const std::vector<api::DeviceSelector>& selectors,
                         absl::FunctionRef<std::string()> owner) {
    const absl::StatusOr<bool> matches =
        parts_.selectors.Match(selectors, owner, *candidate.slice, *candidate.device);
    if (matches.ok()) return *matches;
    is_unknown_ = absl::IsUnimplemented(matches.status());
    error_ = std::string(matches.status().message());
    step = Step::kError;
    return false;
  };
  const api::DeviceClass& device_class = *request.device_class;
  if (!device_class.selectors.empty() &&
      !match(device_class.selectors, [&] { return absl::StrCat("class ", device_class.metadata.name); })) {
    return false;
  }
  if (!request.spec->selectors.empty() &&
      !match(request.spec->selectors, [&] { return absl::StrCat("claim ", data.Key()); })) {
    return false;
  }
  if (!candidate.slice->spec().per_device_node_selection) return true;
  return IsForNode(device.node_name, device.node_selector, device.all_nodes, node_, parts_.handle.symbols());
}

bool AllocationSearch::HasRoom(const RequestData& request, const Candidate& candidate, Step& step,
                               const ClaimData& data) {
  const std::string& key = candidate.device->key;
  const auto chosen = shared_.find(key);
  const framework::ClaimCache& claims = parts_.handle.claims();
  const absl::StatusOr<bool> fits =
      HasCapacity(request.spec->capacity_requests, *candidate.device->device,
                  {claims.allocated().CapacityOf(key), claims.pending().CapacityOf(key),
                   chosen == shared_.end() ? nullptr : &chosen->second.second},
                  line_);
  if (fits.ok()) return *fits;
  step = FailStep(absl::StrCat("claim ", data.Key(), ", request ", request.Name(),
                               ": checking capacity for device ", key, ": ", fits.status().message()));
  return false;
}

bool AllocationSearch::IsInUse(const std::string& device) const {
  const framework::ClaimCache& claims = parts_.handle.claims();
  if (claims.allocated().IsTaken(device) || claims.pending().IsTaken(device)) return true;
  const auto found = taken_.find(device);
  return found != taken_.end() && !found->second.empty();
}

bool AllocationSearch::IsChosenFor(const std::string& device, size_t claim) const {
  const auto found = taken_.find(device);
  return found != taken_.end() &&
         std::find(found->second.begin(), found->second.end(), claim) != found->second.end();
}

bool AllocationSearch::IsCapacityInUse(const std::string& device) const {
  const framework::ClaimCache& claims = parts_.handle.claims();
  return claims.allocated().IsShared(device) || claims.pending().IsShared(device) ||
         shared_.find(device) != shared_.end();
}

bool AllocationSearch::AddToConstraints(ClaimData& data, const RequestData& request,
                                        const Candidate& candidate) {
  const std::string name = request.FullName();
  const std::string& driver = candidate.pool->driver;
  for (size_t i = 0; i < data.constraints.size(); ++i) {
    if (data.constraints[i].Add(name, driver, *candidate.device->device)) continue;
    while (i-- > 0) data.constraints[i].RemoveLast(name);
    return false;
  }
  return true;
}

AllocationSearch::Step AllocationSearch::Choose(const Place& place, const Candidate& candidate, bool must) {
  ClaimData& data = claims_[place.claim];
  const RequestData& request = data.requests[place.request][place.alternative];
  const api::Device& device = *candidate.device->device;
  const std::string& key = candidate.device->key;
  const bool admin = request.spec->admin_access;
  ChosenDevice chosen = {.candidate = candidate, .request = &request, .consumed = {}};
  chosen.is_shared = IsShareable(device);
  if (!chosen.is_shared && admin && IsChosenFor(key, place.claim)) return Step::kFailed;
  if (!admin && IsInUse(key)) return Step::kFailed;
  if (!device.consumes_counters.empty()) {
    if (!line_.dra.partitionable_devices) return Step::kFailed;
    const framework::ClaimCache& claims = parts_.handle.claims();
    const auto is_allocated = [&claims, this](const SliceDevice& other) {
      if (claims.allocated().IsTaken(other.key) || claims.pending().IsTaken(other.key)) return true;
      return !IsOld() && (claims.allocated().IsShared(other.key) || claims.pending().IsShared(other.key));
    };
    // Another share of a device takes nothing more.
    if (!chosen.is_shared || !IsCapacityInUse(key)) {
      if (!counters_.Take(*candidate.pool, *candidate.slice, device, is_allocated, counters_chosen_)) {
        return Step::kFailed;
      }
      chosen.has_counters = true;
    }
  }
  // Up to 1.35 a device that is turned down keeps what it took until the search ends.
  const auto give_back = [&] {
    if (chosen.has_counters && !IsOld()) {
      counters_.GiveBack(*candidate.pool, *candidate.slice, device, counters_chosen_);
    }
  };
  if (!ToleratesTaints(request.spec->tolerations, device, line_)) {
    give_back();
    return Step::kFailed;
  }
  if (!AddToConstraints(data, request, candidate)) {
    give_back();
    if (!must) return Step::kFailed;
    return FailStep(absl::StrCat("claim ", data.Key(), ", request ", request.Name(), ": cannot add device ",
                                 key, " because a claim constraint would not be satisfied"));
  }
  Step step = Step::kFailed;
  if (line_.dra.consumable_capacity && !HasRoom(request, candidate, step, data)) {
    if (IsOld()) {
      if (!chosen.is_shared) taken_[key].push_back(place.claim);
      return step;
    }
    for (DeviceConstraint& constraint : data.constraints) constraint.RemoveLast(request.FullName());
    give_back();
    return step;
  }
  if (chosen.is_shared) {
    auto consumed = ConsumedCapacityOf(request.spec->capacity_requests, device, line_);
    if (consumed.ok()) chosen.consumed = *std::move(consumed);
    auto& [count, sum] = shared_[key];
    ++count;
    for (const auto& [name, amount] : chosen.consumed) sum[name] += amount.amount;
  } else {
    taken_[key].push_back(place.claim);
  }
  data.chosen.push_back(std::move(chosen));
  return Step::kDone;
}

void AllocationSearch::TakeBack(size_t claim) {
  ClaimData& data = claims_[claim];
  const ChosenDevice chosen = std::move(data.chosen.back());
  data.chosen.pop_back();
  const Candidate& candidate = chosen.candidate;
  const std::string& key = candidate.device->key;
  if (chosen.is_shared) {
    auto& [count, sum] = shared_[key];
    for (const auto& [name, amount] : chosen.consumed) sum[name] -= amount.amount;
    if (--count == 0) shared_.erase(key);
  } else {
    std::vector<size_t>& claims = taken_[key];
    claims.erase(std::find(claims.begin(), claims.end(), claim));
  }
  for (DeviceConstraint& constraint : data.constraints) constraint.RemoveLast(chosen.request->FullName());
  if (chosen.has_counters && !(IsOld() && chosen.is_shared)) {
    counters_.GiveBack(*candidate.pool, *candidate.slice, *candidate.device->device, counters_chosen_);
  }
}

}  // namespace schedsim::plugins
