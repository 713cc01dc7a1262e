#include "tools/snapshot_files.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "tools/output.h"

namespace schedsim::tools {

absl::Status WriteSnapshotFile(const std::string& path, sim::SnapshotFormat format,
                               std::vector<std::string> objects) {
  sim::SnapshotText written;
  ASSIGN_OR_RETURN(written, sim::WriteSnapshot(std::move(objects), format));
  for (const std::string& warning : written.warnings)
    PrintNotice(absl::StrCat("warning: ", path, ": ", warning));
  std::unique_ptr<ResultFile> file;
  ASSIGN_OR_RETURN(file, ResultFile::Create(path));
  file->Write(written.text);
  return file->Commit();
}

absl::Status SnapshotFiles::Attach(sim::Plan& plan) {
  for (const std::string& path : sim::SnapshotPaths(plan))
    RETURN_IF_ERROR(RefuseInputAsOutput("snapshot", path, plan.read_paths));
  plan.on_snapshot = [this](const sim::SaveSnapshot& snapshot, std::vector<std::string> objects) {
    taken_[snapshot.path] = {.format = snapshot.format, .objects = std::move(objects)};
  };
  return absl::OkStatus();
}

absl::Status SnapshotFiles::Write() {
  for (auto& [path, taken] : taken_)
    RETURN_IF_ERROR(WriteSnapshotFile(path, taken.format, std::move(taken.objects)));
  return absl::OkStatus();
}

}  // namespace schedsim::tools
