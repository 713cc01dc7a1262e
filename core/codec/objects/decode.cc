#include "core/codec/objects/decode.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/dns_name.h"
#include "core/api/go_text.h"
#include "core/base/printable.h"
#include "core/codec/objects/wrong_type.h"
#include "core/codec/text/writer.h"

namespace schedsim::codec {
namespace {

template <typename T>
absl::Status DecodeInteger(const DecodeContext& context, const Value& value, const Path& path, T& out) {
  if (value.is_null()) return absl::OkStatus();
  constexpr absl::string_view kExpected =
      sizeof(T) == 4 ? "an integer from -2147483648 to 2147483647" : "an integer from -2^63 to 2^63-1";
  if (value.type != Value::Type::kNumber) return context.WrongType(value, path, "an integer");
  T number = 0;
  if (!absl::SimpleAtoi(value.text, &number) && !absl::SimpleAtoi(WholeDigits(value.text), &number)) {
    return context.WrongType(value, path, kExpected);
  }
  out = number;
  return absl::OkStatus();
}

}  // namespace

std::string Path::ToString() const {
  std::vector<const Path*> steps;
  for (const Path* step = this; step != nullptr; step = step->parent) steps.push_back(step);
  std::string out;
  for (size_t i = steps.size(); i > 0; --i) {
    const Path& step = *steps[i - 1];
    if (step.index >= 0) {
      absl::StrAppend(&out, "[", step.index, "]");
    } else if (step.is_key) {
      absl::StrAppend(&out, "[", Printable(step.name, kShownBytesMax), "]");
    } else if (!step.name.empty()) {
      absl::StrAppend(&out, out.empty() ? "" : ".", step.name);
    }
  }
  return out;
}

absl::Status DecodeContext::Error(const Value& value, const Path& path, absl::string_view what) const {
  if (is_lenient) return absl::OkStatus();
  const std::string place = path.ToString();
  return ErrorAt({file, value.position}, absl::StrCat(place, place.empty() ? "" : ": ", what));
}

absl::Status DecodeContext::WrongType(const Value& value, const Path& path,
                                      absl::string_view expected) const {
  if (is_lenient) return absl::OkStatus();
  return Error(value, path, WrongTypeText(expected, value));
}

absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, std::string& out) {
  if (value.is_null()) return absl::OkStatus();
  if (!value.is_string()) return context.WrongType(value, path, "a string");
  out.assign(value.text.data(), value.text.size());
  return absl::OkStatus();
}

absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, bool& out) {
  if (value.is_null()) return absl::OkStatus();
  if (value.type != Value::Type::kBool) return context.WrongType(value, path, "true or false");
  out = value.boolean;
  return absl::OkStatus();
}

absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, int32_t& out) {
  return DecodeInteger(context, value, path, out);
}

absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, int64_t& out) {
  return DecodeInteger(context, value, path, out);
}

absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, uint64_t& out) {
  if (value.is_null()) return absl::OkStatus();
  if (!value.is_string()) return context.WrongType(value, path, "a string");
  uint64_t number = 0;
  // Only what is written back the same way counts as a number.
  const bool is_number = absl::SimpleAtoi(value.text, &number) && absl::StrCat(number) == value.text;
  out = is_number ? number : 0;
  return absl::OkStatus();
}

absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, absl::Time& out) {
  if (value.is_null()) return absl::OkStatus();
  constexpr absl::string_view kExpected = "a time such as 2006-01-02T15:04:05Z";
  if (!value.is_string()) return context.WrongType(value, path, kExpected);
  const std::optional<absl::Time> time = api::ParseRfc3339(value.text);
  if (!time.has_value()) return context.WrongType(value, path, kExpected);
  out = *time;
  return absl::OkStatus();
}

absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, api::Quantity& out) {
  if (value.is_null()) return absl::OkStatus();
  if (!value.is_string() && value.type != Value::Type::kNumber) {
    return context.WrongType(value, path, "a quantity such as 500m or 1.5Gi");
  }
  absl::StatusOr<api::Quantity> quantity = api::Quantity::Parse(value.text);
  if (!quantity.ok()) return context.Error(value, path, quantity.status().message());
  if (context.validate && quantity->IsNegative())
    return context.Error(
        value, path, absl::StrCat("Invalid value: \"", value.text, "\": must be greater than or equal to 0"));
  out = *quantity;
  return absl::OkStatus();
}

absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path,
                    api::NotedQuantity& out) {
  RETURN_IF_ERROR(Decode(context, value, path, out.amount));
  const bool is_binary = !value.is_null() && absl::EndsWith(value.text, "i");
  out.format = is_binary ? api::QuantityFormat::kBinary : api::QuantityFormat::kDecimal;
  return absl::OkStatus();
}

absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path,
                    api::DisruptionMode& out) {
  if (value.is_null()) return absl::OkStatus();
  if (value.is_string()) {
    out.all = value.text == "PodGroup";
    return absl::OkStatus();
  }
  if (!value.is_object()) return context.WrongType(value, path, "a map");
  const Value* all = value.Find("all");
  out.all = all != nullptr && !all->is_null();
  return absl::OkStatus();
}

std::vector<const Member*> SortedMembers(const Value& map) {
  std::vector<const Member*> members;
  members.reserve(map.members.size());
  for (const Member& member : map.members) members.push_back(&member);
  absl::c_sort(members, [](const Member* a, const Member* b) { return a->key < b->key; });
  return members;
}

std::string JsonOf(const Value& value) { return ToJson(value); }

namespace {

absl::Status DecodeStringMap(const DecodeContext& context, const Value& value, const Path& path,
                             api::StringMap& out) {
  const auto is_text = [](const Value& entry) { return entry.is_string() || entry.is_null(); };
  for (const Member& member : value.members) {
    if (is_text(member.value)) continue;
    const Path entry = {.parent = &path, .name = member.key, .is_key = true};
    RETURN_IF_ERROR(context.WrongType(member.value, entry, "a string"));
  }
  for (const Member* member : SortedMembers(value)) {
    if (is_text(member->value)) out.Set(member->key, member->value.text);
  }
  if (context.shared != nullptr) context.shared->Share(out.entries());
  return absl::OkStatus();
}

}  // namespace

absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path, api::StringMap& out) {
  if (value.is_null()) return absl::OkStatus();
  if (!value.is_object()) return context.WrongType(value, path, "a map of strings");
  return DecodeOnce(context, value, out, [&] { return DecodeStringMap(context, value, path, out); });
}

absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path,
                    api::ResourceList& out) {
  if (value.is_null()) return absl::OkStatus();
  if (!value.is_object()) return context.WrongType(value, path, "a map of quantities");
  return DecodeOnce(context, value, out, [&]() -> absl::Status {
    for (const Member* member : SortedMembers(value)) {
      const Path entry = {.parent = &path, .name = member->key, .is_key = true};
      RETURN_IF_ERROR(Decode(context, member->value, entry, out[member->key]));
    }
    return absl::OkStatus();
  });
}

namespace {

// The compact JSON of an object without one of its members.
std::string JsonWithout(absl::string_view key, const Value& value) {
  std::vector<Member> members(value.members.begin(), value.members.end());
  std::erase_if(members, [key](const Member& member) { return member.key == key; });
  Value rest = value;
  rest.members = members;
  return ToJson(rest);
}

// Forgets what nobody reads: the names of volumes such as a pod's own token, of which nothing but the source
// counts, and mounts without options. Specs that differ in nothing else are shared.
void ForgetUnreadNames(api::PodSpec& spec) {
  for (api::Volume& volume : spec.volumes) {
    api::Volume plain;
    plain.name = volume.name;
    plain.source = volume.source;
    plain.is_config_map = volume.is_config_map;
    plain.is_secret = volume.is_secret;
    if (SameContent(volume, plain)) volume.name.clear();
  }
  for (std::vector<api::Container>* containers : {&spec.containers, &spec.init_containers}) {
    for (api::Container& container : *containers) {
      std::erase_if(container.volume_mounts,
                    [](const api::VolumeMount& mount) { return mount.bind_mount_options.empty(); });
    }
  }
}

}  // namespace

absl::Status Decode(const DecodeContext& context, const Value& value, const Path& path,
                    std::shared_ptr<const api::PodSpec>& out) {
  if (value.is_null()) return absl::OkStatus();
  if (!value.is_object()) return context.WrongType(value, path, "a map");
  return DecodeOnce(context, value, out, [&]() -> absl::Status {
    auto spec = std::make_shared<api::PodSpec>();
    RETURN_IF_ERROR(Decode(context, value, path, *spec));
    for (size_t i = 0; i < spec->volumes.size(); ++i) {
      spec->volumes[i].source = JsonWithout("name", value.Find("volumes")->items[i]);
    }
    ForgetUnreadNames(*spec);
    out = std::move(spec);
    if (context.shared != nullptr) out = context.shared->Share(out);
    return absl::OkStatus();
  });
}

namespace {

// In and NotIn want values, Exists and DoesNotExist none, Gt and Lt one.
// Source: apimachinery v0.37, pkg/apis/meta/v1/validation, ValidateLabelSelectorRequirement.
absl::Status CheckValues(const DecodeContext& context, const Value& value, const Path& path,
                         absl::string_view operator_text, size_t count) {
  const Value* values = value.Find("values");
  const Value& place = values == nullptr ? value : *values;
  const Path values_path = {.parent = &path, .name = "values"};
  if ((operator_text == "In" || operator_text == "NotIn") && count == 0) {
    return context.Error(place, values_path,
                         "Required value: must be specified when `operator` is 'In' or 'NotIn'");
  }
  if ((operator_text == "Exists" || operator_text == "DoesNotExist") && count != 0) {
    return context.Error(place, values_path,
                         "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  }
  if ((operator_text == "Gt" || operator_text == "Lt") && count != 1) {
    return context.Error(place, values_path,
                         "Required value: must be specified single value when `operator` is 'Lt' or 'Gt'");
  }
  return absl::OkStatus();
}

absl::Status CheckRange(const DecodeContext& context, const Value& value, const Path& path,
                        absl::string_view name, int64_t number, int64_t low, int64_t high,
                        absl::string_view why) {
  if (number >= low && number <= high) return absl::OkStatus();
  const Value* field = value.Find(name);
  return context.Error(field == nullptr ? value : *field, {.parent = &path, .name = name},
                       absl::StrCat("Invalid value: ", number, ": ", why));
}

}  // namespace

absl::Status Check(const DecodeContext& context, const Value& value, const Path& path,
                   const api::LabelSelectorRequirement& requirement) {
  return CheckValues(context, value, path, requirement.operator_, requirement.values.size());
}

absl::Status Check(const DecodeContext& context, const Value& value, const Path& path,
                   const api::NodeSelectorRequirement& requirement) {
  return CheckValues(context, value, path, requirement.operator_, requirement.values.size());
}

absl::Status Check(const DecodeContext& context, const Value& value, const Path& path,
                   const api::PreferredSchedulingTerm& term) {
  return CheckRange(context, value, path, "weight", term.weight, 1, 100, "must be in the range 1-100");
}

absl::Status Check(const DecodeContext& context, const Value& value, const Path& path,
                   const api::WeightedPodAffinityTerm& term) {
  return CheckRange(context, value, path, "weight", term.weight, 1, 100, "must be in the range 1-100");
}

absl::Status Check(const DecodeContext& context, const Value& value, const Path& path,
                   const api::TopologySpreadConstraint& constraint) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  constexpr char kNotPositive[] = "must be greater than zero";
  RETURN_IF_ERROR(CheckRange(context, value, path, "maxSkew", constraint.max_skew, 1, kMax, kNotPositive));
  if (!constraint.min_domains.has_value()) return absl::OkStatus();
  return CheckRange(context, value, path, "minDomains", *constraint.min_domains, 1, kMax, kNotPositive);
}

// Source: kubernetes v1.37, pkg/apis/resource/validation/validation.go, validateDeviceAttribute.
absl::Status Check(const DecodeContext& context, const Value& value, const Path& path,
                   const api::DeviceAttribute& attribute) {
  const int count = int{attribute.int_value.has_value()} + int{attribute.bool_value.has_value()} +
                    int{attribute.string_value.has_value()} + int{attribute.version_value.has_value()};
  if (count == 1) return absl::OkStatus();
  if (count > 1) return context.Error(value, path, "Invalid value: exactly one value must be specified");
  for (const char* const list : {"bools", "ints", "strings", "versions"}) {
    if (value.Find(list) == nullptr) continue;
    return context.Error(value, path,
                         "attributes that are lists (gate DRAListTypeAttributes) are not simulated, expected "
                         "one of bool, int, string and version");
  }
  return context.Error(value, path, "Required value: exactly one value must be specified");
}

absl::Status Check(const DecodeContext& context, const Value& value, const Path& path,
                   const api::ContainerPort& port) {
  constexpr int64_t kPortMax = 65535;
  constexpr char kNoPort[] = "must be between 1 and 65535, inclusive";
  RETURN_IF_ERROR(
      CheckRange(context, value, path, "containerPort", port.container_port, 0, kPortMax, kNoPort));
  return CheckRange(context, value, path, "hostPort", port.host_port, 0, kPortMax, kNoPort);
}

namespace {

// "": left out, and so set.
constexpr absl::string_view kRestartPolicies[] = {"Always", "OnFailure", "Never", ""};

// The names that specs do not keep are compared here, where they are read.
absl::Status CheckVolumeNames(const DecodeContext& context, const Value& value, const Path& path) {
  const Value* volumes = value.Find("volumes");
  if (volumes == nullptr || !volumes->is_array()) return absl::OkStatus();
  const Path list_path = {.parent = &path, .name = "volumes"};
  std::set<absl::string_view> names;
  for (size_t i = 0; i < volumes->items.size(); ++i) {
    const Value& item = volumes->items[i];
    const Path item_path = {.parent = &list_path, .index = static_cast<int64_t>(i)};
    const Path name_path = {.parent = &item_path, .name = "name"};
    const Value* name = item.Find("name");
    const absl::string_view text = name == nullptr ? absl::string_view() : name->text;
    // Pods that were made without a text have lost theirs.
    if (text.empty()) continue;
    const std::vector<std::string> errors = api::DnsLabelErrors(text);
    const std::string shown = absl::StrCat("value: \"", Printable(text, kShownBytesMax), "\"");
    if (!errors.empty()) {
      return context.Error(*name, name_path, absl::StrCat("Invalid ", shown, ": ", errors.front()));
    }
    if (!names.insert(text).second) return context.Error(*name, name_path, absl::StrCat("Duplicate ", shown));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Check(const DecodeContext& context, const Value& value, const Path& path,
                   const api::PodSpec& spec) {
  if (spec.containers.empty()) {
    return context.Error(value, {.parent = &path, .name = "containers"}, "Required value");
  }
  RETURN_IF_ERROR(CheckVolumeNames(context, value, path));
  // Nobody reads it otherwise.
  const Value* policy = value.Find("restartPolicy");
  const bool is_given = policy != nullptr && policy->is_string();
  if (!is_given || absl::c_linear_search(kRestartPolicies, policy->text)) return absl::OkStatus();
  return context.Error(*policy, {.parent = &path, .name = "restartPolicy"},
                       NotAllowed(policy->text, kRestartPolicies));
}

std::string NotAllowed(absl::string_view text, absl::Span<const absl::string_view> allowed) {
  const std::string got = absl::StrCat("value: \"", Printable(text, kShownBytesMax), "\": ");
  if (absl::c_linear_search(allowed, "NotIn"))
    return absl::StrCat("Invalid ", got, "not a valid selector operator");
  std::string values;
  for (const absl::string_view value : allowed) {
    if (!value.empty()) absl::StrAppend(&values, values.empty() ? "\"" : ", \"", value, "\"");
  }
  return absl::StrCat("Unsupported ", got, "supported values: ", values);
}

const Value* FindPath(const Value& root, absl::Span<const Segment> path, const Value*& broken) {
  const Value* value = &root;
  for (const Segment& segment : path) {
    if (segment.name.empty()) continue;
    if (value == nullptr || value->is_null()) return nullptr;
    if (!value->is_object()) {
      broken = value;
      return nullptr;
    }
    value = value->Find(segment.name);
  }
  return value;
}

}  // namespace schedsim::codec
