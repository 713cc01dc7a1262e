// Sets of plugins, as small integers.
#ifndef SCHEDSIM_CORE_FRAMEWORK_PLUGIN_SET_H_
#define SCHEDSIM_CORE_FRAMEWORK_PLUGIN_SET_H_

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/lookup_map.h"

namespace schedsim::framework {

inline constexpr int kMaxPlugins = 64;

// A plugin's number, the same in all profiles of a scheduler.
using PluginId = int32_t;
using PluginSet = std::bitset<kMaxPlugins>;

// The name under which filtering extenders reject pods.
inline constexpr char kExtenderName[] = "Extender";

// Numbers for plugin names, handed out in order of first sight; at most kMaxPlugins.
class PluginNames {
 public:
  PluginId IdOf(absl::string_view name);
  const std::string& NameOf(PluginId id) const { return names_[static_cast<size_t>(id)]; }

  // The names of a set, sorted.
  std::vector<std::string> Sorted(const PluginSet& set) const;

 private:
  std::vector<std::string> names_;
  LookupMap<std::string, PluginId> ids_;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_PLUGIN_SET_H_
