// Writes files of bbolt, the database below etcd.
#ifndef SCHEDSIM_SIM_FORMATS_ETCD_BOLT_WRITER_H_
#define SCHEDSIM_SIM_FORMATS_ETCD_BOLT_WRITER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace schedsim::sim {

// A database of buckets, each with keys and values. Pages have 4,096 bytes; there is no list of free pages,
// as etcd leaves it out, too. Source: go.etcd.io/bbolt v1.4, internal/common/page.go, meta.go and bucket.go.
class BoltWriter {
 public:
  using Entries = std::vector<std::pair<std::string, std::string>>;

  // Adds a top-level bucket. Names and keys come in bytewise order, each once; keys are not empty.
  void AddBucket(absl::string_view name, const Entries& entries);

  // The file. To be called once, after the last bucket.
  std::string Finish();

 private:
  // A page that is written: its number, and the first key below it.
  struct Written {
    uint64_t page = 0;
    std::string first_key;
  };

  // An element of a leaf, or of a branch (then `page` counts).
  struct Element {
    absl::string_view key;
    absl::string_view value;
    uint64_t page = 0;
    bool is_bucket = false;
  };

  // Writes elements as pages of one level, as many as each takes, and returns these.
  std::vector<Written> WriteLevel(const std::vector<Element>& elements, bool is_leaf);
  // Writes the levels above until one page is left, and returns its number.
  uint64_t WriteTree(const std::vector<Element>& elements);
  Written WritePage(const Element* elements, size_t count, size_t size_bytes, bool is_leaf);
  void WriteMeta(uint64_t page, uint64_t root, uint64_t transaction);

  std::string file_ = std::string(2 * size_t{4096}, '\0');  // The meta pages come first.
  // The values of buckets, by name.
  std::vector<std::pair<std::string, std::string>> buckets_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_ETCD_BOLT_WRITER_H_
