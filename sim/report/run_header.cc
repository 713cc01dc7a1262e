#include "sim/report/run_header.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/digest.h"
#include "core/base/printable.h"
#include "sim/record/record_writer.h"

namespace schedsim::sim {
namespace {

// How much of a command and of a hash the text shows.
constexpr size_t kCommandBytesMax = 2000;
constexpr size_t kHashDigitsShown = 12;

absl::string_view LevelName(TraceLevel level) {
  switch (level) {
    case TraceLevel::kOff:
      return "";
    case TraceLevel::kDecisions:
      return "decisions";
    case TraceLevel::kTies:
      return "ties";
    case TraceLevel::kFull:
      return "full";
  }
  return "";
}

}  // namespace

std::string ShellWord(absl::string_view word) {
  constexpr absl::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+,./:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == absl::string_view::npos) return std::string(word);
  return absl::StrCat("'", absl::StrJoin(absl::StrSplit(word, '\''), "'\\''"), "'");
}

std::string InputSha256(const RunHeader& header) {
  if (header.inputs.size() == 1) return header.inputs[0].sha256;
  std::string lines;
  for (const codec::InputFile& file : header.inputs) absl::StrAppend(&lines, file.sha256, "\n");
  return codec::Sha256Hex(lines);
}

std::string HeaderText(const RunHeader& header) {
  const std::string command =
      absl::StrJoin(header.arguments, " ",
                    [](std::string* out, const std::string& argument) { out->append(ShellWord(argument)); });
  const size_t count = header.inputs.size();
  return absl::StrCat("Run             ", Printable(command, kCommandBytesMax), "\n                ",
                      header.program, ", seed ", header.seed, ", input ",
                      InputSha256(header).substr(0, kHashDigitsShown),
                      count == 1 ? "" : absl::StrCat(" (", count, " files)"), "\n",
                      header.recorder.empty()
                          ? ""
                          : absl::StrCat("                decided by ", Printable(header.recorder), "\n"));
}

void WriteHeader(const RunHeader& header, codec::JsonWriter& json) {
  json.BeginObject().Field("program", header.program).Key("arguments").BeginArray();
  for (const std::string& argument : header.arguments) json.String(argument);
  json.EndArray().Key("inputs").BeginArray();
  for (const codec::InputFile& file : header.inputs)
    json.BeginObject().Field("path", file.path).Field("sha256", file.sha256).EndObject();
  json.EndArray().Field("inputSha256", InputSha256(header)).Field("featureGates", header.feature_gates);
  json.Field("seed", absl::StrCat(header.seed));
  if (!header.recorder.empty()) json.Field("recorder", header.recorder);
  json.EndObject();
}

std::string HeaderLine(const RunHeader& header) {
  const std::string seed = absl::StrCat(header.seed);
  record::Run run = {.program = header.program,
                     .arguments = record::Texts(header.arguments.begin(), header.arguments.end()),
                     .inputs = {},
                     .kubernetes_version = header.kubernetes_version,
                     .feature_gates = header.feature_gates,
                     .latency_model = header.latency_model,
                     .seed = seed,
                     .level = LevelName(header.level),
                     .recorder = std::nullopt};
  if (!header.recorder.empty()) run.recorder = header.recorder;
  for (const codec::InputFile& file : header.inputs)
    run.inputs.push_back({.path = file.path, .sha256 = file.sha256});
  RecordWriter writer;
  writer.Start(absl::ZeroDuration(), run);
  return writer.Finish(Digest().Hex());
}

RunHeader HeaderOf(const record::Run& record) {
  RunHeader header;
  header.program = std::string(record.program);
  for (const absl::string_view argument : record.arguments) header.arguments.emplace_back(argument);
  for (const record::RunInput& input : record.inputs)
    header.inputs.push_back({.path = std::string(input.path), .sha256 = std::string(input.sha256)});
  header.kubernetes_version = std::string(record.kubernetes_version);
  header.feature_gates = std::string(record.feature_gates);
  header.latency_model = std::string(record.latency_model);
  static_cast<void>(absl::SimpleAtoi(record.seed, &header.seed));
  header.recorder = std::string(record.recorder.value_or(""));
  header.level = TraceLevel::kDecisions;
  for (const TraceLevel level : {TraceLevel::kTies, TraceLevel::kFull}) {
    if (record.level == LevelName(level)) header.level = level;
  }
  return header;
}

}  // namespace schedsim::sim
