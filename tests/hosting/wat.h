// Guests from text.
#ifndef SCHEDSIM_TESTS_HOSTING_WAT_H_
#define SCHEDSIM_TESTS_HOSTING_WAT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace schedsim::hosting {

// The binary module of a text; a text that is none fails the test and gives "".
std::string WasmOfText(absl::string_view text);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_TESTS_HOSTING_WAT_H_
