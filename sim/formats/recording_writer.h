// Writing recordings that kwok replays.
#ifndef SCHEDSIM_SIM_FORMATS_RECORDING_WRITER_H_
#define SCHEDSIM_SIM_FORMATS_RECORDING_WRITER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// Writes the layout of `kwokctl snapshot record`: objects first, then a ResourcePatch for each change, times
// as offsets from zero. kwokctl 0.7.0 replays it with `kwokctl snapshot replay`. Changes of one instant are
// written a nanosecond apart: among those of the same time, kwok's replay takes any order.
class RecordingWriter {
 public:
  using Sink = std::function<void(absl::string_view text)>;

  RecordingWriter(absl::Time zero, Sink sink) : zero_(zero), sink_(std::move(sink)) {}

  // What there is at zero. To be called before changes are added.
  void AddObject(const api::Object& object);
  // In order of time, from zero on. `before` is nullptr for an object that comes, `after` for one that goes.
  void AddChange(absl::Time at, const api::ObjectPtr& before, const api::ObjectPtr& after);

  int64_t object_count() const { return object_count_; }
  int64_t change_count() const { return change_count_; }

 private:
  void AddDocument(const codec::Value& root);
  void AddVersion(const api::ObjectPtr& before, const api::Object& after, const codec::Value& new_object);
  void AddPatch(const api::Object& object, absl::string_view method, const std::optional<codec::Value>& body);

  const absl::Time zero_;
  const Sink sink_;
  int64_t object_count_ = 0;
  int64_t change_count_ = 0;
  int64_t last_nanoseconds_ = -1;  // Of a change.
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_RECORDING_WRITER_H_
