// What the records of a trace are made of: the types of their fields, and tables that name them.
//
// A record is a struct. Beside it stands its table, Fields<S>: a line for each field, in the order in which
// it is written. Writer (record_writer.h), reader (record_reader.h) and docs/trace.md follow from the tables.
#ifndef SCHEDSIM_SIM_RECORD_RECORD_FIELD_H_
#define SCHEDSIM_SIM_RECORD_RECORD_FIELD_H_

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace schedsim::sim::record {

// ---- Types of fields ----

// Besides these: bool, int64_t, absl::Duration (a number of seconds, to the microsecond), structs with a
// table, vectors of such structs, and std::optional of any of them. Text and columns are borrowed: a record
// is written at once, and one that was read borrows from its RecordMemory.
using Text = absl::string_view;
using Texts = std::vector<absl::string_view>;
// Shape: a number for each node of a list beside it.
using Column = absl::Span<const int64_t>;
// The same where some nodes have none.
using SparseColumn = std::vector<std::optional<int64_t>>;
// A JSON object whose keys are data, such as names of pods. In the order in which it is written.
template <typename T>
using Map = std::vector<std::pair<Text, T>>;

// ---- Tables ----

// When a field is there.
enum class Presence : uint8_t {
  kRequired,  // Always. A record without it is refused.
  kAlways,    // Always. Where a recorded trace leaves it out, it reads as empty.
  kSometimes,
};

// A field of the struct S with a member of type T.
template <typename S, typename T>
struct Field {
  absl::string_view name;
  T S::*member;
  Presence presence;
  // With kSometimes: whether it is written; nullptr: where it is not empty.
  bool (*is_there)(const S&) = nullptr;
};

template <typename S, typename T>
constexpr Field<S, T> Required(absl::string_view name, T S::*member) {
  return {.name = name, .member = member, .presence = Presence::kRequired};
}

template <typename S, typename T>
constexpr Field<S, T> Always(absl::string_view name, T S::*member) {
  return {.name = name, .member = member, .presence = Presence::kAlways};
}

// Left out where it is empty: no value, no text, no entry, false.
template <typename S, typename T>
constexpr Field<S, T> IfAny(absl::string_view name, T S::*member) {
  return {.name = name, .member = member, .presence = Presence::kSometimes};
}

// Written, even if it is empty, where `is_there` says so.
template <typename S, typename T>
constexpr Field<S, T> If(bool (*is_there)(const S&), absl::string_view name, T S::*member) {
  return {.name = name, .member = member, .presence = Presence::kSometimes, .is_there = is_there};
}

// The table of a struct: specialisations have `static constexpr std::tuple kList`, of Field.
template <typename S>
struct Fields;

template <typename S>
concept HasFields = requires {
  Fields<S>::kList;
};

// The name of a member's field, for messages.
template <typename S, typename T>
constexpr absl::string_view NameOf(T S::*member) {
  absl::string_view name;
  const auto look = [&](const auto& field) {
    if constexpr (requires { field.member == member; }) {
      if (field.member == member) name = field.name;
    }
  };
  std::apply([&](const auto&... fields) { (look(fields), ...); }, Fields<S>::kList);
  return name;
}

}  // namespace schedsim::sim::record

#endif  // SCHEDSIM_SIM_RECORD_RECORD_FIELD_H_
