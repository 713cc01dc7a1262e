// Which pods a workload takes, and which it lets go.
#ifndef SCHEDSIM_SIM_CONTROLLERS_CONTROLLER_REFS_H_
#define SCHEDSIM_SIM_CONTROLLERS_CONTROLLER_REFS_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/functional/function_ref.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/api/selectors.h"
#include "core/base/symbol.h"
#include "core/framework/selector.h"
#include "sim/cluster/api_server.h"
#include "sim/controllers/owned_pods.h"

namespace schedsim::sim {

// A copy of `object` with `owner` as its controller, and one without `owner` among its owners.
std::shared_ptr<api::Object> WithController(const api::Object& object, const api::Object& owner);
std::shared_ptr<api::Object> WithoutOwner(const api::Object& object, const std::string& owner_uid);

// Where the owner of an object is: in its namespace, or in none.
std::string NamespaceOfOwner(const api::Object& object, const api::OwnerReference& owner);

// Whether both ask for the same, in the same order.
bool SameSelector(const std::optional<api::LabelSelector>& a, const std::optional<api::LabelSelector>& b);

// Keeps the pods of each workload those that its selector selects: it takes active ones that nobody controls,
// and lets those go whose labels have changed. Until the first workload asks, it keeps nothing, and an event
// costs a comparison. One for all controllers.
// Source: kubernetes v1.37, pkg/controller/controller_ref_manager.go, PodControllerRefManager.
class ControllerRefs {
 public:
  // Hears that there is something to claim.
  using Listener = std::function<void()>;

  // What is borrowed must outlive it.
  ControllerRefs(ApiServer& server, const OwnedPods& owned_pods) : server_(server), owned_pods_(owned_pods) {}
  ControllerRefs(const ControllerRefs&) = delete;
  ControllerRefs& operator=(const ControllerRefs&) = delete;

  // A change of any object, after OwnedPods has heard of it.
  void OnEvent(const WatchEvent& event);
  // Takes and lets go what has changed since the last call for `owner`, which is not being deleted.
  // Another selector than that of the last call decides about all pods anew; `listener` is that of the first
  // call. An absent selector claims nothing. `may_take`: what pods that nobody controls have to fulfil as
  // well.
  void Claim(const api::Object& owner, const std::optional<api::LabelSelector>& selector,
             absl::FunctionRef<bool(const api::Pod& pod)> may_take, const Listener& listener);

 private:
  struct Claimant {
    std::string name_space;
    std::optional<api::LabelSelector> selector;
    framework::LabelMatcher matcher;
    bool is_valid = false;  // Of the selector; one that is not claims nothing.
    Listener listener;
    std::set<std::string> changed;  // Names of pods to look at.
  };
  // By name.
  using Orphans = std::map<std::string, framework::LabelSet>;

  void Fill();
  void OnPod(const WatchEvent& event);
  void TellOfOrphan(const api::Pod& pod);
  // Gives the claimant this selector, and all pods to look at.
  void Select(const std::string& uid, const std::optional<api::LabelSelector>& selector, Claimant& claimant);

  ApiServer& server_;
  const OwnedPods& owned_pods_;
  SymbolTable symbols_;
  // By uid.
  std::map<std::string, Claimant> claimants_;
  // Uids by namespace.
  std::map<std::string, std::set<std::string>> claimants_in_;
  // Active pods that nobody controls, by namespace.
  std::map<std::string, Orphans> orphans_;
  bool fills_ = false;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_CONTROLLER_REFS_H_
