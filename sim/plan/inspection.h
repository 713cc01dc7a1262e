// What is in a snapshot, before anything is run.
#ifndef SCHEDSIM_SIM_PLAN_INSPECTION_H_
#define SCHEDSIM_SIM_PLAN_INSPECTION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/plan/plan.h"
#include "sim/report/report.h"

namespace schedsim::sim {

struct Inspection {
  using Counts = std::map<std::string, int64_t>;

  int64_t object_count = 0;
  // By kind; those that are not built in have their group behind them, `Stage.kwok.x-k8s.io`.
  Counts kinds;
  // By namespace, and by kind in it.
  std::map<std::string, Counts> namespaces;
  Counts api_versions;
  // Versions of the kubelets, with how many nodes have each; "" is `unknown`.
  Counts kubelets;
  int64_t ready_nodes = 0;
  int64_t unschedulable_nodes = 0;
  int64_t tainted_nodes = 0;
  // "": there is none in the input.
  std::string newest_timestamp;
  // Pods, resources and the most used nodes, of a run that has not begun.
  Report report;
  // What `run` says of the input, each with `note: ` or `warning: ` in front, and what the API server would
  // refuse.
  std::vector<std::string> notices;
};

// Reads the files of the request. Errors as of MakePlan.
absl::StatusOr<Inspection> Inspect(const RunRequest& request);

std::string InspectionText(const Inspection& inspection);
std::string InspectionJson(const Inspection& inspection);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_PLAN_INSPECTION_H_
