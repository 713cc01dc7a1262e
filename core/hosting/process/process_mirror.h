// What a program was told of pods and nodes, so that it is told again of what has changed alone.
#ifndef SCHEDSIM_CORE_HOSTING_PROCESS_PROCESS_MIRROR_H_
#define SCHEDSIM_CORE_HOSTING_PROCESS_PROCESS_MIRROR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/node.h"
#include "core/api/pod.h"
#include "core/base/lookup_map.h"
#include "core/base/symbol.h"
#include "core/codec/text/json_writer.h"
#include "core/framework/node_info.h"
#include "core/framework/pod_info.h"
#include "core/framework/resource.h"

namespace schedsim::hosting {

// A program has at most one version of each pod and of each node. What it gets to hear of is collected, and
// written into the next message.
class ProcessMirror {
 public:
  // By which pods are named: the uid, or "namespace/name" where there is none.
  static std::string NameOf(const api::Pod& pod);

  // The name of the pod, or of the node, of which the program knows this very version when it has read the
  // next message. `symbols` are those of the node.
  std::string Tell(const framework::PodInfo& pod, const SymbolTable& symbols);
  absl::string_view Tell(const framework::NodeInfo& node, const SymbolTable& symbols);

  // From now on nodes are told of with their pods and amounts.
  void TellPodsOfNodes() { tells_pods_ = true; }
  bool tells_pods() const { return tells_pods_; }

  // The version of which the program knows; nullptr: of none.
  api::PodPtr FindPod(absl::string_view name) const;

  // Writes the field `learn`, unless there is nothing new.
  void WriteNews(codec::JsonWriter& message);
  // Bounds what is known of. To be called before a message is begun.
  void ForgetIfMany();

 private:
  struct KnownNode {
    api::NodePtr object;
    bool has_pods = false;
    std::vector<framework::PodInfoPtr> pods;
  };

  LookupMap<std::string, api::PodPtr> pods_;
  LookupMap<Symbol, KnownNode> nodes_;
  bool tells_pods_ = false;
  // Of pods and nodes that are told of; commas included.
  std::string new_pods_;
  std::string new_nodes_;
  bool forgets_ = false;
};

// Amounts by resource as a map, such as {"cpu":100,"memory":0}.
void WriteAmounts(const framework::Resource& amounts, int64_t pods, const SymbolTable& symbols,
                  codec::JsonWriter& writer);

// The whole object; null for nullptr.
void WriteObject(const api::Object* object, codec::JsonWriter& writer);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_PROCESS_PROCESS_MIRROR_H_
