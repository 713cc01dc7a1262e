#include "core/plugins/dynamic_resources/pod_claims.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/base/status_macros.h"

namespace schedsim::plugins {
namespace {

using framework::ClaimPtr;

// The claim's name; absent: none is needed.
absl::StatusOr<std::optional<std::string>> ClaimName(const api::Pod& pod,
                                                     const api::PodResourceClaim& reference) {
  if (!reference.resource_claim_name.empty())
    return std::optional<std::string>(reference.resource_claim_name);
  const std::string key = api::GoQuote(pod.Key());
  if (reference.resource_claim_template_name.empty()) {
    return absl::FailedPreconditionError(absl::StrCat("pod ", key, ", spec.resourceClaim ",
                                                      api::GoQuote(reference.name),
                                                      ": none of the supported fields are set"));
  }
  for (const api::PodResourceClaimStatus& status : pod.status.resource_claim_statuses) {
    if (status.name == reference.name) return status.resource_claim_name;
  }
  return absl::FailedPreconditionError(absl::StrCat("pod ", key, ": ResourceClaim not created yet"));
}

bool SameSelector(const std::optional<api::NodeSelector>& a, const std::optional<api::NodeSelector>& b) {
  if (a.has_value() != b.has_value()) return false;
  if (!a.has_value()) return true;
  const auto same_requirement = [](const auto& x, const auto& y) {
    return x.key == y.key && x.operator_ == y.operator_ && x.values == y.values;
  };
  const auto same_list = [&](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_requirement);
  };
  return std::equal(a->node_selector_terms.begin(), a->node_selector_terms.end(),
                    b->node_selector_terms.begin(), b->node_selector_terms.end(),
                    [&](const api::NodeSelectorTerm& x, const api::NodeSelectorTerm& y) {
                      return same_list(x.match_expressions, y.match_expressions) &&
                             same_list(x.match_fields, y.match_fields);
                    });
}

}  // namespace

absl::StatusOr<std::vector<ClaimPtr>> PodResourceClaims(const api::Pod& pod,
                                                        const framework::ClaimCache& claims) {
  std::vector<ClaimPtr> found;
  const std::string& name_space = pod.metadata.namespace_;
  for (const api::PodResourceClaim& reference : pod.spec->resource_claims) {
    std::optional<std::string> name;
    ASSIGN_OR_RETURN(name, ClaimName(pod, reference));
    if (!name.has_value()) continue;
    ClaimPtr claim = claims.Find(name_space, *name);
    if (claim == nullptr) {
      return absl::NotFoundError(
          absl::StrCat("could not find ResourceClaim \"", name_space, "/", *name, "\""));
    }
    if (claim->metadata.deletion_timestamp.has_value()) {
      return absl::FailedPreconditionError(
          absl::StrCat("resourceclaim ", api::GoQuote(claim->metadata.name), " is being deleted"));
    }
    const bool must_own = reference.resource_claim_name.empty();
    const api::OwnerReference* owner = api::ControllerOf(*claim);
    if (must_own && (owner == nullptr || owner->uid != pod.metadata.uid)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "ResourceClaim ", claim->Key(), " was not created for Pod ", pod.Key(), " (Pod is not owner)"));
    }
    found.push_back(std::move(claim));
  }
  return found;
}

bool IsReservedFor(const api::ResourceClaim& claim, const api::Pod& pod) {
  return std::any_of(claim.status.reserved_for.begin(), claim.status.reserved_for.end(),
                     [&](const auto& consumer) { return consumer.uid == pod.metadata.uid; });
}

bool SameStatus(const api::ResourceClaimStatus& a, const api::ResourceClaimStatus& b) {
  if (a.reserved_for != b.reserved_for || a.devices != b.devices) return false;
  if (a.allocation.has_value() != b.allocation.has_value()) return false;
  if (!a.allocation.has_value()) return true;
  return a.allocation->results == b.allocation->results && a.allocation->config == b.allocation->config &&
         a.allocation->allocation_timestamp == b.allocation->allocation_timestamp &&
         SameSelector(a.allocation->node_selector, b.allocation->node_selector);
}

}  // namespace schedsim::plugins
