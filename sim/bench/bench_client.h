// What scheduler_perf asks of the API server, as a cluster without kubelets and controllers answers.
#ifndef SCHEDSIM_SIM_BENCH_BENCH_CLIENT_H_
#define SCHEDSIM_SIM_BENCH_BENCH_CLIENT_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/base/lookup_map.h"
#include "core/base/rng.h"
#include "sim/bench/object_template.h"
#include "sim/cluster/api_server.h"

namespace schedsim::sim {

class BenchClient {
 public:
  // From now on the server asks this client how long pods have to end, so that both must outlive the run.
  // Names are drawn from `rng`.
  BenchClient(ApiServer& server, const Rng& rng);
  BenchClient(const BenchClient&) = delete;
  BenchClient& operator=(const BenchClient&) = delete;

  // Creates the object, in the namespace (of cluster-wide objects ""), under a name drawn where it has only
  // generateName. Returns the name. Errors: as ApiServer::Create.
  absl::StatusOr<std::string> Create(TemplateObject made, absl::string_view name_space);
  // The same for objects that no template is behind.
  absl::StatusOr<std::string> Create(std::shared_ptr<api::Object> object);

  // Creates the namespace, if it is not there. It has its name as a label, as in a real cluster.
  absl::Status CreateNamespace(const api::StringMap& labels, absl::string_view name);

  // Replaces the stored object of this name: first all but the status, then the status, as scheduler_perf's
  // updateAny does; with the subresource `resize` only the resources of the pod's containers. NotFound where
  // there is none; Unimplemented for other subresources.
  absl::Status Update(const TemplateObject& made, absl::string_view name_space,
                      const std::vector<std::string>& subresources);

  // Deletes a pod. One with finalizers, and one that is bound and has a grace period, stays with a
  // deletionTimestamp for ever, for nobody is there to end it. NotFound where there is none.
  absl::Status DeletePod(absl::string_view name_space, absl::string_view name);
  // Deletes an object of the kind of `like`.
  absl::Status Delete(const api::Object& like, absl::string_view name_space, absl::string_view name);

  // Five characters, as names of Kubernetes end in.
  std::string Suffix();
  // 32 hexadecimal digits with dashes.
  std::string Uuid();

 private:
  // How a pod ends, where it does not have the usual grace period and no finalizers.
  struct PodEnd {
    bool at_once = false;
    bool has_finalizers = false;
  };

  std::optional<absl::Duration> GracePeriod(const api::Pod& pod) const;
  absl::Status Resize(const api::Pod& pod, absl::string_view name_space);

  ApiServer& server_;
  Rng rng_;
  LookupMap<std::string, PodEnd> ends_;  // By "namespace/name".
};

// Whether objects of its kind live in namespaces; absent for kinds that are not built in.
std::optional<bool> IsNamespaced(const api::Object& object);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_BENCH_BENCH_CLIENT_H_
