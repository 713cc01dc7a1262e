// What the API server says and keeps.
#include "sim/cluster/api_server.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/reader.h"
#include "gtest/gtest.h"
#include "sim/kernel/event_loop.h"

namespace schedsim::sim {
namespace {

class ApiServerTest : public testing::Test {
 protected:
  api::ObjectPtr Read(const std::string& yaml) {
    api::ObjectPtr read;
    const absl::Status status = reader_.ReadText(absl::StrCat("---\n", yaml), "test.yaml",
                                                 [&](api::ObjectPtr object, const codec::Location&) {
                                                   read = std::move(object);
                                                   return absl::OkStatus();
                                                 });
    EXPECT_TRUE(status.ok()) << status;
    return read;
  }

  absl::Status Patch(const api::Object& object, codec::PatchType type, const std::string& json) {
    return codec::ReadText(json, "patch.json", {}, [&](const codec::Document& patch) {
      return server_.Patch(object, type, patch.root).status();
    });
  }

  static std::string Deployment(const std::string& more = "") {
    return absl::StrCat("{apiVersion: apps/v1, kind: Deployment, metadata: {name: d", more,
                        "}, spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: "
                        "a}}, spec: {containers: [{name: c, image: i}]}}}}");
  }

  EventLoop loop_{absl::UnixEpoch()};
  codec::ObjectReader reader_;
  ApiServer server_{{}, loop_};
};

TEST_F(ApiServerTest, MessagesNameTheResourceWithItsGroup) {
  const api::ObjectPtr deployment = Read(Deployment());
  EXPECT_EQ(server_.Update(deployment), absl::NotFoundError("deployments.apps \"d\" not found"));
  EXPECT_EQ(server_.Delete(api::Kind::kOther, "Deployment", "default", "d"),
            absl::NotFoundError("deployments.apps \"d\" not found"));
  EXPECT_EQ(server_.Delete(api::Kind::kStorageClass, "StorageClass", "", "c"),
            absl::NotFoundError("storageclasses.storage.k8s.io \"c\" not found"));
  EXPECT_EQ(server_.Delete(api::Kind::kPod, "Pod", "default", "p"),
            absl::NotFoundError("pods \"p\" not found"));
  EXPECT_EQ(server_.Delete(api::Kind::kOther, "Widget", "default", "w"),
            absl::NotFoundError("widgets \"w\" not found"));
  EXPECT_TRUE(server_.Create(deployment).ok());
  EXPECT_EQ(server_.Create(deployment), absl::AlreadyExistsError("deployments.apps \"d\" already exists"));
}

TEST_F(ApiServerTest, AUidOfAnotherRunIsNotGivenOutAgain) {
  ASSERT_TRUE(server_.Create(Read(Deployment(", uid: uid-000007"))).ok());
  ASSERT_TRUE(server_.Create(Read("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}")).ok());
  EXPECT_EQ(server_.Find(api::Kind::kOther, "ConfigMap", "default", "c")->metadata.uid, "uid-000008");
  ASSERT_TRUE(server_.Create(Read("{apiVersion: v1, kind: Secret, metadata: {name: s, uid: uid-x}}")).ok());
  ASSERT_TRUE(server_.Create(Read("{apiVersion: v1, kind: Secret, metadata: {name: t}}")).ok());
  EXPECT_EQ(server_.Find(api::Kind::kOther, "Secret", "default", "t")->metadata.uid, "uid-000009");
  server_.ReserveUid("uid-000020");
  ASSERT_TRUE(server_.Create(Read("{apiVersion: v1, kind: Secret, metadata: {name: u}}")).ok());
  EXPECT_EQ(server_.Find(api::Kind::kOther, "Secret", "default", "u")->metadata.uid, "uid-000021");
}

TEST_F(ApiServerTest, AnUpdateOfAnotherVersionIsAConflict) {
  ASSERT_TRUE(server_.Create(Read(Deployment())).ok());
  const api::ObjectPtr first = server_.Find(*Read(Deployment()));
  EXPECT_TRUE(server_.Update(first).ok());
  const absl::Status conflict = absl::AbortedError(
      "Operation cannot be fulfilled on deployments.apps \"d\": the object has been modified; please apply "
      "your "
      "changes to the latest version and try again");
  EXPECT_EQ(server_.Update(first), conflict);
  EXPECT_TRUE(server_.Update(first, ApiServer::VersionCheck::kUnchecked).ok());
  // Without a version it is for whatever is there.
  EXPECT_TRUE(server_.Update(Read(Deployment())).ok());
  EXPECT_EQ(server_.Update(Read(Deployment(", resourceVersion: \"1\""))), conflict);
}

TEST_F(ApiServerTest, PatchesInThreeWays) {
  const api::ObjectPtr service = Read(
      "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 80, targetPort: 8080}]}}");
  ASSERT_TRUE(server_.Create(service).ok());
  const auto ports = [&] {
    const std::string json = server_.Find(*service)->json->ToString();
    return json.substr(json.find("\"ports\""));
  };
  EXPECT_TRUE(Patch(*service, codec::PatchType::kStrategicMerge,
                    R"({"spec":{"ports":[{"port":80,"targetPort":9090}]}})")
                  .ok());
  EXPECT_EQ(ports(), R"("ports":[{"port":80,"targetPort":9090}]}})");
  EXPECT_TRUE(Patch(*service, codec::PatchType::kMerge, R"({"spec":{"ports":[{"port":443}]}})").ok());
  EXPECT_EQ(ports(), R"("ports":[{"port":443}]}})");
  EXPECT_TRUE(
      Patch(*service, codec::PatchType::kJson, R"([{"op":"remove","path":"/spec/ports/0/port"}])").ok());
  EXPECT_EQ(ports(), R"("ports":[{}]}})");
  EXPECT_EQ(Patch(*service, codec::PatchType::kMerge, "[]"),
            absl::InvalidArgumentError("Service default/s, patched: expected a map, got a list"));
  EXPECT_EQ(Patch(*service, codec::PatchType::kMerge, R"({"metadata":{"namespace":"other"}})"),
            absl::InvalidArgumentError(
                "Service default/s, patched: apiVersion, kind, namespace and name cannot change"));
  EXPECT_EQ(Patch(*service, codec::PatchType::kMerge, R"({"metadata":{"resourceVersion":"1"}})").code(),
            absl::StatusCode::kAborted);
  // A Service of another group is no built-in kind.
  const api::ObjectPtr other =
      Read("{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: s, namespace: default}}");
  ASSERT_TRUE(server_.Create(other).ok());
  EXPECT_TRUE(Patch(*other, codec::PatchType::kMerge, "{}").ok());
  EXPECT_EQ(Patch(*other, codec::PatchType::kStrategicMerge, "{}"),
            absl::InvalidArgumentError(
                "Service default/s, patched: a strategic merge patch is for a built-in kind, "
                "expected a JSON merge patch or a JSON patch"));
  EXPECT_EQ(Patch(*Read(Deployment()), codec::PatchType::kMerge, "{}"),
            absl::NotFoundError("deployments.apps \"d\" not found"));
}

TEST_F(ApiServerTest, KindsOfOneNameInTwoGroupsAreApart) {
  const api::ObjectPtr a =
      Read("{apiVersion: a.example/v1, kind: Gateway, metadata: {name: g, namespace: default}}");
  const api::ObjectPtr b =
      Read("{apiVersion: b.example/v1, kind: Gateway, metadata: {name: h, namespace: default}}");
  const api::ObjectPtr c =
      Read("{apiVersion: v1, kind: GatewayClass, metadata: {name: g, namespace: default}}");
  for (const api::ObjectPtr& object : {a, b, c}) EXPECT_TRUE(server_.Create(object).ok());
  EXPECT_EQ(server_.Find(api::Kind::kOther, "Gateway", "default", "g")->api_version, "a.example/v1");
  EXPECT_EQ(server_.Find(api::Kind::kOther, "Gateway", "default", "h")->api_version, "b.example/v1");
  EXPECT_EQ(server_.Find(api::Kind::kOther, "Gateway", "default", "i"), nullptr);
  EXPECT_EQ(server_.Find(api::Kind::kOther, "GatewayClass", "default", "g")->api_version, "v1");
  EXPECT_EQ(server_.FindByKey(api::Kind::kOther, "Gateway", "default/h"), server_.Find(*b));
  EXPECT_TRUE(server_.Delete(api::Kind::kOther, "Gateway", "default", "h").ok());
  EXPECT_EQ(server_.Find(*b), nullptr);
}

TEST_F(ApiServerTest, ObjectsWithoutANamespaceAreFoundByTheirName) {
  const api::ObjectPtr role =
      Read("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}}");
  const api::ObjectPtr node = Read("{apiVersion: v1, kind: Node, metadata: {name: node-1}}");
  for (const api::ObjectPtr& object : {role, node}) ASSERT_TRUE(server_.Create(object).ok());
  EXPECT_NE(server_.FindByKey(api::Kind::kOther, "ClusterRole", "r"), nullptr);
  EXPECT_EQ(server_.FindByKey(api::Kind::kOther, "ClusterRole", "r"), server_.Find(*role));
  EXPECT_NE(server_.FindByKey(api::Kind::kNode, "Node", "node-1"), nullptr);
  EXPECT_EQ(server_.FindByKey(api::Kind::kNode, "Node", "node-1/node-1"), nullptr);
}

TEST_F(ApiServerTest, AdmissionRefusesAPodOfAnUnknownClass) {
  const std::string pod =
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {priorityClassName: gold, containers: [{name: "
      "c, "
      "image: i}]}}";
  EXPECT_EQ(
      server_.Create(Read(pod)),
      absl::PermissionDeniedError("pods \"p\" is forbidden: no PriorityClass with name gold was found"));
  ASSERT_TRUE(
      server_
          .Create(Read("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: gold}, "
                       "value: 7, preemptionPolicy: Never}"))
          .ok());
  ASSERT_TRUE(server_.Create(Read(pod)).ok());
  EXPECT_EQ(server_.FindPod("default", "p")->spec->priority, 7);
  EXPECT_EQ(server_.FindPod("default", "p")->spec->preemption_policy, "Never");
  // What admission gave it stays, whatever becomes of the class.
  ASSERT_TRUE(server_.Delete(api::Kind::kPriorityClass, "PriorityClass", "", "gold").ok());
  ASSERT_TRUE(server_.Update(Read(pod)).ok());
  EXPECT_EQ(server_.FindPod("default", "p")->spec->priority, 7);
}

// A pod, with the rest of its spec.
std::string PodWith(const std::string& more) {
  return absl::StrCat(
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]", more,
      "}}");
}

TEST_F(ApiServerTest, ADeletedPodThatRunsStaysForItsGracePeriod) {
  std::optional<absl::Duration> grace = absl::Seconds(5);
  server_.set_grace_period([&grace](const api::Pod&) { return grace; });
  ASSERT_TRUE(server_.Create(Read(PodWith(", nodeName: node"))).ok());
  const api::PodPtr pod = server_.FindPod("default", "p");
  ASSERT_TRUE(server_.DeletePod(*pod).ok());
  const api::PodPtr ending = server_.FindPod("default", "p");
  ASSERT_NE(ending, nullptr);
  EXPECT_EQ(ending->metadata.deletion_timestamp, loop_.Now() + absl::Seconds(5));
  grace = std::nullopt;
  EXPECT_TRUE(server_.DeletePod(*pod).ok());
  EXPECT_EQ(server_.FindPod("default", "p"), ending) << "it is ending already";
  grace = absl::ZeroDuration();
  EXPECT_TRUE(server_.DeletePod(*pod).ok());
  EXPECT_EQ(server_.FindPod("default", "p"), nullptr);
  EXPECT_EQ(server_.DeletePod(*pod), absl::NotFoundError("pods \"p\" not found"));
}

TEST_F(ApiServerTest, ADeletionThatHasBegunGoesOnWhateverAnUpdateSays) {
  const std::string running =
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n1, containers: [{name: c, image: "
      "i}]}}";
  ASSERT_TRUE(server_.Create(Read(running)).ok());
  ASSERT_TRUE(server_.MarkDeleted(*server_.FindPod("default", "p"), absl::Seconds(30)).ok());
  ASSERT_TRUE(server_.Update(Read(running)).ok());
  EXPECT_EQ(server_.FindPod("default", "p")->metadata.deletion_timestamp, loop_.Now() + absl::Seconds(30));
  ASSERT_TRUE(
      server_
          .Update(Read("{apiVersion: v1, kind: Pod, metadata: {name: p, deletionTimestamp: "
                       "\"2030-01-01T00:00:00Z\"}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}"))
          .ok());
  EXPECT_EQ(server_.FindPod("default", "p")->metadata.deletion_timestamp, loop_.Now() + absl::Seconds(30));
}

TEST_F(ApiServerTest, ADeletedPodThatDoesNotRunGoesAtOnce) {
  server_.set_grace_period([](const api::Pod&) { return absl::Seconds(5); });
  for (const char* more : {"", ", nodeName: node}, status: {phase: Succeeded"}) {
    ASSERT_TRUE(server_.Create(Read(PodWith(more))).ok());
    ASSERT_TRUE(server_.DeletePod(*server_.FindPod("default", "p")).ok());
    EXPECT_EQ(server_.FindPod("default", "p"), nullptr) << more;
  }
}

}  // namespace
}  // namespace schedsim::sim
