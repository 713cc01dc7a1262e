// What a scheduling queue needs around it, for tests: a clock, informers, and two profiles of small plugins.
#ifndef SCHEDSIM_TESTS_CORE_QUEUE_QUEUE_WORLD_H_
#define SCHEDSIM_TESTS_CORE_QUEUE_QUEUE_WORLD_H_

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/api/kubernetes_version.h"
#include "core/api/pod.h"
#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/symbol.h"
#include "core/framework/events.h"
#include "core/framework/framework.h"
#include "core/framework/handle.h"
#include "core/framework/plugin.h"
#include "core/framework/pod_info.h"

namespace schedsim::queue {

class ManualClock : public Clock {
 public:
  absl::Time Now() const override { return now_; }
  void Advance(absl::Duration duration) { now_ += duration; }

 private:
  absl::Time now_ = absl::FromUnixSeconds(1'000'000);
};

// The plugins, by name:
// - Gate keeps pods with scheduling gates out, and waits for the end of the gates.
// - Shut keeps the pods out whose uid is in QueueWorld::shut, and waits for nothing: only a flush, a change
// of the
//   pod or an activation tries them again.
// - Label waits for nodes and their labels. Its hint, one for all pods of a group, compares the label `x`.
// - Each waits for bound pods. Its hint, asked for each pod, compares the last digit of the uid.
// - Any waits for new nodes, for bound pods that go and for changes of the pod, without a hint.
inline constexpr const char* kPluginNames[] = {"Any", "Each", "Gate", "Label", "Shut", "Sort"};
inline constexpr const char* kRejectingPlugins[] = {"Any", "Each", "Label"};
// The profiles; pods with another scheduler name have none.
inline constexpr const char* kSchedulerNames[] = {"default-scheduler", "second-scheduler"};

bool SortsBefore(const framework::QueuedPodInfo& a, const framework::QueuedPodInfo& b);
framework::QueueingHint LabelHint(const framework::PodInfo& pod, const api::Object* old_object,
                                  const api::Object* new_object);
framework::QueueingHint EachHint(const framework::PodInfo& pod, const api::Object* old_object,
                                 const api::Object* new_object);
// What a plugin registers for.
std::vector<framework::ClusterEventWithHint> EventsOf(absl::string_view plugin);

// A handle for plugins that ask for nothing.
class QueueWorld : public framework::Handle {
 public:
  explicit QueueWorld(api::KubernetesLine line);

  ManualClock manual_clock;
  framework::InformerCache informer_cache;
  // Uids of pods that the plugin Shut keeps out.
  std::set<std::string> shut;
  std::vector<framework::Framework*> frameworks() const;

  const Clock& clock() const override { return manual_clock; }
  Executor& executor() const override { CHECK(false); }
  const api::LineBehavior& line() const override { return line_; }
  SymbolTable& symbols() const override { return symbols_; }
  framework::PluginNames& plugin_names() const override { return plugin_names_; }
  framework::PodInfoFactory& pod_infos() const override { return pod_infos_; }
  const framework::SnapshotLister& snapshot() const override { CHECK(false); }
  const framework::InformerCache& informers() const override { return informer_cache; }
  framework::Client& client() const override { CHECK(false); }
  framework::ClaimCache& claims() const override { CHECK(false); }
  framework::Status RunFilterPluginsWithNominatedPods(framework::CycleState&, const framework::PodInfo&,
                                                      const framework::NodeInfo&) override {
    CHECK(false);
  }
  framework::Status RunPreFilterExtensionAddPod(framework::CycleState&, const framework::PodInfo&,
                                                const framework::PodInfo&,
                                                const framework::NodeInfo&) override {
    CHECK(false);
  }
  framework::Status RunPreFilterExtensionRemovePod(framework::CycleState&, const framework::PodInfo&,
                                                   const framework::PodInfo&,
                                                   const framework::NodeInfo&) override {
    CHECK(false);
  }
  const std::vector<framework::PodInfoPtr>& NominatedPodsForNode(Symbol) const override { CHECK(false); }
  void IterateOverWaitingPods(const std::function<void(framework::WaitingPod&)>&) const override {
    CHECK(false);
  }
  framework::WaitingPod* GetWaitingPod(absl::string_view) const override { CHECK(false); }
  bool RejectWaitingPod(absl::string_view) override { CHECK(false); }
  framework::PodInPreBind* GetPodInPreBind(absl::string_view) const override { CHECK(false); }
  void Activate(const std::vector<api::PodPtr>&) override { CHECK(false); }
  int64_t PreemptionOffset(int64_t) override { CHECK(false); }
  size_t ChooseForPreemption(const framework::PodInfo&, absl::Span<const absl::string_view>) override {
    CHECK(false);
  }
  bool PrefersVolume(absl::string_view, absl::string_view) const override { CHECK(false); }
  void RecordDryRun(framework::DryRun) override { CHECK(false); }
  bool WantsDryRuns() const override { CHECK(false); }
  void MarkInexact(const framework::PodInfo&, absl::string_view) override { CHECK(false); }

 private:
  const api::LineBehavior line_;
  mutable SymbolTable symbols_;
  mutable framework::PluginNames plugin_names_;
  mutable framework::PodInfoFactory pod_infos_;
  std::vector<std::unique_ptr<framework::Framework>> frameworks_;
};

}  // namespace schedsim::queue

#endif  // SCHEDSIM_TESTS_CORE_QUEUE_QUEUE_WORLD_H_
