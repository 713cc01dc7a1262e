// Versions by the rules of Semantic Versioning 2.0.0.
#ifndef SCHEDSIM_CORE_CEL_SEMVER_H_
#define SCHEDSIM_CORE_CEL_SEMVER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace schedsim::cel {

// `major.minor.patch-prerelease+build`. Source: blang/semver v4.0.0, whose texts of errors these are.
struct Semver {
  // InvalidArgument: what is wrong with the text.
  static absl::StatusOr<Semver> Parse(absl::string_view text);
  // The same after a leading `v` and leading zeros are gone, and missing parts are 0.
  // Source: apiserver v0.37, pkg/cel/library/semverlib.go, normalizeAndParse.
  static absl::StatusOr<Semver> ParseNormalized(absl::string_view text);
  // -1, 0 or 1; what stands behind `+` does not count.
  static int Compare(const Semver& a, const Semver& b);

  uint64_t major = 0;
  uint64_t minor = 0;
  uint64_t patch = 0;
  std::vector<std::string> prerelease;  // The parts between dots.
};

}  // namespace schedsim::cel

#endif  // SCHEDSIM_CORE_CEL_SEMVER_H_
