// Answers of extenders as the real scheduler takes them. The texts of errors are those of Go 1.26.
#include "sim/extenders/go_json_decode.h"

#include <string>

#include "gtest/gtest.h"
#include "sim/extenders/extender_messages.h"

namespace schedsim::sim {
namespace {

struct Row {
  const char* body;
  const char* error;
};

TEST(GoJsonTest, SaysWhatGoSaysOfText) {
  const Row rows[] = {
      {"", "EOF"},
      {"  \n", "EOF"},
      {"{", "unexpected EOF"},
      {"{\"a\":1", "unexpected EOF"},
      {"[1,", "unexpected EOF"},
      {"\"a", "unexpected EOF"},
      {"tru", "unexpected EOF"},
      {"oops", "invalid character 'o' looking for beginning of value"},
      {"trux", "invalid character 'x' in literal true (expecting 'e')"},
      {"nul}", "invalid character '}' in literal null (expecting 'l')"},
      {"{a:1}", "invalid character 'a' looking for beginning of object key string"},
      {"{\"a\" 1}", "invalid character '1' after object key"},
      {"{\"a\":1 2}", "invalid character '2' after object key:value pair"},
      {"[1 2]", "invalid character '2' after array element"},
      {"[1,]", "invalid character ']' looking for beginning of value"},
      {"{\"a\":1,}", "invalid character '}' looking for beginning of object key string"},
      {"\"\x01\"", "invalid character '\\x01' in string literal"},
      {"\"\\q\"", "invalid character 'q' in string escape code"},
      {"\"\\u00g0\"", "invalid character 'g' in \\u hexadecimal character escape"},
      {"-x", "invalid character 'x' in numeric literal"},
      {"1.x", "invalid character 'x' after decimal point in numeric literal"},
      {"1ex", "invalid character 'x' in exponent of numeric literal"},
      {"'a'", "invalid character '\\'' looking for beginning of value"},
      {"{\"a\":[{}, {\"b\":[]}]} trailing", ""},
      {"null", ""},
      {"12", ""},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(ReadGoJson(row.body, [](const codec::Value&) {}), row.error) << row.body;
  }
}

TEST(GoJsonTest, NamesTheFieldOfTheWrongType) {
  const Row rows[] = {
      {"[]", "json: cannot unmarshal array into Go value of type v1.ExtenderFilterResult"},
      {"3", "json: cannot unmarshal number into Go value of type v1.ExtenderFilterResult"},
      {"{\"NodeNames\":3}",
       "json: cannot unmarshal number into Go struct field ExtenderFilterResult.NodeNames of type []string"},
      {"{\"NodeNames\":[\"a\",{}]}",
       "json: cannot unmarshal object into Go struct field ExtenderFilterResult.NodeNames of type string"},
      {"{\"failednodes\":{\"a\":true}}",
       "json: cannot unmarshal bool into Go struct field ExtenderFilterResult.FailedNodes of type string"},
      {"{\"Nodes\":\"a\"}",
       "json: cannot unmarshal string into Go struct field ExtenderFilterResult.Nodes of type v1.NodeList"},
      {"null", ""},
      {"{\"NODENAMES\":null,\"other\":[1]}", ""},
  };
  for (const Row& row : rows) {
    FilterAnswer answer;
    EXPECT_EQ(ParseFilterAnswer(row.body, answer), row.error) << row.body;
  }
  PriorityList scores;
  EXPECT_EQ(ParsePriorities("{}", scores),
            "json: cannot unmarshal object into Go value of type v1.HostPriorityList");
  EXPECT_EQ(ParsePriorities("[{\"host\":\"a\",\"score\":1.5}]", scores),
            "json: cannot unmarshal number 1.5 into Go struct field HostPriority.Score of type int64");
}

TEST(GoJsonTest, KeysMatchWithoutRegardToCase) {
  FilterAnswer answer;
  EXPECT_EQ(ParseFilterAnswer("{\"nodenames\":[\"a\",\"b\"],\"ERROR\":\"no\"}", answer), "");
  EXPECT_EQ(answer.node_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(answer.error, "no");
  EXPECT_FALSE(answer.nodes.has_value());
}

TEST(GoJsonTest, ReadsNodesAsTheyAre) {
  FilterAnswer answer;
  EXPECT_EQ(
      ParseFilterAnswer("{\"Nodes\":{\"items\":[{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"1\"}},"
                        "\"status\":{\"allocatable\":{\"cpu\":\"2\"}}}]}}",
                        answer),
      "");
  ASSERT_TRUE(answer.nodes.has_value());
  ASSERT_EQ(answer.nodes->size(), 1U);
  EXPECT_EQ((*answer.nodes)[0]->metadata.name, "a");
  EXPECT_EQ(*(*answer.nodes)[0]->metadata.labels.Find("x"), "1");
}

}  // namespace
}  // namespace schedsim::sim
