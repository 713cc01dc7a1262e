// Recordings written by hand: what is read of them, what is refused, and what comes back of what was written.
#include "sim/formats/recording.h"

#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/api/node.h"
#include "core/api/pod.h"
#include "core/base/check.h"
#include "core/codec/objects/object_writer.h"
#include "gtest/gtest.h"
#include "sim/formats/recording_writer.h"
#include "sim/formats/relative_time.h"

namespace schedsim::sim {
namespace {

constexpr char kNode[] = R"yaml(apiVersion: v1
kind: Node
metadata:
  creationTimestamp: "$(time-offset-nanosecond -86400000000000)"
  name: n1
  uid: node-1
spec:
  taints:
  - {key: a, effect: NoSchedule}
status:
  conditions:
  - {type: Ready, status: "True"}
  - {type: DiskPressure, status: "False"}
)yaml";

std::string Patch(absl::string_view at, absl::string_view method, absl::string_view resource,
                  absl::string_view target, absl::string_view body) {
  return absl::StrCat("---\napiVersion: action.kwok.x-k8s.io/v1alpha1\ndurationNanosecond: ", at,
                      "\nkind: ResourcePatch\nmethod: ", method, "\nresource: {resource: ", resource,
                      ", version: v1}\ntarget: {", target, "}\n",
                      body.empty() ? "" : absl::StrCat("template: ", body, "\n"));
}

std::string PodPatch(absl::string_view at, absl::string_view method, absl::string_view body) {
  return Patch(at, method, "pods", "name: a, namespace: default", body);
}

constexpr char kPod[] =
    "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default, uid: pod-1, creationTimestamp: "
    "\"$(time-offset-nanosecond 1190000001)\"}, spec: {containers: [{name: c, image: x}]}}";

Recording Read(const std::string& text) {
  absl::StatusOr<Recording> recording = ParseRecording(text, "record.yaml", DefaultRecordingZero());
  EXPECT_TRUE(recording.ok()) << recording.status().message();
  return recording.ok() ? *std::move(recording) : Recording();
}

std::string ErrorOf(const std::string& text) {
  return std::string(ParseRecording(text, "record.yaml", DefaultRecordingZero()).status().message());
}

// What there is in the end, by kind and name.
std::map<std::string, std::string> EndOf(const Recording& recording) {
  std::map<std::string, std::string> end;
  const auto key = [](const api::Object& object) {
    return absl::StrCat(object.kind_name, " ", object.Key());
  };
  for (const api::ObjectPtr& object : recording.objects) end[key(*object)] = codec::ObjectJson(*object);
  for (const RecordedChange& change : recording.changes) {
    if (change.after != nullptr) {
      end[key(*change.after)] = codec::ObjectJson(*change.after);
    } else {
      end.erase(key(*change.before));
    }
  }
  return end;
}

const api::Pod& PodOf(const api::ObjectPtr& object) {
  CHECK(object != nullptr && object->kind == api::Kind::kPod);
  return static_cast<const api::Pod&>(*object);
}

TEST(RelativeTimeTest, GoesThereAndBackToTheNanosecond) {
  const absl::Time zero = absl::FromUnixSeconds(1'000'000'000) + absl::Nanoseconds(7);
  std::string text = "a: \"$(time-offset-nanosecond 1500000001)\" # $(time-offset-nanosecond -1)";
  ASSERT_TRUE(MakeTimesAbsolute("a.yaml", zero, text).ok());
  EXPECT_EQ(text, "a: \"2001-09-09T01:46:41.500000008Z\" # 2001-09-09T01:46:40.000000006Z");
  EXPECT_EQ(WithRelativeTimes(text, zero),
            "a: \"$(time-offset-nanosecond 1500000001)\" # $(time-offset-nanosecond -1)");
}

TEST(RelativeTimeTest, LeavesAloneWhatIsNoTime) {
  const absl::Time zero = absl::UnixEpoch();
  for (const char* const same :
       {"$(time-offset-nanosecond )", "$(time-offset-nanosecond 12", "$(time-offset-nanosecond --1)",
        "2026-13-01T00:00:00Z", "2026-01-01T00:00:00", "x2026-01-01 T00:00:00Z", "T", ""}) {
    std::string text = same;
    EXPECT_TRUE(MakeTimesAbsolute("a.yaml", zero, text).ok());
    EXPECT_EQ(text, same);
    EXPECT_EQ(WithRelativeTimes(same, zero), same);
  }
  EXPECT_EQ(WithRelativeTimes("1970-01-01T01:00:01.5+01:00", zero), "$(time-offset-nanosecond 1500000000)");
}

TEST(RelativeTimeTest, RefusesWhatIsBehindTheEndOfTime) {
  EXPECT_EQ(ErrorOf(absl::StrCat("kind: Node\nmetadata:\n  a: $(time-offset-nanosecond ", INT64_MAX, "0)\n")),
            absl::StrCat("record.yaml:3:6: offset ", INT64_MAX,
                         "0: expected one that leads into the years 1 to 9999"));
}

TEST(RecordingTest, TimesCountFromTheGivenZero) {
  const Recording recording = Read(absl::StrCat(kNode, PodPatch("1200000000", "create", kPod)));
  ASSERT_EQ(recording.objects.size(), 1);
  EXPECT_EQ(recording.objects[0]->metadata.creation_timestamp, recording.zero - absl::Hours(24));
  ASSERT_EQ(recording.changes.size(), 1);
  EXPECT_EQ(recording.changes[0].at, recording.zero + absl::Milliseconds(1200));
  EXPECT_EQ(recording.changes[0].after->metadata.creation_timestamp,
            recording.zero + absl::Nanoseconds(1'190'000'001));
  EXPECT_EQ(recording.changes[0].line, 15);
}

TEST(RecordingTest, TakesARecordingWithoutAnyPatch) {
  const Recording recording = Read(kNode);
  EXPECT_EQ(recording.objects.size(), 1);
  EXPECT_TRUE(recording.changes.empty());
  EXPECT_EQ(recording.end(), recording.zero);
}

TEST(RecordingTest, PatchesMergeConditionsAndTakeNullsAway) {
  const Recording recording = Read(absl::StrCat(
      kNode,
      Patch("1", "patch", "nodes", "name: n1",
            "{spec: {taints: null, unschedulable: true}, status: {$setElementOrder/conditions: [{type: "
            "DiskPressure}, {type: Ready}], conditions: [{type: Ready, status: Unknown, lastProbeTime: "
            "null}]}}"),
      Patch("2", "patch", "nodes", "name: n1", "{}"),
      Patch("3", "patch", "nodes", "name: n1", "{status: {conditions: [{$patch: delete, type: Ready}]}}")));
  ASSERT_EQ(recording.changes.size(), 3);
  const auto& node = static_cast<const api::Node&>(*recording.changes[0].after);
  EXPECT_TRUE(node.spec.taints.empty());
  EXPECT_TRUE(node.spec.unschedulable);
  EXPECT_TRUE(
      absl::StrContains(codec::ObjectJson(node),
                        R"([{"type":"DiskPressure","status":"False"},{"type":"Ready","status":"Unknown"}])"))
      << codec::ObjectJson(node);
  EXPECT_EQ(codec::ObjectJson(*recording.changes[1].after), codec::ObjectJson(node));
  EXPECT_TRUE(absl::StrContains(codec::ObjectJson(*recording.changes[2].after),
                                R"("conditions":[{"type":"DiskPressure","status":"False"}])"));
}

TEST(RecordingTest, ReadsTheLifeOfAPod) {
  const Recording recording = Read(
      absl::StrCat(kNode, PodPatch("1", "create", kPod), PodPatch("2", "patch", "{spec: {nodeName: n1}}"),
                   PodPatch("3", "delete", ""), PodPatch("4", "delete", ""), PodPatch("5", "create", kPod)));
  ASSERT_EQ(recording.changes.size(), 4);
  EXPECT_EQ(recording.changes[0].before, nullptr);
  EXPECT_EQ(PodOf(recording.changes[1].after).node_name, "n1");
  EXPECT_EQ(recording.changes[1].before, recording.changes[0].after);
  EXPECT_EQ(recording.changes[2].after, nullptr);
  EXPECT_EQ(recording.changes[3].before, nullptr);
  EXPECT_EQ(PodOf(recording.changes[3].after).node_name, "");
}

// A pod and a claim of one name: the recorder writes the difference between the two.
TEST(RecordingTest, RepairsPatchesBetweenTwoKinds) {
  const Recording recording = Read(absl::StrCat(
      kNode,
      Patch("1", "create", "persistentvolumeclaims", "name: a, namespace: default",
            "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, namespace: default, uid: "
            "claim-1, "
            "labels: {app: web}}, spec: {accessModes: [ReadWriteOnce]}, status: {phase: Pending}}"),
      PodPatch("2", "patch",
               "{kind: Pod, metadata: {uid: pod-1}, spec: {accessModes: null, containers: [{name: c, image: "
               "x}]}}"),
      PodPatch("3", "patch", "{spec: {nodeName: n1}}"),
      Patch("4", "patch", "persistentvolumeclaims", "name: a, namespace: default",
            "{kind: PersistentVolumeClaim, metadata: {uid: claim-1}, spec: {accessModes: [ReadWriteOnce], "
            "containers: null, nodeName: null, volumeName: v}}")));
  ASSERT_EQ(recording.changes.size(), 4);
  EXPECT_EQ(recording.repaired_count, 2);
  const api::Pod& pod = PodOf(recording.changes[1].after);
  EXPECT_EQ(recording.changes[1].before, nullptr);
  EXPECT_EQ(pod.metadata.uid, "pod-1");
  EXPECT_EQ(*pod.metadata.labels.Find("app"), "web");
  EXPECT_FALSE(absl::StrContains(codec::ObjectJson(pod), "accessModes"));
  EXPECT_EQ(PodOf(recording.changes[2].after).node_name, "n1");
  const api::Object& claim = *recording.changes[3].after;
  EXPECT_EQ(claim.kind, api::Kind::kPersistentVolumeClaim);
  EXPECT_EQ(claim.metadata.uid, "claim-1");
  EXPECT_EQ(recording.changes[3].before, recording.changes[0].after);
  EXPECT_FALSE(absl::StrContains(codec::ObjectJson(claim), "containers"));
}

// Nobody knows the other one: what is not taken away is all there is.
TEST(RecordingTest, TakesATemplateWithAKindForAWholeObject) {
  const Recording recording = Read(absl::StrCat(
      kNode,
      PodPatch("2", "patch",
               "{apiVersion: v1, kind: Pod, metadata: {uid: pod-1, labels: null}, spec: {accessModes: null, "
               "containers: [{name: c, image: x}]}}")));
  ASSERT_EQ(recording.changes.size(), 1);
  EXPECT_EQ(recording.changes[0].after->Key(), "default/a");
  EXPECT_FALSE(absl::StrContains(codec::ObjectJson(*recording.changes[0].after), "null"));
}

TEST(RecordingTest, PutsPatchesInTheOrderOfTheirTimes) {
  const Recording recording = Read(absl::StrCat(kNode, PodPatch("7", "patch", "{spec: {nodeName: n1}}"),
                                                PodPatch("5", "create", kPod), PodPatch("9", "delete", "")));
  ASSERT_EQ(recording.changes.size(), 3);
  EXPECT_EQ(recording.changes[0].before, nullptr);
  EXPECT_EQ(PodOf(recording.changes[1].after).node_name, "n1");
  EXPECT_TRUE(recording.warnings.empty());
}

bool IsOne(std::string text) {
  const std::string before = text;
  const bool is_recording = IsRecording(text, "record.yaml");
  EXPECT_EQ(text, before);
  return is_recording;
}

// What only speaks of kwok's patches is none.
TEST(RecordingTest, IsToldFromOtherFiles) {
  const std::string definition =
      "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "
      "resourcepatches.action.kwok.x-k8s.io}\n";
  const std::string scenario = "apiVersion: schedsim/v1\nkind: Scenario\nmetadata: {name: s}\n";
  const std::string patch = PodPatch("5", "create", kPod);
  EXPECT_TRUE(IsOne(kNode));
  EXPECT_TRUE(IsOne(patch));
  EXPECT_TRUE(IsOne(absl::StrCat(definition, PodPatch("9", "delete", ""))));
  EXPECT_FALSE(IsOne("apiVersion: v1\nkind: Node\nmetadata: {name: n}\n"));
  EXPECT_FALSE(IsOne(definition));
  EXPECT_FALSE(IsOne(absl::StrCat("# action.kwok.x-k8s.io\n", scenario)));
  EXPECT_FALSE(IsOne(absl::StrCat(scenario, patch)));
  EXPECT_FALSE(IsOne(absl::StrCat(scenario, "---\n", kNode)));
}

TEST(RecordingTest, HasNoObjectsOfSchedsim) {
  EXPECT_EQ(ErrorOf(absl::StrCat(kNode, "---\napiVersion: schedsim/v1\nkind: Scenario\n")),
            "record.yaml:15:13: apiVersion: expected a ResourcePatch or an object of a cluster, got "
            "\"schedsim/v1\"");
}

// The plural that follows from the kind is proxies.
TEST(RecordingTest, FindsObjectsOfAnotherPluralByName) {
  const auto patch = [](int at, const std::string& method, const std::string& rest) {
    return absl::StrCat("---\napiVersion: action.kwok.x-k8s.io/v1alpha1\ndurationNanosecond: ", at,
                        "\nkind: ResourcePatch\nmethod: ", method,
                        "\nresource: {group: acme.io, resource: proxys, version: v1}\ntarget: {name: a}\n",
                        rest);
  };
  const Recording recording = Read(absl::StrCat(
      "apiVersion: acme.io/v1\nkind: Proxy\nmetadata: {name: a, uid: a1}\n",
      patch(1, "patch", "template: {spec: {x: 1}}\n"), patch(2, "delete", ""),
      patch(3, "create", "template: {apiVersion: acme.io/v1, kind: Proxy, metadata: {name: a}}\n"),
      patch(4, "delete", ""), patch(5, "delete", "")));
  ASSERT_EQ(recording.changes.size(), 4);
  EXPECT_EQ(recording.changes[0].before, recording.objects[0]);
  EXPECT_EQ(recording.changes[1].before, recording.changes[0].after);
  EXPECT_EQ(recording.changes[1].after, nullptr);
  EXPECT_EQ(recording.changes[3].before, recording.changes[2].after);
  EXPECT_TRUE(EndOf(recording).empty());
}

TEST(RecordingTest, WarnsOfWhatItLeavesOut) {
  const Recording recording =
      Read(absl::StrCat(kNode, PodPatch("1", "patch", "{spec: {nodeName: n1}}"), "---\n", kNode));
  EXPECT_TRUE(recording.changes.empty());
  ASSERT_EQ(recording.warnings.size(), 2);
  EXPECT_EQ(
      recording.warnings[0],
      "record.yaml: 1 patches of objects that the recording does not have were left out; the first: line "
      "15, pods default/a");
  EXPECT_EQ(
      recording.warnings[1],
      "record.yaml: 1 objects stand behind the first ResourcePatch and were left out, as kwok leaves them "
      "out; the first: line 23, Node n1");
}

TEST(RecordingTest, WarnsWhereAnObjectIsCreatedAgain) {
  const Recording recording =
      Read(absl::StrCat(kNode, PodPatch("1", "create", kPod), PodPatch("2", "create", kPod)));
  ASSERT_EQ(recording.warnings.size(), 1);
  EXPECT_EQ(recording.warnings[0],
            "record.yaml: 1 patches create objects that are there already, which these replace; the first: "
            "line 23, pods default/a");
}

TEST(RecordingTest, CustomResourcesAreMergedAsJson) {
  const Recording recording = Read(absl::StrCat(
      "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: default}\nspec: {list: "
      "[{name: "
      "a}]}\n---\napiVersion: action.kwok.x-k8s.io/v1alpha1\ndurationNanosecond: 0\nkind: "
      "ResourcePatch\nmethod: "
      "patch\nresource: {group: example.com, resource: widgets, version: v1}\ntarget: {name: w, namespace: "
      "default}\ntemplate: {spec: {list: [{name: b}]}}\n"));
  ASSERT_EQ(recording.changes.size(), 1);
  EXPECT_TRUE(absl::StrContains(codec::ObjectJson(*recording.changes[0].after), R"("list":[{"name":"b"}])"));
}

TEST(RecordingTest, ErrorsSayWhereAndWhat) {
  const std::string head =
      absl::StrCat(kNode, "---\napiVersion: action.kwok.x-k8s.io/v1alpha1\nkind: ResourcePatch\n");
  const std::string rest = "method: delete\nresource: {resource: pods}\ntarget: {name: a}\n";
  EXPECT_EQ(ErrorOf(absl::StrCat(head, rest)),
            "record.yaml:15:1: durationNanosecond: expected a whole number, got none");
  EXPECT_EQ(
      ErrorOf(absl::StrCat(head, "durationNanosecond: -1\n", rest)),
      "record.yaml:17:21: durationNanosecond: expected a whole number from 0 on that does not lead behind "
      "the year 9999, got \"-1\"");
  EXPECT_EQ(ErrorOf(absl::StrCat(head,
                                 "durationNanosecond: 1\nmethod: update\nresource: {resource: "
                                 "pods}\ntarget: {name: a}\n")),
            "record.yaml:18:9: method: expected create, patch or delete, got \"update\"");
  EXPECT_EQ(ErrorOf(absl::StrCat(head,
                                 "durationNanosecond: 1\nmethod: create\nresource: {resource: "
                                 "pods}\ntarget: {name: a}\n")),
            "record.yaml:15:1: template: expected the object that is created, got none");
  EXPECT_EQ(ErrorOf(absl::StrCat(head, "durationNanosecond: 1\n", rest, "template: {a: b}\n")),
            "record.yaml:21:11: template: expected none for a deletion, got a map");
  EXPECT_EQ(ErrorOf(absl::StrCat(head,
                                 "durationNanosecond: 1\nmethod: delete\nresource: {resource: "
                                 "pods}\ntarget: {namespace: a}\n")),
            "record.yaml:20:9: target.name: expected a string, got none");
  EXPECT_EQ(ErrorOf(absl::StrCat(head, "durationNanosecond: 1\nspeed: 2\n", rest)),
            "record.yaml:18:1: speed: unknown field, expected apiVersion, kind, metadata, resource, target, "
            "durationNanosecond, method, template");
  EXPECT_EQ(
      ErrorOf(
          absl::StrCat(kNode, PodPatch("1", "create", "{apiVersion: v1, kind: Node, metadata: {name: b}}"))),
      "record.yaml:15:1: template: expected an object of the target pods default/a, got Node default/a");
  EXPECT_EQ(
      ErrorOf(absl::StrCat(kNode, PodPatch("1", "create", kPod),
                           PodPatch("2", "patch", "{spec: {containers: [{image: y}]}}"))),
      "record.yaml:23: template: spec.containers[0].name: expected a value, by which the list is merged, got "
      "none");
}

TEST(RecordingWriterTest, WhatIsWrittenReadsBackToTheSameEnd) {
  const Recording first = Read(absl::StrCat(
      kNode, PodPatch("1000", "create", kPod),
      PodPatch("1000", "patch",
               "{metadata: {labels: {a: b}, finalizers: [x, y]}, spec: {nodeName: n1}, status: {conditions: "
               "[{type: "
               "PodScheduled, status: \"True\"}, {type: Ready, status: \"False\"}]}}"),
      PodPatch("3000", "patch",
               "{metadata: {labels: null, $deleteFromPrimitiveList/finalizers: [x]}, status: "
               "{$setElementOrder/conditions: [{type: Ready}], conditions: [{type: Ready, status: \"True\"}, "
               "{$patch: "
               "delete, type: PodScheduled}]}}"),
      Patch("4000", "patch", "nodes", "name: n1", "{spec: {taints: [{key: b, effect: NoExecute}]}}"),
      Patch("5000", "create", "configmaps", "name: c, namespace: default",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: default}, data: {at: "
            "\"2000-01-01T00:00:05Z\"}}")));
  std::string text;
  RecordingWriter writer(first.zero, [&text](absl::string_view part) { absl::StrAppend(&text, part); });
  for (const api::ObjectPtr& object : first.objects) writer.AddObject(*object);
  for (const RecordedChange& change : first.changes) writer.AddChange(change.at, change.before, change.after);
  EXPECT_FALSE(absl::StrContains(text, "2000-01-01"));
  EXPECT_TRUE(absl::StrContains(text, "method: patch"));
  const Recording second = Read(text);
  EXPECT_TRUE(second.warnings.empty());
  EXPECT_EQ(EndOf(second), EndOf(first));
  ASSERT_EQ(second.changes.size(), first.changes.size());
  // Those of one instant are kept apart.
  EXPECT_EQ(second.changes[1].at - second.changes[0].at, absl::Nanoseconds(1));
  EXPECT_EQ(second.changes[2].at, first.changes[2].at);
}

}  // namespace
}  // namespace schedsim::sim
