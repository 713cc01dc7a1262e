// Which objects of an input lead to pods that are created during a run.
#ifndef SCHEDSIM_SIM_FORMATS_POD_SOURCES_H_
#define SCHEDSIM_SIM_FORMATS_POD_SOURCES_H_

#include <cstddef>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/api/object.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// The indexes of the manifests of pods, and of the workloads that make some: those of a cluster only where
// pods of theirs are missing. `goes_on`: things happen to the cluster later, so that any workload may have to
// make a pod anew.
std::vector<size_t> PodSources(absl::Span<const api::ObjectPtr> objects, bool goes_on);

// Whether the kind has a template of pods for which there is a controller here.
bool IsWorkloadKind(absl::string_view kind);

// Calls `read` with the pod that such an object is or makes, as far as it has a spec.
void ReadPodOf(const api::Object& source, absl::FunctionRef<void(const codec::Value& pod)> read);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_POD_SOURCES_H_
