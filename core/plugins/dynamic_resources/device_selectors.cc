#include "core/plugins/dynamic_resources/device_selectors.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace schedsim::plugins {

using api::KubernetesLine;

DeviceSelectors::Expression& DeviceSelectors::Compile(const std::string& text) {
  const size_t* known = numbers_.Find(text);
  if (known != nullptr) return expressions_[*known];
  const size_t number = expressions_.size();
  numbers_[text] = number;
  expressions_.push_back({.number = number, .compiled = cel::DeviceExpression::Compile(text)});
  return expressions_.back();
}

const cel::CelResult& DeviceSelectors::ValueOf(const DeviceSlice& slice, const SliceDevice& device) {
  if (last_device_ != device.device || last_slice_ != slice.object) {
    last_slice_ = slice.object;
    last_device_ = device.device;
    last_value_ = cel::DeviceValue(slice.spec().driver, *device.device);
  }
  return last_value_;
}

// Source: dynamic-resource-allocation v0.37, structured/internal/incubating/allocator_incubating.go,
// selectorsMatch.
absl::StatusOr<bool> DeviceSelectors::Match(absl::Span<const api::DeviceSelector> selectors,
                                            absl::FunctionRef<std::string()> owner, const DeviceSlice& slice,
                                            SliceDevice& device) {
  for (size_t i = 0; i < selectors.size(); ++i) {
    const Expression& expression = Compile(*selectors[i].expression);
    if (absl::IsUnimplemented(expression.compiled.status())) return expression.compiled.status();
    if (!expression.compiled.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          owner(), ": selector #", i, ": CEL compile error: ", expression.compiled.status().message()));
    }
    if (device.verdicts.size() <= expression.number) device.verdicts.resize(expression.number + 1);
    uint8_t& verdict = device.verdicts[expression.number];
    if (verdict == 0) {
      const cel::CelResult& value = ValueOf(slice, device);
      const absl::StatusOr<bool> matches =
          value.ok() ? expression.compiled->Matches(*value) : absl::StatusOr<bool>(value.status());
      if (!matches.ok()) {
        const bool names_device = line_.line >= KubernetesLine::k1_37;
        const absl::string_view text = matches.status().message();
        const bool has_hint = names_device && absl::StartsWith(text, "no such key: ");
        return absl::InvalidArgumentError(absl::StrCat(
            owner(), ": selector #", i, names_device ? absl::StrCat(" on device ", device.key) : "",
            ": CEL runtime error: ", text,
            has_hint
                ? ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check "
                  "with has() for optional fields"
                : ""));
      }
      verdict = *matches ? 1 : 2;
    }
    if (verdict == 2) return false;
  }
  return true;
}

}  // namespace schedsim::plugins
