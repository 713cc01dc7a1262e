// The allocator, and the checks before its search.
#include "core/plugins/dynamic_resources/allocator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/plugins/dynamic_resources/allocation_search.h"
#include "core/plugins/dynamic_resources/device_capacity.h"

namespace schedsim::plugins {

Allocation Allocator::Allocate(const framework::NodeInfo& node,
                               absl::Span<const framework::ClaimPtr> claims) {
  return AllocationSearch(parts_, counters_, node).Run(claims);
}

std::string ClaimData::Key() const {
  return absl::StrCat(claim->metadata.namespace_, "/", claim->metadata.name);
}

bool AllocationSearch::Fail(std::string text) {
  error_ = std::move(text);
  return false;
}

AllocationSearch::Step AllocationSearch::FailStep(std::string text) {
  error_ = std::move(text);
  return Step::kError;
}

Allocation AllocationSearch::Run(absl::Span<const framework::ClaimPtr> claims) {
  using Outcome = Allocation::Outcome;
  pools_ = &parts_.pools.Of(node_);
  // Requests and constraints point into the claims' data.
  claims_.reserve(claims.size());
  bool is_right = true;
  for (const framework::ClaimPtr& claim : claims) is_right = is_right && Prepare(*claim);
  const Step step = is_right ? AllocateOne({}, {}) : Step::kError;
  if (step == Step::kError) {
    const Outcome outcome =
        is_timeout_ ? Outcome::kTimeout : (is_unknown_ ? Outcome::kUnknown : Outcome::kError);
    return {.outcome = outcome, .text = std::move(error_), .results = {}};
  }
  if (step != Step::kDone) {
    const bool has_invalid =
        line_.line >= api::KubernetesLine::k1_35 &&
        std::any_of(pools_->begin(), pools_->end(), [](const DevicePool& pool) { return pool.IsInvalid(); });
    if (!has_invalid) return {};
    return {
        .outcome = Outcome::kFailedOnNode, .text = "invalid resource pools were encountered", .results = {}};
  }
  Allocation allocation = {.outcome = Outcome::kFound, .text = "", .results = {}};
  for (ClaimData& data : claims_) {
    allocation.results.emplace_back();
    if (!MakeResult(data, allocation.results.back())) {
      return {.outcome = Outcome::kError, .text = std::move(error_), .results = {}};
    }
  }
  return allocation;
}

std::string AllocationSearch::LimitText(const ClaimData& data, const api::DeviceRequest& request,
                                        int64_t before, int64_t added) const {
  if (line_.line >= api::KubernetesLine::k1_37) {
    return absl::StrCat("claim ", data.Key(), ", request ", request.name, ": adding ", added,
                        " devices exceeds the claim limit of ", kAllocationResultsMax, ", with ", before,
                        " already accounted for");
  }
  return absl::StrCat("claim ", data.Key(), ": number of requested devices ", before + added,
                      " exceeds the claim limit of ", kAllocationResultsMax);
}

bool AllocationSearch::Prepare(const api::ResourceClaim& claim) {
  claims_.emplace_back();
  ClaimData& data = claims_.back();
  data.claim = &claim;
  data.selected.resize(claim.spec.requests.size());
  const bool sums_first = line_.line < api::KubernetesLine::k1_37;
  int64_t total = 0;
  for (const api::DeviceRequest& request : claim.spec.requests) {
    int64_t count = 0;
    if (!CheckRequest(request, data, count)) return false;
    if (!sums_first && count > kAllocationResultsMax - total) {
      return Fail(LimitText(data, request, total, count));
    }
    total += count;
  }
  if (total > kAllocationResultsMax) return Fail(LimitText(data, claim.spec.requests.back(), 0, total));
  return MakeConstraints(data);
}

bool AllocationSearch::CheckRequest(const api::DeviceRequest& request, ClaimData& data, int64_t& count) {
  const bool has_alternatives = !request.first_available.empty();
  const std::string start = absl::StrCat("claim ", data.Key(), ", request ", request.name, ": ");
  if (has_alternatives && !line_.dra.prioritized_list) {
    return Fail(start + "has subrequests, but the DRAPrioritizedList feature is disabled");
  }
  if (!line_.dra.consumable_capacity) {
    constexpr absl::string_view kDisabled =
        "has capacity requests, but the DRAConsumableCapacity feature is disabled";
    if (request.exactly.has_value() && !request.exactly->capacity_requests.empty()) {
      return Fail(absl::StrCat(start, kDisabled));
    }
    for (const api::DeviceRequestSpec& sub : request.first_available) {
      if (sub.capacity_requests.empty()) continue;
      if (line_.line < api::KubernetesLine::k1_36) return Fail(absl::StrCat(start, kDisabled));
      return Fail(absl::StrCat("claim ", data.Key(), ", subrequest ", sub.name, ": ", kDisabled));
    }
  }
  data.requests.emplace_back();
  std::vector<RequestData>& alternatives = data.requests.back();
  if (!has_alternatives) {
    if (!request.exactly.has_value()) return Fail(start + "unknown request type");
    alternatives.push_back({.request = &request, .spec = &*request.exactly, .all_devices = {}});
  }
  for (const api::DeviceRequestSpec& sub : request.first_available) {
    alternatives.push_back({.request = &request, .spec = &sub, .all_devices = {}});
  }
  count = INT64_MAX;
  // Up to 1.35 what the first alternative says of devices holds for the second one, where both take all.
  const bool shares_first = IsOld() && alternatives.size() > 1 && alternatives[0].TakesAll();
  for (size_t i = 0; i < alternatives.size(); ++i) {
    const RequestData& selecting = alternatives[i == 1 && shares_first ? 0 : i];
    if (!CheckSpec(data, selecting, alternatives[i])) return false;
    count = std::min(count, alternatives[i].device_count);
  }
  return true;
}

bool AllocationSearch::CheckSpec(const ClaimData& data, const RequestData& selecting, RequestData& request) {
  const api::DeviceRequestSpec& spec = *request.spec;
  const std::string start = absl::StrCat("claim ", data.Key(), ", request ", request.Name());
  for (size_t i = 0; i < spec.selectors.size(); ++i) {
    if (spec.selectors[i].expression.has_value()) continue;
    return Fail(
        absl::StrCat(start, ", selector #", i, ": CEL expression empty (unsupported selector type?)"));
  }
  if (!line_.dra.admin_access && spec.admin_access) {
    return Fail(start + ": admin access is requested, but the feature is disabled");
  }
  if (spec.device_class_name.empty()) {
    return Fail(start + ": missing device class name (unsupported request type?)");
  }
  const api::ObjectPtr object =
      parts_.handle.informers().Find(api::Kind::kDeviceClass, "", spec.device_class_name);
  if (object == nullptr) {
    return Fail(absl::StrCat(start, ": could not retrieve device class ", spec.device_class_name,
                             ": deviceclass.resource.k8s.io \"", spec.device_class_name, "\" not found"));
  }
  request.device_class = static_cast<const api::DeviceClass*>(object.get());
  if (spec.allocation_mode == "ExactCount") {
    request.device_count = spec.count;
    return true;
  }
  if (request.TakesAll()) return FindAllDevices(data, selecting, request);
  return Fail(absl::StrCat(start, ": unsupported count mode ", spec.allocation_mode));
}

bool AllocationSearch::FindAllDevices(const ClaimData& data, const RequestData& selecting,
                                      RequestData& request) {
  const std::string start = absl::StrCat("claim ", data.Key(), ", request ", request.Name(),
                                         ": asks for all devices, but resource pool ");
  // Up to 1.36 a device without room for the request is none of "all"; from 1.37 on only one that never has
  // it.
  const framework::ClaimCache& claims = parts_.handle.claims();
  const auto used_before = [this](const framework::AllocatedDevices& devices, const SliceDevice& device) {
    return line_.line <= api::KubernetesLine::k1_36 ? devices.CapacityOf(device.key) : nullptr;
  };
  for (const DevicePool& pool : *pools_) {
    if (pool.is_incomplete) return Fail(absl::StrCat(start, pool.Id(), " is currently being updated"));
    if (pool.IsInvalid()) return Fail(absl::StrCat(start, pool.Id(), " is currently invalid"));
    for (DeviceSlice* slice : pool.slices) {
      for (SliceDevice& device : slice->devices) {
        const Candidate candidate = {.pool = &pool, .slice = slice, .device = &device};
        Step step = Step::kFailed;
        if (!IsSelectable(data, selecting, candidate, step)) {
          if (step == Step::kError) return false;
          continue;
        }
        if (line_.dra.consumable_capacity) {
          const absl::StatusOr<bool> fits = HasCapacity(
              request.spec->capacity_requests, *device.device,
              {used_before(claims.allocated(), device), used_before(claims.pending(), device)}, line_);
          if (!fits.ok()) {
            return Fail(absl::StrCat("claim ", data.Key(), ", request ", request.Name(),
                                     ": checking capacity for device ", device.device->name, ": ",
                                     fits.status().message()));
          }
          if (!*fits) continue;
        }
        request.all_devices.push_back(candidate);
      }
    }
  }
  request.device_count = static_cast<int64_t>(request.all_devices.size());
  return true;
}

bool AllocationSearch::MakeConstraints(ClaimData& data) {
  // Up to 1.35 only the allocator for these features has it.
  const bool knows_distinct = !IsOld() || line_.dra.consumable_capacity || line_.dra.binding_conditions;
  const std::vector<api::DeviceConstraint>& specs = data.claim->spec.constraints;
  for (size_t i = 0; i < specs.size(); ++i) {
    const bool is_known =
        specs[i].match_attribute.has_value() || (specs[i].distinct_attribute.has_value() && knows_distinct);
    if (!is_known) {
      return Fail(absl::StrCat("claim ", data.Key(), ", constraint #", i,
                               ": empty constraint (unsupported constraint type?)"));
    }
    data.constraints.emplace_back(specs[i], line_.line <= api::KubernetesLine::k1_36);
  }
  return true;
}

}  // namespace schedsim::plugins
