// Snapshots of a cluster on their way to files.
#ifndef SCHEDSIM_TOOLS_SNAPSHOT_FILES_H_
#define SCHEDSIM_TOOLS_SNAPSHOT_FILES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sim/formats/snapshot_writer.h"
#include "sim/plan/plan.h"

namespace schedsim::tools {

// Writes the objects to `path`, "-" for standard output, and says on standard error what the user should
// know. Errors: those of WriteSnapshot and ResultFile.
absl::Status WriteSnapshotFile(const std::string& path, sim::SnapshotFormat format,
                               std::vector<std::string> objects);

// What entries of a timeline save, until the run is over.
class SnapshotFiles {
 public:
  // Makes the plan hand over its snapshots; this must outlive the run. InvalidArgument where one would take
  // the place of what the run reads.
  absl::Status Attach(sim::Plan& plan);

  // Writes the last one of each path, in the order of the paths.
  absl::Status Write();

 private:
  struct Taken {
    sim::SnapshotFormat format = sim::SnapshotFormat::kK8s;
    std::vector<std::string> objects;
  };
  std::map<std::string, Taken> taken_;
};

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_SNAPSHOT_FILES_H_
