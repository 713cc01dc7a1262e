#include "sim/jq/sorted_json.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/codec/text/writer.h"

namespace schedsim::sim {
namespace {

// Documents are no deeper than codec::kDepthMax.
void AppendSorted(const codec::Value& value, double shift, std::string& out) {
  if (value.is_array()) {
    out += '[';
    for (const codec::Value& item : value.items) {
      if (out.back() != '[') out += ',';
      AppendSorted(item, shift, out);
    }
    out += ']';
  } else if (value.is_object()) {
    std::vector<const codec::Member*> members;
    for (const codec::Member& member : value.members) members.push_back(&member);
    std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
    out += '{';
    for (const codec::Member* member : members) {
      if (out.back() != '{') out += ',';
      codec::AppendJsonString(member->key, out);
      out += ':';
      AppendSorted(member->value, shift, out);
    }
    out += '}';
  } else if (double number = 0; shift != 0 && value.type == codec::Value::Type::kNumber &&
                                absl::SimpleAtod(value.text, &number)) {
    absl::StrAppend(&out, number + shift);
  } else {
    codec::AppendJson(value, out);
  }
}

}  // namespace

std::string SortedJson(const codec::Value& value, double shift) {
  std::string out;
  AppendSorted(value, shift, out);
  return out;
}

}  // namespace schedsim::sim
