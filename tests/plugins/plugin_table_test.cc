// Runs the rows of tests/plugins/*.yaml, a test each.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/kubernetes_version.h"
#include "gtest/gtest.h"
#include "sim/conformance/case.h"
#include "tests/plugins/plugin_table.h"

namespace schedsim {

// GoogleTest prints parameters of failed tests.
static void PrintTo(const PluginTableRow& row, std::ostream* out) { *out << row.test_name; }

namespace {

std::vector<std::string> TablePaths() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(SCHEDSIM_SOURCE_DIR "/tests/plugins")) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The rows of all tables that can be read.
std::vector<PluginTableRow> AllRows() {
  std::vector<PluginTableRow> rows;
  for (const std::string& path : TablePaths()) {
    const auto table = ReadPluginTable(path);
    if (table.ok()) rows.insert(rows.end(), table->begin(), table->end());
  }
  return rows;
}

// Reads back a case that was written to a file of its own.
absl::StatusOr<sim::Case> ToCase(const PluginTableRow& row) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", row.test_name, ".jsonl");
  std::ofstream(path) << row.test_case.dump() << '\n';
  const auto version = api::ParseKubernetesVersion(row.version);
  if (!version.ok()) return version.status();
  sim::Case result;
  const absl::Status status = sim::ReadCases(path, version->line, [&result](sim::Case test_case) {
    result = std::move(test_case);
    return absl::OkStatus();
  });
  std::filesystem::remove(path);
  if (!status.ok()) return status;
  return result;
}

TEST(PluginTables, CanBeRead) {
  EXPECT_FALSE(TablePaths().empty());
  for (const std::string& path : TablePaths()) {
    const auto table = ReadPluginTable(path);
    EXPECT_TRUE(table.ok()) << table.status();
  }
}

class PluginTableTest : public testing::TestWithParam<PluginTableRow> {};

TEST_P(PluginTableTest, AnswersAsTheRealScheduler) {
  const PluginTableRow& row = GetParam();
  SCOPED_TRACE(absl::StrCat(row.file, ": ", row.name, " (", row.version, ")"));
  const auto test_case = ToCase(row);
  ASSERT_TRUE(test_case.ok()) << test_case.status();
  const auto run = sim::RunCase(*test_case, /*reference=*/false);
  ASSERT_TRUE(run.ok()) << run.status();
  for (const auto& [key, want] : row.want.items()) {
    const auto answer = PluginTableAnswer(run->records, row, key);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(*answer, want) << key << ": wanted " << want.dump() << ", got " << answer->dump();
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, PluginTableTest, testing::ValuesIn(AllRows()),
                         [](const auto& row) { return row.param.test_name; });

}  // namespace
}  // namespace schedsim
