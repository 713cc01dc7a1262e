// Objects in protobuf, as kube-apiserver stores built-in kinds in etcd.
#ifndef SCHEDSIM_CORE_CODEC_PROTOBUF_PROTO_READER_H_
#define SCHEDSIM_CORE_CODEC_PROTOBUF_PROTO_READER_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/lookup_map.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// What stands in front of a stored object.
inline constexpr absl::string_view kProtoMagic{"k8s\0", 4};

// JSON that stands in objects as bytes, read once: the fields that managers set are those of many objects.
class KnownJson {
 public:
  // The tree of a JSON text, without places; valid until Trim. Errors: those of ReadText.
  absl::StatusOr<Value> Read(absl::string_view text);
  // Forgets all where it is too much.
  void Trim();

 private:
  // As deep as the reader of JSON lets it be.
  Value CopyTree(const Value& value);

  Document document_;
  LookupMap<std::string, Value> known_;
  size_t bytes_ = 0;  // Of the texts.
};

// Reads objects as they are stored.
class ProtoReader {
 public:
  // Reads an object, magic and all, into `document`: the tree that the API server would write as JSON, in the
  // order of the bytes. Texts are borrowed from `bytes`; the tree is valid until the next call. Fields of a
  // number that the tables don't know are left out: a newer API server wrote them. Unimplemented for a kind
  // without tables; InvalidArgument, with the path of the field, for bytes that are no protobuf, for texts
  // that are not UTF-8, and for values that don't fit their field. Source: k8s.io/apimachinery v0.37,
  // pkg/runtime/serializer/protobuf/protobuf.go and pkg/runtime/generated.proto.
  absl::Status Read(absl::string_view bytes, Document& document);

 private:
  KnownJson known_json_;
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_PROTOBUF_PROTO_READER_H_
