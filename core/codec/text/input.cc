#include "core/codec/text/input.h"

#include <fcntl.h>
#include <lzma.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input_log.h"

namespace schedsim::codec {
namespace {

constexpr size_t kChunkBytes = 256 * 1024;
constexpr int kFolderDepthMax = 64;

// An archive that grows beyond both is taken for a bomb: dumps of clusters shrink to a hundredth at most.
constexpr size_t kSuspectBytes = size_t{512} << 20;
constexpr size_t kSuspectRatio = 200;

absl::Status TooBig(absl::string_view name, size_t bytes_max) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": too big, expected at most ", bytes_max, " bytes"));
}

absl::Status Corrupt(absl::string_view name, absl::string_view format, absl::string_view detail) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": ", detail, ", expected a complete ", format, " file"));
}

// Says where an archive of `size` bytes could not be read on: `left` bytes before its end.
absl::Status Broken(absl::string_view name, absl::string_view format, size_t size, size_t left) {
  return Corrupt(name, format,
                 absl::StrCat(left == 0 ? "truncated" : "corrupt", " at byte ", size - left, " of ", size));
}

// Tells whether an archive of `size` bytes that has grown to `used` bytes is taken for a bomb.
bool IsBomb(size_t used, size_t size) { return used > kSuspectBytes && used / kSuspectRatio > size; }

absl::Status Bomb(absl::string_view name, absl::string_view program, size_t size) {
  return absl::InvalidArgumentError(absl::StrCat(
      name, ": ", size, " bytes expand to more than ", kSuspectBytes, ", expected at most ", kSuspectRatio,
      " times as many; if that is meant, expand it first: `", program, " -dc ", name, " > FILE`"));
}

// Makes room for another chunk behind the first `used` bytes of `out`.
void Grow(std::string& out, size_t used) {
  if (out.size() - used < kChunkBytes) out.resize(std::max(out.size() * 2, used + kChunkBytes));
}

unsigned Limited(size_t bytes) {
  return static_cast<unsigned>(std::min<size_t>(bytes, std::numeric_limits<int>::max()));
}

absl::StatusOr<std::string> Inflate(absl::string_view content, absl::string_view name, size_t bytes_max) {
  z_stream stream = {};
  // 16 makes zlib expect a gzip header instead of its own.
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return absl::InternalError("zlib: no memory");
  std::string out;
  size_t used = 0;
  int code = Z_OK;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  size_t left = content.size();
  for (;;) {
    Grow(out, used);
    stream.avail_in = Limited(left);
    stream.avail_out = Limited(out.size() - used);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    const unsigned offered_in = stream.avail_in;
    const unsigned offered_out = stream.avail_out;
    code = inflate(&stream, Z_NO_FLUSH);
    left -= offered_in - stream.avail_in;
    used += offered_out - stream.avail_out;
    if (used > bytes_max || IsBomb(used, content.size())) break;
    // One file may hold several gzip members.
    if (code == Z_STREAM_END && left > 0 && inflateReset(&stream) == Z_OK) continue;
    if (code != Z_OK) break;
  }
  inflateEnd(&stream);
  if (used > bytes_max) return TooBig(name, bytes_max);
  if (IsBomb(used, content.size())) return Bomb(name, "gzip", content.size());
  if (code != Z_STREAM_END) return Broken(name, "gzip", content.size(), left);
  out.resize(used);
  return out;
}

absl::StatusOr<std::string> Unxz(absl::string_view content, absl::string_view name, size_t bytes_max) {
  lzma_stream stream = LZMA_STREAM_INIT;
  constexpr uint64_t kMemoryBytesMax = uint64_t{1} << 30;
  if (lzma_stream_decoder(&stream, kMemoryBytesMax, LZMA_CONCATENATED) != LZMA_OK) {
    return absl::InternalError("liblzma: no memory");
  }
  std::string out;
  size_t used = 0;
  lzma_ret code = LZMA_OK;
  stream.next_in = reinterpret_cast<const uint8_t*>(content.data());
  stream.avail_in = content.size();
  while (code == LZMA_OK && used <= bytes_max && !IsBomb(used, content.size())) {
    Grow(out, used);
    stream.next_out = reinterpret_cast<uint8_t*>(out.data() + used);
    stream.avail_out = out.size() - used;
    code = lzma_code(&stream, LZMA_FINISH);
    used = out.size() - stream.avail_out;
  }
  const size_t left = stream.avail_in;
  lzma_end(&stream);
  if (used > bytes_max) return TooBig(name, bytes_max);
  if (IsBomb(used, content.size())) return Bomb(name, "xz", content.size());
  if (code != LZMA_STREAM_END) return Broken(name, "xz", content.size(), left);
  out.resize(used);
  return out;
}

absl::StatusOr<std::string> Unzstd(absl::string_view content, absl::string_view name, size_t bytes_max) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> stream(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  constexpr int kWindowBytesMaxLog2 = 30;
  if (stream == nullptr ||
      ZSTD_isError(ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, kWindowBytesMaxLog2))) {
    return absl::InternalError("libzstd: no memory");
  }
  std::string out;
  size_t used = 0;
  ZSTD_inBuffer input = {.src = content.data(), .size = content.size(), .pos = 0};
  // What the library still expects; 0: an archive is complete, and another one may follow.
  size_t rest = 1;
  bool is_full = false;
  while (!ZSTD_isError(rest) && (input.pos < input.size || (is_full && rest != 0)) && used <= bytes_max &&
         !IsBomb(used, content.size())) {
    Grow(out, used);
    ZSTD_outBuffer output = {.dst = out.data() + used, .size = out.size() - used, .pos = 0};
    rest = ZSTD_decompressStream(stream.get(), &output, &input);
    used += output.pos;
    is_full = output.pos == output.size;
  }
  if (used > bytes_max) return TooBig(name, bytes_max);
  if (IsBomb(used, content.size())) return Bomb(name, "zstd", content.size());
  if (ZSTD_isError(rest))
    return Broken(name, "zstd", content.size(), std::max<size_t>(input.size - input.pos, 1));
  if (rest != 0) return Broken(name, "zstd", content.size(), /*left=*/0);
  out.resize(used);
  return out;
}

absl::Status SystemError(absl::string_view path, int error) {
  // What is too long for a path may be a whole text that took the place of one.
  const std::string shown = error == ENAMETOOLONG ? Printable(path, kShownBytesMax) : std::string(path);
  const std::string message = absl::StrCat(shown, ": ", std::system_category().message(error),
                                           ", expected a readable file or folder");
  return error == ENOENT || error == ENOTDIR ? absl::NotFoundError(message)
                                             : absl::InvalidArgumentError(message);
}

// Names the kind of a file that has no end, or none that is sure to come; "" for all others.
absl::string_view EndlessKind(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "";
}

// Opens `path`, a name other than "-". A FIFO would make the program wait for whoever may write to it some
// day, and some devices never end: both are refused, unless the path is that of an open descriptor.
absl::StatusOr<int> Open(absl::string_view path) {
  const std::string name(path);
  const int wait = IsDescriptor(path) ? 0 : O_NONBLOCK;
  const int descriptor = open(name.c_str(), O_RDONLY | O_CLOEXEC | wait);
  struct stat info = {};
  // A socket can't be opened at all, but its kind can still be told.
  const bool is_known = descriptor >= 0 ? fstat(descriptor, &info) == 0 : stat(name.c_str(), &info) == 0;
  const absl::string_view endless =
      is_known && wait != 0 && path != "/dev/null" ? EndlessKind(info.st_mode) : "";
  if (endless.empty() && descriptor >= 0) return descriptor;
  if (descriptor >= 0) close(descriptor);
  if (endless.empty()) return SystemError(path, errno);
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is ", endless, ", expected a file or a folder; - reads standard input"));
}

// Makes room for a file. Big ones come in big pages, where the system has them: each page costs a fault.
void Reserve(std::string& out, size_t bytes) {
  constexpr size_t kBigBytes = size_t{8} << 20;
  constexpr uintptr_t kPageBytes = 4096;
  out.reserve(bytes);
  if (bytes < kBigBytes) return;
  const auto begin = (reinterpret_cast<uintptr_t>(out.data()) + kPageBytes - 1) / kPageBytes * kPageBytes;
  // Only advice: where it is not taken, nothing else happens.
  madvise(reinterpret_cast<void*>(begin), bytes - kPageBytes, MADV_HUGEPAGE);
}

absl::StatusOr<std::string> ReadAll(int descriptor, absl::string_view path, size_t bytes_max) {
  std::string out;
  size_t used = 0;
  struct stat info = {};
  if (fstat(descriptor, &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return absl::InvalidArgumentError(absl::StrCat(path, ": is a folder, expected a file"));
    // One allocation for the whole file, as far as it may be read.
    const size_t size = std::min(static_cast<size_t>(info.st_size), bytes_max);
    if (S_ISREG(info.st_mode)) {
      Reserve(out, size + kChunkBytes + kPaddingBytes);
      out.resize(size + kChunkBytes + kPaddingBytes);
    }
  }
  for (;;) {
    Grow(out, used);
    const ssize_t count = read(descriptor, out.data() + used, out.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(path, errno);
    if (count == 0) break;
    used += static_cast<size_t>(count);
    if (used > bytes_max) return TooBig(path, bytes_max);
  }
  out.resize(used);
  return out;
}

constexpr absl::string_view kInputEndings[] = {".yaml", ".yml", ".json", ".db", ".tar", ".tgz", ".zip"};
constexpr size_t kTextEndings = 3;  // They come first.

absl::Span<const absl::string_view> EndingsOf(InputFiles files) {
  const auto all = absl::MakeConstSpan(kInputEndings);
  return files == InputFiles::kTexts ? all.first(kTextEndings) : all;
}

struct Entry {
  std::string path;
  bool is_folder = false;
  int depth = 0;
};

// Returns the entries of a folder, the last name first: the caller takes them from the end.
absl::StatusOr<std::vector<Entry>> ReadFolder(const Entry& folder) {
  std::error_code error;
  std::vector<Entry> entries;
  std::filesystem::directory_iterator at(folder.path, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    entries.push_back({.path = absl::StrCat(folder.path, absl::EndsWith(folder.path, "/") ? "" : "/",
                                            at->path().filename().string()),
                       .is_folder = at->is_directory(ignored),
                       .depth = folder.depth + 1});
  }
  if (error) return SystemError(folder.path, error.value());
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.path > b.path; });
  return entries;
}

// VisitedFolders remembers the folders that were entered. Links may lead to the same folder again: to one
// above, without an end, or to one beside, where the number of paths doubles with each level.
class VisitedFolders {
 public:
  absl::Status Add(const std::string& path) {
    struct stat info = {};
    if (stat(path.c_str(), &info) != 0) return SystemError(path, errno);
    const auto [at, is_new] = paths_.try_emplace({info.st_dev, info.st_ino}, path);
    if (is_new) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": links to the folder ", at->second, ", expected each folder once"));
  }

 private:
  std::map<std::pair<dev_t, ino_t>, std::string> paths_;
};

}  // namespace

bool IsDescriptor(absl::string_view path) {
  if (path == "-" || path == "/dev/stdin") return true;
  if (!absl::ConsumePrefix(&path, "/dev/fd/") && !absl::ConsumePrefix(&path, "/proc/self/fd/")) return false;
  return !path.empty() &&
         absl::c_all_of(path, [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); });
}

absl::StatusOr<std::string> Decompress(std::string content, absl::string_view name, size_t bytes_max) {
  if (absl::StartsWith(content, "\x1f\x8b")) return Inflate(content, name, bytes_max);
  if (absl::StartsWith(content, absl::string_view("\xfd"
                                                  "7zXZ\0",
                                                  6)))
    return Unxz(content, name, bytes_max);
  if (absl::StartsWith(content, "\x28\xb5\x2f\xfd")) return Unzstd(content, name, bytes_max);
  absl::string_view stem = name;
  if (absl::ConsumeSuffix(&stem, ".gz")) return Corrupt(name, "gzip", "not an archive");
  if (absl::ConsumeSuffix(&stem, ".xz")) return Corrupt(name, "xz", "not an archive");
  if (absl::ConsumeSuffix(&stem, ".zst")) return Corrupt(name, "zstd", "not an archive");
  return content;
}

absl::string_view WithoutArchiveEnding(absl::string_view name) {
  for (const absl::string_view ending : {".gz", ".xz", ".zst"}) {
    if (absl::ConsumeSuffix(&name, ending)) break;
  }
  return name;
}

bool BeginsArchive(char first) { return first == '\x1f' || first == '\xfd' || first == '\x28'; }

absl::Status CheckFile(absl::string_view path) {
  if (path == "-") return absl::OkStatus();
  ASSIGN_OR_RETURN(const int descriptor, Open(path));
  close(descriptor);
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadFile(absl::string_view path, size_t bytes_max) {
  int descriptor = STDIN_FILENO;
  if (path != "-") {
    ASSIGN_OR_RETURN(descriptor, Open(path));
  }
  absl::StatusOr<std::string> content = ReadAll(descriptor, path, bytes_max);
  if (path != "-") close(descriptor);
  RETURN_IF_ERROR(content.status());
  if (InputLog* const log = InputLog::active()) RETURN_IF_ERROR(log->Note(path, *content));
  ASSIGN_OR_RETURN(std::string text, Decompress(*std::move(content), path, bytes_max));
  text.reserve(text.size() + kPaddingBytes);
  return text;
}

bool IsInputFile(absl::string_view name, InputFiles files) {
  const size_t slash = name.rfind('/');
  if (absl::StartsWith(name.substr(slash == absl::string_view::npos ? 0 : slash + 1), "._")) return false;
  name = WithoutArchiveEnding(name);
  return absl::c_any_of(EndingsOf(files),
                        [name](absl::string_view ending) { return absl::EndsWith(name, ending); });
}

std::string InputFileEndings(InputFiles files) {
  const absl::Span<const absl::string_view> endings = EndingsOf(files);
  return absl::StrCat(absl::StrJoin(endings.first(endings.size() - 1), ", "), " or ", endings.back(),
                      ", with or without .gz, .xz or .zst");
}

absl::StatusOr<std::vector<std::string>> ListFiles(absl::string_view path, InputFiles input) {
  std::vector<std::string> files;
  const std::string name(path);
  struct stat info = {};
  if (name == "-") return std::vector<std::string>{name};
  if (stat(name.c_str(), &info) != 0) return SystemError(path, errno);
  if (!S_ISDIR(info.st_mode)) return std::vector<std::string>{name};
  std::vector<Entry> rest = {{.path = name, .is_folder = true, .depth = 0}};
  VisitedFolders visited;
  while (!rest.empty()) {
    const Entry entry = std::move(rest.back());
    rest.pop_back();
    if (!entry.is_folder) {
      if (IsInputFile(entry.path, input)) files.push_back(entry.path);
      continue;
    }
    if (entry.depth > kFolderDepthMax) {
      return absl::InvalidArgumentError(absl::StrCat(
          entry.path, ": folders nested too deeply, expected at most ", kFolderDepthMax, " levels"));
    }
    RETURN_IF_ERROR(visited.Add(entry.path));
    ASSIGN_OR_RETURN(std::vector<Entry> entries, ReadFolder(entry));
    std::move(entries.begin(), entries.end(), std::back_inserter(rest));
  }
  if (files.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": no object files in the folder, expected names in ", InputFileEndings(input)));
  }
  return files;
}

}  // namespace schedsim::codec
