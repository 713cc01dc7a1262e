// JSON text: one value, or several behind one another.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_JSON_READER_H_
#define SCHEDSIM_CORE_CODEC_TEXT_JSON_READER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/reader.h"

namespace schedsim::codec {

// Hands on each value of `text`, as a document. At least kPaddingBytes readable bytes must follow the
// text. `file` is for messages. Numbers keep their text, whatever their size.
// Errors: InvalidArgument `file:line:column: what, and what was expected` for anything but strict
// JSON in UTF-8, duplicate keys and nesting deeper than kDepthMax.
absl::Status ReadJson(absl::string_view text, absl::string_view file, const ReadOptions& options,
                      DocumentSink sink);

// The same of a text behind which nothing need be readable.
absl::Status ReadJsonText(std::string text, absl::string_view file, const ReadOptions& options,
                          DocumentSink sink);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_JSON_READER_H_
