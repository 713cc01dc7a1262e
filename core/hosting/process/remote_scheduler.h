// The scheduler as a plugin sees it from a process of its own.
#ifndef SCHEDSIM_CORE_HOSTING_PROCESS_REMOTE_SCHEDULER_H_
#define SCHEDSIM_CORE_HOSTING_PROCESS_REMOTE_SCHEDULER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/kubernetes_version.h"
#include "core/base/clock.h"
#include "core/base/executor.h"
#include "core/base/symbol.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/value.h"
#include "core/framework/claim_cache.h"
#include "core/framework/client.h"
#include "core/framework/handle.h"
#include "core/framework/node_info.h"
#include "core/framework/pod_info.h"
#include "core/hosting/process/message.h"
#include "core/hosting/process/process_mirror.h"
#include "core/hosting/process/remote_line.h"

namespace schedsim::hosting {

// A node, of whose pods and amounts nothing may be known.
struct RemoteNode : framework::NodeInfo {
  bool has_pods = false;
};

// What the scheduler has told of pods and nodes, and how it is asked for more. One for all plugins of the
// process; whatever needs the scheduler is a message.
class RemoteScheduler final : public framework::Handle,
                              private Clock,
                              private Executor,
                              private framework::Client,
                              private framework::SnapshotLister {
 public:
  // `line` must outlive it. `version`: such as "1.37".
  RemoteScheduler(RemoteLine& line, absl::string_view version);

  // Takes what a line of the scheduler tells beside what it asks for.
  void Learn(const codec::Value& line);
  // Hears of each such line.
  void set_on_line(std::function<void(const codec::Value& line)> on_line) { on_line_ = std::move(on_line); }

  // Of those that were told of. nullptr: there is none, which is a fault of the scheduler.
  const framework::NodeInfo* FindNode(absl::string_view name);
  // The pod must have been told of.
  framework::PodInfoPtr FindPod(absl::string_view name);
  // Asks for the pods and amounts of a node that came without.
  void NeedPods(const framework::NodeInfo& node);
  // An object out of a message; nullptr for null.
  api::ObjectPtr ObjectOf(const codec::Value* value);

  // Begins a request.
  codec::JsonWriter Request(absl::string_view what) const;
  // Ends it and hands the reply to `take`.
  void Ask(codec::JsonWriter& request, absl::FunctionRef<void(const codec::Value& reply)> take);
  // Ends it. It has no reply.
  void Tell(codec::JsonWriter& request);

  // The work of a timer, and the end of a call.
  void RunTimer(int64_t timer);
  void EndCall(int64_t number, absl::string_view error);
  // Tells plugins of a change of a pod.
  void TellChange(const api::Object* old_object, const api::Object* new_object);

  // What Handle has. Nobody who is here asks for the rest of it.
  const Clock& clock() const override { return *this; }
  Executor& executor() const override { return const_cast<RemoteScheduler&>(*this); }
  const api::LineBehavior& line() const override { return behavior_; }
  SymbolTable& symbols() const override { return symbols_; }
  framework::PluginNames& plugin_names() const override { return plugin_names_; }
  framework::PodInfoFactory& pod_infos() const override { return pod_infos_; }
  const framework::SnapshotLister& snapshot() const override { return *this; }
  const framework::InformerCache& informers() const override { return informers_; }
  void AddInformerHandler(framework::InformerHandler& handler) override { handlers_.push_back(&handler); }
  framework::Client& client() const override { return const_cast<RemoteScheduler&>(*this); }
  framework::ClaimCache& claims() const override { return claims_; }
  framework::Status RunFilterPluginsWithNominatedPods(framework::CycleState& state,
                                                      const framework::PodInfo& pod,
                                                      const framework::NodeInfo& node) override;
  framework::Status RunPreFilterExtensionAddPod(framework::CycleState&, const framework::PodInfo&,
                                                const framework::PodInfo&,
                                                const framework::NodeInfo&) override {
    return framework::Status();
  }
  framework::Status RunPreFilterExtensionRemovePod(framework::CycleState&, const framework::PodInfo&,
                                                   const framework::PodInfo&,
                                                   const framework::NodeInfo&) override {
    return framework::Status();
  }
  const std::vector<framework::PodInfoPtr>& NominatedPodsForNode(Symbol node_name) const override;
  void IterateOverWaitingPods(const std::function<void(framework::WaitingPod&)>&) const override {}
  framework::WaitingPod* GetWaitingPod(absl::string_view /*uid*/) const override { return nullptr; }
  bool RejectWaitingPod(absl::string_view /*uid*/) override { return false; }
  framework::PodInPreBind* GetPodInPreBind(absl::string_view /*uid*/) const override { return nullptr; }
  void Activate(const std::vector<api::PodPtr>& /*pods*/) override {}
  int64_t PreemptionOffset(int64_t /*count*/) override { return 0; }
  size_t ChooseForPreemption(const framework::PodInfo&, absl::Span<const absl::string_view>) override {
    return 0;
  }
  bool PrefersVolume(absl::string_view, absl::string_view) const override { return false; }
  void RecordDryRun(framework::DryRun /*dry_run*/) override {}
  bool WantsDryRuns() const override { return false; }
  void RecordNote(const framework::PluginNote& note) override;
  void MarkInexact(const framework::PodInfo& pod, absl::string_view reason) override;

  // Work that is due at once is done at once.
  uint64_t Post(absl::Duration delay, std::function<void()> work) override;
  void Spawn(std::function<void()> work) override { work(); }

 private:
  absl::Time Now() const override { return now_; }
  uint64_t PostDeadline(absl::Duration delay, std::function<void()> work) override {
    return Post(delay, std::move(work));
  }
  void Cancel(uint64_t id) override;

  void Bind(api::PodPtr pod, absl::string_view node_name, Done done) override;
  void PatchPodStatus(api::PodPtr /*pod*/, framework::PodStatusPatch /*patch*/, Done /*done*/) override {}
  void DeletePod(api::PodPtr pod, Done done) override;
  void Update(api::ObjectPtr /*object*/, ObjectDone /*done*/) override {}
  void UpdateStatus(api::ObjectPtr /*object*/, ObjectDone /*done*/) override {}
  void Create(api::ObjectPtr /*object*/, ObjectDone /*done*/) override {}
  void Delete(api::ObjectPtr /*object*/, ObjectDone /*done*/) override {}
  void Get(api::ObjectPtr /*object*/, ObjectDone /*done*/) override {}
  void RemoveConsumer(api::ObjectPtr /*claim*/, std::string /*uid*/, ObjectDone /*done*/) override {}
  void RecordEvent(const api::Pod& pod, framework::PodEvent event) override;

  // Asks for them once in a call.
  framework::NodeInfos List() const override;
  const framework::NodeColumns& Columns() const override { return columns_; }
  const framework::NodeInfo* Get(Symbol node_name) const override;
  int32_t IndexLimit() const override { return 0; }

  void LearnPod(const codec::Value& told);
  void LearnNode(const codec::Value& told);
  void CallLater(codec::JsonWriter request, Done done);

  RemoteLine& connection_;
  std::function<void(const codec::Value& line)> on_line_;
  api::LineBehavior behavior_;
  mutable SymbolTable symbols_;
  mutable framework::PluginNames plugin_names_;
  mutable framework::PodInfoFactory pod_infos_;
  framework::InformerCache informers_;
  framework::NodeColumns columns_;
  codec::ObjectReader reader_;
  absl::Time now_;
  std::vector<framework::InformerHandler*> handlers_;
  std::map<std::string, framework::PodInfoPtr, std::less<>> pods_;
  std::map<std::string, std::unique_ptr<RemoteNode>, std::less<>> nodes_;
  std::map<int64_t, std::function<void()>> timers_;
  std::map<int64_t, Done> calls_;
  int64_t last_number_ = 0;
  mutable framework::ClaimCache claims_;
  std::vector<const framework::NodeInfo*> listed_;
  bool is_listed_ = false;  // In the running call.
  mutable std::vector<framework::PodInfoPtr> nominated_;
};

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_PROCESS_REMOTE_SCHEDULER_H_
