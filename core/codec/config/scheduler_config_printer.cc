#include "core/codec/config/scheduler_config_printer.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/default_profile.h"
#include "core/api/extension_point.h"
#include "core/api/go_text.h"
#include "core/base/check.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"

namespace schedsim::codec {
namespace {

void Write(const std::vector<std::string>& texts, JsonWriter& json) {
  json.BeginArray();
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
}

void Write(const std::vector<api::UtilizationShapePoint>& shape, JsonWriter& json) {
  json.BeginArray();
  for (const api::UtilizationShapePoint& point : shape) {
    json.BeginObject().Field("utilization", point.utilization).Field("score", point.score).EndObject();
  }
  json.EndArray();
}

void Write(const std::vector<api::ResourceSpec>& resources, JsonWriter& json) {
  json.BeginArray();
  for (const api::ResourceSpec& resource : resources) {
    json.BeginObject().Field("name", resource.name).Field("weight", resource.weight).EndObject();
  }
  json.EndArray();
}

void Write(const std::vector<api::NodeSelectorRequirement>& requirements, JsonWriter& json) {
  json.BeginArray();
  for (const api::NodeSelectorRequirement& requirement : requirements) {
    json.BeginObject().Field("key", requirement.key).Field("operator", requirement.operator_);
    if (!requirement.values.empty()) Write(requirement.values, json.Key("values"));
    json.EndObject();
  }
  json.EndArray();
}

void Write(const api::NodeSelectorTerm& term, JsonWriter& json) {
  json.BeginObject();
  if (!term.match_expressions.empty()) Write(term.match_expressions, json.Key("matchExpressions"));
  if (!term.match_fields.empty()) Write(term.match_fields, json.Key("matchFields"));
  json.EndObject();
}

void Write(const api::NodeAffinity& affinity, JsonWriter& json) {
  json.BeginObject();
  if (affinity.required_during_scheduling_ignored_during_execution) {
    json.Key("requiredDuringSchedulingIgnoredDuringExecution").BeginObject();
    json.Key("nodeSelectorTerms").BeginArray();
    for (const api::NodeSelectorTerm& term :
         affinity.required_during_scheduling_ignored_during_execution->node_selector_terms) {
      Write(term, json);
    }
    json.EndArray().EndObject();
  }
  if (!affinity.preferred_during_scheduling_ignored_during_execution.empty()) {
    json.Key("preferredDuringSchedulingIgnoredDuringExecution").BeginArray();
    for (const api::PreferredSchedulingTerm& term :
         affinity.preferred_during_scheduling_ignored_during_execution) {
      json.BeginObject().Field("weight", term.weight);
      Write(term.preference, json.Key("preference"));
      json.EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
}

// A valid default constraint has no selector.
void Write(const api::TopologySpreadConstraint& constraint, JsonWriter& json) {
  json.BeginObject()
      .Field("maxSkew", constraint.max_skew)
      .Field("topologyKey", constraint.topology_key)
      .Field("whenUnsatisfiable", constraint.when_unsatisfiable);
  if (constraint.min_domains) json.Field("minDomains", *constraint.min_domains);
  if (!constraint.node_affinity_policy.empty()) {
    json.Field("nodeAffinityPolicy", constraint.node_affinity_policy);
  }
  if (!constraint.node_taints_policy.empty()) json.Field("nodeTaintsPolicy", constraint.node_taints_policy);
  if (!constraint.match_label_keys.empty()) Write(constraint.match_label_keys, json.Key("matchLabelKeys"));
  json.EndObject();
}

// The fields of each kind of arguments, within their object.

void WriteArgs(const api::DefaultPreemptionArgs& args, JsonWriter& json) {
  json.Field("minCandidateNodesPercentage", args.min_candidate_nodes_percentage);
  json.Field("minCandidateNodesAbsolute", args.min_candidate_nodes_absolute);
}

void WriteArgs(const api::InterPodAffinityArgs& args, JsonWriter& json) {
  json.Field("hardPodAffinityWeight", args.hard_pod_affinity_weight);
  json.Key("ignorePreferredTermsOfExistingPods").Bool(args.ignore_preferred_terms_of_existing_pods);
}

void WriteArgs(const api::NodeAffinityArgs& args, JsonWriter& json) {
  if (args.added_affinity) Write(*args.added_affinity, json.Key("addedAffinity"));
}

void WriteArgs(const api::NodeResourcesFitArgs& args, JsonWriter& json) {
  if (!args.ignored_resources.empty()) Write(args.ignored_resources, json.Key("ignoredResources"));
  if (!args.ignored_resource_groups.empty()) {
    Write(args.ignored_resource_groups, json.Key("ignoredResourceGroups"));
  }
  json.Key("scoringStrategy").BeginObject().Field("type", args.scoring_strategy.type);
  Write(args.scoring_strategy.resources, json.Key("resources"));
  if (args.scoring_strategy.shape) {
    json.Key("requestedToCapacityRatio").BeginObject();
    Write(*args.scoring_strategy.shape, json.Key("shape"));
    json.EndObject();
  }
  json.EndObject();
}

void WriteArgs(const api::NodeResourcesBalancedAllocationArgs& args, JsonWriter& json) {
  Write(args.resources, json.Key("resources"));
}

void WriteArgs(const api::PodTopologySpreadArgs& args, JsonWriter& json) {
  json.Field("defaultingType", args.defaulting_type);
  if (args.default_constraints.empty()) return;
  json.Key("defaultConstraints").BeginArray();
  for (const api::TopologySpreadConstraint& constraint : args.default_constraints) Write(constraint, json);
  json.EndArray();
}

void WriteArgs(const api::VolumeBindingArgs& args, JsonWriter& json) {
  json.Field("bindTimeoutSeconds", args.bind_timeout_seconds);
  if (args.shape) Write(*args.shape, json.Key("shape"));
}

void WriteArgs(const api::DynamicResourcesArgs& args, JsonWriter& json) {
  if (args.filter_timeout) json.Field("filterTimeout", api::FormatGoDuration(*args.filter_timeout));
  if (args.binding_timeout) json.Field("bindingTimeout", api::FormatGoDuration(*args.binding_timeout));
}

// Written as a whole instead.
void WriteArgs(const api::UnknownArgs&, JsonWriter&) {}

void WriteArgs(const std::monostate&, JsonWriter&) {}

void Write(const api::PluginConfig& config, JsonWriter& json) {
  json.BeginObject().Field("name", config.name).Key("args");
  if (const auto* unknown = std::get_if<api::UnknownArgs>(&config.args)) {
    json.Raw(unknown->json).EndObject();
    return;
  }
  json.BeginObject();
  const absl::string_view kind = api::PluginArgsKind(config.name);
  if (!kind.empty()) json.Field("apiVersion", api::kSchedulerConfigApiVersion).Field("kind", kind);
  std::visit([&](const auto& typed) { WriteArgs(typed, json); }, config.args);
  json.EndObject().EndObject();
}

void WritePlugins(const api::EffectiveProfile& profile, JsonWriter& json) {
  json.BeginObject();
  // Nothing comes from MultiPoint, so that the lists below are all that there is.
  json.Key("multiPoint").BeginObject().Key("disabled").BeginArray();
  json.BeginObject().Field("name", "*").EndObject().EndArray().EndObject();
  for (int i = 0; i < static_cast<int>(api::ExtensionPoint::kPlacementGenerate); ++i) {
    const api::ExtensionPoint point = static_cast<api::ExtensionPoint>(i);
    const std::vector<std::string>& names = profile.At(point);
    if (names.empty()) continue;
    json.Key(api::ExtensionPointName(point)).BeginObject().Key("enabled").BeginArray();
    for (size_t j = 0; j < names.size(); ++j) {
      json.BeginObject().Field("name", names[j]);
      if (point == api::ExtensionPoint::kScore) json.Field("weight", profile.score_weights[j]);
      json.EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndObject();
}

void Write(const api::EffectiveProfile& profile, JsonWriter& json) {
  json.BeginObject().Field("schedulerName", profile.scheduler_name);
  if (profile.percentage_of_nodes_to_score) {
    json.Field("percentageOfNodesToScore", *profile.percentage_of_nodes_to_score);
  }
  WritePlugins(profile, json.Key("plugins"));
  if (!profile.plugin_config.empty()) {
    json.Key("pluginConfig").BeginArray();
    for (const api::PluginConfig& config : profile.plugin_config) Write(config, json);
    json.EndArray();
  }
  json.EndObject();
}

void Write(const api::ExtenderTlsConfig& tls, JsonWriter& json) {
  json.BeginObject();
  if (tls.insecure) json.Key("insecure").Bool(true);
  const auto write_text = [&](absl::string_view name, const std::string& text) {
    if (!text.empty()) json.Field(name, text);
  };
  write_text("serverName", tls.server_name);
  write_text("certFile", tls.cert_file);
  write_text("keyFile", tls.key_file);
  write_text("caFile", tls.ca_file);
  write_text("certData", absl::Base64Escape(tls.cert_data));
  write_text("keyData", absl::Base64Escape(tls.key_data));
  write_text("caData", absl::Base64Escape(tls.ca_data));
  json.EndObject();
}

void Write(const api::Extender& extender, JsonWriter& json) {
  json.BeginObject().Field("urlPrefix", extender.url_prefix);
  const auto write_text = [&](absl::string_view name, const std::string& text) {
    if (!text.empty()) json.Field(name, text);
  };
  write_text("filterVerb", extender.filter_verb);
  write_text("preemptVerb", extender.preempt_verb);
  write_text("prioritizeVerb", extender.prioritize_verb);
  if (extender.weight != 0) json.Field("weight", extender.weight);
  write_text("bindVerb", extender.bind_verb);
  if (extender.enable_https) json.Key("enableHTTPS").Bool(true);
  if (extender.tls_config.has_value()) Write(*extender.tls_config, json.Key("tlsConfig"));
  if (extender.http_timeout != absl::ZeroDuration()) {
    json.Field("httpTimeout", api::FormatGoDuration(extender.http_timeout));
  }
  if (extender.node_cache_capable) json.Key("nodeCacheCapable").Bool(true);
  if (!extender.managed_resources.empty()) {
    json.Key("managedResources").BeginArray();
    for (const api::ExtenderManagedResource& resource : extender.managed_resources) {
      json.BeginObject().Field("name", resource.name);
      json.Key("ignoredByScheduler").Bool(resource.ignored_by_scheduler).EndObject();
    }
    json.EndArray();
  }
  if (extender.ignorable) json.Key("ignorable").Bool(true);
  json.EndObject();
}

}  // namespace

std::string PrintSchedulerConfig(const api::KubeSchedulerConfiguration& config,
                                 const std::vector<api::EffectiveProfile>& profiles, ConfigFormat format) {
  JsonWriter json;
  json.BeginObject()
      .Field("apiVersion", api::kSchedulerConfigApiVersion)
      .Field("kind", "KubeSchedulerConfiguration")
      .Field("parallelism", config.parallelism)
      .Field("percentageOfNodesToScore", config.percentage_of_nodes_to_score)
      .Field("podInitialBackoffSeconds", config.pod_initial_backoff_seconds)
      .Field("podMaxBackoffSeconds", config.pod_max_backoff_seconds);
  if (!profiles.empty()) {
    json.Key("profiles").BeginArray();
    for (const api::EffectiveProfile& profile : profiles) Write(profile, json);
    json.EndArray();
  }
  if (!config.extenders.empty()) {
    json.Key("extenders").BeginArray();
    for (const api::Extender& extender : config.extenders) Write(extender, json);
    json.EndArray();
  }
  json.EndObject();
  std::string text;
  const absl::Status status = ReadText(json.text(), "configuration.json", {}, [&](const Document& document) {
    text = format == ConfigFormat::kJson ? ToIndentedJson(document.root) + "\n" : ToYaml(document.root);
    return absl::OkStatus();
  });
  CHECK(status.ok());
  return text;
}

}  // namespace schedsim::codec
