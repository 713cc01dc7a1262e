// A program that runs beside this one and exchanges lines with it.
#ifndef SCHEDSIM_CORE_HOSTING_PROCESS_CHILD_PROCESS_H_
#define SCHEDSIM_CORE_HOSTING_PROCESS_CHILD_PROCESS_H_

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace schedsim::hosting {

// What is started.
struct ChildCommand {
  // In front of what it says on standard error, and in messages.
  std::string name;
  // The program, looked for in PATH where it has no slash, and its arguments.
  std::vector<std::string> arguments;
  // Readable by the program as descriptor 3; "": there is none.
  std::string text;
  // What is set in its environment, beside what this process has there.
  std::vector<std::pair<std::string, std::string>> environment;
};

struct StandardStreams {
  int input = -1;
  int output = -1;
  int errors = -1;
};

// Starts the program with these descriptors, in a process group of its own. Returns its id, with which it is
// waited for. When this process ends, however that ends, the program gets `signal_at_end`. NotFound where
// there is no such program; Unavailable where it cannot be started.
absl::StatusOr<pid_t> SpawnProgram(const ChildCommand& command, const StandardStreams& streams,
                                   int signal_at_end);

// Standard input and output are pipes that lines go through; lines of standard error are passed on with the
// name in front. It is in a process group of its own, which is killed as a whole. It ends when this process
// does, however that ends.
class ChildProcess {
 public:
  // No line may be longer.
  static constexpr size_t kLineBytesMax = size_t{64} << 20;

  // NotFound where there is no such program; Unavailable where none can be started.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(ChildCommand command);
  // Closes its standard input, gives it a second to end, and kills it then. Nothing is left of it.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Adds a line, without its end, to what the next Read writes.
  void Write(absl::string_view line);

  // Writes what is to be written, and returns the next line, without its end; valid until the next call. What
  // it waits for the program, in real time, is taken off `left`. Aborted where there is nothing left of it;
  // Unavailable, with what became of it, where the program has ended or closed its standard output, and where
  // the line has no end.
  absl::StatusOr<absl::string_view> Read(absl::Duration& left);

  // Ends it without mercy, passing on what it said on standard error.
  void Kill();
  // The same for all that are there. For a program that ends at once.
  static void KillAll();

 private:
  explicit ChildProcess(ChildCommand command) : command_(std::move(command)) {}
  absl::Status Spawn();
  // What the destructor does; also done at the end of the program.
  void Finish();
  static void FinishAll();
  // Lets bytes through until there is something to read or time is over. False: time is over.
  bool Exchange(absl::Duration left);
  void WriteSome();
  void ReadSome();
  void PassOnErrors();
  // Waits for its end, at most so long in real time. False: it goes on.
  bool Reap(absl::Duration patience);
  // "ended with exit code 1", once it has ended.
  std::string End();

  const ChildCommand command_;
  pid_t pid_ = -1;  // -1: it was reaped.
  int wait_status_ = 0;
  int input_ = -1;
  int output_ = -1;
  int errors_ = -1;
  std::string to_write_;
  size_t written_ = 0;
  std::string read_;
  size_t taken_ = 0;  // So much of `read_` was given out.
  std::string error_line_;
};

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_PROCESS_CHILD_PROCESS_H_
