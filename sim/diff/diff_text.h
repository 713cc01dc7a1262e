// A DiffResult for people, for programs and for pull requests.
#ifndef SCHEDSIM_SIM_DIFF_DIFF_TEXT_H_
#define SCHEDSIM_SIM_DIFF_DIFF_TEXT_H_

#include <cstddef>
#include <string>

#include "sim/diff/diff.h"

namespace schedsim::sim {

// `pods_max`: how many pods are listed.
std::string DiffText(const DiffResult& diff, size_t pods_max);
// All pods; docs/diff.md has the fields.
std::string DiffJson(const DiffResult& diff);
// As for a comment on a pull request.
std::string DiffMarkdown(const DiffResult& diff, size_t pods_max);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_DIFF_DIFF_TEXT_H_
