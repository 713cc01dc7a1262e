#include "sim/cluster/pod_finalizers.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {
namespace {

constexpr char kJobTracking[] = "batch.kubernetes.io/job-tracking";

}  // namespace

std::vector<std::string> FinalizersOf(const api::Object& object) {
  std::vector<std::string> found;
  if (object.json == nullptr) return found;
  const std::string text = object.json->ToString();
  // Most objects have none.
  if (!absl::StrContains(text, "\"finalizers\":")) return found;
  codec::ReadText(text, "object.json", {}, [&found](const codec::Document& document) {
    const codec::Value* metadata = document.root.Find("metadata");
    const codec::Value* finalizers = metadata == nullptr ? nullptr : metadata->Find("finalizers");
    if (finalizers == nullptr) return absl::OkStatus();
    for (const codec::Value& item : finalizers->items) found.emplace_back(item.text);
    return absl::OkStatus();
  }).IgnoreError();
  return found;
}

bool IsHeldByFinalizers(const api::Pod& pod) {
  const std::vector<std::string> finalizers = FinalizersOf(pod);
  return std::any_of(finalizers.begin(), finalizers.end(),
                     [](const std::string& name) { return name != kJobTracking; });
}

}  // namespace schedsim::sim
