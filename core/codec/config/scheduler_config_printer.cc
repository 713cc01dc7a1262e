#include "core/codec/config/scheduler_config_printer.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/default_profile.h"
#include "core/api/extension_point.h"
#include "core/api/go_text.h"
#include "core/base/check.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "nlohmann/json.hpp"

namespace schedsim::codec {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(absl::string_view text) { return std::string(text); }

Json ToJsonValue(const std::vector<api::UtilizationShapePoint>& shape) {
  Json json = Json::array();
  for (const api::UtilizationShapePoint& point : shape) {
    json.push_back({{"utilization", point.utilization}, {"score", point.score}});
  }
  return json;
}

Json ToJsonValue(const std::vector<api::ResourceSpec>& resources) {
  Json json = Json::array();
  for (const api::ResourceSpec& resource : resources) {
    json.push_back({{"name", resource.name}, {"weight", resource.weight}});
  }
  return json;
}

Json ToJsonValue(const std::vector<api::NodeSelectorRequirement>& requirements) {
  Json json = Json::array();
  for (const api::NodeSelectorRequirement& requirement : requirements) {
    Json item = {{"key", requirement.key}, {"operator", requirement.operator_}};
    if (!requirement.values.empty()) item["values"] = requirement.values;
    json.push_back(std::move(item));
  }
  return json;
}

Json ToJsonValue(const api::NodeSelectorTerm& term) {
  Json json = Json::object();
  if (!term.match_expressions.empty()) json["matchExpressions"] = ToJsonValue(term.match_expressions);
  if (!term.match_fields.empty()) json["matchFields"] = ToJsonValue(term.match_fields);
  return json;
}

Json ToJsonValue(const api::NodeAffinity& affinity) {
  Json json = Json::object();
  if (affinity.required_during_scheduling_ignored_during_execution) {
    Json terms = Json::array();
    for (const api::NodeSelectorTerm& term :
         affinity.required_during_scheduling_ignored_during_execution->node_selector_terms) {
      terms.push_back(ToJsonValue(term));
    }
    json["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] = std::move(terms);
  }
  for (const api::PreferredSchedulingTerm& term :
       affinity.preferred_during_scheduling_ignored_during_execution) {
    json["preferredDuringSchedulingIgnoredDuringExecution"].push_back(
        {{"weight", term.weight}, {"preference", ToJsonValue(term.preference)}});
  }
  return json;
}

// A valid default constraint has no selector.
Json ToJsonValue(const api::TopologySpreadConstraint& constraint) {
  Json json = {{"maxSkew", constraint.max_skew},
               {"topologyKey", constraint.topology_key},
               {"whenUnsatisfiable", constraint.when_unsatisfiable}};
  if (constraint.min_domains) json["minDomains"] = *constraint.min_domains;
  if (!constraint.node_affinity_policy.empty()) {
    json["nodeAffinityPolicy"] = constraint.node_affinity_policy;
  }
  if (!constraint.node_taints_policy.empty()) {
    json["nodeTaintsPolicy"] = constraint.node_taints_policy;
  }
  if (!constraint.match_label_keys.empty()) json["matchLabelKeys"] = constraint.match_label_keys;
  return json;
}

// The fields of each kind of arguments.

void AddArgs(const api::DefaultPreemptionArgs& args, Json& json) {
  json["minCandidateNodesPercentage"] = args.min_candidate_nodes_percentage;
  json["minCandidateNodesAbsolute"] = args.min_candidate_nodes_absolute;
}

void AddArgs(const api::InterPodAffinityArgs& args, Json& json) {
  json["hardPodAffinityWeight"] = args.hard_pod_affinity_weight;
  json["ignorePreferredTermsOfExistingPods"] = args.ignore_preferred_terms_of_existing_pods;
}

void AddArgs(const api::NodeAffinityArgs& args, Json& json) {
  if (args.added_affinity) json["addedAffinity"] = ToJsonValue(*args.added_affinity);
}

void AddArgs(const api::NodeResourcesFitArgs& args, Json& json) {
  if (!args.ignored_resources.empty()) json["ignoredResources"] = args.ignored_resources;
  if (!args.ignored_resource_groups.empty()) {
    json["ignoredResourceGroups"] = args.ignored_resource_groups;
  }
  Json& strategy = json["scoringStrategy"];
  strategy["type"] = args.scoring_strategy.type;
  strategy["resources"] = ToJsonValue(args.scoring_strategy.resources);
  if (args.scoring_strategy.shape) {
    strategy["requestedToCapacityRatio"]["shape"] = ToJsonValue(*args.scoring_strategy.shape);
  }
}

void AddArgs(const api::NodeResourcesBalancedAllocationArgs& args, Json& json) {
  json["resources"] = ToJsonValue(args.resources);
}

void AddArgs(const api::PodTopologySpreadArgs& args, Json& json) {
  json["defaultingType"] = args.defaulting_type;
  for (const api::TopologySpreadConstraint& constraint : args.default_constraints) {
    json["defaultConstraints"].push_back(ToJsonValue(constraint));
  }
}

void AddArgs(const api::VolumeBindingArgs& args, Json& json) {
  json["bindTimeoutSeconds"] = args.bind_timeout_seconds;
  if (args.shape) json["shape"] = ToJsonValue(*args.shape);
}

void AddArgs(const api::DynamicResourcesArgs& args, Json& json) {
  if (args.filter_timeout) json["filterTimeout"] = api::FormatGoDuration(*args.filter_timeout);
  if (args.binding_timeout) json["bindingTimeout"] = api::FormatGoDuration(*args.binding_timeout);
}

void AddArgs(const api::UnknownArgs& args, Json& json) {
  json = Json::parse(args.json, nullptr, /*allow_exceptions=*/false);
  CHECK(!json.is_discarded());
}

void AddArgs(const std::monostate&, Json&) {}

Json ToJsonValue(const api::PluginConfig& config) {
  Json args = Json::object();
  const absl::string_view kind = api::PluginArgsKind(config.name);
  if (!kind.empty()) {
    args["apiVersion"] = api::kSchedulerConfigApiVersion;
    args["kind"] = Text(kind);
  }
  std::visit([&](const auto& typed) { AddArgs(typed, args); }, config.args);
  return {{"name", config.name}, {"args", std::move(args)}};
}

Json ToJsonValue(const api::EffectiveProfile& profile) {
  Json json = {{"schedulerName", profile.scheduler_name}};
  if (profile.percentage_of_nodes_to_score) {
    json["percentageOfNodesToScore"] = *profile.percentage_of_nodes_to_score;
  }
  // Nothing comes from MultiPoint, so that the lists below are all that there is.
  Json& plugins = json["plugins"];
  plugins["multiPoint"]["disabled"] = Json::array({{{"name", "*"}}});
  for (int i = 0; i < static_cast<int>(api::ExtensionPoint::kPlacementGenerate); ++i) {
    const api::ExtensionPoint point = static_cast<api::ExtensionPoint>(i);
    const std::vector<std::string>& names = profile.At(point);
    for (size_t j = 0; j < names.size(); ++j) {
      Json plugin = {{"name", names[j]}};
      if (point == api::ExtensionPoint::kScore) plugin["weight"] = profile.score_weights[j];
      plugins[Text(api::ExtensionPointName(point))]["enabled"].push_back(std::move(plugin));
    }
  }
  for (const api::PluginConfig& config : profile.plugin_config) {
    json["pluginConfig"].push_back(ToJsonValue(config));
  }
  return json;
}

Json ToJsonValue(const api::Extender& extender) {
  Json json = {{"urlPrefix", extender.url_prefix}};
  const auto add_text = [&](const char* name, const std::string& text) {
    if (!text.empty()) json[name] = text;
  };
  add_text("filterVerb", extender.filter_verb);
  add_text("preemptVerb", extender.preempt_verb);
  add_text("prioritizeVerb", extender.prioritize_verb);
  if (extender.weight != 0) json["weight"] = extender.weight;
  add_text("bindVerb", extender.bind_verb);
  if (extender.enable_https) json["enableHTTPS"] = true;
  if (extender.http_timeout != absl::ZeroDuration()) {
    json["httpTimeout"] = api::FormatGoDuration(extender.http_timeout);
  }
  if (extender.node_cache_capable) json["nodeCacheCapable"] = true;
  for (const api::ExtenderManagedResource& resource : extender.managed_resources) {
    json["managedResources"].push_back(
        {{"name", resource.name}, {"ignoredByScheduler", resource.ignored_by_scheduler}});
  }
  if (extender.ignorable) json["ignorable"] = true;
  return json;
}

}  // namespace

std::string PrintSchedulerConfig(const api::KubeSchedulerConfiguration& config,
                                 const std::vector<api::EffectiveProfile>& profiles, ConfigFormat format) {
  Json json = {{"apiVersion", api::kSchedulerConfigApiVersion},
               {"kind", "KubeSchedulerConfiguration"},
               {"parallelism", config.parallelism},
               {"percentageOfNodesToScore", config.percentage_of_nodes_to_score},
               {"podInitialBackoffSeconds", config.pod_initial_backoff_seconds},
               {"podMaxBackoffSeconds", config.pod_max_backoff_seconds}};
  for (const api::EffectiveProfile& profile : profiles) {
    json["profiles"].push_back(ToJsonValue(profile));
  }
  for (const api::Extender& extender : config.extenders) {
    json["extenders"].push_back(ToJsonValue(extender));
  }
  std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (format == ConfigFormat::kJson) return text;
  std::string yaml;
  const absl::Status status = ReadText(text, "configuration.json", {}, [&](const Document& document) {
    yaml = ToYaml(document.root);
    return absl::OkStatus();
  });
  CHECK(status.ok());
  return yaml;
}

}  // namespace schedsim::codec
