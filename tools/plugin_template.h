// The files with which a plugin of one's own begins.
#ifndef SCHEDSIM_TOOLS_PLUGIN_TEMPLATE_H_
#define SCHEDSIM_TOOLS_PLUGIN_TEMPLATE_H_

#include <cstdint>
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

enum class PluginLanguage : uint8_t { kCpp, kPython };

// A plugin that works, of this name in camel case: its source, CMake file in C++, configuration, cluster,
// test and CI.
std::vector<TemplateFile> PluginTemplate(absl::string_view name, PluginLanguage language);

// What runs the test, in the plugin's folder.
std::string TestCommand(PluginLanguage language);

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_PLUGIN_TEMPLATE_H_
