// The files in which people keep a cluster, known by what is in them and not by their names.
#ifndef SCHEDSIM_SIM_FORMATS_CLUSTER_FILES_H_
#define SCHEDSIM_SIM_FORMATS_CLUSTER_FILES_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/value.h"
#include "sim/formats/cut_lists.h"

namespace schedsim::sim {

// Reads such files, and remembers what the user should know about them.
class ClusterFiles {
 public:
  // `file` is the name for messages: that of the file, and for a file of an archive `ARCHIVE!NAME`.
  using Sink = absl::FunctionRef<absl::Status(const codec::Document&, absl::string_view file)>;

  // Hands on the documents of all files that `path` stands for ("-" is standard input), texts as the options
  // say:
  //   - YAML and JSON, with or without compression (gzip, xz, zstd);
  //   - databases of etcd, as `kwokctl snapshot save` and `etcdctl snapshot save` write them;
  //   - archives (tar, zip) and folders: their files of these kinds, by their names (codec::IsInputFile). Of
  //     a support bundle of troubleshoot.sh, which has version.yaml beside the folder cluster-resources, it
  //     is what lies in that;
  //   - the text of `kubectl cluster-info dump`: its lists, without the logs;
  //   - samples of Prometheus, as NodeMetrics objects.
  // Errors are InvalidArgument, `file:line:column: what, and what was expected`, and NotFound.
  // Other binary files, and a dump that was cut off within its logs, are errors.
  // FailedPrecondition for a folder or archive without such files. An error in one of several files says how
  // many were fine.
  absl::Status Read(absl::string_view path, const codec::ReadOptions& options, Sink sink);

  // What could not be read and was left out, a line for each file, and lists that were cut off.
  std::vector<std::string> warnings() const;
  // The version of the API server, such as "v1.36.2", and the file that says so: a support bundle has one.
  // "": none has.
  const std::string& server_version() const { return server_version_; }
  const std::string& server_version_file() const { return server_version_file_; }

 private:
  absl::Status ReadContent(std::string content, absl::string_view file, int depth, Sink sink);
  absl::Status ReadDatabase(absl::string_view content, absl::string_view file, Sink sink);
  absl::Status ReadFiles(absl::string_view archive, absl::string_view content, int depth, Sink sink);
  void ReadVersion(std::string content, absl::string_view file);

  codec::ReadOptions options_;
  std::vector<std::string> warnings_;
  CutLists cut_lists_;
  std::string server_version_;
  std::string server_version_file_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_CLUSTER_FILES_H_
