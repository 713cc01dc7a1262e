// Label sets and selectors, compiled to interned symbols.
#ifndef SCHEDSIM_CORE_FRAMEWORK_SELECTOR_H_
#define SCHEDSIM_CORE_FRAMEWORK_SELECTOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/api/selectors.h"
#include "core/base/symbol.h"

namespace schedsim::framework {

// Labels by key, in order of the keys' symbols: for look-up only, not for output.
class LabelSet {
 public:
  LabelSet() = default;
  LabelSet(const api::StringMap& labels, SymbolTable& symbols);

  // The value of `key`, or nullptr.
  const Symbol* Find(Symbol key) const;
  const std::vector<std::pair<Symbol, Symbol>>& entries() const { return entries_; }

 private:
  std::vector<std::pair<Symbol, Symbol>> entries_;
};

// A test on one label.
class Requirement {
 public:
  // std::nullopt when the operator is unknown, or when api::ValidateRequirement finds fault with the rest.
  // Source: apimachinery v0.37, pkg/labels/selector.go, NewRequirement.
  static std::optional<Requirement> Make(absl::string_view key, absl::string_view operator_name,
                                         const std::vector<std::string>& values, SymbolTable& symbols);

  bool Matches(const LabelSet& labels, const SymbolTable& symbols) const;

  friend bool operator==(const Requirement&, const Requirement&) = default;

 private:
  enum class Operator : uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };

  Operator operator_ = Operator::kExists;
  Symbol key_;
  std::vector<Symbol> values_;
  int64_t number_ = 0;  // Of kGt and kLt.
};

// A label selector: all requirements must hold.
class LabelMatcher {
 public:
  // Matches nothing.
  LabelMatcher() = default;

  // std::nullopt in: matches nothing. An empty selector matches everything. std::nullopt out: invalid;
  // api::LabelSelectorError says why.
  static std::optional<LabelMatcher> Make(const std::optional<api::LabelSelector>& selector,
                                          SymbolTable& symbols);
  // Matches labels that have all of `labels`, which upstream does not validate here.
  static LabelMatcher Exactly(const api::StringMap& labels, SymbolTable& symbols);

  // Also asks for `key`=`value`.
  void Require(Symbol key, Symbol value);
  void Require(Requirement requirement) { requirements_.push_back(std::move(requirement)); }

  bool Matches(const LabelSet& labels, const SymbolTable& symbols) const;
  bool matches_nothing() const { return matches_nothing_; }
  // Whether there is no requirement at all, so that everything matches.
  bool empty() const { return !matches_nothing_ && equal_.empty() && requirements_.empty(); }
  // Adds the requirements of `other`; one that matches nothing has none.
  void RequireAllOf(const LabelMatcher& other);

  // The same requirements in the same order.
  friend bool operator==(const LabelMatcher&, const LabelMatcher&) = default;

 private:
  bool matches_nothing_ = true;
  std::vector<std::pair<Symbol, Symbol>> equal_;
  std::vector<Requirement> requirements_;
};

// One term of a node selector: labels and name.
class NodeSelectorTermMatcher {
 public:
  NodeSelectorTermMatcher(const api::NodeSelectorTerm& term, SymbolTable& symbols);

  // Whether the term has no requirement at all; it then matches nothing.
  bool empty() const { return empty_; }
  // Whether upstream would refuse the term; it then matches nothing.
  bool invalid() const { return invalid_; }
  bool Matches(const LabelSet& labels, Symbol node_name, const SymbolTable& symbols) const;

 private:
  struct NameRequirement {
    bool equal = true;
    Symbol name;
  };

  bool empty_ = false;
  bool invalid_ = false;
  std::vector<Requirement> labels_;
  std::vector<NameRequirement> names_;
};

// A node selector: one of the terms must match.
class NodeSelectorMatcher {
 public:
  NodeSelectorMatcher(const api::NodeSelector& selector, SymbolTable& symbols);

  // Whether upstream would refuse one of the terms. The others still match; only where none of them does,
  // upstream's match is an error.
  bool invalid() const;
  bool Matches(const LabelSet& labels, Symbol node_name, const SymbolTable& symbols) const;

 private:
  std::vector<NodeSelectorTermMatcher> terms_;
};

// What a pod asks of a node's labels and name: nodeSelector and required node affinity.
// Source: component-helpers v0.37, scheduling/corev1/nodeaffinity/nodeaffinity.go.
class RequiredNodeAffinity {
 public:
  RequiredNodeAffinity() = default;
  RequiredNodeAffinity(const api::PodSpec& spec, SymbolTable& symbols);

  // An error of upstream's counts as no match.
  bool Matches(const LabelSet& labels, Symbol node_name, const SymbolTable& symbols) const;
  // Whether upstream's match is an error for this node.
  bool FailsFor(const LabelSet& labels, Symbol node_name, const SymbolTable& symbols) const;

 private:
  bool MatchesNodeSelector(const LabelSet& labels, const SymbolTable& symbols) const;

  std::optional<LabelMatcher> node_selector_;
  std::optional<NodeSelectorMatcher> affinity_;
};

// Preferred terms with their weights; terms of weight 0 and empty ones are left out.
class PreferredNodeTerms {
 public:
  PreferredNodeTerms() = default;
  PreferredNodeTerms(const std::vector<api::PreferredSchedulingTerm>& terms, SymbolTable& symbols);

  // Whether upstream would refuse one of the terms; scoring then fails.
  bool invalid() const { return invalid_; }
  // The sum of the weights of the matching terms.
  int64_t Score(const LabelSet& labels, Symbol node_name, const SymbolTable& symbols) const;

 private:
  bool invalid_ = false;
  std::vector<std::pair<int64_t, NodeSelectorTermMatcher>> terms_;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_SELECTOR_H_
