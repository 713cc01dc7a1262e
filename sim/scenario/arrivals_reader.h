// The arrivals of a scenario, from its document.
#ifndef SCHEDSIM_SIM_SCENARIO_ARRIVALS_READER_H_
#define SCHEDSIM_SIM_SCENARIO_ARRIVALS_READER_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/codec/config/strict_reader.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/value.h"
#include "sim/scenario/arrivals.h"
#include "sim/scenario/timeline_reader.h"

namespace schedsim::sim {

// Reads the list of sources; docs/scenario.md has the fields. `end`: that of the run; a source that has no
// other needs it. `objects` decodes the first object of each, so that what is wrong with it is known before
// the run. What is wrong goes to `errors`; errors of objects and of files that are named are returned.
absl::StatusOr<std::vector<ArrivalSource>> ReadArrivals(const codec::Value& list,
                                                        std::optional<absl::Duration> end,
                                                        const TimelineReaderOptions& options,
                                                        codec::ObjectReader& objects,
                                                        codec::ErrorList& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_ARRIVALS_READER_H_
