#include "sim/cluster/admission/job_validation.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/dns_name.h"
#include "core/api/go_text.h"
#include "sim/cluster/admission/template_validation.h"
#include "sim/cluster/cron_schedule.h"

namespace schedsim::sim {
namespace {

// Limits of Indexed jobs; the lower ones hold for jobs of more indexes than kIndexedMax that have
// backoffLimitPerIndex.
constexpr int64_t kIndexedMax = 100'000;
constexpr int64_t kOfManyIndexesMax = 10'000;
constexpr size_t kRulesMax = 20;
constexpr size_t kExitCodesMax = 255;
constexpr size_t kManagedByBytesMax = 63;
constexpr size_t kIndexesBytesMax = 64 * 1024;
// The jobs of a CronJob add eleven characters to its name.
constexpr size_t kCronJobNameBytesMax = 52;

constexpr absl::string_view kModes[] = {"NonIndexed", "Indexed"};
constexpr absl::string_view kActions[] = {"Count", "FailIndex", "FailJob", "Ignore"};
constexpr absl::string_view kExitCodeOperators[] = {"In", "NotIn"};
constexpr absl::string_view kStatuses[] = {"False", "True", "Unknown"};
constexpr absl::string_view kReplacements[] = {"Failed", "TerminatingOrFailed"};
constexpr absl::string_view kReplacementOfPolicy[] = {"Failed"};
constexpr absl::string_view kRestartPolicies[] = {"OnFailure", "Never"};
constexpr absl::string_view kConcurrencyPolicies[] = {"Allow", "Forbid", "Replace"};

bool IsIndexed(const FieldAt& spec) { return spec.Child("completionMode").Text() == "Indexed"; }

// A text that must be there and be one of `values`, which the message lists.
void CheckNamed(const FieldAt& text, absl::Span<const absl::string_view> values, ValidationErrors& errors) {
  if (!text.Text().empty()) return errors.OneOf(text, values);
  std::vector<std::string> quoted;
  for (const absl::string_view value : values) quoted.push_back(api::GoQuote(value));
  errors.Required(text.path, absl::StrCat("valid values: [", absl::StrJoin(quoted, " "), "]"));
}

// Source: apimachinery v0.37, pkg/util/validation/validation.go, IsDomainPrefixedPath.
void CheckManager(const FieldAt& manager, ValidationErrors& errors) {
  if (!manager.is_present()) return;
  const std::string text = manager.Text();
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('/', 1));
  if (text.empty()) {
    errors.Required(manager.path, "");
  } else if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
    errors.Invalid(manager.path, text, "must be a domain-prefixed path (such as \"acme.io/foo\")");
  } else {
    errors.DnsSubdomain(manager.path, parts[0]);
  }
  if (text.size() > kManagedByBytesMax) errors.TooLong(manager.path, kManagedByBytesMax);
}

void CheckMost(const FieldAt& number, int64_t most, absl::string_view why, ValidationErrors& errors) {
  const std::optional<int64_t> value = number.Number();
  if (value.has_value() && *value > most)
    errors.Invalid(number.path, *value, absl::StrCat("must be less than or equal to ", most, why));
}

void CheckIndexed(const FieldAt& spec, ValidationErrors& errors) {
  const FieldAt parallelism = spec.Child("parallelism");
  const FieldAt failed = spec.Child("maxFailedIndexes");
  const std::optional<int64_t> completions = spec.Child("completions").Number();
  if (!completions.has_value())
    errors.Required(spec.Child("completions").path, "when completion mode is Indexed");
  CheckMost(parallelism, kIndexedMax, " when completion mode is Indexed", errors);
  if (completions.has_value() && failed.Number().value_or(0) > *completions)
    errors.Invalid(failed.path, *failed.Number(), "must be less than or equal to completions");
  CheckMost(failed, kIndexedMax, "", errors);
  const bool is_large = completions.value_or(0) > kIndexedMax;
  if (!is_large || !spec.Child("backoffLimitPerIndex").is_present()) return;
  if (!failed.is_present()) {
    errors.Required(failed.path, absl::StrCat("must be specified when completions is above ", kIndexedMax));
  }
  const std::string why =
      absl::StrCat(" when completions are above ", kIndexedMax, " and used with backoff limit per index");
  CheckMost(parallelism, kOfManyIndexesMax, why, errors);
  CheckMost(failed, kOfManyIndexesMax, why, errors);
}

void CheckCounts(const FieldAt& spec, ValidationErrors& errors) {
  for (const absl::string_view name : {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                                       "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"})
    errors.NotNegative(spec.Child(name));
  const FieldAt per_index = spec.Child("backoffLimitPerIndex");
  const FieldAt failed = spec.Child("maxFailedIndexes");
  if (failed.is_present() && !per_index.is_present())
    errors.Required(per_index.path, "when maxFailedIndexes is specified");
  CheckManager(spec.Child("managedBy"), errors);
  errors.OneOf(spec.Child("completionMode"), kModes);
  const std::string mode = spec.Child("completionMode").Text();
  if (mode == "Indexed") CheckIndexed(spec, errors);
  if (!mode.empty() && mode != "NonIndexed") return;
  for (const FieldAt& number : {per_index, failed}) {
    if (number.is_present()) {
      errors.Invalid(number.path, number.Number().value_or(0), "requires indexed completion mode");
    }
  }
}

void CheckExitCodes(const FieldAt& exit_codes, const std::set<std::string>& containers,
                    ValidationErrors& errors) {
  const FieldAt operator_text = exit_codes.Child("operator");
  CheckNamed(operator_text, kExitCodeOperators, errors);
  const FieldAt name = exit_codes.Child("containerName");
  if (name.is_present() && !containers.contains(name.Text())) {
    errors.Invalid(name.path, name.Text(),
                   "must be one of the container or initContainer names in the pod template");
  }
  const FieldAt values = exit_codes.Child("values");
  if (values.size() == 0) {
    errors.InvalidJson(values.path, SortedJson(values), "at least one value is required");
  } else if (values.size() > kExitCodesMax) {
    errors.TooMany(values.path, values.size(), kExitCodesMax);
  }
  std::set<int64_t> seen;
  bool is_ordered = true;
  int64_t before = INT64_MIN;
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t value = values.Item(i).Number().value_or(0);
    const std::string& path = values.Item(i).path;
    if (operator_text.Text() == "In" && value == 0)
      errors.Invalid(path, value, "must not be 0 for the In operator");
    if (!seen.insert(value).second) errors.Add(path, absl::StrCat("Duplicate value: ", value));
    is_ordered = is_ordered && before <= value;
    before = value;
  }
  if (!is_ordered) errors.InvalidJson(values.path, SortedJson(values), "must be ordered");
}

void CheckFailureRule(const FieldAt& rule, bool is_per_index, const std::set<std::string>& containers,
                      ValidationErrors& errors) {
  const FieldAt action = rule.Child("action");
  CheckNamed(action, kActions, errors);
  if (action.Text() == "FailIndex" && !is_per_index)
    errors.Invalid(action.path, action.Text(), "requires the backoffLimitPerIndex to be set");
  const FieldAt exit_codes = rule.Child("onExitCodes");
  const FieldAt conditions = rule.Child("onPodConditions");
  if (exit_codes.is_present()) CheckExitCodes(exit_codes, containers, errors);
  if (conditions.size() > kRulesMax) errors.TooMany(conditions.path, conditions.size(), kRulesMax);
  for (size_t i = 0; i < conditions.size(); ++i) {
    const FieldAt type = conditions.Item(i).Child("type");
    errors.LabelName(type.path, type.Text());
    errors.OneOf(conditions.Item(i).Child("status"), kStatuses);
  }
  if (exit_codes.is_present() && conditions.size() > 0) {
    errors.Add(rule.path, "Invalid value: specifying both OnExitCodes and OnPodConditions is not supported");
  } else if (!exit_codes.is_present() && conditions.size() == 0) {
    errors.Add(rule.path, "Invalid value: specifying one of OnExitCodes and OnPodConditions is required");
  }
}

void CheckFailurePolicy(const FieldAt& spec, ValidationErrors& errors) {
  const FieldAt rules = spec.Child("podFailurePolicy").Child("rules");
  if (rules.size() > kRulesMax) errors.TooMany(rules.path, rules.size(), kRulesMax);
  std::set<std::string> containers;
  for (const absl::string_view list : {"containers", "initContainers"}) {
    const FieldAt of_pod = spec.Child("template").Child("spec").Child(list);
    for (size_t i = 0; i < of_pod.size(); ++i) containers.insert(of_pod.Item(i).Child("name").Text());
  }
  const bool is_per_index = spec.Child("backoffLimitPerIndex").is_present();
  for (size_t i = 0; i < rules.size(); ++i) CheckFailureRule(rules.Item(i), is_per_index, containers, errors);
}

// Reads an index as Go's strconv.Atoi does; what is wrong with it, or "".
std::string IndexFault(const std::string& text, int64_t completions, int64_t& index) {
  if (!absl::SimpleAtoi(text, &index))
    return absl::StrCat("cannot convert string to integer for index: ", api::GoQuote(text));
  return index < completions ? "" : absl::StrCat("too large index: ", api::GoQuote(text));
}

// What is wrong with a list of indexes, or "", and how many there are.
// Source: kubernetes v1.37, pkg/apis/batch/validation/validation.go, validateIndexesFormat.
std::string IndexesFault(const std::string& text, int64_t completions, int64_t& count) {
  constexpr absl::string_view kNotRising = "non-increasing order, previous: ";
  int64_t last = INT64_MIN;
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  for (const std::string& part : parts) {
    const std::vector<std::string> limits = absl::StrSplit(part, '-');
    if (limits.size() > 2) {
      return absl::StrCat("the fragment ", api::GoQuote(part),
                          " violates the requirement that an index interval can have at most two parts "
                          "separated by '-'");
    }
    int64_t first = 0;
    std::string fault = IndexFault(limits[0], completions, first);
    int64_t end = first;
    if (fault.empty() && limits.size() == 2) {
      fault = IndexFault(limits[1], completions, end);
      if (fault.empty() && first >= end) fault = absl::StrCat(kNotRising, first, ", current: ", end);
    }
    if (fault.empty() && last != INT64_MIN && last >= first)
      fault = absl::StrCat(kNotRising, last, ", current: ", first);
    if (!fault.empty()) return fault;
    count += end - first + 1;
    last = end;
  }
  return "";
}

void CheckSuccessRule(const FieldAt& rule, int64_t completions, ValidationErrors& errors) {
  const FieldAt indexes = rule.Child("succeededIndexes");
  const FieldAt count = rule.Child("succeededCount");
  if (!indexes.is_present() && !count.is_present())
    errors.Required(rule.path, "at least one of succeededCount or succeededIndexes must be specified");
  int64_t listed = 0;
  const std::string text = indexes.Text();
  if (text.size() > kIndexesBytesMax) errors.TooLong(indexes.path, kIndexesBytesMax);
  const std::string fault = text.empty() ? "" : IndexesFault(text, completions, listed);
  if (!fault.empty()) {
    errors.Invalid(indexes.path, text, absl::StrCat("error parsing succeededIndexes: ", fault));
    listed = 0;
  }
  errors.NotNegative(count);
  CheckMost(count, completions, " (the number of specified completions)", errors);
  if (indexes.is_present()) {
    CheckMost(count, listed, " (the number of indexes in the specified succeededIndexes field)", errors);
  }
}

// A policy as the API server prints it: by the names of its Go struct.
std::string SuccessPolicyJson(const FieldAt& policy) {
  std::vector<std::string> rules;
  for (size_t i = 0; i < policy.Child("rules").size(); ++i) {
    const FieldAt rule = policy.Child("rules").Item(i);
    rules.push_back(absl::StrCat("{\"SucceededIndexes\":", SortedJson(rule.Child("succeededIndexes")),
                                 ",\"SucceededCount\":", SortedJson(rule.Child("succeededCount")), "}"));
  }
  return absl::StrCat("{\"Rules\":[", absl::StrJoin(rules, ","), "]}");
}

void CheckSuccessPolicy(const FieldAt& spec, ValidationErrors& errors) {
  const FieldAt policy = spec.Child("successPolicy");
  if (!policy.is_present()) return;
  if (!IsIndexed(spec)) {
    return errors.InvalidJson(policy.path, SuccessPolicyJson(policy), "requires indexed completion mode");
  }
  const FieldAt rules = policy.Child("rules");
  if (rules.size() == 0)
    errors.Required(rules.path, "at least one rules must be specified when the successPolicy is specified");
  if (rules.size() > kRulesMax) errors.TooMany(rules.path, rules.size(), kRulesMax);
  const int64_t completions = spec.Child("completions").Number().value_or(0);
  for (size_t i = 0; i < rules.size(); ++i) CheckSuccessRule(rules.Item(i), completions, errors);
}

// The API server sets Always where a template says nothing.
void CheckRestartPolicy(const FieldAt& spec, ValidationErrors& errors) {
  const FieldAt policy = spec.Child("template").Child("spec").Child("restartPolicy");
  const std::string text = policy.Text();
  if (text.empty() || text == "Always") {
    errors.Required(policy.path, R"(valid values: "OnFailure", "Never")");
  } else if (!absl::c_linear_search(kRestartPolicies, text)) {
    errors.NotSupported(policy.path, text, kRestartPolicies);
  } else if (spec.Child("podFailurePolicy").is_present() && text != "Never") {
    errors.Invalid(policy.path, text, "only \"Never\" is supported when podFailurePolicy is specified");
  }
}

// What Jobs and the templates of CronJobs have in common.
void CheckJobSpec(const FieldAt& spec, ValidationErrors& errors) {
  CheckCounts(spec, errors);
  const bool has_failure_policy = spec.Child("podFailurePolicy").is_present();
  if (has_failure_policy) CheckFailurePolicy(spec, errors);
  CheckSuccessPolicy(spec, errors);
  if (has_failure_policy) {
    errors.OneOf(spec.Child("podReplacementPolicy"), kReplacementOfPolicy);
  } else {
    errors.OneOf(spec.Child("podReplacementPolicy"), kReplacements);
  }
  CheckTemplate(spec.Child("template"), {}, errors);
  CheckRestartPolicy(spec, errors);
}

// A selector is the user's own only where he says so: else it would be made, and what stands there has to be
// the same. Source: as above, validateGeneratedSelector.
void CheckGeneratedSelector(const FieldAt& spec, ValidationErrors& errors) {
  const FieldAt selector = spec.Child("selector");
  if (spec.Child("manualSelector").IsTrue() || !selector.is_present() || IsEmptySelector(selector)) return;
  errors.InvalidJson(selector.path, SelectorJson(selector), "`selector` not auto-generated");
}

void CheckManualSelector(const FieldAt& spec, ValidationErrors& errors) {
  if (!spec.Child("manualSelector").IsTrue()) return;
  const FieldAt selector = spec.Child("selector");
  if (!selector.is_present()) errors.Required(selector.path, "");
  errors.LabelSelector(selector);
  CheckSelects(selector, spec.Child("template"), errors);
}

void CheckIndexedName(const FieldAt& root, ValidationErrors& errors) {
  const FieldAt spec = root.Child("spec");
  const int64_t completions = spec.Child("completions").Number().value_or(0);
  const FieldAt name = root.Child("metadata").Child("name");
  if (!IsIndexed(spec) || completions <= 0 || name.Text().empty()) return;
  const std::string host = absl::StrCat(name.Text(), "-", completions - 1);
  if (api::DnsLabelErrors(host).empty()) return;
  errors.Invalid(name.path, name.Text(),
                 absl::StrCat("will not able to create pod with invalid DNS label: ", host));
}

}  // namespace

void CheckJob(const codec::Value& root, ValidationErrors& errors) {
  const FieldAt spec = RootOf(root).Child("spec");
  CheckGeneratedSelector(spec, errors);
  // Pods get the name as a label.
  if (!spec.Child("manualSelector").IsTrue())
    errors.LabelValue("spec.template.labels", RootOf(root).Child("metadata").Child("name").Text());
  CheckJobSpec(spec, errors);
  CheckManualSelector(spec, errors);
  CheckIndexedName(RootOf(root), errors);
}

void CheckCronJob(const codec::Value& root, ValidationErrors& errors) {
  const FieldAt spec = RootOf(root).Child("spec");
  const FieldAt schedule = spec.Child("schedule");
  if (schedule.Text().empty()) {
    errors.Required(schedule.path, "");
  } else {
    const absl::Status parsed = CronSchedule::Parse(schedule.Text()).status();
    if (!parsed.ok()) errors.Invalid(schedule.path, schedule.Text(), parsed.message());
  }
  errors.NotNegative(spec.Child("startingDeadlineSeconds"));
  const FieldAt zone = spec.Child("timeZone");
  const absl::Status found = zone.is_present() ? FindTimeZone(zone.Text()).status() : absl::OkStatus();
  if (!found.ok()) errors.Invalid(zone.path, zone.Text(), found.message());
  if (!spec.Child("concurrencyPolicy").Text().empty())
    errors.OneOf(spec.Child("concurrencyPolicy"), kConcurrencyPolicies);
  const FieldAt job = spec.Child("jobTemplate").Child("spec");
  CheckJobSpec(job, errors);
  const FieldAt selector = job.Child("selector");
  if (selector.is_present())
    errors.InvalidJson(selector.path, SelectorJson(selector), "`selector` will be auto-generated");
  const FieldAt manual = job.Child("manualSelector");
  if (manual.IsTrue())
    errors.Add(manual.path, R"(Unsupported value: true: supported values: "nil", "false")");
  errors.NotNegative(spec.Child("successfulJobsHistoryLimit"));
  errors.NotNegative(spec.Child("failedJobsHistoryLimit"));
  const FieldAt name = RootOf(root).Child("metadata").Child("name");
  if (name.Text().size() > kCronJobNameBytesMax) {
    errors.Invalid(name.path, name.Text(),
                   absl::StrCat("must be no more than ", kCronJobNameBytesMax, " characters"));
  }
}

}  // namespace schedsim::sim
