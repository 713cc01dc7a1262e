// From the text of an expression to its tree.
#ifndef SCHEDSIM_CORE_CEL_CEL_PARSER_H_
#define SCHEDSIM_CORE_CEL_CEL_PARSER_H_

#include "absl/strings/string_view.h"
#include "core/cel/cel_lexer.h"
#include "core/cel/cel_node.h"

namespace schedsim::cel {

// Expressions may be nested this deep, and have this many fields or operators in a row.
inline constexpr int kCelDepthMax = 100;
inline constexpr int kCelRowMax = 250;

// Sets `root`. False: `error` says what is wrong, as cel-go does where that is a mistake of syntax. Whether
// functions and variables exist is not looked at. Source: cel-go v0.29, parser/gen/CEL.g4.
bool ParseCel(absl::string_view text, CelNode& root, CelError& error);

}  // namespace schedsim::cel

#endif  // SCHEDSIM_CORE_CEL_CEL_PARSER_H_
