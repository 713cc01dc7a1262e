#include "core/base/symbol_map.h"

#include <gtest/gtest.h>

#include <string>

namespace schedsim {
namespace {

TEST(SymbolMapTest, FindsWhatWasPutIn) {
  SymbolTable symbols;
  const Symbol first = symbols.Intern("first");
  const Symbol between = symbols.Intern("between");
  const Symbol last = symbols.Intern("last");
  SymbolMap<std::string> map;
  EXPECT_EQ(map.Find(first), nullptr);
  map[last] = "a";
  map[first] += "b";
  map[first] += "c";
  ASSERT_NE(map.Find(first), nullptr);
  EXPECT_EQ(*map.Find(first), "bc");
  EXPECT_EQ(*map.Find(last), "a");
  EXPECT_EQ(map.Find(between), nullptr);
  EXPECT_EQ(map.Find(symbols.Find("nowhere")), nullptr);
  EXPECT_EQ(map.size(), 2U);
  map.Clear();
  EXPECT_EQ(map.Find(last), nullptr);
  EXPECT_EQ(map.size(), 0U);
}

}  // namespace
}  // namespace schedsim
