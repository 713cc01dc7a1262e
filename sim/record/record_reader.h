// Records from JSON text, by their tables.
#ifndef SCHEDSIM_SIM_RECORD_RECORD_READER_H_
#define SCHEDSIM_SIM_RECORD_RECORD_READER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/codec/text/value.h"
#include "sim/record/records.h"

namespace schedsim::sim {

// What records that were read borrow from.
class RecordMemory {
 public:
  absl::string_view Keep(absl::string_view text) { return texts_->CopyText(text); }
  record::Column Keep(std::vector<int64_t> column) { return columns_.emplace_back(std::move(column)); }
  // Ends the life of all records read so far.
  void Clear();

 private:
  std::unique_ptr<codec::Document> texts_ = std::make_unique<codec::Document>();
  std::deque<std::vector<int64_t>> columns_;
};

// Reads one record, a JSON object whose members may come in any order. Members that are not in its table are
// ignored, and a kind without a table is record::Other, so that traces of later versions can be read, too.
// `place` is for messages, such as `file:line`. The record borrows from `memory`.
// Errors: InvalidArgument, `place: kind: field: what, and what was expected`, or `place:column: what` for
// text that is no JSON.
absl::StatusOr<record::Record> ReadRecord(absl::string_view text, absl::string_view place,
                                          RecordMemory& memory);

// A whole trace, or the one of a case.
struct Records {
  RecordMemory memory;
  // Shape: one entry for each of the texts.
  std::vector<record::Record> list;
};

// Errors: as above, with `place` and the number of the record, from 1, before.
absl::StatusOr<Records> ReadRecords(absl::Span<const std::string> texts, absl::string_view place);

// What can be seen of a record at a glance. Most lines of a long trace are about other pods than the wanted
// one.
struct RecordGlance {
  absl::Duration time;
  absl::string_view kind;
  // "": it has none.
  absl::string_view pod;
};

// Of a line as RecordWriter writes it. Nothing where the members come in another order: then read it.
std::optional<RecordGlance> GlanceAt(absl::string_view text);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RECORD_RECORD_READER_H_
