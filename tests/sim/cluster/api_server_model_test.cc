// The API server against a list of what should be stored: random calls, after each of which objects, versions
// and what the watchers heard must agree.
#include "sim/cluster/api_server.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/node.h"
#include "core/base/rng.h"
#include "gtest/gtest.h"
#include "sim/kernel/event_loop.h"
#include "tests/random_seeds.h"

namespace schedsim::sim {
namespace {

constexpr uint64_t kSeedCount = 20;
constexpr int kStepCount = 3000;

struct KindName {
  api::Kind kind;
  const char* name;
  bool namespaced;
};
// Two kinds that scheduling does not read may have objects of one name.
constexpr KindName kKinds[] = {
    {api::Kind::kPod, "Pod", true},
    {api::Kind::kNode, "Node", false},
    {api::Kind::kOther, "ConfigMap", true},
    {api::Kind::kOther, "Secret", true},
};

// Two that every cluster has.
constexpr const char* kNamespaces[] = {"default", "kube-system"};

// What counts of an object.
struct Expected {
  std::string uid;
  uint64_t version = 0;
  std::string label;
  absl::Time created;
  std::optional<absl::Time> deleted;
  // Of pods.
  std::string node;
  std::string nominated;
  std::string conditions;
};

std::string Describe(const Expected& object) {
  return absl::StrCat("uid ", object.uid, ", version ", object.version, ", label ", object.label,
                      ", created ", absl::ToUnixMillis(object.created), ", deleted ",
                      object.deleted.has_value() ? absl::ToUnixMillis(*object.deleted) : 0, ", node ",
                      object.node, ", nominated ", object.nominated, ", conditions ", object.conditions);
}

std::string ConditionsOf(const api::Pod& pod) {
  std::string text;
  for (const api::PodCondition& condition : pod.status.conditions) {
    absl::StrAppend(&text, condition.type, "=", condition.status, " ", condition.message, ";");
  }
  return text;
}

std::string Describe(const api::Object& object) {
  const std::string* label = object.metadata.labels.Find("l");
  Expected found = {.uid = object.metadata.uid,
                    .version = object.metadata.resource_version,
                    .label = label == nullptr ? "" : *label,
                    .created = object.metadata.creation_timestamp.value_or(absl::InfinitePast()),
                    .deleted = object.metadata.deletion_timestamp};
  if (object.kind == api::Kind::kPod) {
    const auto& pod = static_cast<const api::Pod&>(object);
    found.node = pod.node_name;
    found.nominated = pod.status.nominated_node_name;
    found.conditions = ConditionsOf(pod);
  }
  return Describe(found);
}

class ServerModel {
 public:
  explicit ServerModel(uint64_t seed)
      : rng_(seed),
        clears_nomination_(seed % 2 == 0),
        clock_(absl::FromUnixSeconds(1000)),
        server_({.clears_nomination_when_bound = clears_nomination_}, clock_) {
    for (std::vector<WatchEvent>* heard : {&heard_, &heard_by_other_}) {
      server_.Watch([heard](const WatchEvent& event) { heard->push_back(event); });
    }
  }

  // One random call; returns what it was.
  std::string Step() {
    clock_.AdvanceTo(clock_.Now() + absl::Milliseconds(rng_.Below(3)));
    const KindName& kind = kKinds[rng_.Below(4)];
    const std::string name = absl::StrCat("o", rng_.Below(5));
    const std::string name_space = kind.namespaced ? kNamespaces[rng_.Below(2)] : "";
    const int64_t choice = rng_.Below(100);
    if (choice < 25) return Create(kind, name_space, name);
    if (choice < 35) return Update(kind, name_space, name, ApiServer::VersionCheck::kUnchecked);
    if (choice < 55) return Update(kind, name_space, name, ApiServer::VersionCheck::kChecked);
    if (choice < 68) return Delete(kind, name_space, name);
    const std::string of_pod = kNamespaces[rng_.Below(2)];
    if (choice < 80) return Bind(of_pod, name);
    if (choice < 92) return PatchStatus(of_pod, name);
    return MarkDeleted(of_pod, name);
  }

  void Compare() {
    std::map<api::Kind, std::vector<std::string>> expected;
    for (const auto& [id, object] : expected_) {
      const std::string key = id.second;
      expected[id.first].push_back(absl::StrCat(key, ": ", Describe(object)));
    }
    for (const KindName& kind : kKinds) {
      std::vector<std::string> stored;
      for (const auto& [key, object] : server_.List(kind.kind)) {
        stored.push_back(absl::StrCat(key, ": ", Describe(*object)));
      }
      EXPECT_EQ(stored, expected[kind.kind]);
    }
    EXPECT_EQ(server_.resource_version(), version_);
    CompareEvents();
  }

  // Nobody changes a version that was stored once.
  void CompareVersions() {
    for (const auto& [object, text] : versions_) EXPECT_EQ(Describe(*object), text);
  }

 private:
  using Id = std::pair<api::Kind, std::string>;

  static Id IdOf(const KindName& kind, const std::string& name_space, const std::string& name) {
    std::string key = kind.kind == api::Kind::kOther ? absl::StrCat(kind.name, "/") : "";
    if (!name_space.empty()) absl::StrAppend(&key, name_space, "/");
    return {kind.kind, absl::StrCat(key, name)};
  }
  Expected* Find(const KindName& kind, const std::string& name_space, const std::string& name) {
    const auto found = expected_.find(IdOf(kind, name_space, name));
    return found == expected_.end() ? nullptr : &found->second;
  }

  std::shared_ptr<api::Object> MakeObject(const KindName& kind, const std::string& name_space,
                                          const std::string& name) {
    std::shared_ptr<api::Object> object;
    if (kind.kind == api::Kind::kPod) {
      auto pod = std::make_shared<api::Pod>();
      pod->spec = std::make_shared<api::PodSpec>();
      if (rng_.Below(4) == 0) pod->status.nominated_node_name = "n1";
      object = std::move(pod);
    } else if (kind.kind == api::Kind::kNode) {
      object = std::make_shared<api::Node>();
    } else {
      object = std::make_shared<api::Object>();
    }
    object->kind_name = kind.name;
    object->metadata.namespace_ = name_space;
    object->metadata.name = name;
    object->metadata.labels.Set("l", absl::StrCat(rng_.Below(1000)));
    return object;
  }

  std::string Create(const KindName& kind, const std::string& name_space, const std::string& name) {
    const std::shared_ptr<api::Object> object = MakeObject(kind, name_space, name);
    if (rng_.Below(3) == 0) object->metadata.uid = absl::StrCat("given-", rng_.Below(1000));
    const absl::Status status = server_.Create(object);
    if (Find(kind, name_space, name) != nullptr) {
      EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
      return "create again";
    }
    EXPECT_TRUE(status.ok()) << status;
    Expected& created = expected_[IdOf(kind, name_space, name)];
    created = {.uid = object->metadata.uid,
               .version = ++version_,
               .label = *object->metadata.labels.Find("l"),
               .created = clock_.Now()};
    if (created.uid.empty()) {
      const api::ObjectPtr stored = server_.Find(kind.kind, kind.name, name_space, name);
      created.uid = stored == nullptr ? "" : stored->metadata.uid;
      EXPECT_TRUE(uids_.insert(created.uid).second) << "a uid that was given out before: " << created.uid;
    }
    if (kind.kind == api::Kind::kPod) {
      created.nominated = static_cast<const api::Pod&>(*object).status.nominated_node_name;
    }
    return absl::StrCat("create ", kind.name, " ", name);
  }

  std::string Update(const KindName& kind, const std::string& name_space, const std::string& name,
                     ApiServer::VersionCheck check) {
    const std::shared_ptr<api::Object> object = MakeObject(kind, name_space, name);
    Expected* stored = Find(kind, name_space, name);
    // Mostly the version that is stored; 0 is for whatever is there.
    const int64_t which = rng_.Below(5);
    if (stored != nullptr && which > 0)
      object->metadata.resource_version = stored->version - (which == 1 ? 1 : 0);
    const absl::Status status = server_.Update(object, check);
    if (stored == nullptr) {
      EXPECT_TRUE(absl::IsNotFound(status)) << status;
      return "update none";
    }
    const bool is_checked =
        check == ApiServer::VersionCheck::kChecked && object->metadata.resource_version != 0;
    if (is_checked && object->metadata.resource_version != stored->version) {
      EXPECT_TRUE(absl::IsAborted(status)) << status;
      return "update an old version";
    }
    EXPECT_TRUE(status.ok()) << status;
    stored->version = ++version_;
    stored->label = *object->metadata.labels.Find("l");
    if (kind.kind == api::Kind::kPod) {
      const std::string& nominated = static_cast<const api::Pod&>(*object).status.nominated_node_name;
      if (!nominated.empty()) stored->nominated = nominated;
    }
    return absl::StrCat("update ", kind.name, " ", name);
  }

  std::string Delete(const KindName& kind, const std::string& name_space, const std::string& name) {
    const absl::Status status = server_.Delete(kind.kind, kind.name, name_space, name);
    if (Find(kind, name_space, name) == nullptr) {
      EXPECT_TRUE(absl::IsNotFound(status)) << status;
      return "delete none";
    }
    EXPECT_TRUE(status.ok()) << status;
    expected_.erase(IdOf(kind, name_space, name));
    ++version_;
    return absl::StrCat("delete ", kind.name, " ", name);
  }

  // The pod as a caller knows it: as stored, or one of that name that is gone.
  api::Pod CallersPod(const std::string& name_space, const std::string& name) {
    api::Pod pod;
    pod.metadata.namespace_ = name_space;
    pod.metadata.name = name;
    const Expected* stored = Find(kKinds[0], name_space, name);
    if (stored != nullptr) pod.metadata.uid = stored->uid;
    return pod;
  }

  std::string Bind(const std::string& name_space, const std::string& name) {
    api::Pod pod = CallersPod(name_space, name);
    if (rng_.Below(8) == 0) pod.metadata.uid = "of-an-older-pod";
    const std::string node = absl::StrCat("n", rng_.Below(3));
    const absl::Status status = server_.Bind(pod, node);
    Expected* stored = Find(kKinds[0], name_space, name);
    if (stored == nullptr) {
      EXPECT_TRUE(absl::IsNotFound(status)) << status;
      return "bind none";
    }
    if (stored->uid != pod.metadata.uid || !stored->node.empty() || stored->deleted.has_value()) {
      EXPECT_TRUE(absl::IsAborted(status)) << status;
      return "bind in vain";
    }
    EXPECT_TRUE(status.ok()) << status;
    stored->version = ++version_;
    stored->node = node;
    SetCondition(*stored, "True", "");
    if (clears_nomination_) stored->nominated.clear();
    return absl::StrCat("bind ", name);
  }

  std::string PatchStatus(const std::string& name_space, const std::string& name) {
    framework::PodStatusPatch patch;
    const std::string message = absl::StrCat("message ", rng_.Below(5));
    if (rng_.Below(2) == 0) {
      patch.condition = {.type = "PodScheduled", .status = "False", .reason = "", .message = message};
    }
    if (rng_.Below(2) == 0) patch.nominated_node_name = rng_.Below(2) == 0 ? "" : "n2";
    const auto result = server_.PatchPodStatus(CallersPod(name_space, name), patch);
    Expected* stored = Find(kKinds[0], name_space, name);
    if (stored == nullptr) {
      EXPECT_TRUE(absl::IsNotFound(result.status())) << result.status();
      return "patch none";
    }
    stored->version = ++version_;
    if (patch.condition.has_value()) SetCondition(*stored, "False", message);
    if (patch.nominated_node_name.has_value()) stored->nominated = *patch.nominated_node_name;
    EXPECT_TRUE(result.ok()) << result.status();
    EXPECT_TRUE(result.ok() && *result == server_.FindPod(name_space, name));
    return absl::StrCat("patch ", name);
  }

  std::string MarkDeleted(const std::string& name_space, const std::string& name) {
    const absl::Duration grace = absl::Seconds(rng_.Below(40));
    const absl::Status status = server_.MarkDeleted(CallersPod(name_space, name), grace);
    Expected* stored = Find(kKinds[0], name_space, name);
    if (stored == nullptr) {
      EXPECT_TRUE(absl::IsNotFound(status)) << status;
      return "mark none";
    }
    EXPECT_TRUE(status.ok()) << status;
    stored->version = ++version_;
    stored->deleted = clock_.Now() + grace;
    return absl::StrCat("mark ", name);
  }

  static void SetCondition(Expected& pod, const std::string& value, const std::string& message) {
    pod.conditions = absl::StrCat("PodScheduled=", value, " ", message, ";");
  }

  // Both watchers hear of each change, once and in order; an event has what was stored before and what is
  // now.
  void CompareEvents() {
    ASSERT_EQ(heard_.size(), heard_by_other_.size());
    for (; event_count_ < heard_.size(); ++event_count_) {
      const WatchEvent& event = heard_[event_count_];
      EXPECT_EQ(event.old_object, heard_by_other_[event_count_].old_object);
      EXPECT_EQ(event.new_object, heard_by_other_[event_count_].new_object);
      const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
      const std::string key = absl::StrCat(object.kind_name, " ", object.Key());
      EXPECT_EQ(event.old_object, watched_[key]) << key;
      if (event.new_object != nullptr) {
        EXPECT_GT(object.metadata.resource_version, watched_version_) << key;
        watched_version_ = object.metadata.resource_version;
        versions_.emplace_back(event.new_object, Describe(object));
      }
      watched_[key] = event.new_object;
    }
    std::erase_if(watched_, [](const auto& watched) { return watched.second == nullptr; });
    EXPECT_EQ(watched_.size(), expected_.size());
    for (const auto& [key, object] : watched_) {
      EXPECT_EQ(object, server_.Find(object->kind, object->kind_name, object->metadata.namespace_,
                                     object->metadata.name))
          << key;
    }
  }

  Rng rng_;
  const bool clears_nomination_;
  EventLoop clock_;
  ApiServer server_;
  std::map<Id, Expected> expected_;
  uint64_t version_ = 0;
  std::set<std::string> uids_;
  std::vector<WatchEvent> heard_;
  std::vector<WatchEvent> heard_by_other_;
  size_t event_count_ = 0;
  // The state that the events add up to.
  std::map<std::string, api::ObjectPtr> watched_;
  uint64_t watched_version_ = 0;
  // Each version that was ever stored, with what it was then.
  std::vector<std::pair<api::ObjectPtr, std::string>> versions_;
};

class ApiServerModelTest : public testing::TestWithParam<uint64_t> {};

TEST_P(ApiServerModelTest, StoresAndTellsWhatTheListSays) {
  SCOPED_TRACE(RepeatCommand(GetParam(), "*ApiServerModelTest*"));
  ServerModel model(GetParam());
  for (int step = 0; step < kStepCount; ++step) {
    const std::string what = model.Step();
    model.Compare();
    ASSERT_FALSE(HasFailure()) << "in step " << step << ": " << what;
  }
  model.CompareVersions();
}

INSTANTIATE_TEST_SUITE_P(Seeds, ApiServerModelTest, testing::ValuesIn(SeedsToRun(kSeedCount)),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace schedsim::sim
