#include "tools/options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/api/go_text.h"
#include "core/base/status_macros.h"
#include "sim/kernel/time_limits.h"
#include "tools/output.h"

namespace schedsim::tools {

absl::StatusOr<std::string> ParseText(absl::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError("is empty, expected a value");
  return std::string(text);
}

absl::StatusOr<std::string> ParsePath(absl::string_view text) {
  if (absl::StartsWith(text, "--")) {
    return absl::InvalidArgumentError(
        absl::StrCat(api::GoQuote(text), " is an option, expected the path of a file"));
  }
  return ParseText(text);
}

absl::StatusOr<SeedRange> ParseSeedRange(absl::string_view text) {
  SeedRange seeds;
  const size_t dots = text.find("..");
  const absl::string_view last = dots == absl::string_view::npos ? text : text.substr(dots + 2);
  const bool is_range = absl::SimpleAtoi(text.substr(0, dots), &seeds.first) &&
                        absl::SimpleAtoi(last, &seeds.last) && seeds.first > 0 && seeds.first <= seeds.last &&
                        seeds.last < UINT64_MAX;
  if (!is_range) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is no range, expected FIRST..LAST or one number, from 1 on"));
  }
  constexpr uint64_t kSeedsMax = 1'000'000;
  if (seeds.last - seeds.first < kSeedsMax) return seeds;
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" has ", seeds.last - seeds.first + 1,
                                                 " seeds, expected at most ", kSeedsMax));
}

absl::StatusOr<int64_t> ParseJobs(absl::string_view text) { return ParseCountUpTo(1024)(text); }

int64_t DefaultJobs() { return std::max<int64_t>(1, sysconf(_SC_NPROCESSORS_ONLN)); }

absl::StatusOr<uint64_t> ParseSeed(absl::string_view text) {
  uint64_t seed = 0;
  const bool has_digits_only = text.find_first_not_of("0123456789") == absl::string_view::npos;
  if (has_digits_only && absl::SimpleAtoi(text, &seed)) return seed;
  return absl::InvalidArgumentError(absl::StrCat(
      api::GoQuote(text), " is not a seed, expected a whole number from 0 to 18446744073709551615"));
}

absl::StatusOr<int64_t> ParseCount(absl::string_view text) {
  int64_t count = 0;
  if (absl::SimpleAtoi(text, &count) && count >= 0) return count;
  return absl::InvalidArgumentError(
      absl::StrCat(api::GoQuote(text), " is not a count, expected a whole number from 0 on"));
}

absl::StatusOr<int64_t> ParseCountAboveZero(absl::string_view text) {
  const absl::StatusOr<int64_t> count = ParseCount(text);
  if (count.ok() && *count > 0) return count;
  return absl::InvalidArgumentError(
      absl::StrCat(api::GoQuote(text), " is not a count, expected a whole number from 1 on"));
}

std::function<absl::StatusOr<int64_t>(absl::string_view)> ParseCountUpTo(int64_t max) {
  return [max](absl::string_view text) -> absl::StatusOr<int64_t> {
    const absl::StatusOr<int64_t> count = ParseCountAboveZero(text);
    if (count.ok() && *count <= max) return count;
    return absl::InvalidArgumentError(
        absl::StrCat(api::GoQuote(text), " is not a count, expected a whole number from 1 to ", max));
  };
}

absl::StatusOr<absl::Duration> ParseInterval(absl::string_view text) {
  absl::Duration interval;
  ASSIGN_OR_RETURN(interval, sim::ParseSpan(text));
  if (interval > absl::ZeroDuration()) return interval;
  return absl::InvalidArgumentError(absl::StrCat(text, ": expected a duration above zero"));
}

CLI::Option* AddChecked(CLI::App& command, const std::string& names, const std::string& type,
                        const std::string& description,
                        std::function<absl::Status(absl::string_view text)> take) {
  const auto count = std::make_shared<int>(0);
  CLI::Option* option = command.add_option_function<std::string>(
      names, [](const std::string&) {}, description);
  return option->type_name(type)->check([take, count](const std::string& given) -> std::string {
    if (++*count > 1) return "is given twice, expected it once";
    return std::string(take(given).message());
  });
}

CLI::Option* AddTexts(CLI::App& command, const std::string& names, std::vector<std::string>& target,
                      const std::string& type, const std::string& description,
                      absl::StatusOr<std::string> (*parse)(absl::string_view)) {
  const auto check = [parse](const std::string& given) {
    return std::string(parse(given).status().message());
  };
  // One value for each time that an option is given: `-f a b` is a file and a positional argument.
  const bool is_option = absl::StartsWith(names, "-");
  return command.add_option(names, target, description)
      ->type_name(type)
      ->allow_extra_args(!is_option)
      ->check(check);
}

CLI::Option* AddChoice(CLI::App& command, const std::string& names, std::string& target,
                       std::vector<std::string> values, const std::string& description) {
  target = values.front();
  const std::string type = absl::StrCat("{", absl::StrJoin(values, ","), "}");
  const auto parse = [values](absl::string_view text) -> absl::StatusOr<std::string> {
    if (std::find(values.begin(), values.end(), text) != values.end()) return std::string(text);
    return absl::InvalidArgumentError(
        absl::StrCat(api::GoQuote(text), " is not known, expected one of ", absl::StrJoin(values, ", ")));
  };
  return AddOption(command, names, target, type, description, parse)->default_str(target);
}

void AddQuiet(CLI::App& command) {
  command.add_flag_callback("-q,--quiet", BeQuiet,
                            "Say nothing on standard error but errors and verdicts: no notes, no warnings, "
                            "no progress");
}

CLI::Option* AddNamespace(CLI::App& command, std::string& name_space) {
  return AddOption(command, "-n,--namespace", name_space, "NAME", "The namespace of the pod", ParseText);
}

namespace {

// The name in kubectl's TYPE/NAME; "": it is not of that form.
absl::string_view NameInPodForm(absl::string_view pod) {
  for (const absl::string_view type : {"pod/", "pods/", "po/"})
    if (absl::ConsumePrefix(&pod, type)) return pod;
  return "";
}

}  // namespace

absl::Status WithPodForm(const absl::Status& error, absl::string_view pod) {
  const absl::string_view name = NameInPodForm(pod);
  if (!absl::IsNotFound(error) || name.empty()) return error;
  return absl::NotFoundError(
      absl::StrCat(error.message(), "; expected NAMESPACE/NAME or NAME, such as ", name));
}

absl::StatusOr<std::string> PodIn(const std::string& name_space, const std::string& pod) {
  if (name_space.empty()) return pod;
  const size_t slash = pod.find('/');
  if (slash == std::string::npos) return absl::StrCat(name_space, "/", pod);
  if (pod.substr(0, slash) == name_space) return pod;
  if (const absl::string_view name = NameInPodForm(pod); !name.empty())
    return absl::StrCat(name_space, "/", name);
  return absl::InvalidArgumentError(absl::StrCat("--namespace: ", api::GoQuote(name_space),
                                                 " is not that of ", pod, ", expected one of them"));
}

absl::StatusOr<hosting::WasmEngine> ParseWasmEngine(absl::string_view text) {
  const std::vector<hosting::WasmEngine> engines = hosting::WasmEngines();
  std::string names;
  for (const hosting::WasmEngine engine : engines) {
    if (text == hosting::WasmEngineName(engine)) return engine;
    absl::StrAppend(&names, names.empty() ? "" : " or ", hosting::WasmEngineName(engine));
  }
  return absl::InvalidArgumentError(absl::StrCat("expected ", names, ", which this build has"));
}

void AddPluginFiles(CLI::App& command, std::vector<std::string>& paths, hosting::ProcessOptions& processes) {
  AddTexts(
      command, "--plugin", paths, "FILE",
      "Plugins, which the configuration may then name: a shared library, a Python file (.py), or a program; "
      "repeatable",
      ParsePath);
  command.add_flag("--isolate", processes.isolate,
                   "Run shared libraries of plugins in processes of their own");
  AddOption(
      command, "--plugin-timeout", processes.answer_limit, "DURATION",
      "How much real time a plugin in a process has for an answer; one that takes longer ends the run with "
      "exit code 4",
      ParseInterval)
      ->default_str("60s");
}

void AddRecorder(CLI::App& command, const std::string& name, std::string& path) {
  AddOption(command, name, path, "FILE",
            "Let the real kube-scheduler decide, with plugins in Go: a program that tools/recorder/build.sh "
            "built",
            ParsePath);
}

void AddExtenderOptions(CLI::App& command, sim::ExtenderChoice& choice) {
  CLI::Option* const live =
      command.add_flag("--extender-live", choice.live,
                       "Call the configuration's extenders; a timeout ends the run with "
                       "exit code 4");
  AddOption(
      command, "--extender-replay", choice.replay, "FILE",
      "Take the extenders' answers from such a file; a call that it does not have ends the run with exit "
      "code 4",
      ParsePath)
      ->excludes(live);
}

void AddSchedulerOptions(CLI::App& command, sim::SchedulerChoice& choice) {
  AddOption(command, "--config", choice.config, "FILE",
            "KubeSchedulerConfiguration, - for standard input, or kwokctl's configuration; default: the real "
            "one's defaults",
            ParsePath);
  AddOption(command, "--feature-gates", choice.feature_gates, "LIST", "Gates to set, such as A=true,B=false",
            ParseText);
  AddOption(command, "--kubernetes-version", choice.kubernetes_version, "VERSION",
            "Line to simulate: 1.34 to 1.37", ParseText)
      ->default_str(std::string(api::KubernetesLineName(api::kDefaultKubernetesLine)));
  AddPluginFiles(command, choice.plugins, choice.processes);
  AddGuestOptions(command, choice.guests);
}

void AddGuestOptions(CLI::App& command, hosting::GuestOptions& guests) {
  AddOption(
      command, "--wasm-engine", guests.engine, "ENGINE",
      "What runs guests of WebAssembly: mozjs or wabt, with the same results; default: the faster one of "
      "those that --version names",
      ParseWasmEngine);
  command.add_flag_callback(
      "--guest-log", [&guests] { guests.log = [](absl::string_view line) { PrintMessage(line); }; },
      "Print what guests of WebAssembly log on standard error");
}

}  // namespace schedsim::tools
