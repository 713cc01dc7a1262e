#include "sim/controllers/pod_template_hash.h"

#include <string>

#include "absl/strings/match.h"
#include "core/codec/text/input.h"
#include "core/codec/text/reader.h"
#include "gtest/gtest.h"
#include "sim/controllers/pod_template_json.h"

namespace schedsim::sim {
namespace {

std::string TextOf(const std::string& pod_template, api::KubernetesLine line) {
  std::string text;
  const absl::Status status =
      codec::ReadText(pod_template, "template.json", {}, [&](const codec::Document& document) {
        text = PodTemplateText(document.root, line);
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status;
  return text;
}

// Templates, and the hashes that Kubernetes 1.37.2 makes of them: SetObjectDefaults_Deployment, a way through
// protobuf, and ComputeHash; for revisions, the defaults of a StatefulSet, getPatch and
// HashControllerRevision.
TEST(PodTemplateHash, IsThatOfKubernetes) {
  auto lines =
      codec::ReadFile(std::string(SCHEDSIM_SOURCE_DIR) + "/tests/sim/controllers/pod_templates.jsonl");
  ASSERT_TRUE(lines.ok()) << lines.status();
  int count = 0;
  const absl::Status status =
      codec::ReadText(*std::move(lines), "pod_templates.jsonl", {}, [&](const codec::Document& document) {
        const codec::Value& root = document.root;
        const codec::Value& pod_template = *root.Find("template");
        constexpr auto kLine = api::KubernetesLine::k1_37;
        EXPECT_EQ(PodTemplateHash(pod_template, kLine, std::nullopt), root.Find("hash")->text);
        EXPECT_EQ(PodTemplateHash(pod_template, kLine, 1), root.Find("collided")->text);
        const std::string data = RevisionData(PodTemplateJson(pod_template, kLine));
        EXPECT_EQ(RevisionHash(data, 0), root.Find("revision")->text) << data;
        EXPECT_EQ(RevisionHash(data, 1), root.Find("revisionCollided")->text);
        ++count;
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(count, 4);
}

// Each release has its fields, and so other hashes.
TEST(PodTemplateHash, HasTheFieldsOfItsRelease) {
  const auto has = [](const std::string& name, api::KubernetesLine line) {
    return absl::StrContains(TextOf("{}", line), name);
  };
  EXPECT_FALSE(has(" WorkloadRef:", api::KubernetesLine::k1_34));
  EXPECT_TRUE(has(" WorkloadRef:(*v1.WorkloadReference)<nil> ", api::KubernetesLine::k1_35) ||
              has(" WorkloadRef:(*v1.WorkloadReference)<nil>}", api::KubernetesLine::k1_35));
  EXPECT_FALSE(has(" WorkloadRef:", api::KubernetesLine::k1_36));
  EXPECT_FALSE(has(" EvictionResponders:", api::KubernetesLine::k1_36));
  EXPECT_TRUE(
      has(" SchedulingGroup:(*v1.PodSchedulingGroup)<nil> EvictionResponders:([]v1.EvictionResponder)<nil>}",
          api::KubernetesLine::k1_37));
}

}  // namespace
}  // namespace schedsim::sim
