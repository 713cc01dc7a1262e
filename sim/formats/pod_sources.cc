#include "sim/formats/pod_sources.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/pod.h"
#include "sim/cluster/admission/policy_json.h"

namespace schedsim::sim {
namespace {

constexpr absl::string_view kWorkloadKinds[] = {
    "CronJob", "DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet"};

int64_t IntegerAt(const codec::Value* map, absl::string_view key, int64_t otherwise) {
  int64_t number = 0;
  const codec::Value* const value = Below(map, {key});
  return value != nullptr && absl::SimpleAtoi(value->text, &number) ? number : otherwise;
}

bool IsTrue(const codec::Value* map, absl::string_view key) {
  const codec::Value* found = map == nullptr ? nullptr : map->Find(key);
  return found != nullptr && found->boolean;
}

// Whether the job is complete, or has failed.
bool IsFinished(const codec::Value* status) {
  const codec::Value* conditions = Below(status, {"conditions"});
  if (conditions == nullptr) return false;
  return std::any_of(conditions->items.begin(), conditions->items.end(), [](const codec::Value& condition) {
    const std::string type = TextOf(&condition, "type");
    return (type == "Complete" || type == "Failed") && TextOf(&condition, "status") == "True";
  });
}

// What there is of workloads.
class Existing {
 public:
  explicit Existing(absl::Span<const api::ObjectPtr> objects) {
    for (const api::ObjectPtr& object : objects) {
      if (object->kind == api::Kind::kNode && !api::CameFromCluster(*object)) has_new_node_ = true;
      const api::OwnerReference* const owner = api::ControllerOf(*object);
      if (owner == nullptr || object->metadata.deletion_timestamp.has_value()) continue;
      const bool is_pod = object->kind == api::Kind::kPod;
      if (is_pod && static_cast<const api::Pod&>(*object).IsTerminal()) continue;
      if (!is_pod && object->kind_name != "ReplicaSet") continue;
      counts_[absl::StrCat(owner->kind, " ", object->metadata.namespace_, "/", owner->name)] +=
          is_pod ? 1 : ReplicasOf(*object);
    }
  }

  // Whether the controller of this workload, which a cluster gave out, has a pod to make.
  bool IsShort(const api::Object& workload, const codec::Value& root) const {
    const auto found = counts_.find(absl::StrCat(workload.kind_name, " ", workload.Key()));
    const int64_t count = found == counts_.end() ? 0 : found->second;
    const codec::Value* const spec = Below(&root, {"spec"});
    const codec::Value* const status = Below(&root, {"status"});
    if (workload.kind_name == "CronJob") return false;
    if (workload.kind_name == "DaemonSet")
      return has_new_node_ || count < IntegerAt(status, "desiredNumberScheduled", 0);
    if (workload.kind_name != "Job") return count < IntegerAt(spec, "replicas", 1);
    const int64_t wanted = IntegerAt(spec, "completions", IntegerAt(spec, "parallelism", 1));
    return !IsFinished(status) && IntegerAt(status, "succeeded", 0) + count < wanted;
  }

 private:
  static int64_t ReplicasOf(const api::Object& replica_set) {
    int64_t replicas = 0;
    ReadPolicy(replica_set, [&replicas](const codec::Value& root) {
      replicas = IntegerAt(Below(&root, {"spec"}), "replicas", 1);
    });
    return replicas;
  }

  // Pods of those that control pods, and replicas of those that control ReplicaSets, by "Kind
  // namespace/name".
  std::map<std::string, int64_t> counts_;
  bool has_new_node_ = false;
};

// Whether it is to have pods at all.
bool IsOn(const api::Object& workload, const codec::Value& root) {
  const codec::Value* const spec = Below(&root, {"spec"});
  if (workload.kind_name == "DaemonSet") return true;
  if (workload.kind_name == "CronJob" || workload.kind_name == "Job") return !IsTrue(spec, "suspend");
  return IntegerAt(spec, "replicas", 1) > 0;
}

}  // namespace

bool IsWorkloadKind(absl::string_view kind) {
  return std::find(std::begin(kWorkloadKinds), std::end(kWorkloadKinds), kind) != std::end(kWorkloadKinds);
}

std::vector<size_t> PodSources(absl::Span<const api::ObjectPtr> objects, bool goes_on) {
  const Existing existing(objects);
  std::vector<size_t> sources;
  for (size_t i = 0; i < objects.size(); ++i) {
    const api::Object& object = *objects[i];
    const bool is_manifest = !api::CameFromCluster(object);
    bool is_source = false;
    if (object.kind == api::Kind::kPod) {
      is_source = is_manifest && !api::IsMirrorPod(object);
    } else if (IsWorkloadKind(object.kind_name)) {
      ReadPolicy(object, [&](const codec::Value& root) {
        is_source = IsOn(object, root) && (is_manifest || goes_on || existing.IsShort(object, root));
      });
    }
    if (is_source) sources.push_back(i);
  }
  return sources;
}

void ReadPodOf(const api::Object& source, absl::FunctionRef<void(const codec::Value& pod)> read) {
  ReadPolicy(source, [&](const codec::Value& root) {
    const codec::Value* pod = &root;
    if (source.kind_name == "CronJob") {
      pod = Below(&root, {"spec", "jobTemplate", "spec", "template"});
    } else if (source.kind != api::Kind::kPod) {
      pod = Below(&root, {"spec", "template"});
    }
    if (Below(pod, {"spec"}) != nullptr) read(*pod);
  });
}

}  // namespace schedsim::sim
