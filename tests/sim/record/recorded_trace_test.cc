#include "sim/record/recorded_trace.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace schedsim::sim {
namespace {

TEST(RecordedTraceTest, KeepsTheBytesOfEachRecord) {
  const auto traces =
      ParseRecordedTraces(R"({"case": "taints-1", "trace": [{"ev": "a", "t": 0.50, "s": "]},{\""}, {}]})"
                          "\n\n"
                          R"({"trace": [], "case": "taints-2"})"
                          "\n",
                          "traces.jsonl");
  ASSERT_TRUE(traces.ok()) << traces.status();
  ASSERT_EQ(traces->size(), 2u);
  EXPECT_EQ((*traces)[0].name, "taints-1");
  ASSERT_EQ((*traces)[0].records.size(), 2u);
  EXPECT_EQ((*traces)[0].records[0], R"({"ev": "a", "t": 0.50, "s": "]},{\""})");
  EXPECT_EQ((*traces)[0].records[1], "{}");
  EXPECT_EQ((*traces)[1].name, "taints-2");
  EXPECT_EQ((*traces)[1].place, "traces.jsonl:3");
  EXPECT_TRUE((*traces)[1].records.empty());
}

TEST(RecordedTraceTest, NamesTheLineOfBadInput) {
  for (const char* line :
       {"{", "[]", "{}", R"({"case": 1, "trace": []})", R"({"case": "a"})", R"({"case": "a", "trace": {}})",
        R"({"case": "a", "trace": [1]})", R"({"case": "a", "trace": [{}])"}) {
    const auto traces = ParseRecordedTraces(std::string("\n") + line, "traces.jsonl");
    EXPECT_EQ(traces.status().code(), absl::StatusCode::kInvalidArgument) << line;
    EXPECT_TRUE(absl::StartsWith(traces.status().message(), "traces.jsonl:2:")) << traces.status();
    EXPECT_TRUE(absl::StrContains(traces.status().message(), "expected")) << traces.status();
  }
}

TEST(RecordedTraceTest, AMissingFileIsNotFound) {
  EXPECT_EQ(ReadRecordedTraces("/nonexistent/traces.jsonl.gz").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace schedsim::sim
