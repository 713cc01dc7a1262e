// Plays kwok's stages in a simulated cluster.
#ifndef SCHEDSIM_SIM_STAGES_STAGE_PLAYER_H_
#define SCHEDSIM_SIM_STAGES_STAGE_PLAYER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/base/rng.h"
#include "core/cel/cel_functions.h"
#include "core/codec/objects/objects.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"
#include "sim/record/trace.h"
#include "sim/stages/pod_addresses.h"
#include "sim/stages/stage.h"
#include "sim/stages/stage_actions.h"
#include "sim/stages/stage_events.h"
#include "sim/stages/stage_functions.h"
#include "sim/stages/stage_object.h"
#include "sim/templates/go_template_functions.h"

namespace schedsim::sim {

// The kwok controller of the cluster, for all nodes. Each version of an object of a kind with stages is
// looked at once: a stage is chosen and its delay is drawn, and when that is over it acts on that version. A
// newer version takes the place of one that waits. Pods are left alone until they are bound to a node that is
// there.
//
// Where there are stages for pods, deleted pods stay until a stage deletes them: they have the time that
// their spec gives them, and the kubelets don't end them.
//
// A stage that is chosen again for an object, to be played after a delay, does not keep a run going (a
// heartbeat), as long as some stage matched all the time and nobody else changed the object. One that comes
// again at once is left out after some rounds.
// Source: kwok v0.8.0, pkg/kwok/controllers.
class StagePlayer : private StageEnvironment {
 public:
  // What is chosen and drawn comes from streams of `rng`. `loop`, `server` and `trace` must outlive it.
  // Watches the server from now on.
  StagePlayer(std::vector<Stage> stages, const Rng& rng, EventLoop& loop, ApiServer& server, Trace& trace);
  StagePlayer(const StagePlayer&) = delete;
  StagePlayer& operator=(const StagePlayer&) = delete;

  // From now on it acts, on all that is there first.
  void Start();

  // Nobody plays stages for a silent node or its pods; both are looked at again when it is heard.
  void SetSilent(absl::string_view node_name, bool silent);

  // Nobody plays stages for the node itself, whose condition someone else has set; its pods go on.
  void SetHeld(absl::string_view node_name, bool held);

  bool has_pod_stages() const { return has_pod_stages_; }
  // What went wrong, each once: `Stage NAME (FILE:LINE): what`.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  // A kind with stages.
  struct KindStages {
    std::string api_version;
    std::string kind;
    std::vector<Stage> stages;
  };
  // What is to come for one object.
  struct Job {
    uint64_t work = 0;
    const Stage* stage = nullptr;
    api::ObjectPtr object;
    // The same, as stages see it.
    std::shared_ptr<const StageObject> seen;
  };

  // What was played for one object.
  struct Played {
    // Since no stage matched, or someone else changed it.
    std::set<const Stage*> stages;
    // When the last one was, and how many at that time.
    absl::Time time = absl::InfinitePast();
    int count = 0;
  };

  // StageEnvironment.
  GoResult Call(absl::string_view function, const GoArguments& arguments) override;
  GoResult HostIps(const GoArguments& arguments);
  GoResult PodIps(const GoArguments& arguments);

  KindStages* StagesOf(const api::Object& object);
  static std::string KeyOf(const api::Object& object);
  // Whether kwok has a hand in the object.
  bool IsManaged(const api::Object& object) const;
  std::optional<absl::Duration> GracePeriod(const api::Pod& pod);

  void OnEvent(const WatchEvent& event);
  void LookLater(const api::ObjectPtr& object);
  void LookAtNode(absl::string_view node_name);
  void LookAtPodsOf(const std::string& node_name);
  void LookAtDirty();
  void LookAt(const std::string& key, const api::ObjectPtr& object);
  void Cancel(const std::string& key);
  void Play(const std::string& key);
  absl::Status Act(const StageAction& action, const api::ObjectPtr& captured);
  absl::Status Patch(const StageAction& action, const api::Object& captured);
  absl::Status Apply(const StageAction& action, const api::Object& captured);
  absl::Status Delete(const api::Object& captured);
  absl::Status Change(const StageAction& action, const api::Object& stored);
  absl::Status Admit(const std::string& subresource, const api::Object& before,
                     const api::Object& after) const;
  void EndIfFinalizersAreGone(const api::Object& object);
  void Warn(const std::string& what);
  const StageObject* NodeNamed(const std::string& name);

  std::vector<KindStages> kinds_;
  bool has_pod_stages_ = false;
  Rng choice_rng_;
  Rng delay_rng_;
  Rng template_rng_;
  EventLoop& loop_;
  ApiServer& server_;
  Trace& trace_;
  const GoTemplateFunctions functions_;
  const cel::CelFunctions cel_functions_;
  // Decodes patched and applied objects.
  codec::ObjectReader reader_;
  PodAddresses addresses_;
  StageEvents events_;
  absl::Time start_time_;
  bool started_ = false;
  // Whether it is a stage that changes objects.
  bool is_acting_ = false;
  // The pod whose template is being rendered; "": none.
  std::string pod_uid_;

  // By kind, namespace and name.
  std::map<std::string, Job> jobs_;
  // Of the objects that are there.
  std::map<std::string, Played> played_;
  // Objects that changed, in the order in which they did.
  std::vector<std::pair<std::string, api::ObjectPtr>> dirty_;
  std::map<std::string, size_t> dirty_index_;
  // Uids of objects that are deleted as soon as they have no finalizers.
  std::set<std::string> ending_;
  std::set<std::string> silent_;
  std::set<std::string> held_;
  // Nodes by name, as they were last read.
  std::map<std::string, std::pair<uint64_t, std::unique_ptr<StageObject>>> nodes_;
  std::vector<std::string> warnings_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_STAGES_STAGE_PLAYER_H_
