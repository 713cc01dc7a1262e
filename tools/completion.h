// What makes shells complete the program's command lines.
#ifndef SCHEDSIM_TOOLS_COMPLETION_H_
#define SCHEDSIM_TOOLS_COMPLETION_H_

#include <string>

#include "tools/command_tree.h"

namespace schedsim::tools {

// Each is a script: for `source`, for a file _schedsim of zsh's $fpath, and for `source` of fish.
std::string BashCompletion(const CommandInfo& program);
std::string ZshCompletion(const CommandInfo& program);
std::string FishCompletion(const CommandInfo& program);

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_COMPLETION_H_
