#include "sim/formats/prometheus_samples.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace schedsim::sim {
namespace {

std::string Object(const std::string& node, const std::string& usage) {
  return absl::StrCat(R"({"apiVersion":"metrics.k8s.io/v1beta1","kind":"NodeMetrics","metadata":{"name":")",
                      node, R"("},"usage":{)", usage, "}}");
}

std::string List(const std::string& objects) {
  return absl::StrCat(R"({"apiVersion":"v1","kind":"List","items":[)", objects, "]}\n");
}

// What comes of the content, or the error.
std::string Read(const std::string& content) {
  if (!HasPrometheusSamples(content)) return "no samples";
  const auto list = NodeMetricsOfSamples(content, "m");
  return list.ok() ? *list : std::string(list.status().message());
}

TEST(PrometheusSamplesTest, TakesTheTextFormat) {
  EXPECT_EQ(Read("# HELP mem Memory.\n# TYPE mem gauge\nmem{instance=\"10.0.0.1:9100\",node=\"b\"} 33.25\n"
                 "mem{node=\"a\",} 1.3e1 1714000000000\n\ncpu{node=\"a\"} 7\nup 1\n"),
            List(absl::StrCat(Object("a", R"("cpu":"7","mem":"13.000000000")"), ",",
                              Object("b", R"("mem":"33.25")"))));
}

TEST(PrometheusSamplesTest, TakesAnswersToQueries) {
  EXPECT_EQ(Read(R"({"status": "success", "data": {"resultType": "vector", "result": [
    {"metric": {"__name__": "mem", "node": "a"}, "value": [1714000000.5, "33.123456789123"]},
    {"metric": {"__name__": "mem", "instance": "x"}, "value": [1714000000.5, "1"]}]}})"),
            List(Object("a", R"("mem":"33.123456789")")));
}

TEST(PrometheusSamplesTest, TheNewestSampleCounts) {
  EXPECT_EQ(Read("mem{node=\"a\"} 1 2000\nmem{node=\"a\"} 2 3000\nmem{node=\"a\"} 3 1000\n"),
            List(Object("a", R"("mem":"2")")));
  EXPECT_EQ(Read("mem{node=\"a\"} 1\nmem{node=\"a\"} 2\n"), List(Object("a", R"("mem":"2")")));
}

// Rounding up could make 33 of what is less.
TEST(PrometheusSamplesTest, ValuesAreCutAndNotRounded) {
  EXPECT_EQ(Read("mem{node=\"a\"} 32.99999999999\n"), List(Object("a", R"("mem":"32.999999999")")));
  EXPECT_EQ(Read("mem{node=\"a\"} .5\n"), List(Object("a", R"("mem":"0.5")")));
  EXPECT_EQ(Read("mem{node=\"a\"} -3.\n"), List(Object("a", R"("mem":"-3")")));
}

TEST(PrometheusSamplesTest, LabelsMayHaveAnyText) {
  EXPECT_EQ(Read("mem{path=\"a\\\\b\\\"},{\\n\",node=\"n\"} 1\n"), List(Object("n", R"("mem":"1")")));
}

TEST(PrometheusSamplesTest, SaysWhatIsWrong) {
  EXPECT_EQ(Read("# TYPE mem gauge\nmem{node=\"a\"} 1\nmem{node=a} 2\n"),
            "m:3: `mem{node=a} 2` is no sample, expected NAME{LABEL=\"TEXT\"} VALUE [MILLISECONDS]");
  EXPECT_EQ(Read("mem{node=\"a\"} NaN\n"),
            "m:1: the sample of mem for node a: expected a finite number, got NaN");
  EXPECT_EQ(Read("# TYPE mem gauge\nmem 1\n"), "m: no sample has the label node, expected one for each node");
  EXPECT_EQ(Read(R"({"status":"error","errorType":"bad_data","error":"parse error"})"),
            "m: the query failed: parse error");
  EXPECT_EQ(Read(R"({"status":"success","warnings":["partial"],"data":{"resultType":"vector","result":[]}})"),
            "m: the answer has warnings, with which the plugins take none of it");
  EXPECT_EQ(Read(R"({"status":"success","data":{"resultType":"matrix","result":[]}})"),
            "m: data.resultType: expected vector, the answer to a query for one time, got matrix");
  EXPECT_EQ(
      Read("{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[\n{\"metric\":{}}]}}"),
      "m:2: expected a result with metric, of which __name__ is a part, and value, a time and a text");
}

TEST(PrometheusSamplesTest, OtherFilesAreLeftAlone) {
  EXPECT_EQ(Read("# TYPE of things\napiVersion: v1\nkind: Pod\n"),
            "m:2: `apiVersion: v1` is no sample, expected NAME{LABEL=\"TEXT\"} VALUE [MILLISECONDS]");
  for (const char* content : {"", "\n", "apiVersion: v1\nkind: Pod\n", "{\"apiVersion\": \"v1\"}",
                              "# a comment\nkind: Pod\n", "- a{b=\"c\"} 1\n", "{a: {b: \"=\"}}\n"}) {
    EXPECT_EQ(Read(content), "no samples") << content;
  }
}

}  // namespace
}  // namespace schedsim::sim
