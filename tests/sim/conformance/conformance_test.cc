// Runs the recorded cases of tests/conformance and compares with what the real scheduler did.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/api/kubernetes_version.h"
#include "gtest/gtest.h"
#include "sim/conformance/case.h"
#include "sim/conformance/compare.h"
#include "sim/conformance/follow.h"
#include "sim/record/record_reader.h"
#include "sim/record/recorded_trace.h"
#include "sim/record/records.h"
#include "sim/run/simulation.h"
#include "sim/scenario/scheduler_choice.h"

namespace schedsim::sim {
namespace {

constexpr char kFolder[] = SCHEDSIM_SOURCE_DIR "/tests/conformance/";

// ---- What must be exact ----

// Families whose cases agree with the real scheduler's records, all of them, on all lines that they are for.
const char* const kFamilies[] = {"batch",        "config",      "defaultspread", "dra",        "dracapacity",
                                 "draextended",  "extenders",   "gates",         "images",     "mixed",
                                 "nodeaffinity", "nodenumber",  "podaffinity",   "podgroups",  "ports",
                                 "preemption",   "preemptwide", "queue",         "resources",  "sampling",
                                 "scripted",     "spreading",   "taints",        "underlayip", "volumes"};
// Cases made because they differed once, in the folder found: more victims on a node than an insertion sort
// takes; random cases beyond the families, cut down; pods that were terminating when they were deleted;
// selectors that cannot be parsed, wherever there are selectors; hints that fail over them; numbers at the
// ends of 64 and of 32 bits; shared devices up to 1.36; alternatives that take all devices, up to 1.35;
// victims that a group spares, and pods of it that share a claim; extenders that bind a pod and lose the
// answer, are asked about pods that are being deleted, or fail to bind a pod that is gone.
const char* const kFoundFamilies[] = {"alternatives", "devices",      "graceperiods", "groups",
                                      "hints",        "latefailures", "lostbindings", "manyvictims",
                                      "numbers",      "selectors",    "small",        "terminating"};
const char* const kLines[] = {"1.34", "1.35", "1.36", "1.37"};

// Whole clusters, decisions only, on 1.37.
struct ExactCluster {
  const char* name;
  int bound;
  int pending;
};

const ExactCluster kExactClusters[] = {
    {"gcda-100", 1061, 6},
    {"gcda-500", 4746, 28},
    {"gcda-1200", 7048, 16},
};

// ---- Running ----

api::KubernetesLine LineOf(const std::string& name) {
  const auto version = api::ParseKubernetesVersion(name);
  EXPECT_TRUE(version.ok()) << version.status();
  return version.ok() ? version->line : api::kDefaultKubernetesLine;
}

std::map<std::string, RecordedTrace> Expected(const std::string& path) {
  std::map<std::string, RecordedTrace> by_name;
  auto traces = ReadRecordedTraces(path);
  EXPECT_TRUE(traces.ok()) << traces.status();
  if (!traces.ok()) return by_name;
  for (RecordedTrace& trace : *traces) by_name[trace.name] = std::move(trace);
  return by_name;
}

// Calls `visit` with each case of the file.
void ForEachCase(const std::string& path, api::KubernetesLine line,
                 const std::function<void(const Case&)>& visit) {
  const auto loaded = LoadPlugins({SCHEDSIM_SCRIPTED_PLUGINS}, {}, line);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const auto take = [&visit](const Case& test_case) {
    if (test_case.is_for_line) visit(test_case);
    return absl::OkStatus();
  };
  const absl::Status status = ReadCases(path, line, take, loaded->plugins);
  EXPECT_TRUE(status.ok()) << status;
}

// The first difference of a run from the record; "" when there is none. Choices that the real scheduler
// leaves to chance follow the record.
std::string Difference(const Case& test_case, const RecordedTrace& expected, bool reference) {
  const auto followed = RunFollowing(test_case, expected, reference);
  if (!followed.ok()) return std::string(followed.status().message());
  return followed->difference.value_or("");
}

struct Agreement {
  int case_count = 0;
  // Shape: "case: first difference" of each that differs.
  std::vector<std::string> differences;
};

// Those in which the real scheduler crashed, so that there is no record: a pod of a gang is deleted while it
// waits (1.35).
const char* const kCrashes[] = {"1.35 podgroups-11"};

bool CrashedTheRealOne(const std::string& line, const std::string& case_name) {
  return std::find(std::begin(kCrashes), std::end(kCrashes), absl::StrCat(line, " ", case_name)) !=
         std::end(kCrashes);
}

struct FamilyRun {
  std::string folder;
  std::string family;
  std::string line;
  bool reference = false;
};

Agreement RunFamily(const FamilyRun& run) {
  Agreement result;
  const std::map<std::string, RecordedTrace> expected =
      Expected(absl::StrCat(run.folder, "traces-", run.line, "/", run.family, ".jsonl.gz"));
  ForEachCase(absl::StrCat(run.folder, "cases/", run.family, ".jsonl.gz"), LineOf(run.line),
              [&](const Case& test_case) {
                if (CrashedTheRealOne(run.line, test_case.name)) return;
                ++result.case_count;
                const auto trace = expected.find(test_case.name);
                const std::string difference = trace == expected.end()
                                                   ? "not recorded"
                                                   : Difference(test_case, trace->second, run.reference);
                if (!difference.empty())
                  result.differences.push_back(absl::StrCat(test_case.name, ": ", difference));
              });
  return result;
}

std::vector<FamilyRun> AllFamilyRuns() {
  std::vector<FamilyRun> runs;
  const auto add = [&runs](const std::string& folder, const char* family) {
    for (const char* line : kLines) {
      // Some families begin with a later line.
      const std::string traces = absl::StrCat(folder, "traces-", line, "/", family, ".jsonl.gz");
      if (line == kLines[0] && !std::filesystem::exists(traces)) continue;
      runs.push_back({.folder = folder, .family = family, .line = line});
    }
    // The fast paths do not depend on the line.
    runs.push_back({.folder = folder, .family = family, .line = "1.37", .reference = true});
  };
  for (const char* family : kFamilies) add(kFolder, family);
  for (const char* family : kFoundFamilies) add(absl::StrCat(kFolder, "found/"), family);
  return runs;
}

class FamilyTest : public testing::TestWithParam<FamilyRun> {};

TEST_P(FamilyTest, EqualsTheRealScheduler) {
  const FamilyRun& run = GetParam();
  const Agreement agreement = RunFamily(run);
  EXPECT_GT(agreement.case_count, 0);
  EXPECT_TRUE(agreement.differences.empty())
      << agreement.differences.size() << " of " << agreement.case_count << " differ\n"
      << absl::StrJoin(agreement.differences, "\n");
}

INSTANTIATE_TEST_SUITE_P(Conformance, FamilyTest, testing::ValuesIn(AllFamilyRuns()), [](const auto& run) {
  std::string name =
      absl::StrCat(run.param.family, "_", run.param.line, run.param.reference ? "_reference" : "");
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

// Cases are recorded in full, and then nodes are looked at one by one. Without a trace the fast paths for
// many nodes at once are taken.
class UntracedTest : public testing::TestWithParam<std::string> {};

TEST_P(UntracedTest, DecidesAsTheRunThatIsRecorded) {
  int case_count = 0;
  // Extenders answer as in the record, whatever else is left to chance.
  const std::map<std::string, RecordedTrace> with_extenders =
      Expected(absl::StrCat(kFolder, "traces-", GetParam(), "/extenders.jsonl.gz"));
  const auto compare = [&](Case test_case) {
    ++case_count;
    const auto trace = with_extenders.find(test_case.name);
    const bool has_calls = trace != with_extenders.end();
    const auto calls =
        RecordedExtenders::Read(has_calls ? trace->second.records : std::vector<std::string>(), "");
    ASSERT_TRUE(calls.ok()) << calls.status();
    const auto recorded = RunCase(test_case, /*reference=*/false, /*choice=*/nullptr, &*calls);
    test_case.trace_level = TraceLevel::kOff;
    const auto untraced = RunCase(test_case, /*reference=*/false, /*choice=*/nullptr, &*calls);
    ASSERT_TRUE(recorded.ok() && untraced.ok()) << test_case.name;
    EXPECT_EQ(untraced->decision_digest, recorded->decision_digest) << test_case.name;
  };
  const auto compare_all = [&](absl::string_view folder, absl::Span<const char* const> families) {
    for (const char* family : families) {
      ForEachCase(absl::StrCat(kFolder, folder, family, ".jsonl.gz"), LineOf(GetParam()), compare);
    }
  };
  compare_all("cases/", kFamilies);
  compare_all("found/cases/", kFoundFamilies);
  EXPECT_GT(case_count, 0);
}

INSTANTIATE_TEST_SUITE_P(Conformance, UntracedTest, testing::Values("1.34", "1.37"),
                         [](const auto& line) { return line.param == "1.34" ? "1_34" : "1_37"; });

// ---- What the record does not tell, or only in its effects ----

// Recorded where chance went another way than ours: volumes of one size (volumes-60147), evictions that were
// heard of one by one (preemption-61142), a woken scheduler that popped between two events
// (preemption-61017), nodes to which PreFilter narrowed the search (narrowed-1; narrowed-2 tells the
// decisions only).
TEST(FreeChoices, FollowTheRecord) {
  for (const std::string line : {"1.34", "1.37"}) {
    const std::string folder = SCHEDSIM_SOURCE_DIR "/tests/sim/conformance/followed/";
    const std::map<std::string, RecordedTrace> expected =
        Expected(absl::StrCat(folder, "traces-", line, ".jsonl"));
    ForEachCase(absl::StrCat(folder, "cases-", line, ".jsonl"), LineOf(line), [&](const Case& test_case) {
      const RecordedTrace& record = expected.at(test_case.name);
      const auto alone = RunCase(test_case, /*reference=*/false);
      ASSERT_TRUE(alone.ok()) << alone.status();
      const auto difference = FirstDifference(record.records, alone->records);
      EXPECT_TRUE(difference.ok() && difference->has_value()) << test_case.name << " needs no choice";
      EXPECT_EQ(Difference(test_case, record, /*reference=*/false), "") << test_case.name;
    });
  }
}

// The record of a case with one word changed, and what is said of its free choices then.
std::string OutsideAfter(const std::string& case_name, const std::string& from, const std::string& to) {
  const std::string folder = SCHEDSIM_SOURCE_DIR "/tests/sim/conformance/followed/";
  RecordedTrace record = Expected(folder + "traces-1.37.jsonl").at(case_name);
  for (std::string& line : record.records) {
    const size_t at = line.find(from);
    if (at == std::string::npos) continue;
    line.replace(at, from.size(), to);
    break;
  }
  std::string outside;
  ForEachCase(folder + "cases-1.37.jsonl", LineOf("1.37"), [&](const Case& test_case) {
    if (test_case.name != case_name) return;
    const auto followed = RunFollowing(test_case, record, /*reference=*/false);
    ASSERT_TRUE(followed.ok() && followed->difference.has_value());
    outside = followed->outside;
  });
  return outside;
}

TEST(FreeChoices, SaysWhereTheRecordedOneIsNoneOfOurs) {
  EXPECT_EQ(OutsideAfter("narrowed-1", R"({"node":"n2"},{"node":"n4"})", R"({"node":"n9"},{"node":"n4"})"),
            "attempt 1 of default/p0: the recorded node n9 is none of those to which PreFilter narrowed: n0, "
            "n1, n2, n3, n4");
  EXPECT_EQ(OutsideAfter("preemption-61142", R"("postFilter":{"mode":1,"nominate":")",
                         R"("postFilter":{"mode":1,"nominate":"other-)"),
            "attempt 1 of team-b/pod-12: the recorded node to preempt on other-node-1 is none of the equally "
            "good ones: node-1");
}

TEST(FreeChoices, SaysNothingOfThemWhereSomethingElseDiffers) {
  EXPECT_EQ(OutsideAfter("narrowed-1", R"("attempts":1)", R"("attempts":7)"), "");
}

// ---- Whole clusters ----

class ClusterTest : public testing::TestWithParam<ExactCluster> {};

TEST_P(ClusterTest, EqualsTheRealScheduler) {
  const ExactCluster& cluster = GetParam();
  const std::string name = cluster.name;
  const std::map<std::string, RecordedTrace> expected =
      Expected(absl::StrCat(kFolder, "real/traces-1.37/", name, ".jsonl.gz"));
  ASSERT_EQ(expected.size(), 1u);
  const RecordedTrace& trace = expected.begin()->second;
  const auto records = ReadRecords(trace.records, trace.place);
  ASSERT_TRUE(records.ok()) << records.status();
  const auto bound =
      std::count_if(records->list.begin(), records->list.end(),
                    [](const record::Record& record) { return record.As<record::Bind>() != nullptr; });
  EXPECT_EQ(bound, cluster.bound);
  ForEachCase(absl::StrCat(kFolder, "real/", name, ".jsonl.gz"), LineOf("1.37"), [&](const Case& test_case) {
    auto pending = -bound;
    for (const api::ObjectPtr& object : test_case.objects) {
      const auto* pod =
          object->kind == api::Kind::kPod ? static_cast<const api::Pod*>(object.get()) : nullptr;
      pending += pod != nullptr && pod->node_name.empty() ? 1 : 0;
    }
    EXPECT_EQ(pending, cluster.pending);
    EXPECT_EQ(Difference(test_case, trace, /*reference=*/false), "");
  });
}

INSTANTIATE_TEST_SUITE_P(Conformance, ClusterTest, testing::ValuesIn(kExactClusters), [](const auto& run) {
  std::string name = run.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// ---- Equal input, equal digests ----

CaseRun RunAt(Case test_case, TraceLevel level, bool reference) {
  test_case.trace_level = level;
  auto run = RunCase(test_case, reference);
  EXPECT_TRUE(run.ok()) << run.status();
  return run.ok() ? *std::move(run) : CaseRun();
}

class DigestTest : public testing::TestWithParam<std::string> {};

TEST_P(DigestTest, IsThatOfTheDecisionsAlone) {
  int case_count = 0;
  ForEachCase(absl::StrCat(kFolder, "cases/", GetParam()), LineOf("1.37"), [&](const Case& test_case) {
    if (!test_case.config_error.empty()) return;
    ++case_count;
    if (!test_case.is_for_line) return;
    const CaseRun run = RunAt(test_case, TraceLevel::kFull, /*reference=*/false);
    EXPECT_EQ(RunAt(test_case, TraceLevel::kDecisions, false).decision_digest, run.decision_digest)
        << test_case.name;
    EXPECT_EQ(RunAt(test_case, TraceLevel::kOff, false).decision_digest, run.decision_digest)
        << test_case.name;
    EXPECT_EQ(RunAt(test_case, TraceLevel::kOff, true).decision_digest, run.decision_digest)
        << test_case.name;
    const CaseRun again = RunAt(test_case, TraceLevel::kFull, false);
    EXPECT_EQ(again.decision_digest, run.decision_digest) << test_case.name;
    EXPECT_TRUE(again.records == run.records) << test_case.name;
  });
  EXPECT_GT(case_count, 0);
}

std::vector<std::string> AllCaseFiles() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(absl::StrCat(kFolder, "cases"))) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Conformance, DigestTest, testing::ValuesIn(AllCaseFiles()),
                         [](const auto& run) { return run.param.substr(0, run.param.find('.')); });

TEST(DigestTest, DiffersBetweenDifferentDecisions) {
  std::map<std::string, std::string> name_by_digest;
  ForEachCase(absl::StrCat(kFolder, "cases/taints.jsonl.gz"), LineOf("1.37"), [&](const Case& test_case) {
    const std::string digest = RunAt(test_case, TraceLevel::kOff, false).decision_digest;
    EXPECT_EQ(name_by_digest[digest], "") << test_case.name;
    name_by_digest[digest] = test_case.name;
  });
}

}  // namespace
}  // namespace schedsim::sim
