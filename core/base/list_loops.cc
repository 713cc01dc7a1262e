#include "core/base/list_loops.h"

#include <algorithm>

#include "core/base/processors.h"

namespace schedsim {
namespace {

SCHEDSIM_FOR_EACH_PROCESSOR int32_t Count(const int32_t* numbers, int32_t number, size_t count) {
  int32_t equal = 0;
  for (size_t i = 0; i < count; ++i) equal += numbers[i] == number ? 1 : 0;
  return equal;
}

SCHEDSIM_FOR_EACH_PROCESSOR void Find(const int32_t* numbers, int32_t number, size_t count, size_t* places,
                                      size_t place_count) {
  constexpr size_t kBlock = 16;
  size_t found = 0;
  for (size_t begin = 0; begin < count && found < place_count; begin += kBlock) {
    const size_t length = std::min(kBlock, count - begin);
    if (length == kBlock) {
      int32_t differences = 0;
      for (size_t i = 0; i < kBlock; ++i) differences |= numbers[begin + i] ^ number;
      if (differences == 0) continue;
    }
    for (size_t i = begin; i < begin + length && found < place_count; ++i) {
      if (numbers[i] != number) places[found++] = i;
    }
  }
}

SCHEDSIM_FOR_EACH_PROCESSOR int32_t CountFalls(const int32_t* numbers, size_t count) {
  int32_t falls = 0;
  for (size_t i = 1; i < count; ++i) falls += numbers[i] <= numbers[i - 1] ? 1 : 0;
  return falls;
}

}  // namespace

size_t CountEqual(absl::Span<const int32_t> numbers, int32_t number) {
  return static_cast<size_t>(Count(numbers.data(), number, numbers.size()));
}

void FindUnequal(absl::Span<const int32_t> numbers, int32_t number, absl::Span<size_t> places) {
  Find(numbers.data(), number, numbers.size(), places.data(), places.size());
}

bool IsRising(absl::Span<const int32_t> numbers) { return CountFalls(numbers.data(), numbers.size()) == 0; }

}  // namespace schedsim
