#include "core/framework/scheduling_class.h"

#include <optional>
#include <vector>

namespace schedsim::framework {
namespace {

// Appends fields one after the other. Each has a length or a fixed size, so that two different specs never
// give the same bytes.
class KeyWriter {
 public:
  explicit KeyWriter(std::string& text) : text_(text) {}

  void Add(int64_t number) { text_.append(reinterpret_cast<const char*>(&number), sizeof(number)); }
  void Add(int32_t number) { Add(int64_t{number}); }
  void Add(size_t number) { Add(static_cast<int64_t>(number)); }
  void Add(bool flag) { text_.push_back(flag ? 1 : 0); }
  void Add(absl::string_view text) {
    Add(text.size());
    text_.append(text.data(), text.size());
  }
  void Add(const std::string& text) { Add(absl::string_view(text)); }
  void Add(const api::StringMap& map) {
    Add(map.size());
    for (const auto& [key, value] : map) {
      Add(key);
      Add(value);
    }
  }
  void Add(const api::ResourceList& list) {
    Add(list.size());
    for (const auto& [name, quantity] : list) {
      Add(name);
      // Sums are rounded once, at their end, so every digit counts.
      const __int128 nano = quantity.NanoValue();
      Add(static_cast<int64_t>(nano >> 64));
      Add(static_cast<int64_t>(nano));
    }
  }
  void Add(const api::ResourceRequirements& resources) {
    Add(resources.requests);
    Add(resources.limits);
  }
  void Add(const api::Toleration& toleration) {
    Add(toleration.key);
    Add(toleration.operator_);
    Add(toleration.value);
    Add(toleration.effect);
    Add(toleration.toleration_seconds);
  }
  void Add(const api::NodeSelectorRequirement& requirement) { AddRequirement(requirement); }
  void Add(const api::LabelSelectorRequirement& requirement) { AddRequirement(requirement); }
  void Add(const api::NodeSelectorTerm& term) {
    Add(term.match_expressions);
    Add(term.match_fields);
  }
  void Add(const api::NodeSelector& selector) { Add(selector.node_selector_terms); }
  void Add(const api::PreferredSchedulingTerm& term) {
    Add(term.weight);
    Add(term.preference);
  }
  void Add(const api::NodeAffinity& affinity) {
    Add(affinity.required_during_scheduling_ignored_during_execution);
    Add(affinity.preferred_during_scheduling_ignored_during_execution);
  }
  void Add(const api::LabelSelector& selector) {
    Add(selector.match_labels);
    Add(selector.match_expressions);
  }
  void Add(const api::PodAffinityTerm& term) {
    Add(term.label_selector);
    Add(term.namespaces);
    Add(term.topology_key);
    Add(term.namespace_selector);
    Add(term.match_label_keys);
    Add(term.mismatch_label_keys);
  }
  void Add(const api::WeightedPodAffinityTerm& term) {
    Add(term.weight);
    Add(term.pod_affinity_term);
  }
  void Add(const api::PodAffinity& affinity) {
    Add(affinity.required_during_scheduling_ignored_during_execution);
    Add(affinity.preferred_during_scheduling_ignored_during_execution);
  }
  void Add(const api::TopologySpreadConstraint& constraint) {
    Add(constraint.max_skew);
    Add(constraint.topology_key);
    Add(constraint.when_unsatisfiable);
    Add(constraint.label_selector);
    Add(constraint.min_domains);
    Add(constraint.node_affinity_policy);
    Add(constraint.node_taints_policy);
    Add(constraint.match_label_keys);
  }
  void Add(const api::ContainerPort& port) {
    Add(port.container_port);
    Add(port.host_port);
    Add(port.protocol);
    Add(port.host_ip);
  }
  void Add(const api::PodSchedulingGate& gate) { Add(gate.name); }
  void Add(const api::PodResourceClaim& claim) {
    Add(claim.name);
    Add(claim.resource_claim_name);
    Add(claim.resource_claim_template_name);
  }
  void Add(const api::PersistentVolumeClaimVolumeSource& source) {
    Add(source.claim_name);
    Add(source.read_only);
  }
  void Add(const api::EphemeralVolumeSource& source) { Add(source.present); }
  void Add(const api::GCEPersistentDiskVolumeSource& source) {
    Add(source.pd_name);
    Add(source.read_only);
  }
  void Add(const api::AWSElasticBlockStoreVolumeSource& source) {
    Add(source.volume_id);
    Add(source.read_only);
  }
  void Add(const api::ISCSIVolumeSource& source) {
    Add(source.iqn);
    Add(source.read_only);
  }
  void Add(const api::RBDVolumeSource& source) {
    Add(source.monitors);
    Add(source.pool);
    Add(source.image);
    Add(source.read_only);
  }
  void Add(const api::AzureDiskVolumeSource& source) {
    Add(source.disk_name);
    Add(source.data_disk_uri);
    Add(source.kind);
  }
  void Add(const api::CinderVolumeSource& source) { Add(source.volume_id); }
  void Add(const api::PortworxVolumeSource& source) { Add(source.volume_id); }
  void Add(const api::CSIVolumeSource& source) { Add(source.driver); }
  void Add(const api::ImageVolumeSource& source) { Add(source.reference); }

  template <typename T>
  void Add(const std::optional<T>& value) {
    Add(value.has_value());
    if (value.has_value()) Add(*value);
  }
  template <typename T>
  void Add(const std::vector<T>& values) {
    Add(values.size());
    for (const T& value : values) Add(value);
  }

 private:
  template <typename Requirement>
  void AddRequirement(const Requirement& requirement) {
    Add(requirement.key);
    Add(requirement.operator_);
    Add(requirement.values);
  }

  std::string& text_;
};

// Whether a plugin may look at the volume. Volumes of the other types never keep a pod from a node.
bool Matters(const api::Volume& volume) {
  return volume.persistent_volume_claim.has_value() || volume.ephemeral.has_value() ||
         volume.gce_persistent_disk.has_value() || volume.aws_elastic_block_store.has_value() ||
         volume.iscsi.has_value() || volume.rbd.has_value() || volume.azure_disk.has_value() ||
         volume.cinder.has_value() || volume.portworx_volume.has_value() || volume.csi.has_value() ||
         volume.is_azure_file || volume.is_vsphere_volume;
}

void AddVolumes(const api::PodSpec& spec, KeyWriter& key) {
  for (const api::Volume& volume : spec.volumes) {
    if (!Matters(volume)) continue;
    key.Add(volume.name);
    key.Add(volume.persistent_volume_claim);
    key.Add(volume.ephemeral);
    key.Add(volume.gce_persistent_disk);
    key.Add(volume.aws_elastic_block_store);
    key.Add(volume.iscsi);
    key.Add(volume.rbd);
    key.Add(volume.azure_disk);
    key.Add(volume.cinder);
    key.Add(volume.portworx_volume);
    key.Add(volume.csi);
    key.Add(volume.is_azure_file);
    key.Add(volume.is_vsphere_volume);
    // In-tree sources are translated to CSI volumes from all that they say.
    key.Add(volume.source);
  }
  for (const api::PodResourceClaim& claim : spec.resource_claims) key.Add(claim);
}

void AddRequests(const api::PodSpec& spec, KeyWriter& key) {
  for (const auto* containers : {&spec.containers, &spec.init_containers}) {
    key.Add(containers->size());
    for (const api::Container& container : *containers) {
      key.Add(container.resources.requests);
      key.Add(container.restart_policy);
    }
  }
  key.Add(spec.overhead);
  key.Add(spec.resources);
}

void AddHostPorts(const api::PodSpec& spec, KeyWriter& key) {
  key.Add(spec.host_network);
  for (const auto* containers : {&spec.containers, &spec.init_containers}) {
    key.Add(containers->size());
    for (const api::Container& container : *containers) {
      key.Add(container.restart_policy);
      key.Add(container.ports);
    }
  }
}

void AddImages(const api::PodSpec& spec, KeyWriter& key) {
  for (const auto* containers : {&spec.init_containers, &spec.containers}) {
    key.Add(containers->size());
    for (const api::Container& container : *containers) key.Add(container.image);
  }
  for (const api::Volume& volume : spec.volumes) {
    if (volume.image.has_value()) key.Add(volume.image);
  }
}

void AddOther(const api::PodSpec& spec, KeyWriter& key) {
  key.Add(spec.scheduler_name);
  key.Add(spec.priority);
  key.Add(spec.preemption_policy);
  key.Add(spec.scheduling_gates);
  key.Add(spec.host_network);
  key.Add(spec.host_users);
  for (const auto* containers : {&spec.containers, &spec.init_containers}) {
    for (const api::Container& container : *containers) {
      for (const api::ContainerRestartRule& rule : container.restart_policy_rules) key.Add(rule.action);
      for (const api::VolumeMount& mount : container.volume_mounts) {
        if (!mount.bind_mount_options.empty()) key.Add(mount.bind_mount_options);
      }
    }
  }
}

}  // namespace

SchedulingKey::SchedulingKey(const api::PodSpec& spec) {
  KeyWriter key(text_);
  text_.reserve(512);
  const auto end = [this](Concern concern) { ends_[static_cast<size_t>(concern)] = text_.size(); };
  AddRequests(spec, key);
  end(Concern::kRequests);
  key.Add(spec.tolerations);
  end(Concern::kTolerations);
  key.Add(spec.node_selector);
  key.Add(spec.affinity.has_value() ? spec.affinity->node_affinity : std::nullopt);
  end(Concern::kNodeSelection);
  AddHostPorts(spec, key);
  end(Concern::kHostPorts);
  AddImages(spec, key);
  end(Concern::kImages);
  key.Add(spec.topology_spread_constraints);
  end(Concern::kSpreading);
  key.Add(spec.affinity.has_value() ? spec.affinity->pod_affinity : std::nullopt);
  key.Add(spec.affinity.has_value() ? spec.affinity->pod_anti_affinity : std::nullopt);
  end(Concern::kPodAffinity);
  AddOther(spec, key);
  end(Concern::kOther);
  AddVolumes(spec, key);
  end(Concern::kVolumes);
}

}  // namespace schedsim::framework
