// The syntax of names of objects and their parts.
#ifndef SCHEDSIM_CORE_API_DNS_NAME_H_
#define SCHEDSIM_CORE_API_DNS_NAME_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace schedsim::api {

// Each says what is wrong with the name, in the words of the API server; empty: nothing.
// Source: apimachinery v0.37, pkg/util/validation/validation.go, IsDNS1123Subdomain, IsDNS1123Label and
// IsDNS1035Label.
std::vector<std::string> DnsSubdomainErrors(absl::string_view name);
std::vector<std::string> DnsLabelErrors(absl::string_view name);
std::vector<std::string> Dns1035LabelErrors(absl::string_view name);

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_DNS_NAME_H_
