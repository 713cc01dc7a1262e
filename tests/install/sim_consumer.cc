// Uses schedsim::sim and with it everything below.
#include <cstdio>
#include <string>
#include <vector>

#include "sim/conformance/compare.h"

int main() {
  const std::vector<std::string> expected = {R"({"ev": "bind", "node": "node-1", "pod": "d/web", "t": 0})"};
  const std::vector<std::string> actual = {R"({"ev": "bind", "node": "node-2", "pod": "d/web", "t": 0})"};
  const auto difference = schedsim::sim::FirstDifference(expected, actual);
  if (!difference.ok() || !difference->has_value()) return 1;
  std::printf("%s\n", (*difference)->c_str());
  return 0;
}
