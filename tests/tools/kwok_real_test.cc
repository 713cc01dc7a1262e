// Snapshots of real clusters through the scheduler: what the real scheduler left pending stays pending with
// the same message, and clusters that are scheduled anew end as the real ones did. Where they may not, a
// table says why.
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/input.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::json;

constexpr char kFolder[] = SCHEDSIM_SOURCE_DIR "/tests/tools";

// Why a message differs where nothing moves: it is the one of the last attempt, which was made earlier.
constexpr char kEarlier[] =
    "the real scheduler last tried the pod before others were bound that it now counts";
// Why other pods end up pending: who comes first among equals is not fixed.
constexpr char kFinished[] =
    "pods of Jobs succeed at once here, which makes room; there, some held or failed";
constexpr char kOrder[] = "pods of one priority compete for what is left, and come in another order";
constexpr char kPreemption[] =
    "which of the low, default and preemptionPolicy-Never pods end up bound changes from run to run in the "
    "real one";
constexpr char kReplaced[] = "the controllers that replace the victims do not run here";
constexpr char kTainted[] = "the pods were bound before their nodes were tainted";
constexpr char kProvisioned[] = "nobody provisions the claim there; here a stand-in for the provisioner does";

// Snapshots that were taken while no scheduler ran. `later_snapshot` is what the real one made of it.
struct Unscheduled {
  const char* snapshot;
  const char* later_snapshot;
};
constexpr Unscheduled kUnscheduled[] = {
    {"kwok-real/mixed/1-before", "kwok-real/mixed/2-after"},
    {"kwok-real/preempt/2-before-preemption", "kwok-real/preempt/3-after-preemption"},
    {"kwok-real/storage/1-before", "kwok-real/storage/2-after"},
};

// A difference that has a reason.
struct Difference {
  const char* snapshot;
  // The owner of the pods, or their name without its number.
  const char* owner;
  const char* reason;
};

// With --bound keep. No pod may leave its node, whatever this says.
constexpr Difference kKeepDifferences[] = {
    {"kwok-real/mixed/2-after", "ingress", kEarlier},
    {"kwok-real/mixed/2-after", "min-domains", kEarlier},
    {"kwok-real/mixed/2-after", "zone-lock", kEarlier},
    {"kwok-real/mixed/3-changed", "ingress", kEarlier},
    {"kwok-real/mixed/3-changed", "min-domains", kEarlier},
    {"kwok-real/mixed/3-changed", "zone-lock", kEarlier},
    {"kwok-real/nofit/2-one-node-more", "db", kEarlier},
    {"kwok-real/pending/2-pending", "filler", kEarlier},
    {"kwok-real/pending/2-pending", "gpu-untolerated", kEarlier},
    {"kwok-real/pending/2-pending", "gpu-too-many", kEarlier},
    {"kwok-real/pending/3-some-freed", "gpu-too-many", kEarlier},
    {"kwok-real2/volumes/2-workloads", "use-prov", kProvisioned},
    {"kwok-real2/volumes/3-more-volumes", "use-prov", kProvisioned},
    {"kwok-real2/volumes/4-scaled-down", "use-prov", kProvisioned},
    {"kwok-real2/volumes/5-scaled-up", "use-prov", kProvisioned},
};

// With --bound reset.
constexpr Difference kResetDifferences[] = {
    {"kwok-real/nofit/2-one-node-more", "db", kOrder},
    {"kwok-real/nofit/2-one-node-more", "early", kOrder},
    {"kwok-real/nofit/2-one-node-more", "pinned", kOrder},
    {"kwok-real/nofit/2-one-node-more", "web", kOrder},
    {"kwok-real/pending/3-some-freed", "filler", kOrder},
    {"kwok-real/pending/3-some-freed", "gpu-too-many", kOrder},
    {"kwok-real/preempt/3-after-preemption", "dflt", kPreemption},
    {"kwok-real/preempt/3-after-preemption", "low-a", kPreemption},
    {"kwok-real/preempt/3-after-preemption", "low-b", kPreemption},
    {"kwok-real/preempt/3-after-preemption", "mid-a", kPreemption},
    {"kwok-real/preempt/3-after-preemption", "never-a", kPreemption},
    {"kwok-real/preempt/4-critical", "dflt", kPreemption},
    {"kwok-real/preempt/4-critical", "low-a", kPreemption},
    {"kwok-real/preempt/4-critical", "low-b", kPreemption},
    {"kwok-real/preempt/4-critical", "mid-a", kPreemption},
    {"kwok-real/preempt/4-critical", "mid-late", kPreemption},
    {"kwok-real/preempt/4-critical", "never-a", kPreemption},
    {"kwok-real/storage/2-after", "big", kOrder},
    {"kwok-real/storage/3-changed", "big", kOrder},
    {"kwok-real/workloads/1-running", "wide", kOrder},
    {"kwok-real2/daemonsets/4-taints-changed", "filler", kTainted},
    {"kwok-real2/daemonsets/5-rolled", "filler", kTainted},
    {"kwok-real2/daemonsets/6-back", "log", kOrder},
    {"kwok-real2/daemonsets/6-back", "zone-a", kOrder},
    {"kwok-real2/jobs/1-first-wave", "failing", kFinished},
    {"kwok-real2/jobs/1-first-wave", "many", kFinished},
    {"kwok-real2/jobs/1-first-wave", "wide", kFinished},
    {"kwok-real2/rollout/1-base", "shop", kOrder},
    {"kwok-real2/rollout/2-shop-rolled", "shop", kOrder},
    {"kwok-real2/rollout/5-paused-and-scaled", "shop", kOrder},
    {"kwok-real2/rollout/6-undone", "api", kOrder},
    {"kwok-real2/rollout/7-surge-zero", "api", kOrder},
    {"kwok-real2/rollout/7-surge-zero", "shop", kOrder},
    {"kwok-real2/volumes/2-workloads", "use-prov", kProvisioned},
    {"kwok-real2/volumes/3-more-volumes", "use-prov", kProvisioned},
    {"kwok-real2/volumes/4-scaled-down", "use-prov", kProvisioned},
    {"kwok-real2/volumes/5-scaled-up", "use-prov", kProvisioned},
};

// With pods that no scheduler has seen, compared with what the real one made of them.
constexpr Difference kUnscheduledDifferences[] = {
    {"kwok-real/preempt/2-before-preemption", "dflt", kReplaced},
    {"kwok-real/preempt/2-before-preemption", "low-a", kReplaced},
    {"kwok-real/preempt/2-before-preemption", "low-b", kReplaced},
    {"kwok-real/preempt/2-before-preemption", "mid-a", kPreemption},
    {"kwok-real/preempt/2-before-preemption", "never-a", kPreemption},
    {"kwok-real/storage/1-before", "pg",
     "the controller that makes the next pod of the StatefulSet does not run here"},
    {"kwok-real/storage/1-before", "two-claims",
     "fits only where both claims happen to get volumes in one zone"},
};

// What holds in each run of the real scheduler, as the README of kwok-real says it.
struct Firm {
  const char* snapshot;
  const char* bound;  // --bound
  const char* owner;
  int bound_count;
};
constexpr Firm kFirm[] = {
    {"kwok-real/preempt/2-before-preemption", "keep", "high-a", 12},
    {"kwok-real/preempt/2-before-preemption", "keep", "high-anti", 4},
    {"kwok-real/preempt/2-before-preemption", "keep", "high-spread", 8},
    {"kwok-real/preempt/3-after-preemption", "reset", "high-a", 12},
    {"kwok-real/preempt/3-after-preemption", "reset", "high-anti", 4},
    {"kwok-real/preempt/3-after-preemption", "reset", "high-spread", 8},
    {"kwok-real/preempt/4-critical", "reset", "critical", 3},
    {"kwok-real/preempt/4-critical", "reset", "high-a", 12},
};

struct RealPod {
  std::string owner;
  std::string node;
  std::string message;  // Of its condition PodScheduled.
  // Whether its node has a NoExecute taint: it leaves when its tolerations have run out.
  bool leaves = false;
};

// By "namespace/name"; without those that have ended.
using RealPods = std::map<std::string, RealPod>;

// Of each owner: how many pods are bound, and how many pending ones have which message.
using Outcomes = std::map<std::string, std::map<std::string, int>>;

std::string OwnerOf(const Json& pod) {
  const Json& meta = pod["metadata"];
  if (meta.contains("ownerReferences")) {
    const Json& owner = meta["ownerReferences"][0];
    const std::string name = owner["name"];
    // The Deployment of a ReplicaSet.
    return owner["kind"] == "ReplicaSet" ? name.substr(0, name.rfind('-')) : name;
  }
  const std::string name = meta["name"];
  const size_t dash = name.rfind('-');
  const bool is_numbered =
      dash != std::string::npos && name.find_first_not_of("0123456789", dash + 1) == std::string::npos;
  return is_numbered ? name.substr(0, dash) : name;
}

// The path of a snapshot's objects.
std::string FileOf(const std::string& snapshot) {
  for (const char* ending : {".json", ".json.gz", ".json.xz"}) {
    const std::string path = absl::StrCat(kFolder, "/", snapshot, "/get", ending);
    if (fs::exists(path)) return path;
  }
  return "";
}

RealPods ReadRealPods(const std::string& snapshot) {
  RealPods pods;
  const auto text = codec::ReadFile(FileOf(snapshot));
  EXPECT_TRUE(text.ok()) << text.status();
  const Json list = text.ok() ? Json::parse(*text, nullptr, /*allow_exceptions=*/false) : Json();
  std::set<std::string> tainted;
  for (const Json& object : list["items"]) {
    if (object["kind"] != "Node") continue;
    for (const Json& taint : object["spec"].value("taints", Json::array())) {
      if (taint["effect"] == "NoExecute") tainted.insert(object["metadata"]["name"]);
    }
  }
  for (const Json& object : list["items"]) {
    if (object["kind"] != "Pod") continue;
    const std::string phase = object["status"]["phase"];
    if (phase == "Succeeded" || phase == "Failed") continue;
    RealPod pod = {.owner = OwnerOf(object), .node = object["spec"].value("nodeName", "")};
    pod.leaves = tainted.count(pod.node) > 0;
    for (const Json& condition : object["status"].value("conditions", Json::array())) {
      if (condition["type"] == "PodScheduled") pod.message = condition.value("message", "");
    }
    const Json& meta = object["metadata"];
    pods[absl::StrCat(meta["namespace"].get<std::string>(), "/", meta["name"].get<std::string>())] = pod;
  }
  return pods;
}

constexpr char kGated[] = "Scheduling is blocked due to non-empty scheduling gates";

// The same pods after a run, the bound ones without a message; pods that were evicted are missing.
RealPods Scheduled(const std::string& snapshot, const std::string& bound, const RealPods& real) {
  const ProgramResult result =
      RunProgram({"run", "-f", FileOf(snapshot), "--bound", bound, "--output", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  RealPods pods;
  if (result.exit_code != 0) return pods;
  const Json report = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  EXPECT_EQ(report["exact"], true);
  for (const Json& pod : report["pods"]) {
    const std::string key =
        absl::StrCat(pod["namespace"].get<std::string>(), "/", pod["name"].get<std::string>());
    const auto known = real.find(key);
    if (known == real.end() || pod["status"] == "Gone") continue;
    // Of a pod of another scheduler the report says whose it is; the cluster says nothing.
    std::string message = pod["status"] == "Ignored" ? "" : pod.value("message", "");
    // The report also names the gates.
    if (absl::StartsWith(message, kGated)) message = kGated;
    pods[key] = {.owner = known->second.owner, .node = pod.value("node", ""), .message = message};
  }
  return pods;
}

Outcomes OutcomesOf(const RealPods& pods) {
  Outcomes outcomes;
  for (const auto& [key, pod] : pods) {
    ++outcomes[pod.owner][pod.node.empty() ? absl::StrCat("pending: ", pod.message) : "bound"];
  }
  return outcomes;
}

std::string Describe(const std::map<std::string, int>& outcome) {
  std::string text;
  for (const auto& [what, count] : outcome) absl::StrAppend(&text, "\n    ", count, " ", what);
  return text;
}

// The owners in the table's rows for the snapshot.
template <typename Table>
std::set<std::string> OwnersIn(const Table& table, const std::string& snapshot) {
  std::set<std::string> owners;
  for (const Difference& row : table) {
    if (row.snapshot == snapshot) owners.insert(row.owner);
  }
  return owners;
}

std::vector<std::string> Snapshots() {
  std::vector<std::string> snapshots;
  for (const char* set : {"kwok-real", "kwok-real2"}) {
    for (const auto& scenario : fs::directory_iterator(fs::path(kFolder) / set)) {
      if (!scenario.is_directory()) continue;
      for (const auto& stage : fs::directory_iterator(scenario.path())) {
        const std::string name = fs::relative(stage.path(), kFolder).generic_string();
        if (stage.is_directory() && !FileOf(name).empty()) snapshots.push_back(name);
      }
    }
  }
  std::sort(snapshots.begin(), snapshots.end());
  return snapshots;
}

bool NoSchedulerRan(const std::string& snapshot) {
  return std::any_of(std::begin(kUnscheduled), std::end(kUnscheduled),
                     [&snapshot](const Unscheduled& row) { return row.snapshot == snapshot; });
}

// Fails for each owner whose pods end otherwise than `real` has it, but for those with a row in the table;
// and for rows that are no longer needed.
void ExpectSameOutcomes(const std::string& snapshot, const Outcomes& real, const Outcomes& ours,
                        const std::set<std::string>& excused) {
  for (const std::string& owner : excused) {
    EXPECT_EQ(real.count(owner), 1U) << snapshot << ": a row for " << owner << ", which has no pods";
  }
  for (const auto& [owner, outcome] : real) {
    const auto found = ours.find(owner);
    const std::map<std::string, int> got = found == ours.end() ? std::map<std::string, int>() : found->second;
    if (excused.count(owner) > 0) {
      EXPECT_NE(got, outcome) << snapshot << ": " << owner << " needs no row any more";
    } else {
      EXPECT_EQ(got, outcome) << snapshot << ": " << owner << "\n  in the real cluster:" << Describe(outcome)
                              << "\n  here:" << Describe(got);
    }
  }
}

class KwokRealTest : public testing::TestWithParam<std::string> {};

TEST_P(KwokRealTest, NothingThatIsBoundMoves) {
  const RealPods real = ReadRealPods(GetParam());
  const RealPods ours = Scheduled(GetParam(), "keep", real);
  std::vector<std::string> moved;
  for (const auto& [key, pod] : real) {
    const auto found = ours.find(key);
    // Victims of a preemption are gone.
    if (pod.node.empty() || (found == ours.end() && (pod.leaves || NoSchedulerRan(GetParam())))) continue;
    if (found == ours.end() || found->second.node != pod.node) moved.push_back(key);
  }
  EXPECT_TRUE(moved.empty()) << absl::StrJoin(moved, ", ");
}

TEST_P(KwokRealTest, WhatIsPendingStaysPendingWithItsMessage) {
  if (NoSchedulerRan(GetParam())) GTEST_SKIP() << "no scheduler ran: see PodsEndAsInTheLaterSnapshot";
  RealPods real = ReadRealPods(GetParam());
  const RealPods ours = Scheduled(GetParam(), "keep", real);
  std::erase_if(real, [&ours](const auto& pod) { return pod.second.leaves && ours.count(pod.first) == 0; });
  ExpectSameOutcomes(GetParam(), OutcomesOf(real), OutcomesOf(ours), OwnersIn(kKeepDifferences, GetParam()));
}

// One pending pod of each owner and message.
TEST_P(KwokRealTest, ExplainGivesTheMessageOfTheRealScheduler) {
  if (NoSchedulerRan(GetParam())) GTEST_SKIP() << "no scheduler ran";
  const std::set<std::string> excused = OwnersIn(kKeepDifferences, GetParam());
  std::set<std::pair<std::string, std::string>> asked;
  for (const auto& [key, pod] : ReadRealPods(GetParam())) {
    const bool was_tried = absl::StartsWith(pod.message, "0/");
    if (!pod.node.empty() || !was_tried || excused.count(pod.owner) > 0) continue;
    if (!asked.emplace(pod.owner, pod.message).second) continue;
    const ProgramResult result =
        RunProgram({"explain", key, "-f", FileOf(GetParam()), "--bound", "keep", "--top", "1"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(absl::StrContains(result.out, absl::StrCat("The scheduler's message:\n", pod.message, "\n")))
        << key << ", in the real cluster: " << pod.message << "\n"
        << result.out;
    for (const absl::string_view line : absl::StrSplit(result.out, '\n')) {
      if (line != pod.message) {
        EXPECT_LE(line.size(), 80U) << line;
      }
    }
  }
}

TEST_P(KwokRealTest, ScheduledAnewItEndsAsTheRealOne) {
  if (NoSchedulerRan(GetParam())) GTEST_SKIP() << "no scheduler ran: see PodsEndAsInTheLaterSnapshot";
  const RealPods real = ReadRealPods(GetParam());
  ExpectSameOutcomes(GetParam(), OutcomesOf(real), OutcomesOf(Scheduled(GetParam(), "reset", real)),
                     OwnersIn(kResetDifferences, GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Snapshots, KwokRealTest, testing::ValuesIn(Snapshots()), [](const auto& run) {
  std::string name = run.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '-'; }, '_');
  return name;
});

TEST(KwokRealBeforeTest, PodsEndAsInTheLaterSnapshot) {
  for (const Unscheduled& row : kUnscheduled) {
    const RealPods before = ReadRealPods(row.snapshot);
    Outcomes later = OutcomesOf(ReadRealPods(row.later_snapshot));
    ExpectSameOutcomes(row.snapshot, later, OutcomesOf(Scheduled(row.snapshot, "keep", before)),
                       OwnersIn(kUnscheduledDifferences, row.snapshot));
  }
}

TEST(KwokRealBeforeTest, WhatIsFirmInTheRealSchedulerHolds) {
  for (const Firm& row : kFirm) {
    const Outcomes ours = OutcomesOf(Scheduled(row.snapshot, row.bound, ReadRealPods(row.snapshot)));
    const auto found = ours.find(row.owner);
    ASSERT_NE(found, ours.end()) << row.snapshot << " " << row.owner;
    EXPECT_EQ(found->second, (std::map<std::string, int>{{"bound", row.bound_count}}))
        << row.snapshot << " " << row.owner << Describe(found->second);
  }
}

TEST(KwokRealTablesTest, EachRowHasAReasonAndASnapshot) {
  const auto expect_rows = [](const auto& table) {
    for (const Difference& row : table) {
      EXPECT_NE(FileOf(row.snapshot), "") << row.snapshot;
      EXPECT_GT(absl::string_view(row.reason).size(), 5U) << row.snapshot;
    }
  };
  expect_rows(kKeepDifferences);
  expect_rows(kResetDifferences);
  expect_rows(kUnscheduledDifferences);
  EXPECT_GE(Snapshots().size(), 60U);
}

}  // namespace
}  // namespace schedsim
