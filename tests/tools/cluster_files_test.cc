#include "sim/formats/archive.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/codec/text/input.h"
#include "core/codec/text/value.h"
#include "gtest/gtest.h"
#include "sim/formats/cluster_files.h"
#include "tests/tools/archive_writer.h"
#include "tests/tools/program.h"

namespace schedsim::sim {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

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

TEST(ArchiveTest, SaysThatATarEndsBetweenTwoFiles) {
  const std::string bytes =
      Pack({{"a.yaml", std::string(500, 'a')}, {"b.yaml", std::string(500, 'b')}}, /*zip=*/false);
  // A header and a block each.
  for (const size_t blocks : {2, 4}) {
    Files files;
    const absl::Status status = Unpack(absl::string_view(bytes).substr(0, blocks * 512), files);
    EXPECT_TRUE(absl::StrContains(status.message(), "a.tar: the archive has no end")) << blocks << status;
  }
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
  const Files files = {{"bundle/analysis.json", "{\"a\": 1}"},
                       {"bundle/cluster-resources/pods/default.json", ConfigMap("a")},
                       {"bundle/cluster-resources/pods-errors.json", "[\"no\"]"},
                       {"bundle/version.yaml", "apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\n"},
                       {"other/cluster-resources/b.json", ConfigMap("b")}};
  absl::Status status;
  const std::vector<std::string> expected = {"default.json a", "b.json b"};
  EXPECT_EQ(NamesIn(folder.Write("bundle.tar", Pack(files, /*zip=*/false)), status), expected);
  EXPECT_EQ(status, absl::OkStatus());
  // It may have been unpacked.
  for (const auto& [name, content] : files) folder.Write(absl::StrCat("unpacked/", name), content);
  EXPECT_EQ(NamesIn(folder.Path("unpacked"), status), expected);
  EXPECT_EQ(status, absl::OkStatus());
}

// A folder of that name alone makes no bundle.
TEST(ClusterFilesTest, ABundleHasAVersion) {
  const TestFolder folder;
  const std::string path = folder.Write(
      "all.zip", Pack({{"a/nodes.json", ConfigMap("n")}, {"a/cluster-resources/p.json", ConfigMap("p")}},
                      /*zip=*/true));
  absl::Status status;
  EXPECT_EQ(NamesIn(path, status), (std::vector<std::string>{"nodes.json n", "p.json p"}));
}

// The same files are read of a folder and of an archive.
TEST(ClusterFilesTest, FoldersAndArchivesHaveTheSameInput) {
  const TestFolder folder;
  const std::string inner = Pack({{"in.json", ConfigMap("in")}}, /*zip=*/true);
  const Files files = {{"._a.yaml", std::string("\0\x05\x16\x07", 4)},
                       {"a.yaml", ConfigMap("a")},
                       {"b.zip", inner},
                       {"c.tar", Pack({{"in.json", ConfigMap("c")}}, /*zip=*/false)},
                       {"notes.txt", "no objects"}};
  const std::vector<std::string> expected = {"a.yaml a", "b.zip!in.json in", "c.tar!in.json c"};
  absl::Status status;
  for (const auto& [name, content] : files) folder.Write(absl::StrCat("d/", name), content);
  EXPECT_EQ(NamesIn(folder.Path("d"), status), expected);
  EXPECT_EQ(status, absl::OkStatus());
  std::vector<std::string> packed;
  for (const std::string& name : expected) packed.push_back(absl::StrCat("all.tar!", name));
  EXPECT_EQ(NamesIn(folder.Write("all.tar", Pack(files, /*zip=*/false)), status), packed);
  EXPECT_EQ(status, absl::OkStatus());
}

TEST(ClusterFilesTest, SaysWhatOtherBinaryFilesAre) {
  const TestFolder folder;
  const std::pair<std::string, std::string> kRows[] = {
      {std::string("\x7f"
                   "ELF\2\1\1\0\0",
                   9),
       "looks like a program (ELF)"},
      {std::string("k8s\0\x0a\0", 6), "looks like one object in protobuf, as etcd stores it"},
      {"BZh91AY&SY", "looks like a bzip2 file"},
      {std::string("a: b\0c", 6), "looks like other binary data"},
  };
  for (const auto& [content, what] : kRows) {
    absl::Status status;
    NamesIn(folder.Write("x.yaml", content), status);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << what;
    EXPECT_TRUE(absl::StrContains(
        status.message(),
        absl::StrCat("x.yaml: ", what, ", expected YAML, JSON, a database of etcd or an archive (tar, zip)")))
        << status;
  }
  absl::Status status;
  NamesIn(folder.Write("x.yaml", absl::StrCat("MZ: 1\n---\n", ConfigMap("a"))), status);
  EXPECT_EQ(status, absl::OkStatus());
  // A control character in a text has a place.
  NamesIn(folder.Write("x.yaml", std::string("a: one\nb: two and\0three\n", 24)), status);
  EXPECT_TRUE(absl::StrContains(status.message(), "x.yaml:2:")) << status;
}

// A tar has its files at multiples of 512 bytes: a database may lie where one has its second page.
TEST(ClusterFilesTest, AnArchiveWithADatabaseIsAnArchive) {
  const TestFolder folder;
  const absl::StatusOr<std::string> database =
      codec::ReadFile(SCHEDSIM_SOURCE_DIR "/tests/tools/kwok-real/formats/1-history/etcd.db.gz");
  ASSERT_TRUE(database.ok());
  const std::string first = absl::StrCat(ConfigMap("a"), std::string(3000, ' '));
  const std::string path =
      folder.Write("all.tar", Pack({{"a.json", first}, {"b.db", *database}}, /*zip=*/false));
  absl::Status status;
  const std::vector<std::string> names = NamesIn(path, status);
  EXPECT_EQ(status, absl::OkStatus());
  ASSERT_GT(names.size(), 20u);
  EXPECT_EQ(names[0], "all.tar!a.json a");
  EXPECT_TRUE(absl::StartsWith(names[1], "all.tar!b.db ")) << names[1];
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
  // Places behind the logs are those of the file.
  const std::string logs =
      "\n==== START logs for container c of pod default/a ====\na\n\nb\n"
      "==== END logs for container c of pod default/a ====\n";
  NamesIn(folder.Write("dump.txt", absl::StrCat(ConfigMap("a"), logs, ConfigMap("b"), logs, "{]\n")), status);
  EXPECT_TRUE(absl::StrContains(status.message(), "dump.txt:13:2: ")) << status;
  NamesIn(folder.Write("dump.txt", absl::StrCat(ConfigMap("a"), logs.substr(0, 60))), status);
  EXPECT_TRUE(
      absl::StrContains(status.message(),
                        "dump.txt:2: the logs that begin with `==== START logs for container c of pod "
                        "default/a ====` have no end: the dump was cut off"))
      << status;
}

TEST(ClusterFilesTest, AnArchiveWithoutObjectsIsAnEmptyFolder) {
  const TestFolder folder;
  const std::string path = folder.Write("a.tar", Pack({{"log.txt", "no objects"}}, /*zip=*/false));
  absl::Status status;
  NamesIn(path, status);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
}

}  // namespace
}  // namespace schedsim::sim
