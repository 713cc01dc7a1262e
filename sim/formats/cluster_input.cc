#include "sim/formats/cluster_input.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/lookup_map.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/objects.h"
#include "sim/cluster/admission.h"
#include "sim/cluster/label_selector.h"

namespace schedsim::sim {
namespace {

bool IsDigits(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The newest RFC 3339 time among the string values of an object, deletionTimestamp aside, which may
// lie in the future.
void FindNewestTimestamp(absl::string_view json, std::optional<absl::Time>& newest) {
  constexpr absl::string_view kDeletion = "\"deletionTimestamp\":";
  for (size_t at = json.find("T"); at != absl::string_view::npos; at = json.find("T", at + 1)) {
    if (at < 11 || json[at - 11] != '"' || json[at - 3] != '-' || json[at - 6] != '-') continue;
    if (!IsDigits(json.substr(at - 10, 4))) continue;
    const size_t end = json.find('"', at);
    if (end == absl::string_view::npos || end - at > 24) continue;
    if (absl::EndsWith(json.substr(0, at - 11), kDeletion)) continue;
    absl::Time time;
    std::string error;
    const absl::string_view text = json.substr(at - 10, end - at + 10);
    if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) continue;
    if (!newest.has_value() || time > *newest) newest = time;
  }
}

bool IsOwnedByDaemonSet(const api::Pod& pod) {
  const auto& owners = pod.metadata.owner_references;
  return std::any_of(owners.begin(), owners.end(),
                     [](const api::OwnerReference& owner) { return owner.kind == "DaemonSet"; });
}

bool IsMirror(const api::Pod& pod) {
  return pod.metadata.annotations.Find("kubernetes.io/config.mirror") != nullptr;
}

class InputReader {
 public:
  explicit InputReader(const ClusterInputOptions& options) : options_(options) {}

  absl::StatusOr<ClusterInput> Read() {
    ASSIGN_OR_RETURN(selector_, LabelSelector::Parse(options_.bound.selector));
    codec::ObjectReader reader;
    for (const std::string& path : options_.paths) {
      RETURN_IF_ERROR(reader.Read(path, [this](api::ObjectPtr object, const codec::Location& location) {
        return Take(std::move(object), location);
      }));
    }
    for (const ClusterInputOptions::Inline& given : options_.objects) {
      RETURN_IF_ERROR(Take(given.object, {.file = given.file, .position = given.position}));
    }
    RETURN_IF_ERROR(CheckPriorityClasses());
    CountPodsOnUnknownNodes();
    if (options_.bound.reset && input_.reset_pod_count == 0) {
      input_.warnings.push_back("--bound: no bound pod is to be scheduled anew");
    }
    if (options_.strict && !input_.warnings.empty()) return absl::InvalidArgumentError(input_.warnings[0]);
    Order();
    return std::move(input_);
  }

 private:
  // The place of an object in the order of creation.
  enum class Group : uint8_t { kNode, kPriorityClass, kOther, kPending };
  struct Item {
    Group group = Group::kOther;
    bool from_cluster = false;
    std::string key;
    api::ObjectPtr object;
  };

  absl::Status Take(api::ObjectPtr object, const codec::Location& location) {
    if (object->json != nullptr) {
      FindNewestTimestamp(*object->json, input_.newest_timestamp);
      input_.object_json_bytes += static_cast<int64_t>(object->json->size());
    }
    const std::string key = absl::StrCat(object->kind_name, " ", object->Key());
    const std::string place =
        absl::StrCat(location.file, ":", location.position.line, ":", location.position.column);
    if (object->metadata.name.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(place, ": metadata.name: expected a name, got only generateName"));
    }
    std::string& first = places_[key];
    if (!first.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          place, ": metadata.name: ", key, " is there twice, expected it once; the first is at ", first));
    }
    first = place;
    Item item = {.from_cluster = !object->metadata.uid.empty(), .key = object->Key()};
    if (object->kind == api::Kind::kNode) {
      item.group = Group::kNode;
      ++input_.node_count;
      nodes_.insert(object->metadata.name);
    } else if (object->kind == api::Kind::kPod) {
      TakePod(std::static_pointer_cast<const api::Pod>(object), item);
    } else if (object->kind == api::Kind::kPriorityClass) {
      // Pods that are on nodes may name it.
      item.group = Group::kPriorityClass;
    } else if (object->kind == api::Kind::kOther) {
      ++input_.other_kinds[object->kind_name];
    }
    if (item.object == nullptr) item.object = std::move(object);
    items_.push_back(std::move(item));
    return absl::OkStatus();
  }

  void TakePod(const api::PodPtr& pod, Item& item) {
    if (pod->IsTerminal()) {
      ++input_.finished_pod_count;
      return;
    }
    if (pod->node_name.empty()) {
      item.group = Group::kPending;
      ++input_.pending_pod_count;
      return;
    }
    if (options_.bound.reset && !IsMirror(*pod) && !IsOwnedByDaemonSet(*pod) &&
        selector_.Matches(pod->metadata.labels)) {
      auto reset = std::static_pointer_cast<api::Pod>(pod->Clone());
      reset->node_name.clear();
      reset->status = api::PodStatus();
      reset->status.phase = "Pending";
      item.object = std::move(reset);
      item.group = Group::kPending;
      ++input_.pending_pod_count;
      ++input_.reset_pod_count;
      return;
    }
    ++input_.bound_pod_count;
    bound_.push_back(pod);
  }

  // The API server refuses a pod whose class does not exist. Here the order of the files does not matter.
  absl::Status CheckPriorityClasses() {
    std::set<std::string> classes;
    for (const Item& item : items_) {
      if (item.object->kind == api::Kind::kPriorityClass) classes.insert(item.object->metadata.name);
    }
    for (const Item& item : items_) {
      if (item.object->kind != api::Kind::kPod) continue;
      const auto& pod = static_cast<const api::Pod&>(*item.object);
      const std::string& name = pod.spec->priority_class_name;
      if (!NeedsPriorityClass(pod) || IsSystemPriorityClass(name) || classes.count(name) > 0) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(places_["Pod " + pod.Key()], ": ", NoPriorityClassMessage(pod)));
    }
    return absl::OkStatus();
  }

  void CountPodsOnUnknownNodes() {
    int64_t count = 0;
    std::string first;
    for (const api::PodPtr& pod : bound_) {
      if (nodes_.find(pod->node_name) != nodes_.end()) continue;
      if (count++ == 0) {
        first = absl::StrCat(places_["Pod " + pod->Key()], ": pod ", pod->Key(), " on node ", pod->node_name);
      }
    }
    if (count == 0) return;
    input_.warnings.push_back(absl::StrCat(first, count == 1 ? "" : absl::StrCat(" and ", count - 1, " more"),
                                           ": no such node in the input; they count once it is there"));
  }

  void Order() {
    const bool by_creation = options_.bound.reset;
    std::stable_sort(items_.begin(), items_.end(), [by_creation](const Item& a, const Item& b) {
      if (a.group != b.group) return a.group < b.group;
      if (a.group == Group::kPending && by_creation) {
        const absl::Time past = absl::InfinitePast();
        const absl::Time created_a = a.object->metadata.creation_timestamp.value_or(past);
        const absl::Time created_b = b.object->metadata.creation_timestamp.value_or(past);
        if (created_a != created_b) return created_a < created_b;
      }
      if (a.from_cluster != b.from_cluster) return a.from_cluster;
      return a.from_cluster && a.key < b.key;
    });
    for (Item& item : items_) input_.objects.push_back(std::move(item.object));
  }

  const ClusterInputOptions& options_;
  LabelSelector selector_;
  ClusterInput input_;
  std::vector<Item> items_;
  std::set<std::string> nodes_;
  std::vector<api::PodPtr> bound_;
  LookupMap<std::string, std::string> places_;  // By kind and key.
};

}  // namespace

absl::StatusOr<BoundPods> ParseBoundPods(absl::string_view text) {
  BoundPods bound;
  if (text == "keep") return bound;
  bound.reset = true;
  if (text == "reset") return bound;
  if (absl::ConsumePrefix(&text, "reset=")) {
    bound.selector = std::string(text);
    RETURN_IF_ERROR(LabelSelector::Parse(text).status());
    return bound;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--bound: \"", text, "\" is not known, expected keep, reset or reset=SELECTOR"));
}

absl::StatusOr<ClusterInput> ReadClusterInput(const ClusterInputOptions& options) {
  return InputReader(options).Read();
}

}  // namespace schedsim::sim
