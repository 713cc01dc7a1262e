// schedsim help, completion and man: how the program is used, for people, shells and man.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/go_text.h"
#include "core/base/status_macros.h"
#include "tools/command_tree.h"
#include "tools/completion.h"
#include "tools/man_page.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

// What `schedsim WORD... --help` prints.
absl::StatusOr<std::string> HelpOf(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  std::string path = "schedsim";
  for (const std::string& word : words) {
    const CLI::App* below = nullptr;
    std::vector<std::string> names;
    for (const CLI::App* known : command->get_subcommands(nullptr)) {
      names.push_back(known->get_name());
      if (known->get_name() == word) below = known;
    }
    if (below == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(api::GoQuote(word), " is no command of ", path, Suggestion(word, names)));
    }
    command = below;
    absl::StrAppend(&path, " ", word);
  }
  return command->get_formatter()->make_help(command, path, CLI::AppFormatMode::Normal);
}

absl::Status PrintHelp(const CLI::App& app, const std::vector<std::string>& words) {
  std::string text;
  ASSIGN_OR_RETURN(text, HelpOf(app, words));
  return WriteOutput(ForTerminal(std::move(text)));
}

}  // namespace

void AddHelp(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "Say how a command is used, as its --help does");
  AddTexts(*command, "COMMAND", *words, "", "The command, such as run, or snapshot save; default: all",
           ParseText);
  command->footer(
      "Exit codes: 0 printed, 2 no such command.\n\n"
      "Examples:\n"
      "  schedsim help run\n"
      "  schedsim help snapshot save");
  command->callback(
      [words, &app, &exit_code] { exit_code = ExitCodeOf("schedsim help", PrintHelp(app, *words)); });
}

void AddCompletion(CLI::App& app, int& exit_code) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print what makes a shell complete command lines");
  AddChoice(*command, "SHELL", *shell, {"bash", "zsh", "fish"}, "For which shell")->required();
  command->footer(
      "Exit codes: 0 printed, 2 bad usage.\n\n"
      "Examples:\n"
      "  schedsim completion bash > ~/.local/share/bash-completion/completions/schedsim\n"
      "  source <(schedsim completion bash)\n"
      "  schedsim completion zsh > \"${fpath[1]}/_schedsim\"\n"
      "  schedsim completion fish > ~/.config/fish/completions/schedsim.fish");
  command->callback([shell, &app, &exit_code] {
    const CommandInfo program = DescribeCommand(app);
    exit_code = ExitCodeOf("schedsim completion", WriteOutput(*shell == "bash"  ? BashCompletion(program)
                                                              : *shell == "zsh" ? ZshCompletion(program)
                                                                                : FishCompletion(program)));
  });
}

void AddManPage(CLI::App& app, int& exit_code) {
  // The build calls it. Without a group, help leaves it out.
  CLI::App* command = app.add_subcommand("man", "Print the manual page")->group("");
  command->callback([&app, &exit_code] {
    exit_code = ExitCodeOf("schedsim man", WriteOutput(ManPage(DescribeCommand(app))));
  });
}

}  // namespace schedsim::tools
