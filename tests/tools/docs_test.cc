// Pages of docs/ that show what the program prints.
#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

class DocsPageTest : public testing::TestWithParam<const char*> {};

// The commands print what stands there. UPDATE_GOLDEN=1 writes the page anew.
TEST_P(DocsPageTest, ShowsWhatTheProgramPrints) {
  const std::string path = absl::StrCat(SCHEDSIM_SOURCE_DIR "/docs/", GetParam(), ".md");
  const ConsolePage page = RunConsolePage(path);
  EXPECT_GT(page.command_count, 0);
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << page.written;
  EXPECT_EQ(page.written, FileContent(path)) << "if that is as it should be: UPDATE_GOLDEN=1";
}

INSTANTIATE_TEST_SUITE_P(Pages, DocsPageTest,
                         testing::Values("ci", "devices", "diff", "explain", "metrics", "open-systems",
                                         "pod-groups", "questions", "recordings", "schedulers", "test",
                                         "what-if"),
                         [](const auto& page) {
                           return absl::StrReplaceAll(page.param, {{"-", "_"}});
                         });

}  // namespace
}  // namespace schedsim
