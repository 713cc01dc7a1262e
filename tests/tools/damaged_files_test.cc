// Files of clusters that are cut off, damaged or made to do harm: each is refused with its name and the
// place, or read but for what can't be read, which is counted.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/rng.h"
#include "core/codec/text/input.h"
#include "core/codec/text/value.h"
#include "core/codec/text/writer.h"
#include "gtest/gtest.h"
#include "sim/formats/cluster_files.h"
#include "tests/tools/archive_writer.h"
#include "tests/tools/program.h"

namespace schedsim::sim {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHashBytes = 32;

std::string Recorded() {
  absl::StatusOr<std::string> bytes =
      codec::ReadFile(SCHEDSIM_SOURCE_DIR "/tests/tools/kwok-real/formats/1-history/etcd.db.gz");
  EXPECT_TRUE(bytes.ok());
  return *std::move(bytes);
}

// What reading a file gives: objects by what they are, as JSON.
struct Content {
  absl::Status status;
  std::map<std::string, std::string> objects;
  std::vector<std::string> warnings;
};

Content Read(const std::string& path) {
  Content content;
  ClusterFiles files;
  content.status =
      files.Read(path, {.split_lists = true}, [&](const codec::Document& document, absl::string_view) {
        std::string id;
        for (const char* const key : {"apiVersion", "kind"}) {
          const codec::Value* const value = document.root.Find(key);
          absl::StrAppend(&id, value == nullptr ? "" : value->text, " ");
        }
        const codec::Value* const metadata = document.root.Find("metadata");
        for (const char* const key : {"namespace", "name"}) {
          const codec::Value* const value = metadata == nullptr ? nullptr : metadata->Find(key);
          absl::StrAppend(&id, value == nullptr ? "" : value->text, " ");
        }
        content.objects[id] = codec::ToJson(document.root);
        return absl::OkStatus();
      });
  content.warnings = files.warnings();
  return content;
}

// How many objects are in one of them alone, or differ.
int DifferencesOf(const Content& a, const Content& b) {
  int count = 0;
  for (const auto& [id, json] : a.objects) {
    const auto found = b.objects.find(id);
    count += found == b.objects.end() || found->second != json ? 1 : 0;
  }
  for (const auto& [id, json] : b.objects) count += a.objects.count(id) == 0 ? 1 : 0;
  return count;
}

TEST(DamagedFilesTest, ADatabaseThatWasCutOffIsRefused) {
  const std::string whole = Recorded();
  const TestFolder folder;
  for (size_t part = 1; part < 50; ++part) {
    // Half of them at the end of a page.
    size_t size = whole.size() * part / 50;
    if (part % 2 == 0) size -= size % 4096;
    const std::string path = folder.Write("etcd.db", absl::string_view(whole).substr(0, size));
    const Content content = Read(path);
    EXPECT_TRUE(absl::IsInvalidArgument(content.status)) << size << content.status;
    EXPECT_TRUE(absl::StartsWith(content.status.message(), absl::StrCat(path, ": offset 0x")))
        << content.status;
    EXPECT_TRUE(absl::StrContains(content.status.message(), "it was cut off")) << content.status;
  }
}

TEST(DamagedFilesTest, ABitInADatabaseSpoilsOneObjectAtMost) {
  std::string whole = Recorded();
  const TestFolder folder;
  // The snapshot knows by its hash.
  std::string flipped = whole;
  flipped[flipped.size() / 3] ^= 1;
  EXPECT_TRUE(absl::StrContains(Read(folder.Write("etcd.db", flipped)).status.message(), "SHA-256"));
  // The file of a member has none.
  whole.resize(whole.size() - kHashBytes);
  const Content intact = Read(folder.Write("etcd.db", whole));
  ASSERT_EQ(intact.status, absl::OkStatus());
  int refused = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    std::string bytes = whole;
    const auto at = static_cast<size_t>(rng.Below(static_cast<int64_t>(bytes.size())));
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.Below(8)));
    const std::string path = folder.Write("etcd.db", bytes);
    const Content content = Read(path);
    if (!content.status.ok()) {
      ++refused;
      EXPECT_TRUE(absl::IsInvalidArgument(content.status)) << seed << content.status;
      EXPECT_TRUE(absl::StartsWith(content.status.message(), absl::StrCat(path, ": offset 0x")))
          << seed << content.status;
      continue;
    }
    // One that changed its name counts twice.
    EXPECT_LE(DifferencesOf(intact, content), 2) << seed;
    if (content.objects.size() < intact.objects.size()) {
      ASSERT_EQ(content.warnings.size(), 1u) << seed;
      EXPECT_TRUE(absl::StrContains(content.warnings[0], " at revision ") ||
                  absl::StrContains(content.warnings[0], "revision "))
          << content.warnings[0];
    }
  }
  EXPECT_LT(refused, 100);
}

TEST(DamagedFilesTest, AnArchiveThatGrowsAsABombIsRefused) {
  const TestFolder folder;
  const std::string path =
      folder.Write("bomb.zip", Pack({{"a.yaml", std::string(size_t{200} << 20, ' ')}}, /*zip=*/true));
  EXPECT_LT(fs::file_size(path), size_t{1} << 20);
  const Content content = Read(path);
  EXPECT_TRUE(absl::StrContains(content.status.message(), "bomb.zip: the archive grows more than "))
      << content.status;
}

// Names that lead outside are names: nothing is written.
TEST(DamagedFilesTest, AnArchiveWritesNoFiles) {
  const TestFolder folder;
  const std::string node = R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})";
  for (const bool zip : {false, true}) {
    const std::string path = folder.Write(zip ? "in/a.zip" : "in/a.tar",
                                          Pack({{"../outside.json", node}, {"/absolute.json", node}}, zip));
    const Content content = Read(path);
    EXPECT_EQ(content.status, absl::OkStatus());
    EXPECT_EQ(content.objects.size(), 1u);
  }
  EXPECT_FALSE(fs::exists(folder.Path("outside.json")));
  EXPECT_FALSE(fs::exists(folder.Path("in/outside.json")));
  EXPECT_FALSE(fs::exists("/absolute.json"));
}

// As a user sees it.
TEST(DamagedFilesTest, TheProgramNamesTheFileAndThePlace) {
  const TestFolder folder;
  const std::string whole = Recorded();
  const std::string path = folder.Write("etcd.db", whole.substr(0, whole.size() / 2));
  const ProgramResult result = RunProgram({"run", "-f", path});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, absl::StrCat(path, ": offset 0x"))) << result.err;
}

}  // namespace
}  // namespace schedsim::sim
