#include "sim/controllers/job_policy.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/object_writer.h"
#include "sim/controllers/job_validation.h"
#include "sim/controllers/workload_fields.h"

namespace schedsim::sim {
namespace {

// Source: kubernetes v1.37, pkg/apis/batch/validation.
constexpr size_t kRulesMax = 20;
constexpr size_t kExitCodesMax = 255;

absl::Status Malformed(absl::string_view field, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": expected ", expected));
}

// The items of the list `key`, which is the field `name`; empty where it is absent.
absl::Status ReadList(const FieldReader& fields, absl::string_view key, absl::string_view name,
                      absl::Span<const codec::Value>& items) {
  const codec::Value* list = fields.Find(key);
  if (list == nullptr) return absl::OkStatus();
  if (!list->is_array() || list->items.size() > kRulesMax * kRulesMax) return Malformed(name, "a list");
  items = list->items;
  return absl::OkStatus();
}

// Of the template's containers, also those that run first.
std::set<std::string> ContainerNames(const codec::Value& root) {
  std::set<std::string> names;
  absl::Status error;
  const FieldReader pod(root, {"spec", "template", "spec"}, error);
  for (const char* list : {"containers", "initContainers"}) {
    const codec::Value* containers = pod.Find(list);
    for (size_t i = 0; containers != nullptr && i < containers->items.size(); ++i) {
      names.insert(FieldReader(containers->items[i], {}, error).Text("name", ""));
    }
  }
  return names;
}

// As Go's strconv.Atoi reads it, but that an index has no sign in front.
bool IsIndex(absl::string_view text, int64_t& index) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(text, &index);
}

std::optional<PodFailure::Action> ActionOf(absl::string_view name) {
  using Action = PodFailure::Action;
  if (name == "Count") return Action::kCount;
  if (name == "Ignore") return Action::kIgnore;
  if (name == "FailIndex") return Action::kFailIndex;
  if (name == "FailJob") return Action::kFailJob;
  return std::nullopt;
}

}  // namespace

absl::Status IndexRanges::Read(const std::string& text, int64_t completions, IndexRanges& ranges) {
  const auto malformed = [&text](absl::string_view expected) {
    return Malformed("succeededIndexes", absl::StrCat(expected, ", such as 0,2-4, got \"",
                                                      Printable(text, kShownJobTextBytesMax), "\""));
  };
  if (text.empty()) return absl::OkStatus();
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::vector<absl::string_view> limits = absl::StrSplit(part, '-');
    Range range;
    const bool has_first = limits.size() <= 2 && IsIndex(limits.front(), range.first);
    if (!has_first || !IsIndex(limits.back(), range.last)) return malformed("indexes, and ranges of them");
    if (range.last >= completions) return malformed(absl::StrCat("indexes below ", completions));
    const bool rises = ranges.ranges_.empty() || ranges.ranges_.back().last < range.first;
    if (!rises || (limits.size() == 2 && range.first >= range.last))
      return malformed("indexes in rising order");
    ranges.ranges_.push_back(range);
    ranges.count_ += range.last - range.first + 1;
  }
  return absl::OkStatus();
}

int64_t IndexRanges::CountOf(const Indexes& indexes) const {
  int64_t count = 0;
  auto range = ranges_.begin();
  for (const int64_t index : indexes) {
    while (range != ranges_.end() && range->last < index) ++range;
    if (range == ranges_.end()) break;
    count += index >= range->first ? 1 : 0;
  }
  return count;
}

std::string IndexesText(const Indexes& indexes) {
  std::string text;
  for (auto first = indexes.begin(); first != indexes.end();) {
    auto end = std::next(first);
    int64_t last = *first;
    while (end != indexes.end() && *end == last + 1) last = *end++;
    absl::StrAppend(&text, text.empty() ? "" : ",", *first);
    if (last > *first) absl::StrAppend(&text, last == *first + 1 ? "," : "-", last);
    first = end;
  }
  return text;
}

Indexes ParseIndexes(absl::string_view text) {
  Indexes indexes;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::vector<absl::string_view> limits = absl::StrSplit(part, '-');
    int64_t first = 0;
    if (!absl::SimpleAtoi(limits[0], &first)) continue;
    int64_t last = first;
    if (limits.size() > 1 && !absl::SimpleAtoi(limits[1], &last)) continue;
    const int64_t lowest = indexes.empty() ? 0 : *indexes.rbegin() + 1;
    if (first < lowest || last > kPodsMax) continue;
    for (int64_t index = first; index <= last; ++index) indexes.insert(index);
  }
  return indexes;
}

absl::Status PodFailurePolicy::Rule::ReadExitCodes(const codec::Value& item) {
  absl::Status error;
  const FieldReader fields(item, {"onExitCodes"}, error);
  absl::Span<const codec::Value> values;
  RETURN_IF_ERROR(ReadList(fields, "values", "onExitCodes.values", values));
  const std::string operator_name = fields.Text("operator", "");
  has_exit_codes = true;
  is_in = operator_name == "In";
  container = fields.Text("containerName", "");
  if (!is_in && operator_name != "NotIn") return Malformed("onExitCodes.operator", "In or NotIn");
  if (values.empty()) return Malformed("onExitCodes.values", "at least one number");
  if (values.size() > kExitCodesMax) return Malformed("onExitCodes.values", "at most 255 numbers");
  for (const codec::Value& value : values) {
    int64_t code = 0;
    if (!absl::SimpleAtoi(value.text, &code)) return Malformed("onExitCodes.values", "whole numbers");
    if (is_in && code == 0) return Malformed("onExitCodes.values", "no 0 where the operator is In");
    if (!exit_codes.empty() && code <= *exit_codes.rbegin()) {
      return Malformed("onExitCodes.values", "numbers in order, each once");
    }
    exit_codes.insert(code);
  }
  return error;
}

absl::Status PodFailurePolicy::Rule::Read(const codec::Value& item, Rule& rule) {
  absl::Status error;
  const FieldReader fields(item, {}, error);
  const std::optional<PodFailure::Action> action = ActionOf(fields.Text("action", ""));
  if (!action.has_value()) return Malformed("action", "Count, Ignore, FailIndex or FailJob");
  rule.action = *action;
  const FieldReader exit_codes(item, {"onExitCodes"}, error);
  absl::Span<const codec::Value> patterns;
  RETURN_IF_ERROR(ReadList(fields, "onPodConditions", "onPodConditions", patterns));
  if (exit_codes.is_present() != patterns.empty()) {
    return Malformed("onExitCodes", "either this or onPodConditions");
  }
  if (exit_codes.is_present()) RETURN_IF_ERROR(rule.ReadExitCodes(item));
  for (const codec::Value& pattern : patterns) {
    const FieldReader condition(pattern, {}, error);
    rule.conditions.push_back({condition.Text("type", ""), condition.Text("status", "True")});
    if (rule.conditions.back().type.empty())
      return Malformed("onPodConditions.type", "the type of a condition");
    const std::string& status = rule.conditions.back().status;
    if (status != "True" && status != "False" && status != "Unknown")
      return Malformed("onPodConditions.status", "True, False or Unknown");
  }
  return error;
}

absl::Status PodFailurePolicy::Read(const codec::Value& root, PodFailurePolicy& policy) {
  absl::Status error;
  const FieldReader fields(root, {"spec", "podFailurePolicy"}, error);
  const FieldReader spec(root, {"spec"}, error);
  absl::Span<const codec::Value> items;
  RETURN_IF_ERROR(ReadList(fields, "rules", "spec.podFailurePolicy.rules", items));
  if (items.size() > kRulesMax) return Malformed("spec.podFailurePolicy.rules", "at most 20 rules");
  const std::set<std::string> containers = ContainerNames(root);
  for (const codec::Value& item : items) {
    Rule rule;
    const absl::Status read = Rule::Read(item, rule);
    const std::string place = absl::StrCat("spec.podFailurePolicy.rules[", policy.rules_.size(), "].");
    if (!read.ok()) return absl::InvalidArgumentError(absl::StrCat(place, read.message()));
    const bool needs_limit = rule.action == PodFailure::Action::kFailIndex;
    if (needs_limit && spec.Find("backoffLimitPerIndex") == nullptr) {
      return Malformed(absl::StrCat(place, "action"), "no FailIndex without spec.backoffLimitPerIndex");
    }
    if (!rule.container.empty() && containers.count(rule.container) == 0) {
      return Malformed(absl::StrCat(place, "onExitCodes.containerName"), "a container of the template");
    }
    policy.rules_.push_back(std::move(rule));
  }
  return error;
}

std::optional<std::string> PodFailurePolicy::Rule::Match(const api::Pod& pod,
                                                         const codec::Value& status) const {
  absl::Status error;
  const FieldReader fields(status, {}, error);
  for (const char* list : {"containerStatuses", "initContainerStatuses"}) {
    const codec::Value* statuses = has_exit_codes ? fields.Find(list) : nullptr;
    for (size_t i = 0; statuses != nullptr && i < statuses->items.size(); ++i) {
      const codec::Value& item = statuses->items[i];
      const std::string name = FieldReader(item, {}, error).Text("name", "");
      if (!container.empty() && name != container) continue;
      const int64_t code = FieldReader(item, {"state", "terminated"}, error).Int("exitCode", 0);
      if (code == 0 || (exit_codes.count(code) > 0) != is_in) continue;
      return absl::StrCat("Container ", name, " for pod ", pod.Key(), " failed with exit code ", code);
    }
  }
  for (const api::PodCondition& condition : pod.status.conditions) {
    for (const PodCondition& pattern : conditions) {
      if (condition.type != pattern.type || condition.status != pattern.status) continue;
      return absl::StrCat("Pod ", pod.Key(), " has condition ", condition.type);
    }
  }
  return std::nullopt;
}

PodFailure PodFailurePolicy::Match(const api::Pod& pod) const {
  PodFailure failure;
  if (rules_.empty()) return failure;
  codec::VisitObjectTree(pod, [&](const codec::Value& root) {
    const codec::Value none;
    const codec::Value* status = root.Find("status");
    for (size_t i = 0; i < rules_.size(); ++i) {
      std::optional<std::string> match = rules_[i].Match(pod, status == nullptr ? none : *status);
      if (!match.has_value()) continue;
      failure.action = rules_[i].action;
      failure.message = absl::StrCat(*match, " matching FailJob rule at index ", i);
      break;
    }
  });
  return failure;
}

absl::Status SuccessPolicy::Read(const codec::Value& root, SuccessPolicy& policy) {
  absl::Status error;
  const FieldReader fields(root, {"spec", "successPolicy"}, error);
  const FieldReader spec(root, {"spec"}, error);
  if (!fields.is_present()) return error;
  if (spec.Text("completionMode", "NonIndexed") != "Indexed") {
    return Malformed("spec.successPolicy", "none, since the job is not Indexed");
  }
  absl::Span<const codec::Value> items;
  RETURN_IF_ERROR(ReadList(fields, "rules", "spec.successPolicy.rules", items));
  if (items.empty() || items.size() > kRulesMax) {
    return Malformed("spec.successPolicy.rules", "from 1 to 20 rules");
  }
  for (const codec::Value& item : items) {
    const FieldReader rule(item, {}, error);
    const std::string place = absl::StrCat("spec.successPolicy.rules[", policy.rules_.size(), "]");
    Rule read;
    const int64_t completions = spec.Int("completions", 0);
    int64_t most = completions;
    if (rule.Find("succeededIndexes") != nullptr) {
      const std::string text = rule.Text("succeededIndexes", "");
      const absl::Status indexes = IndexRanges::Read(text, completions, read.indexes.emplace());
      if (!indexes.ok()) return absl::InvalidArgumentError(absl::StrCat(place, ".", indexes.message()));
      most = read.indexes->count();
    }
    read.count = rule.OptionalCount("succeededCount");
    if (read.count.value_or(0) > most) {
      return Malformed(absl::StrCat(place, ".succeededCount"),
                       absl::StrCat("at most ", most, ", got ", *read.count));
    }
    if (!read.indexes.has_value() && !read.count.has_value()) {
      return Malformed(place, "succeededIndexes or succeededCount");
    }
    policy.rules_.push_back(std::move(read));
  }
  return error;
}

std::optional<size_t> SuccessPolicy::Match(const Indexes& succeeded) const {
  for (size_t i = 0; i < rules_.size() && !succeeded.empty(); ++i) {
    const Rule& rule = rules_[i];
    if (rule.indexes.has_value() && rule.indexes->count() == 0) continue;
    const int64_t count =
        rule.indexes.has_value() ? rule.indexes->CountOf(succeeded) : static_cast<int64_t>(succeeded.size());
    const int64_t wanted = rule.count.value_or(rule.indexes.has_value() ? rule.indexes->count() : 0);
    if (count >= wanted) return i;
  }
  return std::nullopt;
}

}  // namespace schedsim::sim
