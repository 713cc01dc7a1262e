#include "core/base/wrapped_text.h"

#include <string>

#include "gtest/gtest.h"

namespace schedsim {
namespace {

TEST(WrappedTextTest, LongLinesGoOnBelowTheirSecondColumn) {
  EXPECT_EQ(FitLines("Pending   60\n  4 x  one two three four\nshort\n", 20),
            "Pending   60\n  4 x  one two three\n       four\nshort\n");
  EXPECT_EQ(FitLines("    alpha beta gamma delta\n", 16), "    alpha beta\n    gamma delta\n");
}

TEST(WrappedTextTest, AColumnFarToTheRightIsNotGoneOnBelow) {
  EXPECT_EQ(FitLines("a long label here  one two three\n", 24), "a long label here  one\ntwo three\n");
}

TEST(WrappedTextTest, AWordThatIsLongerThanALineStaysWhole) {
  EXPECT_EQ(FitLines("a  0123456789 b\n", 8), "a\n   0123456789\n   b\n");
  EXPECT_EQ(FitLines("0123456789\n", 8), "0123456789\n");
}

TEST(WrappedTextTest, WithoutALimitTextStaysAsItIs) {
  const std::string text = "no line feed at the end, and " + std::string(200, 'x');
  EXPECT_EQ(FitLines(text, 0), text);
}

}  // namespace
}  // namespace schedsim
