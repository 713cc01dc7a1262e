#include "core/codec/text/input_log.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/codec/text/input.h"
#include "gtest/gtest.h"

namespace schedsim::codec {
namespace {

// As `printf abc | sha256sum` has it.
constexpr char kAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

class InputLogTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + "/";
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ + name, std::ios::binary) << content;
    return folder_ + name;
  }

  static std::string ErrorOf(const std::string& path) {
    return std::string(ReadFile(path).status().message());
  }

 private:
  std::string folder_;
};

TEST_F(InputLogTest, NotesEachFileOnce) {
  const std::string a = Write("a", "abc");
  const std::string b = Write("b", "");
  EXPECT_EQ(ErrorOf(a), "");
  InputLog log;
  for (const std::string& path : {b, a, b}) EXPECT_EQ(ErrorOf(path), "");
  ASSERT_EQ(log.files().size(), 2U);
  EXPECT_EQ(log.files()[0].path, b);
  EXPECT_EQ(log.files()[1].path, a);
  EXPECT_EQ(log.files()[1].sha256, kAbc);
}

TEST_F(InputLogTest, NotesAFileThatChangedTwice) {
  InputLog log;
  for (const char* content : {"abc", "abd", "abd"}) EXPECT_EQ(ErrorOf(Write("a", content)), "");
  ASSERT_EQ(log.files().size(), 2U);
  EXPECT_NE(log.files()[0].sha256, log.files()[1].sha256);
}

TEST_F(InputLogTest, AnInnerOneNotesInThePlaceOfTheOuterOne) {
  const std::string a = Write("a", "abc");
  InputLog outer;
  {
    InputLog inner;
    EXPECT_EQ(ErrorOf(a), "");
    EXPECT_EQ(inner.files().size(), 1U);
  }
  EXPECT_TRUE(outer.files().empty());
  EXPECT_EQ(InputLog::active(), &outer);
}

TEST_F(InputLogTest, RefusesWhatWasNotExpected) {
  const std::string a = Write("a", "abc");
  const std::string b = Write("b", "abc");
  InputLog log(std::vector<InputFile>{{.path = a, .sha256 = kAbc}});
  EXPECT_NE(log.CheckComplete().message(), "");
  EXPECT_EQ(ErrorOf(a), "");
  EXPECT_TRUE(log.CheckComplete().ok());
  EXPECT_EQ(ErrorOf(b), absl::StrCat(b, ": is new: the run that is repeated did not read it"));
  Write("a", "other");
  const std::string error = ErrorOf(a);
  EXPECT_EQ(error.find(absl::StrCat(a, ": is not what the run that is repeated read")), 0U) << error;
  EXPECT_NE(error.find(absl::StrCat("expected ", kAbc)), std::string::npos) << error;
}

}  // namespace
}  // namespace schedsim::codec
