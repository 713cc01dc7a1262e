// JSON merge patches.
#ifndef SCHEDSIM_CORE_CODEC_PATCH_MERGE_PATCH_H_
#define SCHEDSIM_CORE_CODEC_PATCH_MERGE_PATCH_H_

#include "core/codec/text/value.h"

namespace schedsim::codec {

// `target` with `patch` applied: maps are merged member by member, null takes a member away, and everything
// else replaces what is there. New parts belong to `document`, which must outlive both arguments' use of it.
// Source: RFC 7396.
Value MergePatch(const Value& target, const Value& patch, Document& document);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_PATCH_MERGE_PATCH_H_
