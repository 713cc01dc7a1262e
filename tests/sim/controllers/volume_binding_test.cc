#include "sim/controllers/volume_binding.h"

#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

std::string Manifest(const std::string& name) {
  std::ifstream file(absl::StrCat(SCHEDSIM_SOURCE_DIR "/tests/sim/controllers/volumes/", name, ".yaml"));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::unique_ptr<Simulation> Simulate(SmallCluster& cluster, std::optional<double> until = std::nullopt) {
  cluster.options.controllers.persistent_volumes = PersistentVolumeOptions();
  return cluster.Run(until);
}

// "Bound, class local-now, volume now-0"; "-" where there is no such claim.
std::string ClaimText(const Simulation& simulation, const std::string& name) {
  const api::ObjectPtr object =
      simulation.server().Find(api::Kind::kPersistentVolumeClaim, "PersistentVolumeClaim", "default", name);
  if (object == nullptr) return "-";
  const auto& claim = static_cast<const api::PersistentVolumeClaim&>(*object);
  return absl::StrCat(claim.phase, ", class ", claim.spec.storage_class_name.value_or("(none)"), ", volume ",
                      claim.spec.volume_name);
}

// "Bound to data"; "-" where there is no such volume.
std::string VolumeText(const Simulation& simulation, const std::string& name) {
  const api::ObjectPtr object =
      simulation.server().Find(api::Kind::kPersistentVolume, "PersistentVolume", "", name);
  if (object == nullptr) return "-";
  const auto& volume = static_cast<const api::PersistentVolume&>(*object);
  if (!volume.spec.claim_ref.has_value()) return volume.phase;
  return absl::StrCat(volume.phase, " to ", volume.spec.claim_ref->name);
}

std::string Class(const std::string& name, const std::string& more) {
  return absl::StrCat("---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: ", name,
                      "}, ", more, "}\n");
}

std::string Claim(const std::string& name, const std::string& spec) {
  return absl::StrCat("---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: ", name,
                      ", namespace: default}, spec: {", spec,
                      ", accessModes: [ReadWriteOnce], resources: {requests: {storage: 3Gi}}}}\n");
}

std::string Volume(const std::string& name, const std::string& spec) {
  return absl::StrCat("---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: ", name, "}, spec: {",
                      spec,
                      ", accessModes: [ReadWriteOnce], capacity: {storage: 5Gi}, hostPath: {path: /x}}}\n");
}

// The pod `pod` that uses the claim `data`.
std::string PodWithData(const std::string& spec, const std::string& status) {
  return absl::StrCat(
      "---\n{apiVersion: v1, kind: Pod, metadata: {name: pod, namespace: default}, spec: {", spec,
      "volumes: [{name: d, persistentVolumeClaim: {claimName: data}}], containers: [{name: c, "
      "image: i}]}, status: ",
      status, "}\n");
}

void DeleteClaimAt(SmallCluster& cluster, int seconds, const std::string& name) {
  cluster.on_made = [seconds, name](Simulation& simulation) {
    simulation.loop().At(
        simulation.zero() + absl::Seconds(seconds), EventLoop::Phase::kStep, [&simulation, name] {
          EXPECT_TRUE(simulation.server()
                          .Delete(api::Kind::kPersistentVolumeClaim, "PersistentVolumeClaim", "default", name)
                          .ok());
        });
  };
}

// The recording is of a real cluster: its claims before there are pods.
TEST(VolumeBinding, BindsClaimsWithoutPodsAsTheRealOneDid) {
  SmallCluster cluster(absl::StrCat(Manifest("01-nodes"), "\n---\n", Manifest("02-classes"), "\n---\n",
                                    Manifest("03-volumes"), "\n---\n", Manifest("04-claims")));
  const auto simulation = Simulate(cluster);
  const std::map<std::string, std::string> claims = {
      {"default-a", "Pending, class standard, volume "},
      {"default-b", "Pending, class standard, volume "},
      {"empty-class", "Bound, class , volume noclass"},
      {"now-mid", "Bound, class local-now, volume now-1"},
      {"now-none", "Pending, class local-now, volume "},
      {"now-small", "Bound, class local-now, volume now-0"},
      {"pinned", "Bound, class local-wait, volume pinned"},
      {"prov", "Pending, class prov-wait, volume "},
      {"unused-wait", "Pending, class local-wait, volume "},
      {"wrong-volume", "Pending, class local-wait, volume does-not-exist"},
  };
  for (const auto& [name, text] : claims) EXPECT_EQ(ClaimText(*simulation, name), text) << name;
  const std::map<std::string, std::string> volumes = {
      {"loc-00", "Available"},         {"loc-big", "Available"},      {"noclass", "Bound to empty-class"},
      {"now-0", "Bound to now-small"}, {"now-1", "Bound to now-mid"}, {"now-2", "Available"},
      {"pinned", "Bound to pinned"},   {"std-0", "Available"},
  };
  for (const auto& [name, text] : volumes) EXPECT_EQ(VolumeText(*simulation, name), text) << name;
}

TEST(VolumeBinding, AClaimMayNotHaveTheVolumeThatItNames) {
  for (const char* spec : {"storageClassName: other", "storageClassName: manual, volumeMode: Block"}) {
    SmallCluster cluster(absl::StrCat(Volume("v", "storageClassName: manual").substr(4),
                                      Claim("data", absl::StrCat(spec, ", volumeName: v"))));
    const auto simulation = Simulate(cluster);
    EXPECT_EQ(ClaimText(*simulation, "data").substr(0, 7), "Pending") << spec;
    EXPECT_EQ(VolumeText(*simulation, "v"), "Available") << spec;
  }
}

TEST(VolumeBinding, AVolumeThatNamesAClaimIsKeptForIt) {
  SmallCluster cluster(absl::StrCat(
      Volume("v", "storageClassName: manual, claimRef: {namespace: default, name: data}").substr(4),
      Claim("another", "storageClassName: manual")));
  cluster.Create(1, Claim("data", "storageClassName: manual").substr(4));
  const auto simulation = Simulate(cluster, 20);
  EXPECT_EQ(ClaimText(*simulation, "another"), "Pending, class manual, volume ");
  EXPECT_EQ(ClaimText(*simulation, "data"), "Bound, class manual, volume v");
}

TEST(VolumeBinding, LooksEveryFifteenSecondsForWhatAClaimWaitsFor) {
  SmallCluster cluster(Claim("data", "storageClassName: manual").substr(4) +
                       Claim("plain", "volumeMode: Filesystem"));
  cluster.Create(2, Volume("v", "storageClassName: manual").substr(4));
  cluster.Create(3,
                 "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: std, annotations: "
                 "{storageclass.kubernetes.io/is-default-class: \"true\"}}, provisioner: disk.example}\n");
  EXPECT_EQ(ClaimText(*Simulate(cluster, 14), "data"), "Pending, class manual, volume ");
  EXPECT_EQ(ClaimText(*Simulate(cluster, 16), "data"), "Bound, class manual, volume v");
  EXPECT_EQ(ClaimText(*Simulate(cluster, 16), "plain").substr(0, 16), "Bound, class std")
      << "the default, later";
}

TEST(VolumeBinding, ReleasesTheVolumeOfADeletedClaimByItsPolicy) {
  const struct {
    const char* policy;
    const char* want;
  } rows[] = {{"persistentVolumeReclaimPolicy: Retain", "Released to data"},
              {"volumeMode: Filesystem", "Released to data"},
              {"persistentVolumeReclaimPolicy: Delete", "Failed to data"},
              {"persistentVolumeReclaimPolicy: Recycle", "Available"}};
  for (const auto& row : rows) {
    SmallCluster cluster(
        absl::StrCat(Volume("v", absl::StrCat("storageClassName: manual, ", row.policy)).substr(4),
                     Claim("data", "storageClassName: manual")));
    DeleteClaimAt(cluster, 1, "data");
    EXPECT_EQ(VolumeText(*Simulate(cluster), "v"), row.want) << row.policy;
  }
}

TEST(VolumeBinding, MakesAVolumeAndDeletesItWithItsClaim) {
  const std::string objects = absl::StrCat(Class("fast", "provisioner: disk.example").substr(4),
                                           Claim("data", "storageClassName: fast"));
  SmallCluster cluster(objects);
  const auto made = Simulate(cluster);
  EXPECT_EQ(ClaimText(*made, "data").substr(0, 5), "Bound");
  EXPECT_EQ(made->server().List(api::Kind::kPersistentVolume).size(), 1U);
  DeleteClaimAt(cluster, 1, "data");
  EXPECT_EQ(Simulate(cluster)->server().List(api::Kind::kPersistentVolume).size(), 0U);
  SmallCluster retained(
      absl::StrCat(Class("fast", "provisioner: disk.example, reclaimPolicy: Retain").substr(4),
                   Claim("data", "storageClassName: fast")));
  DeleteClaimAt(retained, 1, "data");
  EXPECT_EQ(Simulate(retained)->server().List(api::Kind::kPersistentVolume).size(), 1U);
}

// The nodes that reach the claim's volume: "zone in za; or name n1"; "all" of them.
std::string ReachText(const Simulation& simulation) {
  const ApiServer::Objects& volumes = simulation.server().List(api::Kind::kPersistentVolume);
  if (volumes.size() != 1) return absl::StrCat(volumes.size(), " volumes");
  const auto& spec = static_cast<const api::PersistentVolume&>(*volumes.begin()->second).spec;
  if (!spec.node_affinity.has_value()) return "all";
  std::vector<std::string> terms;
  for (const api::NodeSelectorTerm& term : spec.node_affinity->node_selector_terms) {
    std::vector<std::string> parts;
    for (const api::NodeSelectorRequirement& label : term.match_expressions)
      parts.push_back(absl::StrCat(label.key, " in ", absl::StrJoin(label.values, ",")));
    for (const api::NodeSelectorRequirement& field : term.match_fields)
      parts.push_back(absl::StrCat(field.key, " is ", absl::StrJoin(field.values, ",")));
    terms.push_back(absl::StrJoin(parts, " and "));
  }
  return absl::StrJoin(terms, "; or ");
}

struct Reach {
  std::string provisioner;
  std::string labels;  // Of the node.
  std::string driver;  // Of its CSINode, beside the name; "": it has none.
  std::string mode;
  std::string want;
  std::string warning;  // Of it.
};

TEST(VolumeBinding, AVolumeIsReachedFromWhereItsProvisionerMakesIt) {
  const std::string zone = "topology.kubernetes.io/zone: za";
  const std::string host = "kubernetes.io/hostname: host-1";
  const std::string both = absl::StrCat(zone, ", ", host);
  const std::string unknown = "no CSINode says which nodes reach its volumes";
  const std::vector<Reach> rows = {
      // What the CSINode says.
      {"lvm.example", absl::StrCat(both, ", lvm.example/node: a"), ", topologyKeys: [lvm.example/node]",
       "ReadWriteOnce", "lvm.example/node in a", ""},
      {"ebs.csi.aws.com", both, ", topologyKeys: [topology.kubernetes.io/zone, kubernetes.io/hostname]",
       "ReadWriteOnce", "topology.kubernetes.io/zone in za and kubernetes.io/hostname in host-1", ""},
      {"disk.example", both, ", topologyKeys: []", "ReadWriteOnce", "all", ""},
      {"disk.example", both, " ", "ReadWriteOnce", "all", ""},
      // A label that the node lacks tells nothing.
      {"disk.example", zone, ", topologyKeys: [missing]", "ReadWriteOnce",
       "topology.kubernetes.io/zone in za", unknown},
      // What is known by name.
      {"rancher.io/local-path", both, "", "ReadWriteOnce", "kubernetes.io/hostname in host-1", ""},
      {"rancher.io/local-path", zone, "", "ReadWriteOnce", "metadata.name is n1", ""},
      {"nfs.csi.k8s.io", both, "", "ReadWriteOnce", "all", ""},
      {"kubernetes.io/aws-ebs", both, "", "ReadWriteOnce", "topology.kubernetes.io/zone in za", ""},
      // What is assumed.
      {"disk.example", both, "", "ReadWriteOnce", "topology.kubernetes.io/zone in za",
       "a disk in the zone of its node"},
      {"disk.example", host, "", "ReadWriteOnce", "kubernetes.io/hostname in host-1", "a disk of its node"},
      {"vendor.example/nas", both, "", "ReadWriteMany", "all", "a file system that all nodes reach"},
  };
  for (const Reach& row : rows) {
    SmallCluster cluster(absl::StrCat(
        "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {", row.labels,
        "}}, status: {allocatable: {cpu: 4, pods: 9}}}\n",
        Class("c", absl::StrCat("volumeBindingMode: WaitForFirstConsumer, provisioner: ", row.provisioner)),
        "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default}, "
        "spec: "
        "{storageClassName: c, accessModes: [",
        row.mode, "], resources: {requests: {storage: 3Gi}}}}\n",
        row.driver.empty()
            ? ""
            : absl::StrCat(
                  "---\n{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: "
                  "[{name: ",
                  row.provisioner, ", nodeID: i", row.driver, "}]}}\n"),
        "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: "
        "[{name: c, image: "
        "i}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}\n"));
    const auto simulation = Simulate(cluster);
    EXPECT_EQ(ReachText(*simulation), row.want) << row.provisioner << row.driver;
    const std::string warnings = absl::StrJoin(simulation->Warnings(), "\n");
    EXPECT_EQ(warnings.empty(), row.warning.empty()) << row.provisioner << row.driver << warnings;
    EXPECT_TRUE(absl::StrContains(warnings, row.warning)) << warnings;
  }
}

TEST(VolumeBinding, AVolumeThatIsMadeAtOnceIsWhereItsClassAllowsIt) {
  const auto run = [](const std::string& topologies) {
    SmallCluster cluster(absl::StrCat(
        "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {topology.kubernetes.io/zone: za}}}\n---\n"
        "{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {topology.kubernetes.io/zone: zb}}}\n",
        Class("c", absl::StrCat("provisioner: ebs.csi.aws.com", topologies)),
        Claim("data", "storageClassName: c")));
    const auto simulation = Simulate(cluster);
    return absl::StrCat(ReachText(*simulation), " | ", absl::StrJoin(simulation->Warnings(), "; "));
  };
  EXPECT_EQ(run(", allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: "
                "[zb]}]}]"),
            "topology.kubernetes.io/zone in zb | ");
  const std::string unknown =
      "StorageClass c of ebs.csi.aws.com: which topology its provisioner chooses is not simulated, so that "
      "of claim "
      "default/data is taken for one that all nodes ";
  EXPECT_EQ(
      run(", allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [za, "
          "zb]}]}]"),
      absl::StrCat("topology.kubernetes.io/zone in za,zb | ", unknown, "of its allowedTopologies reach"));
  EXPECT_EQ(run(""), absl::StrCat("all | ", unknown, "reach"));
}

TEST(VolumeBinding, SaysThatNobodyRunsAProvisioner) {
  SmallCluster cluster(absl::StrCat(Class("fast", "provisioner: disk.example").substr(4),
                                    Claim("data", "storageClassName: fast")));
  cluster.options.controllers.persistent_volumes = PersistentVolumeOptions();
  cluster.options.controllers.persistent_volumes->provisioners = std::vector<std::string>{"other.example"};
  const auto simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(ClaimText(*simulation, "data"), "Pending, class fast, volume ");
  ASSERT_EQ(simulation->Warnings().size(), 1U);
  EXPECT_EQ(
      simulation->Warnings()[0],
      "StorageClass fast: nobody runs its provisioner disk.example, so its claims stay Pending; the first is "
      "default/data");
}

TEST(VolumeBinding, AClaimWhoseVolumeIsAnothersIsLost) {
  const std::string claim =
      absl::StrReplaceAll(Claim("data", "storageClassName: manual, volumeName: v"),
                          {{"namespace: default}",
                            "namespace: default, annotations: {pv.kubernetes.io/bind-completed: \"yes\"}}"}});
  SmallCluster cluster(absl::StrCat(
      Volume("v", "storageClassName: manual, claimRef: {namespace: default, name: other, uid: u}").substr(4),
      claim));
  EXPECT_EQ(ClaimText(*Simulate(cluster), "data"), "Lost, class manual, volume v");
}

TEST(VolumeBinding, PartsOfAClusterThatAreNotInTheInputChangeNothing) {
  SmallCluster cluster(
      "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v, uid: uv}, spec: {claimRef: {namespace: "
      "default, "
      "name: "
      "away, uid: u}, persistentVolumeReclaimPolicy: Delete}, status: {phase: Bound}}\n"
      "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default, "
      "annotations: "
      "{pv.kubernetes.io/bind-completed: \"yes\"}}, spec: {volumeName: away, accessModes: "
      "[ReadWriteOnce], resources: {requests: {storage: 1Gi}}}, status: {phase: Bound}}\n");
  const auto simulation = Simulate(cluster);
  EXPECT_EQ(VolumeText(*simulation, "v"), "Bound to away");
  EXPECT_EQ(ClaimText(*simulation, "data"), "Bound, class (none), volume away");
}

TEST(ClaimProtection, AClaimThatAPodUsesStaysUntilThePodIsGone) {
  SmallCluster cluster(
      absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: node}, status: {allocatable: {cpu: 2, "
                   "memory: 8Gi, pods: "
                   "9}}}\n",
                   Volume("v", "storageClassName: manual"), Claim("data", "storageClassName: manual"),
                   PodWithData("", "{}")));
  DeleteClaimAt(cluster, 1, "data");
  EXPECT_EQ(ClaimText(*Simulate(cluster, 9), "data"), "Bound, class manual, volume v");
  cluster.DeletePod(10, "pod");
  const auto after = Simulate(cluster, 11);
  EXPECT_EQ(ClaimText(*after, "data"), "-");
  EXPECT_EQ(VolumeText(*after, "v"), "Released to data");
}

// Its phase does not matter: as long as there is the pod, the volume may be mounted.
TEST(ClaimProtection, APodThatIsOverUsesItsClaim) {
  SmallCluster cluster(absl::StrCat(Volume("v", "storageClassName: manual").substr(4),
                                    Claim("data", "storageClassName: manual"),
                                    PodWithData("nodeName: node, ", "{phase: Succeeded}")));
  DeleteClaimAt(cluster, 1, "data");
  EXPECT_EQ(ClaimText(*Simulate(cluster, 9), "data"), "Bound, class manual, volume v");
  cluster.DeletePod(10, "pod");
  EXPECT_EQ(ClaimText(*Simulate(cluster, 11), "data"), "-");
}

TEST(ClaimProtection, AVolumeStaysWhileItIsBound) {
  SmallCluster cluster(absl::StrCat(Volume("v", "storageClassName: manual").substr(4),
                                    Claim("data", "storageClassName: manual")));
  cluster.on_made = [](Simulation& simulation) {
    const auto delete_at = [&simulation](int seconds, api::Kind kind, const char* kind_name,
                                         const char* name_space, const char* name) {
      simulation.loop().At(simulation.zero() + absl::Seconds(seconds), EventLoop::Phase::kStep,
                           [=, &simulation] {
                             EXPECT_TRUE(simulation.server().Delete(kind, kind_name, name_space, name).ok());
                           });
    };
    delete_at(1, api::Kind::kPersistentVolume, "PersistentVolume", "", "v");
    delete_at(10, api::Kind::kPersistentVolumeClaim, "PersistentVolumeClaim", "default", "data");
  };
  const auto during = Simulate(cluster, 9);
  EXPECT_EQ(VolumeText(*during, "v"), "Bound to data");
  EXPECT_EQ(ClaimText(*during, "data"), "Bound, class manual, volume v");
  EXPECT_EQ(VolumeText(*Simulate(cluster, 11), "v"), "-");
}

TEST(ClaimProtection, WhatIsBeingDeletedAndUnusedGoesAtTheStart) {
  const auto ending = [](std::string object, const std::string& name) {
    return absl::StrReplaceAll(object,
                               {{absl::StrCat("name: ", name), absl::StrCat("name: ", name,
                                                                            ", deletionTimestamp: "
                                                                            "\"2001-01-01T00:00:00Z\"")}});
  };
  SmallCluster cluster(absl::StrCat(ending(Volume("v", "storageClassName: manual"), "v").substr(4),
                                    ending(Claim("data", "storageClassName: other"), "data")));
  const auto simulation = Simulate(cluster, 1);
  EXPECT_EQ(VolumeText(*simulation, "v"), "-");
  EXPECT_EQ(ClaimText(*simulation, "data"), "-");
  SmallCluster held(absl::StrReplaceAll(ending(Volume("v", "storageClassName: manual"), "v").substr(4),
                                        {{"name: v,", "name: v, finalizers: [external-attacher/x],"}}));
  EXPECT_EQ(VolumeText(*Simulate(held, 1), "v"), "Available");
}

}  // namespace
}  // namespace schedsim::sim
