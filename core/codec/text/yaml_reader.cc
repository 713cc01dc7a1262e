#include "core/codec/text/yaml_reader.h"

#include <yaml.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/check.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/handover.h"
#include "core/codec/text/input.h"
#include "core/codec/text/plain_yaml.h"
#include "core/codec/text/tree_builder.h"
#include "core/codec/text/yaml_scalar.h"

namespace schedsim::codec {
namespace {

constexpr absl::string_view kTagPrefix = "tag:yaml.org,2002:";

// PositionCounter turns libyaml's marks, which count characters, into lines and columns of bytes.
class PositionCounter {
 public:
  // The text starts with the line `first_line` of its file.
  PositionCounter(absl::string_view text, int32_t first_line, bool is_ascii)
      : text_(text), is_ascii_(is_ascii), first_line_(first_line), line_(first_line) {}

  Position At(const yaml_mark_t& mark) {
    if (is_ascii_) {
      return {static_cast<int32_t>(mark.line) + first_line_, static_cast<int32_t>(mark.column + 1)};
    }
    Advance(mark.index);
    return {line_, static_cast<int32_t>(offset_ - line_start_ + 1)};
  }

  Position AtOffset(size_t offset) {
    Position position{first_line_, 1};
    for (size_t i = 0; i < std::min(offset, text_.size()); ++i) {
      ++position.column;
      if (text_[i] == '\n') position = {position.line + 1, 1};
    }
    return position;
  }

  // Returns the offset of a mark in bytes.
  size_t Offset(const yaml_mark_t& mark) {
    if (is_ascii_) return std::min<size_t>(mark.index, text_.size());
    Advance(mark.index);
    return offset_;
  }

 private:
  // Goes on to a character. Marks come in order but for those of errors, which may lie a little back.
  void Advance(size_t character_index) {
    if (character_index < character_index_) {
      character_index_ = offset_ = line_start_ = 0;
      line_ = first_line_;
    }
    while (character_index_ < character_index && offset_ < text_.size()) {
      const char c = text_[offset_++];
      if (c == '\n') {
        ++line_;
        line_start_ = offset_;
      }
      while (offset_ < text_.size() && (static_cast<unsigned char>(text_[offset_]) & 0xc0) == 0x80) ++offset_;
      ++character_index_;
    }
  }

  absl::string_view text_;
  bool is_ascii_;
  int32_t first_line_;
  size_t character_index_ = 0;
  size_t offset_ = 0;
  size_t line_start_ = 0;
  int32_t line_;
};

// Returns the text behind `key:` on a line, without quotes and comment.
std::string LineValue(absl::string_view line, size_t key_bytes) {
  absl::string_view value = line.substr(key_bytes);
  const size_t comment = value.find(" #");
  if (comment != absl::string_view::npos) value = value.substr(0, comment);
  value = absl::StripAsciiWhitespace(value);
  if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0]) {
    value = value.substr(1, value.size() - 2);
  }
  return std::string(value);
}

// Finds kind and apiVersion on the lines without indentation, up to the end of the document.
RootHeader FindHeader(absl::string_view text) {
  RootHeader header;
  while (!text.empty() && (header.kind.empty() || header.api_version.empty())) {
    const size_t end = std::min(text.find('\n'), text.size());
    const absl::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line[0] == ' ' || line[0] == '-') {
      if (absl::StartsWith(line, "---")) break;
      continue;
    }
    if (absl::StartsWith(line, "kind: ")) header.kind = LineValue(line, 6);
    if (absl::StartsWith(line, "apiVersion: ")) header.api_version = LineValue(line, 12);
  }
  return header;
}

// LibyamlReader reads documents by libyaml, from a place in the text on.
class LibyamlReader {
 public:
  LibyamlReader(absl::string_view text, const TextPlace& place, bool is_ascii, absl::string_view file,
                TreeBuilder& builder, size_t& list_offset)
      : whole_text_(text),
        place_(place),
        text_(text.substr(place.offset)),
        file_(file),
        positions_(text_, place.line, is_ascii),
        list_offset_(list_offset),
        builder_(builder) {
    CHECK(yaml_parser_initialize(&parser_) == 1);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text_.data()),
                                 text_.size());
  }
  ~LibyamlReader() { yaml_parser_delete(&parser_); }
  LibyamlReader(const LibyamlReader&) = delete;
  LibyamlReader& operator=(const LibyamlReader&) = delete;

  // Reads the next document. Sets `place` to where the one behind it begins: to the end of the text after the
  // last one.
  absl::Status ReadDocument(TextPlace& place) {
    for (;;) {
      yaml_event_t event;
      if (yaml_parser_parse(&parser_, &event) == 0) return ParserError();
      const bool begins = event.type == YAML_DOCUMENT_START_EVENT;
      const bool at_end = event.type == YAML_STREAM_END_EVENT;
      const bool is_next = begins && has_begun_;
      if (is_next || at_end) place = PlaceOf(event.start_mark, at_end);
      if (begins) has_begun_ = true;
      const absl::Status status = OnEvent(event);
      yaml_event_delete(&event);
      if (!status.ok() || is_next || at_end) return status;
    }
  }

 private:
  absl::Status OnEvent(const yaml_event_t& event);
  absl::Status OnScalar(const yaml_event_t& event, Position position);
  absl::Status OnKey(const YamlScalar& scalar, Position position);
  absl::Status OnAlias(absl::string_view name, Position position);
  absl::Status OnOpen(Value::Type type, const yaml_char_t* anchor, const yaml_char_t* tag, Position position);
  absl::StatusOr<YamlScalar> Resolve(const yaml_event_t& event, absl::string_view text, Position position);
  absl::StatusOr<YamlScalar> ResolveTagged(absl::string_view tag, absl::string_view text, Position position);
  absl::Status ParserError();
  absl::Status Error(Position position, absl::string_view what) const;
  TextPlace PlaceOf(const yaml_mark_t& mark, bool at_end);

  absl::string_view whole_text_;
  TextPlace place_;
  absl::string_view text_;  // From the place on.
  absl::string_view file_;
  PositionCounter positions_;
  size_t& list_offset_;
  TreeBuilder& builder_;
  bool has_begun_ = false;
  std::string scratch_;
  yaml_parser_t parser_;
};

absl::string_view View(const yaml_char_t* text) {
  return text == nullptr ? absl::string_view() : absl::string_view(reinterpret_cast<const char*>(text));
}

// A line with `{{` is most likely one of a template, which YAML reads as maps in maps.
absl::Status LibyamlReader::Error(Position position, absl::string_view what) const {
  absl::string_view line = whole_text_;
  for (int32_t i = 1; i < position.line && !line.empty(); ++i)
    line.remove_prefix(std::min(line.find('\n'), line.size() - 1) + 1);
  line = line.substr(0, line.find('\n'));
  return ErrorAt(
      {file_, position},
      absl::StrCat(what, absl::StrContains(line, "{{")
                             ? "; a template must be rendered first, for example by `helm template`"
                             : ""));
}

TextPlace LibyamlReader::PlaceOf(const yaml_mark_t& mark, bool at_end) {
  if (at_end) return {.offset = whole_text_.size(), .line_start = whole_text_.size()};
  const Position position = positions_.At(mark);
  const size_t line_start =
      place_.offset + positions_.Offset(mark) - static_cast<size_t>(position.column - 1);
  return {.offset = line_start, .line_start = line_start, .line = position.line};
}

absl::Status LibyamlReader::OnEvent(const yaml_event_t& event) {
  const Position position = positions_.At(event.start_mark);
  switch (event.type) {
    case YAML_DOCUMENT_START_EVENT:
      builder_.Begin();
      return absl::OkStatus();
    case YAML_DOCUMENT_END_EVENT:
      return builder_.Finish();
    case YAML_SCALAR_EVENT:
      return OnScalar(event, position);
    case YAML_ALIAS_EVENT:
      return OnAlias(View(event.data.alias.anchor), position);
    case YAML_SEQUENCE_START_EVENT:
      list_offset_ = place_.offset + positions_.Offset(event.start_mark);
      return OnOpen(Value::Type::kArray, event.data.sequence_start.anchor, event.data.sequence_start.tag,
                    position);
    case YAML_MAPPING_START_EVENT:
      return OnOpen(Value::Type::kObject, event.data.mapping_start.anchor, event.data.mapping_start.tag,
                    position);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      return builder_.Close();
    default:
      return absl::OkStatus();
  }
}

absl::Status LibyamlReader::OnOpen(Value::Type type, const yaml_char_t* anchor, const yaml_char_t* tag,
                                   Position position) {
  if (builder_.ExpectsKey()) {
    return Error(position, absl::StrCat("a map key is ", Describe(type), ", expected a string"));
  }
  absl::string_view short_tag = View(tag);
  const bool is_standard = absl::ConsumePrefix(&short_tag, kTagPrefix);
  const absl::string_view own_tag = type == Value::Type::kArray ? "seq" : "map";
  if (!short_tag.empty() && short_tag != "!" && !(is_standard && short_tag == own_tag)) {
    return Error(position, absl::StrCat("tag ", is_standard ? "!!" : "", Printable(short_tag, kShownBytesMax),
                                        " on ", Describe(type), ", expected !!", own_tag, " or no tag"));
  }
  if (anchor != nullptr) builder_.Anchor(View(anchor));
  return builder_.Open(type, position);
}

absl::StatusOr<YamlScalar> LibyamlReader::Resolve(const yaml_event_t& event, absl::string_view text,
                                                  Position position) {
  const auto& scalar = event.data.scalar;
  const absl::string_view tag = View(scalar.tag);
  if (tag == "!" || (tag.empty() && scalar.plain_implicit == 0)) return YamlScalar{.text = text};
  if (!tag.empty()) return ResolveTagged(tag, text, position);
  return ResolveYamlScalar(text, scratch_);
}

absl::StatusOr<YamlScalar> LibyamlReader::ResolveTagged(absl::string_view tag, absl::string_view text,
                                                        Position position) {
  absl::string_view name = tag;
  const bool is_standard = absl::ConsumePrefix(&name, kTagPrefix);
  if (is_standard && (name == "str" || name == "timestamp")) return YamlScalar{.text = text};
  using Type = YamlScalar::Type;
  const YamlScalar resolved = ResolveYamlScalar(text, scratch_);
  const bool is_float = resolved.type == Type::kFloat || resolved.type == Type::kNotFinite;
  const bool fits = is_standard && ((name == "null" && resolved.type == Type::kNull) ||
                                    (name == "bool" && resolved.type == Type::kBool) ||
                                    (name == "int" && resolved.type == Type::kInteger) ||
                                    (name == "float" && (is_float || resolved.type == Type::kInteger)));
  if (fits) return resolved;
  return Error(position,
               absl::StrCat("tag ", is_standard ? "!!" : "", Printable(name, kShownBytesMax), " on \"",
                            Printable(text, kShownBytesMax),
                            "\", expected !!str, !!int, !!float, !!bool or !!null with a value of that type, "
                            "or no tag"));
}

absl::Status LibyamlReader::OnScalar(const yaml_event_t& event, Position position) {
  const auto& scalar = event.data.scalar;
  const absl::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
  const bool is_key = builder_.ExpectsKey();
  if (is_key && text == "<<" && scalar.plain_implicit != 0) {
    builder_.MergeKey(position);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const YamlScalar resolved, Resolve(event, text, position));
  Value value;
  value.position = position;
  switch (resolved.type) {
    case YamlScalar::Type::kNull:
      break;
    case YamlScalar::Type::kBool:
      value.type = Value::Type::kBool;
      value.boolean = resolved.boolean;
      break;
    case YamlScalar::Type::kInteger:
    case YamlScalar::Type::kFloat:
      value.type = Value::Type::kNumber;
      value.text = resolved.text;
      break;
    case YamlScalar::Type::kNotFinite:
      if (is_key) break;
      return Error(position,
                   absl::StrCat(text, " is no finite number, expected one, or quotes around a string"));
    case YamlScalar::Type::kString:
      value.type = Value::Type::kString;
      value.text = resolved.text;
      break;
  }
  if (is_key) {
    if (scalar.anchor != nullptr) builder_.DefineAnchor(View(scalar.anchor), value);
    return OnKey(resolved, position);
  }
  if (scalar.anchor != nullptr) builder_.Anchor(View(scalar.anchor));
  return builder_.Scalar(value);
}

absl::Status LibyamlReader::OnKey(const YamlScalar& scalar, Position position) {
  switch (scalar.type) {
    case YamlScalar::Type::kNull:
      return Error(position, "a map key is null, expected a string");
    case YamlScalar::Type::kBool:
      return builder_.Key(scalar.boolean ? "true" : "false", position);
    case YamlScalar::Type::kInteger:
    case YamlScalar::Type::kFloat:
      return builder_.Key(YamlNumberKey(scalar), position);
    case YamlScalar::Type::kNotFinite:
      return builder_.Key(absl::AsciiStrToLower(absl::StripPrefix(scalar.text, "+")), position);
    case YamlScalar::Type::kString:
      break;
  }
  return builder_.Key(scalar.text, position);
}

absl::Status LibyamlReader::OnAlias(absl::string_view name, Position position) {
  const Value* value = builder_.FindAnchor(name);
  if (!builder_.ExpectsKey() || value == nullptr) return builder_.Alias(name, position);
  if (value->is_string()) return builder_.Key(value->text, position);
  if (value->type == Value::Type::kBool) return builder_.Key(value->boolean ? "true" : "false", position);
  if (value->type == Value::Type::kNumber) {
    const YamlScalar number = ResolveYamlScalar(value->text, scratch_);
    return builder_.Key(YamlNumberKey(number), position);
  }
  return Error(position, absl::StrCat("a map key is ", Describe(value->type), ", expected a string"));
}

// A row says what libyaml found in words for people who write manifests.
struct YamlProblem {
  absl::string_view problem;  // The beginning of libyaml's text.
  absl::string_view what;
  absl::string_view expected;
};

// The first row that fits counts.
constexpr YamlProblem kYamlProblems[] = {
    {"mapping values are not allowed", "`: ` where no key can stand",
     "other indentation, or quotes around a value with `: `"},
    {"block sequence entries are not allowed", "a list begins in the middle of a line",
     "it on a line of its own"},
    {"mapping keys are not allowed", "a key begins in the middle of a line", "it on a line of its own"},
    {"did not find expected key", "not indented as the keys around it", "a key at their indentation"},
    {"did not find expected '-'", "not indented as the list around it", "`- ` at its indentation"},
    {"did not find expected ',' or '}'", "a map in braces is not closed", "`,` or `}`"},
    {"did not find expected ',' or ']'", "a list in brackets is not closed", "`,` or `]`"},
    {"did not find expected <document start>", "more text behind the document", "`---` in between"},
    {"did not find expected node content", "no value where one must be", "a value, or quotes around it"},
    {"could not find expected ':'", "a line that is no `key: value`", "`:` behind a key"},
    {"found character that cannot start any token", "a character that no value begins with",
     "quotes around the value"},
    {"found a tab character", "a tab at the beginning of a line", "spaces"},
    {"found unexpected end of stream", "the text ends inside of quotes", "a closing quote"},
    {"found unexpected document indicator", "`---` inside of quotes", "a closing quote before"},
    {"found unknown escape character", "an unknown escape in double quotes",
     "a known one, or single quotes around the text"},
    {"did not find expected hexdecimal number", "an escape without its digits",
     "\\x with two, \\u with four"},
    {"found invalid Unicode character", "an escape of no character", "one that exists"},
    {"found undefined tag handle", "a tag that is not defined", "quotes around a value that begins with `!`"},
    {"did not find expected alphabetic or numeric", "an anchor or alias without a name",
     "a name, or quotes around a value that begins with `&` or `*`"},
    {"found duplicate %", "a directive twice", "it once"},
    {"found incompatible YAML document", "a version of YAML that is not known", "%YAML 1.1"},
    {"found an indentation indicator equal to 0", "a text block indented by 0", "1 to 9"},
};

// Names the part of the document that was open, by libyaml's word for it; "" where that says nothing that
// helps.
absl::string_view OpenPart(absl::string_view context) {
  if (absl::StrContains(context, "mapping")) return "map";
  if (absl::StrContains(context, "sequence") || absl::StrContains(context, "collection")) return "list";
  if (absl::StrContains(context, "quoted scalar")) return "quoted text";
  return "";
}

absl::Status LibyamlReader::ParserError() {
  const absl::string_view problem = parser_.problem == nullptr ? "" : parser_.problem;
  if (parser_.error == YAML_MEMORY_ERROR) {
    return ErrorAt({file_, {}}, "out of memory, expected less input or more memory");
  }
  if (parser_.error == YAML_READER_ERROR) {
    const bool is_control = absl::StartsWith(problem, "control characters");
    return Error(positions_.AtOffset(parser_.problem_offset),
                 absl::StrCat("invalid YAML: ", is_control ? "control characters" : "invalid UTF-8",
                              ", expected UTF-8 text without control characters"));
  }
  const Position position = positions_.At(parser_.problem_mark);
  const size_t offset = positions_.Offset(parser_.problem_mark);
  const YamlProblem* known =
      std::find_if(std::begin(kYamlProblems), std::end(kYamlProblems),
                   [problem](const YamlProblem& row) { return absl::StartsWith(problem, row.problem); });
  const bool is_known = known != std::end(kYamlProblems);
  std::string what = absl::StrCat("invalid YAML: ", is_known ? known->what : "malformed text");
  const absl::string_view part = OpenPart(parser_.context == nullptr ? "" : parser_.context);
  if (!part.empty()) {
    absl::StrAppend(&what, ", in a ", part, " that starts on line ",
                    positions_.At(parser_.context_mark).line);
  }
  const bool is_tab = offset < text_.size() && text_[offset] == '\t';
  absl::StrAppend(&what, ", expected ",
                  is_tab     ? "spaces instead of a tab"
                  : is_known ? known->expected
                             : "well-formed YAML");
  return Error(position, what);
}

// YamlReader reads each document by PlainYaml, and by libyaml what that gives up on.
class YamlReader {
 public:
  YamlReader(absl::string_view text, absl::string_view file, const ReadOptions& options, DocumentSink sink)
      : text_(text),
        file_(file),
        options_(options),
        handover_(sink),
        look_ahead_([this] { return FindHeader(text_.substr(list_offset_)); }),
        builder_(file, options, handover_.sink(), look_ahead_),
        plain_(text, builder_, list_offset_) {}
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;

  absl::Status Read() {
    TextPlace place;
    while (place.offset < text_.size()) {
      handover_.Begin();
      if (!options_.by_full_syntax && plain_.ReadDocument(place)) continue;
      RETURN_IF_ERROR(handover_.status());
      handover_.BeginAgain();
      RETURN_IF_ERROR(ReadByLibyaml(place));
    }
    return absl::OkStatus();
  }

 private:
  // Reads a document, and more each time: libyaml reads ahead, which would be in vain for small documents.
  absl::Status ReadByLibyaml(TextPlace& place) {
    if (!is_ascii_.has_value()) {
      is_ascii_ = std::all_of(text_.begin(), text_.end(), [](char c) { return c >= 0; });
    }
    LibyamlReader reader(text_, place, *is_ascii_, file_, builder_, list_offset_);
    for (int64_t i = 0; i < libyaml_count_ && place.offset < text_.size(); ++i) {
      if (i > 0) handover_.Begin();
      RETURN_IF_ERROR(reader.ReadDocument(place));
    }
    libyaml_count_ *= 2;
    return absl::OkStatus();
  }

  absl::string_view text_;
  absl::string_view file_;
  ReadOptions options_;
  size_t list_offset_ = 0;  // Of the list that was opened last.
  Handover handover_;
  std::function<RootHeader()> look_ahead_;
  TreeBuilder builder_;
  PlainYaml plain_;
  std::optional<bool> is_ascii_;
  int64_t libyaml_count_ = 1;
};

}  // namespace

absl::Status ReadYaml(absl::string_view text, absl::string_view file, const ReadOptions& options,
                      DocumentSink sink) {
  absl::ConsumePrefix(&text, kByteOrderMark);
  return YamlReader(text, file, options, sink).Read();
}

}  // namespace schedsim::codec
