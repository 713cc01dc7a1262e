#include "sim/formats/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"

namespace schedsim::sim {
namespace {

// What POSIX tar has at this place of the first header.
constexpr size_t kTarMarkAt = 257;
constexpr absl::string_view kTarMark = "ustar";
constexpr size_t kTarBlockBytes = 512;
constexpr absl::string_view kZipMark = "PK\x03\x04";

// The text of a cluster shrinks to a hundredth at most; below this size an archive may be anything.
constexpr size_t kBombFactor = 1000;
constexpr size_t kBombBytesMin = size_t{64} << 20;
constexpr int64_t kFilesMax = 1'000'000;

struct Close {
  void operator()(struct archive* handle) const { archive_read_free(handle); }
};
using Handle = std::unique_ptr<struct archive, Close>;

absl::Status Damaged(absl::string_view name, struct archive* handle) {
  const char* const why = archive_error_string(handle);
  return absl::InvalidArgumentError(absl::StrCat(name, ": the archive is damaged or was cut off (",
                                                 why == nullptr ? "no reason given" : why, ")"));
}

absl::Status Bomb(absl::string_view name) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": the archive grows more than ", kBombFactor,
                                                 " times, as no files of a cluster do"));
}

// A tar that was cut off between two files looks whole but for this.
absl::Status CheckTarEnd(absl::string_view bytes, absl::string_view name) {
  const absl::string_view end = bytes.substr(bytes.size() - std::min(bytes.size(), kTarBlockBytes));
  if (end.find_first_not_of('\0') == absl::string_view::npos) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": the archive has no end, two blocks of zeros: it was cut off between two files"));
}

}  // namespace

bool IsArchive(absl::string_view bytes) {
  if (absl::StartsWith(bytes, kZipMark)) return true;
  return bytes.size() > kTarMarkAt && absl::StartsWith(bytes.substr(kTarMarkAt), kTarMark);
}

absl::Status ReadArchive(absl::string_view bytes, absl::string_view archive,
                         absl::FunctionRef<bool(absl::string_view name)> wants,
                         absl::FunctionRef<absl::Status(absl::string_view name, std::string content)> sink) {
  const Handle handle(archive_read_new());
  archive_read_support_format_tar(handle.get());
  archive_read_support_format_zip_seekable(handle.get());
  if (archive_read_open_memory(handle.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) {
    return Damaged(archive, handle.get());
  }
  size_t total_bytes = 0;
  struct archive_entry* entry = nullptr;
  for (int64_t count = 0;; ++count) {
    const int next = archive_read_next_header(handle.get(), &entry);
    if (next == ARCHIVE_EOF) {
      const bool is_tar = (archive_format(handle.get()) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR;
      return is_tar ? CheckTarEnd(bytes, archive) : absl::OkStatus();
    }
    if (next != ARCHIVE_OK && next != ARCHIVE_WARN) return Damaged(archive, handle.get());
    if (count == kFilesMax) {
      return absl::InvalidArgumentError(
          absl::StrCat(archive, ": the archive has more than ", kFilesMax, " files"));
    }
    const char* const path = archive_entry_pathname(entry);
    const std::string name = path == nullptr ? "" : path;
    if (archive_entry_filetype(entry) != AE_IFREG || !wants(name)) continue;
    std::string content;
    for (;;) {
      constexpr size_t kChunkBytes = size_t{64} << 10;
      const size_t used = content.size();
      content.resize(used + kChunkBytes);
      const la_ssize_t got = archive_read_data(handle.get(), content.data() + used, kChunkBytes);
      if (got < 0) return Damaged(absl::StrCat(archive, ": ", Printable(name, kShownBytesMax)), handle.get());
      content.resize(used + static_cast<size_t>(got));
      if (got == 0) break;
      total_bytes += static_cast<size_t>(got);
      const bool is_bomb = total_bytes > kBombBytesMin && total_bytes / kBombFactor > bytes.size();
      if (is_bomb || total_bytes > codec::kInputBytesMax) return Bomb(archive);
    }
    RETURN_IF_ERROR(sink(name, std::move(content)));
  }
}

}  // namespace schedsim::sim
