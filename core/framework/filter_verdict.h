// What FilterPlugin::FilterNodes may say of a node beside the failures of its list.
#ifndef SCHEDSIM_CORE_FRAMEWORK_FILTER_VERDICT_H_
#define SCHEDSIM_CORE_FRAMEWORK_FILTER_VERDICT_H_

#include <cstdint>

namespace schedsim::framework {

// The node fails, and Filter says how: it is asked about the node next.
inline constexpr uint8_t kAskFilter = UINT8_MAX;

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_FILTER_VERDICT_H_
