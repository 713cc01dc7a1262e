#include "core/codec/patch/merge_rules.h"

#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/codec/objects/fields_meta.h"
#include "core/codec/objects/fields_pod.h"
#include "core/codec/objects/fields_storage.h"
#include "gtest/gtest.h"

namespace schedsim::codec {
namespace {

template <typename T>
constexpr bool kIsList = false;
template <typename T>
constexpr bool kIsList<std::vector<T>> = HasFields<T>;

// The field tables, by which lists are written, and the rules, by which they are patched, name the same keys.
template <typename S, typename T>
void ExpectSameKey(const std::string& type, const Field<S, T>& field) {
  if constexpr (kIsList<T>) {
    std::string owner = type;
    for (int i = 0; i + 1 < field.depth; ++i) {
      owner = FindMergeRule(owner, field.path[static_cast<size_t>(i)].name).below;
    }
    const absl::string_view name = field.path[static_cast<size_t>(field.depth - 1)].name;
    const MergeRule rule = FindMergeRule(owner, name);
    EXPECT_EQ(field.merge_key, rule.key) << owner << "." << name;
    EXPECT_EQ(rule.how == MergeRule::How::kItems, !rule.key.empty()) << owner << "." << name;
  }
}

template <typename S>
void ExpectSameKeys(const std::string& type) {
  std::apply([&](const auto&... field) { (ExpectSameKey(type, field), ...); }, Fields<S>::kList);
}

TEST(MergeRulesTest, KeysAreThoseOfTheFieldTables) {
  ExpectSameKeys<api::ObjectMeta>("ObjectMeta");
  ExpectSameKeys<api::Container>("Container");
  ExpectSameKeys<api::PodSpec>("PodSpec");
  ExpectSameKeys<api::PodStatus>("PodStatus");
  ExpectSameKeys<api::Pod>("Pod");
  ExpectSameKeys<api::NodeSpec>("NodeSpec");
  ExpectSameKeys<api::NodeStatus>("NodeStatus");
  ExpectSameKeys<api::CSINode>("CSINode");
  ExpectSameKeys<api::StorageClass>("StorageClass");
}

TEST(MergeRulesTest, PartsOfAnObjectAreCalledByItsKind) {
  EXPECT_EQ(FindMergeRule("Deployment", "spec").below, "DeploymentSpec");
  EXPECT_EQ(FindMergeRule("DeploymentSpec", "template").below, "PodTemplateSpec");
  EXPECT_EQ(FindMergeRule("Job", "metadata").below, "ObjectMeta");
  EXPECT_EQ(FindMergeRule("Widget", "spec").below, "");
  EXPECT_EQ(FindMergeRule("Endpoints", "addresses").how, MergeRule::How::kDefault);
}

}  // namespace
}  // namespace schedsim::codec
