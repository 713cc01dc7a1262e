// Running the cases of cases.h.
#ifndef SCHEDSIM_BENCHMARKS_RUN_CASE_H_
#define SCHEDSIM_BENCHMARKS_RUN_CASE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/conformance/case.h"
#include "sim/run/simulation.h"

namespace schedsim::benchmarks {

// The only case of a file. InvalidArgument or NotFound where there is none.
absl::StatusOr<sim::Case> ReadCase(absl::string_view path);

// A simulation of the case with its objects created; Run is all that is left to do. Nothing is traced.
absl::StatusOr<std::unique_ptr<sim::Simulation>> PrepareCase(const sim::Case& test_case, bool reference);

}  // namespace schedsim::benchmarks

#endif  // SCHEDSIM_BENCHMARKS_RUN_CASE_H_
