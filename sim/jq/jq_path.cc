#include "sim/jq/jq_path.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "sim/jq/sorted_json.h"

namespace schedsim::sim {
namespace {

using Type = JqStep::Type;
using Steps = std::vector<JqStep>;

bool IsNameStart(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNamePart(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Gives up, with false, at whatever it does not know.
class Parser {
 public:
  explicit Parser(absl::string_view text) : rest_(text) {}

  // The whole text.
  bool Parse(Steps& steps) {
    if (!ParsePipe(/*in_select=*/false, steps)) return false;
    SkipSpaces();
    return rest_.empty();
  }

 private:
  void SkipSpaces() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }

  bool Take(absl::string_view token) {
    SkipSpaces();
    return absl::ConsumePrefix(&rest_, token);
  }

  bool ParsePipe(bool in_select, Steps& steps) {
    do {
      if (!ParseTerm(in_select, steps)) return false;
    } while (Take("|"));
    return true;
  }

  bool ParseTerm(bool in_select, Steps& steps) {
    SkipSpaces();
    if (!rest_.empty() && rest_[0] == '.') return ParsePath(steps);
    const std::string word = TakeName();
    if (word == "tostring") {
      steps.push_back({.type = Type::kToString});
      return true;
    }
    if (word == "length") {
      steps.push_back({.type = Type::kLength});
      return true;
    }
    return word == "select" && !in_select && ParseSelect(steps);
  }

  std::string TakeName() {
    size_t size = 0;
    if (!rest_.empty() && IsNameStart(rest_[0])) {
      while (size < rest_.size() && IsNamePart(rest_[size])) ++size;
    }
    std::string name(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return name;
  }

  bool ParseSelect(Steps& steps) {
    JqStep select = {.type = Type::kSelect};
    // A pipe would bind weaker than the comparison, and so be its right side.
    if (!Take("(") || !ParseTerm(/*in_select=*/true, select.steps)) return false;
    select.equal = Take("==");
    if (!select.equal && !Take("!=")) return false;
    SkipSpaces();
    if (!TakeText(select.name) || !Take(")")) return false;
    steps.push_back(std::move(select));
    return true;
  }

  // A text without any escapes.
  bool TakeText(std::string& text) {
    if (rest_.empty() || rest_[0] != '"') return false;
    const size_t end = rest_.find('"', 1);
    if (end == absl::string_view::npos) return false;
    text = std::string(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text.find('\\') == std::string::npos;
  }

  // From a dot on. A dot alone is the object itself.
  bool ParsePath(Steps& steps) {
    while (!rest_.empty() && (rest_[0] == '.' || rest_[0] == '[')) {
      const bool has_dot = absl::ConsumePrefix(&rest_, ".");
      JqStep step;
      if (absl::ConsumePrefix(&rest_, "[")) {
        if (!ParseBracket(step)) return false;
        steps.push_back(std::move(step));
        continue;
      }
      if (!has_dot) return false;
      if (!rest_.empty() && rest_[0] == '"') {
        if (!TakeText(step.name)) return false;
        steps.push_back(std::move(step));
        continue;
      }
      step.name = TakeName();
      if (step.name.empty()) return rest_.empty() || absl::StrContains(" \t\r\n|)", rest_[0]);
      steps.push_back(std::move(step));
    }
    // What stands right behind would belong to the path: `?`, or a keyword's letters.
    return rest_.empty() || absl::StrContains(" \t\r\n|)=!", rest_[0]);
  }

  bool ParseBracket(JqStep& step) {
    if (absl::ConsumePrefix(&rest_, "]")) {
      step.type = Type::kIterate;
      return true;
    }
    if (TakeText(step.name)) return absl::ConsumePrefix(&rest_, "]");
    const size_t end = rest_.find(']');
    if (end == absl::string_view::npos || !absl::SimpleAtoi(rest_.substr(0, end), &step.index)) return false;
    step.type = Type::kIndex;
    rest_.remove_prefix(end + 1);
    return true;
  }

  absl::string_view rest_;
};

// A part of the object, or what was computed.
struct Item {
  codec::Value value;
  std::string text;  // Of a computed string or number; `value` has its type.
  bool is_computed = false;
  bool is_float = false;  // Of a computed number: it comes from one of the object's.

  absl::string_view Text() const { return is_computed ? absl::string_view(text) : value.text; }
};

using ValueType = codec::Value::Type;

Item Computed(ValueType type, std::string text) {
  Item item;
  item.value.type = type;
  item.text = std::move(text);
  item.is_computed = true;
  return item;
}

// As gojq prints the float64 that a number of the object is.
std::string NumberText(absl::string_view text) {
  double number = 0;
  if (!absl::SimpleAtod(text, &number)) return std::string(text);
  if (number > -1e17 && number < 1e17 && number == static_cast<double>(static_cast<int64_t>(number))) {
    return absl::StrCat(static_cast<int64_t>(number));
  }
  return std::string(text);
}

bool IsEqual(const Item& item, const std::string& literal) {
  return item.value.is_string() && item.Text() == literal;
}

class Run {
 public:
  // Whether all went well.
  bool Apply(const Steps& steps, std::vector<Item>& items) {
    for (const JqStep& step : steps) {
      std::vector<Item> next;
      for (Item& item : items) {
        if (!ApplyStep(step, std::move(item), next)) return false;
      }
      if (next.size() > JqProgram::kOutputsMax) return false;
      items = std::move(next);
    }
    return true;
  }

 private:
  bool ApplyStep(const JqStep& step, Item item, std::vector<Item>& out) {
    const codec::Value& value = item.value;
    switch (step.type) {
      case Type::kField:
        if (!value.is_null() && !value.is_object()) return false;
        out.push_back({.value = FieldOf(value, step.name)});
        return true;
      case Type::kIndex:
        if (!value.is_null() && !value.is_array()) return false;
        out.push_back({.value = ItemOf(value, step.index)});
        return true;
      case Type::kIterate:
        return Iterate(value, out);
      case Type::kSelect:
        return Select(step, std::move(item), out);
      case Type::kToString:
        out.push_back(ToString(item));
        return true;
      case Type::kLength:
        return Length(item, out);
    }
    return false;
  }

  static codec::Value FieldOf(const codec::Value& value, const std::string& name) {
    const codec::Value* found = value.Find(name);
    return found == nullptr ? codec::Value() : *found;
  }

  static codec::Value ItemOf(const codec::Value& value, int64_t index) {
    const int64_t size = static_cast<int64_t>(value.items.size());
    if (index < 0) index += size;
    return index < 0 || index >= size ? codec::Value() : value.items[static_cast<size_t>(index)];
  }

  static bool Iterate(const codec::Value& value, std::vector<Item>& out) {
    if (value.is_array()) {
      for (const codec::Value& item : value.items) out.push_back({.value = item});
      return true;
    }
    if (!value.is_object()) return false;
    std::vector<const codec::Member*> members;
    for (const codec::Member& member : value.members) members.push_back(&member);
    std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
    for (const codec::Member* member : members) out.push_back({.value = member->value});
    return true;
  }

  // Once for each output of the condition that holds.
  bool Select(const JqStep& step, Item item, std::vector<Item>& out) {
    std::vector<Item> compared = {item};
    if (!Apply(step.steps, compared)) return false;
    for (const Item& left : compared) {
      if (IsEqual(left, step.name) == step.equal) out.push_back(item);
    }
    return true;
  }

  static Item ToString(const Item& item) {
    switch (item.value.type) {
      case ValueType::kString:
        return item;
      case ValueType::kNumber:
        return Computed(ValueType::kString, item.is_computed ? item.text : NumberText(item.value.text));
      default:
        return Computed(ValueType::kString, SortedJson(item.value));
    }
  }

  static bool Length(const Item& item, std::vector<Item>& out) {
    size_t size = 0;
    switch (item.value.type) {
      case ValueType::kNull:
        break;
      case ValueType::kBool:
        return false;
      case ValueType::kNumber: {
        std::string text = item.is_computed ? item.text : NumberText(item.value.text);
        absl::string_view magnitude = text;
        absl::ConsumePrefix(&magnitude, "-");
        Item number = Computed(ValueType::kNumber, std::string(magnitude));
        number.is_float = !item.is_computed || item.is_float;
        out.push_back(std::move(number));
        return true;
      }
      case ValueType::kString:
        for (const char c : item.Text()) size += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
        break;
      case ValueType::kArray:
        size = item.value.items.size();
        break;
      case ValueType::kObject:
        size = item.value.members.size();
        break;
    }
    out.push_back(Computed(ValueType::kNumber, absl::StrCat(size)));
    return true;
  }
};

JqOutput OutputOf(const Item& item) {
  using OutputType = JqOutput::Type;
  JqOutput output;
  switch (item.value.type) {
    case ValueType::kString:
      return {.type = OutputType::kString, .text = std::string(item.Text())};
    case ValueType::kBool:
      return {.type = OutputType::kBool, .text = item.value.boolean ? "true" : "false"};
    case ValueType::kNumber:
      output.type = item.is_computed && !item.is_float ? OutputType::kInteger : OutputType::kFloat;
      output.text = item.is_computed ? item.text : NumberText(item.value.text);
      // What is beyond any double becomes infinite.
      static_cast<void>(absl::SimpleAtod(output.text, &output.number));
      return output;
    default:
      output.text = SortedJson(item.value);
      return output;
  }
}

}  // namespace

std::optional<std::vector<JqStep>> ParseJqPath(absl::string_view program) {
  Steps steps;
  if (!Parser(program).Parse(steps)) return std::nullopt;
  return steps;
}

std::vector<JqOutput> RunJqPath(const std::vector<JqStep>& steps, const codec::Value& object) {
  std::vector<Item> items = {{.value = object}};
  std::vector<JqOutput> outputs;
  if (!Run().Apply(steps, items)) return outputs;
  for (const Item& item : items) {
    if (!item.value.is_null()) outputs.push_back(OutputOf(item));
  }
  return outputs;
}

}  // namespace schedsim::sim
