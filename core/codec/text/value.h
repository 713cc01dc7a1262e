// One document as a tree, with the place of each value in the file. Lives only while the document is
// decoded: what stays of an object is its typed struct and its compact JSON.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_VALUE_H_
#define SCHEDSIM_CORE_CODEC_TEXT_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace schedsim::codec {

// A place in a file, both from 1; column counts bytes. {0, 0}: not known.
struct Position {
  int32_t line = 0;
  int32_t column = 0;
};

// A place with the name of its file; `file` is borrowed.
struct Location {
  absl::string_view file;
  Position position;
};

// InvalidArgument with the message `file:line:column: what`; just `file: what` for an unknown position.
absl::Status ErrorAt(const Location& location, absl::string_view what);

struct Member;

// A JSON value. Text and children belong to the Document.
struct Value {
  enum class Type : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  Type type = Type::kNull;
  bool boolean = false;
  Position position;
  uint32_t source_bytes = 0;  // See source.
  // kString: the text. kNumber: the number in JSON's notation, digits as written. Empty for the others: of a
  // map or a list with a source it is the place where that begins.
  absl::string_view text;
  absl::Span<const Value> items;     // kArray.
  absl::Span<const Member> members;  // kObject, in file order, no key twice.

  bool is_null() const { return type == Type::kNull; }
  bool is_string() const { return type == Type::kString; }
  bool is_array() const { return type == Type::kArray; }
  bool is_object() const { return type == Type::kObject; }

  // The member `key` of an object, or nullptr; nullptr for all other types.
  const Value* Find(absl::string_view key) const;

  // How a map or a list is written in the input; "" where the reader can't tell, and for scalars. The same
  // source holds the same, in YAML (where no bracket begins it) at the same column. Not to be asked of values
  // that were changed after they were read.
  absl::string_view source() const { return {text.data(), source_bytes}; }
};

struct Member {
  absl::string_view key;
  Position key_position;
  Value value;
};

// "null", "a boolean", "a number", "a string", "a list" or "a map", for messages.
absl::string_view Describe(Value::Type type);

// Whether `text` is a number in JSON's notation.
bool IsJsonNumber(absl::string_view text);

// Whether a number in JSON's notation has more than a sign and digits.
bool HasFractionOrExponent(absl::string_view number);

// The digits of a number in JSON's notation: `1.50e2` gives "150". "" with a fraction left over and for more
// than 30 digits, which no type of an API has.
std::string WholeDigits(absl::string_view number);

// Whether both hold the same: types, text, items in order, members in any order. Positions do not
// count. Numbers are compared by text.
bool SameTree(const Value& a, const Value& b);

// A string; `text` is borrowed.
Value TextValue(absl::string_view text);

// Owns the parts of the values of one document; Clear keeps the memory for the next one.
class Document {
 public:
  Document() = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  Value root;
  // For an item of a list that is handed on by itself: kind and apiVersion of the list. Else "".
  std::string list_kind;
  std::string list_api_version;
  // Whether it is an entry of ReadOptions::split_member.
  bool is_entry = false;

  // Copies of the arguments that live until Clear.
  absl::string_view CopyText(absl::string_view text);
  absl::Span<Value> CopyItems(absl::Span<const Value> items);
  absl::Span<Member> CopyMembers(absl::Span<const Member> members);
  // A string with a copy of the text.
  Value MakeText(absl::string_view text) { return TextValue(CopyText(text)); }
  // An object with copies of the members.
  Value MakeObject(absl::Span<const Member> members, Position position = {});

  void Clear();

 private:
  static constexpr size_t kBlockBytes = 64 * 1024;
  void* Allocate(size_t size_bytes, size_t alignment);

  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_index_ = 0;
  size_t block_used_bytes_ = 0;
  std::vector<std::unique_ptr<char[]>> large_;
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_VALUE_H_
