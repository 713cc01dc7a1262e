// Strategic merge patches made of two versions of an object.
#ifndef SCHEDSIM_CORE_CODEC_PATCH_STRATEGIC_MERGE_DIFF_H_
#define SCHEDSIM_CORE_CODEC_PATCH_STRATEGIC_MERGE_DIFF_H_

#include <optional>

#include "core/api/kinds.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// The patch that StrategicMergePatch turns `before` into `after` by, two objects of the built-in kind `kind`;
// {} where they hold the same. Members that are null count as absent. Absent where no patch does it, which is
// checked. New parts belong to `document`.
// Source: apimachinery v0.37, pkg/util/strategicpatch/patch.go, CreateTwoWayMergePatch.
std::optional<Value> StrategicMergeDiff(const Value& before, const Value& after, const api::KindInfo& kind,
                                        Document& document);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_PATCH_STRATEGIC_MERGE_DIFF_H_
