#include "core/hosting/process/process_mirror.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/codec/objects/object_writer.h"

namespace schedsim::hosting {
namespace {

// A program that was told of so many pods forgets all that it knows, of which it is told anew then: pods come
// and go, and nobody says which of them a plugin will ask for again.
constexpr size_t kPodsMax = 500'000;

void Append(std::string& list, absl::string_view entry) {
  absl::StrAppend(&list, list.empty() ? "" : ",", entry);
}

}  // namespace

void WriteAmounts(const framework::Resource& amounts, int64_t pods, const SymbolTable& symbols,
                  codec::JsonWriter& writer) {
  writer.BeginObject()
      .Field("cpu", amounts.milli_cpu)
      .Field("memory", amounts.memory_bytes)
      .Field("ephemeral-storage", amounts.ephemeral_storage_bytes)
      .Field("pods", pods);
  for (const framework::ScalarResource& scalar : amounts.scalars) {
    writer.Field(symbols.Text(scalar.name), scalar.value);
  }
  writer.EndObject();
}

void WriteObject(const api::Object* object, codec::JsonWriter& writer) {
  if (object == nullptr) {
    writer.Null();
  } else {
    writer.Raw(codec::ObjectJson(*object));
  }
}

std::string ProcessMirror::NameOf(const api::Pod& pod) {
  if (!pod.metadata.uid.empty()) return pod.metadata.uid;
  return absl::StrCat(pod.metadata.namespace_, "/", pod.metadata.name);
}

std::string ProcessMirror::Tell(const framework::PodInfo& pod, const SymbolTable& symbols) {
  std::string name = NameOf(*pod.pod);
  api::PodPtr& known = pods_[name];
  if (known == pod.pod) return name;
  known = pod.pod;
  codec::JsonWriter writer;
  writer.BeginObject().Field("uid", name).Field("priority", int64_t{pod.Priority()}).Key("requests");
  WriteAmounts(pod.requests, /*pods=*/1, symbols, writer);
  writer.Key("object").Raw(codec::ObjectJson(*pod.pod)).EndObject();
  Append(new_pods_, writer.text());
  return name;
}

absl::string_view ProcessMirror::Tell(const framework::NodeInfo& node, const SymbolTable& symbols) {
  const absl::string_view name = symbols.Text(node.name);
  KnownNode& known = nodes_[node.name];
  const bool new_object = known.object != node.node;
  const bool new_pods = tells_pods_ && (!known.has_pods || known.pods != node.pods);
  if (!new_object && !new_pods) return name;
  codec::JsonWriter writer;
  writer.BeginObject().Field("name", name);
  if (new_object) {
    known.object = node.node;
    writer.Key("object").Raw(codec::ObjectJson(*node.node));
  }
  if (new_pods || (new_object && tells_pods_)) {
    writer.Key("allocatable");
    WriteAmounts(node.allocatable, node.allocatable.allowed_pod_number, symbols, writer);
    writer.Key("requested");
    WriteAmounts(node.requested, static_cast<int64_t>(node.pods.size()), symbols, writer);
    writer.Key("pods").BeginArray();
    for (const framework::PodInfoPtr& pod : node.pods) writer.String(Tell(*pod, symbols));
    writer.EndArray();
    known.has_pods = true;
    known.pods = node.pods;
  }
  writer.EndObject();
  Append(new_nodes_, writer.text());
  return name;
}

api::PodPtr ProcessMirror::FindPod(absl::string_view name) const {
  const api::PodPtr* const found = pods_.Find(name);
  return found == nullptr ? nullptr : *found;
}

void ProcessMirror::ForgetIfMany() {
  if (pods_.size() <= kPodsMax) return;
  pods_.Clear();
  nodes_.Clear();
  forgets_ = true;
}

void ProcessMirror::WriteNews(codec::JsonWriter& message) {
  if (!new_pods_.empty() || !new_nodes_.empty() || forgets_) {
    message.Key("learn").BeginObject();
    if (std::exchange(forgets_, false)) message.Key("forget").Bool(true);
    message.Key("pods").Raw(absl::StrCat("[", new_pods_, "]"));
    message.Key("nodes").Raw(absl::StrCat("[", new_nodes_, "]"));
    message.EndObject();
    new_pods_.clear();
    new_nodes_.clear();
  }
}

}  // namespace schedsim::hosting
