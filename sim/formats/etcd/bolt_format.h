// How bbolt lays out its pages; numbers are little-endian.
// Source: go.etcd.io/bbolt v1.4, internal/common/page.go, meta.go and bucket.go.
#ifndef SCHEDSIM_SIM_FORMATS_ETCD_BOLT_FORMAT_H_
#define SCHEDSIM_SIM_FORMATS_ETCD_BOLT_FORMAT_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace schedsim::sim::bolt {

// A page: its number (8 bytes), flags (2), how many elements (2), how many pages follow that belong to it
// (4).
inline constexpr size_t kPageHeaderBytes = 16;
inline constexpr uint16_t kBranchPage = 0x01;
inline constexpr uint16_t kLeafPage = 0x02;
inline constexpr uint16_t kMetaPage = 0x04;

// An element of a branch: where its key begins (4), its length (4), the page (8). Of a leaf: flags (4), where
// its key begins (4), the lengths of key (4) and value (4). Places count from the element itself.
inline constexpr size_t kElementBytes = 16;
inline constexpr uint32_t kBucketFlag = 0x01;

// The value of a bucket: its root page (8) and a counter (8). Without a root page, the page follows.
inline constexpr size_t kBucketBytes = 16;

// A meta page, behind the header of a page: magic (4), version (4), page size (4), flags (4), the root bucket
// (16), the list of free pages (8), the number of pages (8), the transaction (8), a checksum of all that (8).
inline constexpr uint32_t kMagic = 0xED0CDAED;
inline constexpr uint32_t kVersion = 2;
inline constexpr size_t kMetaBytes = 64;
inline constexpr size_t kChecksumAt = 56;
// There is no list of free pages.
inline constexpr uint64_t kNoFreeList = 0xffffffffffffffff;

// FNV-1a.
inline uint64_t Checksum(absl::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace schedsim::sim::bolt

#endif  // SCHEDSIM_SIM_FORMATS_ETCD_BOLT_FORMAT_H_
