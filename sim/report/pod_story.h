// What happened to one pod, told from a trace.
#ifndef SCHEDSIM_SIM_REPORT_POD_STORY_H_
#define SCHEDSIM_SIM_REPORT_POD_STORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace schedsim::sim {

// One thing that happened.
struct StoryEntry {
  double time_seconds = 0;
  // "attempt", "move", "nomination", "victim", "bind", "bindFailure", "inexact" or "gone".
  std::string kind;
  // A sentence without a full stop, and what belongs below it.
  std::string text;
  std::vector<std::string> details;
  // For programs: further members of the entry's JSON object, `"key":value,...`; may be "".
  std::string fields;
};

struct PodStory {
  // "namespace/name".
  std::string pod;
  std::vector<StoryEntry> entries;
  // "Bound", "Pending", "Gone" or "Unknown", and the node of a bound one.
  std::string state;
  std::string node;
  // One sentence on the state.
  std::string summary;
  // What the trace does not have, a sentence each.
  std::vector<std::string> missing;
};

// Takes a trace record by record, keeps what concerns the pods that may be meant, and tells the story.
class StoryTeller {
 public:
  // "namespace/name", or a name.
  explicit StoryTeller(absl::string_view pod);
  ~StoryTeller();

  // In order. `place` is for messages, `file:line`. InvalidArgument, `place: what`, for what is no record.
  absl::Status Add(absl::string_view record, absl::string_view place);

  // NotFound where the trace has no such pod, with names that are close; InvalidArgument where a name is that
  // of pods in several namespaces.
  absl::StatusOr<PodStory> Finish();

 private:
  class Builder;
  // What is known of the trace as a whole.
  struct Facts {
    bool has_moves = false;
    bool has_queue = false;
    double end_seconds = 0;
    // Plugin to the events that it waits for, all profiles together.
    std::map<std::string, std::set<std::string>> registrations;
  };

  absl::Status AddTo(absl::string_view record, absl::string_view place);
  void NoteFacts(absl::string_view record);
  std::string NotFound() const;

  const std::string pod_;
  // What a line has that is about a pod in question.
  const std::string needle_;
  Facts facts_;
  // By key.
  std::map<std::string, std::unique_ptr<Builder>> builders_;
  // All pods with a record of their own, for names that are close.
  std::set<std::string> pods_;
};

// For people.
std::string StoryText(const PodStory& story);
// For programs; docs/why.md describes it.
std::string StoryJson(const PodStory& story);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_POD_STORY_H_
