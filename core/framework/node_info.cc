#include "core/framework/node_info.h"

#include <algorithm>
#include <utility>

#include "core/base/wrapping.h"

namespace schedsim::framework {

void NodeInfo::AddScaled(const PodInfo& pod, int64_t sign) {
  requested.AddScaled(pod.requests, sign);
  non_zero_milli_cpu = WrappingAdd(non_zero_milli_cpu, WrappingMultiply(sign, pod.non_zero_milli_cpu));
  non_zero_memory_bytes =
      WrappingAdd(non_zero_memory_bytes, WrappingMultiply(sign, pod.non_zero_memory_bytes));
}

void NodeInfo::AddPod(PodInfoPtr pod) {
  AddScaled(*pod, 1);
  for (const HostPort& port : pod->spec_info->host_ports) {
    if (std::find(used_ports.begin(), used_ports.end(), port) == used_ports.end()) used_ports.push_back(port);
  }
  const PodAffinityTerms& terms = pod->spec_info->affinity_terms;
  lowest_priority = std::min(lowest_priority, pod->Priority());
  if (terms.present) pods_with_affinity.push_back(pod.get());
  if (!terms.required_anti_affinity.empty()) pods_with_required_anti_affinity.push_back(pod.get());
  pods.push_back(std::move(pod));
}

bool NodeInfo::ReplaceLastPod(const PodInfo& known, const PodInfoPtr& pod) {
  const bool is_alike = known.spec_info == pod->spec_info && known.priority == pod->priority &&
                        known.requests == pod->requests &&
                        known.non_zero_milli_cpu == pod->non_zero_milli_cpu &&
                        known.non_zero_memory_bytes == pod->non_zero_memory_bytes;
  const bool is_simple = pod->spec_info->host_ports.empty() && !pod->spec_info->affinity_terms.present;
  if (!is_alike || !is_simple || pods.empty() || pods.back().get() != &known) return false;
  pods.back() = pod;
  return true;
}

PodInfoPtr NodeInfo::Take(size_t at) {
  PodInfoPtr taken = std::move(pods[at]);
  AddScaled(*taken, -1);
  // A port that another pod has, too, becomes free all the same: see `used_ports`.
  for (const HostPort& port : taken->spec_info->host_ports) {
    std::erase(used_ports, port);
  }
  if (taken->spec_info->affinity_terms.present) {
    std::erase(pods_with_affinity, taken.get());
    std::erase(pods_with_required_anti_affinity, taken.get());
  }
  // The last pod takes the free place, as upstream's slice does. Preemption sees this order among equal pods.
  if (at + 1 < pods.size()) pods[at] = std::move(pods.back());
  pods.pop_back();
  return taken;
}

bool NodeInfo::RemovePod(absl::string_view uid) {
  // From the end, where the pods are that were assumed just now: these are replaced when they are bound.
  const auto found =
      std::find_if(pods.rbegin(), pods.rend(), [uid](const PodInfoPtr& pod) { return pod->Uid() == uid; });
  if (found == pods.rend()) return false;
  const PodInfoPtr taken = Take(static_cast<size_t>(pods.rend() - found) - 1);
  if (taken->Priority() > lowest_priority) return true;
  lowest_priority = INT32_MAX;
  for (const PodInfoPtr& pod : pods) lowest_priority = std::min(lowest_priority, pod->Priority());
  return true;
}

}  // namespace schedsim::framework
