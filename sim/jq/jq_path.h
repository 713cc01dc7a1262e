// The programs of jq that select parts of an object.
#ifndef SCHEDSIM_SIM_JQ_JQ_PATH_H_
#define SCHEDSIM_SIM_JQ_JQ_PATH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/codec/text/value.h"
#include "sim/jq/jq_program.h"

namespace schedsim::sim {

// One after the other: each is applied to every output of the one before.
struct JqStep {
  enum class Type : uint8_t {
    kField,     // `.name`, `.["name"]`.
    kIndex,     // `.[3]`, `.[-1]`.
    kIterate,   // `.[]`.
    kSelect,    // `select(STEPS == "literal")`, or `!=`.
    kToString,  // `tostring`.
    kLength,    // `length`.
  };
  Type type = Type::kField;
  std::string name;   // kField, and the literal of kSelect.
  int64_t index = 0;  // kIndex.
  bool equal = true;  // kSelect: `==`.
  std::vector<JqStep> steps;
};

// Absent: the program needs more than this.
std::optional<std::vector<JqStep>> ParseJqPath(absl::string_view program);

// As JqProgram::Run.
std::vector<JqOutput> RunJqPath(const std::vector<JqStep>& steps, const codec::Value& object);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_JQ_JQ_PATH_H_
