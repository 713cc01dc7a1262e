// The timeline of a scenario, from its document.
#ifndef SCHEDSIM_SIM_SCENARIO_TIMELINE_READER_H_
#define SCHEDSIM_SIM_SCENARIO_TIMELINE_READER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/codec/config/strict_reader.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/value.h"
#include "sim/scenario/timeline.h"

namespace schedsim::sim {

struct TimelineReaderOptions {
  // The scenario's file, for messages.
  std::string file;
  // The folder that relative paths start from; "": the working directory.
  std::string folder;
  // The paths of the files that entries name are added here.
  std::vector<std::string>* read_paths = nullptr;
  // Notes on what is taken out of objects are added here.
  std::vector<std::string>* notices = nullptr;
};

// `path`, or the path from `folder` to it where it is relative; "-" stays.
std::string PathFrom(absl::string_view folder, absl::string_view path);

// Reads the list of entries; docs/scenario.md has the fields. Rounds of `repeat` are entries of their own,
// one behind the other. `end`: of the run, if it has one. What is wrong goes to `errors`; errors of files
// that the entries name are returned.
absl::StatusOr<std::vector<TimelineEntry>> ReadTimeline(const codec::Value& list, const std::string& path,
                                                        std::optional<absl::Duration> end,
                                                        const TimelineReaderOptions& options,
                                                        codec::ObjectReader& objects,
                                                        codec::ErrorList& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_TIMELINE_READER_H_
