// JSON patches: lists of operations.
#ifndef SCHEDSIM_CORE_CODEC_PATCH_JSON_PATCH_H_
#define SCHEDSIM_CORE_CODEC_PATCH_JSON_PATCH_H_

#include "absl/status/statusor.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// `target` with the operations of `patch` applied, one after the other. New parts belong to `document`, which
// must outlive both arguments' use of it. InvalidArgument, with the operation and its path, for a place that
// is not there, a test that fails, and what is no operation. Source: RFC 6902.
absl::StatusOr<Value> JsonPatch(const Value& target, const Value& patch, Document& document);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_PATCH_JSON_PATCH_H_
