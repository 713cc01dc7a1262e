// The program: reads the command line and hands over to a subcommand.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>

#include "tools/subcommands.h"

namespace {

// Without memory there is nothing to be put in order: this says so and ends the program.
[[noreturn]] void OutOfMemory() {
  constexpr char kMessage[] = "schedsim: out of memory, expected less input or more memory\n";
  static_cast<void>(!write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1));
  _exit(schedsim::tools::kBadInput);
}

}  // namespace

int main(int argc, char** argv) {
  std::set_new_handler(OutOfMemory);
  CLI::App app(
      "schedsim replays Kubernetes clusters through a scheduler that decides as kube-scheduler does, in\n"
      "virtual time. The same input gives the same bytes on any machine.");
  app.set_version_flag("--version", "schedsim 0.1.0");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 the verdict of a command that judges, 2 bad usage or bad input.\n"
      "`schedsim COMMAND --help` has examples.");
  int exit_code = schedsim::tools::kDone;
  schedsim::tools::AddRun(app, exit_code);
  schedsim::tools::AddConform(app, exit_code);
  schedsim::tools::AddConfig(app, exit_code);
  schedsim::tools::AddWhy(app, exit_code);
  schedsim::tools::AddCalibrate(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    if (app.get_subcommands().empty()) {
      std::fputs(
          "schedsim: expected a command: run, conform, config, why or calibrate; see schedsim --help\n",
          stderr);
      return schedsim::tools::kBadInput;
    }
    app.exit(error);
    return schedsim::tools::kBadInput;
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? schedsim::tools::kDone : schedsim::tools::kBadInput;
  }
  return exit_code;
}
