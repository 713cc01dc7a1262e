#include "sim/jq/jq_program.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codec/text/writer.h"
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

std::vector<JqOutput> JqProgram::Run(const codec::Value& object, std::string* cause) const {
  if (library_ == nullptr) return RunJqPath(*steps_, object);
  absl::StatusOr<std::vector<JqOutput>> outputs = library_->Run(object);
  if (outputs.ok()) return *std::move(outputs);
  if (cause != nullptr) *cause = std::string(outputs.status().message());
  return {};
}

std::string QuotedJq(absl::string_view program) {
  constexpr size_t kShownMax = 80;
  std::string quoted;
  if (program.size() <= kShownMax) {
    codec::AppendJsonString(program, quoted);
    return quoted;
  }
  size_t size = kShownMax;
  // Not in the middle of a character.
  while (size > 0 && (static_cast<unsigned char>(program[size]) & 0xc0) == 0x80) --size;
  codec::AppendJsonString(program.substr(0, size), quoted);
  return absl::StrCat(quoted, "...");
}

}  // namespace schedsim::sim
