#include "core/framework/selector.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/api/pod.h"
#include "core/base/symbol.h"

namespace schedsim::framework {
namespace {

api::StringMap Labels(std::vector<std::pair<std::string, std::string>> entries) {
  api::StringMap labels;
  for (const auto& [key, value] : entries) labels.Set(key, value);
  return labels;
}

api::NodeSelectorTerm Expression(std::string key, std::string operator_name,
                                 std::vector<std::string> values) {
  api::NodeSelectorTerm term;
  term.match_expressions = {
      {.key = std::move(key), .operator_ = std::move(operator_name), .values = std::move(values)}};
  return term;
}

class SelectorTest : public testing::Test {
 protected:
  LabelSet Set(std::vector<std::pair<std::string, std::string>> entries) {
    return LabelSet(Labels(std::move(entries)), symbols_);
  }
  bool MatchesField(const std::string& key, const std::string& operator_name, const std::string& value) {
    api::NodeSelectorTerm term;
    term.match_fields = {{.key = key, .operator_ = operator_name, .values = {value}}};
    return NodeSelectorTermMatcher(term, symbols_).Matches(LabelSet(), node_, symbols_);
  }

  SymbolTable symbols_;
  const Symbol node_ = symbols_.Intern("n");
};

TEST_F(SelectorTest, ComparesLabelsThatAreNumbersAndNoOthers) {
  const auto above = Requirement::Make("k", "Gt", {"5"}, symbols_);
  ASSERT_TRUE(above.has_value());
  EXPECT_TRUE(above->Matches(Set({{"k", "+6"}}), symbols_));
  EXPECT_FALSE(above->Matches(Set({{"k", "5"}}), symbols_));
  EXPECT_FALSE(above->Matches(Set({{"k", " 6"}}), symbols_)) << "blanks around a number";
  EXPECT_FALSE(above->Matches(Set({{"k", "6.5"}}), symbols_));
  EXPECT_FALSE(above->Matches(Set({}), symbols_));
}

TEST_F(SelectorTest, RefusesWhatTheRealParserRefuses) {
  EXPECT_FALSE(Requirement::Make("k", "Gt", {"-5"}, symbols_).has_value()) << "no label value";
  EXPECT_FALSE(Requirement::Make("k", "=", {"v"}, symbols_).has_value());
  EXPECT_FALSE(Requirement::Make("bad key", "Exists", {}, symbols_).has_value());
  EXPECT_FALSE(
      LabelMatcher::Make(
          api::LabelSelector{.match_labels = Labels({{"k", "bad value"}}), .match_expressions = {}}, symbols_)
          .has_value());
  EXPECT_TRUE(LabelMatcher::Exactly(Labels({{"k", "bad value"}}), symbols_)
                  .Matches(Set({{"k", "bad value"}}), symbols_))
      << "nodeSelector and services are not validated";
}

TEST_F(SelectorTest, ReadsFieldsOtherThanTheNameAsEmpty) {
  EXPECT_TRUE(MatchesField("metadata.name", "In", "n"));
  EXPECT_FALSE(MatchesField("metadata.name", "NotIn", "n"));
  EXPECT_FALSE(MatchesField("spec.x", "In", "n"));
  EXPECT_TRUE(MatchesField("spec.x", "NotIn", "n"));
  EXPECT_TRUE(MatchesField("spec.x", "In", ""));
  EXPECT_FALSE(MatchesField("spec.x", "NotIn", ""));
}

TEST_F(SelectorTest, FailsForANodeThatNoTermMatchesWhereOneIsInvalid) {
  api::PodSpec spec;
  spec.node_selector = Labels({{"zone", "a"}});
  spec.affinity.emplace();
  spec.affinity->node_affinity.emplace();
  auto& required = spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  required.emplace();
  required->node_selector_terms = {Expression("k", "Gt", {"1.5"}), Expression("x", "Exists", {})};
  const RequiredNodeAffinity affinity(spec, symbols_);

  const LabelSet matching = Set({{"zone", "a"}, {"x", "y"}});
  EXPECT_TRUE(affinity.Matches(matching, node_, symbols_));
  EXPECT_FALSE(affinity.FailsFor(matching, node_, symbols_));
  EXPECT_TRUE(affinity.FailsFor(Set({{"zone", "a"}}), node_, symbols_));
  EXPECT_FALSE(affinity.FailsFor(Set({{"zone", "b"}}), node_, symbols_)) << "nodeSelector is looked at first";
}

}  // namespace
}  // namespace schedsim::framework
