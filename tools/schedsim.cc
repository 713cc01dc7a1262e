// The program: reads the command line and hands over to a subcommand.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/api/go_text.h"
#include "core/base/version.h"
#include "core/hosting/library/plugin_call.h"
#include "core/hosting/wasm/wasm_engine.h"
#include "tools/command_tree.h"
#include "tools/output.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

// The innermost command that the command line names, and its words: "schedsim config print".
const CLI::App& CommandOf(const CLI::App& app, std::string& name) {
  const CLI::App* command = &app;
  name = "schedsim";
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    absl::StrAppend(&name, " ", command->get_name());
  }
  return *command;
}

std::vector<std::string> SubcommandNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : command.get_subcommands(nullptr)) {
    if (!subcommand->get_group().empty()) names.push_back(subcommand->get_name());
  }
  return names;
}

std::vector<std::string> OptionNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(absl::StrCat("--", name));
  }
  return names;
}

// What is wrong where a word is neither an option nor an argument that the command takes.
std::string UnexpectedWord(const CLI::App& command, absl::string_view word) {
  if (!absl::StartsWith(word, "-")) return absl::StrCat(api::GoQuote(word), ": unexpected argument");
  const absl::string_view option = word.substr(0, word.find('='));
  if (command.get_name() == "why" && (option == "-f" || option == "--filename"))
    return absl::StrCat(option, ": expected a trace; of a cluster, schedsim explain tells why");
  return absl::StrCat(option, ": unknown option", Suggestion(option, OptionNames(command)));
}

// Says what is wrong with the command line, in our words instead of the library's where it is about names.
std::string UsageError(const CLI::App& app, const CLI::ParseError& error) {
  std::string name;
  const CLI::App& command = CommandOf(app, name);
  std::vector<std::string> words;
  for (const CLI::App* parsed : {&app, &command}) {
    for (const std::string& word : parsed->remaining()) words.push_back(word);
  }
  std::string what = error.what();
  const bool is_option = !words.empty() && absl::StartsWith(words[0], "-");
  if (command.get_require_subcommand_min() > 0 && !is_option) {
    const std::vector<std::string> names = SubcommandNames(command);
    what = absl::StrCat("expected a command: ", absl::StrJoin(names, ", "));
    if (!words.empty()) absl::StrAppend(&what, ", got ", api::GoQuote(words[0]), Suggestion(words[0], names));
  } else if (!words.empty()) {
    what = UnexpectedWord(command, words[0]);
  } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    what = absl::StrCat("expected ", absl::StripSuffix(what, " is required"));
  } else if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr) {
    const std::pair<std::string, std::string> names = absl::StrSplit(what, " requires ");
    what = absl::StrCat(names.first, ": expected ", names.second, " beside it");
  } else if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    const std::pair<std::string, std::string> names = absl::StrSplit(what, " excludes ");
    what = absl::StrCat(names.first, ": expected no ", names.second, " beside it");
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    what = absl::StrCat(what.substr(0, what.find(':')), ": expected a value");
  }
  return absl::StrCat(name, ": ", what, "; see ", name, " --help");
}

// Without memory there is nothing to be put in order: this says so and ends the program.
[[noreturn]] void OutOfMemory() {
  constexpr char kMessage[] = "schedsim: out of memory, expected less input or more memory\n";
  static_cast<void>(!write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1));
  AbandonResultFile();
  _exit(kBadInput);
}

// The program's, and those of what runs guests: the first one does where nobody chooses.
std::string VersionText() {
  std::string text(ProgramVersion());
  for (const hosting::WasmEngine engine : hosting::WasmEngines()) {
    absl::StrAppend(&text, "\nguests of WebAssembly: ", hosting::WasmEngineVersion(engine));
  }
  return text;
}

// Help and version are output, too.
int PrintHelp(const CLI::App& app, const CLI::Success& asked) {
  std::ostringstream text;
  app.exit(asked, text, text);
  return ExitCodeOf("schedsim", WriteOutput(ForTerminal(text.str())));
}

}  // namespace
}  // namespace schedsim::tools

int main(int argc, char** argv) {
  namespace tools = schedsim::tools;
  std::set_new_handler(tools::OutOfMemory);
  tools::PrepareOutput();
  schedsim::hosting::PluginCall::set_on_crash(tools::AbandonResultFile);
  CLI::App app(
      "schedsim replays Kubernetes clusters through a scheduler that decides as kube-scheduler does, in\n"
      "virtual time. The same input gives the same bytes on any machine.",
      "schedsim");
  app.set_version_flag("--version", tools::VersionText());
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 the verdict of a command that judges, 2 bad usage, bad input, or output that "
      "cannot\n"
      "be written, 3 a plugin of --plugin crashed, 4 an extender or a plugin gave no answer in time. `schedsim\n"
      "COMMAND --help` says more.\n\n"
      "Examples:\n"
      "  schedsim run -f snapshots/small\n"
      "  schedsim run --help");
  int exit_code = tools::kDone;
  tools::AddRun(app, exit_code);
  tools::AddConform(app, exit_code);
  tools::AddDiff(app, exit_code);
  tools::AddTest(app, exit_code);
  tools::AddWhatIf(app, exit_code);
  tools::AddConfig(app, exit_code);
  tools::AddWhy(app, exit_code);
  tools::AddExplain(app, exit_code);
  tools::AddCalibrate(app, exit_code);
  tools::AddBench(app, exit_code);
  tools::AddStage(app, exit_code);
  tools::AddScale(app, exit_code);
  tools::AddSnapshot(app, exit_code);
  tools::AddRecord(app, exit_code);
  tools::AddReport(app, exit_code);
  tools::AddPlugin(app, exit_code);
  tools::AddHelp(app, exit_code);
  tools::AddCompletion(app, exit_code);
  tools::AddManPage(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return tools::PrintHelp(app, asked);
  } catch (const CLI::ParseError& error) {
    tools::PrintMessage(tools::UsageError(app, error));
    return tools::kBadInput;
  }
  return exit_code;
}
