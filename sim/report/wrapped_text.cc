#include "sim/report/wrapped_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace schedsim::sim {
namespace {

constexpr size_t kColumnsMax = 80;

}  // namespace

void AppendWrapped(absl::string_view text, size_t first, size_t hanging, std::string& out) {
  std::string line(first, ' ');
  bool is_empty = true;
  const size_t spaces = std::min(text.find_first_not_of(' '), text.size());
  line.append(spaces, ' ');
  for (const absl::string_view word : absl::StrSplit(text.substr(spaces), ' ')) {
    if (!is_empty && line.size() + 1 + word.size() > kColumnsMax) {
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

}  // namespace schedsim::sim
