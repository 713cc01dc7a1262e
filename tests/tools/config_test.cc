// schedsim config: what it prints loads again, and old configurations become new ones.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;

constexpr char kOld[] =
    "apiVersion: kubescheduler.config.k8s.io/v1beta2\n"
    "kind: KubeSchedulerConfiguration\n"
    "healthzBindAddress: \"\"\n"
    "profiles:\n"
    "- plugins:\n"
    "    score:\n"
    "      enabled: [{name: SelectorSpread, weight: 2}, {name: ImageLocality, weight: 7}]\n";

TEST(ConfigPrintTest, WhatItPrintsHasTheSameEffect) {
  for (const char* line : {"1.34", "1.35", "1.36", "1.37"}) {
    const ProgramResult first = RunProgram({"config", "print", "--kubernetes-version", line});
    ASSERT_EQ(first.exit_code, 0) << first.err;
    EXPECT_TRUE(absl::StrContains(first.out, "- name: NodeResourcesFit"));
    const ProgramResult again =
        RunProgram({"config", "print", "--kubernetes-version", line, "--config", "-"}, first.out);
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_EQ(again.out, first.out) << line;
  }
}

TEST(ConfigPrintTest, GatesChangeDefaults) {
  std::vector<std::string> arguments = {"config", "print", "--output", "json"};
  const ProgramResult with = RunProgram(arguments);
  arguments.insert(arguments.end(), {"--feature-gates", "StorageCapacityScoring=false"});
  const ProgramResult without = RunProgram(arguments);
  ASSERT_EQ(with.exit_code, 0) << with.err;
  ASSERT_EQ(without.exit_code, 0) << without.err;
  EXPECT_EQ(Json::parse(with.out)["profiles"][0]["schedulerName"], "default-scheduler");
  EXPECT_TRUE(absl::StrContains(with.out, "\"shape\""));
  EXPECT_FALSE(absl::StrContains(without.out, "\"shape\""));
}

TEST(ConfigMigrateTest, DropsWhatV1DoesNotHaveAndSaysSo) {
  const TestFolder folder;
  const ProgramResult result = RunProgram({"config", "migrate", folder.Write("old.yaml", kOld)});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, "old.yaml:3:1: healthzBindAddress: dropped"));
  EXPECT_TRUE(absl::StrContains(result.err, "no plugin \"SelectorSpread\""));
  EXPECT_FALSE(absl::StrContains(result.out, "SelectorSpread"));
  const ProgramResult printed =
      RunProgram({"config", "print", "--config", "-", "--output", "json"}, result.out);
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const Json profile = Json::parse(printed.out)["profiles"][0];
  int weight = 0;
  for (const Json& plugin : profile["plugins"]["score"]["enabled"]) {
    if (plugin["name"] == "ImageLocality") weight = plugin["weight"];
  }
  EXPECT_EQ(weight, 7);
}

TEST(ConfigTest, BadInputEndsWithTwo) {
  const TestFolder folder;
  const std::string current = folder.Write("v1.yaml", RunProgram({"config", "print"}).out);
  const std::vector<std::vector<std::string>> cases = {
      {"config"},
      {"config", "print", "--output", "xml"},
      {"config", "print", "--kubernetes-version", "1.99"},
      {"config", "print", "--feature-gates", "NoSuchGate=true"},
      {"config", "print", "--config", folder.Path("missing.yaml")},
      {"config", "migrate"},
      {"config", "migrate", current},
  };
  for (const std::vector<std::string>& arguments : cases) {
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments.back();
    EXPECT_EQ(result.out, "") << arguments.back();
    EXPECT_NE(result.err, "") << arguments.back();
  }
}

}  // namespace
}  // namespace schedsim
