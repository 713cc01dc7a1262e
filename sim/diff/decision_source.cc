#include "sim/diff/decision_source.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "sim/record/record_reader.h"
#include "sim/record/trace_reader.h"

namespace schedsim::sim {
namespace {

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
    absl::Status status;
    int64_t count = 0;
    plan.simulation.trace_level = TraceLevel::kDecisions;
    plan.simulation.detailed_attempts = detailed_attempts;
    plan.simulation.trace_sink = [&](absl::string_view line) {
      if (!status.ok()) return;
      RecordMemory memory;
      const absl::StatusOr<record::Record> record =
          ReadRecord(line, absl::StrCat("record ", ++count), memory);
      status = record.ok() ? sink(*record) : record.status();
    };
    plan.pod_rows = PodRows::kAll;
    ASSIGN_OR_RETURN(report_, RunPlan(std::move(plan)));
    return status;
  }

 private:
  const std::string label_;
  const Plan plan_;
  std::optional<Report> report_;
};

class TraceSource : public DecisionSource {
 public:
  TraceSource(std::string path, std::string test_case)
      : path_(std::move(path)), test_case_(std::move(test_case)) {}

  const std::string& label() const override { return path_; }
  const Report* report() const override { return nullptr; }
  std::vector<std::string> notices() const override { return {}; }

  absl::Status Read(const std::set<int64_t>& /*detailed_attempts*/, Sink sink) override {
    return ReadTrace(path_, test_case_, [&](absl::string_view text, int64_t line_number) -> absl::Status {
      RecordMemory memory;
      record::Record record;
      ASSIGN_OR_RETURN(record, ReadRecord(text, absl::StrCat(path_, ":", line_number), memory));
      return sink(record);
    });
  }

 private:
  const std::string path_;
  const std::string test_case_;
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

std::unique_ptr<DecisionSource> MakeTraceSource(std::string path, std::string test_case) {
  return std::make_unique<TraceSource>(std::move(path), std::move(test_case));
}

}  // namespace schedsim::sim
