#include "core/base/digest.h"

namespace schedsim {

std::string Digest::Hex() const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  uint64_t rest = value_;
  for (size_t i = text.size(); i > 0; --i, rest >>= 4) text[i - 1] = kDigits[rest & 15];
  return text;
}

}  // namespace schedsim
