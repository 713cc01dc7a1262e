#include "sim/controllers/daemon_set.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/taints.h"
#include "core/base/status_macros.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "sim/controllers/pod_template.h"

namespace schedsim::sim {
namespace {

constexpr char kKind[] = "DaemonSet";
constexpr char kApiVersion[] = "apps/v1";
constexpr char kHashLabel[] = "controller-revision-hash";
constexpr char kGenerationLabel[] = "pod-template-generation";
// So many pods are asked for at most before the controller looks at all nodes again. Source: kubernetes
// v1.37, pkg/controller/daemon, BurstReplicas.
constexpr int64_t kBurst = 250;

std::string HashOf(const api::Pod& pod) {
  const std::string* hash = pod.metadata.labels.Find(kHashLabel);
  return hash == nullptr ? "" : *hash;
}

// What the API server counts in the set. Source: kubernetes v1.37, pkg/controller/daemon/util,
// GetTemplateGeneration.
std::optional<int64_t> TemplateGenerationOf(const api::Object& daemon_set) {
  const std::string* text = daemon_set.metadata.annotations.Find("deprecated.daemonset.template.generation");
  int64_t generation = 0;
  if (text == nullptr || !absl::SimpleAtoi(*text, &generation)) return std::nullopt;
  return generation;
}

// The name of a DaemonSet's revision is that of the set, a dash and the hash.
std::string HashOf(const Revision& revision) { return revision.name.substr(revision.name.rfind('-') + 1); }

// The node that a pod is on, or may go to alone; "": none.
// Source: kubernetes v1.37, pkg/controller/daemon/util, GetTargetNodeName.
std::string TargetOf(const api::Pod& pod) {
  if (!pod.node_name.empty()) return pod.node_name;
  if (!pod.spec->affinity.has_value() || !pod.spec->affinity->node_affinity.has_value()) return "";
  const auto& required =
      pod.spec->affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  if (!required.has_value()) return "";
  for (const api::NodeSelectorTerm& term : required->node_selector_terms) {
    for (const api::NodeSelectorRequirement& field : term.match_fields) {
      const bool is_name = field.key == "metadata.name" && field.operator_ == "In";
      if (is_name && field.values.size() == 1) return field.values.front();
    }
  }
  return "";
}

// What every daemon tolerates. Source: kubernetes v1.37, pkg/controller/daemon/util,
// AddOrUpdateDaemonPodTolerations.
struct DaemonToleration {
  absl::string_view key;
  absl::string_view effect;
  bool with_host_network_only = false;
};
constexpr DaemonToleration kTolerations[] = {
    {api::kTaintNodeNotReady, "NoExecute"},
    {api::kTaintNodeUnreachable, "NoExecute"},
    {"node.kubernetes.io/disk-pressure", "NoSchedule"},
    {"node.kubernetes.io/memory-pressure", "NoSchedule"},
    {"node.kubernetes.io/pid-pressure", "NoSchedule"},
    {api::kTaintNodeUnschedulable, "NoSchedule"},
    {"node.kubernetes.io/network-unavailable", "NoSchedule", true},
};

// The template's tolerations, and those above that are not among them.
void WriteTolerations(const codec::Value& pod_spec, codec::JsonWriter& spec) {
  const codec::Value* host_network = pod_spec.Find("hostNetwork");
  const bool on_host = host_network != nullptr && host_network->boolean;
  const codec::Value* given = pod_spec.Find("tolerations");
  const auto is_text = [](const codec::Value& item, absl::string_view key, absl::string_view text) {
    const codec::Value* value = item.Find(key);
    return value == nullptr ? text.empty() : value->text == text;
  };
  const auto is_same = [&](const codec::Value& item, const DaemonToleration& toleration) {
    return is_text(item, "key", toleration.key) && is_text(item, "operator", "Exists") &&
           is_text(item, "effect", toleration.effect) && is_text(item, "value", "");
  };
  spec.Key("tolerations").BeginArray();
  if (given != nullptr) {
    for (const codec::Value& item : given->items) {
      const bool is_ours = std::any_of(std::begin(kTolerations), std::end(kTolerations),
                                       [&](const DaemonToleration& ours) { return is_same(item, ours); });
      if (!is_ours) spec.Raw(codec::ToJson(item));
    }
  }
  for (const DaemonToleration& toleration : kTolerations) {
    if (toleration.with_host_network_only && !on_host) continue;
    spec.BeginObject().Field("key", toleration.key).Field("operator", "Exists");
    spec.Field("effect", toleration.effect).EndObject();
  }
  spec.EndArray();
}

}  // namespace

bool IsDaemonSet(const api::Object& object) {
  return object.kind == api::Kind::kOther && object.kind_name == kKind && object.api_version == kApiVersion;
}

bool IsDaemonSetPod(const api::Object& pod) {
  const api::OwnerReference* owner = ControllerOf(pod);
  return owner != nullptr && owner->kind == "DaemonSet";
}

absl::Status ReadDaemonSet(const api::Object& object, DaemonSetSpec& spec) {
  return ReadFields(object, [&spec](const codec::Value& root) {
    absl::Status error;
    spec.generation = FieldReader(root, {"metadata"}, error).OptionalLong("generation");
    const FieldReader fields(root, {"spec"}, error);
    spec.min_ready_seconds = fields.Count("minReadySeconds", 0);
    spec.revision_history_limit = fields.Count("revisionHistoryLimit", spec.revision_history_limit);
    spec.selector = ReadSelector(root);
    const FieldReader strategy(root, {"spec", "updateStrategy"}, error);
    spec.updates_on_delete = strategy.Text("type", "RollingUpdate") == "OnDelete";
    const FieldReader rolling(root, {"spec", "updateStrategy", "rollingUpdate"}, error);
    spec.max_unavailable = rolling.OptionalIntOrPercent("maxUnavailable").value_or(spec.max_unavailable);
    spec.max_surge = rolling.OptionalIntOrPercent("maxSurge").value_or(spec.max_surge);
    const FieldReader status(root, {"status"}, error);
    spec.status = {.observed_generation = status.OptionalLong("observedGeneration"),
                   .desired = status.Int("desiredNumberScheduled", 0),
                   .current = status.Int("currentNumberScheduled", 0),
                   .misscheduled = status.Int("numberMisscheduled", 0),
                   .ready = status.Int("numberReady", 0),
                   .updated = status.Int("updatedNumberScheduled", 0),
                   .available = status.Int("numberAvailable", 0)};
    error.Update(CheckTemplate(root));
    if (error.ok()) error = CheckSelector(root);
    return error;
  });
}

DaemonSetController::DaemonSetController(const ControllerContext& context)
    : rng_(context.rng.Fork("controllers/daemon-sets")),
      call_rng_(rng_.Fork("calls")),
      api_call_(context.api_call),
      loop_(context.loop),
      server_(context.server),
      owned_pods_(context.owned_pods),
      refs_(context.refs),
      warnings_(context.warnings),
      queue_(context, [this](const std::string& key) { return Sync(key); }),
      history_(kKind, context.options.template_line.value_or(api::kDefaultKubernetesLine), context.server) {
  owned_pods_.Listen(
      kKind, [this](const std::string& owner_key, const WatchEvent& event) { OnPod(owner_key, event); });
}

void DaemonSetController::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind == api::Kind::kNode) {
    if (!states_.empty()) OnNode(event);
    return;
  }
  history_.OnEvent(event);
  if (!IsDaemonSet(object)) return;
  if (event.new_object == nullptr) {
    specs_.Erase(object.metadata.uid);
    states_.erase(object.Key());
  }
  if (started_ && !specs_.is_writing()) queue_.Add(object.Key());
}

void DaemonSetController::OnNode(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (event.new_object != nullptr && event.old_object != nullptr) {
    const auto& before = static_cast<const api::Node&>(*event.old_object);
    const auto& now = static_cast<const api::Node&>(object);
    const bool is_same =
        before.metadata.labels == now.metadata.labels && before.spec.taints == now.spec.taints;
    if (is_same) return;
  }
  for (auto& [key, state] : states_) {
    state.changed.insert(object.metadata.name);
    // The real controller does not hear of nodes that go: it sees what is left when it looks next.
    if (event.new_object != nullptr) queue_.Add(key);
  }
}

void DaemonSetController::OnPod(const std::string& key, const WatchEvent& event) {
  queue_.Add(key);
  const auto found = states_.find(key);
  if (found == states_.end()) return;
  State& state = found->second;
  if (event.old_object != nullptr) {
    const auto& pod = static_cast<const api::Pod&>(*event.old_object);
    const std::string node_name = TargetOf(pod);
    state.places[node_name].pods.erase(pod.metadata.name);
    state.changed.insert(node_name);
  }
  if (event.new_object != nullptr) {
    const auto& pod = static_cast<const api::Pod&>(*event.new_object);
    const std::string node_name = TargetOf(pod);
    state.places[node_name].pods.insert(pod.metadata.name);
    state.changed.insert(node_name);
  }
}

void DaemonSetController::Start() {
  started_ = true;
  for (const auto& [key, object] : server_.List(api::Kind::kOther)) {
    if (IsDaemonSet(*object)) queue_.AddAt(object->Key(), loop_.Now(), /*in_background=*/false);
  }
}

absl::Status DaemonSetController::Sync(const std::string& key) {
  Look look;
  look.object = server_.FindOther(kApiVersion, kKind, key);
  if (look.object == nullptr || !IsDaemonSet(*look.object)) {
    queue_.Forget(key);
    return absl::OkStatus();
  }
  std::string error;
  look.spec = specs_.Of(look.object, error);
  if (!error.empty()) Warn(error, warnings_);
  if (look.spec == nullptr || look.object->metadata.deletion_timestamp.has_value()) return absl::OkStatus();
  const auto takes_all = [](const api::Pod&) { return true; };
  refs_.Claim(*look.object, look.spec->selector, takes_all, [this, key] { queue_.Add(key); });
  look.state = &states_[key];
  RETURN_IF_ERROR(TakeTemplate(look));
  State& state = *look.state;
  // Nothing can be made of it; a warning says why.
  if (state.prototype == nullptr) return absl::OkStatus();
  const int64_t min_ready_seconds = look.spec->min_ready_seconds;
  if (std::exchange(state.min_ready_seconds, min_ready_seconds) != min_ready_seconds) {
    for (const auto& [name, place] : state.places) state.changed.insert(name);
  }
  while (!state.due.empty() && state.due.begin()->first <= loop_.Now()) {
    state.changed.insert(state.due.begin()->second);
    state.due.erase(state.due.begin());
  }
  bool acted = false;
  const std::set<std::string> changed = std::exchange(state.changed, {});
  for (const std::string& name : changed) {
    Place& place = state.places[name];
    DecideOn(look, name, place);
    acted |= Manage(look, name, place);
    AddShare(look, name, place);
    if (!place.is_node && place.pods.empty()) state.places.erase(name);
  }
  if (!acted && state.missing.empty() && !look.spec->updates_on_delete) RollOut(look);
  if (!state.missing.empty() && !state.is_creating) CreateAll(key, state);
  if (state.missing.empty()) queue_.Forget(key);
  WriteStatus(look);
  if (!state.due.empty()) queue_.AddAt(key, state.due.begin()->first, /*in_background=*/false);
  return absl::OkStatus();
}

absl::Status DaemonSetController::TakeTemplate(Look& look) {
  State& state = *look.state;
  if (state.seen == look.object) return absl::OkStatus();
  const std::string& uid = look.object->metadata.uid;
  std::string pod_template;
  codec::JsonWriter spec;
  const absl::Status read = ReadFields(*look.object, [&](const codec::Value& root) -> absl::Status {
    const codec::Value* of_spec = root.Find("spec");
    const codec::Value* found = of_spec == nullptr ? nullptr : of_spec->Find("template");
    if (found == nullptr || found->Find("spec") == nullptr) {
      return absl::FailedPreconditionError("has no template of a pod");
    }
    pod_template = CanonicalJson(*found, "");
    if (pod_template == state.pod_template) return absl::OkStatus();
    spec.BeginObject();
    WriteTolerations(*found->Find("spec"), spec);
    spec.EndObject();
    const std::string base = absl::StrCat(look.object->metadata.name, "-");
    codec::JsonWriter metadata;
    metadata.BeginObject().Field("generateName", base).EndObject();
    ASSIGN_OR_RETURN(state.prototype,
                     PodFromTemplate(*look.object, *found, metadata.text(), spec.text(), reader_));
    return absl::OkStatus();
  });
  if (!read.ok()) Warn(std::string(read.message()), warnings_);
  if (!read.ok() || pod_template == state.pod_template) {
    state.seen = look.object;
    return absl::OkStatus();
  }
  // Which revision the template of the input is, where there are no revisions, is what its pods say.
  std::map<std::string, int64_t> hashes;
  for (const auto& [name, entry] : owned_pods_.Of(uid)) ++hashes[HashOf(*entry.pod)];
  std::string remembered;
  for (const auto& [hash, count] : hashes) {
    const bool is_current = hashes.size() == 1 || count == look.spec->status.updated;
    if (is_current && !hash.empty()) remembered = absl::StrCat(look.object->metadata.name, "-", hash);
  }
  absl::StatusOr<Revision> revision = history_.Update(*look.object, remembered);
  if (!revision.ok()) {
    const absl::Status& status = revision.status();
    return absl::Status(status.code(), WithObject(*look.object, status.message()));
  }
  state.seen = look.object;
  state.revision = *std::move(revision);
  state.template_generation = state.template_generation.has_value()
                                  ? *state.template_generation + 1
                                  : TemplateGenerationOf(*look.object).value_or(state.revision.number);
  state.pod_template = pod_template;
  state.affinity = framework::RequiredNodeAffinity(*state.prototype->spec, symbols_);
  if (state.places.empty()) {
    for (const auto& [name, entry] : owned_pods_.Of(uid)) {
      state.places[TargetOf(*entry.pod)].pods.insert(name);
    }
  }
  for (const auto& [name, node] : server_.List(api::Kind::kNode)) state.places[name];
  for (const auto& [name, place] : state.places) state.changed.insert(name);
  std::set<std::string> live = {state.revision.name};
  for (const auto& [hash, count] : hashes) live.insert(absl::StrCat(look.object->metadata.name, "-", hash));
  history_.Truncate(*look.object, live, look.spec->revision_history_limit);
  return absl::OkStatus();
}

void DaemonSetController::DecideOn(const Look& look, const std::string& name, Place& place) {
  place.should_run = place.should_continue = place.is_node = false;
  const api::ObjectPtr object = server_.Find(api::Kind::kNode, "Node", "", name);
  if (object == nullptr) return;
  place.is_node = true;
  const auto& node = static_cast<const api::Node&>(*object);
  const api::Pod& prototype = *look.state->prototype;
  if (!prototype.node_name.empty() && prototype.node_name != name) return;
  const framework::LabelSet labels(node.metadata.labels, symbols_);
  if (!look.state->affinity.Matches(labels, symbols_.Intern(name), symbols_)) return;
  const std::vector<api::Toleration>& tolerations = prototype.spec->tolerations;
  place.should_run = !api::HasUntoleratedTaint(node.spec.taints, tolerations);
  place.should_continue =
      std::all_of(node.spec.taints.begin(), node.spec.taints.end(), [&tolerations](const api::Taint& taint) {
        return taint.effect != "NoExecute" || api::TolerationsTolerateTaint(tolerations, taint);
      });
}

std::vector<DaemonSetController::Entry> DaemonSetController::PodsOn(const Look& look,
                                                                    const Place& place) const {
  std::vector<Entry> pods;
  const OwnedPods::Pods& owned = owned_pods_.Of(look.object->metadata.uid);
  for (const std::string& name : place.pods) {
    const auto found = owned.find(name);
    if (found == owned.end()) continue;
    const api::Pod& pod = *found->second.pod;
    if (!pod.IsTerminal() || !IsTerminating(pod)) pods.push_back(found->second);
  }
  std::stable_sort(pods.begin(), pods.end(), [](const Entry& a, const Entry& b) {
    if (a.pod->node_name.empty() != b.pod->node_name.empty()) return b.pod->node_name.empty();
    return a.pod->metadata.creation_timestamp < b.pod->metadata.creation_timestamp;
  });
  return pods;
}

// Source: kubernetes v1.37, pkg/controller/daemon/util, IsPodUpdated.
bool DaemonSetController::IsUpdated(const State& state, const api::Pod& pod) const {
  const std::string* generation = pod.metadata.labels.Find(kGenerationLabel);
  return HashOf(pod) == HashOf(state.revision) ||
         (generation != nullptr && *generation == absl::StrCat(*state.template_generation));
}

bool DaemonSetController::IsAvailable(const DaemonSetSpec& spec, const Entry& entry) const {
  return IsReady(*entry.pod) && entry.ready_since + absl::Seconds(spec.min_ready_seconds) <= loop_.Now();
}

bool DaemonSetController::Manage(Look& look, const std::string& name, Place& place) {
  State& state = *look.state;
  state.missing.erase(name);
  const std::vector<Entry> pods = PodsOn(look, place);
  if (place.should_run && pods.empty()) {
    state.missing.insert(name);
    return true;
  }
  std::vector<Entry> running;
  bool acted = false;
  for (const Entry& entry : pods) {
    const api::Pod& pod = *entry.pod;
    // A pod that can go nowhere goes with its node; one that is bound is left to the pod garbage collector.
    const bool is_lost = !place.is_node && pod.node_name.empty();
    if (IsTerminating(pod) || (!place.is_node && !is_lost)) continue;
    if (is_lost || !place.should_continue || pod.IsTerminal()) {
      Delete(pod);
      acted = true;
    } else {
      running.push_back(entry);
    }
  }
  if (!place.should_continue) return acted;
  const bool may_surge = look.spec->max_surge.value > 0 && !look.spec->updates_on_delete;
  if (may_surge) {
    if (running.empty() && place.should_run && !acted) state.missing.insert(name);
    return ManageSurge(look, running) || acted;
  }
  for (size_t i = 1; i < running.size(); ++i) {
    Delete(*running[i].pod);
    acted = true;
  }
  return acted;
}

// With a surge there may be two pods: the old one until the new one is available.
bool DaemonSetController::ManageSurge(const Look& look, const std::vector<Entry>& running) {
  if (running.size() <= 1) return false;
  const Entry* newest = nullptr;
  const Entry* oldest = nullptr;
  bool acted = false;
  for (const Entry& entry : running) {
    const Entry*& kept = IsUpdated(*look.state, *entry.pod) ? newest : oldest;
    if (kept == nullptr) {
      kept = &entry;
      continue;
    }
    Delete(*entry.pod);
    acted = true;
  }
  if (newest == nullptr || oldest == nullptr) return acted;
  if (IsReady(*oldest->pod) && !IsAvailable(*look.spec, *newest)) return acted;
  Delete(*oldest->pod);
  return true;
}

// Over the pods that are there now; deletions come as changes of their own.
void DaemonSetController::AddShare(const Look& look, const std::string& name, Place& place) {
  const std::vector<Entry> pods = PodsOn(look, place);
  for (const Entry& entry : pods) {
    if (!IsActive(*entry.pod) || !IsReady(*entry.pod) || IsAvailable(*look.spec, entry)) continue;
    look.state->due.emplace(entry.ready_since + absl::Seconds(look.spec->min_ready_seconds), name);
  }
  Share share;
  if (place.should_run) {
    share.desired = 1;
    if (!pods.empty()) {
      const Entry& first = pods.front();
      share.current = 1;
      share.ready = IsReady(*first.pod) ? 1 : 0;
      share.available = IsAvailable(*look.spec, first) ? 1 : 0;
      share.updated = IsUpdated(*look.state, *first.pod) ? 1 : 0;
    }
  } else if (place.is_node && !pods.empty()) {
    share.misscheduled = 1;
  }
  share.old = std::count_if(pods.begin(), pods.end(), [&](const Entry& entry) {
    return !IsTerminating(*entry.pod) && !IsUpdated(*look.state, *entry.pod);
  });
  Share& sum = look.state->sum;
  sum.desired += share.desired - place.share.desired;
  sum.current += share.current - place.share.current;
  sum.misscheduled += share.misscheduled - place.share.misscheduled;
  sum.ready += share.ready - place.share.ready;
  sum.updated += share.updated - place.share.updated;
  sum.available += share.available - place.share.available;
  sum.old += share.old - place.share.old;
  place.share = share;
}

// Source: kubernetes v1.37, pkg/controller/daemon/update.go, rollingUpdate.
void DaemonSetController::RollOut(Look& look) {
  State& state = *look.state;
  if (state.sum.old == 0) return;
  int64_t max_unavailable = look.spec->max_unavailable.Of(state.sum.desired, /*rounds_up=*/true);
  const int64_t max_surge = look.spec->max_surge.Of(state.sum.desired, /*rounds_up=*/true);
  if (max_surge > 0) {
    RollOutWithSurge(look, max_surge);
    return;
  }
  if (max_unavailable == 0) max_unavailable = 1;
  std::vector<api::PodPtr> to_delete;
  std::vector<api::PodPtr> candidates;
  int64_t unavailable = 0;
  for (const auto& [name, place] : state.places) {
    std::vector<Entry> pods = PodsOn(look, place);
    if (pods.empty() && !place.should_run) continue;
    std::erase_if(pods, [](const Entry& entry) { return IsTerminating(*entry.pod); });
    if (pods.size() != 1) {
      ++unavailable;
      continue;
    }
    const bool is_available = IsAvailable(*look.spec, pods.front());
    if (IsUpdated(state, *pods.front().pod)) {
      if (!is_available) ++unavailable;
    } else if (!is_available) {
      to_delete.push_back(pods.front().pod);
      ++unavailable;
    } else {
      candidates.push_back(pods.front().pod);
    }
  }
  const int64_t left =
      std::clamp<int64_t>(max_unavailable - unavailable, 0, static_cast<int64_t>(candidates.size()));
  to_delete.insert(to_delete.end(), candidates.begin(), candidates.begin() + left);
  for (const api::PodPtr& pod : to_delete) Delete(*pod);
}

void DaemonSetController::RollOutWithSurge(Look& look, int64_t max_surge) {
  State& state = *look.state;
  std::vector<api::PodPtr> to_delete;
  std::vector<api::PodPtr> not_wanted;
  std::vector<std::string> new_nodes;
  std::vector<std::string> candidates;
  int64_t surge = 0;
  int64_t available = 0;
  for (const auto& [name, place] : state.places) {
    const Entry* newest = nullptr;
    const Entry* oldest = nullptr;
    const std::vector<Entry> pods = PodsOn(look, place);
    for (const Entry& entry : pods) {
      if (!IsTerminating(*entry.pod)) (IsUpdated(state, *entry.pod) ? newest : oldest) = &entry;
    }
    const Entry* counted = oldest != nullptr ? oldest : newest;
    const bool is_available = counted != nullptr && IsAvailable(*look.spec, *counted);
    if (is_available) ++available;
    if (oldest == nullptr) continue;
    if (newest != nullptr) {
      // The old one goes once the new one is available.
      if (IsAvailable(*look.spec, *newest)) {
        to_delete.push_back(oldest->pod);
      } else {
        ++surge;
      }
    } else if (!place.should_run) {
      (is_available ? not_wanted : to_delete).push_back(oldest->pod);
    } else {
      (is_available ? candidates : new_nodes).push_back(name);
    }
  }
  const int64_t deletable =
      std::clamp<int64_t>(available - state.sum.desired, 0, static_cast<int64_t>(not_wanted.size()));
  to_delete.insert(to_delete.end(), not_wanted.begin(), not_wanted.begin() + deletable);
  const int64_t left = std::clamp<int64_t>(max_surge - surge, 0, static_cast<int64_t>(candidates.size()));
  state.missing.insert(new_nodes.begin(), new_nodes.end());
  state.missing.insert(candidates.begin(), candidates.begin() + left);
  for (const api::PodPtr& pod : to_delete) Delete(*pod);
}

void DaemonSetController::CreateAll(const std::string& key, State& state) {
  state.is_creating = true;
  state.batches.Restart();
  state.tried.clear();
  state.burst = kBurst;
  queue_.Continue(absl::ZeroDuration(), [this, key] { CreateNext(key); });
}

void DaemonSetController::CreateNext(const std::string& key) {
  const auto found = states_.find(key);
  if (found == states_.end()) return;
  State& state = found->second;
  state.is_creating = false;
  Look look;
  look.object = server_.FindOther(kApiVersion, kKind, key);
  look.state = &state;
  const auto node = state.missing.upper_bound(state.tried);
  if (node == state.missing.end() || look.object == nullptr) {
    if (!state.missing.empty()) queue_.Add(key);
    return;
  }
  state.tried = *node;
  const absl::Status status = CreatePod(look, state.tried);
  if (absl::IsInvalidArgument(status)) {
    Warn(WithObject(*look.object, status.message()), warnings_);
    state.missing.clear();
    queue_.Forget(key);
    return;
  }
  if (status.ok()) state.missing.erase(state.tried);
  const std::optional<absl::Duration> pause = state.batches.Next(status, api_call_, call_rng_);
  const bool has_more = state.missing.upper_bound(state.tried) != state.missing.end() && --state.burst > 0;
  if (has_more && pause.has_value()) {
    state.is_creating = true;
    queue_.Continue(*pause, [this, key] { CreateNext(key); });
  } else if (!state.batches.error().ok()) {
    queue_.AddRateLimited(key, WithObject(*look.object, state.batches.error().message()));
  } else if (state.missing.empty()) {
    queue_.Forget(key);
  } else {
    queue_.Add(key);
  }
}

absl::Status DaemonSetController::CreatePod(const Look& look, const std::string& node_name) {
  const State& state = *look.state;
  const std::string base = absl::StrCat(look.object->metadata.name, "-");
  std::string name;
  do {
    name = GenerateName(base, rng_);
  } while (server_.FindPod(look.object->metadata.namespace_, name) != nullptr);
  codec::JsonWriter metadata;
  metadata.BeginObject().Field("name", name).Field("generateName", base).Key("labels").BeginObject();
  metadata.Field(kHashLabel, HashOf(state.revision));
  metadata.Field(kGenerationLabel, absl::StrCat(*state.template_generation)).EndObject().EndObject();
  codec::JsonWriter affinity;
  affinity.BeginObject().Key("nodeAffinity").BeginObject();
  affinity.Key("requiredDuringSchedulingIgnoredDuringExecution").BeginObject().Key("nodeSelectorTerms");
  affinity.BeginArray().BeginObject().Key("matchFields").BeginArray().BeginObject();
  affinity.Field("key", "metadata.name").Field("operator", "In").Key("values").BeginArray();
  affinity.String(node_name).EndArray().EndObject().EndArray().EndObject().EndArray();
  affinity.EndObject().EndObject().EndObject();
  std::shared_ptr<const api::Pod> pod;
  RETURN_IF_ERROR(codec::ReadText(
      state.revision.pod_template, "template.json", {}, [&](const codec::Document& document) -> absl::Status {
        codec::JsonWriter spec;
        spec.BeginObject().Key("affinity").Raw(affinity.text());
        WriteTolerations(*document.root.Find("spec"), spec);
        spec.EndObject();
        ASSIGN_OR_RETURN(pod,
                         PodFromTemplate(*look.object, document.root, metadata.text(), spec.text(), reader_));
        return absl::OkStatus();
      }));
  return server_.Create(pod);
}

void DaemonSetController::WriteStatus(const Look& look) {
  const Share& sum = look.state->sum;
  const DaemonSetSpec::Status status = {.observed_generation = look.spec->generation,
                                        .desired = sum.desired,
                                        .current = sum.current,
                                        .misscheduled = sum.misscheduled,
                                        .ready = sum.ready,
                                        .updated = sum.updated,
                                        .available = sum.available};
  if (status == look.spec->status) return;
  codec::JsonWriter json;
  json.BeginObject().Field("currentNumberScheduled", status.current);
  json.Field("numberMisscheduled", status.misscheduled).Field("desiredNumberScheduled", status.desired);
  json.Field("numberReady", status.ready);
  if (status.observed_generation.has_value()) json.Field("observedGeneration", *status.observed_generation);
  const auto write = [&json](absl::string_view name, int64_t count) {
    if (count != 0) json.Field(name, count);
  };
  write("updatedNumberScheduled", status.updated);
  write("numberAvailable", status.available);
  write("numberUnavailable", status.desired - status.available);
  json.EndObject();
  const api::ObjectPtr stored = specs_.WriteStatus(server_, *look.object, json.text());
  if (stored == nullptr) return;
  look.spec->status = status;
  look.state->seen = stored;
}

}  // namespace schedsim::sim
