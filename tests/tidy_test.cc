// Checks the rules of the repository that can be read off its text. See CONTRIBUTING.md.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/tidy_sources.h"

namespace schedsim {
namespace {

namespace fs = std::filesystem;

// ---- The rules ----

// No file may have more lines, no function either.
constexpr int kFileLinesMax = 900;
constexpr int kFunctionLinesMax = 70;
// In characters, as in .clang-format; code and comments alike.
constexpr int kLineLengthMax = 110;

// What the files of a folder may include of the project: the first row whose folder matches counts.
struct LayerRule {
  const char* folder;
  Strings may_include;
};

const LayerRule kLayers[] = {
    {"core/base/", {"core/base/"}},
    {"core/api/", {"core/base/", "core/api/"}},
    {"core/cel/", {"core/base/", "core/api/", "core/cel/"}},
    {"core/framework/", {"core/base/", "core/api/", "core/framework/"}},
    {"core/plugins/", {"core/base/", "core/api/", "core/cel/", "core/framework/", "core/plugins/"}},
    {"core/queue/", {"core/base/", "core/api/", "core/framework/", "core/queue/"}},
    {"core/cache/", {"core/base/", "core/api/", "core/framework/", "core/cache/"}},
    {"core/scheduler/",
     {"core/base/", "core/api/", "core/framework/", "core/plugins/", "core/queue/", "core/cache/",
      "core/scheduler/"}},
    {"core/codec/text/", {"core/base/", "core/codec/text/"}},
    {"core/codec/objects/", {"core/base/", "core/api/", "core/codec/text/", "core/codec/objects/"}},
    {"core/codec/patch/",
     {"core/base/", "core/api/", "core/codec/text/", "core/codec/objects/", "core/codec/patch/"}},
    {"core/codec/protobuf/",
     {"core/base/", "core/api/", "core/codec/text/", "core/codec/objects/", "core/codec/protobuf/"}},
    {"core/codec/config/", {"core/base/", "core/api/", "core/codec/text/", "core/codec/config/"}},
    {"core/hosting/",
     {"core/base/", "core/api/", "core/framework/", "core/codec/text/", "core/codec/objects/",
      "core/codec/protobuf/", "core/hosting/"}},
    {"sim/kernel/", {"core/base/", "core/api/", "core/framework/", "sim/kernel/"}},
    {"sim/cluster/", {"core/", "sim/kernel/", "sim/cluster/"}},
    {"sim/jq/", {"core/base/", "core/codec/text/", "sim/jq/"}},
    {"sim/templates/", {"core/base/", "core/api/", "core/codec/text/", "sim/templates/"}},
    {"sim/record/", {"core/", "sim/kernel/", "sim/record/"}},
    {"sim/stages/",
     {"core/", "sim/kernel/", "sim/cluster/", "sim/jq/", "sim/templates/", "sim/record/", "sim/stages/"}},
    {"sim/actors/", {"core/", "sim/kernel/", "sim/cluster/", "sim/record/", "sim/actors/"}},
    {"sim/controllers/", {"core/", "sim/kernel/", "sim/cluster/", "sim/record/", "sim/controllers/"}},
    {"sim/autoscaler/",
     {"core/", "sim/kernel/", "sim/cluster/", "sim/record/", "sim/controllers/", "sim/autoscaler/"}},
    {"sim/extenders/", {"core/", "sim/kernel/", "sim/cluster/", "sim/record/", "sim/extenders/"}},
    {"sim/run/",
     {"core/", "sim/kernel/", "sim/cluster/", "sim/record/", "sim/actors/", "sim/controllers/", "sim/stages/",
      "sim/autoscaler/", "sim/extenders/", "sim/run/"}},
    {"sim/series/", {"core/", "sim/kernel/", "sim/cluster/", "sim/record/", "sim/run/", "sim/series/"}},
    {"sim/formats/",
     {"core/", "sim/kernel/", "sim/cluster/admission/namespace_lifecycle.h",
      "sim/cluster/admission/policy_json.h", "sim/cluster/admission/quota_resources.h",
      "sim/cluster/admission/quota_usage.h", "sim/cluster/label_selector.h", "sim/formats/"}},
    {"sim/measure/",
     {"core/", "sim/kernel/", "sim/cluster/", "sim/record/", "sim/run/", "sim/series/", "sim/measure/"}},
    {"sim/scenario/",
     {"core/", "sim/kernel/", "sim/cluster/", "sim/templates/", "sim/record/", "sim/controllers/",
      "sim/autoscaler/", "sim/extenders/", "sim/run/", "sim/formats/", "sim/stages/",
      "sim/measure/measured_window.h", "sim/scenario/"}},
    {"sim/replay/",
     {"core/", "sim/kernel/", "sim/cluster/", "sim/record/", "sim/actors/", "sim/run/", "sim/formats/",
      "sim/replay/"}},
    {"sim/analysis/",
     {"core/", "sim/kernel/", "sim/cluster/", "sim/record/", "sim/run/", "sim/formats/", "sim/replay/",
      "sim/analysis/"}},
    {"sim/report/",
     {"core/", "sim/kernel/", "sim/cluster/", "sim/record/", "sim/controllers/cron_job.h", "sim/run/",
      "sim/formats/", "sim/replay/", "sim/analysis/", "sim/measure/", "sim/report/"}},
    {"sim/recorder/", {"core/", "sim/kernel/", "sim/record/", "sim/recorder/"}},
    {"sim/conformance/",
     {"core/", "sim/kernel/", "sim/cluster/api_server.h", "sim/record/", "sim/extenders/", "sim/run/",
      "sim/conformance/"}},
    {"sim/plan/",
     {"core/", "sim/kernel/", "sim/cluster/object_list.h", "sim/record/", "sim/autoscaler/", "sim/run/",
      "sim/formats/", "sim/scenario/", "sim/conformance/", "sim/recorder/", "sim/replay/", "sim/analysis/",
      "sim/measure/", "sim/report/", "sim/series/", "sim/stages/", "sim/plan/"}},
    {"sim/diff/", {"core/", "sim/kernel/", "sim/record/", "sim/report/", "sim/plan/", "sim/diff/"}},
    {"sim/seeds/", {"core/", "sim/kernel/", "sim/run/", "sim/report/", "sim/plan/", "sim/seeds/"}},
    {"sim/expect/",
     {"core/", "sim/kernel/", "sim/cluster/label_selector.h", "sim/record/", "sim/report/",
      "sim/stages/default_stages.h", "sim/plan/", "sim/seeds/", "sim/expect/"}},
    {"sim/whatif/",
     {"core/", "sim/kernel/", "sim/autoscaler/node_companions.h", "sim/autoscaler/node_pool.h",
      "sim/scenario/timeline.h", "sim/report/", "sim/plan/", "sim/whatif/"}},
    {"sim/explain/",
     {"core/", "sim/kernel/", "sim/run/", "sim/replay/", "sim/report/", "sim/plan/", "sim/explain/"}},
    {"sim/html/",
     {"core/", "sim/kernel/", "sim/run/", "sim/series/", "sim/report/", "sim/plan/", "sim/diff/",
      "sim/explain/", "sim/html/"}},
    {"sim/bench/",
     {"core/", "sim/kernel/", "sim/cluster/", "sim/templates/", "sim/record/", "sim/controllers/", "sim/run/",
      "sim/bench/"}},
    {"tools/", {"core/", "sim/", "tools/"}},
    {"tests/", {"core/", "sim/", "tests/"}},
    {"benchmarks/", {"core/", "sim/", "benchmarks/"}},
};

// Which files may include a library: those below one of the folders, `.cc` only.
struct LibraryRule {
  const char* include;
  Strings folders;
};

const LibraryRule kLibraries[] = {
    {"CLI/", {"tools/"}},
    {"archive.h", {"sim/formats/archive.cc", "tests/"}},
    {"archive_entry.h", {"sim/formats/archive.cc", "tests/"}},
    {"benchmark/", {"benchmarks/"}},
    {"dlfcn.h", {"core/hosting/library/"}},
    {"gtest/", {"tests/"}},
    {"httplib.h", {"sim/extenders/live_transport.cc", "tests/"}},
    {"jq.h", {"sim/jq/"}},
    {"jv.h", {"sim/jq/"}},
    {"lzma.h", {"core/codec/text/", "tests/"}},
    {"nlohmann/", {"tests/"}},
    {"openssl/",
     {"core/codec/text/input_log.cc", "sim/extenders/live_transport.cc", "sim/formats/etcd/",
      "sim/formats/redact/", "tests/"}},
    {"protozero/", {"core/codec/protobuf/", "sim/formats/etcd/", "tests/"}},
    {"simdjson.h", {"core/codec/text/"}},
    {"js/", {"core/hosting/wasm/mozjs_engine.cc"}},
    {"jsapi.h", {"core/hosting/wasm/mozjs_engine.cc"}},
    {"wabt/", {"core/hosting/wasm/wabt_engine.cc", "tests/hosting/"}},
    {"yaml-cpp/", {"core/codec/text/", "tests/"}},
    {"yaml.h", {"core/codec/text/"}},
    {"zlib.h", {"core/codec/text/", "tests/"}},
    {"zstd.h", {"core/codec/text/", "tests/"}},
};

// Code that must not appear, except below the folders (or in the files) named.
struct BannedCode {
  const char* code;
  Strings except;
  const char* instead;
};

const char kUseClock[] = "take the time from a Clock&";
const char kUseRng[] = "draw from an Rng&";
const char kUseLookupMap[] = "use LookupMap, a sorted vector or dense indices";
const char kNoThreads[] = "a simulation has one thread";
const char kNoEnvironment[] = "results must not depend on the environment";

const BannedCode kBanned[] = {
    {"std::chrono::system_clock", {"tools/", "benchmarks/"}, kUseClock},
    // A live call, and an answer of a process, that takes too long ends the run, so that no result comes of
    // this clock.
    {"std::chrono::steady_clock",
     {"tools/", "benchmarks/", "tests/fuzz/", "sim/extenders/live_transport.cc",
      "core/hosting/process/child_process.cc"},
     kUseClock},
    {"std::chrono::high_resolution_clock", {}, kUseClock},
    {"absl::Now(", {"tools/", "benchmarks/"}, kUseClock},
    {"absl::GetCurrentTimeNanos", {}, kUseClock},
    {"time(nullptr", {}, kUseClock},
    {"time(NULL", {}, kUseClock},
    {"time(0)", {}, kUseClock},
    {"gettimeofday(", {}, kUseClock},
    {"clock_gettime(", {}, kUseClock},
    {"absl::LocalTimeZone(", {}, kNoEnvironment},
    {"localtime", {}, kNoEnvironment},
    {"sleep_for", {}, kUseClock},
    {"rand(", {}, kUseRng},
    {"srand(", {}, kUseRng},
    {"std::random_device", {}, kUseRng},
    {"std::mt19937", {}, kUseRng},
    {"std::mt19937_64", {}, kUseRng},
    {"std::uniform_int_distribution", {}, kUseRng},
    {"std::uniform_real_distribution", {}, kUseRng},
    {"std::shuffle", {}, kUseRng},
    {"absl::BitGen", {}, kUseRng},
    {"absl::InsecureBitGen", {}, kUseRng},
    {"std::unordered_map", {}, kUseLookupMap},
    {"std::unordered_set", {}, kUseLookupMap},
    {"std::unordered_multimap", {}, kUseLookupMap},
    {"std::unordered_multiset", {}, kUseLookupMap},
    {"std::hash", {}, kUseLookupMap},
    {"std::thread", {"tools/", "tests/sim/extenders/test_server.cc"}, kNoThreads},
    {"std::jthread", {"tools/"}, kNoThreads},
    {"std::async", {}, kNoThreads},
    {"std::execution", {}, kNoThreads},
    {"pthread_create", {}, kNoThreads},
    {"getenv(", {"tools/", "tests/"}, kNoEnvironment},
    {"setlocale(", {}, kNoEnvironment},
    {"std::locale", {}, kNoEnvironment},
    {"directory_iterator",
     {"core/codec/text/input.cc", "tools/conform.cc", "tests/"},
     "list folders with codec::ListFiles, which sorts"},
    {"recursive_directory_iterator",
     {"core/codec/text/input.cc", "tools/conform.cc", "tests/"},
     "list folders with codec::ListFiles, which sorts"},
    {"std::fma", {}, "it rounds differently from what Kubernetes computes"},
    {"throw", {}, "return an absl::Status"},
    {"assert(", {}, "use CHECK, which stays on in release"},
    {"std::views", {}, "clang-tidy 14 cannot read views"},
    {"using namespace", {}, "name what is used"},
};

// Must not stand in a CMake file or preset.
const char* const kBannedFlags[] = {"-ffast-math", "-march=native", "-mtune=native", "-Ofast", "GLOB"};

// Words of work that was left undone. In two parts, or this file would break its own rule.
const char* const kUnfinished[] = {
    "TO"
    "DO",
    "FIX"
    "ME",
    "XX"
    "X"};

// ---- The checks ----

// A plugin is a source of core/plugins that defines the factory of its name.
bool IsPlugin(const SourceFile& file) {
  return absl::StartsWith(file.path, "core/plugins/") && absl::EndsWith(file.path, ".cc") &&
         !FindAll(file.code, absl::StrCat("New", CamelCase(StemOf(file.path)))).empty();
}

Strings PluginStems() {
  Strings stems;
  for (const SourceFile& file : Sources()) {
    if (IsPlugin(file)) stems.push_back(StemOf(file.path));
  }
  return stems;
}

void ExpectNone(const Strings& violations) {
  EXPECT_TRUE(violations.empty()) << absl::StrJoin(violations, "\n");
}

TEST(TidyTest, IncludesGoDownwards) {
  Strings violations;
  for (const SourceFile& file : Sources()) {
    const auto* const rule =
        std::find_if(std::begin(kLayers), std::end(kLayers),
                     [&](const LayerRule& layer) { return absl::StartsWith(file.path, layer.folder); });
    if (rule == std::end(kLayers)) {
      violations.push_back(absl::StrCat(file.path, ": its folder has no row in kLayers"));
      continue;
    }
    for (const Include& include : IncludesOf(file)) {
      const bool is_ours = IsBelowAnyOf(include.path, {"core/", "sim/", "tools/", "tests/", "benchmarks/"});
      if (!is_ours || IsBelowAnyOf(include.path, rule->may_include)) continue;
      violations.push_back(
          absl::StrCat(file.path, ":", include.line, ": ", rule->folder, " may not include ", include.path));
    }
  }
  ExpectNone(violations);
}

TEST(TidyTest, PluginsDoNotIncludeEachOther) {
  Strings violations;
  const Strings stems = PluginStems();
  for (const SourceFile& file : Sources()) {
    if (!IsPlugin(file)) continue;
    for (const Include& include : IncludesOf(file)) {
      const std::string stem = StemOf(include.path);
      const bool is_plugin = std::find(stems.begin(), stems.end(), stem) != stems.end();
      if (!absl::StartsWith(include.path, "core/plugins/") || !is_plugin || stem == StemOf(file.path))
        continue;
      violations.push_back(
          absl::StrCat(file.path, ":", include.line, ": plugin includes plugin ", include.path));
    }
  }
  ExpectNone(violations);
}

TEST(TidyTest, LibrariesAreIncludedOnlyWhereAllowed) {
  Strings violations;
  for (const SourceFile& file : Sources()) {
    for (const Include& include : IncludesOf(file)) {
      for (const LibraryRule& rule : kLibraries) {
        if (!absl::StartsWith(include.path, rule.include)) continue;
        // Headers of tests and of the program are nobody's interface.
        const bool is_private =
            absl::EndsWith(file.path, ".cc") || IsBelowAnyOf(file.path, {"tests/", "tools/"});
        if (is_private && IsBelowAnyOf(file.path, rule.folders)) continue;
        violations.push_back(absl::StrCat(file.path, ":", include.line, ": ", include.path,
                                          " is only for .cc files below ",
                                          absl::StrJoin(rule.folders, ", ")));
      }
    }
  }
  ExpectNone(violations);
}

TEST(TidyTest, NoBannedCode) {
  Strings violations;
  for (const SourceFile& file : Sources()) {
    for (const BannedCode& banned : kBanned) {
      if (IsBelowAnyOf(file.path, banned.except)) continue;
      for (const size_t position : FindAll(file.code, banned.code)) {
        violations.push_back(absl::StrCat(file.path, ":", LineAt(file.code, position), ": ", banned.code,
                                          ": ", banned.instead));
      }
    }
  }
  ExpectNone(violations);
}

// Sees a container that is declared in the file that iterates over it, or in the header beside it.
TEST(TidyTest, NothingIteratesOverAHashContainer) {
  Strings violations;
  std::map<std::string, Strings> names_by_stem;
  for (const SourceFile& file : Sources()) {
    const std::string stem = fs::path(file.path).replace_extension("").generic_string();
    for (absl::string_view line : absl::StrSplit(file.code, '\n')) {
      const absl::string_view declaration = absl::StripSuffix(absl::StripAsciiWhitespace(line), ";");
      if (!absl::StrContains(declaration, "_hash_map<") && !absl::StrContains(declaration, "_hash_set<"))
        continue;
      const size_t end = declaration.rfind("> ");
      if (end == absl::string_view::npos) continue;
      const absl::string_view rest = declaration.substr(end + 2);
      const auto* const name_end = std::find_if_not(rest.begin(), rest.end(), IsWordCharacter);
      names_by_stem[stem].emplace_back(rest.begin(), name_end);
    }
  }
  for (const SourceFile& file : Sources()) {
    const std::string stem = fs::path(file.path).replace_extension("").generic_string();
    for (const std::string& name : names_by_stem[stem]) {
      for (const std::string& use : {absl::StrCat(" : ", name, ")"), absl::StrCat(name, ".begin()")}) {
        for (const size_t position : FindAll(file.code, use)) {
          violations.push_back(absl::StrCat(file.path, ":", LineAt(file.code, position),
                                            ": iterates over the hash container ", name));
        }
      }
    }
  }
  ExpectNone(violations);
}

TEST(TidyTest, FilesAreShort) {
  Strings violations;
  for (const SourceFile& file : Sources()) {
    const int64_t line_count = std::count(file.text.begin(), file.text.end(), '\n');
    if (line_count > kFileLinesMax) violations.push_back(absl::StrCat(file.path, ": ", line_count, " lines"));
  }
  ExpectNone(violations);
}

TEST(TidyTest, FunctionsAreShort) {
  Strings violations;
  for (const SourceFile& file : Sources()) {
    for (const Function& function : FunctionsOf(file.code)) {
      if (function.line_count <= kFunctionLinesMax) continue;
      violations.push_back(absl::StrCat(file.path, ":", function.first_line, ": a function of ",
                                        function.line_count, " lines, more than ", kFunctionLinesMax));
    }
  }
  ExpectNone(violations);
}

TEST(TidyTest, LinesAreShort) {
  Strings violations;
  for (const std::string& path : ListFiles({".cc", ".h", ".txt", ".cmake", ".sh"})) {
    // Other texts are what the program printed.
    if (absl::EndsWith(path, ".txt") && !absl::EndsWith(path, "CMakeLists.txt")) continue;
    for (const LongLine& line : LongLinesOf(ReadText(Root() / path), kLineLengthMax)) {
      violations.push_back(
          absl::StrCat(path, ":", line.line, ": ", line.length, " characters, more than ", kLineLengthMax));
    }
  }
  ExpectNone(violations);
}

TEST(TidyTest, EveryPluginIsRegistered) {
  const std::string registry = CodeOf(ReadText(Root() / "core/plugins/registry.cc"));
  Strings violations;
  for (const std::string& stem : PluginStems()) {
    const std::string factory = absl::StrCat("New", CamelCase(stem));
    if (FindAll(registry, factory).empty()) {
      violations.push_back(absl::StrCat("core/plugins/", stem, ".cc: ", factory, " is not in registry.cc"));
    }
  }
  ExpectNone(violations);
}

TEST(TidyTest, EveryPluginHasATable) {
  Strings violations;
  const Strings stems = PluginStems();
  for (const std::string& stem : stems) {
    const std::string table = absl::StrCat("tests/plugins/", stem, ".yaml");
    if (!fs::exists(Root() / table)) violations.push_back(absl::StrCat(table, " is missing"));
  }
  for (const std::string& path : ListFiles({".yaml"})) {
    if (!absl::StartsWith(path, "tests/plugins/")) continue;
    if (std::find(stems.begin(), stems.end(), StemOf(path)) == stems.end()) {
      violations.push_back(absl::StrCat(path, ": there is no such plugin"));
    }
  }
  ExpectNone(violations);
}

TEST(TidyTest, EveryFileIsInACMakeList) {
  Strings violations;
  for (const SourceFile& file : Sources()) {
    fs::path folder = (Root() / file.path).parent_path();
    while (!fs::exists(folder / "CMakeLists.txt")) folder = folder.parent_path();
    const std::string name = fs::relative(Root() / file.path, folder).generic_string();
    const std::string list = ReadText(folder / "CMakeLists.txt");
    const std::vector<absl::string_view> words = absl::StrSplit(list, absl::ByAnyChar(" \n()\""));
    if (std::find(words.begin(), words.end(), name) == words.end()) {
      violations.push_back(absl::StrCat(file.path, " is not in ",
                                        fs::relative(folder / "CMakeLists.txt", Root()).generic_string()));
    }
  }
  ExpectNone(violations);
}

TEST(TidyTest, HeaderGuardsFollowThePath) {
  Strings violations;
  for (const SourceFile& file : Sources()) {
    if (!absl::EndsWith(file.path, ".h")) continue;
    const std::string guard = absl::StrCat(
        "SCHEDSIM_",
        absl::AsciiStrToUpper(absl::StrReplaceAll(file.path, {{"/", "_"}, {".", "_"}, {"-", "_"}})), "_");
    if (!absl::StrContains(file.text, absl::StrCat("#ifndef ", guard, "\n#define ", guard, "\n"))) {
      violations.push_back(absl::StrCat(file.path, ": expected the guard ", guard));
    }
  }
  ExpectNone(violations);
}

TEST(TidyTest, OwnHeaderComesFirst) {
  Strings violations;
  for (const SourceFile& file : Sources()) {
    const std::string header = fs::path(file.path).replace_extension(".h").generic_string();
    const std::vector<Include> includes = IncludesOf(file);
    if (!absl::EndsWith(file.path, ".cc") || !fs::exists(Root() / header)) continue;
    if (includes.empty() || includes.front().path != header) {
      violations.push_back(absl::StrCat(file.path, ": its first include should be ", header));
    }
  }
  ExpectNone(violations);
}

TEST(TidyTest, NothingIsLeftUnfinished) {
  Strings violations;
  Strings paths = ListFiles({".cc", ".h", ".txt", ".cmake", ".sh"});
  for (const char* path : {"CMakeLists.txt", "README.md", "CONTRIBUTING.md"}) paths.emplace_back(path);
  for (const std::string& path : paths) {
    const std::string text = ReadText(Root() / path);
    for (const char* word : kUnfinished) {
      for (const size_t position : FindAll(text, word)) {
        violations.push_back(absl::StrCat(path, ":", LineAt(text, position), ": ", word));
      }
    }
  }
  ExpectNone(violations);
}

TEST(TidyTest, NoFlagMakesBuildsDiffer) {
  Strings violations;
  Strings paths = ListFiles({".txt", ".cmake"});
  for (const char* path : {"CMakeLists.txt", "CMakePresets.json", "cmake/SchedsimTargets.cmake"}) {
    paths.emplace_back(path);
  }
  for (const std::string& path : paths) {
    const std::string text = ReadText(Root() / path);
    for (const char* flag : kBannedFlags) {
      if (!FindAll(text, flag).empty()) violations.push_back(absl::StrCat(path, ": ", flag));
    }
  }
  ExpectNone(violations);
  EXPECT_TRUE(absl::StrContains(ReadText(Root() / "cmake/SchedsimTargets.cmake"), "-ffp-contract=off"));
}

}  // namespace
}  // namespace schedsim
