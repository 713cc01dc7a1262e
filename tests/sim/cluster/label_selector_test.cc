#include "sim/cluster/label_selector.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace schedsim::sim {
namespace {

// Which of these pods a selector matches, by their numbers: 0 has no labels.
std::string MatchesOf(absl::string_view text) {
  const std::vector<std::vector<std::pair<const char*, const char*>>> pods = {
      {},
      {{"app", "web"}, {"tier", "front"}},
      {{"app", "db"}, {"size", "10"}},
      {{"app", ""}, {"in", "notin"}},
  };
  const absl::StatusOr<LabelSelector> selector = LabelSelector::Parse(text);
  if (!selector.ok()) return std::string(selector.status().message());
  std::string out;
  for (size_t i = 0; i < pods.size(); ++i) {
    api::StringMap labels;
    for (const auto& [key, value] : pods[i]) labels.Set(key, value);
    if (selector->Matches(labels)) absl::StrAppend(&out, i);
  }
  return out;
}

// The rows follow apimachinery v0.37, pkg/labels/selector_test.go, where it has one of the kind.
TEST(LabelSelectorTest, MatchesAsKubectlDoes) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "0123"},
      {" \t", "0123"},
      {"app", "123"},
      {"!app", "0"},
      {"! app", "0"},
      {"app=web", "1"},
      {"app==web", "1"},
      {" app = web ", "1"},
      {"app!=web", "023"},
      {"app=", "3"},
      {"app=,in", "3"},
      {"app!=", "012"},
      {"app in (web,db)", "12"},
      {"app in ( web , db )", "12"},
      {"app in(web)", "1"},
      {"app notin (web, db)", "03"},
      {"app in ()", "3"},
      {"app in (,db)", "23"},
      {"app in (web,)", "13"},
      {"app,!tier", "23"},
      {"app in (web, db),tier", "1"},
      {"app in (web, db), tier notin (front), size", "2"},
      {"size>9", "2"},
      {"size > 10", ""},
      {"size<11,app=db", "2"},
      {"app>1", ""},
      {"in", "3"},
      {"in in (notin)", "3"},
      {"in=notin", "3"},
  };
  for (const auto& [selector, want] : rows) EXPECT_EQ(MatchesOf(selector), want) << selector;
}

TEST(LabelSelectorTest, ErrorsNameThePlace) {
  const std::pair<const char*, const char*> rows[] = {
      {"app in (a", "\"app in (a\": column 10: found the end of the selector, expected `,` or `)`"},
      {"app in a", "column 8: found `a`, expected `(` and the values"},
      {"app in", "column 7: found the end of the selector, expected `(` and the values"},
      {"app in (a b)", "column 11: found `b`, expected `,` or `)`"},
      {"app,", "column 5: found the end of the selector, expected a label key"},
      {",app", "column 1: found `,`, expected a label key"},
      {"app==!x", "column 6: found `!`, expected a label value"},
      {"app=a b", "column 7: found `b`, expected `,` or the end of the selector"},
      {"app has x", "column 5: found `has`, expected `=`, `==`, `!=`, `in`, `notin`"},
      {"!", "column 2: found the end of the selector, expected a label key"},
      {"!app=x", "column 5: found `=`, expected `,` or the end of the selector"},
      {"=x", "column 1: found `=`, expected a label key"},
      {"-app", "column 1: \"-app\" is no label key: name part must consist of"},
      {"app=-x", "column 5: \"-x\" is no label value: "},
      {"app in (x, *)", "column 12: \"*\" is no label value: "},
      {"size>big", "column 6: found `big`, expected a whole number"},
      {"(app)", "column 1: found `(`"},
  };
  for (const auto& [selector, want] : rows) {
    const std::string got = MatchesOf(selector);
    EXPECT_TRUE(absl::StrContains(got, want)) << selector << "\n" << got;
  }
}

}  // namespace
}  // namespace schedsim::sim
