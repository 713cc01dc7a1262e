// Records as JSON text, by their tables.
#ifndef SCHEDSIM_SIM_RECORD_RECORD_WRITER_H_
#define SCHEDSIM_SIM_RECORD_RECORD_WRITER_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/codec/text/json_writer.h"

namespace schedsim::sim {

// Seconds with as many digits as needed, to the microsecond, such as "-0.001".
std::string SecondsText(absl::Duration duration);

// Writes one record after the other into a text that is used again. No tree stands in between: full traces
// have gigabytes.
class RecordWriter {
 public:
  // Begins a record; R is one of record::Body (records.h). `time` is since virtual zero. Returns the text of
  // the body's own fields, valid up to Finish.
  template <typename R>
  absl::string_view Start(absl::Duration time, const R& body);

  // The whole line without a line feed, valid up to the next Start. `digest` may be "": left out.
  const std::string& Finish(absl::string_view digest);

 private:
  codec::JsonWriter json_;
  // The time of the last record, since many records have the same.
  absl::Duration time_;
  std::string time_text_ = "0";
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RECORD_RECORD_WRITER_H_
