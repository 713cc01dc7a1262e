// Values that expressions of CEL compute with.
#ifndef SCHEDSIM_CORE_CEL_CEL_VALUE_H_
#define SCHEDSIM_CORE_CEL_CEL_VALUE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/quantity.h"
#include "core/cel/semver.h"

namespace schedsim::cel {

// Whether fields of the API with this name are lists of resources; a message without them has empty ones.
bool IsResourceListField(absl::string_view field);

// Lists and maps are shared: a value is never changed once it is made.
class CelValue {
 public:
  using List = std::vector<CelValue>;
  // Sorted by key, no key twice.
  using Map = std::vector<std::pair<std::string, CelValue>>;

  enum class Type : uint8_t {
    kNull,
    kUnset,  // A field of a message that is not there: equal to the zero value of every type.
    kBool,
    kInt,
    kUint,
    kDouble,
    kString,
    kList,
    kMap,
    kMessage,       // A map whose keys are the fields of an API type: one that is not set is kUnset.
    kResourceList,  // A map in which every resource is, with a quantity of zero.
    kDuration,
    kTimestamp,
    kQuantity,
    kSemver,
    kOptional,   // A value or none; see AsOptional.
    kType,       // The type of a value; AsString has its name.
    kDomainMap,  // A map in which every key that is missing is an empty map.
  };

  CelValue() = default;  // null.
  static CelValue Unset();
  static CelValue Bool(bool value);
  static CelValue Int(int64_t value);
  static CelValue Uint(uint64_t value);
  static CelValue Double(double value);
  static CelValue String(std::string value);
  static CelValue Of(List value);
  // `type`: kMap, kMessage, kResourceList or kDomainMap.
  static CelValue Of(Map value, Type type = Type::kMap);
  static CelValue Of(absl::Duration value);
  static CelValue Of(absl::Time value);
  // `is_sum`: it was worked out. Such a quantity on the right is equal to none: see Equal.
  static CelValue Of(api::Quantity value, bool is_sum = false);
  static CelValue Of(Semver value);
  // An optional with the value, or none.
  static CelValue Optional(std::optional<CelValue> value);
  // The type with this name, as CEL spells it: "int", "kubernetes.Quantity".
  static CelValue TypeOf(std::string name);

  Type type() const { return type_; }
  bool Is(Type type) const { return type_ == type; }
  // Whether keys can be looked up.
  bool IsMapLike() const { return map_ != nullptr; }

  // What it holds; zero for another type.
  bool AsBool() const { return Is(Type::kBool) && integer_ != 0; }
  int64_t AsInt() const { return integer_; }
  uint64_t AsUint() const { return static_cast<uint64_t>(integer_); }
  double AsDouble() const { return number_; }
  absl::Duration AsDuration() const { return duration_; }
  absl::Time AsTime() const { return absl::UnixEpoch() + duration_; }
  api::Quantity AsQuantity() const { return quantity_; }
  bool IsSum() const { return is_sum_; }
  const std::string& AsString() const { return text_; }
  const Semver& AsSemver() const { return *semver_; }  // Only of a kSemver.
  // What an optional has; nullptr for none, and for what is no optional.
  const CelValue* AsOptional() const;
  const List& AsList() const;
  const Map& AsMap() const;

  // A number of any type, as a double; absent for all others.
  std::optional<double> Number() const;

  // The entry of a map, or nullptr.
  const CelValue* Find(absl::string_view key) const;
  // The entry that `key` selects: of a message also one that is not set, of a resource list a zero, of a
  // domain map an empty map. NotFound, `no such key: KEY`, also for what has no keys.
  absl::StatusOr<CelValue> Select(absl::string_view key) const;

  // Numbers are equal across types, and values of different types are not. A sum of quantities is equal to
  // another quantity only on the left: sums are pointers in apiserver v0.37, pkg/cel/library/quantity.go,
  // which its Equal does not expect.
  static bool Equal(const CelValue& a, const CelValue& b);
  // Below 0: `a` comes first. InvalidArgument where there is no order of the two.
  static absl::StatusOr<int> Compare(const CelValue& a, const CelValue& b);

  // About how many bytes it takes, with all that is in it, however often that is in it; at most INT64_MAX.
  int64_t Size() const { return size_; }

  // "int", "list" and so on, for messages.
  absl::string_view TypeName() const;
  // How many items it has (code points of a text), as costs count them; 1 for what has none.
  int64_t Length() const;

 private:
  static constexpr int64_t kScalarSize = 1;

  bool IsZero() const;
  // Counts a part of a list or a map.
  void AddSize(int64_t size) { size_ = size_ > INT64_MAX - size ? INT64_MAX : size_ + size; }

  Type type_ = Type::kNull;
  bool is_sum_ = false;
  int64_t size_ = kScalarSize;
  int64_t integer_ = 0;
  double number_ = 0;
  absl::Duration duration_;
  api::Quantity quantity_;
  std::string text_;
  std::shared_ptr<const List> list_;
  std::shared_ptr<const Map> map_;
  std::shared_ptr<const Semver> semver_;
};

// How many code points a text has.
int64_t CountCodePoints(absl::string_view text);

}  // namespace schedsim::cel

#endif  // SCHEDSIM_CORE_CEL_CEL_VALUE_H_
