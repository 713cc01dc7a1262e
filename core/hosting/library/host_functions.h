// The host's side of plugin_abi.h: what the opaque types stand for, and the functions that plugins call.
#ifndef SCHEDSIM_CORE_HOSTING_LIBRARY_HOST_FUNCTIONS_H_
#define SCHEDSIM_CORE_HOSTING_LIBRARY_HOST_FUNCTIONS_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/framework/diagnosis.h"
#include "core/framework/events.h"
#include "core/framework/handle.h"
#include "core/framework/node_info.h"
#include "core/framework/plugin.h"
#include "core/framework/pod_info.h"
#include "core/framework/signers.h"
#include "core/framework/status.h"
#include "schedsim/plugin_abi.h"

// What a plugin was made with.
struct schedsim_handle {
  schedsim::framework::Handle& scheduler;
  std::string plugin;
  schedsim::framework::PluginId plugin_id = 0;
  std::string args;  // JSON; "": none.
  // What find_pod and find_object gave out in the running call.
  std::vector<schedsim::api::ObjectPtr> found = {};
};

struct schedsim_pre_filter_result {
  schedsim::framework::PreFilterResult& result;
  schedsim::SymbolTable& symbols;
};

struct schedsim_events {
  std::vector<schedsim::framework::ClusterEventWithHint>& events;
  const char* plugin;  // Lives as long as the events.
};

struct schedsim_signer {
  schedsim::framework::PodSigner& signer;
};

// PreBind or Bind of one pod, until the plugin says that it is over.
struct schedsim_done {
  schedsim::framework::StatusCallback done;
  // nullptr: the pod cannot be cancelled.
  schedsim::framework::PodInPreBind* in_pre_bind = nullptr;
  // What runs when the pod is cancelled, which may be told after the end.
  struct Cancellation {
    schedsim_work work = nullptr;  // nullptr: nothing.
    void* context = nullptr;
  };
  std::shared_ptr<Cancellation> cancellation = std::make_shared<Cancellation>();
};

namespace schedsim::hosting {

inline schedsim_text Text(absl::string_view text) { return {text.data(), text.size()}; }
inline absl::string_view View(schedsim_text text) {
  return text.size == 0 ? absl::string_view() : absl::string_view(text.data, text.size);
}

// The opaque types that are nothing but another name of ours.
template <typename To, typename From>
To* Opaque(From* from) {
  return reinterpret_cast<To*>(from);
}
inline const schedsim_pod* ToAbi(const framework::PodInfo& pod) { return Opaque<const schedsim_pod>(&pod); }
inline const schedsim_node* ToAbi(const framework::NodeInfo& node) {
  return Opaque<const schedsim_node>(&node);
}
inline const schedsim_object* ToAbi(const api::Object* object) {
  return Opaque<const schedsim_object>(object);
}
// Filters get the state as const, and may change their own part of it.
inline schedsim_state* ToAbi(const framework::CycleState& state) {
  return Opaque<schedsim_state>(const_cast<framework::CycleState*>(&state));
}
inline schedsim_status* ToAbi(framework::Status& status) { return Opaque<schedsim_status>(&status); }
inline const schedsim_node* const* ToAbi(framework::NodeInfos nodes) {
  return reinterpret_cast<const schedsim_node* const*>(nodes.data());
}

// The object, which lives until the plugin is called again; nullptr stays nullptr.
const schedsim_object* Keep(schedsim_handle* handle, api::ObjectPtr object);

// The resource of events as kube-scheduler writes it, also with a group in front; absent: there is none.
std::optional<framework::EventResource> EventResourceNamed(absl::string_view name);
// The same the other way round.
absl::string_view EventResourceText(framework::EventResource resource);
// kOther: scheduling reads no such kind.
api::Kind KindNamed(absl::string_view name);

// The functions, for all libraries.
const schedsim_host& Host();

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_LIBRARY_HOST_FUNCTIONS_H_
