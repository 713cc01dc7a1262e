// Reading the fields of a map strictly: unknown fields and wrong types are errors, all collected.
#ifndef SCHEDSIM_CORE_CODEC_CONFIG_STRICT_READER_H_
#define SCHEDSIM_CORE_CODEC_CONFIG_STRICT_READER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// What is wrong with a document, in the order in which it was found.
class ErrorList {
 public:
  // `file` is borrowed and goes in front of each place.
  explicit ErrorList(absl::string_view file) : file_(file) {}

  // Something that is there already, at the same place, is not added again.
  void Add(Position position, absl::string_view what);

  bool empty() const { return errors_.empty(); }

  // OkStatus without errors; otherwise InvalidArgument: one error as `file:line:column: what`, several
  // of these as `[first, second]`.
  absl::Status ToStatus() const;
  // The same with a line for each error, in the order of their places.
  absl::Status ToStatusByPlace() const;

 private:
  struct Error {
    Position position;
    std::string text;
  };
  absl::string_view file_;
  std::vector<Error> errors_;
};

// Reads one map. A field that is absent or null leaves its target as it is. Call Finish at the end.
// Errors are worded `path.to[0].field: expected a list, got a string` and
// `unknown field "path.to[0].field"`.
class StrictReader {
 public:
  // `value` is the map, `path` its own path ("" for the root); the value and `errors` are borrowed.
  // A value that is no map is an error; the reader then has no fields.
  StrictReader(const Value& value, std::string path, ErrorList& errors);

  void Read(absl::string_view name, bool& target);
  void Read(absl::string_view name, int32_t& target);
  void Read(absl::string_view name, int64_t& target);
  void Read(absl::string_view name, double& target);
  void Read(absl::string_view name, std::string& target);
  void Read(absl::string_view name, absl::Duration& target);
  template <typename T>
  void Read(absl::string_view name, std::optional<T>& target) {
    if (!Has(name)) return Skip(name);
    Read(name, target.emplace());
  }

  using ItemReader = absl::FunctionRef<void(const Value& item, const std::string& path)>;

  // Calls `read` for each entry of the list, in order. Returns whether there is a list.
  bool ReadList(absl::string_view name, ItemReader read);
  // Calls `read` for the map. Returns whether there is one.
  bool ReadMap(absl::string_view name, ItemReader read);
  void ReadStrings(absl::string_view name, std::vector<std::string>& target);

  // The field's value, which then counts as read; nullptr when it is absent or null.
  const Value* Take(absl::string_view name);
  // Accepts the field, whatever it is.
  void Skip(absl::string_view name) { Take(name); }
  // Whether the field is there and not null.
  bool Has(absl::string_view name) const;
  // The field's path.
  std::string PathOf(absl::string_view name) const;

  // Adds an error for each field that was not asked for, with the name of one that was, if it looks like a
  // slip of the pen: names must still be valid here.
  void Finish();

 private:
  const Value* TakeAs(absl::string_view name, Value::Type type, absl::string_view expected);
  void ReadInteger(absl::string_view name, int64_t min, int64_t max, absl::string_view expected,
                   absl::FunctionRef<void(int64_t)> set);

  const Value& value_;
  std::string path_;
  ErrorList& errors_;
  std::vector<bool> seen_;  // One per member.
  // The fields that were asked for; their names are borrowed until Finish.
  std::vector<absl::string_view> known_;
};

// The place of the field `path` ("profiles[0].schedulerName") below `root`, or of the innermost part
// of the path that is there.
Position FindPosition(const Value& root, absl::string_view path);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_CONFIG_STRICT_READER_H_
