// What a plugin answers.
#ifndef SCHEDSIM_CORE_FRAMEWORK_STATUS_H_
#define SCHEDSIM_CORE_FRAMEWORK_STATUS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace schedsim::framework {

// Source: kube-scheduler v0.37, framework/interface.go.
enum class Code : uint8_t {
  kSuccess,
  kError,
  kUnschedulable,
  kUnschedulableAndUnresolvable,
  kWait,
  kSkip,
  kPending,
};

// "Success", "Error", "Unschedulable" and so on, as upstream prints them.
absl::string_view CodeName(Code code);

// An answer with its reasons and the plugin that gave it. Success holds nothing and costs nothing;
// copies share one immutable part, so a plugin can make its answers once and hand out copies.
// Not safe for use by several threads.
class Status {
 public:
  // Success.
  Status() = default;
  Status(Code code, std::vector<std::string> reasons);
  Status(Code code, std::string reason) : Status(code, std::vector<std::string>{std::move(reason)}) {}

  Status(const Status& other) : rep_(other.rep_) {
    if (rep_ != nullptr) ++rep_->reference_count;
  }
  Status(Status&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
  Status& operator=(Status other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~Status() { Release(); }

  static Status Error(std::string reason) { return Status(Code::kError, std::move(reason)); }
  // Most plugins answer so to most pods: all these answers share one part.
  static Status Skip();

  Code code() const { return rep_ == nullptr ? Code::kSuccess : rep_->code; }
  bool IsSuccess() const { return rep_ == nullptr; }
  bool IsSkip() const { return code() == Code::kSkip; }
  bool IsWait() const { return code() == Code::kWait; }
  // Unschedulable, UnschedulableAndUnresolvable or Pending: the pod was turned down by an answer.
  bool IsRejected() const;

  const std::vector<std::string>& reasons() const;
  // The reasons joined by ", ".
  std::string Message() const;

  // The plugin that gave this answer; "" where none did. Set by the framework.
  absl::string_view plugin() const { return rep_ == nullptr ? absl::string_view() : rep_->plugin; }
  // Names the plugin unless one is named already, also in the copies of this status. Not for Success.
  void SetPluginIfUnset(absl::string_view plugin);

  // Whether both share one part: a quick sign of equal answers, which may miss some.
  bool SameAs(const Status& other) const { return rep_ == other.rep_; }
  // Whether code, plugin and reasons are equal.
  friend bool operator==(const Status& a, const Status& b);

 private:
  struct Rep {
    int32_t reference_count = 1;
    Code code = Code::kError;
    std::string plugin;
    std::vector<std::string> reasons;
  };
  // Takes one more copy of a part.
  explicit Status(Rep* rep) : rep_(rep) { ++rep_->reference_count; }
  void Release() {
    if (rep_ != nullptr && --rep_->reference_count == 0) DeleteRep();
  }
  void DeleteRep();

  Rep* rep_ = nullptr;  // nullptr: Success.
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_STATUS_H_
