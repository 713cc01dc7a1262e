// What the API server fills in when a pod is created.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/api/pod.h"
#include "core/api/workloads.h"
#include "core/base/lookup_map.h"

namespace schedsim::sim {

// Whether the API server refuses to create the pod where its priority class is not there: the pod names one,
// and did not pass admission before.
bool NeedsPriorityClass(const api::Pod& pod);

// The API server's message for such a pod.
std::string NoPriorityClassMessage(const api::Pod& pod);

// Whether every cluster has the priority class, also where no input defines it.
bool IsSystemPriorityClass(absl::string_view name);

// InvalidArgument, with the API server's message, for a class that it would not create: users may define
// values up to 1,000,000,000, and names that begin with `system-` are those of the system's own classes.
// Source: kubernetes v1.37, pkg/apis/scheduling/validation/validation.go, ValidatePriorityClass.
absl::Status ValidatePriorityClass(const api::PriorityClass& priority_class);

// Completes specs as the API server's defaults and admission do: the scheduler's name, a request for
// each limit without one, pod-level requests, host ports with hostNetwork, and the priority.
// Source: kubernetes v1.37, pkg/apis/core/v1/defaults.go and plugin/pkg/admission/priority.
class Admission {
 public:
  struct Options {
    // Also what is not in a conformance case: pod-level requests, and priority and preemption policy
    // by priority class.
    bool complete = true;
  };

  explicit Admission(const Options& options) : options_(options) {}
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // Takes the place of, or removes (nullptr), the priority class `name`.
  void SetPriorityClass(absl::string_view name, std::shared_ptr<const api::PriorityClass> priority_class);

  // PermissionDenied, with the API server's message, for a pod whose priority class does not exist. Pods that
  // passed admission before are let through: those that a cluster gave out have a uid or a resourceVersion,
  // and their spec has the priority.
  absl::Status Admit(const api::Pod& pod) const;

  // The completed spec, the same object for the same `spec`; specs that lack nothing are returned as
  // they are.
  std::shared_ptr<const api::PodSpec> Complete(const std::shared_ptr<const api::PodSpec>& spec);

 private:
  struct Entry {
    std::shared_ptr<const api::PodSpec> spec;  // Kept alive, so that its address stays its own.
    std::shared_ptr<const api::PodSpec> completed;
  };

  // The class that a spec is in; nullptr for one without a name, where there is no default.
  const api::PriorityClass* ClassOf(const api::PodSpec& spec) const;
  void SetPriority(api::PodSpec& spec) const;

  const Options options_;
  LookupMap<const api::PodSpec*, Entry> completed_;
  // By name.
  std::map<std::string, std::shared_ptr<const api::PriorityClass>> priority_classes_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_H_
