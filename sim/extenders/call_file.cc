#include "sim/extenders/call_file.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "core/codec/text/json_reader.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/value.h"
#include "sim/extenders/go_form.h"

namespace schedsim::sim {
namespace {

using codec::Value;

constexpr absl::string_view kVerb = "verb";
constexpr absl::string_view kUrl = "url";
constexpr absl::string_view kRequest = "request";
constexpr absl::string_view kStatus = "status";
constexpr absl::string_view kBody = "body";
constexpr absl::string_view kError = "error";

absl::Status WithJson(absl::string_view json, absl::FunctionRef<void(const Value& root)> visit) {
  return codec::ReadJsonText(std::string(json), "request", {}, [visit](const codec::Document& document) {
    visit(document.root);
    return absl::OkStatus();
  });
}

std::string Canonical(absl::string_view json) {
  std::string canonical;
  // Our own requests are JSON.
  (void)WithJson(json, [&canonical](const Value& root) { canonical = CanonicalGoJson(root); });
  return canonical;
}

std::string Shown(const Value* value) {
  return value == nullptr ? "nothing" : Printable(CanonicalGoJson(*value), kShownBytesMax);
}

// Requests are not nested deeper than the reader lets them be.
std::optional<std::string> Difference(const Value* expected, const Value* actual, const std::string& path) {
  if (expected == nullptr || actual == nullptr || expected->type != actual->type) {
    if (expected == nullptr && actual == nullptr) return std::nullopt;
    return absl::StrCat(path, ": expected ", Shown(expected), ", got ", Shown(actual));
  }
  if (expected->is_array()) {
    for (size_t i = 0; i < std::max(expected->items.size(), actual->items.size()); ++i) {
      const auto at = [i](const Value& list) { return i < list.items.size() ? &list.items[i] : nullptr; };
      auto difference = Difference(at(*expected), at(*actual), absl::StrCat(path, "[", i, "]"));
      if (difference.has_value()) return difference;
    }
    return std::nullopt;
  }
  if (!expected->is_object()) {
    if (CanonicalGoJson(*expected) == CanonicalGoJson(*actual)) return std::nullopt;
    return absl::StrCat(path, ": expected ", Shown(expected), ", got ", Shown(actual));
  }
  for (const Value* map : {expected, actual}) {
    for (const codec::Member& member : map->members) {
      auto difference = Difference(expected->Find(member.key), actual->Find(member.key),
                                   absl::StrCat(path, path.empty() ? "" : ".", member.key));
      if (difference.has_value()) return difference;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string FirstJsonDifference(absl::string_view expected, absl::string_view actual) {
  std::string difference;
  (void)WithJson(expected, [&](const Value& left) {
    (void)WithJson(actual,
                   [&](const Value& right) { difference = Difference(&left, &right, "").value_or(""); });
  });
  return difference;
}

void AppendCall(const ExtenderCall& call, const ExtenderAnswer& answer, std::string& calls) {
  codec::JsonWriter json;
  json.BeginObject().Field(kVerb, NameOf(call.verb)).Field(kUrl, call.url);
  json.Key(kRequest).Raw(call.body);
  if (answer.error.empty()) {
    json.Field(kStatus, answer.status).Field(kBody, answer.body);
  } else {
    json.Field(kError, answer.error);
  }
  json.EndObject();
  absl::StrAppend(&calls, json.text(), "\n");
}

absl::StatusOr<std::unique_ptr<CallFileReader>> CallFileReader::Read(const std::string& path) {
  auto reader = std::make_unique<CallFileReader>();
  reader->path_ = path;
  std::string text;
  ASSIGN_OR_RETURN(text, codec::ReadFile(path));
  RETURN_IF_ERROR(codec::ReadJsonText(
      std::move(text), path, {}, [&reader, &path](const codec::Document& document) -> absl::Status {
        const Value& root = document.root;
        const auto text_at = [&root](absl::string_view key) {
          const Value* const value = root.Find(key);
          return value == nullptr ? std::string() : std::string(value->text);
        };
        const Value* const request = root.Find(kRequest);
        Entry entry = {
            .line = static_cast<size_t>(root.position.line), .verb = text_at(kVerb), .url = text_at(kUrl)};
        entry.answer.error = text_at(kError);
        entry.answer.body = text_at(kBody);
        const bool has_status = absl::SimpleAtoi(text_at(kStatus), &entry.answer.status);
        if (request == nullptr || entry.verb.empty() || has_status == !entry.answer.error.empty()) {
          return codec::ErrorAt({path, root.position},
                                "expected a call of an extender: verb, url, request, and status or error");
        }
        entry.request = CanonicalGoJson(*request);
        reader->entries_.push_back(std::move(entry));
        return absl::OkStatus();
      }));
  return reader;
}

absl::StatusOr<ExtenderAnswer> CallFileReader::Answer(size_t number, const ExtenderCall& call) const {
  const std::string name = absl::StrCat(NameOf(call.verb), " of ", call.pod, " at ", call.url);
  if (number >= entries_.size()) {
    return absl::AbortedError(
        absl::StrCat(path_, ": no further call is recorded, but the run asks for ", name));
  }
  const Entry& entry = entries_[number];
  const std::string place = absl::StrCat(path_, ":", entry.line, ": ");
  if (entry.verb != NameOf(call.verb) || entry.url != call.url) {
    return absl::AbortedError(absl::StrCat(place, "the recorded call is ", entry.verb, " at ", entry.url,
                                           ", but the run asks for ", name));
  }
  const std::string request = Canonical(call.body);
  if (request == entry.request) return entry.answer;
  return absl::AbortedError(
      absl::StrCat(place, "the run asks for ", name,
                   " otherwise than the recorded one: ", FirstJsonDifference(entry.request, request)));
}

}  // namespace schedsim::sim
