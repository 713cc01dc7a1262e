// What speaks for plugins in Python: python/schedsim_plugin.py.
#ifndef SCHEDSIM_CORE_HOSTING_PROCESS_PYTHON_SHIM_H_
#define SCHEDSIM_CORE_HOSTING_PROCESS_PYTHON_SHIM_H_

#include "absl/strings/string_view.h"

namespace schedsim::hosting {

// The whole file, so that a program finds it wherever it is installed.
extern const absl::string_view kPythonShim;

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_PROCESS_PYTHON_SHIM_H_
