#include "core/plugins/resource_allocation.h"

#include <algorithm>

namespace schedsim::plugins {

using framework::NodeInfo;
using framework::Resource;
using Type = ScoredResource::Type;

namespace {

// Sums of weighted scores stay exact in doubles up to this weight; configurations allow up to 100.
constexpr int64_t kWeightMax = 1000;

Type TypeOf(const std::string& name) {
  if (name == "cpu") return Type::kCpu;
  if (name == "memory") return Type::kMemory;
  if (name == "ephemeral-storage") return Type::kEphemeralStorage;
  return framework::IsScalarResourceName(name) ? Type::kScalar : Type::kOther;
}

}  // namespace

std::vector<ScoredResource> MakeScoredResources(const std::vector<api::ResourceSpec>& resources,
                                                SymbolTable& symbols) {
  std::vector<ScoredResource> scored;
  for (const api::ResourceSpec& resource : resources) {
    scored.push_back(ScoredResource{
        .type = TypeOf(resource.name), .name = symbols.Intern(resource.name), .weight = resource.weight});
  }
  return scored;
}

int64_t AmountOf(const Resource& resource, const ScoredResource& scored) {
  switch (scored.type) {
    case Type::kCpu:
      return resource.milli_cpu;
    case Type::kMemory:
      return resource.memory_bytes;
    case Type::kEphemeralStorage:
      return resource.ephemeral_storage_bytes;
    case Type::kScalar:
      return resource.Scalar(scored.name);
    case Type::kOther:
      return 0;
  }
  return 0;
}

ResourceUse UseOf(const NodeInfo& node, const ScoredResource& scored, int64_t pod_request, bool non_zero) {
  // Otherwise a node would score by a resource that the pod has no use for.
  if (scored.type == Type::kScalar && pod_request == 0) return {};
  ResourceUse use = {.allocatable = AmountOf(node.allocatable, scored),
                     .allocated = AmountOf(node.requested, scored)};
  if (use.allocatable == 0) return {};
  if (non_zero && scored.type == Type::kCpu) use.allocated = node.non_zero_milli_cpu;
  if (non_zero && scored.type == Type::kMemory) use.allocated = node.non_zero_memory_bytes;
  return use;
}

bool MakeColumnRequests(const Resource& request, const std::vector<ScoredResource>& resources,
                        std::vector<ColumnRequest>& requests) {
  requests.clear();
  for (const ScoredResource& scored : resources) {
    // Such a resource counts nowhere; see UseOf.
    const int64_t amount = AmountOf(request, scored);
    if (scored.type == Type::kOther || (scored.type == Type::kScalar && amount == 0)) continue;
    if (scored.type == Type::kScalar || scored.weight < 0 || scored.weight > kWeightMax) return false;
    const auto resource = scored.type == Type::kCpu      ? framework::ColumnResource::kMilliCpu
                          : scored.type == Type::kMemory ? framework::ColumnResource::kMemoryBytes
                                                         : framework::ColumnResource::kEphemeralStorageBytes;
    requests.push_back({.resource = resource, .request = amount, .weight = scored.weight});
  }
  return true;
}

const api::DeviceClass* DeviceClassOf(absl::string_view resource, const framework::Handle& handle) {
  if (!framework::IsDeviceClassResource(resource)) return nullptr;
  return handle.claims().extended_resources().Find(resource);
}

bool ComesFromDeviceClass(absl::string_view resource, const framework::Handle& handle) {
  return DeviceClassOf(resource, handle) != nullptr;
}

bool AsksForDeviceClass(const Resource& requests, const framework::Handle& handle) {
  if (!handle.line().dra_extended_resource) return false;
  return std::any_of(
      requests.scalars.begin(), requests.scalars.end(), [&](const framework::ScalarResource& scalar) {
        return scalar.value != 0 && ComesFromDeviceClass(handle.symbols().Text(scalar.name), handle);
      });
}

bool SignsResources(const framework::Handle& handle) {
  return !handle.line().dra_extended_resource || handle.line().batching_signs_beside_dra;
}

bool SignResources(const framework::PodInfo& pod, const framework::Handle& handle,
                   framework::PodSigner& signer) {
  return !AsksForDeviceClass(pod.spec_info->requests, handle) && framework::SignResources(pod, signer);
}

}  // namespace schedsim::plugins
