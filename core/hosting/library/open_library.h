// The entry point of a shared library of plugins.
#ifndef SCHEDSIM_CORE_HOSTING_LIBRARY_OPEN_LIBRARY_H_
#define SCHEDSIM_CORE_HOSTING_LIBRARY_OPEN_LIBRARY_H_

#include <string>

#include "absl/status/statusor.h"
#include "schedsim/plugin_abi.h"

namespace schedsim::hosting {

// The function that a library of plugins has.
inline constexpr char kEntryPoint[] = "schedsim_plugin_library";

// Loads the library, which stays loaded as long as the program runs, and calls its entry point with `host`.
// Nothing of what that returns is checked. NotFound where there is no such file; InvalidArgument, with the
// path in front, for one that is no library of plugins.
absl::StatusOr<const schedsim_library*> OpenLibrary(const std::string& path, const schedsim_host& host);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_LIBRARY_OPEN_LIBRARY_H_
