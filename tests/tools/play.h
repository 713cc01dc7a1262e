// Plays a scenario with the program, and reads its report and its trace.
#ifndef SCHEDSIM_TESTS_TOOLS_PLAY_H_
#define SCHEDSIM_TESTS_TOOLS_PLAY_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {

using Json = nlohmann::json;
using Strings = std::vector<std::string>;
using Times = std::vector<double>;

// Two nodes of 2 cores in two zones; pods of app=web as asked for.
inline std::string Cluster(int pods, const std::string& cpu = "1") {
  std::string text = R"(apiVersion: schedsim/v1
kind: Scenario
objects:
- {apiVersion: v1, kind: Node, metadata: {name: n1, labels: {zone: a, kubernetes.io/hostname: n1}}, status: {allocatable: {cpu: 2, memory: 4Gi, pods: 10}}}
- {apiVersion: v1, kind: Node, metadata: {name: n2, labels: {zone: b, kubernetes.io/hostname: n2}}, status: {allocatable: {cpu: 2, memory: 4Gi, pods: 10}}}
)";
  for (int i = 0; i < pods; ++i) {
    absl::StrAppend(
        &text, "- {apiVersion: v1, kind: Pod, metadata: {name: web-", i,
        ", labels: {app: web}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: ", cpu,
        "}}}]}}\n");
  }
  return text;
}

// What came of a scenario.
struct Played {
  int exit_code = -1;
  std::string err;
  Json report;
  std::vector<Json> trace;

  // The records of a kind; of a pod of the namespace default, where one is named.
  std::vector<Json> Records(const std::string& kind, const std::string& pod = "") const {
    std::vector<Json> found;
    for (const Json& record : trace) {
      if (record["ev"] == kind && (pod.empty() || record["pod"] == "default/" + pod)) found.push_back(record);
    }
    return found;
  }
  // The times of such records.
  std::vector<double> Times(const std::string& kind, const std::string& pod = "") const {
    std::vector<double> times;
    for (const Json& record : Records(kind, pod)) times.push_back(record["t"].get<double>());
    return times;
  }
  Json Pod(const std::string& name) const {
    for (const Json& pod : report["pods"]) {
      if (pod["name"] == name) return pod;
    }
    return nullptr;
  }
  std::string NodeOf(const std::string& pod) const {
    const Json row = Pod(pod);
    return row.is_null() ? "-" : row["node"].get<std::string>();
  }
};

inline Played Play(const std::string& scenario, const Strings& more = {}) {
  const TestFolder folder;
  Strings arguments = {"run",           folder.Write("scenario.yaml", scenario),
                       "--trace",       folder.Path("trace.jsonl"),
                       "--trace-level", "full",
                       "--output",      "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProgramResult result = RunProgram(arguments);
  Played played = {.exit_code = result.exit_code, .err = result.err};
  if (result.exit_code == 2) return played;
  played.report = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  EXPECT_TRUE(played.report.is_object()) << result.out << result.err;
  for (absl::string_view line :
       absl::StrSplit(FileContent(folder.Path("trace.jsonl")), '\n', absl::SkipEmpty())) {
    played.trace.push_back(Json::parse(std::string(line)));
  }
  return played;
}

// A Deployment whose pods ask for a core.
inline constexpr char kDeployment[] = R"(- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: api}
  spec:
    replicas: 0
    selector: {matchLabels: {app: api}}
    template:
      metadata: {labels: {app: api}}
      spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 500m}}}]}
)";

inline std::vector<std::string> PodsOf(const Json& report, const std::string& prefix) {
  std::vector<std::string> names;
  for (const Json& pod : report["pods"]) {
    const std::string name = pod["name"];
    if (absl::StartsWith(name, prefix) && pod["status"] == "Bound") names.push_back(name);
  }
  return names;
}

}  // namespace schedsim

#endif  // SCHEDSIM_TESTS_TOOLS_PLAY_H_
