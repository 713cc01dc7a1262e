// Which files were read, and what was in them.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_INPUT_LOG_H_
#define SCHEDSIM_CORE_CODEC_TEXT_INPUT_LOG_H_

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace schedsim::codec {

// A file with what was in it.
struct InputFile {
  std::string path;  // As it was given; of a file in a folder: with the folder in front. "-": standard input.
  std::string sha256;  // Of the bytes as they are on disk, 64 hexadecimal digits.
};

// Notes every file that ReadFile reads on this thread, as long as the object lives. Of several, the last one
// made notes. It is found by ReadFile itself, since what reads files is many calls below what wants to know.
class InputLog {
 public:
  // `expected`: the only files that may be read, with what must be in them. Absent: any may.
  explicit InputLog(const std::optional<std::vector<InputFile>>& expected = std::nullopt);
  ~InputLog();
  InputLog(const InputLog&) = delete;
  InputLog& operator=(const InputLog&) = delete;

  // nullptr: nobody wants to know.
  static InputLog* active();

  // `bytes` were read from `path`. InvalidArgument, `path: what`, where something else was expected.
  absl::Status Note(absl::string_view path, absl::string_view bytes);

  // In the order in which they were read first. A file that had two contents is there twice.
  const std::vector<InputFile>& files() const { return files_; }

  // InvalidArgument, naming the first one, where a file was expected that was not read.
  absl::Status CheckComplete() const;

 private:
  InputLog* const outer_;
  // By path and hash.
  std::optional<std::set<std::pair<std::string, std::string>>> expected_;
  std::vector<InputFile> files_;
  std::map<std::string, size_t, std::less<>> places_;  // The last entry of a path in `files_`.
};

// SHA-256 as 64 hexadecimal digits.
std::string Sha256Hex(absl::string_view bytes);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_INPUT_LOG_H_
