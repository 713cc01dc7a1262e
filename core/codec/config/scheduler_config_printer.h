// Effective scheduler configurations as text.
#ifndef SCHEDSIM_CORE_CODEC_CONFIG_SCHEDULER_CONFIG_PRINTER_H_
#define SCHEDSIM_CORE_CODEC_CONFIG_SCHEDULER_CONFIG_PRINTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/api/effective_profile.h"
#include "core/api/scheduler_config.h"

namespace schedsim::codec {

enum class ConfigFormat : uint8_t { kYaml, kJson };

// The configuration with everything that a simulation uses written out: the plugins of each
// extension point in running order, score weights, arguments with their defaults. The text is itself
// a configuration that loads and has the same effect; it ends with a newline.
// Shape: `profiles[i]` belongs to `config.profiles[i]`.
std::string PrintSchedulerConfig(const api::KubeSchedulerConfiguration& config,
                                 const std::vector<api::EffectiveProfile>& profiles, ConfigFormat format);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_CONFIG_SCHEDULER_CONFIG_PRINTER_H_
