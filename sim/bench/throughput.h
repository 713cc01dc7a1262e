// How fast pods were bound: the one thing here that is measured on a real clock. No decision sees it.
#ifndef SCHEDSIM_SIM_BENCH_THROUGHPUT_H_
#define SCHEDSIM_SIM_BENCH_THROUGHPUT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/api/pod.h"
#include "sim/bench/workload_file.h"

namespace schedsim::sim {

// Two readings of a pair of clocks tell what the time between them took.
struct RealTime {
  absl::Duration wall;
  absl::Duration processor;  // Of this process, user and system.

  RealTime& operator+=(const RealTime& other) {
    wall += other.wall;
    processor += other.processor;
    return *this;
  }
  friend RealTime operator-(RealTime a, const RealTime& b) {
    a.wall -= b.wall;
    a.processor -= b.processor;
    return a;
  }
};
using ReadRealTime = std::function<RealTime()>;

// What was measured from the start of collecting to its end.
struct Measurement {
  std::string name;  // What is measured: of createPods the namespace.
  int64_t pod_count = 0;
  int64_t attempt_count = 0;
  RealTime elapsed;
  // Pods for each second of processor time, one for each second of virtual time in which pods were bound; the
  // last one may be of less. In order of size.
  std::vector<double> samples;

  // Pods for each second of processor time over all of it; 0 where none was bound.
  double Average() const;
  // Of the samples, as scheduler_perf takes them; 0 where there are none.
  double Percentile(int percent) const;
};

// Collects one measurement after the other.
class ThroughputCollector {
 public:
  explicit ThroughputCollector(ReadRealTime read) : read_(std::move(read)) {}

  bool IsCollecting() const { return collecting_; }
  // `attempt_count`: of the run so far, as below. No collection may be under way.
  void Start(std::string name, std::vector<std::string> namespaces, Labels labels, int64_t attempt_count);
  // A collection must be under way.
  Measurement Stop(int64_t attempt_count);

  // A pod was bound.
  void OnBound(const api::Pod& pod);
  // A second of virtual time is over.
  void OnSecond();

  // What happens in between, such as making objects from templates, is not part of what is measured.
  void Pause();
  void Resume();

 private:
  void TakeTime();
  void TakeSample();

  const ReadRealTime read_;
  bool collecting_ = false;
  int pauses_ = 0;
  RealTime last_;  // The reading from which on time counts.
  std::vector<std::string> namespaces_;
  Labels labels_;
  Measurement measurement_;
  // At the last sample.
  RealTime sampled_;
  int64_t sampled_pods_ = 0;
};

// Whether all of `wanted` are among `labels`.
bool HasLabels(const api::StringMap& labels, const Labels& wanted);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_BENCH_THROUGHPUT_H_
