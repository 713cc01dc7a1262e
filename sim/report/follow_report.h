// What following a recording prints, and what rescheduling one adds to the report of a run.
#ifndef SCHEDSIM_SIM_REPORT_FOLLOW_REPORT_H_
#define SCHEDSIM_SIM_REPORT_FOLLOW_REPORT_H_

#include <string>

#include "core/codec/text/json_writer.h"
#include "sim/replay/follow.h"
#include "sim/replay/reschedule.h"

namespace schedsim::sim {

std::string FollowText(const FollowResult& result);
// One object; docs/recordings.md describes it.
std::string FollowJson(const FollowResult& result);
// The objects that the recording ends with: a List, as JSON, an object a line.
std::string FollowObjects(const FollowResult& result);

// Lines of the report of a run.
std::string ComparisonText(const RecordingComparison& comparison);
void WriteComparison(const RecordingComparison& comparison, codec::JsonWriter& json);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_FOLLOW_REPORT_H_
