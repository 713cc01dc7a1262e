// Runs with extenders that are real servers, and the same runs without them.
#include <cstdio>
#include <fstream>
#include <future>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "sim/extenders/live_transport.h"
#include "sim/plan/plan.h"
#include "tests/sim/extenders/test_server.h"

namespace schedsim::sim {
namespace {

using Json = nlohmann::json;

ExtenderCall CallOf(const std::string& url, absl::Duration timeout = absl::Seconds(60)) {
  return {.extender = 0, .verb = ExtenderVerb::kFilter, .url = url, .timeout = timeout, .body = "{\"a\":1}"};
}

std::unique_ptr<ExtenderServers> ServersOf(const api::Extender& extender) {
  api::KubeSchedulerConfiguration config;
  config.extenders = {extender};
  absl::StatusOr<std::unique_ptr<ExtenderServers>> servers = MakeExtenderServers(config);
  EXPECT_TRUE(servers.ok()) << servers.status();
  return servers.ok() ? *std::move(servers) : nullptr;
}

TEST(ExtenderServersTest, CallsByHttp) {
  const TestServer server([](const TestRequest& request) -> TestAnswer {
    EXPECT_EQ(request.path, "/v1/filter");
    EXPECT_EQ(request.content_type, "application/json");
    return {.status = 503, .body = absl::StrCat("got ", request.body)};
  });
  const auto answer = ServersOf({})->Call(CallOf(server.url() + "/v1/filter"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->error, "");
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->body, "got {\"a\":1}");
}

TEST(ExtenderServersTest, CallsByTls) {
  const TestIdentity identity = MakeIdentity();
  const TestServer server([](const TestRequest&) -> TestAnswer { return {.body = "{}"}; }, &identity);
  const std::string url = server.url() + "/filter";
  // Nobody vouches for the server.
  const auto refused = ServersOf({})->Call(CallOf(url));
  ASSERT_TRUE(refused.ok()) << refused.status();
  EXPECT_TRUE(absl::StrContains(refused->error, "failed to verify certificate")) << refused->error;
  const auto trusted =
      ServersOf({.enable_https = true, .tls_config = api::ExtenderTlsConfig{.ca_data = identity.certificate}})
          ->Call(CallOf(url));
  ASSERT_TRUE(trusted.ok()) << trusted.status();
  EXPECT_EQ(trusted->status, 200) << trusted->error;
  // Without an authority, enableHTTPS verifies nothing.
  const auto insecure = ServersOf({.enable_https = true})->Call(CallOf(url));
  ASSERT_TRUE(insecure.ok()) << insecure.status();
  EXPECT_EQ(insecure->status, 200) << insecure->error;
}

TEST(ExtenderServersTest, SaysWhatGoSaysOfServersThatAreNotThere) {
  std::string url;
  {
    const TestServer server([](const TestRequest&) { return TestAnswer(); });
    url = absl::StrReplaceAll(server.url(), {{"localhost", "127.0.0.1"}});
  }
  const auto answer = ServersOf({})->Call(CallOf(url + "/filter"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->error, absl::StrCat("Post \"", url, "/filter\": dial tcp ", url.substr(7),
                                        ": connect: connection refused"));
  const auto no_scheme = ServersOf({})->Call(CallOf("x/filter"));
  ASSERT_TRUE(no_scheme.ok());
  EXPECT_EQ(no_scheme->error, "Post \"x/filter\": unsupported protocol scheme \"\"");
}

TEST(ExtenderServersTest, ATimeoutIsNoAnswer) {
  std::promise<void> end;
  std::shared_future<void> ended = end.get_future().share();
  {
    const TestServer server([ended](const TestRequest&) {
      ended.wait();
      return TestAnswer();
    });
    const auto answer = ServersOf({})->Call(CallOf(server.url() + "/filter", absl::Milliseconds(50)));
    EXPECT_TRUE(absl::IsAborted(answer.status())) << answer.status();
    end.set_value();
  }
}

TEST(ExtenderServersTest, RefusesSettingsWithoutMeaning) {
  api::KubeSchedulerConfiguration config;
  config.extenders = {{.tls_config = api::ExtenderTlsConfig{.cert_data = "x"}}};
  EXPECT_EQ(MakeExtenderServers(config).status().message(),
            "extenders[0].tlsConfig: expected a certificate and its key, or neither");
}

constexpr char kCluster[] =
    "{apiVersion: v1, kind: Node, metadata: {name: a}, "
    "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}}\n---\n"
    "{apiVersion: v1, kind: Node, metadata: {name: b, labels: {rack: \"1\"}}, "
    "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}}\n---\n"
    "{apiVersion: v1, kind: Node, metadata: {name: c, labels: {rack: \"9\"}}, "
    "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}}\n---\n"
    "{apiVersion: v1, kind: Pod, metadata: {name: web}, "
    "spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}\n";

// The server of docs/extenders.md.
TestAnswer Racks(const TestRequest& request) {
  const Json arguments = Json::parse(request.body);
  Json kept = Json::array();
  Json failed = Json::object();
  Json scores = Json::array();
  for (const Json& node : arguments["Nodes"]["items"]) {
    const Json& meta = node["metadata"];
    EXPECT_FALSE(node.contains("kind"));
    const bool has_rack = meta.contains("labels") && meta["labels"].contains("rack");
    if (!has_rack) {
      failed[meta["name"].get<std::string>()] = "no rack";
      continue;
    }
    kept.push_back(node);
    scores.push_back(
        {{"Host", meta["name"]}, {"Score", std::stoi(meta["labels"]["rack"].get<std::string>())}});
  }
  const Json answer =
      request.path == "/filter" ? Json{{"Nodes", {{"items", kept}}}, {"FailedNodes", failed}} : scores;
  return {.body = answer.dump()};
}

class LiveRunTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& content) {
    const std::string path = absl::StrCat(testing::TempDir(), "/extenders-", name);
    std::ofstream(path) << content;
    return path;
  }

  RunRequest RequestOf(const std::string& cluster, const std::string& url, const std::string& more = "") {
    RunRequest request;
    request.files = {Write("cluster.yaml", cluster)};
    request.scheduler.config =
        Write("scheduler.yaml",
              absl::StrCat("apiVersion: kubescheduler.config.k8s.io/v1\nkind: "
                           "KubeSchedulerConfiguration\nextenders:\n- urlPrefix: ",
                           url, "\n  filterVerb: filter\n  prioritizeVerb: prioritize\n  weight: 1\n", more));
    return request;
  }

  static testing::AssertionResult HasWarning(const Report& report, absl::string_view part) {
    for (const std::string& warning : report.warnings) {
      if (absl::StrContains(warning, part)) return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << "no warning says: " << part;
  }

  static absl::StatusOr<Report> Run(const RunRequest& request) {
    absl::StatusOr<Plan> plan = MakePlan(request);
    if (!plan.ok()) return plan.status();
    return RunPlan(*std::move(plan));
  }
};

TEST_F(LiveRunTest, ARunIsTheSameFromTheFileOfCalls) {
  RunRequest request;
  absl::StatusOr<Report> live;
  {
    const TestServer server(Racks);
    request = RequestOf(kCluster, server.url());
    request.scheduler.extenders = {.live = true, .calls = std::make_shared<std::string>()};
    live = Run(request);
  }
  const std::shared_ptr<std::string> live_calls = request.scheduler.extenders.calls;
  const std::string calls = Write("calls.jsonl", *live_calls);
  ASSERT_TRUE(live.ok()) << live.status();
  ASSERT_EQ(live->pods.size(), 1U);
  EXPECT_EQ(live->pods[0].node, "c");
  request.scheduler.extenders = {.replay = calls};
  const absl::StatusOr<Report> replayed = Run(request);
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_EQ(replayed->digest, live->digest);
  EXPECT_TRUE(replayed->warnings.empty()) << replayed->warnings[0];
  const std::string& written = *live_calls;
  request.scheduler.extenders = {.replay = Write("more.jsonl", written + written)};
  const absl::StatusOr<Report> shorter = Run(request);
  ASSERT_TRUE(shorter.ok()) << shorter.status();
  EXPECT_TRUE(HasWarning(*shorter, "extenders-more.jsonl: the run made 2 of the 4 recorded calls"));
  request.scheduler.extenders = {.replay = calls};

  const std::string changed = absl::StrReplaceAll(kCluster, {{"rack: \"9\"", "rack: \"8\""}});
  request.files = {Write("changed.yaml", changed)};
  const absl::StatusOr<Report> other = Run(request);
  EXPECT_TRUE(absl::IsAborted(other.status())) << other.status();
  EXPECT_TRUE(absl::StrContains(other.status().message(),
                                "calls.jsonl:1: the run asks for filter of default/web at "))
      << other.status();
  EXPECT_TRUE(absl::StrContains(other.status().message(),
                                "Nodes.items[2].metadata.labels.rack: expected \"9\", got \"8\""))
      << other.status();
}

TEST_F(LiveRunTest, AServerThatIsDownIsAnErrorUnlessItMayBe) {
  std::string url;
  { url = TestServer(Racks).url(); }
  RunRequest request = RequestOf(kCluster, url);
  request.scheduler.extenders.live = true;
  request.until = absl::Seconds(1);
  const absl::StatusOr<Report> failed = Run(request);
  ASSERT_TRUE(failed.ok()) << failed.status();
  EXPECT_EQ(failed->pods[0].node, "");
  EXPECT_TRUE(absl::StrContains(failed->pods[0].message, "connection refused")) << failed->pods[0].message;
  EXPECT_TRUE(HasWarning(*failed, absl::StrCat("extender ", url,
                                               ": 1 of 1 calls of filter failed; the first, "
                                               "for default/web: Post ")));
  request = RequestOf(kCluster, url, "  ignorable: true\n");
  request.scheduler.extenders.live = true;
  const absl::StatusOr<Report> ignored = Run(request);
  ASSERT_TRUE(ignored.ok()) << ignored.status();
  EXPECT_NE(ignored->pods[0].node, "");
  EXPECT_TRUE(HasWarning(*ignored, "1 of 1 calls of filter failed, which kube-scheduler ignores; the first"));
}

TEST_F(LiveRunTest, CallsOfPrioritizeThatFailAreSaid) {
  const TestServer server([](const TestRequest& request) {
    return request.path == "/filter" ? Racks(request) : TestAnswer{.status = 500};
  });
  RunRequest request = RequestOf(kCluster, server.url());
  request.scheduler.extenders.live = true;
  const absl::StatusOr<Report> report = Run(request);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_NE(report->pods[0].node, "");
  EXPECT_TRUE(HasWarning(*report,
                         "1 of 1 calls of prioritize failed, which kube-scheduler ignores; the first, "
                         "for default/web: failed prioritize with extender at URL "));
}

TEST_F(LiveRunTest, WithoutAWayToReachThemExtendersAreRefused) {
  const RunRequest request = RequestOf(kCluster, "http://x");
  const absl::Status status = Run(request).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_TRUE(
      absl::StrContains(status.message(),
                        "extenders: expected none, or --extender-live, or --extender-replay FILE; the "
                        "first is http://x"))
      << status;
}

TEST_F(LiveRunTest, WithoutExtendersTheOptionsAreRefused) {
  RunRequest request;
  request.files = {Write("cluster.yaml", kCluster)};
  request.scheduler.extenders.live = true;
  EXPECT_EQ(Run(request).status().message(),
            "extenders: expected some with --extender-live, there are none in the configuration");
  request.scheduler.extenders = {.replay = Write("no-calls.jsonl", "")};
  request.scheduler.config =
      Write("plain.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n");
  EXPECT_EQ(Run(request).status().message(),
            absl::StrCat(*request.scheduler.config,
                         ": extenders: expected some with --extender-replay, there are none in the "
                         "configuration"));
}

TEST_F(LiveRunTest, ATimeoutEndsTheRun) {
  std::promise<void> end;
  std::shared_future<void> ended = end.get_future().share();
  const TestServer server([ended](const TestRequest&) {
    ended.wait();
    return TestAnswer();
  });
  RunRequest request = RequestOf(kCluster, server.url(), "  httpTimeout: 50ms\n");
  request.scheduler.extenders.live = true;
  const absl::Status status = Run(request).status();
  end.set_value();
  EXPECT_TRUE(absl::IsAborted(status)) << status;
}

}  // namespace
}  // namespace schedsim::sim
