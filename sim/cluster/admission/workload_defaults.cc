#include "sim/cluster/admission/workload_defaults.h"

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/kinds.h"
#include "core/api/object_text.h"
#include "core/codec/text/json_edit.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {
namespace {

// A field of a workload's spec, and the JSON that it is given where it is absent.
struct Default {
  std::vector<absl::string_view> path;
  absl::string_view value;
};

bool IsSet(const codec::Value& spec, absl::string_view name) {
  const codec::Value* value = spec.Find(name);
  return value != nullptr && !value->is_null();
}

std::vector<Default> JobDefaults(const codec::Value& spec) {
  std::vector<Default> defaults;
  if (!IsSet(spec, "completions") && !IsSet(spec, "parallelism")) defaults.push_back({{"completions"}, "1"});
  defaults.push_back({{"parallelism"}, "1"});
  defaults.push_back({{"backoffLimit"}, IsSet(spec, "backoffLimitPerIndex") ? "2147483647" : "6"});
  defaults.push_back({{"completionMode"}, "\"NonIndexed\""});
  defaults.push_back({{"suspend"}, "false"});
  defaults.push_back(
      {{"podReplacementPolicy"}, IsSet(spec, "podFailurePolicy") ? "\"Failed\"" : "\"TerminatingOrFailed\""});
  return defaults;
}

// How a workload replaces its pods, which stands at `field`: by a rolling update with these parts.
std::vector<Default> RollingDefaults(
    const codec::Value& spec, absl::string_view field,
    std::initializer_list<std::pair<absl::string_view, absl::string_view>> parts) {
  std::vector<Default> defaults = {{{field, "type"}, "\"RollingUpdate\""}};
  const codec::Value* strategy = spec.Find(field);
  const codec::Value* type = strategy == nullptr ? nullptr : strategy->Find("type");
  if (type != nullptr && type->is_string() && !type->text.empty() && type->text != "RollingUpdate") return {};
  for (const auto& [name, value] : parts) defaults.push_back({{field, "rollingUpdate", name}, value});
  return defaults;
}

bool HasDefaults(const api::Object& object) {
  const absl::string_view group = api::GroupOf(object.api_version);
  const std::string& kind = object.kind_name;
  return (group == "batch" && kind == "Job") ||
         (group == "apps" && (kind == "Deployment" || kind == "DaemonSet" || kind == "StatefulSet"));
}

std::vector<Default> DefaultsOf(const api::Object& object, api::KubernetesLine line,
                                const codec::Value& spec) {
  if (object.kind_name == "Job") return JobDefaults(spec);
  if (object.kind_name == "Deployment")
    return RollingDefaults(spec, "strategy", {{"maxUnavailable", "\"25%\""}, {"maxSurge", "\"25%\""}});
  if (object.kind_name == "DaemonSet")
    return RollingDefaults(spec, "updateStrategy", {{"maxUnavailable", "1"}, {"maxSurge", "0"}});
  // MaxUnavailableStatefulSet is on by default from 1.37 on.
  if (line < api::KubernetesLine::k1_37) return RollingDefaults(spec, "updateStrategy", {{"partition", "0"}});
  return RollingDefaults(spec, "updateStrategy", {{"partition", "0"}, {"maxUnavailable", "1"}});
}

bool IsSetAt(const codec::Value& spec, const std::vector<absl::string_view>& path) {
  const codec::Value* at = &spec;
  for (const absl::string_view name : path) {
    at = at->Find(name);
    if (at == nullptr || at->is_null()) return false;
  }
  return true;
}

}  // namespace

void SetWorkloadDefaults(api::Object& object, api::KubernetesLine line) {
  if (object.json == nullptr || !HasDefaults(object)) return;
  std::string text = object.json->ToString();
  std::vector<Default> added;
  codec::ReadText(text, "workload.json", {}, [&](const codec::Document& document) {
    const codec::Value* spec = document.root.Find("spec");
    if (spec == nullptr || !spec->is_object()) return absl::OkStatus();
    for (Default& value : DefaultsOf(object, line, *spec))
      if (!IsSetAt(*spec, value.path)) added.push_back(std::move(value));
    return absl::OkStatus();
  }).IgnoreError();
  if (added.empty()) return;
  for (const Default& value : added) {
    std::vector<absl::string_view> path = {"spec"};
    path.insert(path.end(), value.path.begin(), value.path.end());
    text = codec::SetJsonMember(text, path, value.value);
  }
  object.json = std::make_shared<api::ObjectText>(std::move(text));
}

}  // namespace schedsim::sim
