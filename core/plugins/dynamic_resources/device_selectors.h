// Which devices expressions select.
#ifndef SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_SELECTORS_H_
#define SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_SELECTORS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/api/kubernetes_version.h"
#include "core/base/lookup_map.h"
#include "core/cel/device_expression.h"
#include "core/plugins/dynamic_resources/device_slices.h"

namespace schedsim::plugins {

// Compiled expressions. What they say of a device is kept with the device.
class DeviceSelectors {
 public:
  // `line` must outlive it.
  explicit DeviceSelectors(const api::LineBehavior& line) : line_(line) {}

  // Whether all of `selectors` select the device; they stop at the first one that does not. `owner`, asked
  // where one cannot say, gives "class NAME" or "claim NAMESPACE/NAME" for the error, whose text is that of
  // the real allocator. Unimplemented: an expression needs what our evaluator has not.
  absl::StatusOr<bool> Match(absl::Span<const api::DeviceSelector> selectors,
                             absl::FunctionRef<std::string()> owner, const DeviceSlice& slice,
                             SliceDevice& device);

 private:
  struct Expression {
    size_t number = 0;
    absl::StatusOr<cel::DeviceExpression> compiled = absl::UnknownError("");
  };
  Expression& Compile(const std::string& text);
  // What expressions see of the device; that of the last one is kept.
  const cel::CelResult& ValueOf(const DeviceSlice& slice, const SliceDevice& device);

  const api::LineBehavior& line_;
  LookupMap<std::string, size_t> numbers_;
  std::vector<Expression> expressions_;
  std::shared_ptr<const api::ResourceSlice> last_slice_;  // Keeps the device alive.
  const api::Device* last_device_ = nullptr;
  cel::CelResult last_value_ = absl::UnknownError("");
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_SELECTORS_H_
