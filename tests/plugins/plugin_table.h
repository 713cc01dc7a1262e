// Rows of the plugin tables; README.md has their format.
#ifndef SCHEDSIM_TESTS_PLUGINS_PLUGIN_TABLE_H_
#define SCHEDSIM_TESTS_PLUGINS_PLUGIN_TABLE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace schedsim {

// One row with one line of Kubernetes.
struct PluginTableRow {
  // Letters, digits and underscores: of the file, the row and the line.
  std::string test_name;
  std::string file;
  std::string name;
  std::string plugin;
  std::string version;
  // "namespace/name" of the pod that the row is about.
  std::string pod;
  // As a line of a file of conformance cases.
  nlohmann::json test_case;
  // Shape: what is wanted by its key.
  nlohmann::json want;
};

// The rows of a table. Errors: InvalidArgument, `file:line: what`, with lines from 1.
absl::StatusOr<std::vector<PluginTableRow>> ReadPluginTable(const std::string& path);

// What a run says of a row, in the form in which a table wants it.
// Shape: `records` as CaseRun::records. Errors: InvalidArgument for a key that README.md does not have, or a
// record that is not JSON.
absl::StatusOr<nlohmann::json> PluginTableAnswer(const std::vector<std::string>& records,
                                                 const PluginTableRow& row, const std::string& key);

}  // namespace schedsim

#endif  // SCHEDSIM_TESTS_PLUGINS_PLUGIN_TABLE_H_
