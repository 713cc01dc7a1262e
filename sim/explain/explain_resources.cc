// NodeResourcesFit and NodePorts: what pods take on a node.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

// A part of what a pod asks for.
struct Part {
  std::string what;
  api::Quantity amount;
};

// The ordinary init container that needs the most, beside the sidecars before it, if that is more than all
// containers together do later: with these sidecars. Empty: none does.
std::vector<Part> LargestInit(const api::PodSpec& spec, const std::string& name) {
  std::vector<Part> sidecars;
  std::vector<Part> found;
  api::Quantity running;
  api::Quantity largest;
  for (const api::Container& container : spec.init_containers) {
    const api::Quantity asked = AskedBy(container, name);
    if (container.restart_policy == "Always") {
      if (!asked.IsZero()) sidecars.push_back({absl::StrCat("sidecar ", container.name), asked});
      running += asked;
    } else if (asked + running > largest) {
      largest = asked + running;
      found = {{absl::StrCat("init container ", container.name), asked}};
      found.insert(found.end(), sidecars.begin(), sidecars.end());
    }
  }
  for (const api::Container& container : spec.containers) running += AskedBy(container, name);
  return largest > running ? found : std::vector<Part>();
}

// Whether the pod's own spec.resources make another amount of what its containers ask for.
bool CountsAsPod(const api::PodSpec& spec, const std::string& name) {
  if (!spec.resources.has_value() || spec.resources->requests.Find(name) == nullptr) return false;
  const api::ResourceList by_pod = framework::PodRequests(spec, nullptr, {});
  const api::ResourceList by_containers = framework::PodRequests(spec, nullptr, {.use_pod_level = false});
  const api::Quantity* const sum = by_containers.Find(name);
  const api::Quantity* const amount = by_pod.Find(name);
  return amount != nullptr && (sum == nullptr || *sum != *amount);
}

// What the pod's spec asks for, part by part.
std::vector<Part> PartsOf(const api::PodSpec& spec, const std::string& name) {
  std::vector<Part> parts;
  if (CountsAsPod(spec, name)) {
    parts.push_back({"the pod's own spec.resources", *spec.resources->requests.Find(name)});
  } else {
    parts = LargestInit(spec, name);
  }
  if (parts.empty()) {
    for (const api::Container& container : spec.init_containers) {
      const api::Quantity asked = AskedBy(container, name);
      if (container.restart_policy == "Always" && !asked.IsZero())
        parts.push_back({absl::StrCat("sidecar ", container.name), asked});
    }
    api::Quantity sum;
    for (const api::Container& container : spec.containers) sum += AskedBy(container, name);
    if (!sum.IsZero()) parts.push_back({"containers", sum});
  }
  const api::Quantity* const overhead = spec.overhead.Find(name);
  if (overhead != nullptr && !overhead->IsZero()) parts.push_back({"overhead", *overhead});
  return parts;
}

// What the kubelet has given to the container, or is about to take from it.
api::Quantity HeldBy(const api::ContainerStatus& status, const std::string& name) {
  api::Quantity held;
  for (const api::ResourceList* const list :
       {&status.allocated_resources, status.resources.has_value() ? &status.resources->requests : nullptr}) {
    const api::Quantity* const amount = list == nullptr ? nullptr : list->Find(name);
    if (amount != nullptr) held = std::max(held, *amount);
  }
  return held;
}

// Of a pod that takes another amount than its spec asks for.
std::string ResizeText(const PodInfo& pod, const std::string& name, int64_t taken, int64_t by_spec) {
  const std::string asked = AmountText(name, by_spec);
  if (taken < by_spec) return absl::StrCat("its spec asks for ", asked, ", which its node has refused");
  std::vector<std::string> holders;
  const api::PodStatus& status = pod.pod->status;
  for (const auto* containers : {&pod.pod->spec->containers, &pod.pod->spec->init_containers}) {
    for (const api::Container& container : *containers) {
      for (const auto* statuses : {&status.container_statuses, &status.init_container_statuses}) {
        for (const api::ContainerStatus& held : *statuses) {
          if (held.name != container.name || HeldBy(held, name) <= AskedBy(container, name)) continue;
          holders.push_back(absl::StrCat("container ", container.name, " still has ",
                                         api::AmountText(name, HeldBy(held, name))));
        }
      }
    }
  }
  if (holders.empty()) holders.push_back("the pod still has more");
  return absl::StrCat("resize under way: ", absl::StrJoin(holders, ", "), ", the spec asks for ", asked);
}

// What makes the amount that the pod takes, where it is not just the sum over its containers; "": it is.
std::string OriginOf(const PodInfo& pod, const std::string& name, int64_t taken, const SymbolTable& symbols) {
  const int64_t by_spec = AmountOf(pod.spec_info->requests, name, symbols);
  if (taken != by_spec) return absl::StrCat(" (", ResizeText(pod, name, taken, by_spec), ")");
  const std::vector<Part> parts = PartsOf(*pod.pod->spec, name);
  if (parts.empty() || (parts.size() == 1 && parts[0].what == "containers")) return "";
  if (parts.size() == 1) return absl::StrCat(" (", parts[0].what, ")");
  std::vector<std::string> texts;
  for (const Part& part : parts)
    texts.push_back(absl::StrCat(part.what, " ", api::AmountText(name, part.amount)));
  return absl::StrCat(" (", absl::StrJoin(texts, ", "), ")");
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
    const int64_t taken = AmountOf(users[i]->requests, name, symbols);
    absl::StrAppend(&text, i == 0 ? "" : ", ", users[i]->pod->Key(), " ", AmountText(name, taken),
                    OriginOf(*users[i], name, taken, symbols),
                    users[i]->pod->node_name.empty() ? " (nominated)" : "");
  }
  return text;
}

int64_t FreeOf(const RefusedPod& refused, const std::string& name) {
  const SymbolTable& symbols = refused.handle.symbols();
  return std::max<int64_t>(
      AmountOf(refused.node.allocatable, name, symbols) - AmountOf(refused.node.requested, name, symbols), 0);
}

Fact Shortage(const RefusedPod& refused, const std::string& name) {
  const SymbolTable& symbols = refused.handle.symbols();
  const int64_t asked = AmountOf(refused.pod.spec_info->requests, name, symbols);
  const int64_t allocatable = AmountOf(refused.node.allocatable, name, symbols);
  const int64_t used = AmountOf(refused.node.requested, name, symbols);
  const std::vector<const PodInfo*> users = UsersOf(refused.node, name, symbols);
  const std::string origin = OriginOf(refused.pod, name, asked, symbols);
  const int64_t free = FreeOf(refused, name);
  std::string text = absl::StrCat(name, ": asks for ", AmountText(name, asked), origin, ", ",
                                  AmountText(name, free), " of ", AmountText(name, allocatable), " is free");
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
                          {"free", AmountText(name, free)},
                          {"users", static_cast<int64_t>(users.size())}}};
  if (!origin.empty()) fact.fields.emplace_back("askedFor", origin.substr(2, origin.size() - 3));
  if (!users.empty()) {
    fact.fields.emplace_back("largestUser", users[0]->pod->Key());
    fact.fields.emplace_back("largestUse", AmountText(name, AmountOf(users[0]->requests, name, symbols)));
  }
  return fact;
}

Change LessOf(const RefusedPod& refused, const std::string& name) {
  const SymbolTable& symbols = refused.handle.symbols();
  const int64_t asked = AmountOf(refused.pod.spec_info->requests, name, symbols);
  const int64_t less = asked - FreeOf(refused, name);
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
