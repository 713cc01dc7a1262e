// Expressions of jq, as gojq evaluates them.
#ifndef SCHEDSIM_SIM_JQ_JQ_PROGRAM_H_
#define SCHEDSIM_SIM_JQ_JQ_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// One of the values that a program gives.
struct JqOutput {
  enum class Type : uint8_t {
    kString,
    kBool,
    kInteger,  // That the program computed, as `length` does.
    kFloat,    // All numbers that stood in the object, and what was computed from them.
    kOther,    // A list or a map.
  };
  Type type = Type::kOther;
  // kString: the text. kBool: "true" or "false". kInteger and kFloat: the number. kOther: as JSON.
  std::string text;
  double number = 0;  // kInteger and kFloat.
};

class JqLibrary;
struct JqStep;

// A program. Paths, `|`, `select` with `==` or `!=`, `tostring` and `length` are evaluated here, since
// reading a program takes libjq a thirtieth of a second; everything else by libjq. Where the two jqs differ,
// gojq's way is taken: a dot before a bracket (`.a.[]`), maps in the order of their keys, integers apart from
// floats. Copies share what is compiled.
class JqProgram {
 public:
  enum class By : uint8_t { kBoth, kLibrary };

  // `by`: who evaluates. InvalidArgument, without a place, for what is no program, and for all words but
  // those that look at nothing but the object and come to an end soon; docs/stages.md has them.
  static absl::StatusOr<JqProgram> Parse(absl::string_view text, By by = By::kBoth);

  // What the program makes of `object`, in order, without nulls. Nothing at all where it fails, whatever came
  // before, or has more than kOutputsMax outputs.
  // `cause`, where it is given, then gets the words of libjq, if it was libjq that failed.
  std::vector<JqOutput> Run(const codec::Value& object, std::string* cause = nullptr) const;

  static constexpr size_t kOutputsMax = 100'000;

 private:
  JqProgram() = default;

  // One of these.
  std::shared_ptr<const std::vector<JqStep>> steps_;
  std::shared_ptr<JqLibrary> library_;
};

// A program in quotes, for messages; of a long one the start.
std::string QuotedJq(absl::string_view program);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_JQ_JQ_PROGRAM_H_
