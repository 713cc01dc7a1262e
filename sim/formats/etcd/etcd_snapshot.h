// What a Kubernetes API server keeps in etcd, from a snapshot file: `kwokctl snapshot save` and `etcdctl
// snapshot save` write such files, and a member of etcd keeps one as member/snap/db.
#ifndef SCHEDSIM_SIM_FORMATS_ETCD_ETCD_SNAPSHOT_H_
#define SCHEDSIM_SIM_FORMATS_ETCD_ETCD_SNAPSHOT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/reader.h"

namespace schedsim::sim {

// What was found beside objects.
struct EtcdSnapshotNotes {
  int64_t object_count = 0;
  // Objects that can't be read: encrypted ones, kinds without known fields, values that are damaged or have
  // no name. The first few with their keys, as far as they are known, revisions and reasons.
  int64_t unreadable_count = 0;
  std::vector<std::string> unreadable;
};

// Hands on each object that was there at the last revision of the snapshot, in the order of the keys, as the
// API server would show it: with its resourceVersion. What the API server keeps for itself (ranges of
// addresses, its own leases, marks) is left out. The document is valid during the call. `bytes` is the whole
// file, which is known by BoltFile::IsOne. Errors are InvalidArgument, `file: ...` with the offset: a file
// that was cut off or damaged (a snapshot has a SHA-256 of itself at its end), one that is no database of
// etcd, and the sink's. Source: etcd v3.6, server/storage/mvcc; apiserver v0.37, pkg/storage/etcd3.
absl::Status ReadEtcdSnapshot(absl::string_view bytes, absl::string_view file, codec::DocumentSink sink,
                              EtcdSnapshotNotes& notes);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_ETCD_ETCD_SNAPSHOT_H_
