#include "sim/formats/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/codec/text/input.h"
#include "core/codec/text/value.h"
#include "gtest/gtest.h"
#include "sim/formats/cluster_files.h"
#include "tests/tools/program.h"

namespace schedsim::sim {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

std::string Pack(const Files& files, bool zip) {
  std::string bytes(size_t{1} << 20, '\0');
  size_t used = 0;
  struct archive* const writer = archive_write_new();
  zip ? archive_write_set_format_zip(writer) : archive_write_set_format_ustar(writer);
  EXPECT_EQ(archive_write_open_memory(writer, bytes.data(), bytes.size(), &used), ARCHIVE_OK);
  for (const auto& [name, content] : files) {
    struct archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_size(entry, static_cast<int64_t>(content.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    EXPECT_EQ(archive_write_header(writer, entry), ARCHIVE_OK);
    archive_write_data(writer, content.data(), content.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  bytes.resize(used);
  return bytes;
}

absl::Status Unpack(absl::string_view bytes, Files& files) {
  return ReadArchive(
      bytes, "a.tar", [](absl::string_view) { return true; },
      [&files](absl::string_view name, std::string content) {
        files.emplace_back(name, std::move(content));
        return absl::OkStatus();
      });
}

TEST(ArchiveTest, HandsOnTheFilesInOrder) {
  const Files given = {{"b.yaml", "b"}, {"folder/a.json", "a"}, {"../outside.yaml", "c"}};
  for (const bool zip : {false, true}) {
    const std::string bytes = Pack(given, zip);
    ASSERT_TRUE(IsArchive(bytes));
    Files files;
    ASSERT_EQ(Unpack(bytes, files), absl::OkStatus());
    EXPECT_EQ(files, given);
  }
  EXPECT_FALSE(IsArchive("apiVersion: v1\n"));
}

TEST(ArchiveTest, SaysThatOneWasCutOff) {
  const std::string bytes = Pack({{"a.yaml", std::string(3000, 'a')}}, /*zip=*/false);
  Files files;
  const absl::Status status = Unpack(absl::string_view(bytes).substr(0, 1500), files);
  EXPECT_TRUE(absl::StrContains(status.message(), "a.tar: a.yaml: the archive is damaged or was cut off"))
      << status;
}

TEST(ArchiveTest, SurvivesDamage) {
  const std::string whole = Pack({{"a.yaml", std::string(300, 'a')}, {"b.yaml", "b"}}, /*zip=*/true);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x11);
    Files files;
    const absl::Status status = Unpack(bytes, files);
    EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status)) << status;
  }
}

std::vector<std::string> NamesIn(const std::string& path, absl::Status& status) {
  std::vector<std::string> names;
  ClusterFiles files;
  status =
      files.Read(path, {.split_lists = true}, [&](const codec::Document& document, absl::string_view file) {
        const codec::Value* const metadata = document.root.Find("metadata");
        const codec::Value* const name = metadata == nullptr ? nullptr : metadata->Find("name");
        names.push_back(
            absl::StrCat(file.substr(file.rfind('/') + 1), " ", name == nullptr ? "?" : name->text));
        return absl::OkStatus();
      });
  return names;
}

std::string ConfigMap(absl::string_view name) {
  return absl::StrCat("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"", name,
                      "\"}}");
}

TEST(ClusterFilesTest, ReadsTheFilesOfArchives) {
  const TestFolder folder;
  const std::string inner = Pack({{"c.json", ConfigMap("c")}}, /*zip=*/true);
  const std::string path = folder.Write(
      "all.tar", Pack({{"a.json", ConfigMap("a")}, {"log.txt", "no objects"}, {"b.yml", ConfigMap("b")}},
                      /*zip=*/false));
  absl::Status status;
  EXPECT_EQ(NamesIn(path, status), (std::vector<std::string>{"all.tar!a.json a", "all.tar!b.yml b"}));
  EXPECT_EQ(status, absl::OkStatus());
}

// Of a support bundle only the objects are read: other files are answers of collectors.
TEST(ClusterFilesTest, ReadsTheObjectsOfASupportBundle) {
  const TestFolder folder;
  const std::string path =
      folder.Write("bundle.tar", Pack({{"bundle/analysis.json", "{\"a\": 1}"},
                                       {"bundle/cluster-resources/pods/default.json", ConfigMap("a")},
                                       {"bundle/cluster-resources/pods-errors.json", "[\"no\"]"}},
                                      /*zip=*/false));
  absl::Status status;
  EXPECT_EQ(NamesIn(path, status).size(), 1u);
  EXPECT_EQ(status, absl::OkStatus());
}

TEST(ClusterFilesTest, LeavesOutTheLogsOfClusterInfoDump) {
  const TestFolder folder;
  const std::string path = folder.Write(
      "dump.txt", absl::StrCat(ConfigMap("a"), "\n==== START logs for container c of pod default/a ====\n",
                               "{\"kind\": broken\n==== END logs for container c of pod default/a ====\n",
                               ConfigMap("b"), "\n"));
  absl::Status status;
  EXPECT_EQ(NamesIn(path, status), (std::vector<std::string>{"dump.txt a", "dump.txt b"}));
  EXPECT_EQ(status, absl::OkStatus());
}

TEST(ClusterFilesTest, AnArchiveWithoutObjectsIsAnEmptyFolder) {
  const TestFolder folder;
  const std::string path = folder.Write("a.tar", Pack({{"log.txt", "no objects"}}, /*zip=*/false));
  absl::Status status;
  NamesIn(path, status);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
}

// The last line of a report is the digest of its decisions.
std::string DigestOf(const std::string& path) {
  const ProgramResult result = RunProgram({"run", "-f", path, "--bound", "reset"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.out.substr(result.out.rfind("Digest"));
}

// The database of etcd and kubectl's list of one moment give the same run.
TEST(ClusterFilesTest, ADatabaseRunsAsTheListOfKubectl) {
  for (const char* const snapshot : {"formats/1-history", "formats-json/1-history"}) {
    const std::string folder = absl::StrCat(SCHEDSIM_SOURCE_DIR "/tests/tools/kwok-real/", snapshot, "/");
    EXPECT_EQ(DigestOf(folder + "etcd.db.gz"), DigestOf(folder + "get.json.gz"));
  }
}

TEST(ClusterFilesTest, ADamagedDatabaseIsRefusedWithItsPlace) {
  const std::string folder = SCHEDSIM_SOURCE_DIR "/tests/tools/kwok-real/formats/1-history/";
  absl::StatusOr<std::string> bytes = codec::ReadFile(folder + "etcd.db.gz");
  ASSERT_TRUE(bytes.ok());
  (*bytes)[bytes->size() / 2] ^= 1;
  const TestFolder test;
  const std::string path = test.Write("etcd.db", *bytes);
  const ProgramResult result = RunProgram({"run", "-f", path});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "etcd.db: offset 0x")) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, "SHA-256")) << result.err;
}

}  // namespace
}  // namespace schedsim::sim
