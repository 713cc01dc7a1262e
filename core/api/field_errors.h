// Collecting what is wrong with fields, in the words of Kubernetes' API validation.
#ifndef SCHEDSIM_CORE_API_FIELD_ERRORS_H_
#define SCHEDSIM_CORE_API_FIELD_ERRORS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/api/go_text.h"

namespace schedsim::api {

// A field and what is wrong with it: "profiles[0].schedulerName" and "Required value".
struct FieldError {
  std::string field;
  std::string body;

  friend bool operator==(const FieldError&, const FieldError&) = default;
};

// "path.name", or "name" below the root.
inline std::string Child(absl::string_view path, absl::string_view name) {
  return path.empty() ? std::string(name) : absl::StrCat(path, ".", name);
}

// "path[index]".
inline std::string Index(absl::string_view path, size_t index) { return absl::StrCat(path, "[", index, "]"); }

// Source: apimachinery v0.37, pkg/util/validation/field/errors.go.
class FieldErrors {
 public:
  void Invalid(std::string field, int64_t value, absl::string_view detail) {
    InvalidJson(std::move(field), absl::StrCat(value), detail);
  }
  void Invalid(std::string field, absl::string_view value, absl::string_view detail) {
    InvalidJson(std::move(field), GoQuote(value), detail);
  }
  // `json` is the value as JSON.
  void InvalidJson(std::string field, absl::string_view json, absl::string_view detail) {
    Add(std::move(field), absl::StrCat("Invalid value: ", json, ": ", detail));
  }
  // `detail` may be "".
  void Required(std::string field, absl::string_view detail) {
    Add(std::move(field), absl::StrCat("Required value", detail.empty() ? "" : ": ", detail));
  }
  void Duplicate(std::string field, absl::string_view value) {
    Add(std::move(field), absl::StrCat("Duplicate value: ", GoQuote(value)));
  }
  void Forbidden(std::string field, absl::string_view detail) {
    Add(std::move(field), absl::StrCat("Forbidden: ", detail));
  }
  void NotSupported(std::string field, absl::string_view value,
                    absl::Span<const absl::string_view> supported) {
    const std::string list = absl::StrJoin(supported, ", ", [](std::string* out, absl::string_view text) {
      absl::StrAppend(out, GoQuote(text));
    });
    Add(std::move(field), absl::StrCat("Unsupported value: ", GoQuote(value), ": supported values: ", list));
  }

  // An error that is there already is not added again.
  void Add(std::string field, std::string body) {
    FieldError error{std::move(field), std::move(body)};
    for (const FieldError& known : errors_) {
      if (known == error) return;
    }
    errors_.push_back(std::move(error));
  }

  bool empty() const { return errors_.empty(); }
  std::vector<FieldError> Take() { return std::move(errors_); }

 private:
  std::vector<FieldError> errors_;
};

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_FIELD_ERRORS_H_
