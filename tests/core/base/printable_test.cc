#include "core/base/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace schedsim {
namespace {

TEST(PrintableTest, EscapesWhatATerminalActsOn) {
  EXPECT_EQ(Printable("web-0"), "web-0");
  EXPECT_EQ(Printable("zürich \xe6\x9d\xb1"), "zürich \xe6\x9d\xb1");
  EXPECT_EQ(Printable("a\033[2Jb\x07"), "a\\x1b[2Jb\\x07");
  EXPECT_EQ(Printable("a\nb\tc\rd\x7f"), "a\\nb\\tc\\rd\\x7f");
  EXPECT_EQ(Printable(absl::string_view("\0", 1)), "\\x00");
  // A C1 control character: CSI in one character.
  EXPECT_EQ(Printable("\xc2\x9b"
                      "2J"),
            "\\x9b2J");
  // Right to left override.
  EXPECT_EQ(Printable("\xe2\x80\xae"
                      "abc"),
            "\\u202eabc");
  EXPECT_EQ(Printable("\xff\xc0"), "\\xff\\xc0");
}

TEST(PrintableTest, CutsBetweenCharacters) {
  EXPECT_EQ(Printable("abcdef", 6), "abcdef");
  EXPECT_EQ(Printable("abcdefg", 6), "abcdef...");
  EXPECT_EQ(Printable("abcdeü", 6), "abcde...");
  EXPECT_EQ(Printable(std::string(1'000'000, 'x'), kShownBytesMax).size(), kShownBytesMax + 3);
}

}  // namespace
}  // namespace schedsim
