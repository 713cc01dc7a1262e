#include "sim/cluster/admission/resource_quota.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/quantity_text.h"
#include "core/base/status_macros.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/writer.h"
#include "sim/cluster/admission/policy_json.h"
#include "sim/cluster/admission/quota_resources.h"

namespace schedsim::sim {
namespace {

bool IsQuota(const api::Object& object) {
  return object.kind == api::Kind::kOther && object.kind_name == "ResourceQuota" &&
         object.api_version == "v1";
}

// What a part of the usage amounts to, in the order of names: `pods=1,requests.cpu=500m`.
std::string Listing(const std::vector<std::string>& names, const api::ResourceList& amounts) {
  std::string text;
  for (const std::string& name : names) {
    const api::Quantity* amount = amounts.Find(name);
    absl::StrAppend(&text, text.empty() ? "" : ",", name, "=",
                    api::AmountText(name, amount == nullptr ? api::Quantity() : *amount));
  }
  return text;
}

}  // namespace

template <typename Visitor>
void ResourceQuotaPlugin::ForEachOf(const std::string& name_space, const Visitor& visit) const {
  for (auto at = quotas_.lower_bound({name_space, ""}); at != quotas_.end(); ++at) {
    if (at->first.first != name_space) break;
    visit(at->first, at->second);
  }
}

bool ResourceQuotaPlugin::OnChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  const api::Object& object = new_object != nullptr ? *new_object : *old_object;
  const bool is_quota = IsQuota(object);
  if (is_quota) OnQuota(object, new_object == nullptr);
  if (quotas_.empty() || object.metadata.namespace_.empty()) return false;
  std::vector<Key> keys;
  ForEachOf(object.metadata.namespace_, [&keys](const Key& key, const Quota&) { keys.push_back(key); });
  for (const Key& key : keys) {
    if (uncounted_.contains(key)) continue;
    if (old_object != nullptr) Count(key, *old_object, -1);
    if (new_object != nullptr) Count(key, *new_object, 1);
  }
  return false;
}

void ResourceQuotaPlugin::OnQuota(const api::Object& object, bool is_gone) {
  const Key key = {object.metadata.namespace_, object.metadata.name};
  if (is_gone) {
    quotas_.erase(key);
    uncounted_.erase(key);
    changed_.erase(key);
    return;
  }
  Quota read;
  ReadPolicy(object, [&read](const codec::Value& root) {
    const codec::Value* hard = Below(&root, {"spec", "hard"});
    read.hard = AmountsOf(hard);
    if (hard != nullptr) {
      for (const codec::Member& member : hard->members)
        read.hard_text[std::string(member.key)] =
            member.value.is_null() ? "0" : std::string(member.value.text);
    }
    read.scopes = QuotaScopesOf(root);
    const codec::Value* status = root.Find("status");
    if (status != nullptr) read.status = codec::ToJson(*status);
  });
  const auto known = quotas_.find(key);
  const bool is_known = known != quotas_.end() && known->second.hard_text == read.hard_text;
  if (is_known) {
    known->second.status = read.status;
    return;
  }
  quotas_[key] = std::move(read);
  uncounted_.insert(key);
}

void ResourceQuotaPlugin::Count(const Key& key, const api::Object& object, int sign) {
  Quota& quota = quotas_[key];
  if (!ConcernsKind(object, quota.hard) || !IsInScopes(object, quota.scopes)) return;
  for (const auto& [name, amount] : QuotaUsageOf(object)) {
    if (quota.hard.Find(name) == nullptr) continue;
    if (sign > 0) {
      quota.used[name] += amount;
    } else {
      quota.used[name] -= amount;
    }
  }
  changed_.insert(key);
}

absl::Status ResourceQuotaPlugin::Validate(const api::Object& object) const {
  if (quotas_.empty() || object.metadata.namespace_.empty()) return absl::OkStatus();
  std::vector<std::pair<const std::string*, const Quota*>> concerned;
  absl::Status status;
  ForEachOf(object.metadata.namespace_, [&](const Key& key, const Quota& quota) {
    if (!status.ok() || !ConcernsKind(object, quota.hard) || !IsInScopes(object, quota.scopes)) return;
    const std::string missing = MissingForQuota(object, quota.hard);
    if (!missing.empty()) {
      status = absl::PermissionDeniedError(absl::StrCat("failed quota: ", key.second, ": ", missing));
    }
    concerned.emplace_back(&key.second, &quota);
  });
  RETURN_IF_ERROR(status);
  if (concerned.empty()) return absl::OkStatus();
  const api::ResourceList usage = QuotaUsageOf(object);
  for (const auto& [name, quota] : concerned) {
    std::vector<std::string> exceeded;
    for (const auto& [resource, hard] : quota->hard) {
      const api::Quantity* more = usage.Find(resource);
      if (more == nullptr || more->IsZero()) continue;
      const api::Quantity* used = quota->used.Find(resource);
      if ((used == nullptr ? *more : *used + *more) > hard) exceeded.push_back(resource);
    }
    if (exceeded.empty()) continue;
    return absl::PermissionDeniedError(absl::StrCat(
        "exceeded quota: ", *name, ", requested: ", Listing(exceeded, usage),
        ", used: ", Listing(exceeded, quota->used), ", limited: ", Listing(exceeded, quota->hard)));
  }
  return absl::OkStatus();
}

std::string ResourceQuotaPlugin::StatusOf(const Quota& quota) {
  codec::JsonWriter json;
  json.BeginObject().Key("hard").BeginObject();
  for (const auto& [name, text] : quota.hard_text) json.Field(name, text);
  json.EndObject().Key("used").BeginObject();
  for (const auto& [name, text] : quota.hard_text) {
    const api::Quantity* used = quota.used.Find(name);
    json.Field(name, api::AmountText(name, used == nullptr ? api::Quantity() : *used));
  }
  json.EndObject().EndObject();
  return json.text();
}

std::vector<ResourceQuotaPlugin::StatusUpdate> ResourceQuotaPlugin::Work(Objects objects) {
  if (!uncounted_.empty()) {
    const std::set<Key> keys = std::exchange(uncounted_, {});
    for (const Key& key : keys) {
      quotas_[key].used = {};
      changed_.insert(key);
    }
    objects([&](const api::Object& object) {
      for (const Key& key : keys) {
        if (key.first == object.metadata.namespace_) Count(key, object, 1);
      }
    });
  }
  std::vector<StatusUpdate> updates;
  for (const Key& key : std::exchange(changed_, {})) {
    std::string status = StatusOf(quotas_[key]);
    if (status == quotas_[key].status) continue;
    updates.push_back({.name_space = key.first, .name = key.second, .status = std::move(status)});
  }
  return updates;
}

}  // namespace schedsim::sim
