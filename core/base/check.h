// Invariants that stay on in every build type.
#ifndef SCHEDSIM_CORE_BASE_CHECK_H_
#define SCHEDSIM_CORE_BASE_CHECK_H_

namespace schedsim {

// Prints `file:line: CHECK failed: text` to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* text);

}  // namespace schedsim

// Aborts when `condition` is false: a broken invariant of the program, never bad input.
#define CHECK(condition)                                       \
  do {                                                         \
    if (!(condition)) {                                        \
      ::schedsim::CheckFailed(__FILE__, __LINE__, #condition); \
    }                                                          \
  } while (false)

#endif  // SCHEDSIM_CORE_BASE_CHECK_H_
