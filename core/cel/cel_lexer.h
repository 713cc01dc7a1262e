// From the text of an expression to its tokens.
#ifndef SCHEDSIM_CORE_CEL_CEL_LEXER_H_
#define SCHEDSIM_CORE_CEL_CEL_LEXER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/cel/cel_value.h"

namespace schedsim::cel {

// What is wrong with an expression, and where.
struct CelError {
  int32_t position = 0;  // In bytes of the text.
  std::string message;
};

struct CelToken {
  enum class Type : uint8_t { kEnd, kSign, kName, kLiteral };
  Type type = Type::kEnd;
  absl::string_view text;  // As it stands there; "" at the end.
  CelValue literal;        // Of kLiteral: a number or a text.
  int32_t position = 0;

  bool IsSign(absl::string_view sign) const { return type == Type::kSign && text == sign; }
  bool IsName(absl::string_view name) const { return type == Type::kName && text == name; }
};

// The tokens, the last of which is kEnd. They borrow from `text`. False: `error` says what is wrong.
bool ReadCelTokens(absl::string_view text, std::vector<CelToken>& tokens, CelError& error);

}  // namespace schedsim::cel

#endif  // SCHEDSIM_CORE_CEL_CEL_LEXER_H_
