#include "sim/diff/decision_source.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "sim/plan/repeated_run.h"
#include "sim/record/record_reader.h"
#include "sim/record/trace_reader.h"

namespace schedsim::sim {
namespace {

// Hands records that are text on to a sink, up to the first error.
class RecordSink {
 public:
  explicit RecordSink(DecisionSource::Sink sink) : sink_(sink) {}

  void Add(absl::string_view line) {
    ++count_;
    if (!status_.ok()) return;
    RecordMemory memory;
    const absl::StatusOr<record::Record> record = ReadRecord(line, absl::StrCat("record ", count_), memory);
    status_ = record.ok() ? sink_(*record) : record.status();
  }
  const absl::Status& status() const { return status_; }

 private:
  const DecisionSource::Sink sink_;
  absl::Status status_;
  int64_t count_ = 0;
};

class RunSource : public DecisionSource {
 public:
  RunSource(std::string label, Plan plan) : label_(std::move(label)), plan_(std::move(plan)) {}

  const std::string& label() const override { return label_; }
  const Report* report() const override { return report_.has_value() ? &*report_ : nullptr; }

  std::vector<std::string> notices() const override {
    if (!report_.has_value()) return {};
    std::vector<std::string> notices = LateNotices(*report_, plan_.input.warnings.size());
    for (const std::string& failure : report_->failures) notices.push_back(absl::StrCat("failed: ", failure));
    return notices;
  }

  absl::Status Read(const std::set<int64_t>& detailed_attempts, Sink sink) override {
    Plan plan = plan_;
    RecordSink records(sink);
    plan.simulation.trace_level = TraceLevel::kDecisions;
    plan.simulation.detailed_attempts = detailed_attempts;
    plan.simulation.trace_sink = [&records](absl::string_view line) { records.Add(line); };
    plan.pod_rows = PodRows::kAll;
    ASSIGN_OR_RETURN(report_, RunPlan(std::move(plan)));
    return records.status();
  }

 private:
  const std::string label_;
  const Plan plan_;
  std::optional<Report> report_;
};

class TraceSource : public DecisionSource {
 public:
  TraceSource(std::string path, std::string test_case, PlanOfHeader plan_of)
      : path_(std::move(path)), test_case_(std::move(test_case)), plan_of_(std::move(plan_of)) {}

  const std::string& label() const override { return path_; }
  const Report* report() const override { return nullptr; }
  std::vector<std::string> notices() const override { return {}; }

  absl::Status Read(const std::set<int64_t>& detailed_attempts, Sink sink) override {
    bool repeats = false;
    if (!detailed_attempts.empty() && plan_of_ != nullptr) {
      ASSIGN_OR_RETURN(repeats, LacksDetails());
    }
    if (repeats) return Repeat(detailed_attempts, sink);
    return ReadTrace(path_, test_case_, [&](absl::string_view text, int64_t line_number) -> absl::Status {
      RecordMemory memory;
      record::Record record;
      ASSIGN_OR_RETURN(record, ReadRecord(text, absl::StrCat(path_, ":", line_number), memory));
      return sink(record);
    });
  }

 private:
  absl::StatusOr<bool> LacksDetails() const {
    std::optional<RunHeader> header;
    ASSIGN_OR_RETURN(header, ReadRunHeader(path_));
    return header.has_value() && header->level != TraceLevel::kFull && header->recorder.empty();
  }

  absl::Status Repeat(const std::set<int64_t>& detailed_attempts, Sink sink) const {
    std::unique_ptr<RepeatedRun> run;
    ASSIGN_OR_RETURN(run, RepeatedRun::Read(path_));
    Plan plan;
    ASSIGN_OR_RETURN(plan, plan_of_(run->header()));
    RecordSink records(sink);
    run->Watch(plan, *detailed_attempts.rbegin(), [&records](absl::string_view line) { records.Add(line); });
    plan.simulation.detailed_attempts = detailed_attempts;
    plan.pod_rows = PodRows::kNone;
    RETURN_IF_ERROR(RunPlan(std::move(plan)).status());
    RETURN_IF_ERROR(run->status());
    return records.status();
  }

  const std::string path_;
  const std::string test_case_;
  const PlanOfHeader plan_of_;
};

}  // namespace

absl::StatusOr<bool> IsTraceFile(const std::string& path) {
  RETURN_IF_ERROR(codec::CheckFile(path));
  bool is_trace = false;
  const absl::Status read = ReadTrace(path, "", [&is_trace, &path](absl::string_view text, int64_t) {
    RecordMemory memory;
    is_trace = ReadRecord(text, path, memory).ok();
    return absl::CancelledError();
  });
  // One of several cases is still to be chosen.
  return is_trace || absl::IsNotFound(read);
}

std::unique_ptr<DecisionSource> MakeRunSource(std::string label, Plan plan) {
  return std::make_unique<RunSource>(std::move(label), std::move(plan));
}

std::unique_ptr<DecisionSource> MakeTraceSource(std::string path, std::string test_case,
                                                PlanOfHeader plan_of) {
  return std::make_unique<TraceSource>(std::move(path), std::move(test_case), std::move(plan_of));
}

}  // namespace schedsim::sim
