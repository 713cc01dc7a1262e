#include "sim/controllers/job_validation.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "sim/controllers/workload_fields.h"

namespace schedsim::sim {
namespace {

// Limits of Indexed jobs; the lower ones hold for jobs of more indexes than kIndexedMax that have
// backoffLimitPerIndex.
constexpr int64_t kIndexedMax = 100'000;
constexpr int64_t kOfManyIndexesMax = 10'000;
constexpr size_t kManagedByBytesMax = 63;

absl::Status Malformed(absl::string_view field, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat("spec.", field, ": expected ", expected));
}

std::string Got(absl::string_view text) {
  return absl::StrCat(", got \"", Printable(text, kShownJobTextBytesMax), "\"");
}

absl::Status CheckMost(absl::string_view field, std::optional<int64_t> number, int64_t max) {
  if (!number.has_value() || *number <= max) return absl::OkStatus();
  return Malformed(field, absl::StrCat("at most ", max, ", got ", *number));
}

struct Counts {
  std::optional<int64_t> parallelism;
  std::optional<int64_t> completions;
  std::optional<int64_t> backoff_limit_per_index;
  std::optional<int64_t> max_failed_indexes;
};

absl::Status CheckIndexed(const Counts& counts) {
  if (!counts.completions.has_value()) {
    return Malformed("completions", "a number, since the job is Indexed");
  }
  RETURN_IF_ERROR(CheckMost("parallelism", counts.parallelism, kIndexedMax));
  RETURN_IF_ERROR(CheckMost("maxFailedIndexes", counts.max_failed_indexes, *counts.completions));
  RETURN_IF_ERROR(CheckMost("maxFailedIndexes", counts.max_failed_indexes, kIndexedMax));
  if (*counts.completions <= kIndexedMax || !counts.backoff_limit_per_index.has_value()) {
    return absl::OkStatus();
  }
  if (!counts.max_failed_indexes.has_value()) {
    return Malformed("maxFailedIndexes", absl::StrCat("a number, since there are more than ", kIndexedMax,
                                                      " completions and a backoffLimitPerIndex"));
  }
  RETURN_IF_ERROR(CheckMost("parallelism", counts.parallelism, kOfManyIndexesMax));
  return CheckMost("maxFailedIndexes", counts.max_failed_indexes, kOfManyIndexesMax);
}

absl::Status CheckMode(const FieldReader& spec, const Counts& counts) {
  const std::string mode = spec.Text("completionMode", "NonIndexed");
  if (mode == "Indexed") return CheckIndexed(counts);
  if (mode != "NonIndexed") return Malformed("completionMode", "NonIndexed or Indexed" + Got(mode));
  if (counts.backoff_limit_per_index.has_value()) {
    return Malformed("backoffLimitPerIndex", "none, since the job is not Indexed");
  }
  if (counts.max_failed_indexes.has_value()) {
    return Malformed("maxFailedIndexes", "none, since the job is not Indexed");
  }
  return absl::OkStatus();
}

absl::Status CheckReplacement(const FieldReader& spec) {
  const std::string policy = spec.Text("podReplacementPolicy", "Failed");
  if (policy == "Failed") return absl::OkStatus();
  if (spec.Find("podFailurePolicy") != nullptr) {
    return Malformed("podReplacementPolicy", "Failed, since there is a podFailurePolicy" + Got(policy));
  }
  if (policy == "TerminatingOrFailed") return absl::OkStatus();
  return Malformed("podReplacementPolicy", "Failed or TerminatingOrFailed" + Got(policy));
}

// The API server sets Always where a template says nothing.
absl::Status CheckRestartPolicy(const codec::Value& root, bool has_failure_policy) {
  absl::Status error;
  const FieldReader pod(root, {"spec", "template", "spec"}, error);
  const std::string policy = pod.Text("restartPolicy", "Always");
  RETURN_IF_ERROR(error);
  if (!pod.is_present() || policy == "Never") return absl::OkStatus();
  if (has_failure_policy) {
    return Malformed("template.spec.restartPolicy", "Never, since there is a podFailurePolicy" + Got(policy));
  }
  if (policy == "OnFailure") return absl::OkStatus();
  return Malformed("template.spec.restartPolicy", "OnFailure or Never" + Got(policy));
}

}  // namespace

absl::Status CheckJob(const codec::Value& root) {
  absl::Status error;
  const FieldReader spec(root, {"spec"}, error);
  Counts counts = {.parallelism = spec.OptionalCount("parallelism"),
                   .completions = spec.OptionalCount("completions"),
                   .backoff_limit_per_index = spec.OptionalCount("backoffLimitPerIndex"),
                   .max_failed_indexes = spec.OptionalCount("maxFailedIndexes")};
  // The API server's default, where both are absent.
  if (!counts.parallelism.has_value() && !counts.completions.has_value()) counts.completions = 1;
  if (counts.max_failed_indexes.has_value() && !counts.backoff_limit_per_index.has_value()) {
    error.Update(Malformed("backoffLimitPerIndex", "a number, since there is maxFailedIndexes"));
  }
  const std::string manager = spec.Text("managedBy", "");
  if (manager.size() > kManagedByBytesMax) {
    error.Update(Malformed("managedBy", absl::StrCat("at most ", kManagedByBytesMax, " bytes")));
  }
  error.Update(CheckMode(spec, counts));
  error.Update(CheckReplacement(spec));
  error.Update(CheckRestartPolicy(root, spec.Find("podFailurePolicy") != nullptr));
  return error;
}

}  // namespace schedsim::sim
