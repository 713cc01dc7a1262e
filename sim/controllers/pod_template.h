// Pods from the templates of workloads.
#ifndef SCHEDSIM_SIM_CONTROLLERS_POD_TEMPLATE_H_
#define SCHEDSIM_SIM_CONTROLLERS_POD_TEMPLATE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/base/rng.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// Writes the member `ownerReferences` with `owner` as the controller.
// Source: apimachinery v0.37, pkg/apis/meta/v1/controller_ref.go, NewControllerRef.
void WriteControllerRef(const api::Object& owner, codec::JsonWriter& metadata);

// `base` and five characters that are drawn, at most 63 in all.
// Source: apiserver v0.37, pkg/storage/names/generate.go.
std::string GenerateName(absl::string_view base, Rng& rng);

// The pod that the template of `owner` makes. `metadata` and `spec` are JSON merge patches of its parts: they
// give it a name or generateName at least; the owner and its namespace are set here. `reader` decodes it.
// FailedPrecondition where the template has no spec,
// InvalidArgument for what is no valid pod.
absl::StatusOr<std::shared_ptr<const api::Pod>> PodFromTemplate(const api::Object& owner,
                                                                const codec::Value& pod_template,
                                                                absl::string_view metadata,
                                                                absl::string_view spec,
                                                                codec::ObjectReader& reader);

// A copy of `prototype` with a name of its own, from its generateName.
std::shared_ptr<api::Pod> CopyWithName(const api::Pod& prototype, const std::string& name);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_POD_TEMPLATE_H_
