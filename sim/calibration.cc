#include "sim/calibration.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/codec/objects.h"
#include "sim/json_writer.h"
#include "sim/percentile.h"

namespace schedsim::sim {
namespace {

using Samples = std::vector<absl::Duration>;

// A scheduler that leaves a pod alone for so long does not run.
constexpr absl::Duration kSilence = absl::Seconds(5);
// Longer logs would take long to run, and are most likely wrong.
constexpr absl::Duration kSpanMax = absl::Hours(24 * 366);
// Samples whose p99 is not further above their median are as good as constant.
constexpr double kConstantRatio = 1.05;
// A client's limit shows only in a backlog that is a good deal longer than its burst.
constexpr size_t kLimitCallsMin = 300;
// Calls of the bucket that may be missing before it counts as empty.
constexpr double kSpareTokens = 5;

Percentiles PercentilesOf(Samples samples) {
  std::sort(samples.begin(), samples.end());
  return {Percentile(samples, 50), Percentile(samples, 90), Percentile(samples, 99)};
}

absl::Duration NotNegative(absl::Duration duration) { return std::max(duration, absl::ZeroDuration()); }

// A pod that counts.
struct Arrival {
  absl::Time created;
  // When the scheduler can have heard of it: `created`, or the end of a silence.
  absl::Time at;
  absl::Time binding_started;
  absl::Time bound;
  int32_t priority = 0;
  bool late() const { return at != created; }
};

class Fitter {
 public:
  Fitter(const AuditLog& log, Calibration& result) : log_(log), result_(result) {}

  // The pods that count, by creation.
  std::vector<Arrival> ChooseArrivals();
  void FitModel(const std::vector<Arrival>& arrivals);

 private:
  // The start of the first call at or after `time`; InfiniteFuture: there is none.
  absl::Time NextCall(absl::Time time) const;
  // How many calls start before `time`.
  size_t CallsBefore(absl::Time time) const;
  void Fit(absl::string_view name, const Samples& samples, absl::string_view reason, Latency& part);
  void Keep(absl::string_view name, absl::string_view value, absl::string_view reason);

  Samples InformerSamples(const std::vector<Arrival>& arrivals) const;
  // Per call: whether its pod had been waiting when the call before it started.
  std::vector<bool> FindBacklog(absl::Duration informer) const;
  void FitLimit(const std::vector<bool>& backlog);
  Samples CycleSamples(const std::vector<bool>& backlog) const;
  Samples CallSamples() const;
  Samples TerminationSamples() const;

  const AuditLog& log_;
  Calibration& result_;
};

size_t Fitter::CallsBefore(absl::Time time) const {
  const auto at = std::lower_bound(log_.calls.begin(), log_.calls.end(), time,
                                   [](const SchedulerCall& call, absl::Time t) { return call.start < t; });
  return static_cast<size_t>(at - log_.calls.begin());
}

absl::Time Fitter::NextCall(absl::Time time) const {
  const size_t index = CallsBefore(time);
  return index < log_.calls.size() ? log_.calls[index].start : absl::InfiniteFuture();
}

std::vector<Arrival> Fitter::ChooseArrivals() {
  std::vector<Arrival> arrivals;
  for (const AuditPod& pod : log_.pods) {
    if (pod.gated) {
      ++result_.gated;
    } else if (pod.first_attempt_failed) {
      ++result_.failed_first;
    } else if (!pod.bound.has_value() || !pod.binding_started.has_value()) {
      ++result_.not_bound;
    } else if (*pod.binding_started < pod.created && *pod.bound < pod.created) {
      // Of another life of the name, or paired in vain.
      ++result_.without_creation;
    } else {
      if (pod.paired_by_order) ++result_.paired_by_order;
      arrivals.push_back({.created = pod.created,
                          .at = pod.created,
                          .binding_started = *pod.binding_started,
                          .bound = *pod.bound,
                          .priority = pod.priority});
    }
  }
  result_.without_creation += log_.bound_without_creation;
  // Pods of one silence follow one another; its first pod says whether it is one.
  absl::Time silence_end = absl::InfinitePast();
  absl::Time call = absl::InfinitePast();
  for (Arrival& arrival : arrivals) {
    const absl::Time next = NextCall(arrival.created);
    if (next != call && next < absl::InfiniteFuture() && next - arrival.created >= kSilence) silence_end = next;
    call = next;
    if (next == silence_end) {
      arrival.at = next;
      ++result_.late_count;
    }
  }
  result_.pod_count = static_cast<int64_t>(arrivals.size());
  return arrivals;
}

// Scenarios want a unit.
std::string DurationValue(std::string text) { return text == "0" ? "0s" : text; }

std::string LatencyValue(const std::string& median, const std::string& p99) {
  return absl::StrCat("{distribution: lognormal, median: ", median, ", p99: ", p99, "}");
}

void Fitter::Keep(absl::string_view name, absl::string_view value, absl::string_view reason) {
  result_.parts.push_back({.name = std::string(name), .value = std::string(value), .reason = std::string(reason)});
}

// Lognormal by median and p99 (or p90, where that says less), or constant; in microseconds, as the log.
void Fitter::Fit(absl::string_view name, const Samples& samples, absl::string_view reason, Latency& part) {
  FittedPart fitted = {.name = std::string(name), .sample_count = static_cast<int64_t>(samples.size())};
  if (fitted.sample_count < kSamplesMin) {
    fitted.value = DurationValue(part.ToString());
    fitted.reason = absl::StrCat("default: ", fitted.sample_count, " samples of ", reason, ", at least ",
                                 kSamplesMin, " are needed");
    result_.parts.push_back(std::move(fitted));
    return;
  }
  const Percentiles of = PercentilesOf(samples);
  const absl::Duration median = std::clamp(of.p50, absl::ZeroDuration(), Latency::kMax);
  // Of a lognormal, ln(p99/p50) is 1.815 times ln(p90/p50); a few stragglers do not make the tail.
  const double spread = absl::ToDoubleSeconds(of.p90) / std::max(absl::ToDoubleSeconds(median), 1e-6);
  const absl::Duration tail = absl::Microseconds(
      std::llround(std::max(absl::ToDoubleMicroseconds(median), 1.0) * std::pow(std::max(spread, 1.0), 1.815)));
  const absl::Duration p99 = std::clamp(std::min(of.p99, tail), median, Latency::kMax);
  if (absl::ToDoubleSeconds(p99) <= kConstantRatio * absl::ToDoubleSeconds(median)) {
    part = Latency(median);
    fitted.value = DurationValue(absl::FormatDuration(median));
  } else {
    // A lognormal has no median of zero.
    const absl::Duration positive = std::max(median, absl::Microseconds(1));
    part = Latency::LogNormal(positive, p99);
    fitted.value = LatencyValue(absl::FormatDuration(positive), absl::FormatDuration(p99));
  }
  fitted.fitted = true;
  fitted.reason = absl::StrCat(fitted.sample_count, " samples: ", reason);
  result_.parts.push_back(std::move(fitted));
}

// Of pods that come when no other waits: from the creation to the scheduler's call.
Samples Fitter::InformerSamples(const std::vector<Arrival>& arrivals) const {
  Samples samples;
  absl::Time busy_until = absl::InfinitePast();
  for (const Arrival& arrival : arrivals) {
    if (busy_until <= arrival.created && !arrival.late()) {
      samples.push_back(NotNegative(arrival.binding_started - arrival.created));
    }
    busy_until = std::max(busy_until, arrival.binding_started);
  }
  return samples;
}

std::vector<bool> Fitter::FindBacklog(absl::Duration informer) const {
  std::vector<bool> backlog(log_.calls.size(), false);
  for (size_t i = 1; i < log_.calls.size(); ++i) {
    const SchedulerCall& call = log_.calls[i];
    if (call.pod < 0) continue;
    const AuditPod& pod = log_.pods[static_cast<size_t>(call.pod)];
    // Later attempts wait for something else.
    const bool first = !pod.gated && pod.first_call.has_value() && *pod.first_call == call.start;
    const absl::Time before = log_.calls[i - 1].start;
    backlog[i] = first && pod.created + informer <= before && call.start - before < kSilence;
  }
  return backlog;
}

void Fitter::FitLimit(const std::vector<bool>& backlog) {
  constexpr absl::string_view kUnknown =
      "default: the log has no backlog of calls that is fast first and steady and slower then";
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
  const auto seconds = [&](size_t from, size_t to) {
    return absl::ToDoubleSeconds(log_.calls[first + to].start - log_.calls[first + from].start);
  };
  if (count < kLimitCallsMin) return Keep("client", "{qps: 0}", kUnknown);
  const size_t half = count / 2;
  const double rate = static_cast<double>(count - 1 - half) / std::max(seconds(half, count - 1), 1e-6);
  constexpr size_t kStart = 50;
  const double start_rate = static_cast<double>(kStart) / std::max(seconds(0, kStart), 1e-6);
  // The same rate in each quarter of the second half.
  bool steady = true;
  constexpr size_t kParts = 4;
  for (size_t part = 0; part < kParts; ++part) {
    const size_t from = half + (count - 1 - half) * part / kParts;
    const size_t to = half + (count - 1 - half) * (part + 1) / kParts;
    const double of_part = static_cast<double>(to - from) / std::max(seconds(from, to), 1e-6);
    steady = steady && of_part > rate / 1.2 && of_part < rate * 1.2;
  }
  if (!steady || start_rate < 2 * rate) return Keep("client", "{qps: 0}", kUnknown);
  double burst = 1;
  for (size_t i = 0; i < count; ++i) burst = std::max(burst, static_cast<double>(i + 1) - rate * seconds(0, i));
  ClientLimit& limit = result_.model.client;
  limit.milli_qps = std::llround(rate) * 1000;
  limit.burst = std::llround(burst);
  result_.parts.push_back({.name = "client",
                           .value = absl::StrCat("{qps: ", limit.milli_qps / 1000, ", burst: ", limit.burst, "}"),
                           .sample_count = static_cast<int64_t>(count),
                           .fitted = true,
                           .reason = absl::StrCat(count, " calls in a row of a backlog: fast first, then steady")});
}

// From call to call while pods wait, but not while the client waits for tokens.
Samples Fitter::CycleSamples(const std::vector<bool>& backlog) const {
  Samples samples;
  const ClientLimit& limit = result_.model.client;
  double tokens = static_cast<double>(limit.burst);
  for (size_t i = 1; i < log_.calls.size(); ++i) {
    const absl::Duration gap = log_.calls[i].start - log_.calls[i - 1].start;
    if (limit.milli_qps > 0) {
      const double refill = absl::ToDoubleSeconds(gap) * static_cast<double>(limit.milli_qps) / 1000;
      tokens = std::min(static_cast<double>(limit.burst), tokens - 1 + refill);
    }
    if (backlog[i] && (limit.milli_qps == 0 || tokens > kSpareTokens)) samples.push_back(gap);
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

void Fitter::FitModel(const std::vector<Arrival>& arrivals) {
  LatencyModel& model = result_.model;
  const Samples informer = InformerSamples(arrivals);
  const bool known = static_cast<int64_t>(informer.size()) >= kSamplesMin;
  const std::vector<bool> backlog =
      FindBacklog(known ? PercentilesOf(informer).p99 : absl::ZeroDuration());
  // The limit says which gaps are the client's and not the scheduler's.
  FitLimit(backlog);
  const FittedPart limit = result_.parts.back();
  result_.parts.clear();
  // Bindings run beside one another: their starts stray more than the cycles do, so the median stands for all.
  Samples cycles = CycleSamples(backlog);
  if (static_cast<int64_t>(cycles.size()) >= kSamplesMin) {
    const absl::Duration median = PercentilesOf(cycles).p50;
    std::fill(cycles.begin(), cycles.end(), median);
  }
  Fit("schedulingCycle", cycles, "median, from one call of the scheduler to the next while pods wait",
      model.scheduling_cycle);
  Keep("binding", "0s", "default: a log of calls does not tell it from informers and scheduling cycle");
  Fit("informer", informer, "from a creation, when no other pod waits, to the scheduler's call", model.informer);
  Fit("apiCall", CallSamples(), "the scheduler's calls, from receipt to answer", model.api_call);
  Fit("podTermination", TerminationSamples(), "bound pods, from deletion to the deletion with grace period 0",
      model.pod_termination);
  result_.parts.push_back(limit);
}

// One node on which everything fits, and the step that creates each pod.
absl::StatusOr<std::vector<api::ObjectPtr>> MakeObjects(const std::vector<Arrival>& arrivals) {
  std::string text =
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"node"},)"
      R"("status":{"allocatable":{"cpu":"1","memory":"1Gi","pods":"1000000000"}}})";
  for (size_t i = 0; i < arrivals.size(); ++i) {
    absl::StrAppend(&text, R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default","name":"pod-)",
                    i, R"("},"spec":{"schedulerName":"default-scheduler","priority":)", arrivals[i].priority,
                    R"(,"containers":[{"name":"app","image":"app"}]}})");
  }
  std::vector<api::ObjectPtr> objects;
  codec::ObjectReader reader;
  RETURN_IF_ERROR(reader.ReadText(std::move(text), "arrivals.json",
                                  [&](api::ObjectPtr object, const codec::Location&) {
                                    objects.push_back(std::move(object));
                                    return absl::OkStatus();
                                  }));
  return objects;
}

// From arrival to binding, in virtual time.
absl::StatusOr<Samples> Predict(const std::vector<Arrival>& arrivals, SimulationOptions options) {
  std::vector<api::ObjectPtr> objects;
  ASSIGN_OR_RETURN(objects, MakeObjects(arrivals));
  options.zero = arrivals.front().at - absl::Seconds(1);
  options.complete_admission = false;
  if (arrivals.back().at - options.zero > kSpanMax) {
    return absl::InvalidArgumentError("creations of pods more than a year apart, expected the log of one run");
  }
  std::vector<Step> steps;
  for (size_t i = 0; i < arrivals.size(); ++i) {
    steps.push_back({.at = arrivals[i].at - options.zero, .create = objects[i + 1]});
  }
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.at < b.at; });
  std::unique_ptr<Simulation> simulation;
  ASSIGN_OR_RETURN(simulation, Simulation::Make(std::move(options)));
  simulation->CreateObjects({objects.front()});
  simulation->AddSteps(std::move(steps));
  simulation->Run();
  Samples samples;
  for (const auto& [key, times] : simulation->pod_times()) {
    if (times.bound.has_value()) samples.push_back(*times.bound - *times.queued);
  }
  if (samples.size() != arrivals.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the scheduler's configuration binds ", samples.size(), " of ", arrivals.size(),
                     " plain pods, expected one with a profile default-scheduler that binds all"));
  }
  return samples;
}

std::string Milliseconds(absl::Duration duration) {
  return absl::StrFormat("%.3fms", absl::ToDoubleMilliseconds(duration));
}

void AppendRow(absl::string_view name, absl::Duration predicted, absl::Duration real, std::string& text) {
  absl::StrAppendFormat(&text, "  %s  %14s  %14s\n", name, Milliseconds(predicted), Milliseconds(real));
}

void WritePercentiles(absl::string_view key, const Percentiles& of, JsonWriter& json) {
  json.Key(key).BeginObject();
  json.Field("p50", absl::ToInt64Microseconds(of.p50));
  json.Field("p90", absl::ToInt64Microseconds(of.p90));
  json.Field("p99", absl::ToInt64Microseconds(of.p99)).EndObject();
}

}  // namespace

absl::StatusOr<Calibration> Calibrate(const AuditLog& log, SimulationOptions options) {
  Calibration result;
  result.event_count = log.event_count;
  result.call_count = static_cast<int64_t>(log.calls.size());
  Fitter fitter(log, result);
  std::vector<Arrival> arrivals = fitter.ChooseArrivals();
  if (result.pod_count < kSamplesMin) {
    return absl::InvalidArgumentError(absl::StrCat(
        "too few pods: ", result.pod_count, " with a creation and a first attempt that bound them, expected at least ",
        kSamplesMin, " (", result.failed_first, " failed first, ", result.not_bound, " not bound, ", result.gated,
        " gated, ", result.without_creation, " without a creation; ", result.call_count, " calls of the scheduler)"));
  }
  fitter.FitModel(arrivals);
  Samples real;
  for (const Arrival& arrival : arrivals) real.push_back(NotNegative(arrival.bound - arrival.at));
  result.real = PercentilesOf(std::move(real));
  options.latency = result.model;
  Samples predicted;
  ASSIGN_OR_RETURN(predicted, Predict(arrivals, std::move(options)));
  result.predicted = PercentilesOf(std::move(predicted));
  return result;
}

std::string CalibrationText(const Calibration& calibration) {
  std::string text = absl::StrCat("# ", calibration.event_count, " events, ", calibration.call_count,
                                  " calls of the scheduler\nlatency:\n");
  for (const FittedPart& part : calibration.parts) {
    absl::StrAppend(&text, "  # ", part.reason, "\n  ", part.name, ": ", part.value, "\n");
  }
  absl::StrAppend(&text, "\nFrom creation to binding, ", calibration.pod_count, " pods\n");
  absl::StrAppendFormat(&text, "       %14s  %14s\n", "predicted", "real");
  AppendRow("p50", calibration.predicted.p50, calibration.real.p50, text);
  AppendRow("p90", calibration.predicted.p90, calibration.real.p90, text);
  AppendRow("p99", calibration.predicted.p99, calibration.real.p99, text);
  absl::StrAppend(&text, "  predicted: virtual time; model: ", calibration.model.ToString(), "\n");
  absl::StrAppend(&text, "  left out: ", calibration.failed_first, " that failed first, ", calibration.not_bound,
                  " not bound, ", calibration.gated, " gated, ", calibration.without_creation,
                  " without a creation\n");
  if (calibration.late_count > 0) {
    absl::StrAppend(&text, "  ", calibration.late_count,
                    " came while the scheduler was silent for 5s or more, and count from its next call\n");
  }
  if (calibration.paired_by_order > 0) {
    absl::StrAppend(&text, "  ", calibration.paired_by_order,
                    " have no name in the log: creation and binding were paired by generateName and order\n");
  }
  return text;
}

std::string CalibrationJson(const Calibration& calibration) {
  JsonWriter json;
  json.BeginObject().Field("events", calibration.event_count).Field("schedulerCalls", calibration.call_count);
  json.Key("latency").BeginArray();
  for (const FittedPart& part : calibration.parts) {
    json.BeginObject().Field("name", part.name).Field("value", part.value).Key("fitted").Bool(part.fitted);
    json.Field("samples", part.sample_count).Field("reason", part.reason).EndObject();
  }
  json.EndArray().Key("creationToBindingMicroseconds").BeginObject();
  json.Field("pods", calibration.pod_count);
  WritePercentiles("predicted", calibration.predicted, json);
  WritePercentiles("real", calibration.real, json);
  json.Field("model", calibration.model.ToString()).EndObject();
  json.Field("failedFirst", calibration.failed_first).Field("notBound", calibration.not_bound);
  json.Field("gated", calibration.gated).Field("withoutCreation", calibration.without_creation);
  json.Field("afterSilence", calibration.late_count).Field("pairedByOrder", calibration.paired_by_order);
  json.EndObject();
  return absl::StrCat(json.text(), "\n");
}

}  // namespace schedsim::sim
