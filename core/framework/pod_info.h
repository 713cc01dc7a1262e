// Pods as the scheduler works with them: an API object and what is computed from it once.
#ifndef SCHEDSIM_CORE_FRAMEWORK_POD_INFO_H_
#define SCHEDSIM_CORE_FRAMEWORK_POD_INFO_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/api/kubernetes_version.h"
#include "core/api/pod.h"
#include "core/base/lookup_map.h"
#include "core/base/symbol.h"
#include "core/framework/affinity_term.h"
#include "core/framework/resource.h"
#include "core/framework/selector.h"

namespace schedsim::framework {

// A host port that a container takes. `protocol` is never "", `ip` is "0.0.0.0" where none is given.
struct HostPort {
  Symbol ip;
  Symbol protocol;
  int32_t port = 0;

  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// What follows from a pod's spec alone, computed once for all pods that share the spec.
struct PodSpecInfo {
  // Dense, in order of first sight: equal ids mean equal specs.
  int32_t id = 0;
  std::shared_ptr<const api::PodSpec> spec;
  // What the filter compares with a node: status aside, pod-level resources included.
  Resource requests;
  // `requests` with defaults for cpu and memory, as the node's non-zero sums count the pod.
  Resource non_zero_requests;
  // What NodeResourcesFit scores: defaults for each container, pod-level resources left out.
  Resource scoring_requests;
  // Host ports of containers and sidecars.
  std::vector<HostPort> host_ports;
  RequiredNodeAffinity required_node_affinity;
  PreferredNodeTerms preferred_node_terms;
  PodAffinityTerms affinity_terms;
  // Images of init containers and containers, normalised to a tag, as often as they are used; image
  // volumes where the line scores them.
  std::vector<Symbol> images;
  // The divisor of ImageLocality: how many images count.
  int64_t image_count = 0;
};

// A pod with its compiled spec. Immutable: a changed pod is a new PodInfo.
struct PodInfo {
  api::PodPtr pod;
  std::shared_ptr<const PodSpecInfo> spec_info;
  Symbol namespace_;
  Symbol name;
  LabelSet labels;
  // Dense, in order of first sight: equal ids mean equal namespaces and labels.
  int32_t labels_id = 0;
  // What the pod takes on its node: from the spec, and from the status of a pod that was resized.
  Resource requests;
  int64_t non_zero_milli_cpu = 0;
  int64_t non_zero_memory_bytes = 0;

  int32_t Priority() const { return pod->Priority(); }
  absl::string_view Uid() const { return pod->metadata.uid; }
};

using PodInfoPtr = std::shared_ptr<const PodInfo>;

// Makes PodInfos and compiles each spec once.
class PodInfoFactory {
 public:
  // `symbols` must outlive the factory.
  PodInfoFactory(const api::LineBehavior& line, SymbolTable& symbols) : line_(line), symbols_(symbols) {}
  PodInfoFactory(const PodInfoFactory&) = delete;
  PodInfoFactory& operator=(const PodInfoFactory&) = delete;

  PodInfoPtr Make(api::PodPtr pod);
  std::shared_ptr<const PodSpecInfo> Compile(const std::shared_ptr<const api::PodSpec>& spec);

  SymbolTable& symbols() { return symbols_; }
  // How many specs there are; ids are 0 to spec_count() - 1.
  int32_t spec_count() const { return static_cast<int32_t>(specs_.size()); }

 private:
  const api::LineBehavior line_;
  SymbolTable& symbols_;
  // Found by the address of the shared spec, which the entry keeps alive; never ordered by it.
  LookupMap<const api::PodSpec*, int32_t> ids_;
  std::vector<std::shared_ptr<const PodSpecInfo>> specs_;
  // By namespace and labels.
  LookupMap<std::pair<Symbol, std::vector<std::pair<Symbol, Symbol>>>, int32_t> labels_ids_;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_POD_INFO_H_
