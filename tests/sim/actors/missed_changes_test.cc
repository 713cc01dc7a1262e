// What a new list tells an informer whose watch was broken.
#include "sim/actors/missed_changes.h"

#include <memory>
#include <string>
#include <vector>

#include "core/api/pod.h"
#include "gtest/gtest.h"

namespace schedsim::sim {
namespace {

api::ObjectPtr MakePod(const std::string& name, const std::string& uid, uint64_t version) {
  auto pod = std::make_shared<api::Pod>();
  pod->kind = api::Kind::kPod;
  pod->metadata.namespace_ = "default";
  pod->metadata.name = name;
  pod->metadata.uid = uid;
  pod->metadata.resource_version = version;
  return pod;
}

// "-name uid/version" for a deletion, "+..." for an addition, "old>new" for an update.
std::string Describe(const WatchEvent& event) {
  const auto text = [](const api::Object& object) {
    return object.metadata.name + " " + object.metadata.uid + "/" +
           std::to_string(object.metadata.resource_version);
  };
  if (event.new_object == nullptr) return "-" + text(*event.old_object);
  if (event.old_object == nullptr) return "+" + text(*event.new_object);
  return text(*event.old_object) + ">" + text(*event.new_object);
}

std::vector<std::string> Describe(const std::vector<WatchEvent>& events) {
  std::vector<std::string> texts;
  for (const WatchEvent& event : events) texts.push_back(Describe(event));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(MissedChangesTest, OnlyTheFirstAndTheLastStateAreKnown) {
  MissedChanges missed;
  missed.Add({.old_object = MakePod("b", "u1", 1), .new_object = MakePod("b", "u1", 5)});
  missed.Add({.old_object = nullptr, .new_object = MakePod("a", "u2", 6)});
  missed.Add({.old_object = MakePod("b", "u1", 5), .new_object = MakePod("b", "u1", 7)});
  missed.Add({.old_object = MakePod("a", "u2", 6), .new_object = MakePod("a", "u2", 8)});
  MissedChanges::Difference difference = missed.Take();
  EXPECT_EQ(Describe(difference.deletions), Texts());
  EXPECT_EQ(Describe(difference.others), Texts({"+a u2/8", "b u1/1>b u1/7"}));
  difference = missed.Take();
  EXPECT_TRUE(difference.deletions.empty() && difference.others.empty());
}

TEST(MissedChangesTest, WhatCameAndWentIsNeverKnown) {
  MissedChanges missed;
  missed.Add({.old_object = nullptr, .new_object = MakePod("a", "u1", 1)});
  missed.Add({.old_object = MakePod("a", "u1", 1), .new_object = nullptr});
  // As of a pod that ended before the informer heard of it.
  missed.Add({.old_object = nullptr, .new_object = nullptr});
  const MissedChanges::Difference difference = missed.Take();
  EXPECT_TRUE(difference.deletions.empty() && difference.others.empty());
}

TEST(MissedChangesTest, ADeletionHasTheStateThatWasKnown) {
  MissedChanges missed;
  missed.Add({.old_object = MakePod("a", "u1", 1), .new_object = MakePod("a", "u1", 2)});
  missed.Add({.old_object = MakePod("a", "u1", 2), .new_object = nullptr});
  EXPECT_EQ(Describe(missed.Take().deletions), Texts({"-a u1/1"}));
}

TEST(MissedChangesTest, AnotherObjectOfTheNameIsADeletionAndAnAddition) {
  MissedChanges missed;
  missed.Add({.old_object = MakePod("a", "u1", 1), .new_object = nullptr});
  missed.Add({.old_object = nullptr, .new_object = MakePod("a", "u2", 2)});
  const MissedChanges::Difference difference = missed.Take();
  EXPECT_EQ(Describe(difference.deletions), Texts({"-a u1/1"}));
  EXPECT_EQ(Describe(difference.others), Texts({"+a u2/2"}));
}

}  // namespace
}  // namespace schedsim::sim
