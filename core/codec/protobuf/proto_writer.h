// Objects as protobuf, as kube-apiserver writes built-in kinds.
#ifndef SCHEDSIM_CORE_CODEC_PROTOBUF_PROTO_WRITER_H_
#define SCHEDSIM_CORE_CODEC_PROTOBUF_PROTO_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "core/codec/objects/api_fields.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// `object` as a message of its type (`ApiKind::type`), without the envelope that stands before stored ones:
// fields by number, entries of maps by key. Left out are fields that are null, empty texts, zeros and false
// where the field has no presence of its own, fields that protobuf does not have or the tables do not know
// (apiVersion and kind are among them), and values that do not fit their field. Amounts are written as the
// input has them. Source: k8s.io/api v0.37, core/v1/generated.pb.go.
std::string WriteProto(const Value& object, const ApiType& type);

// Appends a field of bytes, a text or a message, to a message.
void AppendProtoBytes(uint32_t number, absl::string_view bytes, std::string& out);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_PROTOBUF_PROTO_WRITER_H_
