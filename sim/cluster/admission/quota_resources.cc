#include "sim/cluster/admission/quota_resources.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/cluster/admission/policy_json.h"

namespace schedsim::sim {
namespace {

bool IsRequestOfExtended(absl::string_view name) {
  return absl::StartsWith(name, "requests.") && absl::StrContains(name, '/') &&
         !absl::StrContains(name, kQuotaClassInfix);
}

}  // namespace

bool ConcernsPods(const std::string& name) {
  for (const char* base : {"cpu", "memory", "ephemeral-storage"}) {
    if (name == base || name == absl::StrCat("requests.", base) || name == absl::StrCat("limits.", base))
      return true;
  }
  return name == "pods" || name == "count/pods" || absl::StartsWith(name, "hugepages-") ||
         absl::StartsWith(name, "requests.hugepages-") || IsRequestOfExtended(name);
}

bool ConcernsClaims(const std::string& name) {
  return name == "persistentvolumeclaims" || name == "requests.storage" ||
         name == "count/persistentvolumeclaims" || absl::StrContains(name, kQuotaClassInfix);
}

std::vector<QuotaScope> QuotaScopesOf(const codec::Value& root) {
  std::vector<QuotaScope> scopes;
  for (const std::string& scope : TextsOf(Below(&root, {"spec", "scopes"})))
    scopes.push_back({.name = scope, .operator_ = "Exists"});
  const codec::Value* selector = Below(&root, {"spec", "scopeSelector", "matchExpressions"});
  for (const codec::Value& item : selector == nullptr ? absl::Span<const codec::Value>() : selector->items) {
    scopes.push_back({.name = TextOf(&item, "scopeName"),
                      .operator_ = TextOf(&item, "operator"),
                      .values = TextsOf(item.Find("values"))});
  }
  return scopes;
}

}  // namespace schedsim::sim
