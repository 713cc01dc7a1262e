#include "core/codec/text/tree_builder.h"

#include <algorithm>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"

namespace schedsim::codec {
namespace {

// Bigger documents are not kept until the next one.
constexpr int64_t kLastValuesMax = 100'000;

// Maps with more members than this look their keys up by hash.
constexpr size_t kLinearMembersMax = 24;

// Returns how much of a document aliases may make up, by its size with all of them written out.
// Source: go.yaml.in/yaml/v2 v2.4, decode.go, allowedAliasRatio.
double AliasRatioMax(int64_t node_count) {
  constexpr double kLow = 400'000;
  constexpr double kHigh = 4'000'000;
  const double count = static_cast<double>(node_count);
  if (count <= kLow) return 0.99;
  if (count >= kHigh) return 0.10;
  return 0.99 - 0.89 * (count - kLow) / (kHigh - kLow);
}

// How kubectl hands a number on: as its digits where it is whole, and small enough for a floating point
// number of 64 bits, which it is on the way.
std::string KubectlText(absl::string_view number) {
  constexpr size_t kExactDigits = 15;
  std::string digits = WholeDigits(number);
  const bool is_exact = !digits.empty() && digits.size() <= kExactDigits;
  return is_exact ? digits : std::string(number);
}

std::string TextOf(const Value* value) {
  return value != nullptr && value->is_string() ? std::string(value->text) : std::string();
}

}  // namespace

bool IsListKind(absl::string_view kind) { return absl::EndsWith(kind, "List"); }

std::string TooDeepMessage() {
  return absl::StrCat("nested too deeply, expected at most ", kDepthMax, " levels");
}

TreeBuilder::TreeBuilder(absl::string_view file, const ReadOptions& options, DocumentSink sink,
                         LookAhead look_ahead)
    : file_(file), options_(options), sink_(sink), look_ahead_(look_ahead), keys_(kDepthMax) {}

absl::Status TreeBuilder::Error(Position position, absl::string_view what) const {
  return ErrorAt({file_, position}, what);
}

void TreeBuilder::Begin() {
  document().Clear();
  for (Document& item : items_) item.Clear();
  has_last_item_ = false;
  header_ = RootHeader();
  is_streaming_ = false;
  has_streamed_ = false;
  frames_.clear();
  values_.clear();
  members_.clear();
  anchors_.clear();
  anchor_.clear();
  frame_anchors_.clear();
  node_count_ = 0;
  alias_node_count_ = 0;
  held_count_ = 0;
}

absl::Status TreeBuilder::CountValue(Position position) {
  ++held_count_;
  return CheckCount(position);
}

absl::Status TreeBuilder::CheckCount(Position position) const {
  if (held_count_ <= options_.value_count_max) return absl::OkStatus();
  return Error(position, absl::StrCat("more than ", options_.value_count_max,
                                      " values in one document, expected fewer; of a list of objects "
                                      "(`kind: List`) each item counts by itself"));
}

absl::Status TreeBuilder::Open(Value::Type type, Position position, const char* source) {
  if (frames_.size() == kDepthMax) {
    return Error(position, TooDeepMessage());
  }
  RETURN_IF_ERROR(CountValue(position));
  const bool is_streamed = type == Value::Type::kArray && StartsStreamedList();
  const bool is_split_member = is_streamed && !options_.split_member.empty();
  if (is_streamed && !is_split_member) {
    header_ = Header();
    if (header_.kind.empty() || header_.api_version.empty()) {
      const RootHeader ahead = look_ahead_();
      if (header_.kind.empty()) header_.kind = ahead.kind;
      if (header_.api_version.empty()) header_.api_version = ahead.api_version;
    }
  }
  Frame frame;
  frame.type = type;
  frame.position = position;
  frame.source = source;
  frame.node_count = node_count_++;
  frame.start = type == Value::Type::kObject ? members_.size() : values_.size();
  if (!anchor_.empty()) {
    frame.anchor = static_cast<int32_t>(frame_anchors_.size());
    frame_anchors_.push_back(std::move(anchor_));
    anchor_.clear();
  }
  frame.is_streamed = is_streamed && (is_split_member || IsListKind(header_.kind));
  if (frame.is_streamed) {
    is_streaming_ = true;
    has_streamed_ = true;
  }
  frames_.push_back(frame);
  return absl::OkStatus();
}

bool TreeBuilder::StartsStreamedList() const {
  const absl::string_view wanted = options_.split_lists ? "items" : absl::string_view(options_.split_member);
  return !wanted.empty() && frames_.size() == 1 && frames_[0].has_key && !frames_[0].is_merge &&
         !has_streamed_ && members_.back().key == wanted;
}

RootHeader TreeBuilder::Header() const {
  Value root;
  root.type = Value::Type::kObject;
  root.members = absl::MakeConstSpan(members_).subspan(frames_[0].start);
  return {.kind = TextOf(root.Find("kind")), .api_version = TextOf(root.Find("apiVersion"))};
}

absl::Status TreeBuilder::Close(const char* source_end) {
  CHECK(!frames_.empty());
  const Frame frame = frames_.back();
  frames_.pop_back();
  Value value;
  value.type = frame.type;
  value.position = frame.position;
  // A root that was handed on by items does not hold them.
  const bool is_whole = !has_streamed_ || !frames_.empty();
  if (frame.source != nullptr && source_end != nullptr && is_whole && !frame.is_streamed) {
    const size_t bytes = static_cast<size_t>(source_end - frame.source);
    value.text = {frame.source, 0};
    if (bytes <= std::numeric_limits<uint32_t>::max()) value.source_bytes = static_cast<uint32_t>(bytes);
  }
  if (frame.is_streamed) {
    is_streaming_ = false;
  } else if (frame.type == Value::Type::kObject) {
    value.members = target().CopyMembers(absl::MakeConstSpan(members_).subspan(frame.start));
    members_.resize(frame.start);
    if (frame.is_indexed) keys_[frames_.size()].clear();
  } else {
    value.items = target().CopyItems(absl::MakeConstSpan(values_).subspan(frame.start));
    values_.resize(frame.start);
  }
  if (frame.anchor >= 0) {
    anchor_ = std::move(frame_anchors_[static_cast<size_t>(frame.anchor)]);
    frame_anchors_.resize(static_cast<size_t>(frame.anchor));
    NameValue(value, node_count_ - frame.node_count, frame.height);
  }
  return Add(value, frame.height);
}

absl::Status TreeBuilder::Key(absl::string_view text, Position position, bool is_borrowed) {
  CHECK(ExpectsKey());
  const int64_t known = FindMember(text);
  if (known >= 0) RETURN_IF_ERROR(OnRepeatedKey(static_cast<size_t>(known), position));
  frames_.back().replaces = known;
  ++node_count_;
  members_.push_back(
      {.key = is_borrowed ? text : target().CopyText(text), .key_position = position, .value = Value()});
  if (frames_.back().is_indexed) IndexMember(members_.back().key, members_.size() - 1);
  frames_.back().has_key = true;
  return absl::OkStatus();
}

absl::Status TreeBuilder::OnRepeatedKey(size_t known_index, Position position) {
  const Frame& frame = frames_.back();
  const Member& known = members_[known_index];
  const absl::string_view key = known.key;
  // A key that came by a merge may be set again, which yaml.v2 takes as the new value.
  if (frame.merged_count > 0 && known.key_position.line == 0) {
    return absl::OkStatus();
  }
  const bool is_root = frames_.size() == 1;
  const bool is_item = IsItem();
  const bool names_object =
      (is_root || is_item) && (key == "apiVersion" || key == "kind" || key == "metadata");
  const bool is_header = names_object || (is_root && key == "items");
  if (options_.on_repeated_key != nullptr && !is_header) {
    // What is copied from here, or decoded by its source, would lose the key without a word.
    for (Frame& open : frames_) open.source = nullptr;
    options_.on_repeated_key({.file = std::string(file_),
                              .path = PathTo(key),
                              .position = position,
                              .first_line = known.key_position.line});
    return absl::OkStatus();
  }
  std::string what = absl::StrCat("key \"", Printable(key, kShownBytesMax), "\" is already set on line ",
                                  known.key_position.line, ", expected each key once");
  if (names_object) {
    absl::StrAppend(&what, is_item ? "; a `- ` between two items may be missing"
                                   : "; a line `---` between two documents may be missing");
  }
  return Error(position, what);
}

std::string TreeBuilder::PathTo(absl::string_view key) const {
  std::string path;
  // What is left of the parts when those of inner frames are cut off; from the inside out.
  size_t member_count = members_.size();
  size_t value_count = values_.size();
  for (size_t i = frames_.size(); i > 0 && !frames_[i - 1].is_streamed; --i) {
    const Frame& frame = frames_[i - 1];
    const bool is_map = frame.type == Value::Type::kObject;
    std::string part;
    if (i == frames_.size()) {
      part = Printable(key, kShownBytesMax);
    } else if (is_map) {
      part = Printable(members_[member_count - 1].key, kShownBytesMax);
    } else {
      part = absl::StrCat("[", value_count - frame.start, "]");
    }
    const bool has_dot = !path.empty() && path[0] != '[';
    path = absl::StrCat(part, has_dot ? "." : "", path);
    (is_map ? member_count : value_count) = frame.start;
  }
  return path;
}

int64_t TreeBuilder::FindMember(absl::string_view key) {
  Frame& frame = frames_.back();
  auto& index = keys_[frames_.size() - 1];
  if (!frame.is_indexed && members_.size() - frame.start > kLinearMembersMax) {
    frame.is_indexed = true;
    index.clear();
    for (size_t i = frame.start; i < members_.size(); ++i) index[members_[i].key] = i;
  }
  if (frame.is_indexed) {
    auto found = index.find(key);
    return found == index.end() ? -1 : static_cast<int64_t>(found->second);
  }
  for (size_t i = frame.start; i < members_.size(); ++i) {
    if (members_[i].key == key) return static_cast<int64_t>(i);
  }
  return -1;
}

void TreeBuilder::IndexMember(absl::string_view key, size_t index) { keys_[frames_.size() - 1][key] = index; }

void TreeBuilder::MergeKey(Position position) {
  CHECK(ExpectsKey());
  ++node_count_;
  members_.push_back({.key = "<<", .key_position = position, .value = Value()});
  frames_.back().has_key = true;
  frames_.back().is_merge = true;
}

absl::Status TreeBuilder::Scalar(const Value& value, bool is_borrowed) {
  RETURN_IF_ERROR(CountValue(value.position));
  ++node_count_;
  const bool may_be_whole = options_.whole_numbers_as_digits && value.type == Value::Type::kNumber &&
                            HasFractionOrExponent(value.text);
  if (is_borrowed && anchor_.empty() && !may_be_whole) return Add(value, 0);
  Value copy = value;
  copy.text = may_be_whole ? target().CopyText(KubectlText(value.text)) : target().CopyText(value.text);
  NameValue(copy, 1, 0);
  return Add(copy, 0);
}

void TreeBuilder::NameValue(const Value& value, int64_t node_count, int height) {
  if (anchor_.empty()) return;
  anchors_[anchor_] = {.value = value, .node_count = node_count, .height = height};
  anchor_.clear();
}

absl::Status TreeBuilder::Alias(absl::string_view name, Position position) {
  auto found = anchors_.find(name);
  if (found == anchors_.end()) {
    const std::string shown = Printable(name, kShownBytesMax);
    return Error(position, absl::StrCat("alias *", shown, " has no value yet, expected an anchor &", shown,
                                        " on a complete value before it"));
  }
  const Anchored& anchored = found->second;
  if (static_cast<int>(frames_.size()) + anchored.height > kDepthMax) {
    return Error(position,
                 absl::StrCat("alias *", Printable(name, kShownBytesMax),
                              " makes the nesting too deep, expected at most ", kDepthMax, " levels"));
  }
  node_count_ += anchored.node_count;
  alias_node_count_ += anchored.node_count;
  RETURN_IF_ERROR(CheckAliases(position));
  return Add(anchored.value, anchored.height);
}

void TreeBuilder::DefineAnchor(absl::string_view name, const Value& scalar) {
  Value copy = scalar;
  copy.text = target().CopyText(scalar.text);
  anchors_[name] = {.value = copy, .node_count = 1, .height = 0};
}

const Value* TreeBuilder::FindAnchor(absl::string_view name) const {
  auto found = anchors_.find(name);
  return found == anchors_.end() ? nullptr : &found->second.value;
}

absl::Status TreeBuilder::CheckAliases(Position position) const {
  if (alias_node_count_ <= 100 || node_count_ <= 1000) return absl::OkStatus();
  const double ratio = static_cast<double>(alias_node_count_) / static_cast<double>(node_count_);
  if (ratio <= AliasRatioMax(node_count_)) return absl::OkStatus();
  return Error(position, absl::StrCat("aliases blow the document up to ", node_count_,
                                      " values, expected fewer aliases of aliases"));
}

absl::Status TreeBuilder::Add(const Value& value, int height) {
  if (frames_.empty()) {
    document().root = value;
    return absl::OkStatus();
  }
  Frame& frame = frames_.back();
  frame.height = std::max(frame.height, height + 1);
  if (frame.is_streamed) return AddItem(value);
  if (frame.type == Value::Type::kArray) {
    values_.push_back(value);
    return absl::OkStatus();
  }
  CHECK(frame.has_key);
  frame.has_key = false;
  if (frame.is_merge) {
    frame.is_merge = false;
    const Position position = members_.back().key_position;
    members_.pop_back();
    return Merge(value, position);
  }
  members_.back().value = value;
  if (frame.replaces < 0) return absl::OkStatus();
  // A merge has set the key before: the later value counts.
  const size_t replaced = static_cast<size_t>(frame.replaces);
  frame.replaces = -1;
  members_[replaced] = members_.back();
  members_.pop_back();
  if (frame.is_indexed) IndexMember(members_[replaced].key, replaced);
  return absl::OkStatus();
}

absl::Status TreeBuilder::AddItem(const Value& value) {
  Document& item = items_[item_index_];
  item.root = value;
  item.is_entry = !options_.split_member.empty();
  item.list_kind = header_.kind;
  item.list_api_version = header_.api_version;
  RETURN_IF_ERROR(sink_(item));
  // Later items may refer to anchors in this one.
  if (!anchors_.empty()) return absl::OkStatus();
  has_last_item_ = true;
  item_index_ = 1 - item_index_;
  items_[item_index_].Clear();
  held_count_ = 0;
  return absl::OkStatus();
}

const Value* TreeBuilder::LastItem() const {
  if (frames_.empty() || frames_.back().type != Value::Type::kArray) return nullptr;
  if (frames_.back().is_streamed) return has_last_item_ ? &items_[1 - item_index_].root : nullptr;
  return values_.size() > frames_.back().start ? &values_.back() : nullptr;
}

absl::Status TreeBuilder::Repeat(const Value& item, const Distance& distance) {
  Value copy = item;
  Move(copy, distance);
  RETURN_IF_ERROR(CheckCount(copy.position));
  return Add(copy, 0);
}

absl::Status TreeBuilder::Repeat(const Member& member, const Distance& distance) {
  members_.push_back(member);
  Move(members_.back(), distance);
  if (frames_.back().is_indexed) IndexMember(members_.back().key, members_.size() - 1);
  return CheckCount(members_.back().key_position);
}

// What is not in the input itself is copied: it may be that of another document.
absl::string_view TreeBuilder::Moved(absl::string_view text, const Distance& distance) {
  const bool is_borrowed =
      text.data() >= distance.input.data() && text.data() <= distance.input.data() + distance.input.size();
  return is_borrowed ? absl::string_view(text.data() + distance.bytes, text.size()) : target().CopyText(text);
}

// Makes a copy of a value one of its own. The depth is at most kDepthMax.
void TreeBuilder::Move(Value& value, const Distance& distance) {
  ++held_count_;
  value.position = distance.Of(value.position);
  value.text = Moved(value.text, distance);
  if (!value.items.empty()) {
    const absl::Span<Value> items = target().CopyItems(value.items);
    for (Value& item : items) Move(item, distance);
    value.items = items;
  }
  if (!value.members.empty()) {
    const absl::Span<Member> members = target().CopyMembers(value.members);
    for (Member& member : members) Move(member, distance);
    value.members = members;
  }
}

void TreeBuilder::Move(Member& member, const Distance& distance) {
  member.key = Moved(member.key, distance);
  member.key_position = distance.Of(member.key_position);
  Move(member.value, distance);
}

absl::Status TreeBuilder::Merge(const Value& value, Position position) {
  constexpr absl::string_view kExpected = "`<<` merges maps only, expected a map or a list of maps";
  if (value.is_object()) return MergeMap(value);
  if (!value.is_array()) return Error(position, kExpected);
  // The last map goes first, so that earlier maps win.
  for (size_t i = value.items.size(); i > 0; --i) {
    if (!value.items[i - 1].is_object()) return Error(position, kExpected);
    RETURN_IF_ERROR(MergeMap(value.items[i - 1]));
  }
  return absl::OkStatus();
}

// Sets all members of `map`, also over keys that the open map has already.
// Source: go.yaml.in/yaml/v2 v2.4, decode.go, merge.
absl::Status TreeBuilder::MergeMap(const Value& map) {
  for (const Member& member : map.members) {
    const int64_t found = FindMember(member.key);
    Member merged = member;
    merged.key_position = Position();
    if (found >= 0) {
      members_[static_cast<size_t>(found)].value = merged.value;
      members_[static_cast<size_t>(found)].key_position = Position();
    } else {
      members_.push_back(merged);
      if (frames_.back().is_indexed) IndexMember(members_.back().key, members_.size() - 1);
    }
    ++frames_.back().merged_count;
  }
  return absl::OkStatus();
}

absl::Status TreeBuilder::CheckStreamedRoot() const {
  const Value& root = documents_[document_index_].root;
  const std::string kind = TextOf(root.Find("kind"));
  const std::string api_version = TextOf(root.Find("apiVersion"));
  if (kind == header_.kind && api_version == header_.api_version) return absl::OkStatus();
  return Error(root.position, absl::StrCat("a list must say what it is, expected `apiVersion` and `kind` "
                                           "before `items`, or once at the same indentation after them"));
}

absl::Status TreeBuilder::Finish() {
  CHECK(frames_.empty());
  if (has_streamed_ && options_.split_member.empty()) return CheckStreamedRoot();
  RETURN_IF_ERROR(sink_(document()));
  // A copy of what was handed on by entries would lose them.
  has_last_document_ = held_count_ <= kLastValuesMax && !has_streamed_;
  if (has_last_document_) document_index_ = 1 - document_index_;
  return absl::OkStatus();
}

const Value* TreeBuilder::LastDocument() const {
  const Value& root = documents_[1 - document_index_].root;
  return has_last_document_ && root.Find("items") == nullptr ? &root : nullptr;
}

}  // namespace schedsim::codec
