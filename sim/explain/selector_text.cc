#include "sim/explain/selector_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace schedsim::sim {
namespace {

template <typename Requirement>
std::string Text(const Requirement& requirement) {
  const std::string& key = requirement.key;
  const std::string values = absl::StrJoin(requirement.values, ",");
  if (requirement.operator_ == "In") {
    return requirement.values.size() == 1 ? absl::StrCat(key, "=", values)
                                          : absl::StrCat(key, " in (", values, ")");
  }
  if (requirement.operator_ == "NotIn") {
    return requirement.values.size() == 1 ? absl::StrCat(key, "!=", values)
                                          : absl::StrCat(key, " notin (", values, ")");
  }
  if (requirement.operator_ == "Exists") return key;
  if (requirement.operator_ == "DoesNotExist") return absl::StrCat("!", key);
  if (requirement.operator_ == "Gt") return absl::StrCat(key, " > ", values);
  if (requirement.operator_ == "Lt") return absl::StrCat(key, " < ", values);
  return absl::StrCat(key, " ", requirement.operator_, " (", values, ")");
}

}  // namespace

std::string SelectorText(const std::optional<api::LabelSelector>& selector) {
  if (!selector.has_value()) return "no pods";
  std::vector<std::string> parts;
  for (const auto& [key, value] : selector->match_labels) parts.push_back(absl::StrCat(key, "=", value));
  for (const api::LabelSelectorRequirement& requirement : selector->match_expressions)
    parts.push_back(Text(requirement));
  return parts.empty() ? "all pods" : absl::StrJoin(parts, ",");
}

std::string RequirementText(const api::NodeSelectorRequirement& requirement) { return Text(requirement); }

std::string AffinityTermText(const api::PodAffinityTerm& term) {
  std::string text = absl::StrCat(SelectorText(term.label_selector), " per ", term.topology_key);
  if (!term.namespaces.empty()) absl::StrAppend(&text, " in ", absl::StrJoin(term.namespaces, ","));
  if (term.namespace_selector.has_value()) {
    const std::string namespaces = SelectorText(term.namespace_selector);
    absl::StrAppend(&text, " in ", namespaces == "all pods" ? "all namespaces" : "namespaces with ",
                    namespaces == "all pods" ? "" : namespaces);
  }
  return text;
}

std::string TaintText(const api::Taint& taint) {
  return absl::StrCat(taint.key, taint.value.empty() ? "" : "=", taint.value, ":", taint.effect);
}

std::string HostPortText(const api::ContainerPort& port, bool host_network) {
  const int32_t host_port = port.host_port == 0 && host_network ? port.container_port : port.host_port;
  if (host_port <= 0) return "";
  const bool any = port.host_ip.empty() || port.host_ip == "0.0.0.0";
  return absl::StrCat(any ? "" : port.host_ip, any ? "" : ":", host_port, "/",
                      port.protocol.empty() ? "TCP" : port.protocol);
}

}  // namespace schedsim::sim
