// Files of bbolt, the database below etcd.
#ifndef SCHEDSIM_SIM_FORMATS_ETCD_BOLT_FILE_H_
#define SCHEDSIM_SIM_FORMATS_ETCD_BOLT_FILE_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace schedsim::sim {

// A database file: pages of one size, and buckets of keys and values in trees of pages. Only what the newer
// of the two meta pages leads to is read: other pages hold what was there before. Errors are InvalidArgument
// with the offset in the file, such as `offset 0x5000: page 5: expected ..., got ...`. Source:
// go.etcd.io/bbolt v1.4, internal/common/page.go, meta.go and bucket.go.
class BoltFile {
 public:
  // Called with each key and its value, which are parts of the file; an error ends the reading.
  using Entry = absl::FunctionRef<absl::Status(absl::string_view key, absl::string_view value)>;

  // Whether the bytes begin as such a file does, or, where the first page is damaged, go on so at the second
  // one.
  static bool IsOne(absl::string_view bytes);

  // `bytes` must outlive the object.
  static absl::StatusOr<BoltFile> Open(absl::string_view bytes);

  // The entries of a top-level bucket in the order of the keys; buckets within it are left out. NotFound when
  // there is no such bucket.
  absl::Status ForEach(absl::string_view bucket, Entry entry) const;

 private:
  struct Page {
    size_t offset = 0;  // In the file.
    uint64_t id = 0;
    uint16_t flags = 0;
    uint16_t count = 0;
    absl::string_view bytes;  // With its header and the pages that overflow.
  };
  // An element of a page.
  struct Element {
    absl::string_view key;
    absl::string_view value;  // Of a leaf.
    uint64_t page = 0;        // Of a branch: where it leads.
    bool is_bucket = false;
  };

  explicit BoltFile(absl::string_view bytes) : bytes_(bytes) {}
  absl::Status ReadMeta();
  absl::StatusOr<Page> FindPage(uint64_t id) const;
  absl::StatusOr<Page> PageAt(size_t offset, absl::string_view bytes) const;
  static absl::StatusOr<Element> ElementOf(const Page& page, uint16_t index);
  // Calls `visit` with each element of the leaves of a tree, in order.
  absl::Status WalkTree(const Page& root,
                        absl::FunctionRef<absl::Status(const Page&, const Element&)> visit) const;

  absl::string_view bytes_;
  uint64_t page_bytes_ = 0;
  uint64_t root_ = 0;        // The page of the bucket of all buckets.
  uint64_t page_count_ = 0;  // Pages from here on were never used. The file has at least so many.
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_ETCD_BOLT_FILE_H_
