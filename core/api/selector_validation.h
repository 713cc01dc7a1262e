// What the parsers of label and node selectors refuse, and in which words.
#ifndef SCHEDSIM_CORE_API_SELECTOR_VALIDATION_H_
#define SCHEDSIM_CORE_API_SELECTOR_VALIDATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/field_errors.h"
#include "core/api/kubernetes_line.h"
#include "core/api/selectors.h"

namespace schedsim::api {

// The number that Gt and Lt compare: decimal digits, perhaps with a sign, and nothing around them.
// std::nullopt for all else, and for numbers of more than 64 bits. Source: Go, strconv.ParseInt.
std::optional<int64_t> ParseLabelNumber(absl::string_view text);

// Adds what is wrong with a requirement on one label at the field `path`: its key, the number of its values
// and each value. `operator_name` is In, NotIn, Exists, DoesNotExist, Gt, Lt, or = for a label that must be
// equal; the caller refuses all others.
// Source: apimachinery v0.37, pkg/labels/selector.go, NewRequirement.
void ValidateRequirement(absl::string_view path, absl::string_view key, absl::string_view operator_name,
                         const std::vector<std::string>& values, KubernetesLine line, FieldErrors& errors);

// The message with which a label selector fails; "": it is valid. The first requirement that is wrong counts,
// labels that must be equal first. Among several wrong ones of those the real parser names any; here, the
// first in order of keys.
// Source: apimachinery v0.37, pkg/apis/meta/v1/helpers.go, LabelSelectorAsSelector.
std::string LabelSelectorError(const LabelSelector& selector, KubernetesLine line);

// Adds what is wrong with the terms of a node selector at the field `path`, whose terms are its elements.
// Source: component-helpers v0.37, scheduling/corev1/nodeaffinity/nodeaffinity.go, NewNodeSelector.
void ValidateNodeSelectorTerms(absl::string_view path, const std::vector<NodeSelectorTerm>& terms,
                               KubernetesLine line, FieldErrors& errors);

// The message with which a node selector fails where no term matches; "": it is valid.
std::string NodeSelectorError(const NodeSelector& selector, KubernetesLine line);

// Adds what is wrong with preferred terms of node affinity at the field `path`. Terms of weight 0 are not
// read. Source: as above, NewPreferredSchedulingTerms.
void ValidatePreferredTerms(absl::string_view path, const std::vector<PreferredSchedulingTerm>& terms,
                            KubernetesLine line, FieldErrors& errors);

// The message with which preferred terms fail; "": they are valid.
std::string PreferredNodeTermsError(const std::vector<PreferredSchedulingTerm>& terms, KubernetesLine line);

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_SELECTOR_VALIDATION_H_
