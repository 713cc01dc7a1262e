// Quotas of a cluster that count objects which the input lacks.
#ifndef SCHEDSIM_SIM_FORMATS_QUOTA_GAPS_H_
#define SCHEDSIM_SIM_FORMATS_QUOTA_GAPS_H_

#include <cstddef>
#include <string>

#include "absl/types/span.h"
#include "core/api/object.h"

namespace schedsim::sim {

// The quotas of an input whose status says that more is used than its objects come to, although pods, or
// other objects that they count, may be created there.
struct QuotaGaps {
  size_t count = 0;
  size_t first = 0;  // The index of the first one, by namespace.
  // `status.used says pods 5, the input has 0`.
  std::string text;
};

// `goes_on`: objects are created later as well.
QuotaGaps FindQuotaGaps(absl::Span<const api::ObjectPtr> objects, bool goes_on);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_QUOTA_GAPS_H_
