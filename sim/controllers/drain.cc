#include "sim/controllers/drain.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"

namespace schedsim::sim {
namespace {

constexpr absl::Duration kRetryPeriod = absl::Seconds(5);

bool StaysOnDrain(const api::Pod& pod) {
  const auto& owners = pod.metadata.owner_references;
  const bool of_daemon_set = std::any_of(owners.begin(), owners.end(), [](const api::OwnerReference& owner) {
    return owner.controller && owner.kind == "DaemonSet";
  });
  return of_daemon_set || pod.metadata.annotations.Find("kubernetes.io/config.mirror") != nullptr;
}

// What a number, or a percentage of `total`, rounded up, comes to; std::nullopt where there is none.
// Source: apimachinery v0.37, pkg/util/intstr/intstr.go, GetScaledValueFromIntOrPercent.
std::optional<int64_t> Scaled(const codec::Value* value, int64_t total) {
  if (value == nullptr || value->is_null()) return std::nullopt;
  absl::string_view text = value->text;
  const bool is_percentage = absl::ConsumeSuffix(&text, "%");
  int64_t number = 0;
  if (!absl::SimpleAtoi(text, &number)) return std::nullopt;
  return is_percentage ? (number * total + 99) / 100 : number;
}

}  // namespace

void Drainer::Drain(absl::string_view node_name, absl::Duration timeout) {
  std::vector<api::PodPtr>& pods = pods_[std::string(node_name)];
  pods.clear();
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    auto pod = std::static_pointer_cast<const api::Pod>(object);
    if (pod->node_name == node_name && !StaysOnDrain(*pod)) pods.push_back(std::move(pod));
  }
  Try(std::string(node_name), loop_.Now() + timeout);
}

void Drainer::Try(const std::string& node_name, absl::Time deadline) {
  bool is_blocked = false;
  const std::vector<api::PodPtr> pods = pods_[node_name];
  for (const api::PodPtr& pod : pods) {
    const api::PodPtr now = server_.FindPod(pod->metadata.namespace_, pod->metadata.name);
    if (!IsThere(*pod) || now->metadata.deletion_timestamp.has_value()) continue;
    if (now->IsTerminal() || Allowed(*now)) {
      server_.DeletePod(*now).IgnoreError();
    } else {
      is_blocked = true;
    }
  }
  if (!is_blocked || loop_.Now() + kRetryPeriod > deadline) return;
  loop_.At(loop_.Now() + kRetryPeriod, EventLoop::Phase::kStep,
           [this, node_name, deadline] { Try(node_name, deadline); });
}

bool Drainer::IsThere(const api::Pod& pod) const {
  const api::PodPtr now = server_.FindPod(pod.metadata.namespace_, pod.metadata.name);
  return now != nullptr && now->metadata.uid == pod.metadata.uid;
}

bool Drainer::IsDrained(const std::string& node_name) const {
  auto found = pods_.find(node_name);
  if (found == pods_.end()) return true;
  return std::none_of(found->second.begin(), found->second.end(),
                      [this](const api::PodPtr& pod) { return IsThere(*pod); });
}

std::vector<std::string> Drainer::Left(const std::string& node_name) const {
  std::vector<std::string> left;
  auto found = pods_.find(node_name);
  if (found == pods_.end()) return left;
  for (const api::PodPtr& pod : found->second) {
    if (IsThere(*pod)) left.push_back(pod->Key());
  }
  return left;
}

bool Drainer::Covers(const api::PodDisruptionBudget& budget, const framework::LabelMatcher& selector,
                     const api::Pod& pod) {
  return budget.metadata.namespace_ == pod.metadata.namespace_ && !pod.IsTerminal() &&
         selector.Matches(framework::LabelSet(pod.metadata.labels, symbols_), symbols_);
}

bool Drainer::Allowed(const api::Pod& pod) {
  for (const auto& [key, object] : server_.List(api::Kind::kPodDisruptionBudget)) {
    const auto& budget = static_cast<const api::PodDisruptionBudget&>(*object);
    // An invalid selector selects nothing.
    const auto selector =
        framework::LabelMatcher::Make(budget.selector, symbols_).value_or(framework::LabelMatcher());
    if (Covers(budget, selector, pod) && DisruptionsAllowed(budget, selector) <= 0) return false;
  }
  return true;
}

int64_t Drainer::DisruptionsAllowed(const api::PodDisruptionBudget& budget,
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
