#include "tools/trace_file.h"

#include <algorithm>

#include "absl/memory/memory.h"
#include "absl/strings/str_format.h"
#include "core/api/pod.h"
#include "core/base/status_macros.h"

namespace schedsim::tools {
namespace {

// Traces above this are said to be large.
constexpr double kLargeBytes = 1e9;

int64_t CountPending(const sim::Plan& plan) {
  return std::count_if(
      plan.input.objects.begin(), plan.input.objects.end(), [](const api::ObjectPtr& object) {
        return object->kind == api::Kind::kPod && static_cast<const api::Pod&>(*object).node_name.empty();
      });
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceFile>> TraceFile::Create(const std::string& path, sim::Plan& plan) {
  RETURN_IF_ERROR(RefuseInputAsOutput("--trace", path, plan.read_paths));
  std::unique_ptr<ResultFile> file;
  ASSIGN_OR_RETURN(file, ResultFile::Create(path));
  plan.simulation.trace_sink = [out = file.get()](absl::string_view line) {
    out->Write(line);
    out->Write("\n");
  };
  return absl::WrapUnique(new TraceFile(path, std::move(file), CountPending(plan)));
}

void TraceFile::WarnOfSize(int64_t attempt_count) {
  if (has_warned_ || attempt_count == 0) return;
  const double attempt_bytes = static_cast<double>(file_->size_bytes()) / static_cast<double>(attempt_count);
  const double bytes = attempt_bytes * static_cast<double>(std::max(attempt_count, pending_count_));
  if (bytes < kLargeBytes) return;
  has_warned_ = true;
  PrintNotice(
      absl::StrFormat("%s will have about %.1f GB at this rate: %.0f kB an attempt, %d attempts so far, %d "
                      "pods without a node at "
                      "the start; --trace-level decisions is small, and a name in .zst makes an archive",
                      path_ == kStandardOutput ? "the trace" : path_, bytes / 1e9, attempt_bytes / 1e3,
                      attempt_count, pending_count_));
}

}  // namespace schedsim::tools
