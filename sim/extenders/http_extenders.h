// The extenders of a configuration, as the scheduler asks them by HTTP.
#ifndef SCHEDSIM_SIM_EXTENDERS_HTTP_EXTENDERS_H_
#define SCHEDSIM_SIM_EXTENDERS_HTTP_EXTENDERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/api/pod.h"
#include "core/framework/extender.h"
#include "sim/extenders/condition_times.h"
#include "sim/extenders/extender_transport.h"

namespace schedsim::sim {

class ObjectScribe;

// Source: kubernetes v1.37, scheduler/extender.go, and scheduler/scheduler.go, buildExtenders.
class HttpExtenders : public framework::Extenders {
 public:
  // What it borrows; all of it must outlive it.
  struct Parts {
    const ExtenderWorld& world;
    const ExtenderOptions& options;
    // Lets virtual time pass until `is_done()`, or the run is over.
    std::function<void(absl::FunctionRef<bool()> is_done)> wait;
  };
  explicit HttpExtenders(Parts parts);
  ~HttpExtenders() override;

  absl::Span<framework::Extender* const> list() const override { return list_; }
  void WaitUntil(absl::FunctionRef<bool()> is_done) override;
  bool is_over() const override { return is_over_; }
  // See ExtenderTransport.
  absl::Status failure() const { return transport_->failure(); }
  // What the user should know of a run that is over: calls that failed, and recorded ones that were not made.
  std::vector<std::string> Warnings() const;

 private:
  class HttpExtender;
  // Of one extender and verb.
  struct Calls {
    int64_t count = 0;
    int64_t failed = 0;
    std::string first_error;  // With the pod that it was about.
  };

  const ExtenderWorld world_;
  const ExtenderOptions& options_;
  const std::function<void(absl::FunctionRef<bool()>)> wait_;
  std::unique_ptr<ExtenderTransport> transport_;
  ConditionTimes condition_times_;
  std::unique_ptr<ObjectScribe> scribe_;
  std::vector<std::unique_ptr<HttpExtender>> extenders_;
  std::vector<framework::Extender*> list_;
  std::map<std::pair<size_t, ExtenderVerb>, Calls> calls_;  // By the extender's place in the configuration.
  bool is_over_ = false;
};

// The resources that the extenders take over from NodeResourcesFit; where there are some, they take the place
// of its ignoredResources in every profile.
std::vector<std::string> ResourcesIgnoredForExtenders(const api::KubeSchedulerConfiguration& config);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXTENDERS_HTTP_EXTENDERS_H_
