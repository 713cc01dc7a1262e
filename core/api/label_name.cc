#include "core/api/label_name.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace schedsim::api {
namespace {

constexpr size_t kNameBytesMax = 63;
constexpr size_t kDomainBytesMax = 253;

constexpr char kNameError[] =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation "
    "is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr char kValueError[] =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr char kDomainError[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

std::string TooLong(size_t bytes_max, KubernetesLine line) {
  return absl::StrCat("must be no more than ", bytes_max,
                      line == KubernetesLine::k1_34 ? " characters" : " bytes");
}

bool IsAlphanumeric(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }
bool IsLowerOrDigit(char c) {
  return IsAlphanumeric(c) && !absl::ascii_isupper(static_cast<unsigned char>(c));
}

bool IsName(absl::string_view text) {
  if (text.empty() || !IsAlphanumeric(text.front()) || !IsAlphanumeric(text.back())) return false;
  for (char c : text) {
    if (!IsAlphanumeric(c) && c != '-' && c != '_' && c != '.') return false;
  }
  return true;
}

bool IsDomain(absl::string_view text) {
  for (absl::string_view label : absl::StrSplit(text, '.')) {
    if (label.empty() || !IsLowerOrDigit(label.front()) || !IsLowerOrDigit(label.back())) return false;
    for (char c : label) {
      if (!IsLowerOrDigit(c) && c != '-') return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::string> LabelKeyErrors(absl::string_view key, KubernetesLine line) {
  std::vector<std::string> errors;
  const std::vector<absl::string_view> parts = absl::StrSplit(key, '/');
  if (parts.size() > 2) {
    const absl::string_view form = line == KubernetesLine::k1_34 ? "a qualified name " : "a valid label key ";
    return {absl::StrCat(form, kNameError,
                         " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")};
  }
  if (parts.size() == 2 && parts[0].empty()) {
    errors.push_back("prefix part must be non-empty");
  } else if (parts.size() == 2) {
    if (parts[0].size() > kDomainBytesMax) {
      errors.push_back(absl::StrCat("prefix part ", TooLong(kDomainBytesMax, line)));
    }
    if (!IsDomain(parts[0])) errors.push_back(absl::StrCat("prefix part ", kDomainError));
  }
  // StrSplit makes no part at all of a text that points nowhere.
  const absl::string_view name = parts.empty() ? absl::string_view() : parts.back();
  if (name.empty()) {
    errors.push_back("name part must be non-empty");
  } else if (name.size() > kNameBytesMax) {
    errors.push_back(absl::StrCat("name part ", TooLong(kNameBytesMax, line)));
  }
  if (!IsName(name)) errors.push_back(absl::StrCat("name part ", kNameError));
  return errors;
}

std::vector<std::string> LabelValueErrors(absl::string_view value, KubernetesLine line) {
  std::vector<std::string> errors;
  if (value.size() > kNameBytesMax) errors.push_back(TooLong(kNameBytesMax, line));
  if (!value.empty() && !IsName(value)) errors.push_back(kValueError);
  return errors;
}

bool IsExtendedResourceName(absl::string_view name) {
  const bool is_native = !absl::StrContains(name, '/') || absl::StrContains(name, "kubernetes.io/");
  if (is_native || absl::StartsWith(name, "requests.")) return false;
  // The name must also be valid as that of a quota.
  return LabelKeyErrors(absl::StrCat("requests.", name)).empty();
}

}  // namespace schedsim::api
