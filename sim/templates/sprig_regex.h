// Sprig's functions for regular expressions.
#ifndef SCHEDSIM_SIM_TEMPLATES_SPRIG_REGEX_H_
#define SCHEDSIM_SIM_TEMPLATES_SPRIG_REGEX_H_

#include "sim/templates/go_template_functions.h"

namespace schedsim::sim {

// Adds regexMatch, regexFind, regexFindAll, regexReplaceAll, regexReplaceAllLiteral, regexSplit and
// regexQuoteMeta, and those of them that have `must` in front. What is no regular expression fails, but for
// regexMatch: that says false. Source: sprig v3.3.0, regex.go.
void AddSprigRegexFunctions(GoTemplateFunctions& functions);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_TEMPLATES_SPRIG_REGEX_H_
