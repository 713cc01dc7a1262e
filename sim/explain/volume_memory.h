// What is asked about the claims of a pod for each node, looked up once.
#ifndef SCHEDSIM_SIM_EXPLAIN_VOLUME_MEMORY_H_
#define SCHEDSIM_SIM_EXPLAIN_VOLUME_MEMORY_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/api/storage.h"
#include "core/framework/handle.h"
#include "core/plugins/volume/volume_claims.h"
#include "core/plugins/volume/volume_matching.h"
#include "sim/explain/domain_pods.h"

namespace schedsim::sim {

class VolumeMemory {
 public:
  // `handle` must outlive this. Claims and volumes stay as they are.
  explicit VolumeMemory(framework::Handle& handle) : handle_(handle), compiler_(handle.symbols()) {}

  // Those of the free volumes that the claim could have on some node, by name.
  const std::vector<plugins::VolumePtr>& FreeFor(const api::PersistentVolumeClaim& claim);
  // The pods on nodes that name the claim, as of now.
  const DomainPods::Pods& UsersOf(const plugins::ClaimPtr& claim, const framework::NodeInfo& any_node);

 private:
  framework::Handle& handle_;
  plugins::VolumeCompiler compiler_;
  // By "namespace/name" of the claim.
  std::map<std::string, std::vector<plugins::VolumePtr>> free_;
  std::map<std::string, std::unique_ptr<DomainPods>> users_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_VOLUME_MEMORY_H_
