#include "sim/analysis/calibration.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/scheduler_config.h"
#include "core/base/percentile.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/objects.h"
#include "sim/replay/audit_replay.h"

namespace schedsim::sim {
namespace {

using Samples = std::vector<absl::Duration>;
// Shape: as AuditLog::pods.
using BindingTimes = std::vector<std::optional<absl::Time>>;

// Longer logs would take long to run, and are most likely wrong.
constexpr absl::Duration kSpanMax = absl::Hours(24 * 31);

std::optional<Percentiles> PercentilesOf(Samples samples) {
  if (static_cast<int64_t>(samples.size()) < kPodsMin) return std::nullopt;
  std::sort(samples.begin(), samples.end());
  return Percentiles{Percentile(samples, 50), Percentile(samples, 90), Percentile(samples, 99)};
}

// One node on which everything fits, and then a pod for each of `pods`, indexes into the pods of the log.
absl::StatusOr<std::vector<api::ObjectPtr>> MakePlainObjects(const AuditLog& log,
                                                             const std::vector<size_t>& pods) {
  std::string text = R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"node"},)"
                     R"("status":{"allocatable":{"cpu":"1","memory":"1Gi","pods":"1000000000"}}})";
  for (const size_t index : pods) {
    absl::StrAppend(&text,
                    R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default","name":"pod-)",
                    index, R"("},"spec":{"schedulerName":"default-scheduler","priority":)",
                    log.pods[index].priority, R"(,"containers":[{"name":"app","image":"app"}]}})");
  }
  std::vector<api::ObjectPtr> objects;
  codec::ObjectReader reader;
  RETURN_IF_ERROR(
      reader.ReadText(std::move(text), "pods.json", [&](api::ObjectPtr object, const codec::Location&) {
        objects.push_back(std::move(object));
        return absl::OkStatus();
      }));
  return objects;
}

absl::StatusOr<BindingTimes> PredictPlainPods(const AuditLog& log, const std::vector<size_t>& pods,
                                              SimulationOptions options) {
  BindingTimes bound(log.pods.size());
  if (pods.empty()) return bound;
  std::vector<api::ObjectPtr> objects;
  ASSIGN_OR_RETURN(objects, MakePlainObjects(log, pods));
  options.zero = log.pods[pods.front()].created - absl::Seconds(1);
  options.complete_admission = false;
  std::vector<Step> steps;
  for (size_t i = 0; i < pods.size(); ++i) {
    steps.push_back(
        {.at = log.AfterSilence(log.pods[pods[i]].created) - options.zero, .create = objects[i + 1]});
  }
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.at < b.at; });
  std::unique_ptr<Simulation> simulation;
  ASSIGN_OR_RETURN(simulation, Simulation::Make(std::move(options)));
  simulation->CreateObjects({objects.front()});
  simulation->AddSteps(std::move(steps));
  simulation->Run();
  for (const size_t index : pods) {
    const PodTimes* const times = simulation->FindPodTimes(absl::StrCat("default/pod-", index));
    if (times != nullptr) bound[index] = times->bound;
  }
  return bound;
}

// The pods that can count; of all others it notes why they do not.
std::vector<size_t> ChoosePods(const AuditLog& log, const SimulationOptions& options, Prediction& result) {
  std::set<std::string> profiles;
  for (const auto& profile : options.config.config.profiles) profiles.insert(profile.scheduler_name);
  std::vector<size_t> chosen;
  for (size_t i = 0; i < log.pods.size(); ++i) {
    const AuditPod& pod = log.pods[i];
    const std::string scheduler =
        pod.scheduler_name.empty() ? std::string(api::kDefaultSchedulerName) : pod.scheduler_name;
    if (pod.created_on_node || pod.bound_by_other || (pod.has_body && !profiles.contains(scheduler))) {
      ++result.not_scheduled_here;
    } else if (pod.gated) {
      ++result.gated;
    } else if (!result.is_replay && pod.first_attempt_failed) {
      ++result.failed_first;
    } else if (!result.is_replay && !pod.bound.has_value()) {
      ++result.in_neither;
    } else {
      chosen.push_back(i);
    }
  }
  return chosen;
}

void Compare(const AuditLog& log, const std::vector<size_t>& pods, const BindingTimes& bound,
             Prediction& result) {
  Samples real;
  Samples predicted;
  for (const size_t index : pods) {
    const AuditPod& pod = log.pods[index];
    if (!pod.bound.has_value() || !bound[index].has_value()) {
      ++(pod.bound.has_value()      ? result.only_in_log
         : bound[index].has_value() ? result.only_predicted
                                    : result.in_neither);
      continue;
    }
    const absl::Time from = log.AfterSilence(pod.created);
    if (from != pod.created) ++result.late_count;
    if (pod.paired_by_order) ++result.paired_by_order;
    real.push_back(std::max(*pod.bound - from, absl::ZeroDuration()));
    predicted.push_back(std::max(*bound[index] - from, absl::ZeroDuration()));
  }
  result.pod_count = static_cast<int64_t>(real.size());
  result.real = PercentilesOf(std::move(real));
  result.predicted = PercentilesOf(std::move(predicted));
}

}  // namespace

absl::StatusOr<Prediction> Predict(const AuditLog& log, const LatencyModel& model,
                                   SimulationOptions options) {
  Prediction result;
  result.model = model;
  result.is_replay = log.no_replay.empty();
  result.no_replay = log.no_replay;
  result.event_count = log.event_count;
  result.call_count = static_cast<int64_t>(log.calls.size());
  result.without_creation = log.bound_without_creation;
  if (!log.changes.empty() && log.changes.back().at - log.changes.front().at > kSpanMax) {
    return absl::InvalidArgumentError("writes more than 31 days apart, expected the log of one run");
  }
  const std::vector<size_t> pods = ChoosePods(log, options, result);
  options.latency = model;
  BindingTimes bound;
  if (result.is_replay) {
    ReplayResult replay;
    ASSIGN_OR_RETURN(replay, ReplayAuditLog(log, options));
    bound = std::move(replay.bound);
    bound.resize(log.pods.size());
    result.applied = replay.applied;
    result.ignored = replay.ignored;
    result.first_ignored = replay.first_ignored;
  } else {
    ASSIGN_OR_RETURN(bound, PredictPlainPods(log, pods, std::move(options)));
  }
  Compare(log, pods, bound, result);
  return result;
}

}  // namespace schedsim::sim
