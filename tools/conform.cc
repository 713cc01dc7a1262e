// schedsim conform: runs recorded cases and compares with what the real scheduler did.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/kubernetes_version.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "sim/conformance/case.h"
#include "sim/conformance/follow.h"
#include "sim/record/record_reader.h"
#include "sim/record/recorded_trace.h"
#include "sim/record/records.h"
#include "sim/scenario/scheduler_choice.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

struct ConformOptions {
  std::string cases;
  std::string traces;
  std::string kubernetes_version = std::string(api::KubernetesLineName(api::kDefaultKubernetesLine));
  std::vector<std::string> families;
  std::vector<std::string> plugins;
  hosting::ProcessOptions processes;
  std::string write;
  bool reference = false;
  bool single_attempts = false;
  bool verbose = false;
};

struct Count {
  int64_t same = 0;
  int64_t total = 0;
  int64_t left_out = 0;
};

// "spreading" of "spreading-17".
std::string FamilyOf(const std::string& name) { return name.substr(0, name.rfind('-')); }

// Whether a recorded trace has no step, no second attempt and no nomination.
absl::StatusOr<bool> IsSingleAttempts(const sim::RecordedTrace& trace) {
  ASSIGN_OR_RETURN(const sim::Records records, sim::ReadRecords(trace.records, trace.place));
  for (const sim::record::Record& record : records.list) {
    if (record.As<sim::record::Step>() != nullptr) return false;
    if (record.As<sim::record::Delete>() != nullptr) return false;
    const auto* attempt = record.As<sim::record::Attempt>();
    if (attempt != nullptr && (attempt->attempts != 1 || !attempt->nominated_before.empty())) return false;
  }
  return true;
}

// Refuses names for which --write has no file of its own in the folder, such as `../x`.
absl::Status CheckFileName(const sim::Case& test_case, std::set<std::string>& written) {
  const std::string& name = test_case.name;
  constexpr size_t kBytesMax = 200;
  if (name.size() > kBytesMax || absl::StrContains(name, '/')) {
    return absl::InvalidArgumentError(
        absl::StrCat(test_case.place, ": name: not the name of a file, expected for --write at most ",
                     kBytesMax, " bytes without /"));
  }
  if (written.insert(name).second) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(test_case.place, ": name: ", name,
                                                 " is there twice, expected a name of its own for --write"));
}

// Pairs of a cases file and a traces file: two files, or the files of one name in two folders.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> FilePairs(const ConformOptions& options) {
  namespace fs = std::filesystem;
  std::vector<std::pair<std::string, std::string>> pairs;
  std::error_code error;
  if (!fs::is_directory(options.cases, error)) return std::vector{std::pair(options.cases, options.traces)};
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(options.cases, error)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && absl::StrContains(name, ".jsonl")) names.insert(name);
  }
  for (const std::string& name : names) {
    const std::string family = name.substr(0, name.find('.'));
    const bool wanted =
        options.families.empty() ||
        std::find(options.families.begin(), options.families.end(), family) != options.families.end();
    const std::string traces = (fs::path(options.traces) / name).string();
    if (!wanted) continue;
    if (!fs::exists(traces, error)) return absl::NotFoundError(absl::StrCat(traces, ": no such file"));
    pairs.emplace_back((fs::path(options.cases) / name).string(), traces);
  }
  if (pairs.empty())
    return absl::NotFoundError(absl::StrCat(options.cases, ": no file of cases (.jsonl, .jsonl.gz)"));
  return pairs;
}

// `inputs`: the files of cases and traces, over which nothing is written.
absl::Status WriteTrace(const std::string& folder, const std::string& name,
                        const std::vector<std::string>& records, const std::vector<std::string>& inputs) {
  const std::string path = absl::StrCat(folder, "/", name, ".jsonl");
  RETURN_IF_ERROR(RefuseInputAsOutput("--write", path, inputs));
  std::unique_ptr<ResultFile> file;
  ASSIGN_OR_RETURN(file, ResultFile::Create(path));
  for (const std::string& record : records) {
    file->Write(record);
    file->Write("\n");
  }
  return file->Commit();
}

absl::Status RunPair(const ConformOptions& options, api::KubernetesLine line,
                     const hosting::LoadedPlugins& plugins, const std::string& cases,
                     const std::string& traces, std::map<std::string, Count>& counts,
                     std::set<std::string>& written) {
  std::vector<sim::RecordedTrace> recorded;
  ASSIGN_OR_RETURN(recorded, sim::ReadRecordedTraces(traces));
  std::map<std::string, const sim::RecordedTrace*> by_name;
  for (const sim::RecordedTrace& trace : recorded) {
    if (by_name.emplace(trace.name, &trace).second) continue;
    return absl::InvalidArgumentError(absl::StrCat(trace.place, ": case ",
                                                   Printable(trace.name, kShownBytesMax),
                                                   " is there twice, expected one trace of each case"));
  }
  const auto run_case = [&](sim::Case test_case) -> absl::Status {
    const std::string family = FamilyOf(test_case.name);
    const bool wanted =
        options.families.empty() ||
        std::find(options.families.begin(), options.families.end(), family) != options.families.end();
    if (!wanted || !test_case.is_for_line) return absl::OkStatus();
    Count& count = counts[family];
    auto expected = by_name.find(test_case.name);
    if (expected == by_name.end()) {
      return absl::InvalidArgumentError(absl::StrCat(test_case.place, ": no trace of case ",
                                                     Printable(test_case.name, kShownBytesMax),
                                                     ", expected one in ", traces));
    }
    if (options.single_attempts) {
      ASSIGN_OR_RETURN(const bool is_single, IsSingleAttempts(*expected->second));
      if (!is_single) {
        ++count.left_out;
        return absl::OkStatus();
      }
    }
    if (!options.write.empty()) RETURN_IF_ERROR(CheckFileName(test_case, written));
    ++count.total;
    sim::FollowedRun followed;
    ASSIGN_OR_RETURN(followed, sim::RunFollowing(test_case, *expected->second, options.reference));
    if (followed.difference.has_value()) followed.difference = Printable(*followed.difference);
    if (!options.write.empty())
      RETURN_IF_ERROR(WriteTrace(options.write, test_case.name, followed.run.records, {cases, traces}));
    std::optional<std::string>& difference = followed.difference;
    if (!difference.has_value()) {
      ++count.same;
      return absl::OkStatus();
    }
    if (!options.verbose && difference->size() > 300) *difference = difference->substr(0, 300) + " ...";
    RETURN_IF_ERROR(WriteOutput(absl::StrCat(test_case.name, ": ", *difference, "\n")));
    if (followed.outside.empty()) return absl::OkStatus();
    return WriteOutput(absl::StrCat("  free choice outside our own: ", followed.outside, "\n"));
  };
  return sim::ReadCases(cases, line, run_case, plugins);
}

absl::StatusOr<int> Conform(const ConformOptions& options) {
  api::KubernetesVersion version;
  ASSIGN_OR_RETURN(version, api::ParseKubernetesVersion(options.kubernetes_version));
  sim::PluginChoice loaded;
  ASSIGN_OR_RETURN(loaded, sim::LoadPlugins(options.plugins, options.processes, version.line));
  for (const std::string& note : loaded.plugins.notes) PrintNotice(absl::StrCat("note: ", note));
  std::vector<std::pair<std::string, std::string>> pairs;
  ASSIGN_OR_RETURN(pairs, FilePairs(options));
  std::error_code error;
  if (!options.write.empty()) std::filesystem::create_directories(options.write, error);
  std::map<std::string, Count> counts;
  std::set<std::string> written;
  for (const auto& [cases, traces] : pairs)
    RETURN_IF_ERROR(RunPair(options, version.line, loaded.plugins, cases, traces, counts, written));
  Count all;
  for (const auto& [family, count] : counts) {
    RETURN_IF_ERROR(WriteOutput(
        absl::StrCat("  ", family, ": ", count.same, " of ", count.total, " the same",
                     count.left_out == 0 ? "" : absl::StrCat(", ", count.left_out, " left out"), "\n")));
    all.same += count.same;
    all.total += count.total;
  }
  if (all.total == 0)
    return absl::InvalidArgumentError("no case to run: --family names none of those in the files");
  RETURN_IF_ERROR(WriteOutput(absl::StrCat(all.same, " passed, ", all.total - all.same, " failed\n")));
  return all.same == all.total ? kDone : kVerdict;
}

}  // namespace

void AddConform(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ConformOptions>();
  CLI::App* command =
      app.add_subcommand("conform", "Compare with recorded decisions of the real kube-scheduler");
  AddOption(*command, "CASES", options->cases, "", "Cases, .jsonl or .jsonl.gz, or a folder of such files",
            ParsePath)
      ->required();
  AddOption(*command, "TRACES", options->traces, "", "What the real scheduler did: file or folder, as CASES",
            ParsePath)
      ->required();
  AddOption(*command, "--kubernetes-version", options->kubernetes_version, "VERSION",
            "Line to simulate: 1.34 to 1.37", ParseText)
      ->default_str(options->kubernetes_version);
  AddTexts(*command, "--family", options->families, "NAME",
           "Only cases of this family (the name up to its number); repeatable", ParseText);
  AddPluginFiles(*command, options->plugins, options->processes);
  AddOption(*command, "--write", options->write, "DIR", "Write each case's trace to DIR/CASE.jsonl",
            ParsePath);
  command->add_flag("--reference", options->reference, "Turn off all fast paths");
  command->add_flag("--single-attempts", options->single_attempts,
                    "Only cases whose recorded trace has no step, second attempt or nomination");
  command->add_flag("-v", options->verbose, "Print differences in full");
  command->footer(
      "Prints the first difference of each case that differs and a count for each family.\n"
      "Exit codes: 0 all are the same, 1 a case differs, 2 bad usage, bad input, or output that cannot be\n"
      "written.\n\n"
      "Examples:\n"
      "  schedsim conform tests/conformance/cases tests/conformance/traces-1.37\n"
      "  schedsim conform --family taints --write out cases/taints.jsonl.gz traces-1.37/taints.jsonl.gz");
  command->callback([options, &exit_code] { exit_code = ExitCodeOf("schedsim conform", Conform(*options)); });
}

}  // namespace schedsim::tools
