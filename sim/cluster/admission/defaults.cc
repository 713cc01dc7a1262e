#include "sim/cluster/admission/defaults.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "core/api/kinds.h"
#include "core/api/object_text.h"
#include "core/api/scheduler_config.h"
#include "core/codec/text/json_edit.h"
#include "core/codec/text/reader.h"
#include "core/framework/resource.h"

namespace schedsim::sim {
namespace {

void CompleteContainers(std::vector<api::Container>& containers, bool host_network) {
  for (api::Container& container : containers) {
    for (const auto& [name, quantity] : container.resources.limits) {
      if (container.resources.requests.Find(name) == nullptr) container.resources.requests[name] = quantity;
    }
    for (api::ContainerPort& port : container.ports) {
      if (port.protocol.empty()) port.protocol = "TCP";
      if (host_network && port.host_port == 0) port.host_port = port.container_port;
    }
  }
}

void RoundUp(api::ResourceList& amounts) {
  constexpr int64_t kNanoPerMilli = 1'000'000;
  const api::ResourceList given = amounts;
  for (const auto& [name, quantity] : given) {
    if (quantity.NanoValue() % kNanoPerMilli != 0)
      amounts[name] = api::Quantity::FromMilli(quantity.MilliValue());
  }
}

}  // namespace

void RoundAmounts(api::PodSpec& spec) {
  for (std::vector<api::Container>* containers : {&spec.containers, &spec.init_containers}) {
    for (api::Container& container : *containers) {
      RoundUp(container.resources.limits);
      RoundUp(container.resources.requests);
    }
  }
}

void SetPodDefaults(api::PodSpec& spec) {
  if (spec.scheduler_name.empty()) spec.scheduler_name = api::kDefaultSchedulerName;
  CompleteContainers(spec.containers, spec.host_network);
  CompleteContainers(spec.init_containers, spec.host_network);
}

void SetNamespaceDefaults(api::Object& name_space) {
  api::ObjectMeta& metadata = name_space.metadata;
  if (metadata.labels.Find("kubernetes.io/metadata.name") == nullptr)
    metadata.labels.Set("kubernetes.io/metadata.name", metadata.name);
}

void SetJobDefaults(api::Object& object) {
  const bool is_job = object.kind == api::Kind::kOther && object.kind_name == "Job" &&
                      api::GroupOf(object.api_version) == "batch";
  if (!is_job || object.json == nullptr) return;
  std::string text = object.json->ToString();
  std::vector<std::pair<absl::string_view, absl::string_view>> added;
  codec::ReadText(text, "job.json", {}, [&added](const codec::Document& document) {
    const codec::Value* spec = document.root.Find("spec");
    if (spec == nullptr || !spec->is_object()) return absl::OkStatus();
    const auto has = [spec](absl::string_view name) {
      const codec::Value* value = spec->Find(name);
      return value != nullptr && !value->is_null();
    };
    const auto set = [&](absl::string_view name, absl::string_view value) {
      if (!has(name)) added.emplace_back(name, value);
    };
    if (!has("completions") && !has("parallelism")) set("completions", "1");
    set("parallelism", "1");
    set("backoffLimit", has("backoffLimitPerIndex") ? "2147483647" : "6");
    set("completionMode", "\"NonIndexed\"");
    set("suspend", "false");
    set("podReplacementPolicy", has("podFailurePolicy") ? "\"Failed\"" : "\"TerminatingOrFailed\"");
    return absl::OkStatus();
  }).IgnoreError();
  if (added.empty()) return;
  for (const auto& [name, value] : added) text = codec::SetJsonMember(text, {"spec", name}, value);
  object.json = std::make_shared<api::ObjectText>(std::move(text));
}

void SetPodLevelDefaults(api::PodSpec& spec) {
  if (!spec.resources.has_value()) return;
  api::ResourceRequirements& pod_level = *spec.resources;
  if (pod_level.limits.empty() && pod_level.requests.empty()) return;
  api::PodSpec containers_only;
  containers_only.containers = spec.containers;
  containers_only.init_containers = spec.init_containers;
  const api::ResourceList requests = framework::PodRequests(containers_only, nullptr, {});
  for (const char* name : {"cpu", "memory"}) {
    const api::Quantity* of_containers = requests.Find(name);
    if (of_containers != nullptr && pod_level.requests.Find(name) == nullptr) {
      pod_level.requests[name] = *of_containers;
    }
  }
  for (const auto& [name, quantity] : pod_level.limits) {
    const bool supported = name == "cpu" || name == "memory" || absl::StartsWith(name, "hugepages-");
    if (supported && pod_level.requests.Find(name) == nullptr) pod_level.requests[name] = quantity;
  }
}

bool IsSameAfterDefaults(const api::PodSpec& a, const api::PodSpec& b) {
  auto same = [](const std::vector<api::Container>& x, const std::vector<api::Container>& y) {
    for (size_t i = 0; i < x.size(); ++i) {
      if (!(x[i].resources.requests == y[i].resources.requests)) return false;
      for (size_t j = 0; j < x[i].ports.size(); ++j) {
        if (x[i].ports[j].protocol != y[i].ports[j].protocol) return false;
        if (x[i].ports[j].host_port != y[i].ports[j].host_port) return false;
      }
    }
    return true;
  };
  if (a.scheduler_name != b.scheduler_name || a.priority != b.priority) return false;
  if (a.preemption_policy != b.preemption_policy) return false;
  if (a.resources.has_value() && !(a.resources->requests == b.resources->requests)) return false;
  return same(a.containers, b.containers) && same(a.init_containers, b.init_containers);
}

}  // namespace schedsim::sim
