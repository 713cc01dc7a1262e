// Lines of JSON as they come from a program: their fields, and what is wrong with them.
#ifndef SCHEDSIM_CORE_HOSTING_PROCESS_MESSAGE_H_
#define SCHEDSIM_CORE_HOSTING_PROCESS_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/value.h"
#include "core/framework/status.h"

namespace schedsim::hosting {

// Reads the fields of a map. The first thing that is not as expected becomes the error; what is asked for
// then is empty.
class Fields {
 public:
  explicit Fields(const codec::Value& map);

  bool Has(absl::string_view key) const;
  // "", 0 and false where the field is missing.
  std::string Text(absl::string_view key);
  int64_t Int(absl::string_view key);
  bool Bool(absl::string_view key);
  std::vector<std::string> Texts(absl::string_view key);
  // Shape: as the list. The field must be there, with `count` entries.
  std::vector<int64_t> Ints(absl::string_view key, size_t count);
  // Success where it is missing or null.
  framework::Status Status(absl::string_view key);
  // Shape: as the list. The field must be there, with `count` entries.
  std::vector<framework::Status> Statuses(absl::string_view key, size_t count);
  // Calls `visit` for each map of the list; a missing list is empty.
  void ForEach(absl::string_view key, absl::FunctionRef<void(Fields& entry)> visit);
  // For what only the caller can see; counts where nothing else was wrong before.
  void SetError(std::string error);

  // "": nothing is wrong.
  const std::string& error() const { return error_; }

 private:
  void Expect(absl::string_view key, absl::string_view expected, const codec::Value& value);
  // nullptr, with an error: it is no list of so many; `what` says of what.
  const codec::Value* ListOf(absl::string_view key, size_t count, absl::string_view what);
  framework::Status StatusOf(absl::string_view key, const codec::Value& value);

  const codec::Value& map_;
  std::string error_;
};

// Writes a status as Fields reads it.
void WriteStatus(const framework::Status& status, codec::JsonWriter& writer);

// Calls `visit` with the map that the line holds. Returns what is wrong with the line where it holds none,
// and what `visit` returns otherwise; "": nothing is wrong.
std::string ReadLine(absl::string_view line, absl::FunctionRef<std::string(const codec::Value& map)> visit);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_PROCESS_MESSAGE_H_
