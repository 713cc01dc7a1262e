// Kinds that an input lacks although they matter for what is in it.
#ifndef SCHEDSIM_SIM_FORMATS_MISSING_KINDS_H_
#define SCHEDSIM_SIM_FORMATS_MISSING_KINDS_H_

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/api/pod.h"

namespace schedsim::sim {

// What `kubectl get` is to be asked for so that nothing is missing.
inline constexpr char kAllResources[] =
    "nodes,pods,namespaces,priorityclasses,services,replicationcontrollers,replicasets,statefulsets,"
    "deployments,"
    "daemonsets,jobs,cronjobs,poddisruptionbudgets,resourcequotas,limitranges,runtimeclasses,"
    "persistentvolumeclaims,persistentvolumes,storageclasses,csinodes,csidrivers,csistoragecapacities,"
    "volumeattachments,resourceclaims,resourceclaimtemplates,resourceslices,deviceclasses";

// Sees all objects of an input. Pods that use claims are of concern wherever they come from; all else only
// matters for what a cluster gave out: what manifests leave out is not there.
class MissingKinds {
 public:
  // `is_pending`: a pod that the scheduler is to place.
  void Look(const api::ObjectPtr& object, bool is_pending);

  // What is missing, why it matters, and which command prints it; "": nothing. `goes_on`: things happen to
  // the cluster later, such as evictions.
  std::string Warning(bool goes_on) const;

 private:
  enum class Use : uint8_t {
    kClaim,              // A pod uses a claim.
    kClaimOfTemplate,    // A workload makes pods with claims.
    kNamespaceSelector,  // A pod selects namespaces by their labels.
    kCSI,                // A volume or a storage class is a CSI driver's.
    kStorageCapacity,    // A CSI driver publishes how much room there is.
    kCount,
  };

  void LookAtPod(const api::Pod& pod, bool is_pending);
  void LookAtClaims(const api::Pod& pod, bool is_pending);
  // Extended resources may be devices; the pod asks for some.
  void LookAtExtendedClaim(const api::Pod& pod);
  void LookAtStorage(const api::Object& object);
  void LookAtDevices(const api::Object& object);
  // Remembers the first object of that use, for the message.
  void Note(Use use, const api::Object& object);
  const std::string& FirstOf(Use use) const { return first_[static_cast<size_t>(use)]; }
  bool Has(api::Kind kind) const { return counts_[static_cast<size_t>(kind)] > 0; }
  std::map<std::string, std::string> MissingOwners(bool goes_on) const;
  // Adds the resources of claims that pods name, with one of the pods.
  void AddMissingClaims(bool goes_on, std::map<std::string, std::string>& missing) const;

  std::array<int64_t, api::kKindCount> counts_ = {};
  std::array<std::string, static_cast<size_t>(Use::kCount)> first_;
  // Specs that were seen, and whether they ask for extended resources.
  absl::flat_hash_map<const api::PodSpec*, bool> asks_for_extended_;
  // Workloads by "Kind namespace/name": those that are there, and those that pods name as their controllers,
  // with one of these pods.
  std::set<std::string> workloads_;
  // Kinds of workloads of which a cluster gave out some, with their namespaces: "Kind namespace/".
  std::set<std::string> listed_;
  std::map<std::string, std::string> owners_of_pending_;
  std::map<std::string, std::string> owners_of_others_;
  // Priority classes that are there, and those that pods of the key's workload name.
  std::set<std::string> priority_classes_;
  std::map<std::string, std::string> class_of_workload_;
  // The same for runtime classes.
  std::set<std::string> runtime_classes_;
  std::map<std::string, std::string> runtime_class_of_workload_;
  // Classes of storage that are there, as objects or as those of volumes, and those that claims without a
  // volume name, with the first of these claims.
  std::set<std::string> storage_classes_;
  std::map<std::string, std::string> class_of_claim_;
  // Volumes that are there, and those that claims name, with the first of these claims.
  std::set<std::string> volumes_;
  std::map<std::string, std::string> volume_of_claim_;
  // Volumes that attachments name, with the first of these attachments.
  std::map<std::string, std::string> volume_of_attachment_;
  // Claims that are there, by "namespace/name", and those that pods on nodes use, with one of these pods.
  absl::flat_hash_set<std::string> claims_;
  std::map<std::string, std::string> claims_of_bound_;
  // The same for claims of devices: whether there is an allocation. Pods that wait for one may wait for a
  // template.
  std::map<std::string, bool> device_claims_;
  std::map<std::string, std::string> device_claims_of_bound_;
  std::map<std::string, std::string> device_claims_of_pending_;
  std::set<std::string> claim_templates_;
  std::map<std::string, std::string> claim_templates_of_pending_;
  // Namespaces that are there, and those of pods that a cluster gave out.
  std::set<std::string> namespaces_;
  std::set<std::string> namespaces_of_pods_;
  const void* last_owners_ = nullptr;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_MISSING_KINDS_H_
