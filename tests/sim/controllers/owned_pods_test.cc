#include "sim/controllers/owned_pods.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/codec/objects/objects.h"
#include "gtest/gtest.h"

namespace schedsim::sim {
namespace {

class TestClock : public Clock {
 public:
  absl::Time Now() const override { return now; }
  absl::Time now = absl::UnixEpoch();
};

class OwnedPodsTest : public testing::Test {
 protected:
  OwnedPodsTest() {
    server_.Watch([this](const WatchEvent& event) { owned_.OnEvent(event); });
    owned_.Listen("Job", [this](const std::string& owner_key, const WatchEvent& event) {
      const api::Object& pod = event.new_object != nullptr ? *event.new_object : *event.old_object;
      absl::StrAppend(&heard_, owner_key, ":", pod.metadata.name, " ");
    });
    owned_.Start();
  }

  void Create(const std::string& yaml) {
    CHECK(reader_
              .ReadText(yaml, "test.yaml",
                        [this](api::ObjectPtr object, const codec::Location&) {
                          return server_.Create(std::move(object));
                        })
              .ok());
  }
  void CreateJob(absl::string_view api_version = "batch/v1") {
    Create(absl::StrCat("{apiVersion: ", api_version, ", kind: Job, metadata: {name: j, uid: u}}"));
  }
  void CreatePod(absl::string_view name, absl::string_view status = "{}") {
    Create(absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name,
                        ", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: u, controller: "
                        "true}]}, spec: {containers: [{name: c, image: i}]}, status: ",
                        status, "}"));
  }

  TestClock clock_;
  ApiServer server_{{}, clock_};
  OwnedPods owned_{server_, clock_};
  codec::ObjectReader reader_;
  std::string heard_;
};

TEST_F(OwnedPodsTest, KeepsNothingBeforeTheFirstWorkload) {
  CreatePod("a");
  EXPECT_TRUE(owned_.Of("u").empty());
  CreateJob();
  EXPECT_EQ(owned_.Of("u").size(), 1u) << "those that are there come with it";
}

TEST_F(OwnedPodsTest, TellsOfPodsOfAWorkloadThatIsThere) {
  CreatePod("a");
  CreateJob();
  CreatePod("b");
  EXPECT_EQ(heard_, "default/j:b ");
  EXPECT_TRUE(owned_.IsOwned(*server_.FindPod("default", "b")));
  ASSERT_TRUE(server_.Delete(api::Kind::kOther, "Job", "default", "j").ok());
  EXPECT_FALSE(owned_.IsOwned(*server_.FindPod("default", "b")));
}

TEST_F(OwnedPodsTest, LeavesAloneAKindOfAnotherGroup) {
  CreateJob("batch.volcano.sh/v1alpha1");
  CreatePod("a");
  EXPECT_EQ(heard_, "");
  EXPECT_TRUE(owned_.Of("u").empty());
}

TEST_F(OwnedPodsTest, CountsActiveReadyAndTerminatingPods) {
  CreateJob();
  CreatePod("over", "{phase: Succeeded}");
  CreatePod("ready", "{phase: Running, conditions: [{type: Ready, status: 'True'}]}");
  CreatePod("waits");
  ASSERT_TRUE(server_.Bind(*server_.FindPod("default", "ready"), "n").ok());
  EXPECT_EQ(owned_.CountsOf("u").active, 2);
  EXPECT_EQ(owned_.CountsOf("u").ready, 1);
  EXPECT_EQ(owned_.CountsOf("u").bound, 1);
  ASSERT_TRUE(server_.MarkDeleted(*server_.FindPod("default", "ready"), absl::Seconds(30)).ok());
  EXPECT_EQ(owned_.CountsOf("u").active, 1);
  EXPECT_EQ(owned_.CountsOf("u").terminating, 1);
  ASSERT_TRUE(server_.Delete(api::Kind::kPod, "Pod", "default", "ready").ok());
  EXPECT_EQ(owned_.CountsOf("u").terminating, 0);
  EXPECT_EQ(owned_.Of("u").size(), 2u);
}

TEST_F(OwnedPodsTest, KnowsSinceWhenPodsAreReady) {
  const std::string ready = "{phase: Running, conditions: [{type: Ready, status: 'True'}]}";
  CreatePod("before", ready);
  CreateJob();
  CreatePod("now", ready);
  EXPECT_EQ(owned_.AvailableOf("u", absl::ZeroDuration()), 2);
  EXPECT_EQ(owned_.AvailableOf("u", absl::Seconds(10)), 1);
  EXPECT_EQ(owned_.NextAvailable("u", absl::Seconds(10)), absl::UnixEpoch() + absl::Seconds(10));
  clock_.now += absl::Seconds(10);
  EXPECT_EQ(owned_.AvailableOf("u", absl::Seconds(10)), 2);
}

TEST_F(OwnedPodsTest, CountsPodsThatAreNotReadyAnyMoreNoLonger) {
  const std::string ready = "{phase: Running, conditions: [{type: Ready, status: 'True'}]}";
  const absl::Duration delay = absl::Seconds(10);
  CreateJob();
  for (const char* name : {"a", "b", "c"}) {
    CreatePod(name, ready);
    clock_.now += absl::Seconds(1);
  }
  clock_.now = absl::UnixEpoch() + absl::Seconds(11);
  EXPECT_EQ(owned_.AvailableOf("u", delay), 2);
  EXPECT_EQ(owned_.NextAvailable("u", delay), absl::UnixEpoch() + absl::Seconds(12));
  ASSERT_TRUE(server_.Delete(api::Kind::kPod, "Pod", "default", "a").ok());
  ASSERT_TRUE(server_.Delete(api::Kind::kPod, "Pod", "default", "c").ok());
  EXPECT_EQ(owned_.AvailableOf("u", delay), 1);
  EXPECT_EQ(owned_.NextAvailable("u", delay), absl::InfiniteFuture());
  EXPECT_EQ(owned_.AvailableOf("u", absl::Seconds(20)), 0) << "with another delay";
  EXPECT_EQ(owned_.AvailableOf("u", absl::Seconds(5)), 1);
}

}  // namespace
}  // namespace schedsim::sim
