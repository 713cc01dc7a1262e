// The tidy tests see what they should see.
#include "tests/tidy_sources.h"
#include "gtest/gtest.h"

namespace schedsim {
namespace {

TEST(TidyItselfTest, BlanksCommentsAndLiterals) {
  EXPECT_EQ(CodeOf("a(\"rand()\"); // rand()\nb"), "a(\"      \");          \nb");
  EXPECT_EQ(CodeOf("x /* a\nb */ y"), "x     \n     y");
  EXPECT_EQ(CodeOf("R\"x(a\"b)x\" + 1'000 + '\"'"), "R\"       \" + 1'000 + ' '");
}

TEST(TidyItselfTest, FindsWholeWordsOnly) {
  EXPECT_EQ(FindAll("operand(a) rand(b)", "rand("), std::vector<size_t>{11});
  EXPECT_TRUE(FindAll("throws", "throw").empty());
}

TEST(TidyItselfTest, MeasuresFunctionsInNamespacesAndClasses) {
  const std::vector<Function> functions = FunctionsOf(
      "#define M {\n"
      "namespace a {\n"
      "const int kTable[] = {\n  1,\n};\n"
      "class B {\n"
      " public:\n"
      "  void F() { if (x) { y(); } }\n"
      "};\n"
      "int G(\n"
      "    int a) {\n"
      "  auto h = [] { return 1; };\n"
      "}\n"
      "}  \n");
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0].line_count, 2);  // With the label in front.
  EXPECT_EQ(functions[1].first_line, 10);
  EXPECT_EQ(functions[1].line_count, 4);
}

TEST(TidyItselfTest, FindsLongLinesThatCouldBeBroken) {
  const std::string text =
      "int short_one;\n"
      "int a_name_that_is_long_enough;\n"
      "// a comment that is long enough\n"
      "// https://example.com/an/address\n"
      "    \"a literal that is long enough\",\n"
      "f(R\"(\n  inside of a raw literal, which is long )\");\n"
      "call_with_much_code(\"and a literal\");\n";
  std::vector<int64_t> lines;
  for (const LongLine& line : LongLinesOf(text, 20)) lines.push_back(line.line);
  EXPECT_EQ(lines, (std::vector<int64_t>{2, 3, 8}));
  EXPECT_TRUE(LongLinesOf("\"\xc3\xbc\xc3\xbc\xc3\xbc\" + abcdefghijklmnopqrs", 40).empty());
}

TEST(TidyItselfTest, NamesFactoriesLikePlugins) {
  EXPECT_EQ(CamelCase("node_resources_fit"), "NodeResourcesFit");
}

}  // namespace
}  // namespace schedsim
