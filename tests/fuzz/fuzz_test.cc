// Broken input for each reader, and broken command lines for the program: nothing crashes or hangs, each
// input is read or refused with a message that has a place, and what is read reads back as itself. The corpus
// is good input and all that was found so far.
//
// SCHEDSIM_FUZZ_ROUNDS=N makes N times as many inputs as a test run does.
// SCHEDSIM_FUZZ_SECONDS=N goes on for N seconds a reader rather than for a fixed number of inputs.
// SCHEDSIM_FUZZ_SEED=S begins with another input: input i of a run is made from the seed S + i alone. A
// failure prints the command that repeats its input.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/base/rng.h"
#include "gtest/gtest.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/readers.h"
#include "tests/tools/program.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>

// libjq 1.6 loses a token of some programs that it cannot parse, such as one that ends within a string.
const char* __lsan_default_suppressions() { return "leak:libjq"; }
#endif

namespace schedsim {
namespace {

namespace fs = std::filesystem;

constexpr char kCorpus[] = SCHEDSIM_SOURCE_DIR "/tests/fuzz/corpus";
// Of each run where no time is given.
constexpr int64_t kInputCount = 500;
constexpr int64_t kCommandLineCount = 40;
// One input takes a few milliseconds; the program may be a sanitized one on a busy machine.
constexpr unsigned kHangSeconds = 60;

// What to do again, for when the program ends at once; signal handlers may read it.
char g_repeat[1024] = "";

void PrintRepeat() {
  // All that may be called when memory is broken.
  const ssize_t ignored = write(STDERR_FILENO, g_repeat, std::strlen(g_repeat));
  static_cast<void>(ignored);
}

void OnSignal(int number) {
  if (number == SIGALRM) {
    constexpr char kText[] = "An input takes longer than a minute.\n";
    const ssize_t ignored = write(STDERR_FILENO, kText, sizeof(kText) - 1);
    static_cast<void>(ignored);
  }
  PrintRepeat();
  signal(number, SIG_DFL);
  raise(number);
}

int64_t NumberFromEnvironment(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  int64_t number = 0;
  if (text == nullptr) return otherwise;
  if (!absl::SimpleAtoi(text, &number) || number < 0) {
    std::cerr << variable << "=" << text << ": expected a whole number\n";
    std::exit(1);
  }
  return number;
}

// Decides how many inputs there are, and says how to repeat one.
class FuzzRun {
 public:
  FuzzRun(const std::string& filter, int64_t count)
      : filter_(filter),
        count_(NumberFromEnvironment("SCHEDSIM_FUZZ_COUNT",
                                     count * NumberFromEnvironment("SCHEDSIM_FUZZ_ROUNDS", 1))),
        seconds_(NumberFromEnvironment("SCHEDSIM_FUZZ_SECONDS", 0)),
        first_seed_(NumberFromEnvironment("SCHEDSIM_FUZZ_SEED", 1)),
        start_(std::chrono::steady_clock::now()) {
    for (const int number : {SIGALRM, SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS}) signal(number, OnSignal);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_set_death_callback(PrintRepeat);
#endif
  }
  ~FuzzRun() {
    alarm(0);
    g_repeat[0] = '\0';
    std::cout << done_ << " inputs, from seed " << first_seed_ << "\n";
  }
  FuzzRun(const FuzzRun&) = delete;
  FuzzRun& operator=(const FuzzRun&) = delete;

  // The seed of the next input; false: enough.
  bool Next(uint64_t& seed) {
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    const bool enough = seconds_ > 0 ? elapsed >= std::chrono::seconds(seconds_) : done_ >= count_;
    if (enough || testing::Test::HasFailure()) return false;
    seed = static_cast<uint64_t>(first_seed_ + done_++);
    std::error_code error;
    const std::string program = fs::read_symlink("/proc/self/exe", error).string();
    repeat_ = absl::StrCat("again: SCHEDSIM_FUZZ_SEED=", seed, " SCHEDSIM_FUZZ_COUNT=1 ", program,
                           " --gtest_filter='", filter_, "'\n");
    std::strncpy(g_repeat, repeat_.c_str(), sizeof(g_repeat) - 1);
    alarm(kHangSeconds);
    return true;
  }
  const std::string& repeat() const { return repeat_; }

 private:
  const std::string filter_;
  const int64_t count_;
  const int64_t seconds_;
  const int64_t first_seed_;
  const std::chrono::steady_clock::time_point start_;
  int64_t done_ = 0;
  std::string repeat_;
};

// The files of a corpus, in order of their names.
std::vector<std::string> CorpusFiles(const std::string& name) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(fs::path(kCorpus) / name))
    files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> Corpus(const std::string& name) {
  std::vector<std::string> texts;
  for (const std::string& file : CorpusFiles(name)) texts.push_back(FileContent(file));
  return texts;
}

class FuzzTest : public testing::TestWithParam<Reader> {
 protected:
  std::string Check(const std::string& text) const {
    return GetParam().check(folder_.Write(GetParam().file, text), text);
  }

 private:
  const TestFolder folder_;
};

TEST_P(FuzzTest, CorpusIsReadOrRefused) {
  const std::vector<std::string> files = CorpusFiles(GetParam().name);
  ASSERT_FALSE(files.empty());
  for (const std::string& file : files) EXPECT_EQ(Check(FileContent(file)), "") << file;
}

TEST_P(FuzzTest, BrokenInputIsReadOrRefused) {
  const std::vector<std::string> corpus = Corpus(GetParam().name);
  const Mutator mutator(corpus);
  FuzzRun run(absl::StrCat("*BrokenInput*/", GetParam().name), kInputCount);
  uint64_t seed = 0;
  while (run.Next(seed)) {
    Rng rng(seed);
    const std::string text = mutator.Make(rng);
    const std::string fault = Check(text);
    EXPECT_EQ(fault, "") << run.repeat() << "The input:\n" << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, FuzzTest, testing::ValuesIn(Readers()),
                         [](const auto& run) { return std::string(run.param.name); });

// A line of the corpus is an argument.
TEST(CommandLineFuzzTest, BrokenCommandLinesAreRefused) {
  const std::vector<std::string> corpus = Corpus("command_line");
  const Mutator mutator(corpus);
  // The program may write where a broken option says.
  const TestFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.Path(""));
  folder.Write("cluster.yaml", FileContent(absl::StrCat(kCorpus, "/cluster/small.yaml")));
  folder.Write("scenario.yaml", FileContent(absl::StrCat(kCorpus, "/scenario/small.yaml")));
  folder.Write("config.yaml", FileContent(absl::StrCat(kCorpus, "/config/small.yaml")));
  folder.Write("trace.jsonl", FileContent(absl::StrCat(kCorpus, "/trace/small.jsonl")));
  folder.Write("audit.log", FileContent(absl::StrCat(kCorpus, "/audit_log/small.log")));
  folder.Write("cases.jsonl", FileContent(absl::StrCat(kCorpus, "/cases/small.jsonl")));
  FuzzRun run("CommandLineFuzzTest.*", kCommandLineCount);
  uint64_t seed = 0;
  while (run.Next(seed)) {
    Rng rng(seed);
    const std::string text = mutator.Make(rng);
    std::vector<std::string> arguments = absl::StrSplit(text, '\n', absl::SkipEmpty());
    // Not outside of the folder.
    const bool leaves = absl::StrContains(text, "..") || absl::StrContains(text, "/");
    const bool is_text = text.find('\0') == std::string::npos;
    if (leaves || !is_text) continue;
    const ProgramResult result = RunProgram(arguments);
    const std::string what = absl::StrCat(run.repeat(), "schedsim ", absl::StrJoin(arguments, " "), "\n");
    EXPECT_TRUE(result.exit_code >= 0 && result.exit_code <= 2) << what << result.err;
    EXPECT_TRUE(result.exit_code != 2 || !result.err.empty()) << what << "refused without a word";
    EXPECT_LT(result.err.size(), 20'000U) << what;
    EXPECT_EQ(TextFault(result.err), "") << what;
  }
  fs::current_path(before);
}

TEST(MutatorTest, DrawsTheSameFromTheSameSeedAndMostlySomethingElse) {
  const std::vector<std::string> seeds = {"a: {b: [1, 2]}\nc:\n  d: \"e\"\n"};
  const Mutator mutator(seeds);
  int changed = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Rng first(seed);
    Rng second(seed);
    const std::string text = mutator.Make(first);
    EXPECT_EQ(text, mutator.Make(second));
    changed += text != seeds[0] ? 1 : 0;
  }
  EXPECT_GT(changed, 150);
}

}  // namespace
}  // namespace schedsim
