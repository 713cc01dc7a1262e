#include "sim/conformance/compare.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace schedsim::sim {
namespace {

using Lines = std::vector<std::string>;

// A run with every kind of record: web-0 fits, web-1 preempts web-9.
const Lines& RecordedRun() {
  static const Lines* const run = new Lines{
      R"({"active": ["d/web-0", "d/web-1"], "backoff": [], "ev": "queue", "info": {"d/web-0": {"attempts": 0}, "d/web-1": {"attempts": 0}}, "t": 0, "unschedulable": []})",
      R"({"attempts": 1, "best": ["node-1", "node-2"], "ev": "attempt", "evaluated": 3, "feasible": 2, "filter": [{"node": "node-1"}, {"node": "node-2"}, {"code": "Unschedulable", "node": "node-3", "plugin": "NodeResourcesFit", "reasons": ["Insufficient cpu", "Too many pods"]}], "host": "node-1", "hint": "node-9", "pod": "d/web-0", "preFilter": {"nodes": ["node-1", "node-2", "node-3"], "skipFilter": []}, "profile": "default-scheduler", "scores": {"nodes": ["node-1", "node-2"], "raw": {"ImageLocality": [0, 0]}, "total": [90, 90], "weighted": {"ImageLocality": [0, 0], "NodeResourcesFit": [90, 90]}}, "start": 0, "t": 0})",
      R"({"ev": "bind", "node": "node-1", "pod": "d/web-0", "t": 0})",
      R"({"action": "Binding", "ev": "event", "note": "Successfully assigned d/web-0 to node-1", "pod": "d/web-0", "reason": "Scheduled", "t": 0, "type": "Normal"})",
      R"({"attempts": 1, "dryRun": [{"node": "node-1", "victims": ["d/web-9"], "violations": 0}, {"code": "Unschedulable", "node": "node-2", "reasons": ["Insufficient cpu"]}], "error": "0/2 nodes are available.", "ev": "attempt", "failure": {"error": "0/2 nodes are available."}, "filter": [{"code": "Unschedulable", "node": "node-1", "plugin": "NodeResourcesFit", "reasons": ["Insufficient cpu"]}], "pod": "d/web-1", "postFilter": {"nominate": "node-1", "status": {"code": "Success"}}, "preFilter": {"skipFilter": []}, "profile": "default-scheduler", "start": 2, "t": 0.001, "unschedulablePlugins": ["NodeResourcesFit"]})",
      R"({"ev": "delete", "pod": "d/web-9", "t": 0.001})",
      R"({"ev": "delete", "pod": "d/web-8", "t": 0.001})",
      R"({"action": "Preempting", "ev": "event", "note": "Preempted by pod 3f2a on node node-1", "pod": "d/web-9", "reason": "Preempted", "t": 0.001, "type": "Normal"})",
      R"({"ev": "status", "message": "0/2 nodes are available.", "nominated": "node-1", "pod": "d/web-1", "reason": "Unschedulable", "status": "False", "t": 0.001})",
      R"({"disruption": {"message": "for a higher priority", "reason": "PreemptionByScheduler"}, "ev": "status", "nominated": "", "pod": "d/web-9", "t": 0.001})",
      R"({"ev": "update", "name": "d/claim", "resource": "persistentvolumeclaims", "selectedNode": "node-1", "t": 0.25, "volumeName": ""})",
      R"({"error": "gone", "ev": "bindFailure", "pod": "d/web-1", "t": 0.5})",
      R"({"active": [], "backoff": ["d/web-1"], "ev": "queue", "info": {"d/web-1": {"attempts": 1, "unschedulablePlugins": ["NodeResourcesFit"]}}, "t": 0.5, "unschedulable": []})",
      R"({"ev": "step", "i": 0, "t": 1})",
      R"({"ev": "final", "pods": {"d/web-0": {"node": "node-1", "phase": "Pending"}, "d/web-1": {"message": "0/2 nodes are available.", "phase": "Pending", "reason": "Unschedulable"}}, "t": 20})",
  };
  return *run;
}

// The recorded run with `from`, which must be in it, replaced by `to` at its first place only.
Lines Changed(absl::string_view from, absl::string_view to) {
  Lines run = RecordedRun();
  for (std::string& line : run) {
    const size_t found = line.find(std::string(from));
    if (found == std::string::npos) continue;
    line.replace(found, from.size(), std::string(to));
    return run;
  }
  ADD_FAILURE() << "not in the recorded run: " << from;
  return run;
}

// What FirstDifference says of the recorded run and `actual`: empty when they agree.
std::string Compare(const Lines& actual) {
  const auto difference = FirstDifference(RecordedRun(), actual);
  if (!difference.ok()) return std::string(difference.status().message());
  return difference->value_or("");
}

struct Change {
  const char* from;
  const char* to;
  const char* want;  // A part of the message; "" for no difference.
};

TEST(CompareTest, FindsAChangeOfEachFieldThatIsCompared) {
  const Change changes[] = {
      // Attempts.
      {R"("pod": "d/web-0", "preFilter")", R"("pod": "d/web-5", "preFilter")",
       R"(attempt 1 of d/web-0 at 0 s: pod: expected "d/web-0", got "d/web-5")"},
      {R"("attempts": 1, "best")", R"("attempts": 2, "best")", "attempts: expected 1, got 2"},
      {R"("profile": "default-scheduler")", R"("profile": "other")", "profile: expected"},
      {R"("start": 2, "t": 0.001)", R"("start": 3, "t": 0.001)",
       "attempt 1 of d/web-1 at 0.001 s: start: expected 2, got 3"},
      {R"("start": 2, "t": 0.001)", R"("start": 2, "t": 0.003)", "time: expected 0.001, got 0.003"},
      {R"("nodes": ["node-1", "node-2", "node-3"])", R"("nodes": ["node-1"])", "preFilter.nodes"},
      {R"("preFilter": {"skipFilter": []})", R"("preFilter": {"status": {"code": "Skip"}})",
       "preFilter.status"},
      {R"("hint": "node-9")", R"("hint": "")", "hint"},
      {R"({"node": "node-2"}, {"code")", R"({"code")",
       R"(filter: node-2: expected ["Success","",[]], got nothing)"},
      {R"("Insufficient cpu", "Too many pods")", R"("Insufficient cpu")", "filter: node-3"},
      {R"("node": "node-3", "plugin": "NodeResourcesFit")", R"("node": "node-3", "plugin": "NodePorts")",
       "filter: node-3"},
      {R"("raw": {"ImageLocality": [0, 0]})", R"("raw": {"ImageLocality": [0, 1]})",
       "scores.raw.ImageLocality: node-2: expected 0, got 1"},
      {R"("total": [90, 90])", R"("total": [91, 90])", "scores.total: node-1: expected 90, got 91"},
      {R"("NodeResourcesFit": [90, 90])", R"("NodeResourcesFit": [90, 91])",
       "scores.weighted.NodeResourcesFit"},
      {R"("weighted": {)", R"("weighted": {"NodeAffinity": [0, 0], )",
       "scores.weighted.NodeAffinity: not expected"},
      {R"("best": ["node-1", "node-2"])", R"("best": ["node-2", "node-1"])", "best: expected"},
      {R"("host": "node-1")", R"("host": "node-2")", R"(host: expected "node-1", got "node-2")"},
      {R"("error": "0/2 nodes are available.", "ev": "attempt")", R"("error": "", "ev": "attempt")", "error"},
      {R"("failure": {"error": "0/2 nodes are available."})", R"("failure": {"error": "no"})",
       "failure.error"},
      {R"("unschedulablePlugins": ["NodeResourcesFit"])", R"("unschedulablePlugins": [])",
       "unschedulablePlugins"},
      {R"("nominate": "node-1")", R"("nominate": "")", "postFilter.nominate"},
      {R"("status": {"code": "Success"})", R"("status": {"code": "Error"})", "postFilter.status"},
      {R"("victims": ["d/web-9"])", R"("victims": ["d/web-8"])", "dryRun: node-1"},
      {R"("violations": 0)", R"("violations": 1)", "dryRun: node-1"},
      // Effects.
      {R"("node": "node-1", "pod": "d/web-0")", R"("node": "node-2", "pod": "d/web-0")",
       R"(bind at 0 s: missing [["d/web-0","node-1"]], not expected [["d/web-0","node-2"]])"},
      {R"("reason": "Unschedulable", "status")", R"("reason": "SchedulerError", "status")", "status at 0 s"},
      {R"("nominated": "node-1")", R"("nominated": "")", "status at 0 s"},
      {"for a higher priority", "for nothing", "status at 0 s"},
      {R"("ev": "delete", "pod": "d/web-9")", R"("ev": "delete", "pod": "d/web-7")", "delete at 0 s"},
      {R"("selectedNode": "node-1")", R"("selectedNode": "node-2")", "update at 0.25 s"},
      {R"("error": "gone")", R"("error": "")", "bindFailure at 0.5 s"},
      {"Successfully assigned", "Assigned", "event at 0 s"},
      {R"("type": "Normal")", R"("type": "Warning")", "event at 0 s"},
      {"on node node-1", "on node node-2", "event at 0 s"},
      {R"("t": 0.25)", R"("t": 0.26)", "update at 0.25 s"},
      // The queue and the end.
      {R"("backoff": ["d/web-1"])", R"("backoff": [])", "queue state 1 at 0.5 s: backoff"},
      {R"({"d/web-1": {"attempts": 1,)", R"({"d/web-1": {"attempts": 2,)",
       "queue state 1 at 0.5 s: info: d/web-1"},
      {R"({"node": "node-1", "phase": "Pending"})", R"({"phase": "Pending"})", "final: d/web-0"},
  };
  for (const Change& change : changes) {
    const std::string message = Compare(Changed(change.from, change.to));
    EXPECT_TRUE(absl::StrContains(message, change.want)) << change.to << " gives: " << message;
  }
}

TEST(CompareTest, IgnoresWhatIsFree) {
  const Change changes[] = {
      {R"([{"node": "node-1"}, {"node": "node-2"}, )", R"([{"node": "node-2"}, {"node": "node-1"}, )", ""},
      {R"("Insufficient cpu", "Too many pods")", R"("Too many pods", "Insufficient cpu")", ""},
      {R"("active": ["d/web-0", "d/web-1"])", R"("active": ["d/web-1", "d/web-0"])", ""},
      {R"("start": 2, "t": 0.001)", R"("start": 2, "t": 0.002)", ""},
      {R"("t": 0.25)", R"("t": 0.254)", ""},
      {"by pod 3f2a on node", "by pod 77-b on node", ""},
      {R"("evaluated": 3)", R"("evaluated": 4)", ""},
      {R"("action": "Binding")", R"("action": "")", ""},
      {R"("status": "False")", R"("status": "Unknown")", ""},
      {R"("raw": {)", R"("raw": {"NodeAffinity": [1, 1], )", ""},
      {R"("ev": "step", "i": 0)", R"("ev": "step", "i": 1)", ""},
  };
  for (const Change& change : changes) {
    EXPECT_EQ(Compare(Changed(change.from, change.to)), "") << change.to;
  }
}

TEST(CompareTest, OrderOfOneKindAtOneTimeIsFree) {
  Lines run = RecordedRun();
  std::swap(run[5], run[6]);  // Two deletes.
  std::swap(run[7], run[9]);  // An event and a status.
  EXPECT_EQ(Compare(run), "");
}

TEST(CompareTest, CountsEqualEffects) {
  Lines run = RecordedRun();
  run.insert(run.begin() + 2, run[2]);
  EXPECT_EQ(Compare(run), R"(bind at 0 s: missing [], not expected [["d/web-0","node-1"]])");
}

TEST(CompareTest, OrderOfAttemptsCounts) {
  Lines run = RecordedRun();
  std::swap(run[1], run[4]);
  EXPECT_TRUE(absl::StrContains(Compare(run), R"(pod: expected "d/web-0", got "d/web-1")"));
}

TEST(CompareTest, FindsMissingAndAdditionalRecords) {
  struct Case {
    int record;
    const char* if_missing;
    const char* if_twice;
  };
  const Case cases[] = {
      {4, "attempt 1 of d/web-1 at 0.001 s: missing", "attempt 1 of d/web-1 at 0.001 s: not expected"},
      {5, "delete at 0 s: missing", "delete at 0 s: missing []"},
      {12, "queue state 1 at 0.5 s: missing", ""},
      {14, "final: missing", ""},
  };
  for (const Case& c : cases) {
    Lines without = RecordedRun();
    without.erase(without.begin() + c.record);
    EXPECT_TRUE(absl::StrContains(Compare(without), c.if_missing)) << Compare(without);
    Lines twice = RecordedRun();
    twice.insert(twice.begin() + c.record, RecordedRun()[static_cast<size_t>(c.record)]);
    EXPECT_TRUE(absl::StrContains(Compare(twice), c.if_twice)) << Compare(twice);
  }
}

TEST(CompareTest, IgnoresPartsOfAnAttemptThatAreNotExpected) {
  const Lines decisions = {R"({"attempts": 1, "ev": "attempt", "host": "node-1", "pod": "d/web-0", "t": 0})"};
  const Lines full = {
      R"({"attempts": 1, "ev": "attempt", "filter": [{"node": "node-1"}], "host": "node-1", "pod": "d/web-0", "t": 0})",
      R"({"active": [], "backoff": [], "ev": "queue", "info": {}, "t": 0, "unschedulable": []})"};
  EXPECT_EQ(*FirstDifference(decisions, full), std::nullopt);
  EXPECT_NE(*FirstDifference(full, decisions), std::nullopt);
}

TEST(CompareTest, AnotherHostOutOfTheBestDiffers) {
  Lines run = Changed(R"("host": "node-1")", R"("host": "node-2")");
  run[3] = R"({"ev": "event", "note": "something else", "reason": "Scheduled", "t": 0, "type": "Normal"})";
  EXPECT_NE(Compare(run), "");
}

TEST(CompareTest, TheBestNodesMustBeTheSame) {
  const Lines run = Changed(R"("best": ["node-1", "node-2"])", R"("best": ["node-2"])");
  EXPECT_TRUE(absl::StrContains(Compare(run), "best: expected"));
}

TEST(CompareTest, RefusesMalformedRecords) {
  for (const char* record : {"{", "[]", R"({"t": 0})", R"({"ev": "bind", "t": 0})",
                             R"({"ev": "bind", "t": "0"})", R"({"ev": "queue", "t": 0, "active": null})"}) {
    Lines run = RecordedRun();
    run[0] = record;
    EXPECT_EQ(FirstDifference(RecordedRun(), run).status().code(), absl::StatusCode::kInvalidArgument)
        << record;
  }
}

}  // namespace
}  // namespace schedsim::sim
