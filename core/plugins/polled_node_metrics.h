// What plugins know of the use of nodes that they ask a metrics server for now and then.
#ifndef SCHEDSIM_CORE_PLUGINS_POLLED_NODE_METRICS_H_
#define SCHEDSIM_CORE_PLUGINS_POLLED_NODE_METRICS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/custom_resources.h"
#include "core/base/lookup_map.h"
#include "core/framework/handle.h"

namespace schedsim::plugins {

// The NodeMetrics objects as they were at the last poll. Polls take no time and no calls: the one before
// somebody asks is made up for. The first one is when somebody asks first; the others are at the multiples of
// `period` since 1970, or at each moment where it is zero.
class PolledNodeMetrics : public framework::InformerHandler {
 public:
  enum class Gone : uint8_t {
    kStays,    // A node without metrics keeps the last ones that it had.
    kForgets,  // It has none from the next poll on.
  };

  // `handle` must outlive it; so must the handle's informers.
  PolledNodeMetrics(framework::Handle& handle, absl::Duration period, Gone gone);
  PolledNodeMetrics(const PolledNodeMetrics&) = delete;
  PolledNodeMetrics& operator=(const PolledNodeMetrics&) = delete;

  // nullptr: none. Valid until the next call.
  const api::NodeMetrics* Find(absl::string_view node_name);
  // When the poll was whose answers Find gives.
  absl::Time LastPoll() const;

  void OnChange(const api::Object* old_object, const api::Object* new_object) override;

 private:
  using MetricsPtr = std::shared_ptr<const api::NodeMetrics>;
  struct Change {
    absl::Time time;
    std::string node;
    MetricsPtr metrics;  // nullptr: there are none from now on.
  };
  // Takes in what the polls up to now have seen.
  void TakeIn();

  framework::Handle& handle_;
  const absl::Duration period_;
  const Gone gone_;
  std::optional<absl::Time> first_poll_;
  std::vector<Change> pending_;  // What no poll has seen yet, in order of time.
  LookupMap<std::string, MetricsPtr> known_;
};

// The value of a series in percent where the metrics have it by this name; absent: they don't.
std::optional<double> SeriesOf(const api::NodeMetrics& metrics, absl::string_view series);
// A quantity as a number.
double AsDouble(const api::Quantity& quantity);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_POLLED_NODE_METRICS_H_
