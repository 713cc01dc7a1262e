// The subcommands of the program. Each has a file of its own in this folder.
#ifndef SCHEDSIM_TOOLS_SUBCOMMANDS_H_
#define SCHEDSIM_TOOLS_SUBCOMMANDS_H_

namespace CLI {
class App;
}

namespace schedsim::tools {

// What the program returns.
enum ExitCode : int {
  kDone = 0,
  // The command's own verdict: a case differs, a check failed.
  kVerdict = 1,
  // Bad usage or bad input.
  kBadInput = 2,
  // What an extender says is not known: it ran into its timeout, or its recorded calls are others.
  kUnknownAnswer = 4,
};

// Each adds its subcommand to `app` and sets `exit_code` when it is run.
void AddRun(CLI::App& app, int& exit_code);
void AddConform(CLI::App& app, int& exit_code);
void AddDiff(CLI::App& app, int& exit_code);
void AddTest(CLI::App& app, int& exit_code);
void AddWhatIf(CLI::App& app, int& exit_code);
void AddConfig(CLI::App& app, int& exit_code);
void AddWhy(CLI::App& app, int& exit_code);
void AddExplain(CLI::App& app, int& exit_code);
void AddCalibrate(CLI::App& app, int& exit_code);
void AddBench(CLI::App& app, int& exit_code);
void AddStage(CLI::App& app, int& exit_code);
void AddScale(CLI::App& app, int& exit_code);
void AddSnapshot(CLI::App& app, int& exit_code);
void AddRecord(CLI::App& app, int& exit_code);
void AddReport(CLI::App& app, int& exit_code);
void AddPlugin(CLI::App& app, int& exit_code);
void AddHelp(CLI::App& app, int& exit_code);
void AddCompletion(CLI::App& app, int& exit_code);
void AddManPage(CLI::App& app, int& exit_code);

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_SUBCOMMANDS_H_
