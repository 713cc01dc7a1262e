// The order in which workers that filter nodes side by side are done with them.
#ifndef SCHEDSIM_CORE_SCHEDULER_WORKER_ORDER_H_
#define SCHEDSIM_CORE_SCHEDULER_WORKER_ORDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/rng.h"

namespace schedsim::scheduler {

// Workers take chunks of the pieces, one after the other, and go through each chunk in order. At each moment
// any of them is as likely as any other to be done next with its piece.
// Source: client-go v0.37, util/workqueue/parallelizer.go; kubernetes v1.37,
// scheduler/framework/parallelize/parallelism.go.
class WorkerOrder {
 public:
  // `parallelism` and `piece_count` are at least 1; `rng` must outlive it.
  WorkerOrder(int32_t parallelism, int32_t piece_count, Rng& rng);

  // The piece that is done next, below `piece_count`; absent: there is none any more.
  std::optional<int32_t> Next();
  // From now on nobody begins another piece; those that others are at are still done.
  void Stop() { is_stopped_ = true; }

 private:
  struct Worker {
    int32_t piece = 0;
    int32_t end = 0;  // Of its chunk.
  };
  // The worker that was done last begins its next piece, or is through.
  void GoOn();
  Worker NextChunk();

  const int32_t piece_count_;
  const int32_t chunk_size_;
  Rng& rng_;
  int32_t next_chunk_begin_ = 0;
  bool is_stopped_ = false;
  std::vector<Worker> workers_;  // Those that are at a piece.
  std::optional<size_t> done_;   // The one that was done last.
};

}  // namespace schedsim::scheduler

#endif  // SCHEDSIM_CORE_SCHEDULER_WORKER_ORDER_H_
