// Source: kwok v0.7.0, pkg/kwokctl/etcd/save.go; pkg/apis/action/v1alpha1/resource_patch_types.go.
#include "sim/formats/recording_writer.h"

#include <algorithm>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"
#include "core/base/check.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/patch/strategic_merge_diff.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "sim/formats/relative_time.h"
#include "sim/formats/snapshot_objects.h"

namespace schedsim::sim {
namespace {

using codec::Member;
using codec::TextValue;
using codec::Value;

// Hands the object to `use` as kwok records it: without its version. Valid during the call.
void WithObject(const api::Object& object, absl::FunctionRef<void(const Value& root)> use) {
  codec::Document document;
  const auto take = [&](const codec::Document& read) {
    use(WithoutVersion(read.root, document));
    return absl::OkStatus();
  };
  CHECK(codec::ReadText(codec::ServedJson(object), "object.json", {}, take).ok());
}

Value PatchHead(const api::Object& object, codec::Document& document) {
  const absl::string_view group = api::GroupOf(object.api_version);
  absl::string_view version = object.api_version;
  if (!group.empty()) version.remove_prefix(group.size() + 1);
  const std::string resource = api::GroupResource(object.api_version, object.kind_name);
  std::vector<Member> members;
  if (!group.empty()) members.push_back({.key = "group", .key_position = {}, .value = TextValue(group)});
  const absl::string_view plural = absl::string_view(resource).substr(0, resource.find('.'));
  members.push_back({.key = "resource", .key_position = {}, .value = document.MakeText(plural)});
  members.push_back({.key = "version", .key_position = {}, .value = TextValue(version)});
  return document.MakeObject(members);
}

Value TargetOf(const api::Object& object, codec::Document& document) {
  std::vector<Member> members = {
      {.key = "name", .key_position = {}, .value = TextValue(object.metadata.name)}};
  if (!object.metadata.namespace_.empty()) {
    members.push_back(
        {.key = "namespace", .key_position = {}, .value = TextValue(object.metadata.namespace_)});
  }
  return document.MakeObject(members);
}

}  // namespace

void RecordingWriter::AddDocument(const Value& root) {
  const bool is_first = object_count_ + change_count_ == 0;
  sink_(absl::StrCat(is_first ? "" : "---\n", WithRelativeTimes(codec::ToYaml(root), zero_)));
}

void RecordingWriter::AddObject(const api::Object& object) {
  CHECK(change_count_ == 0);
  WithObject(object, [this](const Value& root) { AddDocument(root); });
  ++object_count_;
}

void RecordingWriter::AddChange(absl::Time at, const api::ObjectPtr& before, const api::ObjectPtr& after) {
  last_nanoseconds_ = std::max(absl::ToInt64Nanoseconds(at - zero_), last_nanoseconds_ + 1);
  if (after == nullptr) {
    AddPatch(*before, "delete", std::nullopt);
  } else {
    WithObject(*after, [&](const Value& new_object) { AddVersion(before, *after, new_object); });
  }
  ++change_count_;
}

// What is created takes the place of what is there, so that this does where there is no patch.
void RecordingWriter::AddVersion(const api::ObjectPtr& before, const api::Object& after,
                                 const Value& new_object) {
  codec::Document document;
  const api::KindInfo* const kind = api::FindKind(after.api_version, after.kind_name);
  std::optional<Value> patch;
  if (before != nullptr && kind != nullptr) {
    WithObject(*before, [&](const Value& old_object) {
      patch = codec::StrategicMergeDiff(old_object, new_object, *kind, document);
      if (patch.has_value()) AddPatch(after, "patch", patch);
    });
  }
  if (!patch.has_value()) AddPatch(after, "create", new_object);
}

void RecordingWriter::AddPatch(const api::Object& object, absl::string_view method,
                               const std::optional<Value>& body) {
  codec::Document document;
  Value duration;
  duration.type = Value::Type::kNumber;
  duration.text = document.CopyText(absl::StrCat(last_nanoseconds_));
  std::vector<Member> members = {
      {.key = "apiVersion", .key_position = {}, .value = TextValue("action.kwok.x-k8s.io/v1alpha1")},
      {.key = "durationNanosecond", .key_position = {}, .value = duration},
      {.key = "kind", .key_position = {}, .value = TextValue("ResourcePatch")},
      {.key = "method", .key_position = {}, .value = TextValue(method)},
      {.key = "resource", .key_position = {}, .value = PatchHead(object, document)},
      {.key = "target", .key_position = {}, .value = TargetOf(object, document)},
  };
  if (body.has_value()) members.push_back({.key = "template", .key_position = {}, .value = *body});
  AddDocument(document.MakeObject(members));
}

}  // namespace schedsim::sim
