// All objects of files, whole, for those who write them again.
#ifndef SCHEDSIM_SIM_FORMATS_SNAPSHOT_OBJECTS_H_
#define SCHEDSIM_SIM_FORMATS_SNAPSHOT_OBJECTS_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

struct SnapshotObjects {
  // Compact JSON with apiVersion and kind, fields as they came, in the order of the files.
  std::vector<std::string> objects;
  // What could not be read and was left out, and lists that were cut off.
  std::vector<std::string> warnings;
};

// Reads what ClusterFiles reads. InvalidArgument, `file:line:column: what, and what was expected`, for what
// is no object, for two objects of one kind, namespace and name, and for files without objects.
absl::StatusOr<SnapshotObjects> ReadSnapshotObjects(const std::vector<std::string>& paths);

// Calls `visit` with the tree of one of the objects, which must be JSON that this program has written.
void VisitSnapshotObject(const std::string& json, absl::FunctionRef<void(const codec::Value& root)> visit);

// `root` with its metadata as `change` leaves its members; parts live in `document`.
codec::Value WithMetadata(const codec::Value& root, codec::Document& document,
                          absl::FunctionRef<void(std::vector<codec::Member>& metadata)> change);

// `root` without metadata.resourceVersion.
codec::Value WithoutVersion(const codec::Value& root, codec::Document& document);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_SNAPSHOT_OBJECTS_H_
