// A node with room for one pod, and five pods: `low` is on the node, `high` may take its place, `wide` fits
// nowhere, `gated` waits, and another `high` in the namespace `other`, too.
#ifndef SCHEDSIM_TESTS_TOOLS_FIVE_PODS_H_
#define SCHEDSIM_TESTS_TOOLS_FIVE_PODS_H_

namespace schedsim {

inline constexpr char kFivePods[] = R"(
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
---
apiVersion: v1
kind: Pod
metadata: {name: low, namespace: default, uid: low}
spec:
  nodeName: node-1
  containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: high, namespace: default}
spec:
  priority: 10
  containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: wide, namespace: default}
spec:
  containers: [{name: c, image: i, resources: {requests: {cpu: 9}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: gated, namespace: default}
spec:
  schedulingGates: [{name: wait}]
  containers: [{name: c, image: i}]
---
apiVersion: v1
kind: Pod
metadata: {name: high, namespace: other}
spec:
  schedulingGates: [{name: wait}]
  containers: [{name: c, image: i}]
)";

}  // namespace schedsim

#endif  // SCHEDSIM_TESTS_TOOLS_FIVE_PODS_H_
