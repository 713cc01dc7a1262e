// The story of a pod as text and as JSON.
#ifndef SCHEDSIM_SIM_REPORT_POD_STORY_TEXT_H_
#define SCHEDSIM_SIM_REPORT_POD_STORY_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "sim/report/pod_story.h"

namespace schedsim::sim {

// For people; docs/why.md has an example. Control characters of names and messages are escaped.
std::string StoryText(const PodStory& story);

// For programs; docs/why.md describes it.
std::string StoryJson(const PodStory& story);

// Parts of the text, for others who tell of attempts.
// "1 node", "3 nodes".
std::string NodesText(int64_t count);
// Seconds: "0.001", with three digits behind the point, or as many as there are, up to microseconds.
std::string TimeText(absl::Duration time);
// "attempt 1: fits on none of 3 nodes".
std::string AttemptText(const AttemptFact& fact);
// "    2 nodes  Insufficient cpu (NodeResourcesFit)".
std::string RejectionText(const RejectionFact& rejection);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_POD_STORY_TEXT_H_
