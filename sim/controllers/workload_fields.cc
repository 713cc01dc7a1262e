#include "sim/controllers/workload_fields.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/api/go_text.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/json_edit.h"
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

// Whether labels fulfil one of a selector's matchExpressions.
bool Matches(const codec::Value& expression, const FieldReader& labels) {
  const codec::Value* label = labels.Find(TextOf(expression, "key"));
  const codec::Value* values = expression.Find("values");
  const bool is_among = label != nullptr && values != nullptr &&
                        std::any_of(values->items.begin(), values->items.end(),
                                    [label](const codec::Value& value) { return value.text == label->text; });
  const std::string op = TextOf(expression, "operator");
  if (op == "In") return is_among;
  if (op == "NotIn") return !is_among;
  if (op == "Exists") return label != nullptr;
  return op == "DoesNotExist" && label == nullptr;
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
  // The value has 32 bits, and no workload has more than a million pods.
  const int64_t hundredths = value * total;
  const int64_t share = hundredths / 100 + (rounds_up && hundredths % 100 > 0 ? 1 : 0);
  return std::min<int64_t>(share, INT32_MAX);
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

std::optional<int64_t> FieldReader::Number(absl::string_view key, int64_t min, int64_t max) const {
  const codec::Value* value = Find(key);
  if (value == nullptr) return std::nullopt;
  int64_t number = 0;
  if (value->type != codec::Value::Type::kNumber || !absl::SimpleAtoi(value->text, &number)) {
    Error(key, "a whole number");
  } else if (min == 0 && number < 0) {
    Error(key, absl::StrCat("a whole number that is not negative, got ", number));
  } else if (number < min || number > max) {
    Error(key, absl::StrCat("a whole number of 32 bits, got ", number));
  } else {
    return number;
  }
  return std::nullopt;
}

std::optional<int64_t> FieldReader::OptionalInt(absl::string_view key) const {
  return Number(key, INT32_MIN, INT32_MAX);
}

int64_t FieldReader::Int(absl::string_view key, int64_t fallback) const {
  return OptionalInt(key).value_or(fallback);
}

std::optional<int64_t> FieldReader::OptionalCount(absl::string_view key) const {
  return Number(key, 0, INT32_MAX);
}

int64_t FieldReader::Count(absl::string_view key, int64_t fallback) const {
  return OptionalCount(key).value_or(fallback);
}

std::optional<int64_t> FieldReader::OptionalLong(absl::string_view key) const {
  return Number(key, INT64_MIN, INT64_MAX);
}

std::optional<int64_t> FieldReader::OptionalLongCount(absl::string_view key) const {
  return Number(key, 0, INT64_MAX);
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
  const bool is_number = is_known && absl::SimpleAtoi(text, &number.value);
  if (is_number && number.value >= 0 && number.value <= INT32_MAX) return number;
  Error(key, "a whole number of 32 bits that is not negative, or a percentage such as 25%");
  return std::nullopt;
}

std::string WithObject(const api::Object& object, absl::string_view text) {
  const std::string front = absl::StrCat(object.kind_name, " ", object.Key(), ":");
  return absl::StartsWith(text, front) ? std::string(text) : absl::StrCat(front, " ", text);
}

absl::Status ReadFields(const api::Object& object,
                        absl::FunctionRef<absl::Status(const codec::Value& root)> read) {
  absl::Status status;
  codec::VisitObjectTree(object, [&](const codec::Value& root) { status = read(root); });
  if (status.ok()) return status;
  return absl::Status(status.code(), WithObject(object, status.message()));
}

absl::Status CheckTemplate(const codec::Value& root) {
  absl::Status error;
  const FieldReader spec(root, {"spec", "template", "spec"}, error);
  if (error.ok() && !spec.is_present()) {
    error = absl::InvalidArgumentError("spec.template: expected a template of a pod with a spec, got none");
  }
  return error;
}

absl::Status CheckSelector(const codec::Value& root) {
  absl::Status error;
  const FieldReader selector(root, {"spec", "selector"}, error);
  const FieldReader match(root, {"spec", "selector", "matchLabels"}, error);
  const FieldReader labels(root, {"spec", "template", "metadata", "labels"}, error);
  if (!error.ok()) return error;
  const codec::Value* expressions = PresentOrNull(selector.Find("matchExpressions"));
  const bool has_labels = match.is_present() && !selector.Find("matchLabels")->members.empty();
  const bool has_expressions = expressions != nullptr && !expressions->items.empty();
  if (!has_labels && !has_expressions) {
    return absl::InvalidArgumentError("spec.selector: expected a selector of the template's pods, got none");
  }
  bool selects = true;
  if (has_labels) {
    for (const codec::Member& member : selector.Find("matchLabels")->members) {
      const codec::Value* label = labels.Find(member.key);
      selects = selects && label != nullptr && label->text == member.value.text;
    }
  }
  for (size_t i = 0; has_expressions && i < expressions->items.size(); ++i) {
    selects = selects && Matches(expressions->items[i], labels);
  }
  if (selects) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "spec.template.metadata.labels: expected labels that spec.selector selects, got others");
}

std::optional<api::LabelSelector> ReadSelector(const codec::Value& root) {
  absl::Status error;
  const FieldReader fields(root, {"spec", "selector"}, error);
  api::LabelSelector selector;
  if (const codec::Value* labels = fields.Find("matchLabels")) {
    for (const codec::Member& member : labels->members) {
      selector.match_labels.Set(member.key, std::string(member.value.text));
    }
  }
  if (const codec::Value* expressions = fields.Find("matchExpressions")) {
    for (const codec::Value& item : expressions->items) {
      api::LabelSelectorRequirement requirement = {.key = TextOf(item, "key"),
                                                   .operator_ = TextOf(item, "operator")};
      if (const codec::Value* values = item.Find("values")) {
        for (const codec::Value& value : values->items) requirement.values.emplace_back(value.text);
      }
      selector.match_expressions.push_back(std::move(requirement));
    }
  }
  if (selector.match_labels.empty() && selector.match_expressions.empty()) return std::nullopt;
  return selector;
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

bool WorkloadConditions::IsTrue(absl::string_view type) const {
  const WorkloadCondition* condition = Find(type);
  return condition != nullptr && condition->status == "True";
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
      status.Field(update_key, api::FormatRfc3339Seconds(*condition.last_update));
    }
    if (condition.last_transition != absl::InfinitePast()) {
      status.Field("lastTransitionTime", api::FormatRfc3339Seconds(condition.last_transition));
    }
    if (!condition.reason.empty()) status.Field("reason", condition.reason);
    if (!condition.message.empty()) status.Field("message", condition.message);
    status.EndObject();
  }
  status.EndArray();
}

namespace {

// Whether the member, where it is empty, selects all, and nothing where it is absent. An emptyDir is not
// among them: a volume without a source is one.
bool MeansAllWhereEmpty(absl::string_view key) {
  return key == "labelSelector" || key == "namespaceSelector";
}

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
  std::vector<const codec::Member*> members;
  for (const codec::Member& member : value.members) members.push_back(&member);
  const auto by_key = [](const codec::Member* a, const codec::Member* b) { return a->key < b->key; };
  if (!std::is_sorted(members.begin(), members.end(), by_key))
    std::sort(members.begin(), members.end(), by_key);
  out += '{';
  for (const codec::Member* member : members) {
    const size_t begin = out.size();
    codec::AppendJsonString(member->key, out);
    out += ':';
    const size_t value_begin = out.size();
    AppendCanonical(member->value, out);
    const absl::string_view text = absl::string_view(out).substr(value_begin);
    const bool is_empty = text == "{}" || text == "[]";
    if (text == "null" || (is_empty && !MeansAllWhereEmpty(member->key))) {
      out.resize(begin);
    } else {
      out += ',';
    }
  }
  out += '}';
}

}  // namespace

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
