// The seeds with which random tests are run.
#ifndef SCHEDSIM_TESTS_RANDOM_SEEDS_H_
#define SCHEDSIM_TESTS_RANDOM_SEEDS_H_

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace schedsim {

inline constexpr char kSeedVariable[] = "SCHEDSIM_PROPERTY_SEED";

// The seeds that the environment variable names, such as `17` or `17,20`; 1 to `count` where it is not set.
// Ends the program where it is set to anything else: a test that silently runs no seed would pass.
inline std::vector<uint64_t> SeedsToRun(uint64_t count) {
  std::vector<uint64_t> seeds;
  const char* text = std::getenv(kSeedVariable);
  if (text == nullptr) {
    for (uint64_t seed = 1; seed <= count; ++seed) seeds.push_back(seed);
    return seeds;
  }
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    uint64_t seed = 0;
    if (!absl::SimpleAtoi(part, &seed)) {
      std::cerr << kSeedVariable << "=" << text << ": expected a seed, or several with commas between them\n";
      std::exit(1);
    }
    seeds.push_back(seed);
  }
  return seeds;
}

// For SCOPED_TRACE: the command that runs `test` (a filter of GoogleTest) with this seed alone.
inline std::string RepeatCommand(uint64_t seed, absl::string_view test) {
  std::error_code error;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  return absl::StrCat("again: ", kSeedVariable, "=", seed, " ", program, " --gtest_filter='", test, "'");
}

}  // namespace schedsim

#endif  // SCHEDSIM_TESTS_RANDOM_SEEDS_H_
