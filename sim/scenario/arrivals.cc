#include "sim/scenario/arrivals.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/pod.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

// As objects of the input and of the timeline.
constexpr absl::Duration kInterval = absl::Milliseconds(1);

const api::Pod* PodOf(const api::Object& object) {
  return object.kind == api::Kind::kPod ? &static_cast<const api::Pod&>(object) : nullptr;
}

// Of a pod the time runs from its binding on.
bool IsOnNode(const api::Object& object) {
  const api::Pod* const pod = PodOf(object);
  return pod == nullptr || !pod->node_name.empty();
}

}  // namespace

Arrivals::Source::Source(const ArrivalSource& source, const Simulation& simulation)
    : given(source),
      sequence(source.process, source.from, simulation.Chance(absl::StrCat("arrivals/", source.name))),
      lifetimes(simulation.Chance(absl::StrCat("arrivals/", source.name, "/lifetime"))) {}

Arrivals::Arrivals(std::vector<ArrivalSource> sources, Simulation& simulation)
    : given_(std::move(sources)), simulation_(simulation) {
  if (given_.empty()) return;
  simulation_.server().Watch([this](const WatchEvent& event) { OnChange(event); });
  for (const ArrivalSource& source : given_) sources_.emplace_back(source, simulation_);
  for (Source& source : sources_) ScheduleNext(source);
}

std::vector<std::string> Arrivals::Failures() const {
  std::vector<std::string> failures;
  for (const Source& source : sources_) {
    if (source.failed == 0) continue;
    const std::string others =
        source.failed == 1 ? "" : absl::StrCat(" (and ", source.failed - 1, " more objects were refused)");
    failures.push_back(absl::StrCat(source.given.place, ": ", source.first_failure, others));
  }
  return failures;
}

void Arrivals::ScheduleNext(Source& source) {
  const ArrivalSource& given = source.given;
  if (given.count.has_value() && source.made >= *given.count) return;
  const std::optional<NextArrival> next = source.sequence.Next();
  if (!next.has_value() || (given.until.has_value() && next->at >= *given.until)) return;
  EventLoop& loop = simulation_.loop();
  // Behind a burst that is still coming.
  const absl::Time at = std::max(loop.Now(), simulation_.zero() + next->at);
  loop.At(at, EventLoop::Phase::kStep, [this, &source, next = *next] { Arrive(source, next); });
}

void Arrivals::Arrive(Source& source, NextArrival next) {
  Make(source, next.row);
  --next.count;
  const bool is_full = source.given.count.has_value() && source.made >= *source.given.count;
  if (next.count == 0 || is_full) return ScheduleNext(source);
  EventLoop& loop = simulation_.loop();
  loop.At(loop.Now() + kInterval, EventLoop::Phase::kStep, [this, &source, next] { Arrive(source, next); });
}

void Arrivals::Make(Source& source, const RecordedArrivals::Row* row) {
  const ArrivalSource& given = source.given;
  // Drawn for each one, whether it is created or not, so that one that is refused shifts no other.
  std::optional<absl::Duration> lifetime;
  if (given.lifetime.has_value()) lifetime = given.lifetime->Draw(source.lifetimes);
  if (row != nullptr && row->lifetime.has_value()) lifetime = row->lifetime;
  const auto create = [&](const codec::Value& value) -> absl::Status {
    api::ObjectPtr object;
    ASSIGN_OR_RETURN(object, reader_.Decode(value, given.object.file()));
    if (lifetime.has_value()) creating_ = Leaving{.lifetime = *lifetime, .source = &given};
    const absl::Status status = simulation_.server().Create(object);
    creating_.reset();
    return status;
  };
  const absl::Status status =
      given.object.Render(source.made, row == nullptr ? GoValue::Map() : row->fields, create);
  ++source.made;
  if (status.ok()) return;
  simulation_.trace().ApiError("arrivals", status.message());
  if (source.failed++ == 0) source.first_failure = std::string(status.message());
}

void Arrivals::OnChange(const WatchEvent& event) {
  if (event.old_object == nullptr && creating_.has_value()) {
    // What admission makes beside it comes later.
    Leaving& leaving = leaving_[event.new_object->metadata.uid] = *std::exchange(creating_, std::nullopt);
    if (IsOnNode(*event.new_object)) LeaveLater(*event.new_object, leaving);
    return;
  }
  if (leaving_.empty() || event.old_object == nullptr) return;
  const auto found = leaving_.find(event.old_object->metadata.uid);
  if (found == leaving_.end()) return;
  if (event.new_object == nullptr) {
    if (found->second.work != 0) simulation_.loop().Cancel(found->second.work);
    leaving_.erase(found);
  } else if (found->second.work == 0 && IsOnNode(*event.new_object)) {
    LeaveLater(*event.new_object, found->second);
  }
}

void Arrivals::LeaveLater(const api::Object& object, Leaving& leaving) {
  EventLoop& loop = simulation_.loop();
  const std::string uid = object.metadata.uid;
  leaving.work = loop.At(loop.Now() + leaving.lifetime, EventLoop::Phase::kStep,
                         [this, uid, kind = object.kind, kind_name = object.kind_name,
                          name_space = object.metadata.namespace_, name = object.metadata.name] {
                           const auto found = leaving_.find(uid);
                           if (found == leaving_.end()) return;
                           const ArrivalSource* const source = found->second.source;
                           leaving_.erase(found);
                           const api::ObjectPtr now =
                               simulation_.server().Find(kind, kind_name, name_space, name);
                           if (now != nullptr && now->metadata.uid == uid) Leave(now, *source);
                         });
}

void Arrivals::Leave(const api::ObjectPtr& object, const ArrivalSource& source) {
  ApiServer& server = simulation_.server();
  const api::Pod* const pod = PodOf(*object);
  absl::Status status;
  if (pod == nullptr) {
    status = server.Delete(*object);
  } else if (pod->IsTerminal()) {
    return;
  } else if (source.last_phase.empty()) {
    status = server.DeletePod(*pod);
  } else {
    auto over = std::static_pointer_cast<api::Pod>(object->Clone());
    over->status.phase = source.last_phase;
    status = server.Update(over);
  }
  if (!status.ok()) simulation_.trace().ApiError("arrivals", status.message());
}

}  // namespace schedsim::sim
