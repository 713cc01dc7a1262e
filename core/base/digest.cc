#include "core/base/digest.h"

#include "absl/strings/str_format.h"

namespace schedsim {

std::string Digest::Hex() const { return absl::StrFormat("%016x", value_); }

}  // namespace schedsim
