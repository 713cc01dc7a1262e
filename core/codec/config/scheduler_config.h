// Scheduler configurations from YAML and JSON.
#ifndef SCHEDSIM_CORE_CODEC_CONFIG_SCHEDULER_CONFIG_H_
#define SCHEDSIM_CORE_CODEC_CONFIG_SCHEDULER_CONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/api/effective_profile.h"
#include "core/api/feature_gates.h"
#include "core/api/scheduler_config.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

struct LoadedSchedulerConfig {
  // Complete and valid.
  api::KubeSchedulerConfiguration config;
  // Shape: one for each of `config.profiles`, in the same order.
  std::vector<api::EffectiveProfile> profiles;
  // What the user should know, each `file:line:column: path: what`: fields that are accepted without
  // effect, arguments for plugins that no profile uses.
  std::vector<std::string> notes;
  // Of a document that another scheduler is to judge: its JSON; else "".
  std::string json;
};

// Reads the KubeSchedulerConfiguration in the file `path` ("-": standard input), the only document in
// it. `known` lists every plugin that may be named, sorted by name: InTreePlugins and others.
//
// Refused as by the real one: other versions and kinds, unknown fields, fields given twice, wrong
// types, and all that its validation and its start refuse, in its words. InvalidArgument: one error
// as `file:line:column: path.to[0].field: what`, several of these as `[first, second]`. Refused, too,
// are plugins and extension points that only serve gates which are not simulated.
absl::StatusOr<LoadedSchedulerConfig> LoadSchedulerConfig(absl::string_view path,
                                                          const api::FeatureGates& gates,
                                                          absl::Span<const api::PluginInfo> known);

// The same for a document that is in memory; `file` is for messages. `root` is not needed afterwards.
absl::StatusOr<LoadedSchedulerConfig> DecodeSchedulerConfig(const Value& root, absl::string_view file,
                                                            const api::FeatureGates& gates,
                                                            absl::Span<const api::PluginInfo> known);

// What the real one takes where no configuration is given. Errors: as expanding its profiles has them.
absl::StatusOr<LoadedSchedulerConfig> DefaultSchedulerConfig(const api::FeatureGates& gates,
                                                             absl::Span<const api::PluginInfo> known);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_CONFIG_SCHEDULER_CONFIG_H_
