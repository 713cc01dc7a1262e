#include "sim/controllers/disruption.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"

namespace schedsim::sim {
namespace {

// What a number, or a percentage of `total`, rounded up, comes to; std::nullopt where there is none.
// Source: apimachinery v0.37, pkg/util/intstr/intstr.go, GetScaledValueFromIntOrPercent.
std::optional<int64_t> Scaled(const codec::Value* value, int64_t total) {
  if (value == nullptr || value->is_null()) return std::nullopt;
  absl::string_view text = value->text;
  const bool is_percentage = absl::ConsumeSuffix(&text, "%");
  int64_t number = 0;
  if (!absl::SimpleAtoi(text, &number)) return std::nullopt;
  // The API server takes no other numbers.
  number = std::clamp<int64_t>(number, INT32_MIN, INT32_MAX);
  return is_percentage ? (number * total + 99) / 100 : number;
}

}  // namespace

bool DisruptionController::Covers(const api::PodDisruptionBudget& budget,
                                  const framework::LabelMatcher& selector, const api::Pod& pod) {
  return budget.metadata.namespace_ == pod.metadata.namespace_ && !pod.IsTerminal() &&
         selector.Matches(framework::LabelSet(pod.metadata.labels, symbols_), symbols_);
}

bool DisruptionController::AllowsEviction(const api::Pod& pod) {
  for (const auto& [key, object] : server_.List(api::Kind::kPodDisruptionBudget)) {
    const auto& budget = static_cast<const api::PodDisruptionBudget&>(*object);
    // An invalid selector selects nothing.
    const auto selector =
        framework::LabelMatcher::Make(budget.selector, symbols_).value_or(framework::LabelMatcher());
    if (Covers(budget, selector, pod) && DisruptionsAllowed(budget, selector) <= 0) return false;
  }
  return true;
}

int64_t DisruptionController::DisruptionsAllowed(const api::PodDisruptionBudget& budget,
                                                 const framework::LabelMatcher& selector) {
  int64_t healthy = 0;
  int64_t count = 0;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    const auto& pod = static_cast<const api::Pod&>(*object);
    // Its workload has another one by now, or will have.
    if (!Covers(budget, selector, pod) || pod.metadata.deletion_timestamp.has_value()) continue;
    ++count;
    if (!pod.node_name.empty()) ++healthy;
  }
  int64_t& expected = expected_[budget.Key()];
  expected = std::max(expected, count);
  int64_t allowed = budget.disruptions_allowed;
  const absl::Status read =
      codec::ReadText(codec::ObjectJson(budget), budget.Key(), {}, [&](const codec::Document& document) {
        const codec::Value* spec = document.root.Find("spec");
        if (spec == nullptr) return absl::OkStatus();
        if (const auto min = Scaled(spec->Find("minAvailable"), expected)) allowed = healthy - *min;
        if (const auto max = Scaled(spec->Find("maxUnavailable"), expected)) {
          allowed = healthy - std::max<int64_t>(expected - *max, 0);
        }
        return absl::OkStatus();
      });
  return read.ok() ? allowed : 0;
}

}  // namespace schedsim::sim
