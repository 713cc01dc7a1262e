#include "core/framework/pod_info.h"

#include <memory>
#include <utility>

#include "core/api/kubernetes_version.h"
#include "core/base/symbol.h"
#include "gtest/gtest.h"

namespace schedsim::framework {
namespace {

class PodInfoTest : public testing::Test {
 protected:
  static std::shared_ptr<api::Pod> NewPod() {
    auto spec = std::make_shared<api::PodSpec>();
    spec->containers.resize(1);
    spec->containers[0].resources.requests["cpu"] = *api::Quantity::Parse("100m");
    spec->priority = 7;
    auto pod = std::make_shared<api::Pod>();
    pod->metadata.name = "pod";
    pod->metadata.namespace_ = "default";
    pod->metadata.labels.Set("app", "web");
    pod->spec = std::move(spec);
    return pod;
  }

  static void ExpectAlike(const PodInfo& a, const PodInfo& b) {
    EXPECT_EQ(a.spec_info, b.spec_info);
    EXPECT_EQ(a.namespace_, b.namespace_);
    EXPECT_EQ(a.labels.entries(), b.labels.entries());
    EXPECT_EQ(a.labels_id, b.labels_id);
    EXPECT_EQ(a.volumes_id, b.volumes_id);
    EXPECT_EQ(a.priority, b.priority);
    EXPECT_EQ(a.requests, b.requests);
    EXPECT_EQ(a.non_zero_milli_cpu, b.non_zero_milli_cpu);
    EXPECT_EQ(a.non_zero_memory_bytes, b.non_zero_memory_bytes);
  }

  SymbolTable symbols_;
  PodInfoFactory factory_{api::LineBehavior(), symbols_};
};

TEST_F(PodInfoTest, ALaterVersionIsAsMadeAnew) {
  const PodInfoPtr earlier = factory_.Make(NewPod());
  auto bound = std::make_shared<api::Pod>(*earlier->pod);
  bound->node_name = "node";
  const PodInfoPtr later = factory_.MakeAfter(earlier, bound);
  EXPECT_EQ(later->pod, bound);
  ExpectAlike(*later, *factory_.Make(bound));
  EXPECT_EQ(factory_.MakeAfter(nullptr, bound)->pod, bound);
}

TEST_F(PodInfoTest, ALaterVersionHasItsOwnLabelsSpecAndSize) {
  const PodInfoPtr earlier = factory_.Make(NewPod());
  auto labelled = std::make_shared<api::Pod>(*earlier->pod);
  labelled->metadata.labels.Set("app", "db");
  ExpectAlike(*factory_.MakeAfter(earlier, labelled), *factory_.Make(labelled));
  EXPECT_NE(factory_.MakeAfter(earlier, labelled)->labels_id, earlier->labels_id);

  auto larger = std::make_shared<api::Pod>(*earlier->pod);
  auto spec = std::make_shared<api::PodSpec>(*earlier->pod->spec);
  spec->containers[0].resources.requests["cpu"] = *api::Quantity::Parse("2");
  larger->spec = std::move(spec);
  EXPECT_EQ(factory_.MakeAfter(earlier, larger)->requests.milli_cpu, 2000);

  // A pod that was resized asks for what its status says.
  auto resized = std::make_shared<api::Pod>(*earlier->pod);
  api::ContainerStatus status;
  status.resources.emplace().requests["cpu"] = *api::Quantity::Parse("3");
  resized->status.container_statuses.push_back(status);
  ExpectAlike(*factory_.MakeAfter(earlier, resized), *factory_.Make(resized));
  auto calm = std::make_shared<api::Pod>(*earlier->pod);
  ExpectAlike(*factory_.MakeAfter(factory_.Make(resized), calm), *factory_.Make(calm));
}

}  // namespace
}  // namespace schedsim::framework
