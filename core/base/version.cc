#include "core/base/version.h"

namespace schedsim {

absl::string_view ProgramVersion() { return "schedsim " SCHEDSIM_VERSION; }

}  // namespace schedsim
