#include "core/codec/text/json_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/handover.h"
#include "core/codec/text/input.h"
#include "core/codec/text/plain_json.h"
#include "core/codec/text/tree_builder.h"

namespace schedsim::codec {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(kPaddingBytes >= simdjson::SIMDJSON_PADDING);

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// LineCounter turns offsets into lines and columns. Offsets mostly grow, so it counts each byte once.
class LineCounter {
 public:
  explicit LineCounter(absl::string_view text) : text_(text) {}

  Position At(size_t offset) {
    offset = std::min(offset, text_.size());
    if (offset < offset_) {
      offset_ = line_start_ = 0;
      line_ = 1;
    }
    while (offset_ < offset) {
      const void* end = std::memchr(text_.data() + offset_, '\n', offset - offset_);
      if (end == nullptr) break;
      ++line_;
      line_start_ = static_cast<size_t>(static_cast<const char*>(end) - text_.data()) + 1;
      offset_ = line_start_;
    }
    offset_ = offset;
    return {line_, static_cast<int32_t>(offset - line_start_ + 1)};
  }

  TextPlace PlaceOf(size_t offset) {
    At(offset);
    return {.offset = offset, .line_start = line_start_, .line = line_};
  }
  // Takes over what another one has counted.
  void GoTo(const TextPlace& place) {
    offset_ = place.offset;
    line_start_ = place.line_start;
    line_ = place.line;
  }

 private:
  absl::string_view text_;
  size_t offset_ = 0;
  size_t line_start_ = 0;
  int32_t line_ = 1;
};

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

size_t FindInvalidUtf8(absl::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t bytes = Utf8CharacterBytes(text.substr(at));
    if (bytes == 0) return at;
    at += bytes;
  }
  return at;
}

absl::string_view Explain(simdjson::error_code error) {
  switch (error) {
    case simdjson::STRING_ERROR:
      return "bad escape in a string, expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u with four "
             "digits";
    case simdjson::TAPE_ERROR:
    case simdjson::INCOMPLETE_ARRAY_OR_OBJECT:
    case simdjson::INCORRECT_TYPE:
      return "malformed JSON, expected a value, a key, `:`, `,` or a closing bracket";
    case simdjson::NUMBER_ERROR:
      return "malformed JSON, expected a number: digits, an optional fraction and an optional exponent";
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR:
      return "malformed JSON, expected true, false or null";
    case simdjson::MEMALLOC:
      return "out of memory, expected less input or more memory";
    case simdjson::CAPACITY:
      return "too big a value, expected one below 4 GiB";
    default:
      return "malformed JSON, expected a JSON value";
  }
}

// ValueSplitter finds where each value of the text ends, by brackets and quotes only.
class ValueSplitter {
 public:
  ValueSplitter(absl::string_view text, absl::string_view file) : text_(text), file_(file), lines_(text) {}

  // Goes on to where the next value begins; false at the end of the text.
  bool FindNext() {
    SkipSpace();
    while (IsSeparator()) {
      at_ += kSeparator.size();
      SkipSpace();
    }
    return at_ < text_.size();
  }
  size_t at() const { return at_; }
  void GoTo(size_t offset) { at_ = offset; }

  // Returns the text of the value that begins here.
  absl::StatusOr<absl::string_view> Next() {
    const size_t start = at_;
    if (text_[at_] == '{' || text_[at_] == '[') {
      RETURN_IF_ERROR(SkipBrackets());
    } else if (text_[at_] == '"') {
      RETURN_IF_ERROR(SkipString());
    } else {
      while (at_ < text_.size() && !IsSpace(text_[at_]) && !absl::StrContains("{}[],:\"", text_[at_])) ++at_;
    }
    if (at_ == start) {
      return Error(start, absl::StrCat("unexpected `", text_.substr(start, 1), "` outside of a value, ",
                                       "expected another value or the end of the file"));
    }
    return text_.substr(start, at_ - start);
  }

 private:
  static constexpr absl::string_view kSeparator = "---";

  // Skips space between values, and byte order marks, as they stand there when files are joined.
  void SkipSpace() {
    for (;;) {
      while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
      if (!absl::StartsWith(text_.substr(at_), kByteOrderMark)) return;
      at_ += kByteOrderMark.size();
    }
  }

  // Whether a line `---` starts here: YAML's mark between documents, which kubectl takes between JSON
  // values as well.
  bool IsSeparator() const {
    if (!absl::StartsWith(text_.substr(at_), kSeparator)) return false;
    const size_t end = at_ + kSeparator.size();
    return (at_ == 0 || text_[at_ - 1] == '\n') && (end == text_.size() || IsSpace(text_[end]));
  }

  absl::Status SkipBrackets() {
    open_.clear();
    do {
      const char c = at_ < text_.size() ? text_[at_] : '\0';
      if (c == '"') {
        RETURN_IF_ERROR(SkipString());
        continue;
      }
      if (at_ == text_.size()) return Unclosed();
      if (c == '{' || c == '[') {
        // Said here, before the value is parsed: that would take memory for each of its brackets.
        if (open_.size() == kDepthMax) return Error(at_, TooDeepMessage());
        open_.push_back(at_);
      }
      if (c == '}' || c == ']') {
        if (text_[open_.back()] != (c == '}' ? '{' : '[')) return Mismatch();
        open_.pop_back();
      }
      ++at_;
    } while (!open_.empty());
    return absl::OkStatus();
  }

  absl::Status SkipString() {
    const size_t start = at_++;
    for (; at_ < text_.size(); ++at_) {
      const unsigned char c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') {
        ++at_;
        return absl::OkStatus();
      }
      if (c == '\\') ++at_;
      if (c < 0x20)
        return Error(at_, "control character in a string, expected it escaped, or a closing quote before");
    }
    at_ = text_.size();
    return Error(at_, absl::StrCat("the text ends in a string that starts on line ", lines_.At(start).line,
                                   ", expected a closing quote"));
  }

  absl::Status Unclosed() {
    const bool is_map = text_[open_.back()] == '{';
    return Error(at_, absl::StrCat("the text ends in a ", is_map ? "map" : "list", " that starts on line ",
                                   lines_.At(open_.back()).line, ", expected `", is_map ? "}" : "]", "`"));
  }

  absl::Status Mismatch() {
    const bool is_map = text_[open_.back()] == '{';
    return Error(at_, absl::StrCat("`", text_.substr(at_, 1), "` in a ", is_map ? "map" : "list",
                                   " that starts on line ", lines_.At(open_.back()).line, ", expected `",
                                   is_map ? "}" : "]", "` first"));
  }

  absl::Status Error(size_t offset, absl::string_view what) {
    return ErrorAt({file_, lines_.At(offset)}, what);
  }

  absl::string_view text_;
  absl::string_view file_;
  LineCounter lines_;
  size_t at_ = 0;
  std::vector<size_t> open_;  // Offsets of the open brackets.
};

class JsonReader {
 public:
  JsonReader(absl::string_view text, absl::string_view file, const ReadOptions& options, DocumentSink sink)
      : text_(text),
        file_(file),
        lines_(text),
        options_(options),
        handover_(sink),
        look_ahead_([this] { return slice_.empty() ? plain_.FindHeader() : FindHeader(); }),
        builder_(file, options, handover_.sink(), look_ahead_),
        plain_(text, builder_) {}
  JsonReader(const JsonReader&) = delete;
  JsonReader& operator=(const JsonReader&) = delete;

  absl::Status Read() {
    ValueSplitter splitter(text_, file_);
    while (splitter.FindNext()) {
      handover_.Begin();
      slice_ = {};
      TextPlace place = lines_.PlaceOf(splitter.at());
      if (!options_.by_full_syntax && plain_.ReadDocument(place)) {
        splitter.GoTo(place.offset);
        lines_.GoTo(place);
        continue;
      }
      RETURN_IF_ERROR(handover_.status());
      handover_.BeginAgain();
      ASSIGN_OR_RETURN(slice_, splitter.Next());
      builder_.Begin();
      RETURN_IF_ERROR(ReadSlice());
      RETURN_IF_ERROR(builder_.Finish());
    }
    return absl::OkStatus();
  }

 private:
  // An open map or list: simdjson's iterator stands on the part that was handed on last.
  struct Frame {
    bool is_map = false;
    bool has_started = false;
    ondemand::object_iterator map;
    ondemand::array_iterator list;
  };

  absl::Status ReadSlice();
  absl::Status Walk();
  absl::Status NextMember(Frame& frame);
  absl::Status NextItem(Frame& frame);
  template <typename V>
  absl::Status ReadOne(V& value);
  template <typename V>
  absl::Status ReadScalar(V& value, ondemand::json_type type, Position position);
  std::string FindText(std::string_view key);
  RootHeader FindHeader();
  Position PositionOf(const char* place) { return lines_.At(static_cast<size_t>(place - text_.data())); }
  absl::Status Error(simdjson::error_code error);
  absl::Status SliceError(simdjson::error_code error);

  absl::string_view text_;
  absl::string_view file_;
  LineCounter lines_;
  ReadOptions options_;
  Handover handover_;
  std::function<RootHeader()> look_ahead_;
  TreeBuilder builder_;
  PlainJson plain_;
  absl::string_view slice_;  // What simdjson reads; empty while it is not needed.
  Position last_;            // Of the key or value that was read last.
  ondemand::parser parser_;
  ondemand::parser header_parser_;
  ondemand::document document_;
  std::vector<Frame> frames_;
};

simdjson::padded_string_view Padded(absl::string_view text) {
  return simdjson::padded_string_view(text.data(), text.size(), text.size() + kPaddingBytes);
}

absl::Status JsonReader::ReadSlice() {
  last_ = PositionOf(slice_.data());
  const simdjson::error_code error = parser_.iterate(Padded(slice_)).get(document_);
  if (error != simdjson::SUCCESS) return SliceError(error);
  frames_.clear();
  RETURN_IF_ERROR(ReadOne(document_));
  RETURN_IF_ERROR(Walk());
  return absl::OkStatus();
}

absl::Status JsonReader::Walk() {
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (frame.has_started) frame.is_map ? void(++frame.map) : void(++frame.list);
    frame.has_started = true;
    const bool at_end =
        frame.is_map ? frame.map == ondemand::object_iterator() : frame.list == ondemand::array_iterator();
    if (at_end) {
      frames_.pop_back();
      RETURN_IF_ERROR(builder_.Close());
      continue;
    }
    RETURN_IF_ERROR(frame.is_map ? NextMember(frame) : NextItem(frame));
  }
  return absl::OkStatus();
}

absl::Status JsonReader::NextMember(Frame& frame) {
  ondemand::field field;
  simdjson::error_code error = (*frame.map).get(field);
  if (error != simdjson::SUCCESS) return Error(error);
  last_ = PositionOf(field.key().raw() - 1);
  std::string_view key;
  error = field.unescaped_key().get(key);
  if (error != simdjson::SUCCESS) return Error(error);
  RETURN_IF_ERROR(builder_.Key(View(key), last_));
  return ReadOne(field.value());
}

absl::Status JsonReader::NextItem(Frame& frame) {
  ondemand::value value;
  const simdjson::error_code error = (*frame.list).get(value);
  if (error != simdjson::SUCCESS) return Error(error);
  return ReadOne(value);
}

template <typename V>
absl::Status JsonReader::ReadOne(V& value) {
  std::string_view token;
  simdjson::error_code error = simdjson::simdjson_result<std::string_view>(value.raw_json_token()).get(token);
  if (error != simdjson::SUCCESS) return Error(error);
  last_ = PositionOf(token.data());
  ondemand::json_type type;
  error = value.type().get(type);
  if (error != simdjson::SUCCESS) return Error(error);
  Frame frame;
  if (type == ondemand::json_type::object) {
    RETURN_IF_ERROR(builder_.Open(Value::Type::kObject, last_));
    frame.is_map = true;
    ondemand::object object;
    error = value.get_object().get(object);
    if (error == simdjson::SUCCESS) error = object.begin().get(frame.map);
  } else if (type == ondemand::json_type::array) {
    RETURN_IF_ERROR(builder_.Open(Value::Type::kArray, last_));
    ondemand::array array;
    error = value.get_array().get(array);
    if (error == simdjson::SUCCESS) error = array.begin().get(frame.list);
  } else {
    return ReadScalar(value, type, last_);
  }
  if (error != simdjson::SUCCESS) return Error(error);
  frames_.push_back(frame);
  return absl::OkStatus();
}

template <typename V>
absl::Status JsonReader::ReadScalar(V& value, ondemand::json_type type, Position position) {
  Value scalar;
  scalar.position = position;
  std::string_view text;
  simdjson::error_code error = simdjson::SUCCESS;
  switch (type) {
    case ondemand::json_type::string:
      scalar.type = Value::Type::kString;
      error = value.get_string().get(text);
      scalar.text = View(text);
      break;
    case ondemand::json_type::number:
      scalar.type = Value::Type::kNumber;
      error = simdjson::simdjson_result<std::string_view>(value.raw_json_token()).get(text);
      scalar.text = absl::StripAsciiWhitespace(View(text));
      if (error == simdjson::SUCCESS && !IsJsonNumber(scalar.text)) {
        return ErrorAt({file_, position}, absl::StrCat("\"", scalar.text,
                                                       "\" is no JSON number, expected digits, an "
                                                       "optional fraction and an optional exponent"));
      }
      if (error == simdjson::SUCCESS && IsBeyondFloat64(scalar.text)) {
        return ErrorAt({file_, position},
                       absl::StrCat("\"", Printable(scalar.text, kShownBytesMax),
                                    "\" is beyond 64-bit floating point, expected a number "
                                    "that an API server can read"));
      }
      break;
    default:
      // True, false and null by their text: simdjson looks at the first letter only here.
      error = simdjson::simdjson_result<std::string_view>(value.raw_json_token()).get(text);
      const absl::string_view word = absl::StripAsciiWhitespace(View(text));
      scalar.type = word == "null" ? Value::Type::kNull : Value::Type::kBool;
      scalar.boolean = word == "true";
      if (word != "null" && word != "true" && word != "false") error = simdjson::T_ATOM_ERROR;
      break;
  }
  if (error != simdjson::SUCCESS) {
    return ErrorAt({file_, position}, type == ondemand::json_type::string
                                          ? Explain(error)
                                          : "malformed JSON, expected true, false, null or a number");
  }
  return builder_.Scalar(scalar);
}

// The root's member `key` when it is a string, wherever it stands; "" in malformed text as well, which
// the reading itself reports. Each search starts anew: simdjson does not go on after an error.
std::string JsonReader::FindText(std::string_view key) {
  ondemand::document document;
  ondemand::object root;
  ondemand::value value;
  std::string_view text;
  if (header_parser_.iterate(Padded(slice_)).get(document) != simdjson::SUCCESS) return "";
  if (document.get_object().get(root) != simdjson::SUCCESS) return "";
  if (root.find_field_unordered(key).get(value) != simdjson::SUCCESS) return "";
  return value.get_string().get(text) == simdjson::SUCCESS ? std::string(text) : "";
}

RootHeader JsonReader::FindHeader() {
  return {.kind = FindText("kind"), .api_version = FindText("apiVersion")};
}

absl::Status JsonReader::Error(simdjson::error_code error) {
  // simdjson knows the token where it stopped, or else the last key or value is the nearest place.
  const char* place = nullptr;
  if (document_.current_location().get(place) == simdjson::SUCCESS && place >= slice_.data() &&
      place < slice_.data() + slice_.size()) {
    const Position position = PositionOf(place);
    const bool is_later =
        position.line > last_.line || (position.line == last_.line && position.column > last_.column);
    if (is_later) last_ = position;
  }
  return ErrorAt({file_, last_}, Explain(error));
}

// Errors of a whole value come without a place.
absl::Status JsonReader::SliceError(simdjson::error_code error) {
  if (error == simdjson::UTF8_ERROR) {
    const size_t invalid = FindInvalidUtf8(slice_);
    return ErrorAt({file_, PositionOf(slice_.data() + invalid)}, "invalid UTF-8, expected UTF-8 text");
  }
  return ErrorAt({file_, last_}, Explain(error));
}

}  // namespace

absl::Status ReadJson(absl::string_view text, absl::string_view file, const ReadOptions& options,
                      DocumentSink sink) {
  absl::ConsumePrefix(&text, kByteOrderMark);
  return JsonReader(text, file, options, sink).Read();
}

absl::Status ReadJsonText(std::string text, absl::string_view file, const ReadOptions& options,
                          DocumentSink sink) {
  const size_t size_bytes = text.size();
  text.append(kPaddingBytes, ' ');
  return ReadJson(absl::string_view(text).substr(0, size_bytes), file, options, sink);
}

}  // namespace schedsim::codec
