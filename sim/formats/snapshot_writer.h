// The files in which kwok, kubectl and etcd keep the objects of a cluster.
#ifndef SCHEDSIM_SIM_FORMATS_SNAPSHOT_WRITER_H_
#define SCHEDSIM_SIM_FORMATS_SNAPSHOT_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace schedsim::sim {

enum class SnapshotFormat : uint8_t {
  // Documents of YAML, as `kwokctl snapshot save --format k8s` writes them: kwok's kinds in its order, all
  // others behind them; no resourceVersion.
  kK8s,
  // A List, as `kubectl get -o json` prints it.
  kJson,
  // A database of etcd with its hash, as `etcdctl snapshot save` writes it.
  kEtcd,
};

// "k8s", "json" or "etcd".
absl::StatusOr<SnapshotFormat> ParseSnapshotFormat(absl::string_view text);

// By the ending of the file's name, .yaml or .yml, .json or .db, also before .gz and .zst. InvalidArgument
// for all others: the format is to be given.
absl::StatusOr<SnapshotFormat> SnapshotFormatOf(absl::string_view path);

struct SnapshotText {
  std::string text;
  // What the user should know about the file.
  std::vector<std::string> warnings;
};

// The file with these objects, each compact JSON with apiVersion and kind. Nothing of an object is left out
// but its resourceVersion in k8s; in etcd that is the revision, and objects without one get the next ones. In
// files of text, keys are sorted, and the objects of a kind stay in their order; etcd has them by namespace
// and name, bytewise.
// InvalidArgument where an object has no place: in etcd that is one without a name.
// Source: kwok v0.8.0, pkg/kwokctl/snapshot; kubectl v0.37.
absl::StatusOr<SnapshotText> WriteSnapshot(std::vector<std::string> objects, SnapshotFormat format);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_SNAPSHOT_WRITER_H_
