// Pages of docs/ that show what the program prints.
#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

class DocsPageTest : public testing::TestWithParam<const char*> {};

// The commands print what stands there. UPDATE_GOLDEN=1 writes the page anew.
TEST_P(DocsPageTest, ShowsWhatTheProgramPrints) {
  const std::string path = absl::StrCat(SCHEDSIM_SOURCE_DIR "/docs/", GetParam(), ".md");
  const std::string page = FileContent(path);
  std::string written;
  bool is_console = false;
  int count = 0;
  for (const absl::string_view line : absl::StrSplit(absl::StripSuffix(page, "\n"), '\n')) {
    const bool is_fence = absl::StartsWith(line, "```");
    const bool is_command = is_console && absl::StartsWith(line, "$ ");
    if (is_fence) is_console = line == "```console";
    // What was printed before is left out.
    if (is_fence || !is_console || is_command) absl::StrAppend(&written, line, "\n");
    if (!is_command) continue;
    const std::string command = absl::StrReplaceAll(line.substr(2), {{"schedsim ", "\"$SCHEDSIM\" "}});
    // All parts of a pipe have to do it.
    const ProgramResult result =
        RunShell(absl::StrCat("export SCHEDSIM; cd \"", SCHEDSIM_SOURCE_DIR,
                              "\" && bash -o pipefail 2>/dev/null <<'END'\n", command, "\nEND\n"));
    // A verdict is an answer.
    EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 1) << command;
    absl::StrAppend(&written, result.out);
    ++count;
  }
  EXPECT_GT(count, 0);
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << written;
  EXPECT_EQ(written, FileContent(path)) << "if that is as it should be: UPDATE_GOLDEN=1";
}

INSTANTIATE_TEST_SUITE_P(Pages, DocsPageTest, testing::Values("diff", "recordings", "test", "what-if"),
                         [](const auto& page) {
                           return absl::StrReplaceAll(page.param, {{"-", "_"}});
                         });

}  // namespace
}  // namespace schedsim
