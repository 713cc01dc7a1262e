#include "sim/controllers/controller_history.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codec/text/json_edit.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "sim/controllers/controller_refs.h"
#include "sim/controllers/owned_pods.h"
#include "sim/controllers/pod_template.h"
#include "sim/controllers/pod_template_hash.h"
#include "sim/controllers/pod_template_json.h"

namespace schedsim::sim {
namespace {

constexpr char kKind[] = "ControllerRevision";
constexpr char kApiVersion[] = "apps/v1";

// The template of `spec`.
absl::StatusOr<codec::Value> FindTemplate(const codec::Value* spec) {
  const codec::Value* pod_template = spec == nullptr ? nullptr : spec->Find("template");
  if (pod_template == nullptr || !pod_template->is_object()) {
    return absl::FailedPreconditionError("has no template of a pod");
  }
  return *pod_template;
}

absl::Status ReadRevision(const api::Object& object, Revision& revision) {
  revision.name = object.metadata.name;
  revision.created = object.metadata.creation_timestamp.value_or(absl::InfinitePast());
  return ReadFields(object, [&revision](const codec::Value& root) -> absl::Status {
    absl::Status error;
    // There is always a number above it.
    const int64_t number = FieldReader(root, {}, error).OptionalLong("revision").value_or(0);
    revision.number = std::min<int64_t>(number, INT64_MAX / 2);
    const codec::Value* data = root.Find("data");
    ASSIGN_OR_RETURN(codec::Value pod_template, FindTemplate(data == nullptr ? nullptr : data->Find("spec")));
    // A revision's data is a strategic merge patch, with a directive in the template.
    std::vector<codec::Member> members(pod_template.members.begin(), pod_template.members.end());
    std::erase_if(members, [](const codec::Member& member) { return member.key == "$patch"; });
    pod_template.members = members;
    revision.pod_template = codec::ToJson(pod_template);
    revision.canonical = PodTemplateJson(pod_template, std::nullopt);
    return error;
  });
}

// Names that the workload's revisions did not get, as its status has counted them. Absent: none did.
std::optional<int64_t> CollisionsOf(const api::Object& owner) {
  std::optional<int64_t> collisions;
  ReadFields(owner, [&collisions](const codec::Value& root) {
    absl::Status error;
    collisions = FieldReader(root, {"status"}, error).OptionalCount("collisionCount");
    return error;
  }).IgnoreError();
  return collisions;
}

std::string LabelsOf(const codec::Value& pod_template) {
  const codec::Value* metadata = pod_template.Find("metadata");
  const codec::Value* labels = metadata == nullptr ? nullptr : metadata->Find("labels");
  return labels == nullptr || !labels->is_object() ? "{}" : codec::ToJson(*labels);
}

}  // namespace

ControllerHistory::ControllerHistory(absl::string_view owner_kind, api::KubernetesLine line,
                                     ApiServer& server)
    : owner_kind_(owner_kind), line_(line), server_(server), revisions_(ReadRevision) {}

std::string ControllerHistory::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind_name != kKind || object.api_version != kApiVersion) return "";
  const OwnerChange change = OwnerChangeOf(event, owner_kind_);
  if (change.before != change.now && !change.before.empty()) {
    names_[change.before].erase(object.metadata.name);
    revisions_.Erase(object.metadata.uid);
  }
  if (!change.now.empty()) names_[change.now].insert(object.metadata.name);
  const api::OwnerReference* owner = ControllerOf(object);
  if (owner == nullptr || owner->kind != owner_kind_) return "";
  return absl::StrCat(object.metadata.namespace_, "/", owner->name);
}

api::ObjectPtr ControllerHistory::FindObject(const api::Object& owner, absl::string_view name) const {
  return server_.FindOther(kApiVersion, kKind, absl::StrCat(owner.metadata.namespace_, "/", name));
}

std::vector<Revision> ControllerHistory::ListOf(const api::Object& owner) {
  std::vector<Revision> list;
  const auto names = names_.find(owner.metadata.uid);
  if (names != names_.end()) {
    for (const std::string& name : names->second) {
      const api::ObjectPtr object = FindObject(owner, name);
      std::string error;
      const Revision* revision = object == nullptr ? nullptr : revisions_.Of(object, error);
      if (revision != nullptr) list.push_back(*revision);
    }
  }
  const auto remembered = remembered_.find(owner.metadata.uid);
  if (remembered != remembered_.end()) list.push_back(remembered->second);
  const auto age = [](const Revision& revision) {
    return std::tie(revision.number, revision.created, revision.name);
  };
  std::sort(list.begin(), list.end(),
            [&age](const Revision& a, const Revision& b) { return age(a) < age(b); });
  return list;
}

bool ControllerHistory::HasAny(const api::Object& owner) const {
  const auto names = names_.find(owner.metadata.uid);
  return names != names_.end() && !names->second.empty();
}

std::optional<Revision> ControllerHistory::Find(const api::Object& owner, absl::string_view name) {
  for (Revision& revision : ListOf(owner)) {
    if (revision.name == name) return std::move(revision);
  }
  return std::nullopt;
}

absl::StatusOr<Revision> ControllerHistory::Update(const api::Object& owner, const std::string& remembered) {
  Revision wanted;
  RETURN_IF_ERROR(ReadFields(owner, [&](const codec::Value& root) -> absl::Status {
    ASSIGN_OR_RETURN(const codec::Value pod_template, FindTemplate(root.Find("spec")));
    wanted.pod_template = codec::ToJson(pod_template);
    std::string& canonical = canonical_[wanted.pod_template];
    if (canonical.empty()) canonical = PodTemplateJson(pod_template, std::nullopt);
    wanted.canonical = canonical;
    return absl::OkStatus();
  }));
  if (!remembered.empty() && !HasAny(owner) && remembered_.count(owner.metadata.uid) == 0) {
    Revision known = wanted;
    known.name = remembered;
    remembered_[owner.metadata.uid] = std::move(known);
  }
  std::vector<Revision> list = ListOf(owner);
  const auto found = std::find_if(list.rbegin(), list.rend(), [&wanted](const Revision& revision) {
    return revision.canonical == wanted.canonical;
  });
  const int64_t next = list.empty() ? 1 : list.back().number + 1;
  if (found == list.rend()) {
    wanted.number = next;
    return Create(owner, wanted);
  }
  if (found == list.rbegin()) return *found;
  // Back to an older one.
  Revision revision = *found;
  revision.number = next;
  const auto known = remembered_.find(owner.metadata.uid);
  if (known != remembered_.end() && known->second.name == revision.name) {
    known->second.number = next;
    return revision;
  }
  const api::ObjectPtr object = FindObject(owner, revision.name);
  RETURN_IF_ERROR(server_.Update(WithField(*object, {"revision"}, absl::StrCat(next))));
  return revision;
}

absl::StatusOr<Revision> ControllerHistory::Create(const api::Object& owner, const Revision& revision) {
  absl::StatusOr<Revision> made;
  RETURN_IF_ERROR(codec::ReadText(revision.pod_template, "template.json", {},
                                  [&](const codec::Document& document) -> absl::Status {
                                    made = CreateOf(owner, revision, document.root);
                                    return made.status();
                                  }));
  return made;
}

absl::StatusOr<Revision> ControllerHistory::CreateOf(const api::Object& owner, const Revision& revision,
                                                     const codec::Value& pod_template) {
  const bool is_daemon_set = owner_kind_ == "DaemonSet";
  const std::string data = RevisionData(PodTemplateJson(pod_template, line_));
  Revision made = revision;
  std::string hash;
  // Where the name is somebody else's, there is another one.
  for (std::optional<int64_t> collisions = CollisionsOf(owner);; collisions = collisions.value_or(0) + 1) {
    hash = is_daemon_set ? PodTemplateHash(pod_template, line_, collisions)
                         : RevisionHash(data, collisions.value_or(0));
    made.name = absl::StrCat(owner.metadata.name, "-", hash);
    const api::ObjectPtr taken = FindObject(owner, made.name);
    if (taken == nullptr) break;
    Revision known;
    const bool is_same = ReadRevision(*taken, known).ok() && known.canonical == revision.canonical;
    // One that nobody controls, and that says the same, is taken.
    if (is_same && ControllerOf(*taken) == nullptr) {
      const std::shared_ptr<api::Object> mine = WithController(*taken, owner);
      RETURN_IF_ERROR(server_.Update(WithField(*mine, {"revision"}, absl::StrCat(made.number))));
      return made;
    }
  }
  codec::JsonWriter json;
  json.BeginObject().Field("apiVersion", kApiVersion).Field("kind", kKind).Key("metadata").BeginObject();
  json.Field("name", made.name).Field("namespace", owner.metadata.namespace_);
  const absl::string_view hash_key =
      is_daemon_set ? "controller-revision-hash" : "controller.kubernetes.io/hash";
  json.Key("labels").Raw(
      codec::SetJsonMember(LabelsOf(pod_template), {hash_key}, absl::StrCat("\"", hash, "\"")));
  WriteControllerRef(owner, json);
  json.EndObject().Key("data").Raw(data).Field("revision", made.number).EndObject();
  api::ObjectPtr object;
  RETURN_IF_ERROR(
      codec::ReadText(json.text(), "revision.json", {}, [&](const codec::Document& document) -> absl::Status {
        ASSIGN_OR_RETURN(object, reader_.Decode(document.root, made.name));
        return absl::OkStatus();
      }));
  RETURN_IF_ERROR(server_.Create(object));
  return made;
}

void ControllerHistory::Truncate(const api::Object& owner, const std::set<std::string>& live, int64_t limit) {
  std::vector<Revision> dead;
  for (Revision& revision : ListOf(owner)) {
    if (live.count(revision.name) == 0) dead.push_back(std::move(revision));
  }
  const int64_t surplus = static_cast<int64_t>(dead.size()) - limit;
  for (int64_t i = 0; i < surplus; ++i) {
    const api::ObjectPtr object = FindObject(owner, dead[static_cast<size_t>(i)].name);
    if (object != nullptr) server_.Delete(*object).IgnoreError();
  }
}

}  // namespace schedsim::sim
