// The fields of a protobuf message as they stand in its bytes, whatever they mean.
#ifndef SCHEDSIM_CORE_CODEC_PROTOBUF_WIRE_READER_H_
#define SCHEDSIM_CORE_CODEC_PROTOBUF_WIRE_READER_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace schedsim::codec {

// A field's value: bytes, which are part of the message, or a number.
struct WireValue {
  absl::string_view bytes;
  // With the field's number and, of bytes, their length in front.
  absl::string_view whole;
  uint64_t number = 0;
  bool is_number = false;
};

// Calls `visit` with each field of the message, in order, and steps over those of other wire types: no field
// of Kubernetes or etcd has them. DataLoss for bytes that are no message; and the errors of `visit`.
absl::Status ForEachField(absl::string_view bytes,
                          absl::FunctionRef<absl::Status(uint32_t number, const WireValue& value)> visit);

// The same with the numbers that are packed into one field.
absl::Status ForEachPacked(absl::string_view bytes, absl::FunctionRef<absl::Status(uint64_t number)> visit);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_PROTOBUF_WIRE_READER_H_
