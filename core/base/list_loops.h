// Loops over lists of numbers that look at several numbers at once, as far as the processor can.
#ifndef SCHEDSIM_CORE_BASE_LIST_LOOPS_H_
#define SCHEDSIM_CORE_BASE_LIST_LOOPS_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace schedsim {

// How many of them are this number. At most INT32_MAX numbers.
size_t CountEqual(absl::Span<const int32_t> numbers, int32_t number);
// Sets `places` to the places of those that are not this number, in order. There must be as many as `places`
// has entries.
void FindUnequal(absl::Span<const int32_t> numbers, int32_t number, absl::Span<size_t> places);
// Whether each number is above the one before it.
bool IsRising(absl::Span<const int32_t> numbers);

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_LIST_LOOPS_H_
