#include "core/scheduler/worker_order.h"

#include <algorithm>

#include "core/base/check.h"

namespace schedsim::scheduler {
namespace {

// About the root of the count, but no more than a worker's share.
int32_t ChunkSize(int32_t piece_count, int32_t parallelism) {
  int32_t root = 1;
  while (int64_t{root + 1} * (root + 1) <= piece_count) ++root;
  return std::min(root, piece_count / parallelism + 1);
}

}  // namespace

WorkerOrder::WorkerOrder(int32_t parallelism, int32_t piece_count, Rng& rng)
    : piece_count_(piece_count), chunk_size_(ChunkSize(piece_count, parallelism)), rng_(rng) {
  CHECK(parallelism > 0 && piece_count > 0);
  for (int32_t i = 0; i < parallelism && next_chunk_begin_ < piece_count_; ++i)
    workers_.push_back(NextChunk());
}

WorkerOrder::Worker WorkerOrder::NextChunk() {
  const int32_t begin = next_chunk_begin_;
  next_chunk_begin_ = std::min(begin + chunk_size_, piece_count_);
  return {.piece = begin, .end = next_chunk_begin_};
}

std::optional<int32_t> WorkerOrder::Next() {
  GoOn();
  if (workers_.empty()) return std::nullopt;
  done_ = static_cast<size_t>(rng_.Below(static_cast<int64_t>(workers_.size())));
  return workers_[*done_].piece;
}

void WorkerOrder::GoOn() {
  if (!done_.has_value()) return;
  Worker& worker = workers_[*done_];
  ++worker.piece;
  if (worker.piece == worker.end && next_chunk_begin_ < piece_count_) worker = NextChunk();
  const bool is_through = is_stopped_ || worker.piece == worker.end;
  if (is_through) workers_.erase(workers_.begin() + static_cast<ptrdiff_t>(*done_));
  done_.reset();
}

}  // namespace schedsim::scheduler
