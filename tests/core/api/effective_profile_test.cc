#include "core/api/effective_profile.h"

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/api/default_profile.h"
#include "gtest/gtest.h"

namespace schedsim::api {
namespace {

// The effective profile of a user's one, as "A:1 B:2" for the scorers and "A B" elsewhere, or the
// error's text.
std::string Expand(const KubeSchedulerProfile& written, ExtensionPoint point,
                   KubernetesLine line = kDefaultKubernetesLine) {
  const FeatureGates gates(line);
  KubeSchedulerProfile profile = written;
  profile.scheduler_name = "s";
  SetProfileDefaults(gates, profile);
  const std::vector<PluginInfo> known = InTreePlugins(line);
  const absl::StatusOr<EffectiveProfile> effective = ExpandProfile(profile, known, gates);
  if (!effective.ok()) return std::string(effective.status().message());
  std::string text;
  const std::vector<std::string>& names = effective->At(point);
  for (size_t i = 0; i < names.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : " ", names[i]);
    if (point == ExtensionPoint::kScore) absl::StrAppend(&text, ":", effective->score_weights[i]);
  }
  return text;
}

KubeSchedulerProfile WithSet(ExtensionPoint point, PluginSet set) {
  KubeSchedulerProfile profile;
  profile.plugins.At(point) = std::move(set);
  return profile;
}

KubeSchedulerProfile WithMultiPoint(PluginSet set) {
  KubeSchedulerProfile profile;
  profile.plugins.multi_point = std::move(set);
  return profile;
}

struct DefaultRow {
  KubernetesLine line;
  ExtensionPoint point;
  const char* want;
};

// From kube-scheduler of each line's pinned release.
constexpr DefaultRow kDefaultRows[] = {
    {KubernetesLine::k1_37, ExtensionPoint::kPreEnqueue,
     "SchedulingGates DynamicResources DefaultPreemption"},
    {KubernetesLine::k1_37, ExtensionPoint::kQueueSort, "PrioritySort"},
    {KubernetesLine::k1_37, ExtensionPoint::kPreFilter,
     "NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts NodeResourcesFit "
     "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
     "InterPodAffinity DynamicResources NodeDeclaredFeatures"},
    {KubernetesLine::k1_34, ExtensionPoint::kPreFilter,
     "NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding "
     "VolumeZone PodTopologySpread InterPodAffinity DynamicResources"},
    {KubernetesLine::k1_36, ExtensionPoint::kFilter,
     "NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit "
     "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
     "InterPodAffinity DynamicResources NodeDeclaredFeatures"},
    {KubernetesLine::k1_37, ExtensionPoint::kPostFilter, "DynamicResources DefaultPreemption"},
    {KubernetesLine::k1_37, ExtensionPoint::kPreScore,
     "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread "
     "InterPodAffinity NodeResourcesBalancedAllocation"},
    {KubernetesLine::k1_37, ExtensionPoint::kScore,
     "TaintToleration:3 NodeAffinity:2 NodeResourcesFit:1 VolumeBinding:1 PodTopologySpread:2 "
     "InterPodAffinity:2 DynamicResources:2 NodeResourcesBalancedAllocation:1 ImageLocality:1"},
    {KubernetesLine::k1_34, ExtensionPoint::kScore,
     "TaintToleration:3 NodeAffinity:2 NodeResourcesFit:1 VolumeBinding:1 PodTopologySpread:2 "
     "InterPodAffinity:2 NodeResourcesBalancedAllocation:1 ImageLocality:1"},
    {KubernetesLine::k1_37, ExtensionPoint::kReserve, "VolumeBinding DynamicResources"},
    {KubernetesLine::k1_37, ExtensionPoint::kPermit, ""},
    {KubernetesLine::k1_37, ExtensionPoint::kPreBind, "VolumeBinding DynamicResources"},
    {KubernetesLine::k1_37, ExtensionPoint::kBind, "DefaultBinder"},
    {KubernetesLine::k1_37, ExtensionPoint::kPostBind, ""},
    {KubernetesLine::k1_35, ExtensionPoint::kPlacementScore, ""},
    {KubernetesLine::k1_36, ExtensionPoint::kPlacementScore, "NodeResourcesFit"},
    {KubernetesLine::k1_36, ExtensionPoint::kPodGroupPostFilter, ""},
    {KubernetesLine::k1_37, ExtensionPoint::kPodGroupPostFilter, "DynamicResources DefaultPreemption"},
};

TEST(EffectiveProfileTest, TheDefaultProfileFollowsTheLine) {
  for (const DefaultRow& row : kDefaultRows) {
    EXPECT_EQ(Expand({}, row.point, row.line), row.want)
        << ExtensionPointName(row.point) << " in " << KubernetesLineName(row.line);
  }
}

TEST(EffectiveProfileTest, PluginsOfThePointThatMultiPointHasComeFirst) {
  EXPECT_EQ(Expand(WithSet(ExtensionPoint::kScore, {.enabled = {{"ImageLocality", 7}}, .disabled = {}}),
                   ExtensionPoint::kScore),
            "ImageLocality:7 TaintToleration:3 NodeAffinity:2 NodeResourcesFit:1 VolumeBinding:1 "
            "PodTopologySpread:2 InterPodAffinity:2 DynamicResources:2 "
            "NodeResourcesBalancedAllocation:1");
}

TEST(EffectiveProfileTest, PluginsOnlyOfThePointComeLast) {
  KubeSchedulerProfile profile = WithMultiPoint({.enabled = {}, .disabled = {{"TaintToleration"}}});
  profile.plugins.At(ExtensionPoint::kScore) = {.enabled = {{"TaintToleration"}, {"ImageLocality"}},
                                                .disabled = {{"NodeAffinity"}}};
  EXPECT_EQ(Expand(profile, ExtensionPoint::kScore),
            "ImageLocality:1 NodeResourcesFit:1 VolumeBinding:1 PodTopologySpread:2 "
            "InterPodAffinity:2 DynamicResources:2 NodeResourcesBalancedAllocation:1 "
            "TaintToleration:1");
}

TEST(EffectiveProfileTest, DisablingAllAtAPointLeavesWhatIsEnabledThere) {
  EXPECT_EQ(
      Expand(WithSet(ExtensionPoint::kScore, {.enabled = {{"NodeResourcesFit", 5}}, .disabled = {{"*"}}}),
             ExtensionPoint::kScore),
      "NodeResourcesFit:5");
}

TEST(EffectiveProfileTest, DisablingAtAPointKeepsThePluginElsewhere) {
  const KubeSchedulerProfile profile =
      WithSet(ExtensionPoint::kScore, {.enabled = {}, .disabled = {{"NodeResourcesFit"}}});
  EXPECT_EQ(Expand(profile, ExtensionPoint::kScore).find("NodeResourcesFit"), std::string::npos);
  EXPECT_NE(Expand(profile, ExtensionPoint::kFilter).find("NodeResourcesFit"), std::string::npos);
}

TEST(EffectiveProfileTest, AMultiPointPluginKeepsThePlaceOfItsDefault) {
  EXPECT_EQ(
      Expand(WithMultiPoint({.enabled = {{"NodeAffinity", 9}}, .disabled = {}}), ExtensionPoint::kPreScore),
      "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread "
      "InterPodAffinity NodeResourcesBalancedAllocation");
}

TEST(EffectiveProfileTest, AMultiPointPluginBothDisabledAndEnabledMovesToTheEnd) {
  EXPECT_EQ(Expand(WithMultiPoint({.enabled = {{"NodeAffinity", 9}}, .disabled = {{"NodeAffinity"}}}),
                   ExtensionPoint::kPreScore),
            "TaintToleration NodeResourcesFit VolumeBinding PodTopologySpread InterPodAffinity "
            "NodeResourcesBalancedAllocation NodeAffinity");
}

TEST(EffectiveProfileTest, ErrorsAreThoseOfTheRealOne) {
  EXPECT_EQ(Expand(WithSet(ExtensionPoint::kFilter, {.enabled = {{"Nope"}}, .disabled = {}}),
                   ExtensionPoint::kFilter),
            "FilterPlugin \"Nope\" does not exist");
  EXPECT_EQ(Expand(WithMultiPoint({.enabled = {{"Nope"}}, .disabled = {}}), ExtensionPoint::kFilter),
            "PreFilterPlugin \"Nope\" does not exist");
  EXPECT_EQ(Expand(WithSet(ExtensionPoint::kFilter, {.enabled = {{"ImageLocality"}}, .disabled = {}}),
                   ExtensionPoint::kFilter),
            "plugin \"ImageLocality\" does not extend FilterPlugin plugin");
  EXPECT_EQ(Expand(WithMultiPoint({.enabled = {{"NodePorts"}, {"NodePorts"}}, .disabled = {}}),
                   ExtensionPoint::kFilter),
            "plugin \"NodePorts\" already registered as \"PreFilterPlugin\"");
  EXPECT_EQ(
      Expand(WithSet(ExtensionPoint::kBind, {.enabled = {}, .disabled = {{"*"}}}), ExtensionPoint::kBind),
      "at least one bind plugin is needed for profile with scheduler name \"s\"");
}

// A weight is a 32-bit number: only a negative one makes the real check fail.
TEST(EffectiveProfileTest, WeightsThatOverflowAreRefused) {
  const KubeSchedulerProfile negative =
      WithSet(ExtensionPoint::kScore, {.enabled = {{"NodeAffinity", -5}}, .disabled = {}});
  EXPECT_EQ(Expand(negative, ExtensionPoint::kScore),
            "score plugins: total score of Score plugins could overflow");
  EXPECT_EQ(Expand(negative, ExtensionPoint::kScore, KubernetesLine::k1_35),
            "total score of Score plugins could overflow");
  EXPECT_NE(
      Expand(WithSet(ExtensionPoint::kScore, {.enabled = {{"NodeAffinity", 2147483647}}, .disabled = {}}),
             ExtensionPoint::kScore)
          .find("NodeAffinity:2147483647"),
      std::string::npos);
}

TEST(EffectiveProfileTest, PluginsHaveDefaultArguments) {
  const FeatureGates gates;
  const KubeSchedulerConfiguration config = DefaultSchedulerConfiguration(gates);
  const absl::StatusOr<std::vector<EffectiveProfile>> profiles =
      ExpandProfiles(config, InTreePlugins(gates.line()), gates);
  ASSERT_TRUE(profiles.ok()) << profiles.status();
  ASSERT_EQ(profiles->size(), 1u);
  const EffectiveProfile& profile = profiles->front();
  EXPECT_EQ(profile.scheduler_name, "default-scheduler");
  EXPECT_EQ(profile.plugin_config.size(), 8u);
  ASSERT_NE(profile.FindArgs<InterPodAffinityArgs>("InterPodAffinity"), nullptr);
  EXPECT_EQ(profile.FindArgs<InterPodAffinityArgs>("InterPodAffinity")->hard_pod_affinity_weight, 1);
  EXPECT_EQ(profile.FindArgs<NodeAffinityArgs>("InterPodAffinity"), nullptr);
  EXPECT_EQ(profile.FindArgs("NodePorts"), nullptr);
  ASSERT_NE(profile.FindArgs<VolumeBindingArgs>("VolumeBinding"), nullptr);
  EXPECT_TRUE(profile.FindArgs<VolumeBindingArgs>("VolumeBinding")->shape.has_value());
}

}  // namespace
}  // namespace schedsim::api
