// Libraries of plugins on the command line.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Strings = std::vector<std::string>;

constexpr char kCluster[] = R"(
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: node-2}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: c, image: i}]}
)";

std::string ConfigFor(const std::string& plugin, const std::string& args = "") {
  return absl::StrCat(
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
      "- plugins: {multiPoint: {enabled: [{name: ",
      plugin, "}]}}\n",
      args.empty() ? "" : absl::StrCat("  pluginConfig: [{name: ", plugin, ", args: ", args, "}]\n"));
}

// A run of the cluster with one plugin of a library.
class PluginRun {
 public:
  PluginRun(const std::string& library, const std::string& plugin, const std::string& args = "")
      : library_(library) {
    cluster_ = folder_.Write("cluster.yaml", kCluster);
    config_ = folder_.Write("scheduler.yaml", ConfigFor(plugin, args));
  }

  ProgramResult Run(Strings more = {}) const {
    Strings arguments = {"run", "-f", cluster_, "--config", config_, "--plugin", library_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments);
  }

  const std::string& cluster() const { return cluster_; }
  const std::string& config() const { return config_; }
  const TestFolder& folder() const { return folder_; }

 private:
  const TestFolder folder_;
  const std::string library_;
  std::string cluster_;
  std::string config_;
};

TEST(PluginProgram, ALibraryDecides) {
  const PluginRun run(SCHEDSIM_SCRIPTED_PLUGINS, "ScriptedA",
                      "{filter: [{match: {names: [node-1]}, code: Unschedulable, message: not there}]}");
  const ProgramResult csv = run.Run({"--output", "csv"});
  EXPECT_EQ(csv.exit_code, 0) << csv.err;
  EXPECT_TRUE(absl::StrContains(csv.out, "shop,web,Bound,node-2,")) << csv.out;
  // The report says with which library.
  EXPECT_TRUE(absl::StrContains(run.Run({"--output", "json"}).out, "libscripted_plugins.so\",")) << csv.out;
}

TEST(PluginProgram, EveryCommandTakesIt) {
  const PluginRun run(SCHEDSIM_SCRIPTED_PLUGINS, "ScriptedA",
                      "{filter: [{code: Unschedulable, message: not there}]}");
  const Strings scheduler = {"--config", run.config(), "--plugin", SCHEDSIM_SCRIPTED_PLUGINS};
  const auto with = [&scheduler](Strings words) {
    words.insert(words.end(), scheduler.begin(), scheduler.end());
    return RunProgram(words);
  };
  const ProgramResult print = with({"config", "print"});
  EXPECT_TRUE(absl::StrContains(print.out, "ScriptedA")) << print.out << print.err;
  const ProgramResult explain = with({"explain", "shop/web", "-f", run.cluster()});
  EXPECT_TRUE(absl::StrContains(explain.out, "not there")) << explain.out << explain.err;
  const ProgramResult diff = RunProgram(
      {"diff", "-f", run.cluster(), "--plugin", SCHEDSIM_SCRIPTED_PLUGINS, "--b-config", run.config()});
  EXPECT_TRUE(absl::StrContains(diff.out, "ScriptedA")) << diff.out << diff.err;
  const std::string test =
      run.folder().Write("placements.test.yaml",
                         absl::StrCat("apiVersion: schedsim/v1\nkind: Test\nrun:\n  files: [cluster.yaml]\n"
                                      "  config: scheduler.yaml\n  plugins: [",
                                      SCHEDSIM_SCRIPTED_PLUGINS,
                                      "]\nexpect:\n- pods: {name: web}\n  pendingReason: not there\n"));
  const ProgramResult tested = RunProgram({"test", test});
  EXPECT_EQ(tested.exit_code, 0) << tested.out << tested.err;
  const std::string scenario = run.folder().Write(
      "scenario.yaml",
      absl::StrCat("apiVersion: schedsim/v1\nkind: Scenario\ninputs: [cluster.yaml]\nplugins: [",
                   SCHEDSIM_SCRIPTED_PLUGINS, "]\nscheduler: scheduler.yaml\n"));
  const ProgramResult told = RunProgram({"run", scenario, "--check-wakeups"});
  EXPECT_TRUE(absl::StrContains(told.out, "not there")) << told.out << told.err;
}

TEST(PluginProgram, ArgumentsThatAPluginRefusesAreAnError) {
  const ProgramResult run = PluginRun(SCHEDSIM_FAULTY_PLUGINS, "RefusesArgs").Run();
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(absl::EndsWith(
      run.err, "schedsim run: initializing plugin \"RefusesArgs\": these arguments will not do\n"))
      << run.err;
}

TEST(PluginProgram, AScoreOutOfRangeEndsTheAttempt) {
  const ProgramResult run = PluginRun(SCHEDSIM_FAULTY_PLUGINS, "ScoresTooHigh").Run();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(absl::StrContains(run.out, "plugin \"ScoresTooHigh\" returns an invalid score 101")) << run.out;
}

TEST(PluginProgram, AnAnswerOnWhichTheRealOneCrashesIsNamed) {
  const ProgramResult run = PluginRun(SCHEDSIM_FAULTY_PLUGINS, "SkipsPostFilter").Run();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(absl::StrContains(run.out, "plugin \"SkipsPostFilter\" answered Skip at PostFilter"))
      << run.out;
}

TEST(PluginProgram, ACrashNamesPluginPointAndPod) {
  struct Crash {
    const char* plugin;
    const char* want;
  };
  const Crash crashes[] = {
      {"BadAddress",
       "schedsim: plugin BadAddress crashed at Filter for pod shop/web: a bad address (SIGSEGV)\n"},
      {"GivesUp", "schedsim: plugin GivesUp crashed at Reserve for pod shop/web: it gave up (SIGABRT)\n"},
      {"Recurses",
       "schedsim: plugin Recurses crashed at PreEnqueue for pod shop/web: a bad address (SIGSEGV)\n"}};
  for (const Crash& crash : crashes) {
    const ProgramResult run = PluginRun(SCHEDSIM_FAULTY_PLUGINS, crash.plugin).Run();
    EXPECT_EQ(run.exit_code, 3) << crash.plugin;
    EXPECT_TRUE(absl::EndsWith(run.err, crash.want)) << run.err;
    EXPECT_EQ(run.out, "");
  }
}

TEST(PluginProgram, WritesAPluginToBeginWith) {
  const TestFolder folder;
  const ProgramResult made = RunProgram({"plugin", "new", "SpreadTeams", "--dir", folder.Path("mine")});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_TRUE(absl::StrContains(FileContent(folder.Path("mine/spread_teams.cc")), "class SpreadTeams {"));
  const ProgramResult again = RunProgram({"plugin", "new", "SpreadTeams", "--dir", folder.Path("mine")});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(again.err, "is there already")) << again.err;
  EXPECT_EQ(RunProgram({"plugin", "new", "spread-teams"}).exit_code, 2);
}

}  // namespace
}  // namespace schedsim
