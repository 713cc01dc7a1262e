#include "sim/formats/etcd/bolt_file.h"

#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "sim/formats/etcd/bolt_format.h"

namespace schedsim::sim {
namespace {

constexpr uint64_t kPageBytesMin = 512;
constexpr uint64_t kPageBytesMax = 65536;
constexpr size_t kUsualPageBytes = 4096;

// A tree of a database that fits into memory is not that deep.
constexpr size_t kDepthMax = 64;

// Numbers are little-endian, as the machines have them that etcd runs on.
template <typename T>
T Read(absl::string_view bytes, size_t at) {
  T number = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    number = static_cast<T>(
        number | static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes[at + i])) << (8 * i)));
  }
  return number;
}

absl::Status ErrorAt(size_t offset, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("offset 0x", absl::Hex(offset), ": ", what));
}

// Whether a meta page begins here, be it whole or not.
bool BeginsMeta(absl::string_view bytes, size_t offset) {
  return offset + bolt::kPageHeaderBytes + bolt::kMetaBytes <= bytes.size() &&
         Read<uint16_t>(bytes, offset + 8) == bolt::kMetaPage &&
         Read<uint32_t>(bytes, offset + bolt::kPageHeaderBytes) == bolt::kMagic;
}

struct Meta {
  uint64_t page_bytes = 0;
  uint64_t root = 0;
  uint64_t page_count = 0;
  uint64_t transaction = 0;
};

// std::nullopt: there is none, or it was being written when something broke.
std::optional<Meta> MetaAt(absl::string_view bytes, size_t offset) {
  if (offset + bolt::kPageHeaderBytes + bolt::kMetaBytes > bytes.size()) return std::nullopt;
  const absl::string_view meta = bytes.substr(offset + bolt::kPageHeaderBytes, bolt::kMetaBytes);
  if (Read<uint32_t>(meta, 0) != bolt::kMagic || Read<uint32_t>(meta, 4) != bolt::kVersion)
    return std::nullopt;
  if (Read<uint64_t>(meta, bolt::kChecksumAt) != bolt::Checksum(meta.substr(0, bolt::kChecksumAt)))
    return std::nullopt;
  return Meta{.page_bytes = Read<uint32_t>(meta, 8),
              .root = Read<uint64_t>(meta, 16),
              .page_count = Read<uint64_t>(meta, 40),
              .transaction = Read<uint64_t>(meta, 48)};
}

}  // namespace

bool BoltFile::IsOne(absl::string_view bytes) {
  return BeginsMeta(bytes, 0) || BeginsMeta(bytes, kUsualPageBytes);
}

absl::StatusOr<BoltFile> BoltFile::Open(absl::string_view bytes) {
  BoltFile file(bytes);
  RETURN_IF_ERROR(file.ReadMeta());
  return file;
}

// The first page says how long pages are, the second one stands behind it. Where the first is broken, the
// second is looked for at each length.
absl::Status BoltFile::ReadMeta() {
  std::optional<Meta> meta = MetaAt(bytes_, 0);
  for (uint64_t size = kPageBytesMin; size <= kPageBytesMax; size *= 2) {
    if (meta.has_value() && meta->page_bytes != size && meta->page_bytes >= kPageBytesMin) continue;
    const std::optional<Meta> second = MetaAt(bytes_, size);
    if (second.has_value() && (!meta.has_value() || second->transaction > meta->transaction)) meta = second;
  }
  if (!meta.has_value()) return ErrorAt(0, "expected a meta page with its checksum, got none that is whole");
  const bool is_size = meta->page_bytes >= kPageBytesMin && meta->page_bytes <= kPageBytesMax &&
                       (meta->page_bytes & (meta->page_bytes - 1)) == 0;
  if (!is_size) {
    return ErrorAt(0, absl::StrCat("expected pages of ", kPageBytesMin, " to ", kPageBytesMax,
                                   " bytes, a power of two, got ", meta->page_bytes));
  }
  page_bytes_ = meta->page_bytes;
  root_ = meta->root;
  page_count_ = meta->page_count;
  // All pages that were ever used are there.
  if (bytes_.size() / page_bytes_ >= page_count_) return absl::OkStatus();
  return ErrorAt(bytes_.size(), absl::StrCat("the file ends here: it was cut off, expected ", page_count_,
                                             " pages of ", page_bytes_, " bytes"));
}

absl::StatusOr<BoltFile::Page> BoltFile::FindPage(uint64_t id) const {
  // The first two pages are the meta pages.
  if (id < 2 || id >= page_count_) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected a page from 2 to ", page_count_ - 1, ", got page ", id));
  }
  const uint64_t offset = id * page_bytes_;
  ASSIGN_OR_RETURN(Page page, PageAt(offset, bytes_.substr(offset)));
  if (page.id != id) return ErrorAt(offset, absl::StrCat("expected page ", id, ", got page ", page.id));
  const uint64_t size = (uint64_t{Read<uint32_t>(page.bytes, 12)} + 1) * page_bytes_;
  if (size > page.bytes.size()) {
    return ErrorAt(offset, absl::StrCat("page ", id, " has ", size, " bytes, and the file ends after ",
                                        page.bytes.size(), " of them"));
  }
  page.bytes = page.bytes.substr(0, size);
  return page;
}

absl::StatusOr<BoltFile::Page> BoltFile::PageAt(size_t offset, absl::string_view bytes) const {
  if (bytes.size() < bolt::kPageHeaderBytes)
    return ErrorAt(offset, "expected the header of a page, got too few bytes");
  Page page = {.offset = offset,
               .id = Read<uint64_t>(bytes, 0),
               .flags = Read<uint16_t>(bytes, 8),
               .count = Read<uint16_t>(bytes, 10),
               .bytes = bytes};
  if (page.flags != bolt::kBranchPage && page.flags != bolt::kLeafPage) {
    return ErrorAt(offset, absl::StrCat("page ", page.id, ": expected a branch (1) or a leaf (2), got type ",
                                        page.flags));
  }
  return page;
}

absl::StatusOr<BoltFile::Element> BoltFile::ElementOf(const Page& page, uint16_t index) {
  const size_t at = bolt::kPageHeaderBytes + size_t{index} * bolt::kElementBytes;
  const auto error = [&] {
    return ErrorAt(page.offset + at, absl::StrCat("page ", page.id, ": element ", index, " of ", page.count,
                                                  " reaches behind its page"));
  };
  if (at + bolt::kElementBytes > page.bytes.size()) return error();
  const bool is_leaf = page.flags == bolt::kLeafPage;
  const uint64_t key_at = at + uint64_t{Read<uint32_t>(page.bytes, at + (is_leaf ? 4 : 0))};
  const uint64_t key_bytes = Read<uint32_t>(page.bytes, at + (is_leaf ? 8 : 4));
  const uint64_t value_bytes = is_leaf ? Read<uint32_t>(page.bytes, at + 12) : 0;
  if (key_at + key_bytes + value_bytes > page.bytes.size()) return error();
  Element element;
  element.key = page.bytes.substr(key_at, key_bytes);
  if (is_leaf) {
    element.is_bucket = (Read<uint32_t>(page.bytes, at) & bolt::kBucketFlag) != 0;
    element.value = page.bytes.substr(key_at + key_bytes, value_bytes);
  } else {
    element.page = Read<uint64_t>(page.bytes, at + 8);
  }
  return element;
}

absl::Status BoltFile::WalkTree(const Page& root,
                                absl::FunctionRef<absl::Status(const Page&, const Element&)> visit) const {
  struct Step {
    Page page;
    uint16_t next = 0;
  };
  std::vector<Step> steps = {{.page = root}};
  // A tree has each page once. A damaged one may lead round and round.
  uint64_t visited = 0;
  while (!steps.empty()) {
    Step& step = steps.back();
    if (step.next == step.page.count) {
      steps.pop_back();
      continue;
    }
    const uint16_t index = step.next++;
    ASSIGN_OR_RETURN(const Element element, ElementOf(step.page, index));
    if (step.page.flags == bolt::kLeafPage) {
      RETURN_IF_ERROR(visit(step.page, element));
      continue;
    }
    const size_t from = step.page.offset;
    if (steps.size() >= kDepthMax || ++visited > page_count_) {
      return ErrorAt(from, absl::StrCat("page ", step.page.id, ": the tree leads back to itself"));
    }
    absl::StatusOr<Page> below = FindPage(element.page);
    if (!below.ok()) {
      return ErrorAt(
          from, absl::StrCat("page ", step.page.id, ": element ", index, ": ", below.status().message()));
    }
    steps.push_back({.page = *std::move(below)});
  }
  return absl::OkStatus();
}

absl::Status BoltFile::ForEach(absl::string_view bucket, Entry entry) const {
  ASSIGN_OR_RETURN(const Page root, FindPage(root_));
  std::optional<Page> found;
  RETURN_IF_ERROR(WalkTree(root, [&](const Page& page, const Element& element) -> absl::Status {
    if (!element.is_bucket || element.key != bucket) return absl::OkStatus();
    const size_t offset = page.offset + static_cast<size_t>(element.value.data() - page.bytes.data());
    if (element.value.size() < bolt::kBucketBytes)
      return ErrorAt(offset, "expected a bucket, got too few bytes");
    const uint64_t id = Read<uint64_t>(element.value, 0);
    if (id == 0) {
      ASSIGN_OR_RETURN(found, PageAt(offset + bolt::kBucketBytes, element.value.substr(bolt::kBucketBytes)));
    } else {
      ASSIGN_OR_RETURN(found, FindPage(id));
    }
    return absl::OkStatus();
  }));
  if (!found.has_value()) {
    return absl::NotFoundError(absl::StrCat("the database has no bucket \"", Printable(bucket), "\""));
  }
  return WalkTree(*found, [&](const Page& page, const Element& element) -> absl::Status {
    if (element.is_bucket) return absl::OkStatus();
    const absl::Status status = entry(element.key, element.value);
    if (status.ok()) return status;
    const size_t offset = page.offset + static_cast<size_t>(element.key.data() - page.bytes.data());
    return ErrorAt(offset, status.message());
  });
}

}  // namespace schedsim::sim
