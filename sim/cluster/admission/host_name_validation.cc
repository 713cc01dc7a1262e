#include "sim/cluster/admission/host_name_validation.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace schedsim::sim {
namespace {

// Zeros in front are fine.
bool IsIpv4(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
  return parts.size() == 4 && absl::c_all_of(parts, [](absl::string_view part) {
           int value = 0;
           return !part.empty() && absl::c_all_of(part, absl::ascii_isdigit) &&
                  absl::SimpleAtoi(part, &value) && value <= 255;
         });
}

// Counts the 16-bit groups of a part of an address, of which the last may be one of IPv4; -1: it is none.
int GroupCount(absl::string_view text, bool ends_address) {
  if (text.empty()) return 0;
  const std::vector<absl::string_view> groups = absl::StrSplit(text, ':');
  int count = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    const absl::string_view group = groups[i];
    if (ends_address && i + 1 == groups.size() && IsIpv4(group)) {
      count += 2;
    } else if (!group.empty() && group.size() <= 4 && absl::c_all_of(group, absl::ascii_isxdigit)) {
      ++count;
    } else {
      return -1;
    }
  }
  return count;
}

bool IsIpv6(absl::string_view text) {
  const size_t gap = text.find("::");
  if (gap == absl::string_view::npos) return GroupCount(text, true) == 8;
  const int before = GroupCount(text.substr(0, gap), false);
  const int after = GroupCount(text.substr(gap + 2), true);
  return before >= 0 && after >= 0 && before + after < 8;
}

bool HasZerosInFront(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text.substr(text.rfind(':') + 1), '.');
  return parts.size() == 4 && absl::c_any_of(parts, [](absl::string_view part) {
           return part.size() > 1 && absl::StartsWith(part, "0");
         });
}

// Source: apimachinery v0.37, pkg/util/validation/ip.go, IsValidIPForLegacyField.
void CheckIp(const FieldAt& ip, ValidationErrors& errors) {
  constexpr absl::string_view kMapped = "::ffff:";
  const std::string text = ip.Text();
  if (!IsIpv4(text) && !IsIpv6(text))
    return errors.Invalid(ip.path, text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  // StrictIPCIDRValidation is on by default from 1.36 on.
  if (errors.line() < api::KubernetesLine::k1_36) return;
  if (HasZerosInFront(text)) errors.Invalid(ip.path, text, "must not have leading 0s");
  if (absl::StartsWithIgnoreCase(text, kMapped) && GroupCount(text.substr(kMapped.size()), true) == 2)
    errors.Invalid(ip.path, text, "must not be an IPv4-mapped IPv6 address");
}

std::vector<std::string> TextsOf(const FieldAt& list) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < list.size(); ++i) texts.push_back(list.Item(i).Text());
  return texts;
}

// Source: apimachinery v0.37, pkg/util/validation/validation.go, IsDNS1123SubdomainWithUnderscore.
void CheckSearchPath(const FieldAt& path, ValidationErrors& errors) {
  constexpr size_t kBytesMax = 253;
  if (path.Text() == ".") return;
  const std::string whole = path.Text();
  const std::string text(absl::StripSuffix(whole, "."));
  if (text.size() > kBytesMax)
    errors.Invalid(path.path, text, absl::StrCat("must be no more than ", kBytesMax, " bytes"));
  const auto is_plain = [](char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c); };
  const std::vector<absl::string_view> labels = absl::StrSplit(text, '.');
  const bool is_right = absl::c_all_of(labels, [&is_plain](absl::string_view label) {
    if (absl::StartsWith(label, "_")) label.remove_prefix(1);
    return !label.empty() && is_plain(label.front()) && is_plain(label.back()) &&
           absl::c_all_of(label, [&is_plain](char c) { return is_plain(c) || c == '-' || c == '_'; });
  });
  if (is_right) return;
  errors.Invalid(
      path.path, text,
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', "
      "'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
      "for validation is "
      "'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')");
}

void CheckSearchPaths(const FieldAt& searches, ValidationErrors& errors) {
  constexpr size_t kPathsMax = 32;
  constexpr size_t kBytesMax = 2048;
  if (searches.size() > kPathsMax) {
    errors.InvalidJson(searches.path, SortedJson(searches),
                       absl::StrCat("must not have more than ", kPathsMax, " search paths"));
  }
  if (absl::StrJoin(TextsOf(searches), " ").size() > kBytesMax) {
    errors.InvalidJson(searches.path, SortedJson(searches),
                       absl::StrCat("must not have more than ", kBytesMax,
                                    " characters (including spaces) in the search list"));
  }
  for (size_t i = 0; i < searches.size(); ++i) CheckSearchPath(searches.Item(i), errors);
}

}  // namespace

void CheckDnsConfig(const FieldAt& spec, ValidationErrors& errors) {
  constexpr size_t kServersMax = 3;
  const FieldAt config = spec.Child("dnsConfig");
  const FieldAt servers = config.Child("nameservers");
  if (spec.Child("dnsPolicy").Text() == "None") {
    if (!config.is_present())
      return errors.Required(config.path, "must provide `dnsConfig` when `dnsPolicy` is None");
    if (servers.size() == 0) {
      return errors.Required(servers.path,
                             "must provide at least one DNS nameserver when `dnsPolicy` is None");
    }
  }
  if (servers.size() > kServersMax) {
    errors.InvalidJson(servers.path, SortedJson(servers),
                       absl::StrCat("must not have more than ", kServersMax, " nameservers"));
  }
  for (size_t i = 0; i < servers.size(); ++i) CheckIp(servers.Item(i), errors);
  CheckSearchPaths(config.Child("searches"), errors);
  const FieldAt options = config.Child("options");
  for (size_t i = 0; i < options.size(); ++i) {
    if (options.Item(i).Child("name").Text().empty())
      errors.Required(options.Item(i).path, "must not be empty");
  }
}

void CheckHostAliases(const FieldAt& aliases, ValidationErrors& errors) {
  for (size_t i = 0; i < aliases.size(); ++i) {
    CheckIp(aliases.Item(i).Child("ip"), errors);
    const FieldAt names = aliases.Item(i).Child("hostnames");
    for (size_t j = 0; j < names.size(); ++j) errors.DnsSubdomain(names.Item(j).path, names.Item(j).Text());
  }
}

void CheckHostnameOverride(const FieldAt& spec, ValidationErrors& errors) {
  constexpr size_t kBytesMax = 64;
  const FieldAt name = spec.Child("hostnameOverride");
  // HostnameOverride is off by default up to 1.34, and what a gate is for is dropped.
  if (!name.is_present() || errors.line() < api::KubernetesLine::k1_35) return;
  if (spec.Child("setHostnameAsFQDN").IsTrue())
    errors.Forbidden(name.path, "may not be specified when setHostnameAsFQDN is true");
  if (spec.Child("hostNetwork").IsTrue())
    errors.Forbidden(name.path, "may not be specified when hostNetwork is true");
  if (name.Text().size() > kBytesMax) errors.TooLong(name.path, kBytesMax);
  errors.DnsSubdomain(name.path, name.Text());
}

}  // namespace schedsim::sim
