#include "sim/formats/etcd/bolt_file.h"

#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/rng.h"
#include "gtest/gtest.h"
#include "sim/formats/etcd/bolt_format.h"
#include "sim/formats/etcd/bolt_writer.h"

namespace schedsim::sim {
namespace {

// A database with a tree of several levels, and values of several pages.
BoltWriter::Entries ManyEntries() {
  BoltWriter::Entries entries;
  for (int i = 0; i < 20000; ++i) {
    const size_t size_bytes = i % 500 == 0 ? 10000 : static_cast<size_t>(i % 50);
    entries.emplace_back(absl::StrCat("key-", absl::Dec(i, absl::kZeroPad8)), std::string(size_bytes, 'v'));
  }
  return entries;
}

std::string ManyEntriesFile() {
  BoltWriter writer;
  writer.AddBucket("empty", {});
  writer.AddBucket("key", ManyEntries());
  return writer.Finish();
}

absl::Status ReadAll(absl::string_view bytes, absl::string_view bucket, BoltWriter::Entries& entries) {
  const absl::StatusOr<BoltFile> file = BoltFile::Open(bytes);
  if (!file.ok()) return file.status();
  return file->ForEach(bucket, [&](absl::string_view key, absl::string_view value) {
    entries.emplace_back(key, value);
    return absl::OkStatus();
  });
}

TEST(BoltFileTest, ReadsWhatWasWritten) {
  const std::string bytes = ManyEntriesFile();
  ASSERT_TRUE(BoltFile::IsOne(bytes));
  BoltWriter::Entries entries;
  ASSERT_EQ(ReadAll(bytes, "key", entries), absl::OkStatus());
  EXPECT_EQ(entries, ManyEntries());
  entries.clear();
  EXPECT_EQ(ReadAll(bytes, "empty", entries), absl::OkStatus());
  EXPECT_TRUE(entries.empty());
  EXPECT_TRUE(absl::IsNotFound(ReadAll(bytes, "other", entries)));
}

// The meta page of the later transaction is the one to follow; a broken one leaves the other.
TEST(BoltFileTest, TakesTheMetaPageThatIsWhole) {
  std::string bytes = ManyEntriesFile();
  bytes[4096 + 16 + 48] ^= 1;
  BoltWriter::Entries entries;
  ASSERT_EQ(ReadAll(bytes, "key", entries), absl::OkStatus());
  EXPECT_EQ(entries.size(), 20000u);
  // The first page may be damaged as a whole.
  std::string other = ManyEntriesFile();
  other.replace(0, 4096, std::string(4096, '\0'));
  entries.clear();
  ASSERT_TRUE(BoltFile::IsOne(other));
  ASSERT_EQ(ReadAll(other, "key", entries), absl::OkStatus());
  EXPECT_EQ(entries.size(), 20000u);
  EXPECT_FALSE(BoltFile::IsOne(std::string(8192, '\0')));
  bytes[16 + 48] ^= 1;
  EXPECT_EQ(ReadAll(bytes, "key", entries).message(),
            "offset 0x0: expected a meta page with its checksum, got none that is whole");
}

TEST(BoltFileTest, SaysWhereAFileWasCutOff) {
  const std::string bytes = ManyEntriesFile();
  for (int part = 1; part < 50; ++part) {
    const size_t size = bytes.size() * static_cast<size_t>(part) / 50;
    BoltWriter::Entries entries;
    const absl::Status status = ReadAll(absl::string_view(bytes).substr(0, size), "key", entries);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << part;
    EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat("offset 0x", absl::Hex(size)))) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "it was cut off")) << status;
  }
}

TEST(BoltFileTest, SurvivesDamage) {
  const std::string whole = ManyEntriesFile();
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    std::string bytes = whole;
    const auto at = static_cast<size_t>(rng.Below(static_cast<int64_t>(bytes.size())));
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.Below(8)));
    BoltWriter::Entries entries;
    // Damage in a value can't be seen here. All else is an error, or entries that are fewer or more.
    const absl::Status status = ReadAll(bytes, "key", entries);
    EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status) || absl::IsNotFound(status)) << status;
  }
}

// The meta page claims pages without number, and a branch leads round and round.
TEST(BoltFileTest, ATreeWithoutAnEndIsRefused) {
  std::string bytes = ManyEntriesFile();
  const auto write = [&bytes](size_t at, uint64_t number) {
    for (size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<char>(number >> (8 * i));
  };
  for (const size_t meta : {size_t{16}, size_t{4096 + 16}}) {
    write(meta + 40, uint64_t{1} << 60);
    write(meta + 56, bolt::Checksum(absl::string_view(bytes).substr(meta, 56)));
  }
  BoltWriter::Entries entries;
  EXPECT_TRUE(absl::StrContains(ReadAll(bytes, "key", entries).message(),
                                "it was cut off, expected 1152921504606846976 pages of 4096 bytes"));
}

TEST(BoltFileTest, NamesAPageOfUnknownType) {
  std::string bytes = ManyEntriesFile();
  bytes[2 * 4096 + 8] = 0x20;
  BoltWriter::Entries entries;
  EXPECT_TRUE(absl::StrContains(ReadAll(bytes, "empty", entries).message(),
                                "page 2: expected a branch (1) or a leaf (2), got type 32"));
}

}  // namespace
}  // namespace schedsim::sim
