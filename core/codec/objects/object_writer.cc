#include "core/codec/objects/object_writer.h"

#include "core/base/check.h"
#include "core/codec/objects/encode.h"
#include "core/codec/objects/kinds.h"
#include "core/codec/text/json_edit.h"
#include "core/codec/text/json_reader.h"
#include "core/codec/text/writer.h"

namespace schedsim::codec {
namespace {

// Calls `take` with the object as a tree, and with its text where it has no other content than that.
template <typename T>
void WithTree(const T& object, absl::FunctionRef<void(const Value& root, const std::string* text)> take) {
  Document document;
  if (object.json == nullptr) {
    Value root = EmptyValue(object);
    const Segment version = {"apiVersion"};
    const Segment kind = {"kind"};
    const Segment metadata = {"metadata"};
    const std::string& kind_name =
        object.kind_name.empty() ? std::string(api::KindName(object.kind)) : object.kind_name;
    root = WithPath(root, absl::MakeConstSpan(&version, 1), Encode(object.api_version, document), document);
    root = WithPath(root, absl::MakeConstSpan(&kind, 1), Encode(kind_name, document), document);
    root = WithPath(root, absl::MakeConstSpan(&metadata, 1), Encode(object.metadata, document), document);
    take(PutAll(root, object, document), nullptr);
    return;
  }
  const std::string json = object.json->ToString();
  const absl::Status status = ReadJsonText(json, "object", {}, [&](const Document& stored) {
    const Segment metadata = {"metadata"};
    static const Value kEmpty = EmptyValue(Value());
    const Value* old_metadata = stored.root.Find("metadata");
    const Value& before = old_metadata == nullptr ? kEmpty : *old_metadata;
    const Value after = PutChanges(before, object.metadata, document);
    Value root = stored.root;
    if (after.members.data() != before.members.data()) {
      root = WithPath(root, absl::MakeConstSpan(&metadata, 1), after, document);
    }
    root = PutChanges(root, object, document);
    take(root, root.members.data() == stored.root.members.data() ? &json : nullptr);
    return absl::OkStatus();
  });
  CHECK(status.ok());
}

void WithTreeOf(const api::Object& object,
                absl::FunctionRef<void(const Value& root, const std::string* text)> take) {
  VisitKind(object.kind, [&]<typename T>() { WithTree(static_cast<const T&>(object), take); });
}

}  // namespace

std::string ObjectJson(const api::Object& object) {
  std::string json;
  WithTreeOf(object, [&json](const Value& root, const std::string* text) {
    json = text == nullptr ? ToJson(root) : *text;
  });
  return json;
}

void VisitObjectTree(const api::Object& object, absl::FunctionRef<void(const Value& root)> visit) {
  WithTreeOf(object, [visit](const Value& root, const std::string* /*text*/) { visit(root); });
}

std::string ServedJson(const api::Object& object) {
  std::string json = ObjectJson(object);
  if (object.metadata.namespace_.empty()) return json;
  std::string name_space;
  AppendJsonString(object.metadata.namespace_, name_space);
  return SetJsonMember(json, {"metadata", "namespace"}, name_space);
}

std::string ObjectYaml(const api::Object& object) {
  std::string out;
  const absl::Status status = ReadJsonText(ObjectJson(object), "object", {}, [&](const Document& document) {
    AppendYaml(document.root, out);
    return absl::OkStatus();
  });
  CHECK(status.ok());
  return out;
}

}  // namespace schedsim::codec
