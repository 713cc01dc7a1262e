// The configuration of a scheduler, KubeSchedulerConfiguration kubescheduler.config.k8s.io/v1.
#ifndef SCHEDSIM_CORE_API_SCHEDULER_CONFIG_H_
#define SCHEDSIM_CORE_API_SCHEDULER_CONFIG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/extension_point.h"
#include "core/api/selectors.h"

// Source of this file: kube-scheduler v0.37, config/v1/types.go and types_pluginargs.go; the
// defaults are those of kubernetes v1.37, pkg/scheduler/apis/config/v1/defaults.go.
namespace schedsim::api {

inline constexpr char kSchedulerConfigApiVersion[] = "kubescheduler.config.k8s.io/v1";
inline constexpr char kDefaultSchedulerName[] = "default-scheduler";

// One point of a piecewise linear function. `utilization` is in percent, 0 to 100; `score` is 0
// to 10.
struct UtilizationShapePoint {
  int32_t utilization = 0;
  int32_t score = 0;

  friend bool operator==(const UtilizationShapePoint&, const UtilizationShapePoint&) = default;
};

// `weight`: 1 to 100.
struct ResourceSpec {
  std::string name;
  int64_t weight = 1;

  friend bool operator==(const ResourceSpec&, const ResourceSpec&) = default;
};

struct DefaultPreemptionArgs {
  int32_t min_candidate_nodes_percentage = 10;
  int32_t min_candidate_nodes_absolute = 100;
};

struct InterPodAffinityArgs {
  int32_t hard_pod_affinity_weight = 1;  // 0 to 100.
  bool ignore_preferred_terms_of_existing_pods = false;
};

struct NodeAffinityArgs {
  std::optional<NodeAffinity> added_affinity;
};

struct ScoringStrategy {
  std::string type = "LeastAllocated";  // Or MostAllocated or RequestedToCapacityRatio.
  std::vector<ResourceSpec> resources = {{"cpu", 1}, {"memory", 1}};
  // requestedToCapacityRatio.shape; only with that type.
  std::optional<std::vector<UtilizationShapePoint>> shape;
};

struct NodeResourcesFitArgs {
  std::vector<std::string> ignored_resources;
  std::vector<std::string> ignored_resource_groups;
  ScoringStrategy scoring_strategy;
};

struct NodeResourcesBalancedAllocationArgs {
  std::vector<ResourceSpec> resources = {{"cpu", 1}, {"memory", 1}};
};

struct PodTopologySpreadArgs {
  std::vector<TopologySpreadConstraint> default_constraints;
  std::string defaulting_type = "System";  // Or List.
};

struct VolumeBindingArgs {
  int64_t bind_timeout_seconds = 600;
  // Absent where StorageCapacityScoring is off.
  std::optional<std::vector<UtilizationShapePoint>> shape;
};

struct DynamicResourcesArgs {
  // Absent: no timeout.
  std::optional<absl::Duration> filter_timeout;
  std::optional<absl::Duration> binding_timeout;
};

// A member of a plugin's arguments.
struct ArgsField {
  enum class Type : uint8_t { kBool, kNumber, kString, kOther };

  std::string name;
  Type type = Type::kOther;
  std::string text;  // "true" and "false"; a number as it is written; "" of kOther.
};

// The arguments of a plugin without a struct of its own for them.
struct UnknownArgs {
  std::string json;  // Compact; "null" where there are none.
  // Its members, in the order of the text.
  std::vector<ArgsField> fields = {};
};

// std::monostate: no arguments.
using PluginArgs = std::variant<std::monostate, DefaultPreemptionArgs, InterPodAffinityArgs, NodeAffinityArgs,
                                NodeResourcesFitArgs, NodeResourcesBalancedAllocationArgs,
                                PodTopologySpreadArgs, VolumeBindingArgs, DynamicResourcesArgs, UnknownArgs>;

struct PluginConfig {
  std::string name;
  PluginArgs args;
};

// A plugin in a list. `weight` 0: not set, counts as 1 where the plugin scores.
struct PluginRef {
  std::string name;
  int32_t weight = 0;

  friend bool operator==(const PluginRef&, const PluginRef&) = default;
};

// `disabled` may hold "*", which stands for all default plugins.
struct PluginSet {
  std::vector<PluginRef> enabled;
  std::vector<PluginRef> disabled;

  friend bool operator==(const PluginSet&, const PluginSet&) = default;
};

struct Plugins {
  PluginSet multi_point;
  // Shape: one per extension point, in the order of ExtensionPoint.
  std::array<PluginSet, kExtensionPointCount> by_point;

  PluginSet& At(ExtensionPoint point) { return by_point[static_cast<size_t>(point)]; }
  const PluginSet& At(ExtensionPoint point) const { return by_point[static_cast<size_t>(point)]; }
};

struct KubeSchedulerProfile {
  std::string scheduler_name;
  std::optional<int32_t> percentage_of_nodes_to_score;
  Plugins plugins;
  std::vector<PluginConfig> plugin_config;
};

struct ExtenderManagedResource {
  std::string name;
  bool ignored_by_scheduler = false;
};

// How an extender is reached by TLS. Data go before files.
struct ExtenderTlsConfig {
  bool insecure = false;
  std::string server_name;
  // Paths of PEM files.
  std::string cert_file;
  std::string key_file;
  std::string ca_file;
  // Such files' contents.
  std::string cert_data;
  std::string key_data;
  std::string ca_data;
};

// An HTTP extender.
struct Extender {
  std::string url_prefix;
  std::string filter_verb;
  std::string preempt_verb;
  std::string prioritize_verb;
  int64_t weight = 0;
  std::string bind_verb;
  bool enable_https = false;
  std::optional<ExtenderTlsConfig> tls_config;
  absl::Duration http_timeout;  // Zero: the default of 5 s.
  bool node_cache_capable = false;
  std::vector<ExtenderManagedResource> managed_resources;
  bool ignorable = false;
};

// Checked, and ignored otherwise: a simulation has one scheduler, which leads.
struct LeaderElectionConfiguration {
  bool leader_elect = true;
  absl::Duration lease_duration = absl::Seconds(15);
  absl::Duration renew_deadline = absl::Seconds(10);
  absl::Duration retry_period = absl::Seconds(2);
  std::string resource_lock = "leases";
};

// As after loading: defaults filled, default plugins merged into each profile's `plugins`, and a
// `plugin_config` entry for each enabled plugin that takes arguments.
struct KubeSchedulerConfiguration {
  int32_t parallelism = 16;
  // Percent; 0: adaptive.
  int32_t percentage_of_nodes_to_score = 0;
  int64_t pod_initial_backoff_seconds = 1;
  int64_t pod_max_backoff_seconds = 10;
  std::vector<KubeSchedulerProfile> profiles;
  std::vector<Extender> extenders;
  LeaderElectionConfiguration leader_election;
  // clientConnection.burst: checked, and ignored otherwise.
  int32_t client_connection_burst = 100;
};

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_SCHEDULER_CONFIG_H_
