#include "core/codec/text/reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "core/codec/text/json_reader.h"
#include "core/codec/text/yaml_reader.h"

namespace schedsim::codec {
namespace {

// Tells whether `text`, which starts with `{`, is JSON and not YAML in flow style: outside of quotes JSON has
// nothing but brackets, commas, colons, numbers and three words. It looks at the beginning only.
bool LooksLikeJson(absl::string_view text) {
  constexpr size_t kLookBytes = 4096;
  text = text.substr(0, kLookBytes);
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\') ++at;
      }
      continue;
    }
    if (absl::StrContains("{}[],: \t\r\n", c)) continue;
    const size_t end = std::min(text.find_first_of("{}[],: \t\r\n\"", at), text.size());
    const absl::string_view word = text.substr(at, end - at);
    const bool is_json = word == "true" || word == "false" || word == "null" || word == "---" ||
                         word == kByteOrderMark || IsJsonNumber(word) || end == text.size();
    if (!is_json) return false;
    at = end - 1;
  }
  return true;
}

// Tells whether each document behind a line `---` starts as JSON does. No string of JSON has a line break in
// it, so such a line is never a part of one.
bool AllDocumentsAreMaps(absl::string_view text) {
  constexpr absl::string_view kSeparator = "\n---";
  for (size_t at = text.find(kSeparator); at != absl::string_view::npos; at = text.find(kSeparator, at)) {
    at += kSeparator.size();
    const absl::string_view next = absl::StripLeadingAsciiWhitespace(text.substr(at));
    if (!next.empty() && next[0] != '{' && next[0] != '[' && !absl::StartsWith(next, "---")) return false;
  }
  return true;
}

bool IsJson(absl::string_view text, absl::string_view file) {
  file = WithoutArchiveEnding(file);
  if (absl::EndsWith(file, ".json") || absl::EndsWith(file, ".jsonl")) return true;
  absl::ConsumePrefix(&text, kByteOrderMark);
  text = absl::StripLeadingAsciiWhitespace(text);
  return absl::StartsWith(text, "{") && LooksLikeJson(text) && AllDocumentsAreMaps(text);
}

// Other encodings than UTF-8 can be told by their first bytes; PowerShell's `>` writes UTF-16.
absl::Status CheckEncoding(absl::string_view text, absl::string_view file) {
  const absl::string_view start = text.substr(0, 4);
  const bool is_utf32 =
      start == absl::string_view("\xff\xfe\0\0", 4) || start == absl::string_view("\0\0\xfe\xff", 4);
  const bool is_utf16 = absl::StartsWith(start, "\xff\xfe") || absl::StartsWith(start, "\xfe\xff");
  if (!is_utf16 && !is_utf32) return absl::OkStatus();
  const absl::string_view name = is_utf32 ? "UTF-32" : "UTF-16";
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": is ", name, ", expected UTF-8; `iconv -f ", name, " -t UTF-8` converts it"));
}

// Tells whether a line that starts with `line` is the mark between two documents.
bool IsSeparator(absl::string_view line) {
  absl::ConsumePrefix(&line, kByteOrderMark);
  return absl::ConsumePrefix(&line, "---") && (line.empty() || absl::StrContains(" \t\r\n", line[0]));
}

// Tells whether the byte order mark at `at` begins a document within the text: it stands on the line of a
// `---` or on the next one.
bool StartsDocument(absl::string_view text, size_t at) {
  if (text[at - 1] != '\n') return false;
  if (IsSeparator(text.substr(at))) return true;
  const size_t before = at < 2 ? absl::string_view::npos : text.rfind('\n', at - 2);
  return IsSeparator(text.substr(before == absl::string_view::npos ? 0 : before + 1));
}

// Takes out the byte order marks that files brought along which were joined to one. YAML allows them where a
// document begins; libyaml, only where the text does.
void RemoveInnerMarks(std::string& text) {
  std::string clean;
  size_t copied = 0;
  for (size_t at = text.find(kByteOrderMark.data(), 1); at != std::string::npos;
       at = text.find(kByteOrderMark.data(), at + kByteOrderMark.size())) {
    if (!StartsDocument(text, at)) continue;
    clean.append(text, copied, at - copied);
    copied = at + kByteOrderMark.size();
  }
  if (copied == 0) return;
  text = std::move(clean.append(text, copied, std::string::npos));
}

}  // namespace

absl::Status ReadText(std::string text, absl::string_view file, const ReadOptions& options,
                      DocumentSink sink) {
  return ReadKeptText(text, file, options, sink);
}

absl::Status ReadKeptText(std::string& text, absl::string_view file, const ReadOptions& options,
                          DocumentSink sink) {
  RemoveInnerMarks(text);
  const size_t size_bytes = text.size();
  text.append(kPaddingBytes, ' ');
  const absl::string_view content = absl::string_view(text).substr(0, size_bytes);
  absl::Status status = CheckEncoding(content, file);
  if (status.ok()) {
    status = IsJson(content, file) ? ReadJson(content, file, options, sink)
                                   : ReadYaml(content, file, options, sink);
  }
  text.resize(size_bytes);
  return status;
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
