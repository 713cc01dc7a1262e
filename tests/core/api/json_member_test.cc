#include "core/api/json_member.h"

#include "gtest/gtest.h"

namespace schedsim::api {
namespace {

TEST(JsonMemberTest, GivesTheTextOfAMembersValue) {
  const char* const object = R"({"a":{"b":[1,{"c":"}"}],"d":"x\"y"},"e":-1.5,"f":null,"g":""})";
  EXPECT_EQ(JsonMember(object, "a"), R"({"b":[1,{"c":"}"}],"d":"x\"y"})");
  EXPECT_EQ(JsonMember(JsonMember(object, "a"), "b"), R"([1,{"c":"}"}])");
  EXPECT_EQ(JsonMember(JsonMember(object, "a"), "d"), R"("x\"y")");
  EXPECT_EQ(JsonMember(object, "e"), "-1.5");
  EXPECT_EQ(JsonMember(object, "f"), "null");
  EXPECT_EQ(JsonMember(object, "g"), R"("")");
}

TEST(JsonMemberTest, GivesNothingWhereThereIsNoSuchMember) {
  EXPECT_EQ(JsonMember(R"({"a":{"b":1}})", "b"), "");
  EXPECT_EQ(JsonMember("{}", "a"), "");
  EXPECT_EQ(JsonMember("[1]", "a"), "");
  EXPECT_EQ(JsonMember("", "a"), "");
  EXPECT_EQ(JsonMember(R"({"ab":1,"a":2})", "a"), "2");
}

}  // namespace
}  // namespace schedsim::api
