// How messages tell of errors.
#ifndef SCHEDSIM_CORE_FRAMEWORK_ERROR_TEXT_H_
#define SCHEDSIM_CORE_FRAMEWORK_ERROR_TEXT_H_

#include <string>

#include "core/framework/status.h"

namespace schedsim::framework {

// What upstream's %w makes of Status.AsError, which is nil for Wait and Skip: no one may answer with these
// where an error is told.
inline std::string ErrorText(const Status& status) {
  return status.IsWait() || status.IsSkip() ? "%!w(<nil>)" : status.Message();
}

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_ERROR_TEXT_H_
