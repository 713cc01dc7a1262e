#include "core/base/nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/strings/ascii.h"

namespace schedsim {
namespace {

// The largest distance at which a name of this length still looks like a slip of the pen.
int DistanceMax(size_t name_bytes) { return name_bytes < 4 ? 1 : name_bytes < 12 ? 2 : 3; }

}  // namespace

int EditDistance(absl::string_view a, absl::string_view b, int limit) {
  const auto lower = [](absl::string_view text, size_t i) {
    return absl::ascii_tolower(static_cast<unsigned char>(text[i]));
  };
  const size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference > static_cast<size_t>(limit)) return limit + 1;
  // Rows of the table of distances between the beginnings of both: two lines up, one line up, this line.
  std::vector<int> before(b.size() + 1);
  std::vector<int> above(b.size() + 1);
  std::vector<int> line(b.size() + 1);
  std::iota(line.begin(), line.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, above);
    std::swap(above, line);
    line[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int changed = above[j - 1] + (lower(a, i - 1) == lower(b, j - 1) ? 0 : 1);
      line[j] = std::min({above[j] + 1, line[j - 1] + 1, changed});
      const bool is_swap =
          i > 1 && j > 1 && lower(a, i - 1) == lower(b, j - 2) && lower(a, i - 2) == lower(b, j - 1);
      if (is_swap) line[j] = std::min(line[j], before[j - 2] + 1);
    }
  }
  return std::min(line[b.size()], limit + 1);
}

absl::string_view NearestName(absl::string_view name, const std::vector<absl::string_view>& names) {
  absl::string_view nearest;
  int best = DistanceMax(name.size()) + 1;
  for (absl::string_view candidate : names) {
    const int distance = EditDistance(name, candidate, best - 1);
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace schedsim
