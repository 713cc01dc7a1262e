// The nodes that one scheduling cycle looks at.
#ifndef SCHEDSIM_CORE_CACHE_SNAPSHOT_H_
#define SCHEDSIM_CORE_CACHE_SNAPSHOT_H_

#include <cstdint>
#include <vector>

#include "core/base/lookup_map.h"
#include "core/base/symbol.h"
#include "core/framework/handle.h"
#include "core/framework/node_info.h"

namespace schedsim::cache {

// Filled by Cache::UpdateSnapshot. A cycle is atomic in virtual time, so the nodes are the cache's
// own and not copies; what upstream keeps from earlier (order, images) is kept here, too.
// Source: kubernetes v1.37, scheduler/backend/cache/snapshot.go.
class Snapshot : public framework::SnapshotLister {
 public:
  framework::NodeInfos List() const override { return list_; }
  const framework::NodeColumns& Columns() const override { return columns_; }
  const framework::NodeInfo* Get(Symbol node_name) const override;
  int32_t IndexLimit() const override { return index_limit_; }
  framework::NodeChanges ChangesSince(int64_t position) const override;

 private:
  friend class Cache;

  void LogChange(const framework::NodeInfo& node);
  // All changes up to now count as unknown.
  void ForgetChanges();

  std::vector<const framework::NodeInfo*> list_;
  framework::NodeColumns columns_;
  LookupMap<Symbol, const framework::NodeInfo*> by_name_;
  int32_t index_limit_ = 0;
  // The newest changes; the first of them has the position `log_start_`.
  std::vector<const framework::NodeInfo*> log_;
  int64_t log_start_ = 0;
};

}  // namespace schedsim::cache

#endif  // SCHEDSIM_CORE_CACHE_SNAPSHOT_H_
