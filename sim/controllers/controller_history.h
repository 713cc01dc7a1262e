// Revisions of a workload's template.
#ifndef SCHEDSIM_SIM_CONTROLLERS_CONTROLLER_HISTORY_H_
#define SCHEDSIM_SIM_CONTROLLERS_CONTROLLER_HISTORY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/kubernetes_line.h"
#include "core/api/object.h"
#include "core/base/lookup_map.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/value.h"
#include "sim/cluster/api_server.h"
#include "sim/controllers/workload_fields.h"

namespace schedsim::sim {

// A template that a workload has or had.
struct Revision {
  std::string name;
  int64_t number = 0;
  // As JSON; and with all defaults, to be compared.
  std::string pod_template;
  std::string canonical;
  absl::Time created;
};

// The ControllerRevisions of StatefulSets or DaemonSets. Input often lacks them; then the workload's template
// counts as the revision that its status, or its pods, say that it is.
// Source: kubernetes v1.37, pkg/controller/history.
class ControllerHistory {
 public:
  // `owner_kind`: StatefulSet or DaemonSet; `line`: the release whose types hashes are made of. What is
  // borrowed must outlive it.
  ControllerHistory(absl::string_view owner_kind, api::KubernetesLine line, ApiServer& server);
  ControllerHistory(const ControllerHistory&) = delete;
  ControllerHistory& operator=(const ControllerHistory&) = delete;

  // Of any object of the kinds that have no enumerator. Returns the key of the workload whose revisions
  // changed; "": none.
  std::string OnEvent(const WatchEvent& event);

  // The revision of the workload's template, which is made, or becomes the newest one again.
  // `remembered`: the name of the revision that the template had in the input, where there is no object for
  // it; "": none. It counts before the first one that is made.
  absl::StatusOr<Revision> Update(const api::Object& owner, const std::string& remembered);
  // By name.
  std::optional<Revision> Find(const api::Object& owner, absl::string_view name);
  bool HasAny(const api::Object& owner) const;
  // Deletes the oldest revisions, but those named in `live`, and `limit` others.
  void Truncate(const api::Object& owner, const std::set<std::string>& live, int64_t limit);

 private:
  api::ObjectPtr FindObject(const api::Object& owner, absl::string_view name) const;
  // The oldest first.
  std::vector<Revision> ListOf(const api::Object& owner);
  absl::StatusOr<Revision> Create(const api::Object& owner, const Revision& revision);
  absl::StatusOr<Revision> CreateOf(const api::Object& owner, const Revision& revision,
                                    const codec::Value& pod_template);

  const std::string owner_kind_;
  const api::KubernetesLine line_;
  ApiServer& server_;
  codec::ObjectReader reader_;
  SpecCache<Revision> revisions_;
  // What is compared, by the template as it is written.
  LookupMap<std::string, std::string> canonical_;
  // Names by uid of the owner.
  std::map<std::string, std::set<std::string>> names_;
  // Revisions of the input without objects, by uid of the owner.
  std::map<std::string, Revision> remembered_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_CONTROLLER_HISTORY_H_
