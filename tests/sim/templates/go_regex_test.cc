#include "sim/templates/go_regex.h"

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "core/codec/text/input.h"
#include "core/codec/text/reader.h"
#include "gtest/gtest.h"

namespace schedsim::sim {
namespace {

constexpr size_t kSizeMax = 1000;

std::vector<std::string> TextsOf(const codec::Value* list) {
  std::vector<std::string> texts;
  if (list == nullptr) return texts;
  for (const codec::Value& item : list->items) texts.emplace_back(item.text);
  return texts;
}

std::vector<std::string> TextsOf(const std::vector<absl::string_view>& parts) {
  return {parts.begin(), parts.end()};
}

void Compare(const codec::Value& row) {
  const auto text_of = [&row](absl::string_view key) { return std::string(row.Find(key)->text); };
  SCOPED_TRACE(text_of("pattern"));
  EXPECT_EQ(GoRegex::QuoteMeta(text_of("pattern")), text_of("quoted"));
  const absl::StatusOr<GoRegex> regex = GoRegex::Compile(text_of("pattern"));
  EXPECT_EQ(regex.ok(), row.Find("error") == nullptr) << regex.status();
  if (!regex.ok() || row.Find("error") != nullptr) return;
  const std::string text = text_of("text");
  const std::string replacement = text_of("replacement");
  int64_t count = 0;
  ASSERT_TRUE(absl::SimpleAtoi(text_of("count"), &count));
  EXPECT_EQ(TextsOf(regex->FindAll(text, count)), TextsOf(row.Find("findAll")));
  EXPECT_EQ(TextsOf(regex->Split(text, count)), TextsOf(row.Find("split")));
  EXPECT_EQ(regex->ReplaceAll(text, replacement, kSizeMax).value(), text_of("replaced"));
  EXPECT_EQ(regex->ReplaceAllLiteral(text, replacement, kSizeMax).value(), text_of("literal"));
}

// Each line was asked of package regexp of go1.26.
TEST(GoRegexTest, DoesWhatGoDoes) {
  auto lines = codec::ReadFile(std::string(SCHEDSIM_SOURCE_DIR) + "/tests/sim/templates/go_regex.jsonl");
  ASSERT_TRUE(lines.ok()) << lines.status();
  int count = 0;
  const absl::Status status =
      codec::ReadText(*std::move(lines), "go_regex.jsonl", {}, [&](const codec::Document& document) {
        Compare(document.root);
        ++count;
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(count, 73);
}

TEST(GoRegexTest, RefusesTextsThatGrowTooMuch) {
  const absl::StatusOr<GoRegex> regex = GoRegex::Compile("a");
  ASSERT_TRUE(regex.ok()) << regex.status();
  const std::string text(100, 'a');
  EXPECT_EQ(regex->ReplaceAll(text, "$0$0", kSizeMax).value().size(), 200U);
  EXPECT_EQ(regex->ReplaceAll(text, std::string(11, 'b'), kSizeMax).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(regex->ReplaceAllLiteral(text, std::string(11, '$'), kSizeMax).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace schedsim::sim
