#include "core/codec/objects/objects.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"
#include "core/api/node.h"
#include "core/api/pod.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/api_fields.h"
#include "core/codec/objects/decode.h"
#include "core/codec/objects/device_versions.h"
#include "core/codec/objects/fields_custom_resources.h"
#include "core/codec/objects/kinds.h"
#include "core/codec/objects/shared_parts.h"
#include "core/codec/objects/text_pool.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/tree_builder.h"

namespace schedsim::codec {
namespace {

// A pod needs its spec; without validation it gets an empty one.
absl::Status Complete(const DecodeContext& context, const Value& value, api::Pod& pod) {
  if (pod.spec != nullptr) return absl::OkStatus();
  const Path spec = {.name = "spec"};
  if (context.validate)
    return context.Error(value, {.parent = &spec, .name = "containers"}, "Required value");
  static const auto* const kEmpty = new std::shared_ptr<const api::PodSpec>(std::make_shared<api::PodSpec>());
  pod.spec = *kEmpty;
  return absl::OkStatus();
}

// Capacity is not kept, but it must be well-formed, and it stands in for a missing allocatable.
// Source: kubernetes v1.37, pkg/apis/core/v1/defaults.go, SetDefaults_NodeStatus.
absl::Status Complete(const DecodeContext& context, const Value& value, api::Node& node) {
  if (!context.validate) return absl::OkStatus();
  const Value* status = value.Find("status");
  const Value* capacity = status == nullptr ? nullptr : status->Find("capacity");
  if (capacity == nullptr) return absl::OkStatus();
  const Path status_path = {.name = "status"};
  api::ResourceList resources;
  RETURN_IF_ERROR(Decode(context, *capacity, {.parent = &status_path, .name = "capacity"}, resources));
  const Value* allocatable = status->Find("allocatable");
  if (allocatable == nullptr || allocatable->is_null()) node.status.allocatable = std::move(resources);
  return absl::OkStatus();
}

absl::Status Complete(const DecodeContext&, const Value&, api::Object&) { return absl::OkStatus(); }

absl::StatusOr<std::string> RequiredText(const Value& value, absl::string_view field,
                                         absl::string_view fallback, absl::string_view file,
                                         absl::string_view example) {
  const Value* text = value.Find(field);
  if (text == nullptr || text->is_null()) {
    if (!fallback.empty()) return std::string(fallback);
    return ErrorAt({file, value.position}, absl::StrCat("expected an object with `", field, "`, for example ",
                                                        example, ", got none"));
  }
  if (!text->is_string() || text->text.empty()) {
    return ErrorAt({file, text->position},
                   absl::StrCat(field, ": expected a string, for example ", example, ", got ",
                                text->is_string() ? "an empty one" : Describe(text->type)));
  }
  return std::string(text->text);
}

absl::Status CheckName(const Value& value, absl::string_view file, const api::ObjectMeta& metadata) {
  if (!metadata.name.empty() || !metadata.generate_name.empty()) return absl::OkStatus();
  const Value* place = value.Find("metadata");
  const Value* name = place == nullptr ? nullptr : place->Find("name");
  if (name != nullptr) place = name;
  return ErrorAt({file, place == nullptr ? value.position : place->position},
                 name == nullptr || name->is_string()
                     ? std::string("metadata.name: Required value: name or generateName is required")
                     : absl::StrCat("metadata.name: expected a string, got ", Describe(name->type)));
}

// The object with kind and apiVersion in front when they came from the list around it. `members` and the
// arguments hold its parts.
Value WholeObject(const Value& value, absl::string_view api_version, absl::string_view kind,
                  std::vector<Member>& members) {
  const Value* own_version = value.Find("apiVersion");
  const Value* own_kind = value.Find("kind");
  const bool has_version = own_version != nullptr && own_version->is_string();
  const bool has_kind = own_kind != nullptr && own_kind->is_string();
  if (has_version && has_kind) return value;
  const auto add = [&members](absl::string_view key, absl::string_view text) {
    members.push_back({.key = key, .key_position = {}, .value = TextValue(text)});
  };
  if (!has_version) add("apiVersion", api_version);
  if (!has_kind) add("kind", kind);
  for (const Member& member : value.members) {
    const bool is_replaced =
        (member.key == "apiVersion" && !has_version) || (member.key == "kind" && !has_kind);
    if (!is_replaced) members.push_back(member);
  }
  Value whole = value;
  whole.members = members;
  return whole;
}

// The kind of the items of a list: "Pod" for PodList, "" for List.
std::string ItemKind(absl::string_view list_kind) {
  constexpr size_t kSuffixBytes = 4;
  return std::string(list_kind.substr(0, list_kind.size() - std::min(kSuffixBytes, list_kind.size())));
}

// The text of a string; `fallback` for a value that is absent or something else.
absl::string_view TextOr(const Value* value, absl::string_view fallback) {
  return value != nullptr && value->is_string() ? value->text : fallback;
}

}  // namespace

bool IsObjectList(const Value& document) {
  const absl::string_view kind = TextOr(document.Find("kind"), "");
  if (!IsListKind(kind)) return false;
  const std::string item_kind = ItemKind(kind);
  if (item_kind.empty()) return true;
  const Value* items = document.Find("items");
  if (items != nullptr && (items->is_array() || items->is_null())) return true;
  return ApiFields::Get().Find(TextOr(document.Find("apiVersion"), ""), item_kind) != nullptr;
}

// What a list says of its items: they may leave it out.
struct ObjectReader::ListHeader {
  // "" outside of lists of one kind.
  std::string item_kind = "";
  std::string api_version = "";
  bool is_item = false;  // Whether there is a list.

  static ListHeader Of(const Document& document) {
    ListHeader header = {.item_kind = ItemKind(document.list_kind)};
    header.is_item = !document.list_kind.empty();
    if (!header.item_kind.empty()) header.api_version = document.list_api_version;
    return header;
  }
};

ObjectReader::ObjectReader(DecodeOptions options)
    : options_(options), shared_(std::make_unique<SharedParts>()), texts_(std::make_unique<TextPool>()) {}
ObjectReader::~ObjectReader() = default;

absl::Status ObjectReader::ReadFrom(DocumentSource source, Sink sink) {
  ReadOptions options = {.split_lists = true, .whole_numbers_as_digits = true};
  std::vector<RepeatedKey> repeated_keys;  // Of the document that is being read.
  std::set<std::tuple<std::string, int32_t, int32_t>> known;
  if (on_repeated_key_ != nullptr) {
    options.on_repeated_key = [&repeated_keys, &known](const RepeatedKey& repeated) {
      const Position& at = repeated.position;
      if (known.emplace(repeated.file, at.line, at.column).second) repeated_keys.push_back(repeated);
    };
  }
  return source(options, [&](const Document& document, absl::string_view file) {
    for (const RepeatedKey& repeated : repeated_keys) on_repeated_key_(document.root, repeated);
    repeated_keys.clear();
    return ReadTree(document.root, ListHeader::Of(document), file, sink);
  });
}

absl::Status ObjectReader::Read(absl::string_view path, Sink sink) {
  return ReadFrom(
      [path](const ReadOptions& options, auto on_document) { return ReadPath(path, options, on_document); },
      sink);
}

absl::Status ObjectReader::ReadText(std::string text, absl::string_view file, Sink sink) {
  return ReadFrom(
      [&](const ReadOptions& options, auto on_document) {
        return codec::ReadText(std::move(text), file, options,
                               [&](const Document& document) { return on_document(document, file); });
      },
      sink);
}

absl::Status ObjectReader::ReadValue(const Value& value, absl::string_view file, Sink sink) {
  return ReadTree(value, ListHeader(), file, sink);
}

absl::StatusOr<api::ObjectPtr> ObjectReader::Decode(const Value& value, absl::string_view file) {
  return DecodeItem(value, ListHeader(), file);
}

absl::Status ObjectReader::ReadTree(const Value& root, const ListHeader& root_header, absl::string_view file,
                                    Sink sink) {
  // A document may be empty, an item of a list may not.
  if (root.is_null() && !root_header.is_item) return absl::OkStatus();
  std::vector<std::pair<const Value*, ListHeader>> rest = {{&root, root_header}};
  while (!rest.empty()) {
    const auto [value, header] = std::move(rest.back());
    rest.pop_back();
    // Programs write lists of objects as plain arrays, too.
    if (value->is_array() && !header.is_item) {
      for (size_t i = value->items.size(); i > 0; --i) {
        rest.emplace_back(&value->items[i - 1], ListHeader{.is_item = true});
      }
      continue;
    }
    const Value* kind = value->Find("kind");
    if (!IsObjectList(*value)) {
      ASSIGN_OR_RETURN(api::ObjectPtr object, DecodeItem(*value, header, file));
      RETURN_IF_ERROR(sink(std::move(object), Location{file, value->position}));
      continue;
    }
    const absl::string_view list_version = TextOr(value->Find("apiVersion"), "");
    if (inspector_ != nullptr) RETURN_IF_ERROR(inspector_(*value, list_version, kind->text, file));
    const Value* items = value->Find("items");
    if (items == nullptr || items->is_null()) continue;
    if (!items->is_array()) {
      return ErrorAt({file, items->position},
                     absl::StrCat("items: expected a list, got ", Describe(items->type)));
    }
    ListHeader inner = {.item_kind = ItemKind(kind->text), .is_item = true};
    if (!inner.item_kind.empty()) inner.api_version = std::string(list_version);
    for (size_t i = items->items.size(); i > 0; --i) rest.emplace_back(&items->items[i - 1], inner);
  }
  return absl::OkStatus();
}

absl::StatusOr<api::ObjectPtr> ObjectReader::DecodeItem(const Value& value, const ListHeader& header,
                                                        absl::string_view file) {
  const absl::string_view kind = TextOr(value.Find("kind"), header.item_kind);
  const absl::string_view api_version = TextOr(value.Find("apiVersion"), header.api_version);
  if (inspector_ != nullptr) RETURN_IF_ERROR(inspector_(value, api_version, kind, file));
  Document converted;
  absl::StatusOr<api::ObjectPtr> object;
  const absl::StatusOr<Value> stored = AsStoredDevices(value, api_version, kind, file, converted);
  if (stored.ok()) {
    object = DecodeObject(*stored, header, file);
  } else {
    object = stored.status();
  }
  if (object.ok() || kind.empty()) return object;
  // Line and column find the place; the name is what its author knows.
  return absl::InvalidArgumentError(
      absl::StrCat(object.status().message(), " (", ObjectLabel(value, kind), ")"));
}

absl::StatusOr<api::ObjectPtr> ObjectReader::DecodeObject(const Value& value, const ListHeader& header,
                                                          absl::string_view file) {
  if (!value.is_object()) {
    return ErrorAt(
        {file, value.position},
        absl::StrCat("expected an object with apiVersion, kind and metadata, got ", Describe(value.type)));
  }
  ASSIGN_OR_RETURN(std::string api_version,
                   RequiredText(value, "apiVersion", header.api_version, file, "v1"));
  ASSIGN_OR_RETURN(std::string kind_name, RequiredText(value, "kind", header.item_kind, file, "Pod"));
  const api::KindInfo* const info = api::FindKind(api_version, kind_name);
  const api::Kind kind = info == nullptr ? api::Kind::kOther : info->kind;
  const api::CustomKind custom =
      info == nullptr ? api::FindCustomKind(api_version, kind_name) : api::CustomKind::kNone;
  DecodeContext context = {
      .file = file, .validate = options_.validate, .shared = shared_.get(), .by_source = options_.by_source};
  context.is_lenient = kind == api::Kind::kOther && custom == api::CustomKind::kNone;

  const auto decode = [&]<typename T>() -> absl::StatusOr<std::shared_ptr<api::Object>> {
    auto object = std::make_shared<T>();
    object->kind = kind;
    const Path root;
    if (const Value* metadata = value.Find("metadata")) {
      RETURN_IF_ERROR(
          codec::Decode(context, *metadata, {.parent = &root, .name = "metadata"}, object->metadata));
    }
    RETURN_IF_ERROR(CheckName(value, file, object->metadata));
    RETURN_IF_ERROR(codec::Decode(context, value, root, *object));
    RETURN_IF_ERROR(Complete(context, value, *object));
    return object;
  };
  ASSIGN_OR_RETURN(std::shared_ptr<api::Object> object, custom == api::CustomKind::kNone
                                                            ? VisitKind(kind, decode)
                                                            : VisitCustomKind(custom, decode));
  const bool is_namespaced = custom == api::CustomKind::kNone ? info != nullptr && info->is_namespaced
                                                              : api::CustomKindInfoOf(custom).is_namespaced;
  if (object->metadata.namespace_.empty() && is_namespaced) {
    object->metadata.namespace_ = "default";
  }
  std::vector<Member> members;
  // The pods of one controller have it in common.
  object->json =
      texts_->Make(WholeObject(value, api_version, kind_name, members), object->metadata.generate_name);
  object->api_version = std::move(api_version);
  object->kind_name = std::move(kind_name);
  return api::ObjectPtr(std::move(object));
}

std::string ObjectLabel(const Value& document, absl::string_view kind) {
  const Value* metadata = document.Find("metadata");
  const auto text = [metadata](absl::string_view key) {
    return Printable(TextOr(metadata == nullptr ? nullptr : metadata->Find(key), ""), kShownBytesMax);
  };
  const std::string name_space = text("namespace");
  std::string name = text("name");
  if (name.empty()) name = text("generateName");
  return absl::StrCat(Printable(kind, kShownBytesMax), name.empty() ? "" : " ", name_space,
                      name_space.empty() ? "" : "/", name);
}

}  // namespace schedsim::codec
