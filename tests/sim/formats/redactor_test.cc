#include "sim/formats/redact/redactor.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/codec/text/reader.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "sim/formats/redact/field_rules.h"
#include "sim/formats/redact/pseudonyms.h"
#include "sim/formats/snapshot_objects.h"

namespace schedsim::sim {
namespace {

using Json = nlohmann::json;

std::vector<Json> Redacted(const std::vector<std::string>& objects, const RedactOptions& options = {}) {
  std::vector<Json> list;
  for (const std::string& json : Redact(objects, options).objects) list.push_back(Json::parse(json));
  return list;
}

constexpr char kPod[] =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"shop-6d4-x7","namespace":"acme",
  "uid":"11-22","generateName":"shop-6d4-","labels":{"app":"shop","pod-template-hash":"6d4","acme.com/team":"cash"},
  "annotations":{"acme.com/secret":"s3cret","controller.kubernetes.io/pod-deletion-cost":"5"},"managedFields":[{}],
  "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"shop-6d4","uid":"33-44","controller":true}]},
  "spec":{"nodeName":"acme-node-1","serviceAccountName":"cashier","containers":[{"name":"main","image":"reg.acme.com/shop:v1",
  "command":["run","--password=s3cret"],"env":[{"name":"PASSWORD","value":"s3cret"}],"resources":{"requests":{"cpu":"1",
  "nvidia.com/gpu":"1","acme.com/chip":"2"}},"ports":[{"name":"http","containerPort":80,"hostPort":80,"hostIP":"10.1.2.3"}]}],
  "volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data-db-0"}},{"name":"cfg","configMap":{"name":"acme-cfg"}}],
  "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[
  {"key":"topology.kubernetes.io/zone","operator":"In","values":["acme-a"]},{"key":"acme.com/slots","operator":"Gt","values":["3"]}],
  "matchFields":[{"key":"metadata.name","operator":"In","values":["acme-node-1"]}]}]}}},
  "tolerations":[{"key":"acme.com/only","operator":"Equal","value":"cash","effect":"NoSchedule"},
  {"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],
  "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"acme.com/rack","whenUnsatisfiable":"DoNotSchedule",
  "labelSelector":{"matchLabels":{"app":"shop"}}}],"priorityClassName":"system-node-critical","schedulerName":"default-scheduler"},
  "status":{"phase":"Running","podIP":"10.1.2.4","hostIP":"10.1.2.3","message":"acme","conditions":[{"type":"PodScheduled",
  "status":"False","reason":"Unschedulable","message":"node acme-node-1"},{"type":"acme.com/ok","status":"True"}]}})";
constexpr char kNode[] = R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"acme-node-1","labels":{
  "kubernetes.io/hostname":"acme-node-1","kubernetes.io/os":"linux","topology.kubernetes.io/zone":"acme-a","acme.com/slots":"4",
  "acme.com/rack":"r1"}},"spec":{"podCIDR":"10.1.0.0/16","providerID":"aws:///acme/i-12","taints":[{"key":"acme.com/only",
  "value":"cash","effect":"NoSchedule"}]},"status":{"allocatable":{"cpu":"4","acme.com/chip":"8","nvidia.com/gpu":"1"},
  "images":[{"names":["reg.acme.com/shop:v1"],"sizeBytes":7}],"nodeInfo":{"kubeletVersion":"v1.37.2","machineID":"acme"},
  "addresses":[{"type":"Hostname","address":"acme-node-1"}]}})";
constexpr char kSet[] =
    R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db","namespace":"acme"},
  "spec":{"serviceName":"db","selector":{"matchLabels":{"app":"shop"}}}})";
constexpr char kSecret[] =
    R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"shop","namespace":"acme"},
  "data":{"password":"s3cret"}})";
constexpr char kEvent[] =
    R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"shop.1","namespace":"acme"},
  "message":"s3cret"})";
constexpr char kCustom[] = R"({"apiVersion":"acme.com/v1","kind":"Till","metadata":{"name":"s3cret"}})";

TEST(RedactorTest, NothingOfTheClusterIsLeft) {
  const std::string text =
      absl::StrJoin(Redact({kPod, kNode, kSet, kSecret, kEvent, kCustom}, {}).objects, "\n");
  for (const char* word :
       {"acme", "shop", "6d4", "s3cret", "cash", "reg.", "rack", "chip", "10.1.", "team", "main", "PASSWORD",
        "podCIDR", "providerID", "managedFields", "11-22", "33-44", "i-12", "Till"}) {
    EXPECT_FALSE(absl::StrContains(text, word)) << word << " in\n" << text;
  }
  EXPECT_FALSE(absl::StrContains(text, "\"message\"")) << text;
}

TEST(RedactorTest, ReferencesLeadWhereTheyLed) {
  const std::vector<Json> objects = Redacted({kPod, kNode, kSet});
  const Json& pod = objects[0];
  const Json& node = objects[1];
  const std::string name = node["metadata"]["name"];
  EXPECT_EQ(pod["spec"]["nodeName"], name);
  EXPECT_EQ(node["metadata"]["labels"]["kubernetes.io/hostname"], name);
  const Json& term = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
                        ["nodeSelectorTerms"][0];
  EXPECT_EQ(term["matchFields"][0]["values"][0], name);
  EXPECT_EQ(term["matchFields"][0]["key"], "metadata.name");
  EXPECT_EQ(term["matchExpressions"][0]["values"][0],
            node["metadata"]["labels"]["topology.kubernetes.io/zone"]);
  // A label that is compared as a number keeps its numbers.
  const std::string slots = term["matchExpressions"][1]["key"];
  EXPECT_EQ(term["matchExpressions"][1]["values"][0], "3");
  EXPECT_EQ(node["metadata"]["labels"][slots], "4");
  EXPECT_EQ(pod["spec"]["tolerations"][0]["key"], node["spec"]["taints"][0]["key"]);
  EXPECT_EQ(pod["spec"]["tolerations"][0]["value"], node["spec"]["taints"][0]["value"]);
  EXPECT_EQ(pod["spec"]["tolerations"][1]["key"], "node.kubernetes.io/not-ready");
  EXPECT_TRUE(
      node["metadata"]["labels"].contains(pod["spec"]["topologySpreadConstraints"][0]["topologyKey"]));
  EXPECT_EQ(pod["spec"]["containers"][0]["image"], node["status"]["images"][0]["names"][0]);
  // The pod's name is still made of its owner's, and the label is a part of it.
  const std::string owner = pod["metadata"]["ownerReferences"][0]["name"];
  EXPECT_TRUE(absl::StartsWith(pod["metadata"]["name"].get<std::string>(), owner + "-"));
  EXPECT_EQ(pod["metadata"]["generateName"], owner + "-");
  EXPECT_TRUE(absl::EndsWith(owner, "-" + pod["metadata"]["labels"]["pod-template-hash"].get<std::string>()));
  // Claims of a StatefulSet keep their number.
  const std::string claim = pod["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"];
  EXPECT_TRUE(absl::EndsWith(claim, "-" + objects[2]["metadata"]["name"].get<std::string>() + "-0")) << claim;
}

TEST(RedactorTest, WhatDecidesStays) {
  const std::vector<Json> objects = Redacted({kPod, kNode, kSecret});
  const Json& pod = objects[0];
  EXPECT_EQ(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"], "1");
  EXPECT_EQ(pod["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"], "1");
  EXPECT_EQ(pod["spec"]["containers"][0]["ports"][0]["hostPort"], 80);
  EXPECT_EQ(pod["spec"]["priorityClassName"], "system-node-critical");
  EXPECT_EQ(pod["spec"]["schedulerName"], "default-scheduler");
  EXPECT_EQ(pod["metadata"]["annotations"]["controller.kubernetes.io/pod-deletion-cost"], "5");
  EXPECT_EQ(pod["status"]["conditions"][0]["reason"], "Unschedulable");
  EXPECT_EQ(objects[1]["metadata"]["labels"]["kubernetes.io/os"], "linux");
  EXPECT_EQ(objects[1]["status"]["nodeInfo"]["kubeletVersion"], "v1.37.2");
  // Counted by quotas.
  EXPECT_EQ(objects[2]["kind"], "Secret");
  EXPECT_FALSE(objects[2].contains("data"));
}

TEST(RedactorTest, WordsOfAProviderGo) {
  const Json node = Redacted({R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{
    "allocatable":{"attachable-volumes-csi-disks.acme.com":"8","attachable-volumes-csi-ebs.csi.aws.com":"25"},
    "nodeInfo":{"kubeletVersion":"v1.37.2-acme.7"},
    "conditions":[{"type":"Ready","status":"True","reason":"KubeletReady"},
                  {"type":"Frozen","status":"True","reason":"AcmeFreeze"}]}})",
                              R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"m"},"status":{
    "nodeInfo":{"kubeletVersion":"kwok-v0.7.0"}}})"})[0];
  EXPECT_EQ(node["status"]["nodeInfo"]["kubeletVersion"], "v1.37.2");
  EXPECT_EQ(node["status"]["conditions"][0]["reason"], "KubeletReady");
  EXPECT_EQ(node["status"]["allocatable"]["attachable-volumes-csi-ebs.csi.aws.com"], "25");
  EXPECT_EQ(node["status"]["allocatable"].size(), 2u);
  EXPECT_FALSE(absl::StrContains(node.dump(), "acme")) << node;
  EXPECT_FALSE(absl::StrContains(node.dump(), "Acme")) << node;
}

TEST(RedactorTest, SaysWhatIsLeftOut) {
  const RedactedObjects redacted = Redact({kNode, kEvent, kCustom}, {});
  ASSERT_EQ(redacted.objects.size(), 1u);
  ASSERT_EQ(redacted.notes.size(), 1u);
  EXPECT_EQ(redacted.notes[0], "left out, since no pod is placed by them: 1 Event, 1 Till");
}

TEST(RedactorTest, SaysWhatPodsArePlacedBy) {
  const RedactedObjects redacted = Redact(
      {kNode, kEvent, R"({"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"a"}})",
       R"({"apiVersion":"scheduling.x-k8s.io/v1alpha1","kind":"PodGroup","metadata":{"name":"a"}})"},
      {});
  EXPECT_EQ(redacted.notes, (std::vector<std::string>{
                                "left out, so that pods may be placed otherwise: 1 DeviceClass, 1 PodGroup",
                                "left out, since no pod is placed by them: 1 Event"}));
}

// What scheduling reads of an object is what its decoder knows.
TEST(RedactorTest, FieldsThatSchedulingReadsHaveRules) {
  // Keys stand in expressions and taints; what a claim of devices became is left out with the claims.
  const std::set<std::string> others = {"key", "message", "nodeID", "resourceClaimStatuses"};
  int count = 0;
  for (const char* file : {"fields_meta.h", "fields_pod.h", "fields_pod_group.h", "fields_storage.h"}) {
    std::ifstream in(std::string(SCHEDSIM_SOURCE_DIR "/core/codec/objects/") + file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::regex field(R"re(\b(?:F|In)\("([^"]*)")re");
    for (std::sregex_iterator at(text.begin(), text.end(), field); at != std::sregex_iterator(); ++at) {
      const std::string name = (*at)[1];
      ++count;
      if (name.empty() || others.count(name) > 0) continue;
      const bool is_ruled = RedactionOf("", name) != Redaction::kDrop ||
                            RedactionOf("image", name) != Redaction::kDrop ||
                            RedactionOf("podGroups", name) != Redaction::kDrop ||
                            RedactionOf("schedulingConstraints", name) != Redaction::kDrop;
      EXPECT_TRUE(is_ruled) << file << ": " << name;
    }
  }
  EXPECT_GT(count, 200);
}

TEST(RedactorTest, GroupsOfPodsStayTogether) {
  const std::vector<Json> objects = Redacted(
      {R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"schedulingGroup":{"podGroupName":"acme"}}})",
       R"({"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"acme"},"spec":{
       "schedulingPolicy":{"gang":{"minCount":3}},"disruptionMode":{"all":{}},
       "schedulingConstraints":{"topology":[{"key":"acme.com/rack"}]}}})"});
  EXPECT_EQ(objects[0]["spec"]["schedulingGroup"]["podGroupName"], objects[1]["metadata"]["name"]);
  EXPECT_EQ(objects[1]["spec"]["schedulingPolicy"]["gang"]["minCount"], 3);
  EXPECT_TRUE(objects[1]["spec"]["disruptionMode"].contains("all"));
  EXPECT_EQ(objects[1]["spec"]["schedulingConstraints"]["topology"].size(), 1u);
  EXPECT_FALSE(absl::StrContains(objects[1].dump(), "acme")) << objects[1];
}

TEST(RedactorTest, PodsThatABudgetLetGoKeepTheirNames) {
  const std::vector<Json> objects =
      Redacted({R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"acme-1"}})",
                R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},
       "status":{"disruptedPods":{"acme-1":"2026-01-01T00:00:00Z"}}})"});
  EXPECT_TRUE(objects[1]["status"]["disruptedPods"].contains(objects[0]["metadata"]["name"])) << objects[1];
}

TEST(RedactorTest, TypesOfConditionsThatAreNotOfKubernetesGo) {
  const std::vector<Json> objects =
      Redacted({R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"conditions":[
       {"type":"AcmeStorageDown","status":"True"},{"type":"DiskPressure","status":"False"}]}})",
                R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"readinessGates":[
       {"conditionType":"AcmeGate"}]},"status":{"conditions":[{"type":"AcmeGate","status":"True"}]}})"});
  EXPECT_EQ(objects[0]["status"]["conditions"][1]["type"], "DiskPressure");
  EXPECT_EQ(objects[1]["spec"]["readinessGates"][0]["conditionType"],
            objects[1]["status"]["conditions"][0]["type"]);
  EXPECT_FALSE(absl::StrContains(Json(objects).dump(), "Acme")) << Json(objects);
}

TEST(RedactorTest, OnlyDomainsOfKubernetesStay) {
  constexpr char kLabeled[] =
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":{"kubernetes.io/a":"","k8s.io/b":"",
      "x.kubernetes.io/c":"","y.k8s.io/d":"","secretcorp-kubernetes.io/e":"","acmek8s.io/f":""}}})";
  std::map<std::string, int> count;
  const Json labels = Redacted({kLabeled})[0]["metadata"]["labels"];
  for (const auto& [key, value] : labels.items()) ++count[key.substr(0, key.find('/'))];
  EXPECT_EQ(count.size(), 6u);
  for (const char* domain : {"kubernetes.io", "k8s.io", "x.kubernetes.io", "y.k8s.io"})
    EXPECT_EQ(count[domain], 1) << domain;
  EXPECT_FALSE(absl::StrContains(labels.dump(), "corp")) << labels;
  EXPECT_FALSE(absl::StrContains(labels.dump(), "acme")) << labels;
}

TEST(RedactorTest, TheUserKeepsNames) {
  EXPECT_EQ(Redacted({kPod}, {.keep = {"acme"}})[0]["metadata"]["namespace"], "acme");
  EXPECT_TRUE(Redact({kPod}, {.key = "", .keep = {"acme"}}).notes.empty());
  // A name that was mistyped would be gone without a word.
  EXPECT_EQ(Redact({kPod}, {.key = "", .keep = {"acmee"}}).notes,
            std::vector<std::string>{"--keep acmee: no name, label or value of the input is or has that"});
}

TEST(RedactorTest, ARuntimeClassKeepsItsOverhead) {
  const Json redacted = Redacted({R"({"apiVersion":"node.k8s.io/v1","kind":"RuntimeClass",
    "metadata":{"name":"acme"},"handler":"h","overhead":{"podFixed":{"cpu":"1"}}})"})[0];
  EXPECT_EQ(redacted["overhead"]["podFixed"]["cpu"], "1");
}

// Names of a StatefulSet that a controller makes anew: of a pod, of its claim, of its ephemeral claim.
void ExpectMadeOfSet(const std::string& set, const std::string& key, const std::vector<std::string>& keep) {
  Pseudonyms pseudonyms(key, keep);
  const std::vector<std::string> names = {set,        set + "-12",
                                          "data",     "data-" + set + "-12",
                                          "default",  "default-" + set + "-12",
                                          "scratch",  set + "-12-scratch",
                                          "web-last", "web"};
  for (const std::string& name : names) pseudonyms.Note(name);
  pseudonyms.NoteStatefulSet("web");
  pseudonyms.NoteStatefulSet(set);
  pseudonyms.Freeze();
  const std::string code = pseudonyms.Of(set);
  EXPECT_EQ(pseudonyms.Of(set + "-12"), code + "-12");
  EXPECT_LE(pseudonyms.Of(set + "-12").size(), 63u);
  for (const char* claim : {"data", "default"}) {
    EXPECT_EQ(pseudonyms.Of(absl::StrCat(claim, "-", set, "-12")),
              absl::StrCat(pseudonyms.Of(claim), "-", code, "-12"));
  }
  EXPECT_EQ(pseudonyms.Of(set + "-12-scratch"), code + "-12-" + pseudonyms.Of("scratch"));
}

TEST(PseudonymsTest, PodsAndClaimsAreMadeOfTheirSet) {
  for (const char* key : {"", "secret"}) {
    ExpectMadeOfSet("web", key, {});
    // The beginning is another set's name.
    ExpectMadeOfSet("web-1", key, {});
    ExpectMadeOfSet("web-1", key, {"web"});
    ExpectMadeOfSet("web-1", key, {"data"});
    ExpectMadeOfSet("my-app-prod-eu-west-1", key, {});
    ExpectMadeOfSet("a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-s-t-u-v-w-x-y-z", key, {});
  }
}

TEST(PseudonymsTest, ImagesKeepTheirTagHoweverLong) {
  const std::string image = "registry.example.com/team/shop/back/end/service-b";
  Pseudonyms pseudonyms("secret", {});
  for (const std::string& name : {image, image + ":latest"}) pseudonyms.Note(name);
  pseudonyms.Freeze();
  EXPECT_EQ(pseudonyms.Of(image + ":latest"), pseudonyms.Of(image) + ":latest");
}

TEST(PseudonymsTest, NamesAreNoLongerThanNamesMayBe) {
  std::string name = "a";
  for (int i = 0; i < 119; ++i) absl::StrAppend(&name, "-b");
  Pseudonyms pseudonyms("secret", {});
  pseudonyms.Note(name);
  pseudonyms.Freeze();
  EXPECT_LE(pseudonyms.Of(name).size(), 253u);
}

TEST(PseudonymsTest, AreInTheOrderOfTheNames) {
  std::vector<std::string> names = {"web-0a",  "web-1",       "web-10", "web-9x", "web",     "web2",
                                    "web-a.b", "1a",          "9",      "alpha",  "default", "delta",
                                    "e-f",     "kube-system", "kubf",   "zeta",   "a-b-c",   "a-b"};
  Pseudonyms pseudonyms("", {});
  for (const std::string& name : names) pseudonyms.Note(name);
  pseudonyms.Freeze();
  std::sort(names.begin(), names.end());
  std::set<std::string> seen;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) {
      EXPECT_LT(pseudonyms.Of(names[i - 1]), pseudonyms.Of(names[i])) << names[i - 1] << " " << names[i];
    }
    EXPECT_TRUE(seen.insert(pseudonyms.Of(names[i])).second);
  }
  EXPECT_EQ(pseudonyms.Of("default"), "default");
}

TEST(PseudonymsTest, AKeyMakesThemTheSameElsewhere) {
  const auto code = [](const std::string& key, const std::vector<std::string>& names) {
    Pseudonyms pseudonyms(key, {});
    for (const std::string& name : names) pseudonyms.Note(name);
    pseudonyms.Freeze();
    const std::string of = pseudonyms.Of("shop");
    return of.substr(of.size() - 5);
  };
  EXPECT_EQ(code("k", {"shop"}), code("k", {"a", "b", "shop", "z"}));
  EXPECT_NE(code("k", {"shop"}), code("l", {"shop"}));
}

TEST(PseudonymsTest, FitWhereLabelsFit) {
  std::string name = "a";
  for (int i = 0; i < 30; ++i) name += "-a";
  Pseudonyms pseudonyms("key", {});
  pseudonyms.Note(name);
  pseudonyms.Note(name + "b");
  pseudonyms.Freeze();
  EXPECT_LE(pseudonyms.Of(name).size(), 63u);
  EXPECT_LT(pseudonyms.Of(name), pseudonyms.Of(name + "b"));
}

}  // namespace
}  // namespace schedsim::sim
