#include "sim/formats/cluster_input.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/api/kinds.h"
#include "core/api/object_text.h"
#include "core/api/scheduler_config.h"
#include "core/base/and_more.h"
#include "core/base/lookup_map.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/json_edit.h"
#include "core/codec/text/reader.h"
#include "sim/cluster/admission/namespace_lifecycle.h"
#include "sim/cluster/label_selector.h"
#include "sim/formats/cluster_files.h"
#include "sim/formats/manifest_fields.h"
#include "sim/formats/missing_kinds.h"
#include "sim/formats/named_file.h"
#include "sim/formats/object_inspector.h"
#include "sim/formats/quota_gaps.h"
#include "sim/formats/unchecked_admission.h"
#include "sim/formats/unsimulated_controllers.h"

namespace schedsim::sim {
namespace {

bool IsDigits(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The newest of the times that servers write: when an object was made or changed, and what the status of
// Kubernetes' own kinds says of what was. No other text counts, since it may be of any time: what a manifest
// asks for, annotations, a certificate's end. Nor does the deletionTimestamp, which may lie in the future.
class NewestTime {
 public:
  void Look(const codec::Value& object, absl::string_view api_version, absl::string_view kind) {
    if (const codec::Value* metadata = object.Find("metadata")) LookAtMetadata(*metadata);
    if (api::FindKind(api_version, kind) == nullptr) return;
    if (const codec::Value* status = object.Find("status")) LookAtStatus(*status);
    if (kind == "Node") {
      const codec::Value* const taints = FindIn(object.Find("spec"), "taints");
      for (size_t i = 0; taints != nullptr && i < taints->items.size(); ++i)
        LookAt(taints->items[i].Find("timeAdded"));
    } else if (kind == "Lease") {
      for (const char* const name : {"acquireTime", "renewTime"}) LookAt(FindIn(object.Find("spec"), name));
    } else if (kind == "Event") {
      for (const char* const name : {"eventTime", "firstTimestamp", "lastTimestamp",
                                     "deprecatedFirstTimestamp", "deprecatedLastTimestamp"})
        LookAt(object.Find(name));
      LookAt(FindIn(object.Find("series"), "lastObservedTime"));
    }
  }

  std::optional<absl::Time> time() const { return newest_; }

 private:
  static const codec::Value* FindIn(const codec::Value* map, absl::string_view name) {
    return map == nullptr ? nullptr : map->Find(name);
  }

  void LookAtMetadata(const codec::Value& metadata) {
    LookAt(metadata.Find("creationTimestamp"));
    const codec::Value* const fields = metadata.Find("managedFields");
    for (size_t i = 0; fields != nullptr && i < fields->items.size(); ++i)
      LookAt(fields->items[i].Find("time"));
  }

  // Fields of these names are times in each status that has them. Source: kubernetes v1.37,
  // staging/src/k8s.io/api, types.go of each group.
  static bool IsTimeOfStatus(absl::string_view name) {
    constexpr absl::string_view kNames[] = {"allocationTimestamp",
                                            "completionTime",
                                            "finishedAt",
                                            "lastHeartbeatTime",
                                            "lastProbeTime",
                                            "lastScaleTime",
                                            "lastScheduleTime",
                                            "lastPhaseTransitionTime",
                                            "lastSuccessfulTime",
                                            "lastTransitionTime",
                                            "lastUpdateTime",
                                            "startTime",
                                            "startedAt"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
  }

  void LookAtStatus(const codec::Value& status) {
    rest_ = {&status};
    while (!rest_.empty()) {
      const codec::Value& value = *rest_.back();
      rest_.pop_back();
      for (const codec::Value& item : value.items) rest_.push_back(&item);
      for (const codec::Member& member : value.members) {
        if (member.value.is_string()) {
          if (HasForm(member.value.text) && IsTimeOfStatus(member.key)) LookAt(&member.value);
        } else if (member.key != "data" && !(member.value.items.empty() && member.value.members.empty())) {
          // `data` of the device of a claim is the driver's own.
          rest_.push_back(&member.value);
        }
      }
    }
  }

  // Whether the text may be a time.
  static bool HasForm(absl::string_view text) {
    return text.size() > kDateBytes && text[kDateBytes] == 'T' && text.size() <= kTimeBytesMax &&
           text[4] == '-' && text[7] == '-' && IsDigits(text.substr(0, 4));
  }

  void LookAt(const codec::Value* value) {
    if (value == nullptr || !value->is_string() || !HasForm(value->text)) return;
    const absl::string_view text = value->text;
    // Times of one notation are in the order of their texts.
    if (text.size() == newest_text_.size() && text.back() == 'Z' && text <= newest_text_) return;
    absl::Time time;
    std::string error;
    if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return;
    if (newest_.has_value() && time <= *newest_) return;
    newest_ = time;
    newest_text_ = std::string(text);
  }

  static constexpr size_t kDateBytes = 10;
  static constexpr size_t kTimeBytesMax = 34;
  std::optional<absl::Time> newest_;
  std::string newest_text_;
  std::vector<const codec::Value*> rest_;
};

// Which line of Kubernetes the kubelets of all nodes have. The nodes of kwok have none.
class KubeletVersions {
 public:
  void Look(const codec::Value& node) {
    const codec::Value* value = &node;
    for (const char* const name : {"status", "nodeInfo", "kubeletVersion"}) {
      if (value != nullptr) value = value->Find(name);
    }
    const absl::string_view version = value == nullptr ? "" : value->text;
    if (version == "fake" || absl::StartsWith(version, "kwok-")) return;
    if (!absl::StartsWith(version, "v1.")) {
      is_open_ = true;
      return;
    }
    const absl::string_view line = version.substr(0, version.find('.', 3));
    first_of_line_.emplace(line, version);
  }

  // The version of the first one; "": there is none, lines differ, or a node does not say its own.
  std::string version() const {
    return is_open_ || first_of_line_.size() != 1 ? "" : first_of_line_.begin()->second;
  }

  // Where there are versions, but not one of all: one of each line.
  std::vector<std::string> differing() const {
    std::vector<std::string> versions;
    if (!version().empty()) return versions;
    for (const auto& [line, first] : first_of_line_) versions.push_back(first);
    return versions;
  }

 private:
  std::map<std::string, std::string> first_of_line_;
  bool is_open_ = false;
};

bool IsOwnedByDaemonSet(const api::Pod& pod) {
  const auto& owners = pod.metadata.owner_references;
  return std::any_of(owners.begin(), owners.end(),
                     [](const api::OwnerReference& owner) { return owner.kind == "DaemonSet"; });
}

// Whether admission looks at such objects when others are created, so that these come later. So do these
// themselves after their namespaces.
bool IsPolicy(const api::Object& object) {
  if (object.kind != api::Kind::kOther) {
    return object.kind == api::Kind::kPriorityClass || object.kind == api::Kind::kStorageClass;
  }
  return object.kind_name == "LimitRange" || object.kind_name == "ResourceQuota" ||
         object.kind_name == "RuntimeClass";
}

std::string TextOf(const std::vector<std::string>& files, const ClusterInput::Place& place) {
  const std::string& file = files[static_cast<size_t>(place.file_index)];
  // What no text was written for, such as an object in a database, has no line.
  if (place.position.line == 0) return file;
  return absl::StrCat(file, ":", place.position.line, ":", place.position.column);
}

class InputReader {
 public:
  InputReader(const ClusterInputOptions& options, LabelSelector selector)
      : options_(options), selector_(std::move(selector)), reader_({.by_source = true}) {
    reader_.set_inspector([this](const codec::Value& document, absl::string_view api_version,
                                 absl::string_view kind, absl::string_view file) {
      if (!codec::IsObjectList(document)) newest_time_.Look(document, api_version, kind);
      if (kind == "Node") kubelets_.Look(document);
      if (document.is_object())
        unsimulated_.LookAtDocument(document, api_version, kind, inspector_.FileIndex(file));
      return inspector_.Inspect(document, api_version, kind, file);
    });
    reader_.set_on_repeated_key([this](const codec::Value& document, const codec::RepeatedKey& repeated) {
      inspector_.NoteRepeatedKey(document, repeated);
    });
  }

  // Takes all objects of a file or folder.
  absl::Status ReadPath(absl::string_view path) {
    const size_t count = items_.size() + left_out_count_;
    const absl::Status status =
        reader_.ReadFrom([this, path](const codec::ReadOptions& options,
                                      auto on_document) { return files_.Read(path, options, on_document); },
                         [this](api::ObjectPtr object, const codec::Location& location) {
                           return Take(std::move(object), location);
                         });
    // A folder without files of objects is an empty input as well.
    const bool has_files = !absl::IsFailedPrecondition(status);
    if (has_files) RETURN_IF_ERROR(status);
    if (!has_files && !options_.allow_empty) {
      return absl::InvalidArgumentError(absl::StrCat(status.message(), "; --allow-empty takes it as it is"));
    }
    return items_.size() + left_out_count_ == count ? TakeEmpty(path) : absl::OkStatus();
  }

  absl::Status Take(api::ObjectPtr object, const codec::Location& location) {
    if (inspector_.LeavesOut(*object)) {
      ++left_out_count_;
      return absl::OkStatus();
    }
    const std::string key = LabelOf(*object);
    const Place place = {.file_index = inspector_.FileIndex(location.file), .position = location.position};
    const bool has_name = !object->metadata.name.empty();
    if (const Place* first = has_name ? places_.Find(key) : nullptr) {
      return codec::ErrorAt(
          location, absl::StrCat("metadata.name: ", Printable(key, kShownBytesMax),
                                 " is there twice, expected it once; the first is at ", ToString(*first)));
    }
    if (has_name) places_[key] = place;
    TakeNamespace(*object, place);
    NoteServerFields(object, place);
    const bool has_uid_of_another = HasUidOfAnother(object, place);
    Item item = {.from_cluster = !object->metadata.uid.empty(), .key = object->Key(), .place = place};
    if (object->kind == api::Kind::kNode) {
      item.group = Group::kNode;
      ++input_.node_count;
      nodes_.insert(object->metadata.name);
    } else if (object->kind == api::Kind::kPod) {
      TakePod(std::static_pointer_cast<const api::Pod>(object), has_uid_of_another, item);
    } else {
      if (object->kind == api::Kind::kOther) ++input_.other_kinds[object->kind_name];
      if (IsPolicy(*object)) item.group = Group::kPolicy;
      if (object->kind == api::Kind::kNamespace) item.group = Group::kNamespace;
    }
    if (item.object == nullptr) item.object = std::move(object);
    missing_kinds_.Look(item.object, item.group == Group::kPending);
    unsimulated_.LookAtOwners(*item.object);
    items_.push_back(std::move(item));
    return absl::OkStatus();
  }

  // Takes an object that was read elsewhere.
  absl::Status TakeInline(const ClusterInputOptions::Inline& given) {
    if (given.object->json != nullptr) {
      RETURN_IF_ERROR(codec::ReadText(
          given.object->json->ToString(), "object.json", {}, [this, &given](const codec::Document& document) {
            newest_time_.Look(document.root, given.object->api_version, given.object->kind_name);
            return absl::OkStatus();
          }));
    }
    return Take(given.object, {.file = given.file, .position = given.position});
  }

  // After the last object.
  absl::StatusOr<ClusterInput> Finish() {
    input_.newest_timestamp = newest_time_.time();
    input_.server_version = files_.server_version();
    input_.server_version_of = files_.server_version_file();
    if (input_.server_version.empty()) {
      input_.server_version = kubelets_.version();
      input_.server_version_of = "the kubelets of the nodes";
      input_.differing_versions = kubelets_.differing();
    }
    CountPodsOnUnknownNodes();
    WarnOfSharedUids();
    WarnOfUnsimulatedControllers();
    WarnOfAdmission();
    OrderWarnings();
    NoteMissingNamespaces();
    NoteDroppedFields();
    Order();
    return std::move(input_);
  }

 private:
  // The place of an object in the order of creation.
  enum class Group : uint8_t { kNode, kNamespace, kPolicy, kOther, kPending };
  using Place = ClusterInput::Place;
  struct Item {
    Group group = Group::kOther;
    bool from_cluster = false;
    std::string key;
    Place place;
    api::ObjectPtr object = nullptr;
  };

  // Tells objects apart: kind, namespace and name; also the group of kinds that others may have, too.
  static std::string LabelOf(const api::Object& object) {
    std::string label = absl::StrCat(object.kind_name, " ", object.Key());
    if (object.kind == api::Kind::kOther) {
      const absl::string_view group = api::GroupOf(object.api_version);
      if (!group.empty()) absl::StrAppend(&label, " of ", group);
    }
    return label;
  }

  std::string ToString(const Place& place) const { return TextOf(inspector_.files(), place); }

  void Warn(const Place& place, absl::string_view what) {
    warnings_.push_back({.file_index = place.file_index,
                         .position = place.position,
                         .text = absl::StrCat(ToString(place), ": ", what)});
  }

  // A path without a single object in it is most likely not the one that was meant.
  absl::Status TakeEmpty(absl::string_view path) {
    const std::string name = path == "-" ? "stdin" : Printable(path);
    if (options_.allow_empty) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": no objects in it, expected at least one; --allow-empty takes it as it is"));
  }

  // Remembers where manifests want a namespace to be.
  void TakeNamespace(const api::Object& object, const Place& place) {
    if (object.kind == api::Kind::kNamespace) namespaces_.insert(object.metadata.name);
    const std::string& name = object.metadata.namespace_;
    if (api::CameFromCluster(object) || name.empty() || IsSystemNamespace(name)) return;
    wanted_namespaces_.emplace(name, place);
  }

  // Takes out of manifests what the API server makes anew.
  void NoteServerFields(api::ObjectPtr& object, const Place& place) {
    for (const std::string& field : DropServerFields(object)) {
      DroppedField& dropped = dropped_fields_[field];
      if (dropped.count++ > 0) continue;
      dropped.place = place;
      dropped.object = LabelOf(*object);
    }
  }

  void NoteDroppedFields() {
    for (const auto& [field, dropped] : dropped_fields_) {
      const std::string more =
          dropped.count == 1 ? "" : absl::StrCat(" (and of ", dropped.count - 1, " more)");
      input_.notes.push_back(absl::StrCat(ToString(dropped.place), ": ",
                                          Printable(dropped.object, kShownBytesMax), ": ", field, more, ": ",
                                          kDroppedServerField));
    }
  }

  void NoteMissingNamespaces() {
    std::vector<InputWarning> notes;
    for (const auto& [name, place] : wanted_namespaces_) {
      if (namespaces_.contains(name)) continue;
      const std::string shown = Printable(name, kShownBytesMax);
      notes.push_back({.file_index = place.file_index,
                       .position = place.position,
                       .text = absl::StrCat(ToString(place), ": namespace ", shown,
                                            " is not in the input, so it is made; ",
                                            "the API server would refuse what is in it")});
    }
    SortByPlace(notes);
    for (InputWarning& note : notes) input_.notes.push_back(std::move(note.text));
  }

  void WarnOfUnsimulatedControllers() {
    input_.unsimulated_makers = unsimulated_.Makers();
    for (const UnsimulatedControllers::Finding& finding : unsimulated_.Findings())
      Warn({.file_index = finding.file_index, .position = finding.position}, finding.text);
  }

  // What a cluster's admission would do otherwise.
  void WarnOfAdmission() {
    std::vector<api::ObjectPtr> objects;
    for (const Item& item : items_) objects.push_back(item.object);
    for (const UncheckedAdmission& unchecked : FindUncheckedAdmission(objects, options_.has_timeline))
      Warn(items_[unchecked.index].place, unchecked.text);
    const QuotaGaps gaps = FindQuotaGaps(objects, options_.has_timeline);
    if (gaps.count == 0) return;
    const Item& first = items_[gaps.first];
    Warn(first.place,
         absl::StrCat(Printable(LabelOf(*first.object), kShownBytesMax), ": ", gaps.text,
                      ": objects of its namespace are missing, so it admits more here than in the cluster",
                      AndMore(gaps.count)));
  }

  // Puts the warnings into order.
  void OrderWarnings() {
    std::vector<InputWarning> warnings = inspector_.Warnings();
    std::move(warnings_.begin(), warnings_.end(), std::back_inserter(warnings));
    SortByPlace(warnings);
    for (InputWarning& warning : warnings) input_.warnings.push_back(std::move(warning.text));
    for (const std::string& warning : options_.warnings) input_.warnings.push_back(warning);
    for (const std::string& warning : files_.warnings()) input_.warnings.push_back(warning);
    if (input_.node_count == 0 && !options_.has_timeline && !options_.allow_empty) {
      input_.warnings.push_back(
          "no nodes in the input, so no pod can be scheduled; `kubectl get nodes -o yaml` prints those of a "
          "cluster, -f adds them");
    }
    const std::string missing = missing_kinds_.Warning(options_.has_timeline);
    if (!missing.empty()) input_.warnings.push_back(missing);
    if (options_.bound.reset && input_.reset_pod_count == 0) {
      input_.warnings.push_back(
          absl::StrCat("--bound: no bound pod is to be scheduled anew",
                       options_.bound.selector.empty() ? "" : "; without a selector all are meant"));
    }
  }

  // A field that manifests have and that is the API server's: the first of them and how many there are.
  struct DroppedField {
    Place place;
    std::string object;
    int64_t count = 0;
  };

  // Objects with the uid of another one of their kind: the first of them and how many there are.
  struct SharedUids {
    Place place;
    std::string text;
    int64_t count = 0;
  };

  // Tells whether an object of the kind came with that uid before, and counts it for a warning if so.
  bool HasUidOfAnother(const api::ObjectPtr& object, const Place& place) {
    if (object->metadata.uid.empty()) return false;
    // The group as well: the API server serves each Event in two groups, with the same uid.
    api::ObjectPtr& first = first_by_uid_[absl::StrCat(api::GroupOf(object->api_version), "/",
                                                       object->kind_name, " ", object->metadata.uid)];
    if (first == nullptr) {
      first = object;
      return false;
    }
    const bool is_pod = object->kind == api::Kind::kPod;
    SharedUids& shared = is_pod ? pods_of_shared_uids_ : others_of_shared_uids_;
    if (shared.count++ > 0) return true;
    shared.place = place;
    shared.text = absl::StrCat(
        Printable(LabelOf(*object), kShownBytesMax), ": metadata.uid is that of ",
        Printable(LabelOf(*first), kShownBytesMax), " at ", ToString(*places_.Find(LabelOf(*first))),
        is_pod ? ", so it gets a new one; leave the uid out in copies" : "; leave the uid out in copies");
    return true;
  }

  void WarnOfSharedUids() {
    for (const SharedUids* shared : {&pods_of_shared_uids_, &others_of_shared_uids_}) {
      if (shared->count == 0) continue;
      Warn(
          shared->place,
          absl::StrCat(shared->text, shared->count == 1 ? "" : absl::StrCat(" (", shared->count, " times)")));
    }
  }

  // The scheduler knows pods by their uid. A pod with one that is taken gets a new one on its creation, as
  // each pod does that is created from a manifest.
  static api::PodPtr WithoutUid(const api::PodPtr& pod) {
    auto copy = std::static_pointer_cast<api::Pod>(pod->Clone());
    copy->metadata.uid.clear();
    return copy;
  }

  bool IsOfSchedulers(const api::Pod& pod) const {
    const std::string& named = pod.spec->scheduler_name;
    const absl::string_view name = named.empty() ? absl::string_view(api::kDefaultSchedulerName) : named;
    const std::vector<std::string>& names = options_.schedulers;
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  }

  void TakePod(const api::PodPtr& given, bool has_uid_of_another, Item& item) {
    const api::PodPtr pod = has_uid_of_another ? WithoutUid(given) : given;
    item.object = pod;
    if (pod->IsTerminal()) {
      ++input_.finished_pod_count;
      return;
    }
    if (pod->node_name.empty()) {
      item.group = Group::kPending;
      ++input_.pending_pod_count;
      return;
    }
    // A pod that is ending keeps its node to its end: its successor is another pod.
    const bool is_ending = pod->metadata.deletion_timestamp.has_value();
    if (options_.bound.reset && !is_ending && !api::IsMirrorPod(*pod) && !IsOwnedByDaemonSet(*pod) &&
        IsOfSchedulers(*pod) && selector_.Matches(pod->metadata.labels)) {
      auto reset = std::static_pointer_cast<api::Pod>(pod->Clone());
      reset->node_name.clear();
      reset->status = api::PodStatus();
      reset->status.phase = "Pending";
      if (reset->json != nullptr) {
        // What scheduling does not read is in the text alone: addresses, and the states of containers.
        reset->json = std::make_shared<const api::ObjectText>(
            codec::SetJsonMember(reset->json->ToString(), {"status"}, R"({"phase":"Pending"})"));
      }
      item.object = std::move(reset);
      item.group = Group::kPending;
      ++input_.pending_pod_count;
      ++input_.reset_pod_count;
      return;
    }
    ++input_.bound_pod_count;
    bound_.push_back(pod);
  }

  // Makes one warning of all pods on nodes that are not in the input, at the first of them.
  void CountPodsOnUnknownNodes() {
    int64_t count = 0;
    api::PodPtr first;
    for (const api::PodPtr& pod : bound_) {
      if (nodes_.find(pod->node_name) != nodes_.end()) continue;
      if (count++ == 0) first = pod;
    }
    if (count == 0) return;
    Warn(*places_.Find(LabelOf(*first)),
         absl::StrCat("pod ", Printable(first->Key(), kShownBytesMax), " on node ",
                      Printable(first->node_name, kShownBytesMax),
                      count == 1 ? "" : absl::StrCat(" and ", count - 1, " more"),
                      ": no such node in the input; they count once it is there, -f adds nodes"));
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
    for (Item& item : items_) {
      input_.objects.push_back(std::move(item.object));
      input_.places.push_back(item.place);
    }
    input_.files = inspector_.files();
  }

  const ClusterInputOptions& options_;
  const LabelSelector selector_;
  ClusterFiles files_;
  KubeletVersions kubelets_;
  codec::ObjectReader reader_;
  ClusterInput input_;
  std::vector<Item> items_;
  absl::flat_hash_set<std::string> nodes_;
  std::vector<api::PodPtr> bound_;
  ObjectInspector inspector_;
  size_t left_out_count_ = 0;  // Objects of kinds that no API server serves.
  NewestTime newest_time_;
  MissingKinds missing_kinds_;
  UnsimulatedControllers unsimulated_;
  absl::flat_hash_set<std::string> namespaces_;  // That are there.
  // With the first manifest in each.
  std::map<std::string, Place> wanted_namespaces_;
  std::vector<InputWarning> warnings_;                   // Beside the inspector's.
  LookupMap<std::string, Place> places_;                 // By label.
  LookupMap<std::string, api::ObjectPtr> first_by_uid_;  // By group, kind and uid.
  std::map<std::string, DroppedField> dropped_fields_;   // By field.
  SharedUids pods_of_shared_uids_;
  SharedUids others_of_shared_uids_;
};

}  // namespace

absl::StatusOr<BoundPods> ParseBoundPods(absl::string_view text) {
  BoundPods bound;
  if (text == "keep") return bound;
  bound.reset = true;
  if (text == "reset") return bound;
  if (absl::ConsumePrefix(&text, "reset=")) {
    bound.selector = std::string(text);
    const absl::Status status = LabelSelector::Parse(text).status();
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat("selector ", status.message()));
    return bound;
  }
  return absl::InvalidArgumentError(absl::StrCat("\"", Printable(text, kShownBytesMax),
                                                 "\" is not known, expected keep, reset or reset=SELECTOR"));
}

std::string BoundPodsText(const BoundPods& bound) {
  if (!bound.reset) return "keep";
  return bound.selector.empty() ? "reset" : absl::StrCat("reset=", bound.selector);
}

std::string ClusterInput::PlaceOf(size_t index) const { return TextOf(files, places[index]); }

absl::StatusOr<ClusterInput> ReadClusterInput(const ClusterInputOptions& options) {
  ASSIGN_OR_RETURN(LabelSelector selector, LabelSelector::Parse(options.bound.selector));
  InputReader reader(options, std::move(selector));
  for (const ClusterInputOptions::Path& path : options.paths) {
    RETURN_IF_ERROR(AtName(reader.ReadPath(path.path), path.named_at));
  }
  for (const ClusterInputOptions::Inline& given : options.objects) {
    RETURN_IF_ERROR(reader.TakeInline(given));
  }
  return reader.Finish();
}

}  // namespace schedsim::sim
