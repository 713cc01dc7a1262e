#include "sim/controllers/pod_gc.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/status/statusor.h"
#include "core/api/node.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/value.h"
#include "sim/cluster/pod_finalizers.h"
#include "sim/controllers/node_fields.h"

namespace schedsim::sim {
namespace {

constexpr absl::Duration kPeriod = absl::Seconds(20);
constexpr absl::Duration kQuarantine = absl::Seconds(40);
constexpr int64_t kTerminatedMax = 12'500;

constexpr char kOutOfService[] = "node.kubernetes.io/out-of-service";

bool IsOutOfService(const api::Node& node) { return HasTaint(node, kOutOfService) && IsNotReady(node); }

// Whether a kubelet has evicted the pod, which it says in status.reason.
bool IsEvicted(const api::Pod& pod) {
  if (pod.status.phase != "Failed" || pod.json == nullptr) return false;
  bool is_evicted = false;
  codec::ReadText(pod.json->ToString(), "pod.json", {}, [&is_evicted](const codec::Document& document) {
    const codec::Value* status = document.root.Find("status");
    const codec::Value* reason = status == nullptr ? nullptr : status->Find("reason");
    is_evicted = reason != nullptr && reason->text == "Evicted";
    return absl::OkStatus();
  }).IgnoreError();
  return is_evicted;
}

// Whether all that can be done was done, and somebody still holds the pod.
bool IsHeld(const api::Pod& pod) {
  return pod.IsTerminal() && pod.metadata.deletion_timestamp.has_value() && IsHeldByFinalizers(pod);
}

int64_t TerminatedOf(const api::Pod* pod) { return pod != nullptr && pod->IsTerminal() ? 1 : 0; }

}  // namespace

void PodGcController::Start() {
  started_ = true;
  start_ = loop_.Now();
  for (const auto& [key, object] : server_.List(api::Kind::kNode)) OnNode({.new_object = object});
  server_.ForEachPod([this](const api::Pod& pod) { OnPod(nullptr, &pod); });
}

void PodGcController::OnEvent(const WatchEvent& event) {
  if (!started_) return;
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind == api::Kind::kPod) {
    OnPod(static_cast<const api::Pod*>(event.old_object.get()),
          static_cast<const api::Pod*>(event.new_object.get()));
  } else {
    OnNode(event);
  }
}

void PodGcController::OnNode(const WatchEvent& event) {
  if (event.new_object == nullptr) {
    const std::string& name = event.old_object->metadata.name;
    out_of_service_.erase(name);
    gone_[name] = absl::InfiniteFuture();
    LookLater();
    return;
  }
  const std::string& name = event.new_object->metadata.name;
  if (event.old_object == nullptr) gone_.erase(name);
  if (!IsOutOfService(static_cast<const api::Node&>(*event.new_object))) {
    out_of_service_.erase(name);
  } else if (out_of_service_.insert(name).second) {
    LookLater();
  }
}

void PodGcController::OnPod(const api::Pod* before, const api::Pod* now) {
  const int64_t added = TerminatedOf(now) - TerminatedOf(before);
  terminated_count_ += added;
  if (added > 0 && terminated_count_ > kTerminatedMax) LookLater();
  if (now != nullptr && (IsStuck(*now) || gone_.count(now->node_name) > 0)) LookLater();
}

bool PodGcController::IsStuck(const api::Pod& pod) const {
  return pod.metadata.deletion_timestamp.has_value() &&
         (pod.node_name.empty() || out_of_service_.count(pod.node_name) > 0) && !IsHeld(pod);
}

void PodGcController::LookLater() {
  if (looks_) return;
  looks_ = true;
  const absl::Duration since_look = (loop_.Now() - start_) % kPeriod;
  loop_.At(loop_.Now() - since_look + kPeriod, EventLoop::Phase::kWork, [this] { Look(); });
}

// What it changes itself is no reason for another look.
void PodGcController::Look() {
  CollectTerminated();
  std::vector<api::PodPtr> pods;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    auto pod = std::static_pointer_cast<const api::Pod>(object);
    if (IsStuck(*pod)) pods.push_back(std::move(pod));
  }
  for (const api::PodPtr& pod : pods) FailAndDelete(*pod, "", "");
  if (!gone_.empty()) CollectOrphaned();
  looks_ = false;
  const bool goes_on = std::any_of(gone_.begin(), gone_.end(),
                                   [](const auto& entry) { return entry.second != absl::InfiniteFuture(); });
  if (goes_on) LookLater();
}

void PodGcController::CollectTerminated() {
  const int64_t count = terminated_count_ - kTerminatedMax;
  if (count <= 0) return;
  // What a kubelet evicted goes first, then what is oldest.
  std::vector<std::tuple<bool, absl::Time, std::string, api::PodPtr>> pods;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    auto pod = std::static_pointer_cast<const api::Pod>(object);
    if (!pod->IsTerminal()) continue;
    const absl::Time created = pod->metadata.creation_timestamp.value_or(absl::InfinitePast());
    pods.emplace_back(!IsEvicted(*pod), created, pod->metadata.name, pod);
  }
  // Those of the same time and name are in the order of their namespaces.
  std::stable_sort(pods.begin(), pods.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a), std::get<2>(a)) <
           std::tie(std::get<0>(b), std::get<1>(b), std::get<2>(b));
  });
  pods.resize(std::min(pods.size(), static_cast<size_t>(count)));
  for (const auto& entry : pods) FailAndDelete(*std::get<3>(entry), "", "");
}

void PodGcController::CollectOrphaned() {
  std::map<std::string, std::vector<api::PodPtr>> orphans;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    auto pod = std::static_pointer_cast<const api::Pod>(object);
    if (gone_.count(pod->node_name) > 0 && !IsHeld(*pod)) orphans[pod->node_name].push_back(std::move(pod));
  }
  const absl::Time now = loop_.Now();
  for (auto& [name, end] : gone_) {
    const std::vector<api::PodPtr> pods = orphans[name];
    if (!pods.empty() && end > now) {
      end = std::min(end, now + kQuarantine);
      continue;
    }
    end = absl::InfiniteFuture();
    // Nobody is there to end them.
    for (const api::PodPtr& pod : pods)
      FailAndDelete(*pod, "DeletionByPodGC", "PodGC: node no longer exists");
  }
}

void PodGcController::FailAndDelete(const api::Pod& found, absl::string_view reason,
                                    absl::string_view message) {
  const api::ObjectMeta& meta = found.metadata;
  // The end of others may have changed it since the look began.
  const auto current = [&]() -> api::PodPtr {
    api::PodPtr pod = server_.FindPod(meta.namespace_, meta.name);
    return pod != nullptr && pod->metadata.uid == meta.uid ? pod : nullptr;
  };
  const api::PodPtr pod = current();
  if (pod == nullptr) return;
  if (!pod->IsTerminal()) {
    auto failed = std::static_pointer_cast<api::Pod>(pod->Clone());
    failed->status.phase = "Failed";
    if (!reason.empty()) {
      failed->SetCondition({.type = "DisruptionTarget",
                            .status = "True",
                            .reason = std::string(reason),
                            .message = std::string(message)});
    }
    if (!server_.Update(failed).ok()) return;
  }
  const api::PodPtr stored = current();
  if (stored == nullptr) return;
  if (stored != pod && !reason.empty()) trace_.Status(*stored);
  if (IsHeldByFinalizers(*stored)) {
    if (!stored->metadata.deletion_timestamp.has_value()) {
      server_.MarkDeleted(*stored, absl::ZeroDuration()).IgnoreError();
    }
    return;
  }
  if (server_.Delete(api::Kind::kPod, "Pod", meta.namespace_, meta.name).ok()) trace_.Gone(*stored);
}

}  // namespace schedsim::sim
