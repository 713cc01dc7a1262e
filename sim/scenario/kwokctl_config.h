// Configurations of kwokctl: which scheduler a cluster of kwok runs, and what else of it has a meaning here.
#ifndef SCHEDSIM_SIM_SCENARIO_KWOKCTL_CONFIG_H_
#define SCHEDSIM_SIM_SCENARIO_KWOKCTL_CONFIG_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/scenario/scheduler_choice.h"

namespace schedsim::sim {

struct KwokctlConfig {
  // By kubeVersion (where that line can be simulated), kubeFeatureGates, kubeSchedulerConfig and the flags
  // that componentsPatches give kube-scheduler.
  SchedulerChoice scheduler;
  // False: kube-controller-manager is disabled.
  bool has_controllers = true;
  // Whether the Stage objects of the cluster are played (enableCRDs), and whether the file has some itself.
  bool plays_stages_of_cluster = false;
  bool has_stages = false;
  // What the user should know, each with `note: ` in front: what has no effect here.
  std::vector<std::string> notices;
};

// Reads the file `path`, whose documents are told apart by their kinds alone; later documents go before
// earlier ones. Absent: it has no KwokctlConfiguration. Paths in it are looked for beside the file, and then
// from where the program runs, as kwokctl does. InvalidArgument, `file:line:column: path.to.field: what`, for
// wrong types and for gates that the line does not have.
// Source: kwok v0.8.0, pkg/apis/config/v1alpha1/kwokctl_configuration_types.go, pkg/config/config.go.
absl::StatusOr<std::optional<KwokctlConfig>> ReadKwokctlConfig(const std::string& path);

// The same for the file that a choice names; absent where it names none, or a descriptor: a pipe can be read
// once, and a configuration of the scheduler is expected there.
absl::StatusOr<std::optional<KwokctlConfig>> KwokctlConfigOf(const SchedulerChoice& choice);

// What is chosen where a user says `choice` beside that: the user goes before it.
SchedulerChoice ChoiceWith(const KwokctlConfig& config, const SchedulerChoice& choice);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_KWOKCTL_CONFIG_H_
