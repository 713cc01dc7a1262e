#include "core/framework/selector.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace schedsim::framework {

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
  Requirement requirement;
  requirement.key_ = symbols.Intern(key);
  if (operator_name == "In" || operator_name == "NotIn") {
    if (values.empty()) return std::nullopt;
    requirement.operator_ = operator_name == "In" ? Operator::kIn : Operator::kNotIn;
    for (const std::string& value : values) requirement.values_.push_back(symbols.Intern(value));
    return requirement;
  }
  if (operator_name == "Exists" || operator_name == "DoesNotExist") {
    if (!values.empty()) return std::nullopt;
    requirement.operator_ = operator_name == "Exists" ? Operator::kExists : Operator::kDoesNotExist;
    return requirement;
  }
  if (operator_name == "Gt" || operator_name == "Lt") {
    if (values.size() != 1 || !absl::SimpleAtoi(values[0], &requirement.number_)) return std::nullopt;
    requirement.operator_ = operator_name == "Gt" ? Operator::kGt : Operator::kLt;
    return requirement;
  }
  return std::nullopt;
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
  int64_t number = 0;
  if (value == nullptr || !absl::SimpleAtoi(symbols.Text(*value), &number)) return false;
  return operator_ == Operator::kGt ? number > number_ : number < number_;
}

std::optional<LabelMatcher> LabelMatcher::Make(const std::optional<api::LabelSelector>& selector,
                                               SymbolTable& symbols) {
  LabelMatcher matcher;
  if (!selector.has_value()) return matcher;
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

std::string LabelSelectorError(const api::LabelSelector& selector) {
  for (const api::LabelSelectorRequirement& expression : selector.match_expressions) {
    const std::string& name = expression.operator_;
    if (name == "In" || name == "NotIn") {
      if (!expression.values.empty()) continue;
      return "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty";
    }
    if (name != "Exists" && name != "DoesNotExist") {
      return absl::StrCat("\"", name, "\" is not a valid label selector operator");
    }
    if (expression.values.empty()) continue;
    return absl::StrCat("values: Invalid value: [\"", absl::StrJoin(expression.values, "\",\""),
                        "\"]: values set must be empty for exists and does not exist");
  }
  return "";
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
    if (field.key != "metadata.name") {
      // Upstream reads every other field as absent: In fails and NotIn holds.
      if (field.operator_ == "In") names_.push_back({.equal = true, .name = Symbol{SymbolTable::kUnknown}});
      continue;
    }
    names_.push_back({.equal = field.operator_ == "In", .name = symbols.Intern(field.values[0])});
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

bool RequiredNodeAffinity::Matches(const LabelSet& labels, Symbol node_name,
                                   const SymbolTable& symbols) const {
  if (node_selector_.has_value() && !node_selector_->Matches(labels, symbols)) return false;
  return !affinity_.has_value() || affinity_->Matches(labels, node_name, symbols);
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
