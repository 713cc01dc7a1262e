#include "sim/jq/jq_program.h"

#include <optional>

#include "core/base/status_macros.h"
#include "sim/jq/jq_library.h"
#include "sim/jq/jq_path.h"
#include "sim/jq/jq_scanner.h"

namespace schedsim::sim {

absl::StatusOr<JqProgram> JqProgram::Parse(absl::string_view text, By by) {
  JqProgram program;
  if (by == By::kBoth) {
    std::optional<std::vector<JqStep>> steps = ParseJqPath(text);
    if (steps.has_value()) {
      program.steps_ = std::make_shared<const std::vector<JqStep>>(*std::move(steps));
      return program;
    }
  }
  std::string scanned;
  ASSIGN_OR_RETURN(scanned, ForLibjq(text));
  ASSIGN_OR_RETURN(program.library_, JqLibrary::Compile(scanned));
  return program;
}

std::vector<JqOutput> JqProgram::Run(const codec::Value& object) const {
  return library_ != nullptr ? library_->Run(object) : RunJqPath(*steps_, object);
}

}  // namespace schedsim::sim
