#include "tests/sim/run/permit_plugins.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/api/extension_point.h"
#include "core/api/go_text.h"
#include "core/framework/handle.h"
#include "core/framework/plugin.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

using api::ExtensionPoint;
using framework::Code;
using framework::PermitResult;
using framework::PodInfo;
using framework::Status;
using framework::WaitingPod;

// The words of the annotation, none where the pod asks for nothing.
std::vector<std::string> Wishes(const PodInfo& pod, absl::string_view plugin) {
  const std::string* text = pod.pod->metadata.annotations.Find(plugin);
  if (text == nullptr) return {};
  return absl::StrSplit(*text, ' ');
}

absl::Duration DurationOf(const std::string& text) { return api::ParseGoDuration(text).value(); }

std::string GroupOf(const PodInfo& pod) {
  const std::string* group = pod.pod->metadata.labels.Find("group");
  return group == nullptr ? "" : *group;
}

class Permission : public framework::Plugin,
                   public framework::PermitPlugin,
                   public framework::EnqueueExtensions {
 public:
  Permission(std::string name, framework::Handle& handle) : name_(std::move(name)), handle_(handle) {}

  absl::string_view Name() const override { return name_; }

  PermitResult Permit(framework::CycleState& /*state*/, const PodInfo& pod,
                      absl::string_view /*node_name*/) override {
    const std::vector<std::string> wishes = Wishes(pod, name_);
    if (wishes.empty()) return {};
    const std::string text = absl::StrJoin(wishes.begin() + 1, wishes.end(), " ");
    if (wishes[0] == "wait") return Wait(wishes[1]);
    if (wishes[0] == "gang") return Gang(pod, wishes[1], wishes[2]);
    if (wishes[0] == "reject") return {.status = Status(Code::kUnschedulable, text), .timeout = {}};
    if (wishes[0] == "error") return {.status = Status::Error(text), .timeout = {}};
    handle_.IterateOverWaitingPods([&](WaitingPod& waiting) {
      if (waiting.pod().pod->metadata.name == text) Treat(waiting, wishes[0]);
    });
    return {};
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    return {{.event = {.resource = framework::EventResource::kNode, .action = framework::kUpdateNodeLabel},
             .hint = nullptr}};
  }

 private:
  static PermitResult Wait(const std::string& timeout) {
    return {.status = Status(Code::kWait, std::vector<std::string>()), .timeout = DurationOf(timeout)};
  }

  PermitResult Gang(const PodInfo& pod, const std::string& count, const std::string& timeout) {
    std::vector<WaitingPod*> members;
    handle_.IterateOverWaitingPods([&](WaitingPod& waiting) {
      if (GroupOf(waiting.pod()) == GroupOf(pod)) members.push_back(&waiting);
    });
    size_t wanted = 0;
    if (!absl::SimpleAtoi(count, &wanted) || members.size() + 1 < wanted) return Wait(timeout);
    for (WaitingPod* member : members) member->Allow(name_);
    return {};
  }

  void Treat(WaitingPod& waiting, absl::string_view verb) {
    if (verb == "remove") handle_.RejectWaitingPod(waiting.pod().Uid());
    if (verb == "allow" || verb == "both") waiting.Allow(name_);
    if (verb == "refuse" || verb == "both") waiting.Reject(name_, "refused");
  }

  const std::string name_;
  framework::Handle& handle_;
};

class SlowBind : public framework::Plugin, public framework::PreBindPlugin {
 public:
  explicit SlowBind(framework::Handle& handle) : handle_(handle) {}

  absl::string_view Name() const override { return "SlowBind"; }

  Status PreBindPreFlight(framework::CycleState& /*state*/, const PodInfo& pod,
                          absl::string_view /*node_name*/) override {
    return Wishes(pod, Name()).empty() ? Status::Skip() : Status();
  }

  void PreBind(framework::CycleState& state, const PodInfo& pod, absl::string_view /*node_name*/,
               framework::StatusCallback done) override {
    const std::vector<std::string> wishes = Wishes(pod, Name());
    if (wishes.empty()) {
      done(Status());
      return;
    }
    const Status status = wishes[0] == "refuse" ? Status(Code::kUnschedulable, "no bind") : Status();
    auto shared = std::make_shared<framework::StatusCallback>(std::move(done));
    const uint64_t timer =
        handle_.executor().Post(DurationOf(wishes[1]), [shared, status] { (*shared)(status); });
    if (wishes[0] != "heed" || state.in_pre_bind == nullptr) return;
    state.in_pre_bind->set_on_cancel([this, shared, timer] {
      handle_.executor().Cancel(timer);
      (*shared)(Status::Error("slow: context canceled"));
    });
  }

 private:
  framework::Handle& handle_;
};

}  // namespace

void AddPermitPlugins(SimulationOptions& options) {
  for (const char* name : {"PermitA", "PermitB"}) {
    AddPlugin(options, name, ExtensionPoint::kPermit,
              [name](framework::Handle& handle) { return std::make_unique<Permission>(name, handle); });
  }
  AddPlugin(options, "SlowBind", ExtensionPoint::kPreBind,
            [](framework::Handle& handle) { return std::make_unique<SlowBind>(handle); });
}

}  // namespace schedsim::sim
