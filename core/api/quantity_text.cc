#include "core/api/quantity_text.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace schedsim::api {
namespace {

std::string DigitsOf(__int128 number) {
  constexpr __int128 kSplit = 10'000'000'000'000'000;  // As many digits as the padding below.
  const bool is_negative = number < 0;
  const __int128 size = is_negative ? -number : number;
  const char* sign = is_negative ? "-" : "";
  const auto high = static_cast<uint64_t>(size / kSplit);
  const auto low = static_cast<uint64_t>(size % kSplit);
  if (high == 0) return absl::StrCat(sign, low);
  return absl::StrCat(sign, high, absl::Dec(low, absl::kZeroPad16));
}

// In the largest unit of which the amount is a whole number.
std::string ScaledText(__int128 amount, int64_t base, absl::string_view suffixes, absl::string_view end) {
  size_t scale = 0;
  while (amount != 0 && amount % base == 0 && scale < suffixes.size()) {
    amount /= base;
    ++scale;
  }
  return scale == 0 ? DigitsOf(amount) : absl::StrCat(DigitsOf(amount), suffixes.substr(scale - 1, 1), end);
}

}  // namespace

std::string QuantityText(Quantity quantity, QuantityFormat format) {
  constexpr __int128 kNanoPerUnit = 1'000'000'000;
  const __int128 nano = quantity.NanoValue();
  if (nano % 1'000 != 0) return absl::StrCat(DigitsOf(nano), "n");
  if (nano % 1'000'000 != 0) return absl::StrCat(DigitsOf(nano / 1'000), "u");
  if (nano % kNanoPerUnit != 0) return absl::StrCat(DigitsOf(nano / 1'000'000), "m");
  const std::string decimal = ScaledText(nano / kNanoPerUnit, 1000, "kMGTPE", "");
  if (format == QuantityFormat::kDecimal) return decimal;
  const std::string binary = ScaledText(nano / kNanoPerUnit, 1024, "KMGTPE", "i");
  return binary.size() < decimal.size() ? binary : decimal;
}

std::string NotedQuantityText(Quantity quantity, QuantityFormat format) {
  constexpr __int128 kNanoPerUnit = 1'000'000'000;
  constexpr __int128 kBinaryMin = 1024 * kNanoPerUnit;
  const __int128 nano = quantity.NanoValue();
  const bool is_small = nano > -kBinaryMin && nano < kBinaryMin;
  if (format == QuantityFormat::kDecimal || is_small || nano % kNanoPerUnit != 0)
    return QuantityText(quantity);
  return ScaledText(nano / kNanoPerUnit, 1024, "KMGTPE", "i");
}

std::string AmountText(absl::string_view resource, Quantity amount) {
  const bool is_binary = absl::StrContains(resource, "memory") || absl::StrContains(resource, "storage") ||
                         absl::StrContains(resource, "hugepages-");
  return QuantityText(amount, is_binary ? QuantityFormat::kBinary : QuantityFormat::kDecimal);
}

}  // namespace schedsim::api
