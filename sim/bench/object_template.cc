#include "sim/bench/object_template.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/api/kinds.h"
#include "core/api/pod.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/api_fields.h"
#include "core/codec/text/input.h"
#include "core/codec/text/reader.h"
#include "sim/bench/bench_functions.h"

namespace schedsim::sim {
namespace {

using codec::ApiField;
using codec::ApiType;
using codec::Member;
using codec::Value;

// The field of this name; in any case, if `fold` says so.
const ApiField* FindField(const ApiType& type, absl::string_view name, bool fold) {
  const ApiField* field = type.Find(name);
  if (field != nullptr || !fold) return field;
  for (const ApiField& known : type.fields) {
    if (absl::EqualsIgnoreCase(known.name, name)) return &known;
  }
  return nullptr;
}

// Copies a tree with the names of fields as the API has them.
class FieldReader {
 public:
  FieldReader(absl::string_view file, bool fold, codec::Document& copy)
      : file_(file), fold_(fold), copy_(copy) {}

  // Documents are no deeper than codec::kDepthMax.
  absl::StatusOr<Value> Read(const Value& value, const ApiType& type, const std::string& path) {
    if (value.is_array()) return ReadItems(value, type, path);
    if (!value.is_object()) return value;
    std::vector<Member> members;
    for (Member member : value.members) {
      const ApiField* field = FindField(type, member.key, fold_);
      const std::string field_path = absl::StrCat(path, path.empty() ? "" : ".", member.key);
      if (field == nullptr) {
        return codec::ErrorAt({.file = file_, .position = member.key_position},
                              absl::StrCat("unknown field ", api::GoQuote(field_path)));
      }
      member.key = field->name;
      if (field->type != nullptr) {
        ASSIGN_OR_RETURN(member.value, field->by_key ? ReadByKey(member.value, *field->type, field_path)
                                                     : Read(member.value, *field->type, field_path));
      }
      members.push_back(member);
    }
    return copy_.MakeObject(members, value.position);
  }

 private:
  absl::StatusOr<Value> ReadItems(const Value& value, const ApiType& type, const std::string& path) {
    std::vector<Value> items;
    for (const Value& item : value.items) {
      Value read;
      ASSIGN_OR_RETURN(read, Read(item, type, absl::StrCat(path, "[", items.size(), "]")));
      items.push_back(read);
    }
    Value copy = value;
    copy.items = copy_.CopyItems(items);
    return copy;
  }

  absl::StatusOr<Value> ReadByKey(const Value& value, const ApiType& type, const std::string& path) {
    if (!value.is_object()) return value;
    std::vector<Member> members;
    for (Member member : value.members) {
      ASSIGN_OR_RETURN(member.value, Read(member.value, type, absl::StrCat(path, ".", member.key)));
      members.push_back(member);
    }
    return copy_.MakeObject(members, value.position);
  }

  const absl::string_view file_;
  const bool fold_;
  codec::Document& copy_;
};

absl::string_view TextOf(const Value& root, absl::string_view key) {
  const Value* value = root.Find(key);
  return value != nullptr && value->is_string() ? value->text : absl::string_view();
}

const Value* Below(const Value& root, absl::string_view outer, absl::string_view inner) {
  const Value* value = root.Find(outer);
  return value == nullptr ? nullptr : value->Find(inner);
}

// Objects of a template get their names from the operation, but reading one asks for a name.
Value WithName(const Value& root, codec::Document& copy) {
  const Value* metadata = root.Find("metadata");
  const bool has_name =
      metadata != nullptr && (metadata->Find("name") != nullptr || metadata->Find("generateName") != nullptr);
  if (has_name || !root.is_object() || (metadata != nullptr && !metadata->is_object())) return root;
  std::vector<Member> fields = {{.key = "name", .value = {.type = Value::Type::kString, .text = "template"}}};
  if (metadata != nullptr) fields.insert(fields.end(), metadata->members.begin(), metadata->members.end());
  std::vector<Member> members;
  for (const Member& member : root.members) {
    if (member.key != "metadata") members.push_back(member);
  }
  members.push_back({.key = "metadata", .value = copy.MakeObject(fields, root.position)});
  return copy.MakeObject(members, root.position);
}

Value WithApiVersion(const Value& root, absl::string_view api_version, codec::Document& copy) {
  if (!root.is_object() || root.Find("apiVersion") == nullptr) return root;
  std::vector<Member> members(root.members.begin(), root.members.end());
  for (Member& member : members) {
    if (member.key == "apiVersion") member.value.text = api_version;
  }
  return copy.MakeObject(members, root.position);
}

}  // namespace

absl::StatusOr<ObjectTemplate> ObjectTemplate::Load(const std::string& path, Reading reading,
                                                    codec::ObjectReader& reader) {
  constexpr size_t kBytesMax = size_t{16} << 20;
  ObjectTemplate loaded(path, reading, reader);
  ASSIGN_OR_RETURN(loaded.text_, codec::ReadFile(path, kBytesMax));
  if (reading.is_template) {
    ASSIGN_OR_RETURN(loaded.template_, GoTemplate::Parse(loaded.text_, path, BenchFunctions()));
    loaded.text_.clear();
  }
  return loaded;
}

absl::StatusOr<TemplateObject> ObjectTemplate::Make(const TemplateParams& params, int64_t index,
                                                    int64_t count) {
  const bool is_constant = !template_.has_value() || !template_->Mentions("Index");
  const bool is_same = is_constant && last_.has_value() && last_params_ == &params && last_count_ == count;
  if (!is_same) {
    std::string text = text_;
    if (template_.has_value()) {
      GoValue::Map data(params.begin(), params.end());
      data.emplace_back("Index", GoValue(index));
      data.emplace_back("Count", GoValue(count));
      ASSIGN_OR_RETURN(text, template_->Execute(GoValue(std::move(data)), BenchFunctions()));
    }
    last_.reset();
    const auto read = [&](const codec::Document& document) -> absl::Status {
      if (document.root.is_null()) return absl::OkStatus();
      if (last_.has_value()) {
        return codec::ErrorAt({.file = path_, .position = document.root.position},
                              "expected one object, got another document");
      }
      ASSIGN_OR_RETURN(last_, Decode(document.root));
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(codec::ReadText(std::move(text), path_, {}, read));
    if (!last_.has_value())
      return absl::InvalidArgumentError(absl::StrCat(path_, ": expected an object, got nothing"));
    last_params_ = &params;
    last_count_ = count;
  }
  TemplateObject made = *last_;
  made.object = last_->object->Clone();
  return made;
}

absl::StatusOr<TemplateObject> ObjectTemplate::Decode(const Value& root) {
  codec::Document copy;
  const absl::string_view api_version = reading_.api_version;
  Value checked;
  ASSIGN_OR_RETURN(checked,
                   CheckFields(api_version.empty() ? root : WithApiVersion(root, api_version, copy), copy));
  const Value named = reading_.is_typed ? WithName(checked, copy) : checked;
  api::ObjectPtr object;
  ASSIGN_OR_RETURN(object, reader_->Decode(named, path_));
  RETURN_IF_ERROR(CheckSimulated(*object, checked));
  TemplateObject made;
  made.object = object->Clone();
  // It gets another name, and the text is no longer what it is. A pod group has its name, and only the text
  // says that it is a basic one.
  if (object->kind != api::Kind::kPodGroup) made.object->json = nullptr;
  const Value* name = Below(checked, "metadata", "name");
  if (name == nullptr) made.object->metadata.name.clear();
  made.has_status = checked.Find("status") != nullptr;
  const Value* finalizers = Below(checked, "metadata", "finalizers");
  made.has_finalizers = finalizers != nullptr && finalizers->is_array() && !finalizers->items.empty();
  const Value* grace = Below(checked, "spec", "terminationGracePeriodSeconds");
  made.ends_at_once = grace != nullptr && grace->text == "0";
  return made;
}

absl::StatusOr<Value> ObjectTemplate::CheckFields(const Value& root, codec::Document& copy) const {
  const codec::ApiKind* kind = codec::ApiFields::Get().Find(TextOf(root, "apiVersion"), TextOf(root, "kind"));
  if (kind == nullptr || kind->type == nullptr) return root;
  return FieldReader(path_, reading_.is_typed, copy).Read(root, *kind->type, "");
}

absl::Status ObjectTemplate::CheckSimulated(const api::Object& object, const Value& root) const {
  const auto refuse = [&](const Value& value, absl::string_view what) {
    return absl::UnimplementedError(
        codec::ErrorAt({.file = path_, .position = value.position}, what).message());
  };
  const absl::string_view group = api::GroupOf(object.api_version);
  if (object.kind == api::Kind::kOther && (group == "scheduling.k8s.io" || group == "resource.k8s.io")) {
    return refuse(root, absl::StrCat(object.kind_name, " of ", object.api_version, " is not simulated"));
  }
  if (object.kind != api::Kind::kPod) return absl::OkStatus();
  if (static_cast<const api::Pod&>(object).spec->resource_claims.empty()) return absl::OkStatus();
  return refuse(*Below(root, "spec", "resourceClaims"),
                "spec.resourceClaims: claims of devices are not simulated here");
}

// Source: kubernetes v1.37, test/integration/scheduler_perf/executor.go, runCreatePodGroupsOp.
ObjectTemplate::Reading ReadingOf(const AnyObjectOp& op) {
  if (!op.are_pod_groups) return {.is_typed = false};
  return {.api_version = "scheduling.k8s.io/v1beta1"};
}

}  // namespace schedsim::sim
