// Dumps of clusters as people have them, for benchmarks of reading.
#ifndef SCHEDSIM_BENCHMARKS_DUMP_H_
#define SCHEDSIM_BENCHMARKS_DUMP_H_

#include <cstdint>
#include <string>

namespace schedsim::benchmarks {

enum class DumpFormat : uint8_t { kJson, kYaml };

// What `kubectl get nodes,priorityclasses,pods -A` would print of `copies` clusters like snapshots/mixed in
// one: of each 100 nodes, and 590 pods that run on them. All pods have a name, a uid, addresses and a token
// volume of their own.
std::string MakeDump(int32_t copies, DumpFormat format);

// How many pods a copy has.
inline constexpr int64_t kDumpPodsPerCopy = 590;

}  // namespace schedsim::benchmarks

#endif  // SCHEDSIM_BENCHMARKS_DUMP_H_
