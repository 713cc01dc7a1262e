// One thing that decided, in words and in numbers.
#ifndef SCHEDSIM_SIM_EXPLAIN_FACT_H_
#define SCHEDSIM_SIM_EXPLAIN_FACT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace schedsim::sim {

struct Fact {
  using Field = std::pair<std::string, std::variant<int64_t, std::string>>;

  // "taint", "resource" and so on; docs/explain.md lists them.
  std::string kind;
  // A sentence without a full stop.
  std::string text;
  // What is in it. Amounts are texts as Kubernetes writes them.
  std::vector<Field> fields;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_FACT_H_
