#include "core/framework/plugin_set.h"

#include <algorithm>

#include "core/base/check.h"

namespace schedsim::framework {

PluginId PluginNames::IdOf(absl::string_view name) {
  const std::string key(name);
  if (const PluginId* known = ids_.Find(key)) return *known;
  CHECK(names_.size() < kMaxPlugins);
  const PluginId id = static_cast<PluginId>(names_.size());
  names_.push_back(key);
  ids_[key] = id;
  return id;
}

std::vector<std::string> PluginNames::Sorted(const PluginSet& set) const {
  std::vector<std::string> sorted;
  for (size_t id = 0; id < names_.size(); ++id) {
    if (set.test(id)) sorted.push_back(names_[id]);
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace schedsim::framework
