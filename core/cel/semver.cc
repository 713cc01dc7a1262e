#include "core/cel/semver.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/api/go_text.h"
#include "core/base/status_macros.h"

namespace schedsim::cel {
namespace {

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

bool HasOnlyDigits(absl::string_view text) { return std::all_of(text.begin(), text.end(), IsDigit); }
bool HasOnlyNameCharacters(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-'; });
}

bool HasLeadingZero(absl::string_view text) { return text.size() > 1 && text[0] == '0'; }

absl::Status Error(absl::string_view what, absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(what, " ", api::GoQuote(text)));
}

absl::StatusOr<uint64_t> ParseNumber(absl::string_view text) {
  uint64_t number = 0;
  if (absl::SimpleAtoi(text, &number)) return number;
  return absl::InvalidArgumentError(absl::StrCat("strconv.ParseUint: parsing ", api::GoQuote(text), ": ",
                                                 text.empty() ? "invalid syntax" : "value out of range"));
}

// `name`, "Major" and so on, is for messages.
absl::StatusOr<uint64_t> ParsePart(absl::string_view name, absl::string_view text) {
  if (!HasOnlyDigits(text)) {
    return Error(absl::StrCat("Invalid character(s) found in ", absl::AsciiStrToLower(name), " number"),
                 text);
  }
  if (HasLeadingZero(text)) {
    return Error(absl::StrCat(name, " number must not contain leading zeroes"), text);
  }
  return ParseNumber(text);
}

absl::Status CheckPrerelease(absl::string_view part) {
  if (part.empty()) return absl::InvalidArgumentError("Prerelease is empty");
  if (HasOnlyDigits(part)) {
    if (HasLeadingZero(part)) {
      return Error("Numeric PreRelease version must not contain leading zeroes", part);
    }
    return ParseNumber(part).status();
  }
  if (HasOnlyNameCharacters(part)) return absl::OkStatus();
  return Error("Invalid character(s) found in prerelease", part);
}

absl::Status CheckBuild(absl::string_view part) {
  if (part.empty()) return absl::InvalidArgumentError("Build meta data is empty");
  if (HasOnlyNameCharacters(part)) return absl::OkStatus();
  return Error("Invalid character(s) found in build meta data", part);
}

template <typename Value>
int Order(const Value& a, const Value& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

// Numbers come before names.
int ComparePrerelease(const std::string& a, const std::string& b) {
  const bool is_number = HasOnlyDigits(a);
  if (is_number != HasOnlyDigits(b)) return is_number ? -1 : 1;
  // Without leading zeros, the longer number is the greater one.
  if (is_number && a.size() != b.size()) return Order(a.size(), b.size());
  return Order(a, b);
}

}  // namespace

absl::StatusOr<Semver> Semver::Parse(absl::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError("Version string empty");
  const std::vector<absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits('.', 2));
  if (parts.size() != 3) return absl::InvalidArgumentError("No Major.Minor.Patch elements found");
  Semver version;
  ASSIGN_OR_RETURN(version.major, ParsePart("Major", parts[0]));
  ASSIGN_OR_RETURN(version.minor, ParsePart("Minor", parts[1]));
  absl::string_view patch = parts[2];
  std::vector<absl::string_view> build;
  const size_t plus = patch.find('+');
  if (plus != absl::string_view::npos) {
    build = absl::StrSplit(patch.substr(plus + 1), '.');
    patch = patch.substr(0, plus);
  }
  const size_t minus = patch.find('-');
  if (minus != absl::string_view::npos) {
    version.prerelease = absl::StrSplit(patch.substr(minus + 1), '.');
    patch = patch.substr(0, minus);
  }
  ASSIGN_OR_RETURN(version.patch, ParsePart("Patch", patch));
  for (const std::string& part : version.prerelease) RETURN_IF_ERROR(CheckPrerelease(part));
  for (const absl::string_view part : build) RETURN_IF_ERROR(CheckBuild(part));
  return version;
}

absl::StatusOr<Semver> Semver::ParseNormalized(absl::string_view text) {
  if (!text.empty() && text[0] == 'v') text.remove_prefix(1);
  std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('.', 2));
  for (std::string& part : parts) {
    if (part.size() <= 1) continue;
    const size_t zeros = std::min(part.find_first_not_of('0'), part.size());
    part = part.substr(zeros);
    if (part.empty() || !IsDigit(part[0])) part = absl::StrCat("0", part);
  }
  if (parts.size() < 3) {
    if (parts.back().find_first_of("+-") != std::string::npos) {
      return absl::InvalidArgumentError("short version cannot contain PreRelease/Build meta data");
    }
    parts.resize(3, "0");
  }
  return Parse(absl::StrJoin(parts, "."));
}

int Semver::Compare(const Semver& a, const Semver& b) {
  if (a.major != b.major) return Order(a.major, b.major);
  if (a.minor != b.minor) return Order(a.minor, b.minor);
  if (a.patch != b.patch) return Order(a.patch, b.patch);
  // A version without prerelease comes after those with one.
  if (a.prerelease.empty() || b.prerelease.empty()) return Order(a.prerelease.empty(), b.prerelease.empty());
  for (size_t i = 0; i < std::min(a.prerelease.size(), b.prerelease.size()); ++i) {
    const int order = ComparePrerelease(a.prerelease[i], b.prerelease[i]);
    if (order != 0) return order;
  }
  return Order(a.prerelease.size(), b.prerelease.size());
}

}  // namespace schedsim::cel
