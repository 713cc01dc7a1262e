#include "tools/output.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/check.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/base/wrapped_text.h"
#include "core/codec/text/input.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = 256 * 1024;

// The temporary file that a signal has to remove; "": none. Only what a signal handler may touch.
char g_temporary[4096] = "";
volatile std::sig_atomic_t g_has_temporary = 0;

bool g_is_quiet = false;

extern "C" void RemoveTemporary(int signal_number) {
  AbandonResultFile();
  // The default action, which ends the program by this signal, was put back when the handler was called.
  raise(signal_number);
}

void RemoveOnSignals(const std::string& temporary) {
  CHECK(g_has_temporary == 0);
  if (temporary.size() >= sizeof(g_temporary)) return;
  std::memcpy(g_temporary, temporary.c_str(), temporary.size() + 1);
  g_has_temporary = 1;
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction previous = {};
    sigaction(signal_number, nullptr, &previous);
    // Whoever started the program may want the signal to be ignored (nohup).
    if (previous.sa_handler != SIG_DFL) continue;
    struct sigaction action = {};
    action.sa_handler = &RemoveTemporary;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    sigaction(signal_number, &action, nullptr);
  }
}

absl::Status CannotBeWritten(absl::string_view what, int error) {
  if (error == EPIPE) return absl::CancelledError(absl::StrCat(what, ": nobody reads it any more"));
  return absl::UnavailableError(
      absl::StrCat(what, ": cannot be written: ", std::system_category().message(error)));
}

// Returns 0, or what errno says.
int WriteAll(int descriptor, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return 0;
}

}  // namespace

void PrepareOutput() {
  // A file that is opened later must not take the place of a stream that was closed (`>&-`). Standard output
  // stays one that cannot be written.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    if (open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
  for (const int signal_number : {SIGPIPE, SIGXFSZ}) std::signal(signal_number, SIG_IGN);
}

absl::Status WriteOutput(absl::string_view text) {
  const int error = WriteAll(STDOUT_FILENO, text);
  return error == 0 ? absl::OkStatus() : CannotBeWritten("standard output", error);
}

size_t TerminalColumns() {
  if (isatty(STDOUT_FILENO) != 1) return 0;
  size_t columns = 0;
  const char* const variable = std::getenv("COLUMNS");
  if (variable != nullptr && absl::SimpleAtoi(variable, &columns) && columns > 0) return columns;
  struct winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kTextColumns;
}

std::string ForTerminal(std::string text) { return FitLines(text, TerminalColumns()); }

void PrintMessage(absl::string_view message) {
  std::fputs(absl::StrCat(Printable(message), "\n").c_str(), stderr);
}

void BeQuiet() { g_is_quiet = true; }

bool IsQuiet() { return g_is_quiet; }

void PrintNotice(absl::string_view message) {
  if (!g_is_quiet) PrintMessage(message);
}

int ExitCodeOf(absl::string_view command, const absl::StatusOr<int>& result) {
  if (result.ok()) return *result;
  if (absl::IsCancelled(result.status())) return kBadInput;
  for (const absl::string_view line : absl::StrSplit(result.status().message(), '\n'))
    PrintMessage(absl::StrCat(command, ": ", line));
  return absl::IsAborted(result.status()) ? kUnknownAnswer : kBadInput;
}

int ExitCodeOf(absl::string_view command, const absl::Status& status) {
  return ExitCodeOf(command, status.ok() ? absl::StatusOr<int>(kDone) : absl::StatusOr<int>(status));
}

absl::StatusOr<std::unique_ptr<ResultFile>> ResultFile::Create(const std::string& path) {
  std::unique_ptr<ResultFile> file(new ResultFile(path));
  const absl::Status opened = file->Open();
  if (!opened.ok()) return opened;
  return file;
}

absl::Status ResultFile::Open() {
  if (path_ == "-") {
    descriptor_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return descriptor_ < 0 ? Error(errno) : absl::OkStatus();
  }
  ASSIGN_OR_RETURN(packer_, codec::Packer::ForFile(path_));
  std::error_code error;
  struct stat info = {};
  const bool exists = stat(path_.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return Error(EISDIR);
  struct stat output = {};
  const bool has_end = exists && (S_ISREG(info.st_mode) || S_ISFIFO(info.st_mode));
  if (has_end && fstat(STDOUT_FILENO, &output) == 0 && output.st_dev == info.st_dev &&
      output.st_ino == info.st_ino) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": is where standard output goes, expected another file, or -"));
  }
  if (exists && S_ISFIFO(info.st_mode)) return OpenFifo();
  if (exists && !S_ISREG(info.st_mode)) {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    return descriptor_ < 0 ? Error(errno) : absl::OkStatus();
  }
  target_ = exists ? fs::canonical(path_, error).string() : path_;
  if (error) return Error(error.value());
  // A file that may not be written is not to be replaced, either.
  if (exists && access(target_.c_str(), W_OK) != 0) return Error(errno);
  const fs::path target(target_);
  temporary_ =
      (target.parent_path() / absl::StrCat(".", target.filename().string(), ".", getpid(), ".part")).string();
  descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    const int reason = errno;
    temporary_.clear();
    return Error(reason);
  }
  RemoveOnSignals(temporary_);
  if (exists) fchmod(descriptor_, info.st_mode & 0777);
  return absl::OkStatus();
}

// Nobody is waited for who may read it some day: what a shell puts in the place of `>(command)` has its
// reader.
absl::Status ResultFile::OpenFifo() {
  descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0 && errno == ENXIO) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": is a FIFO that nobody reads, expected a file, or a reader that waits"));
  }
  if (descriptor_ < 0 || fcntl(descriptor_, F_SETFL, 0) != 0) return Error(errno);
  return absl::OkStatus();
}

ResultFile::~ResultFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  g_has_temporary = 0;
}

void ResultFile::Write(absl::string_view text) {
  buffer_.append(text.data(), text.size());
  if (buffer_.size() >= kBufferBytes) Flush();
}

void ResultFile::Flush() {
  if (packer_ == nullptr) {
    WriteOut(buffer_);
  } else {
    packed_.clear();
    packer_->Add(buffer_, packed_);
    WriteOut(packed_);
  }
  buffer_.clear();
}

void ResultFile::WriteOut(absl::string_view bytes) {
  size_bytes_ += static_cast<int64_t>(bytes.size());
  if (error_ == 0) error_ = WriteAll(descriptor_, bytes);
}

absl::Status ResultFile::Commit() {
  Flush();
  if (packer_ != nullptr) {
    packed_.clear();
    packer_->Finish(packed_);
    WriteOut(packed_);
  }
  if (close(std::exchange(descriptor_, -1)) != 0 && error_ == 0) error_ = errno;
  if (error_ != 0) return Error(error_);
  if (temporary_.empty()) return absl::OkStatus();
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) return Error(errno);
  temporary_.clear();
  g_has_temporary = 0;
  return absl::OkStatus();
}

absl::Status ResultFile::Error(int error) const {
  return CannotBeWritten(path_ == "-" ? "standard output" : path_, error);
}

void AbandonResultFile() {
  if (g_has_temporary != 0) unlink(g_temporary);
}

namespace {

// Whether standard input is this file.
bool IsStandardInput(const std::string& path) {
  struct stat input = {};
  struct stat output = {};
  return fstat(STDIN_FILENO, &input) == 0 && S_ISREG(input.st_mode) && stat(path.c_str(), &output) == 0 &&
         input.st_dev == output.st_dev && input.st_ino == output.st_ino;
}

}  // namespace

absl::Status RefuseInputAsOutput(absl::string_view option, const std::string& path,
                                 const std::vector<std::string>& inputs) {
  if (path == "-") return absl::OkStatus();
  std::error_code ignored;
  const fs::path place = fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  const auto refuse = [&](absl::string_view is, absl::string_view input) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, ": ", path, " ", is, " ", input, ", expected another file"));
  };
  for (const std::string& input : inputs) {
    if (input == "-" && IsStandardInput(path)) return refuse("is the input", "on standard input");
    if (input == "-" || !fs::exists(input, ignored)) continue;
    const fs::path folder = fs::canonical(input, ignored);
    const bool is_folder = fs::is_directory(folder, ignored);
    const bool is_inside =
        is_folder &&
        std::mismatch(folder.begin(), folder.end(), place.begin(), place.end()).first == folder.end();
    if (is_inside) return refuse("lies in the input folder", input);
    // One file may have several names: links, also in folders.
    std::vector<std::string> files;
    ASSIGN_OR_RETURN(files, codec::ListFiles(input, codec::InputFiles::kAll));
    for (const std::string& file : files) {
      if (fs::is_regular_file(file, ignored) && fs::equivalent(file, place, ignored))
        return refuse("is the input", file);
    }
  }
  return absl::OkStatus();
}

}  // namespace schedsim::tools
