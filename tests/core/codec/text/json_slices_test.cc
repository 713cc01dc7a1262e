#include "core/codec/text/json_slices.h"

#include "gtest/gtest.h"

namespace schedsim::codec {
namespace {

TEST(JsonSlicesTest, TakesItemsAsTheyAreWritten) {
  const auto list = SliceNamedList(R"({"l": [{"a" : 1.50}, {}, {"s": "}]"}], "n": "x\u0041"})", "n", "l");
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->name, "xA");
  EXPECT_EQ(list->items, (std::vector<std::string>{R"({"a" : 1.50})", "{}", R"({"s": "}]"})"}));
}

TEST(JsonSlicesTest, SaysWhatIsMissing) {
  const auto error = [](absl::string_view text) {
    return std::string(SliceNamedList(text, "n", "l").status().message());
  };
  EXPECT_EQ(error("[]"), "expected an object with the text `n`");
  EXPECT_EQ(error(R"({"n": 1, "l": []})"), "expected an object with the text `n`");
  EXPECT_EQ(error(R"({"n": "x"})"), "expected an object with the list `l`");
  EXPECT_EQ(error(R"({"n": "x", "l": [1]})"), "expected a list of objects in `l`");
}

}  // namespace
}  // namespace schedsim::codec
