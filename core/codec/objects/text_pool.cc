#include "core/codec/objects/text_pool.h"

#include <cstddef>
#include <vector>

#include "core/base/text_hash.h"
#include "core/codec/text/byte_scan.h"
#include "core/codec/text/writer.h"

namespace schedsim::codec {
namespace {

constexpr size_t kDepthUsual = 16;

// A text that is shared takes some hundred bytes, each object that has it some bytes less.
constexpr size_t kSharedBytesMin = 8;
constexpr uint32_t kSharedObjectsMin = 4;
constexpr size_t kCandidates = 4096;

// A number that is the same for objects of one shape. Others may have it as well, which is found later.
uint64_t ShapeOf(const Value& object) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15u;
  uint64_t shape = 0;
  std::vector<const Value*> rest;
  rest.reserve(kDepthUsual * kDepthUsual);
  rest.push_back(&object);
  while (!rest.empty()) {
    const Value& value = *rest.back();
    rest.pop_back();
    const uint64_t count = value.items.size() + value.members.size();
    shape = (shape ^ (static_cast<uint64_t>(value.type) + 8 * count + 1)) * kFactor;
    shape ^= shape >> 29;
    for (const Value& item : value.items) rest.push_back(&item);
    for (const Member& member : value.members) rest.push_back(&member.value);
  }
  return shape;
}

// The keys and scalars of compact JSON, strings without their quotes; null is no part.
api::ObjectText::Parts PartsOf(absl::string_view json) {
  api::ObjectText::Parts parts;
  const auto add = [&parts](size_t begin, size_t end) {
    parts.push_back(static_cast<uint32_t>(begin));
    parts.push_back(static_cast<uint32_t>(end));
  };
  for (size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (c == '"') {
      size_t end = FindByte<StringStop>(json, at + 1);
      while (json[end] != '"') end = FindByte<StringStop>(json, end + (json[end] == '\\' ? 2 : 1));
      add(at + 1, end);
      at = end + 1;
    } else if (c == 't' || c == 'f' || c == '-' || (c >= '0' && c <= '9')) {
      const size_t end = json.find_first_of(",]}", at);
      add(at, end);
      at = end;
    } else {
      ++at;
    }
  }
  return parts;
}

// Compares an object with a text, part by part, in the order of the text.
class Comparison {
 public:
  Comparison(const api::ObjectText& base, CommonTexts& common_texts)
      : common_texts_(common_texts),
        text_(base.root().text()),
        may_have_escapes_(&base != &base.root() || text_.find('\\') != std::string::npos),
        parts_(base),
        size_bytes_(base.size_bytes()) {}

  // Returns whether the object has the text's shape.
  bool Run(const Value& object) {
    std::vector<Frame> frames;
    frames.reserve(kDepthUsual);
    Add(object, frames);
    while (!frames.empty() && is_same_shape_) {
      Frame& frame = frames.back();
      const bool is_list = frame.value->is_array();
      const size_t count = is_list ? frame.value->items.size() : frame.value->members.size();
      if (frame.next == count) {
        Expect(is_list ? ']' : '}');
        frames.pop_back();
        continue;
      }
      if (frame.next > 0) Expect(',');
      const size_t index = frame.next++;
      if (is_list) {
        Add(frame.value->items[index], frames);
        continue;
      }
      const Member& member = frame.value->members[index];
      Expect('"');
      AddText(member.key);
      Expect('"');
      Expect(':');
      Add(member.value, frames);
    }
    return is_same_shape_ && part_count_ == parts_.count() && at_ == text_.size();
  }

  std::string TakeDifferences() { return std::move(differences_); }
  const std::string& differences() const { return differences_; }
  size_t size_bytes() const { return size_bytes_; }

 private:
  // An open map or list.
  struct Frame {
    const Value* value = nullptr;
    size_t next = 0;
  };

  void Add(const Value& value, std::vector<Frame>& frames) {
    switch (value.type) {
      case Value::Type::kNull:
        for (const char c : absl::string_view("null")) Expect(c);
        return;
      case Value::Type::kBool:
        AddPart(value.boolean ? "true" : "false");
        return;
      case Value::Type::kNumber:
        AddPart(value.text);
        return;
      case Value::Type::kString:
        Expect('"');
        AddText(value.text);
        Expect('"');
        return;
      case Value::Type::kArray:
        Expect('[');
        frames.push_back({.value = &value});
        return;
      case Value::Type::kObject:
        Expect('{');
        frames.push_back({.value = &value});
        return;
    }
  }

  // What stands between the parts.
  void Expect(char c) {
    if (text_[at_] == c) {
      ++at_;
    } else {
      is_same_shape_ = false;
    }
  }

  void AddText(absl::string_view text) {
    const absl::string_view known = NextPart();
    // A known text has escapes where this one would need some.
    if (known == text && (!may_have_escapes_ || text.find('\\') == absl::string_view::npos)) return;
    if (FindByte<JsonEscape>(text, 0) == text.size()) return Compare(known, text);
    escaped_.clear();
    AppendJsonText(text, escaped_);
    Compare(known, escaped_);
  }

  void AddPart(absl::string_view text) { Compare(NextPart(), text); }

  // Goes on to the next part of the known text, which must begin here.
  absl::string_view NextPart() {
    if (part_count_ == parts_.count()) is_same_shape_ = false;
    if (!is_same_shape_) return {};
    ++part_count_;
    const absl::string_view known = parts_.Next();
    is_same_shape_ = parts_.begin() == at_;
    at_ = parts_.end();
    return known;
  }

  void Compare(absl::string_view known, absl::string_view text) {
    if (!is_same_shape_ || known == text) return;
    if (const std::optional<size_t> number = common_texts_.Find(text)) {
      api::ObjectTextParts::AppendShared(part_count_ - 1, next_index_, *number, differences_);
    } else {
      api::ObjectTextParts::Append(part_count_ - 1, next_index_, text, differences_);
    }
    size_bytes_ += text.size() - known.size();
  }

  CommonTexts& common_texts_;
  const std::string& text_;      // The whole text at the end of the chain of bases.
  const bool may_have_escapes_;  // The known parts.
  size_t at_ = 0;                // In it.
  api::ObjectTextParts parts_;
  std::string escaped_;
  std::string differences_;
  size_t part_count_ = 0;  // That were compared.
  size_t next_index_ = 0;
  size_t size_bytes_;
  bool is_same_shape_ = true;
};

}  // namespace

std::optional<size_t> CommonTexts::Find(absl::string_view text) {
  if (text.size() < kSharedBytesMin) return std::nullopt;
  if (const size_t* known = numbers_.Find(text)) return *known;
  candidates_.resize(kCandidates);
  const uint64_t hash = TextHash()(text);
  Candidate& candidate = candidates_[hash % kCandidates];
  const uint32_t rest_of_hash = static_cast<uint32_t>(hash >> 32);
  if (candidate.hash != rest_of_hash) candidate = {.hash = rest_of_hash};
  // What an object has twice is no sign that others have it.
  if (candidate.last_object == object_) return std::nullopt;
  candidate.last_object = object_;
  if (++candidate.object_count < kSharedObjectsMin) return std::nullopt;
  return numbers_[std::string(text)] = shared_texts_->Add(std::string(text));
}

std::shared_ptr<const api::ObjectText> TextPool::Make(const Value& object, absl::string_view group) {
  const uint64_t shape = ShapeOf(object);
  std::weak_ptr<api::ObjectText>& known_root = roots_[shape];
  const std::shared_ptr<api::ObjectText> root = known_root.lock();
  if (root == nullptr) {
    auto text = std::make_shared<api::ObjectText>(ToJson(object));
    known_root = text;
    return text;
  }
  if (root->parts().empty()) root->set_parts(PartsOf(root->text()), common_texts_.shared_texts());
  std::shared_ptr<const api::ObjectText> base = root;
  std::weak_ptr<const api::ObjectText>* first = nullptr;
  if (!group.empty()) {
    first = &groups_[{shape, std::string(group)}];
    if (const auto known = first->lock()) base = known;
  }
  common_texts_.BeginObject();
  Comparison comparison(*base, common_texts_);
  // What has little in common with the others costs less by itself.
  const bool is_like = comparison.Run(object) && comparison.differences().size() * 2 < base->size_bytes();
  if (!is_like) return std::make_shared<api::ObjectText>(ToJson(object));
  const size_t size_bytes = comparison.size_bytes();
  auto text = std::make_shared<api::ObjectText>(base, comparison.TakeDifferences(), size_bytes);
  if (first != nullptr && base == root) *first = text;
  return text;
}

}  // namespace schedsim::codec
