// Recorded clusters in all formats in which they were saved: each has what expect.json counted in the real
// one, and those of one moment have the same objects. SCHEDSIM_KWOK_DATA names a folder with more of them.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/api/pod.h"
#include "core/codec/text/input.h"
#include "gtest/gtest.h"
#include "sim/formats/cluster_input.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::json;

std::string DataFolder() {
  const char* const given = std::getenv("SCHEDSIM_KWOK_DATA");
  return given == nullptr ? std::string(SCHEDSIM_SOURCE_DIR "/tests/tools") : std::string(given);
}

// The snapshots in a folder: folders with a list of kubectl or a database.
std::vector<fs::path> Snapshots() {
  std::set<fs::path> folders;
  for (const auto& entry : fs::recursive_directory_iterator(DataFolder())) {
    const std::string name = entry.path().filename().string();
    if (absl::StartsWith(name, "get.json") || absl::StartsWith(name, "etcd.db"))
      folders.insert(entry.path().parent_path());
  }
  return {folders.begin(), folders.end()};
}

// The file of this name in a snapshot, packed or not; "": it has none.
std::string FileOf(const fs::path& snapshot, const std::string& name) {
  for (const char* const ending : {"", ".gz", ".xz", ".zst"}) {
    const fs::path path = snapshot / absl::StrCat(name, ending);
    if (fs::exists(path)) return path.string();
  }
  return "";
}

sim::ClusterInput Read(const std::vector<std::string>& paths) {
  sim::ClusterInputOptions options;
  for (const std::string& path : paths) options.paths.push_back({.path = path});
  options.allow_empty = true;
  absl::StatusOr<sim::ClusterInput> input = sim::ReadClusterInput(options);
  EXPECT_TRUE(input.ok()) << input.status();
  return input.ok() ? *std::move(input) : sim::ClusterInput();
}

// As expect.json has them.
Json CountsOf(const sim::ClusterInput& input) {
  Json counts = {{"nodes", input.node_count}, {"pods", 0}, {"bound", 0}, {"unbound", 0}, {"terminating", 0}};
  counts["phase"] = Json::object();
  const auto add = [](Json& count) { count = (count.is_null() ? 0 : count.get<int>()) + 1; };
  for (const api::ObjectPtr& object : input.objects) {
    if (object->kind != api::Kind::kPod) continue;
    const auto& pod = static_cast<const api::Pod&>(*object);
    add(counts["pods"]);
    add(counts[pod.node_name.empty() ? "unbound" : "bound"]);
    add(counts["phase"][pod.status.phase]);
    if (pod.metadata.deletion_timestamp.has_value()) add(counts["terminating"]);
  }
  return counts;
}

Json ExpectedOf(const fs::path& snapshot) {
  const std::string file = (snapshot.parent_path() / "expect.json").string();
  const Json all = Json::parse(FileContent(file), nullptr, /*allow_exceptions=*/false);
  const std::string name = snapshot.filename().string();
  if (!all.is_object() || !all.contains(name)) return nullptr;
  Json counts;
  for (const char* const key : {"nodes", "pods", "bound", "unbound", "terminating", "phase"})
    counts[key] = all[name][key];
  return counts;
}

// Snapshots that were taken while things moved: between one file and the next some statuses changed.
constexpr const char* kMoving[] = {"workloads/1-running", "outage/2-tainted", "outage/3-evicting"};

bool IsMoving(const fs::path& snapshot) {
  for (const char* const moving : kMoving) {
    if (absl::EndsWith(snapshot.string(), moving)) return true;
  }
  return false;
}

TEST(KwokFormatsTest, EachFormatHasWhatTheClusterHad) {
  int checked = 0;
  for (const fs::path& snapshot : Snapshots()) {
    const Json expected = ExpectedOf(snapshot);
    if (expected.is_null()) continue;
    for (const char* const name : {"etcd.db", "member-snap-db", "k8s.yaml", "get.json", "get.yaml"}) {
      const std::string file = FileOf(snapshot, name);
      if (file.empty() || (IsMoving(snapshot) && !absl::StrContains(file, "get.json"))) continue;
      ++checked;
      EXPECT_EQ(CountsOf(Read({file})), expected) << file;
    }
    const std::string pods = FileOf(snapshot, "raw-podlist.json");
    const std::string nodes = FileOf(snapshot, "raw-nodelist.json");
    if (pods.empty() || nodes.empty()) continue;
    ++checked;
    EXPECT_EQ(CountsOf(Read({nodes, pods})), expected) << pods;
  }
  EXPECT_GT(checked, 10);
}

// The last line of a report is the digest of its decisions.
std::string DigestOf(const std::string& path) {
  const ProgramResult result = RunProgram({"run", "-f", path, "--bound", "reset"});
  EXPECT_EQ(result.exit_code, 0) << path << ": " << result.err;
  const size_t at = result.out.rfind("Digest");
  return at == std::string::npos ? result.out : result.out.substr(at);
}

TEST(KwokFormatsTest, TheFilesOfOneMomentRunAlike) {
  int checked = 0;
  for (const fs::path& snapshot : Snapshots()) {
    const std::string database = FileOf(snapshot, "etcd.db");
    const std::string list = FileOf(snapshot, "get.json");
    if (database.empty() || list.empty() || IsMoving(snapshot)) continue;
    ++checked;
    EXPECT_EQ(DigestOf(database), DigestOf(list)) << snapshot;
    const std::string yaml = FileOf(snapshot, "get.yaml");
    if (yaml.empty()) continue;
    EXPECT_EQ(DigestOf(yaml), DigestOf(list)) << snapshot;
  }
  EXPECT_GT(checked, 1);
}

}  // namespace
}  // namespace schedsim
