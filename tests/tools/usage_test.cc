// schedsim help, completion and man.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Strings = std::vector<std::string>;

TEST(HelpTest, IsThatOfTheCommand) {
  const Strings commands[] = {{}, {"run"}, {"snapshot"}, {"snapshot", "save"}, {"help"}};
  for (const Strings& command : commands) {
    Strings help = {"help"};
    help.insert(help.end(), command.begin(), command.end());
    Strings option = command;
    option.push_back("--help");
    const ProgramResult result = RunProgram(help);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, RunProgram(option).out) << absl::StrJoin(help, " ");
    EXPECT_FALSE(result.out.empty());
  }
}

TEST(HelpTest, NamesACommandThatIsClose) {
  const ProgramResult result = RunProgram({"help", "snapshot", "sav"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "schedsim help: \"sav\" is no command of schedsim snapshot; did you mean save?\n");
}

// What bash offers for a line, whose last word is the one to complete; sorted.
Strings Completions(const Strings& words) {
  const TestFolder folder;
  folder.Write("cluster.yaml", "");
  folder.Write("other file.yaml", "");
  std::string line;
  for (const std::string& word : words) absl::StrAppend(&line, " '", word, "'");
  const std::string script = absl::StrCat(
      "cd ", folder.Path(""), "; source <(\"$SCHEDSIM\" completion bash); COMP_WORDS=(schedsim", line,
      "); COMP_CWORD=", words.size(), "; _schedsim; printf '%s\\n' \"${COMPREPLY[@]}\" | LC_ALL=C sort");
  const ProgramResult result = RunShell(absl::StrCat(
      "export SCHEDSIM; exec bash -c '", absl::StrJoin(absl::StrSplit(script, '\''), "'\\''"), "'"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return absl::StrSplit(result.out, '\n', absl::SkipEmpty());
}

TEST(CompletionTest, BashCompletesCommandsOptionsAndValues) {
  const struct {
    Strings words;
    Strings want;
  } rows[] = {
      {{"ru"}, {"run"}},
      {{"snapshot", ""}, {"convert", "inspect", "redact", "save"}},
      {{"run", "--trace"}, {"--trace", "--trace-level"}},
      {{"run", "-f", "snapshot", "--trace-l"}, {"--trace-level"}},
      {{"run", "--trace-level", ""}, {"decisions", "full", "ties"}},
      {{"run", "--trace-level", "=", "f"}, {"full"}},
      {{"run", "-o", "j"}, {"json"}},
      {{"run", "-f", ""}, {"cluster.yaml", "other file.yaml"}},
      {{"run", "c"}, {"cluster.yaml"}},
      {{"run", "--until", ""}, {}},
      {{"why", "p", "oth"}, {"other file.yaml"}},
      {{"config", "print", "--out"}, {"--output"}},
      {{"completion", ""}, {"bash", "fish", "zsh"}},
      {{"m"}, {}},
      {{"run", "--no-such", "--se"}, {"--seed", "--seeds", "--series"}},
  };
  for (const auto& row : rows) EXPECT_EQ(Completions(row.words), row.want) << absl::StrJoin(row.words, " ");
}

// The other shells need not be there; where they are, they have to take their scripts.
TEST(CompletionTest, ZshAndFishTakeTheirScripts) {
  const struct {
    const char* shell;
    const char* script;
  } rows[] = {
      {"zsh",
       "export SCHEDSIM; exec zsh -f -c 'autoload -U compinit && compinit -D -u && source <(\"$SCHEDSIM\" "
       "completion zsh) && "
       "whence -w _schedsim _schedsim_snapshot_save'"},
      {"fish",
       "export SCHEDSIM; exec fish --no-config -c '\"$SCHEDSIM\" completion fish | source; complete -C "
       "\"schedsim snapshot s\"; "
       "complete -C \"schedsim run --trace-level d\"; complete -C \"schedsim what-if drain --ou\"'"},
  };
  for (const auto& row : rows) {
    const ProgramResult text = RunProgram({"completion", row.shell});
    EXPECT_EQ(text.exit_code, 0);
    EXPECT_TRUE(absl::StrContains(text.out, "trace-level")) << row.shell;
    if (RunShell(absl::StrCat("command -v ", row.shell)).exit_code != 0) continue;
    const ProgramResult taken = RunShell(row.script);
    EXPECT_EQ(taken.exit_code, 0) << row.shell;
    EXPECT_EQ(taken.err, "") << row.shell;
    const Strings wanted = std::string(row.shell) == "zsh"
                               ? Strings{"_schedsim: function", "_schedsim_snapshot_save: function"}
                               : Strings{"save\t", "decisions", "--output\t"};
    for (const std::string& want : wanted)
      EXPECT_TRUE(absl::StrContains(taken.out, want)) << row.shell << "\n" << taken.out;
  }
}

TEST(ManPageTest, HasEachOptionOfHelp) {
  const ProgramResult page = RunProgram({"man"});
  EXPECT_EQ(page.exit_code, 0);
  EXPECT_TRUE(absl::StartsWith(page.out, ".TH SCHEDSIM 1 ")) << page.out.substr(0, 80);
  for (const char* want :
       {".SS \"schedsim snapshot save [OPTIONS] [SCENARIO]\"", "\\fB\\-f, \\-\\-filename\\fR \\fIFILE\\fR",
        ".SS \"schedsim why [OPTIONS] POD TRACE\"", "\\-\\-fail\\-on\\-pending", "Exit codes:"})
    EXPECT_TRUE(absl::StrContains(page.out, want)) << want;
  EXPECT_FALSE(absl::StrContains(page.out, ".SS \"schedsim man")) << "the hidden command is in it";
}

TEST(ManPageTest, ManTakesIt) {
  if (RunShell("command -v man && command -v groff").exit_code != 0) GTEST_SKIP() << "man is not there";
  const TestFolder folder;
  const std::string path = folder.Write("schedsim.1", RunProgram({"man"}).out);
  const ProgramResult shown =
      RunShell(absl::StrCat("LC_ALL=C.UTF-8 MANROFFOPT= MANWIDTH=100 man --warnings=w -l ", path));
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_EQ(shown.err, "");
  EXPECT_TRUE(absl::StrContains(shown.out, "--kubernetes-version")) << shown.out.substr(0, 2000);
}

}  // namespace
}  // namespace schedsim
