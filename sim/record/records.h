// All records of a trace. A new kind is a struct with its table here, an entry in Body, and a section in
// docs/trace.md; a new field is a member and a line in a table.
#ifndef SCHEDSIM_SIM_RECORD_RECORDS_H_
#define SCHEDSIM_SIM_RECORD_RECORDS_H_

#include <cstdint>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "sim/record/attempt_record.h"
#include "sim/record/group_record.h"
#include "sim/record/record_field.h"

namespace schedsim::sim::record {

// ---- The run ----

// A file that was read.
struct RunInput {
  Text path;
  // Of its bytes, 64 hexadecimal digits.
  Text sha256;
};

template <>
struct Fields<RunInput> {
  static constexpr std::tuple kList = {Required("path", &RunInput::path),
                                       Required("sha256", &RunInput::sha256)};
};

// The first record of a trace of `schedsim run`: what has to be given to have the run again.
struct Run {
  static constexpr absl::string_view kKind = "run";
  // Name and version.
  Text program;
  // Those of `schedsim run` that decide over the result.
  Texts arguments;
  std::vector<RunInput> inputs;
  Text kubernetes_version;
  Text feature_gates;
  Text latency_model;
  Text seed;
  // How much is written.
  Text level;
  // The real scheduler in virtual time that decided, with plugins of its own: see docs/recorder.md.
  std::optional<Text> recorder;
};

template <>
struct Fields<Run> {
  static constexpr std::tuple kList = {Required("program", &Run::program),
                                       Required("arguments", &Run::arguments),
                                       Required("inputs", &Run::inputs),
                                       Always("kubernetesVersion", &Run::kubernetes_version),
                                       Always("featureGates", &Run::feature_gates),
                                       Always("latencyModel", &Run::latency_model),
                                       Always("seed", &Run::seed),
                                       Always("level", &Run::level),
                                       IfAny("recorder", &Run::recorder)};
};

// ---- What the scheduler does to the API server ----

// The pod is bound.
struct Bind {
  static constexpr absl::string_view kKind = "bind";
  Text pod;
  Text node;
};

template <>
struct Fields<Bind> {
  static constexpr std::tuple kList = {Required("pod", &Bind::pod), Required("node", &Bind::node)};
};

struct Disruption {
  Text reason;
  Text message;
  Text status;
};

template <>
struct Fields<Disruption> {
  static constexpr std::tuple kList = {Always("reason", &Disruption::reason),
                                       Always("message", &Disruption::message),
                                       Always("status", &Disruption::status)};
};

// `status.extendedResourceClaimStatus` of a pod.
struct ExtendedClaim {
  Text name;
  // "container resource request".
  Texts mappings;
};

template <>
struct Fields<ExtendedClaim> {
  static constexpr std::tuple kList = {Always("name", &ExtendedClaim::name),
                                       Always("mappings", &ExtendedClaim::mappings)};
};

// A pod's status was patched; what it holds now.
struct PodStatus {
  static constexpr absl::string_view kKind = "status";
  Text pod;
  // The condition PodScheduled, where there is one.
  std::optional<Text> status;
  std::optional<Text> reason;
  std::optional<Text> message;
  // The condition DisruptionTarget.
  std::optional<Disruption> disruption;
  // `status.nominatedNodeName`.
  Text nominated;
  // Where the scheduler wrote one.
  std::optional<ExtendedClaim> extended_claim;
};

template <>
struct Fields<PodStatus> {
  static constexpr std::tuple kList = {Required("pod", &PodStatus::pod),
                                       IfAny("status", &PodStatus::status),
                                       IfAny("reason", &PodStatus::reason),
                                       IfAny("message", &PodStatus::message),
                                       IfAny("disruption", &PodStatus::disruption),
                                       Always("nominated", &PodStatus::nominated),
                                       IfAny("extendedClaim", &PodStatus::extended_claim)};
};

// An event of the API was recorded about the pod.
struct Event {
  static constexpr absl::string_view kKind = "event";
  Text pod;
  Text type;
  Text reason;
  Text action;
  Text note;
};

template <>
struct Fields<Event> {
  static constexpr std::tuple kList = {Always("pod", &Event::pod), Required("type", &Event::type),
                                       Required("reason", &Event::reason), Always("action", &Event::action),
                                       Required("note", &Event::note)};
};

// A victim of preemption is deleted.
struct Delete {
  static constexpr absl::string_view kKind = "delete";
  Text pod;
};

template <>
struct Fields<Delete> {
  static constexpr std::tuple kList = {Required("pod", &Delete::pod)};
};

// A device that a claim has.
struct ClaimDevice {
  Text request;
  // "driver/pool/device".
  Text device;
  bool admin_access = false;
  bool shared = false;
  // By capacity.
  Map<Text> consumed;
  int64_t tolerations = 0;
  Texts binding_conditions;
  Texts binding_failure_conditions;
};

template <>
struct Fields<ClaimDevice> {
  static constexpr bool HasTolerations(const ClaimDevice& device) { return device.tolerations > 0; }
  static constexpr std::tuple kList = {
      Required("request", &ClaimDevice::request),
      Required("device", &ClaimDevice::device),
      IfAny("adminAccess", &ClaimDevice::admin_access),
      IfAny("shared", &ClaimDevice::shared),
      IfAny("consumed", &ClaimDevice::consumed),
      If(&HasTolerations, "tolerations", &ClaimDevice::tolerations),
      IfAny("bindingConditions", &ClaimDevice::binding_conditions),
      IfAny("bindingFailureConditions", &ClaimDevice::binding_failure_conditions)};
};

// The nodes of an allocated claim, as in the API.
struct NodeRequirement {
  Text key;
  Text operator_;
  Texts values;
};

template <>
struct Fields<NodeRequirement> {
  static constexpr std::tuple kList = {Required("key", &NodeRequirement::key),
                                       Required("operator", &NodeRequirement::operator_),
                                       IfAny("values", &NodeRequirement::values)};
};

struct NodeTerm {
  std::vector<NodeRequirement> match_expressions;
  std::vector<NodeRequirement> match_fields;
};

template <>
struct Fields<NodeTerm> {
  static constexpr std::tuple kList = {IfAny("matchExpressions", &NodeTerm::match_expressions),
                                       IfAny("matchFields", &NodeTerm::match_fields)};
};

struct NodeSelector {
  std::vector<NodeTerm> terms;
};

template <>
struct Fields<NodeSelector> {
  static constexpr std::tuple kList = {Always("nodeSelectorTerms", &NodeSelector::terms)};
};

// What a driver is told of the devices of some requests.
struct ClaimConfig {
  // FromClass or FromClaim.
  Text source;
  // Empty: all.
  Texts requests;
  Text driver;
};

template <>
struct Fields<ClaimConfig> {
  static constexpr std::tuple kList = {Always("source", &ClaimConfig::source),
                                       Always("requests", &ClaimConfig::requests),
                                       IfAny("driver", &ClaimConfig::driver)};
};

// What a claim of devices has.
struct ClaimView {
  std::vector<ClaimDevice> devices;
  // Absent: all nodes.
  std::optional<NodeSelector> node_selector;
  std::vector<ClaimConfig> config;
  // "pods/name".
  Texts reserved_for;
  Texts finalizers;
  // Whether it is being deleted.
  bool deleting = false;
};

template <>
struct Fields<ClaimView> {
  static constexpr std::tuple kList = {
      IfAny("devices", &ClaimView::devices),       IfAny("nodeSelector", &ClaimView::node_selector),
      IfAny("config", &ClaimView::config),         IfAny("reservedFor", &ClaimView::reserved_for),
      IfAny("finalizers", &ClaimView::finalizers), IfAny("deleting", &ClaimView::deleting)};
};

// The scheduler updates a claim or a volume, or writes a claim of devices.
struct Update : ClaimView {
  static constexpr absl::string_view kKind = "update";
  static constexpr absl::string_view kVolumes = "persistentvolumes";
  static constexpr absl::string_view kClaims = "persistentvolumeclaims";
  static constexpr absl::string_view kResourceClaims = "resourceclaims";
  static constexpr absl::string_view kPodGroups = "podgroups";

  // One of these, as in the path of the API.
  Text resource;
  Text name;
  // Of a claim: `spec.volumeName`, and the annotation `volume.kubernetes.io/selected-node`.
  std::optional<Text> volume_name;
  std::optional<Text> selected_node;
  // Of a volume with a claimRef.
  std::optional<Text> claim;
  // Of a claim of devices: create, update, status, patch or delete, and, in ClaimView, what is stored then.
  Text verb;
  // Of one that is created: "request class count".
  Texts requests;
  // Of a group of pods: "Type|Status|Reason|Message".
  Texts conditions;
};

template <>
struct Fields<Update> {
  static constexpr std::tuple kList =
      std::tuple_cat(std::tuple{Required("resource", &Update::resource), Required("name", &Update::name),
                                IfAny("volumeName", &Update::volume_name),
                                IfAny("selectedNode", &Update::selected_node), IfAny("claim", &Update::claim),
                                IfAny("verb", &Update::verb), IfAny("requests", &Update::requests)},
                     Fields<ClaimView>::kList, std::tuple{IfAny("conditions", &Update::conditions)});
};

// ---- What goes on around the scheduler ----

// The next step of a case, or entry of a timeline, comes now.
struct Step {
  static constexpr absl::string_view kKind = "step";
  int64_t index = 0;
};

template <>
struct Fields<Step> {
  static constexpr std::tuple kList = {Always("i", &Step::index)};
};

// A deleted pod's termination time is over.
struct Gone {
  static constexpr absl::string_view kKind = "gone";
  Text pod;
};

template <>
struct Fields<Gone> {
  static constexpr std::tuple kList = {Always("pod", &Gone::pod)};
};

// A claim was bound by the stand-in for the volume controller.
struct ClaimBound {
  static constexpr absl::string_view kKind = "claimBound";
  Text name;
  Text volume;
};

template <>
struct Fields<ClaimBound> {
  static constexpr std::tuple kList = {Always("name", &ClaimBound::name),
                                       Always("volume", &ClaimBound::volume)};
};

// A claim of devices was written by the controller of such claims, or by a driver.
struct Claim : ClaimView {
  static constexpr absl::string_view kKind = "claim";
  // create, reserve, release, delete or devices.
  Text verb;
  Text name;
  // The pod that it is made of or reserved for.
  Text pod;
  // With devices: "device condition".
  Texts set;
};

template <>
struct Fields<Claim> {
  static constexpr std::tuple kList =
      std::tuple_cat(std::tuple{Required("verb", &Claim::verb), Required("name", &Claim::name),
                                IfAny("pod", &Claim::pod), IfAny("set", &Claim::set)},
                     Fields<ClaimView>::kList);
};

// A change from outside failed.
struct ApiError {
  static constexpr absl::string_view kKind = "apiError";
  Text verb;
  Text message;
};

template <>
struct Fields<ApiError> {
  static constexpr std::tuple kList = {Always("verb", &ApiError::verb),
                                       Always("message", &ApiError::message)};
};

// The configuration is refused.
struct ConfigError {
  static constexpr absl::string_view kKind = "configError";
  Text message;
};

template <>
struct Fields<ConfigError> {
  static constexpr std::tuple kList = {Always("message", &ConfigError::message)};
};

// From here on this pod's result may differ from the real scheduler's.
struct Inexact {
  static constexpr absl::string_view kKind = "inexact";
  Text pod;
  Text reason;
};

template <>
struct Fields<Inexact> {
  static constexpr std::tuple kList = {Always("pod", &Inexact::pod), Always("reason", &Inexact::reason)};
};

// A plugin of a library tells of something that it did.
struct PluginNote {
  static constexpr absl::string_view kKind = "plugin";
  Text plugin;
  Text point;
  Text pod;
  Text node;
  Text code;
  Texts reasons;
};

template <>
struct Fields<PluginNote> {
  static constexpr std::tuple kList = {
      Required("plugin", &PluginNote::plugin), Required("point", &PluginNote::point),
      Required("pod", &PluginNote::pod),       IfAny("node", &PluginNote::node),
      IfAny("code", &PluginNote::code),        IfAny("reasons", &PluginNote::reasons)};
};

// ---- Extenders ----

// Pods to evict from a node, in a request to an extender.
struct RequestVictims {
  Texts pods;
  // Of their objects: see ExtenderRequest.
  Texts pod_digests;
  int64_t violations = 0;
};

template <>
struct Fields<RequestVictims> {
  static constexpr std::tuple kList = {Required("Pods", &RequestVictims::pods),
                                       IfAny("podDigests", &RequestVictims::pod_digests),
                                       Always("NumPDBViolations", &RequestVictims::violations)};
};

struct RequestMetaPod {
  Text uid;
};

template <>
struct Fields<RequestMetaPod> {
  static constexpr std::tuple kList = {Required("UID", &RequestMetaPod::uid)};
};

struct RequestMetaVictims {
  std::vector<RequestMetaPod> pods;
  int64_t violations = 0;
};

template <>
struct Fields<RequestMetaVictims> {
  static constexpr std::tuple kList = {Required("Pods", &RequestMetaVictims::pods),
                                       Always("NumPDBViolations", &RequestMetaVictims::violations)};
};

// What an extender is asked, with objects by name and digest: the first 16 hexadecimal digits of the SHA-256
// of their JSON with sorted keys, without blanks and metadata.resourceVersion.
struct ExtenderRequest {
  // To filter, prioritize or preempt.
  Text pod;
  Text pod_digest;
  // To filter or prioritize: objects, or names alone.
  std::optional<Texts> nodes;
  Texts node_digests;
  std::optional<Texts> node_names;
  // To preempt, by node: the same.
  std::optional<Map<RequestVictims>> victims;
  std::optional<Map<RequestMetaVictims>> meta_victims;
  // To bind.
  Text pod_name;
  Text pod_namespace;
  Text pod_uid;
  Text node;
};

template <>
struct Fields<ExtenderRequest> {
  static constexpr std::tuple kList = {IfAny("Pod", &ExtenderRequest::pod),
                                       IfAny("podDigest", &ExtenderRequest::pod_digest),
                                       IfAny("Nodes", &ExtenderRequest::nodes),
                                       IfAny("nodeDigests", &ExtenderRequest::node_digests),
                                       IfAny("NodeNames", &ExtenderRequest::node_names),
                                       IfAny("NodeNameToVictims", &ExtenderRequest::victims),
                                       IfAny("NodeNameToMetaVictims", &ExtenderRequest::meta_victims),
                                       IfAny("PodName", &ExtenderRequest::pod_name),
                                       IfAny("PodNamespace", &ExtenderRequest::pod_namespace),
                                       IfAny("PodUID", &ExtenderRequest::pod_uid),
                                       IfAny("Node", &ExtenderRequest::node)};
};

// An extender was called; the time is that of the answer.
struct ExtenderCall {
  static constexpr absl::string_view kKind = "extender";
  Text extender;
  // filter, prioritize, preempt or bind.
  Text verb;
  Text pod;
  // When the call was made, where it took time.
  std::optional<absl::Duration> from;
  std::optional<ExtenderRequest> request;
  // Of HTTP; absent: no answer came.
  std::optional<int64_t> status;
  // The answer's text.
  std::optional<Text> body;
  // What the scheduler makes of a call that failed.
  Text error;
};

template <>
struct Fields<ExtenderCall> {
  static constexpr std::tuple kList = {Required("extender", &ExtenderCall::extender),
                                       Required("verb", &ExtenderCall::verb),
                                       Required("pod", &ExtenderCall::pod),
                                       IfAny("from", &ExtenderCall::from),
                                       IfAny("request", &ExtenderCall::request),
                                       IfAny("status", &ExtenderCall::status),
                                       IfAny("body", &ExtenderCall::body),
                                       IfAny("error", &ExtenderCall::error)};
};

// ---- The queue ----

// What the plugins of a profile wait for.
struct Registrations {
  static constexpr absl::string_view kKind = "registrations";
  Text profile;
  // By plugin; the events are sorted.
  Map<Texts> events;
};

template <>
struct Fields<Registrations> {
  static constexpr std::tuple kList = {Always("profile", &Registrations::profile),
                                       Always("events", &Registrations::events)};
};

// What a plugin that had rejected the pod said of an event.
struct Hint {
  static constexpr absl::string_view kQueue = "Queue";
  static constexpr absl::string_view kSkip = "Skip";
  // It registered for the event without a hint.
  static constexpr absl::string_view kNone = "none";

  Text plugin;
  Text answer;
};

template <>
struct Fields<Hint> {
  static constexpr std::tuple kList = {Always("plugin", &Hint::plugin), Always("answer", &Hint::answer)};
};

// The places of a pod. The queue's record knows the first three, errorBackoff as backoff.
inline constexpr absl::string_view kActive = "active";
inline constexpr absl::string_view kBackoff = "backoff";
inline constexpr absl::string_view kUnschedulable = "unschedulable";
inline constexpr absl::string_view kErrorBackoff = "errorBackoff";
inline constexpr absl::string_view kInFlight = "inFlight";
// Of the pods of groups.
inline constexpr absl::string_view kIncomplete = "incomplete";
inline constexpr absl::string_view kPending = "pending";
inline constexpr absl::string_view kOutside = "";

// A pod goes from one place to another, or is looked at in vain: then both are the same.
struct Move {
  static constexpr absl::string_view kKind = "move";
  // The event of a pod that is taken from the active queue.
  static constexpr absl::string_view kPop = "Pop";

  Text pod;
  Text from;
  Text to;
  // As Kubernetes' metrics name it.
  Text event;
  // The event that came while the pod was being tried.
  Text in_flight_event;
  // What the event is about.
  Text object;
  std::vector<Hint> hints;
  Text gated_by;
  std::optional<absl::Duration> backoff_expiration;
};

template <>
struct Fields<Move> {
  static constexpr std::tuple kList = {Required("pod", &Move::pod),
                                       Always("from", &Move::from),
                                       Always("to", &Move::to),
                                       Always("event", &Move::event),
                                       IfAny("inFlightEvent", &Move::in_flight_event),
                                       IfAny("object", &Move::object),
                                       IfAny("hints", &Move::hints),
                                       IfAny("gatedBy", &Move::gated_by),
                                       IfAny("backoffExpiration", &Move::backoff_expiration)};
};

struct QueuedPod {
  int64_t attempts = 0;
  Texts unschedulable_plugins;
  Texts pending_plugins;
  Text gated_by;
};

template <>
struct Fields<QueuedPod> {
  static constexpr std::tuple kList = {Always("attempts", &QueuedPod::attempts),
                                       IfAny("unschedulablePlugins", &QueuedPod::unschedulable_plugins),
                                       IfAny("pendingPlugins", &QueuedPod::pending_plugins),
                                       IfAny("gatedBy", &QueuedPod::gated_by)};
};

// A group that stands in the queue.
struct QueuedGroup {
  int64_t attempts = 0;
  Text gated_by;
};

template <>
struct Fields<QueuedGroup> {
  static constexpr std::tuple kList = {Always("attempts", &QueuedGroup::attempts),
                                       IfAny("gatedBy", &QueuedGroup::gated_by)};
};

// The state of the queue. Lists of pods are sorted.
struct Queue {
  static constexpr absl::string_view kKind = "queue";
  Texts active;
  Texts backoff;
  Texts unschedulable;
  // Pods of groups whose object was not seen, and those that wait for the end of their group's cycle.
  Texts incomplete;
  Texts pending;
  // By pod.
  Map<QueuedPod> info;
  // By group.
  Map<QueuedGroup> groups;
};

template <>
struct Fields<Queue> {
  static constexpr std::tuple kList = {Required(kActive, &Queue::active),
                                       Required(kBackoff, &Queue::backoff),
                                       Required(kUnschedulable, &Queue::unschedulable),
                                       IfAny(kIncomplete, &Queue::incomplete),
                                       IfAny(kPending, &Queue::pending),
                                       Always("info", &Queue::info),
                                       IfAny("groups", &Queue::groups)};
};

// ---- The end ----

// What became of a pod.
struct FinalPod {
  // "": not bound.
  Text node;
  Text phase;
  Text nominated;
  // The condition PodScheduled, where it is False.
  Text reason;
  Text message;
  bool deleted = false;
  // `spec.schedulerName` of a pod without a node, where it names none of the run's profiles.
  Text scheduler;
};

template <>
struct Fields<FinalPod> {
  static constexpr std::tuple kList = {
      Always("node", &FinalPod::node),          Always("phase", &FinalPod::phase),
      IfAny("nominated", &FinalPod::nominated), IfAny("reason", &FinalPod::reason),
      IfAny("message", &FinalPod::message),     IfAny("deleted", &FinalPod::deleted),
      IfAny("scheduler", &FinalPod::scheduler)};
};

struct Final {
  static constexpr absl::string_view kKind = "final";
  // By pod.
  Map<FinalPod> pods;
  // Claims of devices, by name.
  Map<ClaimView> claims;
};

template <>
struct Fields<Final> {
  static constexpr std::tuple kList = {Required("pods", &Final::pods), IfAny("claims", &Final::claims)};
};

// ---- Any record ----

// A kind that is not known here, of a later version.
struct Other {};

using Body =
    std::variant<Attempt, Bind, BindFailure, PodStatus, Event, Delete, Update, Step, Gone, Claim, ClaimBound,
                 ApiError, ConfigError, Inexact, PluginNote, ExtenderCall, Registrations, Move, Queue, Final,
                 Run, GroupCycle, Placements, PlacementScores, GroupPostFilter, GroupFailure, Other>;

// One line of a trace.
struct Record {
  // Since virtual zero.
  absl::Duration time;
  // R::kKind of the body's type.
  Text kind;
  Body body;
  // Of the decisions, up to this one, 16 hexadecimal digits; "" in recorded traces.
  Text digest;

  // nullptr: the record is of another kind.
  template <typename R>
  const R* As() const {
    return std::get_if<R>(&body);
  }
};

// The body's own fields stand before the digest.
template <>
struct Fields<Record> {
  static constexpr std::tuple kList = {Required("t", &Record::time), Required("ev", &Record::kind),
                                       IfAny("digest", &Record::digest)};
};

}  // namespace schedsim::sim::record

#endif  // SCHEDSIM_SIM_RECORD_RECORDS_H_
