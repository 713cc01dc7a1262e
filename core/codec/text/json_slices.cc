#include "core/codec/text/json_slices.h"

#include <simdjson.h>

#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace schedsim::codec {

absl::StatusOr<NamedList> SliceNamedList(absl::string_view text, absl::string_view name_field,
                                         absl::string_view list_field) {
  simdjson::ondemand::parser parser;
  const simdjson::padded_string padded(text.data(), text.size());
  simdjson::ondemand::document document;
  std::string_view name;
  simdjson::ondemand::array list;
  const std::string_view name_key(name_field.data(), name_field.size());
  const std::string_view list_key(list_field.data(), list_field.size());
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
      document[name_key].get_string().get(name) != simdjson::SUCCESS) {
    return absl::InvalidArgumentError(absl::StrCat("expected an object with the text `", name_field, "`"));
  }
  NamedList result = {.name = std::string(name), .items = {}};
  if (document[list_key].get_array().get(list) != simdjson::SUCCESS) {
    return absl::InvalidArgumentError(absl::StrCat("expected an object with the list `", list_field, "`"));
  }
  for (auto entry : list) {
    simdjson::ondemand::object item;
    std::string_view item_text;
    if (entry.get_object().get(item) != simdjson::SUCCESS ||
        item.raw_json().get(item_text) != simdjson::SUCCESS) {
      return absl::InvalidArgumentError(absl::StrCat("expected a list of objects in `", list_field, "`"));
    }
    result.items.emplace_back(item_text);
  }
  return result;
}

}  // namespace schedsim::codec
