// JSON text, written from left to right.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_JSON_WRITER_H_
#define SCHEDSIM_CORE_CODEC_TEXT_JSON_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace schedsim::codec {

// Appends to a text that is used again. Inside an object, Key comes before each value.
class JsonWriter {
 public:
  void Clear() { text_.clear(); }
  const std::string& text() const { return text_; }

  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(absl::string_view key);
  JsonWriter& String(absl::string_view value);
  JsonWriter& Int(int64_t value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  // A value that is JSON already.
  JsonWriter& Raw(absl::string_view json);

  JsonWriter& Field(absl::string_view key, absl::string_view value) { return Key(key).String(value); }
  JsonWriter& Field(absl::string_view key, int64_t value) { return Key(key).Int(value); }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  void Separate();

  std::string text_;
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_JSON_WRITER_H_
