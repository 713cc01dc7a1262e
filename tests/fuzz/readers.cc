#include "tests/fuzz/readers.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "core/api/default_profile.h"
#include "core/api/feature_gates.h"
#include "core/api/kubernetes_line.h"
#include "core/codec/config/scheduler_config.h"
#include "core/codec/config/scheduler_config_printer.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/objects/objects.h"
#include "core/codec/protobuf/proto_reader.h"
#include "core/codec/text/reader.h"
#include "sim/conformance/case.h"
#include "sim/formats/audit_log.h"
#include "sim/formats/cluster_input.h"
#include "sim/formats/redact/redactor.h"
#include "sim/formats/snapshot_objects.h"
#include "sim/formats/snapshot_writer.h"
#include "sim/formats/recording.h"
#include "sim/formats/recording_writer.h"
#include "sim/record/trace_reader.h"
#include "sim/report/pod_story.h"
#include "sim/report/pod_story_text.h"
#include "sim/scenario/scenario.h"
#include "sim/stages/stage_preview.h"
#include "sim/stages/stage_reader.h"

namespace schedsim {
namespace {

// A message says what it is about, not all of it.
constexpr size_t kMessageBytesMax = 8192;

// Words of the libraries below, which tell a user nothing. What libyaml says of text that is no YAML may
// stand in a message: kubectl prints the same.
constexpr absl::string_view kLibraryWords[] = {
    "json.exception",
    "nlohmann",
    "yaml-cpp",
    "libyaml",
    "simdjson",
    "TAPE_ERROR",
    "std::",
    "basic_string",
    "bad_alloc",
    "bad conversion",
    "map::at",
    "vector::",
    "CLI::",
    "absl::",
    "INVALID_ARGUMENT",
    "parse error at",
    "terminate called",
    "CHECK failed",
    "Error parsing",
    "stoi",
    "what():",
};

using Objects = std::vector<api::ObjectPtr>;

absl::Status ReadObjects(const std::string& text, const std::string& file, Objects& objects) {
  codec::ObjectReader reader;
  return reader.ReadText(text, file, [&objects](api::ObjectPtr object, const codec::Location&) {
    objects.push_back(std::move(object));
    return absl::OkStatus();
  });
}

// YAML has no negative zero among its integers.
std::string WithoutNegativeZero(const std::string& json) {
  return absl::StrReplaceAll(
      json,
      {{":-0,", ":0,"}, {":-0}", ":0}"}, {",-0,", ",0,"}, {",-0]", ",0]"}, {"[-0,", "[0,"}, {"[-0]", "[0]"}});
}

// Whether the object's text, in either format, is read as the same object.
std::string ReadBackFault(const api::Object& object) {
  const std::string json = codec::ObjectJson(object);
  for (const bool yaml : {false, true}) {
    const std::string text = yaml ? codec::ObjectYaml(object) : json;
    Objects again;
    const absl::Status status = ReadObjects(text, yaml ? "again.yaml" : "again.json", again);
    if (!status.ok()) return absl::StrCat("what was written is refused: ", status.message(), "\n", text);
    if (again.size() != 1) return absl::StrCat("read back as ", again.size(), " objects:\n", text);
    const std::string json_again = codec::ObjectJson(*again[0]);
    if (WithoutNegativeZero(json_again) != WithoutNegativeZero(json))
      return absl::StrCat("read back as another object:\n", json, "\n", json_again);
  }
  return "";
}

std::string CheckObjects(const std::string& path, const std::string& text) {
  Objects objects;
  const absl::Status status = ReadObjects(text, path, objects);
  if (!status.ok()) return MessageFault(std::string(status.message()), path);
  for (const api::ObjectPtr& object : objects) {
    const std::string fault = ReadBackFault(*object);
    if (!fault.empty()) return fault;
  }
  return "";
}

// A cluster as `run -f` takes it, with whatever is wrong across objects.
std::string CheckCluster(const std::string& path, const std::string& /*text*/) {
  sim::ClusterInputOptions options;
  options.paths = {{.path = path}};
  options.bound.reset = true;
  const auto input = sim::ReadClusterInput(options);
  if (!input.ok()) return MessageFault(std::string(input.status().message()), path);
  for (const std::string& warning : input->warnings) {
    const std::string fault = TextFault(warning);
    if (!fault.empty()) return fault;
  }
  return "";
}

// A file that is written again in all formats, and redacted.
std::string CheckSnapshot(const std::string& path, const std::string& /*text*/) {
  const auto content = sim::ReadSnapshotObjects({path});
  if (!content.ok()) return MessageFault(std::string(content.status().message()), path);
  const std::vector<std::string> redacted = sim::Redact(content->objects, {.key = "k"}).objects;
  for (const auto format :
       {sim::SnapshotFormat::kK8s, sim::SnapshotFormat::kJson, sim::SnapshotFormat::kEtcd}) {
    for (const std::vector<std::string>& objects : {content->objects, redacted}) {
      const auto written = sim::WriteSnapshot(objects, format);
      const std::string fault = TextFault(std::string(written.status().message()));
      if (!fault.empty()) return fault;
      if (!written.ok() || format == sim::SnapshotFormat::kEtcd) continue;
      // What an API server would refuse is written as it came.
      codec::ObjectReader reader({.validate = false});
      Objects again;
      const absl::Status status =
          reader.ReadText(written->text, format == sim::SnapshotFormat::kJson ? "again.json" : "again.yaml",
                          [&again](api::ObjectPtr object, const codec::Location&) {
                            again.push_back(std::move(object));
                            return absl::OkStatus();
                          });
      if (!status.ok())
        return absl::StrCat("what was written is refused: ", status.message(), "\n", written->text);
      if (again.size() != objects.size()) return absl::StrCat("objects are lost:\n", written->text);
    }
  }
  return "";
}

std::string CheckScenario(const std::string& path, const std::string& text) {
  sim::ScenarioCheck check(path);
  const absl::Status checked = codec::ReadText(
      text, path, {}, [&check](const codec::Document& document) { return check.Look(document); });
  if (!checked.ok()) return MessageFault(std::string(checked.message()), path);
  const auto scenario = sim::ReadScenario(text, path, {});
  if (!scenario.ok()) return MessageFault(std::string(scenario.status().message()), path);
  const auto input = sim::ReadClusterInput(scenario->input);
  if (!input.ok()) return MessageFault(std::string(input.status().message()), path);
  for (const std::string& notice : scenario->notices) {
    const std::string fault = TextFault(notice);
    if (!fault.empty()) return fault;
  }
  return "";
}

std::string CheckConfig(const std::string& path, const std::string& /*text*/) {
  const api::KubernetesLine line = api::kDefaultKubernetesLine;
  const api::FeatureGates gates(line);
  const std::vector<api::PluginInfo> known = api::InTreePlugins(line);
  const auto loaded = codec::LoadSchedulerConfig(path, gates, known);
  if (!loaded.ok()) return MessageFault(std::string(loaded.status().message()), path);
  for (const std::string& note : loaded->notes) {
    const std::string fault = TextFault(note);
    if (!fault.empty()) return fault;
  }
  for (const codec::ConfigFormat format : {codec::ConfigFormat::kYaml, codec::ConfigFormat::kJson}) {
    const std::string printed = codec::PrintSchedulerConfig(loaded->config, loaded->profiles, format);
    std::optional<std::string> again;
    const absl::Status status = codec::ReadText(
        printed, format == codec::ConfigFormat::kYaml ? "again.yaml" : "again.json", {},
        [&](const codec::Document& document) {
          const auto read = codec::DecodeSchedulerConfig(document.root, "again", gates, known);
          if (!read.ok()) return read.status();
          again = codec::PrintSchedulerConfig(read->config, read->profiles, format);
          return absl::OkStatus();
        });
    if (!status.ok()) return absl::StrCat("what was printed is refused: ", status.message(), "\n", printed);
    if (again != printed) return absl::StrCat("read back as another configuration:\n", printed, "\n", *again);
  }
  return "";
}

std::string CheckTrace(const std::string& path, const std::string& /*text*/) {
  sim::StoryTeller teller("web-1");
  const absl::Status status = sim::ReadTrace(path, "", [&](absl::string_view record, int64_t line_number) {
    return teller.Add(record, absl::StrCat(path, ":", line_number));
  });
  if (!status.ok()) return MessageFault(std::string(status.message()), path);
  const auto story = teller.Finish();
  if (!story.ok()) return TextFault(std::string(story.status().message()));
  StoryJson(*story);
  return TextFault(StoryText(*story));
}

std::string CheckAuditLog(const std::string& path, const std::string& text) {
  const auto log = sim::ParseAuditLog(text, path, "kube-scheduler");
  return log.ok() ? "" : MessageFault(std::string(log.status().message()), path);
}

// Recordings, and what is written of them.
std::string CheckRecording(const std::string& path, const std::string& text) {
  const auto recording = sim::ParseRecording(text, path, sim::DefaultRecordingZero());
  if (!recording.ok()) return MessageFault(std::string(recording.status().message()), path);
  for (const std::string& warning : recording->warnings) {
    const std::string fault = TextFault(warning);
    if (!fault.empty()) return fault;
  }
  std::string written;
  sim::RecordingWriter writer(recording->zero,
                              [&written](absl::string_view part) { absl::StrAppend(&written, part); });
  for (const api::ObjectPtr& object : recording->objects) writer.AddObject(*object);
  for (const sim::RecordedChange& change : recording->changes)
    writer.AddChange(change.at, change.before, change.after);
  const auto again = sim::ParseRecording(written, "written.yaml", sim::DefaultRecordingZero());
  if (!again.ok()) return absl::StrCat("does not read back: ", again.status().message());
  const bool is_same = again->objects.size() == recording->objects.size() &&
                       again->changes.size() == recording->changes.size();
  return is_same ? "" : "reads back with other objects or changes";
}

std::string CheckCases(const std::string& path, const std::string& /*text*/) {
  const absl::Status status =
      sim::ReadCases(path, api::kDefaultKubernetesLine, [](sim::Case) { return absl::OkStatus(); });
  return status.ok() ? "" : MessageFault(std::string(status.message()), path);
}

// An object as etcd stores it. What is read of it can be written.
std::string CheckProtobuf(const std::string& /*path*/, const std::string& text) {
  codec::Document document;
  codec::ProtoReader proto;
  const absl::Status status = proto.Read(text, document);
  if (!status.ok()) return TextFault(std::string(status.message()));
  Objects objects;
  codec::ObjectReader reader;
  const absl::Status decoded =
      reader.ReadValue(document.root, "etcd.db", [&objects](api::ObjectPtr object, const codec::Location&) {
        objects.push_back(std::move(object));
        return absl::OkStatus();
      });
  if (!decoded.ok()) return MessageFault(std::string(decoded.message()), "etcd.db");
  for (const api::ObjectPtr& object : objects) {
    const std::string fault = ReadBackFault(*object);
    if (!fault.empty()) return fault;
  }
  return "";
}

// Stages, and what they would do to a pod.
std::string CheckStages(const std::string& path, const std::string& text) {
  sim::StageFile read;
  const absl::Status status = sim::ReadStagesOfText(text, path, read);
  if (!status.ok()) return MessageFault(std::string(status.message()), path);
  std::string fault;
  constexpr char kPod[] =
      R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"app": "web"},
          "annotations": {"phase": "1", "delay": "1s"}}, "spec": {"nodeName": "n", "containers": [{"name": "c"}]}})";
  static_cast<void>(codec::ReadText(kPod, "pod.json", {}, [&](const codec::Document& document) {
    const auto preview = sim::PreviewStages(read.stages, document.root);
    if (!preview.ok()) fault = LibraryFault(std::string(preview.status().message()));
    return absl::OkStatus();
  }));
  return fault;
}

}  // namespace

std::string LibraryFault(const std::string& text) {
  for (const absl::string_view word : kLibraryWords) {
    if (absl::StrContains(text, word)) return absl::StrCat("text of a library, \"", word, "\": ", text);
  }
  return "";
}

std::string TextFault(const std::string& text) {
  const auto is_control = [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), is_control)) return absl::StrCat("a control character: ", text);
  return LibraryFault(text);
}

std::string MessageFault(const std::string& message, const std::string& path) {
  // Several errors come in brackets.
  if (!absl::StartsWith(message, path) && !absl::StartsWith(message, absl::StrCat("[", path))) {
    return absl::StrCat("no place: ", message.substr(0, kMessageBytesMax));
  }
  if (message.size() > kMessageBytesMax) {
    return absl::StrCat("a message of ", message.size(), " bytes: ", message.substr(0, 300), "...");
  }
  return TextFault(message);
}

const std::vector<Reader>& Readers() {
  static const auto* const readers = new std::vector<Reader>{
      {.name = "yaml", .file = "in.yaml", .check = CheckObjects},
      {.name = "json", .file = "in.json", .check = CheckObjects},
      {.name = "cluster", .file = "in.yaml", .check = CheckCluster},
      {.name = "snapshot", .file = "in.yaml", .check = CheckSnapshot},
      {.name = "scenario", .file = "in.yaml", .check = CheckScenario},
      {.name = "config", .file = "in.yaml", .check = CheckConfig},
      {.name = "trace", .file = "in.jsonl", .check = CheckTrace},
      {.name = "audit_log", .file = "in.log", .check = CheckAuditLog},
      {.name = "recording", .file = "in.yaml", .check = CheckRecording},
      {.name = "cases", .file = "in.jsonl", .check = CheckCases},
      {.name = "stages", .file = "in.yaml", .check = CheckStages},
      {.name = "etcd", .file = "in.db", .check = CheckCluster},
      {.name = "protobuf", .file = "in.bin", .check = CheckProtobuf},
      {.name = "archive", .file = "in.tar", .check = CheckCluster},
      {.name = "dump", .file = "in.txt", .check = CheckCluster},
  };
  return *readers;
}

}  // namespace schedsim
