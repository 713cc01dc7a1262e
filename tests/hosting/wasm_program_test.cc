// Guests of kube-scheduler-wasm-extension on the command line, on each engine of the build.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/hosting/wasm/wasm_engine.h"
#include "gtest/gtest.h"
#include "tests/hosting/wat.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Strings = std::vector<std::string>;

std::string Cluster() {
  std::string text;
  for (const char* const name : {"node-1", "node-2", "node-3"}) {
    absl::StrAppend(&text, "apiVersion: v1\nkind: Node\nmetadata: {name: ", name,
                    "}\nstatus: {allocatable: {cpu: \"4\", memory: 8Gi, pods: \"110\"}}\n---\n");
  }
  for (const char* const name : {"pod-3", "pod-1"}) {
    absl::StrAppend(&text, "apiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
                    ", namespace: default}\nspec: {containers: [{name: c, image: i}]}\n---\n");
  }
  return text;
}

// A guest alone beside what every profile needs, or with all default plugins.
std::string ConfigFor(const std::string& args, bool alone = true) {
  return absl::StrCat(
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- plugins:\n"
      "    multiPoint: {",
      alone ? "disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: DefaultBinder}, {name: "
              "Guest}]}\n"
            : "enabled: [{name: Guest}]}\n",
      "  pluginConfig: [{name: Guest, args: {guestURL: 'file://guest.wasm'", args.empty() ? "" : ", ", args,
      "}}]\n");
}

// A run of three nodes and two pods with a guest.
class GuestRun {
 public:
  explicit GuestRun(absl::string_view wat, const std::string& args = "", bool alone = true) {
    cluster_ = folder_.Write("cluster.yaml", Cluster());
    config_ = folder_.Write("scheduler.yaml", ConfigFor(args, alone));
    folder_.Write("guest.wasm", hosting::WasmOfText(wat));
  }

  ProgramResult Run(hosting::WasmEngine engine, Strings more = {}) const {
    Strings arguments = {"run",
                         "-f",
                         cluster_,
                         "--config",
                         config_,
                         "--wasm-engine",
                         std::string(hosting::WasmEngineName(engine))};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments);
  }

  // The trace, which is the same on all engines, and by the slow paths.
  std::string Trace() const {
    const std::string path = folder_.Path("trace.jsonl");
    std::string first;
    for (const hosting::WasmEngine engine : hosting::WasmEngines()) {
      for (const bool is_reference : {false, true}) {
        Strings more = {"--trace", path, "--trace-level", "full"};
        if (is_reference) more.emplace_back("--reference");
        const ProgramResult run = Run(engine, more);
        EXPECT_EQ(run.exit_code, 0) << run.err;
        const std::string trace = BelowHead(FileContent(path));
        if (first.empty()) first = trace;
        EXPECT_EQ(trace, first) << hosting::WasmEngineName(engine) << " " << is_reference;
      }
    }
    return first;
  }

  // The node of each pod, in the order of the input.
  std::string Placements() const {
    const ProgramResult csv = Run(hosting::WasmEngines().front(), {"--output", "csv"});
    EXPECT_EQ(csv.exit_code, 0) << csv.err;
    return csv.out;
  }

  const TestFolder& folder() const { return folder_; }
  const std::string& cluster() const { return cluster_; }
  const std::string& config() const { return config_; }

 private:
  const TestFolder folder_;
  std::string cluster_;
  std::string config_;
};

std::string NodeNumber() {
  return FileContent(absl::StrCat(SCHEDSIM_SOURCE_DIR, "/tests/hosting/wasm/node_number.wat"));
}

// A guest with one function of this name and type.
std::string GuestWith(absl::string_view name, absl::string_view type, absl::string_view body) {
  return absl::StrCat(R"((module
    (import "k8s.io/scheduler" "currentPod" (func $pod (param i32 i32) (result i32)))
    (import "k8s.io/scheduler" "currentNodeName" (func $node_name (param i32 i32) (result i32)))
    (import "k8s.io/scheduler" "result.status_reason" (func $reason (param i32 i32)))
    (import "k8s.io/scheduler" "result.node_names" (func $names (param i32 i32)))
    (import "k8s.io/scheduler" "result.normalized_score_list" (func $normalized (param i32 i32)))
    (import "k8s.io/scheduler" "nodeScoreList" (func $scores (param i32 i32) (result i32)))
    (import "k8s.io/api" "nodeList" (func $nodes (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
    (memory (export "memory") 2)
    (data (i32.const 0) "no room here")
    (func $f (export ")",
                      name, "\") ", type, " ", body, "))");
}

TEST(WasmProgram, NodeNumberDecides) {
  const GuestRun run(NodeNumber());
  const std::string placements = run.Placements();
  EXPECT_TRUE(absl::StrContains(placements, "default,pod-3,Bound,node-3,")) << placements;
  EXPECT_TRUE(absl::StrContains(placements, "default,pod-1,Bound,node-1,")) << placements;
  EXPECT_TRUE(absl::StrContains(run.Trace(), R"("raw":{"Guest":[0,0,10]})"));
}

TEST(WasmProgram, GuestConfigIsItsArgument) {
  const GuestRun run(NodeNumber(), R"(guestConfig: '{"reverse": true}')");
  EXPECT_TRUE(absl::StrContains(run.Trace(), R"("raw":{"Guest":[10,10,0]})"));
  EXPECT_FALSE(absl::StrContains(run.Placements(), "pod-3,Bound,node-3")) << run.Placements();
}

TEST(WasmProgram, GuestsLog) {
  const GuestRun run(NodeNumber());
  const ProgramResult result = run.Run(hosting::WasmEngines().front(), {"--guest-log"});
  EXPECT_TRUE(absl::StrContains(result.err, " I Guest prescore default/pod-3: the pod has a digit\n"))
      << result.err;
  const GuestRun errors_only(NodeNumber(), "logSeverity: 2");
  EXPECT_FALSE(
      absl::StrContains(errors_only.Run(hosting::WasmEngines().front(), {"--guest-log"}).err, "digit"));
}

TEST(WasmProgram, AFilterRefusesWithItsWords) {
  const GuestRun run(GuestWith("filter", "(result i32)",
                               R"((drop (call $node_name (i32.const 100) (i32.const 100)))
      (call $reason (i32.const 0) (i32.const 12))
      (select (i32.const 0) (i32.const 2) (i32.eq (i32.load8_u (i32.const 105)) (i32.const 50))))"));
  const std::string trace = run.Trace();
  EXPECT_TRUE(absl::StrContains(trace, R"("reasons":["no room here"])")) << trace;
  EXPECT_TRUE(absl::StrContains(run.Placements(), "pod-3,Bound,node-2"));
}

TEST(WasmProgram, PreFilterNamesNodes) {
  const GuestRun run(R"((module
    (import "k8s.io/scheduler" "result.node_names" (func $names (param i32 i32)))
    (memory (export "memory") 1) (data (i32.const 0) "node-2\00")
    (func (export "filter") (result i32) (i32.const 0))
    (func (export "prefilter") (result i32) (call $names (i32.const 0) (i32.const 7)) (i32.const 0))))");
  EXPECT_TRUE(absl::StrContains(run.Placements(), "pod-3,Bound,node-2"));
  EXPECT_TRUE(absl::StrContains(run.Placements(), "pod-1,Bound,node-2"));
  run.Trace();
}

// Whether the run lives, and says what became of the guest.
void ExpectFailure(absl::string_view wat, absl::string_view words, const std::string& args = "") {
  const GuestRun run(wat, args);
  const std::string trace = run.Trace();
  EXPECT_TRUE(absl::StrContains(trace, words)) << trace;
  EXPECT_FALSE(absl::StrContains(run.Placements(), ",Bound,")) << run.Placements();
}

TEST(WasmProgram, HostileGuestsAreNamed) {
  constexpr absl::string_view kCode = "(result i32)";
  ExpectFailure(
      GuestWith("filter", kCode, "(loop (br 0)) (i32.const 0)"),
      R"(running \"Guest\" filter plugin: wasm: filter error: wasm error: the call did not come to an end)",
      "fuel: 100000");
  ExpectFailure(GuestWith("filter", kCode, "(call $f)"), "wasm: filter error: wasm error: stack overflow");
  ExpectFailure(GuestWith("filter", kCode, "unreachable"), "wasm: filter error: wasm error: unreachable");
  ExpectFailure(
      GuestWith("filter", kCode, "(drop (call $nodes (i32.const -4) (i32.const 0x7fffffff))) (i32.const 0)"),
      "wasm: filter error: wasm error: out of memory");
  ExpectFailure(
      GuestWith("filter", kCode, "(call $names (i32.const 0) (i32.const 0x40000000)) (i32.const 0)"),
      "wasm: filter error: wasm error: out of memory reading nodeNames");
  ExpectFailure(
      GuestWith("filter", kCode, "(call $reason (i32.const 0) (i32.const 0x40000000)) (i32.const 2)"),
      "BUG: out of memory reading message");
  ExpectFailure(GuestWith("filter", kCode, "(call $exit (i32.const 3)) (i32.const 0)"),
                "wasm: filter error: wasm error: module closed with exit_code(3)");
  ExpectFailure(GuestWith("filter", kCode,
                          "(loop (drop (call $nodes (i32.const 0) (i32.const 0))) (br 0)) (i32.const 0)"),
                "wasm: filter error: wasm error: the call did not come to an end", "fuel: 10000");
  ExpectFailure(GuestWith("filter", kCode, "(i32.const 99)"), "which is none of the framework's");
  ExpectFailure(GuestWith("score", "(result i64)", "(i64.const 0x6500000000)"),
                R"(plugin \"Guest\" returns an invalid score 101)");
}

TEST(WasmProgram, NormalizedScoresAreTakenByName) {
  const GuestRun run(R"((module
    (import "k8s.io/scheduler" "result.normalized_score_list" (func $normalized (param i32 i32)))
    (memory (export "memory") 1)
    (data (i32.const 0) "{\"node-3\":1,\"node-2\":90,\"node-1\":3}")
    (func (export "score") (result i64) (i64.const 0))
    (func (export "normalizescore") (result i32) (call $normalized (i32.const 0) (i32.const 35)) (i32.const 0))))");
  const std::string trace = run.Trace();
  EXPECT_TRUE(absl::StrContains(trace, R"("weighted":{"Guest":[3,90,1]})")) << trace;
  EXPECT_TRUE(absl::StrContains(trace, "gives to the nodes in a random order")) << trace;
}

TEST(WasmProgram, NothingIsGuessedAboutGuests) {
  const TestFolder folder;
  folder.Write("bad.wasm", "none");
  const auto error = [&folder](const std::string& args) {
    const std::string config = folder.Write(
        "scheduler.yaml",
        absl::StrCat("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                     "profiles:\n- pluginConfig: [{name: Guest, args: ",
                     args, "}]\n"));
    const ProgramResult result = RunProgram({"config", "print", "--config", config});
    EXPECT_EQ(result.exit_code, 2);
    return result.err.substr(result.err.find("profiles"));
  };
  EXPECT_EQ(error("{guestURL: ''}"),
            "profiles[0].pluginConfig[0].args.guestURL: wasm: guestURL is required\n");
  EXPECT_TRUE(absl::StrContains(error("{guestURL: 'https://a/b.wasm'}"), "expected file:// and a path"));
  EXPECT_TRUE(absl::StrContains(error("{guestURL: 'file://none.wasm'}"), "there is no guest "));
  EXPECT_TRUE(absl::StrContains(error("{guestURL: 'file://bad.wasm'}"),
                                "bad.wasm: wasm: error compiling guest: bad magic value"));
  EXPECT_EQ(
      error("{guestURL: 'file://bad.wasm', logSeverity: high}"),
      "profiles[0].pluginConfig[0].args.logSeverity: expected a whole number (0 info, 1 warning, 2 error, 3 "
      "fatal), got a string\n");
  EXPECT_TRUE(absl::StrContains(error("{guestURL: 'file://bad.wasm', speed: 1}"), "unknown field"));
}

// Each pod takes an instance along into its binding cycle, in which a guest with `permit` alone is not
// called.
TEST(WasmProgram, InstancesThatNothingCallsAgainAreGone) {
  const GuestRun run(R"((module (memory (export "memory") 1024)
    (func (export "permit") (result i64) (i64.const 0))))");
  std::string cluster = Cluster();
  for (int i = 0; i < 30; ++i) {
    absl::StrAppend(&cluster, "apiVersion: v1\nkind: Pod\nmetadata: {name: more-", i,
                    ", namespace: default}\nspec: {containers: [{name: c, image: i}]}\n---\n");
  }
  run.folder().Write("cluster.yaml", cluster);
  const ProgramResult result = run.Run(hosting::WasmEngine::kInterpreter);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string before = result.err.substr(0, result.err.find(" MB at most"));
  double megabytes = 0;
  EXPECT_TRUE(absl::SimpleAtod(before.substr(before.rfind(' ') + 1), &megabytes)) << result.err;
  // 32 of 64 MiB each took more than 2,000.
  EXPECT_LT(megabytes, 1500);
}

// The scheduler's files are where its container has them, and kwokctl says where that is here.
TEST(WasmProgram, KwokctlSaysWhereTheGuestIs) {
  const TestFolder folder;
  folder.Write("main.wasm", hosting::WasmOfText(NodeNumber()));
  folder.Write("scheduler.yaml",
               "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
               "- plugins: {multiPoint: {enabled: [{name: NodeNumber, weight: 1000}]}}\n"
               "  pluginConfig: [{name: NodeNumber, args: {guestURL: 'file:///main.wasm'}}]\n");
  const std::string kwokctl =
      folder.Write("kwok.yaml",
                   "apiVersion: config.kwok.x-k8s.io/v1alpha1\nkind: KwokctlConfiguration\noptions:\n"
                   "  kubeVersion: v1.27.3\n  kubeSchedulerConfig: ./scheduler.yaml\n"
                   "componentsPatches:\n- name: kube-scheduler\n  extraVolumes:\n"
                   "  - {name: guest, hostPath: ./main.wasm, mountPath: /main.wasm, readOnly: true}\n");
  const std::string cluster = folder.Write("cluster.yaml", Cluster());
  const ProgramResult run = RunProgram({"run", "-f", cluster, "--config", kwokctl, "--output", "csv"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(absl::StrContains(run.out, "pod-3,Bound,node-3,")) << run.out;
  EXPECT_TRUE(absl::StrContains(run.out, "pod-1,Bound,node-1,")) << run.out;
  EXPECT_TRUE(absl::StrContains(run.err, "options.kubeVersion v1.27.3, which can't be simulated")) << run.err;
}

TEST(WasmProgram, ExplainAndDiffShowWhatTheGuestDid) {
  const GuestRun run(NodeNumber(), "", /*alone=*/false);
  const ProgramResult explained =
      RunProgram({"explain", "default/pod-3", "-f", run.cluster(), "--config", run.config()});
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_TRUE(absl::StrContains(explained.out, "Guest")) << explained.out;
  const ProgramResult diff =
      RunProgram({"diff", "-f", run.cluster(), "--a-config", run.config(), "--b-config",
                  run.folder().Write("other.yaml", ConfigFor(R"(guestConfig: '{"reverse": true}')"))});
  EXPECT_EQ(diff.exit_code, 1) << diff.err << diff.out;
}

}  // namespace
}  // namespace schedsim
