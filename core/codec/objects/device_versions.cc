#include "core/codec/objects/device_versions.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"
#include "core/base/printable.h"

namespace schedsim::codec {
namespace {

constexpr absl::string_view kGroup = "resource.k8s.io";
constexpr absl::string_view kStored = "resource.k8s.io/v1";

// What v1 has in `exactly`.
constexpr absl::string_view kRequestFields[] = {"deviceClassName", "selectors",   "allocationMode", "count",
                                                "adminAccess",     "tolerations", "capacity"};

using Change = absl::FunctionRef<Value(const Value&)>;

// A map or a list that is not written anywhere as it is: it has no source.
Value Made(const Value& original) {
  Value made = original;
  made.text = {};
  made.source_bytes = 0;
  return made;
}

// The map with the value of `key` changed, where it has one.
Value WithMember(const Value& map, absl::string_view key, Document& document, Change change) {
  if (map.Find(key) == nullptr) return map;
  std::vector<Member> members(map.members.begin(), map.members.end());
  for (Member& member : members) {
    if (member.key == key) member.value = change(member.value);
  }
  Value made = Made(map);
  made.members = document.CopyMembers(members);
  return made;
}

// The list with each item changed.
Value WithItems(const Value& list, Document& document, Change change) {
  if (!list.is_array()) return list;
  std::vector<Value> items;
  for (const Value& item : list.items) items.push_back(change(item));
  Value made = Made(list);
  made.items = document.CopyItems(items);
  return made;
}

// A request without alternatives always asks for exactly something: defaults come before the conversion.
Value ConvertRequest(const Value& request, Document& document) {
  if (!request.is_object() || request.Find("exactly") != nullptr) return request;
  std::vector<Member> members;
  std::vector<Member> exactly;
  for (const Member& member : request.members) {
    const bool moves = absl::c_linear_search(kRequestFields, member.key);
    (moves ? exactly : members).push_back(member);
  }
  const Value* const alternatives = request.Find("firstAvailable");
  const bool has_alternatives =
      alternatives != nullptr && alternatives->is_array() && !alternatives->items.empty();
  if (!exactly.empty() || !has_alternatives) {
    members.push_back({.key = "exactly",
                       .key_position = request.position,
                       .value = document.MakeObject(exactly, request.position)});
  }
  Value made = Made(request);
  made.members = document.CopyMembers(members);
  return made;
}

Value ConvertClaimSpec(const Value& spec, Document& document) {
  return WithMember(spec, "devices", document, [&document](const Value& devices) {
    return WithMember(devices, "requests", document, [&document](const Value& requests) {
      return WithItems(requests, document,
                       [&document](const Value& request) { return ConvertRequest(request, document); });
    });
  });
}

Value ConvertDevice(const Value& device, Document& document) {
  const Value* const basic = device.Find("basic");
  if (basic == nullptr) return device;
  std::vector<Member> members;
  for (const Member& member : device.members) {
    if (member.key != "basic") members.push_back(member);
  }
  // What is no map stays where it is, and is an error there.
  if (!basic->is_object() && !basic->is_null()) return device;
  members.insert(members.end(), basic->members.begin(), basic->members.end());
  Value made = Made(device);
  made.members = document.CopyMembers(members);
  return made;
}

Value ConvertSliceSpec(const Value& spec, Document& document) {
  return WithMember(spec, "devices", document, [&document](const Value& devices) {
    return WithItems(devices, document,
                     [&document](const Value& device) { return ConvertDevice(device, document); });
  });
}

// The object of v1beta1 with its fields where v1 has them.
Value ConvertFields(const Value& value, absl::string_view kind, Document& document) {
  const auto convert_claim = [&document](const Value& spec) { return ConvertClaimSpec(spec, document); };
  const auto convert_template = [&](const Value& spec) {
    return WithMember(spec, "spec", document, convert_claim);
  };
  const auto convert_slice = [&document](const Value& spec) { return ConvertSliceSpec(spec, document); };
  if (kind == "ResourceClaim") return WithMember(value, "spec", document, convert_claim);
  if (kind == "ResourceClaimTemplate") return WithMember(value, "spec", document, convert_template);
  if (kind == "ResourceSlice") return WithMember(value, "spec", document, convert_slice);
  return value;
}

}  // namespace

absl::StatusOr<Value> AsStoredDevices(const Value& value, absl::string_view api_version,
                                      absl::string_view kind, absl::string_view file, Document& document) {
  if (api::GroupOf(api_version) != kGroup || api_version == kStored || !value.is_object()) return value;
  const api::KindInfo* const info = api::FindKind(api_version, kind);
  if (info == nullptr || info->kind == api::Kind::kOther) return value;
  const bool is_first = api_version == "resource.k8s.io/v1beta1";
  if (!is_first && api_version != "resource.k8s.io/v1beta2") {
    const Value* const version = value.Find("apiVersion");
    return ErrorAt({file, version == nullptr ? value.position : version->position},
                   absl::StrCat("Kubernetes 1.34 to 1.37 serves no ", kind, " in ",
                                Printable(api_version, kShownBytesMax), ", expected v1, v1beta2 or v1beta1"));
  }
  Value converted = is_first ? ConvertFields(value, kind, document) : value;
  std::vector<Member> members = {
      {.key = "apiVersion", .key_position = value.position, .value = TextValue(kStored)}};
  for (const Member& member : converted.members) {
    if (member.key != "apiVersion") members.push_back(member);
  }
  converted = Made(converted);
  converted.members = document.CopyMembers(members);
  return converted;
}

}  // namespace schedsim::codec
