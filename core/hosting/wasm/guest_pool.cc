#include "core/hosting/wasm/guest_pool.h"

#include <utility>

#include "core/base/status_macros.h"

namespace schedsim::hosting {

absl::Status GuestPool::Start() {
  GuestPtr first;
  ASSIGN_OR_RETURN(first, Guest::Make(host_));
  free_.push_back(std::move(first));
  return absl::OkStatus();
}

absl::StatusOr<GuestPool::GuestPtr> GuestPool::Take() {
  if (free_.empty()) return Guest::Make(host_);
  GuestPtr taken = std::move(free_.front());
  free_.pop_front();
  return taken;
}

absl::StatusOr<uint64_t> GuestPool::CallWith(GuestPtr& guest, GuestCall& call) {
  absl::StatusOr<uint64_t> result = guest->Call(call);
  if (!result.ok()) guest = nullptr;
  return result;
}

absl::StatusOr<uint64_t> GuestPool::CallBefore(GuestCall& call) {
  GuestPtr guest = std::move(scheduled_);
  if (guest == nullptr) {
    ASSIGN_OR_RETURN(guest, Take());
  }
  absl::StatusOr<uint64_t> result = CallWith(guest, call);
  if (guest != nullptr) free_.push_back(std::move(guest));
  return result;
}

absl::StatusOr<uint64_t> GuestPool::CallInScheduling(GuestCall& call) {
  if (scheduled_ == nullptr) {
    ASSIGN_OR_RETURN(scheduled_, Take());
  }
  return CallWith(scheduled_, call);
}

absl::StatusOr<uint64_t> GuestPool::CallInBinding(absl::string_view uid, GuestCall& call) {
  StartBinding(uid);
  GuestPtr& guest = binding_[std::string(uid)];
  // The real host panics where there is none, which takes an instance that failed before.
  if (guest == nullptr) {
    ASSIGN_OR_RETURN(guest, Take());
  }
  return CallWith(guest, call);
}

void GuestPool::StartBinding(absl::string_view uid) {
  // Such a guest has no function that is called in the binding cycle, and hears of no end of it. The real
  // host keeps the instance; here it would take memory for each pod.
  if (!host_.code->HasBind() && !host_.code->HasReserve()) {
    if (scheduled_ != nullptr && gone_.insert(std::string(uid)).second) scheduled_ = nullptr;
    return;
  }
  GuestPtr& guest = binding_[std::string(uid)];
  if (guest == nullptr) guest = std::move(scheduled_);
}

void GuestPool::EndBinding(absl::string_view uid) {
  const auto found = binding_.find(uid);
  if (found == binding_.end()) return;
  if (found->second != nullptr) free_.push_back(std::move(found->second));
  binding_.erase(found);
}

}  // namespace schedsim::hosting
