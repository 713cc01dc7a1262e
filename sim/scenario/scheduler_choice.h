// Which scheduler is meant: its line, its feature gates and its configuration.
#ifndef SCHEDSIM_SIM_SCENARIO_SCHEDULER_CHOICE_H_
#define SCHEDSIM_SIM_SCENARIO_SCHEDULER_CHOICE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/api/default_profile.h"
#include "core/api/feature_gates.h"
#include "core/api/kubernetes_version.h"
#include "core/codec/config/scheduler_config.h"
#include "core/codec/text/value.h"
#include "core/hosting/plugin_files.h"
#include "core/hosting/wasm/wasm_guests.h"
#include "sim/extenders/extender_choice.h"
#include "sim/run/other_schedulers.h"

namespace schedsim::sim {

// As the user says it. What is absent is left to the scenario, and else to the real one's defaults.
struct SchedulerChoice {
  // Such as "1.37".
  std::optional<std::string> kubernetes_version;
  // Such as "A=true,B=false".
  std::optional<std::string> feature_gates;
  // The path of a KubeSchedulerConfiguration, or of kwokctl's configuration, which says what the three of
  // them are where they are absent. A descriptor ("-", /dev/fd/N) has the former.
  std::optional<std::string> config;
  // Paths of the configurations of other schedulers in the cluster.
  std::vector<std::string> other_configs = {};
  // Paths of plugins: shared libraries, Python files and other programs.
  std::vector<std::string> plugins = {};
  // Several runs have them, and each may enable some: nothing is said of one that enables none.
  bool plugins_are_shared = false;
  // How those run that are processes of their own.
  hosting::ProcessOptions processes = {};
  // How the guests are run that the configuration names.
  hosting::GuestOptions guests = {};
  // How the configuration's extenders are reached.
  ExtenderChoice extenders = {};
  // The path of a recorder, the real scheduler in virtual time, which decides in place of the simulated one;
  // "": none. The configuration is for it to judge then.
  std::string recorder = "";
  // The line where nobody says one; absent: the newest one.
  std::optional<api::KubernetesLine> default_line = std::nullopt;

  // Where nobody says which line is meant, it is this one.
  std::string DefaultVersion() const;
};

struct ChosenScheduler {
  api::LineBehavior behavior;
  codec::LoadedSchedulerConfig config;
  // In the order of the choice.
  std::vector<OtherScheduler> others;
  // Those of files and of guests, which the configuration may name.
  hosting::LoadedPlugins plugins;
  // As they were set; "": none was.
  std::string feature_gates;
  // What the user should know about version and configuration, each with `note: ` or `warning: ` in front.
  std::vector<std::string> notices;
};

// The plugins of these files, and all that a configuration for the line may name with them, sorted by
// name. Errors: those of LoadPluginFiles.
struct PluginChoice {
  // Those of files first.
  hosting::LoadedPlugins plugins;
  // The files, with how many plugins each has.
  std::vector<std::pair<std::string, size_t>> files;
  std::vector<api::PluginInfo> known;
};
absl::StatusOr<PluginChoice> LoadPlugins(absl::Span<const std::string> paths,
                                         const hosting::ProcessOptions& processes, api::KubernetesLine line);

// Reads a configuration with the guests that it names, which are added to `plugins`. Errors: those of
// codec::LoadSchedulerConfig and hosting::LoadGuests.
absl::StatusOr<codec::LoadedSchedulerConfig> LoadConfigWithGuests(absl::string_view path,
                                                                  const api::FeatureGates& gates,
                                                                  const hosting::GuestOptions& options,
                                                                  PluginChoice& plugins);
// The same for a document that is in memory; `file` is for messages, and guests are looked for beside it.
absl::StatusOr<codec::LoadedSchedulerConfig> DecodeConfigWithGuests(const codec::Value& root,
                                                                    absl::string_view file,
                                                                    const api::FeatureGates& gates,
                                                                    const hosting::GuestOptions& options,
                                                                    PluginChoice& plugins);

// Reads the configurations of other schedulers, as LoadConfigWithGuests.
absl::StatusOr<std::vector<OtherScheduler>> LoadOtherSchedulers(absl::Span<const std::string> paths,
                                                                const api::FeatureGates& gates,
                                                                const hosting::GuestOptions& options,
                                                                PluginChoice& plugins);

// Loads what is chosen; `choice.config` is a KubeSchedulerConfiguration. InvalidArgument, naming the option,
// where one has no meaning, or as codec::LoadSchedulerConfig.
absl::StatusOr<ChosenScheduler> LoadScheduler(const SchedulerChoice& choice);

// The same where `choice.config` may be kwokctl's configuration.
absl::StatusOr<ChosenScheduler> ChooseScheduler(const SchedulerChoice& choice);

// The configuration of the file `path`, or that of a document, for a choice with a recorder: only its kind
// and the names of its profiles are looked at, and its JSON is kept. InvalidArgument for anything else, and
// for extenders.
absl::StatusOr<codec::LoadedSchedulerConfig> LoadForeignConfig(const std::string& path,
                                                               const api::FeatureGates& gates,
                                                               absl::Span<const api::PluginInfo> known);
absl::StatusOr<codec::LoadedSchedulerConfig> DecodeForeignConfig(const codec::Value& root,
                                                                 absl::string_view file,
                                                                 const api::FeatureGates& gates,
                                                                 absl::Span<const api::PluginInfo> known);

// The notices that follow from a version and from a configuration.
void AppendNotices(const api::KubernetesVersion& version, std::vector<std::string>& notices);
void AppendNotices(const codec::LoadedSchedulerConfig& config, std::vector<std::string>& notices);
// Those about plugins of files: what can do nothing, and files that no profile of the configuration enables
// a plugin of, other than shared ones of `choice`.
void AppendNotices(const PluginChoice& plugins, const codec::LoadedSchedulerConfig& config,
                   const std::vector<OtherScheduler>& others, const SchedulerChoice& choice,
                   std::vector<std::string>& notices);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_SCHEDULER_CHOICE_H_
