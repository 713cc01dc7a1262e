#include "core/framework/affinity_term.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/selector_validation.h"

namespace schedsim::framework {
namespace {

// Returns what is wrong with the term's selectors, or "".
std::string Compile(const api::PodAffinityTerm& term, int32_t weight, api::KubernetesLine line,
                    SymbolTable& symbols, std::vector<AffinityTerm>& terms) {
  AffinityTerm compiled;
  for (auto [selector, matcher] : {std::pair(&term.label_selector, &compiled.selector),
                                   std::pair(&term.namespace_selector, &compiled.namespace_selector)}) {
    std::optional<LabelMatcher> made = LabelMatcher::Make(*selector, symbols);
    if (!made.has_value()) return api::LabelSelectorError(**selector, line);
    *matcher = *std::move(made);
  }
  compiled.topology_key = symbols.Intern(term.topology_key);
  compiled.own_namespace = term.namespaces.empty() && !term.namespace_selector.has_value();
  for (const std::string& name : term.namespaces) compiled.namespaces.push_back(symbols.Intern(name));
  compiled.weight = weight;
  terms.push_back(std::move(compiled));
  return "";
}

const api::PodAffinityTerm& TermOf(const api::PodAffinityTerm& term) { return term; }
const api::PodAffinityTerm& TermOf(const api::WeightedPodAffinityTerm& term) {
  return term.pod_affinity_term;
}
int32_t WeightOf(const api::PodAffinityTerm&) { return 0; }
int32_t WeightOf(const api::WeightedPodAffinityTerm& term) { return term.weight; }

// Compiles a list of required or preferred terms. Returns what is wrong with the first bad one, or "".
template <typename Term>
std::string Compile(const std::vector<Term>& from, api::KubernetesLine line, SymbolTable& symbols,
                    std::vector<AffinityTerm>& terms) {
  for (const Term& term : from) {
    std::string error = Compile(TermOf(term), WeightOf(term), line, symbols, terms);
    if (error.empty()) continue;
    // One bad term takes the good ones of its list with it: upstream returns no list at all.
    terms.clear();
    return error;
  }
  return "";
}

}  // namespace

bool AffinityTerm::ListsNamespace(Symbol owner, Symbol other) const {
  if (own_namespace) return owner == other;
  return std::find(namespaces.begin(), namespaces.end(), other) != namespaces.end();
}

PodAffinityTerms::PodAffinityTerms(const api::PodSpec& spec, api::KubernetesLine line, SymbolTable& symbols) {
  if (!spec.affinity.has_value()) return;
  const auto& with = spec.affinity->pod_affinity;
  const auto& against = spec.affinity->pod_anti_affinity;
  present = with.has_value() || against.has_value();
  static const auto* const kNone = new api::PodAffinity();
  const api::PodAffinity& affinity = with.has_value() ? *with : *kNone;
  const api::PodAffinity& anti_affinity = against.has_value() ? *against : *kNone;

  std::vector<std::string> errors;
  const auto compile = [&](absl::string_view name, const auto& from, std::vector<AffinityTerm>& terms) {
    const std::string problem = Compile(from, line, symbols, terms);
    if (!problem.empty()) errors.push_back(absl::StrCat(name, ": ", problem));
    return problem.empty();
  };
  compile("requiredAffinityTerms", affinity.required_during_scheduling_ignored_during_execution,
          required_affinity);
  required_anti_affinity_is_invalid =
      !compile("requiredAntiAffinityTerms", anti_affinity.required_during_scheduling_ignored_during_execution,
               required_anti_affinity);
  required_is_invalid = !errors.empty();
  compile("preferredAffinityTerms", affinity.preferred_during_scheduling_ignored_during_execution,
          preferred_affinity);
  compile("preferredAntiAffinityTerms", anti_affinity.preferred_during_scheduling_ignored_during_execution,
          preferred_anti_affinity);
  if (errors.empty()) return;
  error = errors.size() == 1 ? errors[0] : absl::StrCat("[", absl::StrJoin(errors, ", "), "]");
}

}  // namespace schedsim::framework
