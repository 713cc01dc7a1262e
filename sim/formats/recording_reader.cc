// Recordings of kwok. Source: kwok v0.7.0, pkg/kwokctl/recording and pkg/kwokctl/etcd (load.go, save.go);
// pkg/apis/action/v1alpha1/resource_patch_types.go.

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"
#include "core/base/lookup_map.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/base/text_search.h"
#include "core/codec/objects/objects.h"
#include "core/codec/patch/merge_patch.h"
#include "core/codec/patch/object_patch.h"
#include "core/codec/patch/value_copy.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "sim/formats/recording.h"
#include "sim/formats/relative_time.h"
#include "sim/kernel/time_limits.h"

namespace schedsim::sim {
namespace {

using codec::Value;

constexpr absl::string_view kActionGroup = "action.kwok.x-k8s.io";
constexpr absl::string_view kOwnGroup = "schedsim";
constexpr int64_t kDefaultZero = 946'684'800;  // 2000-01-01T00:00:00Z
// Patches stand in the order of their times but for what lies in this many documents.
// Source: kwok v0.7.0, pkg/kwokctl/etcd/load.go.
constexpr size_t kWindow = 1024;

enum class Method : uint8_t { kCreate, kPatch, kDelete };

// A ResourcePatch.
struct Patch {
  int64_t nanoseconds = 0;
  int64_t index = 0;  // Among the patches of the file.
  int32_t line = 0;
  Method method = Method::kCreate;
  std::string group;
  std::string resource;
  std::string name_space;
  std::string name;
  std::string body;  // JSON; "" for a deletion.

  std::string Key() const { return absl::StrCat(Resource(), "|", name_space, "/", name); }
  std::string Resource() const { return group.empty() ? resource : absl::StrCat(resource, ".", group); }
  std::string Label() const {
    return absl::StrCat(Resource(), " ", name_space, name_space.empty() ? "" : "/", name);
  }
};

struct Later {
  bool operator()(const Patch& a, const Patch& b) const {
    return std::pair(a.nanoseconds, a.index) > std::pair(b.nanoseconds, b.index);
  }
};

std::string TextOf(const Value& document, absl::string_view key) {
  const Value* value = document.Find(key);
  return value != nullptr && value->is_string() ? std::string(value->text) : std::string();
}

bool IsPatch(const Value& root) {
  return TextOf(root, "kind") == "ResourcePatch" && api::GroupOf(TextOf(root, "apiVersion")) == kActionGroup;
}

// Scenarios, cases and the like.
bool IsOfSchedsim(const Value& root) { return api::GroupOf(TextOf(root, "apiVersion")) == kOwnGroup; }

// Reads the fields of a document, each with its place in messages.
class FieldReader {
 public:
  explicit FieldReader(absl::string_view file) : file_(file) {}

  absl::Status ErrorAt(const Value& value, absl::string_view path, absl::string_view expected) const {
    const bool is_text = value.is_string() || value.type == Value::Type::kNumber;
    return codec::ErrorAt({file_, value.position},
                          absl::StrCat(path, ": ", expected, ", got ",
                                       is_text ? absl::StrCat("\"", Printable(value.text.substr(0, 60)), "\"")
                                               : std::string(codec::Describe(value.type))));
  }

  // The map `key`, whose members are among `known`.
  absl::StatusOr<const Value*> Map(const Value& parent, absl::string_view key,
                                   std::initializer_list<absl::string_view> known) const {
    const Value* value = parent.Find(key);
    if (value == nullptr) {
      return codec::ErrorAt({file_, parent.position}, absl::StrCat(key, ": expected a map, got none"));
    }
    if (!value->is_object()) return ErrorAt(*value, key, "expected a map");
    RETURN_IF_ERROR(CheckFields(*value, absl::StrCat(key, "."), known));
    return value;
  }

  absl::Status CheckFields(const Value& map, absl::string_view prefix,
                           std::initializer_list<absl::string_view> known) const {
    for (const codec::Member& member : map.members) {
      if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
      std::string names;
      for (const absl::string_view name : known) absl::StrAppend(&names, names.empty() ? "" : ", ", name);
      return codec::ErrorAt({file_, member.key_position},
                            absl::StrCat(prefix, Printable(member.key), ": unknown field, expected ", names));
    }
    return absl::OkStatus();
  }

  // `path`: that of the text. "" is for texts that may be left out.
  absl::StatusOr<std::string> Text(const Value& parent, absl::string_view key, absl::string_view path,
                                   bool is_needed) const {
    const Value* value = parent.Find(key);
    if (value == nullptr || value->is_null()) {
      if (!is_needed) return std::string();
      return codec::ErrorAt({file_, parent.position}, absl::StrCat(path, ": expected a string, got none"));
    }
    if (!value->is_string() || (is_needed && value->text.empty()))
      return ErrorAt(*value, path, is_needed ? "expected a string that is not empty" : "expected a string");
    return std::string(value->text);
  }

 private:
  const absl::string_view file_;
};

class RecordingReader {
 public:
  RecordingReader(absl::string_view file, absl::Time zero)
      : file_(file), fields_(file), reader_({.validate = false}) {
    recording_.zero = zero;
  }

  absl::Status Look(const codec::Document& document);
  absl::StatusOr<Recording> Take();

 private:
  absl::Status TakeObject(const Value& root);
  absl::Status CheckUid(const api::Object& object, codec::Position position) const;
  absl::StatusOr<Patch> ReadPatch(const Value& root);
  absl::Status ReadMethod(const Value& root, Patch& patch);
  absl::Status Apply(const Patch& patch);
  absl::StatusOr<api::ObjectPtr> After(const Patch& patch, const api::ObjectPtr& before, const Value& body);
  absl::StatusOr<api::ObjectPtr> Complete(const Patch& patch, const Value& body);
  // Where the object is that the patch is for: by its plural, or where that is none that follows from a kind,
  // by its name.
  std::string StoredKey(const Patch& patch) const;
  // Stores an object under the patch's key, and as the last one of its name.
  void Store(const std::string& key, const api::ObjectPtr& object);
  void Warn();

  const absl::string_view file_;
  const FieldReader fields_;
  codec::ObjectReader reader_;
  Recording recording_;
  std::priority_queue<Patch, std::vector<Patch>, Later> window_;
  int64_t patch_count_ = 0;
  int64_t cursor_nanoseconds_ = 0;
  // By "pods|default/a", and by "default/a", what was written last, of whatever kind.
  LookupMap<std::string, api::ObjectPtr> objects_;
  LookupMap<std::string, api::ObjectPtr> last_of_name_;
  LookupMap<std::string, size_t> places_;  // In recording_.objects, by the first of these keys.
  // What was left out or put right, with the line of the first.
  struct Oddity {
    int64_t count = 0;
    std::string first;

    void Add(absl::string_view what, int32_t line) {
      if (count++ == 0) first = absl::StrCat("line ", line, ", ", what);
    }
  };
  Oddity unknown_;
  Oddity behind_;
  Oddity late_;
  Oddity twice_;
  Oddity again_;
};

// Pods are told apart by their uids, which every API server gives them.
absl::Status RecordingReader::CheckUid(const api::Object& object, codec::Position position) const {
  if (object.kind != api::Kind::kPod || !object.metadata.uid.empty()) return absl::OkStatus();
  return codec::ErrorAt({file_, position}, absl::StrCat("Pod ", Printable(object.Key()),
                                                        ": metadata.uid: expected a string, got none"));
}

std::string NameKey(absl::string_view name_space, absl::string_view name) {
  return absl::StrCat(name_space, "/", name);
}

std::string KeyOf(const api::Object& object) {
  return absl::StrCat(api::GroupResource(object.api_version, object.kind_name), "|",
                      NameKey(object.metadata.namespace_, object.metadata.name));
}

void RecordingReader::Store(const std::string& key, const api::ObjectPtr& object) {
  objects_[key] = object;
  last_of_name_[NameKey(object->metadata.namespace_, object->metadata.name)] = object;
}

absl::Status RecordingReader::Look(const codec::Document& document) {
  const Value& root = document.root;
  if (root.is_null()) return absl::OkStatus();
  if (!root.is_object()) {
    return codec::ErrorAt({file_, root.position},
                          absl::StrCat("expected an object or a ResourcePatch, got ", Describe(root.type)));
  }
  const std::string kind = TextOf(root, "kind");
  if (IsOfSchedsim(root))
    return fields_.ErrorAt(*root.Find("apiVersion"), "apiVersion",
                           "expected a ResourcePatch or an object of a cluster");
  if (!IsPatch(root)) {
    if (patch_count_ == 0) return TakeObject(root);
    behind_.Add(codec::ObjectLabel(root, kind), root.position.line);
    return absl::OkStatus();
  }
  Patch patch;
  ASSIGN_OR_RETURN(patch, ReadPatch(root));
  patch.index = patch_count_++;
  window_.push(std::move(patch));
  if (window_.size() < kWindow) return absl::OkStatus();
  const Patch first = window_.top();
  window_.pop();
  return Apply(first);
}

absl::Status RecordingReader::TakeObject(const Value& root) {
  api::ObjectPtr object;
  ASSIGN_OR_RETURN(object, reader_.Decode(root, file_));
  const std::string key = KeyOf(*object);
  if (object->metadata.name.empty()) {
    return codec::ErrorAt({file_, root.position}, "metadata.name: expected a string, got none");
  }
  RETURN_IF_ERROR(CheckUid(*object, root.position));
  Store(key, object);
  if (const size_t* index = places_.Find(key)) {
    // The later one is written over the first.
    twice_.Add(absl::StrCat(object->kind_name, " ", object->Key()), root.position.line);
    recording_.objects[*index] = std::move(object);
    return absl::OkStatus();
  }
  places_[key] = recording_.objects.size();
  recording_.objects.push_back(std::move(object));
  return absl::OkStatus();
}

absl::Status RecordingReader::ReadMethod(const Value& root, Patch& patch) {
  std::string method;
  ASSIGN_OR_RETURN(method, fields_.Text(root, "method", "method", /*is_needed=*/true));
  if (method != "create" && method != "patch" && method != "delete")
    return fields_.ErrorAt(*root.Find("method"), "method", "expected create, patch or delete");
  patch.method = method == "create" ? Method::kCreate : method == "patch" ? Method::kPatch : Method::kDelete;
  const Value* body = root.Find("template");
  const bool is_map = body != nullptr && body->is_object();
  if (patch.method == Method::kDelete) {
    if (body == nullptr || body->is_null()) return absl::OkStatus();
    return fields_.ErrorAt(*body, "template", "expected none for a deletion");
  }
  // Go writes no map that is empty, so that a patch without one changes nothing.
  if (body == nullptr && patch.method == Method::kPatch) {
    patch.body = "{}";
    return absl::OkStatus();
  }
  if (body == nullptr)
    return codec::ErrorAt({file_, root.position}, "template: expected the object that is created, got none");
  if (!is_map) return fields_.ErrorAt(*body, "template", "expected a map");
  patch.body = codec::ToJson(*body);
  return absl::OkStatus();
}

absl::StatusOr<Patch> RecordingReader::ReadPatch(const Value& root) {
  Patch patch;
  patch.line = root.position.line;
  RETURN_IF_ERROR(fields_.CheckFields(
      root, "",
      {"apiVersion", "kind", "metadata", "resource", "target", "durationNanosecond", "method", "template"}));
  const Value* resource = nullptr;
  ASSIGN_OR_RETURN(resource, fields_.Map(root, "resource", {"group", "version", "resource"}));
  ASSIGN_OR_RETURN(patch.group, fields_.Text(*resource, "group", "resource.group", /*is_needed=*/false));
  ASSIGN_OR_RETURN(patch.resource,
                   fields_.Text(*resource, "resource", "resource.resource", /*is_needed=*/true));
  const Value* target = nullptr;
  ASSIGN_OR_RETURN(target, fields_.Map(root, "target", {"name", "namespace"}));
  ASSIGN_OR_RETURN(patch.name, fields_.Text(*target, "name", "target.name", /*is_needed=*/true));
  ASSIGN_OR_RETURN(patch.name_space,
                   fields_.Text(*target, "namespace", "target.namespace", /*is_needed=*/false));
  const Value* duration = root.Find("durationNanosecond");
  if (duration == nullptr) {
    return codec::ErrorAt({file_, root.position}, "durationNanosecond: expected a whole number, got none");
  }
  const bool is_number = duration->type == Value::Type::kNumber &&
                         absl::SimpleAtoi(duration->text, &patch.nanoseconds) && patch.nanoseconds >= 0;
  if (!is_number || !IsRunTime(recording_.zero + absl::Nanoseconds(patch.nanoseconds))) {
    return fields_.ErrorAt(*duration, "durationNanosecond",
                           "expected a whole number from 0 on that does not lead behind the year 9999");
  }
  RETURN_IF_ERROR(ReadMethod(root, patch));
  return patch;
}

// What a template says for the kind of the result, without what takes members away.
absl::StatusOr<api::ObjectPtr> RecordingReader::Complete(const Patch& patch, const Value& body) {
  codec::Document document;
  std::vector<codec::Member> identity;
  identity.push_back({"name", {}, codec::TextValue(patch.name)});
  if (!patch.name_space.empty()) identity.push_back({"namespace", {}, codec::TextValue(patch.name_space)});
  std::vector<codec::Member> members = {{"metadata", {}, document.MakeObject(identity)}};
  Value empty;
  empty.type = Value::Type::kObject;
  // Merging into nothing leaves nulls out.
  const Value named =
      codec::MergePatch(codec::MergePatch(empty, body, document), document.MakeObject(members), document);
  return reader_.Decode(codec::WithoutPlaces(named, document),
                        absl::StrCat(file_, ":", patch.line, ": template"));
}

// The object that the patch makes; nullptr: nothing is known that it could be applied to.
absl::StatusOr<api::ObjectPtr> RecordingReader::After(const Patch& patch, const api::ObjectPtr& before,
                                                      const Value& body) {
  if (patch.method == Method::kCreate) return Complete(patch, body);
  const std::string kind = TextOf(body, "kind");
  const std::string api_version = TextOf(body, "apiVersion");
  const api::ObjectPtr* last = last_of_name_.Find(NameKey(patch.name_space, patch.name));
  const std::string name = absl::StrCat(file_, ":", patch.line, ": template");
  if (kind.empty()) {
    // The kind is that of the object.
    if (before == nullptr) return nullptr;
    return codec::PatchIntoObject(*before, body, api_version.empty() ? before->api_version : api_version,
                                  before->kind_name, name, reader_);
  }
  if (before == nullptr || before->kind_name != kind || (last != nullptr && *last != before)) {
    ++recording_.repaired_count;
  }
  if (last == nullptr) return Complete(patch, body);
  return codec::PatchIntoObject(**last, body, api_version.empty() ? (*last)->api_version : api_version, kind,
                                name, reader_);
}

std::string RecordingReader::StoredKey(const Patch& patch) const {
  std::string key = patch.Key();
  if (objects_.Find(key) != nullptr || api::FindKindByResource(patch.group, patch.resource) != nullptr)
    return key;
  const api::ObjectPtr* const last = last_of_name_.Find(NameKey(patch.name_space, patch.name));
  if (last == nullptr || api::GroupOf((*last)->api_version) != patch.group) return key;
  std::string key_of_last = KeyOf(**last);
  return objects_.Find(key_of_last) != nullptr ? key_of_last : key;
}

absl::Status RecordingReader::Apply(const Patch& patch) {
  if (patch.nanoseconds < cursor_nanoseconds_) late_.Add(patch.Label(), patch.line);
  cursor_nanoseconds_ = std::max(cursor_nanoseconds_, patch.nanoseconds);
  const absl::Time at = recording_.zero + absl::Nanoseconds(cursor_nanoseconds_);
  std::string key = patch.Key();
  api::ObjectPtr before;
  const auto find = [&](std::string at_key) {
    key = std::move(at_key);
    const api::ObjectPtr* stored = objects_.Find(key);
    before = stored == nullptr ? nullptr : *stored;
  };
  find(patch.method == Method::kDelete ? StoredKey(patch) : patch.Key());
  if (patch.method == Method::kDelete) {
    // As for kwok, what is not there need not be deleted.
    if (before == nullptr) return absl::OkStatus();
    objects_.Erase(key);
    recording_.changes.push_back({.at = at, .before = before, .after = nullptr, .line = patch.line});
    return absl::OkStatus();
  }
  api::ObjectPtr after;
  const auto decode = [&](const codec::Document& body) -> absl::Status {
    if (patch.method == Method::kPatch && TextOf(body.root, "kind").empty()) find(StoredKey(patch));
    ASSIGN_OR_RETURN(after, After(patch, before, body.root));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(
      codec::ReadText(patch.body, absl::StrCat(file_, ":", patch.line, ": template.json"), {}, decode));
  if (patch.method == Method::kCreate && before != nullptr) again_.Add(patch.Label(), patch.line);
  if (after == nullptr) {
    unknown_.Add(patch.Label(), patch.line);
    return absl::OkStatus();
  }
  const api::KindInfo* const kind = api::FindKindByResource(patch.group, patch.resource);
  const bool is_target = after->metadata.name == patch.name &&
                         after->metadata.namespace_ == patch.name_space &&
                         (kind == nullptr || after->kind_name == kind->name) &&
                         (before == nullptr || after->kind_name == before->kind_name);
  if (!is_target) {
    return codec::ErrorAt(
        {file_, {patch.line, 1}},
        absl::StrCat("template: expected an object of the target ", Printable(patch.Label()), ", got ",
                     after->kind_name, " ", Printable(after->Key())));
  }
  RETURN_IF_ERROR(CheckUid(*after, {patch.line, 1}));
  Store(key, after);
  recording_.changes.push_back({.at = at, .before = before, .after = after, .line = patch.line});
  return absl::OkStatus();
}

void RecordingReader::Warn() {
  const auto warn = [this](const Oddity& oddity, absl::string_view what) {
    if (oddity.count == 0) return;
    recording_.warnings.push_back(
        absl::StrCat(file_, ": ", oddity.count, " ", what, "; the first: ", Printable(oddity.first)));
  };
  warn(unknown_, "patches of objects that the recording does not have were left out");
  warn(behind_, "objects stand behind the first ResourcePatch and were left out, as kwok leaves them out");
  warn(late_, "patches come more than 1024 documents late, and count from the time of the one before");
  warn(twice_, "objects stand there twice, and the later ones count");
  warn(again_, "patches create objects that are there already, which these replace");
}

absl::StatusOr<Recording> RecordingReader::Take() {
  for (; !window_.empty(); window_.pop()) RETURN_IF_ERROR(Apply(window_.top()));
  if (recording_.objects.empty() && patch_count_ == 0)
    return absl::InvalidArgumentError(absl::StrCat(file_, ": expected a recording, got no objects"));
  Warn();
  return std::move(recording_);
}

}  // namespace

bool IsRecording(std::string& text, absl::string_view file) {
  const bool has_offsets = ContainsWord(text, kTimeOffset);
  // Most texts have neither, and need not be read.
  if (!has_offsets && !ContainsWord(text, kActionGroup)) return false;
  bool is_first = true;
  bool is_recording = false;
  const absl::Status stopped = absl::CancelledError();
  const auto look = [&](const codec::Document& document) {
    if (document.root.is_null()) return absl::OkStatus();
    const bool is_own = is_first && IsOfSchedsim(document.root);
    is_first = false;
    is_recording = !is_own && (has_offsets || IsPatch(document.root));
    return is_own || is_recording ? stopped : absl::OkStatus();
  };
  const absl::Status read = codec::ReadKeptText(text, file, {.split_lists = true}, look);
  // What cannot be read is for the reader of recordings to say.
  return is_recording || (!read.ok() && !absl::IsCancelled(read));
}

absl::Time DefaultRecordingZero() { return absl::FromUnixSeconds(kDefaultZero); }

absl::StatusOr<Recording> ParseRecording(std::string text, absl::string_view file, absl::Time zero) {
  RETURN_IF_ERROR(MakeTimesAbsolute(file, zero, text));
  RecordingReader reader(file, zero);
  RETURN_IF_ERROR(codec::ReadText(std::move(text), file, {.split_lists = true},
                                  [&](const codec::Document& document) { return reader.Look(document); }));
  return reader.Take();
}

}  // namespace schedsim::sim
