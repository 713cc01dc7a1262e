// Stages from files.
#ifndef SCHEDSIM_SIM_STAGES_STAGE_READER_H_
#define SCHEDSIM_SIM_STAGES_STAGE_READER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/value.h"
#include "sim/stages/metric.h"
#include "sim/stages/stage.h"
#include "sim/stages/usage.h"
#include "sim/templates/go_template.h"
#include "sim/templates/go_template_functions.h"

namespace schedsim::sim {

// The stage that a document of kind Stage holds. InvalidArgument, `file:line:column: path.to.field: what`,
// for unknown fields, wrong types, operators and values that don't fit, and expressions and templates that
// cannot be read.
absl::StatusOr<Stage> ReadStage(const codec::Value& document, absl::string_view file);

// The template that a text of a file is. Errors: those of GoTemplate::Parse, with lines of the file.
absl::StatusOr<GoTemplate> ParseTemplateOf(const codec::Value& value, absl::string_view file,
                                           const GoTemplateFunctions& functions);

// What files of stages hold.
struct StageFile {
  std::vector<Stage> stages;
  // ResourceUsage and ClusterResourceUsage objects.
  std::vector<UsageRule> usages;
  std::vector<MetricRule> metrics;
  // What the file holds beside these, and is not for here: `FILE:LINE: KIND`.
  std::vector<std::string> skipped;
};

// Adds what a file, a folder's files, or standard input ("-") hold to `read`, in their order. Errors: as
// ReadStage has them, and those of reading documents.
absl::Status ReadStages(absl::string_view path, StageFile& read);
// The same for text; `file` is for messages.
absl::Status ReadStagesOfText(std::string text, absl::string_view file, StageFile& read);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_STAGES_STAGE_READER_H_
