#include "core/framework/selector.h"

#include <algorithm>
#include <iterator>

#include "core/api/field_errors.h"
#include "core/api/selector_validation.h"

namespace schedsim::framework {
namespace {

bool IsValid(absl::string_view key, absl::string_view operator_name, const std::vector<std::string>& values) {
  api::FieldErrors errors;
  // Lines differ in wording only.
  api::ValidateRequirement("", key, operator_name, values, api::kDefaultKubernetesLine, errors);
  return errors.empty();
}

}  // namespace

LabelSet::LabelSet(const api::StringMap& labels, SymbolTable& symbols) {
  entries_.reserve(labels.size());
  for (const auto& [key, value] : labels) entries_.emplace_back(symbols.Intern(key), symbols.Intern(value));
  std::sort(entries_.begin(), entries_.end(),
            [](const auto& a, const auto& b) { return a.first.id < b.first.id; });
}

const Symbol* LabelSet::Find(Symbol key) const {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), key,
                             [](const auto& entry, Symbol wanted) { return entry.first.id < wanted.id; });
  return at == entries_.end() || at->first != key ? nullptr : &at->second;
}

std::optional<Requirement> Requirement::Make(absl::string_view key, absl::string_view operator_name,
                                             const std::vector<std::string>& values, SymbolTable& symbols) {
  static constexpr std::pair<absl::string_view, Operator> kOperators[] = {
      {"In", Operator::kIn},         {"NotIn", Operator::kNotIn},
      {"Exists", Operator::kExists}, {"DoesNotExist", Operator::kDoesNotExist},
      {"Gt", Operator::kGt},         {"Lt", Operator::kLt}};
  const auto* known = std::find_if(std::begin(kOperators), std::end(kOperators),
                                   [&](const auto& entry) { return entry.first == operator_name; });
  if (known == std::end(kOperators) || !IsValid(key, operator_name, values)) return std::nullopt;
  Requirement requirement;
  requirement.operator_ = known->second;
  requirement.key_ = symbols.Intern(key);
  if (requirement.operator_ == Operator::kGt || requirement.operator_ == Operator::kLt) {
    requirement.number_ = *api::ParseLabelNumber(values[0]);
    return requirement;
  }
  for (const std::string& value : values) requirement.values_.push_back(symbols.Intern(value));
  return requirement;
}

bool Requirement::Matches(const LabelSet& labels, const SymbolTable& symbols) const {
  const Symbol* value = labels.Find(key_);
  switch (operator_) {
    case Operator::kIn:
      return value != nullptr && std::find(values_.begin(), values_.end(), *value) != values_.end();
    case Operator::kNotIn:
      return value == nullptr || std::find(values_.begin(), values_.end(), *value) == values_.end();
    case Operator::kExists:
      return value != nullptr;
    case Operator::kDoesNotExist:
      return value == nullptr;
    case Operator::kGt:
    case Operator::kLt:
      break;
  }
  if (value == nullptr) return false;
  const std::optional<int64_t> number = api::ParseLabelNumber(symbols.Text(*value));
  if (!number.has_value()) return false;
  return operator_ == Operator::kGt ? *number > number_ : *number < number_;
}

std::optional<LabelMatcher> LabelMatcher::Make(const std::optional<api::LabelSelector>& selector,
                                               SymbolTable& symbols) {
  LabelMatcher matcher;
  if (!selector.has_value()) return matcher;
  for (const auto& [key, value] : selector->match_labels) {
    if (!IsValid(key, "=", {value})) return std::nullopt;
  }
  matcher = Exactly(selector->match_labels, symbols);
  for (const api::LabelSelectorRequirement& expression : selector->match_expressions) {
    if (expression.operator_ == "Gt" || expression.operator_ == "Lt") return std::nullopt;
    std::optional<Requirement> requirement =
        Requirement::Make(expression.key, expression.operator_, expression.values, symbols);
    if (!requirement.has_value()) return std::nullopt;
    matcher.requirements_.push_back(*std::move(requirement));
  }
  return matcher;
}

LabelMatcher LabelMatcher::Exactly(const api::StringMap& labels, SymbolTable& symbols) {
  LabelMatcher matcher;
  matcher.matches_nothing_ = false;
  for (const auto& [key, value] : labels) matcher.Require(symbols.Intern(key), symbols.Intern(value));
  return matcher;
}

void LabelMatcher::Require(Symbol key, Symbol value) { equal_.emplace_back(key, value); }

void LabelMatcher::RequireAllOf(const LabelMatcher& other) {
  if (other.matches_nothing_) return;
  equal_.insert(equal_.end(), other.equal_.begin(), other.equal_.end());
  requirements_.insert(requirements_.end(), other.requirements_.begin(), other.requirements_.end());
}

bool LabelMatcher::Matches(const LabelSet& labels, const SymbolTable& symbols) const {
  if (matches_nothing_) return false;
  for (const auto& [key, value] : equal_) {
    const Symbol* found = labels.Find(key);
    if (found == nullptr || *found != value) return false;
  }
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const Requirement& requirement) { return requirement.Matches(labels, symbols); });
}

NodeSelectorTermMatcher::NodeSelectorTermMatcher(const api::NodeSelectorTerm& term, SymbolTable& symbols)
    : empty_(term.match_expressions.empty() && term.match_fields.empty()) {
  for (const api::NodeSelectorRequirement& expression : term.match_expressions) {
    std::optional<Requirement> requirement =
        Requirement::Make(expression.key, expression.operator_, expression.values, symbols);
    if (requirement.has_value()) {
      labels_.push_back(*std::move(requirement));
    } else {
      invalid_ = true;
    }
  }
  for (const api::NodeSelectorRequirement& field : term.match_fields) {
    const bool known_operator = field.operator_ == "In" || field.operator_ == "NotIn";
    if (field.values.size() != 1 || !known_operator) {
      invalid_ = true;
      continue;
    }
    const bool equal = field.operator_ == "In";
    if (field.key == "metadata.name") {
      names_.push_back({.equal = equal, .name = symbols.Intern(field.values[0])});
    } else if (equal != field.values[0].empty()) {
      // Upstream reads every other field as "": this requirement never holds.
      names_.push_back({.equal = true, .name = Symbol{SymbolTable::kUnknown}});
    }
  }
}

bool NodeSelectorTermMatcher::Matches(const LabelSet& labels, Symbol node_name,
                                      const SymbolTable& symbols) const {
  if (empty_ || invalid_) return false;
  for (const NameRequirement& requirement : names_) {
    if ((requirement.name == node_name) != requirement.equal) return false;
  }
  return std::all_of(labels_.begin(), labels_.end(),
                     [&](const Requirement& requirement) { return requirement.Matches(labels, symbols); });
}

NodeSelectorMatcher::NodeSelectorMatcher(const api::NodeSelector& selector, SymbolTable& symbols) {
  for (const api::NodeSelectorTerm& term : selector.node_selector_terms) terms_.emplace_back(term, symbols);
}

bool NodeSelectorMatcher::invalid() const {
  return std::any_of(terms_.begin(), terms_.end(),
                     [](const NodeSelectorTermMatcher& term) { return term.invalid(); });
}

bool NodeSelectorMatcher::Matches(const LabelSet& labels, Symbol node_name,
                                  const SymbolTable& symbols) const {
  return std::any_of(terms_.begin(), terms_.end(), [&](const NodeSelectorTermMatcher& term) {
    return term.Matches(labels, node_name, symbols);
  });
}

RequiredNodeAffinity::RequiredNodeAffinity(const api::PodSpec& spec, SymbolTable& symbols) {
  if (spec.node_selector.has_value() && !spec.node_selector->empty()) {
    node_selector_ = LabelMatcher::Exactly(*spec.node_selector, symbols);
  }
  if (!spec.affinity.has_value() || !spec.affinity->node_affinity.has_value()) return;
  const auto& required = spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  if (required.has_value()) affinity_.emplace(*required, symbols);
}

bool RequiredNodeAffinity::MatchesNodeSelector(const LabelSet& labels, const SymbolTable& symbols) const {
  return !node_selector_.has_value() || node_selector_->Matches(labels, symbols);
}

bool RequiredNodeAffinity::Matches(const LabelSet& labels, Symbol node_name,
                                   const SymbolTable& symbols) const {
  if (!MatchesNodeSelector(labels, symbols)) return false;
  return !affinity_.has_value() || affinity_->Matches(labels, node_name, symbols);
}

bool RequiredNodeAffinity::FailsFor(const LabelSet& labels, Symbol node_name,
                                    const SymbolTable& symbols) const {
  return affinity_.has_value() && affinity_->invalid() && MatchesNodeSelector(labels, symbols) &&
         !affinity_->Matches(labels, node_name, symbols);
}

PreferredNodeTerms::PreferredNodeTerms(const std::vector<api::PreferredSchedulingTerm>& terms,
                                       SymbolTable& symbols) {
  for (const api::PreferredSchedulingTerm& term : terms) {
    NodeSelectorTermMatcher matcher(term.preference, symbols);
    if (term.weight == 0 || matcher.empty()) continue;
    invalid_ = invalid_ || matcher.invalid();
    terms_.emplace_back(term.weight, std::move(matcher));
  }
}

int64_t PreferredNodeTerms::Score(const LabelSet& labels, Symbol node_name,
                                  const SymbolTable& symbols) const {
  int64_t score = 0;
  for (const auto& [weight, term] : terms_) {
    if (term.Matches(labels, node_name, symbols)) score += weight;
  }
  return score;
}

}  // namespace schedsim::framework
