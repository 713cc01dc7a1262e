// Answers for people and for programs.
#ifndef SCHEDSIM_SIM_WHATIF_WHAT_IF_TEXT_H_
#define SCHEDSIM_SIM_WHATIF_WHAT_IF_TEXT_H_

#include <string>
#include <vector>

#include "sim/whatif/fit.h"
#include "sim/whatif/what_if.h"

namespace schedsim::sim {

std::string FitText(const FitAnswer& answer);
std::string CountText(const CountAnswer& answer);
// `node`: what the nodes are like.
std::string NodesText(const NodesAnswer& answer, const std::string& node);
std::string DrainAnswersText(const std::vector<DrainAnswer>& answers);

// docs/what-if.md has the fields.
std::string FitJson(const FitAnswer& answer);
std::string CountJson(const CountAnswer& answer);
std::string NodesJson(const NodesAnswer& answer, const std::string& node);
std::string DrainAnswersJson(const std::vector<DrainAnswer>& answers);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_WHATIF_WHAT_IF_TEXT_H_
