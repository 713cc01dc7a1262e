// Reading the cluster and the pods of a run from files.
#ifndef SCHEDSIM_SIM_FORMATS_CLUSTER_INPUT_H_
#define SCHEDSIM_SIM_FORMATS_CLUSTER_INPUT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// What `--bound` says of pods that are on a node already.
struct BoundPods {
  // They are scheduled anew.
  bool reset = false;
  // Only pods whose labels match this selector are meant, such as `app=web,tier!=db`; "" means all.
  std::string selector;
};

// Parses `keep`, `reset` or `reset=SELECTOR`.
absl::StatusOr<BoundPods> ParseBoundPods(absl::string_view text);
// The text from which it comes.
std::string BoundPodsText(const BoundPods& bound);

struct ClusterInputOptions {
  // An object that was read already, with its place.
  struct Inline {
    api::ObjectPtr object;
    std::string file;
    codec::Position position;
  };

  // A file, a folder, or "-".
  struct Path {
    std::string path;
    // Where a scenario names it, with the field: `scenario.yaml:7:5: inputs[0]`. "": no file does.
    std::string named_at = "";
  };

  std::vector<Path> paths;
  // These come behind the files.
  std::vector<Inline> objects;
  // What is odd about them, and about others that the user gave elsewhere.
  std::vector<std::string> warnings;
  BoundPods bound;
  // The schedulers whose bound pods may be reset: nobody would place others anew. Empty: not known, so all.
  std::vector<std::string> schedulers;
  // Input without a single object is taken as it is.
  bool allow_empty = false;
  // Objects are created later as well: input without nodes is nothing to warn of.
  bool has_timeline = false;
};

struct ClusterInput {
  // Where an object begins.
  struct Place {
    int32_t file_index = 0;  // Into `files`.
    codec::Position position;
  };

  // In the order in which they are to be created: nodes, namespaces, then what admission looks at (classes,
  // limits, quotas), then all else that is no pending pod, then the pending pods. Within each, what a cluster
  // gave out (it has uids) comes by namespace and name, as after a restart of the scheduler, and manifests
  // follow in the order of the files. With bound pods reset, the pending pods come in the order of their
  // creation.
  std::vector<api::ObjectPtr> objects;
  // One entry per entry of `objects`; none where these come from elsewhere.
  std::vector<Place> places;
  std::vector<std::string> files;
  // Of those that servers write (docs/determinism.md). Absent: the input has none.
  std::optional<absl::Time> newest_timestamp;
  int64_t node_count = 0;
  int64_t bound_pod_count = 0;
  int64_t pending_pod_count = 0;
  int64_t finished_pod_count = 0;
  int64_t reset_pod_count = 0;
  // Kinds that do not matter to scheduling, with how many objects of each there are.
  std::map<std::string, int64_t> other_kinds;
  // The Kubernetes that the input says it is from, such as "v1.36.2": that of the API server where a file has
  // it, else that of the kubelets where all have one. "": nobody says, or they differ.
  std::string server_version;
  // Who says so: the name of a file, or "the kubelets of the nodes".
  std::string server_version_of;
  // Where kubelets say versions, but not all the same one: one of each line.
  std::vector<std::string> differing_versions;
  // Objects that are to make pods and whose controllers are not simulated: see
  // UnsimulatedControllers::Makers.
  std::map<std::string, std::string> unsimulated_makers;
  // What the user should know, in the order of the files and of the places in them.
  std::vector<std::string> warnings;
  // What was made of the input that is not in it, in the order of the places.
  std::vector<std::string> notes;

  // `file:line:column` of objects[index], which has a place.
  std::string PlaceOf(size_t index) const;
};

// InvalidArgument, `file:line:column: path: what, and what was expected`, for anything that cannot be
// read, for two objects of one kind, namespace and name, and for input without objects.
absl::StatusOr<ClusterInput> ReadClusterInput(const ClusterInputOptions& options);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_CLUSTER_INPUT_H_
