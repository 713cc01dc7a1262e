#include "sim/stages/pod_addresses.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace schedsim::sim {
namespace {

constexpr char kDefaultCidr[] = "10.0.0.0/24";

void AddText(const codec::Value* value, std::vector<std::string>& texts) {
  if (value != nullptr && value->is_string() && !value->text.empty()) texts.emplace_back(value->text);
}

// Of what is behind the slash of a CIDR; absent: it is none.
std::optional<int> PrefixOf(absl::string_view cidr) {
  const size_t slash = cidr.find('/');
  int bits = 0;
  if (slash == absl::string_view::npos || !absl::SimpleAtoi(cidr.substr(slash + 1), &bits))
    return std::nullopt;
  const bool is_six = absl::StrContains(cidr, ':');
  if (bits < 0 || bits > (is_six ? 128 : 32)) return std::nullopt;
  return bits;
}

// Behind the last address comes the first one.
std::string Add(absl::string_view address, unsigned __int128 offset) {
  const std::string base(address);
  const bool is_six = absl::StrContains(base, ':');
  const int family = is_six ? AF_INET6 : AF_INET;
  std::array<unsigned char, 16> bytes = {};
  if (inet_pton(family, base.c_str(), bytes.data()) != 1) return "";
  unsigned carry = 0;
  for (size_t i = is_six ? 16 : 4; i-- > 0;) {
    carry += static_cast<unsigned>(bytes[i]) + static_cast<unsigned>(offset & 0xff);
    bytes[i] = static_cast<unsigned char>(carry & 0xff);
    carry >>= 8;
    offset >>= 8;
  }
  std::array<char, INET6_ADDRSTRLEN> text = {};
  if (inet_ntop(family, bytes.data(), text.data(), text.size()) == nullptr) return "";
  return text.data();
}

}  // namespace

std::string AddressIn(absl::string_view cidr, uint64_t offset) {
  return PrefixOf(cidr).has_value() ? AddToAddress(cidr.substr(0, cidr.find('/')), offset) : "";
}

std::string AddToAddress(absl::string_view address, uint64_t count) { return Add(address, count); }

std::string AddToCidr(absl::string_view cidr, uint64_t count) {
  const std::optional<int> prefix = PrefixOf(cidr);
  if (!prefix.has_value()) return "";
  const absl::string_view base = cidr.substr(0, cidr.find('/'));
  const int host_bits = (absl::StrContains(base, ':') ? 128 : 32) - *prefix;
  const unsigned __int128 offset = host_bits > 127 ? 0 : static_cast<unsigned __int128>(count) << host_bits;
  const std::string moved = Add(base, offset);
  return moved.empty() ? "" : absl::StrCat(moved, "/", *prefix);
}

std::vector<std::string> PodAddresses::Take(const std::string& pod_uid,
                                            const std::vector<std::string>& cidrs) {
  std::vector<Taken>& taken = taken_[pod_uid];
  if (taken.empty()) {
    for (const std::string& cidr : cidrs) {
      Pool& pool = pools_[cidr];
      const bool reuses = !pool.free.empty();
      const uint64_t index = reuses ? *pool.free.begin() : pool.next;
      if (reuses) {
        pool.free.erase(pool.free.begin());
      } else {
        ++pool.next;
      }
      taken.push_back({.cidr = cidr, .index = index});
    }
  }
  std::vector<std::string> addresses;
  for (const Taken& one : taken) {
    std::string address = AddressIn(one.cidr, one.index);
    if (!address.empty()) addresses.push_back(std::move(address));
  }
  return addresses;
}

void PodAddresses::Release(const std::string& pod_uid) {
  const auto found = taken_.find(pod_uid);
  if (found == taken_.end()) return;
  for (const Taken& one : found->second) pools_[one.cidr].free.insert(one.index);
  taken_.erase(found);
}

std::vector<std::string> PodCidrsOf(const codec::Value& node) {
  std::vector<std::string> cidrs;
  if (const codec::Value* spec = node.Find("spec")) {
    if (const codec::Value* list = spec->Find("podCIDRs")) {
      for (const codec::Value& item : list->items) AddText(&item, cidrs);
    }
    if (cidrs.empty()) AddText(spec->Find("podCIDR"), cidrs);
  }
  if (cidrs.empty()) cidrs.emplace_back(kDefaultCidr);
  return cidrs;
}

std::vector<std::string> HostIpsOf(const codec::Value& node) {
  const codec::Value* status = node.Find("status");
  const codec::Value* addresses = status == nullptr ? nullptr : status->Find("addresses");
  std::vector<std::string> all;
  if (addresses == nullptr) return all;
  for (const char* wanted : {"InternalIP", "ExternalIP"}) {
    for (const codec::Value& item : addresses->items) {
      const codec::Value* type = item.Find("type");
      if (type != nullptr && type->text == wanted) AddText(item.Find("address"), all);
    }
  }
  std::vector<std::string> chosen;
  for (const std::string& address : all) {
    const bool is_six = absl::StrContains(address, ':');
    const bool is_new = std::none_of(chosen.begin(), chosen.end(), [&](const std::string& other) {
      return absl::StrContains(other, ':') == is_six;
    });
    if (is_new) chosen.push_back(address);
  }
  return chosen;
}

}  // namespace schedsim::sim
