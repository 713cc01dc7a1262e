// Addresses of simulated pods and nodes.
#ifndef SCHEDSIM_SIM_STAGES_POD_ADDRESSES_H_
#define SCHEDSIM_SIM_STAGES_POD_ADDRESSES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// Gives out addresses as kwok does: a pool for each CIDR as it is written, from the address in it on.
// Addresses of pods that are gone are given out again, the lowest one first, where kwok's order is free.
class PodAddresses {
 public:
  // One for each CIDR, in their order; the same ones whenever the pod asks. A CIDR that is none has no
  // address.
  std::vector<std::string> Take(const std::string& pod_uid, const std::vector<std::string>& cidrs);
  // The pod is gone.
  void Release(const std::string& pod_uid);

 private:
  struct Pool {
    uint64_t next = 1;
    std::set<uint64_t> free;
  };
  struct Taken {
    std::string cidr;
    uint64_t index = 0;
  };

  std::map<std::string, Pool> pools_;
  std::map<std::string, std::vector<Taken>> taken_;
};

// spec.podCIDRs of a node, or podCIDR, or kwok's default.
std::vector<std::string> PodCidrsOf(const codec::Value& node);

// The addresses of a node: the first InternalIP (or else ExternalIP), and the first one of the other family.
std::vector<std::string> HostIpsOf(const codec::Value& node);

// The address `offset` behind the one in a CIDR, "10.0.0.0/24" or "fd00::/64"; "" for what is no CIDR.
std::string AddressIn(absl::string_view cidr, uint64_t offset);

// `address` and `count` more; "" for what is no address.
std::string AddToAddress(absl::string_view address, uint64_t count);

// The CIDR that is `count` networks of its size behind; "" for what is no CIDR.
std::string AddToCidr(absl::string_view cidr, uint64_t count);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_STAGES_POD_ADDRESSES_H_
