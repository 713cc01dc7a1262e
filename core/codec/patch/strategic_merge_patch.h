// Strategic merge patches, as kubectl and the controllers send them for built-in kinds.
#ifndef SCHEDSIM_CORE_CODEC_PATCH_STRATEGIC_MERGE_PATCH_H_
#define SCHEDSIM_CORE_CODEC_PATCH_STRATEGIC_MERGE_PATCH_H_

#include "absl/status/statusor.h"
#include "core/api/kinds.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// `target`, an object of the built-in kind `kind`, with `patch` applied. As MergePatch, but lists that the
// API merges by a key (conditions by type, containers by name, a Service's ports by port) are merged item by
// item, and the directives $patch, $retainKeys, $setElementOrder and $deleteFromPrimitiveList are heeded.
// Items that the patch adds come before those that it does not name, as in the real API server. New parts
// belong to `document`, which must outlive both arguments' use of it.
//
// InvalidArgument, `path.to.field: what, and what was expected`, for an item without its merge key, and a
// directive that is not known or has a wrong value.
//
// Source: apimachinery v0.37, pkg/util/strategicpatch/patch.go.
absl::StatusOr<Value> StrategicMergePatch(const Value& target, const Value& patch, const api::KindInfo& kind,
                                          Document& document);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_PATCH_STRATEGIC_MERGE_PATCH_H_
