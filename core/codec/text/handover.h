// A document may be read by two readers: a fast one for text as programs write it, and, where that gives up,
// one that knows the whole syntax.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_HANDOVER_H_
#define SCHEDSIM_CORE_CODEC_TEXT_HANDOVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "core/codec/text/reader.h"

namespace schedsim::codec {

// A place at the beginning of a line or a value.
struct TextPlace {
  size_t offset = 0;
  size_t line_start = 0;  // The offset of its line.
  int32_t line = 1;
};

// Handover hands documents on, each once: the reader that takes over begins the document anew, and the list
// items that the first one handed on before it gave up are not handed on again.
class Handover {
 public:
  // `sink` must outlive the object.
  explicit Handover(DocumentSink sink)
      : given_sink_(sink), sink_([this](const Document& document) {
          if (known_count_ > 0) {
            --known_count_;
            return absl::OkStatus();
          }
          ++count_;
          status_ = given_sink_(document);
          return status_;
        }) {}
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  // Where the readers' documents go; valid as long as the object.
  DocumentSink sink() const { return sink_; }

  // The text's next document begins.
  void Begin() { count_ = known_count_ = 0; }
  // The same document begins again.
  void BeginAgain() { known_count_ = count_; }
  // What the sink said last. An error ends the reading.
  const absl::Status& status() const { return status_; }

 private:
  DocumentSink given_sink_;
  std::function<absl::Status(const Document&)> sink_;
  absl::Status status_;
  int64_t count_ = 0;        // Of this document.
  int64_t known_count_ = 0;  // Still to be left out.
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_HANDOVER_H_
