#include "core/codec/text/reader.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "core/codec/text/json_reader.h"
#include "core/codec/text/yaml_reader.h"

namespace schedsim::codec {
namespace {

bool IsJson(absl::string_view text, absl::string_view file) {
  if (!absl::ConsumeSuffix(&file, ".gz")) absl::ConsumeSuffix(&file, ".xz");
  if (absl::EndsWith(file, ".json") || absl::EndsWith(file, ".jsonl")) return true;
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");
  return absl::StartsWith(absl::StripLeadingAsciiWhitespace(text), "{");
}

}  // namespace

absl::Status ReadText(std::string text, absl::string_view file, const ReadOptions& options,
                      DocumentSink sink) {
  const size_t size_bytes = text.size();
  text.append(kPaddingBytes, ' ');
  const absl::string_view content = absl::string_view(text).substr(0, size_bytes);
  if (IsJson(content, file)) return ReadJson(content, file, options, sink);
  return ReadYaml(content, file, options, sink);
}

absl::Status ReadPath(absl::string_view path, const ReadOptions& options,
                      absl::FunctionRef<absl::Status(const Document&, absl::string_view file)> sink) {
  ASSIGN_OR_RETURN(const std::vector<std::string> files, ListFiles(path));
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(std::string text, ReadFile(file));
    const absl::string_view name = file == "-" ? "stdin" : absl::string_view(file);
    RETURN_IF_ERROR(ReadText(std::move(text), name, options,
                             [&](const Document& document) { return sink(document, name); }));
  }
  return absl::OkStatus();
}

absl::Status ReadValues(absl::string_view path, DocumentSink sink) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  return ReadText(std::move(text), path == "-" ? "stdin" : path, {}, sink);
}

}  // namespace schedsim::codec
