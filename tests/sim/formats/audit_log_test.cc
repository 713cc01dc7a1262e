// What is made of the events of an audit log.
#include "sim/formats/audit_log.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/base/check.h"
#include "gtest/gtest.h"
#include "tests/sim/formats/audit_log_text.h"

namespace schedsim::sim {
namespace {

AuditLog Read(const AuditLogText& text) {
  absl::StatusOr<AuditLog> log = ParseAuditLog(text.text(), "audit.log", "kube-scheduler/");
  CHECK(log.ok());
  return *std::move(log);
}

std::vector<std::string> NamesOf(const AuditLog& log) {
  std::vector<std::string> names;
  for (const AuditPod& pod : log.pods) names.push_back(pod.name);
  return names;
}

TEST(AuditLogTest, PairsByGenerateNameAndOrder) {
  AuditLogText text;
  text.Pod(5, "web-aaaaa")
      .GeneratedPod(10, "web-")
      .GeneratedPod(20, "db-")
      .GeneratedPod(30, "web-")
      .GeneratedPod(40, "web-");
  text.Bind(50, 51, "web-ccccc").Bind(52, 53, "web-aaaaa").Bind(54, 55, "db-ddddd").Fail(56, 57, "web-bbbbb");
  const AuditLog log = Read(text);
  EXPECT_EQ(NamesOf(log),
            (std::vector<std::string>{"web-aaaaa", "web-ccccc", "db-ddddd", "web-bbbbb", "web-00000"}));
  EXPECT_FALSE(log.pods[0].paired_by_order);
  EXPECT_TRUE(log.pods[1].paired_by_order);
  EXPECT_EQ(log.pods[1].bound, AuditLogText::At(51));
  EXPECT_TRUE(log.pods[3].first_attempt_failed);
  EXPECT_FALSE(log.pods[4].paired_by_order);
  EXPECT_EQ(log.calls[0].pod, 1);
  EXPECT_EQ(log.calls[3].pod, 3);
}

// `kubectl diff` and --dry-run=server leave them in each log.
TEST(AuditLogTest, DryRunsStoreNothing) {
  AuditLogText text;
  text.Pod(5, "web").Bind(10, 11, "web");
  text.Add({.start = 20, .end = 21, .verb = "delete", .name = "web", .body = R"({"dryRun":["All"]})"});
  AuditLogText tried;
  tried.Pod(30, "tried");
  const std::string uri = R"("requestURI":"/api/v1/namespaces/default/pods?dryRun=All",)";
  const std::string log =
      text.text() + absl::StrReplaceAll(tried.text(), {{R"("stage":)", absl::StrCat(uri, R"("stage":)")}});
  const absl::StatusOr<AuditLog> read = ParseAuditLog(log, "audit.log", "kube-scheduler/");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(NamesOf(*read), std::vector<std::string>{"web"});
  EXPECT_EQ(NamesOf(Read(tried)), std::vector<std::string>{"tried"});
  EXPECT_FALSE(read->pods[0].deleted.has_value());
}

TEST(AuditLogTest, PairsPinnedPodsByTheirNode) {
  const auto pin = [](const std::string& node) {
    return absl::StrCat(
        R"(,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{)",
        R"("nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":[")", node,
        R"("]}]}]}}})");
  };
  AuditLogText text;
  text.GeneratedPod(10, "agent-", pin("n1")).GeneratedPod(11, "agent-", pin("n2"));
  text.Bind(20, 21, "agent-xxxxx", "n2").Bind(22, 23, "agent-yyyyy", "n1");
  EXPECT_EQ(NamesOf(Read(text)), (std::vector<std::string>{"agent-yyyyy", "agent-xxxxx"}));
}

TEST(AuditLogTest, APodIsThereWhenSomebodyWritesToIt) {
  AuditLogText text;
  text.Add({.start = 10, .end = 50, .name = "p", .body = AuditLogText::PodBody(R"("name":"p")", "1m", "")});
  text.Bind(20, 60, "p");
  const AuditLog log = Read(text);
  EXPECT_EQ(log.pods[0].created, AuditLogText::At(20));
  EXPECT_EQ(log.pods[0].binding_started, AuditLogText::At(20));
}

TEST(AuditLogTest, ANameThatIsUsedAgainIsAnotherPod) {
  AuditLogText text;
  text.Pod(10, "p")
      .Bind(20, 21, "p", "a")
      .Delete(30, "p")
      .Delete(40, "p", 0)
      .Pod(50, "p")
      .Fail(60, 61, "p")
      .Bind(70, 71, "p", "b");
  const AuditLog log = Read(text);
  ASSERT_EQ(log.pods.size(), 2);
  EXPECT_EQ(log.pods[0].node, "a");
  EXPECT_EQ(log.pods[0].gone, AuditLogText::At(40));
  EXPECT_FALSE(log.pods[0].first_attempt_failed);
  EXPECT_EQ(log.pods[1].node, "b");
  EXPECT_FALSE(log.pods[1].deleted.has_value());
  EXPECT_TRUE(log.pods[1].first_attempt_failed);
}

TEST(AuditLogTest, TwoSecondsWithoutACallAreASilence) {
  AuditLogText text;
  text.Pod(1000, "a").Bind(1010, 1020, "a");
  text.Pod(5000, "b").Pod(6500, "c").Bind(7000, 7010, "b").Bind(7020, 7030, "c");
  text.Pod(10000, "d").Bind(11900, 11910, "d");
  // Nobody knows whether the scheduler was to see to these.
  text.Pod(20000, "gated", "1m", R"(,"schedulingGates":[{"name":"g"}])").Pod(20000, "other");
  text.Pod(29000, "e").Bind(29010, 29020, "e").Bind(29030, 29040, "gated");
  const AuditLog log = Read(text);
  ASSERT_EQ(log.silences.size(), 1);
  EXPECT_EQ(log.silences[0].from, AuditLogText::At(5000));
  EXPECT_EQ(log.silences[0].to, AuditLogText::At(7000));
  EXPECT_EQ(log.AfterSilence(AuditLogText::At(6500)), AuditLogText::At(7000));
  EXPECT_EQ(log.AfterSilence(AuditLogText::At(7000)), AuditLogText::At(7000));
  EXPECT_EQ(log.AfterSilence(AuditLogText::At(4999)), AuditLogText::At(4999));
}

TEST(AuditLogTest, ChangesAreWhatAllButTheSchedulerDid) {
  AuditLogText text;
  text.Node(1, "n").Pod(10, "victim").Bind(20, 21, "victim").Pod(30, "p");
  text.Delete(40, "victim", -1, AuditLogText::kScheduler).Delete(50, "victim", 0, "kwok/v1");
  text.Fail(60, 61, "p").Delete(70, "p");
  // Refused.
  text.Add({.start = 80, .end = 81, .verb = "delete", .name = "p", .code = 404});
  // Not read by scheduling.
  text.Add({.start = 80, .end = 81, .resource = "configmaps", .name = "c", .body = "{}"});
  const AuditLog log = Read(text);
  ASSERT_EQ(log.changes.size(), 4);
  EXPECT_EQ(log.changes[0].kind, api::Kind::kNode);
  EXPECT_EQ(log.changes[1].name, "victim");
  EXPECT_EQ(log.changes[2].name, "p");
  EXPECT_EQ(log.changes[3].verb, AuditChange::Verb::kDelete);
  EXPECT_EQ(log.changes[3].pod, 1);
  EXPECT_EQ(log.calls.size(), 3);
  EXPECT_TRUE(log.pods[0].deleted_by_scheduler);
}

TEST(AuditLogTest, ACreationKnowsWhatComesLater) {
  AuditLogText text;
  text.Node(1, "n");
  text.Add({.start = 2,
            .end = 3,
            .resource = "persistentvolumeclaims",
            .name = "c",
            .body = R"({"kind":"PersistentVolumeClaim"})"});
  text.Add({.start = 4,
            .end = 5,
            .verb = "patch",
            .resource = "nodes",
            .name = "n",
            .body = R"({"spec":{"taints":null}})"});
  text.Add({.start = 6,
            .end = 7,
            .agent = AuditLogText::kScheduler,
            .verb = "update",
            .resource = "persistentvolumeclaims",
            .name = "c",
            .body = R"({"metadata":{"uid":"u-1"}})"});
  text.Add({.start = 8, .end = 9, .verb = "delete", .resource = "persistentvolumeclaims", .name = "c"});
  text.Add({.start = 10,
            .end = 11,
            .verb = "update",
            .resource = "persistentvolumeclaims",
            .name = "c",
            .body = R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}})"});
  const AuditLog log = Read(text);
  ASSERT_EQ(log.changes.size(), 5);
  EXPECT_TRUE(log.changes[0].taints_change);
  EXPECT_EQ(log.changes[1].uid, "u-1");
  EXPECT_TRUE(log.changes[3].lingers);
  EXPECT_TRUE(log.changes[4].ends);
}

TEST(AuditLogTest, SaysWhyItCannotBeReplayed) {
  AuditLogText known;
  known.Node(1, "n").Pod(10, "p").Bind(20, 21, "p");
  EXPECT_EQ(Read(known).no_replay, "");
  AuditLogText metadata;
  metadata.Node(1, "n").Pod(10, "p").Add({.start = 11, .end = 12, .name = "q"}).Bind(20, 21, "p");
  EXPECT_EQ(Read(metadata).no_replay,
            "the log has no body for 1 of 2 pods that it creates (audit level Request is needed)");
  AuditLogText old_nodes;
  old_nodes.Node(1, "n").Pod(10, "p").Bind(20, 21, "p", "older");
  EXPECT_EQ(Read(old_nodes).no_replay, "1 pods were bound to nodes whose creation is not in the log");
  EXPECT_EQ(Read(old_nodes).bound_without_creation, 0);
  AuditLogText old_pod;
  old_pod.Bind(20, 21, "older");
  EXPECT_EQ(Read(old_pod).bound_without_creation, 1);
}

TEST(AuditLogTest, RefusesWhatIsNoAuditLog) {
  const auto error = [](std::string text) {
    return std::string(ParseAuditLog(std::move(text), "a.log", "kube-scheduler/").status().message());
  };
  EXPECT_EQ(error(""), "a.log: empty, expected events of an audit log");
  EXPECT_EQ(error("{\"kind\":\"Pod\"}\n"),
            "a.log:1:1: expected an event of an audit log: kind Event, apiVersion audit.k8s.io/v1");
  std::string text = AuditLogText().Pod(10, "p").text();
  text.replace(text.find("2026-"), 4, "yes.");
  EXPECT_EQ(error(text).substr(0, 8), "a.log:1:");
  EXPECT_NE(error(text).find("requestReceivedTimestamp: expected a time such as"), std::string::npos)
      << error(text);
  EXPECT_EQ(error(AuditLogText().Pod(10, "p").text().substr(0, 100)).substr(0, 8), "a.log:1:");
}

}  // namespace
}  // namespace schedsim::sim
