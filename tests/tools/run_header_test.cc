// What a result says of its run, and the verdict over pending pods.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/digest.h"
#include "core/base/version.h"
#include "core/codec/text/input_log.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::ordered_json;
using Strings = std::vector<std::string>;

constexpr char kCluster[] = R"(
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 2, memory: 4Gi, pods: 9}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 2, memory: 4Gi, pods: 9}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1500m}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1500m}}}]}}
)";

constexpr char kTooLarge[] = R"(---
{apiVersion: v1, kind: Pod, metadata: {name: large}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]}}
)";

// Pods without a node that nobody expects the scheduler to place.
constexpr char kHeldBack[] = R"(---
{apiVersion: v1, kind: Pod, metadata: {name: gated}, spec: {schedulingGates: [{name: example.com/wait}], containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: foreign}, spec: {schedulerName: other, containers: [{name: c, image: i}]}}
)";

Json JsonOf(Strings arguments, absl::string_view input = "") {
  arguments.insert(arguments.begin(), "run");
  arguments.insert(arguments.end(), {"--output", "json"});
  const ProgramResult result = RunProgram(arguments, input);
  EXPECT_EQ(result.exit_code, 0) << absl::StrJoin(arguments, " ") << "\n" << result.err;
  return Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
}

TEST(RunHeaderTest, TheTextSaysWhatWasRun) {
  const TestFolder folder;
  const std::string cluster = folder.Write("a cluster.yaml", kCluster);
  const std::string hash = codec::Sha256Hex(kCluster);
  const ProgramResult one = RunProgram({"run", "-f", cluster, "--seed", "7", "--trace", folder.Path("t")});
  EXPECT_TRUE(
      absl::StartsWith(one.out, absl::StrCat("Run             -f '", cluster, "' --seed 7\n                ",
                                             ProgramVersion(), ", seed 7, input ", hash.substr(0, 12), "\n")))
      << one.out;
  const std::string more = folder.Write("more.yaml", kTooLarge);
  const std::string both = codec::Sha256Hex(absl::StrCat(hash, "\n", codec::Sha256Hex(kTooLarge), "\n"));
  const ProgramResult two = RunProgram({"run", "-f", cluster, "-f", more});
  EXPECT_TRUE(absl::StrContains(two.out, absl::StrCat(", input ", both.substr(0, 12), " (2 files)\n")))
      << two.out;
}

TEST(RunHeaderTest, NamesEachFileWithItsHash) {
  const TestFolder folder;
  folder.Write("in/a.yaml", kCluster);
  folder.Write("in/b.yaml.gz", Gzip(kTooLarge));
  const std::string config = folder.Write(
      "config.yaml", "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}");
  const Json run = JsonOf({"-f", folder.Path("in"), "--config", config})["run"];
  const Strings paths = {config, folder.Path("in/a.yaml"), folder.Path("in/b.yaml.gz")};
  ASSERT_EQ(run["inputs"].size(), paths.size()) << run;
  for (size_t i = 0; i < paths.size(); ++i) {
    EXPECT_EQ(run["inputs"][i]["path"], paths[i]);
    EXPECT_EQ(run["inputs"][i]["sha256"], codec::Sha256Hex(FileContent(paths[i])));
  }
  const Json piped = JsonOf({"-f", "-"}, kCluster)["run"];
  EXPECT_EQ(piped["inputs"][0]["path"], "-");
  EXPECT_EQ(piped["inputs"][0]["sha256"], codec::Sha256Hex(kCluster));
  EXPECT_EQ(piped["inputSha256"], codec::Sha256Hex(kCluster));
}

// Each option that decides over the result is among them, as it was given.
TEST(RunHeaderTest, TheArgumentsAreThoseOfTheSameRun) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", kCluster);
  const std::string config = folder.Write(
      "config.yaml", "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}");
  const Strings rows[] = {
      {"-f", cluster},
      {"-f",
       cluster,
       "--config",
       config,
       "--feature-gates",
       "OpportunisticBatching=false",
       "--kubernetes-version",
       "1.36",
       "--stage",
       "pod-fast",
       "--until",
       "1h30m",
       "--start",
       "2026-01-31T12:00:00.5Z",
       "--bound",
       "reset=app in (web, db),!canary",
       "--controllers",
       "none",
       "--seed",
       "18446744073709551615"},
      {"-f", cluster, "--until", "0", "--bound", "keep"},
      {"-f", cluster, "--seed", "7", "--vary", "start,workers,ties", "--faults", "bind=0.05,watch=0.01"},
      {SCHEDSIM_SOURCE_DIR "/scenarios/rolling-drain/scenario.yaml"},
      {SCHEDSIM_SOURCE_DIR "/tests/tools/recordings/pending/record.export.yaml.xz", "--reschedule"},
      {SCHEDSIM_SOURCE_DIR "/tests/conformance/cases/taints.jsonl.gz", "--case", "taints-1"},
  };
  for (const Strings& row : rows) {
    const Json report = JsonOf(row);
    ASSERT_EQ(report["run"]["arguments"].get<Strings>(), row) << report["run"];
    EXPECT_EQ(JsonOf(report["run"]["arguments"].get<Strings>()), report);
  }
  const Json report = JsonOf({"-f", "-", "--allow-empty", "--trace", folder.Path("t"), "--counters"},
                             "{apiVersion: v1, kind: List, items: []}");
  EXPECT_EQ(report["run"]["arguments"], Json({"-f", "-", "--allow-empty"}));
}

TEST(RunHeaderTest, TheTraceBeginsWithIt) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", kCluster);
  const std::string copy = folder.Write("copy.yaml", kCluster);
  Strings digests;
  for (const std::string& path : {cluster, copy}) {
    const Json report =
        JsonOf({"-f", path, "--kubernetes-version", "1.36", "--feature-gates", "OpportunisticBatching=true",
                "--trace", folder.Path("t"), "--trace-level", "full"});
    const std::string trace = FileContent(folder.Path("t"));
    const Json record = Json::parse(trace.substr(0, trace.find('\n')), nullptr, false);
    EXPECT_EQ(record["ev"], "run");
    for (const char* field : {"program", "arguments", "inputs", "featureGates", "seed"})
      EXPECT_EQ(record[field], report["run"][field]) << field;
    EXPECT_EQ(record["kubernetesVersion"], "1.36");
    EXPECT_EQ(record["featureGates"], "OpportunisticBatching=true");
    EXPECT_EQ(record["latencyModel"], report["queueLatencyMicroseconds"]["model"]);
    EXPECT_EQ(record["level"], "full");
    digests.push_back(report["traceDigest"]);
  }
  EXPECT_EQ(digests[0], digests[1]) << "the digest depends on what the file is called";
}

TEST(RunHeaderTest, ThePlacementDigestIsOverPodsAndTheirNodes) {
  const Json report = JsonOf({"-f", "-"}, absl::StrCat(kCluster, kTooLarge, kHeldBack));
  Digest digest;
  for (const Json& pod : report["pods"]) {
    if (pod["status"] != "Bound") continue;
    digest.Add(absl::StrCat(pod["namespace"].get<std::string>(), "/", pod["name"].get<std::string>()));
    digest.Add(pod["node"].get<std::string>());
  }
  EXPECT_EQ(report["placementDigest"], digest.Hex());
  // Without the pods that stay pending the decisions are others, and the placements the same.
  const Json less = JsonOf({"-f", "-"}, kCluster);
  EXPECT_NE(less["digest"], report["digest"]);
  EXPECT_EQ(less["placementDigest"], report["placementDigest"]);
}

TEST(FailOnPendingTest, EndsWithOneAndSaysHowMany) {
  const ProgramResult some =
      RunProgram({"run", "-f", "-", "--fail-on-pending"}, absl::StrCat(kCluster, kTooLarge, kHeldBack));
  EXPECT_EQ(some.exit_code, 1) << some.err;
  EXPECT_TRUE(absl::StrContains(some.err,
                                "schedsim run: 1 pod is pending at the end, expected none "
                                "(--fail-on-pending); 1 gated or being deleted not counted\n"))
      << some.err;
  EXPECT_TRUE(absl::StrContains(some.out, "Pending         2\n")) << some.out;
}

TEST(FailOnPendingTest, LetsGatedPodsAndThoseOfOtherSchedulersPass) {
  const ProgramResult held =
      RunProgram({"run", "-f", "-", "--fail-on-pending"}, absl::StrCat(kCluster, kHeldBack));
  EXPECT_EQ(held.exit_code, 0) << held.err;
  EXPECT_FALSE(absl::StrContains(held.err, "--fail-on-pending")) << held.err;
}

TEST(FailOnPendingTest, IsRefusedWhereNothingRuns) {
  const ProgramResult result =
      RunProgram({"run", SCHEDSIM_SOURCE_DIR "/tests/tools/recordings/pending/record.export.yaml.xz",
                  "--follow", "--fail-on-pending"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "--fail-on-pending: expected none with --follow")) << result.err;
}

}  // namespace
}  // namespace schedsim
