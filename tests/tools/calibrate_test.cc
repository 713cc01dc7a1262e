// schedsim calibrate: fits of logs made by hand, and refusals.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

// A create of a pod or of its binding, from second `at` on; both times in microseconds after that.
std::string Event(int at, int start, int end, const std::string& pod, bool binding) {
  return absl::StrFormat(
      R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"ResponseComplete","verb":"create",)"
      R"("userAgent":"%s","objectRef":{"resource":"pods","namespace":"default","name":"%s"%s},)"
      R"("responseStatus":{"code":201},"requestReceivedTimestamp":"2026-01-01T00:00:%02d.%06dZ",)"
      R"("stageTimestamp":"2026-01-01T00:00:%02d.%06dZ"})"
      "\n",
      binding ? "kube-scheduler/v1" : "kubectl/v1", pod, binding ? R"(,"subresource":"binding")" : "", at, start, at,
      end);
}

// A pod a second; bound 5 ms after its creation by a call of 2 ms.
std::string Log(int pods) {
  std::string log;
  for (int i = 0; i < pods; ++i) {
    const std::string name = absl::StrCat("pod-", i);
    log += Event(i, 1000, 3000, name, /*binding=*/false);
    log += Event(i, 8000, 10000, name, /*binding=*/true);
  }
  return log;
}

TEST(Calibrate, FindsWhatALogWasMadeWith) {
  for (const std::string& input : {Log(20), Gzip(Log(20)), Xz(Log(20))}) {
    const ProgramResult run = RunProgram({"calibrate", "-"}, input);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_TRUE(absl::StrContains(run.out, "  informer: 5ms\n")) << run.out;
    EXPECT_TRUE(absl::StrContains(run.out, "  apiCall: 2ms\n")) << run.out;
    EXPECT_TRUE(absl::StrContains(run.out, "default: 0 samples of median, from one call")) << run.out;
    EXPECT_TRUE(absl::StrContains(run.out, "  podTermination: 0s\n")) << run.out;
    EXPECT_TRUE(absl::StrContains(run.out, "  p99         7.000ms         7.000ms\n")) << run.out;
    EXPECT_TRUE(absl::StrContains(run.out, "model: scheduling cycle 1ms, binding 0, informers 5ms,")) << run.out;
  }
}

TEST(Calibrate, PrintsJson) {
  const ProgramResult run = RunProgram({"calibrate", "-", "--output", "json"}, Log(20));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(absl::StrContains(run.out, R"("predicted":{"p50":7000,"p90":7000,"p99":7000})")) << run.out;
}

TEST(Calibrate, RefusesWhatIsNoLogOrTooShort) {
  ProgramResult run = RunProgram({"calibrate", "-"}, Log(9));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(run.err, "too few pods: 9 ")) << run.err;
  run = RunProgram({"calibrate", "-"}, absl::StrCat(Log(1), "{\"kind\":\"Pod\"}\n"));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(run.err, "-:3:1: expected an event of an audit log")) << run.err;
  run = RunProgram({"calibrate", "-"}, "");
  EXPECT_EQ(run.exit_code, 2);
}

}  // namespace
}  // namespace schedsim
