// schedsim calibrate: what it prints of logs made by hand, and what it refuses.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/sim/formats/audit_log_text.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using sim::AuditLogText;

// A pod a second; bound 7 ms after its creation by a call of 2 ms.
AuditLogText Log(int pods) {
  AuditLogText log;
  log.Node(1, "n");
  for (int i = 0; i < pods; ++i) {
    const double at = 1000 * (i + 1);
    log.Pod(at, absl::StrCat("pod-", i)).Bind(at + 5, at + 7, absl::StrCat("pod-", i));
  }
  return log;
}

TEST(Calibrate, FindsWhatALogWasMadeWith) {
  const std::string text = Log(20).text();
  for (const std::string& input : {text, Gzip(text), Xz(text)}) {
    const ProgramResult run = RunProgram({"calibrate", "-"}, input);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(
        run.out,
        "# 41 events, 20 calls of the scheduler\n"
        "latency:\n"
        "  # default: 0 samples (mean, from a binding of the scheduler to its next call while pods wait), at "
        "least 10 are needed\n"
        "  schedulingCycle: 1ms\n"
        "  # default: a log of calls does not tell it from informers and scheduling cycle\n"
        "  binding: 0s\n"
        "  # 20 samples: from a creation, when no other pod waits, to the scheduler's call\n"
        "  informer: 5ms\n"
        "  # 20 samples: the scheduler's calls, from receipt to answer\n"
        "  apiCall: 2ms\n"
        "  # default: 0 samples (bound pods, from deletion to the deletion with grace period 0), at least 10 "
        "are "
        "needed\n"
        "  podTermination: 0s\n"
        "  # default: the log has no backlog of calls that is fast first and steady and slower then\n"
        "  client: {qps: 0}\n"
        "#\n"
        "# From creation to binding, 20 pods that were bound in the log and in the prediction\n"
        "#             predicted            real\n"
        "#   p50         7.000ms         7.000ms\n"
        "#   p90         7.000ms         7.000ms\n"
        "#   p99         7.000ms         7.000ms\n"
        "#   predicted: virtual time; model: scheduling cycle 1ms, binding 0, informers 5ms, API calls 2ms, "
        "pod "
        "termination 0, no client limit\n"
        "#   from a replay of 21 writes of all but the scheduler; 0 ignored\n"
        "#   left out: 0 bound in the log only, 0 in the prediction only, 0 in neither, 0 gated, 0 of other "
        "schedulers or none, 0 without a creation\n");
  }
}

// As it is, behind a scenario: the comments stay comments.
TEST(Calibrate, PrintsWhatGoesIntoAScenario) {
  const TestFolder folder;
  AuditLogText log = Log(20);
  for (int i = 0; i < 15; ++i)
    log.Pod(40000 + 1000 * i, absl::StrCat("slow-", i))
        .Bind(40005 + 1020 * i, 40107 + 1040 * i, absl::StrCat("slow-", i));
  const std::string file = folder.Write("audit.log", log.text());
  const ProgramResult fit = RunProgram({"calibrate", file, "--check", file});
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  EXPECT_TRUE(absl::StrContains(fit.out, "distribution: lognormal")) << fit.out;
  constexpr char kScenario[] =
      "apiVersion: schedsim/v1\nkind: Scenario\nobjects:\n"
      "- {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 1, pods: 9}}}\n"
      "- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: app}]}}\n";
  const ProgramResult run = RunProgram({"run", "-"}, absl::StrCat(kScenario, fit.out));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  // The report names the model that the log gave.
  const size_t model = fit.out.find("model: ");
  ASSERT_NE(model, std::string::npos);
  EXPECT_TRUE(absl::StrContains(run.out, fit.out.substr(model, fit.out.find('\n', model) - model)))
      << run.out;
}

TEST(Calibrate, SaysWhichPodsAreLeftOut) {
  AuditLogText log = Log(20);
  const double at = 30000;
  log.Pod(at, "too-big", "8").Fail(at + 5, at + 7, "too-big");
  log.Pod(at, "too-big-here", "8").Bind(at + 9, at + 10, "too-big-here");
  log.Pod(at, "fits-here").Fail(at + 11, at + 12, "fits-here");
  log.Pod(at, "gated", "1m", R"(,"schedulingGates":[{"name":"g"}])");
  log.Pod(at, "of-another", "1m", R"(,"schedulerName":"another")")
      .Pod(at, "on-node", "1m", R"(,"nodeName":"n")");
  log.Bind(at + 20, at + 21, "older");
  const ProgramResult run = RunProgram({"calibrate", "-"}, log.text());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(absl::StrContains(
      run.out,
      "left out: 1 bound in the log only, 1 in the prediction only, 1 in neither, 1 gated, 2 "
      "of other schedulers or none, 1 without a creation\n"))
      << run.out;
}

TEST(Calibrate, CountsFromTheEndOfASilence) {
  AuditLogText log = Log(20);
  log.Pod(30000, "early").Bind(39000, 39002, "early");
  const ProgramResult run = RunProgram({"calibrate", "-"}, log.text());
  EXPECT_TRUE(absl::StrContains(run.out, "#   p99         7.000ms         7.000ms\n")) << run.out;
  EXPECT_TRUE(
      absl::StrContains(run.out, "#   1 came while the scheduler was silent for 2s or more, and count from"))
      << run.out;
}

TEST(Calibrate, SaysHowManyPairsAreByOrder) {
  AuditLogText log = Log(20);
  log.GeneratedPod(30000, "web-").Bind(30005, 30007, "web-abcde");
  const ProgramResult run = RunProgram({"calibrate", "-"}, log.text());
  EXPECT_TRUE(
      absl::StrContains(run.out, "#   1 have no name in the log: creation and binding were paired by"))
      << run.out;
}

// Level Metadata has no bodies.
TEST(Calibrate, FallsBackToPlainPodsAndSaysSo) {
  AuditLogText log;
  for (int i = 0; i < 20; ++i) {
    const double at = 1000 * (i + 1);
    const std::string name = absl::StrCat("pod-", i);
    log.Add({.start = at - 1, .end = at, .name = name});
    log.Add(
        {.start = at + 5, .end = at + 7, .agent = AuditLogText::kScheduler, .sub = "binding", .name = name});
  }
  log.Add({.start = 29999, .end = 30000, .name = "fails"}).Fail(30001, 30002, "fails");
  ProgramResult run = RunProgram({"calibrate", "-"}, log.text());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(absl::StrContains(
      run.out,
      "from the creations alone, as plain pods on one node where all fit: the log has no body "
      "for 21 of 21 pods that it creates (audit level Request is needed)\n"))
      << run.out;
  EXPECT_TRUE(absl::StrContains(run.out, "1 that failed first")) << run.out;
  EXPECT_TRUE(absl::StrContains(run.out, "#   p50         7.000ms         7.000ms\n")) << run.out;
  run = RunProgram({"calibrate", "-", "--output", "json"}, log.text());
  EXPECT_TRUE(absl::StrContains(run.out, R"("way":"plainPods","noReplay":"the log has no body for 21)"))
      << run.out;
}

TEST(Calibrate, PredictsOtherLogsWithTheSameModel) {
  const TestFolder folder;
  AuditLogText slow;
  slow.Node(1, "n");
  for (int i = 0; i < 12; ++i) {
    const double at = 1000 * (i + 1);
    slow.Pod(at, absl::StrCat("pod-", i)).Bind(at + 50, at + 60, absl::StrCat("pod-", i));
  }
  const std::string other = folder.Write("slow.log", slow.text());
  const std::string small = folder.Write("small.log", Log(3).text());
  ProgramResult run = RunProgram({"calibrate", "-", "--check", other, "--check", small}, Log(20).text());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(absl::StrContains(
      run.out, absl::StrCat("\n#\n# Check of ", other, ", which the model was not fitted to: 25 events, 12")))
      << run.out;
  EXPECT_TRUE(absl::StrContains(run.out, "#   p50         7.000ms        60.000ms\n")) << run.out;
  EXPECT_TRUE(
      absl::StrContains(run.out,
                        "Too few pods that were bound in the log and in the prediction: 3, expected at "
                        "least 10\n"))
      << run.out;
  run = RunProgram({"calibrate", "-", "--check", other, "--output", "json"}, Log(20).text());
  EXPECT_TRUE(
      absl::StrContains(run.out, R"("predicted":{"p50":7000,"p90":7000,"p99":7000},"real":{"p50":60000)"))
      << run.out;
}

TEST(Calibrate, RefusesWhatIsNoLogOrTooShort) {
  ProgramResult run = RunProgram({"calibrate", "-"}, Log(9).text());
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(run.err,
                                "-: too few pods that were bound in the log and in the prediction: 9, "
                                "expected at least 10 (left out: 0 bound"))
      << run.err;
  run = RunProgram({"calibrate", "-"}, absl::StrCat(Log(1).text(), "{\"kind\":\"Pod\"}\n"));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(run.err, "-:4:1: expected an event of an audit log")) << run.err;
  run = RunProgram({"calibrate", "-"}, "");
  EXPECT_EQ(run.exit_code, 2);
  run = RunProgram({"calibrate", "-"}, Log(20).Pod(32.0 * 24 * 3600 * 1000, "late").text());
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(run.err, "-: writes more than 31 days apart, expected the log of one run"))
      << run.err;
  run = RunProgram({"calibrate", "-", "--check", "/nonexistent/audit.log"}, Log(20).text());
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(run.err, "/nonexistent/audit.log")) << run.err;
  EXPECT_EQ(run.out, "");
}

}  // namespace
}  // namespace schedsim
