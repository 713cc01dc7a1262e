// The fields that expressions of stages name.
#ifndef SCHEDSIM_SIM_STAGES_CEL_FIELDS_H_
#define SCHEDSIM_SIM_STAGES_CEL_FIELDS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace schedsim::sim {

// What is wrong with the first field below `self` that kwok's CEL does not know, `column 11: field nodeNme is
// not known, did you mean nodeName?`; "": nothing. `text` is a valid expression. Only pods and nodes have
// types; of other kinds any field may be there. kwok knows the fields of a pod or a node, of its metadata,
// spec and status, and of containers and their resources; those of other types it cannot look up at all.
// Source: kwok v0.8.0, pkg/utils/cel/default.go, DefaultTypes; there it is an error of the compilation, which
// leaves all objects of the kind alone.
std::string UnknownCelField(absl::string_view text, absl::string_view api_version, absl::string_view kind);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_STAGES_CEL_FIELDS_H_
