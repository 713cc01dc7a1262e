// NodeResourcesFit and NodePorts: what pods take on a node.

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/api/quantity_text.h"
#include "core/framework/resource.h"
#include "sim/explain/filter_explainer.h"
#include "sim/explain/selector_text.h"

namespace schedsim::sim {
namespace {

using Type = Change::Type;
using framework::PodInfo;
using framework::PodInfoPtr;
using framework::Resource;

constexpr absl::string_view kInsufficient = "Insufficient ";
// So many pods that take something are named.
constexpr size_t kShown = 3;

int64_t AmountOf(const Resource& resource, const std::string& name, const SymbolTable& symbols) {
  if (name == "cpu") return resource.milli_cpu;
  if (name == "memory") return resource.memory_bytes;
  if (name == "ephemeral-storage") return resource.ephemeral_storage_bytes;
  return resource.Scalar(symbols.Find(name));
}

api::Quantity QuantityOf(const std::string& name, int64_t amount) {
  return name == "cpu" ? api::Quantity::FromMilli(amount) : api::Quantity::FromValue(amount);
}

std::string AmountText(const std::string& name, int64_t amount) {
  return api::AmountText(name, QuantityOf(name, amount));
}

api::Quantity AskedBy(const api::Container& container, const std::string& name) {
  const api::Quantity* const asked = container.resources.requests.Find(name);
  return asked == nullptr ? api::Quantity() : *asked;
}

// The ordinary init container that needs more, beside the sidecars before it, than all containers together
// do later; nullptr: none.
const api::Container* LargestInit(const api::PodSpec& spec, const std::string& name) {
  api::Quantity sidecars;
  api::Quantity largest;
  const api::Container* found = nullptr;
  for (const api::Container& container : spec.init_containers) {
    const api::Quantity asked = AskedBy(container, name);
    if (container.restart_policy == "Always") {
      sidecars += asked;
    } else if (asked + sidecars > largest) {
      largest = asked + sidecars;
      found = &container;
    }
  }
  api::Quantity sum = sidecars;
  for (const api::Container& container : spec.containers) sum += AskedBy(container, name);
  return largest > sum ? found : nullptr;
}

// What makes the amount that a pod asks for, where it is not just the sum over its containers; "": it is.
std::string OriginOf(const PodInfo& pod, const std::string& name, const SymbolTable& symbols) {
  const api::PodSpec& spec = *pod.pod->spec;
  const int64_t by_spec = AmountOf(pod.spec_info->requests, name, symbols);
  if (AmountOf(pod.requests, name, symbols) != by_spec)
    return absl::StrCat("by its status: a resize is not through, its spec asks for ",
                        AmountText(name, by_spec));
  if (spec.resources.has_value() && spec.resources->requests.Find(name) != nullptr)
    return "by the pod's own spec.resources";
  if (const api::Container* const init = LargestInit(spec, name); init != nullptr)
    return absl::StrCat("for its init container ", init->name);
  std::vector<std::string> parts;
  for (const api::Container& container : spec.init_containers) {
    const api::Quantity asked = AskedBy(container, name);
    if (container.restart_policy == "Always" && !asked.IsZero())
      parts.push_back(absl::StrCat(api::AmountText(name, asked), " for its sidecar ", container.name));
  }
  const api::Quantity* const overhead = spec.overhead.Find(name);
  if (overhead != nullptr && !overhead->IsZero())
    parts.push_back(absl::StrCat(api::AmountText(name, *overhead), " overhead"));
  std::string text;
  for (const std::string& part : parts) absl::StrAppend(&text, text.empty() ? "" : " and ", part);
  return text.empty() ? text : absl::StrCat("with ", text);
}

// The pods of the node that take some of a resource, the largest first.
std::vector<const PodInfo*> UsersOf(const framework::NodeInfo& node, const std::string& name,
                                    const SymbolTable& symbols) {
  std::vector<const PodInfo*> users;
  for (const PodInfoPtr& pod : node.pods) {
    if (AmountOf(pod->requests, name, symbols) > 0) users.push_back(pod.get());
  }
  std::sort(users.begin(), users.end(), [&](const PodInfo* a, const PodInfo* b) {
    const int64_t amount_a = AmountOf(a->requests, name, symbols);
    const int64_t amount_b = AmountOf(b->requests, name, symbols);
    return amount_a != amount_b ? amount_a > amount_b : a->pod->Key() < b->pod->Key();
  });
  return users;
}

std::string UsersText(const std::vector<const PodInfo*>& users, const std::string& name,
                      const SymbolTable& symbols) {
  std::string text;
  for (size_t i = 0; i < std::min(kShown, users.size()); ++i) {
    const std::string origin = OriginOf(*users[i], name, symbols);
    absl::StrAppend(&text, i == 0 ? "" : ", ", users[i]->pod->Key(), " ",
                    AmountText(name, AmountOf(users[i]->requests, name, symbols)), origin.empty() ? "" : " ",
                    origin, users[i]->pod->node_name.empty() ? " (nominated)" : "");
  }
  return text;
}

Fact Shortage(const RefusedPod& refused, const std::string& name) {
  const SymbolTable& symbols = refused.handle.symbols();
  const int64_t asked = AmountOf(refused.pod.spec_info->requests, name, symbols);
  const int64_t allocatable = AmountOf(refused.node.allocatable, name, symbols);
  const int64_t used = AmountOf(refused.node.requested, name, symbols);
  const std::vector<const PodInfo*> users = UsersOf(refused.node, name, symbols);
  const std::string origin = OriginOf(refused.pod, name, symbols);
  std::string text =
      absl::StrCat(name, ": asks for ", AmountText(name, asked), origin.empty() ? "" : " ", origin, ", ",
                   AmountText(name, allocatable - used), " of ", AmountText(name, allocatable), " is free");
  if (!users.empty()) {
    absl::StrAppend(&text, "; ", users.size(), users.size() == 1 ? " pod uses " : " pods use ",
                    AmountText(name, used), ": ", UsersText(users, name, symbols),
                    users.size() > kShown ? ", ..." : "");
  }
  Fact fact = {.kind = "resource",
               .text = std::move(text),
               .fields = {{"resource", name},
                          {"asked", AmountText(name, asked)},
                          {"allocatable", AmountText(name, allocatable)},
                          {"used", AmountText(name, used)},
                          {"free", AmountText(name, allocatable - used)},
                          {"users", static_cast<int64_t>(users.size())}}};
  if (!origin.empty()) fact.fields.emplace_back("askedFor", origin);
  if (!users.empty()) {
    fact.fields.emplace_back("largestUser", users[0]->pod->Key());
    fact.fields.emplace_back("largestUse", AmountText(name, AmountOf(users[0]->requests, name, symbols)));
  }
  return fact;
}

Change LessOf(const RefusedPod& refused, const std::string& name) {
  const SymbolTable& symbols = refused.handle.symbols();
  const int64_t asked = AmountOf(refused.pod.spec_info->requests, name, symbols);
  const int64_t free =
      AmountOf(refused.node.allocatable, name, symbols) - AmountOf(refused.node.requested, name, symbols);
  const int64_t less = asked - std::max<int64_t>(free, 0);
  return {.type = Type::kAskLess,
          .name = name,
          .amount = QuantityOf(name, less),
          .size = 1000 + (asked > 0 ? static_cast<int64_t>(1000.0 * static_cast<double>(less) /
                                                           static_cast<double>(asked))
                                    : 0)};
}

bool SamePort(const framework::HostPort& a, const framework::HostPort& b, Symbol any_ip) {
  return a.port == b.port && a.protocol == b.protocol && (a.ip == b.ip || a.ip == any_ip || b.ip == any_ip);
}

// As a pod without a network of its own writes it.
std::string PortText(const framework::HostPort& port, const RefusedPod& refused) {
  return HostPortText({.container_port = port.port,
                       .host_port = port.port,
                       .protocol = std::string(refused.Text(port.protocol)),
                       .host_ip = std::string(refused.Text(port.ip))},
                      /*host_network=*/false);
}

}  // namespace

Refusal ExplainNodeResourcesFit(const RefusedPod& refused) {
  Refusal refusal;
  std::vector<Change> remedy;
  for (const std::string& reason : refused.status.reasons()) {
    if (reason == "Too many pods") {
      const int64_t count = static_cast<int64_t>(refused.node.pods.size());
      const int64_t allowed = refused.node.allocatable.allowed_pod_number;
      refusal.facts.push_back({.kind = "podCount",
                               .text = absl::StrCat("pods: ", count, count == 1 ? " is" : " are",
                                                    " there, the node allows ", allowed),
                               .fields = {{"count", count}, {"allowed", allowed}}});
      remedy.push_back(
          {.type = Type::kAllow, .name = "pods", .amount = api::Quantity::FromValue(count + 1 - allowed)});
      continue;
    }
    absl::string_view name = reason;
    if (!absl::ConsumePrefix(&name, kInsufficient)) continue;
    refusal.facts.push_back(Shortage(refused, std::string(name)));
    remedy.push_back(LessOf(refused, std::string(name)));
  }
  refusal.remedies.push_back(std::move(remedy));
  return refusal;
}

Refusal ExplainNodePorts(const RefusedPod& refused) {
  Refusal refusal;
  std::vector<Change> away;
  std::vector<Change> left_out;
  const Symbol any_ip = refused.handle.symbols().Intern("0.0.0.0");
  for (const framework::HostPort& port : refused.pod.spec_info->host_ports) {
    const std::string text = PortText(port, refused);
    bool is_taken = false;
    for (const PodInfoPtr& other : refused.node.pods) {
      const std::vector<framework::HostPort>& used = other->spec_info->host_ports;
      const bool takes = std::any_of(used.begin(), used.end(), [&](const framework::HostPort& taken) {
        return SamePort(port, taken, any_ip);
      });
      if (!takes) continue;
      is_taken = true;
      const std::string key = other->pod->Key();
      refusal.facts.push_back({.kind = "hostPort",
                               .text = absl::StrCat("host port ", text, " is taken by ", key),
                               .fields = {{"port", text}, {"pod", key}}});
      const bool is_known =
          std::any_of(away.begin(), away.end(), [&](const Change& change) { return change.name == key; });
      if (!is_known) away.push_back({.type = Type::kPodAway, .name = key, .size = 1500});
    }
    if (is_taken)
      left_out.push_back({.type = Type::kLeaveOut, .name = kHostPort, .value = text, .size = 2000});
  }
  refusal.remedies.push_back(std::move(away));
  refusal.remedies.push_back(std::move(left_out));
  return refusal;
}

}  // namespace schedsim::sim
