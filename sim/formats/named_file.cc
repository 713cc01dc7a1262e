#include "sim/formats/named_file.h"

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/printable.h"

namespace schedsim::sim {
namespace {

// Tells whether the message begins with `file:line:column: `.
bool HasLine(absl::string_view message) {
  const std::vector<absl::string_view> parts = absl::StrSplit(message.substr(0, message.find(": ")), ':');
  int64_t number = 0;
  return parts.size() > 2 && absl::SimpleAtoi(parts[parts.size() - 1], &number) &&
         absl::SimpleAtoi(parts[parts.size() - 2], &number);
}

}  // namespace

absl::Status AtName(const absl::Status& status, absl::string_view named_at) {
  if (status.ok() || named_at.empty() || HasLine(status.message())) return status;
  return {status.code(), absl::StrCat(named_at, ": ", Printable(status.message()))};
}

}  // namespace schedsim::sim
