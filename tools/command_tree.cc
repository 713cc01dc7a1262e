#include "tools/command_tree.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/base/nearest_name.h"

namespace schedsim::tools {
namespace {

// Arguments that are no paths; all others are.
constexpr absl::string_view kNoPaths[] = {"COMMAND", "KIND", "NAME", "NODE", "POD", "SHELL"};

ArgumentInfo Describe(const CLI::Option& option) {
  ArgumentInfo info;
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  const bool is_argument = info.names.empty();
  if (is_argument) info.names.push_back(option.get_name(/*positional=*/true));
  info.description = option.get_description();
  info.takes_value = option.get_items_expected_max() > 0;
  if (info.takes_value) info.type = option.get_type_name();
  absl::string_view choices = info.type;
  if (absl::ConsumePrefix(&choices, "{") && absl::ConsumeSuffix(&choices, "}")) {
    for (const absl::string_view choice : absl::StrSplit(choices, ',')) info.choices.emplace_back(choice);
  }
  info.takes_file =
      is_argument ? std::find(std::begin(kNoPaths), std::end(kNoPaths), info.names[0]) == std::end(kNoPaths)
                  : absl::StrContains(info.type, "FILE") || info.type == "DIR" || info.type == "SCENARIO";
  if (is_argument && !info.choices.empty()) info.takes_file = false;
  info.default_text = option.get_default_str();
  info.is_required = option.get_required();
  info.is_repeatable = option.get_items_expected_max() > 1;
  return info;
}

CommandInfo Describe(const CLI::App& command, std::vector<std::string> path) {
  CommandInfo info = {.name = command.get_name(),
                      .path = std::move(path),
                      .description = command.get_description(),
                      .footer = command.get_footer(),
                      .options = {},
                      .arguments = {},
                      .commands = {}};
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    (option->nonpositional() ? info.options : info.arguments).push_back(Describe(*option));
  }
  for (const CLI::App* below : command.get_subcommands(nullptr)) {
    if (below->get_group().empty()) continue;
    std::vector<std::string> longer = info.path;
    longer.push_back(below->get_name());
    info.commands.push_back(Describe(*below, std::move(longer)));
  }
  return info;
}

}  // namespace

std::string Suggestion(absl::string_view text, const std::vector<std::string>& names) {
  const absl::string_view nearest = NearestName(text, {names.begin(), names.end()});
  return nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?");
}

CommandInfo DescribeCommand(const CLI::App& program) { return Describe(program, {"schedsim"}); }

}  // namespace schedsim::tools
