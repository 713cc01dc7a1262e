// What manifests have that the API server drops.
#include "sim/formats/manifest_fields.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/pod.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/objects/objects.h"
#include "gtest/gtest.h"

namespace schedsim::sim {
namespace {

api::ObjectPtr Read(const std::string& yaml) {
  api::ObjectPtr read;
  const absl::Status status = codec::ObjectReader().ReadText(
      absl::StrCat("---\n", yaml), "test.yaml", [&read](api::ObjectPtr object, const codec::Location&) {
        read = std::move(object);
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status;
  return read;
}

std::string Pod(const std::string& metadata) {
  return absl::StrCat(
      "{apiVersion: v1, kind: Pod, metadata: {name: p", metadata,
      "}, spec: {nodeName: a, containers: [{name: c, image: i}]}, status: {phase: Succeeded}}");
}

TEST(ManifestFields, APodOfAManifestHasNoStatusAndIsNotBeingDeleted) {
  api::ObjectPtr pod = Read(Pod(", deletionTimestamp: '2026-01-01T00:00:00Z'"));
  EXPECT_EQ(DropServerFields(pod), (std::vector<std::string>{"metadata.deletionTimestamp", "status"}));
  EXPECT_EQ(static_cast<const api::Pod&>(*pod).status.phase, "");
  EXPECT_FALSE(pod->metadata.deletion_timestamp.has_value());
  EXPECT_EQ(codec::ObjectJson(*pod).find("Succeeded"), std::string::npos);
  EXPECT_TRUE(DropServerFields(pod).empty()) << "a second time";
}

TEST(ManifestFields, WhatAClusterGaveOutStays) {
  for (const char* metadata : {", uid: u", ", resourceVersion: '7'"}) {
    api::ObjectPtr pod = Read(Pod(metadata));
    EXPECT_TRUE(DropServerFields(pod).empty()) << metadata;
    EXPECT_EQ(static_cast<const api::Pod&>(*pod).status.phase, "Succeeded");
  }
}

TEST(ManifestFields, NodesAndUnknownKindsKeepTheirStatus) {
  for (const char* kind : {"v1, kind: Node", "example.com/v1, kind: Pod", "example.com/v1, kind: Widget"}) {
    api::ObjectPtr object =
        Read(absl::StrCat("{apiVersion: ", kind, ", metadata: {name: a}, status: {phase: Running}}"));
    EXPECT_TRUE(DropServerFields(object).empty()) << kind;
  }
  api::ObjectPtr deployment =
      Read("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, status: {replicas: 3}}");
  EXPECT_EQ(DropServerFields(deployment), (std::vector<std::string>{"status"}));
}

}  // namespace
}  // namespace schedsim::sim
