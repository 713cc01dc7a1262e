// JSON in one pass, for text without surprises.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_PLAIN_JSON_H_
#define SCHEDSIM_CORE_CODEC_TEXT_PLAIN_JSON_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/codec/text/handover.h"
#include "core/codec/text/known_parts.h"
#include "core/codec/text/tree_builder.h"

namespace schedsim::codec {

// Whether Go cannot read the JSON number: it would be infinite.
bool IsBeyondFloat64(absl::string_view number);

// PlainJson reads well-formed JSON. It gives up on errors and on rare escapes: whoever called it reads the
// value anew by simdjson, which says what is wrong.
class PlainJson {
 public:
  // Both must outlive the object; `text` as well as long as documents are looked at.
  PlainJson(absl::string_view text, TreeBuilder& builder)
      : text_(text), builder_(builder), known_(text, builder) {}

  // Reads the value that begins at `place`, as a document, and moves `place` behind it. Returns false where
  // it gives up, or the builder reports an error: then `place` is as it was.
  bool ReadDocument(TextPlace& place);

  // The kind and apiVersion of the root that is being read, as far as they stand behind the list that was
  // opened last.
  RootHeader FindHeader() const;

 private:
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipSpace();
  void SkipTo(size_t end);
  bool ReadParts();
  bool ReadKey();
  bool ReadValue();
  bool ReadString(absl::string_view& text, bool& is_borrowed);
  bool Unescape(size_t start);
  bool ReadNumber(Value& value);
  bool ReadWord(Value& value);
  bool ReadEscape();
  bool ReadHex(uint32_t& code);
  // The string that begins at `start`; "": there is none, or one that only simdjson reads.
  std::string TextAt(size_t start) const;
  Position Here() const { return {line_, static_cast<int32_t>(at_ - line_start_ + 1)}; }

  absl::string_view text_;
  TreeBuilder& builder_;
  size_t at_ = 0;
  size_t line_start_ = 0;
  int32_t line_ = 1;
  std::vector<bool> maps_;  // For each open map or list whether it is a map.
  KnownParts known_;
  std::string scratch_;
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_PLAIN_JSON_H_
