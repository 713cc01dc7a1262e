// What kwokctl scale makes.
#include "sim/stages/scale.h"

#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "core/codec/text/writer.h"
#include "gtest/gtest.h"
#include "sim/kernel/event_loop.h"

namespace schedsim::sim {
namespace {

// The object as YAML, or "ERROR " and the message.
std::string Made(const std::string& kind, const ScaleRequest& request, int64_t serial) {
  absl::StatusOr<ScaleResource> resource = FindScaleResource(kind, "");
  if (!resource.ok()) return "ERROR " + std::string(resource.status().message());
  const absl::StatusOr<Scaler> scaler = Scaler::Make(*std::move(resource), request);
  if (!scaler.ok()) return "ERROR " + std::string(scaler.status().message());
  const EventLoop clock(absl::UnixEpoch());
  const auto document = scaler->Object(serial, clock);
  return document.ok() ? codec::ToYaml((*document)->root)
                       : "ERROR " + std::string(document.status().message());
}

TEST(ScaleTest, MakesNodesWithAddressesOfTheirOwn) {
  const std::string node = Made("node", {.replicas = 9, .params = {".allocatable.cpu=64"}}, 7);
  for (const char* part : {"name: node-000007", "podCIDR: 10.0.7.0/24", "- fd00:0:0:7::/64", "192.0.2.8",
                           "cpu: 64", "cpu: \"64\"", "memory: 256Gi", "kwok.x-k8s.io/kwokctl-scale: node",
                           "kubernetes.io/hostname: node-000007", "kubernetes.io/arch: amd64",
                           "beta.kubernetes.io/os: linux", "type: kwok"}) {
    EXPECT_TRUE(absl::StrContains(node, part)) << part << "\n" << node;
  }
}

TEST(ScaleTest, MakesPodsWhoseLimitsAreTheirRequests) {
  const std::string pod =
      Made("pod",
           {.name = "web",
            .name_space = "prod",
            .serial_length = 3,
            .params = {".containers[0].resources.requests.cpu=\"500m\"", ".hostNetwork=true"}},
           4);
  for (const char* part : {"name: web-004", "namespace: prod", "hostNetwork: true",
                           "limits:", "kwok.x-k8s.io/kwokctl-scale: web"}) {
    EXPECT_TRUE(absl::StrContains(pod, part)) << part << "\n" << pod;
  }
}

TEST(ScaleTest, OneObjectMayGoWithoutANumber) {
  EXPECT_TRUE(absl::StrContains(Made("node", {.name = "big", .serial_length = 0}, 0), "name: big\n"));
  EXPECT_EQ(Made("node", {.replicas = 2, .serial_length = 0}, 0),
            "ERROR --serial-length: expected a number from 1 to 100, or 0 for a single object, got 0");
}

TEST(ScaleTest, SaysWhatIsWrong) {
  EXPECT_EQ(Made("deployment", {}, 0), "ERROR no KwokctlResource \"deployment\", expected one of node, pod");
  EXPECT_EQ(Made("node", {.params = {".allocatable[]"}}, 0),
            "ERROR --param: \".allocatable[]\": expected one map, got 3 values");
  EXPECT_EQ(Made("node", {.params = {".allocatable.cpu | error"}}, 0),
            "ERROR --param: \".allocatable.cpu | error\": 32");
  const std::string lengthy = Made("node", {.params = {std::string(20'000, ' ') + "["}}, 0);
  EXPECT_LT(lengthy.size(), 300u);
  EXPECT_TRUE(absl::StrContains(lengthy, "\"...: no jq expression")) << lengthy;
  EXPECT_TRUE(
      absl::StartsWith(Made("node", {.params = {".a["}}, 0), "ERROR --param: \".a[\": no jq expression"));
}

TEST(ScaleTest, SaysWhereAFileIsWrong) {
  const auto error = [](const std::string& text) {
    const std::string path = testing::TempDir() + "/scale.yaml";
    std::ofstream(path) << text;
    std::string message(FindScaleResource("x", path).status().message());
    return absl::StrReplaceAll(message, {{path, "FILE"}});
  };
  const std::string head =
      "apiVersion: config.kwok.x-k8s.io/v1alpha1\nkind: KwokctlResource\nmetadata: {name: x}\n";
  EXPECT_EQ(error(head + "template: 'a: {{ nope }}'\n"),
            "FILE:4: template: function \"nope\" is not known, did you mean Name?");
  EXPECT_EQ(error(head + "template: |\n  a: 1\n  b: {{ nope }}\n"),
            "FILE:6: template: function \"nope\" is not known, did you mean Name?");
}

}  // namespace
}  // namespace schedsim::sim
