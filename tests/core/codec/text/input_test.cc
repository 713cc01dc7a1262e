#include "core/codec/text/input.h"

#include <gtest/gtest.h>
#include <lzma.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/core/codec/text/codec_test_util.h"

namespace schedsim::codec {
namespace {

std::string Gzip(const std::string& text) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Xz(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t*>(text.data()),
                          text.size(), reinterpret_cast<uint8_t*>(out.data()), &size, out.size());
  out.resize(size);
  return out;
}

class InputTest : public testing::Test {
 protected:
  InputTest() {
    std::string pattern = absl::StrCat(testing::TempDir(), "/codec-input-XXXXXX");
    folder_ = mkdtemp(pattern.data());
  }
  ~InputTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& content) {
    const std::string path = absl::StrCat(folder_, "/", name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::FILE* file = std::fopen(path.c_str(), "wb");
    std::fwrite(content.data(), 1, content.size(), file);
    std::fclose(file);
    return path;
  }

  std::string folder_;
};

TEST_F(InputTest, TellsTheStartOfANameThatIsTooLong) {
  const absl::Status status = ReadFile(absl::StrCat("a", std::string(20'000, 'b'))).status();
  EXPECT_EQ(status.message(), absl::StrCat("a", std::string(99, 'b'),
                                           "...: File name too long, expected a readable file or folder"));
}

TEST_F(InputTest, ReadsPlainAndCompressedFilesByContent) {
  std::string text = "a: 1\n";
  for (int i = 0; i < 20'000; ++i) absl::StrAppend(&text, "key", i, ": ", i * 7919, "\n");
  for (const std::string& content :
       {text, Gzip(text), Xz(text), Gzip("a: 1\n") + Gzip(text.substr(5)), Xz(text) + Xz("")}) {
    const auto read = ReadFile(Write("f.yaml", content));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, text);
    EXPECT_GE(read->capacity(), read->size() + kPaddingBytes);
  }
  EXPECT_EQ(*ReadFile(Write("empty", "")), "");
}

TEST_F(InputTest, BrokenArchivesAreErrorsThatNameTheFile) {
  std::string text;
  for (int i = 0; i < 5'000; ++i) absl::StrAppend(&text, i * 7919, "\n");
  for (const bool is_xz : {false, true}) {
    const std::string whole = is_xz ? Xz(text) : Gzip(text);
    const std::string name = is_xz ? "f.yaml.xz" : "f.yaml.gz";
    for (size_t size = 6; size < whole.size(); size += whole.size() / 50) {
      const std::string path = Write(name, whole.substr(0, size));
      const auto read = ReadFile(path);
      ASSERT_FALSE(read.ok()) << size;
      EXPECT_TRUE(absl::StartsWith(
          read.status().message(),
          absl::StrCat(path, ": truncated at byte ", size, " of ", size, ", expected a complete ")))
          << read.status();
    }
    std::string corrupt = whole;
    corrupt[whole.size() / 2] = static_cast<char>(corrupt[whole.size() / 2] ^ 0x55);
    const auto read = ReadFile(Write(name, corrupt));
    ASSERT_FALSE(read.ok());
    EXPECT_TRUE(absl::StrContains(read.status().message(), name)) << read.status();
    EXPECT_FALSE(ReadFile(Write(name, "a: 1\n")).ok()) << "plain text in " << name;
  }
}

TEST_F(InputTest, AnArchiveThatGrowsWithoutEndIsRefused) {
  // 600 MiB of zeros.
  const std::string member = Gzip(std::string(1 << 20, '\0'));
  std::string bomb;
  for (int i = 0; i < 600; ++i) bomb += member;
  const std::string path = Write("f.yaml.gz", bomb);
  const auto read = ReadFile(path);
  ASSERT_FALSE(read.ok());
  EXPECT_TRUE(absl::StrContains(
      read.status().message(), absl::StrCat(path, ": ", bomb.size(), " bytes expand to more than 536870912")))
      << read.status();
  EXPECT_TRUE(absl::StrContains(read.status().message(), absl::StrCat("`gzip -dc ", path, " > FILE`")))
      << read.status();
}

TEST_F(InputTest, SizeIsBoundedAlsoWhenDecompressed) {
  const std::string text(3'000'000, 'x');
  for (const std::string& content : {text, Gzip(text), Xz(text)}) {
    const std::string path = Write("f.yaml", content);
    EXPECT_TRUE(ReadFile(path, 3'000'000).ok());
    const auto read = ReadFile(path, 1'000'000);
    ASSERT_FALSE(read.ok());
    EXPECT_TRUE(absl::StrContains(read.status().message(), "too big, expected at most 1000000 bytes"))
        << read.status();
  }
}

TEST_F(InputTest, FolderGivesItsFilesInByteOrder) {
  for (const char* name :
       {"b.yaml", "a.yml", "B.json", "c/z.yaml.gz", "c/a.json.xz", "c.yaml", "notes.txt", "x.yaml.bak",
        "d/readme.md", "a10.yaml", "a2.yaml", "._a.yaml", "e.db", "f.tar.gz", "g.tgz", "h.zip", "i.db.zst"}) {
    Write(name, "");
  }
  const auto files = ListFiles(folder_);
  ASSERT_TRUE(files.ok()) << files.status();
  std::vector<std::string> names;
  for (const std::string& file : *files) names.push_back(file.substr(folder_.size() + 1));
  const std::vector<std::string> want = {"B.json", "a.yml",       "a10.yaml",    "a2.yaml",
                                         "b.yaml", "c/a.json.xz", "c/z.yaml.gz", "c.yaml"};
  EXPECT_EQ(names, want);
  const auto all = ListFiles(folder_, InputFiles::kAll);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->size(), want.size() + 5);
}

TEST_F(InputTest, AFolderThatIsReachedTwiceIsRefused) {
  Write("a/x.yaml", "");
  std::filesystem::create_directory_symlink(".", absl::StrCat(folder_, "/a/self"));
  std::filesystem::create_directory_symlink(".", absl::StrCat(folder_, "/a/self2"));
  const auto files = ListFiles(folder_);
  EXPECT_EQ(files.status().message(),
            absl::StrCat(folder_, "/a/self: links to the folder ", folder_, "/a, expected each folder once"));
}

TEST_F(InputTest, LinksToFilesAndToOtherFoldersAreFollowed) {
  const std::string other = Write("other/x.yaml", "a: 1\n");
  Write("given/y.yaml", "");
  std::filesystem::create_symlink(other, absl::StrCat(folder_, "/given/link.yaml"));
  std::filesystem::create_directory_symlink("../other", absl::StrCat(folder_, "/given/folder"));
  const auto files = ListFiles(absl::StrCat(folder_, "/given"));
  ASSERT_TRUE(files.ok()) << files.status();
  const std::vector<std::string> want = {absl::StrCat(folder_, "/given/folder/x.yaml"),
                                         absl::StrCat(folder_, "/given/link.yaml"),
                                         absl::StrCat(folder_, "/given/y.yaml")};
  EXPECT_EQ(*files, want);
  EXPECT_EQ(*ReadFile(want[1]), "a: 1\n");
}

TEST_F(InputTest, WhatMayNeverEndIsRefused) {
  const std::string fifo = absl::StrCat(folder_, "/f.yaml");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(fifo).status().message(),
            absl::StrCat(fifo, ": is a FIFO, expected a file or a folder; - reads standard input"));
  EXPECT_TRUE(absl::StrContains(ReadFile("/dev/zero").status().message(), "is a device")) << "/dev/zero";
  EXPECT_EQ(*ReadFile("/dev/null"), "");
}

TEST_F(InputTest, MissingFilesAndEmptyFoldersAreErrors) {
  Write("sub/notes.txt", "");
  EXPECT_EQ(ReadFile(folder_ + "/no.yaml").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ListFiles(folder_ + "/no.yaml").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadFile(folder_).status().code(), absl::StatusCode::kInvalidArgument);
  const auto files = ListFiles(folder_);
  EXPECT_EQ(files.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(files.status().message(), "expected names in .yaml, .yml or .json"))
      << files.status();
}

TEST_F(InputTest, ObjectsOfAFolderComeInFileOrder) {
  const auto pod = [](const char* name) {
    return absl::StrCat("apiVersion: v1\nkind: Namespace\nmetadata: {name: ", name, "}\n");
  };
  Write("b.yaml", pod("second") + "---\n" + pod("third"));
  Write("a.json.gz",
        Gzip("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"first\"}}"));
  Write("c/x.yaml.xz", Xz(pod("fourth")));
  std::string names;
  ObjectReader reader;
  const absl::Status status = reader.Read(folder_, [&](api::ObjectPtr object, const Location& location) {
    absl::StrAppend(&names, object->metadata.name, "@", location.position.line, " ");
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(names, "first@1 second@1 third@5 fourth@1 ");
}

}  // namespace
}  // namespace schedsim::codec
