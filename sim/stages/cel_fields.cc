#include "sim/stages/cel_fields.h"

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/nearest_name.h"
#include "core/codec/objects/api_fields.h"

namespace schedsim::sim {
namespace {

using codec::ApiField;
using codec::ApiType;

const ApiType* TypeOf(absl::string_view api_version, absl::string_view kind) {
  const codec::ApiKind* found = codec::ApiFields::Get().Find(api_version, kind);
  return found == nullptr ? nullptr : found->type;
}

// The type at the end of a path of fields.
const ApiType* TypeAt(const ApiType* type, std::initializer_list<absl::string_view> path) {
  for (const absl::string_view name : path) {
    const ApiField* field = type == nullptr ? nullptr : type->Find(name);
    type = field == nullptr ? nullptr : field->type;
  }
  return type;
}

// Those that kwok registers.
std::set<const ApiType*> KnownTypes() {
  std::set<const ApiType*> types;
  for (const char* kind : {"Pod", "Node"}) {
    const ApiType* const type = TypeOf("v1", kind);
    types.insert({type, TypeAt(type, {"metadata"}), TypeAt(type, {"spec"}), TypeAt(type, {"status"}),
                  TypeAt(type, {"spec", "containers"}), TypeAt(type, {"spec", "containers", "resources"})});
  }
  types.erase(nullptr);
  return types;
}

bool IsOfName(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Goes over the text of an expression, and from each name of a variable over the fields behind it.
class FieldScanner {
 public:
  FieldScanner(absl::string_view text, const ApiType* self) : text_(text), types_({{"self", self}}) {}

  std::string Scan() {
    ScanPart();
    return problem_;
  }

 private:
  // To the end, or to a bracket that was opened before.
  void ScanPart() {
    int depth = 0;
    while (at_ < text_.size() && problem_.empty()) {
      const char c = text_[at_];
      if (c == '\'' || c == '"') {
        SkipText();
      } else if (IsOfName(c)) {
        const bool is_variable = BeforeSpaces() != '.';
        const auto variable = types_.find(std::string(TakeName()));
        if (is_variable && variable != types_.end()) Follow(variable->second);
      } else if (c == ']' && depth == 0) {
        return;
      } else {
        depth += c == '[' ? 1 : (c == ']' ? -1 : 0);
        ++at_;
      }
    }
  }

  // The last character before this one that is no space; a space where there is none.
  char BeforeSpaces() const {
    size_t at = at_;
    while (at > 0 && absl::ascii_isspace(static_cast<unsigned char>(text_[at - 1]))) --at;
    return at == 0 ? ' ' : text_[at - 1];
  }
  void SkipSpaces() {
    while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool IsAt(char c) const { return at_ < text_.size() && text_[at_] == c; }

  absl::string_view TakeName() {
    const size_t begin = at_;
    while (at_ < text_.size() && IsOfName(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // A string, raw ones and those of three quotes as if they were short ones side by side.
  void SkipText() {
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
  }

  // `self.spec.containers[0].name`, from behind `self` on.
  void Follow(const ApiType* type) {
    bool takes_key = false;
    while (type != nullptr && problem_.empty()) {
      SkipSpaces();
      if (IsAt('[')) {
        ++at_;
        ScanPart();
        ++at_;
        takes_key = false;
        continue;
      }
      if (!IsAt('.')) return;
      ++at_;
      SkipSpaces();
      const size_t begin = at_;
      const absl::string_view name = TakeName();
      SkipSpaces();
      if (IsAt('(')) {
        BindVariable(name, type);
        return;
      }
      if (takes_key) {
        takes_key = false;
        continue;
      }
      const ApiField* const field = FindField(*type, name, begin);
      if (field == nullptr) return;
      type = field->type;
      takes_key = field->by_key;
    }
  }

  const ApiField* FindField(const ApiType& type, absl::string_view name, size_t begin) {
    static const auto* const kKnown = new std::set<const ApiType*>(KnownTypes());
    if (kKnown->count(&type) == 0) {
      problem_ = absl::StrCat("column ", begin + 1, ": field ", name,
                              " is not known: kwok looks up no fields of this type");
      return nullptr;
    }
    // Go embeds them in another type.
    const auto is_embedded = [](absl::string_view other) { return other == "kind" || other == "apiVersion"; };
    const ApiField* const field = is_embedded(name) ? nullptr : type.Find(name);
    if (field != nullptr) return field;
    std::vector<absl::string_view> names;
    for (const ApiField& other : type.fields) {
      if (!is_embedded(other.name)) names.push_back(other.name);
    }
    const absl::string_view nearest = NearestName(name, names);
    problem_ = absl::StrCat("column ", begin + 1, ": field ", name, " is not known");
    if (!nearest.empty()) absl::StrAppend(&problem_, ", did you mean ", nearest, "?");
    return nullptr;
  }

  // `all(c, ...)` and its like call each item by a name. A name of two types is not looked at.
  void BindVariable(absl::string_view macro, const ApiType* type) {
    if (macro != "all" && macro != "exists" && macro != "exists_one" && macro != "map" && macro != "filter")
      return;
    ++at_;
    SkipSpaces();
    const std::string name(TakeName());
    const auto [known, is_new] = types_.emplace(name, type);
    if (!is_new && known->second != type) known->second = nullptr;
  }

  const absl::string_view text_;
  // By variable; nullptr: not known.
  std::map<std::string, const ApiType*> types_;
  size_t at_ = 0;
  std::string problem_;
};

}  // namespace

std::string UnknownCelField(absl::string_view text, absl::string_view api_version, absl::string_view kind) {
  if (api_version != "v1" || (kind != "Pod" && kind != "Node")) return "";
  return FieldScanner(text, TypeOf(api_version, kind)).Scan();
}

}  // namespace schedsim::sim
