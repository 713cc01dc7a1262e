// What records show of a claim of devices.
#ifndef SCHEDSIM_SIM_RECORD_CLAIM_VIEW_H_
#define SCHEDSIM_SIM_RECORD_CLAIM_VIEW_H_

#include <deque>
#include <string>

#include "core/api/devices.h"
#include "sim/record/records.h"

namespace schedsim::sim {

// Fills `view`, which borrows from the claim and from `texts`.
void FillClaimView(const api::ResourceClaim& claim, std::deque<std::string>& texts, record::ClaimView& view);

// "request class count" of each request that names a class, borrowed from `texts`.
record::Texts RequestsOf(const api::ResourceClaim& claim, std::deque<std::string>& texts);

// "device condition" of what devices say, borrowed from `texts`.
record::Texts ConditionsOf(const api::ResourceClaim& claim, std::deque<std::string>& texts);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RECORD_CLAIM_VIEW_H_
