#include "sim/controllers/workload_fields.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/digest.h"
#include "core/base/rng.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/json_edit.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "sim/controllers/pod_template.h"

namespace schedsim::sim {
namespace {

const codec::Value* PresentOrNull(const codec::Value* value) {
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string TextOf(const codec::Value& map, absl::string_view key) {
  const codec::Value* found = map.Find(key);
  return found == nullptr || !found->is_string() ? std::string() : std::string(found->text);
}

std::optional<absl::Time> TimeOf(const codec::Value& map, absl::string_view key) {
  absl::Time time;
  const std::string text = TextOf(map, key);
  if (text.empty() || !absl::ParseTime(absl::RFC3339_full, text, &time, nullptr)) return std::nullopt;
  return time;
}

}  // namespace

int64_t IntOrPercent::Of(int64_t total, bool rounds_up) const {
  if (!is_percent) return value;
  const int64_t hundredths = value * total;
  return hundredths / 100 + (rounds_up && hundredths % 100 > 0 ? 1 : 0);
}

FieldReader::FieldReader(const codec::Value& root, std::initializer_list<absl::string_view> path,
                         absl::Status& status)
    : map_(&root), status_(status) {
  for (const absl::string_view key : path) {
    absl::StrAppend(&path_, key, ".");
    if (map_ != nullptr) map_ = PresentOrNull(map_->Find(key));
    if (map_ == nullptr || map_->is_object()) continue;
    status_.Update(absl::InvalidArgumentError(
        absl::StrCat(absl::StripSuffix(path_, "."), ": expected a map, got ", Describe(map_->type))));
    map_ = nullptr;
  }
}

const codec::Value* FieldReader::Find(absl::string_view key) const {
  return map_ == nullptr ? nullptr : PresentOrNull(map_->Find(key));
}

void FieldReader::Error(absl::string_view key, absl::string_view expected) const {
  status_.Update(absl::InvalidArgumentError(absl::StrCat(path_, key, ": expected ", expected)));
}

std::optional<int64_t> FieldReader::OptionalInt(absl::string_view key) const {
  const codec::Value* value = Find(key);
  if (value == nullptr) return std::nullopt;
  int64_t number = 0;
  if (value->type == codec::Value::Type::kNumber && absl::SimpleAtoi(value->text, &number)) return number;
  Error(key, "a whole number");
  return std::nullopt;
}

int64_t FieldReader::Int(absl::string_view key, int64_t fallback) const {
  return OptionalInt(key).value_or(fallback);
}

bool FieldReader::Bool(absl::string_view key, bool fallback) const {
  const codec::Value* value = Find(key);
  if (value == nullptr) return fallback;
  if (value->type == codec::Value::Type::kBool) return value->boolean;
  Error(key, "true or false");
  return fallback;
}

std::string FieldReader::Text(absl::string_view key, absl::string_view fallback) const {
  const codec::Value* value = Find(key);
  if (value == nullptr) return std::string(fallback);
  if (value->is_string()) return std::string(value->text);
  Error(key, "a string");
  return std::string(fallback);
}

std::optional<absl::Time> FieldReader::Time(absl::string_view key) const {
  if (Find(key) == nullptr) return std::nullopt;
  const std::optional<absl::Time> time = TimeOf(*map_, key);
  if (!time.has_value()) Error(key, "a time as in RFC 3339");
  return time;
}

std::optional<IntOrPercent> FieldReader::OptionalIntOrPercent(absl::string_view key) const {
  const codec::Value* value = Find(key);
  if (value == nullptr) return std::nullopt;
  IntOrPercent number;
  absl::string_view text = value->text;
  if (value->is_string()) number.is_percent = absl::ConsumeSuffix(&text, "%");
  const bool is_known = value->type == codec::Value::Type::kNumber || number.is_percent;
  if (is_known && absl::SimpleAtoi(text, &number.value) && number.value >= 0) return number;
  Error(key, "a whole number that is not negative, or a percentage such as 25%");
  return std::nullopt;
}

absl::Status ReadFields(const api::Object& object,
                        absl::FunctionRef<absl::Status(const codec::Value& root)> read) {
  // The ending makes JSON of it.
  const absl::Status status =
      codec::ReadText(codec::ObjectJson(object), "object.json", {},
                      [&](const codec::Document& document) { return read(document.root); });
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(object.kind_name, " ", object.Key(), ": ", status.message()));
}

absl::Status CheckTemplate(const codec::Value& root) {
  absl::Status error;
  const FieldReader spec(root, {"spec", "template", "spec"}, error);
  if (error.ok() && !spec.is_present()) {
    error = absl::InvalidArgumentError("spec.template: expected a template of a pod with a spec, got none");
  }
  return error;
}

absl::Status CheckPodCount(absl::string_view field, int64_t count) {
  if (count >= 0 && count <= kPodsMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": expected a whole number from 0 to ", kPodsMax, ", got ", count));
}

std::shared_ptr<api::Object> WithField(const api::Object& object,
                                       std::initializer_list<absl::string_view> path,
                                       absl::string_view value) {
  std::shared_ptr<api::Object> copy = object.Clone();
  const std::string text = object.json == nullptr ? codec::ObjectJson(object) : object.json->ToString();
  copy->json = std::make_shared<api::ObjectText>(codec::SetJsonMember(text, path, value));
  return copy;
}

void Warn(std::string text, std::vector<std::string>& warnings) {
  const bool is_said = std::find(warnings.begin(), warnings.end(), text) != warnings.end();
  if (!is_said) warnings.push_back(std::move(text));
}

WorkloadCondition ConditionSince(absl::Time now, absl::string_view type, absl::string_view status,
                                 absl::string_view reason, std::string message) {
  return {.type = std::string(type),
          .status = std::string(status),
          .reason = std::string(reason),
          .message = std::move(message),
          .last_transition = now,
          .last_update = now};
}

WorkloadConditions WorkloadConditions::Read(const codec::Value& root, absl::string_view update_key) {
  WorkloadConditions out;
  const codec::Value* status = root.Find("status");
  const codec::Value* list = status == nullptr ? nullptr : status->Find("conditions");
  if (list == nullptr) return out;
  for (const codec::Value& item : list->items) {
    WorkloadCondition condition = {.type = TextOf(item, "type"),
                                   .status = TextOf(item, "status"),
                                   .reason = TextOf(item, "reason"),
                                   .message = TextOf(item, "message")};
    condition.last_transition = TimeOf(item, "lastTransitionTime").value_or(absl::InfinitePast());
    if (!update_key.empty()) condition.last_update = TimeOf(item, update_key);
    out.conditions_.push_back(std::move(condition));
  }
  return out;
}

const WorkloadCondition* WorkloadConditions::Find(absl::string_view type) const {
  const auto found =
      std::find_if(conditions_.begin(), conditions_.end(),
                   [type](const WorkloadCondition& condition) { return condition.type == type; });
  return found == conditions_.end() ? nullptr : &*found;
}

void WorkloadConditions::Set(WorkloadCondition condition) {
  const WorkloadCondition* known = Find(condition.type);
  const bool is_same =
      known != nullptr && known->status == condition.status && known->reason == condition.reason;
  if (!is_same) Replace(std::move(condition));
}

void WorkloadConditions::Replace(WorkloadCondition condition) {
  const WorkloadCondition* known = Find(condition.type);
  if (known != nullptr && known->status == condition.status) {
    condition.last_transition = known->last_transition;
  }
  Erase(condition.type);
  conditions_.push_back(std::move(condition));
}

void WorkloadConditions::Erase(absl::string_view type) {
  std::erase_if(conditions_, [type](const WorkloadCondition& condition) { return condition.type == type; });
}

void WorkloadConditions::Write(absl::string_view update_key, codec::JsonWriter& status) const {
  if (conditions_.empty()) return;
  status.Key("conditions").BeginArray();
  for (const WorkloadCondition& condition : conditions_) {
    status.BeginObject().Field("type", condition.type).Field("status", condition.status);
    if (!update_key.empty() && condition.last_update.has_value()) {
      status.Field(update_key, TimestampText(*condition.last_update));
    }
    if (condition.last_transition != absl::InfinitePast()) {
      status.Field("lastTransitionTime", TimestampText(condition.last_transition));
    }
    if (!condition.reason.empty()) status.Field("reason", condition.reason);
    if (!condition.message.empty()) status.Field("message", condition.message);
    status.EndObject();
  }
  status.EndArray();
}

std::string TimestampText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

namespace {

// The nesting of a document has a limit, so that this ends.
void AppendCanonical(const codec::Value& value, std::string& out) {
  if (value.is_array()) {
    out += '[';
    for (const codec::Value& item : value.items) {
      AppendCanonical(item, out);
      out += ',';
    }
    out += ']';
    return;
  }
  if (!value.is_object()) {
    codec::AppendJson(value, out);
    return;
  }
  std::map<absl::string_view, const codec::Value*> members;
  for (const codec::Member& member : value.members) members[member.key] = &member.value;
  out += '{';
  for (const auto& [key, member] : members) {
    std::string text;
    AppendCanonical(*member, text);
    if (text == "null" || text == "{}" || text == "[]") continue;
    codec::AppendJsonString(key, out);
    absl::StrAppend(&out, ":", text, ",");
  }
  out += '}';
}

}  // namespace

std::string TemplateHash(absl::string_view canonical) {
  Digest digest;
  digest.Add(canonical);
  Rng rng(digest.value());
  return GenerateName(GenerateName("", rng), rng);
}

std::string CanonicalJson(const codec::Value& value, absl::string_view without_label) {
  const codec::Value* metadata = value.Find("metadata");
  const codec::Value* labels = metadata == nullptr ? nullptr : metadata->Find("labels");
  if (labels == nullptr || labels->Find(without_label) == nullptr) {
    std::string out;
    AppendCanonical(value, out);
    return out;
  }
  const auto without = [](const codec::Value& map, absl::string_view key, const codec::Value* replacement) {
    std::vector<codec::Member> members;
    for (const codec::Member& member : map.members) {
      if (member.key != key) {
        members.push_back(member);
      } else if (replacement != nullptr) {
        members.push_back(member);
        members.back().value = *replacement;
      }
    }
    return members;
  };
  const std::vector<codec::Member> kept_labels = without(*labels, without_label, nullptr);
  codec::Value new_labels = *labels;
  new_labels.members = kept_labels;
  const std::vector<codec::Member> kept_metadata = without(*metadata, "labels", &new_labels);
  codec::Value new_metadata = *metadata;
  new_metadata.members = kept_metadata;
  const std::vector<codec::Member> kept = without(value, "metadata", &new_metadata);
  codec::Value whole = value;
  whole.members = kept;
  std::string out;
  AppendCanonical(whole, out);
  return out;
}

}  // namespace schedsim::sim
