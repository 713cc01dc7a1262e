// Snapshots of a timeline where nobody takes them.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sim/scenario/timeline.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

std::vector<TimelineEntry> SaveAt(absl::Duration at) {
  std::vector<TimelineEntry> entries(1);
  entries[0].at = at;
  entries[0].action = SaveSnapshot{.path = "saved.json"};
  entries[0].place = "s.yaml:7:3: timeline[0].snapshot";
  return entries;
}

TEST(TimelineSnapshotTest, FailsWhereNothingTakesIt) {
  for (const bool has_sink : {false, true}) {
    SmallCluster cluster("");
    auto made = Simulation::Make(cluster.options);
    ASSERT_TRUE(made.ok());
    const std::unique_ptr<Simulation> simulation = *std::move(made);
    Timeline timeline(SaveAt(absl::Seconds(1)), *simulation);
    int taken = 0;
    if (has_sink) timeline.set_snapshot_sink([&taken](const SaveSnapshot&, auto) { ++taken; });
    simulation->set_script(&timeline);
    simulation->CreateObjects({});
    simulation->Run();
    timeline.Finish();
    EXPECT_EQ(taken, has_sink ? 1 : 0);
    EXPECT_EQ(timeline.failures(),
              has_sink
                  ? std::vector<std::string>()
                  : std::vector<std::string>({"s.yaml:7:3: timeline[0].snapshot: the snapshot saved.json is "
                                              "not saved: nothing takes snapshots of this run"}));
  }
}

}  // namespace
}  // namespace schedsim::sim
