// Pods as the scheduler works with them: an API object and what is computed from it once.
#ifndef SCHEDSIM_CORE_FRAMEWORK_POD_INFO_H_
#define SCHEDSIM_CORE_FRAMEWORK_POD_INFO_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/api/kubernetes_version.h"
#include "core/api/pod.h"
#include "core/base/lookup_map.h"
#include "core/base/symbol.h"
#include "core/framework/affinity_term.h"
#include "core/framework/resource.h"
#include "core/framework/scheduling_class.h"
#include "core/framework/selector.h"

namespace schedsim::framework {

// A host port that a container takes. `protocol` is never "", `ip` is "0.0.0.0" where none is given.
struct HostPort {
  Symbol ip;
  Symbol protocol;
  int32_t port = 0;

  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// What follows from a pod's spec alone, computed once for all pods of one scheduling class: those whose specs
// plugins cannot tell apart, volumes and claims aside.
struct PodSpecInfo {
  // Dense, in order of first sight: equal ids mean equal classes.
  int32_t id = 0;
  // By concern, dense: equal ids mean that the specs are alike in it. kVolumes has none: see PodInfo.
  std::array<int32_t, kConcernCount> concern_ids = {};
  // Equal ids mean that spreading constraints, node selection and tolerations are alike: all that decides
  // which nodes a spreading constraint counts.
  int32_t spreading_id = 0;
  // What the filter compares with a node: status aside, pod-level resources included.
  Resource requests;
  // `requests` with defaults for cpu and memory, as the node's non-zero sums count the pod.
  Resource non_zero_requests;
  // What NodeResourcesFit scores: defaults for each container, pod-level resources left out.
  Resource scoring_requests;
  // Host ports of containers and sidecars.
  std::vector<HostPort> host_ports;
  std::vector<api::Toleration> tolerations;
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
  LabelSet labels;
  // Dense, in order of first sight: equal ids mean equal namespaces and labels.
  int32_t labels_id = 0;
  // Dense, in order of first sight: equal ids mean volumes and claims that plugins cannot tell apart. 0: none
  // that they look at.
  int32_t volumes_id = 0;
  // That of the pod's spec.
  int32_t priority = 0;
  // What the pod takes on its node: from the spec, and from the status of a pod that was resized.
  Resource requests;
  int64_t non_zero_milli_cpu = 0;
  int64_t non_zero_memory_bytes = 0;

  int32_t ConcernId(Concern concern) const { return spec_info->concern_ids[static_cast<size_t>(concern)]; }
  int32_t Priority() const { return priority; }
  absl::string_view Uid() const { return pod->metadata.uid; }
};

using PodInfoPtr = std::shared_ptr<const PodInfo>;

// Makes PodInfos and compiles each scheduling class once.
class PodInfoFactory {
 public:
  // `symbols` must outlive the factory.
  PodInfoFactory(const api::LineBehavior& line, SymbolTable& symbols) : line_(line), symbols_(symbols) {}
  PodInfoFactory(const PodInfoFactory&) = delete;
  PodInfoFactory& operator=(const PodInfoFactory&) = delete;

  PodInfoPtr Make(api::PodPtr pod);
  // The same for a pod of which an earlier version is known; nullptr: none is. Where only its place or its
  // conditions are new, this is a copy.
  PodInfoPtr MakeAfter(const PodInfoPtr& earlier, api::PodPtr pod);
  std::shared_ptr<const PodSpecInfo> Compile(const api::PodSpec& spec) {
    return Compile(spec, SchedulingKey(spec));
  }

  SymbolTable& symbols() { return symbols_; }

 private:
  std::shared_ptr<const PodSpecInfo> Compile(const api::PodSpec& spec, const SchedulingKey& key);
  // What is made of a spec, for all pods that share it.
  struct CompiledSpec {
    std::shared_ptr<const api::PodSpec> spec;
    std::shared_ptr<const PodSpecInfo> info;
    int32_t volumes_id = 0;  // PodInfo::volumes_id.
  };
  const CompiledSpec& CompileShared(const std::shared_ptr<const api::PodSpec>& spec);
  // What is made of a namespace and labels, for all pods that share them.
  struct CompiledLabels {
    std::shared_ptr<const void> labels;  // The storage of the list, which is kept alive.
    std::string name_space;
    Symbol symbol;  // Of the namespace.
    LabelSet set;
    int32_t id = -1;  // PodInfo::labels_id.
  };
  const CompiledLabels& CompileLabels(const api::ObjectMeta& metadata);
  // The number of `part` among its like, new or known.
  static int32_t NumberOf(absl::string_view part, LookupMap<std::string, int32_t>& numbers);

  const api::LineBehavior line_;
  SymbolTable& symbols_;
  LookupMap<std::string, std::shared_ptr<const PodSpecInfo>> classes_;  // By SchedulingKey::WithoutVolumes.
  // Specs that came lately, each at a place that its address decides; a later one takes the place.
  std::vector<CompiledSpec> recent_specs_;
  std::vector<CompiledLabels> recent_labels_;  // The same.
  std::array<LookupMap<std::string, int32_t>, kConcernCount> concerns_;
  LookupMap<std::array<int32_t, 3>, int32_t> spreading_ids_;
  // By namespace and labels.
  LookupMap<std::pair<Symbol, std::vector<std::pair<Symbol, Symbol>>>, int32_t> labels_ids_;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_POD_INFO_H_
