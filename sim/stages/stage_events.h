// The events that stages send.
#ifndef SCHEDSIM_SIM_STAGES_STAGE_EVENTS_H_
#define SCHEDSIM_SIM_STAGES_STAGE_EVENTS_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/codec/objects/objects.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"
#include "sim/stages/stage.h"

namespace schedsim::sim {

// Writes Event objects, as the event recorder of a kwok controller does. One that comes again for the same
// object counts in the first one, and each goes an hour after it was written last, as in an API server.
// Source: client-go v0.37, tools/record/event.go and tools/record/events_cache.go; kubernetes v1.37,
// pkg/controlplane/apiserver/options/options.go, EventTTL.
class StageEvents {
 public:
  // Both must outlive it.
  StageEvents(EventLoop& loop, ApiServer& server) : loop_(loop), server_(server) {}
  StageEvents(const StageEvents&) = delete;
  StageEvents& operator=(const StageEvents&) = delete;

  // Sends one about the object. What the API server says where it refuses it.
  absl::Status Send(const StageEvent& event, const api::Object& object);

 private:
  struct Sent {
    std::string name_space;
    std::string name;
    int64_t count = 1;
    absl::Time first;
    absl::Time last;
  };

  absl::Status Create(const StageEvent& event, const api::Object& object, const Sent& sent);
  absl::Status Count(const Sent& sent);
  void EndLater(const std::string& key);
  void End(const std::string& key);

  EventLoop& loop_;
  ApiServer& server_;
  codec::ObjectReader reader_;
  // By object, type, reason and message.
  std::map<std::string, Sent> sent_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_STAGES_STAGE_EVENTS_H_
