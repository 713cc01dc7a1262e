// Extenders: services beside the scheduler that it asks about pods and nodes.
#ifndef SCHEDSIM_CORE_FRAMEWORK_EXTENDER_H_
#define SCHEDSIM_CORE_FRAMEWORK_EXTENDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/api/node.h"
#include "core/framework/handle.h"
#include "core/framework/plugin.h"
#include "core/framework/pod_info.h"

namespace schedsim::framework {

// NodeInfo::index of a node that is not in the cache: it is made of an object that an extender gave back.
inline constexpr int32_t kForeignIndex = -1;

// What an extender's filter leaves. Source: kube-scheduler v0.37, extender/v1/types.go.
struct ExtenderFilterResult {
  // Set: the call failed, with this text, and nothing else counts.
  std::optional<std::string> error;
  // The nodes that are left, in the order of the answer: indices into those that were asked about, or objects
  // that the extender gave back, which may differ from the cluster's. One of the two is empty.
  std::vector<size_t> kept;
  std::vector<api::NodePtr> objects;
  // Why nodes are not left, by name; a node of the second stands in the first in vain.
  std::map<std::string, std::string> failed;
  std::map<std::string, std::string> failed_and_unresolvable;
};

struct ExtenderPriorities {
  // As in ExtenderFilterResult.
  std::optional<std::string> error;
  // A node's score, 0 to 10 where the extender keeps to it; a name may come twice, or be of no node.
  std::vector<std::pair<std::string, int64_t>> scores;
};

// Pods to evict, and how many of them a disruption budget protects.
struct ExtenderVictims {
  std::vector<PodInfoPtr> pods;
  int64_t violations = 0;
};
using VictimsByNode = std::map<std::string, ExtenderVictims>;

struct ExtenderPreemptionResult {
  // As in ExtenderFilterResult.
  std::optional<std::string> error;
  VictimsByNode victims;
};

// Source: kubernetes v1.37, scheduler/extender.go.
class Extender {
 public:
  virtual ~Extender() = default;

  // The address, by which messages know it.
  virtual absl::string_view Name() const = 0;
  // By which records know it.
  virtual absl::string_view RecordName() const { return Name(); }
  // Whether it is passed over where a call fails.
  virtual bool IsIgnorable() const = 0;
  // What it takes part in.
  virtual bool IsFilter() const = 0;
  virtual bool IsPrioritizer() const = 0;
  virtual bool IsBinder() const = 0;
  virtual bool SupportsPreemption() const = 0;
  // The factor of its scores.
  virtual int64_t weight() const = 0;
  // Whether it is asked about the pod at all.
  virtual bool IsInterested(const PodInfo& pod) const = 0;

  // Calls return when the answer is there; virtual time may have passed, and the cluster may have changed.
  // Where the run ended meanwhile (Extenders::is_over), the answer means nothing.
  virtual ExtenderFilterResult Filter(const PodInfo& pod, NodeInfos nodes) = 0;
  virtual ExtenderPreemptionResult ProcessPreemption(const PodInfo& pod, const VictimsByNode& victims,
                                                     const SnapshotLister& snapshot) = 0;
  // These call `done` once, at once or later. Bind: with the error, absent where the pod is bound.
  using PrioritiesCallback = std::function<void(ExtenderPriorities)>;
  virtual void Prioritize(const PodInfo& pod, NodeInfos nodes, PrioritiesCallback done) = 0;
  using BindCallback = std::function<void(std::optional<std::string> error)>;
  virtual void Bind(const PodInfo& pod, absl::string_view node_name, BindCallback done) = 0;
};

// The extenders of a scheduler.
class Extenders {
 public:
  virtual ~Extenders() = default;

  // In the order in which they are asked: those that may be passed over come last.
  virtual absl::Span<Extender* const> list() const = 0;
  // Lets virtual time pass until `is_done()`, or until the run is over.
  virtual void WaitUntil(absl::FunctionRef<bool()> is_done) = 0;
  // Whether the run ended while a call was under way.
  virtual bool is_over() const = 0;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_EXTENDER_H_
