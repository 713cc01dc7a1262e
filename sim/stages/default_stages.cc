#include "sim/stages/default_stages.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

// What nodes are given that come without a status: they report themselves ready.
constexpr char kNodeFast[] = R"(
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: node-initialize}
spec:
  resourceRef: {apiGroup: v1, kind: Node}
  selector:
    matchExpressions:
    - {key: '.status.conditions[] | select(.type == "Ready") | .status', operator: NotIn, values: ["True"]}
  next:
    statusTemplate: |
      {{ $now := Now }}
      {{ $since := or .metadata.creationTimestamp $now }}
      {{ $status := or .status dict }}
      {{ $types := list }}
      {{ range $status.addresses }}{{ $types = append $types .type }}{{ end }}
      {{ $info := or $status.nodeInfo dict }}
      {{ $version := printf "kwok-%s" Version }}
      conditions:
      {{ range NodeConditions }}
      - type: {{ .type }}
        status: {{ .status | Quote }}
        reason: {{ .reason }}
        message: {{ .message | Quote }}
        lastHeartbeatTime: {{ $now | Quote }}
        lastTransitionTime: {{ $since | Quote }}
      {{ end }}
      {{ if not (and (has "InternalIP" $types) (has "Hostname" $types)) }}
      addresses:
      {{ if not (has "InternalIP" $types) }}{{ with NodeIP }}
      - type: InternalIP
        address: {{ . | Quote }}
      {{ end }}{{ end }}
      {{ if not (has "Hostname" $types) }}{{ with NodeName }}
      - type: Hostname
        address: {{ . | Quote }}
      {{ end }}{{ end }}
      {{ end }}
      {{ with NodePort }}
      daemonEndpoints: {kubeletEndpoint: {Port: {{ . }}}}
      {{ end }}
      {{ $plenty := dict "cpu" "1k" "memory" "1Ti" "pods" "1M" }}
      allocatable: {{ or $status.allocatable $plenty | toJson }}
      capacity: {{ or $status.capacity $plenty | toJson }}
      nodeInfo:
        architecture: {{ or $info.architecture "amd64" | Quote }}
        operatingSystem: {{ or $info.operatingSystem "linux" | Quote }}
        containerRuntimeVersion: {{ or $info.containerRuntimeVersion $version | Quote }}
        kernelVersion: {{ or $info.kernelVersion $version | Quote }}
        kubeProxyVersion: {{ or $info.kubeProxyVersion $version | Quote }}
        kubeletVersion: {{ or $info.kubeletVersion $version | Quote }}
        bootID: {{ or $info.bootID "" | Quote }}
        machineID: {{ or $info.machineID "" | Quote }}
        osImage: {{ or $info.osImage "" | Quote }}
        systemUUID: {{ or $info.systemUUID "" | Quote }}
      phase: Running
)";

// Pods run as soon as they are bound, those of Jobs are done at once, and deleted ones are gone.
constexpr char kPodFast[] = R"(
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-ready}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.phase, operator: In, values: [Pending]}
    - {key: '.status.conditions[] | select(.type == "Ready") | .status', operator: NotIn, values: ["True"]}
  next:
    statusTemplate: |
      {{ $now := Now }}
      {{ $running := printf "{running: {startedAt: %q}}" $now }}
      {{ $done := printf "{terminated: {exitCode: 0, reason: Completed, startedAt: %q, finishedAt: %q}}" $now $now }}
      {{ $types := list "Initialized" "Ready" "ContainersReady" }}
      {{ range .spec.readinessGates }}{{ $types = append $types .conditionType }}{{ end }}
      conditions:
      {{ range $types }}
      - {type: {{ . | Quote }}, status: "True", lastTransitionTime: {{ $now | Quote }}}
      {{ end }}
      containerStatuses:
      {{ range .spec.containers }}
      - {name: {{ .name | Quote }}, image: {{ .image | Quote }}, ready: true, restartCount: 0, state: {{ $running }}}
      {{ end }}
      initContainerStatuses:
      {{ range .spec.initContainers }}
      {{ $goes := eq .restartPolicy "Always" }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: true
        restartCount: 0
        {{ if $goes }}
        started: true
        {{ end }}
        state: {{ ternary $running $done $goes }}
      {{ end }}
      {{ with NodeIPsWith .spec.nodeName }}
      hostIP: {{ index . 0 | Quote }}
      hostIPs:
      {{ range . }}
      - {ip: {{ . | Quote }}}
      {{ end }}
      {{ end }}
      {{ $meta := .metadata }}
      {{ with PodIPsWith .spec.nodeName (or .spec.hostNetwork false) (or $meta.uid "") (or $meta.name "") (or $meta.namespace "") }}
      podIP: {{ index . 0 | Quote }}
      podIPs:
      {{ range . }}
      - {ip: {{ . | Quote }}}
      {{ end }}
      {{ end }}
      phase: Running
      startTime: {{ $now | Quote }}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-complete}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.phase, operator: In, values: [Running]}
    - {key: '.metadata.ownerReferences[].kind', operator: In, values: [Job]}
  next:
    statusTemplate: |
      {{ $now := Now | Quote }}
      containerStatuses:
      {{ range .spec.containers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: false
        restartCount: 0
        started: false
        state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now }}, finishedAt: {{ $now }}}}
      {{ end }}
      phase: Succeeded
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-delete}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: Exists}
  next: {delete: true}
)";

// The same in small steps that take their time. `@@` stands for the name of the stage.
constexpr char kGeneralHead[] = R"(
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: @@}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  weight: 1
  weightFrom: {expressionFrom: '.metadata.annotations["@@.stage.kwok.x-k8s.io/weight"]'}
  delay:
    durationMilliseconds: 1000
    durationFrom: {expressionFrom: '.metadata.annotations["@@.stage.kwok.x-k8s.io/delay"]'}
)";
constexpr char kGeneralJitter[] = R"(    jitterDurationMilliseconds: 5000
    jitterDurationFrom: {expressionFrom: '.metadata.annotations["@@.stage.kwok.x-k8s.io/jitter-delay"]'}
)";

constexpr char kCreate[] = R"(  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.podIP, operator: DoesNotExist}
  next:
    event: {type: Normal, reason: Created, message: Created container}
    statusTemplate: |
      {{ $now := Now | Quote }}
      {{ $uninitialized := list }}
      {{ range .spec.initContainers }}{{ $uninitialized = append $uninitialized .name }}{{ end }}
      {{ $unready := list }}
      {{ range .spec.containers }}{{ $unready = append $unready .name }}{{ end }}
      {{ $reason := ternary "PodInitializing" "ContainerCreating" (not (empty $uninitialized)) }}
      conditions:
      - type: Initialized
        lastProbeTime: null
        lastTransitionTime: {{ $now }}
        {{ if $uninitialized }}
        status: "False"
        reason: ContainersNotInitialized
        message: {{ printf "containers with incomplete status: [ %s ]" (join "  " $uninitialized) | Quote }}
        {{ else }}
        status: "True"
        {{ end }}
      {{ range list "Ready" "ContainersReady" }}
      - type: {{ . }}
        lastProbeTime: null
        lastTransitionTime: {{ $now }}
        status: "False"
        reason: ContainersNotReady
        message: {{ printf "containers with unready status: [ %s ]" (join "  " $unready) | Quote }}
      {{ end }}
      {{ range .spec.readinessGates }}
      - {type: {{ .conditionType | Quote }}, status: "True", lastTransitionTime: {{ $now }}}
      {{ end }}
      {{ if $uninitialized }}
      initContainerStatuses:
      {{ range .spec.initContainers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: false
        restartCount: 0
        started: false
        state: {waiting: {reason: PodInitializing}}
      {{ end }}
      {{ end }}
      containerStatuses:
      {{ range .spec.containers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: false
        restartCount: 0
        started: false
        state: {waiting: {reason: {{ $reason }}}}
      {{ end }}
      {{ $meta := .metadata }}
      hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
      podIP: {{ PodIPWith .spec.nodeName (or .spec.hostNetwork false) (or $meta.uid "") (or $meta.name "") (or $meta.namespace "") | Quote }}
      phase: Pending
)";

constexpr char kInitRunning[] = R"(  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.phase, operator: In, values: [Pending]}
    - {key: '.status.conditions[] | select(.type == "Initialized") | .status', operator: NotIn, values: ["True"]}
    - {key: '.status.initContainerStatuses[].state.waiting.reason', operator: Exists}
  next:
    statusTemplate: |
      {{ $now := Now | Quote }}
      initContainerStatuses:
      {{ range .spec.initContainers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: true
        restartCount: 0
        started: true
        state: {running: {startedAt: {{ $now }}}}
      {{ end }}
)";

constexpr char kInitCompleted[] = R"(  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.phase, operator: In, values: [Pending]}
    - {key: '.status.initContainerStatuses[].state.running.startedAt', operator: Exists}
  next:
    statusTemplate: |
      {{ $now := Now | Quote }}
      conditions:
      - {type: Initialized, status: "True", reason: "", lastProbeTime: null, lastTransitionTime: {{ $now }}}
      initContainerStatuses:
      {{ range .spec.initContainers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: true
        restartCount: 0
        started: false
        state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now }}, finishedAt: {{ $now }}}}
      {{ end }}
      containerStatuses:
      {{ range .spec.containers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: false
        restartCount: 0
        started: false
        state: {waiting: {reason: ContainerCreating}}
      {{ end }}
)";

constexpr char kReady[] = R"(  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.phase, operator: In, values: [Pending]}
    - {key: '.status.conditions[] | select(.type == "Initialized") | .status', operator: In, values: ["True"]}
    - {key: '.status.containerStatuses[].state.running.startedAt', operator: DoesNotExist}
  next:
    statusTemplate: |
      {{ $now := Now | Quote }}
      conditions:
      {{ range list "Ready" "ContainersReady" }}
      - {type: {{ . }}, status: "True", reason: "", message: "", lastProbeTime: null, lastTransitionTime: {{ $now }}}
      {{ end }}
      containerStatuses:
      {{ range .spec.containers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: true
        restartCount: 0
        started: true
        state: {running: {startedAt: {{ $now }}}}
      {{ end }}
      phase: Running
      startTime: {{ $now }}
)";

constexpr char kComplete[] = R"(  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.phase, operator: In, values: [Running]}
    - {key: '.status.conditions[] | select(.type == "Ready") | .status', operator: In, values: ["True"]}
    - {key: '.metadata.ownerReferences[].kind', operator: In, values: [Job]}
  next:
    statusTemplate: |
      {{ $now := Now | Quote }}
      containerStatuses:
      {{ range .spec.containers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: true
        restartCount: 0
        started: false
        state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now }}, finishedAt: {{ $now }}}}
      {{ end }}
      phase: Succeeded
)";

// Between one second and the end of the time that the pod has.
constexpr char kDelete[] = R"(    jitterDurationFrom: {expressionFrom: .metadata.deletionTimestamp}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: Exists}
    - {key: .metadata.finalizers, operator: DoesNotExist}
  next: {delete: true}
)";

struct GeneralStage {
  const char* name;
  const char* rest;
  bool has_jitter;
};

const GeneralStage kPodGeneral[] = {
    {"pod-create", kCreate, true},
    {"pod-init-container-running", kInitRunning, true},
    {"pod-init-container-completed", kInitCompleted, true},
    {"pod-ready", kReady, true},
    {"pod-complete", kComplete, true},
    {"pod-delete", kDelete, false},
};

std::string PodGeneral() {
  std::string text;
  for (const GeneralStage& stage : kPodGeneral) {
    const std::string whole = absl::StrCat(kGeneralHead, stage.has_jitter ? kGeneralJitter : "", stage.rest);
    absl::StrAppend(&text, absl::StrReplaceAll(whole, {{"@@", stage.name}}));
  }
  return text;
}

}  // namespace

std::vector<std::string> DefaultStageSetNames() {
  return {"fast", "general", "node-fast", "pod-fast", "pod-general"};
}

absl::Status AddDefaultStages(absl::string_view set, StageFile& read) {
  const std::vector<std::string> names = DefaultStageSetNames();
  if (std::find(names.begin(), names.end(), set) == names.end()) {
    return absl::NotFoundError(absl::StrCat("no set of stages ", set));
  }
  const std::string file = absl::StrCat("stages of ", set);
  if (set == "node-fast" || set == "fast" || set == "general")
    RETURN_IF_ERROR(ReadStagesOfText(kNodeFast, file, read));
  if (set == "pod-fast" || set == "fast") RETURN_IF_ERROR(ReadStagesOfText(kPodFast, file, read));
  if (set == "pod-general" || set == "general") RETURN_IF_ERROR(ReadStagesOfText(PodGeneral(), file, read));
  return absl::OkStatus();
}

absl::Status ReadStagesOrSet(absl::string_view name_or_path, StageFile& read) {
  const std::vector<std::string> names = DefaultStageSetNames();
  const bool is_set = std::find(names.begin(), names.end(), name_or_path) != names.end();
  return is_set ? AddDefaultStages(name_or_path, read) : ReadStages(name_or_path, read);
}

void AppendStageNotices(const StageFile& read, std::vector<std::string>& notices) {
  for (const std::string& skipped : read.skipped) {
    notices.push_back(absl::StrCat("note: ", skipped, " is no Stage, and is left out"));
  }
  if (read.stages.empty() && read.usages.empty())
    notices.emplace_back("warning: the files of stages have none");
}

}  // namespace schedsim::sim
