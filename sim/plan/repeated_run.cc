#include "sim/plan/repeated_run.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "core/codec/text/input.h"
#include "sim/record/record_reader.h"
#include "sim/record/trace_reader.h"

namespace schedsim::sim {
namespace {

// Of a record as Trace writes it: its last field. "": it has none.
absl::string_view DigestOf(absl::string_view record) {
  constexpr absl::string_view kField = "\"digest\":\"";
  constexpr size_t kDigits = 16;
  if (!absl::ConsumeSuffix(&record, "\"}") || record.size() < kField.size() + kDigits) return "";
  const absl::string_view digest = record.substr(record.size() - kDigits);
  record.remove_suffix(kDigits);
  return absl::ConsumeSuffix(&record, kField) ? digest : "";
}

bool IsAttempt(absl::string_view record) {
  const std::optional<RecordGlance> glance = GlanceAt(record);
  return glance.has_value() && glance->kind == record::Attempt::kKind;
}

}  // namespace

absl::StatusOr<std::optional<RunHeader>> ReadRunHeader(const std::string& path) {
  std::optional<RunHeader> header;
  const absl::Status read =
      ReadTrace(path, "", [&](absl::string_view text, int64_t line_number) -> absl::Status {
        RecordMemory memory;
        record::Record record;
        ASSIGN_OR_RETURN(record, ReadRecord(text, absl::StrCat(path, ":", line_number), memory));
        if (const auto* run = record.As<record::Run>()) header = HeaderOf(*run);
        return absl::CancelledError();
      });
  // NotFound: one of several recorded traces is still to be chosen, and none of them has a header.
  if (absl::IsCancelled(read) || (absl::IsNotFound(read) && codec::CheckFile(path).ok())) return header;
  RETURN_IF_ERROR(read);
  return header;
}

absl::StatusOr<std::unique_ptr<RepeatedRun>> RepeatedRun::Read(const std::string& path) {
  std::optional<RunHeader> header;
  ASSIGN_OR_RETURN(header, ReadRunHeader(path));
  if (!header.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": does not say of which run it is, expected a trace of schedsim run"));
  }
  if (!header->recorder.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": was decided by ", Printable(header->recorder, kShownBytesMax),
                     ", whose plugins schedsim does not have: its run is not repeated; schedsim why tells what "
                     "the trace has of a pod"));
  }
  std::unique_ptr<RepeatedRun> run(new RepeatedRun(path, *std::move(header)));
  RETURN_IF_ERROR(ReadTrace(path, "", [&run](absl::string_view record, int64_t line_number) {
    return run->Add(record, line_number);
  }));
  return run;
}

absl::Status RepeatedRun::Add(absl::string_view record, int64_t line_number) {
  if (!IsAttempt(record)) return absl::OkStatus();
  const absl::string_view digest = DigestOf(record);
  if (digest.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ":", line_number, ": attempt: expected `digest` as its last field"));
  }
  digests_.emplace_back(digest);
  return absl::OkStatus();
}

void RepeatedRun::Watch(Plan& plan, std::optional<int64_t> last_attempt,
                        std::function<void(absl::string_view record)> sink) {
  compared_count_ = 0;
  status_ = absl::OkStatus();
  last_attempt_ = last_attempt;
  plan.simulation.trace_level = TraceLevel::kDecisions;
  plan.simulation.trace_sink = [this, sink = std::move(sink)](absl::string_view record) {
    Compare(record);
    if (sink != nullptr) sink(record);
  };
  plan.on_made = [this](Simulation& simulation) { simulation_ = &simulation; };
}

void RepeatedRun::Compare(absl::string_view record) {
  if (!status_.ok()) return;
  const std::optional<RecordGlance> glance = GlanceAt(record);
  if (!glance.has_value()) return;
  if (glance->kind == record::Final::kKind && !last_attempt_.has_value() &&
      compared_count_ < digests_.size()) {
    return Differ(absl::StrCat("it makes ", compared_count_, " attempts, the trace has ", digests_.size()));
  }
  if (glance->kind != record::Attempt::kKind) return;
  if (compared_count_ == digests_.size()) {
    return Differ(absl::StrCat("it tries ", Printable(glance->pod, kShownBytesMax), " once more, behind the ",
                               digests_.size(), " attempts of the trace"));
  }
  if (digests_[compared_count_] != DigestOf(record)) {
    return Differ(absl::StrCat("attempt ", compared_count_ + 1, ", of ",
                               Printable(glance->pod, kShownBytesMax), ", is not that of the trace"));
  }
  ++compared_count_;
  if (last_attempt_.has_value() && static_cast<int64_t>(compared_count_) >= *last_attempt_)
    simulation_->Stop();
}

void RepeatedRun::Differ(absl::string_view what) {
  status_ = absl::FailedPreconditionError(
      absl::StrCat(path_, ": the run, repeated by ", ProgramVersion(), ", decides otherwise than by ",
                   Printable(header_.program, kShownBytesMax), ", which wrote the trace: ", what));
  simulation_->Stop();
}

}  // namespace schedsim::sim
