// Starting the built program.
#ifndef SCHEDSIM_TESTS_TOOLS_PROGRAM_H_
#define SCHEDSIM_TESTS_TOOLS_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace schedsim {

struct ProgramResult {
  // -1: it did not end by itself.
  int exit_code = -1;
  std::string out;
  std::string err;
  // What it took of the processor, also in the system.
  double cpu_seconds = 0;
};

// Runs `schedsim ARGUMENT...` to its end, with `input` on its standard input.
ProgramResult RunProgram(const std::vector<std::string>& arguments, absl::string_view input = "");

// The same by the shell: `"$SCHEDSIM"` stands for the program in `command`, so that a test can say where its
// streams go.
ProgramResult RunShell(absl::string_view command);

// A page of documentation as it is when its commands are run: what they print, in place of what stands behind
// each `$ ` in its blocks of the language `console`. Each must end with 0, or with a verdict, 1; all parts of
// a pipe, too.
struct ConsolePage {
  std::string written;
  int command_count = 0;
};
ConsolePage RunConsolePage(const std::string& path);

// A folder of one test, removed with the object.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  // Writes a file and returns its path.
  std::string Write(absl::string_view name, absl::string_view content) const;
  std::string Path(absl::string_view name) const;

 private:
  std::string path_;
};

// What a file holds; "" when it cannot be read.
std::string FileContent(const std::string& path);
// A text report, or a trace, without its head, which says what was run under which name.
std::string BelowHead(absl::string_view text);

// `text` as a gzip or xz file.
std::string Gzip(absl::string_view text);
std::string Xz(absl::string_view text);

}  // namespace schedsim

#endif  // SCHEDSIM_TESTS_TOOLS_PROGRAM_H_
