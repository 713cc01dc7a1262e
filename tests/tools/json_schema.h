// Checking JSON against the part of JSON Schema that docs/report.schema.json uses.
#ifndef SCHEDSIM_TESTS_TOOLS_JSON_SCHEMA_H_
#define SCHEDSIM_TESTS_TOOLS_JSON_SCHEMA_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace schedsim {

// Each way in which `value` is not as `schema` says, `path: what`. A keyword of the schema that is not known
// here is one, too.
std::vector<std::string> SchemaViolations(const nlohmann::json& schema, const nlohmann::json& value);

}  // namespace schedsim

#endif  // SCHEDSIM_TESTS_TOOLS_JSON_SCHEMA_H_
