#include "core/codec/config/scheduler_config.h"

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/api/default_profile.h"
#include "core/api/kubernetes_version.h"
#include "core/api/scheduler_config_validation.h"
#include "core/codec/config/scheduler_config_migration.h"
#include "core/codec/config/scheduler_config_printer.h"
#include "core/codec/text/reader.h"
#include "gtest/gtest.h"

namespace schedsim::codec {
namespace {

// The first two lines of each configuration below.
constexpr absl::string_view kHeader =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n";

absl::StatusOr<LoadedSchedulerConfig> DecodeText(absl::string_view text,
                                                 api::KubernetesLine line = api::kDefaultKubernetesLine) {
  const api::FeatureGates gates(line);
  const std::vector<api::PluginInfo> known = api::InTreePlugins(line);
  std::optional<absl::StatusOr<LoadedSchedulerConfig>> loaded;
  const absl::Status status = ReadText(std::string(text), "c.yaml", {}, [&](const Document& document) {
    loaded = DecodeSchedulerConfig(document.root, "c.yaml", gates, known);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return *std::move(loaded);
}

absl::StatusOr<LoadedSchedulerConfig> DecodeBody(absl::string_view body,
                                                 api::KubernetesLine line = api::kDefaultKubernetesLine) {
  return DecodeText(absl::StrCat(kHeader, body), line);
}

std::string WriteFile(absl::string_view name, absl::string_view text) {
  const std::string path = absl::StrCat(testing::TempDir(), name);
  std::ofstream(path) << text;
  return path;
}

struct ErrorRow {
  const char* name;
  const char* body;  // After kHeader.
  const char* error;
  api::KubernetesLine line = api::kDefaultKubernetesLine;
};

// Behind place and path, messages are those of kube-scheduler's pinned release.
const ErrorRow kErrors[] = {
    {"unknown plugin", "profiles:\n- plugins:\n    filter:\n      enabled:\n      - name: Nope\n",
     "c.yaml:7:9: profiles[0].plugins.filter.enabled[0]: initializing profiles: creating profile "
     "for scheduler name default-scheduler: FilterPlugin \"Nope\" does not exist"},
    {"unknown plugin at every point",
     "profiles:\n- plugins:\n    multiPoint:\n      enabled:\n      - name: Nope\n",
     "c.yaml:7:9: profiles[0].plugins.multiPoint.enabled[0]: initializing profiles: creating "
     "profile for scheduler name default-scheduler: PreFilterPlugin \"Nope\" does not exist"},
    {"plugin at a point that it does not have",
     "profiles:\n- plugins:\n    filter:\n      enabled:\n      - name: ImageLocality\n",
     "c.yaml:7:9: profiles[0].plugins.filter.enabled[0]: initializing profiles: creating profile "
     "for scheduler name default-scheduler: plugin \"ImageLocality\" does not extend FilterPlugin "
     "plugin"},
    {"duplicate plugin",
     "profiles:\n- plugins:\n    filter:\n      enabled:\n      - name: NodePorts\n"
     "      - name: NodePorts\n",
     "c.yaml:8:9: profiles[0].plugins.filter.enabled[1]: initializing profiles: creating profile "
     "for scheduler name default-scheduler: plugin \"NodePorts\" already registered as "
     "\"FilterPlugin\""},
    {"sum of weights overflows",
     "profiles:\n- plugins:\n    score:\n      enabled:\n      - name: NodeAffinity\n"
     "        weight: -5\n",
     "c.yaml:5:5: profiles[0].plugins.score: initializing profiles: creating profile for scheduler "
     "name default-scheduler: score plugins: total score of Score plugins could overflow"},
    {"weight beyond 32 bits",
     "profiles:\n- plugins:\n    score:\n      enabled:\n      - name: NodeAffinity\n"
     "        weight: 3000000000\n",
     "c.yaml:8:17: profiles[0].plugins.score.enabled[0].weight: expected a 32-bit integer, got the "
     "number 3000000000"},
    {"duplicate profile", "profiles:\n- schedulerName: a\n- schedulerName: a\n",
     "c.yaml:5:18: profiles[1].schedulerName: Duplicate value: {}"},
    {"second profile without a name", "profiles:\n- schedulerName: a\n- percentageOfNodesToScore: 5\n",
     "c.yaml:5:3: profiles[1].schedulerName: Required value"},
    {"two queue sort plugins",
     "profiles:\n- plugins:\n    queueSort:\n      enabled:\n      - name: PrioritySort\n"
     "      - name: Other\n",
     "c.yaml:5:5: profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort "
     "plugin can be enabled"},
    {"queue sort differs between profiles",
     "profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins:\n    queueSort:\n"
     "      enabled:\n      - name: PrioritySort\n",
     "c.yaml:7:5: profiles[1].plugins.queueSort: Invalid value: "
     "{\"Enabled\":[{\"Name\":\"PrioritySort\",\"Weight\":0}],\"Disabled\":null}: must be the same "
     "for all profiles"},
    {"no bind plugin", "profiles:\n- plugins:\n    bind:\n      disabled:\n      - name: '*'\n",
     "c.yaml:5:5: profiles[0].plugins.bind: initializing profiles: creating profile for scheduler "
     "name default-scheduler: at least one bind plugin is needed for profile with scheduler name "
     "\"default-scheduler\""},
    {"args kind of another plugin",
     "profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args:\n"
     "      apiVersion: kubescheduler.config.k8s.io/v1\n      kind: NodeAffinityArgs\n",
     "c.yaml:8:13: profiles[0].pluginConfig[0].args.kind: args for plugin InterPodAffinity were not "
     "of type InterPodAffinityArgs.kubescheduler.config.k8s.io, got "
     "NodeAffinityArgs.kubescheduler.config.k8s.io"},
    {"args of an older version",
     "profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args:\n"
     "      apiVersion: kubescheduler.config.k8s.io/v1beta3\n",
     "c.yaml:7:19: profiles[0].pluginConfig[0].args.apiVersion: decoding args for plugin "
     "InterPodAffinity: no kind \"InterPodAffinityArgs\" is registered for version "
     "\"kubescheduler.config.k8s.io/v1beta3\""},
    {"unknown field in args",
     "profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args:\n      hardWeight: 5\n",
     "c.yaml:7:7: unknown field \"profiles[0].pluginConfig[0].args.hardWeight\""},
    {"two configurations of a plugin",
     "profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n  - name: InterPodAffinity\n",
     "c.yaml:6:5: profiles[0].pluginConfig[1]: Duplicate value: \"InterPodAffinity\""},
    {"shape not increasing",
     "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n"
     "        type: RequestedToCapacityRatio\n        requestedToCapacityRatio:\n          shape:\n"
     "          - {utilization: 50, score: 0}\n          - {utilization: 50, score: 10}\n",
     "c.yaml:12:27: profiles[0].pluginConfig[0].args.scoringStrategy.requestedToCapacityRatio"
     ".shape[1].utilization: Invalid value: 50: values must be sorted in increasing order"},
    {"shape not increasing before 1.36",
     "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n"
     "        type: RequestedToCapacityRatio\n        requestedToCapacityRatio:\n          shape:\n"
     "          - {utilization: 50, score: 0}\n          - {utilization: 50, score: 10}\n",
     "c.yaml:7:7: profiles[0].pluginConfig[0].args.scoringStrategy.shape[1].utilization: Invalid "
     "value: 50: values must be sorted in increasing order",
     api::KubernetesLine::k1_35},
    {"weight 101 of a resource",
     "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n"
     "        type: LeastAllocated\n        resources:\n        - name: cpu\n"
     "          weight: 101\n",
     "c.yaml:11:19: profiles[0].pluginConfig[0].args.scoringStrategy.resources[0].weight: Invalid "
     "value: 101: resource weight of cpu not in valid range (0, 100]"},
    {"strategy without a type",
     "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      scoringStrategy: {}\n",
     "c.yaml:7:7: profiles[0].pluginConfig[0].args.scoringStrategy.type: Unsupported value: \"\": "
     "supported values: \"LeastAllocated\", \"MostAllocated\", \"RequestedToCapacityRatio\""},
    {"balanced allocation with weight 2",
     "profiles:\n- pluginConfig:\n  - name: NodeResourcesBalancedAllocation\n    args:\n"
     "      resources: [{name: cpu, weight: 2}, {name: cpu}]\n",
     "[c.yaml:7:39: profiles[0].pluginConfig[0].args.resources[0].weight: Invalid value: 2: must be "
     "1, c.yaml:7:50: profiles[0].pluginConfig[0].args.resources[1].name: Duplicate value: \"cpu\"]"},
    {"hard pod affinity weight 101",
     "profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args:\n"
     "      hardPodAffinityWeight: 101\n",
     "c.yaml:7:30: profiles[0].pluginConfig[0].args.hardPodAffinityWeight: Invalid value: 101: not "
     "in valid range [0, 100]"},
    {"no minimum of candidates",
     "profiles:\n- pluginConfig:\n  - name: DefaultPreemption\n    args:\n"
     "      minCandidateNodesPercentage: 0\n      minCandidateNodesAbsolute: 0\n",
     "[c.yaml:7:36: profiles[0].pluginConfig[0].args.minCandidateNodesPercentage: Invalid value: 0: "
     "cannot be zero at the same time as minCandidateNodesAbsolute, c.yaml:8:34: "
     "profiles[0].pluginConfig[0].args.minCandidateNodesAbsolute: Invalid value: 0: cannot be zero "
     "at the same time as minCandidateNodesPercentage]"},
    {"system defaulting with constraints",
     "profiles:\n- pluginConfig:\n  - name: PodTopologySpread\n    args:\n"
     "      defaultingType: System\n      defaultConstraints:\n"
     "      - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}\n",
     "c.yaml:7:23: profiles[0].pluginConfig[0].args.defaultingType: Invalid value: \"System\": when "
     ".defaultConstraints are not empty"},
    {"default constraint with a selector",
     "profiles:\n- pluginConfig:\n  - name: PodTopologySpread\n    args:\n"
     "      defaultingType: List\n      defaultConstraints:\n"
     "      - {maxSkew: 0, topologyKey: zone, whenUnsatisfiable: Maybe, labelSelector: {}}\n",
     "[c.yaml:9:19: profiles[0].pluginConfig[0].args.defaultConstraints[0].maxSkew: Invalid value: "
     "0: not in valid range (0, inf), c.yaml:9:60: "
     "profiles[0].pluginConfig[0].args.defaultConstraints[0].whenUnsatisfiable: Unsupported value: "
     "\"Maybe\": supported values: \"DoNotSchedule\", \"ScheduleAnyway\", c.yaml:9:67: "
     "profiles[0].pluginConfig[0].args.defaultConstraints[0].labelSelector: Forbidden: constraint "
     "must not define a selector, as they deduced for each pod]"},
    {"default constraint repeated",
     "profiles:\n- pluginConfig:\n  - name: PodTopologySpread\n    args:\n"
     "      defaultingType: List\n      defaultConstraints:\n"
     "      - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}\n"
     "      - {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}\n",
     "c.yaml:10:9: profiles[0].pluginConfig[0].args.defaultConstraints[1]: Duplicate value: \"{zone, "
     "ScheduleAnyway}\""},
    {"unknown operator in added affinity",
     "profiles:\n- pluginConfig:\n  - name: NodeAffinity\n    args:\n      addedAffinity:\n"
     "        requiredDuringSchedulingIgnoredDuringExecution:\n          nodeSelectorTerms:\n"
     "          - matchExpressions:\n            - {key: a, operator: Is}\n"
     "            - {key: a, operator: In}\n",
     "[c.yaml:11:34: profiles[0].pluginConfig[0].args.addedAffinity"
     ".requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]"
     ".operator: Unsupported value: \"Is\": supported values: \"In\", \"NotIn\", \"Exists\", "
     "\"DoesNotExist\", \"Gt\", \"Lt\", c.yaml:12:15: profiles[0].pluginConfig[0].args.addedAffinity"
     ".requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1]"
     ".values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty]"},
    {"negative bind timeout",
     "profiles:\n- pluginConfig:\n  - name: VolumeBinding\n    args:\n"
     "      bindTimeoutSeconds: -1\n",
     "c.yaml:7:27: profiles[0].pluginConfig[0].args.bindTimeoutSeconds: Invalid value: -1: invalid "
     "BindTimeoutSeconds, should not be a negative value"},
    {"volume binding shape without its gate",
     "profiles:\n- pluginConfig:\n  - name: VolumeBinding\n    args:\n"
     "      shape: [{utilization: 10, score: 3}]\n",
     "c.yaml:7:7: profiles[0].pluginConfig[0].args.shape: Invalid value: "
     "[{\"Utilization\":10,\"Score\":3}]: unexpected field `shape`, remove it or turn on the feature "
     "gate StorageCapacityScoring",
     api::KubernetesLine::k1_36},
    {"binding timeout below a second",
     "profiles:\n- pluginConfig:\n  - name: DynamicResources\n    args:\n"
     "      bindingTimeout: 10ms\n",
     "c.yaml:7:23: profiles[0].pluginConfig[0].args.bindingTimeout: Invalid value: \"10ms\": must be "
     "at least 1 second"},
    {"binding timeout without its gates",
     "profiles:\n- pluginConfig:\n  - name: DynamicResources\n    args:\n"
     "      bindingTimeout: 10s\n",
     "c.yaml:7:23: profiles[0].pluginConfig[0].args.bindingTimeout: Forbidden: "
     "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled",
     api::KubernetesLine::k1_35},
    {"binding timeout before it existed",
     "profiles:\n- pluginConfig:\n  - name: DynamicResources\n    args:\n"
     "      bindingTimeout: 10s\n",
     "c.yaml:7:7: unknown field \"profiles[0].pluginConfig[0].args.bindingTimeout\"",
     api::KubernetesLine::k1_34},
    {"percentage 101", "percentageOfNodesToScore: 101\n",
     "c.yaml:3:27: percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"},
    {"negative percentage of a profile", "profiles:\n- percentageOfNodesToScore: -1\n",
     "c.yaml:4:29: profiles[0].percentageOfNodesToScore: Invalid value: -1: not in valid range "
     "[0-100]"},
    {"parallelism 0", "parallelism: 0\n",
     "c.yaml:3:14: parallelism: Invalid value: 0: should be an integer value greater than zero"},
    {"backoff 0", "podInitialBackoffSeconds: 0\n",
     "c.yaml:3:27: podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"},
    {"maximum backoff below the initial one", "podInitialBackoffSeconds: 5\npodMaxBackoffSeconds: 4\n",
     "c.yaml:4:23: podMaxBackoffSeconds: Invalid value: 4: must be greater than or equal to "
     "PodInitialBackoffSeconds"},
    {"wrong type", "parallelism: many\n",
     "c.yaml:3:14: parallelism: expected a 32-bit integer, got a string"},
    {"unknown fields are all named", "bogus: 1\nprofiles:\n- bogus: 2\n",
     "[c.yaml:5:3: unknown field \"profiles[0].bogus\", c.yaml:3:1: unknown field \"bogus\"]"},
    {"field in other case", "Parallelism: 3\n",
     "c.yaml:3:1: unknown field \"Parallelism\", did you mean parallelism?"},
    {"duplicate field", "parallelism: 3\nparallelism: 4\n",
     "c.yaml:4:1: key \"parallelism\" is already set on line 3, expected each key once"},
    {"extension point of a newer line", "profiles:\n- plugins:\n    placementGenerate: {}\n",
     "c.yaml:5:5: unknown field \"profiles[0].plugins.placementGenerate\"", api::KubernetesLine::k1_35},
    {"plugin of an unsimulated gate",
     "profiles:\n- plugins:\n    multiPoint:\n      enabled:\n      - name: DeferredPodScheduling\n",
     "c.yaml:7:9: profiles[0].plugins.multiPoint.enabled[0]: plugin \"DeferredPodScheduling\" is not "
     "simulated"},
    {"removed plugin", "profiles:\n- plugins:\n    filter:\n      enabled:\n      - name: EBSLimits\n",
     "c.yaml:7:9: profiles[0].plugins.filter.enabled[0]: Invalid value: \"EBSLimits\": was invalid "
     "in version \"v1\" (KubeSchedulerConfiguration is version \"kubescheduler.config.k8s.io/v1\")"},
    {"extenders",
     "extenders:\n- urlPrefix: http://a\n  prioritizeVerb: p\n  bindVerb: b\n"
     "  managedResources: [{name: cpu}]\n- urlPrefix: http://b\n  bindVerb: b\n",
     "[c.yaml:4:3: extenders[0].weight: Invalid value: 0: must have a positive weight applied to "
     "it, c.yaml:7:29: extenders[0].managedResources[0].name: Invalid value: \"cpu\": is an invalid "
     "extended resource name, c.yaml:3:1: extenders: Invalid value: \"found 2 extenders implementing "
     "bind\": only one extender can implement bind]"},
    {"leader election", "leaderElection: {leaseDuration: 5s}\n",
     "c.yaml:3:33: leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than "
     "`RenewDeadline`"},
};

TEST(SchedulerConfigTest, BadConfigurationsAreRefusedWithPlaceAndPath) {
  for (const ErrorRow& row : kErrors) {
    const absl::StatusOr<LoadedSchedulerConfig> loaded = DecodeBody(row.body, row.line);
    ASSERT_FALSE(loaded.ok()) << row.name;
    EXPECT_EQ(loaded.status().code(), absl::StatusCode::kInvalidArgument) << row.name;
    EXPECT_EQ(std::string(loaded.status().message()), row.error) << row.name;
  }
}

struct HeaderRow {
  const char* text;
  const char* error;
};

const HeaderRow kHeaders[] = {
    {"apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n",
     "c.yaml:1:13: apiVersion: no kind \"KubeSchedulerConfiguration\" is registered for version "
     "\"kubescheduler.config.k8s.io/v1beta3\": expected KubeSchedulerConfiguration of "
     "kubescheduler.config.k8s.io/v1; `schedsim config migrate` converts it"},
    {"apiVersion: v1\nkind: Pod\n",
     "c.yaml:2:7: kind: no kind \"Pod\" is registered for version \"v1\": expected "
     "KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1; objects of a cluster are given with `-f "
     "FILE`"},
    {"kind: KubeSchedulerConfiguration\n",
     "c.yaml:1:1: Object 'apiVersion' is missing: expected kubescheduler.config.k8s.io/v1"},
    {"parallelism: 3\n", "c.yaml:1:1: Object 'Kind' is missing: expected KubeSchedulerConfiguration"},
    {"- a\n", "c.yaml:1:1: expected a map, got a list"},
};

TEST(SchedulerConfigTest, OtherKindsAndVersionsAreRefused) {
  for (const HeaderRow& row : kHeaders) {
    EXPECT_EQ(std::string(DecodeText(row.text).status().message()), row.error);
  }
}

TEST(SchedulerConfigTest, FilesHaveOneDocument) {
  const api::FeatureGates gates;
  const std::vector<api::PluginInfo> known = api::InTreePlugins(gates.line());
  const std::string two = WriteFile("two.yaml", absl::StrCat(kHeader, "---\n", kHeader));
  EXPECT_EQ(std::string(LoadSchedulerConfig(two, gates, known).status().message()),
            absl::StrCat(two, ":4:1: expected a single document, got another one"));
  const std::string one = WriteFile("one.yaml", absl::StrCat(kHeader, "parallelism: 3\n"));
  const absl::StatusOr<LoadedSchedulerConfig> loaded = LoadSchedulerConfig(one, gates, known);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->config.parallelism, 3);
}

TEST(SchedulerConfigTest, AnEmptyConfigurationHasTheDefaults) {
  const absl::StatusOr<LoadedSchedulerConfig> loaded = DecodeBody("profiles: []\n");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->config.parallelism, 16);
  EXPECT_EQ(loaded->config.percentage_of_nodes_to_score, 0);
  EXPECT_EQ(loaded->config.pod_initial_backoff_seconds, 1);
  EXPECT_EQ(loaded->config.pod_max_backoff_seconds, 10);
  ASSERT_EQ(loaded->profiles.size(), 1u);
  EXPECT_EQ(loaded->profiles[0].scheduler_name, "default-scheduler");
  EXPECT_TRUE(loaded->notes.empty());
}

TEST(SchedulerConfigTest, AConfigurationWithoutProfilesIsInvalid) {
  const std::vector<api::FieldError> errors =
      api::ValidateSchedulerConfig(api::KubeSchedulerConfiguration(), api::FeatureGates());
  const std::vector<api::FieldError> want = {{"profiles", "Required value"}};
  EXPECT_EQ(errors, want);
}

TEST(SchedulerConfigTest, ArgumentsKeepDefaultsWhereFieldsAreAbsent) {
  const absl::StatusOr<LoadedSchedulerConfig> loaded = DecodeBody(
      "profiles:\n- pluginConfig:\n"
      "  - {name: DefaultPreemption, args: {minCandidateNodesAbsolute: 7}}\n"
      "  - name: NodeResourcesFit\n    args:\n      ignoredResources: [example.com/gpu]\n"
      "      scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 0}]}\n"
      "  - {name: PodTopologySpread, args: {defaultingType: List}}\n"
      "  - {name: InterPodAffinity, args: null}\n");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const api::EffectiveProfile& profile = loaded->profiles[0];
  const auto* preemption = profile.FindArgs<api::DefaultPreemptionArgs>("DefaultPreemption");
  ASSERT_NE(preemption, nullptr);
  EXPECT_EQ(preemption->min_candidate_nodes_percentage, 10);
  EXPECT_EQ(preemption->min_candidate_nodes_absolute, 7);
  const auto* fit = profile.FindArgs<api::NodeResourcesFitArgs>("NodeResourcesFit");
  ASSERT_NE(fit, nullptr);
  EXPECT_EQ(fit->scoring_strategy.type, "MostAllocated");
  EXPECT_EQ(fit->scoring_strategy.resources, (std::vector<api::ResourceSpec>{{"cpu", 1}}));
  const auto* spread = profile.FindArgs<api::PodTopologySpreadArgs>("PodTopologySpread");
  ASSERT_NE(spread, nullptr);
  EXPECT_EQ(spread->defaulting_type, "List");
  ASSERT_NE(profile.FindArgs<api::InterPodAffinityArgs>("InterPodAffinity"), nullptr);
}

TEST(SchedulerConfigTest, WhatHasNoEffectIsNoted) {
  const absl::StatusOr<LoadedSchedulerConfig> loaded = DecodeBody(
      "clientConnection: {kubeconfig: /etc/scheduler.conf}\nleaderElection: {leaderElect: false}\n"
      "profiles:\n- plugins:\n    score: {disabled: [{name: NodeResourceFit}]}\n"
      "  pluginConfig: [{name: Other, args: {a: 1}}]\n");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const std::vector<std::string> want = {
      "c.yaml:3:1: clientConnection: accepted, without effect on a simulation",
      "c.yaml:4:1: leaderElection: accepted, without effect on a simulation",
      "c.yaml:8:18: profiles[0].pluginConfig[0]: the profile does not use the plugin \"Other\"",
      "c.yaml:7:24: profiles[0].plugins.score.disabled[0]: there is no plugin \"NodeResourceFit\"",
  };
  EXPECT_EQ(loaded->notes, want);
}

constexpr absl::string_view kTwoProfiles =
    "percentageOfNodesToScore: 40\npodMaxBackoffSeconds: 20\n"
    "profiles:\n- schedulerName: default-scheduler\n  plugins:\n    score:\n"
    "      disabled: [{name: ImageLocality}]\n      enabled: [{name: NodeResourcesFit, weight: 3}]\n"
    "  pluginConfig:\n  - name: NodeAffinity\n    args:\n      addedAffinity:\n"
    "        preferredDuringSchedulingIgnoredDuringExecution:\n        - weight: 5\n"
    "          preference: {matchExpressions: [{key: a, operator: In, values: ['1', 'yes']}]}\n"
    "  - {name: VolumeBinding, args: {shape: [{utilization: 0, score: 0}]}}\n"
    "- schedulerName: packer\n  percentageOfNodesToScore: 70\n  pluginConfig:\n"
    "  - {name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}\n"
    "  - {name: DynamicResources, args: {bindingTimeout: 90s}}\n"
    "extenders:\n- {urlPrefix: 'http://a', filterVerb: f, httpTimeout: 3s, nodeCacheCapable: true}\n";

TEST(SchedulerConfigPrinterTest, PrintedConfigurationsLoadWithTheSameEffect) {
  const absl::StatusOr<LoadedSchedulerConfig> first = DecodeBody(kTwoProfiles);
  ASSERT_TRUE(first.ok()) << first.status();
  for (ConfigFormat format : {ConfigFormat::kYaml, ConfigFormat::kJson}) {
    const std::string text = PrintSchedulerConfig(first->config, first->profiles, format);
    const absl::StatusOr<LoadedSchedulerConfig> second = DecodeText(text);
    ASSERT_TRUE(second.ok()) << second.status() << "\n" << text;
    EXPECT_EQ(PrintSchedulerConfig(second->config, second->profiles, format), text);
    ASSERT_EQ(second->profiles.size(), first->profiles.size());
    for (size_t i = 0; i < first->profiles.size(); ++i) {
      EXPECT_EQ(second->profiles[i].score_weights, first->profiles[i].score_weights);
      EXPECT_EQ(second->profiles[i].At(api::ExtensionPoint::kFilter),
                first->profiles[i].At(api::ExtensionPoint::kFilter));
    }
  }
}

TEST(SchedulerConfigMigrationTest, OlderVersionsBecomeV1) {
  const std::string path =
      WriteFile("old.yaml",
                "apiVersion: kubescheduler.config.k8s.io/v1beta2\nkind: KubeSchedulerConfiguration\n"
                "healthzBindAddress: 0.0.0.0:10251\nparallelism: 8\nprofiles:\n- schedulerName: s\n"
                "  plugins:\n    score:\n      enabled:\n      - {name: SelectorSpread, weight: 2}\n"
                "      - {name: NodeAffinity, weight: 2}\n  pluginConfig:\n  - name: NodeAffinity\n"
                "    args: {apiVersion: kubescheduler.config.k8s.io/v1beta2, kind: NodeAffinityArgs}\n");
  const absl::StatusOr<MigratedSchedulerConfig> migrated = MigrateSchedulerConfig(path);
  ASSERT_TRUE(migrated.ok()) << migrated.status();
  const std::vector<std::string> want = {
      absl::StrCat(path,
                   ":1:13: apiVersion: default score weights differ: in v1beta2 TaintToleration, "
                   "NodeAffinity and InterPodAffinity have 1, in v1 they have 3, 2 and 2"),
      absl::StrCat(path,
                   ":3:1: healthzBindAddress: dropped: v1 has no such field; kube-scheduler takes "
                   "it as a flag"),
      absl::StrCat(path,
                   ":10:9: profiles[0].plugins.score.enabled[0]: dropped: v1 has no plugin "
                   "\"SelectorSpread\"; PodTopologySpread spreads by default"),
  };
  EXPECT_EQ(migrated->dropped, want);
  const absl::StatusOr<LoadedSchedulerConfig> loaded = DecodeText(migrated->yaml);
  ASSERT_TRUE(loaded.ok()) << loaded.status() << "\n" << migrated->yaml;
  EXPECT_EQ(loaded->config.parallelism, 8);
  EXPECT_EQ(loaded->config.profiles[0].plugins.At(api::ExtensionPoint::kScore).enabled,
            (std::vector<api::PluginRef>{{"NodeAffinity", 2}}));
}

TEST(SchedulerConfigMigrationTest, V1AndOtherKindsAreRefused) {
  const std::string v1 = WriteFile("v1.yaml", kHeader);
  EXPECT_EQ(std::string(MigrateSchedulerConfig(v1).status().message()),
            absl::StrCat(v1, ":1:13: apiVersion: already kubescheduler.config.k8s.io/v1"));
  const std::string pod = WriteFile("pod.yaml", "apiVersion: v1\nkind: Pod\n");
  EXPECT_EQ(std::string(MigrateSchedulerConfig(pod).status().message()),
            absl::StrCat(pod,
                         ":2:7: expected KubeSchedulerConfiguration of "
                         "kubescheduler.config.k8s.io/v1beta2 or "
                         "kubescheduler.config.k8s.io/v1beta3"));
}

}  // namespace
}  // namespace schedsim::codec
