// The operations of workload_run.h that create and update objects.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/node.h"
#include "core/api/storage.h"
#include "core/base/status_macros.h"
#include "core/plugins/volume/csi_translation.h"
#include "sim/bench/workload_run.h"

namespace schedsim::sim {
namespace {

constexpr char kHostnameLabel[] = "kubernetes.io/hostname";
constexpr char kSignatureLabel[] = "signature";
// Source: kubernetes v1.37, test/integration/scheduler_perf/node_util.go, createNodeRetries.
constexpr int kNodeAttemptsMax = 5;

api::Quantity QuantityOf(absl::string_view text) { return *api::Quantity::Parse(text); }

// Source: kubernetes v1.37, test/integration/scheduler_perf/util.go, makeBaseNode.
std::shared_ptr<api::Node> BaseNode(int64_t op_index) {
  auto node = std::make_shared<api::Node>();
  node->api_version = "v1";
  node->kind_name = "Node";
  node->metadata.generate_name = absl::StrCat("node-", op_index, "-");
  node->status.allocatable["pods"] = QuantityOf("110");
  node->status.allocatable["cpu"] = QuantityOf("4");
  node->status.allocatable["memory"] = QuantityOf("32Gi");
  node->status.conditions.push_back({.type = "Ready", .status = "True"});
  return node;
}

// Source: kubernetes v1.37, test/integration/scheduler_perf/util.go, makeBasePod, and runners.go,
// MakePodSpec.
std::shared_ptr<api::Pod> BasePod() {
  auto pod = std::make_shared<api::Pod>();
  pod->api_version = "v1";
  pod->kind_name = "Pod";
  pod->metadata.generate_name = "pod-";
  api::Container container = {.name = "pause", .image = "registry.k8s.io/pause:3.10.2"};
  container.ports.push_back({.container_port = 80});
  for (api::ResourceList* resources : {&container.resources.limits, &container.resources.requests}) {
    (*resources)["cpu"] = QuantityOf("100m");
    (*resources)["memory"] = QuantityOf("500Mi");
  }
  auto spec = std::make_shared<api::PodSpec>();
  spec->containers.push_back(std::move(container));
  pod->spec = std::move(spec);
  return pod;
}

absl::Status ExpectKind(const ObjectTemplate& source, const api::Object& object, api::Kind kind) {
  if (object.kind == kind) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(source.path(), ": expected a ", api::KindName(kind), ", got ",
                   object.kind_name.empty() ? "another kind" : object.kind_name));
}

// Takes the time while objects are made out of what is measured.
class NotMeasured {
 public:
  explicit NotMeasured(ThroughputCollector& collector) : collector_(collector) { collector_.Pause(); }
  ~NotMeasured() { collector_.Resume(); }
  NotMeasured(const NotMeasured&) = delete;
  NotMeasured& operator=(const NotMeasured&) = delete;

 private:
  ThroughputCollector& collector_;
};

}  // namespace

// ---- Nodes and namespaces ----

absl::StatusOr<std::vector<TemplateObject>> WorkloadRun::MakeNodes(const CreateNodesOp& op) {
  const NotMeasured pause(collector_);
  std::vector<TemplateObject> nodes;
  ObjectTemplate* source = nullptr;
  if (!op.template_path.empty()) {
    ASSIGN_OR_RETURN(source, Template(op.template_path, {}));
  }
  for (int64_t i = 0; i < op.count.value; ++i) {
    if (source == nullptr) {
      nodes.push_back({.object = BaseNode(static_cast<int64_t>(index_))});
      continue;
    }
    TemplateObject made;
    ASSIGN_OR_RETURN(made, source->Make(op.template_params, i, op.count.value));
    RETURN_IF_ERROR(ExpectKind(*source, *made.object, api::Kind::kNode));
    nodes.push_back(std::move(made));
  }
  return nodes;
}

void WorkloadRun::Begin(const CreateNodesOp& op) {
  absl::StatusOr<std::vector<TemplateObject>> made = MakeNodes(op);
  if (!made.ok()) return Fail(made.status());
  const auto nodes = std::make_shared<std::vector<TemplateObject>>(*std::move(made));
  const auto create = [this, nodes](int64_t i) -> absl::Status {
    const std::shared_ptr<api::Object> node = std::move((*nodes)[static_cast<size_t>(i)].object);
    api::ObjectMeta& metadata = node->metadata;
    const bool draws = metadata.name.empty();
    // Among thousands of nodes, a name is drawn twice now and then.
    for (int attempt = 1;; ++attempt) {
      if (draws) metadata.name = absl::StrCat(metadata.generate_name, client_.Suffix());
      metadata.labels.Set(kHostnameLabel, metadata.name);
      const absl::Status status = server_.Create(node);
      if (!draws || !absl::IsAlreadyExists(status) || attempt == kNodeAttemptsMax) return status;
    }
  };
  ForEach(op.count.value, create, [this, &op] { PrepareNodes(op); });
}

// The nodes that are prepared are taken from the list of all of them, which is in the order of their names,
// from as many on as earlier operations created: where these names are later ones, other nodes than the new
// ones.
void WorkloadRun::PrepareNodes(const CreateNodesOp& op) {
  const int64_t first = node_count_;
  node_count_ += op.count.value;
  if (std::holds_alternative<std::monostate>(op.strategy)) return Next();
  const auto names = std::make_shared<std::vector<std::string>>();
  for (const auto& [name, node] : server_.List(api::Kind::kNode)) names->push_back(name);
  const auto prepare = [this, &op, names, first](int64_t i) {
    return PrepareNode(op.strategy, (*names)[static_cast<size_t>(first + i)], i);
  };
  ForEach(op.count.value, prepare, [this] { Next(); });
}

absl::Status WorkloadRun::PrepareNode(const NodeStrategy& strategy, const std::string& name, int64_t index) {
  const api::ObjectPtr stored = server_.Find(api::Kind::kNode, "Node", "", name);
  if (stored == nullptr) return absl::NotFoundError(absl::StrCat("nodes \"", name, "\" not found"));
  auto node = std::static_pointer_cast<api::Node>(stored->Clone());
  if (const auto* label = std::get_if<LabelNodePrepareStrategy>(&strategy)) {
    node->metadata.labels.Set(label->key, label->values[static_cast<size_t>(index) % label->values.size()]);
  } else if (const auto* unique = std::get_if<UniqueNodeLabelStrategy>(&strategy)) {
    node->metadata.labels.Set(unique->key, client_.Uuid());
  } else if (const auto* allocatable = std::get_if<NodeAllocatableStrategy>(&strategy)) {
    for (const auto& [resource, text] : allocatable->node_allocatable) {
      const absl::StatusOr<api::Quantity> quantity = api::Quantity::Parse(text);
      if (!quantity.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat("nodeAllocatable.", resource, ": ", quantity.status().message()));
      }
      node->status.allocatable[resource] = *quantity;
    }
    RETURN_IF_ERROR(server_.Update(node));
    return PrepareCsiNode(*allocatable, name);
  }
  return server_.Update(node);
}

absl::Status WorkloadRun::PrepareCsiNode(const NodeAllocatableStrategy& strategy, const std::string& name) {
  const api::ObjectPtr stored = server_.Find(api::Kind::kCSINode, "CSINode", "", name);
  auto csi_node = stored == nullptr ? std::make_shared<api::CSINode>()
                                    : std::static_pointer_cast<api::CSINode>(stored->Clone());
  csi_node->api_version = "storage.k8s.io/v1";
  csi_node->kind_name = "CSINode";
  csi_node->metadata.name = name;
  csi_node->metadata.annotations.Set(plugins::kMigratedPluginsAnnotation,
                                     absl::StrJoin(strategy.migrated_plugins, ","));
  for (const auto& [driver, count] : strategy.csi_counts) {
    std::vector<api::CSINodeDriver>& drivers = csi_node->drivers;
    auto known = std::find_if(drivers.begin(), drivers.end(),
                              [&driver = driver](const api::CSINodeDriver& d) { return d.name == driver; });
    if (known == drivers.end()) {
      known = drivers.insert(drivers.end(), {.name = driver, .node_id = stored == nullptr ? name : ""});
    }
    known->allocatable_count = count;
  }
  return stored == nullptr ? server_.Create(csi_node) : server_.Update(csi_node);
}

void WorkloadRun::Begin(const CreateNamespacesOp& op) {
  api::StringMap labels;
  if (!op.template_path.empty()) {
    absl::StatusOr<ObjectTemplate*> source = Template(op.template_path, {.is_template = false});
    if (!source.ok()) return Fail(source.status());
    absl::StatusOr<TemplateObject> made = (*source)->Make({}, 0, 1);
    if (!made.ok()) return Fail(made.status());
    const absl::Status kind = ExpectKind(**source, *made->object, api::Kind::kNamespace);
    if (!kind.ok()) return Fail(kind);
    labels = made->object->metadata.labels;
  }
  const auto create = [this, &op, labels](int64_t i) {
    const std::string name = absl::StrCat(op.prefix, "-", i);
    pod_counts_.emplace(name, 0);
    return client_.CreateNamespace(labels, name);
  };
  ForEach(op.count.value, create, [this] { Next(); });
}

// ---- Pods ----

absl::StatusOr<std::vector<TemplateObject>> WorkloadRun::MakePods(const CreatePodsOp& op,
                                                                  const std::string& name_space,
                                                                  int64_t count) {
  const NotMeasured pause(collector_);
  std::vector<TemplateObject> objects;
  ObjectTemplate* source = nullptr;
  if (!op.template_path.empty()) {
    ASSIGN_OR_RETURN(source, Template(op.template_path, {}));
  }
  const std::shared_ptr<api::Pod> base_pod = BasePod();
  for (int64_t i = 0; i < count; ++i) {
    TemplateObject made = {.object = base_pod};
    if (source != nullptr) {
      ASSIGN_OR_RETURN(made, source->Make(op.template_params, i, count));
      RETURN_IF_ERROR(ExpectKind(*source, *made.object, api::Kind::kPod));
      const int64_t batch = i / op.signature_batch_size.value;
      made.object->metadata.labels.Set(kSignatureLabel, absl::StrCat("signature-label-", batch));
    } else {
      made.object = base_pod->Clone();
    }
    made.object->metadata.namespace_ = name_space;
    if (!op.claim_template_path.empty()) {
      RETURN_IF_ERROR(MakeVolume(op, name_space, i, objects));
      auto& pod = static_cast<api::Pod&>(*made.object);
      auto spec = std::make_shared<api::PodSpec>(*pod.spec);
      spec->volumes.resize(1);
      spec->volumes[0] = {.name = "vol"};
      spec->volumes[0].persistent_volume_claim =
          api::PersistentVolumeClaimVolumeSource{.claim_name = absl::StrCat("pvc-", i)};
      pod.spec = std::move(spec);
    }
    objects.push_back(std::move(made));
  }
  return objects;
}

// A claim and a volume that are bound to each other.
absl::Status WorkloadRun::MakeVolume(const CreatePodsOp& op, const std::string& name_space, int64_t index,
                                     std::vector<TemplateObject>& objects) {
  static const auto* const kNoParams = new TemplateParams();
  ObjectTemplate* claim_source = nullptr;
  ASSIGN_OR_RETURN(claim_source, Template(op.claim_template_path, {.is_template = false}));
  ObjectTemplate* volume_source = nullptr;
  ASSIGN_OR_RETURN(volume_source, Template(op.volume_template_path, {.is_template = false}));
  TemplateObject made_claim;
  ASSIGN_OR_RETURN(made_claim, claim_source->Make(*kNoParams, 0, 1));
  RETURN_IF_ERROR(ExpectKind(*claim_source, *made_claim.object, api::Kind::kPersistentVolumeClaim));
  TemplateObject made_volume;
  ASSIGN_OR_RETURN(made_volume, volume_source->Make(*kNoParams, 0, 1));
  RETURN_IF_ERROR(ExpectKind(*volume_source, *made_volume.object, api::Kind::kPersistentVolume));
  auto& claim = static_cast<api::PersistentVolumeClaim&>(*made_claim.object);
  auto& volume = static_cast<api::PersistentVolume&>(*made_volume.object);
  claim.metadata.name = absl::StrCat("pvc-", index);
  claim.metadata.namespace_ = name_space;
  const std::string volume_id = absl::StrCat("vol-", index);
  volume.metadata.name = absl::StrCat(name_space, "-", volume_id);
  if (volume.spec.csi.has_value()) volume.spec.csi->volume_handle = volume.metadata.name;
  if (volume.spec.aws_elastic_block_store.has_value()) volume.spec.aws_elastic_block_store->id = volume_id;
  volume.spec.claim_ref = api::ObjectReference{
      .kind = "PersistentVolumeClaim", .namespace_ = name_space, .name = claim.metadata.name};
  volume.phase = "Bound";
  claim.spec.volume_name = volume.metadata.name;
  claim.phase = "Bound";
  objects.push_back(std::move(made_claim));
  objects.push_back(std::move(made_volume));
  return absl::OkStatus();
}

void WorkloadRun::Begin(const CreatePodsOp& op) {
  const std::string name_space = op.name_space.value_or(absl::StrCat("namespace-", index_));
  const absl::Status status = EnsureNamespace(name_space);
  if (!status.ok()) return Fail(status);
  if (op.collect_metrics && collector_.IsCollecting()) {
    return Fail(absl::InvalidArgumentError(
        "metrics collection is overlapping, expected stopCollectingMetrics before collectMetrics"));
  }
  absl::StatusOr<std::vector<TemplateObject>> made = MakePods(op, name_space, op.count.value);
  if (!made.ok()) return Fail(made.status());
  if (op.collect_metrics) {
    StartCollecting({.name = name_space, .namespaces = {name_space}, .label_selector = {}});
  }
  if (op.steady_state.value) {
    steady_ = std::make_unique<Steady>();
    steady_->op = &op;
    steady_->name_space = name_space;
  }
  const auto objects = std::make_shared<std::vector<TemplateObject>>(*std::move(made));
  const auto create = [this, objects](int64_t i) {
    TemplateObject object = std::move((*objects)[static_cast<size_t>(i)]);
    const std::string own_name_space = object.object->metadata.namespace_;
    return client_.Create(std::move(object), own_name_space).status();
  };
  const absl::Time begin = loop_.Now();
  ForEach(static_cast<int64_t>(objects->size()), create, [this, &op, name_space, begin] {
    if (!op.steady_state.value) return FinishPods(op, name_space);
    // Where making the first pods takes longer, the time is over.
    loop_.At(std::max(loop_.Now(), begin + op.duration.value), EventLoop::Phase::kStep,
             [this, &op, name_space] { RunSteadily(op, name_space); });
  });
}

// The time of the steady state is over.
void WorkloadRun::RunSteadily(const CreatePodsOp& op, const std::string& name_space) {
  const int64_t scheduled = steady_->scheduled;
  steady_.reset();
  if (scheduled == 0) {
    return Fail(absl::DeadlineExceededError(absl::StrCat("no pod at all got scheduled in namespace ",
                                                         name_space, ", expected some in the duration")));
  }
  if (op.collect_metrics) StopCollecting();
  Next();
}

// A bound pod makes room for another one. Called by the server in the middle of its binding.
void WorkloadRun::ReplacePod(const api::Pod& bound) {
  ++steady_->scheduled;
  loop_.At(loop_.Now(), EventLoop::Phase::kStep,
           [this, name_space = bound.metadata.namespace_, name = bound.metadata.name] {
             if (steady_ == nullptr) return;
             const api::PodPtr pod = server_.FindPod(name_space, name);
             // It is deleted without a grace period.
             absl::Status status =
                 pod == nullptr ? absl::OkStatus() : server_.Delete(api::Kind::kPod, "Pod", name_space, name);
             if (!status.ok()) return Fail(status);
             absl::StatusOr<std::vector<TemplateObject>> made = MakePods(*steady_->op, name_space, 1);
             if (!made.ok()) return Fail(made.status());
             for (TemplateObject& object : *made) {
               const std::string own_name_space = object.object->metadata.namespace_;
               status = client_.Create(std::move(object), own_name_space).status();
               if (!status.ok()) return Fail(status);
             }
           });
}

void WorkloadRun::FinishPods(const CreatePodsOp& op, const std::string& name_space) {
  const int64_t wanted = op.count.value;
  if (op.skip_wait_to_completion) {
    pod_counts_[name_space] += wanted;
    return Next();
  }
  WaitFor([this, name_space, wanted] { return CountPods(name_space, {}).scheduled >= wanted; },
          [this, name_space, wanted] {
            const Stages stages = CountPods(name_space, {});
            return absl::StrCat("namespace ", name_space, ": ", stages.scheduled, " of ", wanted,
                                " pods are scheduled, among the others ", stages.pending);
          },
          [this, &op] {
            if (op.collect_metrics) StopCollecting();
            Next();
          });
}

// ---- Any objects ----

void WorkloadRun::Begin(const AnyObjectOp& op) {
  const api::PodGroupCycle cycle = simulation_.options().line.pod_groups.cycle;
  const bool serves_groups = cycle != api::PodGroupCycle::kNone && cycle != api::PodGroupCycle::kAtPermit;
  if (op.are_pod_groups && !serves_groups) {
    return Fail(
        absl::NotFoundError("the API server serves no PodGroup: expected GenericWorkload: true in "
                            "featureGates, and 1.36 or later"));
  }
  absl::Status status = op.name_space.empty() ? absl::OkStatus() : EnsureNamespace(op.name_space);
  if (!status.ok()) return Fail(status);
  absl::StatusOr<ObjectTemplate*> loaded = Template(op.template_path, ReadingOf(op));
  if (!loaded.ok()) return Fail(loaded.status());
  const auto work = [this, &op, source = *loaded](int64_t i) -> absl::Status {
    TemplateObject made;
    {
      const NotMeasured pause(collector_);
      ASSIGN_OR_RETURN(made, source->Make(op.template_params, i, op.count.value));
      if (op.are_pod_groups) RETURN_IF_ERROR(ExpectKind(*source, *made.object, api::Kind::kPodGroup));
    }
    const bool namespaced = IsNamespaced(*made.object).value_or(!op.name_space.empty());
    if (namespaced == op.name_space.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(source->path(), ": namespace ", namespaced ? "not set" : "set", ", but ",
                       made.object->kind_name, " has scope ", namespaced ? "\"namespace\"" : "\"root\""));
    }
    if (op.update) return client_.Update(made, op.name_space, op.subresources);
    return client_.Create(std::move(made), op.name_space).status();
  };
  if (op.per_second == 0) return ForEach(op.count.value, work, [this] { Next(); });
  const auto next = std::make_shared<int64_t>(0);
  RepeatLater(absl::Seconds(1) / op.per_second, [this, &op, work, next] {
    const absl::Status updated = *next < op.count.value ? work((*next)++) : absl::OkStatus();
    if (!updated.ok()) Fail(updated);
    if (updated.ok() && *next < op.count.value) return false;
    if (updated.ok()) Next();
    return true;
  });
}

}  // namespace schedsim::sim
