// Whether a run came to what a test expects.
#ifndef SCHEDSIM_SIM_EXPECT_EVALUATE_H_
#define SCHEDSIM_SIM_EXPECT_EVALUATE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/codec/text/value.h"
#include "sim/expect/outcome.h"
#include "sim/expect/test_file.h"

namespace schedsim::sim {

// What came of one expectation.
struct Verdict {
  std::string name;
  codec::Position position;
  // Empty: it holds. Else what does not, a sentence each.
  std::vector<std::string> failures;
  // The first pod that is not as expected, "namespace/name"; "": none is to blame.
  std::string pod;
  // Why that pod is where it is, as text of several lines; "": that was not looked for.
  std::string explanation;
};

// One for each expectation, in their order. In front of them one by the name of `run`, where the run itself
// failed: a wait or an entry of its scenario; and one for what must hold of every run, where it does not.
std::vector<Verdict> Evaluate(const TestFile& test, const Outcome& outcome);

// Compares with golden placements: `expected` is the text of the file, which names a pod at least.
Verdict ComparePlacements(absl::string_view expected, const Outcome& outcome);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPECT_EVALUATE_H_
