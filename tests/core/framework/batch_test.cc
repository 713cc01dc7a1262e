#include "core/framework/batch.h"

#include <memory>
#include <vector>

#include "core/framework/pod_info.h"
#include "gtest/gtest.h"

namespace schedsim::framework {
namespace {

// Nodes with ids 0, 1, ... and these totals, in this order.
class Nodes {
 public:
  explicit Nodes(const std::vector<int64_t>& totals) : infos_(totals.size()) {
    scores_.totals = totals;
    for (size_t i = 0; i < infos_.size(); ++i) {
      infos_[i].name = Symbol{static_cast<uint32_t>(i)};
      nodes_.push_back(&infos_[i]);
    }
  }
  SortedScoredNodes Sorted() const { return SortedScoredNodes(nodes_, scores_, /*keeps_raw=*/false); }

 private:
  std::vector<NodeInfo> infos_;
  std::vector<const NodeInfo*> nodes_;
  NodeScores scores_;
};

std::vector<uint32_t> PopAll(SortedScoredNodes nodes) {
  std::vector<uint32_t> order;
  while (!nodes.empty()) order.push_back(nodes.Pop().id);
  return order;
}

// The expected orders are those of Go's container/heap.
TEST(SortedScoredNodesTest, TiesComeInTheOrderOfTheHeap) {
  EXPECT_EQ(PopAll(Nodes({}).Sorted()), (std::vector<uint32_t>{}));
  EXPECT_EQ(PopAll(Nodes({5, 9, 7}).Sorted()), (std::vector<uint32_t>{1, 2, 0}));
  EXPECT_EQ(PopAll(Nodes({1, 1, 9, 9, 1, 1, 1}).Sorted()).front(), 3U);
  EXPECT_EQ(PopAll(Nodes({4, 4, 4, 4}).Sorted()), (std::vector<uint32_t>{0, 3, 2, 1}));
}

class SignersTest : public testing::Test {
 protected:
  // The signature of a pod with this spec, by tolerations, volumes and resources.
  PodSignature Sign(const api::PodSpec& spec) {
    auto pod = std::make_shared<api::Pod>();
    pod->spec = std::make_shared<api::PodSpec>(spec);
    const PodInfoPtr info = factory_.Make(pod);
    PodSigner signer;
    const bool signs =
        SignTolerations(*info, signer) && SignVolumes(*info, signer) && SignResources(*info, signer);
    return signs ? signer.text() : "";
  }

 private:
  SymbolTable symbols_;
  PodInfoFactory factory_{api::LineBehavior(), symbols_};
};

TEST_F(SignersTest, OrderOfTolerationsDoesNotCountButTheirSecondsDo) {
  const api::Toleration a = {.key = "a", .operator_ = "Exists", .value = "", .effect = "NoExecute"};
  const api::Toleration b = {.key = "b", .operator_ = "Exists", .value = "", .effect = ""};
  api::Toleration longer = a;
  longer.toleration_seconds = 300;
  api::PodSpec spec;
  spec.tolerations = {a, b};
  api::PodSpec turned;
  turned.tolerations = {b, a};
  api::PodSpec other;
  other.tolerations = {longer, b};
  EXPECT_EQ(Sign(spec), Sign(turned));
  EXPECT_NE(Sign(spec), Sign(other));
}

TEST_F(SignersTest, ConfigMapsAndNamesOfVolumesDoNotCountButSourcesDo) {
  api::Volume config_map;
  config_map.name = "config";
  config_map.is_config_map = true;
  api::Volume empty;
  empty.name = "empty";
  empty.source = R"({"emptyDir":{}})";
  api::Volume renamed = empty;
  renamed.name = "scratch";
  api::Volume host = empty;
  host.source = R"({"hostPath":{"path":"/a"}})";
  api::PodSpec spec;
  spec.volumes = {empty};
  api::PodSpec same;
  same.volumes = {config_map, renamed};
  api::PodSpec other;
  other.volumes = {host};
  EXPECT_EQ(Sign(spec), Sign(same));
  EXPECT_NE(Sign(spec), Sign(other));
}

TEST_F(SignersTest, AVolumeOfUnknownSourceLeavesThePodUnsigned) {
  api::PodSpec spec;
  spec.volumes.resize(1);
  EXPECT_EQ(Sign(spec), "");
}

}  // namespace
}  // namespace schedsim::framework
