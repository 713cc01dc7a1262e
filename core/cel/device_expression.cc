#include "core/cel/device_expression.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/cel/cel_checker.h"
#include "core/cel/cel_functions.h"

namespace schedsim::cel {
namespace {

constexpr absl::string_view kDeviceType = "kubernetes.DRADevice";

const CelFunctions& Functions() {
  static const auto* const kFunctions = [] {
    auto* made = new CelFunctions();
    AddTextFunctions(*made);
    AddListFunctions(*made);
    AddOptionalFunctions(*made);
    AddKubernetesFunctions(*made);
    return made;
  }();
  return *kFunctions;
}

const CelDeclarations& Declarations() {
  static const auto* const kDeclarations = [] {
    auto* made = new CelDeclarations();
    made->signatures = &KubernetesCelSignatures();
    made->functions = &Functions();
    made->variables = {{"device", CelType::Parse(kDeviceType)}};
    made->fields[std::string(kDeviceType)] = {
        {"driver", CelType::Parse("string")},
        {"allowMultipleAllocations", CelType::Parse("bool")},
        {"attributes", CelType::Parse("map(string, map(string, dyn))")},
        {"capacity", CelType::Parse("map(string, map(string, kubernetes.Quantity))")}};
    return made;
  }();
  return *kDeclarations;
}

CelResult AttributeValue(const api::DeviceAttribute& attribute) {
  if (attribute.int_value.has_value()) return CelValue::Int(*attribute.int_value);
  if (attribute.bool_value.has_value()) return CelValue::Bool(*attribute.bool_value);
  if (attribute.string_value.has_value()) return CelValue::String(*attribute.string_value);
  if (!attribute.version_value.has_value()) {
    return absl::InvalidArgumentError("unsupported attribute value");
  }
  absl::StatusOr<Semver> version = Semver::Parse(*attribute.version_value);
  if (version.ok()) return CelValue::Of(*std::move(version));
  return absl::InvalidArgumentError(absl::StrCat("parse semantic version: ", version.status().message()));
}

// Values by domain and identifier.
class DomainMap {
 public:
  explicit DomainMap(absl::string_view driver) : driver_(driver) {}

  void Add(absl::string_view name, CelValue value) {
    const auto [domain, id] = ParseQualifiedName(name, driver_);
    auto found = std::find_if(domains_.begin(), domains_.end(),
                              [&](const auto& known) { return known.first == domain; });
    if (found == domains_.end()) found = domains_.insert(found, {std::string(domain), {}});
    found->second.emplace_back(std::string(id), std::move(value));
  }

  CelValue Finish() {
    CelValue::Map map;
    for (auto& [domain, values] : domains_)
      map.emplace_back(std::move(domain), CelValue::Of(std::move(values)));
    return CelValue::Of(std::move(map), CelValue::Type::kDomainMap);
  }

 private:
  const absl::string_view driver_;
  std::vector<std::pair<std::string, CelValue::Map>> domains_;
};

// Why a value is no bool, in the words of its type.
std::string ConversionText(const CelValue& value) {
  using Type = CelValue::Type;
  const absl::string_view type = value.TypeName();
  if (value.Is(Type::kString)) return "unsupported native conversion from string to 'bool'";
  if (value.Is(Type::kSemver)) return "type conversion error from 'Semver' to 'bool'";
  if (value.Is(Type::kQuantity)) return "type conversion error from 'Quantity' to 'bool'";
  if (value.Is(Type::kList) || value.IsMapLike()) {
    return absl::StrCat("type conversion error from ", type, " to 'bool'");
  }
  return absl::StrCat("unsupported type conversion from '", type, "' to bool");
}

}  // namespace

std::pair<absl::string_view, absl::string_view> ParseQualifiedName(absl::string_view name,
                                                                   absl::string_view driver) {
  const size_t slash = name.find('/');
  if (slash == absl::string_view::npos) return {driver, name};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

CelResult DeviceValue(absl::string_view driver, const api::Device& device) {
  DomainMap attributes(driver);
  for (const auto& [name, attribute] : device.attributes) {
    CelResult value = AttributeValue(attribute);
    if (!value.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("attribute ", name, ": ", value.status().message()));
    }
    attributes.Add(name, *std::move(value));
  }
  DomainMap capacity(driver);
  for (const auto& [name, value] : device.capacity) capacity.Add(name, CelValue::Of(value.value.amount));
  return CelValue::Of(
      CelValue::Map{{"driver", CelValue::String(std::string(driver))},
                    {"allowMultipleAllocations", CelValue::Bool(device.allow_multiple_allocations)},
                    {"attributes", attributes.Finish()},
                    {"capacity", capacity.Finish()}});
}

absl::StatusOr<DeviceExpression> DeviceExpression::Compile(absl::string_view text) {
  CelType type;
  absl::StatusOr<CelProgram> program = CelProgram::Compile(text, Declarations(), type);
  if (absl::IsUnimplemented(program.status())) return program.status();
  if (!program.ok() && absl::StartsWith(program.status().message(), kProgramError)) return program.status();
  if (!program.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("compilation failed: ", program.status().message()));
  }
  if (type.kind != CelType::Kind::kDyn && type != CelType::Parse("bool")) {
    return absl::InvalidArgumentError(
        absl::StrCat("must evaluate to bool or the unknown type, not ", type.Text()));
  }
  return DeviceExpression(*std::move(program));
}

absl::StatusOr<bool> DeviceExpression::Matches(const CelValue& device) const {
  CelValue value;
  ASSIGN_OR_RETURN(value, program_.Evaluate({{"device", device}}, Functions()));
  if (value.Is(CelValue::Type::kBool)) return value.AsBool();
  return absl::InvalidArgumentError(absl::StrCat("CEL result of type ", value.TypeName(),
                                                 " could not be converted to bool: ", ConversionText(value)));
}

}  // namespace schedsim::cel
