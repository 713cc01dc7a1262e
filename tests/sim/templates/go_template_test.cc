// Templates, with what Go 1.26 makes of them.
#include "sim/templates/go_template.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/base/clock.h"
#include "core/base/rng.h"
#include "gtest/gtest.h"
#include "sim/bench/bench_functions.h"
#include "sim/kernel/event_loop.h"
#include "sim/templates/sprig_functions.h"

namespace schedsim::sim {
namespace {

GoValue Data() {
  GoValue::List list;
  list.emplace_back(1.0);
  list.emplace_back(std::string("b"));
  GoValue::Map map;
  map.emplace_back("inner", GoValue(7.0));
  GoValue::Map data;
  data.emplace_back("Index", GoValue(int64_t{25}));
  data.emplace_back("Count", GoValue(int64_t{40}));
  data.emplace_back("million", GoValue(1e6));
  data.emplace_back("text", GoValue(std::string("x")));
  data.emplace_back("list", GoValue(std::move(list)));
  data.emplace_back("map", GoValue(std::move(map)));
  return GoValue(std::move(data));
}

// The text, or the message behind "ERROR ".
std::string Render(const std::string& text) {
  const absl::StatusOr<GoTemplate> parsed = GoTemplate::Parse(text, "t.yaml", BenchFunctions());
  if (!parsed.ok()) return "ERROR " + std::string(parsed.status().message());
  const absl::StatusOr<std::string> out = parsed->Execute(Data(), BenchFunctions());
  return out.ok() ? *out : "ERROR " + std::string(out.status().message());
}

struct Row {
  std::string text;
  std::string want;
};

TEST(GoTemplateTest, GivesWhatGoGives) {
  const std::vector<Row> rows = {
      {"plain { } text", "plain { } text"},
      {"name-{{.Index}}", "name-25"},
      {"{{ .Index }} {{.missing}} {{.map.inner}}", "25 <no value> 7"},
      {"{{.million}} {{AddInt 0 .million}}", "1e+06 1000000"},
      {"{{DivideInt .Index 10}} {{Mod .Index 12}} {{DivideFloat 1 4}}", "2 1 0.25"},
      {"{{AddInt 7000 (Mod .Index (DivideInt .Count 4))}}", "7005"},
      {"{{MultiplyInt 3 2.5}} {{SubtractInt 5 7}} {{Int \"12\"}}", "7 -2 12"},
      {"{{if .missing}}a{{else if eq .text \"x\"}}b{{else}}c{{end}}", "b"},
      {"{{if .Index}}a{{end}}{{if 0}}b{{end}}", "a"},
      {"{{eq .missing \"x\"}} {{not .missing}} {{and .text .Index}} {{or .missing 10}}", "false true 25 10"},
      {"{{lt 1 2}} {{ge 2 2}} {{ne .text \"y\"}} {{eq 3 1 2 3}}", "true true true true"},
      {"{{range $i := 3}}{{$i}}{{.}} {{end}}", "00 11 22 "},
      {"{{range $i, $e := .list}}{{$i}}={{$e}};{{end}}{{range .missing}}x{{else}}none{{end}}",
       "0=1;1=b;none"},
      {"{{$n := or .missing 2}}{{range ($n | Int)}}{{.}}{{end}}", "01"},
      {"{{$n := 1}}{{if true}}{{$n = 2}}{{end}}{{$n}}", "2"},
      {"{{with .text}}{{.}}{{end}}{{with .missing}}x{{else}}y{{end}}", "xy"},
      {"{{with .missing}}x{{else with .text}}{{.}}{{else}}y{{end}}", "x"},
      {"{{and .missing (index .missing 0)}} {{or .text (index .missing 0)}}", "<no value> x"},
      {"{{(index .map \"inner\")}} {{(or .missing .map).inner}}", "7 7"},
      {"{{printf \"kwok-%s %05d|%-4s|%4.1f|%q %v %t %x%%\" .text 42 \"a\" 1.25 \"b\" .list true 255}}",
       "kwok-x 00042|a   | 1.2|\"b\" [1 b] true ff%"},
      {"{{.list | JSON}} {{.map | JSON}} {{or .missing nil | JSON}} {{JSON .million}}",
       "[1,\"b\"] {\"inner\":7} null 1000000"},
      {"{{index .list 1}} {{index .map \"inner\"}} {{len .list}} {{.list}}", "b 7 2 [1 b]"},
      {"a \n {{- 1 -}} \n b{{/* a comment with }} in it */}}c", "a1bc"},
      {"a {{- /* trims */ -}} b", "ab"},
      {"{{\"quo\\\"ted\"}}{{`raw\\`}}", "quo\"tedraw\\"},
  };
  for (const Row& row : rows) EXPECT_EQ(Render(row.text), row.want) << row.text;
}

TEST(GoTemplateTest, SaysWhereATemplateIsWrong) {
  const std::vector<Row> rows = {
      {"a\nb {{.x", "t.yaml:2: template: unclosed action"},
      {"{{if .x}}\n\n", "t.yaml:3: template: expected {{end}}, got the end of the file"},
      {"{{end}}", "t.yaml:1: template: unexpected {{end}}"},
      {"{{if .x}}{{else}}{{else}}{{end}}", "t.yaml:1: template: unexpected {{else}}"},
      {"{{.x | }}", "t.yaml:1: template: missing value for command"},
      {"{{.x .y}}",
       "t.yaml:1: template: can't give argument to non-function, expected a function or a single value"},
      {"{{(1}}", "t.yaml:1: template: unclosed left paren"},
      {"{{\n$y}}", "t.yaml:1: template: undefined variable \"$y\""},
      {"\n{{template \"x\"}}",
       "t.yaml:2: template: {{template}} is not supported, expected if, range, with or a value"},
      {"{{eq .million 2}}",
       "t.yaml:1: template: error calling eq: incompatible types for comparison: float64 and int"},
      {"{{DivideInt 1 0}}", "t.yaml:1: template: error calling DivideInt: division by zero"},
      {"{{AddInt .text 1}}", "t.yaml:1: template: error calling AddInt: cannot cast x to float64"},
      {"{{Mod 1}}", "t.yaml:1: template: wrong number of args for Mod: want 2, got 1"},
      {"{{printf \"%d\" \"x\"}}", "t.yaml:1: template: error calling printf: %d of type string"},
      {"{{printf \"%s\"}}", "t.yaml:1: template: error calling printf: more verbs than arguments"},
      {"{{index .missing 0}}", "t.yaml:1: template: error calling index: index of untyped nil"},
      {"{{range .million}}{{end}}", "t.yaml:1: template: range can't iterate over 1e+06"},
      {"{{.text.x}}", "t.yaml:1: template: can't evaluate field x in type string"},
  };
  for (const Row& row : rows) EXPECT_EQ(Render(row.text), "ERROR " + row.want) << row.text;
}

TEST(GoTemplateTest, NamesTheFunctionsThatThereAre) {
  const std::string error = Render("{{env 1}}");
  EXPECT_NE(error.find("function \"env\" is not known, expected one of AddFloat, AddInt"), std::string::npos)
      << error;
}

TEST(GoTemplateTest, BoundsLoopsAndDepth) {
  EXPECT_NE(Render("{{range 100000000}}{{end}}").find("too many rounds"), std::string::npos);
  EXPECT_NE(Render("{{range 4000}}{{range 4000}}{{end}}{{end}}").find("too many rounds"), std::string::npos);
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "{{if 1}}";
  EXPECT_NE(Render(deep).find("nested too deep"), std::string::npos);
  EXPECT_NE(Render("{{" + std::string(1000, '(') + "}}").find("nested too deep"), std::string::npos);
}

TEST(GoTemplateTest, BoundsSizeAndDepthOfValues) {
  const EventLoop clock(absl::UnixEpoch());
  Rng rng(1);
  GoTemplateFunctions functions;
  AddSprigFunctions(clock, rng, functions);
  const auto error = [&](const std::string& text) {
    const absl::StatusOr<GoTemplate> parsed = GoTemplate::Parse(text, "t.yaml", functions);
    const absl::StatusOr<std::string> out = parsed->Execute(Data(), functions);
    return out.ok() ? "" : std::string(out.status().message());
  };
  const std::string grow = "{{$l := list 1}}{{range 300000}}{{$l = ";
  EXPECT_EQ(error(grow + "list $l}}{{end}}"),
            "t.yaml:1: template: error calling list: expected a value of at most 10000000 bytes and 100 "
            "levels, got a larger one");
  for (const char* doubled : {"list $l $l", "concat $l $l", "print $l $l", "dict \"a\" $l \"b\" $l"}) {
    EXPECT_NE(error(grow + doubled + "}}{{end}}").find("of at most 10000000 bytes"), std::string::npos)
        << doubled;
  }
  EXPECT_NE(error("{{range until 100000}}{{$x := until 100000}}{{end}}")
                .find("functions with more than 250000000 bytes of arguments and results"),
            std::string::npos);
}

TEST(GoTemplateTest, KnowsWhetherAnIndexIsMentioned) {
  EXPECT_TRUE(GoTemplate::Parse("{{if true}}{{Mod (AddInt .Index 1) 2}}{{end}}", "t", BenchFunctions())
                  ->Mentions("Index"));
  EXPECT_FALSE(GoTemplate::Parse("{{.Count}} .Index", "t", BenchFunctions())->Mentions("Index"));
}

}  // namespace
}  // namespace schedsim::sim
