// The recorder: the real kube-scheduler in virtual time, with plugins of a user, as a program of its own.
#ifndef SCHEDSIM_SIM_RECORDER_RECORDER_H_
#define SCHEDSIM_SIM_RECORDER_RECORDER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/api/kubernetes_line.h"

namespace schedsim::sim {

// What a recorder says of itself. docs/recorder.md says how one is built, and what its commands are.
struct Recorder {
  struct Plugin {
    std::string name;
    std::string package;  // Where it is from, as Go imports it.
    std::string version;  // Of its module; "local": it was a folder.
  };

  std::string path;
  api::KubernetesLine line = api::kDefaultKubernetesLine;
  std::string kubernetes_version;  // Such as "1.37.2".
  // Those of the user, by name.
  std::vector<Plugin> plugins;

  // "kube-scheduler 1.37.2 with TeamNodes (example.com/team v1.2.0)".
  std::string ToString() const;
};

// Asks the program `path` what it is. NotFound where there is none; InvalidArgument, `path: what`, where it
// is no recorder, or one of another version.
absl::StatusOr<Recorder> DescribeRecorder(const std::string& path);

// Runs a case (docs/conformance.md), a JSON object in one line, and returns what was recorded: a line
// {"case": NAME, "trace": [RECORD...]}. FailedPrecondition, with what it says, where the scheduler crashed;
// InvalidArgument where the recorder takes no such case.
absl::StatusOr<std::string> RunRecorder(const Recorder& recorder, const std::string& test_case);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RECORDER_RECORDER_H_
