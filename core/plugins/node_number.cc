// NodeNumber: prefers the node whose name ends in the last digit of the pod's name. Three programs of this
// name differ in details; `variant` chooses. Source: kube-scheduler-simulator, docs/sample/nodenumber;
// kube-scheduler-wasm-extension, examples/nodenumber; kubernetes v1.37, test/integration/scheduler_perf. The
// name is all that they share with an in-tree plugin. Extension points: PreScore, Score (10 for a match, else
// 0; not normalised). Arguments: reverse (false; true turns matches around), variant:
//   simulator (the default): a pod or a node without a digit gives 0, whatever `reverse` says;
//   wasm: a pod without a digit matches every node, a node without one matches no digit;
//   perf: a character that is no digit counts as its code modulo 10.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "core/base/status_macros.h"
#include "core/framework/plugin.h"
#include "core/plugins/plain_args.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

constexpr int64_t kMatchScore = 10;

enum class Variant : uint8_t { kSimulator, kWasm, kPerf };

struct LastDigit : framework::StateData {
  int value = 0;

  std::unique_ptr<StateData> Clone() const override { return std::make_unique<LastDigit>(*this); }
};

class NodeNumber final : public framework::Plugin,
                         public framework::PreScorePlugin,
                         public framework::ScorePlugin,
                         public framework::EnqueueExtensions {
 public:
  NodeNumber(bool reverse, Variant variant, framework::Handle& handle)
      : reverse_(reverse), variant_(variant), id_(handle.plugin_names().IdOf(Name())) {}

  absl::string_view Name() const override { return "NodeNumber"; }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    return {{.event = {.resource = framework::EventResource::kNode, .action = framework::kAdd}}};
  }

  Status PreScore(CycleState& state, const PodInfo& pod, framework::NodeInfos) override {
    const std::optional<int> digit = DigitOf(pod.pod->metadata.name);
    if (!digit.has_value()) return Status();
    auto data = std::make_unique<LastDigit>();
    data->value = *digit;
    state.Write(id_, CycleState::kScoreSlot, std::move(data));
    return Status();
  }

  Status Score(const CycleState& state, const PodInfo&, const NodeInfo& node, int64_t& score) override {
    const auto* of_pod = state.Read<LastDigit>(id_, CycleState::kScoreSlot);
    const std::optional<int> of_node = DigitOf(node.node->metadata.name);
    score = 0;
    bool matches = of_pod == nullptr || (of_node.has_value() && *of_node == of_pod->value);
    if (variant_ != Variant::kWasm && (of_pod == nullptr || !of_node.has_value())) return Status();
    if (matches != reverse_) score = kMatchScore;
    return Status();
  }

 private:
  std::optional<int> DigitOf(const std::string& name) const {
    const unsigned char last = static_cast<unsigned char>(name.back());
    if (absl::ascii_isdigit(last)) return last - '0';
    if (variant_ == Variant::kPerf) return last % 10;
    return std::nullopt;
  }

  const bool reverse_;
  const Variant variant_;
  const framework::PluginId id_;
};

}  // namespace

PluginOr NewNodeNumber(const api::PluginArgs& args, framework::Handle& handle) {
  bool reverse = false;
  std::string name = "simulator";
  PlainArgs reader(args);
  reader.Read("reverse", reverse);
  reader.Read("variant", name);
  RETURN_IF_ERROR(reader.Finish());
  Variant variant = Variant::kSimulator;
  if (name == "wasm") {
    variant = Variant::kWasm;
  } else if (name == "perf") {
    variant = Variant::kPerf;
  } else if (name != "simulator") {
    return absl::InvalidArgumentError("args.variant: expected simulator, wasm or perf");
  }
  return std::make_unique<NodeNumber>(reverse, variant, handle);
}

}  // namespace schedsim::plugins
