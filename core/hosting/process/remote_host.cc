#include "core/hosting/process/remote_host.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "core/base/check.h"
#include "core/hosting/library/host_functions.h"

namespace schedsim::hosting {
namespace {

using codec::JsonWriter;
using codec::Value;

RemoteScheduler*& Current() {
  static RemoteScheduler* current = nullptr;
  return current;
}

RemoteScheduler& Remote() {
  CHECK(Current() != nullptr);
  return *Current();
}

const framework::NodeInfo& WithPods(const schedsim_node* node) {
  const auto& known = *Opaque<const framework::NodeInfo>(node);
  Remote().NeedPods(known);
  return known;
}

size_t NodePodCount(const schedsim_node* node) { return WithPods(node).pods.size(); }

const schedsim_pod* NodePod(const schedsim_node* node, size_t index) {
  return ToAbi(*WithPods(node).pods[index]);
}

int64_t NodeRequested(const schedsim_handle* handle, const schedsim_node* node, schedsim_text resource) {
  WithPods(node);
  return Host().node_requested(handle, node, resource);
}

// Names that were not heard of yet may be those of nodes.
const schedsim_node* SnapshotFind(const schedsim_handle* /*handle*/, schedsim_text node_name) {
  const Symbol name = Remote().symbols().Intern(View(node_name));
  return Opaque<const schedsim_node>(Remote().snapshot().Get(name));
}

size_t NominatedPodCount(const schedsim_handle* handle, schedsim_text node_name) {
  Remote().symbols().Intern(View(node_name));
  return Host().nominated_pod_count(handle, node_name);
}

const schedsim_object* FindObject(schedsim_handle* handle, schedsim_text kind, schedsim_text name_space,
                                  schedsim_text name) {
  api::ObjectPtr object;
  JsonWriter request = Remote().Request("object");
  request.Field("kind", View(kind)).Field("namespace", View(name_space)).Field("name", View(name));
  Remote().Ask(request, [&](const Value& reply) { object = Remote().ObjectOf(reply.Find("object")); });
  return Keep(handle, std::move(object));
}

const schedsim_object* FindPod(schedsim_handle* handle, schedsim_text name_space, schedsim_text name) {
  return FindObject(handle, Text("Pod"), name_space, name);
}

void ListObjects(schedsim_handle* /*handle*/, schedsim_text kind,
                 void (*visit)(void* context, const schedsim_object* object), void* context) {
  std::vector<api::ObjectPtr> objects;
  JsonWriter request = Remote().Request("objects");
  request.Field("kind", View(kind));
  Remote().Ask(request, [&](const Value& reply) {
    const Value* const list = reply.Find("objects");
    for (const Value& item : list->items) objects.push_back(Remote().ObjectOf(&item));
  });
  for (const api::ObjectPtr& object : objects) visit(context, ToAbi(object.get()));
}

void WaitingPodsOf(const schedsim_handle* /*handle*/, void (*visit)(void* context, const schedsim_pod* pod),
                   void* context) {
  std::vector<framework::PodInfoPtr> pods;
  JsonWriter request = Remote().Request("waiting");
  Remote().Ask(request, [&](const Value& reply) {
    for (const std::string& name : Fields(reply).Texts("pods")) pods.push_back(Remote().FindPod(name));
  });
  for (const framework::PodInfoPtr& pod : pods) visit(context, ToAbi(*pod));
}

int AskFound(JsonWriter& request) {
  bool found = false;
  Remote().Ask(request, [&](const Value& reply) { found = Fields(reply).Bool("found"); });
  return found ? 1 : 0;
}

int AllowWaitingPod(schedsim_handle* /*handle*/, schedsim_text uid, schedsim_text plugin) {
  JsonWriter request = Remote().Request("allow");
  request.Field("uid", View(uid)).Field("plugin", View(plugin));
  return AskFound(request);
}

int RejectWaitingPod(schedsim_handle* /*handle*/, schedsim_text uid, schedsim_text plugin,
                     schedsim_text message) {
  JsonWriter request = Remote().Request("reject");
  request.Field("uid", View(uid)).Field("plugin", View(plugin)).Field("message", View(message));
  return AskFound(request);
}

int Activate(schedsim_handle* /*handle*/, schedsim_text name_space, schedsim_text name) {
  JsonWriter request = Remote().Request("activate");
  request.Field("namespace", View(name_space)).Field("name", View(name));
  return AskFound(request);
}

schedsim_host MakeHost() {
  schedsim_host host = Host();
  host.node_pod_count = NodePodCount;
  host.node_pod = NodePod;
  host.node_requested = NodeRequested;
  host.snapshot_find = SnapshotFind;
  host.find_pod = FindPod;
  host.find_object = FindObject;
  host.list_objects = ListObjects;
  host.nominated_pod_count = NominatedPodCount;
  host.waiting_pods = WaitingPodsOf;
  host.allow_waiting_pod = AllowWaitingPod;
  host.reject_waiting_pod = RejectWaitingPod;
  host.activate = Activate;
  return host;
}

}  // namespace

const schedsim_host& RemoteHost() {
  static const schedsim_host host = MakeHost();
  return host;
}

void SetRemoteScheduler(RemoteScheduler* scheduler) { Current() = scheduler; }

}  // namespace schedsim::hosting
