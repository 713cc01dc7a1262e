// Files of extenders' calls: what a live run asked and was answered, so that it can be run again without the
// servers. docs/extenders.md has the format.
#ifndef SCHEDSIM_SIM_EXTENDERS_CALL_FILE_H_
#define SCHEDSIM_SIM_EXTENDERS_CALL_FILE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/extenders/extender_transport.h"

namespace schedsim::sim {

// Appends a call and its answer to what becomes such a file: a line of JSON.
void AppendCall(const ExtenderCall& call, const ExtenderAnswer& answer, std::string& calls);

// Answers calls from a file, in its order.
class CallFileReader {
 public:
  // InvalidArgument, `file:line:column: what`, where it is no such file; and as codec::ReadFile.
  static absl::StatusOr<std::unique_ptr<CallFileReader>> Read(const std::string& path);

  // The answer to the call of a run, by its number from 0 on. Aborted, with the first place where they
  // differ, where the file has another call, and where it has none.
  absl::StatusOr<ExtenderAnswer> Answer(size_t number, const ExtenderCall& call) const;

  const std::string& path() const { return path_; }
  size_t call_count() const { return entries_.size(); }

 private:
  struct Entry {
    size_t line = 0;
    std::string verb;
    std::string url;
    std::string request;  // Canonical JSON.
    ExtenderAnswer answer;
  };

  std::string path_;
  std::vector<Entry> entries_;
};

// Where two JSON texts differ first, as `path: expected A, got B`; "" where they hold the same.
std::string FirstJsonDifference(absl::string_view expected, absl::string_view actual);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXTENDERS_CALL_FILE_H_
