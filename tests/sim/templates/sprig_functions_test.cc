// Templates with sprig's functions, with what sprig v3 makes of them.
#include "sim/templates/sprig_functions.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "sim/templates/go_template.h"

namespace schedsim::sim {
namespace {

class FixedClock : public Clock {
 public:
  absl::Time Now() const override { return absl::FromUnixSeconds(1'136'214'245); }
};

std::string Render(const std::string& text) {
  const FixedClock clock;
  Rng rng(7);
  GoTemplateFunctions functions;
  AddSprigFunctions(clock, rng, functions);
  const absl::StatusOr<GoTemplate> parsed = GoTemplate::Parse(text, "t.yaml", functions);
  if (!parsed.ok()) return "ERROR " + std::string(parsed.status().message());
  const GoValue data(
      GoValue::Map{{"list", GoValue(GoValue::List{GoValue(std::string("b")), GoValue(std::string("a")),
                                                  GoValue(std::string("b"))})},
                   {"number", GoValue::JsonNumber("3")}});
  const absl::StatusOr<std::string> out = parsed->Execute(data, functions);
  return out.ok() ? *out : "ERROR " + std::string(out.status().message());
}

struct Row {
  std::string text;
  std::string want;
};

TEST(SprigFunctionsTest, GiveWhatSprigGives) {
  const std::vector<Row> rows = {
      {"{{default \"x\" .missing}} {{default \"x\" .number}} {{.missing | default 5}}", "x 3 5"},
      {"{{empty .list}} {{coalesce .missing \"\" \"c\"}} {{ternary 1 2 false}}", "false c 2"},
      {"{{upper \"ab\"}} {{title \"a b\"}} {{trim \"  x \"}} {{trunc 2 \"abc\"}} {{trunc -2 \"abc\"}}",
       "AB A B x ab bc"},
      {"{{\"abc\" | trimSuffix \"c\" | trimPrefix \"a\"}} {{trimAll \"$\" \"$5$\"}} {{substr 1 3 \"abcd\"}}",
       "b 5 bc"},
      {"{{contains \"b\" \"abc\"}} {{hasPrefix \"a\" \"abc\"}} {{hasSuffix \"a\" \"abc\"}}",
       "true true false"},
      {"{{quote \"a\\\"\" 1}} {{squote 1}} {{cat 1 \"b\"}}", "\"a\\\"\" \"1\" '1' 1 b"},
      {"{{indent 2 \"a\\nb\"}}|{{nindent 2 \"a\"}}", "  a\n  b|\n  a"},
      {"{{replace \"a\" \"b\" \"aca\"}} {{repeat 3 \"x\"}} {{join \"-\" .list}}", "bcb xxx b-a-b"},
      {"{{(split \",\" \"x,y\")._1}} {{index (splitList \",\" \"x,y\") 0}}", "y x"},
      {"{{add 1 2 .number}} {{sub 5 2}} {{mul 2 3}} {{div 7 2}} {{mod 7 2}} {{add1 4}} {{max 1 5 2}}",
       "6 3 6 3 1 5 5"},
      {"{{int \"7\"}} {{int64 2.9}} {{atoi \"x\"}} {{floor 2.7}} {{ceil 2.1}} {{round 2.345 2}}",
       "7 2 0 2 3 2.35"},
      {"{{until 3}} {{untilStep 1 6 2}} {{len (list 1 2)}}", "[0 1 2] [1 3 5] 2"},
      {"{{untilStep 0 9223372036854775807 4611686018427387904}} {{until -2}} {{untilStep 3 3 1}}",
       "[0 4611686018427387904] [0 -1] []"},
      {"{{repeat 9223372036854775807 \"\"}}{{uniq (list 1 1.0 \"1\" 1)}}", "[1 1 1]"},
      {"{{first .list}} {{last .list}} {{rest .list}} {{uniq .list}} {{sortAlpha .list}} {{reverse .list}}",
       "b b [a b] [b a] [a b b] [b a b]"},
      {"{{has \"a\" .list}} {{without .list \"b\"}} {{append .list \"z\"}} {{compact (list 0 1)}}",
       "true [a] [b a b z] [1]"},
      {"{{$d := dict \"k\" 1 \"a\" 2}}{{$d.k}} {{hasKey $d \"a\"}} {{keys $d}} {{get $d \"a\"}} {{pick $d "
       "\"a\"}}",
       "1 true [a k] 2 map[a:2]"},
      {"{{dig \"a\" \"b\" \"none\" (dict \"a\" (dict \"b\" 1))}} {{dig \"x\" \"none\" (dict)}}", "1 none"},
      {"{{toJson (dict \"a\" (list 1 \"x\"))}} {{(fromJson \"{\\\"a\\\":1}\").a}}", "{\"a\":[1,\"x\"]} 1"},
      {"{{b64enc \"ab\"}} {{b64dec \"YWI=\"}} {{kindOf .list}} {{kindIs \"string\" .number}}",
       "YWI= ab slice true"},
      {"{{now}}", "2006-01-02 15:04:05 +0000 UTC"},
      {"{{now | date \"2006-01-02T15:04:05Z07:00\"}} {{now | dateModify \"-1h\" | date \"15:04:05.000\"}}",
       "2006-01-02T15:04:05Z 14:04:05.000"},
      {"{{now | unixEpoch}} {{date \"Jan _2 06\" 0}}", "1136214245 Jan  1 70"},
      {"{{regexMatch `^n-\\d+$` \"n-12\"}} {{regexMatch \"(\" \"(\"}} {{mustRegexMatch \"b\" \"abc\"}}",
       "true false true"},
      {"{{regexFind `[0-9]+` \"n-12-3\"}} {{regexFindAll `[0-9]+` \"n-12-3\" -1}} {{regexFind \"x\" \"y\"}}",
       "12 [12 3] "},
      {"{{regexReplaceAll `n-([0-9]+)` \"n-12\" \"node-${1}\"}} {{regexReplaceAllLiteral \"a\" \"aa\" "
       "\"$1\"}}",
       "node-12 $1$1"},
      {"{{regexSplit \"[,;]\" \"a,b;c\" -1}} {{index (regexSplit \",\" \"a,b,c\" 2) 1}} {{regexQuoteMeta "
       "\"a.b\"}}",
       "[a b c] b,c a\\.b"},
  };
  for (const Row& row : rows) EXPECT_EQ(Render(row.text), row.want) << row.text;
}

TEST(SprigFunctionsTest, DrawFromTheirStream) {
  EXPECT_EQ(Render("{{randAlphaNum 8}} {{uuidv4}}"), Render("{{randAlphaNum 8}} {{uuidv4}}"));
  EXPECT_EQ(Render("{{randNumeric 6}}").size(), 6u);
  EXPECT_EQ(Render("{{uuidv4}}").substr(14, 1), "4");
}

TEST(SprigFunctionsTest, SayWhatIsWrong) {
  const std::vector<Row> rows = {
      {"{{div 1 0}}", "t.yaml:1: template: error calling div: integer divide by zero"},
      {"{{fail \"no\"}}", "t.yaml:1: template: error calling fail: no"},
      {"{{upper .list}}",
       "t.yaml:1: template: error calling upper: expected a string, got a value of type list"},
      {"{{repeat 100000000 \"ab\"}}", "t.yaml:1: template: error calling repeat: too long a text"},
      {"{{repeat 9223372036854775807 \"ab\"}}", "t.yaml:1: template: error calling repeat: too long a text"},
      {"{{untilStep 0 9223372036854775807 1}}",
       "t.yaml:1: template: error calling untilStep: too long a list"},
      {"{{replace \"a\" (repeat 1000000 \"x\") (repeat 1000 \"a\")}}",
       "t.yaml:1: template: error calling replace: too long a text"},
      {"{{indent 1000 (repeat 100000 \"\\n\")}}",
       "t.yaml:1: template: error calling indent: too long a text"},
      {"{{join (repeat 1000000 \"x\") (until 100)}}",
       "t.yaml:1: template: error calling join: too long a text"},
      {"{{regexFind \"(\" \"a\"}}",
       "t.yaml:1: template: error calling regexFind: error parsing regexp: missing ): ("},
      {"{{regexSplit \"a\" \"a\" \"1\"}}",
       "t.yaml:1: template: error calling regexSplit: expected an integer, got a value of type string"},
      {"{{regexReplaceAll \"a\" (repeat 1000000 \"a\") (repeat 1000 \"x\")}}",
       "t.yaml:1: template: error calling regexReplaceAll: too long a text"},
      {"{{regexFind \".\" (b64dec \"/w==\")}}",
       "t.yaml:1: template: error calling regexFind: expected a string in UTF-8"},
  };
  for (const Row& row : rows) EXPECT_EQ(Render(row.text), "ERROR " + row.want) << row.text;
  EXPECT_NE(Render("{{set (dict) \"a\" 1}}").find("function \"set\" is not known"), std::string::npos);
}

}  // namespace
}  // namespace schedsim::sim
