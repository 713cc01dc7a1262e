#include "core/codec/text/json_edit.h"

#include "gtest/gtest.h"

namespace schedsim::codec {
namespace {

TEST(SetJsonMember, ReplacesAValueOfAnyType) {
  EXPECT_EQ(SetJsonMember(R"({"a":1,"b":2})", {"a"}, "7"), R"({"a":7,"b":2})");
  EXPECT_EQ(SetJsonMember(R"({"a":{"x":[1,{"y":"}"}]},"b":2})", {"a"}, "null"), R"({"a":null,"b":2})");
  EXPECT_EQ(SetJsonMember(R"({"b":"a\"a","a":"x,\\"})", {"a"}, R"("z")"), R"({"b":"a\"a","a":"z"})");
}

TEST(SetJsonMember, GoesDownAPath) {
  EXPECT_EQ(SetJsonMember(R"({"s":{"a":1},"spec":{"a":2,"b":[]},"a":3})", {"spec", "a"}, "5"),
            R"({"s":{"a":1},"spec":{"a":5,"b":[]},"a":3})");
}

TEST(SetJsonMember, AddsWhatIsNotThere) {
  EXPECT_EQ(SetJsonMember("{}", {"a"}, "1"), R"({"a":1})");
  EXPECT_EQ(SetJsonMember(R"({"a":{}})", {"a", "b", "c"}, "1"), R"({"a":{"b":{"c":1}}})");
  EXPECT_EQ(SetJsonMember(R"({"a":{"x":1}})", {"a", "b"}, "1"), R"({"a":{"x":1,"b":1}})");
  EXPECT_EQ(SetJsonMember(R"({"a":null,"z":0})", {"a", "b"}, "1"), R"({"a":{"b":1},"z":0})");
}

}  // namespace
}  // namespace schedsim::codec
