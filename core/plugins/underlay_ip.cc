// UnderlayIP: gives each pod one of its node's underlay addresses, of which a node has few. It is the rule of
// a scheduler of its own (blueking-ip-scheduler) as a plugin: the node with the most free addresses is best.
// Source: that scheduler's behaviour; there is no upstream plugin of this name.
// Extension points: Filter, Score (free addresses, normalised to 100), Reserve, and the informer of pods: a
// pod's address is free again when the pod is deleted. Arguments: ipsPerNode (10), skipLabel ("": none; nodes
// with this label have no addresses), countBound (false: pods that have a node when they are first seen take
// no address, as after a restart of the original).

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/lookup_map.h"
#include "core/base/status_macros.h"
#include "core/framework/informer_cache.h"
#include "core/framework/plugin.h"
#include "core/plugins/normalize_score.h"
#include "core/plugins/plain_args.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

struct UnderlayIpArgs {
  int64_t ips_per_node = 10;
  std::string skip_label;
  bool count_bound = false;
};

class UnderlayIp final : public framework::Plugin,
                         public framework::FilterPlugin,
                         public framework::ScorePlugin,
                         public framework::ReservePlugin,
                         public framework::EnqueueExtensions,
                         public framework::InformerHandler {
 public:
  UnderlayIp(UnderlayIpArgs args, framework::Handle& handle)
      : args_(std::move(args)),
        handle_(handle),
        no_ips_(Code::kUnschedulableAndUnresolvable, "node(s) have no underlay IPs"),
        no_free_ip_(Code::kUnschedulable, "node(s) had no free underlay IP") {
    handle.AddInformerHandler(*this);
  }

  absl::string_view Name() const override { return "UnderlayIP"; }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    const auto had_node = [](const PodInfo&, const api::Object* old_object, const api::Object*) {
      const auto* pod = static_cast<const api::Pod*>(old_object);
      return framework::QueueIf(pod != nullptr && !pod->node_name.empty());
    };
    return {{.event = {.resource = framework::EventResource::kPod, .action = framework::kDelete},
             .hint = had_node,
             .scope = framework::HintScope::kSpecAndLabels},
            {.event = {.resource = framework::EventResource::kNode,
                       .action = framework::kAdd | framework::kUpdateNodeLabel}}};
  }

  Status Filter(const CycleState&, const PodInfo&, const NodeInfo& node) override {
    if (!args_.skip_label.empty() && node.node->metadata.labels.Find(args_.skip_label) != nullptr)
      return no_ips_;
    return FreeOf(node.name) <= 0 ? no_free_ip_ : Status();
  }

  Status Score(const CycleState&, const PodInfo&, const NodeInfo& node, int64_t& score) override {
    score = FreeOf(node.name);
    return Status();
  }
  bool HasNormalizeScore() const override { return true; }
  Status NormalizeScore(const CycleState&, const PodInfo&, framework::NodeInfos,
                        absl::Span<int64_t> scores) override {
    DefaultNormalizeScore(/*reverse=*/false, scores);
    return Status();
  }

  Status Reserve(CycleState&, const PodInfo& pod, const NodeInfo& node) override {
    if (FreeOf(node.name) <= 0) return no_free_ip_;
    Take(pod.Uid(), node.name);
    return Status();
  }
  void Unreserve(CycleState&, const PodInfo& pod, absl::string_view) override { Release(pod.Uid()); }

  void OnChange(const api::Object* old_object, const api::Object* new_object) override {
    const api::Object& object = new_object == nullptr ? *old_object : *new_object;
    if (object.kind != api::Kind::kPod) return;
    const auto& pod = static_cast<const api::Pod&>(object);
    if (new_object == nullptr) {
      Release(pod.metadata.uid);
    } else if (old_object == nullptr && args_.count_bound && !pod.node_name.empty()) {
      Take(pod.metadata.uid, handle_.symbols().Intern(pod.node_name));
    }
  }

 private:
  int64_t FreeOf(Symbol node) const {
    const int64_t* const used = used_.Find(node);
    return args_.ips_per_node - (used == nullptr ? 0 : *used);
  }

  void Take(absl::string_view uid, Symbol node) {
    std::vector<Symbol>& nodes = nodes_[std::string(uid)];
    if (std::find(nodes.begin(), nodes.end(), node) != nodes.end()) return;
    nodes.push_back(node);
    ++used_[node];
  }

  void Release(absl::string_view uid) {
    const std::string key(uid);
    const std::vector<Symbol>* const nodes = nodes_.Find(key);
    if (nodes == nullptr) return;
    for (const Symbol node : *nodes) --used_[node];
    nodes_.Erase(key);
  }

  const UnderlayIpArgs args_;
  framework::Handle& handle_;
  const Status no_ips_;
  const Status no_free_ip_;
  LookupMap<Symbol, int64_t> used_;                    // By node: how many addresses are taken.
  LookupMap<std::string, std::vector<Symbol>> nodes_;  // By the uid of a pod: where it has one, mostly one.
};

}  // namespace

PluginOr NewUnderlayIp(const api::PluginArgs& args, framework::Handle& handle) {
  UnderlayIpArgs own;
  PlainArgs reader(args);
  reader.Read("ipsPerNode", own.ips_per_node);
  reader.Read("skipLabel", own.skip_label);
  reader.Read("countBound", own.count_bound);
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<UnderlayIp>(std::move(own), handle);
}

}  // namespace schedsim::plugins
