#include "core/codec/text/plain_yaml.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/match.h"
#include "core/base/printable.h"
#include "core/codec/text/byte_scan.h"
#include "core/codec/text/yaml_scalar.h"

namespace schedsim::codec {
namespace {

// libyaml takes no longer key on one line.
constexpr size_t kKeyBytesMax = 1000;

// Whether libyaml takes each character for a printable one that breaks no line, or it is a tab where that
// is allowed.
// Source: libyaml 0.2, reader.c, yaml_parser_update_buffer.
bool IsPrintable(absl::string_view text, bool allows_tab = false) {
  if (FindByte<NotPrintableAscii>(text, 0) == text.size()) return true;
  while (!text.empty()) {
    const size_t bytes = Utf8CharacterBytes(text);
    const absl::string_view character = text.substr(0, bytes);
    const unsigned char first = static_cast<unsigned char>(text[0]);
    const bool is_tab = first == '\t' && allows_tab;
    if (bytes == 0 || (bytes == 1 && !is_tab && (first < 0x20 || first == 0x7f))) return false;
    if (bytes == 2 && first == 0xc2 && static_cast<unsigned char>(text[1]) <= 0xa0) return false;
    if (character == "\xe2\x80\xa8" || character == "\xe2\x80\xa9" || character == "\xef\xbb\xbf" ||
        absl::StartsWith(character, "\xef\xbf\xbe") || absl::StartsWith(character, "\xef\xbf\xbf")) {
      return false;
    }
    text.remove_prefix(bytes);
  }
  return true;
}

// Whether a plain scalar in block style can't begin with the byte `c`, whatever follows it.
bool IsIndicator(char c) { return absl::StrContains(",[]{}#&*!|>'\"%@`?:", c); }

bool IsFlowIndicator(char c) { return c == ',' || c == '[' || c == ']' || c == '{' || c == '}'; }

// Whether a `-` at `at` begins an entry of a list.
bool IsEntry(absl::string_view line, size_t at) {
  return line[at] == '-' && (at + 1 == line.size() || line[at + 1] == ' ');
}

// Whether the byte at `at` ends what stands before a colon or a dash.
bool IsBlankOrEnd(absl::string_view line, size_t at) { return at >= line.size() || line[at] == ' '; }

// Where a comment begins behind `at`, or the end of the line.
size_t FindComment(absl::string_view line, size_t at) {
  for (at = line.find('#', at + 1); at != absl::string_view::npos; at = line.find('#', at + 1)) {
    if (line[at - 1] == ' ') return at;
  }
  return line.size();
}

absl::string_view WithoutBlanksBehind(absl::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Where the quote is that ends a text, or npos: not on this line.
size_t FindClosingQuote(absl::string_view text, char quote) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      if (quote == '"' || at + 1 >= text.size() || text[at + 1] != quote) return at;
      ++at;
    }
  }
  return absl::string_view::npos;
}

// Whether a colon at or behind `at` makes a key of what stands before it.
bool HasKey(absl::string_view line, size_t at) {
  for (at = line.find(':', at); at != absl::string_view::npos; at = line.find(':', at + 1)) {
    if (IsBlankOrEnd(line, at + 1)) return true;
  }
  return false;
}

}  // namespace

// Goes on to the next line that is neither blank nor a comment; false at the end of the text, and for a line
// with unusual characters.
bool PlainYaml::NextLine() {
  while (next_offset_ < text_.size()) {
    line_offset_ = next_offset_;
    const size_t end = std::min(text_.find('\n', line_offset_), text_.size());
    line_ = text_.substr(line_offset_, end - line_offset_);
    next_offset_ = end + 1;
    ++line_number_;
    if (absl::EndsWith(line_, "\r")) line_.remove_suffix(1);
    is_unusual_ = !IsPrintable(line_);
    if (is_unusual_) return false;
    indent_ = SkipBlanks(line_, 0);
    if (indent_ < line_.size() && line_[indent_] != '#') return true;
  }
  line_ = {};
  next_offset_ = text_.size();
  return false;
}

bool PlainYaml::IsMarker(absl::string_view marker) const {
  return line_[0] == marker[0] && absl::StartsWith(line_, marker) && IsBlankOrEnd(line_, marker.size());
}

bool PlainYaml::ReadDocument(TextPlace& place) {
  next_offset_ = place.offset;
  line_number_ = place.line - 1;
  blocks_.clear();
  open_ = Open::kNothing;
  is_unusual_ = false;
  known_.Begin();
  builder_.Begin();
  if (!ReadLines()) return false;
  const bool at_end = line_.empty();
  place.offset = place.line_start = at_end ? text_.size() : line_offset_;
  place.line = line_number_;
  return true;
}

// Reads up to the marker of the next document, or up to the end.
bool PlainYaml::ReadLines() {
  bool has_marker = false;
  bool has_content = false;
  while (NextLine()) {
    if (IsMarker("...") || line_[0] == '%') return false;
    if (IsMarker("---")) {
      if (has_content) break;
      if (has_marker || !EndsLine(3)) return false;
      has_marker = true;
      continue;
    }
    has_content = true;
    if (!OnLine()) return false;
  }
  if (is_unusual_) return false;
  // A document without content is null, and libyaml knows where.
  if (!has_content) return !has_marker;
  return FillOpenValue() && CloseTo(0) && builder_.Finish().ok();
}

// Whether nothing but blanks and a comment follows.
bool PlainYaml::EndsLine(size_t at) const {
  const size_t next = SkipBlanks(line_, at);
  return next >= line_.size() || (line_[next] == '#' && next > at);
}

// Closes the innermost blocks until `count` are left. They reach up to this line.
bool PlainYaml::CloseTo(size_t count) {
  const char* const end = text_.data() + (line_.empty() ? text_.size() : line_offset_);
  while (blocks_.size() > count) {
    blocks_.pop_back();
    known_.Close();
    if (!builder_.Close(end).ok()) return false;
  }
  return true;
}

bool PlainYaml::OpenBlock(Value::Type type, size_t column) {
  if (type == Value::Type::kArray) list_offset_ = line_offset_ + column;
  blocks_.push_back({.indent = column, .is_map = type == Value::Type::kObject});
  known_.Open(type, At(column).column);
  return builder_.Open(type, At(column), text_.data() + line_offset_ + column).ok();
}

// A `key:` or `-` without anything is null.
bool PlainYaml::FillOpenValue() {
  if (open_ == Open::kNothing) return true;
  open_ = Open::kNothing;
  Value null;
  null.position = open_position_;
  return builder_.Scalar(null).ok();
}

bool PlainYaml::OnLine() {
  const bool is_entry = IsEntry(line_, indent_);
  bool is_new = false;
  return ArriveAt(indent_, is_entry, is_new) && OnContent(indent_, is_entry, is_new);
}

// Closes the blocks that end before this line. Sets `is_new` if the line begins a block of its own.
bool PlainYaml::ArriveAt(size_t column, bool is_entry, bool& is_new) {
  is_new = blocks_.empty();
  if (is_new) return true;
  if (open_ != Open::kNothing) {
    const size_t around = blocks_.back().indent;
    // A list may stand at the indentation of its key.
    is_new = column > around || (column == around && open_ == Open::kKey && is_entry);
    if (is_new) {
      open_ = Open::kNothing;
      return true;
    }
    if (!FillOpenValue()) return false;
  }
  size_t left = blocks_.size();
  while (left > 0 && (column < blocks_[left - 1].indent ||
                      (column == blocks_[left - 1].indent && !blocks_[left - 1].is_map && !is_entry))) {
    --left;
  }
  if (left == 0 || !CloseTo(left)) return false;
  return blocks_.back().indent == column && blocks_.back().is_map != is_entry;
}

// Reads the line from `column` on: entries within entries, then a key or a scalar.
bool PlainYaml::OnContent(size_t column, bool is_entry, bool is_new) {
  while (is_entry) {
    if (is_new && !OpenBlock(Value::Type::kArray, column)) return false;
    known_.OnItem();
    if (EndsLine(column + 1)) {
      open_ = Open::kItem;
      open_position_ = At(column + 1);
      return true;
    }
    column = SkipBlanks(line_, column + 1);
    is_new = true;
    is_entry = IsEntry(line_, column);
  }
  if (!is_new && column == indent_) {
    bool is_known = false;
    if (!RepeatMembers(is_known)) return false;
    if (is_known) return true;
  }
  Token key;
  size_t after = 0;
  if (!ReadKey(column, key, after)) {
    // A scalar on a line of its own may go on on the next one: that is not read here.
    return is_new && column > indent_ && ReadValue(column);
  }
  if (is_new && !OpenBlock(Value::Type::kObject, column)) return false;
  if (!EmitKey(key, column)) return false;
  known_.OnKey(key.text);
  if (!EndsLine(after)) return ReadValue(SkipBlanks(line_, after));
  open_ = Open::kKey;
  open_position_ = At(after);
  return true;
}

// Reads `key:` at `column`; `after` is the place behind the colon. False where there is no key.
bool PlainYaml::ReadKey(size_t column, Token& key, size_t& after) {
  const char first = line_[column];
  if (first == '"' || first == '\'') {
    size_t end = 0;
    if (!ReadQuoted(column, key, end) || end >= line_.size() || line_[end] != ':') return false;
    after = end + 1;
    return IsBlankOrEnd(line_, after) && after - column < kKeyBytesMax;
  }
  if (IsIndicator(first)) return false;
  for (size_t at = line_.find(':', column); at != absl::string_view::npos; at = line_.find(':', at + 1)) {
    if (!IsBlankOrEnd(line_, at + 1)) continue;
    key = {.text = line_.substr(column, at - column), .is_plain = true, .is_borrowed = true};
    after = at + 1;
    return key.text.back() != ' ' && key.text.size() < kKeyBytesMax && FindComment(line_, column) > at;
  }
  return false;
}

bool PlainYaml::EmitKey(const Token& key, size_t column) {
  if (key.is_plain) {
    if (key.text == "<<") return false;
    if (ResolveYamlScalar(key.text, scratch_).type != YamlScalar::Type::kString) return false;
  }
  return builder_.Key(key.text, At(column), key.is_borrowed).ok();
}

// Repeats the members of the open map that are known from this line on, and goes to the line before what
// follows them. Returns false where the builder reports an error.
bool PlainYaml::RepeatMembers(bool& is_known) {
  const size_t at = line_offset_ + indent_;
  const absl::StatusOr<size_t> repeated = known_.Repeat(at, At(indent_));
  if (!repeated.ok()) return false;
  is_known = *repeated > at;
  if (!is_known) return true;
  const auto lines = text_.substr(at, *repeated - at);
  line_number_ += static_cast<int32_t>(std::count(lines.begin(), lines.end(), '\n')) - 1;
  next_offset_ = *repeated;
  return true;
}

bool PlainYaml::ReadValue(size_t at) {
  switch (line_[at]) {
    case '"':
    case '\'': {
      Token token;
      size_t after = 0;
      if (ReadQuoted(at, token, after)) return EndsLine(after) && EmitString(token, at);
      return ReadFoldedQuoted(at);
    }
    case '|':
      return ReadLiteral(at);
    case '[':
    case '{':
      return ReadFlow(at);
    default:
      return !IsIndicator(line_[at]) && !IsEntry(line_, at) && ReadPlain(at);
  }
}

bool PlainYaml::ReadPlain(size_t at) {
  const size_t end = FindComment(line_, at);
  const absl::string_view text = WithoutBlanksBehind(line_.substr(at, end - at));
  if (HasKey(text, 0)) return false;
  // A comment ends it.
  return end == line_.size() && ContinuesBelow() ? ReadFoldedPlain(text, at) : EmitPlain(text, at);
}

// Whether the next line may belong to the plain scalar that ends here: it stands further right than what is
// open.
bool PlainYaml::ContinuesBelow() const {
  const size_t indent = blocks_.back().indent;
  if (next_offset_ + indent >= text_.size() || text_[next_offset_ + indent] != ' ') return false;
  const size_t at = SkipBlanks(text_, next_offset_);
  return at > next_offset_ + indent && at < text_.size() && text_[at] != '\n' && text_[at] != '\r' &&
         text_[at] != '#';
}

// Goes on to the next line, which is to be a part of a scalar.
bool PlainYaml::NextFoldedLine() {
  if (next_offset_ >= text_.size()) return false;
  line_offset_ = next_offset_;
  const size_t end = std::min(text_.find('\n', line_offset_), text_.size());
  line_ = text_.substr(line_offset_, end - line_offset_);
  next_offset_ = end + 1;
  ++line_number_;
  if (absl::EndsWith(line_, "\r")) line_.remove_suffix(1);
  indent_ = SkipBlanks(line_, 0);
  return IsPrintable(line_) && indent_ < line_.size() && indent_ > blocks_.back().indent;
}

// Reads a plain scalar that begins with `first` and goes on below: line breaks are spaces.
bool PlainYaml::ReadFoldedPlain(absl::string_view first, size_t at) {
  const Position position = At(at);
  folded_.assign(first.data(), first.size());
  while (ContinuesBelow()) {
    if (!NextFoldedLine()) return false;
    const bool is_text = !IsIndicator(line_[indent_]) && !IsEntry(line_, indent_) &&
                         FindComment(line_, indent_) == line_.size() && !HasKey(line_, indent_);
    if (!is_text) return false;
    const absl::string_view part = WithoutBlanksBehind(line_.substr(indent_));
    folded_.push_back(' ');
    folded_.append(part.data(), part.size());
  }
  if (ResolveYamlScalar(folded_, scratch_).type != YamlScalar::Type::kString) return false;
  return EmitText(folded_, position);
}

// Reads a scalar in quotes that ends below its first line: line breaks are spaces, but for those behind a
// backslash in double quotes.
bool PlainYaml::ReadFoldedQuoted(size_t at) {
  const Position position = At(at);
  const char quote = line_[at];
  folded_.clear();
  absl::string_view rest = line_.substr(at + 1);
  for (;;) {
    const size_t end = FindClosingQuote(rest, quote);
    if (end != absl::string_view::npos) {
      folded_.append(rest.data(), end);
      if (!EndsLine(line_.size() - rest.size() + end + 1)) return false;
      break;
    }
    absl::string_view part = WithoutBlanksBehind(rest);
    const size_t text_end = part.find_last_not_of('\\') + 1;
    const bool is_joined = quote == '"' && (part.size() - text_end) % 2 == 1;
    // The backslash is that of a blank.
    if (is_joined && part.size() < rest.size()) return false;
    if (is_joined) part.remove_suffix(1);
    folded_.append(part.data(), part.size());
    if (!is_joined) folded_.push_back(' ');
    if (!NextFoldedLine()) return false;
    rest = line_.substr(indent_);
  }
  if (quote == '"') return Unescape(folded_) && EmitText(scratch_, position);
  scratch_.clear();
  for (size_t i = 0; i < folded_.size(); ++i) {
    scratch_.push_back(folded_[i]);
    if (folded_[i] == '\'') ++i;
  }
  return EmitText(scratch_, position);
}

bool PlainYaml::EmitPlain(absl::string_view text, size_t column) {
  const YamlScalar scalar = ResolveYamlScalar(text, scratch_);
  Value value;
  value.position = At(column);
  value.text = scalar.text;
  switch (scalar.type) {
    case YamlScalar::Type::kNotFinite:
      return false;
    case YamlScalar::Type::kNull:
      value.text = {};
      break;
    case YamlScalar::Type::kBool:
      value.type = Value::Type::kBool;
      value.boolean = scalar.boolean;
      value.text = {};
      break;
    case YamlScalar::Type::kInteger:
    case YamlScalar::Type::kFloat:
      value.type = Value::Type::kNumber;
      break;
    case YamlScalar::Type::kString:
      value.type = Value::Type::kString;
      break;
  }
  return builder_.Scalar(value, /*is_borrowed=*/scalar.text.data() == text.data()).ok();
}

bool PlainYaml::EmitString(const Token& token, size_t column) {
  return EmitText(token.text, At(column), token.is_borrowed);
}

bool PlainYaml::EmitText(absl::string_view text, Position position, bool is_borrowed) {
  Value value;
  value.type = Value::Type::kString;
  value.position = position;
  value.text = text;
  return builder_.Scalar(value, is_borrowed).ok();
}

// Reads a scalar in quotes that ends on the line; `after` is the place behind it.
bool PlainYaml::ReadQuoted(size_t at, Token& token, size_t& after) {
  if (line_[at] == '"') return ReadDoubleQuoted(at, token, after);
  const size_t start = at + 1;
  bool has_escape = false;
  for (size_t end = line_.find('\'', start); end != absl::string_view::npos;
       end = line_.find('\'', end + 2)) {
    if (end + 1 < line_.size() && line_[end + 1] == '\'') {
      has_escape = true;
      continue;
    }
    token = {.text = line_.substr(start, end - start), .is_borrowed = !has_escape};
    after = end + 1;
    if (!has_escape) return true;
    scratch_.clear();
    for (size_t i = start; i < end; ++i) {
      scratch_.push_back(line_[i]);
      if (line_[i] == '\'') ++i;
    }
    token.text = scratch_;
    return true;
  }
  return false;
}

bool PlainYaml::ReadDoubleQuoted(size_t at, Token& token, size_t& after) {
  const size_t start = at + 1;
  bool has_escape = false;
  size_t end = start;
  for (; end < line_.size() && line_[end] != '"'; ++end) {
    if (line_[end] == '\\') {
      has_escape = true;
      ++end;
    }
  }
  if (end >= line_.size()) return false;
  token = {.text = line_.substr(start, end - start), .is_borrowed = !has_escape};
  after = end + 1;
  if (!has_escape) return true;
  if (!Unescape(token.text)) return false;
  token.text = scratch_;
  return true;
}

// Puts the text into `scratch_`; false for an escape that is rare.
bool PlainYaml::Unescape(absl::string_view raw) {
  scratch_.clear();
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      scratch_.push_back(raw[i]);
      continue;
    }
    switch (raw[++i]) {
      case '"':
      case '\\':
      case '/':
        scratch_.push_back(raw[i]);
        break;
      case 'n':
        scratch_.push_back('\n');
        break;
      case 't':
        scratch_.push_back('\t');
        break;
      case 'r':
        scratch_.push_back('\r');
        break;
      default:
        return false;
    }
  }
  return true;
}

// Reads the block behind `|`, `|-` or `|+`; its indentation is that of its first line.
bool PlainYaml::ReadLiteral(size_t at) {
  const size_t header = at;
  char chomping = ' ';
  if (++at < line_.size() && (line_[at] == '-' || line_[at] == '+')) chomping = line_[at++];
  if (!EndsLine(at)) return false;
  const Position position = At(header);
  const size_t around = blocks_.back().indent;
  std::string content;
  size_t content_indent = 0;    // 0: not known yet.
  size_t content_bytes = 0;     // With the break of the last line that is not empty.
  size_t empty_indent_max = 0;  // Of the empty lines before the first one.
  while (next_offset_ < text_.size()) {
    const size_t end = text_.find('\n', next_offset_);
    absl::string_view line = text_.substr(next_offset_, end - next_offset_);
    if (absl::EndsWith(line, "\r")) line.remove_suffix(1);
    const size_t indent = SkipBlanks(line, 0);
    const bool is_blank = indent == line.size();
    if (!is_blank && indent < std::max(content_indent, around + 1)) break;
    // Without a break the text ends otherwise.
    if (end == absl::string_view::npos) return false;
    if (!is_blank && content_indent == 0) {
      content_indent = indent;
      if (empty_indent_max > indent || line[indent] == '\t') return false;
    }
    next_offset_ = end + 1;
    ++line_number_;
    if (is_blank && content_indent == 0) empty_indent_max = std::max(empty_indent_max, indent);
    const bool is_empty = is_blank && (content_indent == 0 || indent <= content_indent);
    if (!is_empty) {
      const absl::string_view text = line.substr(content_indent);
      if (!IsPrintable(text, /*allows_tab=*/true)) return false;
      content.append(text.data(), text.size());
    }
    content.push_back('\n');
    if (!is_empty) content_bytes = content.size();
  }
  if (content_bytes == 0) return false;
  if (chomping != '+') content.resize(content_bytes - (chomping == '-' ? 1 : 0));
  return EmitText(content, position);
}

// Reads a map or a list in brackets that ends on the line.
bool PlainYaml::ReadFlow(size_t at) {
  FlowState state = FlowState::kAfterKey;
  flow_maps_.clear();
  do {
    at = SkipBlanks(line_, at);
    if (at >= line_.size()) return false;
    const char c = line_[at];
    if (c == '[' || c == '{') {
      const bool is_key = !flow_maps_.empty() && flow_maps_.back() && state != FlowState::kAfterKey;
      if (state == FlowState::kAfterValue || is_key) return false;
      if (c == '[') list_offset_ = line_offset_ + at;
      if (!builder_.Open(c == '[' ? Value::Type::kArray : Value::Type::kObject, At(at)).ok()) return false;
      flow_maps_.push_back(c == '{');
      state = FlowState::kFirst;
      ++at;
    } else if (c == ']' || c == '}') {
      const bool may_end = state == FlowState::kFirst || state == FlowState::kAfterValue;
      if (!may_end || flow_maps_.back() != (c == '}') || !builder_.Close().ok()) return false;
      flow_maps_.pop_back();
      state = FlowState::kAfterValue;
      ++at;
    } else if (c == ',') {
      if (state != FlowState::kAfterValue) return false;
      state = FlowState::kAfterComma;
      ++at;
    } else if (state == FlowState::kAfterValue || !ReadFlowScalar(at, state)) {
      return false;
    }
  } while (!flow_maps_.empty());
  return EndsLine(at);
}

// Reads a key with its colon, or a scalar, and moves `at` behind it.
bool PlainYaml::ReadFlowScalar(size_t& at, FlowState& state) {
  const size_t start = at;
  Token token;
  if (line_[at] == '"' || line_[at] == '\'') {
    if (!ReadQuoted(start, token, at)) return false;
  } else {
    if (IsIndicator(line_[at]) || line_[at] == '-') return false;
    while (at < line_.size() && !IsFlowIndicator(line_[at]) && line_[at] != ':') {
      if (line_[at] == '?' || line_[at] == '#') return false;
      ++at;
    }
    token = {.text = line_.substr(start, at - start), .is_plain = true, .is_borrowed = true};
    const bool is_before_colon = at < line_.size() && line_[at] == ':';
    if (is_before_colon && token.text.back() == ' ') return false;
    while (token.text.back() == ' ') token.text.remove_suffix(1);
  }
  if (flow_maps_.back() && state != FlowState::kAfterKey) {
    if (at + 1 >= line_.size() || line_[at] != ':' || line_[at + 1] != ' ') return false;
    ++at;
    state = FlowState::kAfterKey;
    return EmitKey(token, start);
  }
  // A colon would make it a map of one key, or a part of the scalar.
  const size_t next = SkipBlanks(line_, at);
  if (next < line_.size() && line_[next] == ':') return false;
  state = FlowState::kAfterValue;
  return token.is_plain ? EmitPlain(token.text, start) : EmitString(token, start);
}

}  // namespace schedsim::codec
