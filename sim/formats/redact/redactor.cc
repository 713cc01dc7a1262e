#include "sim/formats/redact/redactor.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/api/kinds.h"
#include "core/base/printable.h"
#include "core/codec/text/value.h"
#include "core/codec/text/writer.h"
#include "sim/formats/redact/field_rules.h"
#include "sim/formats/redact/pseudonyms.h"
#include "sim/formats/snapshot_objects.h"

namespace schedsim::sim {
namespace {

using codec::Document;
using codec::Member;
using codec::Value;

absl::string_view TextOf(const Value& map, absl::string_view key) {
  const Value* value = map.Find(key);
  return value != nullptr && value->is_string() ? value->text : absl::string_view();
}

bool IsInteger(absl::string_view text) {
  int64_t number = 0;
  return absl::SimpleAtoi(text, &number);
}

// Whether everybody's nodes have this address.
bool IsEverybodysAddress(absl::string_view address) {
  constexpr absl::string_view kAddresses[] = {"", "0.0.0.0", "127.0.0.1", "::", "::1"};
  return std::find(std::begin(kAddresses), std::end(kAddresses), address) != std::end(kAddresses);
}

// Whether a domain is one of Kubernetes itself, which says nothing of a cluster.
bool IsOfKubernetes(absl::string_view domain) {
  return domain == "kubernetes.io" || domain == "k8s.io" || absl::EndsWith(domain, ".kubernetes.io") ||
         absl::EndsWith(domain, ".k8s.io");
}

// Goes through objects by the rules. A first round notes all texts; after Freeze, the second one replaces
// them.
class Redactor {
 public:
  explicit Redactor(const RedactOptions& options) : pseudonyms_(options.key, options.keep) {}

  // The tree without what goes; parts live in `document`.
  Value Apply(const Value& root, Document& document);

  void Freeze() {
    pseudonyms_.Freeze();
    size_t place = 0;
    for (auto& [address, number] : addresses_) number = place++;
    is_frozen_ = true;
  }

  const Pseudonyms& pseudonyms() const { return pseudonyms_; }

 private:
  // A part that is still to be gone through.
  struct Part {
    Value* value = nullptr;
    Redaction redaction = Redaction::kDrop;
    absl::string_view field;  // Its name; that of the list around an item.
  };

  std::string Name(absl::string_view text);
  std::string Uid(absl::string_view uid);
  std::string Prefixed(absl::string_view text);
  std::string LabelKey(absl::string_view key);
  std::string LabelValue(absl::string_view key, absl::string_view value);
  std::string Resource(absl::string_view name);
  std::string Driver(absl::string_view name);
  std::string Version(absl::string_view text);
  std::string Quota(absl::string_view name);
  std::string HostIp(absl::string_view address);
  std::string Replaced(Redaction redaction, absl::string_view text);

  void GoInto(const Part& part, Document& document);
  void GoIntoMap(const Part& part, Document& document);
  Redaction RuleFor(const Part& part, const Member& member) const;
  void ReplaceOwnerKind(const Value& map, std::vector<Member>& members, Document& document);
  std::vector<Member> Mapped(Redaction redaction, const Value& map, Document& document);
  std::vector<Member> Requirement(const Value& map, Document& document);
  void NoteRoot(const Value& root);

  Pseudonyms pseudonyms_;
  bool is_frozen_ = false;
  absl::string_view kind_;  // Of the object.
  std::vector<Part> rest_;
  // Keys of labels that are compared as numbers.
  std::set<std::string, std::less<>> number_keys_;
  std::map<std::string, size_t, std::less<>> addresses_;
};

std::string Redactor::Name(absl::string_view text) {
  if (is_frozen_) return pseudonyms_.Of(text);
  pseudonyms_.Note(text);
  return "";
}

std::string Redactor::Uid(absl::string_view uid) {
  if (is_frozen_) return pseudonyms_.OfUid(uid);
  pseudonyms_.NoteUid(uid);
  return "";
}

std::string Redactor::Prefixed(absl::string_view text) {
  const size_t slash = text.find('/');
  if (slash == absl::string_view::npos || pseudonyms_.IsKept(text)) return Name(text);
  const absl::string_view domain = text.substr(0, slash);
  const std::string prefix = IsOfKubernetes(domain) ? std::string(domain) : Name(domain);
  return absl::StrCat(prefix, "/", Name(text.substr(slash + 1)));
}

std::string Redactor::LabelKey(absl::string_view key) {
  return IsWellKnownKey(key) ? std::string(key) : Prefixed(key);
}

std::string Redactor::LabelValue(absl::string_view key, absl::string_view value) {
  if (IsWellKnownValueOf(key)) return std::string(value);
  if (absl::EndsWith(key, "controller-uid") && IsWellKnownKey(key)) return Uid(value);
  if (is_frozen_ && IsInteger(value) && number_keys_.find(key) != number_keys_.end())
    return std::string(value);
  return Name(value);
}

std::string Redactor::Resource(absl::string_view name) {
  // How many volumes of a driver a node takes, in the place of its CSINode.
  constexpr absl::string_view kVolumesOf = "attachable-volumes-csi-";
  if (absl::StartsWith(name, kVolumesOf))
    return absl::StrCat(kVolumesOf, Driver(name.substr(kVolumesOf.size())));
  return IsWellKnownResource(name) ? std::string(name) : Prefixed(name);
}

std::string Redactor::Driver(absl::string_view name) {
  return IsWellKnownDriver(name) ? std::string(name) : Name(name);
}

// The number of a version, as `v1.37.2` of `v1.37.2-acme.7`, and what kwok's nodes say.
std::string Redactor::Version(absl::string_view text) {
  const size_t end = text.find_first_of("+-");
  const absl::string_view number = text.substr(0, end);
  const bool is_number = absl::StartsWith(number, "v") && number.size() > 1 &&
                         number.find_first_not_of("0123456789.", 1) == absl::string_view::npos;
  if (is_number) return std::string(number);
  return text == "fake" || absl::StartsWith(text, "kwok-v") ? std::string(text) : Name(text);
}

std::string Redactor::Quota(absl::string_view name) {
  constexpr absl::string_view kOfClass = ".storageclass.storage.k8s.io/";
  const size_t of_class = name.find(kOfClass);
  if (of_class != absl::string_view::npos)
    return absl::StrCat(Name(name.substr(0, of_class)), name.substr(of_class));
  for (const absl::string_view prefix : {"requests.", "limits."}) {
    if (absl::StartsWith(name, prefix)) return absl::StrCat(prefix, Resource(name.substr(prefix.size())));
  }
  constexpr absl::string_view kCount = "count/";
  const absl::string_view counted = absl::StartsWith(name, kCount) ? name.substr(kCount.size()) : name;
  const absl::string_view plural = counted.substr(0, counted.find('.'));
  const absl::string_view group = plural == counted ? "" : counted.substr(plural.size() + 1);
  if (api::FindKindByResource(group, plural) != nullptr) return std::string(name);
  if (absl::StartsWith(name, "services.")) return std::string(name);
  return absl::StrCat(name.substr(0, name.size() - counted.size()), Resource(counted));
}

std::string Redactor::HostIp(absl::string_view address) {
  if (IsEverybodysAddress(address)) return std::string(address);
  if (!is_frozen_) {
    addresses_.emplace(address, 0);
    return "";
  }
  const size_t place = addresses_.find(address)->second;
  return absl::StrCat("10.255.", place / 256 % 256, ".", place % 256);
}

std::string Redactor::Replaced(Redaction redaction, absl::string_view text) {
  switch (redaction) {
    case Redaction::kName:
      return Name(text);
    case Redaction::kUid:
      return Uid(text);
    case Redaction::kLabelKey:
      return LabelKey(text);
    case Redaction::kDriver:
      return Driver(text);
    case Redaction::kHostIp:
      return HostIp(text);
    case Redaction::kReason:
      return IsWellKnownReason(text) ? std::string(text) : Name(text);
    case Redaction::kVersion:
      return Version(text);
    case Redaction::kType:
      return text.empty() || IsWellKnownType(text) ? std::string(text) : LabelKey(text);
    default:
      return std::string(text);
  }
}

Redaction Redactor::RuleFor(const Part& part, const Member& member) const {
  Redaction rule = RedactionOf(part.field, member.key);
  if (part.field == "metadata" && member.key == "name" && kind_ == "CSIDriver") rule = Redaction::kDriver;
  // Unlike that of a pod, it has its amounts below podFixed.
  if (kind_ == "RuntimeClass" && member.key == "overhead") rule = Redaction::kWalk;
  // Texts that no rule is about.
  if (rule == Redaction::kWalk && member.value.is_string()) return Redaction::kDrop;
  return rule;
}

// A kind that is not built in is somebody's.
void Redactor::ReplaceOwnerKind(const Value& map, std::vector<Member>& members, Document& document) {
  const absl::string_view version = TextOf(map, "apiVersion");
  const absl::string_view kind = TextOf(map, "kind");
  if (version.empty() || kind.empty() || api::FindKind(version, kind) != nullptr) return;
  const absl::string_view group = api::GroupOf(version);
  for (Member& member : members) {
    if (member.key == "kind") member.value = document.MakeText(Name(kind));
    if (member.key == "apiVersion" && !group.empty())
      member.value = document.MakeText(absl::StrCat(Name(group), version.substr(group.size())));
  }
}

// Labels, names, annotations or amounts, by key.
std::vector<Member> Redactor::Mapped(Redaction redaction, const Value& map, Document& document) {
  std::vector<Member> members;
  for (const Member& member : map.members) {
    const absl::string_view text = member.value.is_string() ? member.value.text : absl::string_view();
    Member changed = member;
    if (redaction == Redaction::kLabels) {
      changed.key = document.CopyText(LabelKey(member.key));
      changed.value = document.MakeText(LabelValue(member.key, text));
    } else if (redaction == Redaction::kNames) {
      changed.key = document.CopyText(Name(member.key));
    } else if (redaction == Redaction::kAnnotations) {
      bool is_name = false;
      if (!IsKeptAnnotation(member.key, is_name)) continue;
      if (is_name) changed.value = document.MakeText(Name(text));
    } else {
      if (member.value.is_object() || member.value.is_array()) continue;
      const bool is_quota = redaction == Redaction::kQuota;
      changed.key = document.CopyText(is_quota ? Quota(member.key) : Resource(member.key));
    }
    members.push_back(changed);
  }
  return members;
}

// A map with a key, and a value or values of that key.
std::vector<Member> Redactor::Requirement(const Value& map, Document& document) {
  const absl::string_view key = TextOf(map, "key");
  const absl::string_view is_operator = TextOf(map, "operator");
  if (is_operator == "Gt" || is_operator == "Lt") number_keys_.emplace(key);
  std::vector<Member> members;
  for (const Member& member : map.members) {
    Member changed = member;
    if (member.key == "key") {
      changed.value = document.MakeText(LabelKey(key));
    } else if (member.key == "value") {
      changed.value = document.MakeText(LabelValue(key, member.value.text));
    } else if (member.key == "values") {
      std::vector<Value> values;
      for (const Value& value : member.value.items)
        values.push_back(document.MakeText(LabelValue(key, value.text)));
      changed.value.items = document.CopyItems(values);
    } else if (RedactionOf("", member.key) != Redaction::kKeep) {
      continue;
    }
    members.push_back(changed);
  }
  return members;
}

void Redactor::GoIntoMap(const Part& part, Document& document) {
  Value& value = *part.value;
  Redaction redaction = part.redaction;
  if (redaction == Redaction::kSelector) {
    const bool is_selector =
        value.Find("matchLabels") != nullptr || value.Find("matchExpressions") != nullptr;
    redaction = is_selector || value.members.empty() ? Redaction::kWalk : Redaction::kLabels;
  }
  std::vector<Member> members;
  switch (redaction) {
    case Redaction::kLabels:
    case Redaction::kNames:
    case Redaction::kAnnotations:
    case Redaction::kResources:
    case Redaction::kQuota:
      value.members = document.CopyMembers(Mapped(redaction, value, document));
      return;
    case Redaction::kRequirements:
      value.members = document.CopyMembers(Requirement(value, document));
      return;
    case Redaction::kWalk:
    case Redaction::kWalkOrKeep:
      break;
    default:
      value.members = {};
      return;
  }
  std::vector<Redaction> rules;
  for (const Member& member : value.members) {
    const Redaction rule = RuleFor(part, member);
    if (rule == Redaction::kDrop) continue;
    members.push_back(member);
    rules.push_back(rule);
  }
  ReplaceOwnerKind(value, members, document);
  const absl::Span<Member> copied = document.CopyMembers(members);
  for (size_t i = 0; i < copied.size(); ++i)
    rest_.push_back({.value = &copied[i].value, .redaction = rules[i], .field = copied[i].key});
  value.members = copied;
}

void Redactor::GoInto(const Part& part, Document& document) {
  Value& value = *part.value;
  if (part.redaction == Redaction::kKeep || value.is_null()) return;
  if (value.is_object()) return GoIntoMap(part, document);
  if (value.is_string()) {
    value = document.MakeText(Replaced(part.redaction, value.text));
    return;
  }
  if (!value.is_array()) return;
  std::vector<Value> kept;
  const Redaction rule = part.redaction == Redaction::kResources ? Redaction::kWalk : part.redaction;
  for (const Value& item : value.items) {
    if (rule != Redaction::kWalk || !item.is_string()) kept.push_back(item);
  }
  const absl::Span<Value> items = document.CopyItems(kept);
  for (Value& item : items) rest_.push_back({.value = &item, .redaction = rule, .field = part.field});
  value.items = items;
}

void Redactor::NoteRoot(const Value& root) {
  if (is_frozen_ || kind_ != "StatefulSet") return;
  const Value* metadata = root.Find("metadata");
  if (metadata != nullptr) pseudonyms_.NoteStatefulSet(TextOf(*metadata, "name"));
}

Value Redactor::Apply(const Value& root, Document& document) {
  kind_ = TextOf(root, "kind");
  NoteRoot(root);
  Value changed = root;
  if (KindRedactionOf(TextOf(root, "apiVersion"), kind_) == KindRedaction::kMetadata) {
    std::vector<Member> members;
    for (const Member& member : root.members) {
      if (member.key == "apiVersion" || member.key == "kind" || member.key == "metadata")
        members.push_back(member);
    }
    changed.members = document.CopyMembers(members);
  }
  rest_.push_back({.value = &changed, .redaction = Redaction::kWalk, .field = ""});
  while (!rest_.empty()) {
    const Part part = rest_.back();
    rest_.pop_back();
    GoInto(part, document);
  }
  return changed;
}

// Namespace and name.
using Key = std::pair<std::string, std::string>;

Key KeyOf(const Value& root) {
  const Value* metadata = root.Find("metadata");
  if (metadata == nullptr) return {};
  return {std::string(TextOf(*metadata, "namespace")), std::string(TextOf(*metadata, "name"))};
}

// The places of objects in the order of their names, before and after.
class NameOrder {
 public:
  void Add(absl::string_view kind, Key before, Key after) {
    // Of these, nothing looks for the first.
    if (kind == "PriorityClass" || kind == "RuntimeClass" || kind == "CSIDriver") return;
    keys_[std::string(kind)].emplace_back(std::move(before), std::move(after));
  }

  void AppendNotes(std::vector<std::string>& notes) {
    for (auto& [kind, keys] : keys_) {
      std::sort(keys.begin(), keys.end());
      size_t moved = 0;
      for (size_t i = 1; i < keys.size(); ++i) moved += keys[i].second < keys[i - 1].second ? 1 : 0;
      if (moved == 0) continue;
      notes.push_back(absl::StrCat("the order of names changed at ", moved, " of ", keys.size(), " ", kind,
                                   " objects: what is decided by it may differ"));
    }
  }

 private:
  std::map<std::string, std::vector<std::pair<Key, Key>>> keys_;
};

}  // namespace

RedactedObjects Redact(const std::vector<std::string>& objects, const RedactOptions& options) {
  RedactedObjects redacted;
  Redactor redactor(options);
  std::map<std::string, int64_t> left_out;
  std::vector<const std::string*> kept;
  for (const std::string& json : objects) {
    VisitSnapshotObject(json, [&](const Value& root) {
      const absl::string_view kind = TextOf(root, "kind");
      if (KindRedactionOf(TextOf(root, "apiVersion"), kind) == KindRedaction::kDrop) {
        ++left_out[std::string(kind)];
        return;
      }
      Document document;
      redactor.Apply(root, document);
      kept.push_back(&json);
    });
  }
  redactor.Freeze();
  for (const std::string& text : redactor.pseudonyms().unmet_keep()) {
    redacted.notes.push_back(absl::StrCat("--keep ", Printable(text, kShownBytesMax),
                                          ": no name, label or value of the input is or has that"));
  }
  NameOrder order;
  for (const std::string* json : kept) {
    VisitSnapshotObject(*json, [&](const Value& root) {
      Document document;
      const Value changed = redactor.Apply(root, document);
      order.Add(TextOf(root, "kind"), KeyOf(root), KeyOf(changed));
      redacted.objects.push_back(codec::ToJson(changed));
    });
  }
  order.AppendNotes(redacted.notes);
  for (const bool places : {true, false}) {
    std::vector<std::string> kinds;
    for (const auto& [kind, count] : left_out)
      if (PlacesPods(kind) == places) kinds.push_back(absl::StrCat(count, " ", kind));
    if (kinds.empty()) continue;
    redacted.notes.push_back(
        places ? absl::StrCat("left out, so that pods may be placed otherwise: ", absl::StrJoin(kinds, ", "))
               : absl::StrCat("left out, since no pod is placed by them: ", absl::StrJoin(kinds, ", ")));
  }
  return redacted;
}

}  // namespace schedsim::sim
