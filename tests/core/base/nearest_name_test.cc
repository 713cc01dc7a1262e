#include "core/base/nearest_name.h"

#include "gtest/gtest.h"

namespace schedsim {
namespace {

TEST(NearestNameTest, DistanceCountsSlips) {
  EXPECT_EQ(EditDistance("pod", "Pod", 3), 0);
  EXPECT_EQ(EditDistance("Deploymnet", "Deployment", 3), 1);
  EXPECT_EQ(EditDistance("nodeSelecter", "nodeSelector", 3), 1);
  EXPECT_EQ(EditDistance("labels", "label", 3), 1);
  EXPECT_EQ(EditDistance("", "abc", 3), 3);
  EXPECT_EQ(EditDistance("abcdef", "uvwxyz", 3), 4);
  EXPECT_EQ(EditDistance("a", "abcdef", 3), 4);
}

TEST(NearestNameTest, IsTheFirstOfTheBest) {
  EXPECT_EQ(NearestName("spek", {"status", "spec", "speck"}), "spec");
  EXPECT_EQ(NearestName("image", {"imageID", "images"}), "images");
  EXPECT_EQ(NearestName("cpu", {"gpus", "memory"}), "");
}

}  // namespace
}  // namespace schedsim
