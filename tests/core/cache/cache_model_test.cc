// The scheduler's cache and its snapshot against a recount from lists of nodes and pods, after each of many
// random calls.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/feature_gates.h"
#include "core/api/kubernetes_version.h"
#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/base/symbol.h"
#include "core/cache/cache.h"
#include "core/cache/node_tree.h"
#include "core/cache/snapshot.h"
#include "gtest/gtest.h"
#include "tests/core/cache/naive_cache.h"
#include "tests/random_seeds.h"

namespace schedsim::cache {
namespace {

using framework::NodeInfo;
using framework::PodInfoPtr;

constexpr uint64_t kSeedCount = 20;
constexpr int kStepCount = 3000;
constexpr int kPodCount = 40;
constexpr int kNodeCount = 12;

std::string Describe(const NaiveCache::Sums& sums) {
  const auto join = [](const auto& list) { return absl::StrJoin(list, ","); };
  return absl::StrCat("cpu ", sums.milli_cpu, ", memory ", sums.memory_bytes, ", gpus ", sums.gpus,
                      ", non-zero ", sums.non_zero_milli_cpu, " and ", sums.non_zero_memory_bytes,
                      ", priority ", sums.lowest_priority, ", pods ", join(sums.pods), ", affinity ",
                      join(sums.pods_with_affinity), ", anti-affinity ",
                      join(sums.pods_with_required_anti_affinity), ", ports ", join(sums.ports));
}

api::Quantity Amount(const std::string& text) {
  auto amount = api::Quantity::Parse(text);
  CHECK(amount.ok());
  return *amount;
}

std::shared_ptr<const api::PodSpec> MakeSpec(Rng& rng) {
  auto spec = std::make_shared<api::PodSpec>();
  spec->priority = static_cast<int32_t>(rng.Below(4)) - 1;
  api::Container container;
  if (rng.Below(4) > 0) {
    container.resources.requests["cpu"] = Amount(absl::StrCat(1 + rng.Below(900), "m"));
    container.resources.requests["memory"] = Amount(absl::StrCat(1 + rng.Below(900), "Mi"));
  }
  if (rng.Below(4) == 0) container.resources.requests["example.com/gpu"] = Amount("2");
  if (rng.Below(3) == 0) {
    container.ports.push_back({});
    container.ports.back().host_port = static_cast<int32_t>(80 + rng.Below(3));
  }
  spec->containers.push_back(container);
  if (rng.Below(3) == 0) {
    api::Affinity affinity;
    api::PodAffinity terms;
    terms.required_during_scheduling_ignored_during_execution.push_back({.topology_key = "zone"});
    (rng.Below(2) == 0 ? affinity.pod_affinity : affinity.pod_anti_affinity) = terms;
    spec->affinity = affinity;
  }
  return spec;
}

// The cache and its naive version.
class Pair {
 public:
  explicit Pair(uint64_t seed)
      : rng_(seed), factory_(api::LineBehaviorOf(api::FeatureGates(line_)), symbols_), cache_(symbols_) {
    for (int i = 0; i < 15; ++i) specs_.push_back(MakeSpec(rng_));
  }

  // One random call; returns what it was.
  std::string Step() {
    generations_ = Generations();
    const int64_t choice = rng_.Below(100);
    if (choice < 20) return AssumePod();
    if (choice < 28) return ForgetPod();
    if (choice < 45) return AddPod();
    if (choice < 52) return UpdatePod();
    if (choice < 65) return RemovePod();
    if (choice < 73) return AddNode();
    if (choice < 81) return UpdateNode();
    if (choice < 86) return RemoveNode();
    return UpdateSnapshot();
  }

  void Compare() {
    CompareNodes();
    ComparePods();
    CompareSnapshot();
  }

 private:
  int64_t Below(int64_t bound) { return rng_.Below(bound); }
  std::string RandomUid() { return absl::StrCat("uid-", Below(kPodCount)); }
  std::string RandomNodeName() { return absl::StrCat("n", Below(kNodeCount)); }

  // A version of a random pod, on any node.
  PodInfoPtr RandomPod() {
    auto pod = std::make_shared<api::Pod>();
    pod->metadata.uid = RandomUid();
    pod->metadata.namespace_ = "default";
    pod->metadata.name = absl::StrCat("pod-of-", pod->metadata.uid);
    pod->node_name = RandomNodeName();
    pod->spec = specs_[static_cast<size_t>(Below(static_cast<int64_t>(specs_.size())))];
    return factory_.Make(pod);
  }
  api::NodePtr RandomNode(const std::string& name) {
    auto node = std::make_shared<api::Node>();
    node->metadata.name = name;
    if (Below(4) > 0) node->metadata.labels.Set("topology.kubernetes.io/zone", absl::StrCat("z", Below(3)));
    if (Below(3) == 0) node->metadata.labels.Set("topology.kubernetes.io/region", "r");
    node->status.allocatable["cpu"] = Amount(absl::StrCat(1 + Below(8)));
    // Nodes may share a list.
    if (Below(3) == 0) {
      node->status.images = last_images_;
      return node;
    }
    for (int64_t i = Below(4); i > 0; --i) {
      api::ContainerImage image = {.names = std::vector<std::string>{absl::StrCat("i", Below(5))},
                                   .size_bytes = 1 + Below(9)};
      if (Below(3) == 0) image.names.push_back(absl::StrCat("i", Below(5)));
      node->status.images.push_back(std::move(image));
    }
    last_images_ = node->status.images;
    return node;
  }

  std::string AssumePod() {
    const PodInfoPtr pod = RandomPod();
    EXPECT_EQ(cache_.AssumePod(pod).ok(), naive_.AssumePod(pod));
    return absl::StrCat("assume ", pod->Uid());
  }
  std::string ForgetPod() {
    const PodInfoPtr pod = RandomPod();
    EXPECT_EQ(cache_.ForgetPod(*pod).ok(), naive_.ForgetPod(*pod));
    return absl::StrCat("forget ", pod->Uid());
  }
  std::string AddPod() {
    const PodInfoPtr pod = RandomPod();
    cache_.AddPod(pod);
    naive_.AddPod(pod);
    return absl::StrCat("add ", pod->Uid());
  }
  std::string UpdatePod() {
    const PodInfoPtr pod = RandomPod();
    cache_.UpdatePod(pod);
    naive_.UpdatePod(pod);
    return absl::StrCat("update ", pod->Uid());
  }
  std::string RemovePod() {
    const PodInfoPtr pod = RandomPod();
    cache_.RemovePod(*pod->pod);
    naive_.RemovePod(pod->pod->metadata.uid);
    return absl::StrCat("remove ", pod->Uid());
  }
  std::string AddNode() {
    const std::string name = RandomNodeName();
    if (naive_.nodes().count(name) > 0) return "nothing";
    const api::NodePtr node = RandomNode(name);
    cache_.AddNode(node);
    naive_.AddNode(node);
    new_objects_.insert(name);
    return absl::StrCat("add node ", name);
  }
  std::string UpdateNode() {
    const std::string name = RandomNodeName();
    const auto known = naive_.nodes().find(name);
    const api::NodePtr new_node = RandomNode(name);
    // An update may be the first that the cache hears of a node.
    const api::NodePtr old_node = known == naive_.nodes().end() ? RandomNode(name) : known->second;
    cache_.UpdateNode(old_node, new_node);
    naive_.UpdateNode(new_node);
    new_objects_.insert(name);
    return absl::StrCat("update node ", name);
  }
  std::string RemoveNode() {
    const std::string name = RandomNodeName();
    const auto known = naive_.nodes().find(name);
    const api::NodePtr node = known == naive_.nodes().end() ? RandomNode(name) : known->second;
    cache_.RemoveNode(*node);
    naive_.RemoveNode(name);
    return absl::StrCat("remove node ", name);
  }

  // Someone who asks now and then which nodes changed.
  struct Reader {
    bool of_objects = false;  // Asks ObjectChangesSince.
    int64_t patience = 1;     // Asks after one in so many snapshots.
    int64_t position = -1;
    // Since it asked last: whether the list was built anew, and what changed after that.
    bool all = true;
    std::set<std::string> changed = {};
  };

  std::string UpdateSnapshot() {
    const bool rebuilt = naive_.UpdateSnapshot();
    EXPECT_EQ(cache_.UpdateSnapshot(snapshot_), rebuilt);
    const std::set<std::string> touched = std::exchange(touched_, {});
    std::set<std::string> new_objects = std::exchange(new_objects_, {});
    for (const auto& [name, node] : naive_.nodes()) {
      if (touched.count(name) == 0) continue;
      // Images are those of this moment.
      std::vector<std::string> images = ImagesOf(*node);
      if (images != images_[name]) new_objects.insert(name);
      images_[name] = std::move(images);
    }
    for (Reader& reader : readers_) {
      if (rebuilt) {
        reader.all = true;
        reader.changed.clear();
      }
      for (const std::string& name : reader.of_objects ? new_objects : touched) {
        if (naive_.nodes().count(name) > 0) reader.changed.insert(name);
      }
      if (Below(reader.patience) == 0) Ask(reader);
    }
    return "update snapshot";
  }

  void Ask(Reader& reader) {
    const framework::NodeChanges changes = reader.of_objects ? snapshot_.ObjectChangesSince(reader.position)
                                                             : snapshot_.ChangesSince(reader.position);
    EXPECT_EQ(changes.all, reader.all);
    if (!changes.all) {
      std::set<std::string> told;
      for (const NodeInfo* node : changes.nodes) {
        EXPECT_GE(node->position, 0) << NameOf(*node);
        told.insert(NameOf(*node));
      }
      EXPECT_EQ(told, reader.changed) << (reader.of_objects ? "objects" : "nodes");
    }
    reader.position = changes.position;
    reader.all = false;
    reader.changed.clear();
  }

  std::string NameOf(const NodeInfo& node) { return std::string(symbols_.Text(node.name)); }

  std::map<std::string, int64_t> Generations() {
    std::map<std::string, int64_t> generations;
    for (const auto& node : cache_.nodes()) generations[NameOf(*node)] = node->generation;
    return generations;
  }

  // "name size nodes" for each image, in the order of the node's list.
  std::vector<std::string> ImagesOf(const api::Node& node) const {
    std::vector<std::string> images;
    std::set<std::string> listed;
    for (const api::ContainerImage& image : node.status.images) {
      for (const std::string& name : image.names) {
        if (!listed.insert(name).second) continue;
        const NaiveCache::Image& known = naive_.images().at(name);
        images.push_back(absl::StrCat(name, " ", known.size_bytes, " ", known.nodes.size()));
      }
    }
    return images;
  }

  void CompareNodes() {
    const std::set<std::string> touched = naive_.TakeTouched();
    touched_.insert(touched.begin(), touched.end());
    std::set<int64_t> generations;
    std::set<std::string> present;
    for (const auto& node : cache_.nodes()) {
      const std::string name = NameOf(*node);
      EXPECT_TRUE(node->generation == 0 || generations.insert(node->generation).second) << "used twice";
      const bool is_new = generations_.count(name) == 0;
      const bool changed = is_new || node->generation != generations_[name];
      EXPECT_TRUE(is_new || node->generation >= generations_[name]) << name;
      // An entry that is new may be there for nothing but a look-up.
      EXPECT_TRUE(changed == (touched.count(name) > 0) || is_new) << name;
      EXPECT_EQ(Describe(SumsOf(*node)), Describe(naive_.SumsOf(name))) << name;
      const auto known = naive_.nodes().find(name);
      EXPECT_EQ(node->node, known == naive_.nodes().end() ? nullptr : known->second) << name;
      if (node->node == nullptr) continue;
      present.insert(name);
      EXPECT_EQ(node->allocatable.milli_cpu, node->node->status.allocatable.Find("cpu")->MilliValue());
      EXPECT_EQ(node->labels.entries().size(), node->node->metadata.labels.size());
    }
    EXPECT_EQ(present.size(), naive_.nodes().size());
  }

  NaiveCache::Sums SumsOf(const NodeInfo& node) {
    NaiveCache::Sums sums = {.milli_cpu = node.requested.milli_cpu,
                             .memory_bytes = node.requested.memory_bytes,
                             .gpus = node.requested.Scalar(symbols_.Intern("example.com/gpu")),
                             .non_zero_milli_cpu = node.non_zero_milli_cpu,
                             .non_zero_memory_bytes = node.non_zero_memory_bytes,
                             .lowest_priority = node.lowest_priority};
    for (const PodInfoPtr& pod : node.pods) sums.pods.emplace_back(pod->Uid());
    for (const framework::PodInfo* pod : node.pods_with_affinity) {
      sums.pods_with_affinity.emplace(pod->Uid());
    }
    for (const framework::PodInfo* pod : node.pods_with_required_anti_affinity) {
      sums.pods_with_required_anti_affinity.emplace(pod->Uid());
    }
    for (const framework::HostPort& port : node.used_ports) sums.ports.insert(port.port);
    return sums;
  }

  void ComparePods() {
    for (int i = 0; i < kPodCount; ++i) {
      api::Pod pod;
      pod.metadata.uid = absl::StrCat("uid-", i);
      const NaiveCache::Pod* known = naive_.FindPod(pod.metadata.uid);
      EXPECT_EQ(cache_.HasPod(pod), known != nullptr) << pod.metadata.uid;
      EXPECT_EQ(cache_.FindPod(pod), known == nullptr ? nullptr : known->info) << pod.metadata.uid;
      EXPECT_EQ(cache_.IsAssumedPod(pod), known != nullptr && known->assumed) << pod.metadata.uid;
    }
  }

  void CompareSnapshot() {
    std::vector<std::string> list;
    for (const NodeInfo* node : snapshot_.List()) {
      const std::string name = NameOf(*node);
      EXPECT_EQ(node->position, static_cast<int32_t>(list.size())) << name;
      EXPECT_LT(node->index, snapshot_.IndexLimit()) << name;
      EXPECT_EQ(snapshot_.Get(node->name), node) << name;
      list.push_back(name);
      // Until the next snapshot a node that is gone stands in the list.
      if (naive_.nodes().count(name) == 0 || touched_.count(name) > 0) continue;
      std::vector<std::string> images;
      for (const framework::ImageState& image : node->images) {
        images.push_back(
            absl::StrCat(symbols_.Text(image.name), " ", image.size_bytes, " ", image.node_count));
      }
      EXPECT_EQ(images, images_[name]) << name;
    }
    EXPECT_EQ(list, naive_.snapshot());
    EXPECT_EQ(snapshot_.Get(symbols_.Intern("no-such-node")), nullptr);
  }

  const api::KubernetesLine line_ = api::kDefaultKubernetesLine;
  Rng rng_;
  SymbolTable symbols_;
  framework::PodInfoFactory factory_;
  Cache cache_;
  Snapshot snapshot_;
  NaiveCache naive_;
  std::vector<std::shared_ptr<const api::PodSpec>> specs_;
  api::SharedList<api::ContainerImage> last_images_;
  // Before the step.
  std::map<std::string, int64_t> generations_;
  // Nodes that were touched since the last snapshot.
  std::set<std::string> touched_;
  // The same of nodes whose object is another one.
  std::set<std::string> new_objects_;
  std::array<Reader, 4> readers_ = {Reader{.of_objects = false}, Reader{.of_objects = true},
                                    Reader{.of_objects = false, .patience = 4},
                                    Reader{.of_objects = true, .patience = 4}};
  std::map<std::string, std::vector<std::string>> images_;  // By node, as the snapshot should have them.
};

class CacheModelTest : public testing::TestWithParam<uint64_t> {};

TEST_P(CacheModelTest, HasWhatARecountGives) {
  SCOPED_TRACE(RepeatCommand(GetParam(), "*CacheModelTest*"));
  Pair pair(GetParam());
  for (int step = 0; step < kStepCount; ++step) {
    const std::string what = pair.Step();
    pair.Compare();
    ASSERT_FALSE(HasFailure()) << "in step " << step << ": " << what;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, CacheModelTest, testing::ValuesIn(SeedsToRun(kSeedCount)),
                         testing::PrintToStringParamName());

class NodeTreeModelTest : public testing::TestWithParam<uint64_t> {};

TEST_P(NodeTreeModelTest, ListsTheFirstOfEachZoneThenTheSecondOfEach) {
  SCOPED_TRACE(RepeatCommand(GetParam(), "*NodeTreeModelTest*"));
  Rng rng(GetParam());
  NodeTree tree;
  NaiveNodeTree naive;
  std::map<std::string, api::Node> nodes;
  for (int step = 0; step < kStepCount; ++step) {
    const int64_t index = rng.Below(30);
    api::Node node;
    node.metadata.name = absl::StrCat("n", index);
    for (const char* label :
         {"topology.kubernetes.io/zone", "topology.kubernetes.io/region",
          "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"}) {
      if (rng.Below(3) == 0) node.metadata.labels.Set(label, absl::StrCat(rng.Below(3)));
    }
    const auto known = nodes.find(node.metadata.name);
    const int64_t choice = rng.Below(3);
    if (known == nodes.end()) {
      tree.AddNode(node, static_cast<int32_t>(index));
      naive.AddNode(node);
      nodes[node.metadata.name] = node;
    } else if (choice == 0) {
      tree.RemoveNode(known->second, static_cast<int32_t>(index));
      naive.RemoveNode(known->second);
      nodes.erase(known);
    } else if (choice == 1) {
      tree.AddNode(known->second, static_cast<int32_t>(index));
      naive.AddNode(known->second);
    } else {
      tree.UpdateNode(known->second, node, static_cast<int32_t>(index));
      if (ZoneKey(known->second) != ZoneKey(node)) {
        naive.RemoveNode(known->second);
        naive.AddNode(node);
      }
      known->second = node;
    }
    std::vector<std::string> list;
    for (const int32_t i : tree.List()) list.push_back(absl::StrCat("n", i));
    ASSERT_EQ(list, naive.List()) << "in step " << step;
    ASSERT_EQ(tree.node_count(), static_cast<int32_t>(nodes.size())) << "in step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, NodeTreeModelTest, testing::ValuesIn(SeedsToRun(kSeedCount)),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace schedsim::cache
