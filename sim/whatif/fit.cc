#include "sim/whatif/fit.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/api/node.h"
#include "core/api/pod.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/json_edit.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/reader.h"

namespace schedsim::sim {
namespace {

// How many copies of a pod are tried first, how many times more each time, and at most.
constexpr int64_t kTriedFirst = 256;
constexpr int64_t kTriedGrowth = 4;
constexpr int64_t kTriedMax = 100'000;

// How messages of pods begin that admission refuses.
constexpr char kIsForbidden[] = "is forbidden: ";

std::string NameOf(const api::Object& object) { return absl::StrCat(object.kind_name, " ", object.Key()); }

// The objects of `with` that `base` has not, as NameOf has them.
std::set<std::string> Added(const Plan& base, const Plan& with) {
  std::set<std::string> known;
  for (const api::ObjectPtr& object : base.input.objects) known.insert(NameOf(*object));
  std::set<std::string> added;
  for (const api::ObjectPtr& object : with.input.objects)
    if (known.count(NameOf(*object)) == 0) added.insert(NameOf(*object));
  return added;
}

// Keys of the pods that are on a node in the input and not over.
std::set<std::string> Running(const Plan& plan) {
  std::set<std::string> running;
  for (const api::ObjectPtr& object : plan.input.objects) {
    if (object->kind != api::Kind::kPod) continue;
    const auto& pod = static_cast<const api::Pod&>(*object);
    if (!pod.node_name.empty() && !pod.IsTerminal()) running.insert(pod.Key());
  }
  return running;
}

// Tells what became of the added objects, and of what they ask for.
class FitReader {
 public:
  FitReader(const Plan& base, const Plan& with, const Trial& trial)
      : with_(with), trial_(trial), added_(Added(base, with)), running_(Running(base)) {}

  absl::StatusOr<FitAnswer> Read() && {
    RETURN_IF_ERROR(ReadRefused());
    for (const TrialPod& pod : trial_.pods) {
      const bool is_alone = added_.count(absl::StrCat("Pod ", pod.key)) > 0;
      if (is_alone || added_.count(pod.root) > 0) ReadPod(pod, is_alone);
    }
    for (const WorkloadReport& workload : trial_.report.workloads) {
      const std::string name = absl::StrCat(workload.kind, " ", workload.name_space, "/", workload.name);
      if (added_.count(name) == 0) continue;
      ReadWorkload(name, workload);
      sums_.erase(name);
    }
    // What is left is gone: pods that were given alone, and Jobs, some time after their end.
    for (const auto& [name, sums] : sums_) {
      const bool is_open =
          absl::StartsWith(name, "Job ") && added_.count(name) > 0 && sums.made != sums.placed;
      if (is_open)
        answer_.unanswered.push_back(absl::StrCat(name, " is gone, and not each of its pods had a node"));
    }
    for (const auto& [written, name] : with_.input.unsimulated_makers) {
      if (added_.count(written) > 0)
        answer_.unanswered.push_back(
            absl::StrCat(name, " has a pod template, and nobody here makes its pods"));
    }
    answer_.pending = messages_.Sums();
    for (const MessageSum& sum : answer_.pending) answer_.pending_count += sum.count;
    answer_.is_cut_off = with_.simulation.until.has_value() && has_untried_;
    // Of pods that were refused the answer says it.
    for (const std::string& notice : trial_.notices) {
      const bool is_told =
          absl::StartsWith(notice, "warning: Pod ") && absl::StrContains(notice, " was not created: ");
      if (!is_told) answer_.notices.push_back(notice);
    }
    return std::move(answer_);
  }

 private:
  // What became of the pods of one workload.
  struct Sums {
    int64_t active = 0;
    int64_t made = 0;
    int64_t placed = 0;
  };

  absl::Status ReadRefused() {
    for (const Trial::Refused& refused : trial_.refused) {
      const api::Object& object = *with_.input.objects[refused.index];
      // Another file, or time, would not make it valid.
      const size_t forbidden = refused.message.find(kIsForbidden);
      if (object.kind != api::Kind::kPod || forbidden == std::string::npos)
        return absl::InvalidArgumentError(
            absl::StrCat(with_.input.PlaceOf(refused.index), ": ", Printable(refused.message)));
      // Without its name in front, so that like ones are counted together.
      messages_.Add(refused.message.substr(forbidden));
    }
    return absl::OkStatus();
  }

  // `is_alone`: it is one of the objects, so that nothing makes another one in its place.
  void ReadPod(const TrialPod& pod, bool is_alone) {
    Sums& sums = sums_[pod.root];
    ++sums.made;
    if (pod.IsActive()) ++sums.active;
    if (!pod.is_placed && pod.Holds() && running_.count(pod.key) > 0) {
      ++sums.placed;
      ++answer_.running_count;
      return;
    }
    if (pod.is_placed && pod.Holds()) {
      ++sums.placed;
      answer_.bound.push_back({.pod = pod.key, .node = pod.node});
      return;
    }
    const std::string problem = ProblemOf(pod);
    if (pod.IsActive() || is_alone) {
      messages_.Add(problem);
      has_untried_ = has_untried_ || problem.empty();
    }
  }

  // Why the pod is on no node that the scheduler took; "": it was not tried yet.
  static std::string ProblemOf(const TrialPod& pod) {
    if (pod.is_evicted) return "was evicted by preemption";
    if (pod.is_deleted) return "was deleted";
    if (pod.is_ending) return "is being deleted";
    if (pod.IsOver()) return absl::StrCat("is ", pod.phase, pod.node.empty() ? " without a node" : "");
    if (!pod.node.empty())
      return absl::StrCat("has nodeName ", pod.node, ": whether it fits there, the scheduler does not ask");
    return pod.message;
  }

  // Pods that it asks for and that are not there.
  void ReadWorkload(const std::string& name, const WorkloadReport& workload) {
    const Sums sums = sums_[name];
    if (workload.kind == "Job" && answer_.notices.empty()) {
      answer_.notices.push_back(
          "note: pods of Jobs end as soon as they are on a node, so that not all of them must fit at once");
    }
    if (workload.has_failed) {
      messages_.Add(absl::StrCat(name, " has failed"));
    } else if (workload.is_suspended) {
      answer_.unanswered.push_back(absl::StrCat(name, " is suspended"));
    } else if (workload.kind == "CronJob") {
      if (sums.made == 0) answer_.unanswered.push_back(absl::StrCat(name, " made no pod in this run"));
    } else if (!workload.is_finished) {
      const int64_t asked = AskedAtOnce(workload);
      const bool asks_for_none = asked == 0 && sums.made == 0;
      if (asks_for_none) answer_.asking_for_none.push_back(name);
      if (sums.active >= asked) return;
      const std::string problem = NotMade(name);
      // A controller that says nothing may only not have come to it when the run was cut off.
      const bool is_late = with_.simulation.until.has_value() && absl::StartsWith(problem, "not made by");
      has_untried_ = has_untried_ || is_late;
      if (is_late) {
        answer_.unanswered.push_back(absl::StrCat(name, " has ", asked - sums.active, " more to make"));
      } else {
        messages_.Add(problem, asked - sums.active);
      }
    }
  }

  // How many pods that are not over it is to have now.
  static int64_t AskedAtOnce(const WorkloadReport& workload) {
    if (workload.kind != "Job") return workload.wanted.value_or(0);
    const int64_t parallelism = workload.parallelism.value_or(1);
    // Without a number of completions none is made after the first success.
    if (!workload.wanted.has_value()) return workload.succeeded > 0 ? 0 : parallelism;
    return std::min(parallelism, std::max<int64_t>(0, *workload.wanted - workload.succeeded));
  }

  // With why, where the controller said so.
  std::string NotMade(const std::string& name) const {
    const std::string front = absl::StrCat(name, ": ");
    for (const std::string& warning : trial_.report.warnings)
      if (absl::StartsWith(warning, front)) return absl::StrCat("not made: ", warning);
    return absl::StrCat("not made by ", name);
  }

  const Plan& with_;
  const Trial& trial_;
  const std::set<std::string> added_;
  const std::set<std::string> running_;
  std::map<std::string, Sums> sums_;  // By root.
  Messages messages_;
  bool has_untried_ = false;
  FitAnswer answer_;
};

absl::StatusOr<FitAnswer> FitBeside(const Trial& before, const Plan& base, const Plan& with) {
  Plan plan = with;
  // What is refused is an answer here, and no error.
  plan.input.places.clear();
  Trial trial;
  ASSIGN_OR_RETURN(trial, RunTrial(std::move(plan)));
  FitAnswer answer;
  ASSIGN_OR_RETURN(answer, FitReader(base, with, trial).Read());
  answer.displaced = Displaced(before, trial, {});
  if (before.IsInCircles() && !trial.IsInCircles()) answer.notices = before.notices;
  answer.is_in_circles = before.IsInCircles() || trial.IsInCircles();
  return answer;
}

// Room for pods on all nodes, as far as so many are tried.
int64_t PodRoom(const Plan& plan) {
  int64_t room = 0;
  for (const api::ObjectPtr& object : plan.input.objects) {
    if (object->kind != api::Kind::kNode) continue;
    const api::Quantity* pods = static_cast<const api::Node&>(*object).status.allocatable.Find("pods");
    if (pods != nullptr) room = std::min(kTriedMax, room + std::clamp<int64_t>(pods->Value(), 0, kTriedMax));
  }
  return room;
}

// The only pod of `with` that `base` does not have, as NameOf has it.
absl::StatusOr<std::string> AddedPod(const Plan& base, const Plan& with) {
  const std::set<std::string> added = Added(base, with);
  std::vector<size_t> found;
  for (size_t i = 0; i < with.input.objects.size(); ++i) {
    const api::Object& object = *with.input.objects[i];
    if (object.kind == api::Kind::kPod && added.count(NameOf(object)) > 0) found.push_back(i);
  }
  if (found.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat("expected one pod that the cluster does not have, got ",
                                                   found.size(), " of them among ", added.size(),
                                                   " objects; what-if fit takes workloads"));
  }
  const auto& pod = static_cast<const api::Pod&>(*with.input.objects[found[0]]);
  if (pod.node_name.empty()) return NameOf(pod);
  return absl::InvalidArgumentError(absl::StrCat(
      with.input.PlaceOf(found[0]), ": spec.nodeName: expected a pod that is to be scheduled, got one on ",
      Printable(pod.node_name, kShownBytesMax)));
}

// The object with other texts in its metadata: names of fields and what they are to have.
absl::StatusOr<api::ObjectPtr> WithMetadata(
    const api::Object& object, std::initializer_list<std::pair<absl::string_view, absl::string_view>> texts,
    codec::ObjectReader& reader) {
  std::string json = codec::ObjectJson(object);
  for (const auto& [field, text] : texts) {
    codec::JsonWriter quoted;
    quoted.String(text);
    json = codec::SetJsonMember(json, {"metadata", field}, quoted.text());
  }
  api::ObjectPtr copy;
  RETURN_IF_ERROR(
      codec::ReadText(json, "object.json", {}, [&](const codec::Document& document) -> absl::Status {
        ASSIGN_OR_RETURN(copy, reader.Decode(document.root, "object.json"));
        return absl::OkStatus();
      }));
  return copy;
}

// Where the plan has the object of this name, which it has.
size_t PlaceOf(const std::string& name, const Plan& plan) {
  size_t place = 0;
  while (NameOf(*plan.input.objects[place]) != name) ++place;
  return place;
}

// Makes pods like others under names that are free.
class Copier {
 public:
  explicit Copier(const Plan& plan) {
    for (const api::ObjectPtr& object : plan.input.objects)
      if (object->kind == api::Kind::kPod) taken_.insert(object->Key());
  }

  // The next name is behind `number`, which counts up.
  absl::StatusOr<api::ObjectPtr> Copy(const api::Object& pod, int64_t& number) {
    absl::string_view base = pod.metadata.name;
    if (base.empty()) base = absl::StripSuffix(pod.metadata.generate_name, "-");
    std::string name;
    do {
      name = absl::StrCat(base, "-", ++number);
    } while (!taken_.insert(absl::StrCat(pod.metadata.namespace_, "/", name)).second);
    // A uid is that of one pod.
    return WithMetadata(pod, {{"name", name}, {"generateName", ""}, {"uid", ""}}, reader_);
  }

 private:
  std::set<std::string> taken_;
  codec::ObjectReader reader_;
};

// What the API server gives out is not taken from a manifest, so that an object that was copied from a
// cluster is admitted like any other.
absl::StatusOr<api::ObjectPtr> AsNew(const api::ObjectPtr& object, codec::ObjectReader& reader) {
  if (object->metadata.uid.empty() && object->metadata.resource_version == 0) return object;
  return WithMetadata(*object, {{"uid", ""}, {"resourceVersion", ""}}, reader);
}

// `with` after the pods of the cluster were tried, and those that its workloads ask for were made: what is
// new comes behind them. `before`: the run of `base`.
absl::StatusOr<Plan> Behind(const Trial& before, const Plan& base, const Plan& with) {
  const std::set<std::string> added = Added(base, with);
  Plan plan = with;
  plan.input.objects = before.objects;
  plan.input.places.assign(before.objects.size(), {});
  codec::ObjectReader reader;
  for (size_t i = 0; i < with.input.objects.size(); ++i) {
    if (added.count(NameOf(*with.input.objects[i])) == 0) continue;
    api::ObjectPtr object;
    ASSIGN_OR_RETURN(object, AsNew(with.input.objects[i], reader));
    plan.input.objects.push_back(std::move(object));
    plan.input.places.push_back(with.input.places.empty() ? ClusterInput::Place() : with.input.places[i]);
  }
  return plan;
}

// The plan with names for pods that have only a generateName, so that they can be told apart.
absl::StatusOr<Plan> WithNames(const Plan& plan) {
  Plan named = plan;
  Copier copier(plan);
  int64_t number = 0;
  for (api::ObjectPtr& object : named.input.objects) {
    if (object->kind != api::Kind::kPod || !object->metadata.name.empty()) continue;
    ASSIGN_OR_RETURN(object, copier.Copy(*object, number));
  }
  return named;
}

// Copies that wait use up a quota, too, so what refuses later ones is not what keeps the next one off a node.
std::string WhyTheNextDoesNot(const std::vector<MessageSum>& pending) {
  if (pending.empty()) return "";
  const auto found = std::find_if(pending.begin(), pending.end(), [](const MessageSum& sum) {
    return !absl::StartsWith(sum.message, kIsForbidden);
  });
  return found == pending.end() ? pending[0].message : found->message;
}

}  // namespace

absl::StatusOr<FitAnswer> WouldFit(const Plan& base, const Plan& with) {
  Plan named_base;
  ASSIGN_OR_RETURN(named_base, WithNames(base));
  Plan named_with;
  ASSIGN_OR_RETURN(named_with, WithNames(with));
  Trial before;
  ASSIGN_OR_RETURN(before, RunTrial(named_base, KeptObjects::kAll));
  ASSIGN_OR_RETURN(named_with, Behind(before, named_base, named_with));
  named_base.input.objects = before.objects;
  return FitBeside(before, named_base, named_with);
}

absl::StatusOr<CountAnswer> HowManyFit(const Plan& base, const Plan& with) {
  Plan named_base;
  ASSIGN_OR_RETURN(named_base, WithNames(base));
  Plan plan;
  ASSIGN_OR_RETURN(plan, WithNames(with));
  std::string name;
  ASSIGN_OR_RETURN(name, AddedPod(named_base, plan));
  Trial before;
  ASSIGN_OR_RETURN(before, RunTrial(named_base, KeptObjects::kAll));
  ASSIGN_OR_RETURN(plan, Behind(before, named_base, plan));
  named_base.input.objects = before.objects;
  const size_t at = PlaceOf(name, plan);
  const api::ObjectPtr pod = plan.input.objects[at];
  Copier copier(plan);
  const int64_t most = std::min(PodRoom(base) + 1, kTriedMax);
  FitAnswer fit;
  int64_t made = 1;
  int64_t number = 1;
  for (int64_t tried = std::min(kTriedFirst, most);; tried = std::min(tried * kTriedGrowth, most)) {
    for (; made < tried; ++made) {
      api::ObjectPtr copy;
      ASSIGN_OR_RETURN(copy, copier.Copy(*pod, number));
      plan.input.objects.push_back(std::move(copy));
      if (!plan.input.places.empty()) plan.input.places.push_back(plan.input.places[at]);
    }
    ASSIGN_OR_RETURN(fit, FitBeside(before, named_base, plan));
    if (fit.pending_count > 0 || fit.is_in_circles || tried == most) break;
  }
  return CountAnswer{.count = static_cast<int64_t>(fit.bound.size()),
                     .message = WhyTheNextDoesNot(fit.pending),
                     .bound = std::move(fit.bound),
                     .displaced = std::move(fit.displaced),
                     .is_cut_off = fit.is_cut_off,
                     .is_in_circles = fit.is_in_circles,
                     .notices = std::move(fit.notices)};
}

}  // namespace schedsim::sim
