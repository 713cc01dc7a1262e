// What the API server's validation says of the metadata of objects, new ones and changed ones.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_METADATA_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_METADATA_VALIDATION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/kubernetes_line.h"
#include "core/api/object.h"

namespace schedsim::sim {

// All that is wrong with the object's name, namespace, labels, annotations and owners, in the order of the
// API server, each as it says it. Names are DNS subdomains, but for kinds that want a label; kinds with a
// rule of their own (of RBAC, addresses, certificates) may have any. Source: apimachinery v0.37,
// pkg/api/validation/objectmeta.go, ValidateObjectMeta, and the name functions of kubernetes v1.37, pkg/apis.
std::vector<std::string> MetadataFaults(const api::Object& object, api::KubernetesLine line);

// What is wrong with the metadata of `after`, which takes the place of `before`: all that MetadataFaults says
// and that was not wrong before, then new finalizers of an object that is being deleted, another uid, and a
// deletion that an update would begin. Without a uid of its own, `after` keeps that of `before`, and a
// deletion that has begun goes on, whatever `after` says. Source: as above, ValidateObjectMetaAccessorUpdate,
// and apiserver v0.37, pkg/registry/rest/update.go, BeforeUpdate.
std::vector<std::string> MetadataUpdateFaults(const api::Object& before, const api::Object& after,
                                              api::KubernetesLine line);

// Takes out of `faults` what was wrong before: it stays allowed.
void EraseOldFaults(const std::vector<std::string>& old_faults, std::vector<std::string>& faults);

// What is wrong with the keys and the size of annotations at `path`. Source: as above, ValidateAnnotations.
std::vector<std::string> AnnotationFaults(const api::StringMap& annotations, absl::string_view path,
                                          api::KubernetesLine line);

// What is wrong with those that Kubernetes reads of pods: the cost of deletion. Source: kubernetes v1.37,
// pkg/apis/core/validation/validation.go, ValidatePodSpecificAnnotations.
std::vector<std::string> PodAnnotationFaults(const api::StringMap& annotations, absl::string_view path);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_METADATA_VALIDATION_H_
