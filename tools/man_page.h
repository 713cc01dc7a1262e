// The manual page of the program.
#ifndef SCHEDSIM_TOOLS_MAN_PAGE_H_
#define SCHEDSIM_TOOLS_MAN_PAGE_H_

#include <string>

#include "tools/command_tree.h"

namespace schedsim::tools {

// schedsim(1), as man's macros have it. The same for the same program: it has no date.
std::string ManPage(const CommandInfo& program);

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_MAN_PAGE_H_
