// A pod's template as JSON, and the hash of that, by which revisions are named.
#ifndef SCHEDSIM_SIM_CONTROLLERS_POD_TEMPLATE_JSON_H_
#define SCHEDSIM_SIM_CONTROLLERS_POD_TEMPLATE_JSON_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "core/api/kubernetes_line.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// The template, with the defaults that the API server gives it, as Go writes its types in the release `line`
// as JSON, and sorted by keys: the same text for templates that say the same. Absent: with the fields of all
// releases.
// Source: kubernetes v1.37, pkg/controller/statefulset, getPatch.
std::string PodTemplateJson(const codec::Value& pod_template, std::optional<api::KubernetesLine> line);

// The data of a ControllerRevision of a template that PodTemplateJson wrote.
std::string RevisionData(absl::string_view template_json);

// The hash of a ControllerRevision of a StatefulSet with these data. `collisions`: how many revisions with
// other data had the name. Source: kubernetes v1.37, pkg/controller/history, HashControllerRevision.
std::string RevisionHash(absl::string_view data, int64_t collisions);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_POD_TEMPLATE_JSON_H_
