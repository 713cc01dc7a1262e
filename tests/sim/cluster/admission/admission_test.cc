// What the API server makes of objects that are created, and what it refuses.
#include "sim/cluster/admission/admission.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "core/api/storage.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/reader.h"
#include "gtest/gtest.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"

namespace schedsim::sim {
namespace {

class AdmissionTest : public testing::Test {
 protected:
  api::ObjectPtr Read(const std::string& yaml) {
    api::ObjectPtr read;
    const absl::Status status = reader_.ReadText(absl::StrCat("---\n", yaml), "test.yaml",
                                                 [&](api::ObjectPtr object, const codec::Location&) {
                                                   read = std::move(object);
                                                   return absl::OkStatus();
                                                 });
    EXPECT_TRUE(status.ok()) << status << yaml;
    return read;
  }

  absl::Status Create(const std::string& yaml) { return server_.Create(Read(yaml)); }

  // A pod of one container with the spec's other fields in front.
  static std::string Pod(const std::string& name, const std::string& spec, const std::string& metadata = "",
                         const std::string& container = "") {
    return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name, ", namespace: default",
                        metadata, "}, spec: {", spec, spec.empty() ? "" : ", ",
                        "containers: [{name: app, image: x", container, "}]}}");
  }

  // The stored pod as JSON; "" where there is none.
  std::string Stored(const std::string& name) const {
    const api::PodPtr pod = server_.FindPod("default", name);
    return pod == nullptr ? "" : codec::ObjectJson(*pod);
  }

  EventLoop loop_{absl::UnixEpoch()};
  codec::ObjectReader reader_;
  ApiServer server_{{}, loop_};
};

constexpr char kKeyedTerms[] =
    "affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: "
    "{topologyKey: z, labelSelector: {}, mismatchLabelKeys: [tenant]}}]}, podAntiAffinity: "
    "{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: h, labelSelector: {matchLabels: {app: "
    "a}}, matchLabelKeys: [hash, absent]}]}}, "
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: h, whenUnsatisfiable: DoNotSchedule, "
    "labelSelector: {}, matchLabelKeys: [hash]}]";

TEST_F(AdmissionTest, LabelKeysBecomeRequirementsOfTheSelectors) {
  ASSERT_TRUE(Create(Pod("a", kKeyedTerms, ", labels: {hash: one, tenant: x}")).ok());
  const std::string json = Stored("a");
  for (
      const char* part :
      {R"("labelSelector":{"matchExpressions":[{"key":"tenant","operator":"NotIn","values":["x"]}]},"topologyKey":"z","mismatchLabelKeys":["tenant"])",
       R"("labelSelector":{"matchLabels":{"app":"a"},"matchExpressions":[{"key":"hash","operator":"In","values":["one"]}]})",
       R"("labelSelector":{"matchExpressions":[{"key":"hash","operator":"In","values":["one"]}]},"matchLabelKeys":["hash"])"}) {
    EXPECT_TRUE(absl::StrContains(json, part)) << part << "\n" << json;
  }
}

TEST_F(AdmissionTest, PodsOfOneSpecWithOtherLabelsGetOtherSelectors) {
  ASSERT_TRUE(Create(Pod("a", kKeyedTerms, ", labels: {hash: one}")).ok());
  ASSERT_TRUE(Create(Pod("b", kKeyedTerms, ", labels: {hash: two}")).ok());
  ASSERT_TRUE(Create(Pod("c", kKeyedTerms, ", labels: {hash: one}")).ok());
  EXPECT_TRUE(absl::StrContains(Stored("b"), R"("values":["two"])"));
  EXPECT_FALSE(absl::StrContains(Stored("b"), R"("values":["one"])"));
  EXPECT_EQ(server_.FindPod("default", "a")->spec, server_.FindPod("default", "c")->spec);
}

TEST_F(AdmissionTest, LabelKeysOfAPodThatAClusterGaveOutAreMergedAlready) {
  ASSERT_TRUE(Create(Pod("a", kKeyedTerms, ", labels: {hash: one}, uid: u-1")).ok());
  ASSERT_TRUE(Create(Pod("b", kKeyedTerms, ", labels: {hash: one}, resourceVersion: \"7\"")).ok());
  EXPECT_FALSE(absl::StrContains(Stored("a"), "values"));
  EXPECT_FALSE(absl::StrContains(Stored("b"), "values"));
}

TEST_F(AdmissionTest, APatchKeepsWhatAdmissionSet) {
  ASSERT_TRUE(Create(Pod("a", kKeyedTerms, ", labels: {hash: one}")).ok());
  const absl::Status status =
      codec::ReadText(R"({"metadata":{"labels":{"hash":"two"}}})", "patch.json", {}, [&](const auto& patch) {
        return server_.Patch(*server_.FindPod("default", "a"), codec::PatchType::kMerge, patch.root).status();
      });
  ASSERT_TRUE(status.ok()) << status;
  // Labels that change later do not reach the selectors.
  EXPECT_TRUE(absl::StrContains(Stored("a"), R"("values":["one"])")) << Stored("a");
  EXPECT_FALSE(absl::StrContains(Stored("a"), R"("values":["two"])"));
}

TEST_F(AdmissionTest, StoredTextHasWhatWasSetAndKeepsTheRest) {
  ASSERT_TRUE(Create(Pod("a", "volumes: [{name: v, emptyDir: {}}]", "",
                         ", volumeMounts: [{name: v, mountPath: /v}], resources: {limits: {cpu: 1, memory: "
                         "1Gi}, requests: {memory: 512Mi}}"))
                  .ok());
  const std::string json = Stored("a");
  EXPECT_TRUE(absl::StrContains(json, R"("volumeMounts":[{"name":"v","mountPath":"/v"}])")) << json;
  EXPECT_TRUE(absl::StrContains(json, R"("requests":{"cpu":"1","memory":"512Mi"})")) << json;
  EXPECT_TRUE(absl::StrContains(json, R"("schedulerName":"default-scheduler")")) << json;
}

TEST_F(AdmissionTest, PodsTolerateANodeThatIsNotReadyForFiveMinutes) {
  constexpr char kNotReady[] =
      R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300})";
  constexpr char kUnreachable[] =
      R"({"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300})";
  ASSERT_TRUE(Create(Pod("a", "")).ok());
  EXPECT_TRUE(
      absl::StrContains(Stored("a"), absl::StrCat("\"tolerations\":[", kNotReady, ",", kUnreachable, "]")))
      << Stored("a");
  // A toleration for one of the keys suppresses that one only, one for all keys suppresses both.
  ASSERT_TRUE(Create(Pod("b", "tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists}]")).ok());
  EXPECT_FALSE(absl::StrContains(Stored("b"), kNotReady));
  EXPECT_TRUE(absl::StrContains(Stored("b"), kUnreachable));
  ASSERT_TRUE(Create(Pod("c", "tolerations: [{operator: Exists, effect: NoExecute}]")).ok());
  EXPECT_FALSE(absl::StrContains(Stored("c"), "tolerationSeconds"));
  ASSERT_TRUE(Create(Pod("d", "tolerations: [{operator: Exists, effect: NoSchedule}]")).ok());
  EXPECT_TRUE(absl::StrContains(Stored("d"), kNotReady));
  ASSERT_TRUE(Create(Pod("e", "", ", uid: u")).ok());
  EXPECT_FALSE(absl::StrContains(Stored("e"), "tolerations"));
}

constexpr char kLimitRange[] =
    "{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: default}, spec: {limits: [{type: "
    "Container, default: {cpu: 500m, memory: 256Mi}, defaultRequest: {cpu: 200m}, min: {cpu: 50m}, max: "
    "{cpu: "
    "2, memory: 1Gi}, maxLimitRequestRatio: {cpu: 4}}, {type: Pod, max: {memory: 1536Mi}}, {type: "
    "PersistentVolumeClaim, min: {storage: 1Gi}, max: {storage: 10Gi}}]}}";

TEST_F(AdmissionTest, ALimitRangeFillsInWhatContainersLeaveOut) {
  ASSERT_TRUE(Create(kLimitRange).ok());
  ASSERT_TRUE(Create(Pod("a", "")).ok());
  EXPECT_TRUE(absl::StrContains(
      Stored("a"),
      R"("resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"200m","memory":"256Mi"}})"))
      << Stored("a");
  // A limit of the container's own is its request, whatever the range says.
  ASSERT_TRUE(Create(Pod("b", "", "", ", resources: {limits: {cpu: \"1\"}}")).ok());
  EXPECT_TRUE(absl::StrContains(Stored("b"), R"("requests":{"cpu":"1","memory":"256Mi"})")) << Stored("b");
  // Another namespace has no range.
  const std::string other = absl::StrReplaceAll(Pod("a", ""), {{"namespace: default", "namespace: other"}});
  ASSERT_TRUE(Create("{apiVersion: v1, kind: Namespace, metadata: {name: other}}").ok());
  ASSERT_TRUE(Create(other).ok());
  EXPECT_FALSE(absl::StrContains(codec::ObjectJson(*server_.FindPod("other", "a")), "limits"));
  // Without the range nothing is filled in any more.
  ASSERT_TRUE(server_.Delete(api::Kind::kOther, "LimitRange", "default", "l").ok());
  ASSERT_TRUE(Create(Pod("c", "")).ok());
  EXPECT_FALSE(absl::StrContains(Stored("c"), "limits"));
}

TEST_F(AdmissionTest, AllViolationsOfALimitRangeComeInOneMessage) {
  ASSERT_TRUE(Create(kLimitRange).ok());
  const std::pair<std::string, std::string> kRows[] = {
      {"limits: {cpu: 3}, requests: {cpu: 100m}",
       "[maximum cpu usage per Container is 2, but limit is 3, cpu max limit to request ratio per Container "
       "is 4, "
       "but provided ratio is 30.000000]"},
      {"limits: {cpu: 900m}, requests: {cpu: 100m}",
       "cpu max limit to request ratio per Container is 4, but provided ratio is 9.000000"},
      {"requests: {cpu: 10m}, limits: {cpu: 40m}",
       "minimum cpu usage per Container is 50m, but request is 10m"},
      {"limits: {memory: 1200Mi}", "maximum memory usage per Container is 1Gi, but limit is 1200Mi"},
  };
  for (const auto& [resources, message] : kRows) {
    EXPECT_EQ(Create(Pod("a", "", "", absl::StrCat(", resources: {", resources, "}"))),
              absl::PermissionDeniedError(absl::StrCat("pods \"a\" is forbidden: ", message)))
        << resources;
  }
  const std::string two =
      absl::StrReplaceAll(Pod("a", "", "", ", resources: {limits: {memory: 1Gi}}"),
                          {{"]}}", ", {name: b, image: x, resources: {limits: {memory: 600Mi}}}]}}"}});
  EXPECT_EQ(Create(two),
            absl::PermissionDeniedError(
                "pods \"a\" is forbidden: maximum memory usage per Pod is 1536Mi, but limit is 1624Mi"));
  const auto claim = [](const char* size) {
    return absl::StrCat(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: default}, spec: "
        "{accessModes: [ReadWriteOnce], resources: {requests: {storage: ",
        size, "}}}}");
  };
  EXPECT_EQ(Create(claim("11Gi")), absl::PermissionDeniedError(
                                       "persistentvolumeclaims \"c\" is forbidden: maximum storage usage per "
                                       "PersistentVolumeClaim is 10Gi, but request is 11Gi"));
  EXPECT_EQ(Create(claim("5Mi")), absl::PermissionDeniedError(
                                      "persistentvolumeclaims \"c\" is forbidden: minimum storage usage per "
                                      "PersistentVolumeClaim is 1Gi, but request is 5Mi"));
  EXPECT_TRUE(Create(claim("10Gi")).ok());
}

TEST_F(AdmissionTest, ARuntimeClassGivesOverheadNodeSelectorAndTolerations) {
  ASSERT_TRUE(
      Create("{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: boxed}, handler: runc, "
             "overhead: {podFixed: {cpu: 250m}}, scheduling: {nodeSelector: {box: \"yes\"}, tolerations: "
             "[{key: boxed, operator: Exists, effect: NoSchedule}]}}")
          .ok());
  ASSERT_TRUE(Create(Pod("a", "runtimeClassName: boxed, nodeSelector: {disk: ssd}")).ok());
  EXPECT_TRUE(absl::StrContains(Stored("a"), R"("overhead":{"cpu":"250m"})")) << Stored("a");
  EXPECT_TRUE(absl::StrContains(Stored("a"), R"("nodeSelector":{"box":"yes","disk":"ssd"})")) << Stored("a");
  // The class's tolerations come behind those for nodes that are not ready.
  EXPECT_TRUE(absl::StrContains(
      Stored("a"), R"("tolerationSeconds":300},{"key":"boxed","operator":"Exists","effect":"NoSchedule"}])"))
      << Stored("a");
  const std::pair<std::string, std::string> kRows[] = {
      {"runtimeClassName: unknown", "pod rejected: RuntimeClass \"unknown\" not found"},
      {"runtimeClassName: boxed, overhead: {cpu: 1}",
       "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"},
      {"overhead: {cpu: 1}",
       "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"},
      {"runtimeClassName: boxed, nodeSelector: {box: \"no\"}",
       "conflict: runtimeClass.scheduling.nodeSelector[box] = yes; pod.spec.nodeSelector[box] = no"},
  };
  for (const auto& [spec, message] : kRows) {
    EXPECT_EQ(Create(Pod("b", spec)),
              absl::PermissionDeniedError(absl::StrCat("pods \"b\" is forbidden: ", message)));
  }
}

TEST_F(AdmissionTest, ClaimsWithoutAClassGetTheNewestDefault) {
  const auto storage_class = [](const char* name, const char* created, const char* is_default) {
    return absl::StrCat(
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, provisioner: p, metadata: {name: ", name,
        ", creationTimestamp: \"", created,
        "\", annotations: {storageclass.kubernetes.io/is-default-class: \"", is_default, "\"}}}");
  };
  const auto claim = [](const char* name, const char* more) {
    return absl::StrCat(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: ", name,
        ", namespace: default}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: "
        "1Gi}}",
        more, "}}");
  };
  const auto class_of = [this](const char* name) {
    const api::ObjectPtr object = server_.Find(api::Kind::kPersistentVolumeClaim, "", "default", name);
    const auto& spec = static_cast<const api::PersistentVolumeClaim&>(*object).spec;
    return spec.storage_class_name.value_or("(none)");
  };
  ASSERT_TRUE(Create(claim("early", "")).ok());
  EXPECT_EQ(class_of("early"), "(none)");
  ASSERT_TRUE(Create(storage_class("a-old", "2020-01-01T00:00:00Z", "true")).ok());
  ASSERT_TRUE(Create(storage_class("b-new", "2021-01-01T00:00:00Z", "true")).ok());
  ASSERT_TRUE(Create(storage_class("c-new", "2021-01-01T00:00:00Z", "true")).ok());
  ASSERT_TRUE(Create(storage_class("newest", "2022-01-01T00:00:00Z", "false")).ok());
  ASSERT_TRUE(Create(claim("plain", "")).ok());
  EXPECT_EQ(class_of("plain"), "b-new");
  ASSERT_TRUE(Create(claim("none", ", storageClassName: \"\"")).ok());
  EXPECT_EQ(class_of("none"), "");
  ASSERT_TRUE(Create(claim("own", ", storageClassName: a-old")).ok());
  EXPECT_EQ(class_of("own"), "a-old");
}

TEST_F(AdmissionTest, ABoundPodGetsTheZoneAndTheRegionOfItsNode) {
  ASSERT_TRUE(
      Create("{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {topology.kubernetes.io/zone: z1, "
             "topology.kubernetes.io/region: r1, other: x}}}")
          .ok());
  ASSERT_TRUE(Create(Pod("a", "", ", labels: {app: a, topology.kubernetes.io/zone: own}")).ok());
  ASSERT_TRUE(server_.Bind(*server_.FindPod("default", "a"), "n1").ok());
  EXPECT_TRUE(absl::StrContains(
      Stored("a"),
      R"("labels":{"app":"a","topology.kubernetes.io/region":"r1","topology.kubernetes.io/zone":"z1"})"))
      << Stored("a");
  ASSERT_TRUE(Create(Pod("b", "nodeName: n1")).ok());
  EXPECT_TRUE(absl::StrContains(Stored("b"), R"("topology.kubernetes.io/zone":"z1")")) << Stored("b");
  ApiServer::Options old_line;
  old_line.admission.line = api::KubernetesLine::k1_34;
  ApiServer old_server(old_line, loop_);
  ASSERT_TRUE(old_server
                  .Create(Read("{apiVersion: v1, kind: Node, metadata: {name: n1, labels: "
                               "{topology.kubernetes.io/zone: z1}}}"))
                  .ok());
  ASSERT_TRUE(old_server.Create(Read(Pod("a", ""))).ok());
  ASSERT_TRUE(old_server.Bind(*old_server.FindPod("default", "a"), "n1").ok());
  EXPECT_TRUE(old_server.FindPod("default", "a")->metadata.labels.empty());
}

class ResourceQuotaTest : public AdmissionTest {
 protected:
  static std::string Quota(const std::string& name, const std::string& hard, const std::string& more = "") {
    return absl::StrCat("{apiVersion: v1, kind: ResourceQuota, metadata: {name: ", name,
                        ", namespace: default}, spec: {hard: {", hard, "}", more, "}}");
  }

  // The quota's status as JSON.
  std::string StatusOf(const std::string& name) const {
    const api::ObjectPtr quota = server_.Find(api::Kind::kOther, "ResourceQuota", "default", name);
    const std::string json = codec::ObjectJson(*quota);
    const size_t at = json.find("\"status\":");
    return at == std::string::npos ? json : json.substr(at + 9, json.size() - at - 10);
  }

  static std::string Resources(const std::string& requests, const std::string& limits) {
    return absl::StrCat(", resources: {requests: {", requests, "}, limits: {", limits, "}}");
  }
};

TEST_F(ResourceQuotaTest, CountsPodsUntilTheyAreGone) {
  ASSERT_TRUE(Create(Pod("before", "", "", Resources("cpu: 100m", "memory: 128Mi"))).ok());
  ASSERT_TRUE(Create(Quota("q", "pods: 2, requests.cpu: \"1\", limits.memory: 1Gi")).ok());
  EXPECT_EQ(
      StatusOf("q"),
      R"({"hard":{"limits.memory":"1Gi","pods":"2","requests.cpu":"1"},"used":{"limits.memory":"128Mi","pods":"1","requests.cpu":"100m"}})");
  ASSERT_TRUE(Create(Pod("a", "", "", Resources("cpu: 500m", "memory: 512Mi"))).ok());
  EXPECT_TRUE(absl::StrContains(StatusOf("q"),
                                R"("used":{"limits.memory":"640Mi","pods":"2","requests.cpu":"600m"})"));
  EXPECT_EQ(Create(Pod("b", "", "", Resources("cpu: 500m", "memory: 512Mi"))),
            absl::PermissionDeniedError("pods \"b\" is forbidden: exceeded quota: q, requested: "
                                        "limits.memory=512Mi,pods=1,requests.cpu=500m, "
                                        "used: limits.memory=640Mi,pods=2,requests.cpu=600m, limited: "
                                        "limits.memory=1Gi,pods=2,requests.cpu=1"));
  EXPECT_EQ(Create(Pod("b", "", "", Resources("cpu: 100m", "cpu: 100m"))),
            absl::PermissionDeniedError(
                "pods \"b\" is forbidden: failed quota: q: must specify limits.memory for: app"));
  // A pod that is being deleted counts, one that has ended does not.
  const api::PodPtr pod = server_.FindPod("default", "a");
  ASSERT_TRUE(server_.MarkDeleted(*pod, absl::Seconds(30)).ok());
  EXPECT_TRUE(absl::StrContains(StatusOf("q"), R"("pods":"2","requests.cpu":"600m"})"));
  ASSERT_TRUE(server_.Delete(api::Kind::kPod, "Pod", "default", "a").ok());
  EXPECT_TRUE(absl::StrContains(StatusOf("q"), R"("pods":"1","requests.cpu":"100m"})"));
  auto ended = std::static_pointer_cast<api::Pod>(server_.FindPod("default", "before")->Clone());
  ended->status.phase = "Succeeded";
  ASSERT_TRUE(server_.Update(ended).ok());
  EXPECT_TRUE(
      absl::StrContains(StatusOf("q"), R"("used":{"limits.memory":"0","pods":"0","requests.cpu":"0"})"))
      << StatusOf("q");
}

TEST_F(ResourceQuotaTest, AChangedQuotaCountsAnew) {
  ASSERT_TRUE(Create(Quota("q", "pods: 1")).ok());
  ASSERT_TRUE(Create(Pod("a", "")).ok());
  EXPECT_FALSE(Create(Pod("b", "")).ok());
  const absl::Status status =
      codec::ReadText(R"({"spec":{"hard":{"pods":"2"}}})", "patch.json", {}, [&](const auto& patch) {
        return server_
            .Patch(*server_.Find(api::Kind::kOther, "ResourceQuota", "default", "q"),
                   codec::PatchType::kStrategicMerge, patch.root)
            .status();
      });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(StatusOf("q"), R"({"hard":{"pods":"2"},"used":{"pods":"1"}})");
  EXPECT_TRUE(Create(Pod("b", "")).ok());
}

TEST_F(ResourceQuotaTest, ScopesSayWhichPodsCount) {
  ASSERT_TRUE(
      Create("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: gold}, value: 5}")
          .ok());
  ASSERT_TRUE(
      Create(Quota("gold", "pods: 1",
                   ", scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: "
                   "[gold]}]}"))
          .ok());
  ASSERT_TRUE(Create(Quota("short", "pods: 1", ", scopes: [Terminating]")).ok());
  ASSERT_TRUE(Create(Quota("poor", "pods: 2", ", scopes: [BestEffort]")).ok());
  ASSERT_TRUE(Create(Pod("a", "priorityClassName: gold", "", Resources("cpu: 1", ""))).ok());
  ASSERT_TRUE(Create(Pod("b", "activeDeadlineSeconds: 60")).ok());
  ASSERT_TRUE(Create(Pod("c", "")).ok());
  EXPECT_EQ(
      Create(Pod("d", "priorityClassName: gold")),
      absl::PermissionDeniedError(
          "pods \"d\" is forbidden: exceeded quota: gold, requested: pods=1, used: pods=1, limited: pods=1"));
  EXPECT_EQ(Create(Pod("d", "activeDeadlineSeconds: 60", "", Resources("cpu: 1", ""))),
            absl::PermissionDeniedError("pods \"d\" is forbidden: exceeded quota: short, requested: pods=1, "
                                        "used: pods=1, limited: pods=1"));
  EXPECT_EQ(
      Create(Pod("d", "")),
      absl::PermissionDeniedError(
          "pods \"d\" is forbidden: exceeded quota: poor, requested: pods=1, used: pods=2, limited: pods=2"));
  EXPECT_TRUE(Create(Pod("d", "", "", Resources("memory: 1Mi", ""))).ok());
}

TEST_F(ResourceQuotaTest, CountsObjectsOfOtherKinds) {
  ASSERT_TRUE(
      Create(
          Quota("q",
                "count/deployments.apps: 1, persistentvolumeclaims: 5, requests.storage: 10Gi, configmaps: "
                "1, fast.storageclass.storage.k8s.io/requests.storage: 3Gi"))
          .ok());
  const auto object = [](const char* version, const char* kind, const char* name) {
    return absl::StrCat("{apiVersion: ", version, ", kind: ", kind, ", metadata: {name: ", name,
                        ", namespace: default}, spec: {selector: {matchLabels: {app: a}}, template: "
                        "{metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i}]}}}}");
  };
  ASSERT_TRUE(Create(object("apps/v1", "Deployment", "a")).ok());
  EXPECT_EQ(Create(object("apps/v1", "Deployment", "b")),
            absl::PermissionDeniedError("deployments.apps \"b\" is forbidden: exceeded quota: q, requested: "
                                        "count/deployments.apps=1, used: "
                                        "count/deployments.apps=1, limited: count/deployments.apps=1"));
  ASSERT_TRUE(Create(object("v1", "ConfigMap", "a")).ok());
  EXPECT_FALSE(Create(object("v1", "ConfigMap", "b")).ok());
  const auto claim = [](const char* size) {
    return absl::StrCat(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: default}, spec: "
        "{storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: ",
        size, "}}}}");
  };
  EXPECT_EQ(
      Create(claim("4Gi")),
      absl::PermissionDeniedError("persistentvolumeclaims \"c\" is forbidden: exceeded quota: q, requested: "
                                  "fast.storageclass.storage.k8s.io/requests.storage=4Gi, used: "
                                  "fast.storageclass.storage.k8s.io/requests.storage=0, limited: "
                                  "fast.storageclass.storage.k8s.io/requests.storage=3Gi"));
  EXPECT_TRUE(Create(claim("3Gi")).ok());
}

TEST_F(AdmissionTest, SpecsThatTheServerRefusesAreRefusedInItsWords) {
  const auto affinity = [](const char* kind, const char* term) {
    return absl::StrCat("affinity: {", kind, ": {requiredDuringSchedulingIgnoredDuringExecution: ", term,
                        "}}");
  };
  const auto spread = [](const char* more) {
    return absl::StrCat("topologySpreadConstraints: [{topologyKey: z, ", more, "}]");
  };
  const std::pair<std::string, std::string> kRows[] = {
      {spread("maxSkew: 1, minDomains: 2, whenUnsatisfiable: ScheduleAnyway"),
       "spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if "
       "whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"},
      {spread("maxSkew: 1, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [a]"),
       "spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified when "
       "labelSelector is not "
       "set"},
      {affinity("nodeAffinity", "{nodeSelectorTerms: []}"),
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: "
       "Required value: "
       "must have at least one node selector term"},
      {"tolerations: [{key: a, operator: Exists, value: b}, {value: c}]",
       "[spec.tolerations[0].operator: Invalid value: \"b\": value must be empty when `operator` is "
       "'Exists', "
       "spec.tolerations[1].operator: Invalid value: \"\": operator must be Exists when `key` is empty, "
       "which means "
       "\"match all values and all keys\"]"},
      {"schedulingGates: [{name: a}, {name: a}]", "spec.schedulingGates[1]: Duplicate value: \"a\""},
      {"nodeName: node-1, schedulingGates: [{name: a}]",
       "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"},
      {affinity("nodeAffinity",
                "{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [a, b]}]}]}"),
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
       "matchFields[0].values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for "
       "node field selector"},
      {affinity("nodeAffinity",
                "{nodeSelectorTerms: [{matchFields: [{key: metadata.foo, operator: In, values: [a]}]}]}"),
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
       "matchFields[0].key: Invalid value: \"metadata.foo\": not a valid field selector key"},
      {affinity("nodeAffinity",
                "{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: Exists}]}]}"),
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
       "matchFields[0].operator: Invalid value: \"Exists\": not a valid selector operator"},
  };
  for (const auto& [spec, message] : kRows) {
    EXPECT_EQ(Create(Pod("a", spec)),
              absl::InvalidArgumentError(absl::StrCat("Pod \"a\" is invalid: ", message)))
        << spec;
    EXPECT_TRUE(Create(Pod("b", spec, ", uid: u")).ok()) << spec;
    ASSERT_TRUE(server_.Delete(api::Kind::kPod, "Pod", "default", "b").ok());
  }
  EXPECT_EQ(Create(Pod("a", "", "", ", resources: {requests: {memory: 2Gi}, limits: {memory: 1Gi}}")),
            absl::InvalidArgumentError("Pod \"a\" is invalid: spec.containers[0].resources.requests: Invalid "
                                       "value: \"2Gi\": must be less than "
                                       "or equal to memory limit of 1Gi"));
}

TEST_F(AdmissionTest, AmountsAreRoundedUpToThousandths) {
  ASSERT_TRUE(
      Create(Pod("a", "", "", ", resources: {requests: {cpu: 1500u}, limits: {memory: 100.5m}}")).ok());
  const api::PodPtr pod = server_.FindPod("default", "a");
  const api::ResourceList& requests = pod->spec->containers[0].resources.requests;
  EXPECT_EQ(requests.Find("cpu")->NanoValue(), 2'000'000);
  EXPECT_EQ(requests.Find("memory")->NanoValue(), 101'000'000);
}

constexpr char kNotSubdomain[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr char kNotLabel[] =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and "
    "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

TEST_F(AdmissionTest, NamesAreThoseThatTheKindMayHave) {
  EXPECT_EQ(Create(Pod("A_b", "")).message(),
            absl::StrCat("Pod \"A_b\" is invalid: metadata.name: Invalid value: \"A_b\": ", kNotSubdomain));
  EXPECT_TRUE(Create(Pod("a.b-c", "")).ok());
  EXPECT_EQ(Create(Pod("a-", "")).message(),
            absl::StrCat("Pod \"a-\" is invalid: metadata.name: Invalid value: \"a-\": ", kNotSubdomain));
  const auto object = [](const std::string& type, const std::string& name) {
    return absl::StrCat("{apiVersion: ", type, ", metadata: {name: ", name, "}}");
  };
  EXPECT_EQ(Create(object("v1, kind: Namespace", "a.b")).message(),
            "Namespace \"a.b\" is invalid: metadata.name: Invalid value: \"a.b\": must not contain dots");
  EXPECT_EQ(Create(object("v1, kind: Namespace", "a_b")).message(),
            absl::StrCat("Namespace \"a_b\" is invalid: metadata.name: Invalid value: \"a_b\": ", kNotLabel));
  // What else is wrong comes behind it.
  EXPECT_TRUE(absl::StartsWith(Create(object("apps/v1, kind: StatefulSet", "a.b")).message(),
                               "StatefulSet.apps \"a.b\" is invalid: [metadata.name: Invalid value: \"a.b\": "
                               "must not contain dots, "));
  EXPECT_TRUE(Create(object("v1, kind: ConfigMap", "a.b")).ok());
  EXPECT_TRUE(Create(object("v1, kind: Service", "1a")).ok());
  EXPECT_FALSE(Create(object("example.com/v1, kind: Widget", "a_b")).ok());
  EXPECT_TRUE(Create(object("rbac.authorization.k8s.io/v1, kind: ClusterRole", "system:a")).ok());
  EXPECT_TRUE(absl::EndsWith(Create(object("batch/v1, kind: CronJob", std::string(53, 'a'))).message(),
                             absl::StrCat("metadata.name: Invalid value: \"", std::string(53, 'a'),
                                          "\": must be no more than 52 characters]")));
  EXPECT_EQ(
      Create(object("v1, kind: ConfigMap", std::string(254, 'a'))).message(),
      absl::StrCat("ConfigMap \"", std::string(254, 'a'), "\" is invalid: metadata.name: Invalid value: \"",
                   std::string(254, 'a'), "\": must be no more than 253 characters"));
}

TEST_F(AdmissionTest, BeforeKubernetes136ServicesHaveOlderNames) {
  ApiServer server({.admission = {.line = api::KubernetesLine::k1_35}}, loop_);
  EXPECT_EQ(
      server.Create(Read("{apiVersion: v1, kind: Service, metadata: {name: 1a, namespace: default}}"))
          .message(),
      "Service \"1a\" is invalid: metadata.name: Invalid value: \"1a\": a DNS-1035 label must consist of "
      "lower case alphanumeric characters or '-', start with an alphabetic character, and end with an "
      "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
      "'[a-z]([-a-z0-9]*[a-z0-9])?')");
}

TEST_F(AdmissionTest, EachReleaseRefusesChangesInItsOwnWords) {
  const auto refusal = [this](api::KubernetesLine line, const std::string& before, const std::string& after) {
    const ApiServer server({.admission = {.line = line}}, loop_);
    return std::string(server.AdmitUpdate(*Read(before), *Read(after)).message());
  };
  const auto set = [](const std::string& service) {
    return absl::StrCat(
        "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a, namespace: default}, spec: "
        "{serviceName: ",
        service,
        ", selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: "
        "{containers: [{name: c, image: i}]}}}}");
  };
  EXPECT_EQ(refusal(api::KubernetesLine::k1_37, set("s"), set("t")),
            "StatefulSet.apps \"a\" is invalid: spec.serviceName: Invalid value: \"t\": field is immutable");
  EXPECT_EQ(
      refusal(api::KubernetesLine::k1_36, set("s"), set("t")),
      "StatefulSet.apps \"a\" is invalid: spec: Forbidden: updates to statefulset spec for fields other "
      "than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
      "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden");
  const auto storage_class = [](const std::string& provisioner, const std::string& mode) {
    return absl::StrCat(
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: a}, provisioner: ", provisioner,
        ", volumeBindingMode: ", mode, "}");
  };
  const std::string before = storage_class("p", "Immediate");
  const std::string after = storage_class("q", "Immediate");
  const std::string invalid = "StorageClass.storage.k8s.io \"a\" is invalid: ";
  EXPECT_EQ(refusal(api::KubernetesLine::k1_37, before, after),
            invalid + "provisioner: Invalid value: null: field is immutable");
  EXPECT_EQ(refusal(api::KubernetesLine::k1_36, before, after),
            invalid + "provisioner: Invalid value: \"q\": field is immutable");
  EXPECT_EQ(refusal(api::KubernetesLine::k1_35, before, after),
            invalid + "provisioner: Forbidden: updates to provisioner are forbidden.");
  EXPECT_EQ(refusal(api::KubernetesLine::k1_34, before, storage_class("p", "WaitForFirstConsumer")),
            invalid + "volumeBindingMode: Invalid value: \"WaitForFirstConsumer\": field is immutable");
}

TEST_F(AdmissionTest, EachReleaseRefusesPodsInItsOwnWords) {
  const auto refusal = [this](api::KubernetesLine line, const std::string& pod) {
    ApiServer server({.admission = {.line = line}}, loop_);
    const std::string text(server.Create(Read(pod)).message());
    const size_t begin = text.find("is invalid: ");
    return begin == std::string::npos ? text : text.substr(begin + 12);
  };
  const std::string owned =
      Pod("a", "", ", ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: x, uid: ''}]");
  EXPECT_EQ(refusal(api::KubernetesLine::k1_37, owned),
            "metadata.ownerReferences[0].uid: Required value: must not be empty");
  EXPECT_EQ(refusal(api::KubernetesLine::k1_36, owned),
            "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty");
  const auto container = [](const std::string& more) {
    return absl::StrCat(
        "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}, spec: {containers: "
        "[{name: c, image: i, ",
        more, "}]}}");
  };
  const std::string restarts = container("restartPolicy: Never");
  EXPECT_EQ(refusal(api::KubernetesLine::k1_35, restarts), "");
  EXPECT_EQ(refusal(api::KubernetesLine::k1_34, restarts),
            "spec.containers[0].restartPolicy: Forbidden: may not be set for non-init containers");
  const std::string file =
      container("env: [{name: A, valueFrom: {fileKeyRef: {volumeName: v, path: f, key: K}}}]");
  EXPECT_EQ(refusal(api::KubernetesLine::k1_35, file),
            "spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: \"v\"");
  EXPECT_EQ(refusal(api::KubernetesLine::k1_34, file),
            "spec.containers[0].env[0].valueFrom: Invalid value: \"\": must specify one of: `fieldRef`, "
            "`resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`");
  const std::string zeros =
      "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}, spec: {dnsConfig: {nameservers: "
      "[010.1.1.1, '::ffff:1.2.3.4']}, containers: [{name: c, image: i}]}}";
  EXPECT_EQ(refusal(api::KubernetesLine::k1_35, zeros), "");
  EXPECT_EQ(
      refusal(api::KubernetesLine::k1_36, zeros),
      "[spec.dnsConfig.nameservers[0]: Invalid value: \"010.1.1.1\": must not have leading 0s, "
      "spec.dnsConfig.nameservers[1]: Invalid value: \"::ffff:1.2.3.4\": must not be an IPv4-mapped IPv6 "
      "address]");
}

TEST_F(AdmissionTest, OneOwnerControls) {
  const auto owner = [](const std::string& name, bool controls) {
    return absl::StrCat("{apiVersion: v1, kind: ConfigMap, name: ", name, ", uid: u-", name,
                        ", controller: ", controls ? "true" : "false", "}");
  };
  EXPECT_TRUE(
      Create(
          Pod("a", "", absl::StrCat(", ownerReferences: [", owner("x", true), ", ", owner("z", false), "]")))
          .ok());
  EXPECT_EQ(
      Create(
          Pod("b", "", absl::StrCat(", ownerReferences: [", owner("x", true), ", ", owner("z", true), "]")))
          .message(),
      "Pod \"b\" is invalid: metadata.ownerReferences: Invalid value: "
      R"([{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"u-x","controller":true},)"
      R"({"apiVersion":"v1","kind":"ConfigMap","name":"z","uid":"u-z","controller":true}]: )"
      "Only one reference can have Controller set to true. Found \"true\" in references for ConfigMap/x and "
      "ConfigMap/z");
}

TEST_F(AdmissionTest, ContainersHaveNamesImagesAndPortsThatFit) {
  const auto pod = [](const std::string& spec) {
    return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {", spec,
                        "}}");
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"containers: [{name: c}]", "spec.containers[0].image: Required value"},
      {"containers: [{image: i}]", "spec.containers[0].name: Required value"},
      {"containers: [{name: C, image: i}]",
       absl::StrCat("spec.containers[0].name: Invalid value: \"C\": ", kNotLabel)},
      {"containers: [{name: c, image: i}], initContainers: [{name: d}]",
       "spec.initContainers[0].image: Required value"},
      {"hostNetwork: true, containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 81}]}]",
       "spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when "
       "`hostNetwork` "
       "is true"},
      {"containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 8}]}, {name: d, image: i, "
       "ports: "
       "[{containerPort: 81, hostPort: 8}]}]",
       "spec.containers[1].ports[0].hostPort: Duplicate value: \"TCP//8\""},
      {"containers: [{name: c, image: i, ports: [{hostPort: 80}]}]",
       "spec.containers[0].ports[0].containerPort: Required value"},
  };
  for (const auto& [spec, fault] : cases) {
    EXPECT_EQ(Create(pod(spec)).message(), absl::StrCat("Pod \"p\" is invalid: ", fault)) << spec;
  }
  EXPECT_TRUE(
      Create(pod("hostNetwork: true, containers: [{name: c, image: i, ports: [{containerPort: 80}]}]")).ok());
  // All that is wrong, in the order of the API server.
  EXPECT_EQ(
      Create(Pod("A",
                 "tolerations: [{operator: Exists, value: v}], topologySpreadConstraints: [{maxSkew: 1, "
                 "topologyKey: z, whenUnsatisfiable: DoNotSchedule, minDomains: 2, matchLabelKeys: [a]}]"))
          .message(),
      absl::StrCat(
          "Pod \"A\" is invalid: [metadata.name: Invalid value: \"A\": ", kNotSubdomain,
          ", spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified when "
          "labelSelector is not set, spec.tolerations[0].operator: Invalid value: \"v\": value must "
          "be empty when `operator` is 'Exists']"));
}

TEST_F(AdmissionTest, ClaimsAskForStorage) {
  const auto claim = [](const std::string& spec) {
    return absl::StrCat(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: default}, "
        "spec: {",
        spec, "}}");
  };
  const std::string prefix = "PersistentVolumeClaim \"c\" is invalid: ";
  EXPECT_EQ(Create(claim("accessModes: [ReadWriteOnce], resources: {requests: {storage: 0}}")).message(),
            prefix + "spec.resources[storage]: Invalid value: \"0\": must be greater than zero");
  EXPECT_EQ(Create(claim("accessModes: [ReadWriteOnce]")).message(),
            prefix + "spec.resources[storage]: Required value");
  EXPECT_EQ(Create(claim("resources: {requests: {storage: 1Gi}}")).message(),
            prefix + "spec.accessModes: Required value: at least 1 access mode is required");
  EXPECT_EQ(
      Create(claim("accessModes: [ReadWriteOncePod, ReadOnlyMany], resources: {requests: {storage: 1Gi}}"))
          .message(),
      prefix + "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes");
  EXPECT_TRUE(Create(claim("accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}")).ok());
  // Nothing is to be found in a spec that is there and is none.
  const absl::Status null = Create(
      "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d, namespace: default}, spec: null}");
  EXPECT_TRUE(absl::StrContains(null.message(), "spec.accessModes: Required value")) << null;
}

TEST_F(AdmissionTest, AJobHasWhatItsManifestLeavesOut) {
  const std::string kTemplate = "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}";
  const auto stored = [&](const std::string& name, const std::string& spec) {
    EXPECT_TRUE(Create(absl::StrCat("{apiVersion: batch/v1, kind: Job, metadata: {name: ", name,
                                    ", namespace: default}, spec: {", kTemplate, spec, "}}"))
                    .ok());
    return codec::ObjectJson(*server_.Find(api::Kind::kOther, "Job", "default", name));
  };
  EXPECT_TRUE(absl::StrContains(stored("a", ""), R"(}]}},"completions":1,"parallelism":1,"backoffLimit":6,)"
                                                 R"("completionMode":"NonIndexed","suspend":false,)"
                                                 R"("podReplacementPolicy":"TerminatingOrFailed"})"))
      << stored("aa", "");
  const std::string queue = stored("b", ", parallelism: 2, suspend: true, podFailurePolicy: {rules: []}");
  EXPECT_FALSE(absl::StrContains(queue, "completions\"")) << queue;
  EXPECT_TRUE(absl::StrContains(queue, R"("suspend":true)")) << queue;
  EXPECT_TRUE(absl::StrContains(queue, R"("podReplacementPolicy":"Failed")")) << queue;
}

}  // namespace
}  // namespace schedsim::sim
