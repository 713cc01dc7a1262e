#include "core/hosting/library/host_functions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/api/kubernetes_line.h"
#include "core/base/check.h"
#include "core/codec/objects/object_writer.h"
#include "core/framework/queued_pod_info.h"
#include "core/framework/waiting_pods.h"
#include "core/hosting/library/plugin_call.h"

namespace schedsim::hosting {
namespace {

using framework::CycleState;
using framework::NodeInfo;
using framework::NodeToStatus;
using framework::PodInfo;
using framework::Status;

const api::Object& Of(const schedsim_object* object) { return *Opaque<const api::Object>(object); }
const PodInfo& Of(const schedsim_pod* pod) { return *Opaque<const PodInfo>(pod); }
const NodeInfo& Of(const schedsim_node* node) { return *Opaque<const NodeInfo>(node); }
const framework::QueuedPodInfo& Of(const schedsim_queued_pod* pod) {
  return *Opaque<const framework::QueuedPodInfo>(pod);
}
CycleState& Of(schedsim_state* state) { return *Opaque<CycleState>(state); }
const CycleState& Of(const schedsim_state* state) { return *Opaque<const CycleState>(state); }
const NodeToStatus& Of(const schedsim_node_statuses* statuses) {
  return *Opaque<const NodeToStatus>(statuses);
}

// ---- Answers ----

Status MakeStatus(schedsim_code code, const schedsim_text* reasons, size_t reason_count) {
  if (code == SCHEDSIM_SUCCESS) return Status();
  std::vector<std::string> texts;
  for (size_t i = 0; i < reason_count; ++i) texts.emplace_back(View(reasons[i]));
  // A code that nobody knows is an error of the plugin.
  if (code < SCHEDSIM_SUCCESS || code > SCHEDSIM_PENDING) {
    return Status::Error(absl::StrCat("the plugin gave the unknown code ", static_cast<int>(code)));
  }
  return Status(static_cast<framework::Code>(code), std::move(texts));
}

void SetStatus(schedsim_status* status, schedsim_code code, const schedsim_text* reasons,
               size_t reason_count) {
  *Opaque<Status>(status) = MakeStatus(code, reasons, reason_count);
}

// ---- Objects ----

schedsim_text ObjectText(const schedsim_object* object, schedsim_field field) {
  const api::Object& known = Of(object);
  switch (field) {
    case SCHEDSIM_API_VERSION:
      return Text(known.api_version);
    case SCHEDSIM_KIND:
      return Text(known.kind_name);
    case SCHEDSIM_NAMESPACE:
      return Text(known.metadata.namespace_);
    case SCHEDSIM_NAME:
      return Text(known.metadata.name);
    case SCHEDSIM_UID:
      return Text(known.metadata.uid);
  }
  return {};
}

int Find(const api::StringMap& map, schedsim_text key, schedsim_text* value) {
  const std::string* const found = map.Find(View(key));
  if (found == nullptr) return 0;
  *value = Text(*found);
  return 1;
}

int ObjectLabel(const schedsim_object* object, schedsim_text key, schedsim_text* value) {
  return Find(Of(object).metadata.labels, key, value);
}

int ObjectAnnotation(const schedsim_object* object, schedsim_text key, schedsim_text* value) {
  return Find(Of(object).metadata.annotations, key, value);
}

size_t ObjectLabelCount(const schedsim_object* object) { return Of(object).metadata.labels.size(); }

void ObjectLabelAt(const schedsim_object* object, size_t index, schedsim_text* key, schedsim_text* value) {
  const auto& entry = *(Of(object).metadata.labels.begin() + static_cast<ptrdiff_t>(index));
  *key = Text(entry.first);
  *value = Text(entry.second);
}

schedsim_text ObjectJsonText(const schedsim_object* object) {
  static auto* const text = new std::string;
  *text = codec::ObjectJson(Of(object));
  return Text(*text);
}

// ---- Pods and nodes ----

const schedsim_object* PodObject(const schedsim_pod* pod) { return ToAbi(Of(pod).pod.get()); }
int32_t PodPriority(const schedsim_pod* pod) { return Of(pod).Priority(); }
schedsim_text PodNodeName(const schedsim_pod* pod) { return Text(Of(pod).pod->node_name); }
schedsim_text PodNominatedNodeName(const schedsim_pod* pod) {
  return Text(Of(pod).pod->status.nominated_node_name);
}
schedsim_text PodSchedulerName(const schedsim_pod* pod) { return Text(Of(pod).pod->spec->scheduler_name); }

int64_t AmountOf(const framework::Resource& amounts, int64_t pods, const SymbolTable& symbols,
                 absl::string_view resource) {
  if (resource == "cpu") return amounts.milli_cpu;
  if (resource == "memory") return amounts.memory_bytes;
  if (resource == "ephemeral-storage") return amounts.ephemeral_storage_bytes;
  if (resource == "pods") return pods;
  return amounts.Scalar(symbols.Find(resource));
}

int64_t PodRequest(const schedsim_handle* handle, const schedsim_pod* pod, schedsim_text resource) {
  return AmountOf(Of(pod).requests, /*pods=*/1, handle->scheduler.symbols(), View(resource));
}

const schedsim_pod* QueuedPod(const schedsim_queued_pod* pod) { return ToAbi(*Of(pod).pod_info); }
int64_t QueuedPodTimestamp(const schedsim_queued_pod* pod) { return absl::ToUnixNanos(Of(pod).timestamp); }
int32_t QueuedPodAttempts(const schedsim_queued_pod* pod) { return Of(pod).attempts; }

const schedsim_object* NodeObject(const schedsim_node* node) { return ToAbi(Of(node).node.get()); }
schedsim_text NodeName(const schedsim_node* node) { return Text(Of(node).node->metadata.name); }
size_t NodePodCount(const schedsim_node* node) { return Of(node).pods.size(); }
const schedsim_pod* NodePod(const schedsim_node* node, size_t index) { return ToAbi(*Of(node).pods[index]); }

int64_t NodeAllocatable(const schedsim_handle* handle, const schedsim_node* node, schedsim_text resource) {
  const framework::Resource& amounts = Of(node).allocatable;
  return AmountOf(amounts, amounts.allowed_pod_number, handle->scheduler.symbols(), View(resource));
}

int64_t NodeRequested(const schedsim_handle* handle, const schedsim_node* node, schedsim_text resource) {
  const NodeInfo& info = Of(node);
  return AmountOf(info.requested, static_cast<int64_t>(info.pods.size()), handle->scheduler.symbols(),
                  View(resource));
}

// ---- CycleState ----

// What a plugin of a library keeps for a pod. Its slot is that of the filter state, which what-if runs copy.
class LibraryState : public framework::StateData {
 public:
  struct Entry {
    std::string key;
    void* data = nullptr;
    schedsim_clone clone = nullptr;
    schedsim_destroy destroy = nullptr;
  };

  LibraryState() = default;
  LibraryState(const LibraryState&) = delete;
  LibraryState& operator=(const LibraryState&) = delete;
  ~LibraryState() override {
    for (const Entry& entry : entries_) entry.destroy(entry.data);
  }

  std::unique_ptr<StateData> Clone() const override {
    auto copy = std::make_unique<LibraryState>();
    for (Entry entry : entries_) {
      entry.data = entry.clone(entry.data);
      copy->entries_.push_back(std::move(entry));
    }
    return copy;
  }

  void Write(Entry entry) {
    for (Entry& known : entries_) {
      if (known.key != entry.key) continue;
      known.destroy(known.data);
      known = std::move(entry);
      return;
    }
    entries_.push_back(std::move(entry));
  }

  void* Read(absl::string_view key) const {
    for (const Entry& entry : entries_) {
      if (entry.key == key) return entry.data;
    }
    return nullptr;
  }

 private:
  std::vector<Entry> entries_;  // Few.
};

void StateWrite(schedsim_state* state, const schedsim_handle* handle, schedsim_text key, void* data,
                schedsim_clone clone, schedsim_destroy destroy) {
  CycleState& cycle = Of(state);
  auto* own = cycle.Read<LibraryState>(handle->plugin_id, CycleState::kFilterSlot);
  if (own == nullptr) {
    auto made = std::make_unique<LibraryState>();
    own = made.get();
    cycle.Write(handle->plugin_id, CycleState::kFilterSlot, std::move(made));
  }
  own->Write({.key = std::string(View(key)), .data = data, .clone = clone, .destroy = destroy});
}

void* StateRead(const schedsim_state* state, const schedsim_handle* handle, schedsim_text key) {
  const auto* own = Of(state).Read<LibraryState>(handle->plugin_id, CycleState::kFilterSlot);
  return own == nullptr ? nullptr : own->Read(View(key));
}

// ---- Results ----

void PreFilterNarrow(schedsim_pre_filter_result* result) { result->result.node_names.emplace(); }

void PreFilterAddNode(schedsim_pre_filter_result* result, schedsim_text node_name) {
  std::optional<std::vector<Symbol>>& names = result->result.node_names;
  if (!names.has_value()) names.emplace();
  names->push_back(result->symbols.Intern(View(node_name)));
}

void PostFilterNominate(schedsim_post_filter_result* result, schedsim_text node_name) {
  Opaque<framework::PostFilterResult>(result)->nominated_node_name = std::string(View(node_name));
}

schedsim_code NodeStatusCode(const schedsim_node_statuses* statuses, const schedsim_node* node) {
  return static_cast<schedsim_code>(Of(statuses).Get(Of(node).position).code());
}

schedsim_text NodeStatusMessage(const schedsim_node_statuses* statuses, const schedsim_node* node) {
  static auto* const text = new std::string;
  *text = Of(statuses).Get(Of(node).position).Message();
  return Text(*text);
}

schedsim_text NodeStatusPlugin(const schedsim_node_statuses* statuses, const schedsim_node* node) {
  return Text(Of(statuses).Get(Of(node).position).plugin());
}

struct ResourceName {
  absl::string_view name;
  framework::EventResource resource;
};

// Some have a group in front where kube-scheduler writes them: storage.k8s.io/CSINode.
constexpr ResourceName kResources[] = {
    {"*", framework::EventResource::kWildcard},
    {"Pod", framework::EventResource::kPod},
    {"AssignedPod", framework::EventResource::kAssignedPod},
    {"UnscheduledPod", framework::EventResource::kUnscheduledPod},
    {"TargetPod", framework::EventResource::kTargetPod},
    {"Node", framework::EventResource::kNode},
    {"PersistentVolume", framework::EventResource::kPersistentVolume},
    {"PersistentVolumeClaim", framework::EventResource::kPersistentVolumeClaim},
    {"StorageClass", framework::EventResource::kStorageClass},
    {"CSINode", framework::EventResource::kCSINode},
    {"CSIDriver", framework::EventResource::kCSIDriver},
    {"CSIStorageCapacity", framework::EventResource::kCSIStorageCapacity},
    {"VolumeAttachment", framework::EventResource::kVolumeAttachment},
    {"ResourceClaim", framework::EventResource::kResourceClaim},
    {"ResourceSlice", framework::EventResource::kResourceSlice},
    {"DeviceClass", framework::EventResource::kDeviceClass},
    {"Workload", framework::EventResource::kWorkload},
    {"PodGroup", framework::EventResource::kPodGroup},
};

int RegisterEvent(schedsim_events* events, schedsim_text resource, uint32_t actions, schedsim_hint hint,
                  void* context) {
  const std::optional<framework::EventResource> found = EventResourceNamed(View(resource));
  if (!found.has_value()) return 0;
  framework::QueueingHintFn function;
  if (hint != nullptr) {
    function = [hint, context, plugin = events->plugin](const PodInfo& pod, const api::Object* old_object,
                                                        const api::Object* new_object) {
      const PluginCall at_work(plugin, "a queueing hint", &pod);
      Status status;
      const int queue = hint(context, ToAbi(pod), ToAbi(old_object), ToAbi(new_object), ToAbi(status));
      // Rather one attempt too many than a pod that waits in vain.
      return framework::QueueIf(queue != 0 || !status.IsSuccess());
    };
  }
  events->events.push_back({.event = {.resource = *found, .action = actions & framework::kAllActions},
                            .hint = std::move(function)});
  return 1;
}

void Sign(schedsim_signer* signer, schedsim_text key, schedsim_text value) {
  signer->signer.Add(View(key));
  signer->signer.Add(View(value));
}

void Finish(schedsim_done* done, schedsim_code code, const schedsim_text* reasons, size_t reason_count) {
  CHECK(done != nullptr);
  const std::unique_ptr<schedsim_done> over(done);
  done->cancellation->work = nullptr;
  // What follows is the scheduler's work again.
  const PluginCall outside(nullptr, nullptr, nullptr);
  done->done(MakeStatus(code, reasons, reason_count));
}

void OnCancel(schedsim_done* done, schedsim_work work, void* context) {
  if (done->in_pre_bind == nullptr) return;
  *done->cancellation = {.work = work, .context = context};
  const auto run = [cancellation = done->cancellation] {
    if (cancellation->work != nullptr) cancellation->work(cancellation->context);
  };
  done->in_pre_bind->set_on_cancel(run);
}

schedsim_text CancelCause(const schedsim_done* done) {
  const bool canceled = done->in_pre_bind != nullptr && done->in_pre_bind->canceled();
  return canceled ? Text(done->in_pre_bind->message()) : Text("");
}

// ---- The handle ----

schedsim_text Args(const schedsim_handle* handle) { return Text(handle->args); }

schedsim_text KubernetesVersion(const schedsim_handle* handle) {
  return Text(api::KubernetesLineName(handle->scheduler.line().line));
}

int64_t Now(const schedsim_handle* handle) { return absl::ToUnixNanos(handle->scheduler.clock().Now()); }

uint64_t Post(schedsim_handle* handle, int64_t delay_nanoseconds, schedsim_work work, void* context) {
  const char* const plugin = handle->plugin.c_str();
  return handle->scheduler.executor().Post(absl::Nanoseconds(std::max<int64_t>(delay_nanoseconds, 0)),
                                           [work, context, plugin] {
                                             const PluginCall at_work(plugin, "a timer", nullptr);
                                             work(context);
                                           });
}

void Cancel(schedsim_handle* handle, uint64_t id) { handle->scheduler.executor().Cancel(id); }

size_t SnapshotSize(const schedsim_handle* handle) { return handle->scheduler.snapshot().List().size(); }

const schedsim_node* SnapshotNode(const schedsim_handle* handle, size_t index) {
  return ToAbi(*handle->scheduler.snapshot().List()[index]);
}

const schedsim_node* SnapshotFind(const schedsim_handle* handle, schedsim_text node_name) {
  const Symbol name = handle->scheduler.symbols().Find(View(node_name));
  return Opaque<const schedsim_node>(handle->scheduler.snapshot().Get(name));
}

const schedsim_object* FindPod(schedsim_handle* handle, schedsim_text name_space, schedsim_text name) {
  return Keep(handle, handle->scheduler.informers().FindPod(View(name_space), View(name)));
}

const schedsim_object* FindObject(schedsim_handle* handle, schedsim_text kind, schedsim_text name_space,
                                  schedsim_text name) {
  const api::Kind found = KindNamed(View(kind));
  if (found == api::Kind::kOther) return nullptr;
  if (found == api::Kind::kPod) return FindPod(handle, name_space, name);
  return Keep(handle, handle->scheduler.informers().Find(found, View(name_space), View(name)));
}

void ListObjects(schedsim_handle* handle, schedsim_text kind,
                 void (*visit)(void* context, const schedsim_object* object), void* context) {
  const api::Kind found = KindNamed(View(kind));
  if (found == api::Kind::kOther || found == api::Kind::kPod) return;
  for (const auto& [key, object] : handle->scheduler.informers().List(found)) {
    visit(context, ToAbi(object.get()));
  }
}

const std::vector<framework::PodInfoPtr>& NominatedTo(const schedsim_handle* handle,
                                                      schedsim_text node_name) {
  return handle->scheduler.NominatedPodsForNode(handle->scheduler.symbols().Find(View(node_name)));
}

size_t NominatedPodCount(const schedsim_handle* handle, schedsim_text node_name) {
  return NominatedTo(handle, node_name).size();
}

const schedsim_pod* NominatedPod(const schedsim_handle* handle, schedsim_text node_name, size_t index) {
  return ToAbi(*NominatedTo(handle, node_name)[index]);
}

void WaitingPodsOf(const schedsim_handle* handle, void (*visit)(void* context, const schedsim_pod* pod),
                   void* context) {
  handle->scheduler.IterateOverWaitingPods(
      [visit, context](framework::WaitingPod& pod) { visit(context, ToAbi(pod.pod())); });
}

absl::string_view NameOr(schedsim_text plugin, const schedsim_handle* handle) {
  return plugin.size == 0 ? absl::string_view(handle->plugin) : View(plugin);
}

int AllowWaitingPod(schedsim_handle* handle, schedsim_text uid, schedsim_text plugin) {
  framework::WaitingPod* const pod = handle->scheduler.GetWaitingPod(View(uid));
  if (pod == nullptr) return 0;
  pod->Allow(NameOr(plugin, handle));
  return 1;
}

int RejectWaitingPod(schedsim_handle* handle, schedsim_text uid, schedsim_text plugin,
                     schedsim_text message) {
  framework::WaitingPod* const pod = handle->scheduler.GetWaitingPod(View(uid));
  return pod != nullptr && pod->Reject(NameOr(plugin, handle), View(message)) ? 1 : 0;
}

void RunFilters(schedsim_handle* handle, schedsim_state* state, const schedsim_pod* pod,
                const schedsim_node* node, schedsim_status* status) {
  *Opaque<Status>(status) = handle->scheduler.RunFilterPluginsWithNominatedPods(Of(state), Of(pod), Of(node));
}

int Activate(schedsim_handle* handle, schedsim_text name_space, schedsim_text name) {
  const api::PodPtr pod = handle->scheduler.informers().FindPod(View(name_space), View(name));
  if (pod == nullptr) return 0;
  handle->scheduler.Activate({pod});
  return 1;
}

framework::Client::Done CallDone(const schedsim_handle* handle, schedsim_call_done done, void* context) {
  return [done, context, plugin = handle->plugin.c_str()](const absl::Status& status) {
    const PluginCall at_work(plugin, "the end of a call", nullptr);
    done(context, Text(status.message()));
  };
}

void Bind(schedsim_handle* handle, const schedsim_pod* pod, schedsim_text node_name, schedsim_call_done done,
          void* context) {
  handle->scheduler.client().Bind(Of(pod).pod, View(node_name), CallDone(handle, done, context));
}

void DeletePod(schedsim_handle* handle, const schedsim_pod* pod, schedsim_call_done done, void* context) {
  handle->scheduler.client().DeletePod(Of(pod).pod, CallDone(handle, done, context));
}

void RecordEvent(schedsim_handle* handle, const schedsim_pod* pod, schedsim_text type, schedsim_text reason,
                 schedsim_text action, schedsim_text note) {
  if (!handle->scheduler.client().WantsEvents()) return;
  handle->scheduler.client().RecordEvent(*Of(pod).pod, {.type = std::string(View(type)),
                                                        .reason = std::string(View(reason)),
                                                        .action = std::string(View(action)),
                                                        .note = std::string(View(note))});
}

void Note(schedsim_handle* handle, schedsim_text point, const schedsim_pod* pod, schedsim_text node_name,
          schedsim_code code, const schedsim_text* reasons, size_t reason_count) {
  const Status status = MakeStatus(code, reasons, reason_count);
  handle->scheduler.RecordNote({.plugin = handle->plugin,
                                .point = View(point),
                                .pod = Of(pod),
                                .node_name = View(node_name),
                                .status = status});
}

}  // namespace

std::optional<framework::EventResource> EventResourceNamed(absl::string_view name) {
  name.remove_prefix(name.find_last_of('/') == absl::string_view::npos ? 0 : name.find_last_of('/') + 1);
  const auto* const found = std::find_if(std::begin(kResources), std::end(kResources),
                                         [name](const ResourceName& known) { return known.name == name; });
  if (found == std::end(kResources)) return std::nullopt;
  return found->resource;
}

absl::string_view EventResourceText(framework::EventResource resource) {
  const auto* const found =
      std::find_if(std::begin(kResources), std::end(kResources),
                   [resource](const ResourceName& known) { return known.resource == resource; });
  CHECK(found != std::end(kResources));
  return found->name;
}

const schedsim_object* Keep(schedsim_handle* handle, api::ObjectPtr object) {
  handle->found.push_back(std::move(object));
  return ToAbi(handle->found.back().get());
}

api::Kind KindNamed(absl::string_view name) {
  for (int kind = 1; kind < api::kKindCount; ++kind) {
    if (api::KindName(static_cast<api::Kind>(kind)) == name) return static_cast<api::Kind>(kind);
  }
  return api::Kind::kOther;
}

const schedsim_host& Host() {
  static const schedsim_host host = {
      .abi_version = SCHEDSIM_PLUGIN_ABI_VERSION,
      .size = sizeof(schedsim_host),
      .set_status = SetStatus,
      .object_text = ObjectText,
      .object_label = ObjectLabel,
      .object_annotation = ObjectAnnotation,
      .object_label_count = ObjectLabelCount,
      .object_label_at = ObjectLabelAt,
      .object_json = ObjectJsonText,
      .pod_object = PodObject,
      .pod_priority = PodPriority,
      .pod_node_name = PodNodeName,
      .pod_nominated_node_name = PodNominatedNodeName,
      .pod_scheduler_name = PodSchedulerName,
      .pod_request = PodRequest,
      .queued_pod = QueuedPod,
      .queued_pod_timestamp = QueuedPodTimestamp,
      .queued_pod_attempts = QueuedPodAttempts,
      .node_object = NodeObject,
      .node_name = NodeName,
      .node_pod_count = NodePodCount,
      .node_pod = NodePod,
      .node_allocatable = NodeAllocatable,
      .node_requested = NodeRequested,
      .state_write = StateWrite,
      .state_read = StateRead,
      .pre_filter_narrow = PreFilterNarrow,
      .pre_filter_add_node = PreFilterAddNode,
      .post_filter_nominate = PostFilterNominate,
      .node_status_code = NodeStatusCode,
      .node_status_message = NodeStatusMessage,
      .node_status_plugin = NodeStatusPlugin,
      .register_event = RegisterEvent,
      .sign = Sign,
      .finish = Finish,
      .on_cancel = OnCancel,
      .args = Args,
      .kubernetes_version = KubernetesVersion,
      .now = Now,
      .post = Post,
      .cancel = Cancel,
      .snapshot_size = SnapshotSize,
      .snapshot_node = SnapshotNode,
      .snapshot_find = SnapshotFind,
      .find_pod = FindPod,
      .find_object = FindObject,
      .list_objects = ListObjects,
      .nominated_pod_count = NominatedPodCount,
      .nominated_pod = NominatedPod,
      .waiting_pods = WaitingPodsOf,
      .allow_waiting_pod = AllowWaitingPod,
      .reject_waiting_pod = RejectWaitingPod,
      .run_filters = RunFilters,
      .activate = Activate,
      .bind = Bind,
      .delete_pod = DeletePod,
      .record_event = RecordEvent,
      .note = Note,
      .cancel_cause = CancelCause,
  };
  return host;
}

}  // namespace schedsim::hosting
