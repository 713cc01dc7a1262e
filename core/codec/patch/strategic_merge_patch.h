// Strategic merge patches, as kubectl and the controllers send them for built-in kinds.
#ifndef SCHEDSIM_CORE_CODEC_PATCH_STRATEGIC_MERGE_PATCH_H_
#define SCHEDSIM_CORE_CODEC_PATCH_STRATEGIC_MERGE_PATCH_H_

#include "core/codec/text/value.h"

namespace schedsim::codec {

// `target` with `patch` applied. As MergePatch, but lists of maps that Kubernetes merges by a key (conditions
// by type, containers by name, ...) are merged item by item, finalizers are a set, and the directives $patch,
// $retainKeys and $deleteFromPrimitiveList are heeded. The order that $setElementOrder asks for is not kept:
// what is new comes last. New parts belong to `document`, which must outlive both arguments' use of it.
// Source: kubernetes v1.37, apimachinery/pkg/util/strategicpatch, and the patchMergeKey tags of api/core/v1.
Value StrategicMergePatch(const Value& target, const Value& patch, Document& document);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_PATCH_STRATEGIC_MERGE_PATCH_H_
