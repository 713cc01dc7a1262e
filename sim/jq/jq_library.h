// A program that libjq runs.
#ifndef SCHEDSIM_SIM_JQ_JQ_LIBRARY_H_
#define SCHEDSIM_SIM_JQ_JQ_LIBRARY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/value.h"
#include "sim/jq/jq_program.h"

struct jq_state;

namespace schedsim::sim {

// Keeps what libjq made of the program's text.
class JqLibrary {
 public:
  // InvalidArgument with libjq's words for what is no program.
  static absl::StatusOr<std::unique_ptr<JqLibrary>> Compile(absl::string_view program);
  ~JqLibrary();
  JqLibrary(const JqLibrary&) = delete;
  JqLibrary& operator=(const JqLibrary&) = delete;

  // As JqProgram::Run; InvalidArgument with libjq's words where it fails.
  absl::StatusOr<std::vector<JqOutput>> Run(const codec::Value& object);

 private:
  JqLibrary() = default;
  absl::StatusOr<std::vector<JqOutput>> RunText(const std::string& json);

  jq_state* state_ = nullptr;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_JQ_JQ_LIBRARY_H_
