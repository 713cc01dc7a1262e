// Which instance of a guest serves which pod.
#ifndef SCHEDSIM_CORE_HOSTING_WASM_GUEST_POOL_H_
#define SCHEDSIM_CORE_HOSTING_WASM_GUEST_POOL_H_

#include <deque>
#include <memory>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/status/statusor.h"
#include "core/hosting/wasm/guest.h"

namespace schedsim::hosting {

// One instance is in the scheduling cycle, and stays there from pod to pod until one of them takes it along
// into its binding cycle. What a guest remembers in its memory depends on that. An instance that failed is
// thrown away. Source: scheduler/plugin/pool.go; there an instance that failed is used again.
class GuestPool {
 public:
  // `host` must outlive the pool.
  explicit GuestPool(GuestHost& host) : host_(host) {}

  // Makes the first instance. Errors: those of Guest::Make.
  absl::Status Start();

  // The calls return what Guest::Call does; Guest::Make's error where a new instance does not start.
  absl::StatusOr<uint64_t> CallBefore(GuestCall& call);
  absl::StatusOr<uint64_t> CallInScheduling(GuestCall& call);
  // In the pod's binding cycle.
  absl::StatusOr<uint64_t> CallInBinding(absl::string_view uid, GuestCall& call);

  // The pod takes the instance of the scheduling cycle along, if it has none yet.
  void StartBinding(absl::string_view uid);
  // The pod's binding cycle is over.
  void EndBinding(absl::string_view uid);
  // The same where nobody tells the real host: there the instance is never used again.
  void Lose(absl::string_view uid) { binding_.erase(std::string(uid)); }

 private:
  using GuestPtr = std::unique_ptr<Guest>;

  // One from the free ones, or a new one.
  absl::StatusOr<GuestPtr> Take();
  // Forgets the instance after a failure.
  absl::StatusOr<uint64_t> CallWith(GuestPtr& guest, GuestCall& call);

  GuestHost& host_;
  GuestPtr scheduled_;                              // nullptr: none is in the scheduling cycle.
  absl::btree_map<std::string, GuestPtr> binding_;  // By the pod's uid.
  absl::btree_set<std::string> gone_;  // Uids of pods that took one along that nothing will call again.
  std::deque<GuestPtr> free_;
};

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_WASM_GUEST_POOL_H_
