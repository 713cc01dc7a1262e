// Witness takes part at every extension point, and notes each call in the trace. Pods say by their labels
// what it does: `reserve: fails`, `permit: waits`.
#include <schedsim/plugin.h>

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace {

// A fraction is no score, and what cannot be one does not compile.
static_assert(!std::is_convertible_v<double, schedsim::plugin::Scored>);

using schedsim::plugin::CycleState;
using schedsim::plugin::Done;
using schedsim::plugin::Events;
using schedsim::plugin::Handle;
using schedsim::plugin::Hinted;
using schedsim::plugin::Node;
using schedsim::plugin::Nodes;
using schedsim::plugin::NodeStatuses;
using schedsim::plugin::Object;
using schedsim::plugin::PermitResult;
using schedsim::plugin::Pod;
using schedsim::plugin::PostFilterResult;
using schedsim::plugin::PreFilterResult;
using schedsim::plugin::QueuedPod;
using schedsim::plugin::QueueingHint;
using schedsim::plugin::Scored;
using schedsim::plugin::Signer;
using schedsim::plugin::Status;

class Witness {
 public:
  static constexpr char kName[] = "Witness";
  explicit Witness(Handle handle) : handle_(handle) {}

  bool Less(QueuedPod a, QueuedPod b) {
    Note("Less", a.pod());
    return a.pod().priority() > b.pod().priority() ||
           (a.pod().priority() == b.pod().priority() && a.timestamp() < b.timestamp());
  }
  Status PreEnqueue(Pod pod) { return Note("PreEnqueue", pod); }
  PreFilterResult PreFilter(CycleState& state, Pod pod, Nodes) {
    state.Write("pods", 0);
    return Note("PreFilter", pod);
  }
  // Counts what is added beyond the snapshot: the state that Filter sees is a copy of PreFilter's.
  Status AddPod(CycleState& state, Pod pod, Pod, Node node) {
    ++*state.Read<int>("pods");
    return Note("AddPod", pod, node.name());
  }
  Status RemovePod(CycleState& state, Pod pod, Pod, Node node) {
    --*state.Read<int>("pods");
    return Note("RemovePod", pod, node.name());
  }
  Status Filter(CycleState& state, Pod pod, Node node) {
    const int count = *state.Read<int>("pods");
    return Note(count < 0 ? "Filter without victims" : "Filter", pod, node.name());
  }
  PostFilterResult PostFilter(CycleState&, Pod pod, NodeStatuses statuses) {
    for (const Node node : handle_.Snapshot()) {
      handle_.Note("PostFilter", pod, node.name(), {statuses.code(node), {statuses.message(node)}});
    }
    return {.status = Status::Unschedulable("nothing to do")};
  }
  Status PreScore(CycleState&, Pod pod, Nodes) { return Note("PreScore", pod); }
  Scored Score(CycleState&, Pod pod, Node node) {
    Note("Score", pod, node.name());
    return 3;
  }
  Status NormalizeScore(CycleState&, Pod pod, Nodes, std::span<int64_t> scores) {
    for (int64_t& score : scores) score += 4;
    return Note("NormalizeScore", pod);
  }
  Status Reserve(CycleState&, Pod pod, std::string_view node) {
    Note("Reserve", pod, node);
    return pod.label("reserve") == "fails" ? Status::Pending("no room in the book") : Status();
  }
  void Unreserve(CycleState&, Pod pod, std::string_view node) { Note("Unreserve", pod, node); }
  PermitResult Permit(CycleState&, Pod pod, std::string_view node) {
    Note("Permit", pod, node);
    if (pod.label("permit") != "waits") return {};
    handle_.Post(std::chrono::seconds(2), [this] {
      for (const Pod waiting : handle_.WaitingPods()) {
        Note("Allow", waiting);
        handle_.Allow(waiting);
      }
    });
    return {.status = Status::Wait(), .timeout = std::chrono::seconds(5)};
  }
  Status PreBindPreFlight(CycleState&, Pod pod, std::string_view node) {
    return Note("PreBindPreFlight", pod, node);
  }
  void PreBind(CycleState&, Pod pod, std::string_view node, Done done) {
    Note("PreBind", pod, node);
    handle_.Post(std::chrono::seconds(1), [done] { done(Status()); });
  }
  void Bind(CycleState&, Pod pod, std::string_view node, Done done) {
    Note("Bind", pod, node);
    handle_.Bind(pod, node, [done](std::string_view error) {
      done(error.empty() ? Status() : Status::Error(std::string(error)));
    });
  }
  void PostBind(CycleState&, Pod pod, std::string_view node) {
    Note("PostBind", pod, node);
    if (seen_[std::string(pod.uid())] > 0) Note("OnPod", pod, node);
  }
  Status SignPod(Pod pod, Signer& signer) {
    signer.Add("name", pod.name());
    return Note("SignPod", pod);
  }
  Status EventsToRegister(Events& events) {
    const auto hint = [this](Pod pod, std::optional<Object>, std::optional<Object>) -> Hinted {
      Note("Hint", pod);
      return QueueingHint::kQueue;
    };
    return events.Register("Node", SCHEDSIM_ADD, hint) ? Status() : Status::Error("no such resource");
  }
  void OnPod(std::optional<Object> old_pod, std::optional<Object> new_pod) {
    ++seen_[std::string((new_pod.has_value() ? *new_pod : *old_pod).uid())];
  }

 private:
  Status Note(const char* point, Pod pod, std::string_view node = "") {
    handle_.Note(point, pod, node, {});
    return {};
  }

  Handle handle_;
  std::map<std::string, int> seen_;  // By the uid of a pod: how often the informer told of it.
};

// Filters and scores by the number in the node's name alone, and says so.
class ByNode {
 public:
  static constexpr char kName[] = "ByNode";
  static constexpr schedsim::plugin::Reads kFilterReads = schedsim::plugin::Reads::kNodeObject;
  static constexpr schedsim::plugin::Reads kScoreReads = schedsim::plugin::Reads::kNodeObject;
  explicit ByNode(Handle) {}

  Status Filter(CycleState&, Pod, Node node) {
    return NumberOf(node) % 2 == 0 ? Status() : Status::Unschedulable("node(s) had an odd number");
  }
  Scored Score(CycleState&, Pod, Node node) { return NumberOf(node) % 100; }
  Status EventsToRegister(Events&) { return {}; }

 private:
  static int NumberOf(Node node) { return std::stoi(std::string(node.name().substr(5))); }
};

}  // namespace

const schedsim_library* schedsim_plugin_library(const schedsim_host* host) {
  return schedsim::plugin::Library<Witness, ByNode>(host);
}
