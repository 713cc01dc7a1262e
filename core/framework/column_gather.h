// How numbers of the nodes that a cycle looks at are taken out of columns.
#ifndef SCHEDSIM_CORE_FRAMEWORK_COLUMN_GATHER_H_
#define SCHEDSIM_CORE_FRAMEWORK_COLUMN_GATHER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/types/span.h"
#include "core/framework/node_columns.h"

namespace schedsim::framework {

// Calls `run` with the place, the first position and the length of each run among `positions` (see
// LengthOfRun), provided that there are few: the nodes of a search up to the end of the list and those from
// its start on, without the few that failed. Otherwise returns false and calls nothing. Where a filter lets
// every other node pass there are hundreds of runs, and a call for each costs more than a look at each
// position.
template <typename Run>
bool InFewRuns(const NodeColumns& columns, absl::Span<const int32_t> positions, const Run& run) {
  constexpr size_t kRunsMax = 8;
  constexpr size_t kRunMin = 8;  // Where the first ones have fewer nodes, there are many.
  std::array<size_t, kRunsMax + 1> begins = {};
  size_t run_count = 0;
  while (begins[run_count] < positions.size()) {
    const bool are_short = run_count >= 2 && begins[run_count] < run_count * kRunMin;
    if (run_count == kRunsMax || are_short) return false;
    const size_t begin = begins[run_count];
    begins[++run_count] = begin + LengthOfRun(columns, positions.subspan(begin));
  }
  for (size_t i = 0; i < run_count; ++i) {
    run(begins[i], static_cast<size_t>(positions[begins[i]]), begins[i + 1] - begins[i]);
  }
  return true;
}

// Calls `visit` with the place and the position of each of `positions` whose flag is 0.
template <typename Visit>
void ForEachUnset(const NodeColumns& columns, const uint8_t* flags, absl::Span<const int32_t> positions,
                  const Visit& visit) {
  const auto run = [&](size_t begin, size_t first, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      // Where one is unset, the next one often is as well.
      if (flags[first + i] != 0) {
        const void* const next = std::memchr(flags + first + i, 0, count - i);
        if (next == nullptr) return;
        i = static_cast<size_t>(static_cast<const uint8_t*>(next) - flags) - first;
      }
      visit(begin + i, first + i);
    }
  };
  if (InFewRuns(columns, positions, run)) return;
  for (size_t i = 0; i < positions.size(); ++i) {
    const size_t position = static_cast<size_t>(positions[i]);
    if (flags[position] == 0) visit(i, position);
  }
}

// Copies the numbers at `positions` to `out`.
template <typename Number>
void Gather(const NodeColumns& columns, const Number* column, absl::Span<const int32_t> positions,
            int64_t* out) {
  const auto run = [&](size_t begin, size_t first, size_t count) {
    std::copy_n(column + first, count, out + begin);
  };
  if (InFewRuns(columns, positions, run)) return;
  for (size_t i = 0; i < positions.size(); ++i) out[i] = column[static_cast<size_t>(positions[i])];
}

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_COLUMN_GATHER_H_
