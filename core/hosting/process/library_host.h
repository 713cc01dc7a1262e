// A shared library of plugins as a program of plugins.
#ifndef SCHEDSIM_CORE_HOSTING_PROCESS_LIBRARY_HOST_H_
#define SCHEDSIM_CORE_HOSTING_PROCESS_LIBRARY_HOST_H_

#include <string>

#include "absl/status/status.h"

namespace schedsim::hosting {

// Loads the library and speaks for its plugins on standard input and output, until the scheduler there ends
// the connection. InvalidArgument or NotFound, as LoadPluginLibraries.
absl::Status HostLibrary(const std::string& path);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_PROCESS_LIBRARY_HOST_H_
