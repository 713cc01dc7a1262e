#include "core/api/object_text.h"

#include <limits>
#include <utility>

#include "core/base/check.h"

namespace schedsim::api {
namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();

// Seven bits a byte, the lowest first; the highest bit says that more follow.
void AppendNumber(size_t number, std::string& out) {
  for (; number >= 0x80; number >>= 7) out.push_back(static_cast<char>((number & 0x7f) | 0x80));
  out.push_back(static_cast<char>(number));
}

size_t TakeNumber(absl::string_view& text) {
  size_t number = 0;
  for (int shift = 0;; shift += 7) {
    const unsigned char c = static_cast<unsigned char>(text[0]);
    text.remove_prefix(1);
    number |= static_cast<size_t>(c & 0x7f) << shift;
    if (c < 0x80) return number;
  }
}

}  // namespace

ObjectText::ObjectText(std::string whole) : text_(std::move(whole)), size_bytes_(text_.size()) {
  text_.shrink_to_fit();
}

ObjectText::ObjectText(std::shared_ptr<const ObjectText> base, std::string differences, size_t size_bytes)
    : base_(std::move(base)), text_(std::move(differences)), size_bytes_(size_bytes) {
  text_.shrink_to_fit();
}

const ObjectText::Parts& ObjectText::parts() const {
  static const Parts* const kNoParts = new Parts();
  return root_parts_ == nullptr ? *kNoParts : root_parts_->parts;
}

const ObjectText& ObjectText::root() const {
  const ObjectText* text = this;
  while (text->base_ != nullptr) text = text->base_.get();
  return *text;
}

std::string ObjectText::ToString() const {
  if (base_ == nullptr) return text_;
  std::string out;
  out.reserve(size_bytes_);
  const auto append = [&out](absl::string_view piece) { out.append(piece.data(), piece.size()); };
  ObjectTextParts parts(*this);
  for (size_t i = 0; i < parts.count(); ++i) {
    const absl::string_view part = parts.Next();
    append(parts.Before());
    append(part);
  }
  append(parts.AfterAll());
  CHECK(out.size() == size_bytes_);
  return out;
}

ObjectTextParts::ObjectTextParts(const ObjectText& text) : root_(text.root()), parts_(root_.parts()) {
  if (root_.root_parts_ != nullptr) shared_texts_ = root_.root_parts_->shared_texts.get();
  for (const ObjectText* at = &text; at->base_ != nullptr; at = at->base_.get()) {
    cursors_.push_back({.rest = at->text_});
    cursors_.back().Advance(shared_texts_);
  }
}

void ObjectTextParts::Cursor::Advance(const SharedTexts* shared_texts) {
  if (rest.empty()) {
    index = kNone;
    return;
  }
  index = next_index + TakeNumber(rest);
  next_index = index + 1;
  // The lowest bit tells the number of a shared text from the size of one that stands here.
  const size_t number = TakeNumber(rest);
  if ((number & 1) != 0) {
    text = shared_texts->At(number >> 1);
    return;
  }
  text = rest.substr(0, number >> 1);
  rest.remove_prefix(text.size());
}

absl::string_view ObjectTextParts::Next() {
  const size_t index = next_++;
  const size_t begin = parts_[2 * index];
  absl::string_view part = absl::string_view(root_.text()).substr(begin, parts_[2 * index + 1] - begin);
  // The text itself has the last word, so it is asked last.
  for (size_t i = cursors_.size(); i > 0; --i) {
    Cursor& cursor = cursors_[i - 1];
    if (cursor.index != index) continue;
    part = cursor.text;
    cursor.Advance(shared_texts_);
  }
  return part;
}

absl::string_view ObjectTextParts::Before() const {
  const size_t begin = next_ == 1 ? 0 : parts_[2 * next_ - 3];
  return absl::string_view(root_.text()).substr(begin, parts_[2 * next_ - 2] - begin);
}

absl::string_view ObjectTextParts::AfterAll() const {
  return absl::string_view(root_.text()).substr(parts_.empty() ? 0 : parts_.back());
}

void ObjectTextParts::Append(size_t index, size_t& next_index, absl::string_view text,
                             std::string& differences) {
  AppendNumber(index - next_index, differences);
  next_index = index + 1;
  AppendNumber(text.size() << 1, differences);
  differences.append(text.data(), text.size());
}

void ObjectTextParts::AppendShared(size_t index, size_t& next_index, size_t number,
                                   std::string& differences) {
  AppendNumber(index - next_index, differences);
  next_index = index + 1;
  AppendNumber(number << 1 | 1, differences);
}

}  // namespace schedsim::api
