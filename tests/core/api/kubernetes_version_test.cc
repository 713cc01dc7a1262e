#include "core/api/kubernetes_version.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/api/feature_gate_table.h"
#include "core/api/feature_gates.h"
#include "gtest/gtest.h"

namespace schedsim::api {
namespace {

constexpr KubernetesLine kLines[] = {KubernetesLine::k1_34, KubernetesLine::k1_35, KubernetesLine::k1_36,
                                     KubernetesLine::k1_37};

struct VersionRow {
  const char* text;
  KubernetesLine line;
  bool has_note;
  bool is_warning;
};

constexpr VersionRow kVersions[] = {
    {"1.34", KubernetesLine::k1_34, false, false},  {"1.37", KubernetesLine::k1_37, false, false},
    {"v1.36", KubernetesLine::k1_36, false, false}, {"1.35.4", KubernetesLine::k1_35, false, false},
    {"1.35.1", KubernetesLine::k1_35, true, false}, {"v1.37.0", KubernetesLine::k1_37, true, false},
    {"1.33", KubernetesLine::k1_34, true, true},    {"v1.20.15", KubernetesLine::k1_34, true, true},
};

TEST(KubernetesVersionTest, PatchesAndOlderLinesMapToALine) {
  for (const VersionRow& row : kVersions) {
    const absl::StatusOr<KubernetesVersion> version = ParseKubernetesVersion(row.text);
    ASSERT_TRUE(version.ok()) << row.text << ": " << version.status();
    EXPECT_EQ(version->line, row.line) << row.text;
    EXPECT_EQ(!version->note.empty(), row.has_note) << row.text << ": " << version->note;
    EXPECT_EQ(version->is_warning, row.is_warning) << row.text;
  }
}

TEST(KubernetesVersionTest, NewerLinesAndGarbageAreRefused) {
  for (const char* text : {"", "v", "1", "1.", "1.38", "2.37", "0.37", "1.37.", "1.37.x", "1.37.2.1",
                           "1.37-rc.1", " 1.37", "1.+37", "1.-3", "latest"}) {
    const absl::StatusOr<KubernetesVersion> version = ParseKubernetesVersion(text);
    ASSERT_FALSE(version.ok()) << text;
    EXPECT_EQ(std::string(version.status().message()),
              "unknown Kubernetes version \"" + std::string(text) +
                  "\": expected 1.34, 1.35, 1.36 or 1.37, with or without a patch such as 1.37.2");
  }
}

struct GateRow {
  KubernetesLine line;
  const char* list;
  const char* error;  // "": none.
};

constexpr KubernetesLine k34 = KubernetesLine::k1_34;
constexpr KubernetesLine k35 = KubernetesLine::k1_35;
constexpr KubernetesLine k36 = KubernetesLine::k1_36;
constexpr KubernetesLine k37 = KubernetesLine::k1_37;

constexpr GateRow kGateRows[] = {
    {k37, "", ""},
    {k37, "VolumeLimitScaling=false", ""},
    {k37, ",, VolumeLimitScaling = T ,StorageCapacityScoring=0,", ""},
    {k37, "NodeSwap=true,AllAlpha=false", ""},
    {k37, "VolumeLimitScaling=true,VolumeLimitScaling=false", ""},
    {k37, "NodeDeclaredFeatures=true", ""},
    {k36, "NodeDeclaredFeatures=false", ""},
    {k37, "Nope=true", "Nope: Kubernetes 1.37 has no such feature gate"},
    {k37, "NodeDeclaredFeature=true",
     "NodeDeclaredFeature: Kubernetes 1.37 has no such feature gate, did you mean NodeDeclaredFeatures?"},
    {k34, "OpportunisticBatching=false", "OpportunisticBatching: Kubernetes 1.34 has no such feature gate"},
    {k37, "NodeDeclaredFeatures=false",
     "NodeDeclaredFeatures: is locked to true in Kubernetes 1.37, expected that value or none"},
    {k37, "VolumeLimitScaling",
     "\"VolumeLimitScaling\" has no value, expected VolumeLimitScaling=true or VolumeLimitScaling=false"},
    {k37, "VolumeLimitScaling=yes", "VolumeLimitScaling: \"yes\" is not a value, expected true or false"},
    {k37, "GenericWorkload=true,TopologyAwareWorkloadScheduling=true", ""},
    {k36, "GenericWorkload=true,GangScheduling=true,WorkloadAwarePreemption=true", ""},
    {k35, "GenericWorkload=true,GangScheduling=true", ""},
    {k37, "GangScheduling=true", "GangScheduling: Kubernetes 1.37 has no such feature gate"},
    {k37, "CompositePodGroup=true",
     "CompositePodGroup=true is not simulated: Kubernetes 1.37 is simulated with "
     "CompositePodGroup=false only"},
    {k37, "DRAWorkloadResourceClaims=true",
     "DRAWorkloadResourceClaims=true is not simulated: Kubernetes 1.37 is simulated with "
     "DRAWorkloadResourceClaims=false only"},
    {k37, "SchedulerPopFromBackoffQ=false", ""},
    {k37, "SchedulerAsyncAPICalls=true",
     "SchedulerAsyncAPICalls=true is not simulated: Kubernetes 1.37 is simulated with "
     "SchedulerAsyncAPICalls=false only"},
    {k36, "StorageCapacityScoring=true",
     "StorageCapacityScoring=true is not simulated: Kubernetes 1.36 is simulated with "
     "StorageCapacityScoring=false only"},
    {k37, "AllAlpha=true",
     "CompositePodGroup=true is not simulated: Kubernetes 1.37 is simulated with "
     "CompositePodGroup=false only"},
};

TEST(FeatureGatesTest, SettingsAreAcceptedOrRefusedByName) {
  for (const GateRow& row : kGateRows) {
    FeatureGates gates(row.line);
    EXPECT_EQ(std::string(gates.Set(row.list).message()), row.error) << row.list;
  }
}

TEST(FeatureGatesTest, AFailedSetChangesNothing) {
  FeatureGates gates;
  EXPECT_FALSE(gates.Set("OpportunisticBatching=false,VolumeLimitScaling=false,Zzz=true").ok());
  EXPECT_TRUE(gates.Enabled(Feature::kOpportunisticBatching));
  EXPECT_TRUE(gates.Enabled(Feature::kVolumeLimitScaling));
}

TEST(FeatureGatesTest, TheLastSettingOfAGateWins) {
  FeatureGates gates;
  ASSERT_TRUE(gates.Set("VolumeLimitScaling=false,VolumeLimitScaling=true").ok());
  EXPECT_TRUE(gates.Enabled(Feature::kVolumeLimitScaling));
  ASSERT_TRUE(gates.Set("VolumeLimitScaling=false").ok());
  EXPECT_FALSE(gates.Enabled(Feature::kVolumeLimitScaling));
}

TEST(FeatureGatesTest, TheTableIsSortedAndWellFormed) {
  absl::string_view previous;
  for (const schedsim::api::GateRow& row : FeatureGateTable()) {
    EXPECT_LT(previous, row.name);
    previous = row.name;
    int cells = 1;
    for (char c : row.lines) cells += c == ' ' ? 1 : 0;
    EXPECT_EQ(cells, kKubernetesLineCount) << row.name;
  }
}

struct DefaultRow {
  Feature feature;
  bool enabled[kKubernetesLineCount];
};

constexpr DefaultRow kDefaults[] = {
    {Feature::kClearingNominatedNodeNameAfterBinding, {false, true, true, true}},
    {Feature::kDRADeviceBindingConditions, {false, false, true, true}},
    {Feature::kDRAExtendedResource, {false, false, true, true}},
    {Feature::kDRAResourceClaimDeviceStatus, {true, true, true, true}},
    {Feature::kDRASchedulerFilterTimeout, {true, true, true, true}},
    {Feature::kInPlacePodLevelResourcesVerticalScaling, {false, false, true, true}},
    {Feature::kNodeDeclaredFeatures, {false, false, true, true}},
    {Feature::kNominatedNodeNameForExpectation, {false, true, true, true}},
    {Feature::kOpportunisticBatching, {false, true, true, true}},
    {Feature::kStorageCapacityScoring, {false, false, false, true}},
    {Feature::kVolumeLimitScaling, {false, false, false, true}},
};

TEST(FeatureGatesTest, DefaultsFollowTheLine) {
  for (const DefaultRow& row : kDefaults) {
    for (KubernetesLine line : kLines) {
      EXPECT_EQ(FeatureGates(line).Enabled(row.feature), row.enabled[static_cast<int>(line)])
          << static_cast<int>(row.feature) << " in " << KubernetesLineName(line);
    }
  }
}

TEST(LineBehaviorTest, TheDefaultIsTheNewestLine) {
  const LineBehavior newest;
  const LineBehavior behavior = LineBehaviorOf(FeatureGates());
  EXPECT_EQ(behavior.line, newest.line);
  EXPECT_EQ(behavior.host_tie_rule, newest.host_tie_rule);
  EXPECT_EQ(behavior.opportunistic_batching, newest.opportunistic_batching);
  EXPECT_EQ(behavior.inter_pod_affinity_hints, newest.inter_pod_affinity_hints);
  EXPECT_EQ(behavior.image_volume_scoring, newest.image_volume_scoring);
  EXPECT_EQ(behavior.volume_limit_scaling, newest.volume_limit_scaling);
}

TEST(LineBehaviorTest, DifferencesStartInTheirLine) {
  for (KubernetesLine line : kLines) {
    const LineBehavior behavior = LineBehaviorOf(FeatureGates(line));
    const bool from_35 = line >= KubernetesLine::k1_35;
    const bool from_36 = line >= KubernetesLine::k1_36;
    const bool from_37 = line >= KubernetesLine::k1_37;
    EXPECT_EQ(behavior.host_tie_rule == HostTieRule::kHeap, from_35);
    EXPECT_EQ(behavior.dynamic_resources_scores, from_35);
    EXPECT_EQ(behavior.keeps_nomination_without_post_filter, !from_35);
    EXPECT_EQ(behavior.balanced_allocation_scores_improvement, from_36);
    EXPECT_EQ(behavior.permit_wait_names_pod, !from_36);
    EXPECT_EQ(behavior.taint_change_wakes_node_add, !from_37);
    EXPECT_EQ(behavior.preemption_success_has_message, from_37);
  }
}

TEST(LineBehaviorTest, GatesDecideWhereThereIsOne) {
  FeatureGates gates;
  ASSERT_TRUE(gates.Set("VolumeLimitScaling=false,OpportunisticBatching=false").ok());
  const LineBehavior behavior = LineBehaviorOf(gates);
  EXPECT_FALSE(behavior.volume_limit_scaling);
  EXPECT_FALSE(behavior.opportunistic_batching);
  EXPECT_TRUE(behavior.storage_capacity_scoring);
}

}  // namespace
}  // namespace schedsim::api
