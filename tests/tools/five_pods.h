// Clusters with few pods: `low` is on the node, `high` may take its place, `wide` fits nowhere, `gated`
// waits.
#ifndef SCHEDSIM_TESTS_TOOLS_FIVE_PODS_H_
#define SCHEDSIM_TESTS_TOOLS_FIVE_PODS_H_

#include <string>

#include "absl/strings/str_cat.h"

namespace schedsim {

// For nodes with room for one of the first two, of which one is called node-1.
inline constexpr char kFourPods[] = R"(---
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
)";

// A node, these, and another `high` in the namespace `other`, too.
inline const std::string kFivePods = absl::StrCat(R"(
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
)",
                                                  kFourPods, R"(---
apiVersion: v1
kind: Pod
metadata: {name: high, namespace: other}
spec:
  schedulingGates: [{name: wait}]
  containers: [{name: c, image: i}]
)");

}  // namespace schedsim

#endif  // SCHEDSIM_TESTS_TOOLS_FIVE_PODS_H_
