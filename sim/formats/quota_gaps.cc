#include "sim/formats/quota_gaps.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/api/pod.h"
#include "core/api/quantity.h"
#include "core/api/quantity_text.h"
#include "core/base/printable.h"
#include "sim/cluster/admission/policy_json.h"
#include "sim/cluster/admission/quota_resources.h"
#include "sim/cluster/admission/quota_usage.h"
#include "sim/formats/pod_sources.h"

namespace schedsim::sim {
namespace {

constexpr absl::string_view kMadeByControllers[] = {"count/jobs.batch", "count/replicasets.apps"};

struct Quota {
  size_t index = 0;
  api::ResourceList hard;
  api::ResourceList used;  // By its status.
  std::map<std::string, std::string> used_text;
  std::vector<QuotaScope> scopes;
  api::ResourceList counted;
};

// What is created in a namespace during the run.
struct Created {
  bool pods = false;
  bool claims = false;
  bool of_workloads = false;  // What controllers make, beside pods and claims.
  std::vector<const api::Object*> manifests;
};

// Whether it was there when the status was written.
bool IsOfCluster(const api::Object& object) {
  const bool is_pod = object.kind == api::Kind::kPod;
  return api::CameFromCluster(object) || (is_pod && !static_cast<const api::Pod&>(object).node_name.empty());
}

bool IsCreated(const std::string& resource, const Created& created) {
  if (ConcernsPods(resource)) return created.pods;
  if (ConcernsClaims(resource)) return created.claims;
  if (std::find(std::begin(kMadeByControllers), std::end(kMadeByControllers), resource) !=
      std::end(kMadeByControllers))
    return created.of_workloads;
  api::ResourceList hard;
  hard[resource] = api::Quantity::FromValue(1);
  return std::any_of(created.manifests.begin(), created.manifests.end(),
                     [&hard](const api::Object* object) { return ConcernsKind(*object, hard); });
}

Quota ReadQuota(const api::Object& object, size_t index) {
  Quota quota = {.index = index};
  ReadPolicy(object, [&quota](const codec::Value& root) {
    quota.hard = AmountsOf(Below(&root, {"spec", "hard"}));
    const codec::Value* const used = Below(&root, {"status", "used"});
    quota.used = AmountsOf(used);
    if (used != nullptr) {
      for (const codec::Member& member : used->members)
        quota.used_text[std::string(member.key)] = std::string(member.value.text);
    }
    quota.scopes = QuotaScopesOf(root);
  });
  return quota;
}

// What the status has more than the input, of what matters for what is created.
std::string GapOf(const Quota& quota, const Created& created) {
  std::vector<std::string> parts;
  for (const auto& [resource, used] : quota.used) {
    const api::Quantity* const counted = quota.counted.Find(resource);
    const api::Quantity has = counted == nullptr ? api::Quantity() : *counted;
    if (quota.hard.Find(resource) == nullptr || !(used > has) || !IsCreated(resource, created)) continue;
    parts.push_back(absl::StrCat(Printable(resource, kShownBytesMax), " ",
                                 Printable(quota.used_text.at(resource), kShownBytesMax), ", the input has ",
                                 api::AmountText(resource, has)));
  }
  return parts.empty() ? "" : absl::StrCat("status.used says ", absl::StrJoin(parts, "; "));
}

}  // namespace

QuotaGaps FindQuotaGaps(absl::Span<const api::ObjectPtr> objects, bool goes_on) {
  std::map<std::string, std::vector<Quota>> quotas;  // By namespace.
  for (size_t i = 0; i < objects.size(); ++i) {
    const api::ObjectPtr& object = objects[i];
    const bool is_quota = object->kind == api::Kind::kOther && object->kind_name == "ResourceQuota" &&
                          object->api_version == "v1";
    if (is_quota && api::CameFromCluster(*object))
      quotas[object->metadata.namespace_].push_back(ReadQuota(*object, i));
  }
  QuotaGaps gaps;
  if (quotas.empty()) return gaps;
  std::map<std::string, Created> created;
  for (const size_t index : PodSources(objects, goes_on)) {
    Created& here = created[objects[index]->metadata.namespace_];
    here.pods = true;
    here.of_workloads = here.of_workloads || objects[index]->kind != api::Kind::kPod;
    here.claims = here.claims || objects[index]->kind_name == "StatefulSet";
  }
  for (const api::ObjectPtr& object : objects) {
    const auto found = quotas.find(object->metadata.namespace_);
    if (found == quotas.end()) continue;
    Created& here = created[found->first];
    if (!IsOfCluster(*object)) {
      here.manifests.push_back(object.get());
      if (object->kind == api::Kind::kPersistentVolumeClaim) here.claims = true;
      continue;
    }
    for (Quota& quota : found->second) {
      if (!ConcernsKind(*object, quota.hard) || !IsInScopes(*object, quota.scopes)) continue;
      for (const auto& [resource, amount] : QuotaUsageOf(*object)) quota.counted[resource] += amount;
    }
  }
  for (const auto& [name_space, list] : quotas) {
    Created& here = created[name_space];
    if (goes_on) here.pods = here.claims = here.of_workloads = true;
    for (const Quota& quota : list) {
      std::string gap = GapOf(quota, here);
      if (gap.empty() || gaps.count++ > 0) continue;
      gaps.first = quota.index;
      gaps.text = std::move(gap);
    }
  }
  return gaps;
}

}  // namespace schedsim::sim
