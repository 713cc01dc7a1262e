// What the validation of objects has in common: fields of a document, and the rules that many of them share.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_VALIDATION_ERRORS_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_VALIDATION_ERRORS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/api/field_errors.h"
#include "core/api/kubernetes_line.h"
#include "core/api/object.h"
#include "core/api/selectors.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// A field of a document, which may be absent, and its path. The document must outlive it.
struct FieldAt {
  const codec::Value* value = nullptr;  // nullptr: absent, or null.
  std::string path;

  bool is_present() const { return value != nullptr; }
  // A member of a map, an item of a list; absent where there is none.
  FieldAt Child(absl::string_view name) const;
  FieldAt Item(size_t index) const;
  // How many items a list has; 0 for all else.
  size_t size() const { return value == nullptr ? 0 : value->items.size(); }
  // "" for all but texts, std::nullopt for all but whole numbers of 64 bits.
  std::string Text() const;
  std::optional<int64_t> Number() const;
  bool IsTrue() const { return value != nullptr && value->boolean; }
};

// The whole document: its members' paths are their names.
FieldAt RootOf(const codec::Value& document);

// `value` as JSON with the members of maps in order of their names, as Go prints maps; "null" where it is
// absent.
std::string SortedJson(const FieldAt& field);

// A label selector as Go prints it.
std::string SelectorJson(const FieldAt& selector);

// Whether both hold the same, where what is empty is the same as nothing, and the order of members does not
// matter.
bool HoldTheSame(const FieldAt& a, const FieldAt& b);

// Collects what is wrong with an object, in the API server's words and order.
class ValidationErrors : public api::FieldErrors {
 public:
  explicit ValidationErrors(api::KubernetesLine line) : line_(line) {}

  // Source of the following: apimachinery v0.37, pkg/util/validation and pkg/apis/meta/v1/validation.
  void DnsLabel(const std::string& field, const std::string& text);
  void DnsSubdomain(const std::string& field, const std::string& text);
  void LabelName(const std::string& field, const std::string& name);
  void LabelValue(const std::string& field, const std::string& value);
  // The same for all entries of a map, each at the path of the map.
  void Labels(const std::string& field, const api::StringMap& labels);
  void Labels(const FieldAt& labels);
  void LabelSelector(const FieldAt& selector);

  void NotNegative(const FieldAt& number);
  // A number that is not negative or a percentage, of at most 100 where it says so.
  // Source: kubernetes v1.37, pkg/apis/apps/validation/validation.go, ValidatePositiveIntOrPercent and
  // IsNotMoreThan100Percent.
  void IntOrPercent(const FieldAt& number);
  void AtMost100Percent(const FieldAt& number);
  // A text that is one of `values`, in the API server's order; one that is absent is fine.
  void OneOf(const FieldAt& text, absl::Span<const absl::string_view> values);
  void TextRequired(const FieldAt& text);

  void NotFound(std::string field, absl::string_view value);
  void TooMany(std::string field, size_t count, size_t most);
  void TooLong(std::string field, size_t most_bytes);

  api::KubernetesLine line() const { return line_; }
  // Each error as one text, and no more errors are there.
  std::vector<std::string> TakeTexts();

 private:
  const api::KubernetesLine line_;
};

// The value of a whole number or a percentage, 0 for all else.
int64_t IntOrPercentValue(const FieldAt& number);

// What a JSON label selector says; std::nullopt: it is absent.
std::optional<api::LabelSelector> ReadLabelSelector(const FieldAt& selector);

// The texts of a map of texts.
api::StringMap ReadTexts(const FieldAt& map);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_VALIDATION_ERRORS_H_
