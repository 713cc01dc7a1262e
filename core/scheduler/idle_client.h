// Whom a scheduler talks to that runs no cycle.
#ifndef SCHEDSIM_CORE_SCHEDULER_IDLE_CLIENT_H_
#define SCHEDSIM_CORE_SCHEDULER_IDLE_CLIENT_H_

#include "absl/strings/string_view.h"
#include "core/framework/client.h"
#include "core/scheduler/attempt.h"

namespace schedsim::scheduler {

// For schedulers that are asked for nodes and schedule nothing: nothing of this is ever called.
class IdleClient : public framework::Client, public Observer {
 public:
  void Bind(api::PodPtr /*pod*/, absl::string_view /*node_name*/, Done /*done*/) override {}
  void PatchPodStatus(api::PodPtr /*pod*/, framework::PodStatusPatch /*patch*/, Done /*done*/) override {}
  void DeletePod(api::PodPtr /*pod*/, Done /*done*/) override {}
  void Update(api::ObjectPtr /*object*/, ObjectDone /*done*/) override {}
  void UpdateStatus(api::ObjectPtr /*object*/, ObjectDone /*done*/) override {}
  void Create(api::ObjectPtr /*object*/, ObjectDone /*done*/) override {}
  void Delete(api::ObjectPtr /*object*/, ObjectDone /*done*/) override {}
  void Get(api::ObjectPtr /*object*/, ObjectDone /*done*/) override {}
  void RemoveConsumer(api::ObjectPtr /*claim*/, std::string /*uid*/, ObjectDone /*done*/) override {}
  bool WantsEvents() const override { return false; }
  void RecordEvent(const api::Pod& /*pod*/, framework::PodEvent /*event*/) override {}

  bool WantsDetails() const override { return false; }
  void OnAttempt(const Attempt& /*attempt*/) override {}
  void OnBindFailure(const framework::PodInfo& /*pod*/, const Attempt::Failure& /*failure*/) override {}
  void OnInexact(const framework::PodInfo& /*pod*/, absl::string_view /*reason*/) override {}
};

}  // namespace schedsim::scheduler

#endif  // SCHEDSIM_CORE_SCHEDULER_IDLE_CLIENT_H_
