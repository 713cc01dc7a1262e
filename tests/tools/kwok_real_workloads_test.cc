// What was done to real clusters, done here: at each stage, workloads have what they had there.
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/codec/text/input.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;

constexpr char kFolder[] = SCHEDSIM_SOURCE_DIR "/tests/tools";

// A snapshot, and how long after the start of the scenario it was taken.
struct Stage {
  const char* scenario;
  const char* name;
  const char* time;
};
constexpr Stage kStages[] = {
    {"kwok-real/churn", "1-middle", "35.154s"},
    {"kwok-real/churn", "2-end", "85.345s"},
    {"kwok-real2/rollout", "1-base", "8.531s"},
    {"kwok-real2/rollout", "2-shop-rolled", "15.248s"},
    {"kwok-real2/rollout", "3-tiny-and-recreate", "21.24s"},
    {"kwok-real2/rollout", "4-api-stuck", "40.468s"},
    {"kwok-real2/rollout", "5-paused-and-scaled", "46.168s"},
    {"kwok-real2/rollout", "6-undone", "53.453s"},
    {"kwok-real2/rollout", "7-surge-zero", "61.132s"},
    {"kwok-real2/daemonsets", "1-base", "9.804s"},
    {"kwok-real2/daemonsets", "2-late-nodes", "15.165s"},
    {"kwok-real2/daemonsets", "3-urgent-preempts", "25.103s"},
    {"kwok-real2/daemonsets", "4-taints-changed", "32.754s"},
    {"kwok-real2/daemonsets", "5-rolled", "44.802s"},
    {"kwok-real2/daemonsets", "6-back", "53.821s"},
    {"kwok-real2/volumes", "2-workloads", "18.99s"},
    {"kwok-real2/volumes", "3-more-volumes", "30.784s"},
    {"kwok-real2/volumes", "4-scaled-down", "36.939s"},
    {"kwok-real2/volumes", "5-scaled-up", "47.187s"},
    {"kwok-real2/drain", "1-base", "10.333s"},
    {"kwok-real2/drain", "2-first-drain", "17.072s"},
    {"kwok-real2/drain", "3-drain-blocked", "30.886s"},
    {"kwok-real2/drain", "4-drained", "39.848s"},
    {"kwok-real2/drain", "5-uncordoned", "45.768s"},
    {"kwok-real2/admission", "1-workloads", "10.723s"},
    {"kwok-real2/admission", "2-errors", "17.417s"},
    {"kwok-real2/admission", "3-deleted", "47.453s"},
    {"kwok-real2/admission", "4-namespace-deleted", "64.557s"},
    {"kwok-real2/jobs", "1-first-wave", "35.5s"},
    {"kwok-real2/jobs", "2-suspended-and-resumed", "48.169s"},
    {"kwok-real2/jobs", "3-backoff-over", "98.584s"},
    {"kwok-real2/jobs", "4-deleted", "107.29s"},
    {"kwok-real/outage", "2-tainted", "31.449s"},
    {"kwok-real/outage", "3-evicting", "57.053s"},
    {"kwok-real/outage", "4-evicted", "82.686s"},
    {"kwok-real/outage", "5-recovered", "108.807s"},
};
// What of them rests on milliseconds says kwok-real2/README.md.

// Facts by name, "Deployment default/shop replicas", so that a difference says what it is.
using Facts = std::map<std::string, std::string>;

class Reader {
 public:
  explicit Reader(const Json& list) : list_(list) {
    for (const Json& object : list_["items"]) by_uid_[object["metadata"].value("uid", "")] = &object;
  }

  Facts Read() {
    for (const Json& object : list_["items"]) Add(object);
    for (const auto& [name, count] : counts_) facts_[name] = absl::StrCat(count);
    return std::move(facts_);
  }

 private:
  static const Json* ControllerOf(const Json& object) {
    const Json& metadata = object["metadata"];
    if (!metadata.contains("ownerReferences")) return nullptr;
    for (const Json& owner : metadata["ownerReferences"]) {
      if (owner.value("controller", false)) return &owner;
    }
    return nullptr;
  }

  static std::string RevisionOf(const Json& object) {
    const Json& metadata = object["metadata"];
    return metadata.contains("annotations")
               ? metadata["annotations"].value("deployment.kubernetes.io/revision", "")
               : "";
  }

  // The outermost owner, and the revision of a Deployment on the way.
  std::string TopOf(const Json& object, std::string& revision) const {
    const Json* top = &object;
    for (const Json* owner = ControllerOf(*top); owner != nullptr; owner = ControllerOf(*top)) {
      const auto found = by_uid_.find((*owner)["uid"]);
      if (found == by_uid_.end()) return absl::StrCat((*owner)["kind"].get<std::string>(), " that is gone");
      top = found->second;
      if ((*top)["kind"] == "ReplicaSet") revision = RevisionOf(*top);
    }
    // Names of pods and ReplicaSets that have lost their owner are drawn, and have a hash of their own.
    const Json& metadata = (*top)["metadata"];
    const std::string name = metadata.value("generateName", metadata["name"].get<std::string>());
    const std::string hash = metadata.value("labels", Json::object()).value("pod-template-hash", "");
    return absl::StrCat((*top)["kind"].get<std::string>(), " ",
                        hash.empty() ? name : absl::StripSuffix(name, absl::StrCat("-", hash)));
  }

  void AddNumbers(const std::string& name, const Json& object, const std::vector<std::string>& fields) {
    const Json status = object.value("status", Json::object());
    for (const std::string& field : fields) {
      facts_[absl::StrCat(name, " ", field)] = absl::StrCat(status.value(field, 0));
    }
  }

  // `only`: the condition of this type alone; "": all but Progressing, since why a rollout goes on depends on
  // time.
  void AddConditions(const std::string& name, const Json& object, const std::string& only = "") {
    const Json status = object.value("status", Json::object());
    const Json conditions = status.value("conditions", Json::array());
    for (const Json& condition : conditions) {
      if (only.empty() ? condition["type"] == "Progressing" : condition["type"] != only) continue;
      facts_[absl::StrCat(name, " ", condition["type"].get<std::string>())] =
          absl::StrCat(condition["status"].get<std::string>(), " ", condition.value("reason", ""));
    }
  }

  void Add(const Json& object) {
    const std::string kind = object["kind"];
    std::string revision;
    if (kind == "Pod") {
      const std::string owner = absl::StrCat("pods of ", TopOf(object, revision), " ", revision);
      ++counts_[absl::StrCat(owner, " ", object["status"]["phase"].get<std::string>())];
      ++counts_[absl::StrCat(owner, object["spec"].value("nodeName", "").empty() ? " not bound" : " bound")];
      if (object["metadata"].contains("deletionTimestamp")) ++counts_[absl::StrCat(owner, " terminating")];
      const Json conditions = object["status"].value("conditions", Json::array());
      for (const Json& condition : conditions) {
        if (condition["type"] == "Ready" && condition["status"] == "True")
          ++counts_[absl::StrCat(owner, " ready")];
      }
      return;
    }
    const std::string name = absl::StrCat(kind, " ", object["metadata"]["name"].get<std::string>());
    if (kind == "Node") {
      std::set<std::string> taints;
      const Json spec = object.value("spec", Json::object());
      const Json list = spec.value("taints", Json::array());
      for (const Json& taint : list) {
        taints.insert(absl::StrCat(taint["key"].get<std::string>(), "=", taint.value("value", ""), ":",
                                   taint["effect"].get<std::string>()));
      }
      facts_[absl::StrCat(name, " taints")] = absl::StrJoin(taints, " ");
      AddConditions(name, object, "Ready");
    } else if (kind == "Deployment") {
      AddNumbers(
          name, object,
          {"replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"});
      AddConditions(name, object);
      facts_[absl::StrCat(name, " revision")] = RevisionOf(object);
    } else if (kind == "ReplicaSet") {
      const std::string of = absl::StrCat("ReplicaSet of ", TopOf(object, revision), " ", RevisionOf(object));
      AddNumbers(of, object, {"replicas", "readyReplicas", "availableReplicas"});
      facts_[absl::StrCat(of, " spec")] = absl::StrCat(object["spec"].value("replicas", 1));
    } else if (kind == "StatefulSet") {
      AddNumbers(name, object,
                 {"replicas", "readyReplicas", "availableReplicas", "currentReplicas", "updatedReplicas"});
    } else if (kind == "DaemonSet") {
      AddNumbers(name, object,
                 {"desiredNumberScheduled", "currentNumberScheduled", "updatedNumberScheduled", "numberReady",
                  "numberAvailable", "numberUnavailable", "numberMisscheduled"});
    } else if (kind == "Job") {
      AddNumbers(name, object, {"active", "ready", "succeeded", "failed", "terminating"});
      AddConditions(name, object);
      const Json status = object.value("status", Json::object());
      for (const char* field : {"completedIndexes", "failedIndexes"}) {
        facts_[absl::StrCat(name, " ", field)] = status.value(field, "");
      }
    } else if (kind == "PersistentVolumeClaim") {
      ++counts_[absl::StrCat("claims of ", TopOf(object, revision), " ",
                             object["status"].value("phase", "Pending"))];
    } else if (kind == "ControllerRevision") {
      ++counts_[absl::StrCat("revisions of ", TopOf(object, revision))];
    }
  }

  const Json& list_;
  std::map<std::string, const Json*> by_uid_;
  std::map<std::string, int> counts_;
  Facts facts_;
};

// What the program says when it prints the objects in the end, beside this snapshot.
void ExpectSame(const std::string& snapshot, const ProgramResult& result) {
  const auto text = codec::ReadFile(absl::StrCat(kFolder, "/", snapshot, "/get.json.gz"));
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_NE(result.exit_code, 2) << result.err;
  const Json ours = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(ours.is_object()) << result.err;
  const Facts want = Reader(Json::parse(*text)).Read();
  const Facts got = Reader(ours).Read();
  EXPECT_GT(want.size(), 20U);
  std::set<std::string> names;
  for (const Facts* facts : {&want, &got}) {
    for (const auto& [name, value] : *facts) names.insert(name);
  }
  std::vector<std::string> differences;
  for (const std::string& name : names) {
    const auto in = [&name](const Facts& facts) {
      const auto found = facts.find(name);
      return found == facts.end() ? std::string("-") : found->second;
    };
    if (in(want) != in(got)) {
      differences.push_back(absl::StrCat(name, ": ", in(want), " there, ", in(got), " here"));
    }
  }
  EXPECT_TRUE(differences.empty()) << absl::StrJoin(differences, "\n");
}

class KwokRealWorkloadsTest : public testing::TestWithParam<Stage> {};

TEST_P(KwokRealWorkloadsTest, HaveWhatTheyHadInTheRealCluster) {
  const Stage& stage = GetParam();
  // What was done after the stage never comes, which makes the exit code 1.
  ExpectSame(absl::StrCat(stage.scenario, "/", stage.name),
             RunProgram({"run", absl::StrCat(kFolder, "/", stage.scenario, "/scenario.yaml"), "--allow-empty",
                         "--until", stage.time, "--output", "objects"}));
}

// Pods whose tolerations had begun to run out are evicted when the real ones were, and nothing else moves.
TEST(KwokRealOutageTest, GoesOnFromADumpAsTheRealClusterDid) {
  const std::string dump = absl::StrCat(kFolder, "/kwok-real/outage/2-tainted/get.json.gz");
  ExpectSame("kwok-real/outage/4-evicted",
             RunProgram({"run", "-f", dump, "--until", "51s", "--output", "objects"}));
  ExpectSame("kwok-real/outage/3-evicting",
             RunProgram({"run", "-f", dump, "--until", "25s", "--output", "objects"}));
}

INSTANTIATE_TEST_SUITE_P(Stages, KwokRealWorkloadsTest, testing::ValuesIn(kStages), [](const auto& run) {
  std::string name = absl::StrCat(run.param.scenario, "_", run.param.name);
  for (char& c : name) c = c == '-' || c == '/' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace schedsim
