#include "sim/explain/device_explainer.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/nearest_name.h"
#include "core/framework/selector.h"
#include "core/plugins/dynamic_resources/binding_conditions.h"
#include "core/plugins/dynamic_resources/extended_resources.h"
#include "core/plugins/dynamic_resources/pod_claims.h"

namespace schedsim::sim {
namespace {

using framework::ClaimPtr;
using plugins::Allocation;

// "; did you mean a?", or which names there are.
std::string NamesThere(const std::string& name, const std::vector<std::string>& names,
                       absl::string_view what) {
  const absl::string_view nearest = NearestName(name, {names.begin(), names.end()});
  if (!nearest.empty()) return absl::StrCat("; did you mean ", nearest, "?");
  if (names.empty()) return absl::StrCat("; there is no ", what);
  constexpr size_t kShown = 5;
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, names.size())));
  return absl::StrCat("; there is ", absl::StrJoin(first, ", "),
                      names.size() > kShown ? absl::StrCat(" and ", names.size() - kShown, " more") : "");
}

// The claim with its first `count` requests, and none of its configuration.
ClaimPtr FirstRequests(const api::ResourceClaim& claim, size_t count) {
  auto part = std::make_shared<api::ResourceClaim>(claim);
  part->spec.requests.resize(count);
  part->spec.config.clear();
  return part;
}

std::string DevicesOf(const api::ResourceClaim& claim) {
  std::vector<std::string> devices;
  for (const api::DeviceRequestAllocationResult& result : claim.status.allocation->results)
    devices.push_back(absl::StrCat(result.pool, "/", result.device));
  return absl::StrJoin(devices, ", ");
}

std::string ConstraintText(const api::DeviceConstraint& constraint) {
  return constraint.match_attribute.has_value()
             ? absl::StrCat("matchAttribute ", *constraint.match_attribute)
             : absl::StrCat("distinctAttribute ", constraint.distinct_attribute.value_or(""));
}

}  // namespace

DeviceExplainer::DeviceExplainer(framework::Handle& handle)
    : handle_(handle),
      slices_(handle),
      pools_(handle, slices_),
      selectors_(handle.line()),
      parts_{.handle = handle, .pools = pools_, .selectors = selectors_} {}

Refusal DeviceExplainer::Explain(const RefusedPod& refused) {
  Refusal refusal;
  slices_.Update();
  const std::vector<ClaimPtr> open = OpenClaims(refused, refusal);
  if (!open.empty()) ExplainOpen(refused, open, refusal);
  if (refusal.no_remedy.empty()) refusal.no_remedy = refused.status.Message();
  return refusal;
}

std::vector<ClaimPtr> DeviceExplainer::OpenClaims(const RefusedPod& refused, Refusal& refusal) const {
  std::vector<ClaimPtr> open;
  const auto claims = plugins::PodResourceClaims(*refused.pod.pod, handle_.claims());
  if (!claims.ok()) return open;
  for (const ClaimPtr& claim : *claims) {
    if (!claim->status.allocation.has_value()) {
      open.push_back(claim);
      continue;
    }
    const std::string name = absl::StrCat("claim ", claim->Key(), " is allocated (", DevicesOf(*claim), ")");
    const auto& nodes = claim->status.allocation->node_selector;
    if (nodes.has_value() && !framework::NodeSelectorMatcher(*nodes, handle_.symbols())
                                  .Matches(refused.node.labels, refused.node.name, handle_.symbols())) {
      ExplainSelector(*nodes, refused, "claimNode", absl::StrCat(name, " and"), refusal);
      refusal.no_remedy = absl::StrCat(name, " and its devices cannot be used there");
    }
    std::string error;
    const plugins::Readiness readiness = plugins::ReadinessOf(*claim, handle_.line().line, error);
    if (readiness == plugins::Readiness::kFailed) {
      refusal.facts.push_back({.kind = "claimCondition",
                               .text = absl::StrCat(name, ": ", error),
                               .fields = {{"claim", claim->Key()}}});
      refusal.no_remedy = error;
    } else if (readiness == plugins::Readiness::kNotReady && plugins::HasBindingConditions(*claim)) {
      const std::string text = absl::StrCat(name, ": its binding conditions have not become true");
      refusal.facts.push_back({.kind = "claimCondition", .text = text, .fields = {{"claim", claim->Key()}}});
      refusal.no_remedy = text;
    }
  }
  if (const ClaimPtr special = plugins::ExtendedResourceClaim(refused.pod, handle_)) {
    plugins::ExtendedOnNode on_node =
        plugins::FilterExtendedResources(refused.pod, *special, !claims->empty(), refused.node, handle_);
    if (on_node.claim != nullptr && !on_node.claim->status.allocation.has_value())
      open.push_back(on_node.claim);
  }
  return open;
}

bool DeviceExplainer::FitsOn(const framework::NodeInfo& node, const std::vector<ClaimPtr>& claims) const {
  return plugins::Allocator(parts_).Allocate(node, claims).outcome == Allocation::Outcome::kFound;
}

void DeviceExplainer::ExplainOpen(const RefusedPod& refused, const std::vector<ClaimPtr>& claims,
                                  Refusal& refusal) {
  std::vector<ClaimPtr> before;
  for (const ClaimPtr& claim : claims) {
    for (size_t count = 1; count <= claim->spec.requests.size(); ++count) {
      before.push_back(FirstRequests(*claim, count));
      const bool fits = FitsOn(refused.node, before);
      before.pop_back();
      if (fits) continue;
      if (count > 1) before.push_back(FirstRequests(*claim, count - 1));
      ExplainRequest(refused, before, *claim, claim->spec.requests[count - 1], refusal);
      return;
    }
    before.push_back(claim);
  }
}

void DeviceExplainer::ExplainRequest(const RefusedPod& refused, const std::vector<ClaimPtr>& before,
                                     const api::ResourceClaim& claim, const api::DeviceRequest& request,
                                     Refusal& refusal) {
  std::vector<std::pair<std::string, const api::DeviceRequestSpec*>> specs;
  if (request.exactly.has_value()) specs.emplace_back(request.name, &*request.exactly);
  for (const api::DeviceRequestSpec& sub : request.first_available)
    specs.emplace_back(absl::StrCat(request.name, "/", sub.name), &sub);
  for (const auto& [name, spec] : specs) {
    const api::ObjectPtr device_class =
        handle_.informers().Find(api::Kind::kDeviceClass, "", spec->device_class_name);
    if (device_class == nullptr) continue;
    DeviceTally tally(claim.Key(), name, *spec);
    tally.Count(refused, parts_, static_cast<const api::DeviceClass&>(*device_class), Holders());
    std::vector<Fact> facts = tally.Facts();
    refusal.facts.insert(refusal.facts.end(), facts.begin(), facts.end());
    if (refusal.no_remedy.empty()) refusal.no_remedy = tally.Text();
  }
  // By itself, without what the claim asks of its devices as a whole.
  auto alone = std::make_shared<api::ResourceClaim>(claim);
  alone->spec.requests = {request};
  alone->spec.constraints.clear();
  alone->spec.config.clear();
  if (!FitsOn(refused.node, {alone})) return;
  // With what is asked for before, but for the claim's constraints, or with one of them.
  std::vector<ClaimPtr> together(before.begin(), before.end());
  const bool has_own_before = !together.empty() && together.back()->metadata.uid == claim.metadata.uid;
  auto first = std::make_shared<api::ResourceClaim>(has_own_before ? *together.back() : *alone);
  if (has_own_before) {
    first->spec.requests.push_back(request);
    together.pop_back();
  }
  const auto fits_with = [&](std::vector<api::DeviceConstraint> constraints) {
    auto with = std::make_shared<api::ResourceClaim>(*first);
    with->spec.constraints = std::move(constraints);
    std::vector<ClaimPtr> claims = together;
    claims.push_back(std::move(with));
    return FitsOn(refused.node, claims);
  };
  const std::string start = absl::StrCat("claim ", claim.Key(), ", request ", request.name, ": ");
  if (!fits_with({})) {
    const std::string text = "by itself it would find devices, which what is asked for before it takes";
    refusal.facts.push_back(
        {.kind = "deviceRequestsBefore", .text = start + text, .fields = {{"request", request.name}}});
    refusal.no_remedy = start + text;
    return;
  }
  for (size_t i = 0; i < claim.spec.constraints.size(); ++i) {
    if (fits_with({claim.spec.constraints[i]})) continue;
    const std::string what = ConstraintText(claim.spec.constraints[i]);
    const std::string text =
        absl::StrCat(start, "no devices that could be had go together by constraint #", i, ", ", what);
    refusal.facts.push_back(
        {.kind = "deviceConstraint", .text = text, .fields = {{"claim", claim.Key()}, {"constraint", what}}});
    refusal.no_remedy = text;
    return;
  }
}

const DeviceTally::Holders& DeviceExplainer::Holders() {
  const uint64_t count = handle_.informers().ChangeCount(api::Kind::kResourceClaim);
  if (claims_count_ == count) return holders_;
  claims_count_ = count;
  holders_.Clear();
  for (const auto& [key, object] : handle_.informers().List(api::Kind::kResourceClaim)) {
    const auto& claim = static_cast<const api::ResourceClaim&>(*object);
    if (!claim.status.allocation.has_value()) continue;
    for (const api::DeviceRequestAllocationResult& result : claim.status.allocation->results) {
      if (!result.admin_access)
        holders_[framework::DeviceKey(result.driver, result.pool, result.device)] = claim.Key();
    }
  }
  return holders_;
}

std::vector<Fact> DeviceExplainer::ExplainPod(const api::Pod& pod) const {
  std::vector<Fact> facts;
  const auto claims = plugins::PodResourceClaims(pod, handle_.claims());
  if (!claims.ok()) {
    facts.push_back({.kind = "claim", .text = std::string(claims.status().message()), .fields = {}});
    return facts;
  }
  std::vector<std::string> classes;
  for (const auto& [name, object] : handle_.informers().List(api::Kind::kDeviceClass))
    classes.push_back(object->metadata.name);
  for (const ClaimPtr& claim : *claims) {
    if (claim->status.allocation.has_value()) continue;
    for (const api::DeviceRequest& request : claim->spec.requests) {
      std::vector<const api::DeviceRequestSpec*> specs;
      if (request.exactly.has_value()) specs.push_back(&*request.exactly);
      for (const api::DeviceRequestSpec& sub : request.first_available) specs.push_back(&sub);
      for (const api::DeviceRequestSpec* spec : specs) {
        const std::string& name = spec->device_class_name;
        if (std::find(classes.begin(), classes.end(), name) != classes.end()) continue;
        facts.push_back({.kind = "deviceClass",
                         .text = absl::StrCat("claim ", claim->Key(), ", request ", request.name,
                                              ": there is no DeviceClass ", name,
                                              NamesThere(name, classes, "DeviceClass")),
                         .fields = {{"claim", claim->Key()}, {"request", request.name}, {"class", name}}});
      }
    }
  }
  return facts;
}

std::string ClaimGateText(const api::Pod& pod, const framework::ClaimCache& claims,
                          const std::vector<std::string>& templates) {
  const auto found = plugins::PodResourceClaims(pod, claims);
  if (found.ok()) return "";
  for (const api::PodResourceClaim& reference : pod.spec->resource_claims) {
    const std::string& name = reference.resource_claim_template_name;
    const auto& statuses = pod.status.resource_claim_statuses;
    const bool is_made = std::any_of(statuses.begin(), statuses.end(),
                                     [&](const auto& status) { return status.name == reference.name; });
    if (name.empty() || is_made || std::find(templates.begin(), templates.end(), name) != templates.end()) {
      continue;
    }
    return absl::StrCat("its claim ", reference.name, " is to be made of the ResourceClaimTemplate ",
                        pod.metadata.namespace_, "/", name, ", which does not exist",
                        NamesThere(name, templates, "other one in the namespace"));
  }
  return std::string(found.status().message());
}

}  // namespace schedsim::sim
