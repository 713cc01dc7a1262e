// Files that are no objects of a cluster, but something else that users of Kubernetes or of this program
// have.
#ifndef SCHEDSIM_SIM_FORMATS_FOREIGN_FILE_H_
#define SCHEDSIM_SIM_FORMATS_FOREIGN_FILE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// What a document is that was given in the place of `expected`, and which option or command takes it: `this
// is a scenario, expected objects of a cluster; run it with \`schedsim run FILE\``. "" where it may be an
// object.
std::string DescribeForeign(const codec::Value& document, absl::string_view api_version,
                            absl::string_view kind, absl::string_view file,
                            absl::string_view expected = "objects of a cluster");

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_FOREIGN_FILE_H_
