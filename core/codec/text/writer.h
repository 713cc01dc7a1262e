// JSON and YAML text from values.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_WRITER_H_
#define SCHEDSIM_CORE_CODEC_TEXT_WRITER_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// Compact JSON, members in their order, numbers as written. Bytes of strings are kept but for
// quotes, backslashes and control characters.
std::string ToJson(const Value& value);
void AppendJson(const Value& value, std::string& out);

// Appends `text` as a JSON string with its quotes.
void AppendJsonString(absl::string_view text, std::string& out);
// The same without the quotes.
void AppendJsonText(absl::string_view text, std::string& out);

// The same with each part on a line of its own, and two columns for each level.
std::string ToIndentedJson(const Value& value);
// The same with `columns` for each level, as a part that stands `depth` levels deep. The first line is not
// indented: something is in front of it.
void AppendIndentedJson(const Value& value, size_t columns, size_t depth, std::string& out);

// YAML in block style, with a newline at the end and no document marker. Reads back to the same value
// under YAML 1.1 and 1.2: strings that either would take for something else are quoted.
std::string ToYaml(const Value& value);
void AppendYaml(const Value& value, std::string& out);

// The same in flow style, `{a: 1, b: [x]}`, on one line without a newline: a value for behind a key.
std::string ToFlowYaml(const Value& value);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_WRITER_H_
