#include "core/codec/text/writer.h"
#include "core/codec/objects/object_writer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/api/node.h"
#include "core/api/pod.h"
#include "core/api/storage.h"
#include "tests/core/codec/text/codec_test_util.h"

namespace schedsim::codec {
namespace {

std::string YamlOf(absl::string_view json) {
  std::string out;
  const absl::Status status = ReadText(std::string(json), "f.json", {}, [&](const Document& document) {
    AppendYaml(document.root, out);
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

TEST(WriterTest, YamlIsInBlockStyle) {
  EXPECT_EQ(
      YamlOf(R"({"a":1,"b":{"c":[1,"x",{"d":[],"e":{}},[2,[3]],{"f":[4]}]},"g":null,"h":true})"),
      "a: 1\nb:\n  c:\n    - 1\n    - x\n    - d: []\n      e: {}\n    -\n      - 2\n      -\n        - "
      "3\n    - f:\n        - 4\ng: null\nh: true\n");
  EXPECT_EQ(YamlOf("[]"), "[]\n");
  EXPECT_EQ(YamlOf("[1,{\"a\":2,\"b\":3}]"), "- 1\n- a: 2\n  b: 3\n");
}

TEST(WriterTest, YamlInFlowStyleIsOneLine) {
  std::string line;
  const absl::Status status = ReadText(R"({"a":[1,"x, y",{}],"b":{"c":"1:30","d":null},"e":"x:y","f":"no"})",
                                       "f.json", {}, [&](const Document& document) {
                                         line = ToFlowYaml(document.root);
                                         return absl::OkStatus();
                                       });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(line, R"({a: [1, "x, y", {}], b: {c: "1:30", d: null}, e: "x:y", f: "no"})");
}

// Strings that YAML takes for something else, or cannot write plainly.
constexpr const char* kAwkwardStrings[] = {"",
                                           "y",
                                           "n",
                                           "yes",
                                           "No",
                                           "on",
                                           "OFF",
                                           "true",
                                           "null",
                                           "~",
                                           "1",
                                           "0x1F",
                                           "010",
                                           "0o7",
                                           "1e3",
                                           ".5",
                                           "1_000",
                                           "-",
                                           "- a",
                                           ".inf",
                                           "-.INF",
                                           ".nan",
                                           "1:30",
                                           "2001-12-14",
                                           "2001-12-14T21:59:43Z",
                                           "<<",
                                           "=",
                                           "a: b",
                                           "a:",
                                           "a #b",
                                           "#a",
                                           "*a",
                                           "&a",
                                           "!a",
                                           "|",
                                           ">",
                                           "%a",
                                           "@a",
                                           "`a",
                                           "'a'",
                                           "{a}",
                                           "[a]",
                                           "a,b",
                                           "? a",
                                           "?",
                                           ":",
                                           "::",
                                           "key:value",
                                           " a",
                                           "a ",
                                           "500m",
                                           "1.5Gi",
                                           "http://x/y",
                                           "a\\nb",
                                           "\\n",
                                           "\\t",
                                           "a\\\"b",
                                           "a\\\\b",
                                           "\\u0000\\u001f",
                                           "\\u007f\\u0085\\u00a0",
                                           "\\u2028\\u2029",
                                           "\\ufeff\\uffff\\ufffe",
                                           "\\ud83d\\ude00",
                                           "\\u00fc",
                                           "---",
                                           "...",
                                           "--- a",
                                           "{\\\"a\\\":1}",
                                           "a\\r\\nb",
                                           "  \\n  "};

TEST(WriterTest, StringsSurviveYaml) {
  std::string json = "{";
  int count = 0;
  for (const char* text : kAwkwardStrings) {
    for (const bool is_key : {false, true}) {
      absl::StrAppend(&json, count == 0 ? "" : ",", "\"", is_key ? text : absl::StrCat("k", count), "\":\"",
                      is_key ? "v" : text, "\"");
      ++count;
    }
  }
  absl::StrAppend(&json, ",\"", std::string(2000, 'k'), "\":{\"", std::string(1500, 'n'), "\":[1]}}");
  const std::string want = JsonOf(json, "f.json");
  EXPECT_EQ(JsonOf(YamlOf(json), "f.yaml"), want) << YamlOf(json);
}

TEST(WriterTest, JsonKeepsStringsAndNumbersExactly) {
  const std::string json = "{\"a\":\"\xe2\x80\xa8\xc3\xbc\\u0001\\n\\\"\\\\\",\"b\":[1.50,1e300,-0]}";
  EXPECT_EQ(JsonOf(json, "f.json"), json);
}

constexpr absl::string_view kPodJson =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"d","finalizers":["x"]},)"
    R"("spec":{"containers":[{"name":"c","command":["a"]}],"restartPolicy":"Never"},)"
    R"("status":{"phase":"Pending","conditions":[{"type":"A","status":"True","lastProbeTime":null},)"
    R"({"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"m","observedGeneration":1}]}})";

std::shared_ptr<api::Pod> ReadPod(absl::string_view json) {
  const ReadResult result = ReadObjects(json, "f.json");
  EXPECT_TRUE(result.status.ok()) << result.status;
  return std::make_shared<api::Pod>(static_cast<const api::Pod&>(*result.objects[0]));
}

TEST(WriterTest, UnchangedObjectIsWrittenAsItCame) { EXPECT_EQ(ObjectJson(*ReadPod(kPodJson)), kPodJson); }

TEST(WriterTest, ChangesGoOnTopAndTheRestStays) {
  const auto pod = ReadPod(kPodJson);
  pod->node_name = "n1";
  pod->metadata.uid = "u";
  pod->metadata.resource_version = 7;
  absl::ParseTime(absl::RFC3339_full, "2026-01-02T03:04:05Z", &pod->metadata.creation_timestamp.emplace(),
                  nullptr);
  pod->status.phase = "Running";
  pod->SetCondition({.type = "PodScheduled", .status = "True", .reason = "", .message = ""});
  pod->SetCondition({.type = "Ready", .status = "True", .reason = "r", .message = ""});
  EXPECT_EQ(
      ObjectJson(*pod),
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"d","finalizers":["x"],"uid":"u",)"
      R"("resourceVersion":"7","creationTimestamp":"2026-01-02T03:04:05Z"},)"
      R"("spec":{"containers":[{"name":"c","command":["a"]}],"restartPolicy":"Never","nodeName":"n1"},)"
      R"("status":{"phase":"Running","conditions":[{"type":"A","status":"True","lastProbeTime":null},)"
      R"({"type":"PodScheduled","status":"True","observedGeneration":1},{"type":"Ready","status":"True","reason":"r"}]}})");
}

TEST(WriterTest, ClearedFieldsGoAway) {
  const auto pod = ReadPod(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c"}]},)"
      R"("status":{"nominatedNodeName":"x","conditions":[{"type":"A","status":"True"}],"qosClass":"Burstable"}})");
  pod->node_name.clear();
  pod->status.nominated_node_name.clear();
  pod->status.conditions.clear();
  EXPECT_EQ(ObjectJson(*pod),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}]},)"
            R"("status":{"qosClass":"Burstable"}})");
}

TEST(WriterTest, NodeAndClaimChangesAreWritten) {
  const ReadResult result = ReadObjects(
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"spec":{"podCIDR":"c","taints":[{"key":"a","effect":"NoSchedule","timeAdded":"t"},{"key":"b","effect":"NoSchedule"}]}})"
      R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c"},"spec":{"accessModes":["RWO"]},"status":{"phase":"Pending"}})",
      "f.json");
  ASSERT_TRUE(result.status.ok()) << result.status;
  api::Node node = static_cast<const api::Node&>(*result.objects[0]);
  node.spec.unschedulable = true;
  node.spec.taints.pop_back();
  EXPECT_EQ(
      ObjectJson(node),
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"spec":{"podCIDR":"c","taints":[{"key":"a","effect":"NoSchedule","timeAdded":"t"}],"unschedulable":true}})");
  api::PersistentVolumeClaim claim = static_cast<const api::PersistentVolumeClaim&>(*result.objects[1]);
  claim.spec.volume_name = "pv";
  claim.phase = "Bound";
  EXPECT_EQ(
      ObjectJson(claim),
      R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c"},"spec":{"accessModes":["RWO"],"volumeName":"pv"},"status":{"phase":"Bound"}})");
}

TEST(WriterTest, ObjectsWithoutJsonAreWrittenFromTheirFields) {
  api::PodSpec spec;
  spec.containers.emplace_back().name = "c";
  spec.containers[0].image = "i";
  spec.containers[0].resources.requests["cpu"] = *api::Quantity::Parse("250m");
  spec.containers[0].ports.push_back(
      {.container_port = 80, .host_port = 0, .protocol = "TCP", .host_ip = ""});
  spec.priority = 0;
  spec.node_selector.emplace();
  spec.volumes.emplace_back().is_secret = true;
  api::Pod pod;
  pod.api_version = "v1";
  pod.kind_name = "Pod";
  pod.metadata.name = "p";
  pod.spec = std::make_shared<const api::PodSpec>(spec);
  pod.status.phase = "Pending";
  const std::string json = ObjectJson(pod);
  EXPECT_EQ(
      json,
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"volumes":[{"secret":{}}],)"
      R"("containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"protocol":"TCP"}],)"
      R"("resources":{"requests":{"cpu":"250m"}}}],"nodeSelector":{},"priority":0},"status":{"phase":"Pending"}})");
  EXPECT_EQ(ObjectJson(*ReadPod(json)), json);
  api::PersistentVolume volume;
  volume.api_version = "v1";
  volume.metadata.name = "pv";
  volume.spec.cinder.emplace().id = "x";
  volume.spec.node_affinity.emplace();
  EXPECT_EQ(
      ObjectJson(volume),
      R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pv"},"spec":{"cinder":{"volumeID":"x"},"nodeAffinity":{"required":{}}}})");
}

}  // namespace
}  // namespace schedsim::codec
