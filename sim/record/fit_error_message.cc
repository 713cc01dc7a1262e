#include "sim/record/fit_error_message.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace schedsim::sim {
namespace {

using Reason = FitErrorMessage::Reason;

// "3 Insufficient cpu, 1 node(s) were unschedulable."
std::vector<Reason> ReadReasons(absl::string_view text) {
  std::vector<Reason> reasons;
  for (absl::string_view part : absl::StrSplit(text.substr(0, text.find(". ")), ", ")) {
    const std::pair<absl::string_view, absl::string_view> split =
        absl::StrSplit(part, absl::MaxSplits(' ', 1));
    int64_t count = 0;
    if (absl::SimpleAtoi(split.first, &count)) {
      reasons.push_back({.node_count = count, .reason = std::string(split.second)});
    } else if (!reasons.empty()) {
      absl::StrAppend(&reasons.back().reason, ", ", part);  // A comma within a reason.
    }
  }
  if (!reasons.empty() && absl::EndsWith(reasons.back().reason, ".")) reasons.back().reason.pop_back();
  return reasons;
}

}  // namespace

std::optional<FitErrorMessage> ReadFitErrorMessage(absl::string_view message) {
  FitErrorMessage result;
  if (!absl::ConsumePrefix(&message, "0/")) return std::nullopt;
  if (!absl::SimpleAtoi(message.substr(0, message.find(' ')), &result.node_count)) return std::nullopt;
  constexpr absl::string_view kStart = "nodes are available: ";
  const size_t start = message.find(kStart);
  if (start != absl::string_view::npos) result.reasons = ReadReasons(message.substr(start + kStart.size()));
  return result;
}

}  // namespace schedsim::sim
