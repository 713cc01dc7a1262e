// Libraries of plugins on the command line.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
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

// ---- Every extension point ----

std::string NodeOf(const std::string& name, const std::string& labels = "") {
  return absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: ", name, ", labels: {", labels,
                      "}}, status: {allocatable: {cpu: '4', memory: 8Gi, pods: '110'}}}");
}

struct PodWords {
  std::string name;
  std::string cpu;
  std::string labels = "";
  std::string spec = "";  // With a comma at its end.
};

std::string PodOf(const PodWords& words) {
  return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", words.name,
                      ", namespace: shop, labels: {", words.labels, "}}, spec: {", words.spec,
                      "containers: [{name: c, image: i, resources: {requests: {cpu: ", words.cpu, "}}}]}}");
}

// What happens to two nodes of 4 cpu. `low` fills node-1, so that `high` takes its place; `huge` fits
// nowhere, and `unlucky` is turned down after its node was found. `other` comes while a cycle is under way.
std::string EveryPoint() {
  const std::string at_one = "nodeSelector: {at: one}, ";
  return absl::StrCat(
      "apiVersion: schedsim/v1\nkind: Scenario\ninputs: [cluster.yaml]\nscheduler: scheduler.yaml\n"
      "latency: {schedulingCycle: 10ms}\nend: 35s\ntimeline:\n- at: 1s\n  create:\n  - ",
      PodOf({.name = "low", .cpu = "3", .spec = at_one}), "\n  - ",
      PodOf({.name = "patient", .cpu = "100m", .labels = "permit: waits"}), "\n  - ",
      PodOf({.name = "other", .cpu = "100m"}), "\n- at: 10s\n  create: ",
      PodOf({.name = "high", .cpu = "3", .spec = at_one + "priority: 10, priorityClassName: much, "}),
      "\n- at: 20s\n  create: ", PodOf({.name = "huge", .cpu = "99"}),
      "\n- at: 21s\n  create: ", PodOf({.name = "unlucky", .cpu = "100m", .labels = "reserve: fails"}),
      "\n- at: 30s\n  create: ", NodeOf("node-3"), "\n");
}

std::string TwoNodes() {
  return absl::StrCat(
      "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n---\n",
      "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: much}, value: "
      "10}\n---\n",
      NodeOf("node-1", "at: one"), "\n---\n", NodeOf("node-2"), "\n");
}

// The plugin orders the queue, and pods can be signed.
constexpr char kOnlyWitness[] = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled: [{name: Witness, weight: 2}]
      disabled: [{name: PrioritySort}, {name: DefaultBinder}]
  pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List}}]
)";

class EveryPointTest : public testing::Test {
 protected:
  EveryPointTest() {
    folder_.Write("cluster.yaml", TwoNodes());
    folder_.Write("scheduler.yaml", kOnlyWitness);
    const std::string scenario = folder_.Write("scenario.yaml", EveryPoint());
    const std::string trace = folder_.Path("out.trace");
    run_ = RunProgram(
        {"run", scenario, "--plugin", SCHEDSIM_WITNESS_PLUGIN, "--trace", trace, "--trace-level", "full"});
    trace_ = FileContent(trace);
  }

  // "POINT NODE" of the notes about the pod that are at this time, in order.
  Strings NotesOf(const std::string& pod, const std::string& time) const {
    Strings notes;
    for (const absl::string_view line : absl::StrSplit(trace_, '\n')) {
      const nlohmann::json record = nlohmann::json::parse(std::string(line), nullptr, false);
      if (record.is_discarded() || record.value("ev", "") != "plugin") continue;
      if (record.value("pod", "") != "shop/" + pod || record["t"].dump() != time) continue;
      const std::string node = record.value("node", "");
      notes.push_back(record.value("point", "") + (node.empty() ? "" : " " + node));
    }
    return notes;
  }

  const TestFolder folder_;
  ProgramResult run_;
  std::string trace_;
};

TEST_F(EveryPointTest, IsReachedByAPluginOfALibrary) {
  EXPECT_EQ(run_.exit_code, 0) << run_.err;
  for (const char* point :
       {"Less",       "PreEnqueue",       "SignPod", "PreFilter",      "AddPod",   "RemovePod", "Filter",
        "PostFilter", "PreScore",         "Score",   "NormalizeScore", "Reserve",  "Unreserve", "Permit",
        "Allow",      "PreBindPreFlight", "PreBind", "Bind",           "PostBind", "OnPod",     "Hint"}) {
    EXPECT_TRUE(absl::StrContains(trace_, absl::StrCat("\"point\":\"", point, "\""))) << point;
  }
}

TEST_F(EveryPointTest, ComesInTheOrderOfTheFramework) {
  // node-3 is not there yet, and node-1 has no room.
  EXPECT_EQ(NotesOf("unlucky", "21"),
            (Strings{"SignPod", "PreEnqueue", "PreFilter", "Filter node-1", "Filter node-2", "PreScore",
                     "Score node-1", "Score node-2", "NormalizeScore", "Reserve node-2", "Unreserve node-2",
                     "SignPod"}));
}

// A pod that Reserve keeps pending counts as rejected by the plugin as well, and goes on at once when its
// hint says so.
TEST_F(EveryPointTest, ReserveMayKeepAPodPending) {
  EXPECT_TRUE(absl::StrContains(
      trace_,
      R"("shop/unlucky":{"attempts":1,"unschedulablePlugins":["Witness"],"pendingPlugins":["Witness"]})"))
      << trace_;
  EXPECT_EQ(NotesOf("unlucky", "30").front(), "Hint");
}

// ---- What follows from the real framework's own ways ----

// The trace of a run of these objects with ScriptedA, whose arguments are given, at these extension points.
std::string TraceOf(const std::string& objects, const std::string& plugins, const std::string& args) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", objects);
  const std::string config = folder.Write(
      "scheduler.yaml",
      absl::StrCat(
          "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- "
          "plugins: ",
          plugins, "\n  pluginConfig: [{name: ScriptedA, args: ", args, "}]\n"));
  const std::string trace = folder.Path("out.trace");
  const ProgramResult run =
      RunProgram({"run", "-f", cluster, "--config", config, "--plugin", SCHEDSIM_SCRIPTED_PLUGINS, "--until",
                  "20s", "--trace", trace, "--trace-level", "full"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return FileContent(trace);
}

// The real scheduler takes such a status for one that only its own tests give.
TEST(PluginProgram, NobodyIsToldOfAPodThatAllBindPluginsSkip) {
  const std::string trace =
      TraceOf(kCluster, "{bind: {enabled: [{name: ScriptedA}], disabled: [{name: '*'}]}}",
              "{bind: [{code: Skip, message: not mine}]}");
  EXPECT_TRUE(absl::StrContains(trace, R"("ev":"bindFailure","pod":"shop/web","status":{"code":"Skip")"))
      << trace;
  EXPECT_TRUE(absl::StrContains(trace, R"("from":"errorBackoff","to":"active")")) << trace;
  EXPECT_FALSE(absl::StrContains(trace, "FailedScheduling")) << trace;
  EXPECT_FALSE(absl::StrContains(trace, R"("ev":"status")")) << trace;
}

// `d` wakes the three others by their names.
TEST(PluginProgram, OfPodsThatLeavePermitTheOneThatWasWokenLastGoesFirst) {
  std::string objects = NodeOf("node-1") + "\n";
  for (const char* name : {"a", "b", "c", "d"}) {
    const std::string labels = name[0] == 'd' ? "role: leader" : "role: follower";
    absl::StrAppend(&objects, "---\n", PodOf({.name = name, .cpu = "100m", .labels = labels}), "\n");
  }
  const std::string trace =
      TraceOf(objects, "{multiPoint: {enabled: [{name: ScriptedA}]}}",
              "{permit: [{when: {podLabel: {role: follower}}, code: Wait, timeout: 10}],"
              " postBind: [{when: {podLabel: {role: leader}}, allow: {podLabel: {}}}]}");
  std::string order;
  for (const absl::string_view line : absl::StrSplit(trace, '\n')) {
    const nlohmann::json record = nlohmann::json::parse(std::string(line), nullptr, false);
    if (!record.is_discarded() && record.value("ev", "") == "bind") {
      absl::StrAppend(&order, record.value("pod", ""), " ");
    }
  }
  EXPECT_EQ(order, "shop/d shop/c shop/a shop/b ") << trace;
}

// ---- Answers that are kept ----

TEST(PluginProgram, AnswersThatReadTheNodeAloneAreKept) {
  const TestFolder folder;
  std::string objects;
  for (int i = 0; i < 200; ++i) {
    absl::StrAppend(&objects, NodeOf(absl::StrCat("node-", i)), "\n---\n");
  }
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&objects, PodOf({.name = absl::StrCat("pod-", i), .cpu = "100m"}), "\n---\n");
  }
  const std::string cluster = folder.Write("cluster.yaml", objects);
  const std::string config = folder.Write("scheduler.yaml", ConfigFor("ByNode"));
  const auto run = [&](const Strings& more) {
    Strings arguments = {
        "run",        "-f",       cluster, "--config", config, "--plugin", SCHEDSIM_WITNESS_PLUGIN,
        "--counters", "--output", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out);
  };
  const nlohmann::json kept = run({});
  const nlohmann::json reference = run({"--reference"});
  EXPECT_EQ(kept["digest"], reference["digest"]);
  const auto calls = [](const nlohmann::json& report, const char* point) {
    return report["counters"]["calls"]["ByNode"][point].get<int>();
  };
  EXPECT_EQ(calls(kept, "Filter"), 200);
  EXPECT_EQ(calls(reference, "Filter"), 200 * 20);
  EXPECT_LT(calls(kept, "Score"), calls(reference, "Score") / 10);
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
      {"CallsExit",
       "schedsim: plugin CallsExit ended the program at Filter for pod shop/web: it called exit\n"},
      {"CallsQuickExit", "schedsim: plugin CallsQuickExit ended the program at the start: it called exit\n"},
      {"Recurses",
       "schedsim: plugin Recurses crashed at PreEnqueue for pod shop/web: a bad address (SIGSEGV)\n"}};
  for (const Crash& crash : crashes) {
    const ProgramResult run = PluginRun(SCHEDSIM_FAULTY_PLUGINS, crash.plugin).Run();
    EXPECT_EQ(run.exit_code, 3) << crash.plugin;
    EXPECT_TRUE(absl::EndsWith(run.err, crash.want)) << run.err;
    EXPECT_EQ(run.out, "");
  }
}

// Not as if all were done.
TEST(PluginProgram, APluginThatEndsTheProgramEndsEveryCommand) {
  const PluginRun run(SCHEDSIM_FAULTY_PLUGINS, "CallsExit");
  for (Strings words : {Strings{"explain", "shop/web"}, Strings{"diff", "--b-version", "1.36"},
                        Strings{"report", "--path", "-"}}) {
    words.insert(words.end(),
                 {"-f", run.cluster(), "--config", run.config(), "--plugin", SCHEDSIM_FAULTY_PLUGINS});
    const ProgramResult result = RunProgram(words);
    EXPECT_EQ(result.exit_code, 3) << words[0] << result.err;
    EXPECT_TRUE(
        absl::StrContains(result.err, "plugin CallsExit ended the program at Filter for pod shop/web"))
        << words[0] << result.err;
    EXPECT_EQ(result.out, "") << words[0];
  }
}

// One file or several, one at a time or side by side: the results are the same.
TEST(PluginProgram, ATestWhosePluginCrashesLeavesTheOthersAndAReport) {
  const PluginRun run(SCHEDSIM_FAULTY_PLUGINS, "BadAddress");
  const auto write = [&run](const std::string& name, const std::string& plugins) {
    return run.folder().Write(
        name, absl::StrCat("apiVersion: schedsim/v1\nkind: Test\nrun: {files: [cluster.yaml]", plugins,
                           "}\nexpect: [{pods: {name: web}, bound: true}]\n"));
  };
  const std::string bad = write(
      "bad.test.yaml", absl::StrCat(", config: scheduler.yaml, plugins: [", SCHEDSIM_FAULTY_PLUGINS, "]"));
  const std::string good = write("good.test.yaml", "");
  const std::string error =
      "the run ended without a result, with exit code 3: plugin BadAddress crashed at Filter for pod "
      "shop/web: "
      "a bad address (SIGSEGV)";
  const std::string junit = run.folder().Path("junit.xml");
  for (const Strings& words : {Strings{bad}, Strings{bad, good}, Strings{bad, good, "--jobs", "1"},
                               Strings{bad, "--seeds", "1..2"}}) {
    Strings arguments = {"test", "--junit", junit};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(absl::StrContains(result.out, error)) << result.out;
    EXPECT_EQ(absl::StrContains(result.out, "ok    " + good), words.size() > 1 && words[1] == good);
    EXPECT_TRUE(absl::StrContains(FileContent(junit), error)) << FileContent(junit);
  }
}

// ---- What a plugin does not do ----

TEST(PluginProgram, APluginThatCanDoNothingIsToldOf) {
  const std::string nothing =
      absl::StrCat("note: ", SCHEDSIM_FAULTY_PLUGINS,
                   ": the plugin Misspelt has no method of an extension point, such as "
                   "Filter: it can do nothing\n");
  const ProgramResult misspelt = PluginRun(SCHEDSIM_FAULTY_PLUGINS, "Misspelt").Run();
  EXPECT_EQ(misspelt.exit_code, 0) << misspelt.err;
  EXPECT_TRUE(absl::StrContains(misspelt.err, nothing)) << misspelt.err;
  EXPECT_FALSE(absl::StrContains(misspelt.err, "no profile enables")) << misspelt.err;
  const ProgramResult isolated = PluginRun(SCHEDSIM_FAULTY_PLUGINS, "Misspelt").Run({"--isolate"});
  EXPECT_TRUE(absl::StrContains(isolated.err, nothing)) << isolated.err;
}

TEST(PluginProgram, AFileThatNoProfileUsesIsToldOf) {
  const PluginRun run(SCHEDSIM_WITNESS_PLUGIN, "ByNode");
  const std::string unused =
      absl::StrCat(SCHEDSIM_WITNESS_PLUGIN,
                   ": no profile enables one of the plugins Witness, ByNode: it decides nothing\n");
  const Strings files = {"-f", run.cluster(), "--plugin", SCHEDSIM_WITNESS_PLUGIN};
  const auto with = [&files](Strings words) {
    words.insert(words.end(), files.begin(), files.end());
    return RunProgram(words);
  };
  const auto is_told = [&unused](const ProgramResult& result, const std::string& side = "") {
    return absl::StrContains(result.err, absl::StrCat(side, "note: ", unused));
  };
  EXPECT_TRUE(is_told(with({"run"})));
  EXPECT_FALSE(is_told(with({"run", "--config", run.config()})));
  // The other side may use it.
  EXPECT_FALSE(is_told(with({"diff", "--b-config", run.config()})));
  const ProgramResult diff = with({"diff", "--b-version", "1.36"});
  EXPECT_TRUE(is_told(diff, "A: ") && is_told(diff, "B: ")) << diff.err;
  const std::string scenario = run.folder().Write(
      "scenario.yaml",
      absl::StrCat("apiVersion: schedsim/v1\nkind: Scenario\ninputs: [cluster.yaml]\nplugins: [",
                   SCHEDSIM_WITNESS_PLUGIN, "]\n"));
  EXPECT_TRUE(is_told(RunProgram({"run", scenario})));
}

TEST(PluginProgram, EventsThatAreRefusedNameThePlugin) {
  for (const Strings& more : {Strings{}, Strings{"--isolate"}}) {
    const ProgramResult run = PluginRun(SCHEDSIM_FAULTY_PLUGINS, "RegistersNothing").Run(more);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_TRUE(
        absl::EndsWith(run.err, "schedsim run: EventsToRegister of plugin \"RegistersNothing\": no events\n"))
        << run.err;
  }
}

// The pod was tried, and found its node.
TEST(PluginProgram, APodThatABindPluginDoesNotBindSaysSo) {
  const PluginRun run(SCHEDSIM_FAULTY_PLUGINS, "BindsNothing");
  const std::string config = run.folder().Write(
      "scheduler.yaml",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- plugins: "
      "{multiPoint: {enabled: [{name: BindsNothing}], disabled: [{name: DefaultBinder}]}}\n");
  const ProgramResult report = run.Run();
  EXPECT_TRUE(
      absl::StrContains(report.out, "(not bound when the run ended: Bind of BindsNothing has not bound it)"))
      << report.out;
  EXPECT_FALSE(absl::StrContains(report.out, "no attempt yet")) << report.out;
  const ProgramResult explained = RunProgram(
      {"explain", "shop/web", "-f", run.cluster(), "--config", config, "--plugin", SCHEDSIM_FAULTY_PLUGINS});
  EXPECT_TRUE(
      absl::StrContains(explained.out, "The run ended before the pod was bound: Bind of BindsNothing has\n"))
      << explained.out << explained.err;
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
  // Such a plugin could not be loaded.
  for (const char* name : {"NodeResourcesFit", "Coscheduling"}) {
    const ProgramResult taken = RunProgram({"plugin", "new", name, "--dir", folder.Path("taken")});
    EXPECT_EQ(taken.exit_code, 2);
    EXPECT_TRUE(absl::StrContains(taken.err, absl::StrCat(name,
                                                          " is a plugin that is built in, expected another "
                                                          "name")))
        << taken.err;
    EXPECT_EQ(FileContent(folder.Path("taken/scheduler.yaml")), "");
  }
}

}  // namespace
}  // namespace schedsim
