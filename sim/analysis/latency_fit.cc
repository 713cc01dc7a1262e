#include "sim/analysis/latency_fit.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/percentile.h"
#include "core/base/rng.h"

namespace schedsim::sim {
namespace {

using Samples = std::vector<absl::Duration>;

// A client's limit shows only in a backlog that is a good deal longer than its burst.
constexpr size_t kLimitCallsMin = 300;
// Calls at the start of a backlog that say how fast the client is without the limit.
constexpr size_t kStartCalls = 50;
// Parts of the second half of a backlog that must have the same rate.
constexpr size_t kRateParts = 4;
// How often median and tail of the informers are fitted in turn; they hardly move any more then.
constexpr int kInformerRounds = 6;
// About so many writes are tried for each guess: short logs are gone through more than once.
constexpr size_t kWritesTried = 5'000;

absl::Duration NotNegative(absl::Duration duration) { return std::max(duration, absl::ZeroDuration()); }

// The log has microseconds.
absl::Duration WholeMicroseconds(absl::Duration duration) {
  return absl::Floor(duration + absl::Nanoseconds(500), absl::Microseconds(1));
}

// The smallest duration from `low` to `high`, in microseconds, for which `reaches` holds, or `high`. It must
// hold for all above one for which it does.
template <typename Predicate>
absl::Duration Smallest(absl::Duration low, absl::Duration high, const Predicate& reaches) {
  int64_t below = absl::ToInt64Microseconds(low);
  int64_t above = std::max(absl::ToInt64Microseconds(high), below);
  while (below < above) {
    const int64_t middle = below + (above - below) / 2;
    if (reaches(absl::Microseconds(middle))) {
      above = middle;
    } else {
      below = middle + 1;
    }
  }
  return absl::Microseconds(above);
}

// Scenarios want a unit.
std::string DurationValue(absl::Duration duration) {
  return duration == absl::ZeroDuration() ? "0s" : absl::FormatDuration(duration);
}

class Fitter {
 public:
  explicit Fitter(const AuditLog& log) : log_(log) {}

  LatencyFit Fit();

 private:
  FittedPart* Begin(absl::string_view name, int64_t sample_count, absl::string_view reason,
                    const std::string& value);
  void FitLogNormal(absl::string_view name, Samples samples, absl::string_view reason, Latency& part);
  static void SetLogNormal(absl::Duration median, absl::Duration p99, FittedPart& fitted, Latency& part);
  void FitInformer(const std::vector<size_t>& pods);
  // How long after their creation informers hear of `pods`, if each write takes `latency` and none overtakes
  // another. Sorted.
  Samples HearInOrder(const std::vector<size_t>& pods, const Latency& latency) const;
  void FitMean(absl::string_view name, const Samples& samples, absl::string_view reason, Latency& part);
  FittedPart FitLimit(const std::vector<bool>& backlog);

  // Pods that come when no other waits: the scheduler's first call follows as soon as it hears of them.
  std::vector<size_t> IdlePods() const;
  Samples InformerSamples(const std::vector<size_t>& pods) const;
  // Shape: by call. Whether its pod had been waiting when the call before it started.
  std::vector<bool> FindBacklog(absl::Duration informer) const;
  Samples CycleSamples(const std::vector<bool>& backlog) const;
  Samples CallSamples() const;
  Samples TerminationSamples() const;

  const AuditPod* PodOf(const SchedulerCall& call) const {
    return call.pod < 0 ? nullptr : &log_.pods[static_cast<size_t>(call.pod)];
  }

  const AuditLog& log_;
  LatencyFit result_;
};

// Adds a part that keeps its default; nullptr where the samples are too few for more.
FittedPart* Fitter::Begin(absl::string_view name, int64_t sample_count, absl::string_view reason,
                          const std::string& value) {
  result_.parts.push_back({.name = std::string(name), .value = value, .sample_count = sample_count});
  FittedPart& part = result_.parts.back();
  if (sample_count < kSamplesMin) {
    part.reason = absl::StrCat("default: ", sample_count, " samples (", reason, "), at least ", kSamplesMin,
                               " are needed");
    return nullptr;
  }
  part.fitted = true;
  part.reason = absl::StrCat(sample_count, " samples: ", reason);
  return &part;
}

// By median and 90th percentile, the two of the percentiles asked for that few samples show; the p99 follows
// from them. Constant where the two are next to the same.
void Fitter::FitLogNormal(absl::string_view name, Samples samples, absl::string_view reason, Latency& part) {
  std::sort(samples.begin(), samples.end());
  FittedPart* fitted = Begin(name, static_cast<int64_t>(samples.size()), reason,
                             part.ToString() == "0" ? "0s" : part.ToString());
  if (fitted == nullptr) return;
  const absl::Duration median = std::clamp(Percentile(samples, 50), absl::ZeroDuration(), Latency::kMax);
  const absl::Duration p90 = std::clamp(Percentile(samples, 90), median, Latency::kMax);
  // A lognormal has no median of zero.
  const absl::Duration positive = std::max(median, absl::Microseconds(1));
  SetLogNormal(median, Latency::LogNormalP99(positive, std::max(p90, positive)), *fitted, part);
}

void Fitter::SetLogNormal(absl::Duration median, absl::Duration p99, FittedPart& fitted, Latency& part) {
  p99 = std::min(WholeMicroseconds(p99), Latency::kMax);
  if (p99 * 100 <= median * 105 || p99 <= absl::Microseconds(1)) {
    part = Latency(median);
    fitted.value = DurationValue(median);
    return;
  }
  const absl::Duration positive = std::max(median, absl::Microseconds(1));
  part = Latency::LogNormal(positive, p99);
  fitted.value = absl::StrCat("{distribution: lognormal, median: ", absl::FormatDuration(positive),
                              ", p99: ", absl::FormatDuration(p99), "}");
}

void Fitter::FitMean(absl::string_view name, const Samples& samples, absl::string_view reason,
                     Latency& part) {
  const auto count = static_cast<int64_t>(samples.size());
  FittedPart* fitted = Begin(name, count, reason, part.ToString());
  if (fitted == nullptr) return;
  absl::Duration sum;
  for (const absl::Duration sample : samples) sum += sample;
  const absl::Duration mean = std::clamp(WholeMicroseconds(sum / count), absl::ZeroDuration(), Latency::kMax);
  part = Latency(mean);
  fitted->value = DurationValue(mean);
}

std::vector<size_t> Fitter::IdlePods() const {
  std::vector<size_t> idle;
  absl::Time busy_until = absl::InfinitePast();
  for (size_t i = 0; i < log_.pods.size(); ++i) {
    const AuditPod& pod = log_.pods[i];
    if (!pod.first_call.has_value()) continue;
    const bool is_plain = !pod.gated && !pod.has_claims && !pod.first_attempt_failed && !pod.created_on_node;
    if (is_plain && busy_until <= pod.created && log_.AfterSilence(pod.created) == pod.created)
      idle.push_back(i);
    busy_until = std::max(busy_until, *pod.first_call);
  }
  return idle;
}

Samples Fitter::InformerSamples(const std::vector<size_t>& pods) const {
  Samples samples;
  for (const size_t pod : pods)
    samples.push_back(NotNegative(*log_.pods[pod].first_call - log_.pods[pod].created));
  std::sort(samples.begin(), samples.end());
  return samples;
}

Samples Fitter::HearInOrder(const std::vector<size_t>& pods, const Latency& latency) const {
  Samples samples;
  Rng rng = Rng(1).Fork("calibrate/informer");
  for (size_t tried = 0; tried < kWritesTried; tried += log_.pod_writes.size()) {
    absl::Time last = absl::InfinitePast();
    for (const AuditLog::PodWrite& write : log_.pod_writes) {
      last = std::max(last + absl::Microseconds(1), write.at + latency.Draw(rng));
      const bool is_sample =
          write.created_pod >= 0 &&
          std::binary_search(pods.begin(), pods.end(), static_cast<size_t>(write.created_pod));
      if (is_sample) samples.push_back(last - write.at);
    }
  }
  std::sort(samples.begin(), samples.end());
  return samples;
}

// Who waits for a straggler is late, too: a watch keeps its order. So what the log shows are delays, and the
// latencies behind them are less far apart. Those are taken whose delays have the median and the 90th
// percentile of the log's.
void Fitter::FitInformer(const std::vector<size_t>& pods) {
  Latency& part = result_.model.informer;
  FittedPart* fitted = Begin("informer", static_cast<int64_t>(pods.size()),
                             "from a creation, when no other pod waits, to the scheduler's call", "0s");
  if (fitted == nullptr) return;
  const Samples samples = InformerSamples(pods);
  const absl::Duration smallest = absl::Microseconds(1);
  const absl::Duration p50 = std::clamp(Percentile(samples, 50), smallest, Latency::kMax);
  const absl::Duration p90 = std::clamp(Percentile(samples, 90), p50, Latency::kMax);
  absl::Duration median = p50;
  absl::Duration p99 = Latency::LogNormalP99(p50, p90);
  const absl::Duration p99_max = p99;
  for (int round = 0; round < kInformerRounds; ++round) {
    p99 = Smallest(median, std::max(p99_max, median), [&](absl::Duration value) {
      return Percentile(HearInOrder(pods, Latency::LogNormal(median, value)), 90) >= p90;
    });
    median = Smallest(smallest, std::min(p50, p99), [&](absl::Duration value) {
      return Percentile(HearInOrder(pods, Latency::LogNormal(value, p99)), 50) >= p50;
    });
  }
  SetLogNormal(median, p99, *fitted, part);
}

std::vector<bool> Fitter::FindBacklog(absl::Duration informer) const {
  std::vector<bool> backlog(log_.calls.size(), false);
  for (size_t i = 1; i < log_.calls.size(); ++i) {
    const SchedulerCall& call = log_.calls[i];
    const AuditPod* pod = PodOf(call);
    if (pod == nullptr || pod->gated || pod->first_call != call.start) continue;
    const absl::Time before = log_.calls[i - 1].start;
    backlog[i] = pod->created + informer <= before && call.start - before < kSilence;
  }
  return backlog;
}

// In a long backlog a client with a limit makes its first calls as fast as it can, and then so many a second.
FittedPart Fitter::FitLimit(const std::vector<bool>& backlog) {
  FittedPart part = {.name = "client", .value = "{qps: 0}"};
  part.reason = "default: the log has no backlog of calls that is fast first and steady and slower then";
  size_t first = 0;
  size_t count = 0;
  for (size_t start = 0, i = 1; i <= backlog.size(); ++i) {
    if (i < backlog.size() && backlog[i]) continue;
    if (i - start > count) {
      first = start;
      count = i - start;
    }
    start = i;
  }
  if (count < kLimitCallsMin) return part;
  const auto microseconds = [&](size_t from, size_t to) {
    const absl::Duration span = log_.calls[first + to].start - log_.calls[first + from].start;
    return std::max<int64_t>(absl::ToInt64Microseconds(span), 1);
  };
  // Thousandths of a call a second.
  const auto rate_of = [&](size_t from, size_t to) {
    return static_cast<int64_t>(to - from) * 1'000'000'000 / microseconds(from, to);
  };
  const size_t half = count / 2;
  const int64_t rate = rate_of(half, count - 1);
  bool steady = rate > 0 && rate_of(0, kStartCalls) >= 2 * rate;
  for (size_t i = 0; i < kRateParts; ++i) {
    const int64_t of_part =
        rate_of(half + (count - 1 - half) * i / kRateParts, half + (count - 1 - half) * (i + 1) / kRateParts);
    steady = steady && of_part * 6 > rate * 5 && of_part * 5 < rate * 6;
  }
  if (!steady) return part;
  // The bucket held what was called beyond the rate.
  int64_t burst = 1;
  for (size_t i = 1; i < count; ++i) {
    const int64_t refilled = rate * microseconds(0, i) / 1'000'000'000;
    burst = std::max(burst, static_cast<int64_t>(i) + 1 - refilled);
  }
  const int64_t qps = std::max<int64_t>((rate + 500) / 1000, 1);
  result_.model.client = {.milli_qps = qps * 1000, .burst = burst};
  part.value = absl::StrCat("{qps: ", qps, ", burst: ", burst, "}");
  part.sample_count = static_cast<int64_t>(count);
  part.fitted = true;
  part.reason = absl::StrCat(count, " calls in a row of a backlog: fast first, then steady");
  return part;
}

// From one binding to the next call while pods wait, but not while the client waits for tokens. A failed
// attempt waits for its status to be written, and one with claims makes other calls first: neither counts.
Samples Fitter::CycleSamples(const std::vector<bool>& backlog) const {
  Samples samples;
  ClientLimit limit = result_.model.client;
  // Only while half of the bucket is left, which the calls of a client that waits are far from.
  limit.burst = std::max<int64_t>(limit.burst / 2, 1);
  TokenBucket bucket(limit);
  for (size_t i = 0; i < log_.calls.size(); ++i) {
    const SchedulerCall& call = log_.calls[i];
    const bool has_token = bucket.Take(call.start) == absl::ZeroDuration();
    if (!backlog[i] || !has_token) continue;
    const SchedulerCall& before = log_.calls[i - 1];
    const AuditPod* pod_before = PodOf(before);
    const bool is_plain =
        before.is_binding && pod_before != nullptr && !pod_before->has_claims && !PodOf(call)->has_claims;
    if (is_plain) samples.push_back(call.start - before.start);
  }
  return samples;
}

Samples Fitter::CallSamples() const {
  Samples samples;
  for (const SchedulerCall& call : log_.calls) samples.push_back(NotNegative(call.end - call.start));
  return samples;
}

Samples Fitter::TerminationSamples() const {
  Samples samples;
  for (const AuditPod& pod : log_.pods) {
    if (!pod.bound.has_value() || !pod.deleted.has_value() || !pod.gone.has_value()) continue;
    if (*pod.deleted >= *pod.bound && *pod.gone >= *pod.deleted) samples.push_back(*pod.gone - *pod.deleted);
  }
  return samples;
}

LatencyFit Fitter::Fit() {
  LatencyModel& model = result_.model;
  const std::vector<size_t> idle = IdlePods();
  const Samples informer = InformerSamples(idle);
  const bool known = static_cast<int64_t>(informer.size()) >= kSamplesMin;
  // A pod that was created so long ago has been heard of.
  const std::vector<bool> backlog = FindBacklog(known ? Percentile(informer, 99) : absl::ZeroDuration());
  // The limit says which gaps are the client's and not the scheduler's.
  const FittedPart limit = FitLimit(backlog);
  FitMean("schedulingCycle", CycleSamples(backlog),
          "mean, from a binding of the scheduler to its next call while pods wait", model.scheduling_cycle);
  result_.parts.push_back({.name = "binding", .value = "0s"});
  result_.parts.back().reason =
      "default: a log of calls does not tell it from informers and scheduling cycle";
  FitInformer(idle);
  FitLogNormal("apiCall", CallSamples(), "the scheduler's calls, from receipt to answer", model.api_call);
  FitLogNormal("podTermination", TerminationSamples(),
               "bound pods, from deletion to the deletion with grace period 0", model.pod_termination);
  result_.parts.push_back(limit);
  return std::move(result_);
}

}  // namespace

LatencyFit FitLatencies(const AuditLog& log) { return Fitter(log).Fit(); }

}  // namespace schedsim::sim
