#include "tests/tools/json_schema.h"

#include <algorithm>
#include <regex>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;

const std::set<std::string> kKeywords = {
    "$schema",  "$defs",    "$ref",      "title",   "description",
    "type",     "required", "items",     "pattern", "properties",
    "minimum",  "enum",     "const",     "format",  "additionalProperties",
    "maxItems", "minItems", "minLength", "anyOf"};

bool HasType(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "integer") return value.is_number_integer();
  return type == "number" && value.is_number();
}

class Checker {
 public:
  explicit Checker(const Json& root) : root_(root) {}

  // A schema is as deep as it is written.
  void Check(const Json& schema, const Json& value, const std::string& path) {  // NOLINT(misc-no-recursion)
    if (schema.contains("$ref")) {
      const std::string pointer = schema["$ref"].get<std::string>().substr(1);
      Check(root_.at(Json::json_pointer(pointer)), value, path);
    }
    for (const auto& [keyword, unused] : schema.items()) {
      Expect(kKeywords.contains(keyword), path, "unknown keyword " + keyword);
    }
    CheckScalar(schema, value, path);
    if (schema.contains("anyOf")) CheckAnyOf(schema["anyOf"], value, path);
    if (value.is_object()) CheckMembers(schema, value, path);
    if (!value.is_array()) return;
    Expect(!schema.contains("maxItems") || value.size() <= schema["maxItems"].get<size_t>(), path,
           "too many items");
    Expect(!schema.contains("minItems") || value.size() >= schema["minItems"].get<size_t>(), path,
           "too few items");
    for (size_t i = 0; schema.contains("items") && i < value.size(); ++i) {
      Check(schema["items"], value[i], absl::StrCat(path, "[", i, "]"));
    }
  }

  std::vector<std::string> violations;

 private:
  void Expect(bool holds, const std::string& path, const std::string& what) {
    if (!holds) violations.push_back(absl::StrCat(path, ": ", what));
  }

  void CheckAnyOf(const Json& schemas, const Json& value,
                  const std::string& path) {  // NOLINT(misc-no-recursion)
    std::vector<std::string> all;
    for (const Json& schema : schemas) {
      Checker one(root_);
      one.Check(schema, value, path);
      if (one.violations.empty()) return;
      all.insert(all.end(), one.violations.begin(), one.violations.end());
    }
    Expect(false, path, absl::StrCat("is none of those allowed: ", absl::StrJoin(all, "; ")));
  }

  void CheckScalar(const Json& schema, const Json& value, const std::string& path) {
    if (schema.contains("type")) {
      const Json types = schema["type"].is_array() ? schema["type"] : Json::array({schema["type"]});
      const bool has_one = std::any_of(types.begin(), types.end(), [&value](const Json& type) {
        return HasType(value, type.get<std::string>());
      });
      Expect(has_one, path, "is no " + types.dump());
    }
    if (schema.contains("const")) Expect(value == schema["const"], path, "is not " + schema["const"].dump());
    if (schema.contains("enum")) {
      const Json& values = schema["enum"];
      Expect(std::find(values.begin(), values.end(), value) != values.end(), path,
             "is none of " + values.dump());
    }
    if (schema.contains("minimum") && value.is_number())
      Expect(value >= schema["minimum"], path, "is too small");
    if (!value.is_string()) return;
    const std::string text = value.get<std::string>();
    if (schema.contains("minLength"))
      Expect(text.size() >= schema["minLength"].get<size_t>(), path, "is too short");
    if (!schema.contains("pattern")) return;
    const std::string pattern = schema["pattern"].get<std::string>();
    Expect(std::regex_search(text, std::regex(pattern)), path,
           absl::StrCat(text, " does not match ", pattern));
  }

  void CheckMembers(const Json& schema, const Json& value,
                    const std::string& path) {  // NOLINT(misc-no-recursion)
    for (const Json& name : schema.value("required", Json::array())) {
      Expect(value.contains(name.get<std::string>()), path, "lacks " + name.dump());
    }
    const Json properties = schema.value("properties", Json::object());
    const Json others = schema.value("additionalProperties", Json(true));
    for (const auto& [name, member] : value.items()) {
      const std::string member_path = absl::StrCat(path, ".", name);
      if (properties.contains(name)) {
        Check(properties[name], member, member_path);
      } else if (others.is_object()) {
        Check(others, member, member_path);
      } else {
        Expect(others != false, member_path, "is not in the schema");
      }
    }
  }

  const Json& root_;
};

}  // namespace

std::vector<std::string> SchemaViolations(const Json& schema, const Json& value) {
  Checker checker(schema);
  checker.Check(schema, value, "$");
  return checker.violations;
}

}  // namespace schedsim
