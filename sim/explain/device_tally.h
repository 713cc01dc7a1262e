// What becomes of a node's devices where a request looks for some.
#ifndef SCHEDSIM_SIM_EXPLAIN_DEVICE_TALLY_H_
#define SCHEDSIM_SIM_EXPLAIN_DEVICE_TALLY_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/lookup_map.h"
#include "core/plugins/dynamic_resources/allocation_search.h"
#include "sim/explain/fact.h"
#include "sim/explain/filter_explainer.h"

namespace schedsim::sim {

// The devices of a node, each by the first thing that keeps it from one request, in the order in which the
// allocator looks; the class and the selectors come before that it is taken.
class DeviceTally {
 public:
  // Which claim has each device, by its key.
  using Holders = LookupMap<std::string, std::string>;

  // `claim` is "namespace/name"; `request` as "REQUEST" or "REQUEST/SUBREQUEST". `spec` must outlive the
  // tally.
  DeviceTally(std::string claim, std::string request, const api::DeviceRequestSpec& spec)
      : claim_(std::move(claim)), request_(std::move(request)), spec_(spec) {}

  // Looks at all devices of the pools. `device_class`: that of the request.
  void Count(const RefusedPod& refused, const plugins::AllocatorParts& parts,
             const api::DeviceClass& device_class, const Holders& holders);

  // "claim default/c, request gpu: asks for 2 devices of class gpu; the node has 8 of it: 8 are allocated".
  std::string Text() const;
  // The text with its numbers, then what is behind them.
  std::vector<Fact> Facts() const;
  // Devices that nothing keeps from the request.
  int64_t left_count() const { return left_count_; }

 private:
  // Devices that one thing keeps away, and what it is.
  struct Group {
    int64_t count = 0;
    std::vector<std::string> first;  // Names of the first ones.
    Fact fact;
  };
  using Groups = std::map<std::string, Group>;

  void CountDevice(const RefusedPod& refused, const plugins::AllocatorParts& parts,
                   const api::DeviceClass& device_class, const Holders& holders,
                   const plugins::Candidate& candidate);
  bool IsSelected(const plugins::AllocatorParts& parts, const api::DeviceClass& device_class,
                  const plugins::Candidate& candidate);
  std::string LackOfCounters(const plugins::AllocatorParts& parts, const plugins::Candidate& candidate);
  static void Add(const std::string& key, const plugins::Candidate& candidate, Fact fact, Groups& groups);
  static int64_t Sum(const Groups& groups);

  const std::string claim_;
  const std::string request_;
  const api::DeviceRequestSpec& spec_;
  int64_t device_count_ = 0;
  int64_t left_count_ = 0;
  std::set<std::string> drivers_;  // Of devices of the class.
  Groups pools_;                   // Pools that give no devices.
  Groups class_selectors_;         // By number.
  Groups selectors_;               // The request's, by number.
  Groups holders_;                 // By claim.
  Groups taints_;
  Groups counters_;
  Groups capacities_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_DEVICE_TALLY_H_
