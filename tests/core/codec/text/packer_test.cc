#include "core/codec/text/packer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/codec/text/input.h"

namespace schedsim::codec {
namespace {

std::unique_ptr<Packer> PackerFor(absl::string_view name) {
  auto packer = Packer::ForFile(name);
  EXPECT_TRUE(packer.ok()) << packer.status();
  return *std::move(packer);
}

// `text` in pieces of `piece_size` bytes, packed.
std::string Pack(absl::string_view name, absl::string_view text, size_t piece_size) {
  const std::unique_ptr<Packer> packer = PackerFor(name);
  std::string out;
  for (size_t at = 0; at < text.size(); at += piece_size) packer->Add(text.substr(at, piece_size), out);
  packer->Finish(out);
  return out;
}

// Numbers that don't compress well, so that archives have more than a chunk.
std::string Numbers(int count) {
  std::string text;
  uint64_t number = 1;
  for (int i = 0; i < count; ++i) {
    number = number * 6364136223846793005U + 1442695040888963407U;
    absl::StrAppend(&text, number, "\n");
  }
  return text;
}

TEST(PackerTest, WhatItWritesReadsAsItWas) {
  for (const char* name : {"trace.jsonl.gz", "trace.jsonl.zst"}) {
    for (const std::string& text :
         {std::string(), std::string("{}\n"), std::string(3'000'000, 'x'), Numbers(100'000)}) {
      const std::string packed = Pack(name, text, /*piece_size=*/256 * 1024);
      const auto read = Decompress(packed, name);
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_TRUE(*read == text) << name << ": " << text.size() << " bytes became " << read->size();
    }
  }
}

TEST(PackerTest, TheSameCallsGiveTheSameBytes) {
  for (const char* name : {"a.gz", "a.zst"}) {
    const std::string text = Numbers(50'000);
    EXPECT_TRUE(Pack(name, text, 1'000) == Pack(name, text, 1'000)) << name;
  }
}

TEST(PackerTest, TheEndingOfTheNameDecides) {
  EXPECT_EQ(PackerFor("trace.jsonl"), nullptr);
  EXPECT_EQ(PackerFor("-"), nullptr);
  const auto xz = Packer::ForFile("trace.xz");
  ASSERT_FALSE(xz.ok());
  EXPECT_TRUE(absl::StrContains(xz.status().message(), "trace.xz: .xz is only read, expected"))
      << xz.status();
}

TEST(PackerTest, ArchivesThatAreCutShortOrBrokenAreErrors) {
  const std::string whole = Pack("a.zst", Numbers(50'000), 100'000);
  for (size_t size = 4; size < whole.size(); size += whole.size() / 50) {
    const auto read = Decompress(whole.substr(0, size), "a.zst");
    ASSERT_FALSE(read.ok()) << size;
    EXPECT_EQ(read.status().message(), absl::StrCat("a.zst: truncated at byte ", size, " of ", size,
                                                    ", expected a complete zstd file"));
  }
  std::string corrupt = whole;
  corrupt[whole.size() / 2] = static_cast<char>(corrupt[whole.size() / 2] ^ 0x55);
  const auto read = Decompress(corrupt, "a.zst");
  ASSERT_FALSE(read.ok());
  EXPECT_TRUE(absl::StrContains(read.status().message(), "expected a complete zstd file")) << read.status();
  EXPECT_FALSE(Decompress("a: 1\n", "a.zst").ok());
}

TEST(PackerTest, SeveralArchivesInOneFileAreOneText) {
  const std::string text = Numbers(1'000);
  const auto read = Decompress(Pack("a.zst", text, 500) + Pack("a.zst", "b", 1), "a.zst");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(*read == text + "b");
}

TEST(PackerTest, AnArchiveThatGrowsWithoutEndIsRefused) {
  const auto read = Decompress(Pack("a.zst", std::string(600 << 20, '\0'), 1 << 20), "a.zst");
  ASSERT_FALSE(read.ok());
  EXPECT_TRUE(absl::StrContains(read.status().message(), "`zstd -dc a.zst > FILE`")) << read.status();
}

}  // namespace
}  // namespace schedsim::codec
