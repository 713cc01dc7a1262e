// Claims of devices as people write them: which pods run, and what is said of the others.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;
using Strings = std::vector<std::string>;

std::string FilePath(const std::string& name) {
  return absl::StrCat(SCHEDSIM_SOURCE_DIR "/tests/tools/devices/", name);
}

Json RunFile(const std::string& path, const Strings& more = {}) {
  Strings arguments = {"run", "--output", "json", "-f", path};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProgramResult result = RunProgram(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
}

// "pod=node" of those that run, in the order of names.
std::string Bound(const Json& report) {
  Strings texts;
  for (const Json& pod : report["pods"]) {
    const std::string node = pod["node"];
    if (!node.empty()) texts.push_back(absl::StrCat(std::string(pod["name"]), "=", node));
  }
  return absl::StrJoin(texts, " ");
}

// In one line, as the text would be without its margins.
std::string Unwrapped(const std::string& text) {
  return absl::StrJoin(absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty()), " ");
}

std::string Explain(const std::string& path, const std::string& pod) {
  const ProgramResult result = RunProgram({"explain", pod, "-f", path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Unwrapped(result.out);
}

struct Told {
  const char* file;
  const char* pod;
  Strings parts;
};

const Told kTold[] = {
    {"mig.yaml",
     "whole-too-late",
     {"request gpu: asks for 1 device of class gpu.nvidia.com; the node has 2 of it: 1 is allocated, 1 finds "
      "too little left of shared counters",
      "has gpu-1", "gpu-0: it takes 40Gi of counter memory in gpu-0, where 15Gi is left"}},
    {"rdma.yaml",
     "trainer-1",
     {"request nic: asks for 1 device of class rdma; the node has 1 of it: 1 is allocated",
      "request gpu: asks for 1 device of class gpu.example.com; the node has 1 of it: 1 could be had",
      "request gpu: no devices that could be had go together by constraint #0, matchAttribute "
      "resource.kubernetes.io/pcieRoot"}},
    {"failures.yaml",
     "all-taken",
     {"request gpus: asks for 2 devices of class gpu.example.com; the node has 3 of it: 1 is not selected, 2 "
      "are allocated",
      "request gpus: selector #0 is false for gpu-2: device.attributes['gpu.example.com'].model == 'small'",
      "has gpu-0, gpu-1"}},
    {"failures.yaml",
     "false-everywhere",
     {"the node has 3 of it: 3 are not selected",
      "request gpu: selector #1 is false for all 3: device.attributes['gpu.example.com'].model == 'huge'"}},
    {"failures.yaml",
     "no-class",
     {"request gpu: device class gpu.exmaple.com does not exist",
      "No node was looked at: DynamicResources refuses the pod before that.",
      "request gpu: there is no DeviceClass gpu.exmaple.com; did you mean gpu.example.com?"}},
    {"failures.yaml",
     "no-template",
     {"Pending, never tried: its claim g is to be made of the ResourceClaimTemplate default/two-smal, which "
      "does not exist; did you mean two-small?"}},
    {"failures.yaml", "no-claim", {"Pending, never tried: could not find ResourceClaim \"default/mine\"."}},
    {"failures.yaml",
     "tainted",
     {"the node has 3 of it: 2 are not selected, 1 has a taint that is not tolerated",
      "gpu-2: taint example.com/broken=fan:NoSchedule is not tolerated"}},
    {"failures.yaml",
     "other-half",
     {"the node has 1 of it: 1 has too little capacity",
      "nic-0: it has 40M of 100M bandwidth, of which 60M would be taken"}},
    {"failures.yaml",
     "incomplete",
     {"none of the node's 4 devices is of it",
      "pool slow.example.com/slow is incomplete: not all slices of its generation are there",
      "class slow.example.com: selector #0 is false for all 4: device.driver == 'slow.example.com'"}},
    {"binding.yaml",
     "in-vain",
     {"could not be bound: running PreBind plugin \"DynamicResources\": device binding timeout"}},
    {"binding.yaml",
     "elsewhere",
     {"claim default/failed is allocated (n2/fab-9) and wants metadata.name=n2, the node has the name n1",
      "claim default/failed is allocated (n2/fab-9): device binding failed: claim=failed, reason=NoLink, "
      "message=\"cable is out\""}},
    {"mistakes.yaml",
     "no-counters",
     {"invalid resource pools were encountered",
      "pool part.example.com/n1 is invalid: counter set gpu-9 not found"}},
    {"mistakes.yaml",
     "older-slice",
     {"asks for 2 devices of class old; the node has 1 of it: 1 could be had"}},
    {"mistakes.yaml",
     "wrong-type",
     {"selector #0 on device typed.example.com/n1/dev-0: CEL runtime error: no such overload",
      "request r: selector #0 ends in an error for the only one: "
      "device.attributes['typed.example.com'].index < 4"}},
    {"mistakes.yaml",
     "wrong-key",
     {"CEL runtime error: no such key: numa. consider using CEL optional chaining"}},
};

TEST(Devices, PublicExamplesRun) {
  EXPECT_EQ(Bound(RunFile(FilePath("mig.yaml"))), "partitions=dgx-1 whole=dgx-1");
  EXPECT_EQ(Bound(RunFile(FilePath("rdma.yaml"))), "sender=worker-2 trainer-0=worker-1");
  EXPECT_EQ(Bound(RunFile(FilePath("failures.yaml"))), "first=n1 half-band=n1");
}

TEST(Devices, AreExactWithoutTaintRules) {
  for (const char* file : {"mig.yaml", "rdma.yaml", "failures.yaml"}) {
    const Json report = RunFile(FilePath(file));
    EXPECT_EQ(report["exact"], true) << report["inexactPods"];
  }
}

TEST(Devices, AreInexactByNameWithATaintRule) {
  const TestFolder folder;
  const std::string rule = folder.Write(
      "rule.yaml",
      "{apiVersion: resource.k8s.io/v1, kind: DeviceTaintRule, metadata: {name: r}, spec: {deviceSelector: "
      "{driver: gpu.nvidia.com}, taint: {key: a, effect: NoSchedule}}}\n");
  const Json report = RunFile(FilePath("mig.yaml"), {"-f", rule});
  EXPECT_EQ(report["exact"], false);
  EXPECT_EQ(report["inexactPods"].size(), 3u) << report["inexactPods"];
  EXPECT_TRUE(absl::StrContains(report["inexactPods"].dump(), "DeviceTaintRules")) << report["inexactPods"];
  // In 1.36 the gate is off.
  EXPECT_EQ(RunFile(FilePath("mig.yaml"), {"-f", rule, "--kubernetes-version", "1.36"})["exact"], true);
}

TEST(Devices, WhatIsMissingIsNamed) {
  for (const Told& told : kTold) {
    const std::string text = Explain(FilePath(told.file), told.pod);
    for (const std::string& part : told.parts) {
      EXPECT_TRUE(absl::StrContains(text, part)) << told.pod << ": " << part << "\n" << text;
    }
  }
}

TEST(Devices, WhatIsMissingIsThereForPrograms) {
  const ProgramResult result =
      RunProgram({"explain", "all-taken", "--output", "json", "-f", FilePath("failures.yaml")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json explanation = Json::parse(result.out);
  const Json& fact = explanation["refused"][0]["facts"][0];
  EXPECT_EQ(fact["kind"], "deviceRequest");
  EXPECT_EQ(fact["request"], "gpus");
  EXPECT_EQ(fact["class"], "gpu.example.com");
  EXPECT_EQ(fact["count"], 2);
  EXPECT_EQ(fact["devices"], 4);
  EXPECT_EQ(fact["ofClass"], 3);
  EXPECT_EQ(fact["allocated"], 2);
  EXPECT_EQ(fact["notSelected"], 1);
}

constexpr char kClass[] =
    "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: c}, spec: {}}\n---\n";

struct Refused {
  std::string input;
  const char* message;
};

const Refused kRefused[] = {
    {"{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: x}, spec: {devices: {requests: "
     "[{name: r, exactly: {deviceClassName: c, selectors: [{cel: {expression: 'device.driver = 1'}}]}}]}}}",
     "spec.devices.requests[0].exactly.selectors[0].cel.expression: Invalid value: \"device.driver = 1\": "
     "compilation failed: ERROR: <input>:1:15: Syntax error: "},
    {"{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: x}, spec: {selectors: [{cel: "
     "{expression: device.model}}]}}",
     "spec.selectors[0].cel.expression: Invalid value: \"device.model\": compilation failed: ERROR: "
     "<input>:1:7: undefined field 'model'"},
    {"{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: x}, spec: {spec: "
     "{devices: "
     "{requests: [{name: r, exactly: {deviceClassName: c, count: -1}}]}}}}",
     "spec.spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero"},
    {"{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: x}, spec: {devices: {requests: "
     "[{name: r}]}}}",
     "spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"},
    {"{apiVersion: resource.k8s.io/v1beta1, kind: ResourceClaim, metadata: {name: x}, spec: {devices: "
     "{requests: [{name: r, deviceClassName: c, allocationMode: Some}]}}}",
     "spec.devices.requests[0].exactly.allocationMode: Unsupported value: \"Some\": supported values: "
     "\"All\", "
     "\"ExactCount\""},
};

// As other objects that the API server refuses: the run goes on without them, and says so.
TEST(Devices, ClaimsAndClassesAreValidated) {
  for (const Refused& refused : kRefused) {
    const TestFolder folder;
    const std::string node =
        "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 1, pods: 9}}}\n---\n";
    const std::string pod =
        "\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: "
        "[{name: c, "
        "image: i}]}}\n";
    const std::string path = folder.Write("in.yaml", absl::StrCat(node, kClass, refused.input, pod));
    const ProgramResult result = RunProgram({"run", "-f", path});
    EXPECT_TRUE(absl::StrContains(absl::StrCat(result.out, result.err), refused.message))
        << refused.message << "\n"
        << result.out << result.err;
  }
}

struct BadFile {
  std::string input;
  const char* message;
};

const BadFile kBadFiles[] = {
    {"{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: d, nodeName: "
     "n1, "
     "pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: g, attributes: {a: {int: "
     "four}}}]}}",
     "spec.devices[0].attributes[a].int: expected an integer, got the string \"four\" (ResourceSlice s)"},
    {"{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: d, nodeName: "
     "n1, "
     "pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: g, attributes: {a: {}}}]}}",
     "spec.devices[0].attributes[a]: Required value: exactly one value must be specified"},
    {"{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: d, nodeName: "
     "n1, "
     "pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: g, attributes: {a: {strings: "
     "[x]}}}]}}",
     "spec.devices[0].attributes[a]: attributes that are lists (gate DRAListTypeAttributes) are not "
     "simulated"},
    {"{apiVersion: resource.k8s.io/v1alpha3, kind: ResourceClaim, metadata: {name: x}, spec: {devices: "
     "{requests: [{name: r, deviceClassName: c}]}}}",
     "Kubernetes 1.34 to 1.37 serves no ResourceClaim in resource.k8s.io/v1alpha3, expected v1, v1beta2 or "
     "v1beta1 (ResourceClaim x)"},
    {"{apiVersion: resource.k8s.io/v1alpha2, kind: ResourceClaimTemplate, metadata: {name: x}, spec: {spec: "
     "{resourceClassName: gpu.nvidia.com}}}",
     "Kubernetes 1.34 to 1.37 serves no ResourceClaimTemplate in resource.k8s.io/v1alpha2"},
};

TEST(Devices, FilesWithWhatCannotBeReadAreRefused) {
  for (const BadFile& bad : kBadFiles) {
    const TestFolder folder;
    const std::string path = folder.Write("in.yaml", bad.input);
    const ProgramResult result = RunProgram({"run", "-f", path});
    EXPECT_EQ(result.exit_code, 2) << bad.input;
    EXPECT_TRUE(absl::StrContains(result.err, bad.message)) << bad.message << "\n" << result.err;
  }
}

}  // namespace
}  // namespace schedsim
