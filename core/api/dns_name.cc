#include "core/api/dns_name.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace schedsim::api {
namespace {

constexpr size_t kSubdomainBytesMax = 253;
constexpr size_t kLabelBytesMax = 63;

constexpr char kNotSubdomain[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr char kNotLabel[] =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and "
    "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr char kNot1035Label[] =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
    "validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

bool IsLower(char c) { return absl::ascii_islower(static_cast<unsigned char>(c)); }
bool IsLowerOrDigit(char c) { return IsLower(c) || absl::ascii_isdigit(static_cast<unsigned char>(c)); }

bool IsLabel(absl::string_view text) {
  return !text.empty() && IsLowerOrDigit(text.front()) && IsLowerOrDigit(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLowerOrDigit(c) || c == '-'; });
}

bool IsSubdomain(absl::string_view text) {
  const std::vector<absl::string_view> labels = absl::StrSplit(text, '.');
  return !text.empty() && std::all_of(labels.begin(), labels.end(), IsLabel);
}

std::vector<std::string> TooLong(absl::string_view name, size_t bytes_max) {
  if (name.size() <= bytes_max) return {};
  return {absl::StrCat("must be no more than ", bytes_max, " characters")};
}

}  // namespace

std::vector<std::string> DnsSubdomainErrors(absl::string_view name) {
  std::vector<std::string> errors = TooLong(name, kSubdomainBytesMax);
  if (!IsSubdomain(name)) errors.emplace_back(kNotSubdomain);
  return errors;
}

std::vector<std::string> DnsLabelErrors(absl::string_view name) {
  std::vector<std::string> errors = TooLong(name, kLabelBytesMax);
  if (IsLabel(name)) return errors;
  errors.emplace_back(IsSubdomain(name) ? "must not contain dots" : kNotLabel);
  return errors;
}

std::vector<std::string> Dns1035LabelErrors(absl::string_view name) {
  std::vector<std::string> errors = TooLong(name, kLabelBytesMax);
  if (!IsLabel(name) || !IsLower(name.front())) errors.emplace_back(kNot1035Label);
  return errors;
}

}  // namespace schedsim::api
