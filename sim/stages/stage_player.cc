#include "sim/stages/stage_player.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/api/kinds.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/patch/object_patch.h"
#include "sim/cluster/pod_update.h"
#include "sim/stages/stage_choice.h"

namespace schedsim::sim {
namespace {

// So many messages say what is wrong.
constexpr size_t kWarningsMax = 20;

// So many stages are played for one object at one time; more of them have no end.
constexpr int kPlaysAtOnceMax = 100;

// Deleted objects with finalizers stay.
bool HasFinalizers(const codec::Value& root) {
  const codec::Value* metadata = root.Find("metadata");
  const codec::Value* finalizers = metadata == nullptr ? nullptr : metadata->Find("finalizers");
  return finalizers != nullptr && !finalizers->items.empty();
}

// A subresource that takes one member of the spec, and nothing else.
struct SpecSubresource {
  absl::string_view name;
  absl::string_view member;
};
constexpr SpecSubresource kSpecSubresources[] = {{"ephemeralcontainers", "ephemeralContainers"},
                                                 {"scale", "replicas"}};

const SpecSubresource* FindSpecSubresource(absl::string_view name) {
  const auto* const found = std::find_if(std::begin(kSpecSubresources), std::end(kSpecSubresources),
                                         [name](const SpecSubresource& known) { return known.name == name; });
  return found == std::end(kSpecSubresources) ? nullptr : found;
}

// NotFound where the API server has no such path for objects of the kind.
absl::Status CheckSubresource(absl::string_view subresource, const api::Object& object) {
  const bool is_pod = object.kind == api::Kind::kPod;
  const bool is_scaled = object.kind == api::Kind::kReplicaSet || object.kind == api::Kind::kStatefulSet ||
                         object.kind == api::Kind::kReplicationController ||
                         (object.kind_name == "Deployment" && api::GroupOf(object.api_version) == "apps");
  const bool is_known = subresource.empty() || subresource == "status" ||
                        (is_pod && (subresource == "ephemeralcontainers" || subresource == "resize")) ||
                        (is_scaled && subresource == "scale");
  if (is_known) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("subresource ", Printable(subresource, kShownBytesMax),
                                          ": the server could not find the requested resource"));
}

// A patch of an object itself leaves its status alone, one of its status everything else. Custom resources
// are taken to have no subresource.
codec::Value OfSubresource(const codec::Value& patch, const std::string& subresource, bool is_built_in,
                           codec::Document& document) {
  if (!patch.is_object()) return patch;
  const SpecSubresource* const part = FindSpecSubresource(subresource);
  std::vector<codec::Member> members;
  for (const codec::Member& member : patch.members) {
    const bool is_status = member.key == "status";
    const bool counts = subresource == "status" ? is_status : !is_status || !is_built_in;
    if (part != nullptr && member.key != "metadata") {
      const codec::Value* const value = member.key == "spec" ? member.value.Find(part->member) : nullptr;
      if (value == nullptr) continue;
      const std::vector<codec::Member> kept = {{.key = part->member, .value = *value}};
      members.push_back({.key = member.key, .value = document.MakeObject(kept, member.value.position)});
    } else if (counts || member.key == "metadata") {
      members.push_back(member);
    }
  }
  return document.MakeObject(members, patch.position);
}

// Most patches of a status leave alone what the API server looks at in any object.
bool HasSameMetadata(const api::ObjectMeta& before, const api::ObjectMeta& after) {
  return before.labels == after.labels && before.annotations == after.annotations &&
         before.deletion_timestamp.has_value() == after.deletion_timestamp.has_value() &&
         before.owner_references.size() == after.owner_references.size() && before.uid == after.uid;
}

std::string TextArgument(const GoArguments& arguments, size_t index) {
  const std::string* text = arguments.size() > index ? arguments[index].AsString() : nullptr;
  return text == nullptr ? "" : *text;
}

GoResult ListOf(std::vector<std::string> texts) {
  GoValue::List list;
  for (std::string& text : texts) list.emplace_back(std::move(text));
  return GoValue(std::move(list));
}

}  // namespace

StagePlayer::StagePlayer(std::vector<Stage> stages, const Rng& rng, EventLoop& loop, ApiServer& server,
                         Trace& trace)
    : choice_rng_(rng.Fork("stages/choice")),
      delay_rng_(rng.Fork("stages/delay")),
      template_rng_(rng.Fork("stages/template")),
      loop_(loop),
      server_(server),
      trace_(trace),
      functions_(StageFunctions(*this, loop, template_rng_)),
      cel_functions_(StageCelFunctions(loop, template_rng_)),
      events_(loop, server) {
  for (Stage& stage : stages) {
    auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const KindStages& kind) {
      return kind.kind == stage.kind && kind.api_version == stage.api_version;
    });
    if (found == kinds_.end()) {
      has_pod_stages_ = has_pod_stages_ || (stage.kind == "Pod" && stage.api_version == "v1");
      found = kinds_.insert(kinds_.end(), {.api_version = stage.api_version, .kind = stage.kind});
    }
    found->stages.push_back(std::move(stage));
  }
  if (has_pod_stages_) server_.set_grace_period([this](const api::Pod& pod) { return GracePeriod(pod); });
  server_.Watch([this](const WatchEvent& event) { OnEvent(event); });
}

void StagePlayer::Start() {
  started_ = true;
  start_time_ = loop_.Now();
  for (int kind = 0; kind < api::kKindCount; ++kind) {
    for (const auto& [key, object] : server_.List(static_cast<api::Kind>(kind))) {
      if (StagesOf(*object) != nullptr) LookLater(object);
    }
  }
}

StagePlayer::KindStages* StagePlayer::StagesOf(const api::Object& object) {
  const std::string& kind_name = object.kind_name;
  for (KindStages& kind : kinds_) {
    const bool is_kind =
        object.kind == api::Kind::kOther ? kind.kind == kind_name : kind.kind == api::KindName(object.kind);
    if (is_kind && kind.api_version == object.api_version) return &kind;
  }
  return nullptr;
}

std::string StagePlayer::KeyOf(const api::Object& object) {
  return absl::StrCat(object.kind == api::Kind::kOther ? object.kind_name : api::KindName(object.kind), "/",
                      object.Key());
}

bool StagePlayer::IsManaged(const api::Object& object) const {
  if (object.kind == api::Kind::kNode) {
    return silent_.count(object.metadata.name) == 0 && held_.count(object.metadata.name) == 0;
  }
  if (object.kind != api::Kind::kPod) return true;
  const std::string& node = static_cast<const api::Pod&>(object).node_name;
  return !node.empty() && silent_.count(node) == 0 &&
         server_.Find(api::Kind::kNode, "Node", "", node) != nullptr;
}

// As the API server has it: pods have the time that their spec says, thirty seconds by default. Only who
// deletes with a shorter time cuts it short, and that is Delete.
std::optional<absl::Duration> StagePlayer::GracePeriod(const api::Pod& pod) {
  if (pod.metadata.deletion_timestamp.has_value()) return std::nullopt;
  const StageObject object(pod);
  const codec::Value* spec = object.root().Find("spec");
  const codec::Value* seconds = spec == nullptr ? nullptr : spec->Find("terminationGracePeriodSeconds");
  int64_t number = 0;
  if (seconds == nullptr || !absl::SimpleAtoi(seconds->text, &number) || number < 0)
    return kDefaultGracePeriod;
  return absl::Seconds(number);
}

void StagePlayer::OnEvent(const WatchEvent& event) {
  const api::ObjectPtr& object = event.new_object != nullptr ? event.new_object : event.old_object;
  const bool is_node = object->kind == api::Kind::kNode;
  if (event.new_object == nullptr) {
    if (object->kind == api::Kind::kPod) addresses_.Release(object->metadata.uid);
    if (is_node) nodes_.erase(object->metadata.name);
    ending_.erase(object->metadata.uid);
    const std::string key = KeyOf(*object);
    Cancel(key);
    played_.erase(key);
    const auto dirty = dirty_index_.find(key);
    if (dirty != dirty_index_.end()) dirty_[dirty->second].second = nullptr;
    return;
  }
  if (!started_) return;
  if (StagesOf(*object) != nullptr) {
    LookLater(object);
    const auto played = played_.find(KeyOf(*object));
    // What someone else changes gives new work to stages.
    if (!is_acting_ && played != played_.end()) played->second.stages.clear();
  }
  if (is_node && event.old_object == nullptr) LookAtPodsOf(object->metadata.name);
}

// What a watcher sets off is work of its own. An object that changes again before that is looked at once.
void StagePlayer::LookLater(const api::ObjectPtr& object) {
  const std::string key = KeyOf(*object);
  const auto [at, is_new] = dirty_index_.emplace(key, dirty_.size());
  if (!is_new) {
    dirty_[at->second].second = object;
    return;
  }
  dirty_.emplace_back(key, object);
  if (dirty_.size() == 1) loop_.At(loop_.Now(), EventLoop::Phase::kWork, [this] { LookAtDirty(); });
}

void StagePlayer::LookAtPodsOf(const std::string& node_name) {
  if (!has_pod_stages_) return;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    if (static_cast<const api::Pod&>(*object).node_name == node_name) LookLater(object);
  }
}

void StagePlayer::LookAtDirty() {
  std::vector<std::pair<std::string, api::ObjectPtr>> dirty;
  dirty.swap(dirty_);
  dirty_index_.clear();
  for (const auto& [key, object] : dirty) {
    if (object != nullptr) LookAt(key, object);
  }
}

void StagePlayer::LookAt(const std::string& key, const api::ObjectPtr& object) {
  const auto waiting = jobs_.find(key);
  const bool is_known = waiting != jobs_.end() && waiting->second.object->metadata.resource_version ==
                                                      object->metadata.resource_version;
  if (is_known) return;
  Cancel(key);
  if (!IsManaged(*object)) return;
  const KindStages& kind = *StagesOf(*object);
  const auto seen = std::make_shared<const StageObject>(*object);
  const StageContext context = {.clock = loop_, .cel_functions = cel_functions_};
  const absl::StatusOr<std::vector<StageCandidate>> candidates = PossibleStages(kind.stages, *seen, context);
  if (!candidates.ok()) {
    Warn(std::string(candidates.status().message()));
    return;
  }
  const Stage* stage = ChooseStage(*candidates, choice_rng_);
  const auto last = played_.find(key);
  if (stage == nullptr) {
    // How many are played at this time still counts.
    if (last != played_.end()) last->second.stages.clear();
    return;
  }
  const std::optional<DelayRange> range = DelayOf(*stage, *seen, context);
  const absl::Duration delay = range.has_value() ? DrawDelay(*range, delay_rng_) : absl::ZeroDuration();
  const bool is_at_once = delay == absl::ZeroDuration();
  if (is_at_once && last != played_.end() && last->second.time == loop_.Now() &&
      last->second.count >= kPlaysAtOnceMax) {
    Warn(absl::StrCat("Stage ", stage->name, " (", stage->file, ":", stage->position.line,
                      "): comes again at once, without end, for ", key, "; it is left out there"));
    return;
  }
  const bool repeats = last != played_.end() && last->second.stages.count(stage) > 0;
  const absl::Time due = loop_.Now() + delay;
  const auto play = [this, key] { Play(key); };
  const uint64_t work = repeats && !is_at_once ? loop_.AtInBackground(due, EventLoop::Phase::kWork, play)
                                               : loop_.At(due, EventLoop::Phase::kWork, play);
  jobs_[key] = {.work = work, .stage = stage, .object = object, .seen = seen};
}

void StagePlayer::Cancel(const std::string& key) {
  const auto found = jobs_.find(key);
  if (found == jobs_.end()) return;
  loop_.Cancel(found->second.work);
  jobs_.erase(found);
}

void StagePlayer::Play(const std::string& key) {
  const auto found = jobs_.find(key);
  const Job job = found->second;
  jobs_.erase(found);
  // Its node has fallen silent meanwhile, or is gone.
  if (!IsManaged(*job.object)) return;
  Played& played = played_[key];
  if (played.time != loop_.Now()) played.count = 0;
  played.time = loop_.Now();
  ++played.count;
  played.stages.insert(job.stage);
  pod_uid_ = job.object->kind == api::Kind::kPod ? job.object->metadata.uid : "";
  const absl::StatusOr<std::vector<StageAction>> actions =
      StageActions(*job.stage, *job.seen, /*typed=*/true, functions_);
  pod_uid_.clear();
  absl::Status status = actions.status();
  is_acting_ = true;
  for (size_t i = 0; status.ok() && i < actions->size(); ++i) status = Act((*actions)[i], job.object);
  is_acting_ = false;
  if (status.ok()) return;
  Warn(absl::StrCat("Stage ", job.stage->name, " (", job.stage->file, ":", job.stage->position.line,
                    "): ", key, ": ", status.message()));
}

absl::Status StagePlayer::Act(const StageAction& action, const api::ObjectPtr& captured) {
  switch (action.type) {
    case StageAction::Type::kEvent:
      return events_.Send(action.event, *captured);
    case StageAction::Type::kImmediate:
      // A change is looked at in the instant in which it is made, anyway.
      return absl::OkStatus();
    case StageAction::Type::kPatch:
      return Patch(action, *captured);
    case StageAction::Type::kApply:
      return Apply(action, *captured);
    case StageAction::Type::kDelete:
      return Delete(*captured);
  }
  return absl::OkStatus();
}

absl::Status StagePlayer::Patch(const StageAction& action, const api::Object& captured) {
  const api::ObjectPtr stored = server_.Find(captured);
  // It is gone, or another one of the same name is there.
  if (stored == nullptr || stored->metadata.uid != captured.metadata.uid) return absl::OkStatus();
  RETURN_IF_ERROR(Change(action, *stored));
  EndIfFinalizersAreGone(*stored);
  return absl::OkStatus();
}

// Makes the change, unless it is none.
absl::Status StagePlayer::Change(const StageAction& action, const api::Object& stored) {
  RETURN_IF_ERROR(CheckSubresource(action.subresource, stored));
  codec::PatchType type = codec::PatchType::kMerge;
  if (action.patch_type == StagePatch::Type::kJson) type = codec::PatchType::kJson;
  if (action.patch_type == StagePatch::Type::kStrategic) type = codec::PatchType::kStrategicMerge;
  codec::Document document;
  const bool is_built_in = api::FindKindByName(stored.kind_name) != nullptr;
  const codec::Value patch = OfSubresource(action.patch->root, action.subresource, is_built_in, document);
  api::ObjectPtr patched;
  ASSIGN_OR_RETURN(patched, codec::PatchObject(stored, type, patch, reader_));
  if (codec::ObjectJson(*patched) == codec::ObjectJson(stored)) return absl::OkStatus();
  RETURN_IF_ERROR(Admit(action.subresource, stored, *patched));
  return server_.Update(patched);
}

// What the API server refuses changes nothing, and kwok leaves it at that.
absl::Status StagePlayer::Admit(const std::string& subresource, const api::Object& before,
                                const api::Object& after) const {
  const bool leaves_spec = subresource == "status" || subresource == "ephemeralcontainers";
  if (leaves_spec && HasSameMetadata(before.metadata, after.metadata)) return absl::OkStatus();
  if (leaves_spec || before.kind != api::Kind::kPod) return server_.AdmitUpdate(before, after);
  return ValidatePodUpdate(server_, static_cast<const api::Pod&>(before), static_cast<const api::Pod&>(after),
                           subresource == "resize" ? PodSubresource::kResize : PodSubresource::kNone);
}

absl::Status StagePlayer::Apply(const StageAction& action, const api::Object& captured) {
  codec::Document document;
  codec::Value root = action.patch->root;
  const codec::Value* metadata = root.Find("metadata");
  const bool has_name_space = metadata != nullptr && metadata->Find("namespace") != nullptr;
  const codec::Value* kind_name = root.Find("kind");
  const api::KindInfo* kind = api::FindKindByName(kind_name->text);
  const bool is_namespaced = kind == nullptr || kind->is_namespaced;
  if (metadata != nullptr && !has_name_space && is_namespaced && !captured.metadata.namespace_.empty()) {
    std::vector<codec::Member> fields(metadata->members.begin(), metadata->members.end());
    fields.push_back({.key = "namespace",
                      .value = {.type = codec::Value::Type::kString, .text = captured.metadata.namespace_}});
    std::vector<codec::Member> members(root.members.begin(), root.members.end());
    for (codec::Member& member : members) {
      if (member.key == "metadata") member.value = document.MakeObject(fields);
    }
    root = document.MakeObject(members);
  }
  api::ObjectPtr target;
  ASSIGN_OR_RETURN(target, reader_.Decode(root, "applied"));
  const api::ObjectPtr stored = server_.Find(*target);
  if (stored == nullptr && action.subresource.empty()) return server_.Create(target);
  if (stored == nullptr) {
    return absl::NotFoundError(absl::StrCat(kind_name->text, " ", target->Key(), " not found"));
  }
  RETURN_IF_ERROR(Change(action, *stored));
  EndIfFinalizersAreGone(*stored);
  return absl::OkStatus();
}

absl::Status StagePlayer::Delete(const api::Object& captured) {
  const api::ObjectPtr stored = server_.Find(captured);
  if (stored == nullptr || stored->metadata.uid != captured.metadata.uid) return absl::OkStatus();
  if (HasFinalizers(StageObject(*stored).root())) {
    ending_.insert(stored->metadata.uid);
    const bool is_marked = stored->metadata.deletion_timestamp.has_value();
    if (stored->kind != api::Kind::kPod || is_marked) return absl::OkStatus();
    return server_.MarkDeleted(static_cast<const api::Pod&>(*stored), absl::ZeroDuration());
  }
  const api::ObjectMeta& meta = stored->metadata;
  RETURN_IF_ERROR(server_.Delete(stored->kind, stored->kind_name, meta.namespace_, meta.name));
  if (stored->kind == api::Kind::kPod) trace_.Gone(static_cast<const api::Pod&>(*stored));
  return absl::OkStatus();
}

// The API server ends an object whose deletion waited for them.
void StagePlayer::EndIfFinalizersAreGone(const api::Object& object) {
  if (ending_.count(object.metadata.uid) == 0) return;
  const api::ObjectPtr stored = server_.Find(object);
  if (stored == nullptr || HasFinalizers(StageObject(*stored).root())) return;
  Delete(*stored).IgnoreError();
}

void StagePlayer::SetSilent(absl::string_view node_name, bool silent) {
  if (silent) {
    silent_.emplace(node_name);
    return;
  }
  if (silent_.erase(std::string(node_name)) == 0 || !started_) return;
  LookAtNode(node_name);
  LookAtPodsOf(std::string(node_name));
}

void StagePlayer::SetHeld(absl::string_view node_name, bool held) {
  if (held) {
    held_.emplace(node_name);
  } else if (held_.erase(std::string(node_name)) > 0 && started_) {
    LookAtNode(node_name);
  }
}

void StagePlayer::LookAtNode(absl::string_view node_name) {
  const api::ObjectPtr node = server_.Find(api::Kind::kNode, "Node", "", node_name);
  if (node != nullptr && StagesOf(*node) != nullptr) LookLater(node);
}

void StagePlayer::Warn(const std::string& what) {
  const bool is_new = std::find(warnings_.begin(), warnings_.end(), what) == warnings_.end();
  if (is_new && warnings_.size() < kWarningsMax) warnings_.push_back(what);
}

const StageObject* StagePlayer::NodeNamed(const std::string& name) {
  const api::ObjectPtr node = server_.Find(api::Kind::kNode, "Node", "", name);
  if (node == nullptr) return nullptr;
  auto& [version, read] = nodes_[name];
  if (read == nullptr || version != node->metadata.resource_version) {
    read = std::make_unique<StageObject>(*node);
    version = node->metadata.resource_version;
  }
  return read.get();
}

GoResult StagePlayer::HostIps(const GoArguments& arguments) {
  const StageObject* node = NodeNamed(TextArgument(arguments, 0));
  if (node == nullptr) return ListOf({});
  return ListOf(HostIpsOf(node->root()));
}

// A pod in the host's network has the addresses of its node.
GoResult StagePlayer::PodIps(const GoArguments& arguments) {
  if (arguments.size() > 1 && arguments[1].IsTrue()) return HostIps(arguments);
  const StageObject* node = NodeNamed(TextArgument(arguments, 0));
  if (node == nullptr) return ListOf({});
  return ListOf(addresses_.Take(pod_uid_, PodCidrsOf(node->root())));
}

GoResult StagePlayer::Call(absl::string_view function, const GoArguments& arguments) {
  const auto time = [](absl::Time t) { return GoValue(api::FormatRfc3339(t)); };
  const auto first = [](const GoResult& list) -> GoResult {
    const bool is_empty = list->AsList()->empty();
    return is_empty ? GoValue(std::string()) : list->AsList()->front();
  };
  if (function == "Now") return time(loop_.Now());
  if (function == "StartTime") return time(start_time_);
  if (function == "Version") return GoValue(std::string("v0.8.0"));
  // As kwokctl starts its controller.
  if (function == "NodeName") return GoValue(std::string("localhost"));
  if (function == "NodePort") return GoValue(int64_t{10247});
  if (function == "NodeIPsWith") return HostIps(arguments);
  if (function == "NodeIPWith") return first(HostIps(arguments));
  if (function == "PodIPsWith") return PodIps(arguments);
  if (function == "PodIPWith") return first(PodIps(arguments));
  // NodeIP, which kwokctl leaves empty; PodIP says nothing of a pod.
  return GoValue(std::string());
}

}  // namespace schedsim::sim
