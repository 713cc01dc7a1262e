// Passing absl::Status errors up.
#ifndef SCHEDSIM_CORE_BASE_STATUS_MACROS_H_
#define SCHEDSIM_CORE_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define SCHEDSIM_CONCAT_INNER(a, b) a##b
#define SCHEDSIM_CONCAT(a, b) SCHEDSIM_CONCAT_INNER(a, b)

// Returns from the calling function with the status of `expression` when it is not OK.
#define RETURN_IF_ERROR(expression)              \
  do {                                           \
    absl::Status status_macro = (expression);    \
    if (!status_macro.ok()) return status_macro; \
  } while (false)

// Assigns the value of `expression`, an absl::StatusOr, to `target`, or returns its status.
#define ASSIGN_OR_RETURN(target, expression) \
  ASSIGN_OR_RETURN_IMPL(SCHEDSIM_CONCAT(status_or_, __LINE__), target, expression)

#define ASSIGN_OR_RETURN_IMPL(name, target, expression) \
  auto name = (expression);                             \
  if (!name.ok()) return std::move(name).status();      \
  target = std::move(name).value()

#endif  // SCHEDSIM_CORE_BASE_STATUS_MACROS_H_
