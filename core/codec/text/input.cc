#include "core/codec/text/input.h"

#include <fcntl.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"

namespace schedsim::codec {
namespace {

constexpr size_t kChunkBytes = 256 * 1024;
constexpr int kFolderDepthMax = 64;

absl::Status TooBig(absl::string_view name, size_t bytes_max) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": too big, expected at most ", bytes_max, " bytes"));
}

absl::Status Corrupt(absl::string_view name, absl::string_view format, absl::string_view detail) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": ", detail, ", expected a complete ", format, " file"));
}

// Room for another chunk behind the first `used` bytes of `out`.
void Grow(std::string& out, size_t used) {
  if (out.size() - used < kChunkBytes) out.resize(std::max(out.size() * 2, used + kChunkBytes));
}

unsigned Limited(size_t bytes) {
  return static_cast<unsigned>(std::min<size_t>(bytes, std::numeric_limits<int>::max()));
}

absl::StatusOr<std::string> Inflate(absl::string_view content, absl::string_view name, size_t bytes_max) {
  z_stream stream = {};
  // 16: expect a gzip header.
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
    if (used > bytes_max) break;
    // One file may hold several gzip members.
    if (code == Z_STREAM_END && left > 0 && inflateReset(&stream) == Z_OK) continue;
    if (code != Z_OK) break;
  }
  inflateEnd(&stream);
  if (used > bytes_max) return TooBig(name, bytes_max);
  if (code != Z_STREAM_END) return Corrupt(name, "gzip", left == 0 ? "truncated" : "corrupt");
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
  while (code == LZMA_OK && used <= bytes_max) {
    Grow(out, used);
    stream.next_out = reinterpret_cast<uint8_t*>(out.data() + used);
    stream.avail_out = out.size() - used;
    code = lzma_code(&stream, LZMA_FINISH);
    used = out.size() - stream.avail_out;
  }
  const bool is_truncated = stream.avail_in == 0;
  lzma_end(&stream);
  if (used > bytes_max) return TooBig(name, bytes_max);
  if (code != LZMA_STREAM_END) return Corrupt(name, "xz", is_truncated ? "truncated" : "corrupt");
  out.resize(used);
  return out;
}

absl::Status SystemError(absl::string_view path, int error) {
  const std::string message =
      absl::StrCat(path, ": ", std::system_category().message(error), ", expected a readable file or folder");
  return error == ENOENT || error == ENOTDIR ? absl::NotFoundError(message)
                                             : absl::InvalidArgumentError(message);
}

absl::StatusOr<std::string> ReadAll(int descriptor, absl::string_view path, size_t bytes_max) {
  std::string out;
  size_t used = 0;
  struct stat info = {};
  if (fstat(descriptor, &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return absl::InvalidArgumentError(absl::StrCat(path, ": is a folder, expected a file"));
    if (S_ISREG(info.st_mode)) out.reserve(static_cast<size_t>(info.st_size) + kChunkBytes + kPaddingBytes);
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

bool IsObjectFile(absl::string_view name) {
  if (!absl::ConsumeSuffix(&name, ".gz")) absl::ConsumeSuffix(&name, ".xz");
  return absl::EndsWith(name, ".yaml") || absl::EndsWith(name, ".yml") || absl::EndsWith(name, ".json");
}

struct Entry {
  std::string path;
  bool is_folder = false;
  int depth = 0;
};

// The entries of a folder, last name first.
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

}  // namespace

absl::StatusOr<std::string> Decompress(std::string content, absl::string_view name, size_t bytes_max) {
  if (absl::StartsWith(content, "\x1f\x8b")) return Inflate(content, name, bytes_max);
  if (absl::StartsWith(content, absl::string_view("\xfd"
                                                  "7zXZ\0",
                                                  6)))
    return Unxz(content, name, bytes_max);
  absl::string_view stem = name;
  if (absl::ConsumeSuffix(&stem, ".gz")) return Corrupt(name, "gzip", "not an archive");
  if (absl::ConsumeSuffix(&stem, ".xz")) return Corrupt(name, "xz", "not an archive");
  return content;
}

absl::StatusOr<std::string> ReadFile(absl::string_view path, size_t bytes_max) {
  const std::string name(path);
  const int descriptor = name == "-" ? STDIN_FILENO : open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return SystemError(path, errno);
  absl::StatusOr<std::string> content = ReadAll(descriptor, path, bytes_max);
  if (name != "-") close(descriptor);
  RETURN_IF_ERROR(content.status());
  ASSIGN_OR_RETURN(std::string text, Decompress(*std::move(content), path, bytes_max));
  text.reserve(text.size() + kPaddingBytes);
  return text;
}

absl::StatusOr<std::vector<std::string>> ListFiles(absl::string_view path) {
  std::vector<std::string> files;
  const std::string name(path);
  struct stat info = {};
  if (name == "-") return std::vector<std::string>{name};
  if (stat(name.c_str(), &info) != 0) return SystemError(path, errno);
  if (!S_ISDIR(info.st_mode)) return std::vector<std::string>{name};
  std::vector<Entry> rest = {{.path = name, .is_folder = true, .depth = 0}};
  while (!rest.empty()) {
    const Entry entry = std::move(rest.back());
    rest.pop_back();
    if (!entry.is_folder) {
      if (IsObjectFile(entry.path)) files.push_back(entry.path);
      continue;
    }
    if (entry.depth > kFolderDepthMax) {
      return absl::InvalidArgumentError(absl::StrCat(
          entry.path, ": folders nested too deeply, expected at most ", kFolderDepthMax, " levels"));
    }
    ASSIGN_OR_RETURN(std::vector<Entry> entries, ReadFolder(entry));
    std::move(entries.begin(), entries.end(), std::back_inserter(rest));
  }
  if (files.empty()) {
    return absl::NotFoundError(
        absl::StrCat(path, ": no object files in the folder, expected names in .yaml, .yml or ",
                     ".json, with or without .gz or .xz"));
  }
  return files;
}

}  // namespace schedsim::codec
