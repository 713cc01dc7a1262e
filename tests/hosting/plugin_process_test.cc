// Plugins in processes of their own, on the command line: in Python, in any language, and libraries with
// --isolate. What they decide, what they cost when they go wrong, and that nothing of them is left.
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Strings = std::vector<std::string>;

std::string NodeOf(const std::string& name, const std::string& labels = "") {
  return absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: ", name, ", labels: {", labels,
                      "}}, status: {allocatable: {cpu: '4', memory: 8Gi, pods: '110'}}}\n---\n");
}

std::string PodOf(const std::string& name, const std::string& labels = "") {
  return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name, ", namespace: shop, labels: {",
                      labels, "}}, spec: {containers: [{name: c, image: i}]}}\n---\n");
}

// A cluster of three nodes with a pod, and runs of it with one plugin.
class ProcessTest : public testing::Test {
 protected:
  ProcessTest() {
    cluster_ =
        folder_.Write("cluster.yaml", NodeOf("node-1") + NodeOf("node-2") + NodeOf("node-3") + PodOf("web"));
  }

  std::string Config(const std::string& plugin, const std::string& args = "") {
    return folder_.Write(
        "scheduler.yaml",
        absl::StrCat(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
            "- plugins: {multiPoint: {enabled: [{name: ",
            plugin, "}]}}\n",
            args.empty() ? "" : absl::StrCat("  pluginConfig: [{name: ", plugin, ", args: ", args, "}]\n")));
  }

  ProgramResult Run(const std::string& file, const std::string& plugin, const Strings& more = {},
                    const std::string& args = "") {
    Strings arguments = {"run", "-f", cluster_, "--config", Config(plugin, args), "--plugin", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments);
  }

  // A plugin in Python, of which this is the class's body.
  std::string Python(const std::string& body) {
    return folder_.Write("mine.py", absl::StrCat("import os, time\nimport schedsim_plugin\n"
                                                 "from schedsim_plugin import Event, LATER, Status\n"
                                                 "class Mine:\n",
                                                 body, "\nschedsim_plugin.serve(Mine)\n"));
  }

  std::string Program(const std::string& name, const std::string& text) {
    const std::string path = folder_.Write(name, text);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  // A program without the module, which does this when it is asked to filter.
  std::string Raw(const std::string& at_filter) {
    return Program("raw", absl::StrCat(R"(#!/usr/bin/env python3
import json, os, sys, time
def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
def half(text):
    sys.stdout.write(text)
    sys.stdout.flush()
sys.stdin.readline()
say('{"protocol": 1, "plugins": [{"name": "Raw", "methods": ["Filter"]}]}')
for line in sys.stdin:
    call = json.loads(line)
    if call["call"] != "Filter":
        say('{"answer": {}}')
        continue
)",
                                       "    ", at_filter, "\n"));
  }

  const TestFolder folder_;
  std::string cluster_;
};

// ---- What they decide ----

TEST_F(ProcessTest, APythonFileDecides) {
  const std::string file = Python(
      "  def Filter(self, state, pod, node):\n"
      "    return None if node.name == 'node-2' else Status.Unschedulable('not there')");
  const ProgramResult csv = Run(file, "Mine", {"--output", "csv"});
  EXPECT_EQ(csv.exit_code, 0) << csv.err;
  EXPECT_TRUE(absl::StrContains(csv.out, "shop,web,Bound,node-2,")) << csv.out;
  // The report says with which file.
  EXPECT_TRUE(absl::StrContains(Run(file, "Mine", {"--output", "json"}).out, "mine.py\",")) << csv.out;
}

TEST_F(ProcessTest, WhatItPrintsIsMarkedAndHarmsNothing) {
  const std::string file = Python(
      "  def Filter(self, state, pod, node):\n"
      "    print('looking at', node.name)\n"
      "    os.write(2, b'x' * 300000 + b'\\n')\n"
      "    os.system('echo from a shell')");
  const ProgramResult run = Run(file, "Mine");
  EXPECT_EQ(run.exit_code, 0) << run.err.substr(0, 2000);
  EXPECT_TRUE(absl::StrContains(run.err, file + ": looking at node-1\n"));
  EXPECT_TRUE(absl::StrContains(run.err, file + ": from a shell\n"));
  EXPECT_FALSE(absl::StrContains(run.out, "looking at"));
}

TEST_F(ProcessTest, NodesComeWithPodsAndAmounts) {
  folder_.Write("cluster.yaml",
                NodeOf("node-1") + NodeOf("node-2") + NodeOf("node-3") +
                    "{apiVersion: v1, kind: Pod, metadata: {name: db, namespace: shop, uid: '7'}, spec: "
                    "{nodeName: node-3, containers: [{name: c, image: i, resources: {requests: {cpu: "
                    "250m}}}]}}\n---\n" +
                    PodOf("web"));
  const std::string file = Python(
      "  def Score(self, state, pod, node):\n"
      "    print(node.name, [each.key for each in node.pods], node.requested('cpu'), "
      "node.allocatable('cpu'))\n"
      "    return 0");
  const ProgramResult run = Run(file, "Mine");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(absl::StrContains(run.err, ": node-1 [] 0 4000\n")) << run.err;
  EXPECT_TRUE(absl::StrContains(run.err, ": node-3 ['shop/db'] 250 4000\n")) << run.err;
}

TEST_F(ProcessTest, PodsOfTheInformersHaveTheirPriority) {
  folder_.Write("cluster.yaml",
                "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: much}, value: "
                "10}\n---\n" +
                    NodeOf("node-1") +
                    "{apiVersion: v1, kind: Pod, metadata: {name: db, namespace: shop}, spec: {nodeName: "
                    "node-1, priorityClassName: much, priority: 10, containers: [{name: c, image: i}]}}\n"
                    "---\n" +
                    PodOf("web"));
  const std::string file = Python(
      "  def __init__(self, handle):\n    self.handle = handle\n"
      "  def OnPod(self, old, new):\n    print('hears of', new.key, new.priority)\n"
      "  def Filter(self, state, pod, node):\n"
      "    print('finds', self.handle.find_pod('shop', 'db').priority)");
  const ProgramResult run = Run(file, "Mine");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(absl::StrContains(run.err, ": hears of shop/db 10\n")) << run.err;
  EXPECT_TRUE(absl::StrContains(run.err, ": hears of shop/web 0\n")) << run.err;
  EXPECT_TRUE(absl::StrContains(run.err, ": finds 10\n")) << run.err;
}

TEST_F(ProcessTest, EveryCommandTakesIt) {
  const Strings scheduler = {"--config",
                             Config("ScriptedA", "{filter: [{code: Unschedulable, message: not there}]}"),
                             "--plugin", SCHEDSIM_SCRIPTED_PYTHON};
  const auto with = [&scheduler](Strings words) {
    words.insert(words.end(), scheduler.begin(), scheduler.end());
    return RunProgram(words);
  };
  const ProgramResult print = with({"config", "print"});
  EXPECT_TRUE(absl::StrContains(print.out, "ScriptedA")) << print.out << print.err;
  const ProgramResult explain = with({"explain", "shop/web", "-f", cluster_});
  EXPECT_TRUE(absl::StrContains(explain.out, "not there")) << explain.out << explain.err;
  const ProgramResult seeds = with({"run", "-f", cluster_, "--seeds", "1..3", "--jobs", "2"});
  EXPECT_EQ(seeds.exit_code, 0) << seeds.out << seeds.err;
  const std::string scenario = folder_.Write(
      "scenario.yaml",
      absl::StrCat("apiVersion: schedsim/v1\nkind: Scenario\ninputs: [cluster.yaml]\nplugins: [",
                   SCHEDSIM_SCRIPTED_PYTHON, "]\nscheduler: scheduler.yaml\n"));
  const ProgramResult told = RunProgram({"run", scenario, "--check-wakeups"});
  EXPECT_TRUE(absl::StrContains(told.out, "not there")) << told.out << told.err;
}

// ---- The same logic in each hosting ----

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

std::string Sized(const std::string& name, const std::string& cpu, const std::string& more = "",
                  const std::string& labels = "") {
  return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name, ", namespace: shop, labels: {",
                      labels, "}}, spec: {", more,
                      "containers: [{name: c, image: i, resources: {requests: {cpu: ", cpu, "}}}]}}");
}

// Two nodes, and a third one later: `low` fills node-1, `high` takes its place, `huge` fits nowhere, and
// `unlucky` is turned down after its node was found.
std::string EveryPoint() {
  const std::string at_one = "nodeSelector: {at: one}, ";
  return absl::StrCat(
      "apiVersion: schedsim/v1\nkind: Scenario\ninputs: [every.yaml]\nscheduler: witness.yaml\n"
      "latency: {schedulingCycle: 10ms}\nend: 35s\ntimeline:\n- at: 1s\n  create:\n  - ",
      Sized("low", "3", at_one), "\n  - ", Sized("patient", "100m", "", "permit: waits"), "\n  - ",
      Sized("other", "100m"),
      "\n- at: 10s\n  create: ", Sized("high", "3", at_one + "priority: 10, priorityClassName: much, "),
      "\n- at: 20s\n  create: ", Sized("huge", "99"),
      "\n- at: 21s\n  create: ", Sized("unlucky", "100m", "", "reserve: fails"),
      "\n- at: 30s\n  create: ", absl::StripSuffix(NodeOf("node-3"), "---\n"));
}

// What the plugin did, and what became of the pods, without the names of files.
struct WitnessRun {
  Strings notes;
  std::string ends;
};

class EveryHostingTest : public ProcessTest {
 protected:
  WitnessRun RunWith(const std::string& file, const Strings& more) {
    folder_.Write("every.yaml",
                  absl::StrCat("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n---\n",
                               "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, "
                               "metadata: {name: much}, value: 10}\n---\n",
                               NodeOf("node-1", "at: one"), NodeOf("node-2")));
    folder_.Write("witness.yaml", kOnlyWitness);
    const std::string scenario = folder_.Write("scenario.yaml", EveryPoint());
    const std::string trace = folder_.Path("out.trace");
    Strings arguments = {"run", scenario,        "--plugin", file,       "--trace",
                         trace, "--trace-level", "full",     "--output", "csv"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult run = RunProgram(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    WitnessRun result = {.notes = {}, .ends = run.out};
    for (const absl::string_view line : absl::StrSplit(FileContent(trace), '\n')) {
      const nlohmann::json record = nlohmann::json::parse(std::string(line), nullptr, false);
      if (record.is_discarded() || record.value("ev", "") != "plugin") continue;
      // With three nodes a process is also asked about those that others have refused.
      if (record.value("point", "") == "Filter" && record["t"].get<double>() >= 30) continue;
      result.notes.push_back(absl::StrCat(record["t"].dump(), " ", record.value("pod", ""), " ",
                                          record.value("point", ""), " ", record.value("node", "")));
    }
    return result;
  }
};

TEST_F(EveryHostingTest, ReachesEachExtensionPointAtTheSameTimes) {
  const WitnessRun library = RunWith(SCHEDSIM_WITNESS_PLUGIN, {});
  const WitnessRun isolated = RunWith(SCHEDSIM_WITNESS_PLUGIN, {"--isolate"});
  const WitnessRun python = RunWith(SCHEDSIM_WITNESS_PYTHON, {});
  EXPECT_GT(library.notes.size(), 80u);
  EXPECT_EQ(isolated.notes, library.notes);
  EXPECT_EQ(python.notes, library.notes);
  EXPECT_EQ(isolated.ends, library.ends);
  EXPECT_EQ(python.ends, library.ends);
}

TEST_F(EveryHostingTest, KeepsAnswersThatReadTheNodeAlone) {
  const auto digest = [this](const std::string& file, const Strings& more) {
    Strings all = {"--output", "json"};
    all.insert(all.end(), more.begin(), more.end());
    const ProgramResult run = Run(file, "ByNode", all);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return nlohmann::json::parse(run.out)["digest"];
  };
  const auto library = digest(SCHEDSIM_WITNESS_PLUGIN, {});
  EXPECT_EQ(digest(SCHEDSIM_WITNESS_PLUGIN, {"--isolate"}), library);
  EXPECT_EQ(digest(SCHEDSIM_WITNESS_PYTHON, {}), library);
  EXPECT_EQ(digest(SCHEDSIM_WITNESS_PYTHON, {"--reference"}), library);
}

TEST_F(EveryHostingTest, RefusesArgumentsInTheSameWords) {
  for (const Strings& more : {Strings{}, Strings{"--isolate"}}) {
    const ProgramResult run = Run(SCHEDSIM_FAULTY_PLUGINS, "RefusesArgs", more);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_TRUE(absl::EndsWith(
        run.err, "schedsim run: initializing plugin \"RefusesArgs\": these arguments will not do\n"))
        << run.err;
  }
  const ProgramResult python =
      Run(SCHEDSIM_SCRIPTED_PYTHON, "ScriptedA", {}, "{factoryError: these arguments will not do}");
  EXPECT_EQ(python.exit_code, 2);
  EXPECT_TRUE(absl::EndsWith(
      python.err, "schedsim run: initializing plugin \"ScriptedA\": these arguments will not do\n"))
      << python.err;
}

TEST_F(EveryHostingTest, NamesAnAnswerOnWhichTheRealOneCrashes) {
  const ProgramResult run = Run(SCHEDSIM_FAULTY_PLUGINS, "SkipsPostFilter", {"--isolate"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  // But for what says which run it is.
  const auto without_header = [](const std::string& out) { return out.substr(out.find("Kubernetes")); };
  EXPECT_EQ(without_header(run.out), without_header(Run(SCHEDSIM_FAULTY_PLUGINS, "SkipsPostFilter").out));
  EXPECT_TRUE(absl::StrContains(run.out, "answered Skip at PostFilter")) << run.out;
}

// The real scheduler's record of plugins that do at each extension point what their arguments say.
TEST_F(EveryHostingTest, DecidesAsTheRealSchedulerDid) {
  const Strings words = {"conform",
                         "--family",
                         "scripted",
                         SCHEDSIM_SOURCE "/tests/conformance/cases/scripted.jsonl.gz",
                         SCHEDSIM_SOURCE "/tests/conformance/traces-1.37/scripted.jsonl.gz",
                         "--plugin"};
  for (const Strings& plugin :
       {Strings{SCHEDSIM_SCRIPTED_PYTHON}, Strings{SCHEDSIM_SCRIPTED_PLUGINS, "--isolate"}}) {
    Strings arguments = words;
    arguments.insert(arguments.end(), plugin.begin(), plugin.end());
    const ProgramResult run = RunProgram(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    EXPECT_TRUE(absl::EndsWith(run.out, "40 passed, 0 failed\n")) << run.out;
  }
}

// ---- Processes that go wrong ----

TEST_F(ProcessTest, AnIsolatedCrashNamesPluginPointAndPod) {
  struct Crash {
    const char* plugin;
    const char* point;
    const char* why;
  };
  for (const Crash& crash : {Crash{"BadAddress", "Filter", "a bad address (SIGSEGV)"},
                             Crash{"GivesUp", "Reserve", "it gave up (SIGABRT)"},
                             Crash{"Recurses", "PreEnqueue", "a bad address (SIGSEGV)"}}) {
    const ProgramResult run = Run(SCHEDSIM_FAULTY_PLUGINS, crash.plugin, {"--isolate"});
    EXPECT_EQ(run.exit_code, 3) << crash.plugin;
    EXPECT_TRUE(absl::StrContains(run.err, crash.why)) << run.err;
    EXPECT_TRUE(absl::EndsWith(
        run.err, absl::StrCat("schedsim: plugin ", crash.plugin, " failed at ", crash.point,
                              " for pod shop/web: ", SCHEDSIM_FAULTY_PLUGINS, ": ended with exit code 3\n")))
        << run.err;
    EXPECT_EQ(run.out, "");
  }
}

TEST_F(ProcessTest, AnEndlessLoopEndsTheRunWithACodeOfItsOwn) {
  const ProgramResult isolated =
      Run(SCHEDSIM_FAULTY_PLUGINS, "Endless", {"--isolate", "--plugin-timeout", "5s"});
  EXPECT_EQ(isolated.exit_code, 4);
  EXPECT_TRUE(absl::EndsWith(
      isolated.err,
      absl::StrCat("schedsim: plugin Endless failed at Filter for pod shop/web: ", SCHEDSIM_FAULTY_PLUGINS,
                   ": no answer within 5s: the run ends here, since no real clock may reach a result\n")))
      << isolated.err;
  const std::string file = Python("  def Filter(self, state, pod, node):\n    while True: pass");
  EXPECT_EQ(Run(file, "Mine", {"--plugin-timeout", "5s"}).exit_code, 4);
}

TEST_F(ProcessTest, AnExceptionIsToldWithItsPlace) {
  const std::string file = Python("  def Filter(self, state, pod, node):\n    return 1 // 0");
  const ProgramResult run = Run(file, "Mine");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(absl::StrContains(run.err, file + ": Traceback")) << run.err;
  EXPECT_TRUE(absl::EndsWith(
      run.err, absl::StrCat("schedsim: plugin Mine failed at Filter for pod shop/web: ", file,
                            ": ZeroDivisionError: integer division or modulo by zero (mine.py:6)\n")))
      << run.err;
}

TEST_F(ProcessTest, AWrongAnswerIsNamed) {
  struct Fault {
    const char* at_filter;
    const char* want;
    int exit_code = 3;
  };
  const Fault faults[] = {
      {"sys.exit(7)", "ended with exit code 7"},
      {"os.kill(os.getpid(), 9)", "was ended by signal 9 (Killed)"},
      {"os.close(1); os.close(0); time.sleep(60)", "closed its standard output"},
      {"say('rubbish')",
       "column 1: malformed JSON, expected a value, a key, `:`, `,` or a closing bracket in rubbish"},
      {"say('')", "an empty line, expected a map"},
      {"say('[1]')", "expected a map, got a list"},
      {"say('{\"answer\": 5}')", "answer: expected a map, got a number"},
      {"say('{\"answer\": {}}')", "answer: statuses: expected a list of 3, one for each node, got nothing"},
      {"say('{\"answer\": {\"statuses\": [null]}}')",
       "answer: statuses: expected a list of 3, one for each node, got one of 1"},
      {"say('{\"answer\": {\"statuses\": [null, null, {\"code\": \"Maybe\"}]}}')",
       "answer: statuses[2].code: expected Success, Error, Unschedulable, UnschedulableAndUnresolvable, "
       "Wait, "
       "Skip or Pending, got \"Maybe\""},
      {"say('{\"wat\": 1}')", "expected a map with `answer`, `failed` or `do`"},
      {"say('{\"do\": \"dance\"}')", "asked for dance: there is no such request"},
      {"say('{\"do\": \"bind\", \"pod\": \"nobody\", \"node\": \"node-1\", \"called\": 1}')",
       "asked for bind: pod: no pod nobody"},
      {"say('{\"do\": \"finish\", \"done\": 12}')", "asked for finish: done: it is over, or never began"},
      {"half('{\"answer\": '); sys.exit(0)", "ended with exit code 0 within a line, {\"answer\": "},
      {"half('{\"answer\": '); time.sleep(60)",
       "no answer within 5s: the run ends here, since no real clock may reach a result", 4},
      {"time.sleep(60)", "no answer within 5s: the run ends here, since no real clock may reach a result", 4},
      {"[half('x' * 1000000) for _ in range(1000)]",
       "wrote a line of more than 67108864 bytes, expected an answer"},
      {"[(say('{\"do\": \"node\", \"name\": \"node-1\"}'), sys.stdin.readline()) for _ in iter(int, 1)]",
       "no answer within 5s: the run ends here, since no real clock may reach a result", 4},
  };
  for (const Fault& fault : faults) {
    const std::string file = Raw(fault.at_filter);
    const ProgramResult run = Run(file, "Raw", {"--plugin-timeout", fault.exit_code == 4 ? "5s" : "60s"});
    EXPECT_EQ(run.exit_code, fault.exit_code) << fault.at_filter << run.err;
    EXPECT_TRUE(
        absl::EndsWith(run.err, absl::StrCat("schedsim: plugin Raw failed at Filter for pod shop/web: ", file,
                                             ": ", fault.want, "\n")))
        << run.err;
    EXPECT_EQ(run.out, "");
  }
}

TEST_F(ProcessTest, AFileThatIsNoProgramOfPluginsIsRefused) {
  struct Fault {
    std::string file;
    std::string want;
    int exit_code = 2;
  };
  const Fault faults[] = {
      {folder_.Path("none.py"), ": No such file or directory, expected a readable file or folder"},
      {Program("dies", "#!/bin/sh\nexit 7\n"),
       ": ended with exit code 7 before it said which plugins it has"},
      {Program("cat", "#!/bin/cat\n"), ": column 1: malformed JSON"},
      {Program("old", "#!/bin/sh\necho '{\"protocol\": 0}'; sleep 60\n"),
       ": speaks version 0 of the protocol, expected 1: use the schedsim_plugin.py of this schedsim"},
      {Program("empty", "#!/bin/sh\necho '{\"protocol\": 1, \"plugins\": []}'; sleep 60\n"),
       ": a program without a plugin"},
      {Program("unknown",
               "#!/bin/sh\necho '{\"protocol\": 1, \"plugins\": [{\"name\": \"A\", \"methods\": "
               "[\"Sing\"]}]}'; sleep 60\n"),
       ": plugins[0]: methods: Sing is not known"},
      {Program("half",
               "#!/bin/sh\necho '{\"protocol\": 1, \"plugins\": [{\"name\": \"A\", \"methods\": "
               "[\"AddPod\"]}]}'; sleep 60\n"),
       ": plugin A has AddPod or RemovePod without PreFilter"},
      {Program("taken",
               "#!/bin/sh\necho '{\"protocol\": 1, \"plugins\": [{\"name\": \"NodeName\", \"methods\": "
               "[\"Filter\"]}]}'; sleep 60\n"),
       ": there is a plugin NodeName already, expected another name"},
      {Program("silent", "#!/bin/sh\nsleep 60\n"),
       ": at its start, where it says which plugins it has: no answer within 5s", 4},
      {folder_.Write("locked", "#!/bin/sh\n"), " cannot be started: Permission denied"},
      {Program("nobody", "#!/nowhere/sh\n"), ", or what is to run it (#!), is not there"},
      {folder_.Write("forgets.py", "import schedsim_plugin\n"),
       ": ended with exit code 1 before it said which plugins it has"},
      {folder_.Write("broken.py", "def\n"), ": ended with exit code 1 before it said which plugins it has"},
  };
  for (const Fault& fault : faults) {
    const ProgramResult run =
        Run(fault.file, "Mine", {"--plugin-timeout", fault.exit_code == 4 ? "5s" : "60s"});
    EXPECT_EQ(run.exit_code, fault.exit_code) << fault.file << run.err;
    EXPECT_TRUE(absl::StrContains(run.err, absl::StrCat("schedsim run: ", fault.file))) << run.err;
    EXPECT_TRUE(absl::StrContains(run.err, fault.want)) << run.err;
  }
}

TEST_F(ProcessTest, WhatNeedsATimeIsNotTakenWithoutOne) {
  const ProgramResult run =
      Run(Python("  def Permit(self, state, pod, node_name):\n    return Status.Wait()"), "Mine");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(absl::StrContains(
      run.err, "plugin Mine failed at Permit for pod shop/web: " + folder_.Path("mine.py") +
                   ": TypeError: Permit gave Status.Wait() alone, expected how long to wait as "
                   "well: Status.Wait(), seconds"))
      << run.err;
}

// Each pod was tried, and found its node.
TEST_F(ProcessTest, APodThatIsNotBoundInTheEndSaysWhatItWaitsFor) {
  struct Hold {
    const char* body;
    const char* why;
  };
  const Hold holds[] = {
      {"  def PreBind(self, state, pod, node_name, done):\n    return LATER", "PreBind of Mine is not done"},
      {"  def Permit(self, state, pod, node_name):\n    return Status.Wait(), 600",
       "it waits on Permit for Mine"}};
  for (const Hold& hold : holds) {
    const std::string file = Python(hold.body);
    const ProgramResult run = Run(file, "Mine", {"--until", "60s"});
    EXPECT_TRUE(
        absl::StrContains(run.out, absl::StrCat("  (not bound when the run ended: ", hold.why, ")\n")))
        << run.out << run.err;
    const ProgramResult explained = RunProgram(
        {"explain", "web", "-f", cluster_, "--config", Config("Mine"), "--plugin", file, "--until", "60s"});
    // The line is broken before the last word.
    const std::string begin = std::string(hold.why).substr(0, std::string(hold.why).rfind(' '));
    EXPECT_TRUE(absl::StrContains(explained.out,
                                  absl::StrCat("The run ended before the pod was bound: ", begin, "\n")))
        << explained.out << explained.err;
  }
}

TEST_F(ProcessTest, AClassWithoutAMethodIsToldOf) {
  const std::string file = Python("  def Fliter(self, state, pod, node):\n    return Status.Error('no')");
  const ProgramResult run = Run(file, "Mine");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(absl::StrContains(
      run.err,
      absl::StrCat("note: ", file,
                   ": the plugin Mine has no method of an extension point, such as Filter: it can do "
                   "nothing\n")))
      << run.err;
}

// ---- Nothing is left ----

// One that has ended and that nobody has waited for yet runs no more.
bool IsRunning(const std::string& pid) {
  const std::string stat = FileContent(absl::StrCat("/proc/", absl::StripSuffix(pid, "\n"), "/stat"));
  const size_t state = stat.rfind(") ");
  return state != std::string::npos && stat[state + 2] != 'Z';
}

// A plugin that notes its process in a file, and does not end by itself.
std::string StaysAlive(const std::string& pid_file, const std::string& at_filter) {
  return absl::StrCat("  def __init__(self, handle):\n    open('", pid_file,
                      "', 'w').write(str(os.getpid()))\n    import atexit\n"
                      "    atexit.register(time.sleep, 60)\n"
                      "  def Filter(self, state, pod, node):\n    ",
                      at_filter);
}

TEST_F(ProcessTest, AProcessThatStaysIsEnded) {
  const std::string pid = folder_.Path("pid");
  for (const char* at_filter : {"pass", "raise RuntimeError('no')"}) {
    std::filesystem::remove(pid);
    Run(Python(StaysAlive(pid, at_filter)), "Mine");
    ASSERT_NE(FileContent(pid), "");
    EXPECT_FALSE(IsRunning(FileContent(pid)));
  }
}

TEST_F(ProcessTest, AProcessEndsWithAProgramThatIsKilled) {
  const std::string pid = folder_.Path("pid");
  const std::string file = Python(StaysAlive(pid, "time.sleep(60)"));
  for (const char* signal : {"INT", "TERM", "KILL"}) {
    std::filesystem::remove(pid);
    // What a shell runs beside itself would not hear SIGINT.
    RunShell(absl::StrCat("env --default-signal=INT \"$SCHEDSIM\" run -f ", cluster_, " --config ",
                          Config("Mine"), " --plugin ", file, " & P=$!; while ! test -s ", pid,
                          "; do sleep 0.05; done; kill -", signal, " $P; wait $P; sleep 0.3"));
    ASSERT_NE(FileContent(pid), "");
    EXPECT_FALSE(IsRunning(FileContent(pid))) << signal;
  }
}

}  // namespace
}  // namespace schedsim
