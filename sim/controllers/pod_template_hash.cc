#include "sim/controllers/pod_template_hash.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "sim/controllers/pod_template_fields.h"

namespace schedsim::sim {
namespace {

using codec::Value;

// A quantity as Go's struct.
// Source: apimachinery v0.37, pkg/api/resource/quantity.go, ParseQuantity.
std::string QuantityGoText(absl::string_view text) {
  const std::string canonical = StoredQuantity(text);
  const size_t digits_end = canonical.find_first_not_of("-0123456789");
  const std::string digits = canonical.substr(0, digits_end);
  const std::string suffix = digits_end == std::string::npos ? "" : canonical.substr(digits_end);
  int64_t value = 0;
  if (!absl::SimpleAtoi(digits, &value)) return canonical;
  constexpr absl::string_view kBinary[] = {"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  constexpr std::pair<absl::string_view, int> kDecimal[] = {{"n", -9}, {"u", -6}, {"m", -3}, {"", 0},
                                                            {"k", 3},  {"M", 6},  {"G", 9},  {"T", 12},
                                                            {"P", 15}, {"E", 18}};
  int scale = 0;
  // The text is kept where it is surely canonical.
  bool keeps_text = true;
  const auto* const binary = std::find(std::begin(kBinary), std::end(kBinary), suffix);
  if (binary != std::end(kBinary)) {
    constexpr int kBits = 10;
    keeps_text = (value & 7) != 0;
    value <<= kBits * (binary - std::begin(kBinary) + 1);
  } else {
    for (const auto& [unit, exponent] : kDecimal) {
      if (unit == suffix) scale = exponent;
    }
  }
  return absl::StrCat("{i:(resource.int64Amount){value:(int64)", value, " scale:(resource.Scale)", scale,
                      "} d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)",
                      keeps_text ? canonical : "", " Format:(resource.Format)",
                      binary != std::end(kBinary) ? "BinarySI" : "DecimalSI", "}");
}

std::string IntOrStringText(const Value* value) {
  const bool is_text = value != nullptr && value->is_string();
  return absl::StrCat("{Type:(intstr.Type)", is_text ? "1" : "0", " IntVal:(int32)",
                      value == nullptr || is_text ? "0" : value->text, " StrVal:(string)",
                      is_text ? value->text : "", "}");
}

// Prints values of Go's types. The types are nested a dozen deep at most, and so are the calls.
class GoPrinter {
 public:
  explicit GoPrinter(api::KubernetesLine line) : line_(line) {}

  // `value` is nullptr where there is none. `names_type`: elements of lists and maps, and what pointers point
  // at, do not.
  void Print(absl::string_view type, char kind, const Value* value, bool names_type, std::string& out) const {
    if (kind == 'p') {
      const absl::string_view target = type.substr(1);
      if (names_type) absl::StrAppend(&out, "(", type, ")");
      if (value == nullptr) {
        absl::StrAppend(&out, "<nil>");
      } else {
        Print(target, GoKindOf(target), value, /*names_type=*/false, out);
      }
      return;
    }
    if (names_type) absl::StrAppend(&out, "(", type, ")");
    if (kind == 'l') {
      PrintList(type, value, out);
    } else if (kind == 'm') {
      PrintMap(type, value, out);
    } else if (kind == 'S') {
      PrintStruct(type, value, out);
    } else if (value != nullptr) {
      absl::StrAppend(&out, kind == 'b' ? (value->boolean ? "true" : "false") : value->text);
    } else {
      absl::StrAppend(&out, kind == 's' ? "" : kind == 'b' ? "false" : "0");
    }
  }

 private:
  void PrintList(absl::string_view type, const Value* value, std::string& out) const {
    if (value == nullptr || value->items.empty()) {
      absl::StrAppend(&out, "<nil>");
      return;
    }
    const absl::string_view item_type = type.substr(2);
    absl::StrAppend(&out, "[");
    for (size_t i = 0; i < value->items.size(); ++i) {
      if (i > 0) absl::StrAppend(&out, " ");
      Print(item_type, GoKindOf(item_type), &value->items[i], /*names_type=*/false, out);
    }
    absl::StrAppend(&out, "]");
  }

  void PrintMap(absl::string_view type, const Value* value, std::string& out) const {
    if (value == nullptr || value->members.empty()) {
      absl::StrAppend(&out, "<nil>");
      return;
    }
    absl::StrAppend(&out, "map[");
    absl::string_view separator = "";
    for (const codec::Member* member : SortedMembers(*value)) {
      absl::StrAppend(&out, std::exchange(separator, " "), member->key, ":");
      const absl::string_view text = member->value.text;
      absl::StrAppend(&out, type == "v1.ResourceList" ? QuantityGoText(text) : std::string(text));
    }
    absl::StrAppend(&out, "]");
  }

  void PrintStruct(absl::string_view type, const Value* value, std::string& out) const {
    if (type == "resource.Quantity") {
      absl::StrAppend(&out, QuantityGoText(value == nullptr ? "0" : value->text));
      return;
    }
    if (type == "intstr.IntOrString") {
      absl::StrAppend(&out, IntOrStringText(value));
      return;
    }
    if (type == "v1.Time") {
      absl::StrAppend(&out, "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}");
      return;
    }
    const Value none = EmptyMap();
    const Value& owner = value == nullptr ? none : *value;
    absl::StrAppend(&out, "{");
    absl::string_view separator = "";
    for (const GoField& field : FieldsOf(type)) {
      if (!field.IsIn(line_)) continue;
      absl::StrAppend(&out, separator, field.name, ":");
      separator = " ";
      PrintField(type, owner, field, out);
    }
    absl::StrAppend(&out, "}");
  }

  void PrintField(absl::string_view type, const Value& owner, const GoField& field, std::string& out) const {
    if (field.json.empty()) {
      Print(field.type, field.kind, &owner, /*names_type=*/true, out);
      return;
    }
    const std::optional<Value> stored = StoredValue(type, owner, field);
    Print(field.type, field.kind, stored.has_value() ? &*stored : nullptr, /*names_type=*/true, out);
  }

  const api::KubernetesLine line_;
};

}  // namespace

std::string PodTemplateText(const Value& pod_template, api::KubernetesLine line) {
  std::string text;
  GoPrinter(line).Print(kPodTemplateType, 'S', &pod_template, /*names_type=*/true, text);
  return text;
}

std::string PodTemplateHash(const Value& pod_template, api::KubernetesLine line,
                            std::optional<int64_t> collisions) {
  std::string text = PodTemplateText(pod_template, line);
  if (collisions.has_value()) {
    // Eight bytes, of which the first four have the number.
    constexpr int kBytes = 8;
    constexpr int kBits = 8;
    const uint64_t number = static_cast<uint32_t>(*collisions);
    for (int i = 0; i < kBytes; ++i) text += static_cast<char>((number >> (kBits * i)) & 0xff);
  }
  // FNV-1a of 32 bits.
  uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return SafeEncoded(hash);
}

}  // namespace schedsim::sim
