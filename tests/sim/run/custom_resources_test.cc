// Custom resources that plugins read: how they are decoded, kept apart and told of.
#include "core/api/custom_resources.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/api/feature_gates.h"
#include "core/codec/objects/objects.h"
#include "core/framework/custom_resources.h"
#include "gtest/gtest.h"

namespace schedsim {
namespace {

absl::StatusOr<api::ObjectPtr> Read(absl::string_view text) {
  api::ObjectPtr result;
  codec::ObjectReader reader;
  const absl::Status status =
      reader.ReadText(std::string(text), "test.yaml", [&](api::ObjectPtr object, const codec::Location&) {
        result = std::move(object);
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return result;
}

TEST(CustomResourcesTest, FieldsAreRead) {
  const auto object = Read(
      "apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: g}\n"
      "spec: {minMember: 3, minResources: {cpu: 500m, memory: 1Gi}, scheduleTimeoutSeconds: 7, other: 1}\n");
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ((*object)->kind, api::Kind::kOther);
  EXPECT_EQ((*object)->metadata.namespace_, "default");
  ASSERT_EQ(api::CustomKindOf(**object), api::CustomKind::kCoschedulingPodGroup);
  const auto& group = static_cast<const api::CoschedulingPodGroup&>(**object);
  EXPECT_EQ(group.min_member, 3);
  EXPECT_EQ(group.min_resources->size(), 2u);
  EXPECT_EQ(group.schedule_timeout_seconds, 7);
  // A copy, as the API server makes it for each change, is of the same type.
  const auto copy = group.Clone();
  EXPECT_EQ(static_cast<const api::CoschedulingPodGroup&>(*copy).min_member, 3);
}

TEST(CustomResourcesTest, KindsOfOneNameAreToldApartByGroup) {
  EXPECT_EQ(api::FindCustomKind("scheduling.k8s.io/v1beta1", "PodGroup"), api::CustomKind::kNone);
  EXPECT_EQ(api::FindCustomKind("scheduling.volcano.sh/v1beta1", "PodGroup"), api::CustomKind::kNone);
  EXPECT_EQ(api::FindCustomKind("scheduling.x-k8s.io/v1alpha1", "PodGroup"),
            api::CustomKind::kCoschedulingPodGroup);
}

TEST(CustomResourcesTest, WrongTypesAreErrors) {
  const auto object = Read(
      "apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: ElasticQuota\nmetadata: {name: q}\nspec: {max: {cpu: "
      "[1]}}\n");
  ASSERT_FALSE(object.ok());
  EXPECT_NE(object.status().message().find("test.yaml:4:"), std::string::npos) << object.status();
  EXPECT_NE(object.status().message().find("spec.max"), std::string::npos) << object.status();
}

TEST(CustomResourcesTest, OtherKindsAreReadAsTheyAre) {
  const auto object =
      Read("apiVersion: example.com/v1\nkind: ElasticQuota\nmetadata: {name: q}\nspec: {max: 3}\n");
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ(api::CustomKindOf(**object), api::CustomKind::kNone);
}

TEST(CustomResourcesTest, InformersKeepGroupsApart) {
  framework::InformerCache informers;
  informers.Set(*Read("apiVersion: example.com/v1\nkind: ElasticQuota\nmetadata: {name: q, namespace: a}\n"));
  EXPECT_EQ(framework::FindCustom<api::ElasticQuota>(informers, "a", "q"), nullptr);
  const api::ObjectPtr quota = *Read(
      "apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: ElasticQuota\nmetadata: {name: q, namespace: a}\n");
  informers.Set(quota);
  EXPECT_EQ(framework::FindCustom<api::ElasticQuota>(informers, "a", "q"), quota);
  informers.Erase(*quota);
  EXPECT_EQ(framework::FindCustom<api::ElasticQuota>(informers, "a", "q"), nullptr);
}

TEST(CustomResourcesTest, EventsAreCalledAsInTheirPlugins) {
  const api::LineBehavior line = api::LineBehaviorOf(api::FeatureGates(api::kDefaultKubernetesLine));
  const auto label = [&line](api::CustomKind kind, framework::ActionType action) {
    return framework::EventLabel({.resource = framework::EventResourceOf(kind), .action = action}, line);
  };
  EXPECT_EQ(label(api::CustomKind::kCoschedulingPodGroup, framework::kAdd),
            "podgroups.v1alpha1.scheduling.x-k8s.ioAdd");
  EXPECT_EQ(label(api::CustomKind::kElasticQuota, framework::kUpdate),
            "elasticquotas.v1alpha1.scheduling.x-k8s.ioUpdate");
  EXPECT_EQ(label(api::CustomKind::kNodeResourceTopology, framework::kAdd),
            "noderesourcetopologies.v1alpha2.topology.node.k8s.ioAdd");
}

}  // namespace
}  // namespace schedsim
