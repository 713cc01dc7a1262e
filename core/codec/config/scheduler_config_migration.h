// Scheduler configurations of older versions.
#ifndef SCHEDSIM_CORE_CODEC_CONFIG_SCHEDULER_CONFIG_MIGRATION_H_
#define SCHEDSIM_CORE_CODEC_CONFIG_SCHEDULER_CONFIG_MIGRATION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace schedsim::codec {

struct MigratedSchedulerConfig {
  // The configuration in kubescheduler.config.k8s.io/v1: the document with its fields in their order,
  // without comments, ending with a newline. It may still have mistakes that loading it shows.
  std::string yaml;
  // What was dropped and what v1 does otherwise, each `file:line:column: path: what`, in file order.
  std::vector<std::string> dropped;
};

// Converts the KubeSchedulerConfiguration of version v1beta2 or v1beta3 in the file `path` ("-":
// standard input), the only document in it. Fields and plugins that v1 no longer has are dropped.
// InvalidArgument, `file:line:column: what`, for other kinds and versions, v1 included.
// Source: kube-scheduler v0.25, config/v1beta2, config/v1beta3 and config/v1.
absl::StatusOr<MigratedSchedulerConfig> MigrateSchedulerConfig(absl::string_view path);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_CONFIG_SCHEDULER_CONFIG_MIGRATION_H_
