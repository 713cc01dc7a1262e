#include "sim/bench/throughput.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/percentile.h"

namespace schedsim::sim {
namespace {

double PerSecond(int64_t count, absl::Duration span) {
  const double seconds = absl::ToDoubleSeconds(span);
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

}  // namespace

double Measurement::Average() const { return PerSecond(pod_count, elapsed.processor); }

double Measurement::Percentile(int percent) const {
  return samples.empty() ? 0 : schedsim::Percentile(samples, static_cast<size_t>(percent));
}

void ThroughputCollector::Start(std::string name, std::vector<std::string> namespaces, Labels labels,
                                int64_t attempt_count) {
  CHECK(!collecting_);
  collecting_ = true;
  namespaces_ = std::move(namespaces);
  labels_ = std::move(labels);
  measurement_ = {.name = std::move(name), .attempt_count = attempt_count};
  sampled_ = {};
  sampled_pods_ = 0;
  last_ = read_();
}

Measurement ThroughputCollector::Stop(int64_t attempt_count) {
  CHECK(collecting_);
  TakeTime();
  TakeSample();
  collecting_ = false;
  measurement_.attempt_count = attempt_count - measurement_.attempt_count;
  std::sort(measurement_.samples.begin(), measurement_.samples.end());
  return std::move(measurement_);
}

void ThroughputCollector::OnBound(const api::Pod& pod) {
  if (!collecting_ || !HasLabels(pod.metadata.labels, labels_)) return;
  const auto found = std::find(namespaces_.begin(), namespaces_.end(), pod.metadata.namespace_);
  if (found != namespaces_.end()) ++measurement_.pod_count;
}

void ThroughputCollector::OnSecond() {
  if (!collecting_) return;
  TakeTime();
  TakeSample();
}

void ThroughputCollector::Pause() {
  if (collecting_ && pauses_ == 0) TakeTime();
  ++pauses_;
}

void ThroughputCollector::Resume() {
  CHECK(pauses_ > 0);
  --pauses_;
  if (collecting_ && pauses_ == 0) last_ = read_();
}

void ThroughputCollector::TakeTime() {
  const RealTime now = read_();
  if (pauses_ == 0) measurement_.elapsed += now - last_;
  last_ = now;
}

// Seconds without any pod are added to the next one.
void ThroughputCollector::TakeSample() {
  const int64_t count = measurement_.pod_count - sampled_pods_;
  if (count == 0) return;
  measurement_.samples.push_back(PerSecond(count, (measurement_.elapsed - sampled_).processor));
  sampled_ = measurement_.elapsed;
  sampled_pods_ = measurement_.pod_count;
}

bool HasLabels(const api::StringMap& labels, const Labels& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&labels](const auto& entry) {
    const std::string* value = labels.Find(entry.first);
    return value != nullptr && *value == entry.second;
  });
}

}  // namespace schedsim::sim
