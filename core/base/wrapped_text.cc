#include "core/base/wrapped_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace schedsim {
namespace {

// Where a line goes on: below what its first two spaces within set off, if that is not far to the right.
size_t HangingOf(absl::string_view line, size_t columns_max) {
  const size_t start = std::min(line.find_first_not_of(' '), line.size());
  const size_t gap = line.find("  ", start);
  if (gap == absl::string_view::npos) return start;
  const size_t column = std::min(line.find_first_not_of(' ', gap), line.size());
  return column > columns_max / 2 ? start : column;
}

}  // namespace

void AppendWrapped(absl::string_view text, size_t first, size_t hanging, size_t columns_max,
                   std::string& out) {
  std::string line(first, ' ');
  bool is_empty = true;
  const size_t spaces = std::min(text.find_first_not_of(' '), text.size());
  line.append(spaces, ' ');
  for (const absl::string_view word : absl::StrSplit(text.substr(spaces), ' ')) {
    if (!is_empty && line.size() + 1 + word.size() > columns_max) {
      // Columns are set off by two spaces, which are not to end a line.
      while (!line.empty() && line.back() == ' ') line.pop_back();
      absl::StrAppend(&out, line, "\n");
      line.assign(hanging, ' ');
      is_empty = true;
    }
    absl::StrAppend(&line, is_empty ? "" : " ", word);
    is_empty = false;
  }
  absl::StrAppend(&out, line, "\n");
}

std::string FitLines(absl::string_view text, size_t columns_max) {
  std::string fitted;
  if (columns_max == 0) return fitted.assign(text.data(), text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const absl::string_view line = text.substr(at, end - at);
    if (line.size() > columns_max) {
      AppendWrapped(line, 0, HangingOf(line, columns_max), columns_max, fitted);
    } else {
      absl::StrAppend(&fitted, line, "\n");
    }
    at = end + 1;
  }
  return fitted;
}

}  // namespace schedsim
