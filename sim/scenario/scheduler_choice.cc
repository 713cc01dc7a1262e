#include "sim/scenario/scheduler_choice.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/feature_gates.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "core/plugins/registry.h"
#include "sim/scenario/kwokctl_config.h"

namespace schedsim::sim {

std::string SchedulerChoice::DefaultVersion() const {
  return std::string(api::KubernetesLineName(default_line.value_or(api::kDefaultKubernetesLine)));
}

absl::StatusOr<codec::LoadedSchedulerConfig> LoadForeignConfig(const std::string& path,
                                                               const api::FeatureGates& gates,
                                                               absl::Span<const api::PluginInfo> known) {
  const std::string file = path == "-" ? "stdin" : path;
  std::optional<codec::LoadedSchedulerConfig> loaded;
  RETURN_IF_ERROR(codec::ReadValues(path, [&](const codec::Document& document) -> absl::Status {
    if (loaded.has_value())
      return codec::ErrorAt({file, document.root.position}, "expected a single document, got another one");
    ASSIGN_OR_RETURN(loaded, DecodeForeignConfig(document.root, file, gates, known));
    return absl::OkStatus();
  }));
  if (loaded.has_value()) return *std::move(loaded);
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": expected a KubeSchedulerConfiguration, got an empty file"));
}

absl::StatusOr<codec::LoadedSchedulerConfig> DecodeForeignConfig(const codec::Value& root,
                                                                 absl::string_view file,
                                                                 const api::FeatureGates& gates,
                                                                 absl::Span<const api::PluginInfo> known) {
  constexpr absl::string_view kKind = "KubeSchedulerConfiguration";
  const codec::Value* const kind = root.Find("kind");
  if (kind == nullptr || kind->text != kKind)
    return codec::ErrorAt({file, root.position}, absl::StrCat("kind: expected ", kKind));
  const codec::Value* const extenders = root.Find("extenders");
  if (extenders != nullptr && !extenders->items.empty())
    return codec::ErrorAt({file, extenders->position}, "extenders: the recorder calls none, expected none");
  codec::LoadedSchedulerConfig loaded;
  ASSIGN_OR_RETURN(loaded, codec::DefaultSchedulerConfig(gates, known));
  loaded.json = codec::ToJson(root);
  const codec::Value* const profiles = root.Find("profiles");
  if (profiles == nullptr || profiles->items.empty()) return loaded;
  const api::EffectiveProfile profile = loaded.profiles.front();
  loaded.profiles.clear();
  for (const codec::Value& item : profiles->items) {
    const codec::Value* const name = item.Find("schedulerName");
    loaded.profiles.push_back(profile);
    if (name != nullptr && name->is_string()) loaded.profiles.back().scheduler_name = std::string(name->text);
  }
  return loaded;
}

absl::StatusOr<PluginChoice> LoadPlugins(absl::Span<const std::string> paths,
                                         const hosting::ProcessOptions& processes, api::KubernetesLine line) {
  PluginChoice choice = {.plugins = {}, .files = {}, .known = plugins::KnownPlugins(line)};
  ASSIGN_OR_RETURN(choice.plugins, hosting::LoadPluginFiles(paths, choice.known, processes, choice.files));
  choice.known.insert(choice.known.end(), choice.plugins.infos.begin(), choice.plugins.infos.end());
  std::sort(choice.known.begin(), choice.known.end(),
            [](const api::PluginInfo& a, const api::PluginInfo& b) { return a.name < b.name; });
  return choice;
}

absl::StatusOr<codec::LoadedSchedulerConfig> DecodeConfigWithGuests(const codec::Value& root,
                                                                    absl::string_view file,
                                                                    const api::FeatureGates& gates,
                                                                    const hosting::GuestOptions& options,
                                                                    PluginChoice& plugins) {
  std::vector<std::string> notes;
  RETURN_IF_ERROR(hosting::LoadGuests(root, file, options, plugins.known, plugins.plugins, notes));
  codec::LoadedSchedulerConfig config;
  ASSIGN_OR_RETURN(config, codec::DecodeSchedulerConfig(root, file, gates, plugins.known));
  config.notes.insert(config.notes.end(), notes.begin(), notes.end());
  return config;
}

absl::StatusOr<codec::LoadedSchedulerConfig> LoadConfigWithGuests(absl::string_view path,
                                                                  const api::FeatureGates& gates,
                                                                  const hosting::GuestOptions& options,
                                                                  PluginChoice& plugins) {
  // What cannot be read twice has no guests beside it.
  if (codec::IsDescriptor(path)) return codec::LoadSchedulerConfig(path, gates, plugins.known);
  std::vector<std::string> notes;
  int document_count = 0;
  const absl::Status read = codec::ReadValues(path, [&](const codec::Document& document) {
    if (document_count++ > 0) return absl::OkStatus();
    return hosting::LoadGuests(document.root, path, options, plugins.known, plugins.plugins, notes);
  });
  // Where the file itself is wrong, that is said in its reader's words.
  if (!read.ok() && document_count == 1) return read;
  codec::LoadedSchedulerConfig config;
  ASSIGN_OR_RETURN(config, codec::LoadSchedulerConfig(path, gates, plugins.known));
  config.notes.insert(config.notes.end(), notes.begin(), notes.end());
  return config;
}

absl::StatusOr<std::vector<OtherScheduler>> LoadOtherSchedulers(absl::Span<const std::string> paths,
                                                                const api::FeatureGates& gates,
                                                                const hosting::GuestOptions& options,
                                                                PluginChoice& plugins) {
  std::vector<OtherScheduler> others;
  for (const std::string& path : paths) {
    OtherScheduler& other = others.emplace_back();
    other.place = "--other-scheduler";
    other.file = path == "-" ? "stdin" : path;
    ASSIGN_OR_RETURN(other.config, LoadConfigWithGuests(path, gates, options, plugins));
  }
  return others;
}

absl::StatusOr<ChosenScheduler> LoadScheduler(const SchedulerChoice& choice) {
  const absl::StatusOr<api::KubernetesVersion> version =
      api::ParseKubernetesVersion(choice.kubernetes_version.value_or(choice.DefaultVersion()));
  if (!version.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--kubernetes-version: ", version.status().message()));
  }
  api::FeatureGates gates(version->line);
  const absl::Status set = gates.Set(choice.feature_gates.value_or(""));
  if (!set.ok()) return absl::InvalidArgumentError(absl::StrCat("--feature-gates: ", set.message()));
  PluginChoice loaded;
  ASSIGN_OR_RETURN(loaded, LoadPlugins(choice.plugins, choice.processes, version->line));
  ChosenScheduler chosen = {.behavior = api::LineBehaviorOf(gates),
                            .config = {},
                            .others = {},
                            .plugins = {},
                            .feature_gates = choice.feature_gates.value_or(""),
                            .notices = {}};
  ASSIGN_OR_RETURN(chosen.config, !choice.config.has_value()
                                      ? codec::DefaultSchedulerConfig(gates, loaded.known)
                                  : choice.recorder.empty()
                                      ? LoadConfigWithGuests(*choice.config, gates, choice.guests, loaded)
                                      : LoadForeignConfig(*choice.config, gates, loaded.known));
  ASSIGN_OR_RETURN(chosen.others, LoadOtherSchedulers(choice.other_configs, gates, choice.guests, loaded));
  AppendNotices(*version, chosen.notices);
  AppendNotices(chosen.config, chosen.notices);
  for (const OtherScheduler& other : chosen.others) AppendNotices(other.config, chosen.notices);
  AppendNotices(loaded, chosen.config, chosen.others, choice, chosen.notices);
  chosen.plugins = std::move(loaded.plugins);
  return chosen;
}

absl::StatusOr<ChosenScheduler> ChooseScheduler(const SchedulerChoice& choice) {
  std::optional<KwokctlConfig> kwokctl;
  ASSIGN_OR_RETURN(kwokctl, KwokctlConfigOf(choice));
  if (!kwokctl.has_value()) return LoadScheduler(choice);
  ChosenScheduler chosen;
  ASSIGN_OR_RETURN(chosen, LoadScheduler(ChoiceWith(*kwokctl, choice)));
  chosen.notices.insert(chosen.notices.begin(), kwokctl->notices.begin(), kwokctl->notices.end());
  return chosen;
}

void AppendNotices(const api::KubernetesVersion& version, std::vector<std::string>& notices) {
  if (version.note.empty()) return;
  notices.push_back(absl::StrCat(version.is_warning ? "warning: " : "note: ", version.note));
}

void AppendNotices(const codec::LoadedSchedulerConfig& config, std::vector<std::string>& notices) {
  for (const std::string& note : config.notes) notices.push_back(absl::StrCat("note: ", note));
}

void AppendNotices(const PluginChoice& plugins, const codec::LoadedSchedulerConfig& config,
                   const std::vector<OtherScheduler>& others, const SchedulerChoice& choice,
                   std::vector<std::string>& notices) {
  for (const std::string& note : plugins.plugins.notes) notices.push_back(absl::StrCat("note: ", note));
  const auto enables = [](const codec::LoadedSchedulerConfig& of, const std::string& name) {
    return std::any_of(of.profiles.begin(), of.profiles.end(), [&name](const auto& profile) {
      return std::binary_search(profile.instances.begin(), profile.instances.end(), name);
    });
  };
  const auto is_enabled = [&](const std::string& name) {
    return enables(config, name) ||
           std::any_of(others.begin(), others.end(),
                       [&](const OtherScheduler& other) { return enables(other.config, name); });
  };
  auto plugin = plugins.plugins.infos.begin();
  for (const auto& [path, count] : plugins.files) {
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) names.push_back((plugin++)->name);
    const bool is_shared =
        choice.plugins_are_shared &&
        std::find(choice.plugins.begin(), choice.plugins.end(), path) != choice.plugins.end();
    if (is_shared || std::any_of(names.begin(), names.end(), is_enabled)) continue;
    notices.push_back(absl::StrCat("note: ", path, ": no profile enables ",
                                   count == 1 ? "the plugin " : "one of the plugins ",
                                   absl::StrJoin(names, ", "), ": it decides nothing"));
  }
}

}  // namespace schedsim::sim
