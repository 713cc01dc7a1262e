// Tests of placements: a file that says what is run and what is expected of it.
#ifndef SCHEDSIM_SIM_EXPECT_TEST_FILE_H_
#define SCHEDSIM_SIM_EXPECT_TEST_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/codec/text/value.h"
#include "sim/cluster/label_selector.h"
#include "sim/plan/plan.h"

namespace schedsim::sim {

// Which pods, or nodes: all that are of this name and these labels; absent: any.
struct ObjectChoice {
  std::optional<std::string> name_space;
  std::optional<std::string> name;
  std::optional<LabelSelector> labels;
};

// What is expected of all pods of a choice, or of the run. Absent: nothing is.
struct Expectation {
  // As messages call it: its `name`, or what it says.
  std::string name;
  codec::Position position;
  ObjectChoice pods;

  // How many pods there are of the choice.
  std::optional<int64_t> count;
  // True: each is bound; false: none is.
  std::optional<bool> bound;
  // From the queue to the binding.
  std::optional<absl::Duration> bound_within;
  // Each is on one of these nodes.
  std::optional<ObjectChoice> node;
  // Each is pending, with a message that has this in it.
  std::optional<std::string> pending_reason;
  std::optional<int64_t> attempts_max;  // Of each.
  std::optional<int64_t> per_node_max;
  struct Skew {
    std::string topology_key;
    int64_t max = 0;
  };
  std::optional<Skew> skew;

  // Of the run.
  std::optional<int64_t> preemptions_max;
  struct Utilization {
    std::string resource;
    // Percent of what the nodes have.
    std::optional<int64_t> min;
    std::optional<int64_t> max;
  };
  std::optional<Utilization> utilization;

  // Whether it asks anything of the pods of the choice, beside how many they are.
  bool AsksOfPods() const;
  // Whether it asks anything of the run as a whole.
  bool AsksOfRun() const;
};

struct TestFile {
  std::string path;
  // What is run; paths are as the program finds them.
  RunRequest request;
  // The path of the golden placements; "": there are none.
  std::string placements;
  std::vector<Expectation> expectations;
};

// Reads the file `path`, of kind Test. Paths in it are from its folder. InvalidArgument,
// `file:line:column: path.to.field: what`, a line for each error.
absl::StatusOr<TestFile> ReadTestFile(const std::string& path);

// Whether a file of this name is a test, where a folder of them is given: test.yaml, *.test.yaml, also .yml.
bool IsTestFileName(absl::string_view name);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPECT_TEST_FILE_H_
