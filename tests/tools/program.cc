#include "tests/tools/program.h"

#include <fcntl.h>
#include <lzma.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include <algorithm>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/check.h"
#include "gtest/gtest.h"

extern char** environ;

namespace schedsim {

namespace {

// Runs `words`, of which the first is a path.
ProgramResult Run(std::vector<std::string> words, absl::string_view input) {
  const TestFolder folder;
  const std::string in = folder.Write("in", input);
  const std::string out = folder.Path("out");
  const std::string err = folder.Path("err");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ProgramResult result;
  pid_t pid = 0;
  const int spawned = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  CHECK(spawned == 0);
  int status = 0;
  struct rusage usage = {};
  CHECK(wait4(pid, &status, 0, &usage) == pid);
  for (const timeval& part : {usage.ru_utime, usage.ru_stime}) {
    result.cpu_seconds += static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) / 1e6;
  }
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  result.out = FileContent(out);
  result.err = FileContent(err);
  return result;
}

}  // namespace

ProgramResult RunProgram(const std::vector<std::string>& arguments, absl::string_view input) {
  std::vector<std::string> words = {SCHEDSIM_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return Run(std::move(words), input);
}

ProgramResult RunShell(absl::string_view command) {
  return Run({"/bin/sh", "-c", absl::StrCat("SCHEDSIM='", SCHEDSIM_PROGRAM, "'; ", command)}, "");
}

TestFolder::TestFolder() {
  std::string pattern =
      absl::StrCat(std::filesystem::temp_directory_path().string(), "/schedsim-test-XXXXXX");
  CHECK(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TestFolder::Path(absl::string_view name) const { return absl::StrCat(path_, "/", name); }

std::string TestFolder::Write(absl::string_view name, absl::string_view content) const {
  const std::string path = Path(name);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string FileContent(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

ConsolePage RunConsolePage(const std::string& path) {
  const std::string text = FileContent(path);
  ConsolePage page;
  bool is_console = false;
  for (const absl::string_view line : absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    const bool is_fence = absl::StartsWith(line, "```");
    const bool is_command = is_console && absl::StartsWith(line, "$ ");
    if (is_fence) is_console = line == "```console";
    // What was printed before is left out.
    if (is_fence || !is_console || is_command) absl::StrAppend(&page.written, line, "\n");
    if (!is_command) continue;
    const std::string command = absl::StrReplaceAll(line.substr(2), {{"schedsim ", "\"$SCHEDSIM\" "}});
    const ProgramResult result =
        RunShell(absl::StrCat("export SCHEDSIM; cd \"", SCHEDSIM_SOURCE_DIR,
                              "\" && bash -o pipefail 2>/dev/null <<'END'\n", command, "\nEND\n"));
    EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 1) << command;
    absl::StrAppend(&page.written, result.out);
    ++page.command_count;
  }
  return page;
}

std::string BelowHead(absl::string_view text) {
  const bool is_trace = absl::StartsWith(text, "{");
  for (int i = is_trace ? 1 : 2; i > 0; --i) text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
  return std::string(text);
}

std::string Gzip(absl::string_view text) {
  const TestFolder folder;
  const std::string path = folder.Path("file.gz");
  gzFile file = gzopen(path.c_str(), "wb");
  CHECK(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  CHECK(gzclose(file) == Z_OK);
  return FileContent(path);
}

std::string Xz(absl::string_view text) {
  std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  const lzma_ret result = lzma_easy_buffer_encode(
      /*preset=*/6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t*>(text.data()), text.size(),
      reinterpret_cast<uint8_t*>(packed.data()), &size, packed.size());
  CHECK(result == LZMA_OK);
  packed.resize(size);
  return packed;
}

}  // namespace schedsim
