// Values as a Go program has them that decoded YAML or JSON into `any`: what templates compute with.
#ifndef SCHEDSIM_SIM_TEMPLATES_GO_VALUE_H_
#define SCHEDSIM_SIM_TEMPLATES_GO_VALUE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// Lists and maps are shared: a value is never changed once it is made.
class GoValue {
 public:
  using List = std::vector<GoValue>;
  // In the order of the keys.
  using Map = std::vector<std::pair<std::string, GoValue>>;

  enum class Type : uint8_t { kNil, kBool, kInt, kFloat, kString, kList, kMap };

  GoValue() = default;  // nil.
  GoValue(bool value) : type_(Type::kBool), truth_(value) {}
  GoValue(int64_t value) : type_(Type::kInt), integer_(value) {}
  GoValue(double value) : type_(Type::kFloat), number_(value) {}
  GoValue(std::string value)
      : type_(Type::kString), size_(kScalarSize + value.size()), text_(std::move(value)) {}
  GoValue(List value);
  GoValue(Map value);
  // A json.Number: a string of its own type, which is JSON by itself.
  static GoValue JsonNumber(std::string literal);

  bool is_nil() const { return type_ == Type::kNil; }
  // nullptr: it is of another type.
  const bool* AsBool() const { return type_ == Type::kBool ? &truth_ : nullptr; }
  const int64_t* AsInt() const { return type_ == Type::kInt ? &integer_ : nullptr; }
  const double* AsFloat() const { return type_ == Type::kFloat ? &number_ : nullptr; }
  // Also of a json.Number, which Go compares and converts as a string.
  const std::string* AsString() const { return type_ == Type::kString ? &text_ : nullptr; }
  const List* AsList() const { return list_.get(); }
  const Map* AsMap() const { return map_.get(); }

  bool is_json_number() const { return is_json_number_; }

  // The entry of a map; nil where there is none, and for other types.
  GoValue Find(absl::string_view key) const;

  // About how many bytes it takes, with all that is in it, however often that is in it; at most SIZE_MAX.
  size_t Size() const { return size_; }
  // How deep lists and maps are nested: 0 for others, 1 for a list of these; at most INT_MAX.
  int Depth() const { return depth_; }

  // Whether a template takes it for true: not nil, zero, or empty.
  bool IsTrue() const;
  // "bool", "int", "float64", "string", "json.Number", "list", "map" or "nil", for
  // messages.
  absl::string_view TypeName() const;
  // As Go prints it with %v, numbers such as 1e+06 included; nil is "<no value>", as templates have it.
  std::string Text() const;
  // As Go's encoding/json has it, without escapes for HTML.
  std::string Json() const;

 private:
  static constexpr size_t kScalarSize = 64;

  // Counts a part of a list or a map.
  void AddPart(size_t key_size, const GoValue& part);

  Type type_ = Type::kNil;
  bool truth_ = false;
  bool is_json_number_ = false;
  int depth_ = 0;
  size_t size_ = kScalarSize;
  int64_t integer_ = 0;
  double number_ = 0;
  std::string text_;
  std::shared_ptr<const List> list_;
  std::shared_ptr<const Map> map_;
};

// What becomes of a document's numbers: encoding/json makes float64 of them, or, where it is told to
// UseNumber, json.Number.
enum class GoNumbers : uint8_t { kFloat64, kJsonNumber };

// What Go makes of a part of a document.
GoValue GoValueOf(const codec::Value& value, GoNumbers numbers = GoNumbers::kFloat64);

// The other way round; new parts belong to `document`.
codec::Value DocumentValueOf(const GoValue& value, codec::Document& document);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_TEMPLATES_GO_VALUE_H_
