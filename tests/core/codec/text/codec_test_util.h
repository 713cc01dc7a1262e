// Helpers of the codec tests.
#ifndef SCHEDSIM_TESTS_CORE_CODEC_TEXT_CODEC_TEST_UTIL_H_
#define SCHEDSIM_TESTS_CORE_CODEC_TEXT_CODEC_TEST_UTIL_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"

namespace schedsim::codec {

// The documents of `text` as compact JSON, joined by newlines; or the error's message.
inline std::string JsonOf(absl::string_view text, absl::string_view file, bool split_lists = false) {
  std::string out;
  const absl::Status status =
      ReadText(std::string(text), file, {.split_lists = split_lists}, [&](const Document& document) {
        if (!out.empty()) out.push_back('\n');
        AppendJson(document.root, out);
        return absl::OkStatus();
      });
  return status.ok() ? out : std::string(status.message());
}

// A row of a table of patches.
struct PatchExample {
  const char* target;
  const char* patch;
  const char* result;
};

// What `patch`, a function from target, patch and document to a Value or an error, makes of the two, as JSON;
// or the error's message. Both may be any value.
template <typename Patch>
std::string Patched(const PatchExample& example, Patch patch) {
  std::string result;
  Document merged;
  const std::string target = absl::StrCat("{\"v\":", example.target, "}");
  const std::string change = absl::StrCat("{\"v\":", example.patch, "}");
  const absl::Status status = ReadText(target, "target.json", {}, [&](const Document& stored) {
    return ReadText(change, "patch.json", {}, [&](const Document& changed) {
      const absl::StatusOr<Value> patched = patch(*stored.root.Find("v"), *changed.root.Find("v"), merged);
      result = patched.ok() ? ToJson(*patched) : std::string(patched.status().message());
      return absl::OkStatus();
    });
  });
  return status.ok() ? result : std::string(status.message());
}

struct ReadResult {
  absl::Status status;
  std::vector<api::ObjectPtr> objects;
};

inline ReadResult ReadObjects(absl::string_view text, absl::string_view file, DecodeOptions options = {}) {
  ReadResult result;
  ObjectReader reader(options);
  result.status = reader.ReadText(std::string(text), file, [&](api::ObjectPtr object, const Location&) {
    result.objects.push_back(std::move(object));
    return absl::OkStatus();
  });
  return result;
}

}  // namespace schedsim::codec

#endif  // SCHEDSIM_TESTS_CORE_CODEC_TEXT_CODEC_TEST_UTIL_H_
