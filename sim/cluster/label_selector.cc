#include "sim/cluster/label_selector.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/api/label_name.h"

namespace schedsim::sim {

absl::StatusOr<LabelSelector> LabelSelector::Parse(absl::string_view text) {
  LabelSelector selector;
  if (text.empty()) return selector;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    part = absl::StripAsciiWhitespace(part);
    Requirement requirement;
    const size_t equal = part.find('=');
    if (equal == absl::string_view::npos) {
      requirement.negated = absl::ConsumePrefix(&part, "!");
      requirement.key = std::string(part);
    } else {
      absl::string_view key = part.substr(0, equal);
      absl::string_view value = part.substr(equal + 1);
      requirement.negated = absl::ConsumeSuffix(&key, "!");
      absl::ConsumePrefix(&value, "=");
      requirement.key = std::string(absl::StripAsciiWhitespace(key));
      requirement.value = std::string(absl::StripAsciiWhitespace(value));
    }
    if (!api::LabelKeyErrors(requirement.key).empty()) {
      return absl::InvalidArgumentError(absl::StrCat("\"", text,
                                                     "\" is not a label selector, expected KEY=VALUE, ",
                                                     "KEY!=VALUE, KEY or !KEY, joined by commas"));
    }
    selector.requirements_.push_back(std::move(requirement));
  }
  return selector;
}

bool LabelSelector::Matches(const api::StringMap& labels) const {
  return std::all_of(requirements_.begin(), requirements_.end(), [&labels](const Requirement& requirement) {
    const std::string* value = labels.Find(requirement.key);
    const bool holds = value != nullptr && (!requirement.value.has_value() || *value == *requirement.value);
    return holds != requirement.negated;
  });
}

}  // namespace schedsim::sim
