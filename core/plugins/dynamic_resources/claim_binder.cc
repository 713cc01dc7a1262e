#include "core/plugins/dynamic_resources/claim_binder.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/plugins/dynamic_resources/binding_conditions.h"
#include "core/plugins/dynamic_resources/pod_claims.h"

namespace schedsim::plugins {
namespace {

using framework::ClaimPtr;
using framework::Status;

// Source: client-go v0.37, util/retry, DefaultRetry, without its jitter.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(10);
constexpr int kTriesMax = 5;
constexpr absl::Duration kPollPeriod = absl::Seconds(5);

ClaimPtr AsClaim(const api::ObjectPtr& object) {
  return std::static_pointer_cast<const api::ResourceClaim>(object);
}

bool HasFinalizer(const api::ResourceClaim& claim) {
  return std::find(claim.finalizers.begin(), claim.finalizers.end(), api::kResourceClaimFinalizer) !=
         claim.finalizers.end();
}

}  // namespace

struct ClaimBinder::Operation {
  std::shared_ptr<ClaimState> state;
  api::PodPtr pod;
  std::string node_name;
  framework::StatusCallback done;
  size_t index = 0;  // Of the claim that is being written.
  int tries = 0;     // Of its writes.
  std::vector<std::string>
      bound;                // The uids of claims whose allocations are written, where they stay pending.
  std::string pending_uid;  // Of the claim that is being written, as Reserve knew it.
  absl::Time deadline;
  std::optional<uint64_t> poll;  // What Executor::Cancel takes.
  bool finished = false;

  PodClaim& claim() const { return state->claims[index]; }
  bool IsExtended() const { return state->has_extended && index + 1 == state->claims.size(); }
};

void ClaimBinder::Bind(std::shared_ptr<ClaimState> state, const api::PodPtr& pod, absl::string_view node_name,
                       framework::PodInPreBind* in_pre_bind, framework::StatusCallback done) {
  auto operation = std::make_shared<Operation>();
  operation->state = std::move(state);
  operation->pod = pod;
  operation->node_name = std::string(node_name);
  operation->done = std::move(done);
  if (in_pre_bind != nullptr) {
    in_pre_bind->set_on_cancel([this, operation] {
      if (operation->finished) return;
      if (operation->poll.has_value()) handle_.executor().Cancel(*operation->poll);
      Finish(operation, Status::Error(framework::kContextCanceled));
    });
  }
  BindNext(operation);
}

void ClaimBinder::Finish(const OperationPtr& operation, Status status) {
  operation->finished = true;
  if (status.IsSuccess()) {
    for (const std::string& uid : operation->bound) handle_.claims().RemovePending(uid, /*for_all=*/true);
    std::exchange(operation->done, nullptr)(std::move(status));
    return;
  }
  // 1.36 gives the pod's share back here, and a second time when it is unreserved.
  const bool is_in_claim = operation->index < operation->state->claims.size();
  if (handle_.line().line == api::KubernetesLine::k1_36 && is_in_claim &&
      operation->claim().allocation.has_value()) {
    handle_.claims().RemovePending(operation->pending_uid);
  }
  // Upstream's Unreserve, which follows, waits for its writes.
  Unreserve(operation->state, *operation->pod,
            [operation, status = std::move(status)] { std::exchange(operation->done, nullptr)(status); });
}

void ClaimBinder::Unreserve(const std::shared_ptr<ClaimState>& state, const api::Pod& pod,
                            std::function<void()> done) {
  if (std::exchange(state->is_unreserved, true)) return done();
  PodClaim* const extended = state->extended();
  for (const PodClaim& entry : state->claims) {
    const api::ObjectMeta& meta = entry.claim->metadata;
    const bool is_extended = &entry == extended;
    if (handle_.claims().RemovePending(is_extended ? state->extended_uid : meta.uid)) {
      handle_.claims().Restore(meta.namespace_, meta.name);
    }
    if (is_extended || !entry.IsAllocated() || !IsReservedFor(*entry.claim, pod)) continue;
    handle_.client().RemoveConsumer(entry.claim, pod.metadata.uid, [](absl::StatusOr<api::ObjectPtr>) {});
  }
  if (extended == nullptr || IsSpecial(*extended->claim)) return done();
  DeleteClaim(extended->claim, std::move(done));
}

void ClaimBinder::BindNext(const OperationPtr& operation) {
  const std::vector<PodClaim>& claims = operation->state->claims;
  while (operation->index < claims.size() &&
         IsReservedFor(*claims[operation->index].claim, *operation->pod)) {
    ++operation->index;
  }
  if (operation->index == claims.size()) {
    WaitForDevices(operation);
    return;
  }
  operation->tries = 0;
  const PodClaim& claim = operation->claim();
  operation->pending_uid = claim.claim->metadata.uid;
  if (operation->IsExtended() && !claim.allocation.has_value() && claim.claim->spec.requests.empty()) {
    GoOn(operation);
  } else if (operation->IsExtended() && IsSpecial(*claim.claim)) {
    CreateExtended(operation);
  } else {
    Attempt(operation, claim.claim);
  }
}

void ClaimBinder::GoOn(const OperationPtr& operation) {
  ++operation->index;
  BindNext(operation);
}

void ClaimBinder::CreateExtended(const OperationPtr& operation) {
  const NodeAllocation* node = operation->state->nodes.Find(handle_.symbols().Find(operation->node_name));
  if (node == nullptr || node->extended_claim == nullptr) {
    Finish(operation,
           Status::Error(absl::StrCat("extended resource claim not found for node ", operation->node_name)));
    return;
  }
  auto claim = std::make_shared<api::ResourceClaim>(*node->extended_claim);
  claim->status = {};
  claim->metadata.name.clear();
  claim->metadata.uid.clear();
  handle_.client().Create(claim, [this, operation](absl::StatusOr<api::ObjectPtr> stored) {
    if (operation->finished) return;
    if (!stored.ok()) {
      Finish(operation, Status::Error(absl::StrCat("create claim for extended resources ",
                                                   operation->pod->metadata.namespace_,
                                                   "/: ", stored.status().message())));
      return;
    }
    operation->claim().claim = AsClaim(*stored);
    Attempt(operation, operation->claim().claim);
  });
}

void ClaimBinder::Attempt(const OperationPtr& operation, ClaimPtr claim) {
  const std::string key = claim->Key();
  const bool allocates = operation->claim().allocation.has_value();
  const auto fail = [&](absl::string_view what) {
    Finish(operation, Status::Error(absl::StrCat("claim ", key, " got ", what, " in the meantime")));
  };
  if (claim->metadata.deletion_timestamp.has_value()) return fail("deleted");
  if (allocates && claim->status.allocation.has_value()) return fail("allocated elsewhere");
  auto changed = std::make_shared<api::ResourceClaim>(*claim);
  if (allocates && !HasFinalizer(*claim)) {
    WriteFinalizer(operation, std::move(changed));
  } else {
    WriteStatus(operation, std::move(changed));
  }
}

void ClaimBinder::WriteFinalizer(const OperationPtr& operation, std::shared_ptr<api::ResourceClaim> claim) {
  claim->finalizers.emplace_back(api::kResourceClaimFinalizer);
  handle_.client().Update(claim, [this, operation](absl::StatusOr<api::ObjectPtr> stored) {
    if (operation->finished) return;
    if (!stored.ok()) {
      OnError(operation, "add finalizer to claim", stored.status());
      return;
    }
    WriteStatus(operation, std::make_shared<api::ResourceClaim>(*AsClaim(*stored)));
  });
}

void ClaimBinder::WriteStatus(const OperationPtr& operation, std::shared_ptr<api::ResourceClaim> claim) {
  const api::LineBehavior& line = handle_.line();
  const std::optional<api::AllocationResult>& allocation = operation->claim().allocation;
  const api::ObjectMeta& pod = operation->pod->metadata;
  if (allocation.has_value()) claim->status.allocation = allocation;
  claim->status.reserved_for.push_back(
      {.api_group = "", .resource = "pods", .name = pod.name, .uid = pod.uid});
  if (line.dra.binding_conditions) {
    if (!claim->status.allocation.has_value() && line.line >= api::KubernetesLine::k1_36) {
      Finish(operation, Status::Error(absl::StrCat("claim ", claim->Key(),
                                                   " got deallocated elsewhere in the meantime")));
      return;
    }
    if (claim->status.allocation.has_value() && !claim->status.allocation->allocation_timestamp.has_value()) {
      claim->status.allocation->allocation_timestamp = handle_.clock().Now();
    }
  }
  handle_.client().UpdateStatus(claim, [this, operation](absl::StatusOr<api::ObjectPtr> stored) {
    if (operation->finished) return;
    if (!stored.ok()) {
      const bool allocates = operation->claim().allocation.has_value();
      OnError(operation, allocates ? "add allocation and reservation to claim" : "add reservation to claim",
              stored.status());
      return;
    }
    OnWritten(operation, AsClaim(*stored));
  });
}

void ClaimBinder::OnError(const OperationPtr& operation, absl::string_view what, const absl::Status& status) {
  const ClaimPtr claim = operation->claim().claim;
  if (!absl::IsAborted(status) || ++operation->tries >= kTriesMax) {
    Finish(operation, Status::Error(absl::StrCat(what, " ", claim->Key(), ": ", status.message())));
    return;
  }
  operation->poll = handle_.executor().Post(kRetryDelay, [this, operation, claim] {
    handle_.client().Get(claim, [this, operation, claim](absl::StatusOr<api::ObjectPtr> stored) {
      if (operation->finished) return;
      if (!stored.ok()) {
        Finish(operation, Status::Error(absl::StrCat("get updated claim ", claim->Key(),
                                                     " after conflict: ", stored.status().message())));
        return;
      }
      Attempt(operation, AsClaim(*stored));
    });
  });
}

void ClaimBinder::OnWritten(const OperationPtr& operation, const ClaimPtr& claim) {
  const bool is_assumed = handle_.claims().Assume(claim);
  if (operation->claim().allocation.has_value()) {
    if (handle_.line().line >= api::KubernetesLine::k1_37) {
      operation->bound.push_back(operation->pending_uid);
    } else {
      // Who shares it sees the allocation in the claim from now on.
      handle_.claims().RemovePending(operation->pending_uid, /*for_all=*/is_assumed);
    }
  }
  if (operation->IsExtended()) {
    PatchExtended(operation, claim);
  } else {
    operation->claim().claim = claim;
    GoOn(operation);
  }
}

// Where it fails, the claim is known as it was created.
void ClaimBinder::PatchExtended(const OperationPtr& operation, const ClaimPtr& claim) {
  const NodeAllocation* node = operation->state->nodes.Find(handle_.symbols().Find(operation->node_name));
  if (node == nullptr || node->mappings.empty()) {
    Finish(operation, Status::Error(absl::StrCat("nil or empty request mappings, no update of pod ",
                                                 operation->pod->Key(), " ExtendedResourceClaimStatus")));
    return;
  }
  framework::PodStatusPatch patch;
  patch.extended_resource_claim_status = {.resource_claim_name = claim->metadata.name,
                                          .request_mappings = node->mappings};
  handle_.client().PatchPodStatus(
      operation->pod, std::move(patch), [this, operation, claim](absl::Status status) {
        if (operation->finished) return;
        if (!status.ok()) {
          Finish(operation, Status::Error(absl::StrCat("update pod ", operation->pod->Key(),
                                                       " ExtendedResourceClaimStatus: ", status.message())));
          return;
        }
        operation->claim().claim = claim;
        GoOn(operation);
      });
}

void ClaimBinder::WaitForDevices(const OperationPtr& operation) {
  const std::vector<PodClaim>& claims = operation->state->claims;
  const bool waits = handle_.line().dra.binding_conditions &&
                     std::any_of(claims.begin(), claims.end(),
                                 [](const PodClaim& claim) { return HasBindingConditions(*claim.claim); });
  if (!waits) {
    Finish(operation, Status());
    return;
  }
  handle_.client().RecordEvent(
      *operation->pod,
      {.type = "Normal",
       .reason = "BindingConditionsPending",
       .action = "Scheduling",
       .note = absl::StrCat("waiting for binding conditions for device on node ", operation->node_name)});
  operation->deadline = handle_.clock().Now() + binding_timeout_;
  Poll(operation);
}

void ClaimBinder::Poll(const OperationPtr& operation) {
  const bool is_old = handle_.line().line < api::KubernetesLine::k1_36;
  bool all_ready = true;
  for (PodClaim& claim : operation->state->claims) {
    const api::ObjectMeta& meta = claim.claim->metadata;
    const ClaimPtr newest = handle_.claims().Find(meta.namespace_, meta.name);
    if (newest == nullptr) {
      Finish(operation,
             Status::Error(absl::StrCat("could not find ResourceClaim \"", claim.claim->Key(), "\"")));
      return;
    }
    claim.claim = newest;
    std::string error;
    const Readiness readiness = ReadinessOf(*newest, handle_.line().line, error);
    if (readiness == Readiness::kReady) continue;
    if (readiness == Readiness::kFailed) return Finish(operation, Status::Error(std::move(error)));
    if (IsBindingTimeout(*newest, handle_.clock().Now(), binding_timeout_)) {
      Finish(operation, Status::Error(is_old ? absl::StrCat("claim ", meta.name, " binding timeout")
                                             : absl::StrCat("device binding timeout: claim=", meta.name)));
      return;
    }
    all_ready = false;
    break;
  }
  if (all_ready) return Finish(operation, Status());
  const absl::Duration left = operation->deadline - handle_.clock().Now();
  if (left <= kPollPeriod) {
    operation->poll =
        handle_.executor().Post(std::max(left, absl::ZeroDuration()), [this, operation, is_old] {
          Finish(operation, Status::Error(is_old ? "device binding timeout"
                                                 : "device binding timeout: context deadline exceeded"));
        });
    return;
  }
  operation->poll = handle_.executor().Post(kPollPeriod, [this, operation] { Poll(operation); });
}

void ClaimBinder::DeleteClaim(ClaimPtr claim, std::function<void()> done) {
  TryDelete(std::move(claim), 0, std::move(done));
}

void ClaimBinder::TryDelete(ClaimPtr claim, int tries, std::function<void()> done) {
  auto changed = std::make_shared<api::ResourceClaim>(*claim);
  const auto found =
      std::find(changed->finalizers.begin(), changed->finalizers.end(), api::kResourceClaimFinalizer);
  if (found != changed->finalizers.end()) changed->finalizers.erase(found);
  const ClaimPtr written = changed;
  handle_.client().Update(written, [this, claim, tries, done](absl::StatusOr<api::ObjectPtr> stored) {
    if (stored.ok()) {
      handle_.client().Delete(*stored, [done](absl::StatusOr<api::ObjectPtr>) { done(); });
      return;
    }
    if (!absl::IsAborted(stored.status()) || tries + 1 >= kTriesMax) return done();
    handle_.executor().Post(kRetryDelay, [this, claim, tries, done] {
      handle_.client().Get(claim, [this, tries, done](absl::StatusOr<api::ObjectPtr> newest) {
        if (!newest.ok()) return done();
        TryDelete(AsClaim(*newest), tries + 1, done);
      });
    });
  });
}

}  // namespace schedsim::plugins
