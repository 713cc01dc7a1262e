// Which times of the input say when virtual zero is: those that servers wrote.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

constexpr char kNode[] =
    "{apiVersion: v1, kind: Node, metadata: {name: n1, creationTimestamp: '2026-02-01T12:00:00Z'}, status: "
    "{allocatable: {cpu: 4, memory: 8Gi, pods: 10}}}\n---\n";

std::string ZeroWith(const std::string& object) {
  const TestFolder folder;
  const ProgramResult result =
      RunProgram({"run", "--until", "0s", "-f", folder.Write("cluster.yaml", absl::StrCat(kNode, object))});
  const size_t at = result.out.find(" from ");
  EXPECT_NE(at, std::string::npos) << object << result.out << result.err;
  return at == std::string::npos ? "" : result.out.substr(at + 6, 20);
}

TEST(InputTimeTest, IsWhatServersWrote) {
  const std::vector<std::string> objects = {
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, creationTimestamp: '2027-01-01T00:00:00Z'}}",
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, managedFields: [{manager: m, time: "
      "'2027-01-01T00:00:00Z'}]}}",
      "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a, creationTimestamp: "
      "'2027-01-01T00:00:00Z'}}",
      "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: n1, containers: [{name: c, image: "
      "i}]}, "
      "status: {phase: Running, containerStatuses: [{name: c, state: {running: {startedAt: "
      "'2027-01-01T00:00:00Z'}}}]}}",
      "{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {schedule: '0 3 * * *', jobTemplate: "
      "{spec: "
      "{template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}, status: "
      "{lastScheduleTime: '2027-01-01T00:00:00Z'}}",
      "{apiVersion: v1, kind: Node, metadata: {name: a}, status: {conditions: [{type: Ready, status: 'True', "
      "lastHeartbeatTime: '2027-01-01T00:00:00Z'}]}}",
      "{apiVersion: v1, kind: Node, metadata: {name: a}, spec: {taints: [{key: k, effect: NoSchedule, "
      "timeAdded: "
      "'2027-01-01T00:00:00Z'}]}}",
      "{apiVersion: v1, kind: Event, metadata: {name: a, namespace: default}, involvedObject: {}, "
      "lastTimestamp: "
      "'2027-01-01T00:00:00Z'}",
      "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: a, namespace: default}, spec: "
      "{renewTime: "
      "'2027-01-01T00:00:00.000000Z'}}",
  };
  for (const std::string& object : objects) EXPECT_EQ(ZeroWith(object), "2027-01-01T00:00:00Z") << object;
}

TEST(InputTimeTest, IsNoTextThatPeopleOrOtherProgramsWrote) {
  const std::vector<std::string> objects = {
      "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i, args: "
      "['2027-01-01T00:00:00Z'], env: [{name: LICENSE_UNTIL, value: '2027-01-01T00:00:00Z'}]}]}}",
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {until: '2027-01-01T00:00:00Z'}}, "
      "data: "
      "{startTime: '2027-01-01T00:00:00Z'}}",
      "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a, namespace: default}, status: "
      "{notAfter: "
      "'2027-01-01T00:00:00Z', conditions: [{type: Ready, lastTransitionTime: '2027-01-01T00:00:00Z'}]}}",
      "{apiVersion: v1, kind: Pod, metadata: {name: a, deletionTimestamp: '2027-01-01T00:00:00Z', "
      "deletionGracePeriodSeconds: 30}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}",
      "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}, status: "
      "{message: "
      "'2027-01-01T00:00:00Z'}}",
  };
  for (const std::string& object : objects) EXPECT_EQ(ZeroWith(object), "2026-02-01T12:00:00Z") << object;
}

// A Job that has a day of time, of which a minute is over, keeps its node.
TEST(InputTimeTest, ADateInAContainerEndsNoJob) {
  const TestFolder folder;
  const std::string cluster = folder.Write(
      "cluster.yaml",
      absl::StrCat(
          kNode,
          "{apiVersion: batch/v1, kind: Job, metadata: {name: etl, namespace: default, uid: job}, spec: "
          "{activeDeadlineSeconds: 86400, selector: {matchLabels: {batch.kubernetes.io/controller-uid: "
          "job}}, "
          "template: {metadata: {labels: {batch.kubernetes.io/controller-uid: job}}, spec: {restartPolicy: "
          "Never, "
          "containers: [{name: c, image: i}]}}}, status: {active: 1, startTime: "
          "'2026-02-01T11:59:00Z'}}\n---\n"
          "{apiVersion: v1, kind: Pod, metadata: {name: etl-1, namespace: default, uid: pod, labels: "
          "{batch.kubernetes.io/controller-uid: job}, ownerReferences: [{apiVersion: batch/v1, kind: Job, "
          "name: etl, "
          "uid: job, controller: true}]}, spec: {nodeName: n1, restartPolicy: Never, containers: [{name: c, "
          "image: "
          "i, env: [{name: UNTIL, value: '2030-01-01T00:00:00Z'}], resources: {requests: {cpu: 4}}}]}, "
          "status: "
          "{phase: Running, startTime: '2026-02-01T12:00:00Z'}}\n"));
  const std::string pod = folder.Write(
      "pod.yaml",
      "{apiVersion: v1, kind: Pod, metadata: {name: new}, spec: {containers: [{name: c, image: i, resources: "
      "{requests: {cpu: 1}}}]}}");
  const ProgramResult result = RunProgram({"what-if", "fit", pod, "-f", cluster});
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_TRUE(absl::StartsWith(result.out, "It does not fit: ")) << result.out << result.err;
}

}  // namespace
}  // namespace schedsim
