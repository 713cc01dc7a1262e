#include "core/api/feature_gates.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "core/api/feature_gate_table.h"
#include "core/api/go_text.h"
#include "core/base/check.h"
#include "core/base/nearest_name.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"

namespace schedsim::api {
namespace {

// In the order of Feature.
constexpr absl::string_view kFeatureNames[] = {
    "ClearingNominatedNodeNameAfterBinding",
    "DRAAdminAccess",
    "DRAConsumableCapacity",
    "DRADeviceBindingConditions",
    "DRADeviceTaints",
    "DRAExtendedResource",
    "DRAFractionalCapacityRange",
    "DRAPartitionableDevices",
    "DRAPrioritizedList",
    "DRAResourceClaimDeviceStatus",
    "DRASchedulerFilterTimeout",
    "GangScheduling",
    "GenericWorkload",
    "InPlacePodLevelResourcesVerticalScaling",
    "NodeDeclaredFeatures",
    "NominatedNodeNameForExpectation",
    "OpportunisticBatching",
    "PodGroupPreemptionPolicy",
    "SchedulerPopFromBackoffQ",
    "StorageCapacityScoring",
    "TopologyAwareWorkloadScheduling",
    "VolumeLimitScaling",
    "WorkloadAwarePreemption",
};
static_assert(std::size(kFeatureNames) == kFeatureCount);

// A gate in one line.
struct GateSpec {
  bool default_value = false;
  bool locked = false;
  char stage = 'a';
};

const GateRow* FindRow(absl::string_view name) {
  const absl::Span<const GateRow> table = FeatureGateTable();
  const auto found =
      std::lower_bound(table.begin(), table.end(), name,
                       [](const GateRow& row, absl::string_view wanted) { return row.name < wanted; });
  return found != table.end() && found->name == name ? &*found : nullptr;
}

// The gate in this line, or std::nullopt where the line does not have it.
std::optional<GateSpec> SpecOf(const GateRow& row, KubernetesLine line) {
  const std::vector<absl::string_view> cells = absl::StrSplit(row.lines, ' ');
  const absl::string_view cell = cells[static_cast<size_t>(line)];
  if (cell == "-") return std::nullopt;
  return GateSpec{.default_value = cell[0] == 'T', .locked = cell.size() > 2, .stage = cell[1]};
}

// The gates that the line has.
std::vector<absl::string_view> GatesOf(KubernetesLine line) {
  std::vector<absl::string_view> names;
  for (const GateRow& row : FeatureGateTable()) {
    if (SpecOf(row, line).has_value()) names.push_back(row.name);
  }
  return names;
}

bool DefaultValue(absl::string_view name, KubernetesLine line) {
  const GateRow* row = FindRow(name);
  CHECK(row != nullptr);
  if (const std::optional<GateSpec> spec = SpecOf(*row, line)) return spec->default_value;
  // Older lines that have it say that it was removed, permanently on; otherwise it is yet to come.
  for (int older = 0; older < static_cast<int>(line); ++older) {
    if (SpecOf(*row, static_cast<KubernetesLine>(older))) return true;
  }
  return false;
}

absl::string_view BoolName(bool value) { return value ? "true" : "false"; }

// As Go's strconv.ParseBool.
std::optional<bool> ParseBool(absl::string_view text) {
  for (absl::string_view name : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == name) return true;
  }
  for (absl::string_view name : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == name) return false;
  }
  return std::nullopt;
}

struct Setting {
  std::string name;
  bool value = false;
};

// The settings in order of names, the last one of each.
absl::StatusOr<std::vector<Setting>> ParseSettings(absl::string_view list) {
  std::vector<Setting> settings;
  for (absl::string_view part : absl::StrSplit(list, ',')) {
    if (part.empty()) continue;
    const std::vector<absl::string_view> halves = absl::StrSplit(part, absl::MaxSplits('=', 1));
    const absl::string_view name = absl::StripAsciiWhitespace(halves[0]);
    if (halves.size() != 2) {
      return absl::InvalidArgumentError(
          absl::StrCat(GoQuote(name), " has no value, expected ", name, "=true or ", name, "=false"));
    }
    const absl::string_view text = absl::StripAsciiWhitespace(halves[1]);
    const std::optional<bool> value = ParseBool(text);
    if (!value) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": ", GoQuote(text), " is not a value, expected true or false"));
    }
    const auto known = std::find_if(settings.begin(), settings.end(),
                                    [&](const Setting& setting) { return setting.name == name; });
    if (known != settings.end()) {
      known->value = *value;
    } else {
      settings.push_back({std::string(name), *value});
    }
  }
  std::sort(settings.begin(), settings.end(),
            [](const Setting& a, const Setting& b) { return a.name < b.name; });
  return settings;
}

// The stage that a group setting stands for, or std::nullopt for the name of a single gate.
std::optional<char> GroupStage(absl::string_view name) {
  if (name == "AllAlpha") return 'a';
  if (name == "AllBeta") return 'b';
  return std::nullopt;
}

}  // namespace

FeatureGates::FeatureGates(KubernetesLine line) : line_(line) {
  for (int i = 0; i < kFeatureCount; ++i) {
    enabled_[static_cast<size_t>(i)] = DefaultValue(kFeatureNames[i], line);
  }
}

absl::Status FeatureGates::Set(absl::string_view list) {
  ASSIGN_OR_RETURN(const std::vector<Setting> settings, ParseSettings(list));
  FeatureGates changed = *this;
  for (const Setting& setting : settings) {
    const std::optional<char> stage = GroupStage(setting.name);
    if (!stage) continue;
    for (const GateRow& row : FeatureGateTable()) {
      const std::optional<GateSpec> spec = SpecOf(row, line_);
      const bool is_set = std::any_of(settings.begin(), settings.end(),
                                      [&](const Setting& other) { return other.name == row.name; });
      if (!spec || spec->locked || spec->stage != *stage || is_set) continue;
      RETURN_IF_ERROR(changed.SetOne(row.name, setting.value));
    }
  }
  for (const Setting& setting : settings) {
    if (!GroupStage(setting.name)) RETURN_IF_ERROR(changed.SetOne(setting.name, setting.value));
  }
  *this = changed;
  return absl::OkStatus();
}

absl::Status FeatureGates::SetOne(absl::string_view name, bool value) {
  const GateRow* row = FindRow(name);
  const std::optional<GateSpec> spec = row == nullptr ? std::nullopt : SpecOf(*row, line_);
  const std::string line = absl::StrCat("Kubernetes ", KubernetesLineName(line_));
  if (!spec) {
    const absl::string_view nearest = NearestName(name, GatesOf(line_));
    return absl::InvalidArgumentError(
        absl::StrCat(Printable(name, kShownBytesMax), ": ", line, " has no such feature gate",
                     nearest.empty() ? "" : absl::StrCat(", did you mean ", nearest, "?")));
  }
  if (spec->locked && spec->default_value != value) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": is locked to ", BoolName(spec->default_value),
                                                   " in ", line, ", expected that value or none"));
  }
  const bool is_simulated = value == spec->default_value || row->effect == GateEffect::kNone ||
                            row->effect == GateEffect::kMayChange ||
                            (row->effect == GateEffect::kMayBeOff && !value);
  if (!is_simulated) {
    return absl::UnimplementedError(absl::StrCat(name, "=", BoolName(value), " is not simulated: ", line,
                                                 " is simulated with ", name, "=",
                                                 BoolName(spec->default_value), " only"));
  }
  const auto feature = std::find(std::begin(kFeatureNames), std::end(kFeatureNames), name);
  if (feature != std::end(kFeatureNames)) {
    enabled_[static_cast<size_t>(feature - std::begin(kFeatureNames))] = value;
  }
  return absl::OkStatus();
}

}  // namespace schedsim::api
