// Reading YAML and JSON: text goes in, documents come out one by one.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_READER_H_
#define SCHEDSIM_CORE_CODEC_TEXT_READER_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// Receives documents in file order. The document and all that it owns are valid during the call only.
// An error ends the reading and is returned from it.
using DocumentSink = absl::FunctionRef<absl::Status(const Document&)>;

// A key that its map has already.
struct RepeatedKey {
  std::string file;
  // From the document, or from the entry that is handed on by itself: `spec.containers[0].image`.
  std::string path;
  Position position;
  int32_t first_line = 0;
};

struct ReadOptions {
  // Hand on each entry of `items` by itself when the root is a list (kind ends in `List`), so that
  // the whole list is never in memory; nothing is handed on for the list itself.
  bool split_lists = false;
  // Hand on each entry of this list of the root by itself, before the document, whose list is then empty; "":
  // of none. Document::is_entry tells them apart.
  std::string split_member = "";
  // A document, or an entry that is handed on by itself, may have so many maps, lists and scalars; each takes
  // about a hundred bytes of memory. The API server takes objects of some megabytes.
  int64_t value_count_max = 10'000'000;
  // A number without a fraction, such as 2.0 or 1e+06, is its digits. So kubectl sends it, whatever field it
  // stands in, and the API server takes it for an integer.
  bool whole_numbers_as_digits = false;
  // Read everything by the readers that know the whole syntax, which give the same at a fraction of the
  // speed.
  bool by_full_syntax = false;
  // Hears of repeated keys before their document is handed on, of each once or several times; the last value
  // counts, as for kubectl. Without it they are errors. Those that say what a document is always are.
  std::function<void(const RepeatedKey& repeated)> on_repeated_key = nullptr;
};

// Maps and lists may be nested this deep.
inline constexpr int kDepthMax = 99;

// Hands on each document of `text`, which is JSON (one value or several, with or without `---` between
// them) when `file` ends in .json or .jsonl (before .gz, .xz and .zst) or all documents look like it, and
// YAML otherwise. `text` need not be padded. Errors are InvalidArgument, `file:line:column: what, and what
// was expected`.
absl::Status ReadText(std::string text, absl::string_view file, const ReadOptions& options,
                      DocumentSink sink);
// The same, where the text is needed afterwards: it may be read again.
absl::Status ReadKeptText(std::string& text, absl::string_view file, const ReadOptions& options,
                          DocumentSink sink);

// Does the same for all files that `path` stands for (see ListFiles), in their order.
absl::Status ReadPath(absl::string_view path, const ReadOptions& options,
                      absl::FunctionRef<absl::Status(const Document&, absl::string_view file)> sink);

// Hands on the whole documents of the file `path` (or "-"): configurations, scenarios, test cases.
absl::Status ReadValues(absl::string_view path, DocumentSink sink);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_READER_H_
