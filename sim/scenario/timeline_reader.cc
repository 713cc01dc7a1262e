#include "sim/scenario/timeline_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/kinds.h"
#include "core/base/status_macros.h"
#include "core/codec/text/writer.h"
#include "sim/formats/manifest_fields.h"
#include "sim/formats/named_file.h"
#include "sim/formats/object_inspector.h"
#include "sim/scenario/indexed_template.h"
#include "sim/scenario/span_reader.h"
#include "sim/scenario/taint_reader.h"

namespace schedsim::sim {
namespace {

using codec::ErrorList;
using codec::StrictReader;
using codec::Value;

constexpr char kNoName[] = "expected a name that is not empty";

class EntryReader {
 public:
  EntryReader(std::optional<absl::Duration> end, const TimelineReaderOptions& options,
              codec::ObjectReader& objects, ErrorList& errors)
      : end_(end), options_(options), objects_(objects), errors_(errors) {}

  // Adds the entry to `entries`, or the rounds that it stands for.
  void Read(const Value& value, const std::string& path, std::vector<TimelineEntry>& entries);
  const absl::Status& status() const { return status_; }

 private:
  // The name of an action, and what reads it.
  struct Verb {
    absl::string_view name;
    Action (EntryReader::*read)(const Value& value, const std::string& path);
  };
  static const Verb kVerbs[];

  // `at` and `after`.
  void ReadTime(StrictReader& reader, const Value& value, const std::string& path, TimelineEntry& entry);
  // `start` has the time of the first round.
  void ReadRounds(const Value& value, const std::string& path, const TimelineEntry& start,
                  std::vector<TimelineEntry>& entries);
  Action ReadCreate(const Value& value, const std::string& path) {
    return CreateObjects{ReadObjects(value, path, /*is_new=*/true)};
  }
  Action ReadUpdate(const Value& value, const std::string& path) {
    return UpdateObjects{ReadObjects(value, path, /*is_new=*/false)};
  }
  Action ReadPatch(const Value& value, const std::string& path);
  void CheckPatchedKind(const Value* patch, const std::string& kind, const std::string& path);
  Action ReadDelete(const Value& value, const std::string& path);
  Action ReadComplete(const Value& value, const std::string& path);
  Action ReadCordon(const Value& value, const std::string& path) {
    return CordonNodes{.nodes = ReadNodes(value, path), .unschedulable = true};
  }
  Action ReadUncordon(const Value& value, const std::string& path) {
    return CordonNodes{.nodes = ReadNodes(value, path), .unschedulable = false};
  }
  Action ReadTaint(const Value& value, const std::string& path) {
    return ReadTaints(value, path, /*remove=*/false);
  }
  Action ReadUntaint(const Value& value, const std::string& path) {
    return ReadTaints(value, path, /*remove=*/true);
  }
  Action ReadTaints(const Value& value, const std::string& path, bool remove);
  Action ReadLabel(const Value& value, const std::string& path);
  Action ReadDrain(const Value& value, const std::string& path);
  Action ReadNodeDown(const Value& value, const std::string& path);
  Action ReadNodeUp(const Value& value, const std::string& path) { return NodeUp{ReadNodes(value, path)}; }
  Action ReadScale(const Value& value, const std::string& path);
  Action ReadScaleSet(const Value& value, const std::string& path);
  Action ReadSnapshot(const Value& value, const std::string& path);
  Action ReadWait(const Value& value, const std::string& path);

  // `is_new`: the objects are created, so that a generateName is enough, and what is the API server's own is
  // taken out of them, with a note.
  std::vector<api::ObjectPtr> ReadObjects(const Value& value, const std::string& path, bool is_new);
  void DropAndNoteServerFields(api::ObjectPtr& object, const codec::Location& location);
  // An object, a list of kind List, or a template with a count.
  absl::Status ReadItem(const Value& item, const std::string& path, codec::ObjectReader::Sink sink) {
    if (!IsTemplated(item)) return objects_.ReadValue(item, options_.file, sink);
    return ReadTemplated(item, path, options_.file, round_.value_or(0), objects_, errors_, sink);
  }
  Target ReadTarget(const Value& value, const std::string& path, absl::string_view kind = "Pod");
  Target ReadPods(const Value& value, const std::string& path);
  Target ReadNodes(const Value& value, const std::string& path);
  Target TakeNodes(StrictReader& reader, const Value& value);
  // Reads the fields of a target out of a map that has others, too. `kind` is the default.
  Target TakeTarget(StrictReader& reader, const Value& value, absl::string_view kind);
  void TakeNames(StrictReader& reader, const Value& value, Target& target);
  void Error(const Value& value, const std::string& path, absl::string_view what) {
    errors_.Add(value.position, absl::StrCat(path, ": ", what));
  }

  const std::optional<absl::Duration> end_;
  const TimelineReaderOptions& options_;
  codec::ObjectReader& objects_;
  ErrorList& errors_;
  absl::Status status_;
  absl::Duration last_at_;
  // Of `repeat`, from 0; absent: the entries are outside of any.
  std::optional<int64_t> round_;
};

const EntryReader::Verb EntryReader::kVerbs[] = {
    {"create", &EntryReader::ReadCreate},         {"update", &EntryReader::ReadUpdate},
    {"patch", &EntryReader::ReadPatch},           {"delete", &EntryReader::ReadDelete},
    {"complete", &EntryReader::ReadComplete},     {"cordon", &EntryReader::ReadCordon},
    {"uncordon", &EntryReader::ReadUncordon},     {"taint", &EntryReader::ReadTaint},
    {"untaint", &EntryReader::ReadUntaint},       {"label", &EntryReader::ReadLabel},
    {"drain", &EntryReader::ReadDrain},           {"nodeDown", &EntryReader::ReadNodeDown},
    {"nodeUp", &EntryReader::ReadNodeUp},         {"scale", &EntryReader::ReadScale},
    {"kwokctlScale", &EntryReader::ReadScaleSet}, {"snapshot", &EntryReader::ReadSnapshot},
    {"waitUntil", &EntryReader::ReadWait}};

void EntryReader::ReadTime(StrictReader& reader, const Value& value, const std::string& path,
                           TimelineEntry& entry) {
  ReadSpan(reader, "at", errors_, entry.at);
  std::optional<absl::Duration> after;
  ReadSpan(reader, "after", errors_, after);
  entry.after = after.value_or(absl::ZeroDuration());
  if (entry.at.has_value() && after.has_value()) Error(value, path, "expected either at or after, got both");
  if (!entry.at.has_value()) return;
  const std::string at_path = reader.PathOf("at");
  if (round_.has_value()) Error(value, at_path, "expected after: the times of a round are its own");
  if (*entry.at < last_at_) {
    Error(value, at_path,
          absl::StrCat("expected a time that is not before that of an earlier entry, ",
                       absl::FormatDuration(last_at_)));
  }
  if (end_.has_value() && *entry.at >= *end_)
    Error(value, at_path, absl::StrCat("expected a time before the end, ", absl::FormatDuration(*end_)));
  last_at_ = std::max(last_at_, *entry.at);
}

void EntryReader::Read(const Value& value, const std::string& path, std::vector<TimelineEntry>& entries) {
  StrictReader reader(value, path, errors_);
  if (!value.is_object()) return;
  TimelineEntry entry;
  ReadTime(reader, value, path, entry);
  int actions = 0;
  for (const Verb& verb : kVerbs) {
    const Value* action = reader.Take(verb.name);
    if (action == nullptr) continue;
    if (++actions > 1)
      Error(*action, path, "expected one action, got another one: make it an entry of its own");
    const std::string action_path = reader.PathOf(verb.name);
    entry.place = std::string(
        codec::ErrorAt({.file = options_.file, .position = action->position}, action_path).message());
    entry.action = (this->*verb.read)(*action, action_path);
  }
  const Value* rounds = round_.has_value() ? nullptr : reader.Take("repeat");
  if (rounds != nullptr && ++actions > 1) Error(*rounds, path, "expected one action, got repeat as well");
  reader.Finish();
  if (rounds != nullptr) {
    ReadRounds(*rounds, reader.PathOf("repeat"), entry, entries);
  } else {
    entries.push_back(std::move(entry));
  }
  if (actions > 0) return;
  const std::string names = absl::StrJoin(
      kVerbs, ", ", [](std::string* out, const Verb& verb) { absl::StrAppend(out, verb.name); });
  Error(value, path,
        absl::StrCat("expected an action: one of ", names, round_.has_value() ? "" : ", repeat"));
}

void EntryReader::ReadRounds(const Value& value, const std::string& path, const TimelineEntry& start,
                             std::vector<TimelineEntry>& entries) {
  constexpr int64_t kRoundsMax = 100'000;
  StrictReader reader(value, path, errors_);
  if (!value.is_object()) return;
  absl::Duration every;
  ReadSpan(reader, "every", errors_, every);
  std::optional<int64_t> times;
  reader.Read("times", times);
  if (!times.has_value() || *times < 1 || *times > kRoundsMax) {
    Error(value, reader.PathOf("times"), absl::StrCat("expected a whole number from 1 to ", kRoundsMax));
    times = 1;
  }
  const Value* list = reader.Take("timeline");
  reader.Finish();
  if (list == nullptr || !list->is_array() || list->items.empty()) {
    Error(value, reader.PathOf("timeline"), "expected a list of entries, with at least one");
    return;
  }
  const size_t first = entries.size();
  for (round_ = 0; *round_ < *times; ++*round_) {
    const size_t begin = entries.size();
    for (size_t i = 0; i < list->items.size(); ++i)
      Read(list->items[i], absl::StrCat(reader.PathOf("timeline"), "[", i, "]"), entries);
    if (begin == entries.size()) break;
    TimelineEntry& entry = entries[begin];
    if (*round_ > 0) {
      entry.round = {.first = first, .span = every * *round_};
      continue;
    }
    entry.at = start.at;
    entry.after += start.after;
  }
  round_.reset();
}

std::vector<api::ObjectPtr> EntryReader::ReadObjects(const Value& value, const std::string& path,
                                                     bool is_new) {
  std::vector<api::ObjectPtr> objects;
  const auto take = [&](api::ObjectPtr object, const codec::Location& location) -> absl::Status {
    RETURN_IF_ERROR(RefuseUnservedKind(*object, location));
    if (object->metadata.name.empty() && !is_new) {
      return codec::ErrorAt(location, "metadata.name: expected a name, got only generateName");
    }
    if (is_new) DropAndNoteServerFields(object, location);
    objects.push_back(std::move(object));
    return absl::OkStatus();
  };
  absl::Status status;
  if (value.is_string()) {
    const std::string file = PathFrom(options_.folder, value.text);
    if (options_.read_paths != nullptr) options_.read_paths->push_back(file);
    const codec::Location place = {.file = options_.file, .position = value.position};
    status = AtName(objects_.Read(file, take), codec::ErrorAt(place, path).message());
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.items.size(); ++i)
      status.Update(ReadItem(value.items[i], absl::StrCat(path, "[", i, "]"), take));
  } else if (value.is_object()) {
    status = ReadItem(value, path, take);
  } else {
    Error(value, path,
          absl::StrCat("expected an object, a list of objects or the path of a file, got ",
                       Describe(value.type)));
    return objects;
  }
  if (status.ok() && objects.empty()) Error(value, path, "expected at least one object, got none");
  status_.Update(status);
  return objects;
}

void EntryReader::DropAndNoteServerFields(api::ObjectPtr& object, const codec::Location& location) {
  for (const std::string& field : DropServerFields(object)) {
    if (options_.notices == nullptr) continue;
    const absl::Status note = codec::ErrorAt(location, absl::StrCat(object->kind_name, " ", object->Key(),
                                                                    ": ", field, ": ", kDroppedServerField));
    options_.notices->push_back(absl::StrCat("note: ", note.message()));
  }
}

void EntryReader::TakeNames(StrictReader& reader, const Value& value, Target& target) {
  std::optional<std::string> name;
  reader.Read("name", name);
  reader.ReadStrings("names", target.names);
  if (name.has_value() && reader.Has("names")) {
    Error(*value.Find("names"), reader.PathOf("names"), "expected either name or names, got both");
  }
  if (name.has_value()) target.names.push_back(*name);
  std::optional<std::string> selector;
  reader.Read("selector", selector);
  if (selector.has_value()) {
    absl::StatusOr<LabelSelector> parsed = LabelSelector::Parse(*selector);
    target.selector_text = *selector;
    if (parsed.ok()) {
      target.selector = *std::move(parsed);
    } else {
      Error(*value.Find("selector"), reader.PathOf("selector"), parsed.status().message());
    }
  }
  const bool has_both = selector.has_value() && reader.Has("names");
  if (has_both || selector.has_value() != target.names.empty()) {
    Error(value, reader.PathOf("name"), "expected either name, names or selector (\"\" selects everything)");
  }
  for (const std::string& each : target.names) {
    if (each.empty()) Error(value, reader.PathOf("name"), kNoName);
  }
  reader.Read("allowMissing", target.allow_missing);
}

Target EntryReader::TakeTarget(StrictReader& reader, const Value& value, absl::string_view kind) {
  Target target;
  target.kind_name = std::string(kind);
  reader.Read("kind", target.kind_name);
  const api::KindInfo* const info = api::FindKindByName(target.kind_name);
  target.kind = info == nullptr ? api::Kind::kOther : info->kind;
  const api::KindInfo* const meant = info == nullptr ? api::FindKindByWord(target.kind_name) : nullptr;
  if (meant != nullptr || target.kind_name.empty()) {
    Error(*value.Find("kind"), reader.PathOf("kind"),
          meant == nullptr ? "expected the name of a kind"
                           : absl::StrCat("there is no kind ", target.kind_name, ", expected ", meant->name));
  }
  reader.Read("namespace", target.name_space);
  TakeNames(reader, value, target);
  const bool is_namespaced = info != nullptr && info->is_namespaced;
  if (!target.selector.has_value() && is_namespaced && target.name_space.empty()) {
    target.name_space = "default";
  }
  reader.Read("count", target.count);
  const int64_t least = target.allow_missing ? 0 : 1;
  if (target.count.has_value() && (*target.count < least || !target.selector.has_value())) {
    Error(*value.Find("count"), reader.PathOf("count"),
          "expected a whole number above zero (or zero, with allowMissing: true), together with a selector");
  }
  return target;
}

Target EntryReader::ReadTarget(const Value& value, const std::string& path, absl::string_view kind) {
  StrictReader reader(value, path, errors_);
  if (!value.is_object()) return {};
  Target target = TakeTarget(reader, value, kind);
  reader.Finish();
  return target;
}

Target EntryReader::ReadPods(const Value& value, const std::string& path) {
  Target target = ReadTarget(value, path);
  if (target.kind != api::Kind::kPod) Error(value, path, "expected pods");
  return target;
}

// "n1", [n1, n2] or {selector: "zone=a"}.
Target EntryReader::ReadNodes(const Value& value, const std::string& path) {
  Target target = {.kind = api::Kind::kNode, .kind_name = "Node"};
  if (value.is_string()) {
    if (value.text.empty()) Error(value, path, kNoName);
    target.names.emplace_back(value.text);
  } else if (value.is_array()) {
    if (value.items.empty()) Error(value, path, "expected at least one name of a node, got an empty list");
    for (const Value& item : value.items) {
      if (!item.is_string())
        Error(item, path, absl::StrCat("expected the name of a node, got ", Describe(item.type)));
      else if (item.text.empty())
        Error(item, path, kNoName);
      target.names.emplace_back(item.text);
    }
  } else if (value.is_object()) {
    StrictReader reader(value, path, errors_);
    TakeNames(reader, value, target);
    reader.Finish();
  } else {
    Error(value, path,
          absl::StrCat("expected the name of a node, a list of names, or a map with a selector, got ",
                       Describe(value.type)));
  }
  return target;
}

Target EntryReader::TakeNodes(StrictReader& reader, const Value& value) {
  const Value* nodes = reader.Take("nodes");
  if (nodes != nullptr) return ReadNodes(*nodes, reader.PathOf("nodes"));
  Error(value, reader.PathOf("nodes"),
        "expected the name of a node, a list of names, or a map with a selector");
  return {};
}

Action EntryReader::ReadPatch(const Value& value, const std::string& path) {
  PatchObjects action;
  StrictReader reader(value, path, errors_);
  if (!value.is_object()) return action;
  action.target = TakeTarget(reader, value, "Pod");
  std::string type = "merge";
  reader.Read("type", type);
  std::string expected = "a map, a JSON merge patch";
  if (type == "strategic") {
    action.type = codec::PatchType::kStrategicMerge;
    expected = "a map, a strategic merge patch";
  } else if (type == "json") {
    action.type = codec::PatchType::kJson;
    expected = "a list of operations, a JSON patch";
  } else if (type != "merge") {
    Error(*value.Find("type"), reader.PathOf("type"), "expected merge, strategic or json");
  }
  const Value* patch = reader.Take("patch");
  const bool is_list = action.type == codec::PatchType::kJson;
  if (patch != nullptr && (is_list ? patch->is_array() : patch->is_object())) {
    action.patch = ToJson(*patch);
  } else {
    Error(patch == nullptr ? value : *patch, reader.PathOf("patch"),
          absl::StrCat("expected ", expected, ", got ", patch == nullptr ? "none" : Describe(patch->type)));
  }
  CheckPatchedKind(patch, action.target.kind_name, reader.PathOf("patch"));
  std::string subresource;
  reader.Read("subresource", subresource);
  if (subresource == "resize" && action.target.kind == api::Kind::kPod) {
    action.subresource = PodSubresource::kResize;
  } else if (!subresource.empty()) {
    Error(*value.Find("subresource"), reader.PathOf("subresource"), "expected resize, of pods");
  }
  reader.Finish();
  return action;
}

// A patch cannot make another kind of the object. Patches that are lists may say so by an operation.
void EntryReader::CheckPatchedKind(const Value* patch, const std::string& kind, const std::string& path) {
  if (patch == nullptr) return;
  const auto check = [&](const Value* given, const std::string& given_path) {
    if (given == nullptr || (given->is_string() && given->text == kind)) return;
    Error(*given, given_path, absl::StrCat("a patch cannot change the kind, expected ", kind, " or none"));
  };
  check(patch->Find("kind"), absl::StrCat(path, ".kind"));
  for (size_t i = 0; i < patch->items.size(); ++i) {
    const Value* place = patch->items[i].Find("path");
    if (place == nullptr || place->text != "/kind") continue;
    const Value* given = patch->items[i].Find("value");
    check(given == nullptr ? place : given, absl::StrCat(path, "[", i, "]"));
  }
}

// As kubectl delete: --cascade says what becomes of what the objects own.
Action EntryReader::ReadDelete(const Value& value, const std::string& path) {
  DeleteObjects action;
  StrictReader reader(value, path, errors_);
  if (!value.is_object()) return action;
  action.target = TakeTarget(reader, value, "Pod");
  std::string cascade = "background";
  reader.Read("cascade", cascade);
  action.orphans = cascade == "orphan";
  if (cascade != "background" && cascade != "orphan") {
    Error(*value.Find("cascade"), reader.PathOf("cascade"), "expected background or orphan");
  }
  reader.Finish();
  return action;
}

Action EntryReader::ReadComplete(const Value& value, const std::string& path) {
  CompletePods action = {.target = {}, .phase = "Succeeded"};
  StrictReader reader(value, path, errors_);
  if (!value.is_object()) return action;
  reader.Read("phase", action.phase);
  if (action.phase != "Succeeded" && action.phase != "Failed") {
    Error(*value.Find("phase"), reader.PathOf("phase"), "expected Succeeded or Failed");
  }
  action.target = TakeTarget(reader, value, "Pod");
  if (action.target.kind != api::Kind::kPod) Error(value, path, "expected pods");
  reader.Finish();
  return action;
}

Action EntryReader::ReadTaints(const Value& value, const std::string& path, bool remove) {
  TaintNodes action;
  action.remove = remove;
  StrictReader reader(value, path, errors_);
  if (!value.is_object()) return action;
  action.nodes = TakeNodes(reader, value);
  reader.ReadList("taints", [&](const Value& item, const std::string& item_path) {
    const TaintForm form = remove ? TaintForm::kToBeRemoved : TaintForm::kWhole;
    action.taints.push_back(sim::ReadTaint(item, item_path, form, errors_));
  });
  if (action.taints.empty()) Error(value, reader.PathOf("taints"), "expected a list with at least one taint");
  reader.Finish();
  return action;
}

Action EntryReader::ReadLabel(const Value& value, const std::string& path) {
  LabelObjects action;
  StrictReader reader(value, path, errors_);
  if (!value.is_object()) return action;
  action.target = TakeTarget(reader, value, "Node");
  reader.ReadMap("labels", [&](const Value& labels, const std::string& labels_path) {
    for (const codec::Member& member : labels.members) {
      const std::string member_path = absl::StrCat(labels_path, "[", member.key, "]");
      if (!member.value.is_string() && !member.value.is_null()) {
        Error(member.value, member_path,
              absl::StrCat("expected a string, or null to remove the label, got ",
                           Describe(member.value.type)));
      }
      std::optional<std::string> text;
      if (member.value.is_string()) text = std::string(member.value.text);
      CheckLabel(member.key, text.value_or(""), member.value, member_path, errors_);
      action.labels.emplace_back(member.key, std::move(text));
    }
  });
  if (action.labels.empty()) Error(value, reader.PathOf("labels"), "expected a map with at least one label");
  reader.Finish();
  return action;
}

// Nodes, or a map with nodes and more.
Action EntryReader::ReadDrain(const Value& value, const std::string& path) {
  DrainNodes action;
  if (value.Find("nodes") == nullptr) {
    action.nodes = ReadNodes(value, path);
    return action;
  }
  StrictReader reader(value, path, errors_);
  action.nodes = TakeNodes(reader, value);
  ReadSpan(reader, "timeout", errors_, action.options.timeout);
  reader.Read("force", action.options.force);
  reader.Read("deleteEmptyDirData", action.options.delete_empty_dir_data);
  reader.Read("ignoreDaemonSets", action.options.ignore_daemon_sets);
  reader.Finish();
  return action;
}

Action EntryReader::ReadNodeDown(const Value& value, const std::string& path) {
  NodeDown action;
  if (value.Find("nodes") == nullptr) {
    action.nodes = ReadNodes(value, path);
    return action;
  }
  StrictReader reader(value, path, errors_);
  action.nodes = TakeNodes(reader, value);
  std::string reason = "Unreachable";
  reader.Read("reason", reason);
  action.silent = reason != "NotReady";
  if (reason != "NotReady" && reason != "Unreachable") {
    Error(*value.Find("reason"), reader.PathOf("reason"), "expected Unreachable or NotReady");
  }
  ReadSpan(reader, "gracePeriod", errors_, action.grace_period);
  reader.Finish();
  return action;
}

Action EntryReader::ReadScale(const Value& value, const std::string& path) {
  ScaleWorkload action;
  StrictReader reader(value, path, errors_);
  if (!value.is_object()) return action;
  action.kind = "Deployment";
  action.name_space = "default";
  reader.Read("kind", action.kind);
  reader.Read("namespace", action.name_space);
  reader.Read("name", action.name);
  if (action.name.empty()) Error(value, reader.PathOf("name"), "expected the name of a workload");
  const bool known = action.kind == "Deployment" || action.kind == "ReplicaSet" ||
                     action.kind == "ReplicationController" || action.kind == "StatefulSet";
  if (!known) {
    Error(*value.Find("kind"), reader.PathOf("kind"),
          "expected Deployment, ReplicaSet, ReplicationController or StatefulSet");
  }
  std::optional<int64_t> replicas;
  reader.Read("replicas", replicas);
  constexpr int64_t kReplicasMax = 1'000'000;
  action.replicas = replicas.value_or(-1);
  if (action.replicas < 0 || action.replicas > kReplicasMax) {
    Error(value, reader.PathOf("replicas"), "expected a whole number from 0 to 1000000");
  }
  reader.Finish();
  return action;
}

Action EntryReader::ReadScaleSet(const Value& value, const std::string& path) {
  ScaleSet action;
  StrictReader reader(value, path, errors_);
  if (!value.is_object()) return action;
  std::string resource;
  std::string config;
  ScaleRequest request;
  reader.Read("resource", resource);
  reader.Read("config", config);
  reader.Read("name", request.name);
  reader.Read("namespace", request.name_space);
  reader.Read("replicas", request.replicas);
  reader.Read("serialLength", request.serial_length);
  reader.ReadStrings("params", request.params);
  reader.Finish();
  if (!config.empty()) {
    config = PathFrom(options_.folder, config);
    if (options_.read_paths != nullptr) options_.read_paths->push_back(config);
  }
  absl::StatusOr<ScaleResource> found = FindScaleResource(resource, config);
  if (!found.ok()) {
    Error(value, reader.PathOf("resource"), found.status().message());
    return action;
  }
  absl::StatusOr<Scaler> scaler = Scaler::Make(*std::move(found), request);
  if (!scaler.ok()) {
    Error(value, path, scaler.status().message());
    return action;
  }
  action.scaler = std::make_shared<const Scaler>(*std::move(scaler));
  return action;
}

// The path of a file, or a map with its format.
Action EntryReader::ReadSnapshot(const Value& value, const std::string& path) {
  SaveSnapshot action;
  std::string format;
  const Value* format_value = nullptr;
  if (value.is_string()) {
    action.path = std::string(value.text);
  } else {
    StrictReader reader(value, path, errors_);
    if (!value.is_object()) return action;
    format_value = value.Find("format");
    reader.Read("path", action.path);
    reader.Read("format", format);
    reader.Finish();
  }
  if (action.path.empty() || action.path == "-") {
    Error(value, path, "expected the path of a file");
    return action;
  }
  const absl::StatusOr<SnapshotFormat> found =
      format_value == nullptr ? SnapshotFormatOf(action.path) : ParseSnapshotFormat(format);
  if (found.ok()) {
    action.format = *found;
  } else if (format_value != nullptr) {
    Error(*format_value, absl::StrCat(path, ".format"), found.status().message());
  } else {
    Error(value, path, found.status().message());
  }
  action.path = PathFrom(options_.folder, action.path);
  return action;
}

Action EntryReader::ReadWait(const Value& value, const std::string& path) {
  using Condition = WaitUntil::Condition;
  WaitUntil action;
  StrictReader reader(value, path, errors_);
  if (!value.is_object()) return action;
  ReadSpan(reader, "timeout", errors_, action.timeout);
  if (action.timeout <= absl::ZeroDuration()) {
    Error(*value.Find("timeout"), reader.PathOf("timeout"), "expected a duration above zero");
  }
  int conditions = 0;
  if (const Value* bound = reader.Take("bound")) {
    ++conditions;
    action.condition = Condition::kBound;
    action.target = ReadPods(*bound, reader.PathOf("bound"));
    action.count = std::exchange(action.target.count, std::nullopt);
  }
  if (const Value* gone = reader.Take("gone")) {
    ++conditions;
    action.condition = Condition::kGone;
    action.target = ReadTarget(*gone, reader.PathOf("gone"));
  }
  if (const Value* drained = reader.Take("drained")) {
    ++conditions;
    action.condition = Condition::kDrained;
    action.target = ReadNodes(*drained, reader.PathOf("drained"));
  }
  if (reader.Has("pending")) {
    ++conditions;
    action.condition = Condition::kPending;
    reader.Read("pending", action.count);
    if (action.count.value_or(0) < 0) {
      Error(*value.Find("pending"), reader.PathOf("pending"), "expected a whole number that is not negative");
    }
  }
  bool quiet = false;
  reader.Read("quiet", quiet);
  if (quiet) {
    ++conditions;
    action.condition = Condition::kQuiet;
  }
  reader.Finish();
  if (conditions != 1)
    Error(value, path, "expected one condition: bound, pending, gone, drained or quiet: true");
  return action;
}

}  // namespace

std::string PathFrom(absl::string_view folder, absl::string_view path) {
  if (folder.empty() || path == "-" || absl::StartsWith(path, "/")) return std::string(path);
  return absl::StrCat(folder, "/", path);
}

absl::StatusOr<std::vector<TimelineEntry>> ReadTimeline(const Value& list, const std::string& path,
                                                        std::optional<absl::Duration> end,
                                                        const TimelineReaderOptions& options,
                                                        codec::ObjectReader& objects, ErrorList& errors) {
  std::vector<TimelineEntry> entries;
  EntryReader reader(end, options, objects, errors);
  for (size_t i = 0; i < list.items.size(); ++i)
    reader.Read(list.items[i], absl::StrCat(path, "[", i, "]"), entries);
  RETURN_IF_ERROR(reader.status());
  return entries;
}

}  // namespace schedsim::sim
