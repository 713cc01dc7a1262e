#include "core/codec/text/known_parts.h"

#include <algorithm>

#include "core/base/status_macros.h"
#include "core/codec/text/byte_scan.h"

namespace schedsim::codec {

void KnownParts::Begin() {
  levels_.clear();
  same_distance_ = same_end_ = 0;
}

void KnownParts::Open(Value::Type type, int32_t column) {
  const Value* known = levels_.empty() ? builder_.LastDocument() : levels_.back().inner;
  if (!levels_.empty() && known == nullptr && !levels_.back().is_map) known = builder_.LastItem();
  Level level = {.is_map = type == Value::Type::kObject, .is_block = column > 0};
  const bool is_alike = known != nullptr && known->type == type && known->source_bytes > 0 &&
                        (column == 0 || known->position.column == column);
  if (is_alike) level.known = *known;
  levels_.push_back(level);
}

void KnownParts::OnKey(absl::string_view key) {
  // In bigger maps, which have free keys mostly, a search would take too long.
  constexpr size_t kSearchedMax = 32;
  Level& level = levels_.back();
  level.inner = nullptr;
  const absl::Span<const Member> members = level.known.members;
  const bool is_big = members.size() > kSearchedMax;
  for (size_t i = level.next; i < members.size() && (i == level.next || !is_big); ++i) {
    if (members[i].key != key) continue;
    level.next = i + 1;
    level.inner = &members[i].value;
    return;
  }
  // A key that is not known may stand in between. With another order of keys a member that follows could be
  // one that is there already.
  const auto is_key = [key](const Member& member) { return member.key == key; };
  if (is_big || std::any_of(members.begin(), members.end(), is_key)) level.known = Value();
}

void KnownParts::OnItem() {
  Level& level = levels_.back();
  level.inner = level.next < level.known.items.size() ? &level.known.items[level.next++] : nullptr;
}

bool KnownParts::IsInput(absl::string_view text) const {
  return text.data() > text_.data() && text.data() < text_.data() + text_.size();
}

// Where a part of the known value begins; nullptr if that can't be told.
const char* KnownParts::BeginOf(const Level& level, size_t part) const {
  const absl::string_view text = level.is_map ? level.known.members[part].key : level.known.items[part].text;
  if (!IsInput(text)) return nullptr;
  const bool is_string = level.is_map || level.known.items[part].is_string();
  const char before = text.data()[-1];
  return text.data() - (is_string && (before == '"' || before == '\'') ? 1 : 0);
}

// Where what follows a part begins, and up to where the same bytes must stand: that the part ends is seen by
// what follows it. nullptr if that can't be told.
const char* KnownParts::EndOf(const Level& level, size_t part, const char*& same_end) const {
  const bool is_last = part + 1 == (level.is_map ? level.known.members.size() : level.known.items.size());
  const absl::string_view source = level.known.source();
  const char* const source_end = source.data() + source.size();
  const char* const end = !is_last ? BeginOf(level, part + 1) : source_end - (level.is_block ? 0 : 1);
  if (end == nullptr) return nullptr;
  same_end = end + 1;
  if (!level.is_block) return end;
  if (is_last) {
    // What ends the map stands further left: a dash at its own column would be another item of its last
    // value.
    const size_t indent_end = SkipBlanks(text_, static_cast<size_t>(source_end - text_.data()));
    same_end = text_.data() + indent_end + 1;
    const auto column = same_end - source_end;
    return indent_end < text_.size() && column < level.known.position.column ? end : nullptr;
  }
  // The first byte of a key tells that it is one, but for a dash.
  return *end == '-' ? nullptr : end - (level.known.position.column - 1);
}

bool KnownParts::IsSame(size_t at, size_t known_at, size_t bytes) {
  if (at - known_at != same_distance_ || at >= same_end_) {
    same_distance_ = at - known_at;
    same_end_ = at + SamePrefixBytes(text_.substr(at), text_.substr(known_at));
  }
  return same_end_ - at >= bytes;
}

absl::StatusOr<size_t> KnownParts::Repeat(size_t at, Position here) {
  Level& level = levels_.back();
  const absl::Span<const Member> members = level.known.members;
  const absl::Span<const Value> items = level.known.items;
  const size_t count = level.is_map ? members.size() : items.size();
  const char* const begin = level.next < count ? BeginOf(level, level.next) : nullptr;
  if (begin == nullptr) return at;
  const size_t known_at = static_cast<size_t>(begin - text_.data());
  const Position known = level.is_map ? members[level.next].key_position : items[level.next].position;
  const Distance distance = {.input = text_,
                             .bytes = at - known_at,
                             .lines = here.line - known.line,
                             .columns = here.column - known.column,
                             .first_line = known.line};
  size_t bytes = 0;
  for (; level.next < count; ++level.next) {
    const char* same_end = nullptr;
    const char* const end = EndOf(level, level.next, same_end);
    if (end == nullptr || !IsSame(at, known_at, static_cast<size_t>(same_end - begin))) break;
    RETURN_IF_ERROR(level.is_map ? builder_.Repeat(members[level.next], distance)
                                 : builder_.Repeat(items[level.next], distance));
    bytes = static_cast<size_t>(end - begin);
  }
  return at + bytes;
}

}  // namespace schedsim::codec
