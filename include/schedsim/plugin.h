// Writing a plugin of schedsim in C++20. A plugin is a class with a name and with a method for each extension
// point at which it takes part; nothing has to be derived from, and nothing but this header and plugin_abi.h
// is needed:
//
//   #include <schedsim/plugin.h>
//
//   class NodeNumber {
//    public:
//     static constexpr char kName[] = "NodeNumber";
//     explicit NodeNumber(schedsim::plugin::Handle) {}
//     schedsim::plugin::Scored Score(schedsim::plugin::CycleState&, schedsim::plugin::Pod pod,
//                                    schedsim::plugin::Node node) {
//       return pod.name().back() == node.name().back() ? 10 : 0;
//     }
//   };
//
//   const schedsim_library* schedsim_plugin_library(const schedsim_host* host) {
//     return schedsim::plugin::Library<NodeNumber>(host);
//   }
//
// The methods, each of which may be left out:
//
//   T(Handle)                                           Made once for each profile that names the plugin.
//   Status Init()                                       Called behind it: an error refuses the arguments.
//   bool Less(QueuedPod a, QueuedPod b)                                                       QueueSort
//   Status PreEnqueue(Pod)
//   PreFilterResult PreFilter(CycleState&, Pod, Nodes)          with
//     Status AddPod(CycleState&, Pod, Pod other, Node), Status RemovePod(CycleState&, Pod, Pod other, Node)
//   Status Filter(CycleState&, Pod, Node)
//   PostFilterResult PostFilter(CycleState&, Pod, NodeStatuses)
//   Status PreScore(CycleState&, Pod, Nodes)
//   Scored Score(CycleState&, Pod, Node)                        with
//     Status NormalizeScore(CycleState&, Pod, Nodes, std::span<int64_t> scores)
//   Status Reserve(CycleState&, Pod, std::string_view node), void Unreserve(CycleState&, Pod,
//   std::string_view node) PermitResult Permit(CycleState&, Pod, std::string_view node) Status
//   PreBindPreFlight(CycleState&, Pod, std::string_view node) void PreBind(CycleState&, Pod, std::string_view
//   node, Done) void Bind(CycleState&, Pod, std::string_view node, Done) void PostBind(CycleState&, Pod,
//   std::string_view node) Status SignPod(Pod, Signer&) Status EventsToRegister(Events&) void
//   OnPod(std::optional<Object> old_pod, std::optional<Object> new_pod)                  the informer of pods
//
// A class may say what its Filter or its Score reads, with a constant `kFilterReads` or `kScoreReads`; their
// answers are then kept, and the methods called less often.
//
// What they mean is written in kube-scheduler's interface.go, and docs/plugins.md has an example of each.
// Pods, nodes and texts are views, valid during the call that got them; in PreBind and Bind pod and state
// live until Done is called. Everything runs in one thread and in virtual time: a plugin must not ask for the
// real time, sleep, or start threads.
#ifndef SCHEDSIM_PLUGIN_H_
#define SCHEDSIM_PLUGIN_H_

#include <schedsim/plugin_abi.h>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace schedsim::plugin {

// What schedsim offers; set when the library is loaded.
inline const schedsim_host* host = nullptr;

namespace internal {

inline schedsim_text Text(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view View(schedsim_text text) { return {text.data, text.size}; }

}  // namespace internal

enum class Code : uint8_t {
  kSuccess = SCHEDSIM_SUCCESS,
  kError = SCHEDSIM_ERROR,
  kUnschedulable = SCHEDSIM_UNSCHEDULABLE,
  kUnschedulableAndUnresolvable = SCHEDSIM_UNSCHEDULABLE_AND_UNRESOLVABLE,
  kWait = SCHEDSIM_WAIT,
  kSkip = SCHEDSIM_SKIP,
  kPending = SCHEDSIM_PENDING,
};

// What decides an answer of Filter or Score, beside the plugin's arguments.
enum class Reads : uint8_t {
  kAnything = SCHEDSIM_READS_ANYTHING,
  // The node with its pods, and the pod's spec but for volumes and claims: neither name nor labels.
  kNode = SCHEDSIM_READS_NODE,
  // The node's object, without its pods, and as much of the pod.
  kNodeObject = SCHEDSIM_READS_NODE_OBJECT,
};

// An answer with its reasons.
struct Status {
  Code code = Code::kSuccess;
  std::vector<std::string> reasons = {};

  static Status Success() { return {}; }
  static Status Error(std::string reason) { return {Code::kError, {std::move(reason)}}; }
  static Status Unschedulable(std::string reason) { return {Code::kUnschedulable, {std::move(reason)}}; }
  static Status UnschedulableAndUnresolvable(std::string reason) {
    return {Code::kUnschedulableAndUnresolvable, {std::move(reason)}};
  }
  static Status Skip() { return {Code::kSkip, {}}; }
  static Status Wait() { return {Code::kWait, {}}; }
  static Status Pending(std::string reason) { return {Code::kPending, {std::move(reason)}}; }

  bool ok() const { return code == Code::kSuccess; }
};

// An API object of any kind.
class Object {
 public:
  explicit Object(const schedsim_object* object) : object_(object) {}

  std::string_view api_version() const { return Get(SCHEDSIM_API_VERSION); }
  std::string_view kind() const { return Get(SCHEDSIM_KIND); }
  std::string_view name_space() const { return Get(SCHEDSIM_NAMESPACE); }
  std::string_view name() const { return Get(SCHEDSIM_NAME); }
  std::string_view uid() const { return Get(SCHEDSIM_UID); }
  // "namespace/name", or "name" where there is no namespace.
  std::string key() const {
    return name_space().empty() ? std::string(name()) : std::string(name_space()) + "/" + std::string(name());
  }
  std::optional<std::string_view> label(std::string_view key) const {
    schedsim_text value;
    if (host->object_label(object_, internal::Text(key), &value) == 0) return std::nullopt;
    return internal::View(value);
  }
  std::optional<std::string_view> annotation(std::string_view key) const {
    schedsim_text value;
    if (host->object_annotation(object_, internal::Text(key), &value) == 0) return std::nullopt;
    return internal::View(value);
  }
  // In the order of their keys.
  std::vector<std::pair<std::string_view, std::string_view>> labels() const {
    std::vector<std::pair<std::string_view, std::string_view>> labels(host->object_label_count(object_));
    for (size_t i = 0; i < labels.size(); ++i) {
      schedsim_text key, value;
      host->object_label_at(object_, i, &key, &value);
      labels[i] = {internal::View(key), internal::View(value)};
    }
    return labels;
  }
  // The whole object, compact.
  std::string json() const { return std::string(internal::View(host->object_json(object_))); }

 private:
  std::string_view Get(schedsim_field field) const {
    return internal::View(host->object_text(object_, field));
  }

  const schedsim_object* object_;
};

class Handle;

class Pod {
 public:
  explicit Pod(const schedsim_pod* pod) : pod_(pod) {}

  Object object() const { return Object(host->pod_object(pod_)); }
  std::string_view name_space() const { return object().name_space(); }
  std::string_view name() const { return object().name(); }
  std::string_view uid() const { return object().uid(); }
  std::string key() const { return object().key(); }
  std::optional<std::string_view> label(std::string_view key) const { return object().label(key); }
  int32_t priority() const { return host->pod_priority(pod_); }
  std::string_view node_name() const { return internal::View(host->pod_node_name(pod_)); }
  std::string_view nominated_node_name() const { return internal::View(host->pod_nominated_node_name(pod_)); }
  std::string_view scheduler_name() const { return internal::View(host->pod_scheduler_name(pod_)); }

  const schedsim_pod* get() const { return pod_; }

 private:
  const schedsim_pod* pod_;
};

class QueuedPod {
 public:
  explicit QueuedPod(const schedsim_queued_pod* pod) : pod_(pod) {}

  Pod pod() const { return Pod(host->queued_pod(pod_)); }
  // When the pod came into the queue, first or after an attempt.
  std::chrono::nanoseconds timestamp() const {
    return std::chrono::nanoseconds(host->queued_pod_timestamp(pod_));
  }
  int32_t attempts() const { return host->queued_pod_attempts(pod_); }

 private:
  const schedsim_queued_pod* pod_;
};

// A node with its pods.
class Node {
 public:
  explicit Node(const schedsim_node* node) : node_(node) {}

  std::string_view name() const { return internal::View(host->node_name(node_)); }
  Object object() const { return Object(host->node_object(node_)); }
  std::optional<std::string_view> label(std::string_view key) const { return object().label(key); }
  size_t pod_count() const { return host->node_pod_count(node_); }
  Pod pod(size_t index) const { return Pod(host->node_pod(node_, index)); }

  const schedsim_node* get() const { return node_; }

 private:
  const schedsim_node* node_;
};

// Some nodes, in an order.
class Nodes {
 public:
  Nodes(const schedsim_node* const* nodes, size_t count) : nodes_(nodes), count_(count) {}

  size_t size() const { return count_; }
  Node operator[](size_t index) const { return Node(nodes_[index]); }

  class Iterator {
   public:
    explicit Iterator(const schedsim_node* const* at) : at_(at) {}
    Node operator*() const { return Node(*at_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const schedsim_node* const* at_;
  };
  Iterator begin() const { return Iterator(nodes_); }
  Iterator end() const { return Iterator(nodes_ + count_); }

 private:
  const schedsim_node* const* nodes_;
  size_t count_;
};

// What a plugin keeps from one extension point to the next, for one pod. What is written must be copyable:
// copies are changed by AddPod and RemovePod where the scheduler tries what would be.
class CycleState {
 public:
  CycleState(schedsim_state* state, const schedsim_handle* handle) : state_(state), handle_(handle) {}

  template <typename T>
  void Write(std::string_view key, T value) {
    host->state_write(
        state_, handle_, internal::Text(key), new T(std::move(value)),
        [](const void* data) -> void* { return new T(*static_cast<const T*>(data)); },
        [](void* data) { delete static_cast<T*>(data); });
  }
  // nullptr: nothing was written. `T` must be what was.
  template <typename T>
  T* Read(std::string_view key) const {
    return static_cast<T*>(host->state_read(state_, handle_, internal::Text(key)));
  }

  schedsim_state* get() const { return state_; }

 private:
  schedsim_state* state_;
  const schedsim_handle* handle_;
};

struct PreFilterResult {
  PreFilterResult(Status answer = {}) : status(std::move(answer)) {}  // NOLINT: an answer is one.
  PreFilterResult(Status answer, std::vector<std::string> names)
      : status(std::move(answer)), node_names(std::move(names)) {}

  Status status;  // Skip: Filter is not called for this pod.
  // The only nodes that can fit; absent: any.
  std::optional<std::vector<std::string>> node_names;
};

struct PostFilterResult {
  Status status;
  // The node to nominate, "" to clear the nomination; absent: it stays.
  std::optional<std::string> nominated_node_name = {};
};

struct Scored {
  Scored(int64_t points) : score(points) {}             // NOLINT: a score is one.
  Scored(Status answer) : status(std::move(answer)) {}  // NOLINT: an answer is one.
  Scored(int64_t points, Status answer) : score(points), status(std::move(answer)) {}
  template <std::floating_point T>
  Scored(T points) = delete;  // A fraction would be cut off.

  int64_t score = 0;
  Status status = {};
};

struct PermitResult {
  Status status;
  std::chrono::nanoseconds timeout = {};  // With Wait.
};

// Why nodes failed in this cycle.
class NodeStatuses {
 public:
  explicit NodeStatuses(const schedsim_node_statuses* statuses) : statuses_(statuses) {}

  Code code(Node node) const { return static_cast<Code>(host->node_status_code(statuses_, node.get())); }
  std::string message(Node node) const {
    return std::string(internal::View(host->node_status_message(statuses_, node.get())));
  }
  std::string plugin(Node node) const {
    return std::string(internal::View(host->node_status_plugin(statuses_, node.get())));
  }

 private:
  const schedsim_node_statuses* statuses_;
};

// Takes what of a pod decides about this plugin's answers.
class Signer {
 public:
  explicit Signer(schedsim_signer* signer) : signer_(signer) {}
  void Add(std::string_view key, std::string_view value) {
    host->sign(signer_, internal::Text(key), internal::Text(value));
  }

 private:
  schedsim_signer* signer_;
};

enum class QueueingHint : uint8_t { kSkip, kQueue };

struct Hinted {
  Hinted(QueueingHint answer) : hint(answer) {}         // NOLINT: a hint is one.
  Hinted(Status answer) : status(std::move(answer)) {}  // NOLINT: an error is one.

  QueueingHint hint = QueueingHint::kQueue;
  Status status = {};
};
using QueueingHintFn =
    std::function<Hinted(Pod pod, std::optional<Object> old_object, std::optional<Object> new_object)>;

namespace internal {

inline std::vector<schedsim_text> Texts(const std::vector<std::string>& texts) {
  std::vector<schedsim_text> views;
  views.reserve(texts.size());
  for (const std::string& text : texts) views.push_back(Text(text));
  return views;
}

inline void Set(schedsim_status* target, const Status& status) {
  if (status.ok()) return;
  const std::vector<schedsim_text> reasons = Texts(status.reasons);
  host->set_status(target, static_cast<schedsim_code>(status.code), reasons.data(), reasons.size());
}

inline std::optional<Object> Optional(const schedsim_object* object) {
  if (object == nullptr) return std::nullopt;
  return Object(object);
}

inline int RunHint(void* context, const schedsim_pod* pod, const schedsim_object* old_object,
                   const schedsim_object* new_object, schedsim_status* status) noexcept {
  const Hinted hinted =
      (*static_cast<QueueingHintFn*>(context))(Pod(pod), Optional(old_object), Optional(new_object));
  Set(status, hinted.status);
  return hinted.hint == QueueingHint::kQueue ? 1 : 0;
}

}  // namespace internal

// Takes the events that may help a pod which this plugin rejected.
class Events {
 public:
  Events(schedsim_events* events, std::deque<QueueingHintFn>& hints) : events_(events), hints_(hints) {}

  // `resource` as kube-scheduler writes it: "Node", "Pod", "AssignedPod", "PersistentVolumeClaim"; `actions`:
  // bits such as SCHEDSIM_ADD. Without a hint every such event counts. False: there is no such resource.
  bool Register(std::string_view resource, uint32_t actions, QueueingHintFn hint = nullptr) {
    if (hint == nullptr) {
      return host->register_event(events_, internal::Text(resource), actions, nullptr, nullptr) != 0;
    }
    hints_.push_back(std::move(hint));
    return host->register_event(events_, internal::Text(resource), actions, internal::RunHint,
                                &hints_.back()) != 0;
  }

 private:
  schedsim_events* events_;
  std::deque<QueueingHintFn>& hints_;
};

// The end of PreBind or Bind, to be called once, at once or later. May be copied.
class Done {
 public:
  explicit Done(schedsim_done* done) : state_(std::make_shared<State>(State{done, nullptr})) {}

  void operator()(const Status& status) const {
    const std::vector<schedsim_text> reasons = internal::Texts(status.reasons);
    schedsim_done* const done = std::exchange(state_->done, nullptr);
    const std::shared_ptr<State> kept = state_;
    host->finish(done, static_cast<schedsim_code>(status.code), reasons.data(), reasons.size());
  }
  // PreBind only: `work` runs when the pod is cancelled. Done(Error("context canceled")) then ends the
  // binding with the reason of that.
  void OnCancel(std::function<void()> work) const {
    state_->on_cancel = std::move(work);
    host->on_cancel(
        state_->done,
        [](void* context) { std::exchange(static_cast<State*>(context)->on_cancel, nullptr)(); },
        state_.get());
  }
  // Why the pod was cancelled; "" where it was not, and once Done was called.
  std::string cause() const {
    return state_->done == nullptr ? "" : std::string(internal::View(host->cancel_cause(state_->done)));
  }

 private:
  struct State {
    schedsim_done* done;
    std::function<void()> on_cancel;
  };
  std::shared_ptr<State> state_;
};

// The scheduler around the plugin. May be copied, and kept as long as the plugin lives.
class Handle {
 public:
  explicit Handle(schedsim_handle* handle) : handle_(handle) {}

  // The plugin's arguments as compact JSON; "" where there are none.
  std::string_view args() const { return internal::View(host->args(handle_)); }
  std::string_view kubernetes_version() const { return internal::View(host->kubernetes_version(handle_)); }
  // Virtual, since 1970.
  std::chrono::nanoseconds Now() const { return std::chrono::nanoseconds(host->now(handle_)); }

  // Work that is to be done later, until it is cancelled.
  class Timer {
   public:
    void Cancel() {
      if (state_ == nullptr || state_->work == nullptr) return;
      host->cancel(state_->handle, state_->id);
      state_->work = nullptr;
      delete std::exchange(state_->self, nullptr);
    }

   private:
    friend class Handle;
    struct State {
      schedsim_handle* handle = nullptr;
      uint64_t id = 0;
      std::function<void()> work;
      std::shared_ptr<State>* self = nullptr;  // Lives until the work is done or cancelled.
    };
    std::shared_ptr<State> state_;
  };
  Timer Post(std::chrono::nanoseconds delay, std::function<void()> work) {
    Timer timer;
    timer.state_ = std::make_shared<Timer::State>();
    Timer::State& state = *timer.state_;
    state.handle = handle_;
    state.work = std::move(work);
    state.self = new std::shared_ptr<Timer::State>(timer.state_);
    state.id = host->post(
        handle_, delay.count(),
        [](void* context) {
          const std::shared_ptr<Timer::State> due = *static_cast<std::shared_ptr<Timer::State>*>(context);
          delete std::exchange(due->self, nullptr);
          std::exchange(due->work, nullptr)();
        },
        state.self);
    return timer;
  }

  // ---- Lists ----

  // The nodes at the start of the cycle.
  std::vector<Node> Snapshot() const {
    std::vector<Node> nodes;
    const size_t count = host->snapshot_size(handle_);
    nodes.reserve(count);
    for (size_t i = 0; i < count; ++i) nodes.emplace_back(host->snapshot_node(handle_, i));
    return nodes;
  }
  std::optional<Node> FindNode(std::string_view name) const {
    const schedsim_node* const node = host->snapshot_find(handle_, internal::Text(name));
    if (node == nullptr) return std::nullopt;
    return Node(node);
  }
  std::optional<Object> FindPod(std::string_view name_space, std::string_view name) const {
    return internal::Optional(host->find_pod(handle_, internal::Text(name_space), internal::Text(name)));
  }
  std::optional<Object> FindObject(std::string_view kind, std::string_view name_space,
                                   std::string_view name) const {
    return internal::Optional(
        host->find_object(handle_, internal::Text(kind), internal::Text(name_space), internal::Text(name)));
  }
  // Not for pods; see Snapshot.
  std::vector<Object> ListObjects(std::string_view kind) const {
    std::vector<Object> objects;
    host->list_objects(
        handle_, internal::Text(kind),
        [](void* context, const schedsim_object* object) {
          static_cast<std::vector<Object>*>(context)->emplace_back(object);
        },
        &objects);
    return objects;
  }
  int64_t Request(Pod pod, std::string_view resource) const {
    return host->pod_request(handle_, pod.get(), internal::Text(resource));
  }
  int64_t Allocatable(Node node, std::string_view resource) const {
    return host->node_allocatable(handle_, node.get(), internal::Text(resource));
  }
  int64_t Requested(Node node, std::string_view resource) const {
    return host->node_requested(handle_, node.get(), internal::Text(resource));
  }
  std::vector<Pod> NominatedPods(std::string_view node_name) const {
    std::vector<Pod> pods;
    const size_t count = host->nominated_pod_count(handle_, internal::Text(node_name));
    for (size_t i = 0; i < count; ++i) {
      pods.emplace_back(host->nominated_pod(handle_, internal::Text(node_name), i));
    }
    return pods;
  }

  // ---- Pods that wait on Permit ----

  std::vector<Pod> WaitingPods() const {
    std::vector<Pod> pods;
    host->waiting_pods(
        handle_,
        [](void* context, const schedsim_pod* pod) {
          static_cast<std::vector<Pod>*>(context)->emplace_back(pod);
        },
        &pods);
    return pods;
  }
  // For this plugin. False: no such pod waits, or it is too late.
  bool Allow(Pod pod) {
    return host->allow_waiting_pod(handle_, internal::Text(pod.uid()), {nullptr, 0}) != 0;
  }
  bool Reject(Pod pod, std::string_view message) {
    return host->reject_waiting_pod(handle_, internal::Text(pod.uid()), {nullptr, 0},
                                    internal::Text(message)) != 0;
  }

  // ---- Calls ----

  bool Activate(std::string_view name_space, std::string_view name) {
    return host->activate(handle_, internal::Text(name_space), internal::Text(name)) != 0;
  }
  // `done` gets what went wrong, "" where nothing did.
  using CallDone = std::function<void(std::string_view error)>;
  void Bind(Pod pod, std::string_view node_name, CallDone done) {
    host->bind(handle_, pod.get(), internal::Text(node_name), &RunCallDone, new CallDone(std::move(done)));
  }
  void DeletePod(Pod pod, CallDone done) {
    host->delete_pod(handle_, pod.get(), &RunCallDone, new CallDone(std::move(done)));
  }
  // `type` is Normal or Warning.
  void RecordEvent(Pod pod, std::string_view type, std::string_view reason, std::string_view action,
                   std::string_view note) {
    host->record_event(handle_, pod.get(), internal::Text(type), internal::Text(reason),
                       internal::Text(action), internal::Text(note));
  }

  // Puts a record of something that the plugin did for the pod into the trace.
  void Note(std::string_view point, Pod pod, std::string_view node_name, const Status& status) {
    const std::vector<schedsim_text> reasons = internal::Texts(status.reasons);
    host->note(handle_, internal::Text(point), pod.get(), internal::Text(node_name),
               static_cast<schedsim_code>(status.code), reasons.data(), reasons.size());
  }

  schedsim_handle* get() const { return handle_; }

 private:
  static void RunCallDone(void* context, schedsim_text error) {
    const std::unique_ptr<CallDone> done(static_cast<CallDone*>(context));
    (*done)(internal::View(error));
  }

  schedsim_handle* handle_;
};

namespace internal {

// A plugin, and what the functions below need beside it.
template <typename T>
struct Instance {
  explicit Instance(schedsim_handle* raw) : handle(raw), plugin(Handle(raw)) {}

  schedsim_handle* handle;
  T plugin;
  std::deque<QueueingHintFn> hints;
};

// One function for each entry of schedsim_plugin. An exception that leaves one ends the program.
template <typename T>
struct Calls {
  static Instance<T>& Of(void* self) { return *static_cast<Instance<T>*>(self); }

  static void* Create(schedsim_handle* handle, schedsim_status* status) noexcept {
    auto instance = std::make_unique<Instance<T>>(handle);
    if constexpr (requires { instance->plugin.Init(); }) {
      const Status answer = instance->plugin.Init();
      Set(status, answer);
      if (!answer.ok()) return nullptr;
    }
    return instance.release();
  }
  static void Destroy(void* self) noexcept { delete static_cast<Instance<T>*>(self); }
  static int Less(void* self, const schedsim_queued_pod* a, const schedsim_queued_pod* b) noexcept {
    return Of(self).plugin.Less(QueuedPod(a), QueuedPod(b)) ? 1 : 0;
  }
  static void PreEnqueue(void* self, const schedsim_pod* pod, schedsim_status* status) noexcept {
    Set(status, Of(self).plugin.PreEnqueue(Pod(pod)));
  }
  static void PreFilter(void* self, schedsim_state* raw, const schedsim_pod* pod,
                        const schedsim_node* const* nodes, size_t count, schedsim_pre_filter_result* result,
                        schedsim_status* status) noexcept {
    CycleState state(raw, Of(self).handle);
    const PreFilterResult answer = Of(self).plugin.PreFilter(state, Pod(pod), Nodes(nodes, count));
    Set(status, answer.status);
    if (!answer.node_names.has_value()) return;
    host->pre_filter_narrow(result);
    for (const std::string& name : *answer.node_names) host->pre_filter_add_node(result, Text(name));
  }
  static void AddPod(void* self, schedsim_state* raw, const schedsim_pod* pod, const schedsim_pod* other,
                     const schedsim_node* node, schedsim_status* status) noexcept {
    CycleState state(raw, Of(self).handle);
    Set(status, Of(self).plugin.AddPod(state, Pod(pod), Pod(other), Node(node)));
  }
  static void RemovePod(void* self, schedsim_state* raw, const schedsim_pod* pod, const schedsim_pod* other,
                        const schedsim_node* node, schedsim_status* status) noexcept {
    CycleState state(raw, Of(self).handle);
    Set(status, Of(self).plugin.RemovePod(state, Pod(pod), Pod(other), Node(node)));
  }
  static void Filter(void* self, schedsim_state* raw, const schedsim_pod* pod, const schedsim_node* node,
                     schedsim_status* status) noexcept {
    CycleState state(raw, Of(self).handle);
    Set(status, Of(self).plugin.Filter(state, Pod(pod), Node(node)));
  }
  static void PostFilter(void* self, schedsim_state* raw, const schedsim_pod* pod,
                         const schedsim_node_statuses* statuses, schedsim_post_filter_result* result,
                         schedsim_status* status) noexcept {
    CycleState state(raw, Of(self).handle);
    const PostFilterResult answer = Of(self).plugin.PostFilter(state, Pod(pod), NodeStatuses(statuses));
    Set(status, answer.status);
    if (answer.nominated_node_name.has_value()) {
      host->post_filter_nominate(result, Text(*answer.nominated_node_name));
    }
  }
  static void PreScore(void* self, schedsim_state* raw, const schedsim_pod* pod,
                       const schedsim_node* const* nodes, size_t count, schedsim_status* status) noexcept {
    CycleState state(raw, Of(self).handle);
    Set(status, Of(self).plugin.PreScore(state, Pod(pod), Nodes(nodes, count)));
  }
  static int64_t Score(void* self, schedsim_state* raw, const schedsim_pod* pod, const schedsim_node* node,
                       schedsim_status* status) noexcept {
    CycleState state(raw, Of(self).handle);
    const Scored scored = Of(self).plugin.Score(state, Pod(pod), Node(node));
    Set(status, scored.status);
    return scored.score;
  }
  static void NormalizeScore(void* self, schedsim_state* raw, const schedsim_pod* pod,
                             const schedsim_node* const* nodes, int64_t* scores, size_t count,
                             schedsim_status* status) noexcept {
    CycleState state(raw, Of(self).handle);
    Set(status, Of(self).plugin.NormalizeScore(state, Pod(pod), Nodes(nodes, count),
                                               std::span<int64_t>(scores, count)));
  }
  static void Reserve(void* self, schedsim_state* raw, const schedsim_pod* pod, schedsim_text node,
                      schedsim_status* status) noexcept {
    CycleState state(raw, Of(self).handle);
    Set(status, Of(self).plugin.Reserve(state, Pod(pod), View(node)));
  }
  static void Unreserve(void* self, schedsim_state* raw, const schedsim_pod* pod,
                        schedsim_text node) noexcept {
    CycleState state(raw, Of(self).handle);
    Of(self).plugin.Unreserve(state, Pod(pod), View(node));
  }
  static int64_t Permit(void* self, schedsim_state* raw, const schedsim_pod* pod, schedsim_text node,
                        schedsim_status* status) noexcept {
    CycleState state(raw, Of(self).handle);
    const PermitResult answer = Of(self).plugin.Permit(state, Pod(pod), View(node));
    Set(status, answer.status);
    return answer.timeout.count();
  }
  static void PreBindPreFlight(void* self, schedsim_state* raw, const schedsim_pod* pod, schedsim_text node,
                               schedsim_status* status) noexcept {
    CycleState state(raw, Of(self).handle);
    Set(status, Of(self).plugin.PreBindPreFlight(state, Pod(pod), View(node)));
  }
  static void PreBind(void* self, schedsim_state* raw, const schedsim_pod* pod, schedsim_text node,
                      schedsim_done* done) noexcept {
    CycleState state(raw, Of(self).handle);
    Of(self).plugin.PreBind(state, Pod(pod), View(node), Done(done));
  }
  static void Bind(void* self, schedsim_state* raw, const schedsim_pod* pod, schedsim_text node,
                   schedsim_done* done) noexcept {
    CycleState state(raw, Of(self).handle);
    Of(self).plugin.Bind(state, Pod(pod), View(node), Done(done));
  }
  static void PostBind(void* self, schedsim_state* raw, const schedsim_pod* pod,
                       schedsim_text node) noexcept {
    CycleState state(raw, Of(self).handle);
    Of(self).plugin.PostBind(state, Pod(pod), View(node));
  }
  static void SignPod(void* self, const schedsim_pod* pod, schedsim_signer* raw,
                      schedsim_status* status) noexcept {
    Signer signer(raw);
    Set(status, Of(self).plugin.SignPod(Pod(pod), signer));
  }
  static void EventsToRegister(void* self, schedsim_events* raw, schedsim_status* status) noexcept {
    Events events(raw, Of(self).hints);
    Set(status, Of(self).plugin.EventsToRegister(events));
  }
  static void OnPod(void* self, const schedsim_object* old_pod, const schedsim_object* new_pod) noexcept {
    Of(self).plugin.OnPod(Optional(old_pod), Optional(new_pod));
  }
};

// The functions of those methods that the class has.
template <typename T>
const schedsim_plugin* Describe() {
  static const schedsim_plugin plugin = [] {
    schedsim_plugin entry = {};
    entry.size = sizeof(schedsim_plugin);
    entry.name = Text(T::kName);
    entry.create = &Calls<T>::Create;
    entry.destroy = &Calls<T>::Destroy;
    if constexpr (requires { &T::Less; }) entry.less = &Calls<T>::Less;
    if constexpr (requires { &T::PreEnqueue; }) entry.pre_enqueue = &Calls<T>::PreEnqueue;
    if constexpr (requires { &T::PreFilter; }) entry.pre_filter = &Calls<T>::PreFilter;
    if constexpr (requires { &T::AddPod; }) entry.add_pod = &Calls<T>::AddPod;
    if constexpr (requires { &T::RemovePod; }) entry.remove_pod = &Calls<T>::RemovePod;
    if constexpr (requires { &T::Filter; }) entry.filter = &Calls<T>::Filter;
    if constexpr (requires { &T::PostFilter; }) entry.post_filter = &Calls<T>::PostFilter;
    if constexpr (requires { &T::PreScore; }) entry.pre_score = &Calls<T>::PreScore;
    if constexpr (requires { &T::Score; }) entry.score = &Calls<T>::Score;
    if constexpr (requires { &T::NormalizeScore; }) entry.normalize_score = &Calls<T>::NormalizeScore;
    if constexpr (requires { &T::Reserve; }) entry.reserve = &Calls<T>::Reserve;
    if constexpr (requires { &T::Unreserve; }) entry.unreserve = &Calls<T>::Unreserve;
    if constexpr (requires { &T::Permit; }) entry.permit = &Calls<T>::Permit;
    if constexpr (requires { &T::PreBindPreFlight; }) entry.pre_bind_pre_flight = &Calls<T>::PreBindPreFlight;
    if constexpr (requires { &T::PreBind; }) entry.pre_bind = &Calls<T>::PreBind;
    if constexpr (requires { &T::Bind; }) entry.bind = &Calls<T>::Bind;
    if constexpr (requires { &T::PostBind; }) entry.post_bind = &Calls<T>::PostBind;
    if constexpr (requires { &T::SignPod; }) entry.sign_pod = &Calls<T>::SignPod;
    if constexpr (requires { &T::EventsToRegister; }) entry.events_to_register = &Calls<T>::EventsToRegister;
    if constexpr (requires { &T::OnPod; }) entry.on_pod = &Calls<T>::OnPod;
    if constexpr (requires { T::kFilterReads; })
      entry.filter_reads = static_cast<schedsim_reads>(T::kFilterReads);
    if constexpr (requires { T::kScoreReads; })
      entry.score_reads = static_cast<schedsim_reads>(T::kScoreReads);
    return entry;
  }();
  return &plugin;
}

}  // namespace internal

// What the entry point of a library with these plugins returns.
template <typename... T>
const schedsim_library* Library(const schedsim_host* offered) {
  host = offered;
  static const schedsim_plugin* const plugins[] = {internal::Describe<T>()...};
  static const schedsim_library library = {.abi_version = SCHEDSIM_PLUGIN_ABI_VERSION,
                                           .host_size = sizeof(schedsim_host),
                                           .plugin_count = sizeof...(T),
                                           .plugins = plugins};
  return &library;
}

}  // namespace schedsim::plugin

#endif  // SCHEDSIM_PLUGIN_H_
