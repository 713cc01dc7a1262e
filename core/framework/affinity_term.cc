#include "core/framework/affinity_term.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace schedsim::framework {
namespace {

// Returns what is wrong with the term's selectors, or "".
std::string Compile(const api::PodAffinityTerm& term, int32_t weight, SymbolTable& symbols,
                    std::vector<AffinityTerm>& terms) {
  AffinityTerm compiled;
  for (auto [selector, matcher] : {std::pair(&term.label_selector, &compiled.selector),
                                   std::pair(&term.namespace_selector, &compiled.namespace_selector)}) {
    std::optional<LabelMatcher> made = LabelMatcher::Make(*selector, symbols);
    if (!made.has_value()) return LabelSelectorError(**selector);
    *matcher = *std::move(made);
  }
  compiled.topology_key = symbols.Intern(term.topology_key);
  compiled.own_namespace = term.namespaces.empty() && !term.namespace_selector.has_value();
  for (const std::string& name : term.namespaces) compiled.namespaces.push_back(symbols.Intern(name));
  compiled.weight = weight;
  terms.push_back(std::move(compiled));
  return "";
}

std::string Compile(const std::vector<api::PodAffinityTerm>& from, SymbolTable& symbols,
                    std::vector<AffinityTerm>& terms) {
  for (const api::PodAffinityTerm& term : from) {
    std::string error = Compile(term, 0, symbols, terms);
    if (error.empty()) continue;
    terms.clear();
    return error;
  }
  return "";
}

std::string Compile(const std::vector<api::WeightedPodAffinityTerm>& from, SymbolTable& symbols,
                    std::vector<AffinityTerm>& terms) {
  for (const api::WeightedPodAffinityTerm& term : from) {
    std::string error = Compile(term.pod_affinity_term, term.weight, symbols, terms);
    if (error.empty()) continue;
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

PodAffinityTerms::PodAffinityTerms(const api::PodSpec& spec, SymbolTable& symbols) {
  if (!spec.affinity.has_value()) return;
  const auto& with = spec.affinity->pod_affinity;
  const auto& against = spec.affinity->pod_anti_affinity;
  present = with.has_value() || against.has_value();
  const api::PodAffinity affinity = with.value_or(api::PodAffinity());
  const api::PodAffinity anti_affinity = against.value_or(api::PodAffinity());

  std::vector<std::string> errors;
  auto note = [&errors](absl::string_view list, const std::string& problem) {
    if (!problem.empty()) errors.push_back(absl::StrCat(list, ": ", problem));
  };
  note("requiredAffinityTerms",
       Compile(affinity.required_during_scheduling_ignored_during_execution, symbols, required_affinity));
  note("requiredAntiAffinityTerms", Compile(anti_affinity.required_during_scheduling_ignored_during_execution,
                                            symbols, required_anti_affinity));
  required_is_invalid = !errors.empty();
  note("preferredAffinityTerms",
       Compile(affinity.preferred_during_scheduling_ignored_during_execution, symbols, preferred_affinity));
  note("preferredAntiAffinityTerms",
       Compile(anti_affinity.preferred_during_scheduling_ignored_during_execution, symbols,
               preferred_anti_affinity));
  if (errors.empty()) return;
  error = errors.size() == 1 ? errors[0] : absl::StrCat("[", absl::StrJoin(errors, ", "), "]");
}

}  // namespace schedsim::framework
