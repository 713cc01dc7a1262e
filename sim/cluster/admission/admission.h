// What the API server makes of an object that is created: defaults, admission plugins, validation.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_ADMISSION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_ADMISSION_H_

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/api/kubernetes_line.h"
#include "core/api/node.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/base/lookup_map.h"
#include "sim/cluster/admission/limit_ranger.h"
#include "sim/cluster/admission/plugin.h"
#include "sim/cluster/admission/pod_topology_labels.h"
#include "sim/cluster/admission/priority.h"
#include "sim/cluster/admission/resource_quota.h"

namespace schedsim::sim {

// Completes objects and refuses what the API server would refuse. Objects that a cluster gave out passed its
// admission before: a uid or a resourceVersion tells them apart. They only get what decoders set everywhere,
// and a priority if they have none.
class Admission {
 public:
  struct Options {
    // Also what is not in a conformance case: all but the defaults of containers and the scheduler's name.
    bool complete = true;
    api::KubernetesLine line = api::kDefaultKubernetesLine;
  };

  explicit Admission(const Options& options);
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // Whether the object came out of a cluster.
  static bool PassedBefore(const api::Object& object);

  // What both would say of an object that takes the place of another, but for what is fixed in a pod's spec.
  absl::Status ValidateUpdate(const api::Object& before, const api::Object& after) const;

  // Hears of each change, before the watchers do. See AdmissionPlugin::OnChange.
  void OnChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object);

  // Completes an object that is to be created and may still lack its name. PermissionDenied, NotFound and
  // InvalidArgument with the API server's message where it is refused; the object may have changed then.
  absl::Status Mutate(api::Object& object);
  // Looks at an object that Mutate completed and that has its name by now; `given` is the one before. The
  // same errors.
  absl::Status Validate(const api::Object& given, const api::Object& object);

  // From now on new nodes get a taint until their kubelets are ready.
  // Source: kubernetes v1.37, plugin/pkg/admission/nodetaint, TaintNodesByCondition.
  void TaintNewNodes() { taints_new_nodes_ = true; }

  // What both would say of the pod, which stays as it is.
  absl::Status Check(const api::Pod& pod);

  // Completes a pod that takes the place of one of its name. Refuses nothing.
  void Update(api::Pod& pod);

  // Completes a pod that a patch made: a list of tolerations may have taken the place of the stored one.
  void Patch(api::Pod& pod) const;

  // Completes a pod that was bound to `node`, which may be nullptr.
  void Bind(const api::Node* node, api::Pod& pod);

  // The statuses of quotas that are to be written since what they count changed. `objects` calls its argument
  // with each object of the cluster.
  std::vector<ResourceQuotaPlugin::StatusUpdate> TakeQuotaUpdates(ResourceQuotaPlugin::Objects objects);

 private:
  // What came of a spec.
  struct Answer {
    std::shared_ptr<const api::PodSpec> given;  // Kept alive, so that its address stays its own.
    std::shared_ptr<const api::PodSpec> completed;
    absl::Status mutated;    // As a plugin says it.
    absl::Status validated;  // The same.
    // Of affinity terms and spread constraints.
    std::vector<std::string> label_keys;
    // What LimitRanger says of what it set; "": it set nothing.
    std::string limit_ranger;
  };
  // The address of a spec, and what sets the namespace apart for each plugin that cares.
  using SpecKey = std::tuple<const api::PodSpec*, std::vector<const void*>>;

  // The spec of a pod that passed admission before, completed.
  std::shared_ptr<const api::PodSpec> CompleteOldSpec(const std::shared_ptr<const api::PodSpec>& spec);
  // The answer for a new pod's spec; valid until the next call.
  const Answer& AnswerFor(const api::Pod& pod);
  Answer MakeAnswer(const api::Pod& pod) const;
  // What validation says of a completed pod's spec; valid until the next call.
  const std::vector<std::string>& SpecFaults(const api::Pod& pod);
  // The spec with the keys of labels merged into its selectors.
  std::shared_ptr<const api::PodSpec> WithLabelKeys(const Answer& answer, const api::StringMap& labels);

  const Options options_;
  // In the API server's order.
  std::vector<std::unique_ptr<AdmissionPlugin>> plugins_;
  PriorityPlugin* priority_ = nullptr;     // One of them.
  LimitRangerPlugin* limits_ = nullptr;    // One of them.
  ResourceQuotaPlugin* quotas_ = nullptr;  // One of them.
  PodTopologyLabels topology_labels_;
  bool taints_new_nodes_ = false;
  LookupMap<const api::PodSpec*, Answer> old_specs_;
  LookupMap<SpecKey, Answer> answers_;
  // By the spec before and the labels' values.
  LookupMap<std::pair<const api::PodSpec*, std::string>, std::shared_ptr<const api::PodSpec>> with_keys_;
  // By the completed spec, which one of the caches above keeps alive, and the text of the one that was
  // written; the texts have so many bytes.
  LookupMap<std::pair<const api::PodSpec*, std::string>, std::vector<std::string>> spec_faults_;
  size_t spec_faults_bytes_ = 0;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_ADMISSION_H_
