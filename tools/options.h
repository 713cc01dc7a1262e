// Options of the command line, each checked where it is read. What is wrong is said as
// `--name: "VALUE" is not ..., expected ...`.
#ifndef SCHEDSIM_TOOLS_OPTIONS_H_
#define SCHEDSIM_TOOLS_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/scenario/scheduler_choice.h"

namespace schedsim::tools {

// Values as options have them. InvalidArgument, without the option's name, for anything else.
absl::StatusOr<std::string> ParseText(absl::string_view text);  // Anything but "".
absl::StatusOr<std::string> ParsePath(absl::string_view text);  // Nor what looks like an option.
absl::StatusOr<uint64_t> ParseSeed(absl::string_view text);

// Adds an option, or a positional argument, that takes one value and is given once at most. `parse` turns the
// text into what goes to `target`, a T or std::optional<T>, which must outlive the command.
template <typename Parse, typename Target>
CLI::Option* AddOption(CLI::App& command, const std::string& names, Target& target, const std::string& type,
                       const std::string& description, Parse parse) {
  const auto count = std::make_shared<int>(0);
  CLI::Option* option = command.add_option_function<std::string>(
      names, [](const std::string&) {}, description);
  return option->type_name(type)->check([&target, parse, count](const std::string& given) -> std::string {
    if (++*count > 1) return "is given twice, expected it once";
    auto value = parse(given);
    if (!value.ok()) return std::string(value.status().message());
    target = *std::move(value);
    return "";
  });
}

// The same for an option that may be given again: each value is added to `target`, if `parse` takes it.
CLI::Option* AddTexts(CLI::App& command, const std::string& names, std::vector<std::string>& target,
                      const std::string& type, const std::string& description,
                      absl::StatusOr<std::string> (*parse)(absl::string_view));

// An option with one of a few values; the first one is the default.
CLI::Option* AddChoice(CLI::App& command, const std::string& names, std::string& target,
                       std::vector<std::string> values, const std::string& description);

// Adds --config, --feature-gates and --kubernetes-version.
void AddSchedulerOptions(CLI::App& command, sim::SchedulerChoice& choice);

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_OPTIONS_H_
