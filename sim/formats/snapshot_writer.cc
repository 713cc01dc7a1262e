#include "sim/formats/snapshot_writer.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/api/kinds.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "core/codec/text/value.h"
#include "core/codec/text/writer.h"
#include "sim/formats/etcd/etcd_snapshot_writer.h"
#include "sim/formats/kwok_yaml.h"
#include "sim/formats/snapshot_objects.h"

namespace schedsim::sim {
namespace {

using codec::Document;
using codec::Member;
using codec::Value;

struct GroupKind {
  absl::string_view group;
  absl::string_view kind;
};

// In the order of kwok's filter. What a custom resource needs comes behind them, then all else.
constexpr GroupKind kKwokKinds[] = {
    {"", "Namespace"},
    {"", "Node"},
    {"", "ServiceAccount"},
    {"", "ConfigMap"},
    {"", "Secret"},
    {"", "LimitRange"},
    {"node.k8s.io", "RuntimeClass"},
    {"scheduling.k8s.io", "PriorityClass"},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding"},
    {"rbac.authorization.k8s.io", "ClusterRole"},
    {"rbac.authorization.k8s.io", "RoleBinding"},
    {"rbac.authorization.k8s.io", "Role"},
    {"apps", "DaemonSet"},
    {"apps", "Deployment"},
    {"apps", "ReplicaSet"},
    {"apps", "StatefulSet"},
    {"batch", "CronJob"},
    {"batch", "Job"},
    {"", "PersistentVolumeClaim"},
    {"", "PersistentVolume"},
    {"", "Pod"},
    {"", "Service"},
    {"", "Endpoints"},
    {"apiextensions.k8s.io", "CustomResourceDefinition"},
};

// The version by which the API server calls an object in etcd; there is none of lower number.
constexpr uint64_t kRevisionMin = 2;
constexpr uint64_t kRevisionMax = uint64_t{1} << 62;

struct Item {
  size_t rank = 0;
  std::string group;
  std::string kind;
  std::string name_space;
  std::string name;
  uint64_t resource_version = 0;  // 0: none.
  bool has_uid = false;
  bool is_pending = false;  // A pod that is on no node.
  std::string json;

  auto Kind() const { return std::tie(rank, group, kind); }
  auto Name() const { return std::tie(name_space, name); }
  std::string Label() const {
    return Printable(absl::StrCat(kind, " ", name_space, name_space.empty() ? "" : "/", name),
                     kShownBytesMax);
  }
};

// Kinds that are not built in come last, by group and name.
size_t RankOf(const std::string& group, const std::string& kind) {
  for (size_t i = 0; i < std::size(kKwokKinds); ++i) {
    if (kKwokKinds[i].group == group && kKwokKinds[i].kind == kind) return i;
  }
  const bool is_built_in =
      api::FindKind(absl::StrCat(group, group.empty() ? "" : "/", "v1"), kind) != nullptr;
  return std::size(kKwokKinds) + (is_built_in ? 0 : 1);
}

std::string TextOf(const Value& root, absl::string_view part, absl::string_view key) {
  const Value* map = part.empty() ? &root : root.Find(part);
  const Value* value = map == nullptr ? nullptr : map->Find(key);
  return value != nullptr && value->is_string() ? std::string(value->text) : "";
}

Item ItemOf(std::string json) {
  Item item;
  VisitSnapshotObject(json, [&item](const Value& root) {
    item.group = std::string(api::GroupOf(TextOf(root, "", "apiVersion")));
    item.kind = TextOf(root, "", "kind");
    item.name_space = TextOf(root, "metadata", "namespace");
    item.name = TextOf(root, "metadata", "name");
    item.has_uid = !TextOf(root, "metadata", "uid").empty();
    item.is_pending = item.kind == "Pod" && TextOf(root, "spec", "nodeName").empty();
    uint64_t version = 0;
    const bool is_number = absl::SimpleAtoi(TextOf(root, "metadata", "resourceVersion"), &version);
    if (is_number && version >= kRevisionMin && version < kRevisionMax) item.resource_version = version;
  });
  item.rank = RankOf(item.group, item.kind);
  item.json = std::move(json);
  return item;
}

// `root` with all maps in the order of their keys; parts live in `document`.
Value SortedTree(const Value& root, Document& document) {
  Value sorted = root;
  std::vector<Value*> rest = {&sorted};
  while (!rest.empty()) {
    Value& value = *rest.back();
    rest.pop_back();
    const absl::Span<Value> items = document.CopyItems(value.items);
    for (Value& item : items) rest.push_back(&item);
    value.items = items;
    const absl::Span<Member> members = document.CopyMembers(value.members);
    std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.key < b.key; });
    for (Member& member : members) rest.push_back(&member.value);
    value.members = members;
  }
  return sorted;
}

std::string K8sText(const std::vector<Item>& items) {
  std::string text;
  for (const Item& item : items) {
    if (!text.empty()) text.append("---\n");
    VisitSnapshotObject(item.json, [&text](const Value& root) {
      Document document;
      AppendKwokYaml(SortedTree(WithoutVersion(root, document), document), text);
    });
  }
  return text;
}

std::string JsonText(const std::vector<Item>& items) {
  constexpr size_t kColumns = 4;
  std::string text = "{\n    \"apiVersion\": \"v1\",\n    \"items\": [";
  for (size_t i = 0; i < items.size(); ++i) {
    text.append(i == 0 ? "\n        " : ",\n        ");
    VisitSnapshotObject(items[i].json, [&text](const Value& root) {
      Document document;
      codec::AppendIndentedJson(SortedTree(root, document), kColumns, 2, text);
    });
  }
  text.append(items.empty() ? "],\n" : "\n    ],\n");
  text.append("    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n");
  return text;
}

// The plurals of kinds that are not built in, by "group/kind", as their definitions say.
std::map<std::string, std::string> PluralsOf(const std::vector<Item>& items) {
  std::map<std::string, std::string> plurals;
  for (const Item& item : items) {
    if (item.kind != "CustomResourceDefinition" || item.group != "apiextensions.k8s.io") continue;
    VisitSnapshotObject(item.json, [&plurals](const Value& root) {
      const Value* spec = root.Find("spec");
      if (spec == nullptr) return;
      plurals[absl::StrCat(TextOf(*spec, "", "group"), "/", TextOf(*spec, "names", "kind"))] =
          TextOf(*spec, "names", "plural");
    });
  }
  return plurals;
}

class EtcdText {
 public:
  explicit EtcdText(const std::vector<Item>& items) : plurals_(PluralsOf(items)) {}

  absl::Status Add(const Item& item) {
    if (item.name.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          Printable(item.kind, kShownBytesMax),
          ": metadata.name: etcd keeps objects by name, expected one; `schedsim snapshot save` makes names"));
    }
    std::string name_space = item.name_space;
    const api::KindInfo* info =
        api::FindKind(absl::StrCat(item.group, item.group.empty() ? "" : "/"), item.kind);
    if (info != nullptr && info->is_namespaced && name_space.empty()) name_space = "default";
    if (!item.has_uid && without_uid_++ == 0) first_without_uid_ = item.Label();
    StoredObject stored = {.key = EtcdKey(item.group, PluralOf(item, info), name_space, item.name),
                           .json = "",
                           .resource_version = item.resource_version};
    // The API server serves an Event in two groups, and keeps it once.
    if (!keys_.insert(stored.key).second) return absl::OkStatus();
    VisitSnapshotObject(item.json, [&](const Value& root) {
      Document document;
      const Value whole = WithMetadata(root, document, [&](std::vector<Member>& metadata) {
        std::erase_if(metadata, [](const Member& member) { return member.key == "resourceVersion"; });
        if (name_space.empty() || !item.name_space.empty()) return;
        Member& member = metadata.emplace_back();
        member.key = "namespace";
        member.value = document.MakeText(name_space);
      });
      stored.json = codec::ToJson(whole) + "\n";
    });
    objects_.push_back(std::move(stored));
    return absl::OkStatus();
  }

  SnapshotText Finish() && {
    SnapshotText out = {.text = WriteEtcdSnapshot(std::move(objects_))};
    for (const std::string& kind : undefined_) {
      out.warnings.push_back(absl::StrCat(
          "there is no CustomResourceDefinition of ", Printable(kind, kShownBytesMax),
          ", so the plural in the keys of its objects is a guess, and no API server serves them"));
    }
    if (without_uid_ > 0) {
      out.warnings.push_back(absl::StrCat(
          first_without_uid_, without_uid_ == 1 ? "" : absl::StrCat(" and ", without_uid_ - 1, " more"),
          ": no metadata.uid, which an API server gives to each object; `schedsim snapshot save` does"));
    }
    return out;
  }

 private:
  std::string PluralOf(const Item& item, const api::KindInfo* info) {
    if (info != nullptr) return std::string(info->plural);
    const auto defined = plurals_.find(absl::StrCat(item.group, "/", item.kind));
    if (defined != plurals_.end()) return defined->second;
    undefined_.insert(absl::StrCat(item.kind, ".", item.group));
    const std::string resource = api::GroupResource(absl::StrCat(item.group, "/v1"), item.kind);
    return resource.substr(0, resource.find('.'));
  }

  const std::map<std::string, std::string> plurals_;
  std::vector<StoredObject> objects_;
  std::set<std::string> keys_;
  std::set<std::string> undefined_;
  int64_t without_uid_ = 0;
  std::string first_without_uid_;
};

// Sorts the objects of each kind by namespace and name. Returns a warning where that moves what a run takes
// in the order of its input: nodes, and pods that wait.
std::vector<std::string> SortByName(std::vector<Item>& items) {
  std::vector<std::string> moved;
  for (const absl::string_view kind : {"Node", "Pod"}) {
    std::vector<const Item*> taken;
    for (const Item& item : items) {
      if (item.kind == kind && item.group.empty() && (kind == "Node" || item.is_pending))
        taken.push_back(&item);
    }
    const bool is_sorted = std::is_sorted(taken.begin(), taken.end(),
                                          [](const Item* a, const Item* b) { return a->Name() < b->Name(); });
    if (is_sorted) continue;
    moved.push_back(absl::StrCat("etcd keeps objects by name: the ",
                                 kind == "Node" ? "nodes" : "pending pods",
                                 " are in another order than in the input, in which a run takes them"));
  }
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::tuple_cat(a.Kind(), a.Name()) < std::tuple_cat(b.Kind(), b.Name());
  });
  return moved;
}

}  // namespace

absl::StatusOr<SnapshotFormat> ParseSnapshotFormat(absl::string_view text) {
  if (text == "k8s") return SnapshotFormat::kK8s;
  if (text == "json") return SnapshotFormat::kJson;
  if (text == "etcd") return SnapshotFormat::kEtcd;
  return absl::InvalidArgumentError(
      absl::StrCat(api::GoQuote(text), " is not known, expected k8s, json or etcd"));
}

absl::StatusOr<SnapshotFormat> SnapshotFormatOf(absl::string_view path) {
  const absl::string_view name = codec::WithoutArchiveEnding(path);
  if (absl::EndsWith(name, ".yaml") || absl::EndsWith(name, ".yml")) return SnapshotFormat::kK8s;
  if (absl::EndsWith(name, ".json")) return SnapshotFormat::kJson;
  if (absl::EndsWith(name, ".db")) return SnapshotFormat::kEtcd;
  return absl::InvalidArgumentError(absl::StrCat(
      Printable(path),
      ": the name does not say the format, expected one in .yaml, .json or .db (also with .gz or "
      ".zst), or the format: k8s, json or etcd"));
}

absl::StatusOr<SnapshotText> WriteSnapshot(std::vector<std::string> objects, SnapshotFormat format) {
  std::vector<Item> items;
  items.reserve(objects.size());
  for (std::string& json : objects) items.push_back(ItemOf(std::move(json)));
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.Kind() < b.Kind(); });
  if (format == SnapshotFormat::kK8s) return SnapshotText{.text = K8sText(items)};
  if (format == SnapshotFormat::kJson) return SnapshotText{.text = JsonText(items)};
  std::vector<std::string> moved = SortByName(items);
  EtcdText etcd(items);
  for (const Item& item : items) RETURN_IF_ERROR(etcd.Add(item));
  SnapshotText out = std::move(etcd).Finish();
  out.warnings.insert(out.warnings.end(), moved.begin(), moved.end());
  return out;
}

}  // namespace schedsim::sim
