// Helpers of the codec tests.
#ifndef SCHEDSIM_TESTS_CORE_CODEC_CODEC_TEST_UTIL_H_
#define SCHEDSIM_TESTS_CORE_CODEC_CODEC_TEST_UTIL_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/codec/objects.h"
#include "core/codec/reader.h"
#include "core/codec/writer.h"

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

#endif  // SCHEDSIM_TESTS_CORE_CODEC_CODEC_TEST_UTIL_H_
