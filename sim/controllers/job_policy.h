// What a Job says about pods that fail, and about when enough of them have succeeded.
#ifndef SCHEDSIM_SIM_CONTROLLERS_JOB_POLICY_H_
#define SCHEDSIM_SIM_CONTROLLERS_JOB_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/api/pod.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// Completion indexes, in order.
using Indexes = std::set<int64_t>;

// Completion indexes that a text lists: few ranges may hold very many.
class IndexRanges {
 public:
  // Those of a rule's text, for a job of `completions` indexes. InvalidArgument for what is malformed.
  // Source: kubernetes v1.37, pkg/apis/batch/validation/validation.go, validateIndexesFormat.
  static absl::Status Read(const std::string& text, int64_t completions, IndexRanges& ranges);

  int64_t count() const { return count_; }
  // How many of the indexes are among these.
  int64_t CountOf(const Indexes& indexes) const;

 private:
  struct Range {
    int64_t first = 0;
    int64_t last = 0;
  };
  std::vector<Range> ranges_;  // In order.
  int64_t count_ = 0;
};

// "1,3-5", as statuses have it, and back; what is no number, not above those before, or more than any job
// has, is left out.
std::string IndexesText(const Indexes& indexes);
Indexes ParseIndexes(absl::string_view text);

// What becomes of a pod that failed.
struct PodFailure {
  enum class Action { kCount, kIgnore, kFailIndex, kFailJob };
  Action action = Action::kCount;
  // Why the whole job fails, of kFailJob.
  std::string message;
};

// spec.podFailurePolicy: the first rule that fits says what becomes of a pod; without one it counts.
// Source: kubernetes v1.37, pkg/controller/job/pod_failure_policy.go.
class PodFailurePolicy {
 public:
  // Of `root`, a Job. InvalidArgument for what is malformed.
  static absl::Status Read(const codec::Value& root, PodFailurePolicy& policy);

  // A pod that is gone has no exit code but that of its last status.
  PodFailure Match(const api::Pod& pod) const;

 private:
  struct PodCondition {
    std::string type;
    std::string status;
  };
  struct Rule {
    PodFailure::Action action = PodFailure::Action::kCount;
    // Either this one, of any container where `container` is empty,
    bool has_exit_codes = false;
    bool is_in = false;
    std::string container;
    std::set<int64_t> exit_codes;
    // or any of these.
    std::vector<PodCondition> conditions;

    static absl::Status Read(const codec::Value& item, Rule& rule);
    absl::Status ReadExitCodes(const codec::Value& item);
    // The message of kFailJob, without the rule; absent: the rule does not fit.
    std::optional<std::string> Match(const api::Pod& pod, const codec::Value& status) const;
  };
  std::vector<Rule> rules_;
};

// spec.successPolicy: rules by which an Indexed job is done before all of its indexes are.
// Source: kubernetes v1.37, pkg/controller/job/success_policy.go.
class SuccessPolicy {
 public:
  // Of `root`, a Job. InvalidArgument for what is malformed.
  static absl::Status Read(const codec::Value& root, SuccessPolicy& policy);

  // The number of the first rule that is met; absent: none is.
  std::optional<size_t> Match(const Indexes& succeeded) const;

 private:
  struct Rule {
    // Those that count; absent: all.
    std::optional<IndexRanges> indexes;
    // How many of them; absent: all of `indexes`.
    std::optional<int64_t> count;
  };
  std::vector<Rule> rules_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_JOB_POLICY_H_
