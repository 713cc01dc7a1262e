// Which version of the program this is.
#ifndef SCHEDSIM_CORE_BASE_VERSION_H_
#define SCHEDSIM_CORE_BASE_VERSION_H_

#include "absl/strings/string_view.h"

namespace schedsim {

// Name and version, "schedsim 0.1.0"; the version is that of the CMake project.
absl::string_view ProgramVersion();

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_VERSION_H_
