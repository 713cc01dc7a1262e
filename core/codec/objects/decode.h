// Typed structs from values, driven by the field tables.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_DECODE_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_DECODE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/devices.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/api/pod_group.h"
#include "core/api/quantity.h"
#include "core/api/storage.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/field.h"
#include "core/codec/objects/fields_devices.h"
#include "core/codec/objects/fields_pod.h"
#include "core/codec/objects/fields_pod_group.h"
#include "core/codec/objects/fields_storage.h"
#include "core/codec/objects/shared_parts.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// Where a value stands in its object: a chain of steps that lives on the stack.
struct Path {
  const Path* parent = nullptr;
  absl::string_view name = "";  // A field, or the key of a map.
  bool is_key = false;
  int64_t index = -1;  // Of a list's item; -1: not an item.

  // `spec.containers[0].resources.requests[cpu]`.
  std::string ToString() const;
};

struct DecodeContext {
  absl::string_view file = "";
  bool validate = true;
  // Values of the wrong type count as absent.
  bool is_lenient = false;
  // May be nullptr: then nothing is shared.
  SharedParts* shared = nullptr;
  // Whether the values are as they were read, so that their sources tell what is in them.
  bool by_source = false;

  // `file:line:column: path: what`; OK when lenient.
  absl::Status Error(const Value& value, const Path& path, absl::string_view what) const;
  // Error with what was expected and what the value is instead.
  absl::Status WrongType(const Value& value, const Path& path, absl::string_view expected) const;
};

// Each sets `out` to what `value` says. Null counts as absent and leaves `out` alone, as in Go.
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, std::string& out);
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, bool& out);
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, int32_t& out);
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, int64_t& out);
// A string; one that is no number gives 0.
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, uint64_t& out);
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, absl::Time& out);
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, api::Quantity& out);
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path,
                    api::NotedQuantity& out);
// A map from 1.37 on, a string in 1.36.
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path,
                    api::DisruptionMode& out);
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, api::StringMap& out);
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path,
                    api::ResourceList& out);
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path,
                    std::shared_ptr<const api::PodSpec>& out);
template <typename T>
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path,
                    std::optional<T>& out);
template <typename T>
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, std::vector<T>& out);
template <typename T>
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path,
                    std::vector<std::pair<std::string, T>>& out);
template <typename T>
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path,
                    api::SharedList<T>& out);
template <HasFields T>
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, T& out);

// The members of a map by key: maps that are sorted grow at their end then, which costs nothing.
std::vector<const Member*> SortedMembers(const Value& map);
// What kJson keeps of a value.
std::string JsonOf(const Value& value);

// What validation asks of a struct as a whole; nothing for most.
template <typename T>
absl::Status Check(const DecodeContext&, const Value&, const Path&, const T&) {
  return absl::OkStatus();
}
absl::Status Check(const DecodeContext& context, const Value& value, const Path& path,
                   const api::LabelSelectorRequirement& requirement);
absl::Status Check(const DecodeContext& context, const Value& value, const Path& path,
                   const api::NodeSelectorRequirement& requirement);
absl::Status Check(const DecodeContext& context, const Value& value, const Path& path,
                   const api::PreferredSchedulingTerm& term);
absl::Status Check(const DecodeContext& context, const Value& value, const Path& path,
                   const api::WeightedPodAffinityTerm& term);
absl::Status Check(const DecodeContext& context, const Value& value, const Path& path,
                   const api::TopologySpreadConstraint& constraint);
absl::Status Check(const DecodeContext& context, const Value& value, const Path& path,
                   const api::ContainerPort& port);
absl::Status Check(const DecodeContext& context, const Value& value, const Path& path,
                   const api::DeviceAttribute& attribute);
absl::Status Check(const DecodeContext& context, const Value& value, const Path& path,
                   const api::PodSpec& spec);

// Sets `out` by `decode`, unless it is known what a value with this source is. Errors are found each time,
// and so at the right place.
template <typename T>
absl::Status DecodeOnce(const DecodeContext& context, const Value& value, T& out,
                        absl::FunctionRef<absl::Status()> decode) {
  // Lenient decoding takes for granted what is an error elsewhere.
  const bool by_source = context.by_source && !context.is_lenient && value.source_bytes > 0;
  if (!by_source) return decode();
  const SharedParts::SourceKey key = SharedParts::KeyOf(value);
  if (const T* known = context.shared->FindBySource<T>(key)) {
    out = *known;
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(decode());
  context.shared->Remember(key, out);
  return absl::OkStatus();
}

// Why a text is none of those that are allowed, in the API server's words.
std::string NotAllowed(absl::string_view text, absl::Span<const absl::string_view> allowed);

// The part of `root` that the field's path leads to, or nullptr. Sets `broken` to a value on the way
// that is neither a map nor null.
const Value* FindPath(const Value& root, absl::Span<const Segment> path, const Value*& broken);

// Decodes a field's value, which is not null.
template <typename S, typename T>
absl::Status DecodeFieldValue(const DecodeContext& context, const Field<S, T>& field, const Value& value,
                              const Path& path, S& out) {
  T& member = out.*field.member;
  if constexpr (std::is_same_v<T, bool>) {
    if (field.form == Form::kPresence) {
      if (!value.is_object()) return context.WrongType(value, path, "a map");
      member = true;
      return absl::OkStatus();
    }
  }
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    if (field.form == Form::kKeys) {
      if (!value.is_object()) return context.WrongType(value, path, "a map");
      for (const Member& entry : value.members) member.emplace_back(entry.key);
      absl::c_sort(member);
      return absl::OkStatus();
    }
  }
  if constexpr (std::is_same_v<T, std::string>) {
    if (field.form == Form::kJson) {
      member = JsonOf(value);
      return absl::OkStatus();
    }
  }
  if constexpr (std::is_same_v<T, std::optional<api::NamedVolumeSource>>) {
    if (!value.is_object()) return context.WrongType(value, path, "a map");
    member.emplace();
    const Value* id = value.Find(field.inner.name);
    if (id == nullptr) return absl::OkStatus();
    return Decode(context, *id, {.parent = &path, .name = field.inner.name}, member->id);
  } else {
    return Decode(context, value, path, member);
  }
}

template <typename S, typename T>
absl::Status CheckAllowed(const DecodeContext& context, const Field<S, T>& field, const Value* value,
                          const Value& parent, const Path& path, const S& out) {
  absl::string_view text;
  if constexpr (std::is_same_v<T, std::string>) text = out.*field.member;
  if constexpr (std::is_same_v<T, std::optional<std::string>>) {
    if ((out.*field.member).has_value()) text = *(out.*field.member);
  }
  if (absl::c_linear_search(field.allowed, text)) return absl::OkStatus();
  return context.Error(value == nullptr ? parent : *value, path, NotAllowed(text, field.allowed));
}

template <typename S, typename T>
absl::Status DecodeField(const DecodeContext& context, const Field<S, T>& field, const Value& root,
                         const Path& root_path, S& out) {
  const Value* broken = nullptr;
  const Value* value =
      FindPath(root, absl::MakeConstSpan(field.path.data(), static_cast<size_t>(field.depth)), broken);
  Path steps[Field<S, T>::kDepthMax];
  const Path* last = &root_path;
  for (int i = 0; i < field.depth; ++i) {
    const Segment& segment = field.path[static_cast<size_t>(i)];
    if (segment.name.empty()) continue;
    steps[i] = {.parent = last, .name = segment.name};
    last = &steps[i];
    // The step that is no map is the field's own parent, or the one before that.
    if (broken != nullptr) return context.WrongType(*broken, *last, "a map");
  }
  if (value != nullptr && value->is_null()) value = nullptr;
  if (value != nullptr) RETURN_IF_ERROR(DecodeFieldValue(context, field, *value, *last, out));
  if (!context.validate || field.allowed.empty()) return absl::OkStatus();
  return CheckAllowed(context, field, value, root, *last, out);
}

template <HasFields T>
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, T& out) {
  if (value.is_null()) return absl::OkStatus();
  if (!value.is_object()) return context.WrongType(value, path, "a map");
  absl::Status status;
  std::apply(
      [&](const auto&... field) {
        (void)((status = DecodeField(context, field, value, path, out), status.ok()) && ...);
      },
      Fields<T>::kList);
  RETURN_IF_ERROR(status);
  return context.validate ? Check(context, value, path, out) : absl::OkStatus();
}

template <typename T>
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path,
                    std::optional<T>& out) {
  if (value.is_null()) return absl::OkStatus();
  return Decode(context, value, path, out.emplace());
}

template <typename T>
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, std::vector<T>& out) {
  if (value.is_null()) return absl::OkStatus();
  if (!value.is_array()) return context.WrongType(value, path, "a list");
  out.reserve(value.items.size());
  for (size_t i = 0; i < value.items.size(); ++i) {
    const Path item = {.parent = &path, .index = static_cast<int64_t>(i)};
    RETURN_IF_ERROR(Decode(context, value.items[i], item, out.emplace_back()));
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path,
                    std::vector<std::pair<std::string, T>>& out) {
  if (value.is_null()) return absl::OkStatus();
  if (!value.is_object()) return context.WrongType(value, path, "a map");
  for (const Member* member : SortedMembers(value)) {
    const Path entry = {.parent = &path, .name = member->key, .is_key = true};
    out.emplace_back(std::string(member->key), T());
    RETURN_IF_ERROR(Decode(context, member->value, entry, out.back().second));
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path,
                    api::SharedList<T>& out) {
  return DecodeOnce(context, value, out, [&]() -> absl::Status {
    std::vector<T> items;
    RETURN_IF_ERROR(Decode(context, value, path, items));
    out = api::SharedList<T>(std::move(items));
    if (context.shared != nullptr) context.shared->Share(out);
    return absl::OkStatus();
  });
}

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_DECODE_H_
