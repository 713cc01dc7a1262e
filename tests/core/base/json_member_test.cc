#include "core/base/json_member.h"

#include "gtest/gtest.h"

namespace schedsim {
namespace {

TEST(JsonMemberTest, GivesTheTextOfAMembersValue) {
  const char* const object = R"({"a":{"b":[1,{"c":"}"}],"d":"x\"y"},"e":-1.5,"f":null,"g":""})";
  EXPECT_EQ(FindJsonMember(object, "a"), R"({"b":[1,{"c":"}"}],"d":"x\"y"})");
  EXPECT_EQ(FindJsonMember(FindJsonMember(object, "a"), "b"), R"([1,{"c":"}"}])");
  EXPECT_EQ(FindJsonMember(FindJsonMember(object, "a"), "d"), R"("x\"y")");
  EXPECT_EQ(FindJsonMember(object, "e"), "-1.5");
  EXPECT_EQ(FindJsonMember(object, "f"), "null");
  EXPECT_EQ(FindJsonMember(object, "g"), R"("")");
}

TEST(JsonMemberTest, FindsTheMembersOfTheObjectItself) {
  constexpr char kJson[] = R"({"metadata":{"spec":1,"name":"a\"}"},"spec":{"b":[{"c":"}"}]},"z":null})";
  EXPECT_EQ(FindJsonMember(kJson, "spec"), R"({"b":[{"c":"}"}]})");
  EXPECT_EQ(FindJsonMember(kJson, "name"), "");
}

TEST(JsonMemberTest, KnowsWhichQuotesEndAText) {
  constexpr char kJson[] = R"({"a":"\\","b":"\\\"}","c":"\"\\\\","d":1})";
  EXPECT_EQ(FindJsonMember(kJson, "a"), R"("\\")");
  EXPECT_EQ(FindJsonMember(kJson, "b"), R"("\\\"}")");
  EXPECT_EQ(FindJsonMember(kJson, "c"), R"("\"\\\\")");
  EXPECT_EQ(FindJsonMember(kJson, "d"), "1");
}

TEST(JsonMemberTest, GivesNothingWhereThereIsNoSuchMember) {
  EXPECT_EQ(FindJsonMember(R"({"a":{"b":1}})", "b"), "");
  EXPECT_EQ(FindJsonMember("{}", "a"), "");
  EXPECT_EQ(FindJsonMember("[1]", "a"), "");
  EXPECT_EQ(FindJsonMember("", "a"), "");
  EXPECT_EQ(FindJsonMember("null", "a"), "");
  EXPECT_EQ(FindJsonMember(R"({"ab":1,"a":2})", "a"), "2");
}

}  // namespace
}  // namespace schedsim
