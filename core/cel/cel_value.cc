#include "core/cel/cel_value.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace schedsim::cel {
namespace {

using Type = CelValue::Type;

int Order(const auto& a, const auto& b) { return a < b ? -1 : (b < a ? 1 : 0); }

}  // namespace

bool IsResourceListField(absl::string_view field) {
  return field == "requests" || field == "limits" || field == "capacity" || field == "allocatable";
}

CelValue CelValue::Unset() {
  CelValue made;
  made.type_ = Type::kUnset;
  return made;
}

CelValue CelValue::Bool(bool value) {
  CelValue made;
  made.type_ = Type::kBool;
  made.integer_ = value ? 1 : 0;
  return made;
}

CelValue CelValue::Int(int64_t value) {
  CelValue made;
  made.type_ = Type::kInt;
  made.integer_ = value;
  return made;
}

CelValue CelValue::Uint(uint64_t value) {
  CelValue made;
  made.type_ = Type::kUint;
  made.integer_ = static_cast<int64_t>(value);
  return made;
}

CelValue CelValue::Double(double value) {
  CelValue made;
  made.type_ = Type::kDouble;
  made.number_ = value;
  return made;
}

CelValue CelValue::String(std::string value) {
  CelValue made;
  made.type_ = Type::kString;
  made.AddSize(static_cast<int64_t>(value.size()));
  made.text_ = std::move(value);
  return made;
}

CelValue CelValue::Of(List value) {
  CelValue made;
  made.type_ = Type::kList;
  for (const CelValue& item : value) made.AddSize(item.size_);
  made.list_ = std::make_shared<const List>(std::move(value));
  return made;
}

CelValue CelValue::Of(Map value, Type type) {
  std::sort(value.begin(), value.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  CelValue made;
  made.type_ = type;
  for (const auto& [key, member] : value) {
    made.AddSize(static_cast<int64_t>(key.size()));
    made.AddSize(member.size_);
  }
  made.map_ = std::make_shared<const Map>(std::move(value));
  return made;
}

CelValue CelValue::Of(absl::Duration value) {
  CelValue made;
  made.type_ = Type::kDuration;
  made.duration_ = value;
  return made;
}

CelValue CelValue::Of(absl::Time value) {
  CelValue made;
  made.type_ = Type::kTimestamp;
  made.duration_ = value - absl::UnixEpoch();
  return made;
}

CelValue CelValue::Of(api::Quantity value, bool is_sum) {
  CelValue made;
  made.type_ = Type::kQuantity;
  made.quantity_ = value;
  made.is_sum_ = is_sum;
  return made;
}

CelValue CelValue::Of(Semver value) {
  CelValue made;
  made.type_ = Type::kSemver;
  made.semver_ = std::make_shared<const Semver>(std::move(value));
  return made;
}

CelValue CelValue::Optional(std::optional<CelValue> value) {
  CelValue made;
  made.type_ = Type::kOptional;
  List items;
  if (value.has_value()) items.push_back(*std::move(value));
  for (const CelValue& item : items) made.AddSize(item.size_);
  made.list_ = std::make_shared<const List>(std::move(items));
  return made;
}

CelValue CelValue::TypeOf(std::string name) {
  CelValue made;
  made.type_ = Type::kType;
  made.text_ = std::move(name);
  return made;
}

const CelValue* CelValue::AsOptional() const {
  return Is(Type::kOptional) && !list_->empty() ? &list_->front() : nullptr;
}

const CelValue::List& CelValue::AsList() const {
  static const List* const kEmpty = new List();
  return list_ != nullptr ? *list_ : *kEmpty;
}

const CelValue::Map& CelValue::AsMap() const {
  static const Map* const kEmpty = new Map();
  return map_ != nullptr ? *map_ : *kEmpty;
}

std::optional<double> CelValue::Number() const {
  if (type_ == Type::kInt) return static_cast<double>(AsInt());
  if (type_ == Type::kUint) return static_cast<double>(AsUint());
  if (type_ == Type::kDouble) return number_;
  return std::nullopt;
}

const CelValue* CelValue::Find(absl::string_view key) const {
  const Map& map = AsMap();
  const auto found = std::lower_bound(map.begin(), map.end(), key,
                                      [](const auto& entry, absl::string_view k) { return entry.first < k; });
  return found != map.end() && found->first == key ? &found->second : nullptr;
}

absl::StatusOr<CelValue> CelValue::Select(absl::string_view key) const {
  if (type_ == Type::kUnset) return Unset();
  if (const CelValue* found = Find(key)) return *found;
  if (type_ == Type::kDomainMap) return Of(Map());
  if (type_ == Type::kResourceList) return Of(api::Quantity());
  if (type_ == Type::kMessage) {
    return IsResourceListField(key) ? Of(Map(), Type::kResourceList) : Unset();
  }
  return absl::NotFoundError(absl::StrCat("no such key: ", key));
}

bool CelValue::IsZero() const {
  switch (type_) {
    case Type::kNull:
    case Type::kUnset:
      return true;
    case Type::kBool:
    case Type::kInt:
    case Type::kUint:
      return integer_ == 0;
    case Type::kDouble:
      return number_ == 0;
    case Type::kString:
      return text_.empty();
    case Type::kList:
      return AsList().empty();
    case Type::kMap:
    case Type::kMessage:
    case Type::kResourceList:
    case Type::kDomainMap:
      return AsMap().empty();
    case Type::kDuration:
    case Type::kTimestamp:
      return duration_ == absl::ZeroDuration();
    case Type::kQuantity:
      return quantity_.IsZero();
    case Type::kOptional:
      return AsOptional() == nullptr;
    case Type::kSemver:
    case Type::kType:
      return false;
  }
  return false;
}

// Values are no deeper than the documents and expressions that they come from.
bool CelValue::Equal(const CelValue& a, const CelValue& b) {
  if (a.Is(Type::kUnset) || b.Is(Type::kUnset)) return a.IsZero() && b.IsZero();
  const std::optional<double> number = a.Number();
  if (number.has_value()) {
    const std::optional<double> other = b.Number();
    return other.has_value() &&
           (a.type_ == b.type_ && !a.Is(Type::kDouble) ? a.integer_ == b.integer_ : *number == *other);
  }
  if (a.IsMapLike() && b.IsMapLike()) {
    const Map& x = a.AsMap();
    const Map& y = b.AsMap();
    return x.size() == y.size() &&
           std::equal(x.begin(), x.end(), y.begin(), [](const auto& p, const auto& q) {
             return p.first == q.first && Equal(p.second, q.second);
           });
  }
  if (a.type_ != b.type_) return false;
  if (a.Is(Type::kSemver)) return Semver::Compare(a.AsSemver(), b.AsSemver()) == 0;
  if (a.Is(Type::kList) || a.Is(Type::kOptional)) {
    return std::equal(a.AsList().begin(), a.AsList().end(), b.AsList().begin(), b.AsList().end(), Equal);
  }
  return !b.is_sum_ && a.integer_ == b.integer_ && a.duration_ == b.duration_ && a.quantity_ == b.quantity_ &&
         a.text_ == b.text_;
}

absl::StatusOr<int> CelValue::Compare(const CelValue& a, const CelValue& b) {
  if (a.Is(Type::kUnset) && !b.Is(Type::kUnset)) {
    absl::StatusOr<int> order = Compare(b, a);
    if (order.ok()) return -*order;
    return order;
  }
  if (a.type_ == b.type_ || b.Is(Type::kUnset)) {
    switch (a.type_) {
      case Type::kBool:
      case Type::kInt:
        return Order(a.integer_, b.integer_);
      case Type::kUint:
        return Order(a.AsUint(), b.AsUint());
      case Type::kString:
        return Order(a.text_, b.text_);
      case Type::kDuration:
      case Type::kTimestamp:
        return Order(a.duration_, b.duration_);
      case Type::kQuantity:
        return Order(a.quantity_, b.quantity_);
      case Type::kUnset:
        return 0;
      default:
        break;
    }
  }
  const double unset = 0;
  const std::optional<double> x = a.Number();
  const std::optional<double> y = b.Is(Type::kUnset) ? unset : b.Number();
  if (x.has_value() && y.has_value()) return Order(*x, *y);
  return absl::InvalidArgumentError("no such overload");
}

absl::string_view CelValue::TypeName() const {
  constexpr absl::string_view kNames[] = {"null_type",
                                          "unset field",
                                          "bool",
                                          "int",
                                          "uint",
                                          "double",
                                          "string",
                                          "list",
                                          "map",
                                          "message",
                                          "map",
                                          "google.protobuf.Duration",
                                          "google.protobuf.Timestamp",
                                          "kubernetes.Quantity",
                                          "kubernetes.Semver",
                                          "optional_type",
                                          "type",
                                          "map"};
  return kNames[static_cast<size_t>(type_)];
}

int64_t CelValue::Length() const {
  if (Is(Type::kString)) return CountCodePoints(text_);
  if (Is(Type::kList)) return static_cast<int64_t>(AsList().size());
  if (IsMapLike()) return static_cast<int64_t>(AsMap().size());
  if (const CelValue* inside = AsOptional()) return inside->Is(Type::kOptional) ? 1 : inside->Length();
  return 1;
}

int64_t CountCodePoints(absl::string_view text) {
  int64_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  return count;
}

}  // namespace schedsim::cel
