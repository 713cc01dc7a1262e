#include "core/framework/status.h"

#include "absl/strings/str_join.h"
#include "core/base/check.h"

namespace schedsim::framework {

absl::string_view CodeName(Code code) {
  switch (code) {
    case Code::kSuccess:
      return "Success";
    case Code::kError:
      return "Error";
    case Code::kUnschedulable:
      return "Unschedulable";
    case Code::kUnschedulableAndUnresolvable:
      return "UnschedulableAndUnresolvable";
    case Code::kWait:
      return "Wait";
    case Code::kSkip:
      return "Skip";
    case Code::kPending:
      return "Pending";
  }
  CHECK(false);
}

Status::Status(Code code, std::vector<std::string> reasons) {
  CHECK(code != Code::kSuccess);
  rep_ = new Rep();
  rep_->code = code;
  rep_->reasons = std::move(reasons);
}

Status Status::Skip() {
  static Rep* const kSkip = new Rep{.reference_count = 1, .code = Code::kSkip, .plugin = "", .reasons = {}};
  return Status(kSkip);
}

bool operator==(const Status& a, const Status& b) {
  return a.SameAs(b) || (a.code() == b.code() && a.plugin() == b.plugin() && a.reasons() == b.reasons());
}

void Status::DeleteRep() { delete rep_; }

bool Status::IsRejected() const {
  const Code c = code();
  return c == Code::kUnschedulable || c == Code::kUnschedulableAndUnresolvable || c == Code::kPending;
}

const std::vector<std::string>& Status::reasons() const {
  static const std::vector<std::string>* const kNone = new std::vector<std::string>();
  return rep_ == nullptr ? *kNone : rep_->reasons;
}

std::string Status::Message() const { return absl::StrJoin(reasons(), ", "); }

void Status::SetPluginIfUnset(absl::string_view plugin) {
  CHECK(rep_ != nullptr);
  // The part of Skip is that of other plugins' answers, too.
  if (rep_->code == Code::kSkip && rep_->plugin.empty()) *this = Status(Code::kSkip, rep_->reasons);
  if (rep_->plugin.empty()) rep_->plugin = std::string(plugin);
}

}  // namespace schedsim::framework
