// Exact Kubernetes quantities.
#ifndef SCHEDSIM_CORE_API_QUANTITY_H_
#define SCHEDSIM_CORE_API_QUANTITY_H_

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace schedsim::api {

// A number with a unit suffix, as in `500m`, `1.5Gi` or `1e3`. Exact: it is a multiple of 10^-9, and
// its magnitude is below 2^63.
// Source: apimachinery v0.37, pkg/api/resource/quantity.go.
class Quantity {
 public:
  Quantity() = default;

  // Parses sign, digits, fraction and suffix (n u m k M G T P E, Ki to Ei, or a decimal exponent).
  // Anything finer than 10^-9 is rounded up. InvalidArgument, with what was expected, for anything
  // else and for magnitudes of 2^63 and more.
  static absl::StatusOr<Quantity> Parse(absl::string_view text);

  static Quantity FromMilli(int64_t milli) { return Quantity(static_cast<__int128>(milli) * 1'000'000); }
  static Quantity FromValue(int64_t value) { return Quantity(static_cast<__int128>(value) * 1'000'000'000); }

  // The number in thousandths, rounded away from zero. From 2^63 on it wraps around.
  int64_t MilliValue() const { return Scaled(1'000'000); }

  // The number as an integer, rounded away from zero. A sum of 2^63 or more wraps around.
  int64_t Value() const { return Scaled(1'000'000'000); }

  // The number in units of 10^-9, as exact as a quantity is kept.
  __int128 NanoValue() const { return nano_; }

  bool IsZero() const { return nano_ == 0; }
  bool IsNegative() const { return nano_ < 0; }

  Quantity& operator+=(Quantity other);
  Quantity& operator-=(Quantity other);
  friend Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend auto operator<=>(Quantity, Quantity) = default;
  friend bool operator==(Quantity, Quantity) = default;

 private:
  explicit Quantity(__int128 nano) : nano_(nano) {}
  int64_t Scaled(int64_t nano_per_unit) const;

  __int128 nano_ = 0;
};

// Quantities by resource name: sorted by name, no name twice.
class ResourceList {
 public:
  using Entry = std::pair<std::string, Quantity>;

  // The quantity of `name`, or nullptr.
  const Quantity* Find(absl::string_view name) const;
  // The quantity of `name`, zero when it is new.
  Quantity& operator[](absl::string_view name);

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  friend bool operator==(const ResourceList&, const ResourceList&) = default;

 private:
  std::vector<Entry> entries_;
};

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_QUANTITY_H_
