// From the text of a template to its nodes.
#ifndef SCHEDSIM_SIM_TEMPLATES_GO_TEMPLATE_PARSER_H_
#define SCHEDSIM_SIM_TEMPLATES_GO_TEMPLATE_PARSER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/templates/go_template.h"

namespace schedsim::sim {

// Actions may be nested this deep, parentheses as well.
inline constexpr int kGoTemplateDepthMax = 50;

struct ParsedGoTemplate {
  std::vector<GoTemplateNode> nodes;
  // The first field of each chain, as often as it stands there.
  std::vector<std::string> fields;
};

// Errors: as GoTemplate::Parse has them.
absl::StatusOr<ParsedGoTemplate> ParseGoTemplate(absl::string_view text, absl::string_view file,
                                                 const GoTemplateFunctions& functions, int32_t first_line);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_TEMPLATES_GO_TEMPLATE_PARSER_H_
