#include "core/plugins/dynamic_resources/extended_resources.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/framework/resource.h"
#include "core/plugins/resource_allocation.h"

namespace schedsim::plugins {
namespace {

using framework::ClaimPtr;
using framework::Code;
using framework::Status;
using Mapping = framework::ExtendedResourceClaimStatus::Mapping;

// The containers of a pod, the init containers first.
class RequestMaker {
 public:
  RequestMaker(const api::PodSpec& spec, std::string resource, std::string class_name)
      : resource_(std::move(resource)),
        class_name_(std::move(class_name)),
        init_count_(spec.init_containers.size()) {
    for (const api::Container& container : spec.init_containers) containers_.push_back(&container);
    for (const api::Container& container : spec.containers) containers_.push_back(&container);
    long_lived_.resize(containers_.size());
  }

  // Adds the requests and mappings for one resource. Init containers that end use what later containers ask
  // for; only what the largest of them needs beyond that is a request of its own.
  void Make(std::vector<api::DeviceRequest>& requests, std::vector<Mapping>& mappings) {
    std::vector<Mapping> long_mappings;
    for (size_t i = 0; i < containers_.size(); ++i) {
      if (!IsShortLived(i)) long_lived_[i] = MakeOne(i, /*reuses=*/false, long_mappings);
    }
    std::vector<Mapping> short_mappings;
    std::optional<api::DeviceRequest> largest;
    std::vector<std::string> names;
    for (size_t i = 0; i < containers_.size(); ++i) {
      if (!IsShortLived(i)) continue;
      std::optional<api::DeviceRequest> request = MakeOne(i, /*reuses=*/true, short_mappings);
      if (!request.has_value()) continue;
      names.push_back(request->name);
      if (!largest.has_value() || largest->exactly->count < request->exactly->count) largest = request;
    }
    for (Mapping& mapping : short_mappings) {
      const bool is_own = std::find(names.begin(), names.end(), mapping.request_name) != names.end();
      if (largest.has_value() && is_own) mapping.request_name = largest->name;
    }
    if (largest.has_value()) requests.push_back(*std::move(largest));
    for (std::optional<api::DeviceRequest>& request : long_lived_) {
      if (request.has_value()) requests.push_back(*std::move(request));
    }
    mappings.insert(mappings.end(), long_mappings.begin(), long_mappings.end());
    mappings.insert(mappings.end(), short_mappings.begin(), short_mappings.end());
  }

 private:
  bool IsShortLived(size_t i) const { return i < init_count_ && containers_[i]->restart_policy != "Always"; }

  std::optional<api::DeviceRequest> MakeOne(size_t i, bool reuses, std::vector<Mapping>& mappings) {
    const api::Container& container = *containers_[i];
    const api::Quantity* amount = container.resources.requests.Find(resource_);
    if (amount == nullptr || amount->Value() == 0) return std::nullopt;
    const int64_t wanted = amount->Value();
    int64_t sum = 0;
    for (size_t j = i; reuses && j < long_lived_.size(); ++j) {
      if (!long_lived_[j].has_value()) continue;
      sum += long_lived_[j]->exactly->count;
      mappings.push_back({container.name, resource_, long_lived_[j]->name});
      if (sum >= wanted) return std::nullopt;
    }
    int64_t index = 0;
    for (const auto& [name, value] : container.resources.requests) {
      if (name == resource_) break;
      ++index;
    }
    api::DeviceRequest request;
    request.name = absl::StrCat("container-", i, "-request-", index);
    request.exactly.emplace();
    request.exactly->device_class_name = class_name_;
    request.exactly->allocation_mode = "ExactCount";
    request.exactly->count = wanted - sum;
    mappings.push_back({container.name, resource_, request.name});
    return request;
  }

  const std::string resource_;
  const std::string class_name_;
  const size_t init_count_;
  std::vector<const api::Container*> containers_;
  std::vector<std::optional<api::DeviceRequest>> long_lived_;  // By container.
};

}  // namespace

ClaimPtr ExtendedResourceClaim(const framework::PodInfo& pod, framework::Handle& handle) {
  if (!AsksForDeviceClass(pod.spec_info->requests, handle)) return nullptr;
  const api::ObjectMeta& meta = pod.pod->metadata;
  if (ClaimPtr known = handle.claims().FindExtended(meta.name, meta.uid)) return known;
  auto claim = std::make_shared<api::ResourceClaim>();
  claim->api_version = "resource.k8s.io/v1";
  claim->kind_name = "ResourceClaim";
  claim->metadata.namespace_ = meta.namespace_;
  claim->metadata.name = std::string(kSpecialClaimName);
  claim->metadata.generate_name = absl::StrCat(meta.name, "-extended-resources-");
  claim->metadata.uid = absl::StrCat(kSpecialClaimName, meta.uid);
  claim->metadata.owner_references = api::SharedList<api::OwnerReference>(std::vector<api::OwnerReference>{
      {.api_version = "v1", .kind = "Pod", .name = meta.name, .uid = meta.uid, .controller = true}});
  claim->metadata.annotations.Set("resource.kubernetes.io/extended-resource-claim", "true");
  return claim;
}

ExtendedOnNode FilterExtendedResources(const framework::PodInfo& pod, const api::ResourceClaim& claim,
                                       bool has_others, const framework::NodeInfo& node,
                                       framework::Handle& handle) {
  const auto reject = [](const char* reason) {
    return ExtendedOnNode{.status = Status(Code::kUnschedulableAndUnresolvable, std::string(reason)),
                          .claim = nullptr,
                          .mappings = {}};
  };
  if (!claim.spec.requests.empty()) return reject("cannot schedule extended resource claim");
  std::map<std::string, std::string> classes;  // By resource: those that devices of the node stand for.
  for (const framework::ScalarResource& scalar : pod.spec_info->requests.scalars) {
    if (scalar.value == 0) continue;
    const std::string name(handle.symbols().Text(scalar.name));
    if (!framework::IsDeviceClassResource(name)) continue;
    const api::DeviceClass* device_class = DeviceClassOf(name, handle);
    const bool has_entry = node.allocatable.HasScalar(scalar.name);
    if (device_class != nullptr && node.allocatable.Scalar(scalar.name) == 0 &&
        (!has_entry || handle.line().line != api::KubernetesLine::k1_34)) {
      classes[name] = device_class->metadata.name;
    } else if (!has_entry) {
      return reject("cannot fit resource");
    }
  }
  if (!has_others && classes.empty()) return {};
  if (claim.status.allocation.has_value()) return {};
  auto on_node = std::make_shared<api::ResourceClaim>(claim);
  ExtendedOnNode result;
  for (const auto& [resource, class_name] : classes) {
    RequestMaker(*pod.pod->spec, resource, class_name).Make(on_node->spec.requests, result.mappings);
  }
  std::stable_sort(on_node->spec.requests.begin(), on_node->spec.requests.end(),
                   [](const auto& a, const auto& b) { return a.name < b.name; });
  result.claim = std::move(on_node);
  return result;
}

}  // namespace schedsim::plugins
