#include "benchmarks/dump.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/base/check.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"

namespace schedsim::benchmarks {
namespace {

constexpr char kTokenVolume[] = "kube-api-access-";

std::vector<api::ObjectPtr> ReadSnapshot() {
  std::vector<api::ObjectPtr> objects;
  codec::ObjectReader reader;
  const absl::Status status = reader.Read(SCHEDSIM_SOURCE_DIR "/snapshots/mixed/get.json.xz",
                                          [&](api::ObjectPtr object, const codec::Location&) {
                                            objects.push_back(std::move(object));
                                            return absl::OkStatus();
                                          });
  CHECK(status.ok());
  return objects;
}

// The status of a pod that has run for a while, as JSON.
std::string RunningStatus(int64_t number) {
  const std::string ip =
      absl::StrCat("10.", number / 65'536 % 256, ".", number / 256 % 256, ".", number % 256);
  std::string conditions;
  for (const char* type :
       {"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"}) {
    absl::StrAppend(&conditions, conditions.empty() ? "" : ",",
                    "{\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-11-27T22:53:", 10 + number % 50,
                    "Z\",\"status\":\"True\",\"type\":\"", type, "\"}");
  }
  return absl::StrFormat(
      "{\"conditions\":[%s],\"containerStatuses\":[{\"containerID\":\"containerd://%064x\",\"image\":"
      "\"registry.example/app:1\",\"imageID\":\"registry.example/"
      "app@sha256:%064x\",\"lastState\":{},\"name\":\"app\","
      "\"ready\":true,\"restartCount\":%d,\"started\":true,\"state\":{\"running\":{\"startedAt\":"
      "\"2026-11-27T22:53:%dZ\"}}}],\"hostIP\":\"192.168.%d.%d\",\"phase\":\"Running\",\"podIP\":\"%s\","
      "\"podIPs\":[{"
      "\"ip\":\"%s\"}],\"qosClass\":\"Burstable\",\"startTime\":\"2026-11-27T22:53:%dZ\"}",
      conditions, number * 2'654'435'761, number % 25, number % 3, 10 + number % 50, number / 100 % 256,
      number % 100, ip, ip, 10 + number % 50);
}

// A copy of the object under a name of its own.
std::string CopyOf(const api::Object& object, int32_t copy, int64_t number) {
  const bool is_pod = object.kind == api::Kind::kPod;
  std::string json = codec::ObjectJson(object);
  const std::string name = absl::StrCat(object.metadata.name, "-", copy);
  // Names also stand in labels such as the host name's.
  json = absl::StrReplaceAll(
      json, {{absl::StrCat("\"", object.metadata.name, "\""), absl::StrCat("\"", name, "\"")},
             {object.metadata.uid, absl::StrFormat("%08x-0000-4000-8000-%012x", number, number)}});
  if (!is_pod) return json;
  // The token volume's name ends in five letters or digits.
  const size_t token = json.find(kTokenVolume);
  if (token != std::string::npos) {
    const std::string volume = json.substr(token, sizeof(kTokenVolume) - 1 + 5);
    json = absl::StrReplaceAll(json, {{volume, absl::StrFormat("%s%05x", kTokenVolume, number % 0xfffff)}});
  }
  return json;
}

// The pod of this JSON, running on `node_name`.
std::string Running(const std::string& json, absl::string_view node_name, int64_t number) {
  const size_t status = json.rfind("\"status\":");
  const size_t spec = json.rfind("\"spec\":{");
  CHECK(status != std::string::npos && spec != std::string::npos && spec < status);
  return absl::StrCat(json.substr(0, spec), "\"spec\":{\"nodeName\":\"", node_name, "\",",
                      json.substr(spec + 8, status - spec - 8), "\"status\":", RunningStatus(number), "}");
}

// An object of a list, as kubectl prints it.
void AppendItem(const std::string& json, DumpFormat format, std::string& out) {
  const absl::Status status = codec::ReadText(json, "item.json", {}, [&](const codec::Document& document) {
    if (format == DumpFormat::kJson) {
      const std::string text = codec::ToIndentedJson(document.root);
      absl::StrAppend(&out, out.back() == '}' ? ",\n    " : "\n    ",
                      absl::StrReplaceAll(text, {{"\n", "\n    "}}));
      return absl::OkStatus();
    }
    const std::string text = codec::ToYaml(document.root);
    const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
    for (size_t i = 0; i < lines.size(); ++i) absl::StrAppend(&out, i == 0 ? "- " : "  ", lines[i], "\n");
    return absl::OkStatus();
  });
  CHECK(status.ok());
}

}  // namespace

std::string MakeDump(int32_t copies, DumpFormat format) {
  const std::vector<api::ObjectPtr> objects = ReadSnapshot();
  const bool is_json = format == DumpFormat::kJson;
  std::string out = is_json ? "{\n  \"apiVersion\": \"v1\",\n  \"items\": [" : "apiVersion: v1\nitems:\n";
  std::vector<std::string> node_names;
  for (const api::ObjectPtr& object : objects) {
    if (object->kind == api::Kind::kPriorityClass) AppendItem(codec::ObjectJson(*object), format, out);
    if (object->kind == api::Kind::kNode) node_names.push_back(object->metadata.name);
  }
  int64_t number = 0;
  for (const api::Kind kind : {api::Kind::kNode, api::Kind::kPod}) {
    for (int32_t copy = 0; copy < copies; ++copy) {
      for (const api::ObjectPtr& object : objects) {
        if (object->kind != kind) continue;
        std::string json = CopyOf(*object, copy, ++number);
        const std::string node_name =
            absl::StrCat(node_names[static_cast<size_t>(number) % node_names.size()], "-", copy);
        if (kind == api::Kind::kPod) json = Running(json, node_name, number);
        AppendItem(json, format, out);
      }
    }
  }
  absl::StrAppend(
      &out, is_json
                ? "\n  ],\n  \"kind\": \"List\",\n  \"metadata\": {\n    \"resourceVersion\": \"\"\n  }\n}\n"
                : "kind: List\nmetadata:\n  resourceVersion: \"\"\n");
  return out;
}

}  // namespace schedsim::benchmarks
