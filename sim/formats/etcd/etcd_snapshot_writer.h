// Snapshots of etcd from the objects of a cluster, as `kwokctl snapshot restore --format etcd` takes them.
#ifndef SCHEDSIM_SIM_FORMATS_ETCD_ETCD_SNAPSHOT_WRITER_H_
#define SCHEDSIM_SIM_FORMATS_ETCD_ETCD_SNAPSHOT_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace schedsim::sim {

// An object as it is to be stored.
struct StoredObject {
  std::string key;   // As EtcdKey makes it.
  std::string json;  // Without metadata.resourceVersion: the revision is that.
  // metadata.resourceVersion; 0: none.
  uint64_t resource_version = 0;
};

// Where kube-apiserver keeps an object: `/registry/pods/default/web-0`. `plural` is the resource without its
// group. Source: kubernetes v1.37, pkg/controlplane/storageversionhashdata and the tables of storage
// prefixes; seen in the databases that kwok saved.
std::string EtcdKey(absl::string_view group, absl::string_view plural, absl::string_view name_space,
                    absl::string_view name);

// The file: the database with its SHA-256 behind it. Values are JSON, which the API server reads as well as
// protobuf. Objects of one key: the last one counts. The revision of an object is its resourceVersion;
// objects without one get the next revisions in the order of their keys. Beside the objects stands what etcd
// 3.6 wants to find: its buckets, the version of the store, term and index. Members are for etcdutl, which
// puts them in when it restores the file.
std::string WriteEtcdSnapshot(std::vector<StoredObject> objects);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_ETCD_ETCD_SNAPSHOT_WRITER_H_
