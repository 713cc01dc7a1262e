#include "core/api/selector_validation.h"
#include "core/api/label_name.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace schedsim::api {
namespace {

constexpr KubernetesLine kLine = KubernetesLine::k1_37;

StringMap Label(absl::string_view key, absl::string_view value) {
  StringMap labels;
  labels.Set(key, value);
  return labels;
}

LabelSelector Expression(std::string key, std::string operator_name, std::vector<std::string> values) {
  return {.match_labels = {},
          .match_expressions = {
              {.key = std::move(key), .operator_ = std::move(operator_name), .values = std::move(values)}}};
}

TEST(ParseLabelNumberTest, ReadsWhatGoReads) {
  EXPECT_EQ(ParseLabelNumber("0"), 0);
  EXPECT_EQ(ParseLabelNumber("+007"), 7);
  EXPECT_EQ(ParseLabelNumber("-1"), -1);
  EXPECT_EQ(ParseLabelNumber("9223372036854775807"), std::numeric_limits<int64_t>::max());
  for (const char* text : {"", "+", "-", " 5", "5 ", "1_0", "0x10", "1.5", "9223372036854775808", "--1"}) {
    EXPECT_EQ(ParseLabelNumber(text), std::nullopt) << text;
  }
}

struct SelectorRow {
  const char* name;
  LabelSelector selector;
  std::string want;  // The end of the message; "": there is none.
};

// A text that points nowhere splits into no parts.
TEST(LabelKeyErrorsTest, ATextThatPointsNowhereIsEmpty) {
  EXPECT_EQ(LabelKeyErrors(absl::string_view(), KubernetesLine::k1_37),
            LabelKeyErrors("", KubernetesLine::k1_37));
}

TEST(LabelSelectorErrorTest, SaysWhatTheRealParserSays) {
  const std::string too_long(64, 'a');
  const std::string name_rule =
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
      "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
      "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  const SelectorRow rows[] = {
      {"empty", {}, ""},
      {"valid", Expression("example.com/k", "In", {"", "v", "V-1_2.3"}), ""},
      {"no value", Expression("k", "In", {}),
       "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"},
      {"a value too many", Expression("k", "Exists", {"v"}),
       "values: Invalid value: [\"v\"]: values set must be empty for exists and does not exist"},
      {"unknown operator", Expression("k", "Gt", {"5"}), "\"Gt\" is not a valid label selector operator"},
      {"bad key", Expression("bad key", "Exists", {}),
       "key: Invalid value: \"bad key\": name part " + name_rule},
      {"value too long", Expression("k", "NotIn", {"v", too_long}),
       "values[1][k]: Invalid value: \"" + too_long + "\": must be no more than 63 bytes"},
      {"label with a bad key",
       {.match_labels = Label("bad key", "v"), .match_expressions = {}},
       "key: Invalid value: \"bad key\": name part " + name_rule},
      {"the first bad one counts",
       {.match_labels = Label("k", "v"),
        .match_expressions = {{.key = "k", .operator_ = "In", .values = {}},
                              {.key = "k", .operator_ = "Foo", .values = {}}}},
       "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"},
  };
  for (const SelectorRow& row : rows)
    EXPECT_EQ(LabelSelectorError(row.selector, kLine), row.want) << row.name;
}

TEST(LabelSelectorErrorTest, JoinsTheFaultsOfOneRequirement) {
  const std::string text = LabelSelectorError(Expression("/", "In", {}), kLine);
  EXPECT_EQ(text.front(), '[');
  EXPECT_NE(text.find("prefix part must be non-empty; name part must be non-empty; name part must consist"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(", values: Invalid value: null: "), std::string::npos) << text;
}

TEST(LabelSelectorErrorTest, WritesValuesAsJsonWithGosEscapes) {
  const std::string text = LabelSelectorError(Expression("k", "Exists", {"<v>&\"\\"}), kLine);
  EXPECT_NE(
      text.find("values: Invalid value: [\"\\u003cv\\u003e\\u0026\\\"\\\\\"]: values set must be empty"),
      std::string::npos)
      << text;
}

TEST(LabelSelectorErrorTest, NamesTheFormOfKeysAsTheLineDoes) {
  const LabelSelector selector = Expression("a/b/c", "Exists", {});
  EXPECT_NE(LabelSelectorError(selector, KubernetesLine::k1_34).find("a qualified name must"),
            std::string::npos);
  EXPECT_NE(LabelSelectorError(selector, KubernetesLine::k1_35).find("a valid label key must"),
            std::string::npos);
}

TEST(NodeSelectorErrorTest, CollectsTheFaultsOfAllTerms) {
  NodeSelector selector;
  selector.node_selector_terms.resize(3);
  selector.node_selector_terms[0].match_expressions = {{.key = "k", .operator_ = "Exists", .values = {}}};
  EXPECT_EQ(NodeSelectorError(selector, kLine), "");
  selector.node_selector_terms[1].match_expressions = {{.key = "k", .operator_ = "Gt", .values = {"-1"}},
                                                       {.key = "k", .operator_ = "Foo", .values = {}}};
  selector.node_selector_terms[2].match_fields = {
      {.key = "metadata.name", .operator_ = "In", .values = {"a", "b"}}};
  const std::string text = NodeSelectorError(selector, kLine);
  EXPECT_EQ(
      text.find("[nodeSelectorTerms[1].matchExpressions[0].values[0][k]: Invalid value: \"-1\": a valid "
                "label must be an empty string or"),
      0u)
      << text;
  EXPECT_NE(text.find(", nodeSelectorTerms[1].matchExpressions[1].operator: Unsupported value: \"Foo\": "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(", nodeSelectorTerms[2].matchFields[0].values: Invalid value: [\"a\",\"b\"]: must have "
                      "one element]"),
            std::string::npos)
      << text;
}

TEST(PreferredNodeTermsErrorTest, LeavesTermsOfWeightZeroAlone) {
  std::vector<PreferredSchedulingTerm> terms(1);
  terms[0].preference.match_expressions = {{.key = "k", .operator_ = "Gt", .values = {"1.5"}}};
  EXPECT_EQ(PreferredNodeTermsError(terms, kLine), "");
  terms[0].weight = 1;
  EXPECT_EQ(
      PreferredNodeTermsError(terms, kLine),
      "[0].matchExpressions[0].values[0]: Invalid value: \"1.5\": for 'Gt', 'Lt' operators, the value must "
      "be an integer");
}

}  // namespace
}  // namespace schedsim::api
