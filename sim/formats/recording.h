// A cluster over time: the objects that it begins with, and each change since. Recordings of kwok have that,
// and what an audit log says can be brought into the same form.
#ifndef SCHEDSIM_SIM_FORMATS_RECORDING_H_
#define SCHEDSIM_SIM_FORMATS_RECORDING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/object.h"

namespace schedsim::sim {

// A change of one object, of whatever part of it.
struct RecordedChange {
  absl::Time at;
  // As it was and as it is: nullptr for an object that comes, or goes. Not both.
  api::ObjectPtr before;
  api::ObjectPtr after;
  int32_t line = 0;  // In the file, from 1.

  const api::Object& object() const { return after != nullptr ? *after : *before; }
};

struct Recording {
  // The start of the recording.
  absl::Time zero;
  // What there is at zero, in the order of the file.
  std::vector<api::ObjectPtr> objects;
  // By `at`.
  std::vector<RecordedChange> changes;
  // Patches that were the difference of two kinds, and were taken as such.
  int64_t repaired_count = 0;
  // What the user should know.
  std::vector<std::string> warnings;

  // Of the last change; zero where there is none.
  absl::Time end() const { return changes.empty() ? zero : changes.back().at; }
};

// Whether the text is a recording of kwok, rather than objects as they stand in a cluster: it has times that
// are offsets, or patches over time. What begins with a document of schedsim, such as a scenario, is none.
// `text` is as it was afterwards.
bool IsRecording(std::string& text, absl::string_view file);

// Where the times of a recording that names none begin: 2000-01-01T00:00:00Z.
absl::Time DefaultRecordingZero();

// Reads a recording as `kwokctl snapshot record`, `kwokctl snapshot export --record` and kectl write it;
// `file` is for messages. Times that are offsets count from `zero`, and so do the changes.
//
// The recorder of kwokctl up to 0.7.0 knows objects by namespace and name alone, so that the patch of one may
// be its difference from another of that name: such a patch, which gives a kind, is applied to the object of
// that name that was written last, of whatever kind. Patches of objects that nobody knows, and objects behind
// the first patch, are left out with a warning, as kwok does.
//
// Errors: InvalidArgument, `file:line:column: field: what, and what was
// expected`, for what is no recording.
absl::StatusOr<Recording> ParseRecording(std::string text, absl::string_view file, absl::Time zero);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_RECORDING_H_
