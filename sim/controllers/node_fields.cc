#include "sim/controllers/node_fields.h"

#include <algorithm>
#include <initializer_list>
#include <set>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/patch/object_patch.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "sim/controllers/workload_fields.h"

namespace schedsim::sim {
namespace {

using codec::Value;

// What the reader knows of the object as a tree, `path` below its root; calls `read` where it is there.
void ReadBelow(const api::Object& object, std::initializer_list<absl::string_view> path,
               absl::FunctionRef<void(const Value& value)> read) {
  codec::VisitObjectTree(object, [&](const codec::Value& root) {
    const Value* value = &root;
    for (const absl::string_view key : path) {
      value = value == nullptr ? nullptr : value->Find(key);
    }
    if (value != nullptr) read(*value);
  });
}

absl::string_view TextOf(const Value& value, absl::string_view key) {
  const Value* found = value.Find(key);
  return found != nullptr && found->is_string() ? found->text : absl::string_view();
}

absl::Status Patch(const api::Node& node, codec::PatchType type, const std::string& patch,
                   ApiServer& server) {
  return codec::ReadText(patch, "patch.json", {}, [&](const codec::Document& document) {
    return server.Patch(node, type, document.root).status();
  });
}

bool IsOneOf(absl::string_view key, absl::string_view effect, const std::vector<api::Taint>& taints) {
  return std::any_of(taints.begin(), taints.end(),
                     [&](const api::Taint& taint) { return taint.key == key && taint.effect == effect; });
}

// The label `beta` goes before the label `stable`, even if it is empty.
std::string LabelOf(const api::Node& node, absl::string_view beta, absl::string_view stable) {
  const auto found = node.metadata.labels.Find(beta);
  const auto& value = found != nullptr ? found : node.metadata.labels.Find(stable);
  return value == nullptr ? std::string() : std::string(*value);
}

}  // namespace

bool IsNotReady(const api::Node& node) {
  const absl::string_view ready = ConditionOf(node, "Ready");
  return !ready.empty() && ready != "True";
}

bool IsExcludedFromDisruption(const api::Node& node) {
  return node.metadata.labels.Find("node.kubernetes.io/exclude-disruption") != nullptr;
}

bool HasTaint(const api::Node& node, absl::string_view key, absl::string_view effect) {
  const std::vector<api::Taint>& taints = node.spec.taints;
  return std::any_of(taints.begin(), taints.end(), [&](const api::Taint& taint) {
    return taint.key == key && (effect.empty() || taint.effect == effect);
  });
}

bool HasNoExecuteTaint(const api::Node& node) {
  return std::any_of(node.spec.taints.begin(), node.spec.taints.end(),
                     [](const api::Taint& taint) { return taint.effect == kNoExecute; });
}

std::string ZoneOf(const api::Node& node) {
  const std::string zone =
      LabelOf(node, "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone");
  const std::string region =
      LabelOf(node, "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region");
  return zone.empty() && region.empty() ? std::string() : absl::StrCat(region, ":", zone);
}

std::map<std::string, absl::Time> NoExecuteTimes(const api::Node& node) {
  std::map<std::string, absl::Time> times;
  ReadBelow(node, {"spec", "taints"}, [&times](const Value& taints) {
    for (const Value& taint : taints.items) {
      absl::Time time;
      const bool is_read =
          absl::ParseTime(absl::RFC3339_full, std::string(TextOf(taint, "timeAdded")), &time, nullptr);
      if (is_read && TextOf(taint, "effect") == kNoExecute) {
        times.emplace(std::string(TextOf(taint, "key")), time);
      }
    }
  });
  return times;
}

absl::Status SetConditions(const api::Node& node, const std::vector<NodeConditionChange>& changes,
                           absl::Time now, ApiServer& server) {
  codec::JsonWriter patch;
  patch.BeginObject().Key("status").BeginObject().Key("conditions").BeginArray();
  const auto change_of = [&changes](absl::string_view type) {
    return std::find_if(changes.begin(), changes.end(),
                        [type](const NodeConditionChange& change) { return change.type == type; });
  };
  // A list takes the order of its patch, so that all are named in theirs.
  std::vector<NodeConditionChange> ordered;
  std::set<std::string> known;
  for (const api::NodeCondition& condition : node.status.conditions) {
    if (!known.insert(condition.type).second) continue;
    const auto change = change_of(condition.type);
    ordered.push_back(change == changes.end() ? NodeConditionChange{.type = condition.type} : *change);
  }
  for (const NodeConditionChange& change : changes) {
    if (known.count(change.type) == 0) ordered.push_back(change);
  }
  for (const NodeConditionChange& change : ordered) {
    if (change.status.empty()) {
      patch.BeginObject().Field("type", change.type).EndObject();
      continue;
    }
    patch.BeginObject().Field("type", change.type).Field("status", change.status);
    patch.Field("reason", change.reason).Field("message", change.message);
    if (ConditionOf(node, change.type) != change.status) {
      patch.Field("lastTransitionTime", api::FormatRfc3339Seconds(now));
    }
    patch.EndObject();
  }
  patch.EndArray().EndObject().EndObject();
  return Patch(node, codec::PatchType::kStrategicMerge, patch.text(), server);
}

absl::Status SwapTaints(const std::string& node_name, const std::vector<api::Taint>& added,
                        const std::vector<api::Taint>& removed, absl::Time now, ApiServer& server) {
  const api::ObjectPtr stored = server.Find(api::Kind::kNode, "Node", "", node_name);
  if (stored == nullptr) return absl::NotFoundError(absl::StrCat("there is no Node ", node_name));
  const auto& node = static_cast<const api::Node&>(*stored);
  const std::vector<api::Taint>& taints = node.spec.taints;
  const bool loses = std::any_of(taints.begin(), taints.end(), [&removed](const api::Taint& taint) {
    return IsOneOf(taint.key, taint.effect, removed);
  });
  std::vector<api::Taint> missing;
  for (const api::Taint& taint : added) {
    if (!IsOneOf(taint.key, taint.effect, taints)) missing.push_back(taint);
  }
  if (!loses && missing.empty()) return absl::OkStatus();
  codec::JsonWriter list;
  list.BeginArray();
  bool is_empty = missing.empty();
  // Those that stay keep their times.
  ReadBelow(node, {"spec", "taints"}, [&](const Value& stays) {
    for (const Value& taint : stays.items) {
      if (IsOneOf(TextOf(taint, "key"), TextOf(taint, "effect"), removed)) continue;
      list.Raw(codec::ToJson(taint));
      is_empty = false;
    }
  });
  for (const api::Taint& taint : missing) {
    list.BeginObject().Field("key", taint.key).Field("effect", taint.effect);
    list.Field("timeAdded", api::FormatRfc3339Seconds(now)).EndObject();
  }
  list.EndArray();
  // Null takes the list away.
  codec::JsonWriter patch;
  patch.BeginObject().Key("spec").BeginObject().Key("taints").Raw(is_empty ? "null" : list.text());
  patch.EndObject().EndObject();
  return Patch(node, codec::PatchType::kMerge, patch.text(), server);
}

}  // namespace schedsim::sim
