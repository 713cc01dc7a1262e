// Fields of manifests that are the API server's own.
#ifndef SCHEDSIM_SIM_FORMATS_MANIFEST_FIELDS_H_
#define SCHEDSIM_SIM_FORMATS_MANIFEST_FIELDS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/object.h"

namespace schedsim::sim {

// What a note says of a field that was taken out of a manifest.
inline constexpr absl::string_view kDroppedServerField =
    "left out, as by the API server, since the object is a manifest; with metadata.uid it counts as a "
    "cluster's";

// Takes out of a manifest what the API server drops when an object is created: `metadata.deletionTimestamp`,
// and the `status` of built-in kinds but for nodes, whose kubelets bring it. Returns the names of the fields
// that were there. What a cluster gave out keeps them. Source: kubernetes v1.37, pkg/registry,
// PrepareForCreate of each kind; apiserver v0.37, pkg/registry/rest/create.go.
std::vector<std::string> DropServerFields(api::ObjectPtr& object);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_MANIFEST_FIELDS_H_
