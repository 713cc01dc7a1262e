// Taints and labels as people write them in scenarios and autoscalers.
#ifndef SCHEDSIM_SIM_SCENARIO_TAINT_READER_H_
#define SCHEDSIM_SIM_SCENARIO_TAINT_READER_H_

#include <string>

#include "absl/strings/string_view.h"
#include "core/api/taints.h"
#include "core/codec/config/strict_reader.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// Which taints a map may stand for.
enum class TaintForm {
  kWhole,        // With an effect.
  kToBeRemoved,  // Without one, too: then all of its key.
};

// The taint of the map `item`; what the API server would refuse of it becomes an error below `path`.
// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, validateNodeTaints.
api::Taint ReadTaint(const codec::Value& item, const std::string& path, TaintForm form,
                     codec::ErrorList& errors);

// Adds what the API server would refuse of a label `key`: `value`, which stand at `member`, the field `path`.
void CheckLabel(absl::string_view key, absl::string_view value, const codec::Value& member,
                const std::string& path, codec::ErrorList& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_TAINT_READER_H_
