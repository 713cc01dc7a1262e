// Patches of whole objects, in the three ways that the API server takes.
#ifndef SCHEDSIM_CORE_CODEC_PATCH_OBJECT_PATCH_H_
#define SCHEDSIM_CORE_CODEC_PATCH_OBJECT_PATCH_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// What kubectl calls the type of a patch.
enum class PatchType : uint8_t {
  kJson,            // A list of operations: application/json-patch+json.
  kMerge,           // A part of the object: application/merge-patch+json.
  kStrategicMerge,  // The same, with lists merged by key: application/strategic-merge-patch+json.
};

// What `patch` makes of `stored`. `reader` decodes it, so its options say what is valid.
// InvalidArgument, `KIND NAMESPACE/NAME, patched: path.to.field: what, and what was expected`, for a patch
// that cannot be applied, that makes an object which is not valid, or that changes apiVersion, kind,
// namespace or name.
absl::StatusOr<api::ObjectPtr> PatchObject(const api::Object& stored, PatchType type, const Value& patch,
                                           ObjectReader& reader);

// What a strategic merge patch makes of `before`, where the result may be another object: the patch may
// change apiVersion, kind and names. `api_version` and `kind` are those of the result, and say how its lists
// are merged; where the kind is not built in, the patch is a JSON merge patch. `name` is for messages.
// InvalidArgument, `NAME: path.to.field: what, and what was expected`.
absl::StatusOr<api::ObjectPtr> PatchIntoObject(const api::Object& before, const Value& patch,
                                               absl::string_view api_version, absl::string_view kind,
                                               absl::string_view name, ObjectReader& reader);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_PATCH_OBJECT_PATCH_H_
