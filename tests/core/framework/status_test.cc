#include "core/framework/status.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/framework/diagnosis.h"

namespace schedsim::framework {
namespace {

TEST(Status, OneSkipThatNamesItsPluginDoesNotNameThatOfOthers) {
  Status named = Status::Skip();
  const Status other = Status::Skip();
  named.SetPluginIfUnset("NodePorts");
  EXPECT_EQ(named.plugin(), "NodePorts");
  EXPECT_TRUE(named.IsSkip());
  EXPECT_EQ(other.plugin(), "");
  EXPECT_EQ(Status::Skip().plugin(), "");
}

TEST(NodeToStatus, PutsEqualStatusesIntoOneGroupHoweverManyThereAre) {
  constexpr int32_t kStatuses = 40;
  NodeToStatus statuses;
  statuses.Reset(2 * kStatuses);
  for (int32_t position = 0; position < 2 * kStatuses; ++position) {
    // Each is made twice, so that no two nodes share a part.
    statuses.Set(position, Status(Code::kUnschedulable, std::to_string(position % kStatuses)));
  }
  EXPECT_EQ(statuses.groups().size(), static_cast<size_t>(kStatuses));
  for (const NodeToStatus::Group& group : statuses.groups()) EXPECT_EQ(group.count, 2);
  EXPECT_EQ(statuses.Get(kStatuses + 3).Message(), "3");
  const NodeToStatus copy = statuses;
  EXPECT_EQ(copy.Get(3).Message(), "3");
}

}  // namespace
}  // namespace schedsim::framework
