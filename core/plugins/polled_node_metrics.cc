#include "core/plugins/polled_node_metrics.h"

#include <algorithm>
#include <utility>

#include "core/framework/custom_resources.h"

namespace schedsim::plugins {

PolledNodeMetrics::PolledNodeMetrics(framework::Handle& handle, absl::Duration period, Gone gone)
    : handle_(handle), period_(period), gone_(gone) {
  handle.AddInformerHandler(*this);
}

void PolledNodeMetrics::OnChange(const api::Object* old_object, const api::Object* new_object) {
  const api::Object& object = new_object == nullptr ? *old_object : *new_object;
  if (api::CustomKindOf(object) != api::CustomKind::kNodeMetrics) return;
  MetricsPtr metrics;
  if (new_object != nullptr) {
    metrics = framework::FindCustom<api::NodeMetrics>(handle_.informers(), "", object.metadata.name);
  } else if (gone_ == Gone::kStays) {
    return;
  }
  // So no more is pending than one period brings, however long nobody asks.
  TakeIn();
  pending_.push_back(
      {.time = handle_.clock().Now(), .node = object.metadata.name, .metrics = std::move(metrics)});
}

absl::Time PolledNodeMetrics::LastPoll() const {
  const absl::Time now = handle_.clock().Now();
  if (period_ <= absl::ZeroDuration()) return now;
  const absl::Time on_grid = absl::UnixEpoch() + absl::Floor(now - absl::UnixEpoch(), period_);
  return std::max(on_grid, first_poll_.value_or(now));
}

void PolledNodeMetrics::TakeIn() {
  // Before the first poll all is taken in: it will see that.
  const absl::Time last = LastPoll();
  size_t seen = 0;
  for (; seen < pending_.size() && pending_[seen].time <= last; ++seen) {
    known_[pending_[seen].node] = std::move(pending_[seen].metrics);
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(seen));
}

const api::NodeMetrics* PolledNodeMetrics::Find(absl::string_view node_name) {
  if (!first_poll_.has_value()) first_poll_ = handle_.clock().Now();
  TakeIn();
  const MetricsPtr* const metrics = known_.Find(node_name);
  return metrics == nullptr ? nullptr : metrics->get();
}

double AsDouble(const api::Quantity& quantity) {
  // A whole part and what is left are exact, each for itself.
  constexpr __int128 kNanosPerUnit = 1'000'000'000;
  const __int128 nano = quantity.NanoValue();
  return static_cast<double>(static_cast<int64_t>(nano / kNanosPerUnit)) +
         static_cast<double>(static_cast<int64_t>(nano % kNanosPerUnit)) / 1e9;
}

std::optional<double> SeriesOf(const api::NodeMetrics& metrics, absl::string_view series) {
  const api::Quantity* const value = metrics.usage.Find(series);
  if (value == nullptr) return std::nullopt;
  return AsDouble(*value);
}

}  // namespace schedsim::plugins
