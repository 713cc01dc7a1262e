#include "core/codec/objects/api_fields.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/api/kinds.h"
#include "core/base/check.h"
#include "core/base/nearest_name.h"
#include "core/base/printable.h"

namespace schedsim::codec {
namespace {

using Words = std::vector<absl::string_view>;

// The rows of a generated table, each as its words.
std::vector<Words> Rows(absl::string_view table) {
  std::vector<Words> rows;
  for (absl::string_view row : absl::StrSplit(table, ';', absl::SkipWhitespace())) {
    rows.push_back(absl::StrSplit(row, ' ', absl::SkipEmpty()));
  }
  return rows;
}

// `before:after` as its two parts; the second is that of `fallback` without a colon.
std::pair<absl::string_view, absl::string_view> Parts(absl::string_view word, absl::string_view fallback) {
  const size_t colon = word.find(':');
  if (colon == absl::string_view::npos) return {word, fallback};
  return {word.substr(0, colon), word.substr(colon + 1)};
}

// `2.1?s`, as the generator writes it.
ProtoForm ReadProtoForm(absl::string_view text) {
  using Letter = ProtoForm::Letter;
  ProtoForm form;
  int depth = 0;
  while (!text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(text.front()))) {
    uint32_t number = 0;
    while (!text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(text.front()))) {
      number = number * 10 + static_cast<uint32_t>(text.front() - '0');
      text.remove_prefix(1);
    }
    CHECK(depth < ProtoForm::kDepthMax && number < 1u << ProtoForm::kNumberBits);
    form.path = ProtoForm::Append(form.path, depth++, number);
    absl::ConsumePrefix(&text, ".");
  }
  if (absl::ConsumePrefix(&text, "{[")) {
    form.around = ProtoForm::Around::kMapOfLists;
  } else if (absl::ConsumePrefix(&text, "{")) {
    form.around = ProtoForm::Around::kMap;
  } else if (absl::ConsumePrefix(&text, "[")) {
    form.around = ProtoForm::Around::kList;
  }
  if (absl::ConsumePrefix(&text, "?")) form.presence = ProtoForm::Presence::kIfThere;
  if (absl::ConsumePrefix(&text, "!")) form.presence = ProtoForm::Presence::kAlways;
  constexpr std::pair<absl::string_view, Letter> kLetters[] = {
      {"m", Letter::kMessage},   {"s", Letter::kString},   {"y", Letter::kBytes},
      {"i", Letter::kInteger},   {"b", Letter::kBool},     {"t", Letter::kTime},
      {"u", Letter::kMicroTime}, {"q", Letter::kQuantity}, {"n", Letter::kIntOrString},
      {"d", Letter::kDuration},  {"f", Letter::kJson},     {"r", Letter::kJson},
  };
  for (const auto& [letter, meaning] : kLetters) {
    if (text == letter) form.letter = meaning;
  }
  CHECK(form.letter != Letter::kNone);
  return form;
}

}  // namespace

const ApiField* ApiType::FindNumber(uint32_t path, int depth, uint32_t number, bool& is_embedded) const {
  is_embedded = false;
  if (depth >= ProtoForm::kDepthMax || number == 0 || number >= 1u << ProtoForm::kNumberBits) return nullptr;
  const uint32_t wanted = ProtoForm::Append(path, depth, number);
  const auto at =
      std::lower_bound(by_path.begin(), by_path.end(), wanted,
                       [this](uint8_t index, uint32_t key) { return fields[index].proto.path < key; });
  if (at == by_path.end()) return nullptr;
  const ApiField& field = fields[*at];
  if (field.proto.path == wanted) return &field;
  const int rest_bits = ProtoForm::kNumberBits * (ProtoForm::kDepthMax - 1 - depth);
  is_embedded = field.proto.path >> rest_bits == wanted >> rest_bits;
  return nullptr;
}

const ApiField* ApiType::Find(absl::string_view name) const {
  const size_t guess = slots[SlotOf(name)];
  if (guess < fields.size() && fields[guess].name == name) return &fields[guess];
  auto at = std::lower_bound(fields.begin(), fields.end(), name,
                             [](const ApiField& field, absl::string_view key) { return field.name < key; });
  return at == fields.end() || at->name != name ? nullptr : &*at;
}

const ApiFields& ApiFields::Get() {
  static const auto* const kFields = new ApiFields();
  return *kFields;
}

ApiFields::ApiFields() {
  ReadTypes();
  ReadKinds();
}

void ApiFields::ReadTypes() {
  const std::vector<Words> rows = Rows(kApiTypes);
  // All types first: then none moves any more, and fields can point to them.
  for (const Words& row : rows) types_[row[0]];
  for (const Words& row : rows) {
    std::vector<ApiField>& fields = types_[row[0]].fields;
    for (size_t i = 1; i < row.size(); ++i) {
      const auto [text, target] = Parts(row[i], "");
      const std::pair<absl::string_view, absl::string_view> parts =
          absl::StrSplit(text, absl::MaxSplits('#', 1));
      const absl::string_view name = parts.first;
      ApiField field;
      field.name = name;
      field.by_key = absl::StartsWith(target, "*");
      if (!parts.second.empty()) field.proto = ReadProtoForm(parts.second);
      if (!target.empty()) {
        auto found = types_.find(target.substr(field.by_key ? 1 : 0));
        CHECK(found != types_.end());
        field.type = &found->second;
      }
      types_[row[0]].slots[ApiType::SlotOf(name)] = static_cast<uint8_t>(fields.size());
      fields.push_back(field);
    }
    CHECK(fields.size() <= UINT8_MAX);
    CHECK(std::is_sorted(fields.begin(), fields.end(),
                         [](const ApiField& a, const ApiField& b) { return a.name < b.name; }));
    std::vector<uint8_t>& by_path = types_[row[0]].by_path;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].proto.letter != ProtoForm::Letter::kNone) by_path.push_back(static_cast<uint8_t>(i));
    }
    std::sort(by_path.begin(), by_path.end(),
              [&fields](uint8_t a, uint8_t b) { return fields[a].proto.path < fields[b].proto.path; });
  }
}

void ApiFields::ReadKinds() {
  for (const Words& row : Rows(kApiKinds)) {
    for (size_t i = 1; i < row.size(); ++i) {
      const auto [name, type] = Parts(row[i], row[i]);
      auto found = types_.find(type);
      CHECK(type.empty() || found != types_.end());
      kinds_.push_back(
          {.api_version = row[0], .name = name, .type = type.empty() ? nullptr : &found->second});
    }
  }
}

const ApiKind* ApiFields::Find(absl::string_view api_version, absl::string_view kind) const {
  for (const ApiKind& known : kinds_) {
    if (known.name == kind && known.api_version == api_version) return &known;
  }
  return nullptr;
}

namespace {

// The kind itself is known, but not in this apiVersion: its own ones, joined.
std::string VersionsOf(absl::string_view kind) {
  std::string out;
  for (const ApiKind& known : ApiFields::Get().kinds()) {
    if (known.name == kind) absl::StrAppend(&out, out.empty() ? "" : " or ", known.api_version);
  }
  return out;
}

// The first part of a built-in group's name, whatever domain somebody thinks it has: `policy` of policy,
// policy.io, policy.k8s.io and policy.kubernetes.io. Other domains are those of custom resources.
absl::string_view StemOf(absl::string_view group) {
  for (const absl::string_view domain : {".k8s.io", ".kubernetes.io", ".io"}) {
    if (absl::ConsumeSuffix(&group, domain)) break;
  }
  return group;
}

// Whether the domain of a group is Kubernetes' own. Those of its side projects are not: they have custom
// resources of the same kinds, as PodGroup of scheduling.sigs.k8s.io.
bool IsInDomainOfKubernetes(absl::string_view group) {
  return absl::EndsWith(group, ".k8s.io") && !absl::EndsWith(group, ".sigs.k8s.io") &&
         !absl::EndsWith(group, ".incubator.k8s.io");
}

// Whether a group is built in, or can only be a built-in one that is spelled wrong: the names of others are
// domains.
bool IsOrLooksBuiltIn(absl::string_view group, bool& is_known) {
  std::vector<absl::string_view> groups;
  for (const ApiKind& known : ApiFields::Get().kinds()) groups.push_back(api::GroupOf(known.api_version));
  is_known = std::find(groups.begin(), groups.end(), group) != groups.end();
  if (is_known || !absl::StrContains(group, ".")) return true;
  // Projects of Kubernetes that are not built in: scheduling.x-k8s.io is no slip.
  if (absl::EndsWith(group, ".x-k8s.io")) return false;
  groups.erase(std::remove(groups.begin(), groups.end(), ""), groups.end());
  const absl::string_view stem = StemOf(group);
  if (std::any_of(groups.begin(), groups.end(), [&](absl::string_view g) { return StemOf(g) == stem; })) {
    return true;
  }
  return !NearestName(group, groups).empty();
}

}  // namespace

std::string KindProblem(absl::string_view api_version, absl::string_view kind) {
  const ApiFields& fields = ApiFields::Get();
  if (fields.Find(api_version, kind) != nullptr) return "";
  const absl::string_view group = api::GroupOf(api_version);
  bool is_known_group = false;
  const std::string versions = VersionsOf(kind);
  const bool is_own_kind = IsInDomainOfKubernetes(group) && !versions.empty();
  if (!IsOrLooksBuiltIn(group, is_known_group) && !is_own_kind) return "";
  const std::string shown_kind = Printable(kind, kShownBytesMax);
  const std::string shown_version = Printable(api_version, kShownBytesMax);
  if (!versions.empty()) {
    return absl::StrCat("Kubernetes 1.34 to 1.37 serves no ", shown_kind, " in ", shown_version,
                        ", expected ", versions);
  }
  std::vector<absl::string_view> own_names;  // Of the same group first: they are the likelier ones.
  for (const ApiKind& known : fields.kinds()) {
    if (api::GroupOf(known.api_version) == group) own_names.push_back(known.name);
  }
  for (const ApiKind& known : fields.kinds()) own_names.push_back(known.name);
  absl::string_view nearest = NearestName(kind, own_names);
  if (nearest.empty() && !is_known_group) return "";
  std::string problem = absl::StrCat("Kubernetes has no kind \"", shown_kind, "\" in ", shown_version);
  if (!nearest.empty())
    absl::StrAppend(&problem, ", did you mean ", nearest, " of ", VersionsOf(nearest), "?");
  return problem;
}

}  // namespace schedsim::codec
