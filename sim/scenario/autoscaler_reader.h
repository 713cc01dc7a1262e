// The autoscaler of a scenario, or of a file of its own.
#ifndef SCHEDSIM_SIM_SCENARIO_AUTOSCALER_READER_H_
#define SCHEDSIM_SIM_SCENARIO_AUTOSCALER_READER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/codec/config/strict_reader.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/value.h"
#include "sim/autoscaler/autoscaler_options.h"

namespace schedsim::sim {

// Reads the map `value` over `options`; docs/autoscaler.md has the fields. `path`: its own path, "" for the
// root of a file, which has apiVersion and kind as well. `file` is for places. `objects` decodes templates.
// What is wrong goes to `errors`; what is wrong within a template is returned, InvalidArgument with its
// place.
absl::Status ReadAutoscaler(const codec::Value& value, const std::string& path, absl::string_view file,
                            codec::ObjectReader& objects, codec::ErrorList& errors,
                            AutoscalerOptions& options);

// Reads a file of `apiVersion: schedsim/v1`, `kind: Autoscaler`; "-": standard input. Warnings about its
// templates go to `warnings`. InvalidArgument, a line for each error, as scenarios have them; Unavailable and
// NotFound as reading files has them.
absl::StatusOr<AutoscalerOptions> ReadAutoscalerFile(const std::string& path,
                                                     std::vector<std::string>& warnings);

// Sets the templates of pools that are like a node of `objects`. InvalidArgument, with the place of `like`,
// where there is no such node, or it has no capacity.
absl::Status SetLikeTemplates(const std::vector<api::ObjectPtr>& objects, AutoscalerOptions& options);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_AUTOSCALER_READER_H_
