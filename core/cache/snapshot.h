// The nodes that one scheduling cycle looks at.
#ifndef SCHEDSIM_CORE_CACHE_SNAPSHOT_H_
#define SCHEDSIM_CORE_CACHE_SNAPSHOT_H_

#include <cstdint>
#include <vector>

#include "core/base/symbol.h"
#include "core/base/symbol_map.h"
#include "core/framework/handle.h"
#include "core/framework/node_info.h"

namespace schedsim::cache {

// Which nodes changed, in order, up to a length from which on nothing is known any more.
class NodeChangeLog {
 public:
  // See SnapshotLister::ChangesSince.
  framework::NodeChanges Since(int64_t position) const;
  void Add(const framework::NodeInfo& node, size_t node_count);
  // All changes up to now count as unknown.
  void Forget();

 private:
  // The newest changes; the first of them has the position `start_`.
  std::vector<const framework::NodeInfo*> nodes_;
  int64_t start_ = 0;
};

// Filled by Cache::UpdateSnapshot. A cycle is atomic in virtual time, so the nodes are the cache's
// own and not copies; what upstream keeps from earlier (order, images) is kept here, too.
// Source: kubernetes v1.37, scheduler/backend/cache/snapshot.go.
class Snapshot : public framework::SnapshotLister {
 public:
  framework::NodeInfos List() const override { return list_; }
  const framework::NodeColumns& Columns() const override { return columns_; }
  const framework::NodeInfo* Get(Symbol node_name) const override;
  int32_t IndexLimit() const override { return index_limit_; }
  framework::NodeChanges ChangesSince(int64_t position) const override { return changes_.Since(position); }
  framework::NodeChanges ObjectChangesSince(int64_t position) const override {
    return object_changes_.Since(position);
  }

 private:
  friend class Cache;

  std::vector<const framework::NodeInfo*> list_;
  framework::NodeColumns columns_;
  SymbolMap<const framework::NodeInfo*> by_name_;
  int32_t index_limit_ = 0;
  NodeChangeLog changes_;
  NodeChangeLog object_changes_;
};

}  // namespace schedsim::cache

#endif  // SCHEDSIM_CORE_CACHE_SNAPSHOT_H_
