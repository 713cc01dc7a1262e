// Copies of trees that lack something. New parts belong to `document`; texts stay those of the value.
#ifndef SCHEDSIM_CORE_CODEC_PATCH_VALUE_COPY_H_
#define SCHEDSIM_CORE_CODEC_PATCH_VALUE_COPY_H_

#include "core/codec/text/value.h"

namespace schedsim::codec {

// Without places: those of stored objects and of patches lie in texts that nobody sees.
Value WithoutPlaces(const Value& value, Document& document);

// Without members that are null, at any depth.
Value WithoutNulls(const Value& value, Document& document);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_PATCH_VALUE_COPY_H_
