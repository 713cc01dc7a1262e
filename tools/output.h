// What the program writes: standard output, messages, and files of results. Nothing of it is lost without a
// word.
#ifndef SCHEDSIM_TOOLS_OUTPUT_H_
#define SCHEDSIM_TOOLS_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/packer.h"

namespace schedsim::tools {

// To be called once, before any file is opened: a closed pipe and a file that grows too large become errors
// instead of signals, and closed streams stay closed.
void PrepareOutput();

// Writes all of `text` to standard output, at once. Unavailable, with the system's reason, where it cannot be
// written; Cancelled where nobody reads it any more (`| head -1`).
absl::Status WriteOutput(absl::string_view text);

// How many columns the terminal has to which standard output goes; 0: it goes elsewhere, and what is written
// must not depend on anybody's window.
size_t TerminalColumns();

// Text for people: on a terminal, lines that are too long for it go on below.
std::string ForTerminal(std::string text);

// Prints the message on standard error as one line: what a terminal would act on is escaped.
void PrintMessage(absl::string_view message);

// From now on nothing is said on standard error but errors and verdicts.
void BeQuiet();
bool IsQuiet();
// PrintMessage of what is good to know: a note, a warning, a sum.
void PrintNotice(absl::string_view message);

// Says on standard error what went wrong with `command` ("schedsim run"), each line of it with the command in
// front, and returns the exit code. Where nobody reads the output there is nothing to say.
int ExitCodeOf(absl::string_view command, const absl::StatusOr<int>& result);
// The same for commands that give no verdict.
int ExitCodeOf(absl::string_view command, const absl::Status& status);

// A file of results that appears whole or not at all. It is written under a name of its own beside its place,
// and renamed on Commit; what was not committed is removed, also where a signal ends the program. What is no
// regular file (a device, a pipe) is written directly, and so is standard output. One at a time.
class ResultFile {
 public:
  // "-" is standard output. A name in .gz or .zst makes the file an archive. Unavailable, with the reason,
  // where the file cannot be written: its folder is missing, it is a folder. InvalidArgument for .xz, which
  // is not written, and for a file that is where standard output goes.
  static absl::StatusOr<std::unique_ptr<ResultFile>> Create(const std::string& path);
  ~ResultFile();
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;

  // Errors are kept for Commit.
  void Write(absl::string_view text);
  // Unavailable, with the reason, where anything was not written; Cancelled where nobody reads it any more.
  absl::Status Commit();

  // What the file has so far, in bytes; of an archive as it is packed, up to a buffer.
  int64_t size_bytes() const { return size_bytes_; }

 private:
  explicit ResultFile(std::string path) : path_(std::move(path)) {}
  absl::Status Open();
  absl::Status OpenFifo();
  void Flush();
  void WriteOut(absl::string_view bytes);
  absl::Status Error(int error) const;

  // As it was given, for messages.
  const std::string path_;
  // Symbolic links are followed: the link stays, and what it names is replaced.
  std::string target_;
  std::string temporary_;  // "": written directly.
  std::string buffer_;
  // nullptr: plain.
  std::unique_ptr<codec::Packer> packer_;
  std::string packed_;
  int64_t size_bytes_ = 0;
  int descriptor_ = -1;
  // The first one that was met; 0: none.
  int error_ = 0;
};

// Removes what an unfinished ResultFile wrote, for a program that ends at once. Allocates nothing.
void AbandonResultFile();

// InvalidArgument where the file `path`, which `option` is to write, is one of the files that `inputs` stand
// for (see codec::ListFiles), by whatever name, or lies in a folder that is one of them.
absl::Status RefuseInputAsOutput(absl::string_view option, const std::string& path,
                                 const std::vector<std::string>& inputs);

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_OUTPUT_H_
