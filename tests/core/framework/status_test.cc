#include "core/framework/status.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
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

TEST(NodeToStatus, ANodeThatIsClearedIsAbsentAgain) {
  NodeToStatus statuses;
  statuses.Reset(4);
  statuses.Clear(1);  // It has none yet.
  EXPECT_EQ(statuses.size(), 0);
  const Status full(Code::kUnschedulable, "full");
  statuses.Set(1, full);
  statuses.Set(2, full);
  const NodeToStatus copy = statuses;
  statuses.set_content_id(7);
  statuses.Clear(1);
  EXPECT_EQ(statuses.content_id(), 0);
  EXPECT_EQ(statuses.size(), 1);
  EXPECT_EQ(statuses.groups()[0].count, 1);
  EXPECT_EQ(statuses.Get(1).code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(statuses.Get(2).Message(), "full");
  EXPECT_EQ(copy.Get(1).Message(), "full");
}

TEST(NodeToStatus, MarksNodesByCode) {
  NodeToStatus statuses;
  statuses.Reset(4);
  std::vector<uint8_t> marks(4, 9);
  statuses.MarkNodesWith(Code::kUnschedulable, absl::MakeSpan(marks));
  EXPECT_EQ(marks, (std::vector<uint8_t>{0, 0, 0, 0}));
  statuses.Set(0, Status(Code::kUnschedulable, "full"));
  statuses.Set(2, Status(Code::kUnschedulableAndUnresolvable, "tainted"));
  statuses.Set(3, Status(Code::kUnschedulable, "busy"));
  statuses.MarkNodesWith(Code::kUnschedulable, absl::MakeSpan(marks));
  EXPECT_EQ(marks, (std::vector<uint8_t>{1, 0, 0, 1}));
  statuses.SetAbsentNodesStatus(Status(Code::kUnschedulable, "not looked at"));
  statuses.MarkNodesWith(Code::kUnschedulable, absl::MakeSpan(marks));
  EXPECT_EQ(marks, (std::vector<uint8_t>{1, 1, 0, 1}));
}

}  // namespace
}  // namespace schedsim::framework
