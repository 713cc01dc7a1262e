#include "core/framework/what_if.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/pod.h"
#include "core/base/rng.h"
#include "core/base/symbol.h"
#include "gtest/gtest.h"

namespace schedsim::framework {
namespace {

// Everything that follows from the pods of a node, in their order.
std::string Describe(const NodeInfo& node) {
  std::string text = absl::StrCat("generation ", node.generation, ", lowest ", node.lowest_priority, ", cpu ",
                                  node.requested.milli_cpu, " ", node.non_zero_milli_cpu, ", memory ",
                                  node.requested.memory_bytes, " ", node.non_zero_memory_bytes);
  for (const ScalarResource& scalar : node.requested.scalars) {
    absl::StrAppend(&text, ", scalar ", scalar.name.id, "=", scalar.value);
  }
  for (const PodInfoPtr& pod : node.pods) absl::StrAppend(&text, ", ", pod->Uid());
  for (const PodInfo* pod : node.pods_with_affinity) absl::StrAppend(&text, ", affinity ", pod->Uid());
  for (const PodInfo* pod : node.pods_with_required_anti_affinity) {
    absl::StrAppend(&text, ", anti-affinity ", pod->Uid());
  }
  for (const HostPort& port : node.used_ports) absl::StrAppend(&text, ", port ", port.port);
  return text;
}

struct Counter : StateData {
  std::unique_ptr<StateData> Clone() const override { return std::make_unique<Counter>(*this); }
  int value = 0;
};

class WhatIfTest : public testing::Test {
 protected:
  WhatIfTest() {
    for (int32_t i = 0; i < 12; ++i) pods_.push_back(MakePod(i));
    for (int32_t i = 0; i < 8; ++i) node_.AddPod(pods_[static_cast<size_t>(i)]);
    node_.generation = 7;
  }

  PodInfoPtr MakePod(int32_t i) {
    auto spec = std::make_shared<api::PodSpec>();
    spec->priority = i % 4;
    api::Container container;
    container.resources.requests["cpu"] = api::Quantity::FromMilli(100 + i);
    if (i % 3 == 0) container.resources.requests["example.com/gpu"] = api::Quantity::FromValue(i + 1);
    if (i % 5 == 0) container.ports.push_back({.host_port = 8000 + i % 2});
    spec->containers.push_back(container);
    if (i % 2 == 0) {
      api::PodAffinityTerm term;
      term.topology_key = "zone";
      spec->affinity.emplace()
          .pod_anti_affinity.emplace()
          .required_during_scheduling_ignored_during_execution = {term};
    }
    auto pod = std::make_shared<api::Pod>();
    pod->metadata.uid = absl::StrCat("uid-", i);
    pod->spec = std::move(spec);
    return factory_.Make(std::move(pod));
  }

  // Pods that the node does not have come, and others leave.
  void Change(WhatIf& what_if, Rng& rng) {
    for (int32_t i = 0; i < 10; ++i) {
      const PodInfoPtr& pod = pods_[static_cast<size_t>(rng.Below(static_cast<int64_t>(pods_.size())))];
      const std::vector<PodInfoPtr>& there = what_if.node().pods;
      if (std::find(there.begin(), there.end(), pod) == there.end()) {
        what_if.AddPod(pod);
      } else {
        what_if.RemovePod(*pod);
      }
    }
  }

  SymbolTable symbols_;
  PodInfoFactory factory_{api::LineBehavior(), symbols_};
  std::vector<PodInfoPtr> pods_;
  NodeInfo node_;
  CycleState state_;
};

TEST_F(WhatIfTest, LeavesTheNodeAsItWas) {
  const std::string before = Describe(node_);
  Rng rng(1);
  for (int32_t round = 0; round < 200; ++round) {
    WhatIf outer(state_, node_, /*copies=*/false);
    EXPECT_LT(outer.node().generation, 0);
    Change(outer, rng);
    const std::string between = Describe(outer.node());
    {
      WhatIf inner(outer.state(), outer.node(), /*copies=*/false);
      Change(inner, rng);
    }
    EXPECT_EQ(Describe(outer.node()), between);
  }
  EXPECT_EQ(Describe(node_), before);
}

TEST_F(WhatIfTest, ShowsTheSameNodeAsACopy) {
  Rng rng(1);
  Rng same(1);
  WhatIf in_place(state_, node_, /*copies=*/false);
  NodeInfo other;
  for (int32_t i = 0; i < 8; ++i) other.AddPod(pods_[static_cast<size_t>(i)]);
  WhatIf copy(state_, other, /*copies=*/true);
  Change(in_place, rng);
  Change(copy, same);
  EXPECT_EQ(in_place.node().requested, copy.node().requested);
  EXPECT_EQ(in_place.node().used_ports, copy.node().used_ports);
  EXPECT_EQ(in_place.node().pods, copy.node().pods);
  EXPECT_EQ(other.pods.size(), 8U);
}

TEST_F(WhatIfTest, LeavesFilterStatesAsTheyWereButThoseOfSkippedPluginsAlone) {
  state_.Write(3, CycleState::kFilterSlot, std::make_unique<Counter>());
  state_.Write(5, CycleState::kFilterSlot, std::make_unique<Counter>());
  state_.skip_filter.set(5);
  {
    WhatIf what_if(state_, node_, /*copies=*/false);
    what_if.state().Read<Counter>(3, CycleState::kFilterSlot)->value = 1;
    what_if.state().Read<Counter>(5, CycleState::kFilterSlot)->value = 1;
  }
  EXPECT_EQ(state_.Read<Counter>(3, CycleState::kFilterSlot)->value, 0);
  EXPECT_EQ(state_.Read<Counter>(5, CycleState::kFilterSlot)->value, 1);
}

}  // namespace
}  // namespace schedsim::framework
