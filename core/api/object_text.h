// The texts of stored objects.
#ifndef SCHEDSIM_CORE_API_OBJECT_TEXT_H_
#define SCHEDSIM_CORE_API_OBJECT_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace schedsim::api {

// Texts that parts of many objects have, by number. A text stays where it is.
class SharedTexts {
 public:
  // Returns the number of the new text.
  size_t Add(std::string text) {
    texts_.push_back(std::move(text));
    return texts_.size() - 1;
  }
  absl::string_view At(size_t number) const { return texts_[number]; }

 private:
  std::deque<std::string> texts_;
};

// The text of one object, kept whole, or as the text of another object and what differs: most objects of a
// cluster are like others but for a few values. It never changes.
class ObjectText {
 public:
  // The parts of a whole text that may differ in others: where each begins and ends, in order.
  using Parts = std::vector<uint32_t>;

  explicit ObjectText(std::string whole);
  // A text like `base` but for the differences; `size_bytes` is that of the whole.
  ObjectText(std::shared_ptr<const ObjectText> base, std::string differences, size_t size_bytes);

  // The whole text.
  std::string ToString() const;
  // How many bytes ToString returns.
  size_t size_bytes() const { return size_bytes_; }

  // What is kept of this text itself: the differences only where it has a base.
  size_t own_bytes() const { return text_.size() + parts().size() * sizeof(uint32_t); }
  // nullptr: the text is whole.
  const ObjectText* base() const { return base_.get(); }

  // The whole text at the end of the chain of bases: this one, if it is whole.
  const ObjectText& root() const;
  // Of a whole text.
  const std::string& text() const { return text_; }
  // Of a whole text, empty before they are set.
  const Parts& parts() const;
  // Sets the parts of a whole text that has none. Before this it is no base of any other. Those whose base it
  // is may have parts that are among the shared texts.
  void set_parts(Parts parts, std::shared_ptr<const SharedTexts> shared_texts = nullptr) {
    root_parts_ = std::make_unique<RootParts>(RootParts{std::move(parts), std::move(shared_texts)});
  }

 private:
  friend class ObjectTextParts;

  struct RootParts {
    Parts parts;
    std::shared_ptr<const SharedTexts> shared_texts;  // nullptr: there are none.
  };

  std::shared_ptr<const ObjectText> base_;       // nullptr: the text is whole.
  std::string text_;                             // Whole; or the differences, see ObjectTextParts::Append.
  std::unique_ptr<const RootParts> root_parts_;  // nullptr: they are not set.
  size_t size_bytes_ = 0;
};

// Reads the parts of a text one after the other.
class ObjectTextParts {
 public:
  // `text` must outlive the object, and its root have parts.
  explicit ObjectTextParts(const ObjectText& text);

  size_t count() const { return parts_.size() / 2; }
  // Goes on to the next part, the first one at first, and returns it. There must be one.
  absl::string_view Next();
  // Where the part that Next returned stands in the whole text at the end of the chain of bases.
  size_t begin() const { return parts_[2 * next_ - 2]; }
  size_t end() const { return parts_[2 * next_ - 1]; }
  // What stands between the part that Next returned and the one before it.
  absl::string_view Before() const;
  // What stands behind the last part of all.
  absl::string_view AfterAll() const;

  // Appends to `differences` that the part `index` is `text`. `next_index` is one above the index of the call
  // before, 0 at first.
  static void Append(size_t index, size_t& next_index, absl::string_view text, std::string& differences);
  // The same with one of the shared texts, by its number.
  static void AppendShared(size_t index, size_t& next_index, size_t number, std::string& differences);

 private:
  // The next difference of one text in the chain.
  struct Cursor {
    absl::string_view rest;
    size_t index = 0;  // SIZE_MAX: there is none.
    size_t next_index = 0;
    absl::string_view text;

    // `shared_texts`: nullptr where the rest has none of them.
    void Advance(const SharedTexts* shared_texts);
  };

  const ObjectText& root_;
  const ObjectText::Parts& parts_;  // Of the root.
  const SharedTexts* shared_texts_ = nullptr;
  std::vector<Cursor> cursors_;  // From the text to its last base but the root.
  size_t next_ = 0;
};

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_OBJECT_TEXT_H_
