#include "sim/report/object_list.h"

#include <initializer_list>

#include "absl/strings/str_cat.h"
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

}  // namespace

std::string ObjectList(const ApiServer& server) {
  std::string text = "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[";
  bool is_first = true;
  const auto add = [&](const std::string& json) {
    absl::StrAppend(&text, is_first ? "\n" : ",\n", json);
    is_first = false;
  };
  for (int kind = 0; kind < api::kKindCount; ++kind) {
    for (const auto& [key, object] : server.List(static_cast<api::Kind>(kind))) add(TextOf(*object));
  }
  for (const absl::string_view name : SystemNamespaces()) {
    if (server.Find(api::Kind::kNamespace, "Namespace", "", name) != nullptr) continue;
    add(absl::StrCat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", name,
                     R"("},"status":{"phase":"Active"}})"));
  }
  absl::StrAppend(&text, "\n]}\n");
  return text;
}

}  // namespace schedsim::sim
