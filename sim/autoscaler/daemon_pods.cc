#include "sim/autoscaler/daemon_pods.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codec/text/json_writer.h"
#include "sim/controllers/daemon_set.h"
#include "sim/controllers/pod_template.h"
#include "sim/controllers/workload_fields.h"

namespace schedsim::sim {
void DaemonPods::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (!IsDaemonSet(object)) return;
  prototypes_.erase(object.metadata.uid);
  if (event.new_object == nullptr || object.metadata.deletion_timestamp.has_value()) return;
  codec::JsonWriter metadata;
  metadata.BeginObject().Field("generateName", absl::StrCat(object.metadata.name, "-")).EndObject();
  // What its template lacks, the DaemonSet controller says.
  ReadFields(object, [&](const codec::Value& root) -> absl::Status {
    const codec::Value* spec = root.Find("spec");
    const codec::Value* pod_template = spec == nullptr ? nullptr : spec->Find("template");
    if (pod_template == nullptr) return absl::OkStatus();
    std::shared_ptr<const api::Pod> pod;
    ASSIGN_OR_RETURN(pod, PodFromTemplate(object, *pod_template, metadata.text(), "{}", reader_));
    auto prototype = std::static_pointer_cast<api::Pod>(pod->Clone());
    auto pod_spec = std::make_shared<api::PodSpec>(*prototype->spec);
    if (pod_spec->scheduler_name.empty()) pod_spec->scheduler_name = "default-scheduler";
    prototype->spec = std::move(pod_spec);
    prototypes_[object.metadata.uid] = std::move(prototype);
    return absl::OkStatus();
  }).IgnoreError();
}

void DaemonPods::PutOn(const std::string& node_name, ClusterSnapshot& snapshot) const {
  for (const auto& [uid, prototype] : prototypes_) {
    const ClusterSnapshot::Pods& there = snapshot.PodsOn(node_name);
    const bool has_one = std::any_of(there.begin(), there.end(), [&uid = uid](const auto& entry) {
      const api::OwnerReference* owner = ControllerOf(*entry.second);
      return owner != nullptr && owner->uid == uid;
    });
    if (has_one || !snapshot.ResponsibleFor(*prototype)) continue;
    auto pod = CopyWithName(*prototype, absl::StrCat(prototype->metadata.generate_name, node_name));
    pod->metadata.uid = absl::StrCat(uid, "/", node_name);
    if (snapshot.FindFit(pod, {node_name}).index.has_value()) snapshot.PutPod(pod, node_name);
  }
}

}  // namespace schedsim::sim
