// YAML as programs write it, read line by line.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_PLAIN_YAML_H_
#define SCHEDSIM_CORE_CODEC_TEXT_PLAIN_YAML_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/codec/text/handover.h"
#include "core/codec/text/known_parts.h"
#include "core/codec/text/tree_builder.h"

namespace schedsim::codec {

// PlainYaml reads documents in block style whose scalars stand on one line or are folded, literal blocks
// (`|`) and flow collections on one line: what kubectl, Helm and people write mostly. It gives up on
// everything that it does not read for sure as libyaml does, errors included: whoever called it reads the
// document anew by libyaml.
class PlainYaml {
 public:
  // All must outlive the object. `list_offset` is set to where the list begins that was opened last.
  PlainYaml(absl::string_view text, TreeBuilder& builder, size_t& list_offset)
      : text_(text), builder_(builder), list_offset_(list_offset), known_(text, builder) {}

  // Reads the document at `place` and moves `place` behind it. Returns false where it gives up, or the
  // builder reports an error: then `place` is as it was.
  bool ReadDocument(TextPlace& place);

 private:
  // An open map or list in block style.
  struct Block {
    size_t indent = 0;
    bool is_map = false;
  };
  // A scalar in quotes, or a key.
  struct Token {
    absl::string_view text;
    bool is_plain = false;     // Without quotes.
    bool is_borrowed = false;  // Part of the input.
  };
  // What `key:` and `-` leave open for the next line.
  enum class Open : uint8_t { kNothing, kKey, kItem };
  enum class FlowState : uint8_t { kFirst, kAfterComma, kAfterKey, kAfterValue };

  bool NextLine();
  bool ReadLines();
  bool IsMarker(absl::string_view marker) const;
  bool OnLine();
  bool ArriveAt(size_t column, bool is_entry, bool& is_new);
  bool OnContent(size_t column, bool is_entry, bool is_new);
  bool CloseTo(size_t count);
  bool OpenBlock(Value::Type type, size_t column);
  bool FillOpenValue();
  bool ReadKey(size_t column, Token& key, size_t& after);
  bool EmitKey(const Token& key, size_t column);
  bool RepeatMembers(bool& is_known);
  bool ReadValue(size_t at);
  bool ReadPlain(size_t at);
  bool ReadFoldedPlain(absl::string_view first, size_t at);
  bool ReadFoldedQuoted(size_t at);
  bool ContinuesBelow() const;
  bool NextFoldedLine();
  bool ReadQuoted(size_t at, Token& token, size_t& after);
  bool ReadDoubleQuoted(size_t at, Token& token, size_t& after);
  bool Unescape(absl::string_view raw);
  bool ReadLiteral(size_t at);
  bool ReadFlow(size_t at);
  bool ReadFlowScalar(size_t& at, FlowState& state);
  bool EndsLine(size_t at) const;
  bool EmitPlain(absl::string_view text, size_t column);
  bool EmitString(const Token& token, size_t column);
  bool EmitText(absl::string_view text, Position position, bool is_borrowed = false);
  Position At(size_t column) const { return {line_number_, static_cast<int32_t>(column + 1)}; }

  absl::string_view text_;
  TreeBuilder& builder_;
  size_t& list_offset_;
  size_t next_offset_ = 0;  // Of the next line.
  size_t line_offset_ = 0;
  int32_t line_number_ = 0;
  absl::string_view line_;  // Without its end.
  size_t indent_ = 0;
  bool is_unusual_ = false;  // The line has characters that are left to libyaml.
  std::vector<Block> blocks_;
  KnownParts known_;  // Of the blocks.
  Open open_ = Open::kNothing;
  Position open_position_;
  std::vector<bool> flow_maps_;  // For each open flow collection whether it is a map.
  std::string scratch_;
  std::string folded_;  // A scalar of several lines.
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_PLAIN_YAML_H_
