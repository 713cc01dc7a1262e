// The files with which a plugin of one's own begins.
#ifndef SCHEDSIM_TOOLS_PLUGIN_TEMPLATE_H_
#define SCHEDSIM_TOOLS_PLUGIN_TEMPLATE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace schedsim::tools {

struct TemplateFile {
  std::string path;  // In the plugin's folder.
  std::string text;
};

// `SpreadTeams` as `spread_teams`: the name of its folder and of its library.
std::string SnakeCase(absl::string_view camel_case);

// A plugin that works, of this name in camel case: its source, CMake file, configuration, cluster, test and
// CI.
std::vector<TemplateFile> PluginTemplate(absl::string_view name);

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_PLUGIN_TEMPLATE_H_
