#include "core/framework/scheduling_class.h"

#include <gtest/gtest.h>

#include <vector>

namespace schedsim::framework {
namespace {

constexpr Concern kConcerns[] = {Concern::kRequests,    Concern::kTolerations, Concern::kNodeSelection,
                                 Concern::kHostPorts,   Concern::kImages,      Concern::kSpreading,
                                 Concern::kPodAffinity, Concern::kOther,       Concern::kVolumes};

api::PodSpec Spec() {
  api::PodSpec spec;
  api::Container container;
  container.name = "main";
  container.image = "registry.example/app:v1";
  container.resources.requests["cpu"] = api::Quantity::FromMilli(100);
  spec.containers.push_back(container);
  return spec;
}

// The concerns in which the two specs differ.
std::vector<Concern> Differences(const api::PodSpec& a, const api::PodSpec& b) {
  const SchedulingKey first(a);
  const SchedulingKey second(b);
  std::vector<Concern> differences;
  for (Concern concern : kConcerns) {
    if (first.Part(concern) != second.Part(concern)) differences.push_back(concern);
  }
  return differences;
}

TEST(SchedulingKeyTest, LeavesOutWhatNoPluginReads) {
  api::PodSpec spec = Spec();
  spec.containers[0].name = "other";
  spec.containers[0].volume_mounts.push_back({.name = "kube-api-access-x2x4z", .bind_mount_options = {}});
  spec.priority_class_name = "high";
  api::Volume token;
  token.name = "kube-api-access-x2x4z";
  token.source = R"({"projected":{}})";
  spec.volumes.push_back(token);
  EXPECT_EQ(Differences(Spec(), spec), std::vector<Concern>());
}

TEST(SchedulingKeyTest, KeepsClaimsApartFromTheRest) {
  api::PodSpec spec = Spec();
  api::Volume data;
  data.name = "data";
  data.persistent_volume_claim = api::PersistentVolumeClaimVolumeSource{.claim_name = "data-web-0"};
  spec.volumes.push_back(data);
  api::PodSpec other = spec;
  other.volumes[0].persistent_volume_claim->claim_name = "data-web-1";
  EXPECT_EQ(Differences(spec, other), std::vector<Concern>{Concern::kVolumes});
  EXPECT_EQ(SchedulingKey(spec).WithoutVolumes(), SchedulingKey(other).WithoutVolumes());
  EXPECT_TRUE(SchedulingKey(Spec()).Part(Concern::kVolumes).empty());
}

TEST(SchedulingKeyTest, TellsConcernsApart) {
  api::PodSpec requests = Spec();
  requests.containers[0].resources.requests["cpu"] = api::Quantity::FromMilli(101);
  EXPECT_EQ(Differences(Spec(), requests), std::vector<Concern>{Concern::kRequests});
  api::PodSpec tolerations = Spec();
  tolerations.tolerations.push_back({.key = "dedicated", .operator_ = "Exists", .value = "", .effect = ""});
  EXPECT_EQ(Differences(Spec(), tolerations), std::vector<Concern>{Concern::kTolerations});
  api::PodSpec selection = Spec();
  selection.node_selector.emplace();
  EXPECT_EQ(Differences(Spec(), selection), std::vector<Concern>{Concern::kNodeSelection});
  api::PodSpec ports = Spec();
  ports.containers[0].ports.push_back(
      {.container_port = 80, .host_port = 8080, .protocol = "TCP", .host_ip = ""});
  EXPECT_EQ(Differences(Spec(), ports), std::vector<Concern>{Concern::kHostPorts});
  api::PodSpec images = Spec();
  images.containers[0].image = "registry.example/app:v2";
  EXPECT_EQ(Differences(Spec(), images), std::vector<Concern>{Concern::kImages});
  api::PodSpec spreading = Spec();
  spreading.topology_spread_constraints.emplace_back();
  EXPECT_EQ(Differences(Spec(), spreading), std::vector<Concern>{Concern::kSpreading});
  api::PodSpec affinity = Spec();
  affinity.affinity.emplace();
  affinity.affinity->pod_affinity.emplace();
  EXPECT_EQ(Differences(Spec(), affinity), std::vector<Concern>{Concern::kPodAffinity});
  api::PodSpec priority = Spec();
  priority.priority = 10;
  EXPECT_EQ(Differences(Spec(), priority), std::vector<Concern>{Concern::kOther});
}

TEST(SchedulingKeyTest, SeesEveryDigitOfAQuantity) {
  api::PodSpec finer = Spec();
  finer.containers[0].resources.requests["cpu"] = *api::Quantity::Parse("0.099999999");
  EXPECT_EQ(Differences(Spec(), finer), std::vector<Concern>{Concern::kRequests});
}

// "ab" and "c" must not be taken for "a" and "bc".
TEST(SchedulingKeyTest, KeepsTextsApart) {
  api::PodSpec first = Spec();
  first.tolerations.push_back({.key = "ab", .operator_ = "c", .value = "", .effect = ""});
  api::PodSpec second = Spec();
  second.tolerations.push_back({.key = "a", .operator_ = "bc", .value = "", .effect = ""});
  EXPECT_EQ(Differences(first, second), std::vector<Concern>{Concern::kTolerations});
}

}  // namespace
}  // namespace schedsim::framework
