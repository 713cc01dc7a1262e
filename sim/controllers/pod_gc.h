// Pods that nobody else ends: the pod garbage collector.
#ifndef SCHEDSIM_SIM_CONTROLLERS_POD_GC_H_
#define SCHEDSIM_SIM_CONTROLLERS_POD_GC_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/pod.h"
#include "sim/controllers/controller.h"

namespace schedsim::sim {

// Looks every 20 s, and deletes at once, after it has made them Failed,
// - the oldest of pods that are over, where there are more than 12,500 (--terminated-pod-gc-threshold),
// - pods that are being deleted on a node that is not ready and has the taint
//   node.kubernetes.io/out-of-service,
// - pods of nodes that were deleted and did not come back for 40 s after it found them gone,
// - pods that are being deleted and have no node.
// Source: kubernetes v1.37, pkg/controller/podgc. Nodes that were never there are left alone: the input may
// be a part of a cluster. A look is there only when something has changed that it would find.
class PodGcController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) { return options.nodes; }
  explicit PodGcController(const ControllerContext& context)
      : loop_(context.loop), server_(context.server), trace_(context.trace) {}
  PodGcController(const PodGcController&) = delete;
  PodGcController& operator=(const PodGcController&) = delete;

  std::vector<api::Kind> Watches() const override { return {api::Kind::kNode, api::Kind::kPod}; }
  void OnEvent(const WatchEvent& event) override;
  // The first look is 20 s from now.
  void Start() override;

 private:
  void OnNode(const WatchEvent& event);
  // nullptr: there was, or is, no such pod.
  void OnPod(const api::Pod* before, const api::Pod* now);
  // Whether the next look deletes the pod whatever else there is.
  bool IsStuck(const api::Pod& pod) const;
  void LookLater();
  void Look();
  void CollectTerminated();
  // Pods of nodes whose quarantine is over.
  void CollectOrphaned();
  // Ends the pod as it is now; nothing where it is gone, or another one has its name. `reason`: of the
  // condition DisruptionTarget; "": it gets none.
  void FailAndDelete(const api::Pod& found, absl::string_view reason, absl::string_view message);

  EventLoop& loop_;
  ApiServer& server_;
  Trace& trace_;
  bool started_ = false;
  absl::Time start_;
  // Whether a look is on its way, or under way.
  bool looks_ = false;
  int64_t terminated_count_ = 0;
  // Nodes that are not ready and have the taint.
  std::set<std::string> out_of_service_;
  // Nodes that were deleted and are not back, and when their quarantine is over; the infinite future: it
  // has not begun, since none of their pods is there.
  std::map<std::string, absl::Time> gone_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_POD_GC_H_
