#include "core/codec/text/packer.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"

namespace schedsim::codec {
namespace {

constexpr size_t kChunkBytes = 128 * 1024;

// The fastest levels: a trace shrinks to a tenth with them, and the run is not to wait for the archive.
constexpr int kGzipLevel = 1;
constexpr int kZstdLevel = 1;

class GzipPacker final : public Packer {
 public:
  GzipPacker() {
    // 16 makes zlib write a gzip header instead of its own. Only a lack of memory makes this fail.
    constexpr int kMemoryLevel = 8;
    CHECK(deflateInit2(&stream_, kGzipLevel, Z_DEFLATED, 15 + 16, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK);
  }
  ~GzipPacker() override { deflateEnd(&stream_); }

  void Add(absl::string_view text, std::string& out) override {
    constexpr size_t kPieceBytesMax = std::numeric_limits<int>::max();
    while (!text.empty()) {
      const absl::string_view piece = text.substr(0, kPieceBytesMax);
      Deflate(piece, Z_NO_FLUSH, out);
      text.remove_prefix(piece.size());
    }
  }

  void Finish(std::string& out) override { Deflate("", Z_FINISH, out); }

 private:
  void Deflate(absl::string_view text, int flush, std::string& out) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      const size_t used = out.size();
      out.resize(used + kChunkBytes);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + used);
      stream_.avail_out = kChunkBytes;
      CHECK(deflate(&stream_, flush) != Z_STREAM_ERROR);
      out.resize(out.size() - stream_.avail_out);
      // Room that is left means that zlib holds nothing back.
    } while (stream_.avail_out == 0);
  }

  z_stream stream_ = {};
};

class ZstdPacker final : public Packer {
 public:
  ZstdPacker() : context_(ZSTD_createCCtx(), &ZSTD_freeCCtx) {
    CHECK(context_ != nullptr);
    Set(ZSTD_c_compressionLevel, kZstdLevel);
    Set(ZSTD_c_checksumFlag, 1);
  }

  void Add(absl::string_view text, std::string& out) override {
    ZSTD_inBuffer input = {.src = text.data(), .size = text.size(), .pos = 0};
    while (input.pos < input.size) Compress(input, ZSTD_e_continue, out);
  }

  void Finish(std::string& out) override {
    ZSTD_inBuffer input = {.src = nullptr, .size = 0, .pos = 0};
    while (Compress(input, ZSTD_e_end, out) != 0) {
    }
  }

 private:
  void Set(ZSTD_cParameter parameter, int value) {
    CHECK(!ZSTD_isError(ZSTD_CCtx_setParameter(context_.get(), parameter, value)));
  }

  // Returns 0 when the library holds nothing back.
  size_t Compress(ZSTD_inBuffer& input, ZSTD_EndDirective directive, std::string& out) {
    const size_t used = out.size();
    out.resize(used + kChunkBytes);
    ZSTD_outBuffer output = {.dst = out.data() + used, .size = kChunkBytes, .pos = 0};
    const size_t rest = ZSTD_compressStream2(context_.get(), &output, &input, directive);
    // Only a lack of memory makes this fail.
    CHECK(!ZSTD_isError(rest));
    out.resize(used + output.pos);
    return rest;
  }

  std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Packer>> Packer::ForFile(absl::string_view name) {
  if (absl::EndsWith(name, ".gz")) return std::make_unique<GzipPacker>();
  if (absl::EndsWith(name, ".zst")) return std::make_unique<ZstdPacker>();
  if (absl::EndsWith(name, ".xz")) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": .xz is only read, expected a name in .gz or .zst, or a plain file"));
  }
  return nullptr;
}

}  // namespace schedsim::codec
