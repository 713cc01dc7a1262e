// The syntax of label keys and values.
#ifndef SCHEDSIM_CORE_API_LABEL_NAME_H_
#define SCHEDSIM_CORE_API_LABEL_NAME_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/kubernetes_line.h"

namespace schedsim::api {

// What is wrong with a label key, which is also the form of resource names; empty: nothing. 1.34 has other
// words for it.
// Source: apimachinery v0.37, pkg/api/validate/content/kube.go, IsLabelKey.
std::vector<std::string> LabelKeyErrors(absl::string_view key, KubernetesLine line = kDefaultKubernetesLine);

// What is wrong with a label value; empty: nothing.
std::vector<std::string> LabelValueErrors(absl::string_view value,
                                          KubernetesLine line = kDefaultKubernetesLine);

// Whether `name` is a resource name with a domain outside of kubernetes.io.
// Source: kubernetes v1.37, pkg/apis/core/v1/helper/helpers.go, IsExtendedResourceName.
bool IsExtendedResourceName(absl::string_view name);

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_LABEL_NAME_H_
