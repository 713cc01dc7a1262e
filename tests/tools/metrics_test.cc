// Metrics and events as a user gets them.
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

// The label that buckets have behind all others.
const std::regex kLe(R"(,le="[^"]*"|\{le="[^"]*"\})");

// What a reader of OpenMetrics finds wrong with a text, and the samples: by name and labels, the last value.
class OpenMetricsReader {
 public:
  explicit OpenMetricsReader(const std::string& text) {
    EXPECT_TRUE(absl::EndsWith(text, "# EOF\n"));
    const Strings lines = absl::StrSplit(absl::StripSuffix(text, "# EOF\n"), '\n', absl::SkipEmpty());
    for (const std::string& line : lines) {
      if (absl::StartsWith(line, "# ")) {
        ReadHead(line);
      } else {
        ReadSample(line);
      }
    }
    CheckHistograms();
  }

  double Value(const std::string& sample) const {
    const auto found = values.find(sample);
    EXPECT_NE(found, values.end()) << sample;
    return found == values.end() ? -1 : found->second;
  }

  std::map<std::string, double> values;
  std::map<std::string, std::string> types;

 private:
  // Each family has one HELP and one TYPE, and comes once.
  void ReadHead(const std::string& line) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(' ', 3));
    ASSERT_EQ(parts.size(), 4U) << line;
    if (parts[1] == "HELP") {
      EXPECT_TRUE(families_.insert(parts[2]).second) << "twice: " << line;
      family_ = parts[2];
      metric_ = "";
      return;
    }
    EXPECT_EQ(parts[1], "TYPE") << line;
    EXPECT_EQ(parts[2], family_) << line;
    types[family_] = parts[3];
    EXPECT_TRUE((std::set<std::string>{"counter", "gauge", "histogram"}).contains(parts[3])) << line;
  }

  void ReadSample(const std::string& line) {
    static const std::regex kSample(
        R"(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-z]+="(?:[^"\\]|\\.)*"(?:,[a-z]+="(?:[^"\\]|\\.)*")*\})? (-?[0-9.]+) (-?[0-9.]+))");
    std::smatch match;
    ASSERT_TRUE(std::regex_match(line, match, kSample)) << line;
    const std::string suffix(absl::StripPrefix(match[1].str(), family_));
    const std::string& type = types[family_];
    const std::set<std::string> allowed = type == "counter" ? std::set<std::string>{"_total"}
                                          : type == "histogram"
                                              ? std::set<std::string>{"_bucket", "_count", "_sum"}
                                              : std::set<std::string>{""};
    EXPECT_TRUE(allowed.contains(suffix)) << line;
    const std::string labels = std::regex_replace(match[2].str(), kLe, "");
    const std::string metric = absl::StrCat(family_, labels);
    double time = 0;
    ASSERT_TRUE(absl::SimpleAtod(match[4].str(), &time));
    // All samples of a metric come together, and time never goes back.
    if (metric != metric_) {
      EXPECT_TRUE(metrics_.insert(metric).second) << "not in one piece: " << line;
      metric_ = metric;
      time_ = time;
    }
    EXPECT_GE(time, time_) << line;
    time_ = time;
    double value = 0;
    ASSERT_TRUE(absl::SimpleAtod(match[3].str(), &value));
    const std::string sample = absl::StrCat(match[1].str(), match[2].str());
    if (type == "counter" && values.contains(sample)) {
      EXPECT_GE(value, values[sample]) << line;
    }
    values[sample] = value;
  }

  // Buckets grow, and the last one is the count.
  void CheckHistograms() {
    for (const auto& [sample, value] : values) {
      const size_t name = sample.find("_bucket{");
      if (name == std::string::npos || !absl::StrContains(sample, "le=\"+Inf\"")) continue;
      std::string count = sample;
      count.replace(name, 7, "_count");
      count = std::regex_replace(count, kLe, "");
      EXPECT_EQ(Value(count), value) << sample;
    }
  }

  std::set<std::string> families_;
  std::set<std::string> metrics_;
  std::string family_;
  std::string metric_;
  double time_ = 0;
};

// Two nodes of 2 cores: two pods fit, the third one waits until the first one leaves; an urgent one takes the
// place of another.
std::string BusyScenario() {
  return absl::StrCat(
      Cluster(3, "2"),
      R"(- {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: urgent}, value: 1000}
latency: {schedulingCycle: 10ms, apiCall: 20ms}
timeline:
- at: 2s
  delete: {name: web-0}
- at: 10s
  create: {apiVersion: v1, kind: Pod, metadata: {name: urgent}, spec: {priorityClassName: urgent, containers: [{name: c, image: i, resources: {requests: {cpu: 2}}}]}}
- waitUntil: {bound: {name: urgent}}
end: 20s
)");
}

struct Measured {
  ProgramResult result;
  std::string metrics;
  std::string events;
};

Measured Measure(const std::string& scenario, const Strings& more = {}) {
  const TestFolder folder;
  Strings arguments = {"run",       folder.Write("scenario.yaml", scenario),
                       "--metrics", folder.Path("m.txt"),
                       "--events",  folder.Path("events.txt")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Measured measured = {.result = RunProgram(arguments), .metrics = "", .events = ""};
  EXPECT_EQ(measured.result.exit_code, 0) << measured.result.err;
  measured.metrics = FileContent(folder.Path("m.txt"));
  measured.events = FileContent(folder.Path("events.txt"));
  return measured;
}

TEST(MetricsTest, CountAttemptsAndWhatTheyTook) {
  const OpenMetricsReader metrics(Measure(BusyScenario()).metrics);
  const std::string profile = "profile=\"default-scheduler\"";
  EXPECT_EQ(
      metrics.Value(absl::StrCat("scheduler_schedule_attempts_total{", profile, ",result=\"scheduled\"}")),
      4);
  EXPECT_EQ(metrics.Value(
                absl::StrCat("scheduler_schedule_attempts_total{", profile, ",result=\"unschedulable\"}")),
            2);
  // 10 ms for the cycle and 20 ms for the call that binds; a cycle alone that ends without a node.
  const std::string duration = "scheduler_scheduling_attempt_duration_seconds";
  EXPECT_DOUBLE_EQ(metrics.Value(absl::StrCat(duration, "_sum{", profile, ",result=\"scheduled\"}")), 0.12);
  EXPECT_DOUBLE_EQ(metrics.Value(absl::StrCat(duration, "_sum{", profile, ",result=\"unschedulable\"}")),
                   0.02);
  EXPECT_EQ(metrics.Value(absl::StrCat(duration, "_bucket{", profile, ",result=\"scheduled\",le=\"0.016\"}")),
            0);
  EXPECT_EQ(metrics.Value(absl::StrCat(duration, "_bucket{", profile, ",result=\"scheduled\",le=\"0.032\"}")),
            4);
  EXPECT_DOUBLE_EQ(metrics.Value("scheduler_scheduling_algorithm_duration_seconds_sum"), 0.06);
  EXPECT_EQ(metrics.Value("scheduler_pod_scheduling_attempts_bucket{le=\"1.0\"}"), 2);
  EXPECT_EQ(metrics.Value("scheduler_pod_scheduling_attempts_bucket{le=\"2.0\"}"), 4);
  EXPECT_EQ(metrics.Value("scheduler_preemption_attempts_total"), 2);
  EXPECT_EQ(metrics.Value("scheduler_preemption_victims_count"), 1);
  EXPECT_EQ(metrics.Value("scheduler_preemption_victims_sum"), 1);
  EXPECT_EQ(
      metrics.Value("scheduler_queue_incoming_pods_total{event=\"UnscheduledPodAdd\",queue=\"active\"}"), 4);
  EXPECT_EQ(
      metrics.Value(
          "scheduler_queue_incoming_pods_total{event=\"ScheduleAttemptFailure\",queue=\"unschedulable\"}"),
      2);
  EXPECT_EQ(metrics.Value("scheduler_pending_pods{queue=\"unschedulable\"}"), 0);
  EXPECT_EQ(metrics.Value("scheduler_cache_size{type=\"nodes\"}"), 2);
  EXPECT_EQ(metrics.Value("scheduler_cache_size{type=\"pods\"}"), 2);
  EXPECT_EQ(metrics.Value("scheduler_cache_size{type=\"assumed_pods\"}"), 0);
}

TEST(MetricsTest, AreSampledOverTime) {
  const OpenMetricsReader metrics(Measure(BusyScenario(), {"--metrics-interval", "1s"}).metrics);
  const std::string text = Measure(BusyScenario(), {"--metrics-interval", "1s"}).metrics;
  Strings waiting;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "scheduler_unschedulable_pods{plugin=\"NodeResourcesFit\""))
      waiting.push_back(std::string(line.substr(line.find("} ") + 2, 1)));
  }
  // From 1 s on, while the third pod waits for a node; until the end.
  EXPECT_EQ(waiting.size(), 20U);
  EXPECT_EQ(waiting[0], "1");
  EXPECT_EQ(waiting.back(), "0");
}

TEST(MetricsTest, AreTheSameTwiceAndAsCsv) {
  EXPECT_EQ(Measure(BusyScenario()).metrics, Measure(BusyScenario(), {"--reference"}).metrics);
  const TestFolder folder;
  const std::string csv = folder.Path("m.csv");
  EXPECT_EQ(RunProgram({"run", folder.Write("s.yaml", BusyScenario()), "--metrics", csv}).exit_code, 0);
  EXPECT_TRUE(absl::StartsWith(FileContent(csv), "time_microseconds,name,labels,value\n20000000,"))
      << FileContent(csv);
}

TEST(MetricsTest, ChangeNoDecision) {
  const TestFolder folder;
  const std::string scenario = folder.Write("s.yaml", BusyScenario());
  const ProgramResult plain = RunProgram({"run", scenario});
  const ProgramResult measured = RunProgram(
      {"run", scenario, "--metrics", folder.Path("m.txt"), "--metrics-interval", "100ms", "--events",
       folder.Path("e.txt"), "--pods", folder.Path("p.csv"), "--nodes", folder.Path("n.csv")});
  EXPECT_EQ(plain.out, measured.out);
}

TEST(MetricsTest, TheLineSaysWhichThereAre) {
  EXPECT_TRUE(
      absl::StrContains(Measure(BusyScenario()).metrics, "scheduler_pod_scheduled_after_flush_total"));
  EXPECT_FALSE(absl::StrContains(Measure(BusyScenario(), {"--kubernetes-version", "1.35"}).metrics,
                                 "scheduler_pod_scheduled_after_flush_total"));
}

// What kube-scheduler 1.37 itself had counted at the end of cases of the conformance suite: all of it that is
// exported here, sums of durations and buckets aside.
TEST(MetricsTest, AreThoseOfTheRealScheduler) {
  const std::string conformance = SCHEDSIM_SOURCE_DIR "/tests/conformance/";
  const Json recorded = Json::parse(FileContent(conformance + "metrics-1.37.json"));
  EXPECT_GE(recorded.size(), 20U);
  for (const auto& [name, expected] : recorded.items()) {
    const TestFolder folder;
    const std::string cases =
        absl::StrCat(conformance, "cases/", name.substr(0, name.rfind('-')), ".jsonl.gz");
    const ProgramResult result =
        RunProgram({"run", cases, "--case", name, "--metrics", folder.Path("m.txt")});
    ASSERT_EQ(result.exit_code, 0) << name << result.err;
    std::map<std::string, double> counted;
    for (const auto& [sample, value] : OpenMetricsReader(FileContent(folder.Path("m.txt"))).values) {
      const bool is_span = absl::StrContains(sample, "_duration_seconds_sum");
      if (!is_span && !absl::StrContains(sample, "_bucket{")) counted[sample] = value;
    }
    const auto wanted = expected.get<std::map<std::string, double>>();
    EXPECT_EQ(counted, wanted) << name;
  }
}

TEST(MetricsTest, AnIntervalNeedsAFile) {
  const ProgramResult result = RunProgram({"run", "-f", "-", "--metrics-interval", "1s"}, Cluster(1));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "--metrics-interval: expected --metrics beside it"))
      << result.err;
}

TEST(EventsTest, AreAsKubectlPrintsThem) {
  EXPECT_EQ(Measure(BusyScenario()).events, R"(LAST SEEN   TYPE      REASON             OBJECT       MESSAGE
19s         Normal    Scheduled          pod/web-0    Successfully assigned default/web-0 to n1
19s         Warning   FailedScheduling   pod/web-2    0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.
19s         Normal    Scheduled          pod/web-1    Successfully assigned default/web-1 to n2
17s         Normal    Scheduled          pod/web-2    Successfully assigned default/web-2 to n1
10s         Warning   FailedScheduling   pod/urgent   0/2 nodes are available: 2 Insufficient cpu. preemption: found a potential placement for pod on node n2, preempting 1 victims
9s          Normal    Preempted          pod/web-1    Preempted by pod uid-000007 on node n2
9s          Normal    Scheduled          pod/urgent   Successfully assigned default/urgent to n2
)");
}

TEST(EventsTest, AreRowsInJson) {
  const TestFolder folder;
  const std::string path = folder.Path("events.json");
  EXPECT_EQ(RunProgram({"run", folder.Write("s.yaml", BusyScenario()), "--events", path}).exit_code, 0);
  const Json events = Json::parse(FileContent(path));
  EXPECT_EQ(events["kind"], "EventTable");
  const Json first = events["rows"][0];
  EXPECT_EQ(first["reason"], "Scheduled");
  EXPECT_EQ(first["object_kind"], "Pod");
  EXPECT_EQ(first["source"], "default-scheduler");
  EXPECT_EQ(first["message"], "Successfully assigned default/web-0 to n1");
}

TEST(EventsTest, ATaintThatEvictsIsOne) {
  const Measured measured = Measure(absl::StrCat(Cluster(1), R"(timeline:
- at: 5s
  taint: {nodes: [n1, n2], taints: [{key: k, effect: NoExecute}]}
end: 8s
)"));
  EXPECT_TRUE(absl::StrContains(
      measured.events, "Normal   TaintManagerEviction   pod/web-0   Marking for deletion Pod default/web-0"))
      << measured.events;
}

TEST(EventsTest, NoneAreNoResources) {
  EXPECT_EQ(Measure(absl::StrCat(Cluster(0), "end: 1s\n")).events, "No resources found\n");
}

}  // namespace
}  // namespace schedsim
