#include "sim/formats/object_inspector.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"
#include "core/base/nearest_name.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/objects.h"
#include "core/codec/objects/wrong_type.h"
#include "sim/cluster/admission/policy_json.h"
#include "sim/formats/foreign_file.h"
#include "sim/formats/pod_warnings.h"

namespace schedsim::sim {
namespace {

bool CameFromCluster(const codec::Value& document) {
  const codec::Value* metadata = document.Find("metadata");
  if (metadata == nullptr) return false;
  const codec::Value* uid = metadata->Find("uid");
  const codec::Value* version = metadata->Find("resourceVersion");
  return (uid != nullptr && !uid->text.empty()) || (version != nullptr && !version->text.empty());
}

// Whether anybody reads objects of the kind: what is wrong with others does not keep a run from being right.
bool IsUsed(const codec::ApiKind& known) {
  constexpr absl::string_view kOthers[] = {"CronJob",    "DaemonSet",     "Deployment",  "Job",
                                           "LimitRange", "ResourceQuota", "RuntimeClass"};
  const api::KindInfo* info = api::FindKind(known.api_version, known.name);
  const bool is_read = info != nullptr && info->kind != api::Kind::kOther;
  return is_read || absl::c_linear_search(kOthers, known.name);
}

}  // namespace

void SortByPlace(std::vector<InputWarning>& warnings) {
  std::stable_sort(warnings.begin(), warnings.end(), [](const InputWarning& a, const InputWarning& b) {
    return std::tie(a.file_index, a.position.line, a.position.column) <
           std::tie(b.file_index, b.position.line, b.position.column);
  });
}

int32_t ObjectInspector::FileIndex(absl::string_view file) {
  // The files come one after the other.
  if (files_.empty() || files_.back() != file) files_.emplace_back(file);
  return static_cast<int32_t>(files_.size()) - 1;
}

ObjectInspector::Fault* ObjectInspector::Count(const std::string& key) {
  auto known = faults_.find(key);
  if (known != faults_.end()) {
    ++known->second.count;
    return nullptr;
  }
  if (faults_.size() == kFaultsMax) {
    ++more_count_;
    return nullptr;
  }
  Fault& fault = faults_[key];
  fault.count = 1;
  return &fault;
}

absl::Status ObjectInspector::CheckFields(const codec::Value& document, const codec::ApiKind& known,
                                          absl::string_view file) {
  absl::Status status;
  const bool is_refused = IsUsed(known) && !CameFromCluster(document);
  const auto unknown = [&](const codec::UnknownField& field) {
    Fault* fault = Count(absl::StrCat(known.api_version, " ", known.name, " ", check_.PatternOf(field)));
    if (fault == nullptr) return;
    const std::string nearest = check_.NearestOf(field);
    const std::string what =
        absl::StrCat(codec::ObjectLabel(document, known.name), ": ", check_.PathOf(field), ": no such field");
    fault->warning = WarningAt(file, field.position, what);
    if (!nearest.empty()) fault->help = absl::StrCat(", did you mean ", nearest, "?");
  };
  const auto mistyped = [&](const codec::MistypedValue& found) {
    const std::string what = codec::WrongTypeText(found.expected, *found.value);
    const std::string label = codec::ObjectLabel(document, known.name);
    if (is_refused) {
      if (status.ok()) {
        status = codec::ErrorAt({file, found.value->position},
                                absl::StrCat(found.path, ": ", what, " (", label, ")"));
      }
      return;
    }
    Fault* fault = Count(absl::StrCat(known.api_version, " ", known.name, " ", found.path, ": ", what));
    if (fault == nullptr) return;
    fault->warning =
        WarningAt(file, found.value->position, absl::StrCat(label, ": ", found.path, ": ", what));
  };
  check_.Run(document, *known.type, unknown, mistyped);
  return status;
}

void ObjectInspector::CheckList(const codec::Value& list, absl::string_view kind, absl::string_view file) {
  const std::vector<absl::string_view> names = {"apiVersion", "items", "kind", "metadata"};
  const std::string label = Printable(kind, kShownBytesMax);
  bool is_explained = list.Find("items") != nullptr;
  for (const codec::Member& member : list.members) {
    if (absl::c_linear_search(names, member.key)) continue;
    const std::string name = Printable(member.key, kShownBytesMax);
    const absl::string_view nearest = NearestName(member.key, names);
    if (nearest == "items") is_explained = true;
    Fault* fault = Count(absl::StrCat(label, " list ", name));
    if (fault == nullptr) continue;
    fault->warning = WarningAt(file, member.key_position, absl::StrCat(label, ": ", name, ": no such field"));
    if (!nearest.empty()) fault->help = absl::StrCat(", did you mean ", nearest, "?");
  }
  if (is_explained) return;
  if (Fault* fault = Count(absl::StrCat(label, " list"))) {
    fault->warning = WarningAt(file, list.position,
                               absl::StrCat(label, ": has no items, expected a list of objects in them"));
  }
}

absl::Status ObjectInspector::CheckPolicy(const codec::Value& document, absl::string_view api_version,
                                          absl::string_view kind, absl::string_view file) {
  for (const AmountFault& amount : AmountFaults(document, api_version, kind)) {
    if (!CameFromCluster(document)) return codec::ErrorAt({file, amount.position}, amount.text);
    const std::string what =
        absl::StrCat(codec::ObjectLabel(document, kind), ": ", amount.text, ", so it counts for nothing");
    if (Fault* fault = Count(what)) fault->warning = WarningAt(file, amount.position, what);
  }
  return absl::OkStatus();
}

void ObjectInspector::CheckPods(const codec::Value& document, absl::string_view kind,
                                absl::string_view file) {
  for (const PodWarning& warning : PodWarnings(document, kind)) {
    Fault* fault = Count(absl::StrCat(kind, " ", warning.text));
    if (fault == nullptr) continue;
    const std::string label = codec::ObjectLabel(document, kind);
    fault->warning = WarningAt(file, warning.position, absl::StrCat(label, ": ", warning.text));
  }
}

InputWarning ObjectInspector::WarningAt(absl::string_view file, codec::Position position,
                                        absl::string_view what) {
  return {.file_index = FileIndex(file),
          .position = position,
          .text = std::string(codec::ErrorAt({file, position}, what).message())};
}

absl::Status RefuseUnservedKind(const api::Object& object, const codec::Location& location) {
  if (object.kind != api::Kind::kOther) return absl::OkStatus();
  const std::string problem = codec::KindProblem(object.api_version, object.kind_name);
  return problem.empty() ? absl::OkStatus() : codec::ErrorAt(location, absl::StrCat("kind: ", problem));
}

absl::Status ObjectInspector::Inspect(const codec::Value& document, absl::string_view api_version,
                                      absl::string_view kind, absl::string_view file) {
  if (!document.is_object()) return absl::OkStatus();
  const std::string foreign = DescribeForeign(document, api_version, kind, file);
  if (!foreign.empty()) return codec::ErrorAt({file, document.position}, foreign);
  if (codec::IsObjectList(document)) {
    CheckList(document, kind, file);
    return absl::OkStatus();
  }
  if (api_version.empty() || kind.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckPolicy(document, api_version, kind, file));
  const LastKind& last = LookAtKind(api_version, kind);
  if (last.served != nullptr) {
    if (!CameFromCluster(document)) CheckPods(document, last.served->name, file);
    return last.served->type == nullptr ? absl::OkStatus() : CheckFields(document, *last.served, file);
  }
  if (last.problem.empty()) return absl::OkStatus();
  if (Fault* fault = Count(absl::StrCat(api_version, " ", kind))) {
    const codec::Value* place = document.Find("kind");
    const api::KindInfo* const info = api::FindKind(api_version, kind);
    const bool is_read = info != nullptr && info->kind != api::Kind::kOther;
    fault->warning =
        WarningAt(file, place == nullptr ? document.position : place->position,
                  absl::StrCat(codec::ObjectLabel(document, kind),
                               is_read ? " is read all the same: " : " is left out: ", last.problem));
  }
  return absl::OkStatus();
}

const ObjectInspector::LastKind& ObjectInspector::LookAtKind(absl::string_view api_version,
                                                             absl::string_view kind) {
  if (last_kind_.name == kind && last_kind_.api_version == api_version) return last_kind_;
  last_kind_ = {.api_version = std::string(api_version),
                .name = std::string(kind),
                .served = codec::ApiFields::Get().Find(api_version, kind)};
  if (last_kind_.served == nullptr) last_kind_.problem = codec::KindProblem(api_version, kind);
  return last_kind_;
}

bool ObjectInspector::LeavesOut(const api::Object& object) {
  return object.kind == api::Kind::kOther &&
         !LookAtKind(object.api_version, object.kind_name).problem.empty();
}

void ObjectInspector::NoteRepeatedKey(const codec::Value& document, const codec::RepeatedKey& repeated) {
  const codec::Value* kind = document.Find("kind");
  const std::string label = kind == nullptr || !kind->is_string()
                                ? ""
                                : absl::StrCat(codec::ObjectLabel(document, kind->text), ": ");
  const std::string what =
      absl::StrCat(label, repeated.path, ": is there twice, and the last one counts; the first is on line ",
                   repeated.first_line);
  if (Fault* fault = Count(what)) fault->warning = WarningAt(repeated.file, repeated.position, what);
}

std::vector<InputWarning> ObjectInspector::Warnings() const {
  std::vector<InputWarning> warnings;
  for (const auto& [key, fault] : faults_) {
    InputWarning warning = fault.warning;
    if (fault.count > 1) absl::StrAppend(&warning.text, " (", fault.count, " times)");
    absl::StrAppend(&warning.text, fault.help);
    warnings.push_back(std::move(warning));
  }
  SortByPlace(warnings);
  if (more_count_ > 0) {
    warnings.push_back({.file_index = static_cast<int32_t>(files_.size()),
                        .text = absl::StrCat(more_count_, " more kinds and fields that are not known")});
  }
  return warnings;
}

}  // namespace schedsim::sim
