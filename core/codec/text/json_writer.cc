#include "core/codec/text/json_writer.h"

#include "absl/strings/str_cat.h"
#include "core/codec/text/writer.h"

namespace schedsim::codec {

void JsonWriter::Separate() {
  if (text_.empty()) return;
  const char last = text_.back();
  if (last != '{' && last != '[' && last != ':') text_ += ',';
}

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::Key(absl::string_view key) {
  Separate();
  AppendJsonString(key, text_);
  text_ += ':';
  return *this;
}

JsonWriter& JsonWriter::String(absl::string_view value) {
  Separate();
  AppendJsonString(value, text_);
  return *this;
}

JsonWriter& JsonWriter::Int(int64_t value) {
  Separate();
  absl::StrAppend(&text_, value);
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) {
  Separate();
  text_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::Null() {
  Separate();
  text_ += "null";
  return *this;
}

JsonWriter& JsonWriter::Raw(absl::string_view json) {
  Separate();
  absl::StrAppend(&text_, json);
  return *this;
}

}  // namespace schedsim::codec
