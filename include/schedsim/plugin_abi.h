/* What passes between schedsim and a shared library of plugins: plain C, so that no compiler, standard
 * library or version of Abseil has to be the same on both sides. Authors in C++ use plugin.h, which stands on
 * this file.
 *
 * A library has one entry point, schedsim_plugin_library. schedsim calls it once, with what it offers, and
 * gets back what the library has. Both sides say the version of this file and the sizes of their structs. A
 * library that was built for another version is refused when it is loaded; so is one that needs functions
 * which this schedsim lacks.
 *
 * All calls come from one thread. Pointers that a plugin gets are valid during the call, unless a comment
 * says otherwise. Texts are UTF-8 without a zero at the end; {NULL, 0} is the empty one. Times are
 * nanoseconds since 1970, virtual. Source of names and meanings: kube-scheduler v0.37,
 * framework/interface.go. */
#ifndef SCHEDSIM_PLUGIN_ABI_H_
#define SCHEDSIM_PLUGIN_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when something is changed or taken away. What is added goes to the end of a struct, whose size says
 * so. */
#define SCHEDSIM_PLUGIN_ABI_VERSION 1u

typedef struct schedsim_text {
  const char* data;
  size_t size;
} schedsim_text;

/* What schedsim gives out, and takes back. */
typedef struct schedsim_handle
    schedsim_handle; /* The scheduler around a plugin; as long as the plugin lives. */
typedef struct schedsim_object schedsim_object;         /* An API object of any kind. */
typedef struct schedsim_pod schedsim_pod;               /* A pod as the scheduler has it. */
typedef struct schedsim_queued_pod schedsim_queued_pod; /* A pod in the queue. */
typedef struct schedsim_node schedsim_node;             /* A node with its pods: NodeInfo. */
typedef struct schedsim_state schedsim_state;           /* CycleState. */
typedef struct schedsim_status schedsim_status;         /* The answer of a call: Success, until it is set. */
typedef struct schedsim_pre_filter_result schedsim_pre_filter_result;
typedef struct schedsim_post_filter_result schedsim_post_filter_result;
typedef struct schedsim_node_statuses schedsim_node_statuses; /* Why the nodes failed: NodeToStatus. */
typedef struct schedsim_events schedsim_events;               /* Takes what a plugin registers for. */
typedef struct schedsim_signer schedsim_signer;               /* Takes what a pod is signed with. */
typedef struct schedsim_done schedsim_done;                   /* Takes the end of PreBind or Bind. */

typedef enum schedsim_code {
  SCHEDSIM_SUCCESS = 0,
  SCHEDSIM_ERROR = 1,
  SCHEDSIM_UNSCHEDULABLE = 2,
  SCHEDSIM_UNSCHEDULABLE_AND_UNRESOLVABLE = 3,
  SCHEDSIM_WAIT = 4,
  SCHEDSIM_SKIP = 5,
  SCHEDSIM_PENDING = 6
} schedsim_code;

/* The texts that an object has. */
typedef enum schedsim_field {
  SCHEDSIM_API_VERSION = 0,
  SCHEDSIM_KIND = 1,
  SCHEDSIM_NAMESPACE = 2,
  SCHEDSIM_NAME = 3,
  SCHEDSIM_UID = 4
} schedsim_field;

/* What happened to an object: bits, as ActionType. */
#define SCHEDSIM_ADD (1u << 0)
#define SCHEDSIM_DELETE (1u << 1)
#define SCHEDSIM_UPDATE_NODE_ALLOCATABLE (1u << 2)
#define SCHEDSIM_UPDATE_NODE_LABEL (1u << 3)
#define SCHEDSIM_UPDATE_NODE_TAINT (1u << 4)
#define SCHEDSIM_UPDATE_NODE_CONDITION (1u << 5)
#define SCHEDSIM_UPDATE_NODE_ANNOTATION (1u << 6)
#define SCHEDSIM_UPDATE_NODE_DECLARED_FEATURE (1u << 7)
#define SCHEDSIM_UPDATE_POD_LABEL (1u << 9)
#define SCHEDSIM_UPDATE_POD_SCALE_DOWN (1u << 10)
#define SCHEDSIM_UPDATE_POD_SCALE_UP (1u << 11)
#define SCHEDSIM_UPDATE_POD_TOLERATION (1u << 12)
#define SCHEDSIM_UPDATE_POD_SCHEDULING_GATES_ELIMINATED (1u << 13)
#define SCHEDSIM_UPDATE_POD_GENERATED_RESOURCE_CLAIM (1u << 14)
#define SCHEDSIM_ALL ((1u << 15) - 1u)
#define SCHEDSIM_UPDATE (SCHEDSIM_ALL & ~(SCHEDSIM_ADD | SCHEDSIM_DELETE))

/* Work that is done later. */
typedef void (*schedsim_work)(void* context);
/* The end of a call to the API server; `error` is empty where it went well. */
typedef void (*schedsim_call_done)(void* context, schedsim_text error);
/* Whether a pod that this plugin rejected may fit after a change: 1 Queue, 0 Skip. `old_object` is NULL for
 * additions, `new_object` for deletions. An Error in `status` counts as Queue. */
typedef int (*schedsim_hint)(void* context, const schedsim_pod* pod, const schedsim_object* old_object,
                             const schedsim_object* new_object, schedsim_status* status);
typedef void* (*schedsim_clone)(const void* data);
typedef void (*schedsim_destroy)(void* data);

/* What schedsim offers to plugins. */
typedef struct schedsim_host {
  uint32_t abi_version; /* SCHEDSIM_PLUGIN_ABI_VERSION of schedsim. */
  uint32_t size;        /* sizeof(schedsim_host) of schedsim. */

  /* ---- Answers ---- */

  /* Sets code and reasons, in place of what was set before. */
  void (*set_status)(schedsim_status* status, schedsim_code code, const schedsim_text* reasons,
                     size_t reason_count);

  /* ---- Objects: metadata, and all of the rest as JSON ---- */

  schedsim_text (*object_text)(const schedsim_object* object, schedsim_field field);
  /* The value of a label or annotation. 0: there is none. */
  int (*object_label)(const schedsim_object* object, schedsim_text key, schedsim_text* value);
  int (*object_annotation)(const schedsim_object* object, schedsim_text key, schedsim_text* value);
  size_t (*object_label_count)(const schedsim_object* object);
  void (*object_label_at)(const schedsim_object* object, size_t index, schedsim_text* key,
                          schedsim_text* value);
  /* The whole object, compact, as it is now. Valid until the next call of this function. */
  schedsim_text (*object_json)(const schedsim_object* object);

  /* ---- Pods ---- */

  const schedsim_object* (*pod_object)(const schedsim_pod* pod);
  int32_t (*pod_priority)(const schedsim_pod* pod);
  schedsim_text (*pod_node_name)(const schedsim_pod* pod); /* "": not bound, not assumed. */
  schedsim_text (*pod_nominated_node_name)(const schedsim_pod* pod);
  schedsim_text (*pod_scheduler_name)(const schedsim_pod* pod);
  /* What the pod asks for: thousandths for cpu, bytes for memory and ephemeral-storage, wholes for others. */
  int64_t (*pod_request)(const schedsim_handle* handle, const schedsim_pod* pod, schedsim_text resource);

  const schedsim_pod* (*queued_pod)(const schedsim_queued_pod* pod);
  int64_t (*queued_pod_timestamp)(const schedsim_queued_pod* pod);
  int32_t (*queued_pod_attempts)(const schedsim_queued_pod* pod);

  /* ---- Nodes. Units of amounts: as of pod_request; "pods" is how many pods may run there. ---- */

  const schedsim_object* (*node_object)(const schedsim_node* node);
  schedsim_text (*node_name)(const schedsim_node* node);
  size_t (*node_pod_count)(const schedsim_node* node);
  const schedsim_pod* (*node_pod)(const schedsim_node* node, size_t index);
  int64_t (*node_allocatable)(const schedsim_handle* handle, const schedsim_node* node,
                              schedsim_text resource);
  int64_t (*node_requested)(const schedsim_handle* handle, const schedsim_node* node, schedsim_text resource);

  /* ---- CycleState: data of this plugin by key, from PreFilter to PostBind of one pod ---- */

  /* Takes the data over, in place of what the key has. `clone` makes the copies for runs with pods added or
   * removed. */
  void (*state_write)(schedsim_state* state, const schedsim_handle* handle, schedsim_text key, void* data,
                      schedsim_clone clone, schedsim_destroy destroy);
  /* NULL: nothing was written. */
  void* (*state_read)(const schedsim_state* state, const schedsim_handle* handle, schedsim_text key);

  /* ---- Results ---- */

  /* From now on only the nodes that are added can fit; none may be added. */
  void (*pre_filter_narrow)(schedsim_pre_filter_result* result);
  void (*pre_filter_add_node)(schedsim_pre_filter_result* result, schedsim_text node_name);
  /* Nominates the node; "": clears the nomination. Not called: the nomination stays as it is. */
  void (*post_filter_nominate)(schedsim_post_filter_result* result, schedsim_text node_name);
  /* Why a node failed in this cycle. A node that was not looked at is UNSCHEDULABLE_AND_UNRESOLVABLE, mostly.
   */
  schedsim_code (*node_status_code)(const schedsim_node_statuses* statuses, const schedsim_node* node);
  /* Its reasons, joined by ", ", and the plugin that gave them. Valid until the next call of this function.
   */
  schedsim_text (*node_status_message)(const schedsim_node_statuses* statuses, const schedsim_node* node);
  schedsim_text (*node_status_plugin)(const schedsim_node_statuses* statuses, const schedsim_node* node);
  /* Registers for an event: "Node", "Pod", "AssignedPod", "PersistentVolumeClaim", "*" and so on. `hint` may
   * be NULL; `context` must live as long as the plugin. 0: there is no such resource. */
  int (*register_event)(schedsim_events* events, schedsim_text resource, uint32_t actions, schedsim_hint hint,
                        void* context);
  void (*sign)(schedsim_signer* signer, schedsim_text key, schedsim_text value);
  /* Ends PreBind or Bind; to be called once for each, at once or later. */
  void (*finish)(schedsim_done* done, schedsim_code code, const schedsim_text* reasons, size_t reason_count);
  /* PreBind only: runs `work` when the pod is cancelled, which asks the plugin to finish with the error
   * "context canceled". Replaces what was given before; NULL takes it away. */
  void (*on_cancel)(schedsim_done* done, schedsim_work work, void* context);

  /* ---- The handle ---- */

  /* The plugin's arguments as compact JSON; "" where there are none. */
  schedsim_text (*args)(const schedsim_handle* handle);
  /* "1.37" */
  schedsim_text (*kubernetes_version)(const schedsim_handle* handle);
  int64_t (*now)(const schedsim_handle* handle);
  /* Runs `work` later, never before this returns. What it gives back is for `cancel`. */
  uint64_t (*post)(schedsim_handle* handle, int64_t delay_nanoseconds, schedsim_work work, void* context);
  void (*cancel)(schedsim_handle* handle, uint64_t id);
  /* The nodes at the start of the cycle, in the order of the snapshot. */
  size_t (*snapshot_size)(const schedsim_handle* handle);
  const schedsim_node* (*snapshot_node)(const schedsim_handle* handle, size_t index);
  const schedsim_node* (*snapshot_find)(const schedsim_handle* handle,
                                        schedsim_text node_name); /* NULL: none. */
  /* A pod as the informers have it; NULL: there is none. Valid until the call of the plugin ends. */
  const schedsim_object* (*find_pod)(schedsim_handle* handle, schedsim_text name_space, schedsim_text name);
  /* An object of another kind that scheduling reads; the same. */
  const schedsim_object* (*find_object)(schedsim_handle* handle, schedsim_text kind, schedsim_text name_space,
                                        schedsim_text name);
  /* All of them, in the order of "namespace/name". Not for pods. */
  void (*list_objects)(schedsim_handle* handle, schedsim_text kind,
                       void (*visit)(void* context, const schedsim_object* object), void* context);
  /* Pods nominated to the node, in the order of their nomination. */
  size_t (*nominated_pod_count)(const schedsim_handle* handle, schedsim_text node_name);
  const schedsim_pod* (*nominated_pod)(const schedsim_handle* handle, schedsim_text node_name, size_t index);
  /* The pods of all profiles that wait on Permit, in the order in which they began to; `visit` must not allow
   * or reject. */
  void (*waiting_pods)(const schedsim_handle* handle, void (*visit)(void* context, const schedsim_pod* pod),
                       void* context);
  /* Allow and reject a waiting pod, by uid, for a plugin (NULL, 0: this one). 0: no such pod waits, or it is
   * too late. */
  int (*allow_waiting_pod)(schedsim_handle* handle, schedsim_text uid, schedsim_text plugin);
  int (*reject_waiting_pod)(schedsim_handle* handle, schedsim_text uid, schedsim_text plugin,
                            schedsim_text message);
  /* The profile's filters for a node, with the pods nominated to it that matter. */
  void (*run_filters)(schedsim_handle* handle, schedsim_state* state, const schedsim_pod* pod,
                      const schedsim_node* node, schedsim_status* status);
  /* Moves a pod to the active queue, now or when it comes back from its attempt. 0: there is no such pod. */
  int (*activate)(schedsim_handle* handle, schedsim_text name_space, schedsim_text name);
  /* Creates the pod's binding; `done` is called once, later. */
  void (*bind)(schedsim_handle* handle, const schedsim_pod* pod, schedsim_text node_name,
               schedsim_call_done done, void* context);
  /* Deletes the pod; the same. */
  void (*delete_pod)(schedsim_handle* handle, const schedsim_pod* pod, schedsim_call_done done,
                     void* context);
  /* Records an event about the pod; `type` is Normal or Warning. */
  void (*record_event)(schedsim_handle* handle, const schedsim_pod* pod, schedsim_text type,
                       schedsim_text reason, schedsim_text action, schedsim_text note);
  /* Puts a record of something that the plugin did for a pod into the trace; `node_name` may be empty. */
  void (*note)(schedsim_handle* handle, schedsim_text point, const schedsim_pod* pod, schedsim_text node_name,
               schedsim_code code, const schedsim_text* reasons, size_t reason_count);
  /* PreBind only: why the pod was cancelled; "" where it was not. */
  schedsim_text (*cancel_cause)(const schedsim_done* done);
} schedsim_host;

/* What decides an answer, beside the plugin's arguments. */
typedef enum schedsim_reads {
  SCHEDSIM_READS_ANYTHING = 0,
  /* The node with its pods, and the pod's spec but for volumes and claims: neither name nor labels. */
  SCHEDSIM_READS_NODE = 1,
  /* The node's object, without its pods, and as much of the pod. */
  SCHEDSIM_READS_NODE_OBJECT = 2
} schedsim_reads;

/* A plugin: what it is called, and what it does at which extension point. NULL: it does not take part there.
 * `self` is what `create` gave back; each profile has a plugin of its own. */
typedef struct schedsim_plugin {
  uint32_t size; /* sizeof(schedsim_plugin) of the library. */
  schedsim_text name;

  /* NULL, with an Error in `status`: the plugin refuses its arguments. */
  void* (*create)(schedsim_handle* handle, schedsim_status* status);
  void (*destroy)(void* self);

  /* QueueSort: 1 where `a` is scheduled before `b`. */
  int (*less)(void* self, const schedsim_queued_pod* a, const schedsim_queued_pod* b);
  void (*pre_enqueue)(void* self, const schedsim_pod* pod, schedsim_status* status);
  /* `nodes` is the whole snapshot, in its order. */
  void (*pre_filter)(void* self, schedsim_state* state, const schedsim_pod* pod,
                     const schedsim_node* const* nodes, size_t node_count, schedsim_pre_filter_result* result,
                     schedsim_status* status);
  /* `node` has, or lacks, `other` already. With pre_filter only. */
  void (*add_pod)(void* self, schedsim_state* state, const schedsim_pod* pod, const schedsim_pod* other,
                  const schedsim_node* node, schedsim_status* status);
  void (*remove_pod)(void* self, schedsim_state* state, const schedsim_pod* pod, const schedsim_pod* other,
                     const schedsim_node* node, schedsim_status* status);
  /* May be asked of any nodes, in any order, and more than once. */
  void (*filter)(void* self, schedsim_state* state, const schedsim_pod* pod, const schedsim_node* node,
                 schedsim_status* status);
  /* Wait and Skip are no answers here: the real scheduler crashes on them. */
  void (*post_filter)(void* self, schedsim_state* state, const schedsim_pod* pod,
                      const schedsim_node_statuses* statuses, schedsim_post_filter_result* result,
                      schedsim_status* status);
  /* `nodes` are the feasible ones, in the order in which they were found. */
  void (*pre_score)(void* self, schedsim_state* state, const schedsim_pod* pod,
                    const schedsim_node* const* nodes, size_t node_count, schedsim_status* status);
  /* 0 to 100, unless the plugin normalises. */
  int64_t (*score)(void* self, schedsim_state* state, const schedsim_pod* pod, const schedsim_node* node,
                   schedsim_status* status);
  /* Brings the scores into 0 to 100: scores[i] is that of nodes[i]. With score only. */
  void (*normalize_score)(void* self, schedsim_state* state, const schedsim_pod* pod,
                          const schedsim_node* const* nodes, int64_t* scores, size_t node_count,
                          schedsim_status* status);
  void (*reserve)(void* self, schedsim_state* state, const schedsim_pod* pod, schedsim_text node_name,
                  schedsim_status* status);
  /* Also called where reserve was not. With reserve only. */
  void (*unreserve)(void* self, schedsim_state* state, const schedsim_pod* pod, schedsim_text node_name);
  /* With Wait: the pod waits until it is allowed, rejected, or this many nanoseconds are over, at most 15
   * minutes. */
  int64_t (*permit)(void* self, schedsim_state* state, const schedsim_pod* pod, schedsim_text node_name,
                    schedsim_status* status);
  /* Success, Skip (pre_bind has nothing to do) or Error. NULL beside pre_bind: Success. From 1.35 on. */
  void (*pre_bind_pre_flight)(void* self, schedsim_state* state, const schedsim_pod* pod,
                              schedsim_text node_name, schedsim_status* status);
  /* Ends with `finish`, at once or later; `state` and `pod` live until then. */
  void (*pre_bind)(void* self, schedsim_state* state, const schedsim_pod* pod, schedsim_text node_name,
                   schedsim_done* done);
  void (*bind)(void* self, schedsim_state* state, const schedsim_pod* pod, schedsim_text node_name,
               schedsim_done* done);
  void (*post_bind)(void* self, schedsim_state* state, const schedsim_pod* pod, schedsim_text node_name);
  /* NULL: the plugin cannot sign, and no pod of its profile is signed. */
  void (*sign_pod)(void* self, const schedsim_pod* pod, schedsim_signer* signer, schedsim_status* status);
  /* NULL: every event may help a pod that the plugin rejected. An Error ends the start of the scheduler. */
  void (*events_to_register)(void* self, schedsim_events* events, schedsim_status* status);
  /* What the informer of pods sees: NULL `old_pod`: an addition, NULL `new_pod`: a deletion. */
  void (*on_pod)(void* self, const schedsim_object* old_pod, const schedsim_object* new_pod);
  /* What `filter`, and what `score`, read: their answers are kept as long as that is the same. */
  schedsim_reads filter_reads;
  schedsim_reads score_reads;
} schedsim_plugin;

typedef struct schedsim_library {
  uint32_t abi_version; /* SCHEDSIM_PLUGIN_ABI_VERSION of the library. */
  uint32_t host_size;   /* sizeof(schedsim_host) of the library: it may use as much of the host. */
  size_t plugin_count;
  const schedsim_plugin* const* plugins; /* Live as long as the program. */
} schedsim_library;

#if defined(__GNUC__)
#define SCHEDSIM_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define SCHEDSIM_PLUGIN_EXPORT
#endif

/* The entry point that a library defines. `host` lives as long as the program. */
SCHEDSIM_PLUGIN_EXPORT const schedsim_library* schedsim_plugin_library(const schedsim_host* host);

#ifdef __cplusplus
}
#endif

#endif /* SCHEDSIM_PLUGIN_ABI_H_ */
