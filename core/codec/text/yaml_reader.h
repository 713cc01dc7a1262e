// YAML 1.1 text, as kubectl reads it.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_YAML_READER_H_
#define SCHEDSIM_CORE_CODEC_TEXT_YAML_READER_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/reader.h"

namespace schedsim::codec {

// Hands on each document of `text`, empty ones as null. `file` is for messages.
// Errors: InvalidArgument `file:line:column: what, and what was expected` for malformed YAML, bad
// UTF-8, duplicate keys, nesting deeper than kDepthMax, aliases that blow the document up, tags other
// than those of JSON's types, and numbers that are not finite.
absl::Status ReadYaml(absl::string_view text, absl::string_view file, const ReadOptions& options,
                      DocumentSink sink);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_YAML_READER_H_
