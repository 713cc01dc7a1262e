#include "sim/actors/missed_changes.h"

#include <utility>

namespace schedsim::sim {

void MissedChanges::Add(const WatchEvent& event) {
  if (event.old_object == nullptr && event.new_object == nullptr) return;
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  const auto [found, is_new] = changes_.emplace(object.Key(), event);
  if (!is_new) found->second.new_object = event.new_object;
}

MissedChanges::Difference MissedChanges::Take() {
  Difference difference;
  for (auto& [key, change] : std::exchange(changes_, {})) {
    const api::ObjectPtr& known = change.old_object;
    const api::ObjectPtr& now = change.new_object;
    const bool is_same = known != nullptr && now != nullptr && known->metadata.uid == now->metadata.uid;
    if (is_same) {
      difference.others.push_back(change);
      continue;
    }
    if (known != nullptr) difference.deletions.push_back({.old_object = known, .new_object = nullptr});
    if (now != nullptr) difference.others.push_back({.old_object = nullptr, .new_object = now});
  }
  return difference;
}

}  // namespace schedsim::sim
