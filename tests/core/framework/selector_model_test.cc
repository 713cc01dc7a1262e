// Label and node selectors against a matcher that reads the API's fields one by one, over random labels.
#include "core/framework/selector.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/kubernetes_line.h"
#include "core/api/selector_validation.h"
#include "core/base/rng.h"
#include "gtest/gtest.h"
#include "tests/random_seeds.h"

namespace schedsim::framework {
namespace {

constexpr uint64_t kSeedCount = 10;
constexpr int kCaseCount = 4000;

using Values = std::vector<std::string>;

// Source: apimachinery v0.37, pkg/labels/selector.go, NewRequirement.
bool IsValid(const std::string& operator_name, const Values& values, bool may_compare) {
  if (operator_name == "In" || operator_name == "NotIn") return !values.empty();
  if (operator_name == "Exists" || operator_name == "DoesNotExist") return values.empty();
  const bool compares = operator_name == "Gt" || operator_name == "Lt";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return compares && may_compare && values.size() == 1 && !values[0].empty() &&
         std::all_of(values[0].begin(), values[0].end(), is_digit);
}

bool Holds(const std::string& operator_name, const Values& values, const std::string* label) {
  const bool listed = label != nullptr && std::find(values.begin(), values.end(), *label) != values.end();
  if (operator_name == "In") return listed;
  if (operator_name == "NotIn") return !listed;
  if (operator_name == "Exists") return label != nullptr;
  if (operator_name == "DoesNotExist") return label == nullptr;
  int64_t number = 0;
  int64_t bound = 0;
  const bool compares = label != nullptr && absl::SimpleAtoi(*label, &number);
  if (!compares || !absl::SimpleAtoi(values[0], &bound)) return false;
  return operator_name == "Gt" ? number > bound : number < bound;
}

class SelectorModelTest : public testing::TestWithParam<uint64_t> {
 protected:
  int64_t Below(int64_t bound) { return rng_.Below(bound); }
  std::string Key() { return absl::StrCat("k", Below(4)); }
  std::string Value() { return Below(2) == 0 ? absl::StrCat(Below(12)) : absl::StrCat("v", Below(3)); }
  std::string Operator() {
    static constexpr const char* kOperators[] = {"In", "NotIn", "Exists", "DoesNotExist",
                                                 "Gt", "Lt",    "in",     ""};
    // The last two are none.
    return kOperators[Below(Below(10) == 0 ? 8 : 6)];
  }
  // Mostly as many as go with the operator.
  Values ValuesFor(const std::string& operator_name) {
    int64_t count = Below(3);
    if (Below(6) > 0) {
      if (operator_name == "In" || operator_name == "NotIn") count = 1 + Below(3);
      if (operator_name == "Exists" || operator_name == "DoesNotExist") count = 0;
      if (operator_name == "Gt" || operator_name == "Lt") count = 1;
    }
    Values values;
    const bool compares = operator_name == "Gt" || operator_name == "Lt";
    for (; count > 0; --count) {
      values.push_back(compares && Below(8) > 0 ? absl::StrCat(Below(12)) : Value());
    }
    return values;
  }
  api::StringMap Labels() {
    api::StringMap labels;
    for (int64_t i = Below(5); i > 0; --i) labels.Set(Key(), Value());
    return labels;
  }
  api::NodeSelectorTerm Term() {
    api::NodeSelectorTerm term;
    for (int64_t i = Below(3); i > 0; --i) {
      const std::string operator_name = Operator();
      term.match_expressions.push_back(
          {.key = Key(), .operator_ = operator_name, .values = ValuesFor(operator_name)});
    }
    if (Below(3) == 0) {
      api::NodeSelectorRequirement field = {.key = "metadata.name", .operator_ = "In", .values = {Node()}};
      if (Below(3) == 0) field.operator_ = Operator();
      if (Below(6) == 0) field.values.push_back(Node());
      term.match_fields.push_back(field);
    }
    return term;
  }
  std::string Node() { return absl::StrCat("n", Below(3)); }

  // Source: component-helpers v0.37, scheduling/corev1/nodeaffinity/nodeaffinity.go.
  static bool TermIsValid(const api::NodeSelectorTerm& term) {
    for (const auto& expression : term.match_expressions) {
      if (!IsValid(expression.operator_, expression.values, /*may_compare=*/true)) return false;
    }
    for (const auto& field : term.match_fields) {
      const bool known = field.operator_ == "In" || field.operator_ == "NotIn";
      if (!known || field.values.size() != 1) return false;
    }
    return true;
  }
  static bool TermMatches(const api::NodeSelectorTerm& term, const api::StringMap& labels,
                          const std::string& node) {
    if (term.match_expressions.empty() && term.match_fields.empty()) return false;
    if (!TermIsValid(term)) return false;
    for (const auto& expression : term.match_expressions) {
      if (!Holds(expression.operator_, expression.values, labels.Find(expression.key))) return false;
    }
    return std::all_of(term.match_fields.begin(), term.match_fields.end(),
                       [&node](const auto& field) { return Holds(field.operator_, field.values, &node); });
  }

  static std::string Describe(const api::StringMap& labels) {
    return absl::StrCat("{", absl::StrJoin(labels, ",", absl::PairFormatter("=")), "}");
  }
  template <typename Requirements>
  static std::string DescribeAll(const Requirements& requirements) {
    std::string text;
    for (const auto& requirement : requirements) {
      absl::StrAppend(&text, " ", requirement.key, " ", requirement.operator_, " (",
                      absl::StrJoin(requirement.values, ","), ")");
    }
    return text;
  }

  Rng rng_{GetParam()};
  SymbolTable symbols_;
};

TEST_P(SelectorModelTest, LabelSelectorsMatchAsTheNaiveMatcherSays) {
  SCOPED_TRACE(RepeatCommand(GetParam(), "*SelectorModelTest*"));
  for (int i = 0; i < kCaseCount && !HasFailure(); ++i) {
    std::optional<api::LabelSelector> selector;
    if (Below(20) > 0) selector.emplace();
    bool valid = true;
    if (selector.has_value()) {
      for (int64_t k = Below(3); k > 0; --k) selector->match_labels.Set(Key(), Value());
      for (int64_t k = Below(3); k > 0; --k) {
        const std::string operator_name = Operator();
        selector->match_expressions.push_back(
            {.key = Key(), .operator_ = operator_name, .values = ValuesFor(operator_name)});
        valid = valid && IsValid(operator_name, selector->match_expressions.back().values,
                                 /*may_compare=*/false);
      }
    }
    const std::optional<LabelMatcher> matcher = LabelMatcher::Make(selector, symbols_);
    const std::string what = selector.has_value() ? absl::StrCat(Describe(selector->match_labels),
                                                                 DescribeAll(selector->match_expressions))
                                                  : "no selector";
    ASSERT_EQ(matcher.has_value(), valid) << what;
    if (!valid) {
      EXPECT_NE(api::LabelSelectorError(*selector, api::kDefaultKubernetesLine), "") << what;
      continue;
    }
    for (int k = 0; k < 4; ++k) {
      const api::StringMap labels = Labels();
      bool expected = selector.has_value();
      if (selector.has_value()) {
        for (const auto& [key, value] : selector->match_labels) {
          expected = expected && Holds("In", {value}, labels.Find(key));
        }
        for (const auto& expression : selector->match_expressions) {
          expected = expected && Holds(expression.operator_, expression.values, labels.Find(expression.key));
        }
      }
      EXPECT_EQ(matcher->Matches(LabelSet(labels, symbols_), symbols_), expected)
          << what << " on " << Describe(labels);
    }
  }
}

TEST_P(SelectorModelTest, NodeSelectorsMatchAsTheNaiveMatcherSays) {
  SCOPED_TRACE(RepeatCommand(GetParam(), "*SelectorModelTest*"));
  for (int i = 0; i < kCaseCount && !HasFailure(); ++i) {
    api::NodeSelector selector;
    for (int64_t k = Below(4); k > 0; --k) selector.node_selector_terms.push_back(Term());
    const NodeSelectorMatcher matcher(selector, symbols_);
    for (int k = 0; k < 4; ++k) {
      const api::StringMap labels = Labels();
      const std::string node = Node();
      std::string what = absl::StrCat(" on ", node, " with ", Describe(labels));
      bool expected = false;
      for (const api::NodeSelectorTerm& term : selector.node_selector_terms) {
        expected = expected || TermMatches(term, labels, node);
        what = absl::StrCat("[", DescribeAll(term.match_expressions), " | ", DescribeAll(term.match_fields),
                            "]", what);
      }
      EXPECT_EQ(matcher.Matches(LabelSet(labels, symbols_), symbols_.Intern(node), symbols_), expected)
          << what;
    }
  }
}

TEST_P(SelectorModelTest, PreferredTermsAddUpAsTheNaiveMatcherSays) {
  SCOPED_TRACE(RepeatCommand(GetParam(), "*SelectorModelTest*"));
  for (int i = 0; i < kCaseCount && !HasFailure(); ++i) {
    std::vector<api::PreferredSchedulingTerm> terms;
    bool invalid = false;
    for (int64_t k = Below(4); k > 0; --k) {
      terms.push_back({.weight = static_cast<int32_t>(Below(5)), .preference = Term()});
      const api::NodeSelectorTerm& term = terms.back().preference;
      const bool counts =
          terms.back().weight > 0 && (!term.match_expressions.empty() || !term.match_fields.empty());
      invalid = invalid || (counts && !TermIsValid(term));
    }
    const PreferredNodeTerms preferred(terms, symbols_);
    ASSERT_EQ(preferred.invalid(), invalid);
    if (invalid) continue;
    const api::StringMap labels = Labels();
    const std::string node = Node();
    int64_t expected = 0;
    for (const api::PreferredSchedulingTerm& term : terms) {
      if (TermMatches(term.preference, labels, node)) expected += term.weight;
    }
    EXPECT_EQ(preferred.Score(LabelSet(labels, symbols_), symbols_.Intern(node), symbols_), expected)
        << "on " << node << " with " << Describe(labels);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SelectorModelTest, testing::ValuesIn(SeedsToRun(kSeedCount)),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace schedsim::framework
