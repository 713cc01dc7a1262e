// A small cluster whose scheduler has a configuration of its own.
#ifndef SCHEDSIM_TESTS_SIM_RUN_CONFIGURED_CLUSTER_H_
#define SCHEDSIM_TESTS_SIM_RUN_CONFIGURED_CLUSTER_H_

#include <string>

#include "absl/strings/string_view.h"
#include "core/codec/text/reader.h"
#include "core/plugins/registry.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {

// A KubeSchedulerConfiguration, which must be right.
inline codec::LoadedSchedulerConfig ReadConfig(absl::string_view text, api::KubernetesLine line) {
  codec::LoadedSchedulerConfig result;
  const absl::Status status =
      codec::ReadText(std::string(text), "config.yaml", {}, [&](const codec::Document& document) {
        auto config = codec::DecodeSchedulerConfig(document.root, "config.yaml", api::FeatureGates(line),
                                                   plugins::KnownPlugins(line));
        if (config.ok()) result = *std::move(config);
        return config.status();
      });
  CHECK(status.ok());
  return result;
}

class ConfiguredCluster : public SmallCluster {
 public:
  // YAML documents, both.
  ConfiguredCluster(absl::string_view config, absl::string_view objects,
                    api::KubernetesLine line = api::kDefaultKubernetesLine)
      : SmallCluster(objects, line) {
    options.config = ReadConfig(config, line);
  }
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_TESTS_SIM_RUN_CONFIGURED_CLUSTER_H_
