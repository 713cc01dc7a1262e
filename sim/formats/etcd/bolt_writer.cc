#include "sim/formats/etcd/bolt_writer.h"

#include <algorithm>

#include "core/base/check.h"
#include "sim/formats/etcd/bolt_format.h"

namespace schedsim::sim {
namespace {

constexpr size_t kPageBytes = 4096;
// The number of elements has 2 bytes.
constexpr size_t kElementsMax = 0xffff;

template <typename T>
void Append(T number, std::string& out) {
  for (size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<char>(number >> (8 * i) & 0xff));
}

void AppendHeader(uint64_t page, uint16_t flags, size_t count, size_t overflow, std::string& out) {
  Append(page, out);
  Append(flags, out);
  Append(static_cast<uint16_t>(count), out);
  Append(static_cast<uint32_t>(overflow), out);
}

}  // namespace

BoltWriter::Written BoltWriter::WritePage(const Element* elements, size_t count, size_t size_bytes,
                                          bool is_leaf) {
  const size_t pages = (size_bytes + kPageBytes - 1) / kPageBytes;
  const size_t start = file_.size();
  const uint64_t page = start / kPageBytes;
  AppendHeader(page, is_leaf ? bolt::kLeafPage : bolt::kBranchPage, count, pages - 1, file_);
  // Behind the elements come their keys and values.
  size_t data_at = bolt::kPageHeaderBytes + count * bolt::kElementBytes;
  for (size_t i = 0; i < count; ++i) {
    const Element& element = elements[i];
    const auto place = static_cast<uint32_t>(data_at - (bolt::kPageHeaderBytes + i * bolt::kElementBytes));
    if (is_leaf) {
      Append(uint32_t{element.is_bucket ? bolt::kBucketFlag : 0}, file_);
      Append(place, file_);
      Append(static_cast<uint32_t>(element.key.size()), file_);
      Append(static_cast<uint32_t>(element.value.size()), file_);
    } else {
      Append(place, file_);
      Append(static_cast<uint32_t>(element.key.size()), file_);
      Append(element.page, file_);
    }
    data_at += element.key.size() + element.value.size();
  }
  for (size_t i = 0; i < count; ++i) {
    file_.append(elements[i].key.data(), elements[i].key.size());
    file_.append(elements[i].value.data(), elements[i].value.size());
  }
  file_.resize(start + pages * kPageBytes, '\0');
  return {.page = page, .first_key = count == 0 ? "" : std::string(elements[0].key)};
}

std::vector<BoltWriter::Written> BoltWriter::WriteLevel(const std::vector<Element>& elements, bool is_leaf) {
  std::vector<Written> pages;
  size_t first = 0;
  while (first < elements.size() || pages.empty()) {
    size_t count = 0;
    size_t size_bytes = bolt::kPageHeaderBytes;
    while (first + count < elements.size() && count < kElementsMax) {
      const Element& element = elements[first + count];
      const size_t more = bolt::kElementBytes + element.key.size() + element.value.size();
      // What is too large for a page stands alone on several. A branch has two elements at least.
      const size_t least = is_leaf ? 1 : 2;
      if (count >= least && size_bytes + more > kPageBytes) break;
      size_bytes += more;
      ++count;
    }
    pages.push_back(WritePage(elements.data() + first, count, size_bytes, is_leaf));
    first += count;
  }
  return pages;
}

uint64_t BoltWriter::WriteTree(const std::vector<Element>& elements) {
  std::vector<Written> pages = WriteLevel(elements, /*is_leaf=*/true);
  while (pages.size() > 1) {
    std::vector<Element> above;
    above.reserve(pages.size());
    for (const Written& page : pages) {
      Element& element = above.emplace_back();
      element.key = page.first_key;
      element.page = page.page;
    }
    pages = WriteLevel(above, /*is_leaf=*/false);
  }
  return pages[0].page;
}

void BoltWriter::AddBucket(absl::string_view name, const Entries& entries) {
  CHECK(buckets_.empty() || buckets_.back().first < name);
  std::vector<Element> elements;
  elements.reserve(entries.size());
  for (const auto& [key, value] : entries) {
    CHECK(!key.empty() && (elements.empty() || elements.back().key < key));
    Element& element = elements.emplace_back();
    element.key = key;
    element.value = value;
  }
  std::string bucket;
  Append(WriteTree(elements), bucket);
  Append(uint64_t{0}, bucket);
  buckets_.emplace_back(name, std::move(bucket));
}

void BoltWriter::WriteMeta(uint64_t page, uint64_t root, uint64_t transaction) {
  std::string bytes;
  AppendHeader(page, bolt::kMetaPage, /*count=*/0, /*overflow=*/0, bytes);
  std::string meta;
  Append(bolt::kMagic, meta);
  Append(bolt::kVersion, meta);
  Append(static_cast<uint32_t>(kPageBytes), meta);
  Append(uint32_t{0}, meta);
  Append(root, meta);
  Append(uint64_t{0}, meta);
  Append(bolt::kNoFreeList, meta);
  Append(uint64_t{file_.size() / kPageBytes}, meta);
  Append(transaction, meta);
  Append(bolt::Checksum(meta), meta);
  bytes += meta;
  std::copy(bytes.begin(), bytes.end(), file_.begin() + static_cast<int64_t>(page * kPageBytes));
}

std::string BoltWriter::Finish() {
  std::vector<Element> elements;
  for (const auto& [name, bucket] : buckets_) {
    Element& element = elements.emplace_back();
    element.key = name;
    element.value = bucket;
    element.is_bucket = true;
  }
  const uint64_t root = WriteTree(elements);
  WriteMeta(0, root, /*transaction=*/1);
  WriteMeta(1, root, /*transaction=*/2);
  return std::move(file_);
}

}  // namespace schedsim::sim
