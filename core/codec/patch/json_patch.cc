#include "core/codec/patch/json_patch.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "core/base/status_macros.h"

namespace schedsim::codec {
namespace {

struct Operation {
  absl::string_view name;
  std::string path;
  std::vector<std::string> keys;  // The parts of the path.
  // For move and copy: where the value comes from.
  std::string from;
  std::vector<std::string> from_keys;
  Value value;
};

absl::Status NoPlace(const Operation& operation) {
  return absl::InvalidArgumentError(
      absl::StrCat(operation.name, " ", operation.path, ": there is no such place"));
}

// What stands in the place: `old` is nullptr where there is nothing. nullopt: nothing is left there.
absl::StatusOr<std::optional<Value>> Change(const Value* old, const Operation& operation) {
  if (operation.name == "add") return std::optional<Value>(operation.value);
  if (old == nullptr) return NoPlace(operation);
  if (operation.name == "replace") return std::optional<Value>(operation.value);
  if (operation.name == "remove") return std::optional<Value>();
  if (SameTree(*old, operation.value)) return std::optional<Value>(*old);
  return absl::InvalidArgumentError(absl::StrCat("test ", operation.path, ": another value stands there"));
}

absl::StatusOr<std::optional<Value>> Apply(const Value* target, const Operation& operation, size_t depth,
                                           Document& document);

// Applied to the member or item that the path names next; `target` stays as it is.
absl::StatusOr<Value> ApplyToMember(const Value& target,
                                    const Operation& operation,  // NOLINT(misc-no-recursion)
                                    size_t depth, Document& document) {
  const std::string& key = operation.keys[depth];
  std::optional<Value> changed;
  ASSIGN_OR_RETURN(changed, Apply(target.Find(key), operation, depth + 1, document));
  std::vector<Member> members;
  for (const Member& member : target.members) {
    if (member.key != key) members.push_back(member);
    if (member.key == key && changed.has_value())
      members.push_back({member.key, member.key_position, *changed});
  }
  if (target.Find(key) == nullptr && changed.has_value())
    members.push_back({document.CopyText(key), {}, *changed});
  Value result = target;
  result.members = document.CopyMembers(members);
  return result;
}

absl::StatusOr<Value> ApplyToItem(const Value& target,
                                  const Operation& operation,  // NOLINT(misc-no-recursion)
                                  size_t depth, Document& document) {
  std::vector<Value> items(target.items.begin(), target.items.end());
  const std::string& key = operation.keys[depth];
  const bool is_last = depth + 1 == operation.keys.size();
  const bool inserts = is_last && operation.name == "add";
  size_t index = items.size();
  if (key != "-" && !absl::SimpleAtoi(key, &index)) return NoPlace(operation);
  if (index > items.size() || (index == items.size() && !inserts)) return NoPlace(operation);
  std::optional<Value> changed;
  ASSIGN_OR_RETURN(changed, Apply(inserts ? nullptr : &items[index], operation, depth + 1, document));
  const auto place = items.begin() + static_cast<ptrdiff_t>(index);
  if (inserts) {
    items.insert(place, *changed);
  } else if (changed.has_value()) {
    *place = *changed;
  } else {
    items.erase(place);
  }
  Value result = target;
  result.items = document.CopyItems(items);
  return result;
}

// A patch is no deeper than its target, which is no deeper than the reader allows, kDepthMax.
absl::StatusOr<std::optional<Value>> Apply(const Value* target,
                                           const Operation& operation,  // NOLINT(misc-no-recursion)
                                           size_t depth, Document& document) {
  if (depth == operation.keys.size()) return Change(target, operation);
  if (target == nullptr || (!target->is_object() && !target->is_array())) return NoPlace(operation);
  Value changed;
  ASSIGN_OR_RETURN(changed, target->is_object() ? ApplyToMember(*target, operation, depth, document)
                                                : ApplyToItem(*target, operation, depth, document));
  return std::optional<Value>(changed);
}

// The parts of a pointer of RFC 6901; "" has none. InvalidArgument where it does not begin with a slash.
absl::StatusOr<std::vector<std::string>> PartsOf(const Operation& operation, absl::string_view pointer) {
  std::vector<std::string> keys;
  for (const absl::string_view part : absl::StrSplit(pointer, '/')) {
    keys.push_back(absl::StrReplaceAll(absl::StrReplaceAll(part, {{"~1", "/"}}), {{"~0", "~"}}));
  }
  if (!keys.front().empty()) return NoPlace(operation);
  keys.erase(keys.begin());
  return keys;
}

absl::StatusOr<Operation> ReadOperation(const Value& value) {
  const Value* name = value.Find("op");
  const Value* path = value.Find("path");
  if (name == nullptr || path == nullptr || !name->is_string() || !path->is_string()) {
    return absl::InvalidArgumentError("an operation of a JSON patch: expected op and path");
  }
  Operation operation = {.name = name->text, .path = std::string(path->text)};
  const bool has_from = name->text == "move" || name->text == "copy";
  const bool has_value = name->text == "add" || name->text == "replace" || name->text == "test";
  if (!has_from && !has_value && name->text != "remove") {
    return absl::InvalidArgumentError(absl::StrCat(
        "operation ", name->text, " of a JSON patch: expected add, remove, replace, move, copy or test"));
  }
  const Value* operand = value.Find(has_from ? "from" : "value");
  if (has_value && operand == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(name->text, " ", path->text, ": expected a value"));
  }
  if (has_from && (operand == nullptr || !operand->is_string())) {
    return absl::InvalidArgumentError(
        absl::StrCat(name->text, " ", path->text, ": expected from, a place of the object"));
  }
  ASSIGN_OR_RETURN(operation.keys, PartsOf(operation, path->text));
  if (has_value) operation.value = *operand;
  if (has_from) {
    operation.from = std::string(operand->text);
    ASSIGN_OR_RETURN(operation.from_keys, PartsOf(operation, operand->text));
  }
  return operation;
}

// The value at a place, or nullptr.
const Value* FindPlace(const Value& root, const std::vector<std::string>& keys) {
  const Value* value = &root;
  for (const std::string& key : keys) {
    if (value->is_array()) {
      size_t index = 0;
      const bool is_there = absl::SimpleAtoi(key, &index) && index < value->items.size();
      value = is_there ? &value->items[index] : nullptr;
    } else {
      value = value->Find(key);
    }
    if (value == nullptr) return nullptr;
  }
  return value;
}

// A move is a removal and an addition, a copy just the latter.
absl::StatusOr<std::optional<Value>> ApplyFrom(const Value& target, const Operation& operation,
                                               Document& document) {
  const Value* value = FindPlace(target, operation.from_keys);
  if (value == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(operation.name, " ", operation.path, " from ",
                                                   operation.from, ": there is no such place"));
  }
  Operation add = operation;
  add.name = "add";
  add.value = *value;
  if (operation.name == "copy") return Apply(&target, add, 0, document);
  Operation remove = operation;
  remove.name = "remove";
  remove.path = operation.from;
  remove.keys = operation.from_keys;
  std::optional<Value> without;
  ASSIGN_OR_RETURN(without, Apply(&target, remove, 0, document));
  return Apply(without.has_value() ? &*without : nullptr, add, 0, document);
}

}  // namespace

absl::StatusOr<Value> JsonPatch(const Value& target, const Value& patch, Document& document) {
  if (!patch.is_array()) return absl::InvalidArgumentError("a JSON patch: expected a list");
  Value result = target;
  for (const Value& item : patch.items) {
    Operation operation;
    ASSIGN_OR_RETURN(operation, ReadOperation(item));
    std::optional<Value> changed;
    const bool has_from = operation.name == "move" || operation.name == "copy";
    ASSIGN_OR_RETURN(
        changed, has_from ? ApplyFrom(result, operation, document) : Apply(&result, operation, 0, document));
    result = changed.value_or(Value());
  }
  return result;
}

}  // namespace schedsim::codec
