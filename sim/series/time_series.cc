#include "sim/series/time_series.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "core/base/check.h"

namespace schedsim::sim {
namespace {

// Marks what stays of the points from `begin` to before `end`.
void MarkPart(const TimeSeries& series, const std::vector<std::vector<int64_t>*>& columns, size_t begin,
              size_t end, std::vector<bool>& stays) {
  stays[begin] = true;
  stays[end - 1] = true;
  size_t longest = begin;
  const auto held = [&series](size_t i) { return series.times[i + 1] - series.times[i]; };
  for (size_t i = begin; i < end && i + 1 < series.size(); ++i) {
    if (held(i) > held(longest)) longest = i;
  }
  stays[longest] = true;
  const size_t peaked = std::min(columns.size(), kCountColumns.size() + 2 * kSimplifiedResources);
  for (size_t i = 0; i < peaked; ++i) {
    const std::vector<int64_t>* column = columns[i];
    const auto first = column->begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = column->begin() + static_cast<std::ptrdiff_t>(end);
    stays[static_cast<size_t>(std::min_element(first, last) - column->begin())] = true;
    stays[static_cast<size_t>(std::max_element(first, last) - column->begin())] = true;
  }
}

template <typename T>
void Keep(const std::vector<bool>& stays, std::vector<T>& values) {
  size_t kept = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (stays[i]) values[kept++] = values[i];
  }
  values.resize(kept);
}

}  // namespace

std::vector<std::vector<int64_t>*> ColumnsOf(TimeSeries& series) {
  std::vector<std::vector<int64_t>*> columns;
  for (const CountColumn& column : kCountColumns) columns.push_back(&(series.*column.values));
  for (TimeSeries::Resource& resource : series.resources) {
    columns.insert(columns.end(), {&resource.requested, &resource.allocatable});
  }
  return columns;
}

int64_t Saturated(absl::int128 amount) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(amount, absl::int128(kMin), absl::int128(kMax)));
}

void Simplify(size_t part_count, TimeSeries& series) {
  CHECK(part_count > 0);
  const size_t size = series.size();
  if (size <= part_count) return;
  const std::vector<std::vector<int64_t>*> columns = ColumnsOf(series);
  std::vector<bool> stays(size, false);
  for (size_t part = 0; part < part_count; ++part) {
    MarkPart(series, columns, part * size / part_count, (part + 1) * size / part_count, stays);
  }
  Keep(stays, series.times);
  for (std::vector<int64_t>* column : columns) Keep(stays, *column);
}

}  // namespace schedsim::sim
