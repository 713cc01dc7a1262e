#include "sim/plan/recorder_limits.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/kinds.h"
#include "core/api/node.h"
#include "core/api/taints.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/input.h"
#include "core/codec/text/reader.h"
#include "sim/scenario/scheduler_choice.h"

namespace schedsim::sim {
namespace {

// Where the fields of a scenario stand.
class FieldPlaces {
 public:
  // `path`: the scenario's; "": there is none.
  explicit FieldPlaces(const std::string& path) : path_(path) {}

  // `file:line:column: a.b` of the field; without line and column where the file can't be read again. Reads
  // the file.
  std::string Of(absl::string_view field, absl::string_view part = "") const {
    const std::string name = part.empty() ? std::string(field) : absl::StrCat(field, ".", part);
    if (path_.empty()) return name;
    codec::Position position;
    if (!codec::IsDescriptor(path_)) {
      codec::ReadValues(path_, [&](const codec::Document& document) {
        const codec::Value* value = document.root.Find(field);
        if (value != nullptr && !part.empty()) value = value->Find(part);
        if (value != nullptr) position = value->position;
        return absl::OkStatus();
      }).IgnoreError();
    }
    return std::string(codec::ErrorAt({path_, position}, name).message());
  }

 private:
  const std::string& path_;
};

bool HasNoExecuteTaint(const api::Object& object) {
  if (object.kind != api::Kind::kNode) return false;
  const std::vector<api::Taint>& taints = static_cast<const api::Node&>(object).spec.taints;
  return absl::c_any_of(taints, [](const api::Taint& taint) { return taint.effect == "NoExecute"; });
}

// What the recorder cannot do of an action of a timeline; "": all of it.
struct ActionLimit {
  bool has_controllers = false;

  std::string operator()(const CreateObjects&) const { return ""; }
  std::string operator()(const UpdateObjects& action) const {
    for (const api::ObjectPtr& object : action.objects) {
      std::string limit = OfWorkload(object->kind_name, "update");
      if (!limit.empty()) return limit;
      if (has_controllers && HasNoExecuteTaint(*object))
        return "update: of a Node with a NoExecute taint, which a controller acts on";
    }
    return "";
  }
  std::string operator()(const CompletePods&) const { return ""; }
  std::string operator()(const CordonNodes&) const { return ""; }
  std::string operator()(const LabelObjects&) const { return ""; }
  std::string operator()(const ScaleSet&) const { return ""; }
  std::string operator()(const PatchObjects& action) const {
    // What the patch makes of the node is only known when it is applied.
    const bool may_taint =
        absl::StrContains(action.patch, "NoExecute") || absl::StrContains(action.patch, "conditions");
    if (has_controllers && action.target.kind == api::Kind::kNode && may_taint)
      return "patch: of a Node's NoExecute taints or conditions, which a controller acts on";
    return OfWorkload(action.target.kind_name, "patch");
  }
  std::string operator()(const DeleteObjects& action) const {
    if (!has_controllers || action.target.kind != api::Kind::kNode) return "";
    return "delete: the pods of a node that goes are deleted by a controller";
  }
  std::string operator()(const TaintNodes& action) const {
    for (const api::Taint& taint : action.taints) {
      if (has_controllers && taint.effect == "NoExecute")
        return "taint: NoExecute, which a controller acts on";
    }
    return "";
  }
  std::string operator()(const DrainNodes&) const {
    return "drain: what is evicted depends on where pods are";
  }
  std::string operator()(const NodeDown&) const { return "nodeDown: kubelets and controllers act on it"; }
  std::string operator()(const NodeUp&) const { return "nodeUp: kubelets and controllers act on it"; }
  std::string operator()(const ScaleWorkload&) const {
    return "scale: which pods a controller deletes depends on where they are";
  }
  std::string operator()(const SaveSnapshot&) const { return "snapshot"; }
  std::string operator()(const WaitUntil&) const {
    return "waitUntil: what comes later would depend on what the scheduler does; give times with at";
  }

 private:
  std::string OfWorkload(absl::string_view kind_name, absl::string_view what) const {
    const bool is_workload = kind_name == "Deployment" || kind_name == "ReplicaSet" ||
                             kind_name == "StatefulSet" || kind_name == "DaemonSet" ||
                             kind_name == "ReplicationController";
    if (!has_controllers || !is_workload) return "";
    return absl::StrCat(what, ": of a ", kind_name, ", which a controller acts on");
  }
};

bool IsParallel(const api::Object& stateful_set) {
  bool is_parallel = false;
  codec::VisitObjectTree(stateful_set, [&](const codec::Value& root) {
    const codec::Value* const spec = root.Find("spec");
    const codec::Value* const policy = spec == nullptr ? nullptr : spec->Find("podManagementPolicy");
    is_parallel = policy != nullptr && policy->text == "Parallel";
  });
  return is_parallel;
}

// What controllers would do with the object depends on what the scheduler does with pods; "": it does not.
std::string LimitOf(const api::Object& object) {
  const bool is_known = api::FindKind(object.api_version, object.kind_name) != nullptr;
  const std::string& kind = object.kind_name;
  std::string why;
  if (kind == "Job" || kind == "CronJob") why = "its controller follows its pods to their ends";
  if (object.kind == api::Kind::kStatefulSet && !IsParallel(object))
    why = "its controller waits for each pod before it makes the next one";
  if (object.kind == api::Kind::kPodDisruptionBudget)
    why = "its controller follows the pods that it is about";
  if (why.empty() || !is_known) return "";
  return absl::StrCat(kind, " ", object.Key(), ": ", why, "; --controllers none leaves controllers out");
}

class Limits {
 public:
  Limits(const RunRequest& request, const Plan& plan)
      : request_(request), plan_(plan), places_(request.scenario) {}

  std::vector<std::string> Find() && {
    AddOptions();
    AddRun();
    AddLatencies();
    AddTerminating();
    AddInput();
    AddTimeline();
    return std::move(found_);
  }

 private:
  void Add(std::string what) { found_.push_back(std::move(what)); }
  void AddIf(bool is_there, std::string what) {
    if (is_there) Add(std::move(what));
  }
  // A field of the scenario, or the option that stands for it.
  void AddField(bool is_there, bool is_option, absl::string_view option, absl::string_view field,
                absl::string_view why) {
    if (is_there) Add(absl::StrCat(is_option ? std::string(option) : places_.Of(field), ": ", why));
  }

  void AddOptions() {
    AddIf(request_.check_wakeups, "--check-wakeups: looks into the simulated scheduler");
    AddIf(request_.counters, "--counters: counts what the simulated scheduler does");
    AddIf(request_.reference, "--reference: is about the simulated scheduler");
    const ExtenderChoice& extenders = request_.scheduler.extenders;
    AddIf(extenders.live || !extenders.replay.empty(), "extenders: the recorder calls none");
  }

  void AddRun() {
    const SimulationOptions& run = plan_.simulation;
    AddField(
        !run.more_plugins.empty(), !request_.scheduler.plugins.empty(), "--plugin", "plugins",
        "a library in C++, which the real scheduler cannot load; a recorder is built with plugins in Go");
    AddField(run.stages != nullptr, !request_.stages.empty(), "--stage", "stages",
             "nobody plays them in the recorder");
    AddField(run.autoscaler != nullptr, !request_.autoscaler.empty(), "--autoscaler", "autoscaler",
             "there is none in the recorder");
    AddField(run.variation.any(), request_.variation.has_value(), "--vary", "vary",
             "nothing is drawn in the recorder");
    AddField(run.faults.any(), request_.faults.has_value(), "--faults", "faults",
             "nothing fails in the recorder");
    AddIf(plan_.recording != nullptr, absl::StrCat(request_.scenario, ": a recording, or an audit log"));
    AddIf(request_.case_name.has_value() || !plan_.steps.empty(),
          absl::StrCat(request_.scenario, ": a case: the command `run` of the recorder itself runs cases"));
    for (const ArrivalSource& source : plan_.arrivals) {
      if (source.lifetime.has_value())
        Add(absl::StrCat(source.place, ".lifetime: it begins when the pod is bound"));
    }
  }

  void AddLatencies() {
    const LatencyModel& model = plan_.simulation.latency;
    const LatencyModel standard;
    const auto add = [&](absl::string_view field, const Latency& given, const Latency& known) {
      if (given.ToString() == known.ToString()) return;
      Add(absl::StrCat(places_.Of("latency", field), ": is ", given.ToString(), ", and always ",
                       known.ToString(), " in the recorder"));
    };
    add("schedulingCycle", model.scheduling_cycle, standard.scheduling_cycle);
    add("binding", model.binding, standard.binding);
    add("informer", model.informer, standard.informer);
    add("apiCall", model.api_call, standard.api_call);
    if (model.pod_termination.distribution() != Latency::Distribution::kConstant)
      Add(absl::StrCat(places_.Of("latency", "podTermination"), ": is ", model.pod_termination.ToString(),
                       ", expected one duration"));
    if (model.client.milli_qps > 0)
      Add(absl::StrCat(places_.Of("latency", "client"), ": the recorder's client has no limit"));
  }

  bool has_controllers() const { return plan_.simulation.controllers.workloads; }

  // A pod that is being deleted already would stay for ever where deleted pods stay at all.
  void AddTerminating() {
    if (plan_.simulation.latency.pod_termination.IsZero()) return;
    for (size_t i = 0; i < plan_.input.objects.size(); ++i) {
      const api::Object& object = *plan_.input.objects[i];
      if (object.kind != api::Kind::kPod || !object.metadata.deletion_timestamp.has_value()) continue;
      const bool has_place = i < plan_.input.places.size();
      Add(absl::StrCat(has_place ? plan_.input.PlaceOf(i) + ": " : "", "Pod ", object.Key(),
                       ": is being deleted, beside a latency.podTermination above 0"));
    }
  }

  void AddInput() {
    if (!has_controllers()) return;
    for (size_t i = 0; i < plan_.input.objects.size(); ++i) {
      const std::string limit = LimitOf(*plan_.input.objects[i]);
      const bool has_place = i < plan_.input.places.size();
      if (!limit.empty()) Add(absl::StrCat(has_place ? plan_.input.PlaceOf(i) + ": " : "", limit));
    }
  }

  void AddTimeline() {
    for (const TimelineEntry& entry : plan_.timeline) {
      const std::string limit = std::visit(ActionLimit{has_controllers()}, entry.action);
      if (!limit.empty()) Add(absl::StrCat(entry.place, ": ", limit));
      const auto* created = std::get_if<CreateObjects>(&entry.action);
      if (created == nullptr || !has_controllers()) continue;
      for (const api::ObjectPtr& object : created->objects) {
        const std::string of_object = LimitOf(*object);
        if (!of_object.empty()) Add(absl::StrCat(entry.place, ": ", of_object));
      }
    }
  }

  const RunRequest& request_;
  const Plan& plan_;
  const FieldPlaces places_;
  std::vector<std::string> found_;
};

}  // namespace

absl::Status CheckRecorderLimits(const RunRequest& request, const Plan& plan) {
  const std::vector<std::string> found = Limits(request, plan).Find();
  if (found.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--recorder: the recorder can't do all of this, expected a run without:\n",
                   absl::StrJoin(found, "\n")));
}

}  // namespace schedsim::sim
