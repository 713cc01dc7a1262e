#include "tools/plugin_template.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace schedsim::tools {
namespace {

// In each text, $NAME and $FILE stand for the plugin's name and that of its files, $PLUGINS for what a test
// says of it, and $TEST for the command that runs the test.

constexpr char kSource[] = R"($NAME: what it does for its user, in a sentence.
#include <schedsim/plugin.h>

#include <optional>
#include <string_view>

namespace {

using schedsim::plugin::CycleState;
using schedsim::plugin::Events;
using schedsim::plugin::Handle;
using schedsim::plugin::Node;
using schedsim::plugin::Pod;
using schedsim::plugin::Scored;
using schedsim::plugin::Signer;
using schedsim::plugin::Status;

// Nodes of the pod's team are best, nodes of another team are refused.
class $NAME {
 public:
  static constexpr char kName[] = "$NAME";
  explicit $NAME(Handle) {}

  Status Filter(CycleState&, Pod pod, Node node) {
    const std::optional<std::string_view> team = node.label("team");
    if (!team.has_value() || team == pod.label("team")) return Status::Success();
    return Status::UnschedulableAndUnresolvable("node(s) belonged to another team");
  }

  // 0 to 100, times the weight of the configuration.
  Scored Score(CycleState&, Pod pod, Node node) {
    const std::optional<std::string_view> team = pod.label("team");
    return team.has_value() && node.label("team") == team ? 100 : 0;
  }

  // What may help a pod that Filter refused.
  Status EventsToRegister(Events& events) {
    events.Register("Node", SCHEDSIM_ADD | SCHEDSIM_UPDATE_NODE_LABEL);
    events.Register("Pod", SCHEDSIM_UPDATE_POD_LABEL);
    return Status::Success();
  }

  // All that the answers depend on beside the nodes.
  Status SignPod(Pod pod, Signer& signer) {
    signer.Add("team", pod.label("team").value_or(""));
    return Status::Success();
  }
};

}  // namespace

const schedsim_library* schedsim_plugin_library(const schedsim_host* host) {
  return schedsim::plugin::Library<$NAME>(host);
}
)";

constexpr char kPython[] = R"("""$NAME: what it does for its user, in a sentence."""
import schedsim_plugin
from schedsim_plugin import Event, Status


class $NAME:
    """Nodes of the pod's team are best, nodes of another team are refused."""

    def Filter(self, state, pod, node):
        team = node.label("team")
        if team is None or team == pod.label("team"):
            return Status.Success()
        return Status.UnschedulableAndUnresolvable("node(s) belonged to another team")

    def Score(self, state, pod, node):
        """0 to 100, times the weight of the configuration."""
        team = pod.label("team")
        return 100 if team is not None and node.label("team") == team else 0

    def EventsToRegister(self):
        """What may help a pod that Filter refused."""
        return [Event("Node", "Add", "UpdateNodeLabel"), Event("Pod", "UpdatePodLabel")]

    def SignPod(self, pod):
        """All that the answers depend on beside the nodes."""
        return {"team": pod.label("team", "")}


schedsim_plugin.serve($NAME)
)";

constexpr char kCMake[] = R"(cmake_minimum_required(VERSION 3.25)
project($FILE LANGUAGES CXX)

find_package(schedsim REQUIRED)
schedsim_add_plugin($FILE SOURCES $FILE.cc)

find_program(SCHEDSIM schedsim REQUIRED HINTS ${SCHEDSIM_BINARY_DIR})
enable_testing()
add_test(NAME placements
  COMMAND ${SCHEDSIM} test ${PROJECT_SOURCE_DIR}/placements.test.yaml --plugin $<TARGET_FILE:$FILE>)
)";

constexpr char kConfig[] = R"(apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled: [{name: $NAME, weight: 10}]
)";

constexpr char kCluster[] = R"(apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: node-red, labels: {team: red}}
  status: {allocatable: {cpu: "2", memory: 8Gi, pods: "110"}}
- apiVersion: v1
  kind: Node
  metadata: {name: node-blue, labels: {team: blue}}
  status: {allocatable: {cpu: "2", memory: 8Gi, pods: "110"}}
- apiVersion: v1
  kind: Node
  metadata: {name: node-free}
  status: {allocatable: {cpu: "8", memory: 32Gi, pods: "110"}}
- apiVersion: v1
  kind: Pod
  metadata: {name: red, namespace: default, labels: {team: red}}
  spec: {containers: [{name: c, image: app, resources: {requests: {cpu: "1"}}}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: blue, namespace: default, labels: {team: blue}}
  spec: {containers: [{name: c, image: app, resources: {requests: {cpu: "1"}}}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: other, namespace: default}
  spec: {containers: [{name: c, image: app, resources: {requests: {cpu: "1"}}}]}
)";

constexpr char kTest[] = R"(apiVersion: schedsim/v1
kind: Test
run:
  files: [cluster.yaml]
  config: scheduler.yaml
$PLUGINSexpect:
- name: a pod goes to a node of its team
  pods: {name: red}
  node: {name: node-red}
- name: so does that of the other team
  pods: {name: blue}
  node: {name: node-blue}
- name: a pod without a team goes where nobody's nodes are
  pods: {name: other}
  node: {name: node-free}
)";

constexpr char kCi[] = R"(name: placements
on: [push, pull_request]
jobs:
  placements:
    runs-on: ubuntu-latest
    container: debian:bookworm
    steps:
    - uses: actions/checkout@v4
    - name: Build schedsim
      run: |
        apt-get update && apt-get install -y git python3
        git clone --depth 1 "$SCHEDSIM_REPOSITORY" /schedsim
        cd /schedsim && scripts/setup.sh
        cmake --preset release && cmake --build build/release --target install
      env:
        SCHEDSIM_REPOSITORY: ${{ vars.SCHEDSIM_REPOSITORY }}
    - name: Test the plugin
      run: $TEST
)";

}  // namespace

std::string SnakeCase(absl::string_view camel_case) {
  std::string snake;
  for (size_t i = 0; i < camel_case.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(camel_case[i]);
    const bool starts_word = absl::ascii_isupper(c) && i > 0 &&
                             !absl::ascii_isupper(static_cast<unsigned char>(camel_case[i - 1]));
    if (starts_word) snake.push_back('_');
    snake.push_back(absl::ascii_tolower(c));
  }
  return snake;
}

std::string TestCommand(PluginLanguage language) {
  return language == PluginLanguage::kPython
             ? "schedsim test placements.test.yaml"
             : "cmake -B build && cmake --build build && ctest --test-dir build --output-on-failure";
}

std::vector<TemplateFile> PluginTemplate(absl::string_view name, PluginLanguage language) {
  const std::string file = SnakeCase(name);
  const bool is_python = language == PluginLanguage::kPython;
  // A library is where its build puts it; the build names it to the test.
  const std::string plugins = is_python ? absl::StrCat("  plugins: [", file, ".py]\n") : "";
  const auto fill = [&](absl::string_view text) {
    return absl::StrReplaceAll(text, {{"$NAME", std::string(name)},
                                      {"$FILE", file},
                                      {"$PLUGINS", plugins},
                                      {"$TEST", TestCommand(language)}});
  };
  std::vector<TemplateFile> files;
  if (is_python) {
    files.push_back({.path = file + ".py", .text = fill(kPython)});
  } else {
    files.push_back({.path = file + ".cc", .text = "// " + fill(kSource)});
    files.push_back({.path = "CMakeLists.txt", .text = fill(kCMake)});
  }
  files.push_back({.path = "scheduler.yaml", .text = fill(kConfig)});
  files.push_back({.path = "cluster.yaml", .text = fill(kCluster)});
  files.push_back({.path = "placements.test.yaml", .text = fill(kTest)});
  files.push_back({.path = ".github/workflows/placements.yaml", .text = fill(kCi)});
  return files;
}

}  // namespace schedsim::tools
