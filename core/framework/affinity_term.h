// Pod affinity terms, compiled to interned symbols.
#ifndef SCHEDSIM_CORE_FRAMEWORK_AFFINITY_TERM_H_
#define SCHEDSIM_CORE_FRAMEWORK_AFFINITY_TERM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/api/kubernetes_line.h"
#include "core/api/pod.h"
#include "core/api/selectors.h"
#include "core/base/symbol.h"
#include "core/framework/selector.h"

namespace schedsim::framework {

// One term of pod affinity or anti-affinity: the pods that it means, and where it counts them.
// Source: kube-scheduler v0.37, framework/types.go, AffinityTerm.
struct AffinityTerm {
  Symbol topology_key;
  LabelMatcher selector;
  // As listed in the term.
  std::vector<Symbol> namespaces;
  // Neither namespaces nor a selector of namespaces is given: the namespace of the term's pod counts.
  bool own_namespace = false;
  // Matches nothing where the term has none.
  LabelMatcher namespace_selector;
  // 1 to 100 for preferred terms, positive in anti-affinity, too; 0 for required terms.
  int32_t weight = 0;

  // Whether the term of a pod in `owner` lists the namespace `other`, its selector aside.
  bool ListsNamespace(Symbol owner, Symbol other) const;
};

// The terms of one pod spec. A list with an invalid selector is empty.
struct PodAffinityTerms {
  PodAffinityTerms() = default;
  // `line`: whose words `error` has.
  PodAffinityTerms(const api::PodSpec& spec, api::KubernetesLine line, SymbolTable& symbols);

  // Whether the spec has pod affinity or anti-affinity at all, even without terms.
  bool present = false;
  std::vector<AffinityTerm> required_affinity;
  std::vector<AffinityTerm> required_anti_affinity;
  std::vector<AffinityTerm> preferred_affinity;
  std::vector<AffinityTerm> preferred_anti_affinity;
  // Whether one of the required lists is invalid.
  bool required_is_invalid = false;
  bool required_anti_affinity_is_invalid = false;
  // Which lists are invalid and why, in upstream's words; "" where none is.
  std::string error;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_AFFINITY_TERM_H_
