#include "core/framework/framework.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/framework/error_text.h"
#include "core/framework/keeps_answers.h"

namespace schedsim::framework {
namespace {

// Of which extenders wait for any event. Source: kubernetes v1.37, scheduler/framework/types.go,
// UnrollWildCardResource.
constexpr EventResource kWildcardResources[] = {
    EventResource::kPod,           EventResource::kNode,
    EventResource::kCSINode,       EventResource::kCSIDriver,
    EventResource::kDeviceClass,   EventResource::kCSIStorageCapacity,
    EventResource::kStorageClass,  EventResource::kPersistentVolume,
    EventResource::kResourceClaim, EventResource::kPersistentVolumeClaim};

// No plugin can make a pod wait for longer on Permit.
constexpr absl::Duration kPermitTimeoutMax = absl::Minutes(15);

// An error of a plugin, with upstream's words around it.
Status Wrap(absl::string_view what, absl::string_view plugin, const Status& status) {
  Status error = Status::Error(absl::StrCat("running ", what, " \"", plugin, "\": ", ErrorText(status)));
  error.SetPluginIfUnset(plugin);
  return error;
}

// What PreBind failed with: where that is the cancellation of the pod, why it was cancelled.
std::string CauseOf(const CycleState& state, std::string message) {
  const bool canceled = state.in_pre_bind != nullptr && state.in_pre_bind->canceled();
  return canceled && absl::EndsWith(message, kContextCanceled) ? state.in_pre_bind->message() : message;
}

// The nodes that both lists name, in the order of the first. The lists are short: NodeName gives one node,
// and NodeAffinity those that matchFields name.
std::vector<Symbol> Intersection(const std::vector<Symbol>& a, const std::vector<Symbol>& b) {
  std::vector<Symbol> both;
  for (Symbol symbol : a) {
    if (std::find(b.begin(), b.end(), symbol) != b.end()) both.push_back(symbol);
  }
  return both;
}

}  // namespace

Framework::Framework(const api::EffectiveProfile& profile, Handle& handle)
    : handle_(handle),
      profile_name_(profile.scheduler_name),
      percentage_of_nodes_to_score_(profile.percentage_of_nodes_to_score) {}

absl::StatusOr<std::unique_ptr<Framework>> Framework::Make(const api::EffectiveProfile& profile,
                                                           const std::vector<RegisteredPlugin>& registry,
                                                           Handle& handle) {
  std::unique_ptr<Framework> framework(new Framework(profile, handle));
  RETURN_IF_ERROR(framework->Instantiate(profile, registry));
  using api::ExtensionPoint;
  RETURN_IF_ERROR(framework->Fill(profile, ExtensionPoint::kQueueSort, framework->queue_sort_));
  CHECK(framework->queue_sort_.size() == 1);
  RETURN_IF_ERROR(framework->Fill(profile, ExtensionPoint::kPreEnqueue, framework->pre_enqueue_));
  RETURN_IF_ERROR(framework->Fill(profile, ExtensionPoint::kPreFilter, framework->pre_filter_));
  RETURN_IF_ERROR(framework->Fill(profile, ExtensionPoint::kFilter, framework->filter_));
  RETURN_IF_ERROR(framework->Fill(profile, ExtensionPoint::kPostFilter, framework->post_filter_));
  RETURN_IF_ERROR(framework->Fill(profile, ExtensionPoint::kPreScore, framework->pre_score_));
  RETURN_IF_ERROR(framework->FillScore(profile));
  framework->FillSign(profile);
  for (const Entry<FilterPlugin>& entry : framework->filter_) {
    framework->filter_dependencies_.push_back(entry.plugin->FilterDependency());
    std::vector<Status>& failures = framework->filter_failures_.emplace_back(entry.plugin->FilterFailures());
    for (Status& failure : failures) failure.SetPluginIfUnset(entry.name);
  }
  for (const Entry<PreFilterPlugin>& entry : framework->pre_filter_) {
    const size_t id = static_cast<size_t>(entry.id);
    framework->cluster_pre_filters_.set(id);
    framework->settles_pre_filter_.set(id, entry.plugin->PreFilterFollowsFromClass());
  }
  for (const Entry<PreScorePlugin>& entry : framework->pre_score_) {
    framework->settles_pre_score_.set(static_cast<size_t>(entry.id),
                                      entry.plugin->PreScoreFollowsFromClass());
  }
  for (size_t i = 0; i < framework->filter_.size(); ++i) {
    if (framework->filter_dependencies_[i].of == Dependency::Of::kCluster) continue;
    framework->cluster_pre_filters_.reset(static_cast<size_t>(framework->filter_[i].id));
  }
  RETURN_IF_ERROR(framework->Fill(profile, ExtensionPoint::kReserve, framework->reserve_));
  RETURN_IF_ERROR(framework->Fill(profile, ExtensionPoint::kPermit, framework->permit_));
  RETURN_IF_ERROR(framework->Fill(profile, ExtensionPoint::kPreBind, framework->pre_bind_));
  RETURN_IF_ERROR(framework->Fill(profile, ExtensionPoint::kBind, framework->bind_));
  RETURN_IF_ERROR(framework->Fill(profile, ExtensionPoint::kPostBind, framework->post_bind_));
  if (handle.line().pod_groups.enabled()) RETURN_IF_ERROR(framework->FillPodGroup(profile));
  RETURN_IF_ERROR(framework->Register(profile));
  return framework;
}

absl::Status Framework::Instantiate(const api::EffectiveProfile& profile,
                                    const std::vector<RegisteredPlugin>& registry) {
  for (const std::string& name : profile.instances) {
    auto registered = std::find_if(registry.begin(), registry.end(),
                                   [&name](const RegisteredPlugin& plugin) { return plugin.name == name; });
    if (registered == registry.end()) {
      return absl::InvalidArgumentError(absl::StrCat("plugin \"", name, "\" is not simulated"));
    }
    const api::PluginArgs* args = profile.FindArgs(name);
    absl::StatusOr<std::unique_ptr<Plugin>> plugin =
        registered->factory(args == nullptr ? api::PluginArgs() : *args, handle_);
    if (!plugin.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("initializing plugin \"", name, "\": ", plugin.status().message()));
    }
    instances_.push_back(*std::move(plugin));
  }
  return absl::OkStatus();
}

Plugin* Framework::FindInstance(absl::string_view name) const {
  for (const std::unique_ptr<Plugin>& plugin : instances_) {
    if (plugin->Name() == name) return plugin.get();
  }
  return nullptr;
}

template <typename T>
absl::Status Framework::Fill(const api::EffectiveProfile& profile, api::ExtensionPoint point,
                             std::vector<Entry<T>>& entries) {
  for (const std::string& name : profile.At(point)) {
    T* plugin = dynamic_cast<T*>(FindInstance(name));
    if (plugin == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("plugin \"", name, "\" does not extend ",
                                                     api::ExtensionPointInterface(point), " plugin"));
    }
    entries.push_back(Entry<T>{.plugin = plugin, .id = handle_.plugin_names().IdOf(name), .name = name});
  }
  return absl::OkStatus();
}

absl::Status Framework::FillPodGroup(const api::EffectiveProfile& profile) {
  using api::ExtensionPoint;
  RETURN_IF_ERROR(Fill(profile, ExtensionPoint::kPlacementGenerate, placement_generate_));
  RETURN_IF_ERROR(Fill(profile, ExtensionPoint::kPlacementScore, placement_score_));
  placement_score_weights_ = profile.placement_score_weights;
  RETURN_IF_ERROR(Fill(profile, ExtensionPoint::kPodGroupPostFilter, pod_group_post_filter_));
  // Where there is no such extension point yet, one plugin is asked.
  constexpr char kDefaultPreemption[] = "DefaultPreemption";
  auto* preemption = dynamic_cast<PodGroupPostFilterPlugin*>(FindInstance(kDefaultPreemption));
  if (handle_.line().pod_groups.cycle == api::PodGroupCycle::kOnPop && preemption != nullptr) {
    pod_group_post_filter_.push_back({.plugin = preemption,
                                      .id = handle_.plugin_names().IdOf(kDefaultPreemption),
                                      .name = kDefaultPreemption});
  }
  constexpr char kGangScheduling[] = "GangScheduling";
  if (auto* plugin = dynamic_cast<PlacementFeasiblePlugin*>(FindInstance(kGangScheduling))) {
    placement_feasible_.push_back(
        {.plugin = plugin, .id = handle_.plugin_names().IdOf(kGangScheduling), .name = kGangScheduling});
  }
  return absl::OkStatus();
}

absl::Status Framework::FillScore(const api::EffectiveProfile& profile) {
  std::vector<Entry<ScorePlugin>> entries;
  RETURN_IF_ERROR(Fill(profile, api::ExtensionPoint::kScore, entries));
  for (size_t i = 0; i < entries.size(); ++i) {
    score_.push_back(ScoreEntry{.plugin = entries[i].plugin,
                                .id = entries[i].id,
                                .name = entries[i].name,
                                .weight = profile.score_weights[i],
                                .dependency = entries[i].plugin->ScoreDependency(),
                                .only_with_filter = entries[i].plugin->ScoresOnlyWithFilter(),
                                .has_normalize = entries[i].plugin->HasNormalizeScore(),
                                .normalizes_by_scores_only = entries[i].plugin->NormalizesByScoresOnly()});
  }
  return absl::OkStatus();
}

// One plugin that cannot sign, whatever the pod, keeps the whole profile from it.
void Framework::FillSign(const api::EffectiveProfile& profile) {
  // What extenders say of nodes is not known beforehand.
  if (!handle_.line().opportunistic_batching || handle_.extenders() != nullptr) return;
  using api::ExtensionPoint;
  std::vector<const SignPlugin*> plugins;
  for (ExtensionPoint point : {ExtensionPoint::kPreFilter, ExtensionPoint::kFilter, ExtensionPoint::kPreScore,
                               ExtensionPoint::kScore}) {
    for (const std::string& name : profile.At(point)) {
      const auto* plugin = dynamic_cast<const SignPlugin*>(FindInstance(name));
      if (plugin == nullptr || !plugin->SignsPods()) return;
      if (std::find(plugins.begin(), plugins.end(), plugin) == plugins.end()) plugins.push_back(plugin);
    }
  }
  sign_ = std::move(plugins);
  batch_ = std::make_unique<OpportunisticBatch>(*this, handle_);
}

absl::Status Framework::Register(const api::EffectiveProfile& profile) {
  // Extenders cannot say what they wait for, so that any event will do.
  if (handle_.extenders() != nullptr) {
    Registration registration = {.plugin = handle_.plugin_names().IdOf(kExtenderName), .events = {}};
    for (const EventResource resource : kWildcardResources)
      registration.events.push_back({.event = {.resource = resource}, .hint = nullptr});
    registrations_.push_back(std::move(registration));
  }
  for (const std::string& name : profile.instances) {
    auto* extensions = dynamic_cast<EnqueueExtensions*>(FindInstance(name));
    Registration registration = {.plugin = handle_.plugin_names().IdOf(name), .events = {}};
    if (extensions != nullptr) {
      registration.events = extensions->EventsToRegister();
      const absl::Status error = extensions->EventsError();
      if (!error.ok()) {
        return absl::Status(error.code(),
                            absl::StrCat("EventsToRegister of plugin \"", name, "\": ", error.message()));
      }
    }
    registrations_.push_back(std::move(registration));
  }
  return absl::OkStatus();
}

std::optional<PluginId> Framework::RunPreEnqueuePlugins(const PodInfo& pod,
                                                        std::optional<PluginId> gated_by) {
  // The plugin that gates the pod already is asked first: it most likely gates it still. In the real one the
  // order of the others follows a map.
  for (const bool first : {true, false}) {
    for (const Entry<PreEnqueuePlugin>& entry : pre_enqueue_) {
      const bool gated_before = gated_by.has_value() && entry.id == *gated_by;
      if (gated_before != first) continue;
      ++counters_.Calls(CountedPoint::kPreEnqueue, entry.id);
      if (!entry.plugin->PreEnqueue(pod).IsSuccess()) return entry.id;
    }
  }
  return std::nullopt;
}

Framework::SettledAnswers* Framework::SettledAnswersOf(const PodInfo& pod) {
  if (handle_.reference() || pod.volumes_id != 0) return nullptr;
  const size_t id = static_cast<size_t>(pod.spec_info->id);
  if (id >= settled_answers_.size()) settled_answers_.resize(id + 1);
  return &settled_answers_[id];
}

Framework::PreFilterOutcome Framework::RunPreFilterPlugins(CycleState& state, const PodInfo& pod,
                                                           NodeInfos nodes) {
  FollowClass(pod);
  SettledAnswers* const settled = SettledAnswersOf(pod);
  PreFilterOutcome outcome;
  Status rejected;
  for (const Entry<PreFilterPlugin>& entry : pre_filter_) {
    const size_t id = static_cast<size_t>(entry.id);
    state.pre_filtered.set(id);
    if (settled != nullptr && settled->pre_filter.test(id)) {
      state.skip_filter.set(id, settled->skip_filter.test(id));
      continue;
    }
    ++counters_.Calls(CountedPoint::kPreFilter, entry.id);
    PreFilterResult result = entry.plugin->PreFilter(state, pod, nodes);
    Status& status = result.status;
    const bool is_settled = settled != nullptr && settles_pre_filter_.test(id) &&
                            (status.IsSkip() || (status.IsSuccess() && !result.node_names.has_value()));
    if (is_settled) {
      settled->pre_filter.set(id);
      settled->skip_filter.set(id, status.IsSkip());
    }
    if (status.IsSkip()) {
      state.skip_filter.set(id);
      continue;
    }
    if (!status.IsSuccess()) {
      status.SetPluginIfUnset(entry.name);
      if (status.code() == Code::kUnschedulable) {
        // Another plugin may still say that the pod can never fit.
        rejected = std::move(status);
        continue;
      }
      // A rejection of the whole pod makes the narrowed lists of others meaningless.
      outcome.narrowing_plugins.reset();
      outcome.node_names.reset();
      outcome.status = status.code() == Code::kUnschedulableAndUnresolvable
                           ? status
                           : Wrap("PreFilter plugin", entry.name, status);
      return outcome;
    }
    if (!result.node_names.has_value()) continue;
    outcome.narrowing_plugins.set(id);
    outcome.node_names = outcome.node_names.has_value()
                             ? Intersection(*outcome.node_names, *result.node_names)
                             : *std::move(result.node_names);
    // Without a node in common upstream stops asking the other plugins.
    if (!outcome.node_names->empty()) continue;
    const std::vector<std::string> names = handle_.plugin_names().Sorted(outcome.narrowing_plugins);
    outcome.status = Status(Code::kUnschedulableAndUnresolvable,
                            names.size() == 1 ? absl::StrCat("node(s) didn't satisfy plugin ", names[0])
                                              : absl::StrCat("node(s) didn't satisfy plugin(s) [",
                                                             absl::StrJoin(names, " "), "] simultaneously"));
    return outcome;
  }
  outcome.status = std::move(rejected);
  return outcome;
}

size_t Framework::AnswerBytes() const {
  size_t of_plugins = 0;
  for (const std::unique_ptr<Plugin>& plugin : instances_) {
    const auto* const keeper = dynamic_cast<const KeepsAnswers*>(plugin.get());
    if (keeper != nullptr) of_plugins += keeper->KeptBytes();
  }
  return of_plugins + filter_answers_.size_bytes() + score_answers_.size_bytes() +
         last_class_.verdicts.size() + last_class_.has_total.size() +
         last_class_.totals.size() * sizeof(int64_t);
}

NodeChanges Framework::ChangesFor(const Dependency& dependency, int64_t position) const {
  const SnapshotLister& snapshot = handle_.snapshot();
  return dependency.of == Dependency::Of::kNodeObject ? snapshot.ObjectChangesSince(position)
                                                      : snapshot.ChangesSince(position);
}

int32_t Framework::ClassOf(const PodInfo& pod, const Dependency& dependency) {
  return dependency.concern.has_value() ? pod.ConcernId(*dependency.concern) : pod.spec_info->id;
}

void Framework::ForgetAnswers() {
  filter_answers_.Clear();
  score_answers_.Clear();
  last_class_ = LastClass();
}

Status Framework::RunPreFilterExtensionAddPod(CycleState& state, const PodInfo& pod, const PodInfo& other,
                                              const NodeInfo& node) {
  for (const Entry<PreFilterPlugin>& entry : pre_filter_) {
    if (state.skip_filter.test(static_cast<size_t>(entry.id))) continue;
    ++counters_.Calls(CountedPoint::kPreFilterExtensions, entry.id);
    Status status = entry.plugin->AddPod(state, pod, other, node);
    if (!status.IsSuccess()) return Wrap("AddPod on PreFilter plugin", entry.name, status);
  }
  return Status();
}

Status Framework::RunPreFilterExtensionRemovePod(CycleState& state, const PodInfo& pod, const PodInfo& other,
                                                 const NodeInfo& node) {
  for (const Entry<PreFilterPlugin>& entry : pre_filter_) {
    if (state.skip_filter.test(static_cast<size_t>(entry.id))) continue;
    ++counters_.Calls(CountedPoint::kPreFilterExtensions, entry.id);
    Status status = entry.plugin->RemovePod(state, pod, other, node);
    if (!status.IsSuccess()) return Wrap("RemovePod on PreFilter plugin", entry.name, status);
  }
  return Status();
}

PostFilterResult Framework::RunPostFilterPlugins(CycleState& state, const PodInfo& pod,
                                                 const NodeToStatus& statuses) {
  PostFilterResult outcome;
  std::vector<std::string> reasons;
  std::string first_rejector;
  for (const Entry<PostFilterPlugin>& entry : post_filter_) {
    ++counters_.Calls(CountedPoint::kPostFilter, entry.id);
    PostFilterResult result = entry.plugin->PostFilter(state, pod, statuses);
    if (result.status.IsSuccess()) return result;
    // Only a plain rejection lets the next plugin try: upstream ends the loop with all other codes.
    if (result.status.code() == Code::kUnschedulableAndUnresolvable) {
      result.status.SetPluginIfUnset(entry.name);
      return result;
    }
    if (!result.status.IsRejected()) {
      result.status.SetPluginIfUnset(entry.name);
      return PostFilterResult{.status = std::move(result.status), .nominated_node_name = {}};
    }
    if (first_rejector.empty()) first_rejector = entry.name;
    if (result.nominated_node_name.has_value()) outcome.nominated_node_name = result.nominated_node_name;
    const std::vector<std::string>& more = result.status.reasons();
    reasons.insert(reasons.end(), more.begin(), more.end());
  }
  outcome.status = Status(Code::kUnschedulable, std::move(reasons));
  outcome.status.SetPluginIfUnset(first_rejector);
  return outcome;
}

Status Framework::RunPreScorePlugins(CycleState& state, const PodInfo& pod, NodeInfos nodes) {
  SettledAnswers* const settled = SettledAnswersOf(pod);
  for (const Entry<PreScorePlugin>& entry : pre_score_) {
    const size_t id = static_cast<size_t>(entry.id);
    state.pre_scored.set(id);
    if (settled != nullptr && settled->pre_score.test(id)) {
      state.skip_score.set(id, settled->skip_score.test(id));
      continue;
    }
    ++counters_.Calls(CountedPoint::kPreScore, entry.id);
    const Status status = entry.plugin->PreScore(state, pod, nodes);
    if (!status.IsSkip() && !status.IsSuccess()) return Wrap("PreScore plugin", entry.name, status);
    state.skip_score.set(id, status.IsSkip());
    if (settled == nullptr || !settles_pre_score_.test(id)) continue;
    settled->pre_score.set(id);
    settled->skip_score.set(id, status.IsSkip());
  }
  return Status();
}

PodSignature Framework::SignPod(const PodInfo& pod) const {
  if (batch_ == nullptr) return "";
  PodSigner signer;
  signer.Begin("scheduler name");
  signer.Add(pod.pod->spec->scheduler_name);
  for (const SignPlugin* plugin : sign_) {
    if (!plugin->SignPod(pod, signer)) return "";
  }
  return signer.text();
}

Status Framework::RunReservePlugins(CycleState& state, const PodInfo& pod, const NodeInfo& node) {
  for (const Entry<ReservePlugin>& entry : reserve_) {
    ++counters_.Calls(CountedPoint::kReserve, entry.id);
    Status status = entry.plugin->Reserve(state, pod, node);
    if (status.IsSuccess()) continue;
    if (!status.IsRejected()) return Wrap("Reserve plugin", entry.name, status);
    status.SetPluginIfUnset(entry.name);
    return status;
  }
  return Status();
}

void Framework::RunUnreservePlugins(CycleState& state, const PodInfo& pod, absl::string_view node_name) {
  // In reverse, and all of them: a plugin may hear of a pod that it never reserved anything for.
  for (auto entry = reserve_.rbegin(); entry != reserve_.rend(); ++entry) {
    entry->plugin->Unreserve(state, pod, node_name);
  }
}

Framework::PermitOutcome Framework::RunPermitPlugins(CycleState& state, const PodInfo& pod,
                                                     absl::string_view node_name) {
  PermitOutcome outcome;
  std::vector<std::string> reasons;
  for (const Entry<PermitPlugin>& entry : permit_) {
    ++counters_.Calls(CountedPoint::kPermit, entry.id);
    PermitResult result = entry.plugin->Permit(state, pod, node_name);
    if (result.status.IsSuccess()) continue;
    result.status.SetPluginIfUnset(entry.name);
    // A plugin that waits does not keep the next one from rejecting the pod.
    if (result.status.IsWait()) {
      const std::vector<std::string>& more = result.status.reasons();
      reasons.insert(reasons.end(), more.begin(), more.end());
      outcome.waits.push_back({.plugin = entry.name, .timeout = std::min(result.timeout, kPermitTimeoutMax)});
      continue;
    }
    outcome.status =
        result.status.IsRejected() ? result.status : Wrap("Permit plugin", entry.name, result.status);
    return outcome;
  }
  if (outcome.waits.empty()) return outcome;
  std::string message = "one or more plugins asked to wait and no plugin rejected pod";
  if (handle_.line().permit_wait_names_pod) absl::StrAppend(&message, " \"", pod.pod->metadata.name, "\"");
  reasons.push_back(std::move(message));
  outcome.status = Status(Code::kWait, std::move(reasons));
  return outcome;
}

Status Framework::RunPreBindPreFlights(CycleState& state, const PodInfo& pod, absl::string_view node_name) {
  bool any = false;
  for (const Entry<PreBindPlugin>& entry : pre_bind_) {
    Status status = entry.plugin->PreBindPreFlight(state, pod, node_name);
    if (status.IsSuccess()) {
      any = true;
    } else if (status.IsSkip()) {
      state.skip_pre_bind.set(static_cast<size_t>(entry.id));
    } else if (status.code() == Code::kError) {
      return Wrap("PreBindPreFlight", entry.name, status);
    } else {
      return Status::Error(
          absl::StrCat("PreBindPreFlight ", entry.name, " returned \"", CodeName(status.code()),
                       "\", which is unsupported. It is supposed to return Success, Skip, or "
                       "Error status"));
    }
  }
  return any ? Status() : Status::Skip();
}

void Framework::RunPreBindPlugins(CycleState& state, const PodInfo& pod, absl::string_view node_name,
                                  StatusCallback done, size_t first) {
  size_t index = first;
  while (index < pre_bind_.size() && state.skip_pre_bind.test(static_cast<size_t>(pre_bind_[index].id)))
    ++index;
  if (index == pre_bind_.size()) {
    done(Status());
    return;
  }
  ++counters_.Calls(CountedPoint::kPreBind, pre_bind_[index].id);
  pre_bind_[index].plugin->PreBind(
      state, pod, node_name,
      [this, index, &state, &pod, node = std::string(node_name), done = std::move(done)](Status status) {
        if (status.IsSuccess()) {
          // What is left is what PreBind of the pod waits for.
          state.skip_pre_bind.set(static_cast<size_t>(pre_bind_[index].id));
          RunPreBindPlugins(state, pod, node, done, index + 1);
        } else if (status.IsRejected()) {
          status.SetPluginIfUnset(pre_bind_[index].name);
          done(std::move(status));
        } else {
          done(Status::Error(absl::StrCat("running PreBind plugin \"", pre_bind_[index].name,
                                          "\": ", CauseOf(state, ErrorText(status)))));
        }
      });
}

void Framework::RunBindPlugins(CycleState& state, const PodInfo& pod, absl::string_view node_name,
                               StatusCallback done, size_t first) {
  const size_t index = first;
  if (index == bind_.size()) {
    done(Status::Skip());
    return;
  }
  ++counters_.Calls(CountedPoint::kBind, bind_[index].id);
  bind_[index].plugin->Bind(
      state, pod, node_name,
      [this, index, &state, &pod, node = std::string(node_name), done = std::move(done)](Status status) {
        if (status.IsSkip() && index + 1 < bind_.size()) {
          RunBindPlugins(state, pod, node, done, index + 1);
        } else if (status.IsSkip()) {
          done(std::move(status));
        } else if (status.IsSuccess()) {
          done(Status());
        } else if (status.IsRejected()) {
          status.SetPluginIfUnset(bind_[index].name);
          done(std::move(status));
        } else {
          done(Status::Error(
              absl::StrCat("running Bind plugin \"", bind_[index].name, "\": ", ErrorText(status))));
        }
      });
}

void Framework::RunPostBindPlugins(CycleState& state, const PodInfo& pod, absl::string_view node_name) {
  for (const Entry<PostBindPlugin>& entry : post_bind_) entry.plugin->PostBind(state, pod, node_name);
}

}  // namespace schedsim::framework
