#include "sim/scenario/indexed_template.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/base/status_macros.h"
#include "sim/templates/go_template_functions.h"
#include "sim/templates/sprig_functions.h"

namespace schedsim::sim {
namespace {

using codec::Value;

class NoClock : public Clock {
 public:
  absl::Time Now() const override { return absl::UnixEpoch(); }
};

// Go's own functions, and sprig's for whole numbers. Sprig's others may draw, or ask for the time.
const GoTemplateFunctions& Functions() {
  static const GoTemplateFunctions* const kFunctions = [] {
    auto* const rng = new Rng(0);
    auto* const sprig = new GoTemplateFunctions();
    AddSprigFunctions(*new NoClock(), *rng, *sprig);
    auto* const functions = new GoTemplateFunctions();
    for (const char* name : {"add", "sub", "mul", "div", "mod", "min", "max"}) {
      functions->Add(
          {.name = name,
           .argument_count_min = 1,
           .argument_count_max = std::nullopt,
           .call = [name, sprig](const GoArguments& arguments) { return sprig->Call(name, arguments); }});
    }
    return functions;
  }();
  return *kFunctions;
}

using TextChange = absl::FunctionRef<absl::StatusOr<std::string>(const Value& text)>;

// Copies a tree, with what `change` makes of each string. Documents are no deeper than codec::kDepthMax.
absl::StatusOr<Value> CopyTree(const Value& value, TextChange change, codec::Document& copy) {
  if (value.is_string()) {
    std::string text;
    ASSIGN_OR_RETURN(text, change(value));
    Value changed = copy.MakeText(text);
    changed.position = value.position;
    return changed;
  }
  if (value.is_array()) {
    std::vector<Value> items(value.items.size());
    for (size_t i = 0; i < items.size(); ++i) {
      ASSIGN_OR_RETURN(items[i], CopyTree(value.items[i], change, copy));
    }
    return Value{.type = value.type, .position = value.position, .items = copy.CopyItems(items)};
  }
  if (value.is_object()) {
    std::vector<codec::Member> members(value.members.begin(), value.members.end());
    for (codec::Member& member : members) {
      member.key = copy.CopyText(member.key);
      ASSIGN_OR_RETURN(member.value, CopyTree(member.value, change, copy));
    }
    return copy.MakeObject(members, value.position);
  }
  Value scalar = value;
  scalar.text = copy.CopyText(value.text);
  return scalar;
}

}  // namespace

absl::StatusOr<IndexedTemplate> IndexedTemplate::Make(const Value& value, absl::string_view file) {
  IndexedTemplate made(file);
  const auto parse = [&made](const Value& text) -> absl::StatusOr<std::string> {
    if (absl::StrContains(text.text, "{{") && !made.templates_.contains(text.text)) {
      absl::StatusOr<GoTemplate> parsed =
          GoTemplate::Parse(text.text, made.file_, Functions(), text.position.line);
      RETURN_IF_ERROR(parsed.status());
      made.templates_.emplace(text.text, *std::move(parsed));
    }
    return std::string(text.text);
  };
  auto document = std::make_shared<codec::Document>();
  ASSIGN_OR_RETURN(document->root, CopyTree(value, parse, *document));
  made.document_ = std::move(document);
  return made;
}

absl::Status IndexedTemplate::Render(int64_t index, const GoValue::Map& fields,
                                     const std::function<absl::Status(const Value& object)>& sink) const {
  GoValue::Map data = fields;
  data.emplace_back("Index", GoValue(index));
  std::sort(data.begin(), data.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const GoValue dot(std::move(data));
  const auto execute = [this, &dot](const Value& text) -> absl::StatusOr<std::string> {
    const auto found = templates_.find(text.text);
    return found == templates_.end() ? std::string(text.text) : found->second.Execute(dot, Functions());
  };
  codec::Document rendered;
  ASSIGN_OR_RETURN(rendered.root, CopyTree(document_->root, execute, rendered));
  return sink(rendered.root);
}

bool IsTemplated(const Value& item) {
  // A PodTemplate has a template as well.
  return item.Find("template") != nullptr && item.Find("kind") == nullptr;
}

absl::Status ReadTemplated(const Value& item, const std::string& path, absl::string_view file, int64_t round,
                           codec::ObjectReader& objects, codec::ErrorList& errors,
                           codec::ObjectReader::Sink sink) {
  constexpr int64_t kCountMax = 1'000'000;
  codec::StrictReader reader(item, path, errors);
  std::optional<int64_t> count;
  reader.Read("count", count);
  if (!count.has_value() || *count < 1 || *count > kCountMax) {
    errors.Add(item.position,
               absl::StrCat(reader.PathOf("count"), ": expected a whole number from 1 to ", kCountMax));
    count = 0;
  }
  const Value* const given = reader.Take("template");
  reader.Finish();
  if (given == nullptr || !given->is_object()) {
    errors.Add(item.position, absl::StrCat(reader.PathOf("template"), ": expected an object"));
    return absl::OkStatus();
  }
  const absl::StatusOr<IndexedTemplate> made = IndexedTemplate::Make(*given, file);
  RETURN_IF_ERROR(made.status());
  for (int64_t i = 0; i < *count; ++i) {
    const int64_t index = round * *count + i;
    RETURN_IF_ERROR(
        made->Render(index, {}, [&](const Value& object) { return objects.ReadValue(object, file, sink); }));
  }
  return absl::OkStatus();
}

}  // namespace schedsim::sim
