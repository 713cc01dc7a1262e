#include "core/framework/node_columns.h"

#include "core/base/wrapping.h"

namespace schedsim::framework {

void NodeColumns::Resize(size_t count) {
  indices.resize(count);
  for (auto* column :
       {&generations, &object_generations, &non_zero_milli_cpu, &non_zero_memory_bytes, &free_pods}) {
    column->resize(count);
  }
  for (Amounts* amounts : {&allocatable, &requested}) {
    for (std::vector<int64_t>& column : *amounts) column.resize(count);
  }
}

void NodeColumns::Set(const NodeInfo& node) {
  const size_t at = static_cast<size_t>(node.position);
  indices[at] = node.index;
  generations[at] = node.generation;
  object_generations[at] = node.object_generation;
  const auto set = [at](Amounts& amounts, const Resource& resource) {
    amounts[static_cast<size_t>(ColumnResource::kMilliCpu)][at] = resource.milli_cpu;
    amounts[static_cast<size_t>(ColumnResource::kMemoryBytes)][at] = resource.memory_bytes;
    amounts[static_cast<size_t>(ColumnResource::kEphemeralStorageBytes)][at] =
        resource.ephemeral_storage_bytes;
  };
  set(allocatable, node.allocatable);
  set(requested, node.requested);
  non_zero_milli_cpu[at] = node.non_zero_milli_cpu;
  non_zero_memory_bytes[at] = node.non_zero_memory_bytes;
  free_pods[at] =
      WrappingSubtract(node.allocatable.allowed_pod_number, static_cast<int64_t>(node.pods.size()));
}

bool FollowEachOther(absl::Span<const int32_t> positions) {
  int32_t differences = 0;
  for (size_t i = 0; i < positions.size(); ++i) {
    differences |= positions[i] ^ (positions[0] + static_cast<int32_t>(i));
  }
  return differences == 0;
}

}  // namespace schedsim::framework
