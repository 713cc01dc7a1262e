#include "sim/controllers/eviction_zones.h"

#include <algorithm>

#include "sim/controllers/node_fields.h"

namespace schedsim::sim {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(10);
constexpr absl::Duration kSecondaryInterval = absl::Seconds(100);
constexpr int64_t kLargeZone = 50;
constexpr float kUnhealthyShare = 0.55F;
// Fewer nodes that are not ready never make a zone unhealthy.
constexpr int64_t kUnhealthyMin = 3;

}  // namespace

EvictionZones::State EvictionZones::StateOf(const Zone& zone) {
  const int64_t all = zone.ready + zone.not_ready;
  if (all == 0) return zone.state;
  if (zone.ready == 0) return State::kFullDisruption;
  // In single precision, as there.
  const bool is_unhealthy = zone.not_ready >= kUnhealthyMin &&
                            static_cast<float>(zone.not_ready) / static_cast<float>(all) >= kUnhealthyShare;
  return is_unhealthy ? State::kPartialDisruption : State::kNormal;
}

absl::Duration EvictionZones::IntervalOf(const Zone& zone, State state) {
  if (state != State::kPartialDisruption) return kInterval;
  return zone.ready + zone.not_ready > kLargeZone ? kSecondaryInterval : absl::InfiniteDuration();
}

bool EvictionZones::TryAccept(Zone& zone, absl::Time now) {
  if (zone.interval == absl::InfiniteDuration() || now < zone.next) return false;
  zone.next = now + zone.interval;
  return true;
}

// Where the old rate lets no node through now, the new one begins with a whole interval.
void EvictionZones::SetInterval(Zone& zone, absl::Duration interval, absl::Time now) {
  if (zone.interval == interval) return;
  const bool accepts = TryAccept(zone, now);
  zone.interval = interval;
  zone.next = accepts || interval == absl::InfiniteDuration() ? now : now + interval;
}

bool EvictionZones::IsAllDisrupted() const {
  int64_t ready = 0;
  int64_t not_ready = 0;
  for (const auto& [name, zone] : zones_) {
    ready += zone.ready;
    not_ready += zone.not_ready;
  }
  return ready == 0 && not_ready > 0;
}

void EvictionZones::Count(const api::Node& node, int64_t by) {
  Zone& zone = zones_[ZoneOf(node)];
  if (IsExcludedFromDisruption(node)) return;
  (IsNotReady(node) ? zone.not_ready : zone.ready) += by;
}

void EvictionZones::Settle() {
  is_stopped_ = IsAllDisrupted();
  for (auto& [name, zone] : zones_) {
    zone.state = StateOf(zone);
    zone.interval = is_stopped_ ? absl::InfiniteDuration() : IntervalOf(zone, zone.state);
  }
}

bool EvictionZones::IsStale() const {
  const bool is_all = IsAllDisrupted();
  if (is_all != is_stopped_) return true;
  return !is_all && std::any_of(zones_.begin(), zones_.end(), [](const auto& entry) {
    return StateOf(entry.second) != entry.second.state;
  });
}

EvictionZones::Change EvictionZones::Update(absl::Time now) {
  const bool was_stopped = is_stopped_;
  is_stopped_ = IsAllDisrupted();
  if (is_stopped_ && was_stopped) return Change::kNone;
  for (auto& [name, zone] : zones_) {
    if (is_stopped_) {
      zone.state = State::kFullDisruption;
      SetInterval(zone, absl::InfiniteDuration(), now);
      zone.waiting.clear();
      continue;
    }
    const State state = StateOf(zone);
    if (state == zone.state && !was_stopped) continue;
    zone.state = state;
    SetInterval(zone, IntervalOf(zone, state), now);
  }
  if (is_stopped_) return Change::kStopped;
  return was_stopped ? Change::kResumed : Change::kNone;
}

void EvictionZones::Wait(const api::Node& node) { zones_[ZoneOf(node)].waiting.insert(node.metadata.name); }

bool EvictionZones::Waits(const api::Node& node) const {
  const auto zone = zones_.find(ZoneOf(node));
  return zone != zones_.end() && zone->second.waiting.count(node.metadata.name) > 0;
}

void EvictionZones::Forget(const api::Node& node) {
  const auto zone = zones_.find(ZoneOf(node));
  if (zone != zones_.end()) zone->second.waiting.erase(node.metadata.name);
}

std::optional<std::string> EvictionZones::Next(absl::Time now) {
  for (auto& [name, zone] : zones_) {
    if (zone.waiting.empty() || !TryAccept(zone, now)) continue;
    return zone.waiting.extract(zone.waiting.begin()).value();
  }
  return std::nullopt;
}

absl::Time EvictionZones::NextTime() const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [name, zone] : zones_) {
    const bool comes = !zone.waiting.empty() && zone.interval != absl::InfiniteDuration();
    if (comes) next = std::min(next, zone.next);
  }
  return next;
}

}  // namespace schedsim::sim
