// What YAML 1.1 makes of a scalar without quotes.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_YAML_SCALAR_H_
#define SCHEDSIM_CORE_CODEC_TEXT_YAML_SCALAR_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace schedsim::codec {

struct YamlScalar {
  enum class Type : uint8_t { kNull, kBool, kInteger, kFloat, kNotFinite, kString };

  Type type = Type::kString;
  bool boolean = false;
  // kInteger, kFloat: the number in JSON's notation. kString: the text as it was.
  absl::string_view text;
};

// Resolves a plain scalar as kubectl does. The result's text lies in `text` or in `scratch`, which is
// overwritten. Timestamps and base-60 numbers are strings.
// Source: sigs.k8s.io/yaml v1.6 with go.yaml.in/yaml/v2 v2.4, resolve.go.
YamlScalar ResolveYamlScalar(absl::string_view text, std::string& scratch);

// What a number becomes as a map key: integers stay, others turn into the shortest decimal of a
// 32-bit float, as Go formats it with 'g'.
// Source: sigs.k8s.io/yaml v1.6, convertToJSONableObject.
std::string YamlNumberKey(const YamlScalar& number);

// Whether a plain scalar of this text would be read back as the same string, by YAML 1.1 and 1.2
// alike, as a value or key in block style.
bool IsPlainYamlString(absl::string_view text);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_YAML_SCALAR_H_
