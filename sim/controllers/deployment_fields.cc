#include "sim/controllers/deployment_fields.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/codec/text/json_writer.h"

namespace schedsim::sim {
namespace {

// Stands for no deadline at all.
constexpr int64_t kNoDeadline = INT32_MAX;
constexpr int64_t kDefaultDeadline = 600;

// Source: kubernetes v1.37, pkg/controller/deployment/util, ResolveFenceposts: not both of them may be zero.
int64_t ResolvedUnavailable(const DeploymentSpec& spec) {
  const int64_t surge = spec.max_surge.Of(spec.replicas, /*rounds_up=*/true);
  const int64_t unavailable = spec.max_unavailable.Of(spec.replicas, /*rounds_up=*/false);
  return surge == 0 && unavailable == 0 ? 1 : unavailable;
}

std::string TemplateOf(const codec::Value& root) {
  const codec::Value* spec = root.Find("spec");
  const codec::Value* pod_template = spec == nullptr ? nullptr : spec->Find("template");
  return pod_template == nullptr ? "" : CanonicalJson(*pod_template, kPodTemplateHashLabel);
}

}  // namespace

int64_t DeploymentSpec::MaxSurge() const {
  return is_recreate ? 0 : max_surge.Of(replicas, /*rounds_up=*/true);
}

int64_t DeploymentSpec::MaxUnavailable() const {
  if (is_recreate || replicas == 0) return 0;
  return std::min(ResolvedUnavailable(*this), replicas);
}

std::optional<int64_t> RolloutSet::Annotation(absl::string_view key) const {
  const std::string* text = object->metadata.annotations.Find(key);
  int64_t number = 0;
  // What does not fit 32 bits is nobody's count, and no revision that was ever reached.
  const bool is_number = text != nullptr && absl::SimpleAtoi(*text, &number);
  if (!is_number || number < INT32_MIN || number > INT32_MAX) return std::nullopt;
  return number;
}

absl::Status ReadDeployment(const api::Object& object, DeploymentSpec& spec) {
  return ReadFields(object, [&spec](const codec::Value& root) {
    absl::Status error;
    const FieldReader metadata(root, {"metadata"}, error);
    spec.generation = metadata.OptionalLong("generation");
    const FieldReader fields(root, {"spec"}, error);
    spec.replicas = fields.Int("replicas", spec.replicas);
    spec.min_ready_seconds = fields.Count("minReadySeconds", 0);
    spec.selector = ReadSelector(root);
    spec.is_paused = fields.Bool("paused", false);
    spec.revision_history_limit = fields.Count("revisionHistoryLimit", spec.revision_history_limit);
    const int64_t deadline = fields.Count("progressDeadlineSeconds", kDefaultDeadline);
    if (deadline != kNoDeadline) spec.progress_deadline = absl::Seconds(deadline);
    const FieldReader strategy(root, {"spec", "strategy"}, error);
    spec.is_recreate = strategy.Text("type", "RollingUpdate") == "Recreate";
    const FieldReader rolling(root, {"spec", "strategy", "rollingUpdate"}, error);
    spec.max_surge = rolling.OptionalIntOrPercent("maxSurge").value_or(spec.max_surge);
    spec.max_unavailable = rolling.OptionalIntOrPercent("maxUnavailable").value_or(spec.max_unavailable);
    spec.pod_template = TemplateOf(root);
    const FieldReader status(root, {"status"}, error);
    spec.status = {.observed_generation = status.OptionalLong("observedGeneration"),
                   .replicas = status.Int("replicas", 0),
                   .updated_replicas = status.Int("updatedReplicas", 0),
                   .ready_replicas = status.Int("readyReplicas", 0),
                   .available_replicas = status.Int("availableReplicas", 0),
                   .unavailable_replicas = status.Int("unavailableReplicas", 0),
                   .terminating_replicas = status.OptionalInt("terminatingReplicas"),
                   .collision_count = status.OptionalCount("collisionCount"),
                   .conditions = WorkloadConditions::Read(root, "lastUpdateTime")};
    error.Update(CheckPodCount("spec.replicas", spec.replicas));
    error.Update(CheckTemplate(root));
    if (error.ok()) error = CheckSelector(root);
    return error;
  });
}

absl::Status ReadRolloutSet(const api::Object& object, RolloutSet& set) {
  return ReadFields(object, [&set](const codec::Value& root) {
    absl::Status error;
    const FieldReader fields(root, {"spec"}, error);
    set.replicas = fields.Int("replicas", 1);
    set.min_ready_seconds = fields.Count("minReadySeconds", 0);
    set.pod_template = TemplateOf(root);
    const FieldReader status(root, {"status"}, error);
    set.status = {.observed_generation = status.OptionalLong("observedGeneration"),
                  .replicas = status.Int("replicas", 0),
                  .ready_replicas = status.Int("readyReplicas", 0),
                  .available_replicas = status.Int("availableReplicas", 0),
                  .terminating_replicas = status.OptionalInt("terminatingReplicas"),
                  .replica_failure = std::nullopt};
    const WorkloadConditions conditions = WorkloadConditions::Read(root, "");
    if (const WorkloadCondition* failure = conditions.Find("ReplicaFailure")) {
      set.status.replica_failure = *failure;
    }
    error.Update(CheckPodCount("spec.replicas", set.replicas));
    return error;
  });
}

int64_t SumOfReplicas(const std::vector<RolloutSet>& sets) {
  int64_t sum = 0;
  for (const RolloutSet& set : sets) sum += set.replicas;
  return sum;
}

int64_t NewSetReplicas(const DeploymentSpec& spec, int64_t replicas_of_all, int64_t replicas) {
  if (spec.is_recreate) return spec.replicas;
  const int64_t room = spec.replicas + spec.MaxSurge() - replicas_of_all;
  if (room <= 0) return replicas;
  return replicas + std::min(room, spec.replicas - replicas);
}

int64_t ProportionOf(const RolloutSet& set, const DeploymentSpec& spec, int64_t to_add, int64_t added) {
  if (set.replicas == 0 || to_add == 0 || to_add == added) return 0;
  int64_t fraction = 0;
  if (spec.replicas == 0) {
    fraction = -set.replicas;
  } else {
    int64_t before = set.Annotation(kMaxReplicasAnnotation).value_or(0);
    if (before <= 0) before = spec.status.replicas;
    if (before > 0) {
      // Rounded, halves up.
      const int64_t size = (2 * set.replicas * (spec.replicas + spec.MaxSurge()) + before) / (2 * before);
      fraction = size - set.replicas;
    }
  }
  const int64_t allowed = to_add - added;
  return to_add > 0 ? std::min(fraction, allowed) : std::max(fraction, allowed);
}

std::string DeploymentStatusJson(const DeploymentSpec::Status& status) {
  codec::JsonWriter json;
  json.BeginObject();
  const auto write = [&json](absl::string_view name, int64_t count) {
    if (count != 0) json.Field(name, count);
  };
  if (status.observed_generation.has_value()) json.Field("observedGeneration", *status.observed_generation);
  write("replicas", status.replicas);
  write("updatedReplicas", status.updated_replicas);
  write("readyReplicas", status.ready_replicas);
  write("availableReplicas", status.available_replicas);
  write("unavailableReplicas", status.unavailable_replicas);
  if (status.terminating_replicas.has_value())
    json.Field("terminatingReplicas", *status.terminating_replicas);
  if (status.collision_count.has_value()) json.Field("collisionCount", *status.collision_count);
  status.conditions.Write("lastUpdateTime", json);
  json.EndObject();
  return json.text();
}

}  // namespace schedsim::sim
