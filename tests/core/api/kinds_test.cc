#include "core/api/kinds.h"

#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace schedsim::api {
namespace {

TEST(KindsTest, EachRowIsThereOnce) {
  std::set<std::string> names;
  std::set<std::string> resources;
  for (const KindInfo& info : BuiltInKinds()) {
    EXPECT_TRUE(names.insert(absl::StrCat(info.group, "/", info.name)).second) << info.name;
    EXPECT_TRUE(resources.insert(absl::StrCat(info.group, "/", info.plural)).second) << info.plural;
    EXPECT_EQ(info.plural, absl::AsciiStrToLower(info.plural));
    EXPECT_FALSE(info.versions.empty()) << info.name;
  }
}

TEST(KindsTest, EachKindIsFoundInEveryWay) {
  for (int i = 1; i < kKindCount; ++i) {
    const Kind kind = static_cast<Kind>(i);
    const KindInfo& info = KindInfoOf(kind);
    EXPECT_EQ(info.kind, kind);
    EXPECT_EQ(KindName(kind), info.name);
    EXPECT_EQ(FindKindByName(info.name), &info);
    EXPECT_EQ(FindKindByResource(info.group, info.plural), &info);
    const std::string version = info.group.empty() ? "v1" : absl::StrCat(info.group, "/v1");
    EXPECT_EQ(FindKind(version, info.name), &info);
  }
}

TEST(KindsTest, GroupTellsKindsOfOneNameApart) {
  EXPECT_EQ(FindKind("serving.knative.dev/v1", "Service"), nullptr);
  EXPECT_EQ(FindKind("v1", "Service")->kind, Kind::kService);
  EXPECT_EQ(FindKind("events.k8s.io/v1", "Event")->group, "events.k8s.io");
  EXPECT_EQ(FindKind("v1", "Event")->group, "");
  EXPECT_EQ(FindKind("extensions/v1beta1", "Pod"), nullptr);
}

TEST(KindsTest, WordsAreThoseOfKubectl) {
  for (const char* word : {"deploy", "Deployment", "deployment", "deployments", "deployments.apps"}) {
    ASSERT_NE(FindKindByWord(word), nullptr) << word;
    EXPECT_EQ(FindKindByWord(word)->name, "Deployment") << word;
  }
  EXPECT_EQ(FindKindByWord("crds")->name, "CustomResourceDefinition");
  EXPECT_EQ(FindKindByWord("events.events.k8s.io")->group, "events.k8s.io");
  for (const char* word : {"", "deployments.batch", "widget", "depl"}) {
    EXPECT_EQ(FindKindByWord(word), nullptr) << word;
  }
}

TEST(KindsTest, GroupResourceIsThatOfMessages) {
  EXPECT_EQ(GroupResource("v1", "Pod"), "pods");
  EXPECT_EQ(GroupResource("v1", "Endpoints"), "endpoints");
  EXPECT_EQ(GroupResource("apps/v1", "Deployment"), "deployments.apps");
  EXPECT_EQ(GroupResource("storage.k8s.io/v1", "CSIStorageCapacity"), "csistoragecapacities.storage.k8s.io");
  EXPECT_EQ(GroupResource("networking.k8s.io/v1", "NetworkPolicy"), "networkpolicies.networking.k8s.io");
  EXPECT_EQ(GroupResource("example.com/v1", "Gateway"), "gateways.example.com");
  EXPECT_EQ(GroupResource("example.com/v1", "Bus"), "buses.example.com");
}

}  // namespace
}  // namespace schedsim::api
