#include "sim/scenario/span_reader.h"

#include "absl/strings/str_cat.h"
#include "sim/kernel/time_limits.h"

namespace schedsim::sim {

void ReadSpan(codec::StrictReader& reader, absl::string_view name, codec::ErrorList& errors,
              absl::Duration& target) {
  const codec::Value* value = reader.Take(name);
  if (value == nullptr) return;
  // Says what it expected where the value is no text.
  if (!value->is_string()) return reader.Read(name, target);
  const absl::StatusOr<absl::Duration> span = ParseSpan(value->text);
  if (span.ok()) {
    target = *span;
  } else {
    errors.Add(value->position, absl::StrCat(reader.PathOf(name), ": ", span.status().message()));
  }
}

void ReadSpan(codec::StrictReader& reader, absl::string_view name, codec::ErrorList& errors,
              std::optional<absl::Duration>& target) {
  if (!reader.Has(name)) return reader.Skip(name);
  ReadSpan(reader, name, errors, target.emplace());
}

}  // namespace schedsim::sim
