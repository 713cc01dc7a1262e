// What calibrating prints.
#ifndef SCHEDSIM_SIM_REPORT_CALIBRATION_REPORT_H_
#define SCHEDSIM_SIM_REPORT_CALIBRATION_REPORT_H_

#include <string>
#include <vector>

#include "sim/analysis/calibration.h"
#include "sim/analysis/latency_fit.h"

namespace schedsim::sim {

struct Calibration {
  LatencyFit fit;
  // Of the log that was fitted.
  Prediction own;
  // Of other logs, with the same model.
  struct Check {
    std::string path;
    Prediction prediction;
  };
  std::vector<Check> checks;
};

// YAML: the model as the `latency` of a scenario, the rest as comments.
std::string CalibrationText(const Calibration& calibration);
std::string CalibrationJson(const Calibration& calibration);

// "3 bound in the log only, 0 in the prediction only, ...": the pods that do not count.
std::string LeftOutText(const Prediction& prediction);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_CALIBRATION_REPORT_H_
