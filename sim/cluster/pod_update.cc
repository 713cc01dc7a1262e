#include "sim/cluster/pod_update.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/api/quantity.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/api_fields.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "core/plugins/node_resource_topology_match/numa_nodes.h"
#include "sim/cluster/admission/defaults.h"

namespace schedsim::sim {
namespace {

using codec::Value;

constexpr char kOnlyThese[] =
    "spec: Forbidden: pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow "
    "it to be set to 1 if it was previously negative)";
constexpr char kOnlyResources[] = "spec: Forbidden: only cpu and memory resources are mutable";

absl::Status Refuse(const api::Pod& pod, absl::string_view why) {
  return absl::FailedPreconditionError(
      absl::StrCat("Pod \"", pod.metadata.name, "\" is invalid: ", Printable(why)));
}

// A value of a pod's spec before and after the change, and what the API server knows of it. nullptr: absent.
struct Pair {
  const Value* before = nullptr;
  const Value* after = nullptr;
  const codec::ApiType* type = nullptr;  // nullptr: the keys are free.
  std::string path = "";
  bool is_amount = false;  // Whether quantities stand below.
};

// What is absent, and what Go's zero values stand for.
bool IsEmpty(const Value* value) {
  if (value == nullptr) return true;
  switch (value->type) {
    case Value::Type::kNull:
      return true;
    case Value::Type::kBool:
      return !value->boolean;
    case Value::Type::kNumber:
      return value->text == "0";
    case Value::Type::kString:
      return value->text.empty();
    case Value::Type::kArray:
      return value->items.empty();
    case Value::Type::kObject:
      return value->members.empty();
  }
  return false;
}

const Value* Child(const Value* value, absl::string_view name) {
  return value == nullptr ? nullptr : value->Find(name);
}

size_t ItemCount(const Value* list) { return list == nullptr ? 0 : list->items.size(); }

bool IsScalar(const Value* value) { return value == nullptr || (!value->is_array() && !value->is_object()); }

bool IsSameScalar(const Pair& pair) {
  if (IsEmpty(pair.before) || IsEmpty(pair.after)) return IsEmpty(pair.before) == IsEmpty(pair.after);
  if (pair.before->text == pair.after->text && pair.before->type == pair.after->type) return true;
  if (!pair.is_amount) return false;
  const auto before = api::Quantity::Parse(pair.before->text);
  const auto after = api::Quantity::Parse(pair.after->text);
  return before.ok() && after.ok() && *before == *after;
}

// The members of both, each name once.
std::vector<absl::string_view> NamesOf(const Pair& pair) {
  std::vector<absl::string_view> names;
  for (const Value* value : {pair.before, pair.after}) {
    if (value == nullptr) continue;
    for (const codec::Member& member : value->members) {
      if (std::find(names.begin(), names.end(), member.key) == names.end()) names.push_back(member.key);
    }
  }
  return names;
}

// Compares specs, leaving out what may change.
class SpecComparison {
 public:
  // `may_change` tells whether a path may: `spec.containers[0].image`.
  explicit SpecComparison(bool (*may_change)(absl::string_view path, bool is_gated), bool is_gated)
      : may_change_(may_change), is_gated_(is_gated) {}

  // The first difference, `spec.priority is 1, got 2`; "": there is none.
  std::string FirstDifference(const Pair& spec) const {
    // What is still to be compared, the first at the end.
    std::vector<Pair> rest = {spec};
    while (!rest.empty()) {
      const Pair pair = std::move(rest.back());
      rest.pop_back();
      if (may_change_(pair.path, is_gated_) || (IsEmpty(pair.before) && IsEmpty(pair.after))) continue;
      if (IsScalar(pair.before) && IsScalar(pair.after)) {
        if (!IsSameScalar(pair)) return Describe(pair);
        continue;
      }
      std::vector<Pair> parts = PartsOf(pair);
      std::reverse(parts.begin(), parts.end());
      std::move(parts.begin(), parts.end(), std::back_inserter(rest));
    }
    return "";
  }

 private:
  static std::string Describe(const Pair& pair) {
    const auto text = [](const Value* value) {
      if (value == nullptr) return std::string("\"\"");
      return Printable(ToJson(*value), kShownBytesMax);
    };
    return absl::StrCat(pair.path, " is ", text(pair.before), ", got ", text(pair.after));
  }

  static std::vector<Pair> PartsOf(const Pair& pair) {
    std::vector<Pair> parts;
    for (size_t i = 0; i < std::max(ItemCount(pair.before), ItemCount(pair.after)); ++i) {
      const auto item = [i](const Value* list) { return i < ItemCount(list) ? &list->items[i] : nullptr; };
      parts.push_back({.before = item(pair.before),
                       .after = item(pair.after),
                       .type = pair.type,
                       .path = absl::StrCat(pair.path, "[", i, "]"),
                       .is_amount = pair.is_amount});
    }
    for (const absl::string_view name : NamesOf(pair)) {
      const codec::ApiField* field = pair.type == nullptr ? nullptr : pair.type->Find(name);
      // The API server drops fields that it does not know.
      if (pair.type != nullptr && field == nullptr) continue;
      const bool is_amount = name == "requests" || name == "limits" || name == "overhead";
      parts.push_back({.before = Child(pair.before, name),
                       .after = Child(pair.after, name),
                       .type = field == nullptr || field->by_key ? nullptr : field->type,
                       .path = absl::StrCat(pair.path, ".", name),
                       .is_amount = pair.is_amount || is_amount});
    }
    return parts;
  }

  bool (*const may_change_)(absl::string_view path, bool is_gated);
  const bool is_gated_;
};

bool IsOfContainer(absl::string_view path) {
  return absl::StartsWith(path, "spec.containers[") || absl::StartsWith(path, "spec.initContainers[");
}

// What an update may change, and what has a rule of its own.
bool MayUpdate(absl::string_view path, bool is_gated) {
  if (path == "spec.activeDeadlineSeconds" || path == "spec.tolerations" || path == "spec.schedulingGates")
    return true;
  if (is_gated && (path == "spec.nodeSelector" || path == "spec.affinity.nodeAffinity")) return true;
  return IsOfContainer(path) && absl::EndsWith(path, "].image");
}

bool MayResize(absl::string_view path, bool /*is_gated*/) {
  for (const absl::string_view resource :
       {"requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}) {
    if (path == absl::StrCat("spec.resources.", resource)) return true;
    if (IsOfContainer(path) && absl::EndsWith(path, absl::StrCat("].resources.", resource))) return true;
  }
  return false;
}

bool IsSame(const Value& before, const Value& after) {
  const SpecComparison comparison([](absl::string_view, bool) { return false; }, false);
  return comparison.FirstDifference({.before = &before, .after = &after}).empty();
}

// A toleration without the seconds, which may change.
bool IsSameToleration(const Value& before, const Value& after) {
  const SpecComparison comparison([](absl::string_view path, bool) { return path == ".tolerationSeconds"; },
                                  false);
  return comparison.FirstDifference({.before = &before, .after = &after}).empty();
}

std::string TolerationsFault(const Value* before, const Value* after) {
  for (size_t i = 0; i < ItemCount(before); ++i) {
    const auto is_kept = [&](const Value& toleration) {
      return IsSameToleration(before->items[i], toleration);
    };
    if (after != nullptr && std::any_of(after->items.begin(), after->items.end(), is_kept)) continue;
    return "spec.tolerations: Forbidden: existing toleration can not be modified except its "
           "tolerationSeconds";
  }
  return "";
}

std::string GatesFault(const Value* before, const Value* after) {
  for (size_t i = 0; i < ItemCount(after); ++i) {
    const Value* name = Child(&after->items[i], "name");
    const auto is_same = [name](const Value& gate) {
      const Value* other = Child(&gate, "name");
      return name != nullptr && other != nullptr && other->text == name->text;
    };
    if (before != nullptr && std::any_of(before->items.begin(), before->items.end(), is_same)) continue;
    return absl::StrCat("spec.schedulingGates[", i,
                        "].name: Forbidden: only deletion is allowed, but found new ", "scheduling gate '",
                        name == nullptr ? "" : name->text, "'");
  }
  return "";
}

std::string NodeSelectorFault(const Value* before, const Value* after) {
  if (before == nullptr) return "";
  for (const codec::Member& member : before->members) {
    const Value* kept = Child(after, member.key);
    if (kept != nullptr && kept->text == member.value.text) continue;
    return absl::StrCat("spec.nodeSelector: Invalid value: ", after == nullptr ? "null" : ToJson(*after),
                        ": only additions to spec.nodeSelector are allowed (no mutations or deletions)");
  }
  return "";
}

// Whether the requirements `name` of a term only got more at their end; no requirements at all select
// nothing, and must stay so.
bool OnlyAdds(const Value& before, const Value& after, absl::string_view name) {
  const Value* old_list = Child(&before, name);
  const Value* new_list = Child(&after, name);
  if (ItemCount(new_list) < ItemCount(old_list)) return false;
  for (size_t i = 0; i < ItemCount(old_list); ++i) {
    if (!IsSame(old_list->items[i], new_list->items[i])) return false;
  }
  return true;
}

std::string NodeAffinityFault(const Value* before, const Value* after) {
  constexpr char kRequired[] = "requiredDuringSchedulingIgnoredDuringExecution";
  const Value* old_terms = Child(Child(before, kRequired), "nodeSelectorTerms");
  const Value* new_terms = Child(Child(after, kRequired), "nodeSelectorTerms");
  const std::string path = absl::StrCat("spec.affinity.nodeAffinity.", kRequired, ".nodeSelectorTerms");
  if (ItemCount(old_terms) == 0) return "";
  if (ItemCount(old_terms) != ItemCount(new_terms)) {
    return absl::StrCat(path, ": Invalid value: ", new_terms == nullptr ? "null" : ToJson(*new_terms),
                        ": no additions/deletions to non-empty NodeSelectorTerms list are allowed");
  }
  for (size_t i = 0; i < old_terms->items.size(); ++i) {
    const Value& old_term = old_terms->items[i];
    const Value& new_term = new_terms->items[i];
    const auto is_bare = [](const Value& term) {
      return ItemCount(Child(&term, "matchExpressions")) + ItemCount(Child(&term, "matchFields")) == 0;
    };
    const bool only_adds = (!is_bare(old_term) || is_bare(new_term)) &&
                           OnlyAdds(old_term, new_term, "matchExpressions") &&
                           OnlyAdds(old_term, new_term, "matchFields");
    if (only_adds) continue;
    return absl::StrCat(path, "[", i, "]: Invalid value: ", ToJson(new_term),
                        ": only additions are allowed (no mutations or deletions)");
  }
  return "";
}

std::string DeadlineFault(const Value* before, const Value* after) {
  int64_t old_seconds = 0;
  int64_t new_seconds = 0;
  const bool had = before != nullptr && absl::SimpleAtoi(before->text, &old_seconds);
  const bool has = after != nullptr && absl::SimpleAtoi(after->text, &new_seconds);
  constexpr char kField[] = "spec.activeDeadlineSeconds: Invalid value: ";
  if (!has)
    return had ? absl::StrCat(kField, "null: must not update from a positive integer to nil value") : "";
  if (new_seconds < 0 || new_seconds > INT32_MAX)
    return absl::StrCat(kField, new_seconds, ": must be between 0 and 2147483647, inclusive");
  if (!had || new_seconds <= old_seconds) return "";
  return absl::StrCat(kField, new_seconds, ": must be less than or equal to previous value");
}

// The first rule that the change breaks, in the API server's words; "": none.
std::string UpdateFault(const Value* before, const Value* after, const codec::ApiType* type) {
  for (const char* list : {"containers", "initContainers"}) {
    if (ItemCount(Child(before, list)) != ItemCount(Child(after, list)))
      return absl::StrCat("spec.", list, ": Forbidden: pod updates may not add or remove containers");
  }
  const auto of = [](const Value* spec, absl::string_view name) { return Child(spec, name); };
  std::string fault = DeadlineFault(of(before, "activeDeadlineSeconds"), of(after, "activeDeadlineSeconds"));
  if (fault.empty()) fault = TolerationsFault(of(before, "tolerations"), of(after, "tolerations"));
  if (fault.empty()) fault = GatesFault(of(before, "schedulingGates"), of(after, "schedulingGates"));
  const bool is_gated = ItemCount(of(before, "schedulingGates")) > 0;
  if (fault.empty() && is_gated)
    fault = NodeSelectorFault(of(before, "nodeSelector"), of(after, "nodeSelector"));
  if (fault.empty() && is_gated) {
    fault = NodeAffinityFault(Child(of(before, "affinity"), "nodeAffinity"),
                              Child(of(after, "affinity"), "nodeAffinity"));
  }
  if (!fault.empty()) return fault;
  const std::string difference =
      SpecComparison(MayUpdate, is_gated)
          .FirstDifference({.before = before, .after = after, .type = type, .path = "spec"});
  return difference.empty() ? "" : absl::StrCat(kOnlyThese, ": ", difference);
}

// The spec with the defaults of what the patch left out or took away.
api::PodSpec CompletedSpec(const api::Pod& pod) {
  api::PodSpec spec = *pod.spec;
  SetPodDefaults(spec);
  SetPodLevelDefaults(spec);
  return spec;
}

absl::string_view QosClassOf(const api::PodSpec& spec) {
  switch (plugins::QosOf(spec)) {
    case plugins::PodQos::kBestEffort:
      return "BestEffort";
    case plugins::PodQos::kBurstable:
      return "Burstable";
    case plugins::PodQos::kGuaranteed:
      return "Guaranteed";
  }
  return "";
}

bool IsRemoved(const api::ResourceList& before, const api::ResourceList& after) {
  return std::any_of(before.begin(), before.end(),
                     [&after](const auto& entry) { return after.Find(entry.first) == nullptr; });
}

void CheckRemoval(const api::ResourceRequirements& before, const api::ResourceRequirements& after,
                  const std::string& path, std::vector<std::string>& faults) {
  if (IsRemoved(before.requests, after.requests))
    faults.push_back(absl::StrCat(path, ".requests: Forbidden: resource requests cannot be removed"));
  if (IsRemoved(before.limits, after.limits))
    faults.push_back(absl::StrCat(path, ".limits: Forbidden: resource limits cannot be removed"));
}

// Both specs have their defaults.
void CheckResize(const api::PodSpec& before, const api::PodSpec& after, std::vector<std::string>& faults) {
  const absl::string_view qos = QosClassOf(before);
  if (QosClassOf(after) != qos) {
    faults.push_back(absl::StrCat("spec: Invalid value: \"", qos,
                                  "\": Pod QOS Class may not change as a result of resizing"));
  }
  const auto check = [&faults](const std::vector<api::Container>& old_list,
                               const std::vector<api::Container>& new_list, absl::string_view list) {
    for (size_t i = 0; i < std::min(old_list.size(), new_list.size()); ++i) {
      CheckRemoval(old_list[i].resources, new_list[i].resources,
                   absl::StrCat("spec.", list, "[", i, "].resources"), faults);
    }
  };
  check(before.init_containers, after.init_containers, "initContainers");
  check(before.containers, after.containers, "containers");
}

// What a refusal says of the object: one fault, or several with commas between them.
std::string FaultsIn(const absl::Status& refusal) {
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(refusal.message(), absl::MaxSplits("is invalid: ", 1));
  absl::string_view faults = parts.second;
  if (absl::ConsumePrefix(&faults, "[")) absl::ConsumeSuffix(&faults, "]");
  return std::string(faults);
}

}  // namespace

absl::Status ValidatePodUpdate(const ApiServer& server, const api::Pod& before, const api::Pod& after,
                               PodSubresource subresource) {
  const codec::ApiKind* pod = codec::ApiFields::Get().Find("v1", "Pod");
  const codec::ApiField* field = pod->type->Find("spec");
  std::vector<std::string> faults;
  RETURN_IF_ERROR(codec::ReadText(codec::ObjectJson(before), "before.json", {}, [&](const auto& old_pod) {
    return codec::ReadText(codec::ObjectJson(after), "after.json", {}, [&](const auto& new_pod) {
      const Value* old_spec = old_pod.root.Find("spec");
      const Value* new_spec = new_pod.root.Find("spec");
      if (subresource == PodSubresource::kNone) {
        std::string fault = UpdateFault(old_spec, new_spec, field->type);
        if (!fault.empty()) faults.push_back(std::move(fault));
        return absl::OkStatus();
      }
      CheckResize(*before.spec, CompletedSpec(after), faults);
      const std::string difference =
          SpecComparison(MayResize, false)
              .FirstDifference({.before = old_spec, .after = new_spec, .type = field->type, .path = "spec"});
      if (!difference.empty()) faults.push_back(absl::StrCat(kOnlyResources, ": ", difference));
      return absl::OkStatus();
    });
  }));
  const absl::Status in_itself = server.AdmitUpdate(before, after);
  if (faults.empty()) return in_itself;
  if (!in_itself.ok()) faults.insert(faults.begin(), FaultsIn(in_itself));
  return Refuse(after, faults.size() == 1 ? faults[0] : absl::StrCat("[", absl::StrJoin(faults, ", "), "]"));
}

absl::Status ValidatePodNode(const api::Pod& before, const api::Pod& after) {
  if (before.node_name == after.node_name) return absl::OkStatus();
  return Refuse(after, absl::StrCat(kOnlyThese, ": spec.nodeName is \"", before.node_name, "\", got \"",
                                    after.node_name, "\""));
}

}  // namespace schedsim::sim
