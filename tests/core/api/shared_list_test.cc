#include "core/api/shared_list.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/api/object.h"

namespace schedsim::api {
namespace {

TEST(SharedListTest, ACopySharesItemsUntilItIsChanged) {
  const SharedList<int> list(std::vector<int>{1, 2});
  SharedList<int> copy = list;
  EXPECT_EQ(copy.storage(), list.storage());
  copy.push_back(3);
  EXPECT_EQ(list.items(), (std::vector<int>{1, 2}));
  EXPECT_EQ(copy.items(), (std::vector<int>{1, 2, 3}));
}

TEST(SharedListTest, AListOfItsOwnIsChangedInPlace) {
  SharedList<int> list(std::vector<int>{1});
  const auto* const items = &list.items();
  list.Mutable()[0] = 5;
  EXPECT_EQ(&list.items(), items);
  EXPECT_EQ(list[0], 5);
}

TEST(SharedListTest, EmptyListsAreEqual) {
  SharedList<int> cleared(std::vector<int>{1});
  cleared.Mutable().clear();
  EXPECT_EQ(cleared, SharedList<int>());
  EXPECT_TRUE(cleared.empty());
}

TEST(StringMapTest, ACopyIsNotChangedWithTheOriginal) {
  StringMap map;
  map.Set("b", "2");
  map.Set("a", "1");
  const StringMap copy = map;
  map.Set("a", "x");
  EXPECT_TRUE(map.Erase("b"));
  EXPECT_FALSE(map.Erase("b"));
  EXPECT_EQ(*copy.Find("a"), "1");
  EXPECT_EQ(*copy.Find("b"), "2");
  EXPECT_EQ(*map.Find("a"), "x");
  EXPECT_EQ(map.size(), 1u);
}

}  // namespace
}  // namespace schedsim::api
