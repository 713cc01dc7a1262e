#include "core/codec/objects/api_fields.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/api/kinds.h"
#include "core/codec/objects/field_check.h"
#include "core/codec/text/reader.h"

namespace schedsim::codec {
namespace {

const ApiType* TypeOf(absl::string_view api_version, absl::string_view kind) {
  const ApiKind* known = ApiFields::Get().Find(api_version, kind);
  return known == nullptr ? nullptr : known->type;
}

// The paths of the unknown fields of a pod, each with what is near, joined by spaces.
std::string UnknownOf(std::string yaml) {
  std::string out;
  FieldCheck check;
  const absl::Status status = ReadText(std::move(yaml), "f.yaml", {}, [&](const Document& document) {
    check.Run(
        document.root, *TypeOf("v1", "Pod"),
        [&](const UnknownField& field) {
          if (!out.empty()) out += ' ';
          out += check.PathOf(field) + "=" + check.NearestOf(field);
        },
        [&](const MistypedValue& mistyped) {
          if (!out.empty()) out += ' ';
          out += mistyped.path + "!" + std::string(mistyped.expected);
        });
    return absl::OkStatus();
  });
  return status.ok() ? out : std::string(status.message());
}

TEST(ApiFieldsTest, TheTableHasKindsAndTypes) {
  for (const char* kind : {"Pod", "Node", "Service", "ConfigMap", "Event"}) {
    EXPECT_NE(TypeOf("v1", kind), nullptr) << kind;
  }
  EXPECT_NE(TypeOf("apps/v1", "Deployment"), nullptr);
  EXPECT_NE(TypeOf("autoscaling/v2", "HorizontalPodAutoscaler"),
            TypeOf("autoscaling/v1", "HorizontalPodAutoscaler"));
  EXPECT_EQ(TypeOf("apps/v1beta1", "Deployment"), nullptr);
  const ApiField* spec = TypeOf("v1", "Pod")->Find("spec");
  ASSERT_NE(spec, nullptr);
  for (const char* field : {"nodeName", "containers", "topologySpreadConstraints", "schedulingGates"}) {
    EXPECT_NE(spec->type->Find(field), nullptr) << field;
  }
  // Fields that only some of the releases have: of 1.35 and of 1.37.
  EXPECT_NE(spec->type->Find("workloadRef"), nullptr);
  EXPECT_NE(spec->type->Find("schedulingGroup"), nullptr);
  EXPECT_EQ(spec->type->Find("nodename"), nullptr);
}

TEST(ApiFieldsTest, UnknownFieldsAreFoundAtAnyDepth) {
  EXPECT_EQ(
      UnknownOf(
          "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {x: z}}, spec: {nodeSelector: {q: r}}}"),
      "");
  EXPECT_EQ(
      UnknownOf("metadata: {lables: {a: b}}\nspec:\n  containers:\n  - {}\n  - {ports: [{hostport: 1}]}\n"),
      "metadata.lables=labels spec.containers[1].ports[0].hostport=hostPort");
  EXPECT_EQ(UnknownOf("spec: {affinity: {nodeSelector: 1}, cpu: 1}"),
            "spec.cpu= spec.affinity.nodeSelector=spec.nodeSelector");
}

TEST(ApiFieldsTest, ValuesOfWrongTypesAreFoundAtAnyDepth) {
  EXPECT_EQ(UnknownOf("spec: [1]\nstatus: {conditions: {}}\n"), "spec!a map status.conditions!a list");
  // Those of a map come before those of the maps in it.
  EXPECT_EQ(UnknownOf("spec: {containers: [{env: [{name: A, value: 1}], args: [a, true], tty: 'yes'}]}"),
            "spec.containers[0].args[1]!a string spec.containers[0].tty!true or false "
            "spec.containers[0].env[0].value!a string");
  EXPECT_EQ(UnknownOf("metadata: {annotations: {a: 1}}\nspec: {nodeSelector: [a], priority: '1'}"),
            "metadata.annotations[a]!a string spec.nodeSelector!a map spec.priority!an integer");
  EXPECT_EQ(UnknownOf("spec: {containers: [{livenessProbe: {httpGet: {port: {a: b}}}, resources: {limits: "
                      "{cpu: true}}}], volumes: [null, 3]}"),
            "spec.volumes[1]!a map spec.containers[0].resources.limits[cpu]!a quantity "
            "spec.containers[0].livenessProbe.httpGet.port!an integer of 32 bits or a string");
  EXPECT_EQ(
      UnknownOf("spec: {containers: [{livenessProbe: {httpGet: {port: 4294967297}}, startupProbe: {httpGet: "
                "{port: 80.5}}}, {livenessProbe: {httpGet: {port: 80.0}}}]}"),
      "spec.containers[0].livenessProbe.httpGet.port!an integer of 32 bits or a string "
      "spec.containers[0].startupProbe.httpGet.port!an integer of 32 bits or a string");
  // What is null is as if it were not there.
  EXPECT_EQ(UnknownOf("spec: {containers: [{env: null, image: null, resources: {limits: {cpu: 1, memory: "
                      "1Gi}}, livenessProbe: {httpGet: {port: web}}, startupProbe: {httpGet: {port: 80}}}]}"),
            "");
}

TEST(ApiFieldsTest, KindsOfOtherGroupsAreNotJudged) {
  EXPECT_EQ(KindProblem("v1", "Pod"), "");
  EXPECT_EQ(KindProblem("example.com/v1", "Pod"), "");
  EXPECT_EQ(KindProblem("scheduling.x-k8s.io/v1alpha1", "PodGroup"), "");
  EXPECT_EQ(KindProblem("scheduling.sigs.k8s.io/v1alpha1", "PodGroup"), "");
  EXPECT_EQ(KindProblem("scheduling.incubator.k8s.io/v1alpha1", "PodGroup"), "");
  EXPECT_EQ(KindProblem("scheduling.volcano.sh/v1beta1", "PodGroup"), "");
  EXPECT_EQ(KindProblem("batch.volcano.sh/v1alpha1", "Job"), "");
  EXPECT_EQ(KindProblem("apps.kruise.io/v1beta1", "StatefulSet"), "");
  EXPECT_EQ(KindProblem("apps.openshift.io/v1", "DeploymentConfig"), "");
  EXPECT_EQ(KindProblem("networking.internal.knative.dev/v1alpha1", "Ingress"), "");
  EXPECT_EQ(KindProblem("serving.knative.dev/v1", "Service"), "");
  EXPECT_EQ(KindProblem("cert-manager.io/v1", "CertificateRequest"), "");
  EXPECT_EQ(KindProblem("autoscaling.k8s.io/v1", "VerticalPodAutoscaler"), "");
  EXPECT_EQ(KindProblem("gateway.networking.k8s.io/v1", "GatewayClass"), "");
  EXPECT_EQ(KindProblem("metrics.k8s.io/v1beta1", "NodeMetrics"), "");
  EXPECT_EQ(KindProblem("storag.k8s.io/v1", "StorageClass"),
            "Kubernetes 1.34 to 1.37 serves no StorageClass in storag.k8s.io/v1, expected storage.k8s.io/v1");
  EXPECT_EQ(KindProblem("policy.k8s.io/v1", "PodDisruptionBudget"),
            "Kubernetes 1.34 to 1.37 serves no PodDisruptionBudget in policy.k8s.io/v1, expected policy/v1");
  EXPECT_EQ(KindProblem("core.k8s.io/v1", "Pod"),
            "Kubernetes 1.34 to 1.37 serves no Pod in core.k8s.io/v1, expected v1");
  EXPECT_EQ(KindProblem("scheduling.io/v1", "PriorityClas"),
            "Kubernetes has no kind \"PriorityClas\" in scheduling.io/v1, did you mean PriorityClass of "
            "scheduling.k8s.io/v1 or scheduling.k8s.io/v1alpha1?");
  EXPECT_EQ(KindProblem("policy/v1beta1", "PodSecurityPolicy"),
            "Kubernetes has no kind \"PodSecurityPolicy\" in policy/v1beta1");
}

// The table of kinds is written by hand, that of fields is generated.
TEST(ApiFieldsTest, BothTablesHaveTheSameKinds) {
  for (const ApiKind& known : ApiFields::Get().kinds()) {
    EXPECT_NE(api::FindKind(known.api_version, known.name), nullptr)
        << known.api_version << " " << known.name;
  }
  for (const api::KindInfo& info : api::BuiltInKinds()) {
    for (const absl::string_view version : absl::StrSplit(info.versions, ' ')) {
      const std::string api_version = absl::StrCat(info.group, info.group.empty() ? "" : "/", version);
      EXPECT_NE(ApiFields::Get().Find(api_version, info.name), nullptr) << api_version << " " << info.name;
    }
  }
}

}  // namespace
}  // namespace schedsim::codec
