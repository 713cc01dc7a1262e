// The story of a pod as text and as JSON.
#ifndef SCHEDSIM_SIM_REPORT_POD_STORY_TEXT_H_
#define SCHEDSIM_SIM_REPORT_POD_STORY_TEXT_H_

#include <string>

#include "sim/report/pod_story.h"

namespace schedsim::sim {

// For people; docs/why.md has an example. Control characters of names and messages are escaped.
std::string StoryText(const PodStory& story);

// For programs; docs/why.md describes it.
std::string StoryJson(const PodStory& story);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_POD_STORY_TEXT_H_
