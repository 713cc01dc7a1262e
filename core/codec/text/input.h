// Input comes from files, folders, archives and standard input; this is where its bytes are read.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_INPUT_H_
#define SCHEDSIM_CORE_CODEC_TEXT_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace schedsim::codec {

// The mark of UTF-8, which some editors put in front of a text.
inline constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";

// Bytes that may stand behind the text of a file, as simdjson wants them.
inline constexpr size_t kPaddingBytes = 64;

// Nothing bigger than this is read or decompressed.
inline constexpr size_t kInputBytesMax = size_t{4} << 30;

// Returns the contents of `path`, decompressed when the first bytes say gzip, xz or zstd; "-" is standard
// input. The string's capacity is at least kPaddingBytes above its size. NotFound for a missing file,
// InvalidArgument for a folder, a FIFO, a socket or a device (but not for /dev/stdin, /dev/fd/N and
// /dev/null), a truncated or corrupt archive, one that grows as only a bomb does, and anything above
// `bytes_max`; the message starts with the path.
absl::StatusOr<std::string> ReadFile(absl::string_view path, size_t bytes_max = kInputBytesMax);

// Whether the path names an open descriptor: standard input ("-"), or what a shell puts in the place of
// `<(command)`. What comes from there may be a pipe, which can be read once.
bool IsDescriptor(absl::string_view path);

// The name without the ending of an archive: .gz, .xz or .zst.
absl::string_view WithoutArchiveEnding(absl::string_view name);

// Whether an archive begins with this byte, and no text that is read here: one byte tells them apart.
bool BeginsArchive(char first);

// Whether ReadFile would open `path`; its errors where not. For those who read a file line by line.
absl::Status CheckFile(absl::string_view path);

// Returns `content` decompressed when its first bytes say gzip, xz or zstd, and as it is otherwise. `name`
// appears in messages only.
absl::StatusOr<std::string> Decompress(std::string content, absl::string_view name,
                                       size_t bytes_max = kInputBytesMax);

// Which files of a folder or an archive are input.
enum class InputFiles : uint8_t {
  kTexts,  // .yaml, .yml and .json, also with .gz, .xz or .zst behind that.
  kAll,    // Also databases of etcd (.db) and archives (.tar, .tgz, .zip).
};

// Whether a file of this name is one. What macOS puts beside files (`._pods.yaml`) is none.
bool IsInputFile(absl::string_view name, InputFiles files);
// Their endings for messages: ".yaml, .yml or .json, with or without .gz, .xz or .zst".
std::string InputFileEndings(InputFiles files);

// Returns the files that `path` stands for. A file and "-" stand for themselves; a folder stands for all
// input files below it, each folder's entries sorted by name, bytewise. NotFound for a missing path;
// FailedPrecondition for a folder without such files; InvalidArgument for a folder that is reached twice, by
// links.
absl::StatusOr<std::vector<std::string>> ListFiles(absl::string_view path,
                                                   InputFiles input = InputFiles::kTexts);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_INPUT_H_
