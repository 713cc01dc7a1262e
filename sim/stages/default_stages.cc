#include "sim/stages/default_stages.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

// Lines that begin with a word in capitals stand for several, see Expanded.

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
      CONDITIONS
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

// Nodes that are ready say so from time to time. `@delay@` and `@jitter@` are in milliseconds.
constexpr char kHeartbeat[] = R"(
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: @@}
spec:
  resourceRef: {apiGroup: v1, kind: Node}
  selector:
    matchExpressions:
    - {key: .status.phase, operator: In, values: [Running]}
    - {key: '.status.conditions[] | select(.type == "Ready") | .status', operator: In, values: ["True"]}
  delay: {durationMilliseconds: @delay@, jitterDurationMilliseconds: @jitter@}
  next:
    statusTemplate: |
      {{ $now := Now }}
      {{ $since := or .metadata.creationTimestamp $now }}
      CONDITIONS
)";
constexpr char kHeartbeatAtOnce[] = R"(  immediateNextStage: true
)";
// Between the renewals of a lease they say where they are, too.
constexpr char kHeartbeatWithLease[] = R"(      {{ $own := list }}
      {{ with NodeIP }}{{ $own = append $own (dict "type" "InternalIP" "address" .) }}{{ end }}
      {{ with NodeName }}{{ $own = append $own (dict "type" "Hostname" "address" .) }}{{ end }}
      addresses: {{ or .status.addresses $own | toJson }}
      {{ with NodePort }}
      daemonEndpoints: {kubeletEndpoint: {Port: {{ . }}}}
      {{ end }}
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
      STATUSES containers true - {{ $running }}
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
      STATUSES containers false false {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now }}, finishedAt: {{ $now }}}}
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
constexpr char kHead[] = R"(
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: @@}
spec:
  resourceRef: {apiGroup: v1, kind: @kind@}
  weight: @weight@
  weightFrom: {expressionFrom: '.metadata.annotations["@@.stage.kwok.x-k8s.io/weight"]'}
  delay:
    durationMilliseconds: 1000
    durationFrom: {expressionFrom: '.metadata.annotations["@@.stage.kwok.x-k8s.io/delay"]'}
)";
constexpr char kJitter[] = R"(    jitterDurationMilliseconds: @jitter@
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
      STATUSES initContainers false false {waiting: {reason: PodInitializing}}
      {{ end }}
      STATUSES containers false false {waiting: {reason: {{ $reason }}}}
      ADDRESSES
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
      STATUSES initContainers true true {running: {startedAt: {{ $now }}}}
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
      STATUSES initContainers true false {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now }}, finishedAt: {{ $now }}}}
      STATUSES containers false false {waiting: {reason: ContainerCreating}}
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
      STATUSES containers true true {running: {startedAt: {{ $now }}}}
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
      STATUSES containers true false {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now }}, finishedAt: {{ $now }}}}
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

// Failures of what has the label NAME.stage.kwok.x-k8s.io=true. Annotations NAME.stage.kwok.x-k8s.io/... say
// how it fails.
constexpr char kNodeNotReady[] = R"(  selector:
    matchExpressions:
    - {key: '.metadata.labels["@@.stage.kwok.x-k8s.io"]', operator: In, values: ["true"]}
    - {key: .status.phase, operator: In, values: [Running]}
  next:
    statusTemplate: |
      {{ $now := Now | Quote }}
      {{ $since := or .metadata.creationTimestamp Now | Quote }}
      {{ $said := or .metadata.annotations dict }}
      {{ $type := get $said "@@.stage.kwok.x-k8s.io/type" }}
      {{ $reason := get $said "@@.stage.kwok.x-k8s.io/reason" | default "nodeFailed" }}
      {{ $message := get $said "@@.stage.kwok.x-k8s.io/message" | default "node failed" }}
      conditions:
      {{ range NodeConditions }}
      {{ $is_ready := eq .type "Ready" }}
      {{ $fails := or $is_ready (eq .type $type) }}
      - type: {{ .type }}
        status: {{ ternary (ternary "False" "True" $is_ready) .status $fails | Quote }}
        reason: {{ ternary $reason .reason $fails | Quote }}
        message: {{ ternary $message .message $fails | Quote }}
        lastHeartbeatTime: {{ $now }}
        lastTransitionTime: {{ $since }}
      {{ end }}
)";

// Of a pod: what its containers, or those of the annotation container-name, end with.
constexpr char kFailure[] = R"(
      {{ $said := or .metadata.annotations dict }}
      {{ $name := get $said "@@.stage.kwok.x-k8s.io/container-name" }}
      {{ $code := get $said "@@.stage.kwok.x-k8s.io/exit-code" | default 1 }}
      {{ $reason := get $said "@@.stage.kwok.x-k8s.io/reason" | default "@reason@" | Quote }}
      {{ $message := get $said "@@.stage.kwok.x-k8s.io/message" | default "@message@" | Quote }}
      {{ $times := printf "startedAt: %s, finishedAt: %s" $now $now }}
      {{ $failed := printf "{terminated: {exitCode: %v, reason: %s, message: %s, %s}}" $code $reason $message $times }}
)";

constexpr char kContainerFailed[] = R"(  selector:
    matchExpressions:
    - {key: '.metadata.labels["@@.stage.kwok.x-k8s.io"]', operator: In, values: ["true"]}
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.phase, operator: In, values: [Running]}
  next:
    statusTemplate: |
      {{ $now := Now | Quote }}
      FAILURE containerFailed container failed
      conditions:
      - {type: Initialized, status: "True", reason: "", lastProbeTime: null, lastTransitionTime: {{ $now }}}
      {{ range list "Ready" "ContainersReady" }}
      - {type: {{ . }}, status: "False", reason: "", lastTransitionTime: {{ $now }}}
      {{ end }}
      containerStatuses:
      {{ range .spec.containers }}
      {{ $fails := or (not $name) (eq .name $name) }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: {{ not $fails }}
        restartCount: 0
        {{ if $fails }}
        started: false
        state: {{ $failed }}
        {{ else }}
        state: {running: {startedAt: {{ $now }}}}
        {{ end }}
      {{ end }}
      ADDRESSES
      phase: Failed
      startTime: {{ $now }}
)";

constexpr char kInitContainerFailed[] = R"(  selector:
    matchExpressions:
    - {key: '.metadata.labels["@@.stage.kwok.x-k8s.io"]', operator: In, values: ["true"]}
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.phase, operator: In, values: [Pending]}
  next:
    statusTemplate: |
      {{ $now := Now | Quote }}
      FAILURE initContainerError initContainer reported errors
      conditions:
      - {type: Initialized, status: "False", reason: "", lastProbeTime: null, lastTransitionTime: {{ $now }}}
      {{ range list "Ready" "ContainersReady" }}
      - {type: {{ . }}, status: "False", reason: "", lastTransitionTime: {{ $now }}}
      {{ end }}
      initContainerStatuses:
      {{ range .spec.initContainers }}
      {{ $fails := or (not $name) (eq .name $name) }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: {{ not $fails }}
        restartCount: 0
        {{ if $fails }}
        started: false
        state: {{ $failed }}
        {{ else }}
        state: {terminated: {exitCode: 0, reason: Completed, {{ $times }}}}
        {{ end }}
      {{ end }}
      STATUSES containers false false {waiting: {reason: PodInitializing}}
      ADDRESSES
      phase: Failed
      startTime: {{ $now }}
)";

// What is our own: containers that end after a time of their pod's, and are started again, as the restart
// policy says and with the kubelet's back-off. All containers of a pod end together. Source of the back-off:
// kubernetes v1.37, pkg/kubelet/kubelet.go, MaxContainerBackOff, and client-go v0.37,
// util/flowcontrol/backoff.go.
constexpr char kPodLifetime[] = R"(
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-exit}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  weight: 1000000
  delay:
    durationFrom: {expressionFrom: '.metadata.annotations["pod-exit.stage.schedsim/delay"]'}
    jitterDurationFrom: {expressionFrom: '.metadata.annotations["pod-exit.stage.schedsim/jitter-delay"]'}
  selector:
    matchExpressions:
    - {key: '.metadata.annotations["pod-exit.stage.schedsim/delay"]', operator: Exists}
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.phase, operator: In, values: [Running]}
    - {key: '.status.containerStatuses[].state.running.startedAt', operator: Exists}
  next:
    statusTemplate: |
      {{ $now := Now | Quote }}
      {{ $said := .metadata.annotations }}
      {{ $restarts := 0 }}
      {{ range .status.containerStatuses }}{{ $restarts = max $restarts (int .restartCount) }}{{ end }}
      {{ $fails := lt $restarts (get $said "pod-exit.stage.schedsim/failures" | int64) }}
      {{ $code := ternary (get $said "pod-exit.stage.schedsim/exit-code" | default "1") "0" $fails }}
      {{ $reason := ternary "Error" "Completed" $fails }}
      {{ $policy := or .spec.restartPolicy "Always" }}
      {{ $goes := or (eq $policy "Always") (and $fails (eq $policy "OnFailure")) }}
      {{ $why := ternary "ContainersNotReady" (ternary "PodFailed" "PodCompleted" $fails) $goes }}
      conditions:
      {{ range list "Ready" "ContainersReady" }}
      - {type: {{ . }}, status: "False", reason: {{ $why }}, lastTransitionTime: {{ $now }}}
      {{ end }}
      containerStatuses:
      {{ range .status.containerStatuses }}
      {{ $since := printf "startedAt: %q, finishedAt: %s" .state.running.startedAt $now }}
      {{ $ended := printf "{terminated: {exitCode: %s, reason: %s, %s}}" $code $reason $since }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: false
        restartCount: {{ int .restartCount }}
        started: false
        {{ if $goes }}
        state: {waiting: {reason: CrashLoopBackOff}}
        lastState: {{ $ended }}
        {{ else }}
        state: {{ $ended }}
        {{ end }}
      {{ end }}
      phase: {{ if $goes }}Running{{ else if $fails }}Failed{{ else }}Succeeded{{ end }}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-restart}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  weight: 1000000
  delay:
    durationFrom:
      cel:
        expression: |
          self.status.containerStatuses[0].restartCount < 1 ? duration("0s")
          : self.status.containerStatuses[0].restartCount < 2 ? duration("10s")
          : self.status.containerStatuses[0].restartCount < 3 ? duration("20s")
          : self.status.containerStatuses[0].restartCount < 4 ? duration("40s")
          : self.status.containerStatuses[0].restartCount < 5 ? duration("80s")
          : self.status.containerStatuses[0].restartCount < 6 ? duration("160s")
          : duration("300s")
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.phase, operator: In, values: [Running]}
    - {key: '.status.containerStatuses[].state.waiting.reason', operator: In, values: [CrashLoopBackOff]}
  next:
    statusTemplate: |
      {{ $now := Now | Quote }}
      conditions:
      {{ range list "Ready" "ContainersReady" }}
      - {type: {{ . }}, status: "True", reason: "", lastTransitionTime: {{ $now }}}
      {{ end }}
      containerStatuses:
      {{ range .status.containerStatuses }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: true
        restartCount: {{ int .restartCount | add1 }}
        started: true
        state: {running: {startedAt: {{ $now }}}}
        lastState: {{ .lastState | toJson }}
      {{ end }}
)";

// A stage of kHead, kJitter unless `jitter` is empty, and the rest.
struct HeadedStage {
  const char* name;
  const char* kind;
  const char* weight;
  const char* jitter;
  const char* rest;
};

const HeadedStage kPodGeneral[] = {
    {"pod-create", "Pod", "1", "5000", kCreate},
    {"pod-init-container-running", "Pod", "1", "5000", kInitRunning},
    {"pod-init-container-completed", "Pod", "1", "5000", kInitCompleted},
    {"pod-ready", "Pod", "1", "5000", kReady},
    {"pod-complete", "Pod", "1", "5000", kComplete},
    {"pod-delete", "Pod", "1", "", kDelete},
};

// What a provisioner does for claims of the class kwok-volume, which the input has to have: a volume is made
// for each claim, and goes with it.
constexpr char kVolumeFast[] = R"(
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pvc-provision}
spec:
  resourceRef: {apiGroup: v1, kind: PersistentVolumeClaim}
  selector:
    matchExpressions:
    - cel:
        expression: >-
          self.spec.storageClassName == "kwok-volume" && !has(self.spec.volumeName) &&
          !has(self.metadata.deletionTimestamp) && self.status.phase != "Bound"
  steps:
  - apply:
      template: |
        {{ $meta := .metadata }}
        {{ $name := printf "pvc-%s" $meta.uid }}
        apiVersion: v1
        kind: PersistentVolume
        metadata:
          name: {{ $name }}
          annotations: {pv.kubernetes.io/provisioned-by: kwok.x-k8s.io/volume}
        spec:
          storageClassName: kwok-volume
          persistentVolumeReclaimPolicy: {{ or .spec.reclaimPolicy "Delete" }}
          volumeMode: {{ or .spec.volumeMode "Filesystem" }}
          accessModes: {{ toJson .spec.accessModes }}
          capacity: {{ toJson .spec.resources.requests }}
          hostPath: {type: DirectoryOrCreate, path: {{ printf "/tmp/kwok-local-path-provisioner/%s" $name | Quote }}}
          claimRef:
            apiVersion: {{ .apiVersion }}
            kind: {{ .kind }}
            {{ range $key := list "namespace" "name" "uid" "resourceVersion" }}
            {{ $key }}: {{ index $meta $key | Quote }}
            {{ end }}
  - patch:
      root: metadata
      template: |
        annotations:
          {{ range list "volume.kubernetes.io" "volume.beta.kubernetes.io" }}
          {{ . }}/storage-provisioner: kwok.x-k8s.io/volume
          {{ end }}
          {{ range list "bind-completed" "bound-by-controller" }}
          pv.kubernetes.io/{{ . }}: "yes"
          {{ end }}
  - patch:
      root: spec
      template: "volumeName: pvc-{{ .metadata.uid }}"
  - patch:
      subresource: status
      root: status
      template: |
        phase: Bound
        volumeName: pvc-{{ .metadata.uid }}
        accessModes: {{ toJson .spec.accessModes }}
        capacity: {{ toJson .spec.resources.requests }}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pv-bind}
spec:
  resourceRef: {apiGroup: v1, kind: PersistentVolume}
  selector:
    matchExpressions:
    - cel:
        expression: >-
          self.spec.storageClassName == "kwok-volume" &&
          has(self.spec.claimRef) && has(self.spec.claimRef.name) &&
          !has(self.metadata.deletionTimestamp) && !(self.status.phase in ["Bound", "Released", "Failed"])
  steps:
  - patch:
      subresource: status
      root: status
      template: "{lastPhaseTransitionTime: {{ Now | Quote }}, phase: Bound}"
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pvc-delete}
spec:
  resourceRef: {apiGroup: v1, kind: PersistentVolumeClaim}
  selector:
    matchExpressions:
    - cel:
        expression: >-
          self.spec.storageClassName == "kwok-volume" && has(self.spec.volumeName) &&
          has(self.metadata.deletionTimestamp)
  steps:
  - apply:
      subresource: status
      type: merge
      template: |
        {apiVersion: v1, kind: PersistentVolume, metadata: {name: {{ .spec.volumeName | Quote }}}, status: {phase: Released}}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pv-delete}
spec:
  resourceRef: {apiGroup: v1, kind: PersistentVolume}
  selector:
    matchExpressions:
    - cel:
        expression: >-
          self.spec.storageClassName == "kwok-volume" && self.status.phase == "Released" &&
          self.spec.persistentVolumeReclaimPolicy == "Delete" && !has(self.metadata.deletionTimestamp)
  steps:
  - delete: true
)";

const HeadedStage kNodeChaos[] = {
    {"node-not-ready", "Node", "10000", "1000", kNodeNotReady},
};

const HeadedStage kPodChaos[] = {
    {"pod-container-running-failed", "Pod", "10000", "1000", kContainerFailed},
    {"pod-init-container-running-failed", "Pod", "10000", "1000", kInitContainerFailed},
};

constexpr char kConditions[] = R"(      conditions:
      {{ range NodeConditions }}
      - type: {{ .type }}
        status: {{ .status | Quote }}
        reason: {{ .reason }}
        message: {{ .message | Quote }}
        lastHeartbeatTime: {{ $now | Quote }}
        lastTransitionTime: {{ $since | Quote }}
      {{ end }}
)";

constexpr char kAddresses[] = R"(      {{ $meta := .metadata }}
      hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
      podIP: {{ PodIPWith .spec.nodeName (or .spec.hostNetwork false) (or $meta.uid "") (or $meta.name "") (or $meta.namespace "") | Quote }}
)";

// `FIELD READY STARTED STATE`: the status of each container of spec.FIELD, in the field of the status that
// belongs to it. STARTED is `-` where it is not said.
std::string Statuses(absl::string_view line) {
  const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(' ', 3));
  return absl::StrCat("      ", absl::StripSuffix(parts[0], "s"), "Statuses:\n      {{ range .spec.",
                      parts[0],
                      " }}\n      - name: {{ .name | Quote }}\n        image: {{ .image | Quote }}\n",
                      "        ready: ", parts[1], "\n        restartCount: 0\n",
                      parts[2] == "-" ? "" : absl::StrCat("        started: ", parts[2], "\n"),
                      "        state: ", parts[3], "\n      {{ end }}\n");
}

// `REASON MESSAGE`: kFailure with these.
std::string Failure(absl::string_view line) {
  const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(' ', 1));
  return absl::StrReplaceAll(kFailure, {{"@reason@", parts[0]}, {"@message@", parts[1]}});
}

// The text with what its words in capitals stand for.
std::string Expanded(absl::string_view text) {
  std::string out;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "      STATUSES ")) {
      out += Statuses(line);
    } else if (absl::ConsumePrefix(&line, "      FAILURE ")) {
      out += Failure(line);
    } else if (line == "      CONDITIONS") {
      out += kConditions;
    } else if (line == "      ADDRESSES") {
      out += kAddresses;
    } else {
      absl::StrAppend(&out, line, "\n");
    }
  }
  return out;
}

std::string Headed(absl::Span<const HeadedStage> stages) {
  std::string text;
  for (const HeadedStage& stage : stages) {
    const std::string whole =
        Expanded(absl::StrCat(kHead, stage.jitter[0] == '\0' ? "" : kJitter, stage.rest));
    absl::StrAppend(&text, absl::StrReplaceAll(whole, {{"@@", stage.name},
                                                       {"@kind@", stage.kind},
                                                       {"@weight@", stage.weight},
                                                       {"@jitter@", stage.jitter}}));
  }
  return text;
}

std::string Heartbeat(const char* name, const char* delay, const char* jitter, const char* rest) {
  return absl::StrReplaceAll(Expanded(absl::StrCat(kHeartbeat, rest)),
                             {{"@@", name}, {"@delay@", delay}, {"@jitter@", jitter}});
}

std::string TextOf(absl::string_view set) {
  const bool is_fast = set == "fast";
  const bool is_general = set == "general";
  const bool is_chaos = set == "chaos";
  std::string text;
  if (set == "node-fast" || is_fast || is_general) text += Expanded(kNodeFast);
  if (set == "pod-fast" || is_fast) text += Expanded(absl::StrCat("---", kPodFast));
  if (set == "pod-general" || is_general) text += Headed(kPodGeneral);
  if (set == "node-chaos" || is_chaos) text += Headed(kNodeChaos);
  if (set == "pod-chaos" || is_chaos) text += Headed(kPodChaos);
  if (set == "pod-lifetime") text += kPodLifetime;
  if (set == "volume-fast") text += kVolumeFast;
  if (set == "node-heartbeat") text += Heartbeat("node-heartbeat", "20000", "25000", kHeartbeatAtOnce);
  if (set == "node-heartbeat-with-lease")
    text += Heartbeat("node-heartbeat-with-lease", "600000", "610000", kHeartbeatWithLease);
  return text;
}

}  // namespace

std::vector<std::string> DefaultStageSetNames() {
  return {"chaos",
          "fast",
          "general",
          "node-chaos",
          "node-fast",
          "node-heartbeat",
          "node-heartbeat-with-lease",
          "pod-chaos",
          "pod-fast",
          "pod-general",
          "pod-lifetime",
          "volume-fast"};
}

absl::Status AddDefaultStages(absl::string_view set, StageFile& read) {
  const std::vector<std::string> names = DefaultStageSetNames();
  if (std::find(names.begin(), names.end(), set) == names.end()) {
    return absl::NotFoundError(absl::StrCat("no set of stages ", set));
  }
  return ReadStagesOfText(TextOf(set), absl::StrCat("stages of ", set), read);
}

absl::Status ReadStagesOrSet(absl::string_view name_or_path, StageFile& read) {
  const std::vector<std::string> names = DefaultStageSetNames();
  const bool is_set = std::find(names.begin(), names.end(), name_or_path) != names.end();
  if (is_set) return AddDefaultStages(name_or_path, read);
  const absl::Status status = ReadStages(name_or_path, read);
  if (!absl::IsNotFound(status)) return status;
  return absl::NotFoundError(
      absl::StrCat(status.message(), ", or one of the sets ", absl::StrJoin(names, ", ")));
}

void AppendStageNotices(const StageFile& read, std::vector<std::string>& notices) {
  for (const std::string& skipped : read.skipped) {
    notices.push_back(absl::StrCat("note: ", skipped, " is no Stage, and is left out"));
  }
  if (read.stages.empty() && read.usages.empty() && read.metrics.empty())
    notices.emplace_back("warning: the files of stages have none");
}

}  // namespace schedsim::sim
