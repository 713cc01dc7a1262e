// What becomes of output: nothing is lost without a word, and files of results appear whole or not at all.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/sim/formats/audit_log_text.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

namespace fs = std::filesystem;

using Strings = std::vector<std::string>;

constexpr char kSmall[] = SCHEDSIM_SOURCE_DIR "/snapshots/small";
constexpr char kMixed[] = SCHEDSIM_SOURCE_DIR "/snapshots/mixed";
constexpr char kCases[] = SCHEDSIM_SOURCE_DIR "/tests/conformance/cases/ports.jsonl.gz";
constexpr char kTraces[] = SCHEDSIM_SOURCE_DIR "/tests/conformance/traces-1.37/ports.jsonl.gz";

constexpr char kCluster[] =
    "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 9}}}\n---\n"
    "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: app}]}}\n";

// The names in a folder, without those of inputs.
Strings NamesIn(const std::string& folder) {
  Strings names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  return names;
}

std::string AuditLog(const TestFolder& folder) {
  sim::AuditLogText log;
  log.Node(1, "n");
  for (int i = 0; i < 12; ++i) {
    const double at = 1000 * (i + 1);
    log.Pod(at, absl::StrCat("pod-", i)).Bind(at + 5, at + 7, absl::StrCat("pod-", i));
  }
  return folder.Write("audit.log", log.text());
}

TEST(Output, ThatTheDiskHasNoRoomForIsAnError) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", kCluster);
  const std::string trace = folder.Path("trace.jsonl");
  ASSERT_EQ(RunProgram({"run", "-f", cluster, "--trace", trace}).exit_code, 0);
  const std::string old = folder.Write(
      "old.yaml", "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n");
  const Strings commands = {absl::StrCat("run -f ", cluster),
                            absl::StrCat("run -f ", cluster, " --output json"),
                            absl::StrCat("run -f ", cluster, " --output csv"),
                            absl::StrCat("why p ", trace),
                            absl::StrCat("why p ", trace, " --output json"),
                            absl::StrCat("calibrate ", AuditLog(folder)),
                            absl::StrCat("conform ", kCases, " ", kTraces),
                            absl::StrCat("config migrate ", old),
                            "config print",
                            "config print --output json",
                            "--version",
                            "--help",
                            "run --help",
                            "config print --help"};
  for (const std::string& command : commands) {
    const ProgramResult result = RunShell(absl::StrCat("\"$SCHEDSIM\" ", command, " > /dev/full"));
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_TRUE(absl::StrContains(result.err, "standard output: cannot be written: No space left on device"))
        << command << "\n"
        << result.err;
  }
}

TEST(Output, ToAClosedStreamDoesNotGoIntoTheTrace) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", kCluster);
  const std::string trace = folder.Path("trace.jsonl");
  const ProgramResult result =
      RunShell(absl::StrCat("\"$SCHEDSIM\" run -f ", cluster, " --trace ", trace, " >&-"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "standard output: cannot be written: Bad file descriptor"))
      << result.err;
  EXPECT_FALSE(absl::StrContains(FileContent(trace), "Kubernetes")) << FileContent(trace);
}

TEST(Output, ThatNobodyReadsEndsQuietlyWithTwo) {
  for (const char* output : {"text", "json"}) {
    const ProgramResult result = RunShell(
        absl::StrCat("{ \"$SCHEDSIM\" run -f ", kMixed, " --output ", output, "; echo $? >&2; } | true"));
    EXPECT_TRUE(absl::EndsWith(result.err, "2\n")) << result.err;
    EXPECT_FALSE(absl::StrContains(result.err, "schedsim")) << result.err;
  }
  const ProgramResult head =
      RunShell(absl::StrCat("\"$SCHEDSIM\" run -f ", kSmall, " 2> /dev/null | head -n 1"));
  EXPECT_EQ(head.out, absl::StrCat("Run             -f ", kSmall, "\n"));
}

// What the command shows on a terminal of so many columns.
std::string OnTerminal(absl::string_view command, int columns) {
  const ProgramResult result =
      RunShell(absl::StrCat("export SCHEDSIM; unset COLUMNS; exec script -qec 'stty cols ", columns, "; ",
                            command, "' /dev/null < /dev/null"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return absl::StrReplaceAll(result.out, {{"\r\n", "\n"}});
}

TEST(Output, OnATerminalKeepsToItsWidth) {
  const std::string run = absl::StrCat("\"$SCHEDSIM\" run -q -f ", kSmall);
  for (const int columns : {80, 100}) {
    const std::string text = OnTerminal(run, columns);
    for (const absl::string_view line : absl::StrSplit(text, '\n'))
      EXPECT_LE(line.size(), static_cast<size_t>(columns)) << line;
    EXPECT_TRUE(absl::StrContains(text, "60Gi                240Gi    25.00")) << text;
    EXPECT_TRUE(absl::StrContains(text, " No preemption victims found for incoming pod.\n")) << text;
  }
  EXPECT_TRUE(absl::StrContains(OnTerminal("COLUMNS=500 " + run, 80), "found for incoming pod.\n"));
}

TEST(Output, ElsewhereIsTheSameWhateverTheTerminal) {
  const std::string want = RunProgram({"run", "-f", kSmall}).out;
  EXPECT_TRUE(absl::StrContains(want, " 257698037760 ")) << want;
  EXPECT_EQ(RunShell(absl::StrCat("COLUMNS=40 \"$SCHEDSIM\" run -f ", kSmall)).out, want);
  const TestFolder folder;
  OnTerminal(absl::StrCat("\"$SCHEDSIM\" run -f ", kSmall, " > ", folder.Path("report")), 40);
  EXPECT_EQ(FileContent(folder.Path("report")), want);
}

TEST(Output, QuietLeavesErrorsAndVerdicts) {
  const std::string odd =
      "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 1, "
      "pods: 9}}, other: 1}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: "
      "{containers: [{name: c, image: i, resources: {requests: {cpu: 2}}}]}}\n";
  const ProgramResult loud = RunProgram({"run", "-f", "-"}, odd);
  EXPECT_TRUE(absl::StrContains(loud.err, "warning: ")) << loud.err;
  EXPECT_TRUE(absl::StrContains(loud.err, " attempts in ")) << loud.err;
  const ProgramResult quiet = RunProgram({"run", "-f", "-", "-q"}, odd);
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(quiet.out, loud.out);
  const ProgramResult verdict = RunProgram({"run", "-f", "-", "--quiet", "--fail-on-pending"}, odd);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_EQ(verdict.err, "schedsim run: 1 pod is pending at the end, expected none (--fail-on-pending)\n");
  const ProgramResult strict = RunProgram({"run", "-f", "-", "-q", "--strict"}, odd);
  EXPECT_EQ(strict.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(strict.err, "warning: ")) << strict.err;
}

TEST(ResultFile, SaysWhyItCannotBeWritten) {
  const TestFolder folder;
  const std::string cluster = folder.Write("in/cluster.yaml", kCluster);
  const std::string place = folder.Path("place");
  const std::string missing = folder.Path("missing/out.jsonl");
  fs::create_directory(place);
  const std::vector<std::pair<std::string, std::string>> files = {
      {"/dev/full", "/dev/full: cannot be written: No space left on device"},
      {missing, absl::StrCat(missing, ": cannot be written: No such file or directory")},
      {place, absl::StrCat(place, ": cannot be written: Is a directory")}};
  for (const auto& [file, want] : files) {
    const ProgramResult result = RunProgram({"run", "-f", cluster, "--trace", file});
    EXPECT_EQ(result.exit_code, 2) << file;
    EXPECT_EQ(result.out, "") << file;
    EXPECT_TRUE(absl::StrContains(result.err, absl::StrCat("schedsim run: ", want))) << result.err;
  }
  EXPECT_TRUE(NamesIn(place).empty());
}

TEST(ResultFile, ThatCannotBeWrittenToItsEndDoesNotAppear) {
  const TestFolder folder;
  const std::string trace = folder.Write("out/trace.jsonl", "the last one\n");
  const ProgramResult result =
      RunShell(absl::StrCat("ulimit -f 16; \"$SCHEDSIM\" run -f ", kSmall, " --trace ", trace));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, absl::StrCat(trace, ": cannot be written: File too large")))
      << result.err;
  EXPECT_EQ(NamesIn(folder.Path("out")), Strings{"trace.jsonl"});
  EXPECT_EQ(FileContent(trace), "the last one\n");
}

TEST(ResultFile, DoesNotAppearWhereASignalEndsTheRun) {
  const TestFolder folder;
  fs::create_directory(folder.Path("out"));
  const ProgramResult result =
      RunShell(absl::StrReplaceAll("\"$SCHEDSIM\" run -f MIXED --bound reset --reference --check-wakeups "
                                   "--trace OUT/trace.jsonl & pid=$!; "
                                   "while [ -z \"$(ls -A OUT)\" ] && kill -0 $pid; do sleep 0.01; done; kill "
                                   "-TERM $pid; wait $pid; echo $?",
                                   {{"MIXED", kMixed}, {"OUT", folder.Path("out")}}));
  EXPECT_EQ(result.out, "143\n") << result.err;
  EXPECT_TRUE(NamesIn(folder.Path("out")).empty());
}

TEST(ResultFile, TakesThePlaceOfAnOlderOneAndLeavesLinks) {
  const TestFolder folder;
  const std::string cluster = folder.Write("in/cluster.yaml", kCluster);
  const std::string trace = folder.Write("out/trace.jsonl", "the last one\n");
  fs::permissions(trace, fs::perms::owner_read | fs::perms::owner_write);
  const std::string link = folder.Path("out/link.jsonl");
  fs::create_symlink(trace, link);
  ASSERT_EQ(RunProgram({"run", "-f", cluster, "--trace", link}).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(absl::StartsWith(FileContent(trace), "{\"t\":"));
  EXPECT_EQ(fs::status(trace).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(NamesIn(folder.Path("out")).size(), 2U);
}

TEST(ResultFile, IsNotWrittenOverAnInput) {
  const TestFolder folder;
  const std::string cluster = folder.Write("in/cluster.yaml", kCluster);
  const std::string config = folder.Write("config.yaml", RunProgram({"config", "print"}).out);
  const std::string scenario = folder.Write(
      "scenario.yaml",
      "{apiVersion: schedsim/v1, kind: Scenario, inputs: [in], timeline: [{create: later.yaml}]}\n");
  const std::string later = folder.Write(
      "later.yaml",
      "{apiVersion: v1, kind: Pod, metadata: {name: q}, spec: {containers: [{name: c, image: i}]}}\n");
  const std::string link = folder.Path("link.jsonl");
  fs::create_symlink(cluster, link);
  const std::string hard_link = folder.Path("hard.jsonl");
  fs::create_hard_link(cluster, hard_link);
  const Strings of_files = {"run", "-f", folder.Path("in"), "--config", config, "--trace"};
  const Strings of_scenario = {"run", scenario, "--trace"};
  const std::vector<std::pair<Strings, std::string>> runs = {
      {{"run", "-f", cluster, "--trace"}, cluster},
      {{"run", "-f", cluster, "--trace"}, folder.Path("in/../in/cluster.yaml")},
      {{"run", "-f", cluster, "--trace"}, link},
      {{"run", "-f", cluster, "--trace"}, hard_link},
      {of_files, cluster},
      {of_files, hard_link},
      {of_files, folder.Path("in/out.jsonl")},
      {of_files, config},
      {of_scenario, scenario},
      {of_scenario, cluster},
      {of_scenario, later}};
  for (auto [arguments, trace] : runs) {
    const std::string before = FileContent(trace);
    arguments.push_back(trace);
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 2) << trace;
    EXPECT_TRUE(absl::StrContains(result.err, absl::StrCat("schedsim run: --trace: ", trace))) << result.err;
    EXPECT_TRUE(absl::StrContains(result.err, "expected another file")) << result.err;
    EXPECT_EQ(FileContent(trace), before);
  }
  EXPECT_EQ(NamesIn(folder.Path("in")), Strings{"cluster.yaml"});
}

TEST(ResultFile, IsNotWrittenOverStandardInput) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", kCluster);
  const std::string other = folder.Path("other.jsonl");
  const auto run = [&](absl::string_view trace) {
    return RunShell(absl::StrCat("\"$SCHEDSIM\" run -f - --trace '", trace, "' < '", cluster, "'"));
  };
  const ProgramResult refused = run(cluster);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(refused.err, "is the input on standard input, expected another file"))
      << refused.err;
  EXPECT_EQ(FileContent(cluster), kCluster);
  EXPECT_EQ(run(other).exit_code, 0);
  // What is not read may be written.
  const ProgramResult unread =
      RunShell(absl::StrCat("\"$SCHEDSIM\" run -f '", cluster, "' --trace '", other, "' < '", other, "'"));
  EXPECT_EQ(unread.exit_code, 0) << unread.err;
}

TEST(ResultFile, IsNotWrittenOverStages) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", kCluster);
  const std::string text =
      "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: ClusterResourceUsage\nmetadata: {name: all}\n"
      "spec: {usages: [{usage: {cpu: {value: 10m}}}]}\n";
  const std::string stages = folder.Write("stages.yaml", text);
  for (const Strings& arguments :
       {Strings{"run", "-f", cluster, "--stage", "fast", "--stage", stages, "--trace", stages},
        Strings{"run", "-f", cluster, "--stage", "fast", "--stage", stages, "--usage", stages},
        Strings{"run", "-f", cluster, "--stage", "fast", "--stage", stages, "--usage", cluster}}) {
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(absl::StrContains(result.err, "is the input")) << result.err;
  }
  EXPECT_EQ(FileContent(stages), text);
  EXPECT_EQ(FileContent(cluster), kCluster);
}

// Options that name files which must differ from each other, and from what is read.
TEST(ResultFile, CallsOfExtendersAreNotWrittenOverWhatIsRead) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", kCluster);
  const std::string text =
      "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration,\n"
      "extenders: [{urlPrefix: 'http://127.0.0.1:1', filterVerb: filter, ignorable: true}]}\n";
  const std::string config = folder.Write("config.yaml", text);
  const std::string calls = folder.Path("calls.jsonl");
  const Strings live = {"run", "-f", cluster, "--config", config, "--extender-live", "--extender-record"};
  for (const std::string& path : {cluster, config}) {
    Strings arguments = live;
    arguments.push_back(path);
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(absl::StrContains(result.err, absl::StrCat("--extender-record: ", path))) << result.err;
  }
  EXPECT_EQ(FileContent(cluster), kCluster);
  EXPECT_EQ(FileContent(config), text);
  for (const char* option : {"--trace", "--nodes", "--pods"}) {
    Strings arguments = live;
    arguments.insert(arguments.end(), {calls, option, calls});
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(absl::StrContains(result.err, "expected another file than that of")) << result.err;
  }
  EXPECT_FALSE(fs::exists(calls));
  Strings arguments = live;
  arguments.push_back(calls);
  ASSERT_EQ(RunProgram(arguments).exit_code, 0);
  const std::string recorded = FileContent(calls);
  EXPECT_TRUE(absl::StrContains(recorded, "connection refused")) << recorded;
  const ProgramResult replay =
      RunProgram({"run", "-f", cluster, "--config", config, "--extender-replay", calls, "--trace", calls});
  EXPECT_EQ(replay.exit_code, 2);
  EXPECT_EQ(FileContent(calls), recorded);
}

TEST(ResultFile, OfConformIsNotWrittenOverAnInput) {
  const TestFolder folder;
  const std::string cases = folder.Write("tiny-1.jsonl", R"({"name":"tiny-1","end":1,"objects":[]})");
  const std::string traces = folder.Write("traces.jsonl", R"({"case":"tiny-1","trace":[]})");
  const std::string before = FileContent(cases);
  const ProgramResult result = RunProgram({"conform", cases, traces, "--write", folder.Path("")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "schedsim conform: --write: ")) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, "is the input")) << result.err;
  EXPECT_EQ(FileContent(cases), before);
}

// The records of a trace by kind.
std::map<std::string, int> KindsIn(const std::string& trace) {
  std::map<std::string, int> kinds;
  for (const absl::string_view line : absl::StrSplit(trace, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(line, '"');
    ++kinds[parts.size() > 5 ? parts[5] : "?"];
  }
  return kinds;
}

TEST(TraceFile, HasDecisionsUnlessMoreIsAskedFor) {
  const TestFolder folder;
  const std::string trace = folder.Path("trace.jsonl");
  const Strings run = {"run", "-f", kMixed, "--trace", trace};
  ASSERT_EQ(RunProgram(run).exit_code, 0);
  const std::string text = FileContent(trace);
  std::map<std::string, int> kinds = KindsIn(text);
  EXPECT_GT(kinds["attempt"], 0);
  EXPECT_EQ(kinds["move"] + kinds["queue"] + kinds["registrations"], 0);
  EXPECT_TRUE(absl::StrContains(text, R"("bestCount":)"));
  for (const char* detail : {R"("scores":)", R"("filter":)", R"("best":)"}) {
    EXPECT_FALSE(absl::StrContains(text, detail)) << detail;
  }
  Strings decisions = run;
  decisions.insert(decisions.end(), {"--trace-level", "decisions"});
  ASSERT_EQ(RunProgram(decisions).exit_code, 0);
  EXPECT_TRUE(FileContent(trace) == text);
  Strings ties = run;
  ties.insert(ties.end(), {"--trace-level", "ties"});
  ASSERT_EQ(RunProgram(ties).exit_code, 0);
  EXPECT_EQ(KindsIn(FileContent(trace)), KindsIn(text));
  EXPECT_TRUE(absl::StrContains(FileContent(trace), R"("best":[)"));
  EXPECT_FALSE(absl::StrContains(FileContent(trace), R"("bestCount":)"));
  Strings full = run;
  full.insert(full.end(), {"--trace-level", "full"});
  ASSERT_EQ(RunProgram(full).exit_code, 0);
  EXPECT_GT(KindsIn(FileContent(trace))["move"], 0);
  EXPECT_TRUE(absl::StrContains(FileContent(trace), R"("scores":)"));
}

TEST(TraceFile, IsAnArchiveByItsName) {
  const TestFolder folder;
  const std::string plain = folder.Path("trace.jsonl");
  const ProgramResult want = RunProgram({"run", "-f", kSmall, "--bound", "reset", "--trace", plain});
  ASSERT_EQ(want.exit_code, 0) << want.err;
  const std::string pod = "default/fake-app-648f45f647-24t6g";
  const std::string story = RunProgram({"why", pod, plain}).out;
  EXPECT_TRUE(absl::StrContains(story, "bound to ")) << story;
  for (const char* name : {"trace.jsonl.gz", "trace.jsonl.zst"}) {
    const std::string trace = folder.Path(name);
    const ProgramResult run = RunProgram({"run", "-f", kSmall, "--bound", "reset", "--trace", trace});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out, want.out);
    EXPECT_LT(fs::file_size(trace) * 5, fs::file_size(plain)) << name;
    EXPECT_EQ(RunProgram({"why", pod, trace}).out, story);
    EXPECT_EQ(RunProgram({"why", pod, "-"}, FileContent(trace)).out, story);
    // What was cut short is no trace.
    const std::string packed = FileContent(trace);
    const ProgramResult cut =
        RunProgram({"why", pod, folder.Write("cut", packed.substr(0, packed.size() / 2))});
    EXPECT_EQ(cut.exit_code, 2);
    EXPECT_TRUE(absl::StrContains(cut.err, "truncated at byte")) << cut.err;
  }
}

TEST(TraceFile, OfAnArchiveAppearsWholeOrNotAtAll) {
  const TestFolder folder;
  const std::string trace = folder.Write("out/trace.jsonl.zst", "the last one\n");
  const ProgramResult result = RunShell(absl::StrCat("ulimit -f 16; \"$SCHEDSIM\" run -f ", kSmall,
                                                     " --bound reset --trace-level full --trace ", trace));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, absl::StrCat(trace, ": cannot be written: File too large")))
      << result.err;
  EXPECT_EQ(NamesIn(folder.Path("out")), Strings{"trace.jsonl.zst"});
  EXPECT_EQ(FileContent(trace), "the last one\n");
}

TEST(TraceFile, InXzIsRefused) {
  const TestFolder folder;
  const std::string trace = folder.Path("trace.jsonl.xz");
  const ProgramResult result = RunProgram({"run", "-f", kSmall, "--trace", trace});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, absl::StrCat(trace, ": .xz is only read"))) << result.err;
  EXPECT_FALSE(fs::exists(trace));
}

TEST(TraceFile, OnStandardOutputSendsTheReportToStandardError) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", kCluster);
  const std::string trace = folder.Path("trace.jsonl");
  const ProgramResult want = RunProgram({"run", "-f", cluster, "--trace", trace});
  const ProgramResult result = RunProgram({"run", "-f", cluster, "--trace", "-"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, FileContent(trace));
  EXPECT_TRUE(absl::StrContains(result.err, want.out)) << result.err;
  EXPECT_EQ(RunShell(absl::StrCat("\"$SCHEDSIM\" run -f ", cluster,
                                  " --trace - 2> /dev/null | \"$SCHEDSIM\" why p -"))
                .out,
            RunProgram({"why", "p", trace}).out);
  for (const char* output : {"json", "csv"}) {
    const ProgramResult refused = RunProgram({"run", "-f", cluster, "--trace", "-", "--output", output});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(refused.out, "");
    EXPECT_TRUE(absl::StrContains(
        refused.err, absl::StrCat("--trace -: standard output has no place for --output ", output)))
        << refused.err;
  }
}

TEST(TraceFile, OnStandardOutputThatEndsEarlyIsExitCodeTwo) {
  const TestFolder folder;
  const std::string run =
      absl::StrCat("\"$SCHEDSIM\" run -f ", folder.Write("cluster.yaml", kCluster), " --trace - ");
  const ProgramResult full = RunShell(absl::StrCat(run, "> /dev/full"));
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(full.err, "standard output: cannot be written: No space left on device"))
      << full.err;
  const ProgramResult closed = RunShell(absl::StrCat(run, ">&-"));
  EXPECT_EQ(closed.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(closed.err, "standard output: cannot be written")) << closed.err;
  const ProgramResult unread = RunShell(absl::StrCat("{ ", run, "; echo $? >&2; } | true"));
  EXPECT_EQ(unread.err, "2\n");
}

TEST(TraceFile, OfGigabytesIsSaidOnce) {
  std::string cluster;
  for (int i = 0; i < 1'000; ++i) {
    absl::StrAppend(&cluster, "---\napiVersion: v1\nkind: Node\nmetadata: {name: node-", i,
                    "}\nstatus: {allocatable: {cpu: 4, pods: 110}}\n");
  }
  for (int i = 0; i < 20'000; ++i) {
    absl::StrAppend(&cluster, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: pod-", i,
                    ", namespace: default}\nspec:\n  containers:\n  - name: c\n    image: app\n");
  }
  const TestFolder folder;
  const std::string path = folder.Write("cluster.yaml", cluster);
  const std::string trace = folder.Path("trace.jsonl");
  const Strings run = {"run", "-f", path, "--until", "0.2s", "--trace", trace};
  const ProgramResult small = RunProgram(run);
  EXPECT_EQ(small.exit_code, 0) << small.err;
  EXPECT_FALSE(absl::StrContains(small.err, "GB")) << small.err;
  Strings full = run;
  full.insert(full.end(), {"--trace-level", "full", "--strict"});
  const ProgramResult large = RunProgram(full);
  EXPECT_EQ(large.exit_code, 0) << large.err;
  const std::vector<std::string> parts = absl::StrSplit(large.err, " will have about ");
  ASSERT_EQ(parts.size(), 2U) << large.err;
  EXPECT_TRUE(absl::EndsWith(parts[0], trace));
  EXPECT_TRUE(absl::StrContains(parts[1], "20000 pods without a node at the start")) << large.err;
}

TEST(ResultFile, IsNotWhereStandardOutputGoes) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", kCluster);
  const std::string out = folder.Path("out.txt");
  const ProgramResult result =
      RunShell(absl::StrCat("\"$SCHEDSIM\" run -f ", cluster, " --trace ", out, " > ", out));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "is where standard output goes")) << result.err;
}

}  // namespace
}  // namespace schedsim
