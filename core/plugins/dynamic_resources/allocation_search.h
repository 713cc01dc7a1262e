// One search of devices on one node.
#ifndef SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_ALLOCATION_SEARCH_H_
#define SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_ALLOCATION_SEARCH_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/plugins/dynamic_resources/allocator.h"
#include "core/plugins/dynamic_resources/device_constraints.h"

namespace schedsim::plugins {

// Devices of a claim at most. Source: k8s.io/api v0.37, resource/v1, AllocationResultsMaxSize.
inline constexpr int64_t kAllocationResultsMax = 32;

// Whether the tolerations are for all taints of the device that count in this line.
bool ToleratesTaints(absl::Span<const api::DeviceToleration> tolerations, const api::Device& device,
                     const api::LineBehavior& line);

// A device where it stands.
struct Candidate {
  const DevicePool* pool = nullptr;
  DeviceSlice* slice = nullptr;
  SliceDevice* device = nullptr;
};

// A request, or one of its alternatives, with what is known of it before the search.
struct RequestData {
  const api::DeviceRequest* request = nullptr;
  const api::DeviceRequestSpec* spec = nullptr;
  const api::DeviceClass* device_class = nullptr;
  int64_t device_count = 0;
  std::vector<Candidate> all_devices;  // With mode All: these, and no others.

  bool TakesAll() const { return spec->allocation_mode == "All"; }
  bool IsSubrequest() const { return !request->exactly.has_value() || spec != &*request->exactly; }
  // "REQUEST" or "REQUEST/SUBREQUEST", and the last part alone.
  std::string FullName() const { return IsSubrequest() ? request->name + "/" + spec->name : request->name; }
  const std::string& Name() const { return IsSubrequest() ? spec->name : request->name; }
};

// One chosen device.
struct ChosenDevice {
  Candidate candidate;
  const RequestData* request = nullptr;
  bool is_shared = false;
  bool has_counters = false;
  api::MapByName<api::NotedQuantity> consumed;
};

// A claim with its requests; of a request without alternatives there is one RequestData.
struct ClaimData {
  const api::ResourceClaim* claim = nullptr;
  std::vector<std::vector<RequestData>> requests;
  std::vector<size_t> selected;  // Which alternative of each request is taken.
  std::vector<DeviceConstraint> constraints;
  std::vector<ChosenDevice> chosen;

  std::string Key() const;
};

class AllocationSearch {
 public:
  AllocationSearch(const AllocatorParts& parts, DeviceCounters& counters, const framework::NodeInfo& node)
      : parts_(parts), line_(parts.handle.line()), counters_(counters), node_(node) {}

  Allocation Run(absl::Span<const framework::ClaimPtr> claims);

 private:
  enum class Step : uint8_t { kDone, kFailed, kTooMany, kError };
  // Where the search is: the device of the request, counted from 0.
  struct Place {
    size_t claim = 0;
    size_t request = 0;
    size_t alternative = 0;
    int64_t device = 0;
    bool is_alternative_fixed = false;
  };
  // Behind which device the next one is looked for.
  struct Location {
    size_t pool = 0;
    size_t slice = 0;
    size_t device = 0;
  };

  // Before the search. False: `error_` says what is wrong.
  bool Prepare(const api::ResourceClaim& claim);
  bool CheckRequest(const api::DeviceRequest& request, ClaimData& data, int64_t& count);
  // `selecting`: whose selectors decide which devices "all" are.
  bool CheckSpec(const ClaimData& data, const RequestData& selecting, RequestData& request);
  bool FindAllDevices(const ClaimData& data, const RequestData& selecting, RequestData& request);
  bool MakeConstraints(ClaimData& data);
  std::string LimitText(const ClaimData& data, const api::DeviceRequest& request, int64_t before,
                        int64_t added) const;

  // The search. It is as deep as there are devices to choose: at most kAllocationResultsMax a claim, and a
  // step for each request and claim.
  Step AllocateOne(const Place& place, const Location& start);
  Step NextRequest(const Place& place);
  Step TryAlternatives(Place place);
  Step TryDevices(const Place& place, const Location& start);
  Step TryAllDevices(const Place& place);
  Step TryCandidate(const Place& place, const Candidate& candidate, const Location& next);

  // Whether the request's class and selectors select the device. False with kError in `step` on errors.
  bool IsSelectable(const ClaimData& data, const RequestData& request, const Candidate& candidate,
                    Step& step);
  bool HasRoom(const RequestData& request, const Candidate& candidate, Step& step, const ClaimData& data);
  // Chooses the device; kDone: it is chosen. `must`: a constraint that it breaks is an error.
  Step Choose(const Place& place, const Candidate& candidate, bool must);
  bool AddToConstraints(ClaimData& data, const RequestData& request, const Candidate& candidate);
  void TakeBack(size_t claim);

  bool IsInUse(const std::string& device) const;
  bool IsChosenFor(const std::string& device, size_t claim) const;
  bool IsCapacityInUse(const std::string& device) const;
  bool IsShareable(const api::Device& device) const {
    return line_.dra.consumable_capacity && device.allow_multiple_allocations;
  }
  // Whether the line is up to 1.35, whose search is another in details.
  bool IsOld() const { return line_.line <= api::KubernetesLine::k1_35; }
  bool Fail(std::string text);
  Step FailStep(std::string text);

  // The result, allocation_result.cc.
  bool MakeResult(ClaimData& data, api::AllocationResult& result);
  void AddClassConfig(const ClaimData& data, api::AllocationResult& result) const;
  void AddClaimConfig(const ClaimData& data, api::AllocationResult& result) const;
  bool MakeNodeSelector(const ClaimData& data, api::AllocationResult& result);

  const AllocatorParts& parts_;
  const api::LineBehavior& line_;
  DeviceCounters& counters_;
  const framework::NodeInfo& node_;
  const std::vector<DevicePool>* pools_ = nullptr;
  std::vector<ClaimData> claims_;
  std::map<std::string, std::vector<size_t>> taken_;  // Claims that chose the device alone, by its key.
  std::map<std::string, std::pair<int64_t, framework::ConsumedCapacity>>
      shared_;  // Shares chosen, and their sum.
  DeviceCounters::Chosen counters_chosen_;
  int64_t step_count_ = 0;
  bool is_timeout_ = false;
  bool is_unknown_ = false;
  std::string error_;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_ALLOCATION_SEARCH_H_
