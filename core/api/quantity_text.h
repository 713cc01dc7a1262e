// Quantities as text.
#ifndef SCHEDSIM_CORE_API_QUANTITY_TEXT_H_
#define SCHEDSIM_CORE_API_QUANTITY_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "core/api/quantity.h"

namespace schedsim::api {

enum class QuantityFormat : uint8_t {
  kDecimal,  // 500m, 2k, 3G.
  kBinary,   // Powers of 1024 where that is shorter: 512Mi.
};

// The canonical text: in the largest unit of which the quantity is a whole number.
// Source: apimachinery v0.37, pkg/api/resource/quantity.go, CanonicalizeBytes.
std::string QuantityText(Quantity quantity, QuantityFormat format = QuantityFormat::kDecimal);

// The same as a quantity of this format prints itself: also binary ones of less than 1024, and those that are
// no whole numbers, are decimal.
std::string NotedQuantityText(Quantity quantity, QuantityFormat format);

// The same for an amount of a resource: memory and storage are binary. The notation of the input is not kept.
std::string AmountText(absl::string_view resource, Quantity amount);

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_QUANTITY_TEXT_H_
