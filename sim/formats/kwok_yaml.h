// YAML in the style of kwok's snapshots.
#ifndef SCHEDSIM_SIM_FORMATS_KWOK_YAML_H_
#define SCHEDSIM_SIM_FORMATS_KWOK_YAML_H_

#include <string>

#include "core/codec/text/value.h"

namespace schedsim::sim {

// Appends one document without a marker: block style, maps in their order, items of lists not indented below
// their key, numbers as written. Strings are plain where YAML 1.1 and 1.2 read the same string back; what
// would be something else is in double quotes, texts of several lines are literal blocks, all others are in
// single quotes. Lines are never folded. Source: sigs.k8s.io/yaml v1.6 with go.yaml.in/yaml/v2 v2.4,
// encode.go.
void AppendKwokYaml(const codec::Value& root, std::string& out);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_KWOK_YAML_H_
