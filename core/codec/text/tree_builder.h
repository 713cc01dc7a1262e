// TreeBuilder builds documents from a stream of scalars, openings and closings, whatever the syntax was.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_TREE_BUILDER_H_
#define SCHEDSIM_CORE_CODEC_TEXT_TREE_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// A root whose `items` come first has its kind and apiVersion behind them. Both are "" when the reader can't
// tell.
struct RootHeader {
  std::string kind;
  std::string api_version;
};

// Tells whether `kind` is that of a list of objects: List, PodList and so on.
bool IsListKind(absl::string_view kind);

// What is wrong with a value below kDepthMax others.
std::string TooDeepMessage();

// The way from a text to the same bytes further on in the input.
struct Distance {
  absl::string_view input;
  size_t bytes = 0;
  int32_t lines = 0;
  int32_t columns = 0;     // Only on the line where the first text begins.
  int32_t first_line = 0;  // That line.

  Position Of(Position position) const {
    return {position.line + lines, position.column + (position.line == first_line ? columns : 0)};
  }
};

// Calls come in document order: Begin, then one value (Scalar, Alias, or Open, its parts, Close),
// then Finish. In a map each value follows its Key. Errors name file, line and column.
class TreeBuilder {
 public:
  // Looks ahead in the text for the root's kind and apiVersion.
  using LookAhead = absl::FunctionRef<RootHeader()>;

  TreeBuilder(absl::string_view file, const ReadOptions& options, DocumentSink sink, LookAhead look_ahead);
  TreeBuilder(const TreeBuilder&) = delete;
  TreeBuilder& operator=(const TreeBuilder&) = delete;

  void Begin();
  // Opens a map or a list. Errors: nesting deeper than kDepthMax, more values than the options allow.
  // `source` is where it begins in the input, and Close says where it ends; nullptr: that is not known.
  absl::Status Open(Value::Type type, Position position, const char* source = nullptr);
  absl::Status Close(const char* source_end = nullptr);
  // `text` is copied, unless it is borrowed: then it lives as long as the documents are looked at. Error: a
  // key that the map has already.
  absl::Status Key(absl::string_view text, Position position, bool is_borrowed = false);
  // The next value is to be merged into the open map (YAML's `<<`).
  void MergeKey(Position position);
  // A value without children; its text is copied unless it is borrowed. Error: more values than the options
  // allow.
  absl::Status Scalar(const Value& value, bool is_borrowed = false);
  // The root of the document before, if it is still there and can be no list that is handed on by items; or
  // nullptr. Valid until Finish.
  const Value* LastDocument() const;
  // The item of the open list that came last, or nullptr. Valid until the next call.
  const Value* LastItem() const;
  // The same bytes as those of a part of this document, of the item or of the document before, stand again:
  // adds the item or the member that they were. The member's key is none that the open map has. Error: more
  // values than the options allow.
  absl::Status Repeat(const Value& item, const Distance& distance);
  absl::Status Repeat(const Member& member, const Distance& distance);
  // Hands on the document, unless its list was handed on by items.
  absl::Status Finish();

  // Gives the value that comes next, when complete, a name for Alias. Text is copied.
  void Anchor(absl::string_view name) { anchor_ = std::string(name); }
  absl::Status Alias(absl::string_view name, Position position);
  // The same for scalars that are keys. Text is copied.
  void DefineAnchor(absl::string_view name, const Value& scalar);
  // The value of an anchor so far, or nullptr.
  const Value* FindAnchor(absl::string_view name) const;

  // Whether a key (and not a value) must come next.
  bool ExpectsKey() const {
    return !frames_.empty() && frames_.back().type == Value::Type::kObject && !frames_.back().has_key;
  }

 private:
  // An open map or list. Its parts so far are the ends of `values_` or `members_` from `start` on.
  struct Frame {
    Value::Type type = Value::Type::kNull;
    bool has_key = false;      // The last member still wants its value.
    bool is_merge = false;     // The value to come is merged, see MergeKey.
    bool is_streamed = false;  // The parts are handed on one by one.
    bool is_indexed = false;   // `keys_` of this frame holds the keys of the members.
    int64_t replaces = -1;     // The member that the last one is to replace; -1: none.
    int height = 1;            // Levels below and including this one.
    size_t start = 0;
    int64_t node_count = 0;  // All nodes before this one.
    size_t merged_count = 0;
    Position position;
    const char* source = nullptr;
    int32_t anchor = -1;  // In `frame_anchors_`; -1: none.
  };
  // A complete value with its size when written out.
  struct Anchored {
    Value value;
    int64_t node_count = 0;
    int height = 0;
  };

  // Gives the value the name that was waiting for it, if any.
  void NameValue(const Value& value, int64_t node_count, int height);
  absl::Status Add(const Value& value, int height);
  absl::string_view Moved(absl::string_view text, const Distance& distance);
  void Move(Value& value, const Distance& distance);
  void Move(Member& member, const Distance& distance);
  absl::Status CheckCount(Position position) const;
  absl::Status AddItem(const Value& value);
  absl::Status Merge(const Value& value, Position position);
  absl::Status MergeMap(const Value& map);
  absl::Status CheckAliases(Position position) const;
  absl::Status CountValue(Position position);
  // The open map has the key already, as the member `known_index`.
  absl::Status OnRepeatedKey(size_t known_index, Position position);
  // Whether the open map is an item of a list of objects.
  bool IsItem() const {
    const bool is_in_array = frames_.size() == 2 && frames_[0].type == Value::Type::kArray;
    return is_in_array || (frames_.size() == 3 && frames_[1].is_streamed);
  }
  // Where the open map's member `key` is: `spec.containers[0].image`.
  std::string PathTo(absl::string_view key) const;
  // The index in `members_` of the open map's member `key`, or -1.
  int64_t FindMember(absl::string_view key);
  void IndexMember(absl::string_view key, size_t index);
  bool StartsStreamedList() const;
  RootHeader Header() const;
  absl::Status CheckStreamedRoot() const;
  absl::Status Error(Position position, absl::string_view what) const;
  Document& document() { return documents_[document_index_]; }
  Document& target() { return is_streaming_ ? items_[item_index_] : document(); }

  absl::string_view file_;
  ReadOptions options_;
  DocumentSink sink_;
  LookAhead look_ahead_;
  Document documents_[2];  // The one that is being built, and the one before.
  size_t document_index_ = 0;
  bool has_last_document_ = false;
  Document items_[2];  // The list item that is being built, and the one before.
  size_t item_index_ = 0;
  bool has_last_item_ = false;
  RootHeader header_;
  bool is_streaming_ = false;  // Inside the streamed list.
  bool has_streamed_ = false;
  std::vector<Frame> frames_;
  std::vector<Value> values_;
  std::vector<Member> members_;
  std::vector<absl::flat_hash_map<absl::string_view, size_t>> keys_;  // One per level; for big maps.
  absl::flat_hash_map<std::string, Anchored> anchors_;
  std::string anchor_;
  std::vector<std::string> frame_anchors_;  // Of open maps and lists that have one.
  int64_t node_count_ = 0;                  // With aliases written out.
  int64_t alias_node_count_ = 0;
  int64_t held_count_ = 0;  // Values in memory: of the document, or of the list's item.
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_TREE_BUILDER_H_
