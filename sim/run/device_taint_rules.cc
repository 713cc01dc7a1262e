#include "sim/run/device_taint_rules.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/api/kinds.h"
#include "core/scheduler/attempt.h"

namespace schedsim::sim {
namespace {

class RuleListener : public scheduler::Observer {
 public:
  RuleListener(ApiServer& server, Trace& trace) : server_(server), trace_(trace) {}

  bool WantsDetails() const override { return false; }
  void OnAttempt(const scheduler::Attempt& attempt) override {
    const framework::PodInfo& pod = *attempt.pod;
    const bool may_use_devices =
        !pod.pod->spec->resource_claims.empty() ||
        (!pod.spec_info->requests.scalars.empty() && !server_.List(api::Kind::kDeviceClass).empty());
    if (may_use_devices) trace_.OnInexact(pod, "DeviceTaintRules, which taint devices");
  }
  void OnBindFailure(const framework::PodInfo&, const scheduler::Attempt::Failure&) override {}
  void OnInexact(const framework::PodInfo&, absl::string_view) override {}

 private:
  ApiServer& server_;
  Trace& trace_;
};

}  // namespace

// Up to 1.36 the gate DRADeviceTaintRules is off, and cannot be set here; in 1.34 rules are a part of
// DRADeviceTaints.
void NameDeviceTaintRules(const api::LineBehavior& line, ApiServer& server, Trace& trace) {
  const bool by_line = line.line >= api::KubernetesLine::k1_37 || line.line == api::KubernetesLine::k1_34;
  if (!by_line || !line.dra.device_taints) return;
  auto listener = std::make_shared<RuleListener>(server, trace);
  server.Watch([&trace, listener, is_added = false](const WatchEvent& event) mutable {
    if (is_added || event.new_object == nullptr) return;
    const api::Object& object = *event.new_object;
    if (object.kind != api::Kind::kOther || object.kind_name != "DeviceTaintRule") return;
    if (api::GroupOf(object.api_version) != "resource.k8s.io") return;
    is_added = true;
    trace.add_listener(listener.get());
  });
}

}  // namespace schedsim::sim
