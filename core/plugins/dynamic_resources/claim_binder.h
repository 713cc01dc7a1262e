// PreBind and what undoes it: what the scheduler writes of claims.
#ifndef SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_CLAIM_BINDER_H_
#define SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_CLAIM_BINDER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "core/framework/handle.h"
#include "core/plugins/dynamic_resources/claim_state.h"

namespace schedsim::plugins {

// Writes claims one after the other. Source: kubernetes v1.37, plugins/dynamicresources/dynamicresources.go.
class ClaimBinder {
 public:
  // `handle` must outlive it. `binding_timeout`: of devices with binding conditions.
  ClaimBinder(framework::Handle& handle, absl::Duration binding_timeout)
      : handle_(handle), binding_timeout_(binding_timeout) {}

  // Writes the allocations of the claims that are not reserved for the pod, reserves them, and waits for
  // devices with binding conditions. Calls `done` once.
  void Bind(std::shared_ptr<ClaimState> state, const api::PodPtr& pod, absl::string_view node_name,
            framework::PodInPreBind* in_pre_bind, framework::StatusCallback done);
  // Gives back what Reserve and Bind took: pending allocations, the pod's reservations, and the claim for its
  // extended resources. Calls `done` when all of that is written, or given up. A second time it does nothing.
  void Unreserve(const std::shared_ptr<ClaimState>& state, const api::Pod& pod, std::function<void()> done);
  // Takes the finalizer off the claim and deletes it, and calls `done` then.
  void DeleteClaim(framework::ClaimPtr claim, std::function<void()> done);

 private:
  struct Operation;
  using OperationPtr = std::shared_ptr<Operation>;

  void BindNext(const OperationPtr& operation);
  void CreateExtended(const OperationPtr& operation);
  void Attempt(const OperationPtr& operation, framework::ClaimPtr claim);
  void WriteFinalizer(const OperationPtr& operation, std::shared_ptr<api::ResourceClaim> claim);
  void WriteStatus(const OperationPtr& operation, std::shared_ptr<api::ResourceClaim> claim);
  void OnWritten(const OperationPtr& operation, const framework::ClaimPtr& claim);
  void PatchExtended(const OperationPtr& operation, const framework::ClaimPtr& claim);
  void GoOn(const OperationPtr& operation);
  // After a write that failed: again with the newest version, if it was a conflict.
  void OnError(const OperationPtr& operation, absl::string_view what, const absl::Status& status);
  void WaitForDevices(const OperationPtr& operation);
  void Poll(const OperationPtr& operation);
  void Finish(const OperationPtr& operation, framework::Status status);
  void TryDelete(framework::ClaimPtr claim, int tries, std::function<void()> done);

  framework::Handle& handle_;
  const absl::Duration binding_timeout_;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_CLAIM_BINDER_H_
