#include "core/cel/cel_type.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/check.h"

namespace schedsim::cel {
namespace {

using Kind = CelType::Kind;

CelType OfKind(Kind kind, absl::string_view name, std::vector<CelType> parameters = {}) {
  return {.kind = kind, .name = std::string(name), .parameters = std::move(parameters)};
}

// The texts between commas that are not in parentheses.
std::vector<absl::string_view> SplitTypes(absl::string_view text) {
  std::vector<absl::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    const absl::string_view part = absl::StripAsciiWhitespace(text.substr(start, i - start));
    if (!part.empty()) parts.push_back(part);
    start = i + 1;
  }
  return parts;
}

std::vector<CelType> ParseTypes(absl::string_view text) {
  std::vector<CelType> types;
  for (const absl::string_view part : SplitTypes(text)) types.push_back(CelType::Parse(part));
  return types;
}

bool IsNullable(const CelType& type) {
  return type.kind == Kind::kObject || type.kind == Kind::kOptional || type.kind == Kind::kNull ||
         type.name == "duration" || type.name == "timestamp";
}

bool HasParameters(const CelType& type) {
  return type.kind == Kind::kList || type.kind == Kind::kMap || type.kind == Kind::kOptional;
}

bool IsEqualOrLessSpecific(const CelType& a, const CelType& b) {
  if (a.kind == Kind::kDyn || a.kind == Kind::kParameter) return true;
  if (b.kind == Kind::kDyn || b.kind == Kind::kParameter || a.kind != b.kind) return false;
  if (a.kind == Kind::kType) return true;
  if (!HasParameters(a)) return a == b;
  return a.parameters.size() == b.parameters.size() &&
         std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(), IsEqualOrLessSpecific);
}

}  // namespace

CelType CelType::Parse(absl::string_view text) {
  const size_t open = text.find('(');
  const absl::string_view name = text.substr(0, open);
  std::vector<CelType> parameters;
  if (open != absl::string_view::npos) {
    CHECK(text.back() == ')');
    parameters = ParseTypes(text.substr(open + 1, text.size() - open - 2));
  }
  if (name == "dyn") return {};
  if (name == "null") return OfKind(Kind::kNull, "");
  if (name == "list") return OfKind(Kind::kList, "", std::move(parameters));
  if (name == "map") return OfKind(Kind::kMap, "", std::move(parameters));
  if (name == "optional_type") return OfKind(Kind::kOptional, "", std::move(parameters));
  if (name == "type") return OfKind(Kind::kType, "", std::move(parameters));
  if (name.size() == 1) return OfKind(Kind::kParameter, name);
  return OfKind(name.find('.') != absl::string_view::npos ? Kind::kObject : Kind::kPrimitive, name);
}

CelType CelType::List(CelType item) { return OfKind(Kind::kList, "", {std::move(item)}); }
CelType CelType::Map(CelType key, CelType value) {
  return OfKind(Kind::kMap, "", {std::move(key), std::move(value)});
}
CelType CelType::Optional(CelType value) { return OfKind(Kind::kOptional, "", {std::move(value)}); }

std::string CelType::Text() const {
  const auto text = [](std::string* out, const CelType& type) { absl::StrAppend(out, type.Text()); };
  const std::string inside =
      parameters.empty() ? "" : absl::StrCat("(", absl::StrJoin(parameters, ", ", text), ")");
  switch (kind) {
    case Kind::kDyn:
      return "dyn";
    case Kind::kError:
      return "!error!";
    case Kind::kNull:
      return "null";
    case Kind::kList:
      return absl::StrCat("list", inside);
    case Kind::kMap:
      return absl::StrCat("map", inside);
    case Kind::kOptional:
      return absl::StrCat("optional_type", inside);
    case Kind::kType:
      return absl::StrCat("type", inside);
    case Kind::kPrimitive:
    case Kind::kObject:
    case Kind::kParameter:
      break;
  }
  return name;
}

bool CelTypeMapping::Assign(const CelType& from, const CelType& to) {
  return Assign(std::vector<CelType>{from}, std::vector<CelType>{to});
}

bool CelTypeMapping::Assign(const std::vector<CelType>& from, const std::vector<CelType>& to) {
  if (from.size() != to.size()) return false;
  std::map<std::string, CelType> before = known_;
  for (size_t i = 0; i < from.size(); ++i) {
    if (IsAssignable(from[i], to[i])) continue;
    known_ = std::move(before);
    return false;
  }
  return true;
}

// Types are no deeper than the expressions that they come from.
bool CelTypeMapping::IsAssignable(const CelType& from, const CelType& to) {
  if (to.kind == Kind::kParameter) {
    const Fit fit = FitParameter(from, to);
    if (fit == Fit::kYes) return true;
    if (fit == Fit::kNoAndKnown) return false;
  }
  if (from.kind == Kind::kParameter) return FitParameter(to, from) == Fit::kYes;
  if (from.IsDynOrError() || to.IsDynOrError()) return true;
  if (from.kind == Kind::kNull) return IsNullable(to);
  if (to.kind == Kind::kNull) return IsNullable(from);
  if (from.kind != to.kind) return false;
  if (from.kind == Kind::kType) return true;
  if (!HasParameters(from)) return from.name == to.name;
  if (from.parameters.size() != to.parameters.size()) return false;
  for (size_t i = 0; i < from.parameters.size(); ++i) {
    if (!IsAssignable(from.parameters[i], to.parameters[i])) return false;
  }
  return true;
}

CelTypeMapping::Fit CelTypeMapping::FitParameter(const CelType& type, const CelType& parameter) {
  if (type == parameter) return Fit::kYes;
  const auto found = known_.find(parameter.name);
  if (found != known_.end()) {
    const CelType known = found->second;
    if (type == known) return Fit::kYes;
    if (!IsAssignable(type, known)) return Fit::kNoAndKnown;
    const CelType general = MostGeneral(type, known);
    if (!IsReferencedIn(parameter, general)) known_[parameter.name] = general;
    return Fit::kYes;
  }
  if (IsReferencedIn(parameter, type)) return Fit::kNo;
  known_[parameter.name] = type;
  return Fit::kYes;
}

bool CelTypeMapping::IsReferencedIn(const CelType& parameter, const CelType& type) const {
  if (parameter == type) return true;
  if (type.kind == Kind::kParameter) {
    const auto found = known_.find(type.name);
    return found != known_.end() && IsReferencedIn(parameter, found->second);
  }
  return std::any_of(type.parameters.begin(), type.parameters.end(),
                     [&](const CelType& part) { return IsReferencedIn(parameter, part); });
}

CelType CelTypeMapping::Substitute(const CelType& type, bool to_dyn) const {
  if (type.kind == Kind::kParameter) {
    const auto found = known_.find(type.name);
    if (found != known_.end()) return Substitute(found->second, to_dyn);
    return to_dyn ? CelType() : type;
  }
  CelType out = type;
  for (CelType& part : out.parameters) part = Substitute(part, to_dyn);
  return out;
}

CelType CelTypeMapping::Fresh() {
  return {.kind = Kind::kParameter, .name = absl::StrCat("_var", fresh_++), .parameters = {}};
}

const CelType& CelTypeMapping::MostGeneral(const CelType& a, const CelType& b) {
  return IsEqualOrLessSpecific(a, b) ? a : b;
}

void CelSignatures::Add(absl::string_view function, bool is_member, absl::string_view arguments,
                        absl::string_view result) {
  overloads_[std::string(function)].push_back(
      {.is_member = is_member, .arguments = ParseTypes(arguments), .result = CelType::Parse(result)});
}

const std::vector<CelOverload>* CelSignatures::Find(absl::string_view function) const {
  const auto found = overloads_.find(std::string(function));
  return found == overloads_.end() ? nullptr : &found->second;
}

}  // namespace schedsim::cel
