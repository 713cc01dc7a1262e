#include "sim/cluster/disruption_budget.h"

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/api/go_text.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/reader.h"

namespace schedsim::sim {
namespace {

using codec::Value;

// Absent where there is no value. An unreadable one goes to `error`.
std::optional<PodAmount> ReadAmount(const Value* value, std::string& error) {
  if (value == nullptr || value->is_null()) return std::nullopt;
  PodAmount amount;
  absl::string_view text = value->text;
  amount.is_percentage = absl::ConsumeSuffix(&text, "%");
  if (!absl::SimpleAtoi(text, &amount.number) || (value->is_string() && !amount.is_percentage)) {
    error = "invalid value for IntOrString: invalid type: string is not a percentage";
  }
  // The API server takes no other numbers.
  amount.number = std::clamp<int64_t>(amount.number, INT32_MIN, INT32_MAX);
  return amount;
}

int64_t ReadNumber(const Value& object, absl::string_view key) {
  const Value* value = object.Find(key);
  int64_t number = 0;
  if (value == nullptr || !absl::SimpleAtoi(value->text, &number)) return 0;
  return std::clamp<int64_t>(number, INT32_MIN, INT32_MAX);
}

absl::string_view ReadText(const Value& object, absl::string_view key) {
  const Value* value = object.Find(key);
  return value == nullptr ? absl::string_view() : value->text;
}

void ReadStatus(const Value& value, DisruptionBudget& budget) {
  BudgetStatus& status = budget.status;
  status.current_healthy = ReadNumber(value, "currentHealthy");
  status.desired_healthy = ReadNumber(value, "desiredHealthy");
  status.expected_pods = ReadNumber(value, "expectedPods");
  status.disruptions_allowed = ReadNumber(value, "disruptionsAllowed");
  status.observed_generation = ReadNumber(value, "observedGeneration");
  // A budget that no controller has seen yet has four zeros, and no generation.
  const bool is_fresh = value.Find("currentHealthy") != nullptr && value.Find("desiredHealthy") != nullptr &&
                        value.Find("expectedPods") != nullptr && status == BudgetStatus();
  budget.has_status = value.Find("disruptionsAllowed") != nullptr && !is_fresh;
  if (const Value* disrupted = value.Find("disruptedPods")) {
    for (const codec::Member& member : disrupted->members) {
      absl::Time time;
      std::string error;
      if (!absl::ParseTime(absl::RFC3339_full, member.value.text, &time, &error)) continue;
      status.disrupted_pods[std::string(member.key)] = time;
    }
  }
  const Value* conditions = value.Find("conditions");
  if (conditions == nullptr) return;
  for (const Value& condition : conditions->items) {
    if (ReadText(condition, "type") != "DisruptionAllowed") continue;
    status.condition = std::string(ReadText(condition, "status"));
    status.reason = std::string(ReadText(condition, "reason"));
    status.message = std::string(ReadText(condition, "message"));
  }
}

// The lastTransitionTime of the stored condition; "" where there is none.
std::string TransitionTime(const api::PodDisruptionBudget& object) {
  std::string time;
  codec::VisitObjectTree(object, [&time](const codec::Value& root) {
    const Value* status = root.Find("status");
    const Value* conditions = status == nullptr ? nullptr : status->Find("conditions");
    if (conditions == nullptr) return;
    for (const Value& condition : conditions->items) {
      if (ReadText(condition, "type") == "DisruptionAllowed") {
        time = std::string(ReadText(condition, "lastTransitionTime"));
      }
    }
  });
  return time;
}

}  // namespace

int64_t Scaled(const PodAmount& amount, int64_t total) {
  if (!amount.is_percentage) return amount.number;
  const int64_t product = amount.number * total;
  // Rounded up, also below zero.
  return product > 0 ? (product + 99) / 100 : product / 100;
}

DisruptionBudget ReadBudget(const api::PodDisruptionBudget& object) {
  DisruptionBudget budget;
  codec::VisitObjectTree(object, [&](const codec::Value& root) {
    if (const Value* metadata = root.Find("metadata")) {
      budget.generation = ReadNumber(*metadata, "generation");
    }
    if (const Value* spec = root.Find("spec")) {
      budget.min_available = ReadAmount(spec->Find("minAvailable"), budget.error);
      budget.max_unavailable = ReadAmount(spec->Find("maxUnavailable"), budget.error);
      budget.evicts_unhealthy = ReadText(*spec, "unhealthyPodEvictionPolicy") == "AlwaysAllow";
    }
    if (const Value* status = root.Find("status")) ReadStatus(*status, budget);
  });
  return budget;
}

void SetDisruptionAllowed(BudgetStatus& status) {
  const bool allowed = status.disruptions_allowed > 0;
  status.condition = allowed ? "True" : "False";
  status.reason = allowed ? "SufficientPods" : "InsufficientPods";
  status.message.clear();
}

absl::Status WriteBudgetStatus(const api::PodDisruptionBudget& object, const BudgetStatus& before,
                               const BudgetStatus& status, absl::Time now, ApiServer& server) {
  const std::string now_text = api::FormatRfc3339Seconds(now);
  std::string transition = before.condition == status.condition ? TransitionTime(object) : "";
  if (transition.empty()) transition = now_text;
  codec::JsonWriter json;
  json.BeginObject().Key("status").BeginObject();
  json.Field("currentHealthy", status.current_healthy).Field("desiredHealthy", status.desired_healthy);
  json.Field("expectedPods", status.expected_pods).Field("disruptionsAllowed", status.disruptions_allowed);
  json.Field("observedGeneration", status.observed_generation).Key("conditions").BeginArray();
  json.BeginObject().Field("type", "DisruptionAllowed").Field("status", status.condition);
  json.Field("reason", status.reason).Field("message", status.message);
  json.Field("observedGeneration", status.observed_generation);
  json.Field("lastTransitionTime", transition).EndObject().EndArray().Key("disruptedPods");
  if (status.disrupted_pods.empty()) {
    json.Null();
  } else {
    json.BeginObject();
    for (const auto& [pod, time] : before.disrupted_pods) {
      if (status.disrupted_pods.count(pod) == 0) json.Key(pod).Null();
    }
    for (const auto& [pod, time] : status.disrupted_pods) {
      json.Field(pod, api::FormatRfc3339Seconds(time));
    }
    json.EndObject();
  }
  json.EndObject().EndObject();
  absl::Status status_of_patch;
  const absl::Status read =
      codec::ReadText(json.text(), "status.json", {}, [&](const codec::Document& document) {
        status_of_patch = server.Patch(object, codec::PatchType::kMerge, document.root).status();
        return absl::OkStatus();
      });
  return read.ok() ? status_of_patch : read;
}

bool IsHealthy(const api::Pod& pod) {
  const api::PodCondition* ready = pod.FindCondition("Ready");
  if (ready != nullptr) return ready->status == "True";
  return !pod.node_name.empty() && !pod.IsTerminal();
}

}  // namespace schedsim::sim
