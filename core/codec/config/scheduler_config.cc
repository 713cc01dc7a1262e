#include "core/codec/config/scheduler_config.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/api/default_profile.h"
#include "core/api/extension_point.h"
#include "core/api/field_errors.h"
#include "core/api/go_text.h"
#include "core/api/kinds.h"
#include "core/api/scheduler_config_validation.h"
#include "core/base/status_macros.h"
#include "core/codec/config/plugin_args.h"
#include "core/codec/config/strict_reader.h"
#include "core/codec/text/reader.h"

namespace schedsim::codec {
namespace {

constexpr absl::string_view kKind = "KubeSchedulerConfiguration";

// Decodes one document.
class Decoder {
 public:
  Decoder(const Value& root, absl::string_view file, const api::FeatureGates& gates,
          absl::Span<const api::PluginInfo> known)
      : root_(root), file_(file), gates_(gates), known_(known), errors_(file) {}

  absl::StatusOr<LoadedSchedulerConfig> Decode();

 private:
  absl::Status CheckType(StrictReader& reader);
  void ReadConfig(StrictReader& reader);
  void ReadLeaderElection(const Value& value, const std::string& path);
  void ReadClientConnection(const Value& value, const std::string& path);
  void ReadProfile(const Value& value, const std::string& path);
  void ReadPlugins(const Value& value, const std::string& path, api::Plugins& plugins);
  void ReadPluginSet(const Value& value, const std::string& path, api::PluginSet& set);
  void ReadPluginConfig(const Value& value, const std::string& path, api::PluginConfig& config);
  void ReadExtender(const Value& value, const std::string& path);
  void ReadTlsConfig(const Value& value, const std::string& path, api::ExtenderTlsConfig& tls);

  void SetDefaults();
  absl::Status Validate();
  absl::Status Expand();
  void RefuseUnsimulated(size_t profile_index);
  // Where the user named the plugin, or the innermost field above.
  std::string PathOf(const api::ProfilePlace& place) const;
  void NoteUnusedFields();
  void NoteUnusedPlugins();
  void Note(const std::string& path, absl::string_view what);

  const Value& root_;
  const absl::string_view file_;
  const api::FeatureGates& gates_;
  const absl::Span<const api::PluginInfo> known_;
  ErrorList errors_;
  LoadedSchedulerConfig result_;
};

absl::StatusOr<LoadedSchedulerConfig> Decoder::Decode() {
  StrictReader reader(root_, "", errors_);
  RETURN_IF_ERROR(errors_.ToStatus());
  RETURN_IF_ERROR(CheckType(reader));
  ReadConfig(reader);
  RETURN_IF_ERROR(errors_.ToStatus());
  SetDefaults();
  RETURN_IF_ERROR(Validate());
  RETURN_IF_ERROR(Expand());
  NoteUnusedFields();
  NoteUnusedPlugins();
  return std::move(result_);
}

// Where something that is no configuration belongs, for the end of a message; "": not known.
std::string WhatTakesIt(absl::string_view kind, absl::string_view api_version) {
  if (kind == "Scenario" && absl::StartsWith(api_version, "schedsim/"))
    return "; a scenario is run with `schedsim run FILE`";
  absl::string_view item_kind = kind;
  const bool is_list = absl::ConsumeSuffix(&item_kind, "List");
  const bool is_object = api::FindKind(api_version, item_kind) != nullptr || (is_list && item_kind.empty());
  return is_object ? "; objects of a cluster are given with `-f FILE`" : "";
}

absl::Status Decoder::CheckType(StrictReader& reader) {
  std::string api_version;
  std::string kind;
  reader.Read("apiVersion", api_version);
  reader.Read("kind", kind);
  if (!errors_.empty()) return errors_.ToStatus();
  if (kind.empty()) {
    errors_.Add(root_.position, absl::StrCat("Object 'Kind' is missing: expected ", kKind));
  } else if (api_version.empty()) {
    errors_.Add(root_.position,
                absl::StrCat("Object 'apiVersion' is missing: expected ", api::kSchedulerConfigApiVersion));
  } else if (kind != kKind || api_version != api::kSchedulerConfigApiVersion) {
    const absl::string_view wrong = kind != kKind ? "kind" : "apiVersion";
    const bool is_older =
        kind == kKind && (absl::EndsWith(api_version, "/v1beta2") || absl::EndsWith(api_version, "/v1beta3"));
    const std::string hint =
        is_older ? "; `schedsim config migrate` converts it" : WhatTakesIt(kind, api_version);
    errors_.Add(FindPosition(root_, wrong),
                absl::StrCat(wrong, ": no kind ", api::GoQuote(kind), " is registered for version ",
                             api::GoQuote(api_version), ": expected ", kKind, " of ",
                             api::kSchedulerConfigApiVersion, hint));
  }
  return errors_.ToStatus();
}

void Decoder::ReadConfig(StrictReader& reader) {
  api::KubeSchedulerConfiguration& config = result_.config;
  reader.Read("parallelism", config.parallelism);
  reader.Read("percentageOfNodesToScore", config.percentage_of_nodes_to_score);
  reader.Read("podInitialBackoffSeconds", config.pod_initial_backoff_seconds);
  reader.Read("podMaxBackoffSeconds", config.pod_max_backoff_seconds);
  reader.ReadList("profiles", [&](const Value& value, const std::string& path) { ReadProfile(value, path); });
  reader.ReadList("extenders",
                  [&](const Value& value, const std::string& path) { ReadExtender(value, path); });
  reader.ReadMap("leaderElection",
                 [&](const Value& value, const std::string& path) { ReadLeaderElection(value, path); });
  reader.ReadMap("clientConnection",
                 [&](const Value& value, const std::string& path) { ReadClientConnection(value, path); });
  bool unused = false;
  reader.Read("delayCacheUntilActive", unused);
  reader.Read("enableProfiling", unused);
  reader.Read("enableContentionProfiling", unused);
  reader.Finish();
}

void Decoder::ReadLeaderElection(const Value& value, const std::string& path) {
  StrictReader reader(value, path, errors_);
  const api::LeaderElectionConfiguration defaults;
  api::LeaderElectionConfiguration& config = result_.config.leader_election;
  reader.Read("leaderElect", config.leader_elect);
  reader.Read("leaseDuration", config.lease_duration);
  reader.Read("renewDeadline", config.renew_deadline);
  reader.Read("retryPeriod", config.retry_period);
  reader.Read("resourceLock", config.resource_lock);
  std::string unused;
  reader.Read("resourceName", unused);
  reader.Read("resourceNamespace", unused);
  reader.Finish();
  // Zero and empty stand for the default.
  if (config.lease_duration == absl::ZeroDuration()) config.lease_duration = defaults.lease_duration;
  if (config.renew_deadline == absl::ZeroDuration()) config.renew_deadline = defaults.renew_deadline;
  if (config.retry_period == absl::ZeroDuration()) config.retry_period = defaults.retry_period;
  if (config.resource_lock.empty()) config.resource_lock = defaults.resource_lock;
}

void Decoder::ReadClientConnection(const Value& value, const std::string& path) {
  StrictReader reader(value, path, errors_);
  std::string unused;
  reader.Read("kubeconfig", unused);
  reader.Read("acceptContentTypes", unused);
  reader.Read("contentType", unused);
  double unused_qps = 0;
  reader.Read("qps", unused_qps);
  reader.Read("burst", result_.config.client_connection_burst);
  reader.Finish();
}

void Decoder::ReadProfile(const Value& value, const std::string& path) {
  StrictReader reader(value, path, errors_);
  api::KubeSchedulerProfile& profile = result_.config.profiles.emplace_back();
  reader.Read("schedulerName", profile.scheduler_name);
  reader.Read("percentageOfNodesToScore", profile.percentage_of_nodes_to_score);
  reader.ReadMap("plugins", [&](const Value& plugins, const std::string& plugins_path) {
    ReadPlugins(plugins, plugins_path, profile.plugins);
  });
  reader.ReadList("pluginConfig", [&](const Value& item, const std::string& item_path) {
    ReadPluginConfig(item, item_path, profile.plugin_config.emplace_back());
  });
  reader.Finish();
}

void Decoder::ReadPlugins(const Value& value, const std::string& path, api::Plugins& plugins) {
  StrictReader reader(value, path, errors_);
  const auto read = [&](absl::string_view name, api::PluginSet& set) {
    reader.ReadMap(name, [&](const Value& set_value, const std::string& set_path) {
      ReadPluginSet(set_value, set_path, set);
    });
  };
  read("multiPoint", plugins.multi_point);
  for (int i = 0; i < api::kExtensionPointCount; ++i) {
    const api::ExtensionPoint point = static_cast<api::ExtensionPoint>(i);
    if (!api::HasExtensionPoint(point, gates_.line())) continue;
    read(api::ExtensionPointName(point), plugins.At(point));
  }
  reader.Finish();
}

void Decoder::ReadPluginSet(const Value& value, const std::string& path, api::PluginSet& set) {
  StrictReader reader(value, path, errors_);
  const auto read = [&](absl::string_view name, std::vector<api::PluginRef>& plugins) {
    reader.ReadList(name, [&](const Value& item, const std::string& item_path) {
      StrictReader item_reader(item, item_path, errors_);
      api::PluginRef& plugin = plugins.emplace_back();
      item_reader.Read("name", plugin.name);
      item_reader.Read("weight", plugin.weight);
      item_reader.Finish();
    });
  };
  read("enabled", set.enabled);
  read("disabled", set.disabled);
  reader.Finish();
}

void Decoder::ReadPluginConfig(const Value& value, const std::string& path, api::PluginConfig& config) {
  StrictReader reader(value, path, errors_);
  reader.Read("name", config.name);
  const Value* args = reader.Take("args");
  config.args = DecodePluginArgs(config.name, args, reader.PathOf("args"), gates_, errors_);
  reader.Finish();
}

void Decoder::ReadExtender(const Value& value, const std::string& path) {
  StrictReader reader(value, path, errors_);
  api::Extender& extender = result_.config.extenders.emplace_back();
  reader.Read("urlPrefix", extender.url_prefix);
  reader.Read("filterVerb", extender.filter_verb);
  reader.Read("preemptVerb", extender.preempt_verb);
  reader.Read("prioritizeVerb", extender.prioritize_verb);
  reader.Read("weight", extender.weight);
  reader.Read("bindVerb", extender.bind_verb);
  reader.Read("enableHTTPS", extender.enable_https);
  reader.ReadMap("tlsConfig", [&](const Value& tls, const std::string& tls_path) {
    ReadTlsConfig(tls, tls_path, extender.tls_config.emplace());
  });
  reader.Read("httpTimeout", extender.http_timeout);
  reader.Read("nodeCacheCapable", extender.node_cache_capable);
  reader.ReadList("managedResources", [&](const Value& item, const std::string& item_path) {
    StrictReader item_reader(item, item_path, errors_);
    api::ExtenderManagedResource& resource = extender.managed_resources.emplace_back();
    item_reader.Read("name", resource.name);
    item_reader.Read("ignoredByScheduler", resource.ignored_by_scheduler);
    item_reader.Finish();
  });
  reader.Read("ignorable", extender.ignorable);
  reader.Finish();
}

void Decoder::ReadTlsConfig(const Value& value, const std::string& path, api::ExtenderTlsConfig& tls) {
  StrictReader reader(value, path, errors_);
  reader.Read("insecure", tls.insecure);
  reader.Read("serverName", tls.server_name);
  reader.Read("certFile", tls.cert_file);
  reader.Read("keyFile", tls.key_file);
  reader.Read("caFile", tls.ca_file);
  const auto read_bytes = [&](absl::string_view name, std::string& bytes) {
    std::string text;
    reader.Read(name, text);
    if (absl::Base64Unescape(text, &bytes)) return;
    errors_.Add(value.Find(name)->position, absl::StrCat(reader.PathOf(name), ": expected bytes in base64"));
  };
  read_bytes("certData", tls.cert_data);
  read_bytes("keyData", tls.key_data);
  read_bytes("caData", tls.ca_data);
  reader.Finish();
}

void Decoder::SetDefaults() {
  std::vector<api::KubeSchedulerProfile>& profiles = result_.config.profiles;
  if (profiles.empty()) profiles.emplace_back();
  // An explicit empty name is kept, and refused.
  const Value* list = root_.Find("profiles");
  const Value* name = list == nullptr || !list->is_array() || list->items.empty()
                          ? nullptr
                          : list->items[0].Find("schedulerName");
  const bool is_named = name != nullptr && !name->is_null();
  if (profiles.size() == 1 && !is_named) profiles[0].scheduler_name = api::kDefaultSchedulerName;
  for (api::KubeSchedulerProfile& profile : profiles) api::SetProfileDefaults(gates_, profile);
}

absl::Status Decoder::Validate() {
  for (const api::FieldError& error : api::ValidateSchedulerConfig(result_.config, gates_)) {
    errors_.Add(FindPosition(root_, error.field), absl::StrCat(error.field, ": ", error.body));
  }
  return errors_.ToStatus();
}

absl::Status Decoder::Expand() {
  api::ProfilePlace place;
  absl::StatusOr<std::vector<api::EffectiveProfile>> profiles =
      api::ExpandProfiles(result_.config, known_, gates_, &place);
  if (!profiles.ok()) {
    const std::string path = PathOf(place);
    errors_.Add(FindPosition(root_, path), absl::StrCat(path, ": ", profiles.status().message()));
    return errors_.ToStatus();
  }
  result_.profiles = *std::move(profiles);
  for (size_t i = 0; i < result_.profiles.size(); ++i) RefuseUnsimulated(i);
  return errors_.ToStatus();
}

// What only gates use that are not simulated.
void Decoder::RefuseUnsimulated(size_t profile_index) {
  for (const std::string& plugin : result_.profiles[profile_index].instances) {
    if (!api::IsUnsimulatedPlugin(plugin)) continue;
    const std::string path =
        PathOf({.profile_index = profile_index, .point = std::nullopt, .plugin = plugin});
    errors_.Add(FindPosition(root_, path),
                absl::StrCat(path, ": plugin ", api::GoQuote(plugin), " is not simulated"));
  }
}

// The path of the last entry of this name in the list at `path`, or "": the last one of two is the one
// too many.
std::string FindNamed(const Value* list, const std::string& path, absl::string_view name) {
  if (list == nullptr || !list->is_array()) return "";
  for (size_t i = list->items.size(); i-- > 0;) {
    const Value* item_name = list->items[i].Find("name");
    if (item_name != nullptr && item_name->text == name) return api::Index(path, i);
  }
  return "";
}

std::string Decoder::PathOf(const api::ProfilePlace& place) const {
  std::string profile_path = api::Index("profiles", place.profile_index);
  const Value* profiles = root_.Find("profiles");
  if (profiles == nullptr || !profiles->is_array() || place.profile_index >= profiles->items.size()) {
    return "profiles";
  }
  const Value& profile = profiles->items[place.profile_index];
  const std::string plugins_path = api::Child(profile_path, "plugins");
  const Value* plugins = profile.Find("plugins");
  if (plugins == nullptr) return profile_path;

  const auto find_enabled = [&](absl::string_view point) {
    const Value* set = plugins->Find(point);
    const std::string path = api::Child(api::Child(plugins_path, point), "enabled");
    return set == nullptr ? "" : FindNamed(set->Find("enabled"), path, place.plugin);
  };
  const absl::string_view point_name = place.point ? api::ExtensionPointName(*place.point) : "";
  if (!place.plugin.empty()) {
    std::vector<absl::string_view> sets = {"multiPoint"};
    if (place.point) sets.insert(sets.begin(), point_name);
    for (int i = 0; !place.point && i < api::kExtensionPointCount; ++i) {
      sets.push_back(api::ExtensionPointName(static_cast<api::ExtensionPoint>(i)));
    }
    for (absl::string_view set : sets) {
      std::string path = find_enabled(set);
      if (!path.empty()) return path;
    }
  }
  if (!place.point) return profile_path;
  return plugins->Find(point_name) == nullptr ? plugins_path : api::Child(plugins_path, point_name);
}

void Decoder::Note(const std::string& path, absl::string_view what) {
  const Location location = {.file = file_, .position = FindPosition(root_, path)};
  result_.notes.emplace_back(ErrorAt(location, absl::StrCat(path, ": ", what)).message());
}

void Decoder::NoteUnusedFields() {
  for (const Member& member : root_.members) {
    for (absl::string_view name : {"clientConnection", "delayCacheUntilActive", "enableContentionProfiling",
                                   "enableProfiling", "leaderElection"}) {
      if (member.key == name) Note(std::string(name), "accepted, without effect on a simulation");
    }
  }
}

void Decoder::NoteUnusedPlugins() {
  const std::vector<api::KubeSchedulerProfile>& profiles = result_.config.profiles;
  const auto is_known = [&](const std::string& name) {
    return name == "*" ||
           std::any_of(known_.begin(), known_.end(), [&](const auto& plugin) { return plugin.name == name; });
  };
  for (size_t i = 0; i < profiles.size(); ++i) {
    const std::vector<std::string>& instances = result_.profiles[i].instances;
    const std::string path = api::Index("profiles", i);
    for (size_t j = 0; j < profiles[i].plugin_config.size(); ++j) {
      const std::string& name = profiles[i].plugin_config[j].name;
      if (std::find(instances.begin(), instances.end(), name) != instances.end()) continue;
      Note(api::Index(api::Child(path, "pluginConfig"), j),
           absl::StrCat("the profile does not use the plugin ", api::GoQuote(name)));
    }
    const auto note_disabled = [&](absl::string_view point, const api::PluginSet& set) {
      const std::string list = absl::StrCat(path, ".plugins.", point, ".disabled");
      for (size_t j = 0; j < set.disabled.size(); ++j) {
        const std::string& name = set.disabled[j].name;
        if (is_known(name)) continue;
        Note(api::Index(list, j), absl::StrCat("there is no plugin ", api::GoQuote(name)));
      }
    };
    note_disabled("multiPoint", profiles[i].plugins.multi_point);
    for (int j = 0; j < api::kExtensionPointCount; ++j) {
      const api::ExtensionPoint point = static_cast<api::ExtensionPoint>(j);
      note_disabled(api::ExtensionPointName(point), profiles[i].plugins.At(point));
    }
  }
}

}  // namespace

absl::StatusOr<LoadedSchedulerConfig> LoadSchedulerConfig(absl::string_view path,
                                                          const api::FeatureGates& gates,
                                                          absl::Span<const api::PluginInfo> known) {
  const absl::string_view file = path == "-" ? "stdin" : path;
  std::optional<LoadedSchedulerConfig> loaded;
  RETURN_IF_ERROR(ReadValues(path, [&](const Document& document) -> absl::Status {
    if (loaded) {
      return ErrorAt({.file = file, .position = document.root.position},
                     "expected a single document, got another one");
    }
    ASSIGN_OR_RETURN(loaded, DecodeSchedulerConfig(document.root, file, gates, known));
    return absl::OkStatus();
  }));
  if (loaded) return *std::move(loaded);
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": Object 'Kind' is missing: expected ", kKind, ", got an empty file"));
}

absl::StatusOr<LoadedSchedulerConfig> DecodeSchedulerConfig(const Value& root, absl::string_view file,
                                                            const api::FeatureGates& gates,
                                                            absl::Span<const api::PluginInfo> known) {
  return Decoder(root, file, gates, known).Decode();
}

absl::StatusOr<LoadedSchedulerConfig> DefaultSchedulerConfig(const api::FeatureGates& gates,
                                                             absl::Span<const api::PluginInfo> known) {
  LoadedSchedulerConfig result;
  result.config = api::DefaultSchedulerConfiguration(gates);
  ASSIGN_OR_RETURN(result.profiles, api::ExpandProfiles(result.config, known, gates));
  return result;
}

}  // namespace schedsim::codec
