// TeamNodes scores nodes by a label: the plugin whose cost plugin_cost.py measures.
#include <schedsim/plugin.h>

namespace {

using schedsim::plugin::CycleState;
using schedsim::plugin::Handle;
using schedsim::plugin::Node;
using schedsim::plugin::Pod;
using schedsim::plugin::Scored;
using schedsim::plugin::Signer;
using schedsim::plugin::Status;

class TeamNodes {
 public:
  static constexpr char kName[] = "TeamNodes";
  static constexpr schedsim::plugin::Reads kScoreReads = schedsim::plugin::Reads::kNodeObject;
  explicit TeamNodes(Handle) {}

  Scored Score(CycleState&, Pod, Node node) { return node.label("team").has_value() ? 100 : 0; }
  Status SignPod(Pod, Signer&) { return {}; }
};

}  // namespace

const schedsim_library* schedsim_plugin_library(const schedsim_host* host) {
  return schedsim::plugin::Library<TeamNodes>(host);
}
