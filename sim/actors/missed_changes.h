// What an informer misses while its watch is broken, and what it finds out when it lists its objects anew.
#ifndef SCHEDSIM_SIM_ACTORS_MISSED_CHANGES_H_
#define SCHEDSIM_SIM_ACTORS_MISSED_CHANGES_H_

#include <map>
#include <string>
#include <vector>

#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// Changes of objects of one kind. Of all changes of an object only what it was before the first and is after
// the last is ever known; one that came and went is never known at all.
// Source: client-go v0.37, tools/cache/the_real_fifo.go, Replace, and controller.go, processDeltas.
class MissedChanges {
 public:
  // As the informer would have heard it: objects that it does not select are nullptr.
  void Add(const WatchEvent& event);

  // What a new list differs in from what the informer knows, each part by "namespace/name". Another object of
  // the same name counts as both. The deletions are heard first; of them the last known state is all there
  // is.
  struct Difference {
    std::vector<WatchEvent> deletions;
    std::vector<WatchEvent> others;
  };
  // Leaves nothing behind.
  Difference Take();

 private:
  std::map<std::string, WatchEvent> changes_;  // By "namespace/name".
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_ACTORS_MISSED_CHANGES_H_
