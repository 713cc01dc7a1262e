// How much pods use, by kwok's ResourceUsage and ClusterResourceUsage objects.
#ifndef SCHEDSIM_SIM_STAGES_USAGE_H_
#define SCHEDSIM_SIM_STAGES_USAGE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/api/quantity.h"
#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/cel/cel_program.h"
#include "core/codec/text/value.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"
#include "sim/stages/stage_object.h"

namespace schedsim::sim {

// What a container uses of a resource: a quantity, or else what an expression gives.
struct ResourceUse {
  std::string resource;
  std::optional<api::Quantity> value;
  std::optional<cel::CelProgram> expression;
};

// What some of a pod's containers use.
struct UsageEntry {
  std::vector<std::string> containers;  // Empty: all.
  std::vector<ResourceUse> uses;
};

// One ResourceUsage or ClusterResourceUsage.
// Source: kwok v0.8.0, pkg/apis/v1alpha1/resource_usage_types.go and cluster_resource_usage_types.go.
struct UsageRule {
  // A ResourceUsage is about the one pod of its namespace and name, and nobody else is asked for that.
  bool is_of_one_pod = false;
  std::string name_space;
  std::string name;
  // Of a ClusterResourceUsage; empty ones match all.
  std::vector<std::string> match_namespaces;
  std::vector<std::string> match_names;
  std::vector<UsageEntry> entries;
};

// `document` is of kind ResourceUsage or ClusterResourceUsage. InvalidArgument, `file:line:column:
// path.to.field: what`, as for stages.
absl::StatusOr<UsageRule> ReadUsageRule(const codec::Value& document, absl::string_view file);

// spec.containers of a pod, as CEL has them; empty where there are none.
cel::CelValue::List ContainersOf(const StageObject& pod);
// What an expression of usage gives, as a number: quantities as they are, 1 for true, and nanoseconds of a
// duration. InvalidArgument: it failed, or is nothing of that kind.
absl::StatusOr<double> UsageNumber(const cel::CelResult& result);

// Asks the rules what is used now.
class UsageMeter {
 public:
  // `clock` and `server` must outlive it; Rand() draws from a stream of `rng`.
  UsageMeter(std::vector<UsageRule> rules, const Clock& clock, const Rng& rng, const ApiServer& server);
  UsageMeter(const UsageMeter&) = delete;
  UsageMeter& operator=(const UsageMeter&) = delete;

  // Cores of cpu, bytes of memory, and so on; 0 where no rule says anything, or its expression fails.
  double OfContainer(const api::Object& pod, absl::string_view container, absl::string_view resource);
  // The sum over spec.containers.
  double OfPod(const api::Object& pod, absl::string_view resource);
  // By node: the sums over all its pods, whatever their phase, in the order of Resources().
  std::map<std::string, std::vector<double>> OfNodes();

  // Resources that a rule is about, sorted.
  std::vector<std::string> Resources() const;
  // What went wrong with expressions, each once.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // The object as expressions see it; valid until it is read in another version.
  const StageObject& Read(const api::Object& object);

 private:
  const ResourceUse* FindUse(const api::Object& pod, absl::string_view container,
                             absl::string_view resource) const;
  double Evaluate(const ResourceUse& use, const api::Object& pod, absl::string_view container);

  const std::vector<UsageRule> rules_;
  const Clock& clock_;
  Rng rng_;
  const ApiServer& server_;
  const cel::CelFunctions functions_;
  // By kind and name: objects as they were last read, with their version.
  std::map<std::string, std::pair<uint64_t, std::unique_ptr<StageObject>>> read_;
  std::vector<std::string> warnings_;
};

// What nodes use over time, as a table.
class UsageTable {
 public:
  // A row for each node each `interval`. All arguments must outlive it.
  UsageTable(UsageMeter& meter, absl::Duration interval, EventLoop& loop, const ApiServer& server)
      : meter_(meter), interval_(interval), loop_(loop), server_(server), zero_(loop.Now()) {}
  UsageTable(const UsageTable&) = delete;
  UsageTable& operator=(const UsageTable&) = delete;

  // Now, and from now on in the background.
  void Start();

  // As CSV: `time` in seconds since the start, `node`, and a column for each resource.
  std::string Csv() const;

 private:
  void Sample();

  UsageMeter& meter_;
  const absl::Duration interval_;
  EventLoop& loop_;
  const ApiServer& server_;
  const absl::Time zero_;
  std::string rows_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_STAGES_USAGE_H_
