#include "sim/cluster/object_list.h"

#include <initializer_list>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/api/kinds.h"
#include "core/api/node.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/json_edit.h"
#include "core/codec/text/reader.h"
#include "sim/cluster/admission/namespace_lifecycle.h"

namespace schedsim::sim {
namespace {

constexpr absl::string_view kReady =
    R"([{"type":"Ready","status":"True","reason":"KubeletReady","message":"kubelet is posting ready status"}])";

// Whether a part of the object has this member, with a value.
bool HasMember(const std::string& json, absl::string_view part, absl::string_view name) {
  bool has = false;
  codec::ReadText(json, "object.json", {}, [&](const codec::Document& document) {
    const codec::Value* map = document.root.Find(part);
    const codec::Value* value = map == nullptr ? nullptr : map->Find(name);
    has = value != nullptr && !value->is_null();
    return absl::OkStatus();
  }).IgnoreError();
  return has;
}

std::string TextOf(const api::Object& object) {
  std::string json = codec::ServedJson(object);
  if (object.kind == api::Kind::kNode && static_cast<const api::Node&>(object).status.conditions.empty())
    return codec::SetJsonMember(json, {"status", "conditions"}, kReady);
  if (object.kind == api::Kind::kNamespace && !HasMember(json, "status", "phase"))
    return codec::SetJsonMember(json, {"status", "phase"}, R"("Active")");
  // Source: kubernetes v1.37, pkg/apis/batch/v1/defaults.go, SetDefaults_Job.
  const bool is_job =
      object.kind_name == "Job" && api::FindKind(object.api_version, object.kind_name) != nullptr;
  if (is_job && !HasMember(json, "spec", "backoffLimit")) {
    const bool is_per_index = HasMember(json, "spec", "backoffLimitPerIndex");
    return codec::SetJsonMember(json, {"spec", "backoffLimit"}, is_per_index ? "2147483647" : "6");
  }
  return json;
}

// An API server refuses pods in namespaces without this account, which a controller makes.
void AddDefaultAccounts(const ApiServer& server, std::vector<std::string>& objects) {
  std::set<std::string> names;
  for (const auto& [name, object] : server.List(api::Kind::kNamespace)) names.insert(name);
  for (const absl::string_view name : SystemNamespaces()) names.insert(std::string(name));
  for (const std::string& name : names) {
    if (server.FindOther("v1", "ServiceAccount", name + "/default") != nullptr) continue;
    objects.push_back(absl::StrCat(
        R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default","namespace":")", name,
        R"(","uid":"uid-account-)", name, R"("}})"));
  }
}

}  // namespace

std::vector<std::string> ServedObjects(const ApiServer& server) {
  std::vector<std::string> objects;
  for (int kind = 0; kind < api::kKindCount; ++kind) {
    for (const auto& [key, object] : server.List(static_cast<api::Kind>(kind)))
      objects.push_back(TextOf(*object));
  }
  for (const absl::string_view name : SystemNamespaces()) {
    if (server.Find(api::Kind::kNamespace, "Namespace", "", name) != nullptr) continue;
    objects.push_back(absl::StrCat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", name,
                                   R"(","uid":"uid-namespace-)", name, R"("},"status":{"phase":"Active"}})"));
  }
  AddDefaultAccounts(server, objects);
  return objects;
}

std::string ObjectList(const std::vector<std::string>& objects) {
  return absl::StrCat("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[", objects.empty() ? "" : "\n",
                      absl::StrJoin(objects, ",\n"), "\n]}\n");
}

}  // namespace schedsim::sim
