// The hash of a pod's template, which names of ReplicaSets and labels of their pods have.
#ifndef SCHEDSIM_SIM_CONTROLLERS_POD_TEMPLATE_HASH_H_
#define SCHEDSIM_SIM_CONTROLLERS_POD_TEMPLATE_HASH_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/api/kubernetes_line.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// The template, with the defaults that the API server gives it, as Go prints it for the hash: all fields of
// its types in the release `line`, by name, type and value. Source: apimachinery v0.37, pkg/util/dump,
// ForHash; davecgh/go-spew, format.go; kubernetes v1.37, pkg/apis/core/v1/defaults.go.
std::string PodTemplateText(const codec::Value& pod_template, api::KubernetesLine line);

// The hash of that text: ten characters at most. `collisions`: how many ReplicaSets of other templates had
// the name; absent: none did. Source: kubernetes v1.37, pkg/controller/controller_utils.go, ComputeHash.
std::string PodTemplateHash(const codec::Value& pod_template, api::KubernetesLine line,
                            std::optional<int64_t> collisions);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_POD_TEMPLATE_HASH_H_
