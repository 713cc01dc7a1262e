// Parts of a document that are written as others before them are copied and not read.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_KNOWN_PARTS_H_
#define SCHEDSIM_CORE_CODEC_TEXT_KNOWN_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/tree_builder.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// The items of a list are mostly alike: the objects of a cluster, and what they have lists of. KnownParts
// knows for each open map and list one that it may be like: of a list's item that is the one before, and of
// what is in the item what stands at the same place there. A part that is written with the same bytes holds
// the same.
class KnownParts {
 public:
  // `text` is what the builder's documents are read from; both must outlive the object.
  KnownParts(absl::string_view text, TreeBuilder& builder) : text_(text), builder_(builder) {}

  // A document begins.
  void Begin();
  // A map or a list begins, which the builder does not know yet. In block style with its column: there only
  // those at the same column are alike. 0: none.
  void Open(Value::Type type, int32_t column = 0);
  void Close() { levels_.pop_back(); }
  // The open map has this key next, the open list an item.
  void OnKey(absl::string_view key);
  void OnItem();

  // A part of the open map or list begins at `at`, which is `here`. Gives the builder all parts from there on
  // that are known, and returns where what follows them begins: the next part, or the bracket that ends the
  // map or list; in block style the line of that. Returns `at` if the part is not known. Error: the
  // builder's.
  absl::StatusOr<size_t> Repeat(size_t at, Position here);

 private:
  // An open map or list, and a value that it may be like: null, or one with a source.
  struct Level {
    bool is_map = false;
    bool is_block = false;
    Value known;
    size_t next = 0;               // The part of `known` that may come next.
    const Value* inner = nullptr;  // What the value of the last key, or the item, may be like.
  };

  bool IsInput(absl::string_view text) const;
  const char* BeginOf(const Level& level, size_t part) const;
  const char* EndOf(const Level& level, size_t part, const char*& same_end) const;
  bool IsSame(size_t at, size_t known_at, size_t bytes);

  absl::string_view text_;
  TreeBuilder& builder_;
  std::vector<Level> levels_;
  // Up to `same_end_` each byte is the one `same_distance_` before it.
  size_t same_distance_ = 0;
  size_t same_end_ = 0;
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_KNOWN_PARTS_H_
