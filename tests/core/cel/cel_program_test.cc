// Expressions, with what cel-go makes of them.
#include "core/cel/cel_program.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace schedsim::cel {
namespace {

CelValue Object() {
  const CelValue labels = CelValue::Of(CelValue::Map{{"app", CelValue::String("web")}});
  const CelValue requests = CelValue::Of(CelValue::Map{{"cpu", CelValue::Of(*api::Quantity::Parse("500m"))}},
                                         CelValue::Type::kResourceList);
  const CelValue metadata = CelValue::Of(CelValue::Map{{"labels", labels}, {"name", CelValue::String("a")}},
                                         CelValue::Type::kMessage);
  return CelValue::Of(
      CelValue::Map{{"metadata", metadata},
                    {"requests", requests},
                    {"replicas", CelValue::Int(3)},
                    {"list", CelValue::Of(CelValue::List{CelValue::Int(1), CelValue::Int(2)})}},
      CelValue::Type::kMessage);
}

// The value as text, or "ERROR " and the message.
std::string Result(const std::string& text) {
  const CelFunctions functions;
  const absl::StatusOr<CelProgram> program = CelProgram::Parse(text, functions, {"self"});
  if (!program.ok()) return "ERROR " + std::string(program.status().message());
  const CelResult result = program->Evaluate({{"self", Object()}}, functions);
  if (!result.ok()) return "ERROR " + std::string(result.status().message());
  if (result->Is(CelValue::Type::kQuantity)) return std::to_string(result->AsQuantity().MilliValue()) + "m";
  const CelResult printed = functions.Call("string", {*result});
  return printed.ok() ? printed->AsString() : std::string(result->TypeName());
}

struct Row {
  std::string text;
  std::string want;
};

TEST(CelProgramTest, GivesWhatCelGives) {
  const std::vector<Row> rows = {
      {"1 + 2 * 3 - 4 / 3 % 2", "6"},
      {"-2 + 5", "3"},
      {"0x10 + 1", "17"},
      {"1.5 * 2.0", "3"},
      {"7u / 2u", "3"},
      {"'a' + \"b\" + r'\\n'", "ab\\n"},
      {"'''x'y''' == \"x'y\"", "true"},
      {"1 < 2 && 2.5 >= 2", "true"},
      {"1 == 1.0", "true"},
      {"'1' == 1", "false"},
      {"2 in [1, 2] && !('x' in {'y': 1})", "true"},
      {"self.metadata.labels.app == 'web' ? 'yes' : 'no'", "yes"},
      {"'app' in self.metadata.labels", "true"},
      {"has(self.metadata.labels.app) && !has(self.metadata.labels.tier)", "true"},
      {"has(self.metadata.annotations)", "false"},
      {"self.metadata.namespace == '' && self.metadata.generation == 0", "true"},
      {"self.metadata.annotations.size() == 0 || true", "true"},
      {"self.list.all(x, x > 0) && self.list.exists(x, x == 2) && self.list.exists_one(x, x == 1)", "true"},
      {"self.list.map(x, x * 2)[1] + size(self.list.filter(x, x > 1))", "5"},
      {"self.metadata.name.startsWith('a') && 'abc'.contains('b') && 'abc'.endsWith('c')", "true"},
      {"size('h\u00e9')", "2"},
      {"duration('90s') > duration('1m')", "true"},
      {"timestamp('2006-01-02T15:04:05Z') + duration('1h')", "2006-01-02T16:04:05Z"},
      {"int('12') + int(2.9) + int(timestamp('1970-01-01T00:00:01Z'))", "15"},
      {"self.requests['cpu'] * 0.5", "250m"},
      {"self.requests['memory'] == Quantity('0') && self.limits['cpu'] == Quantity('0')", "true"},
      {"Quantity('1Gi') - Quantity('1Mi') > quantity('1G')", "true"},
      {"Quantity('1') / 3", "333m"},
      {"double(Quantity('1500m'))", "1.5"},
      {"false && 1 / 0 == 0 || true", "true"},
      {"1 / 0 == 0 || true", "true"},
      {"// a comment\n[1, 2,].size()", "2"},
  };
  for (const Row& row : rows) EXPECT_EQ(Result(row.text), row.want) << row.text;
}

TEST(CelProgramTest, SaysWhatIsWrong) {
  const std::string no_value =
      ": Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', "
      "'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
  const std::vector<Row> rows = {
      {"", "ERROR column 1" + no_value},
      {"1 +", "ERROR column 4" + no_value},
      {"(1", "ERROR column 3: Syntax error: missing ')' at '<EOF>'"},
      {"1 2", "ERROR column 3: Syntax error: extraneous input '2' expecting <EOF>"},
      {"'x", "ERROR column 1: Syntax error: token recognition error at: ''x'"},
      {"b'x'", "ERROR column 1: bytes are not known here"},
      {"pod.x", "ERROR column 1: variable pod is not known, expected one of self"},
      {"has(self)", "ERROR column 5: invalid argument to has() macro"},
      {"1 / 0", "ERROR division by zero"},
      {"9223372036854775807 + 1", "ERROR integer overflow"},
      {"self.metadata.labels.tier", "ERROR no such key: tier"},
      {"self.list[2]", "ERROR index out of bounds: 2"},
      {"'a' + 1", "ERROR no such overload"},
      {"true + 1", "ERROR no such overload: _+_"},
      {"1 && true", "ERROR no such overload"},
      {"size(1)", "ERROR no such overload: size"},
      {"2 * Quantity('1')", "ERROR no such overload"},
  };
  for (const Row& row : rows) EXPECT_EQ(Result(row.text), row.want) << row.text;
}

TEST(CelProgramTest, NamesAFunctionThatIsNotThere) {
  EXPECT_NE(Result("'a'.trim()").find("function trim is not known, expected one of Quantity, bool"),
            std::string::npos);
  EXPECT_NE(Result("self.list.sum()").find("function sum is not known"), std::string::npos);
}

TEST(CelProgramTest, BoundsDepthAndCost) {
  EXPECT_NE(Result(std::string(1000, '(')).find("nested too deep"), std::string::npos);
  std::string nested_not;
  for (int i = 0; i < 1000; ++i) nested_not += "!(";
  EXPECT_NE(Result(nested_not).find("nested too deep"), std::string::npos);
  std::string sum = "1";
  for (int i = 0; i < 1000; ++i) sum += "+1";
  EXPECT_NE(Result(sum).find("too many operators"), std::string::npos);
  std::string loops = "[1,2,3,4,5,6,7,8,9,10]";
  const std::string list = loops;
  std::string nested = "true";
  for (int i = 0; i < 8; ++i) nested = list + ".all(x" + std::to_string(i) + ", " + nested + ")";
  EXPECT_EQ(Result(nested), "ERROR operation cancelled: actual cost limit exceeded");
  // Each round makes a text, or a list, that is forty times as long.
  for (const std::string start : {"['aaaaaaaaaa']", "[[1]]"}) {
    std::string grown = start;
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      std::string longer = name;
      for (int i = 0; i < 39; ++i) longer += std::string("+") + name;
      grown += std::string(".map(") + name + ", " + longer + ")";
    }
    EXPECT_NE(Result("size(" + grown + ")").find("operation cancelled"), std::string::npos);
  }
}

}  // namespace
}  // namespace schedsim::cel
