#include "sim/cluster/pod_finalizers.h"

#include <algorithm>

#include "absl/status/status.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {
namespace {

constexpr char kJobTracking[] = "batch.kubernetes.io/job-tracking";

}  // namespace

bool IsHeldByFinalizers(const api::Pod& pod) {
  if (pod.json == nullptr) return false;
  bool is_held = false;
  codec::ReadText(pod.json->ToString(), "pod.json", {}, [&is_held](const codec::Document& document) {
    const codec::Value* metadata = document.root.Find("metadata");
    const codec::Value* finalizers = metadata == nullptr ? nullptr : metadata->Find("finalizers");
    if (finalizers == nullptr) return absl::OkStatus();
    is_held = std::any_of(finalizers->items.begin(), finalizers->items.end(),
                          [](const codec::Value& item) { return item.text != kJobTracking; });
    return absl::OkStatus();
  }).IgnoreError();
  return is_held;
}

}  // namespace schedsim::sim
