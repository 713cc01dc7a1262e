// Fields of workloads, which are kept as JSON.
#ifndef SCHEDSIM_SIM_CONTROLLERS_WORKLOAD_FIELDS_H_
#define SCHEDSIM_SIM_CONTROLLERS_WORKLOAD_FIELDS_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/api/selectors.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/value.h"
#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// More pods than any cluster has, of one workload.
inline constexpr int64_t kPodsMax = 1'000'000;

// A whole number, or a share of another one.
struct IntOrPercent {
  int64_t value = 0;
  bool is_percent = false;

  // Source: apimachinery v0.37, pkg/util/intstr, GetScaledValueFromIntOrPercent.
  int64_t Of(int64_t total, bool rounds_up) const;
};

// Reads fields of one map of an object. What is absent or null is what the caller falls back to; the first
// field of a wrong type is an error, `spec.replicas: expected a whole number`.
class FieldReader {
 public:
  // The map at `path` of `root`, which may be absent. `status`, which takes the error, must outlive it.
  FieldReader(const codec::Value& root, std::initializer_list<absl::string_view> path, absl::Status& status);

  bool is_present() const { return map_ != nullptr; }
  const codec::Value* Find(absl::string_view key) const;
  // A number of 32 bits, as nearly all of the API are.
  int64_t Int(absl::string_view key, int64_t fallback) const;
  std::optional<int64_t> OptionalInt(absl::string_view key) const;
  // One that is not negative.
  int64_t Count(absl::string_view key, int64_t fallback) const;
  std::optional<int64_t> OptionalCount(absl::string_view key) const;
  // A number of 64 bits: generations, revisions; and one that is not negative: deadlines.
  std::optional<int64_t> OptionalLong(absl::string_view key) const;
  std::optional<int64_t> OptionalLongCount(absl::string_view key) const;
  bool Bool(absl::string_view key, bool fallback) const;
  std::string Text(absl::string_view key, absl::string_view fallback) const;
  std::optional<absl::Time> Time(absl::string_view key) const;
  std::optional<IntOrPercent> OptionalIntOrPercent(absl::string_view key) const;

 private:
  std::optional<int64_t> Number(absl::string_view key, int64_t min, int64_t max) const;
  void Error(absl::string_view key, absl::string_view expected) const;

  std::string path_;
  const codec::Value* map_ = nullptr;
  absl::Status& status_;
};

// `text` with `Deployment default/web: ` in front, unless it begins so.
std::string WithObject(const api::Object& object, absl::string_view text);

// Calls `read` with the whole object as a tree, which lives during the call. Returns the status of `read`,
// with `Deployment default/web: ` in front.
absl::Status ReadFields(const api::Object& object,
                        absl::FunctionRef<absl::Status(const codec::Value& root)> read);

// InvalidArgument where `root`.spec.template is no template of a pod.
absl::Status CheckTemplate(const codec::Value& root);

// InvalidArgument where `root`.spec.selector is missing, or does not select the pods of `root`.spec.template.
// Source: kubernetes v1.37, pkg/apis/apps/validation.
absl::Status CheckSelector(const codec::Value& root);

// `root`.spec.selector; absent where there is none, or an empty one.
std::optional<api::LabelSelector> ReadSelector(const codec::Value& root);

// InvalidArgument, with the field in front, for a number of pods that no workload has.
absl::Status CheckPodCount(absl::string_view field, int64_t count);

// A copy of `object` with the JSON `value` at `path`, to be stored by an update. The path names no field that
// has a member in the object's struct.
std::shared_ptr<api::Object> WithField(const api::Object& object,
                                       std::initializer_list<absl::string_view> path,
                                       absl::string_view value);

// Adds a warning, unless it is there.
void Warn(std::string text, std::vector<std::string>& warnings);

// A condition of a workload's status.
struct WorkloadCondition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
  absl::Time last_transition;
  // Of Deployments (lastUpdateTime) and Jobs (lastProbeTime).
  std::optional<absl::Time> last_update;

  friend bool operator==(const WorkloadCondition&, const WorkloadCondition&) = default;
};

// A condition that became so at `now`.
WorkloadCondition ConditionSince(absl::Time now, absl::string_view type, absl::string_view status,
                                 absl::string_view reason, std::string message);

// In the order of the object.
class WorkloadConditions {
 public:
  // `update_key`: what the object calls last_update; "": it has none.
  static WorkloadConditions Read(const codec::Value& root, absl::string_view update_key);

  const WorkloadCondition* Find(absl::string_view type) const;
  bool IsTrue(absl::string_view type) const;
  // Puts the condition at the end, in the place of the one of its type. One that says the same, by status and
  // reason, stays as it is; one of the same status keeps its time.
  void Set(WorkloadCondition condition);
  // The same, but it takes the place of one that says the same, too.
  void Replace(WorkloadCondition condition);
  void Erase(absl::string_view type);
  bool empty() const { return conditions_.empty(); }
  // Writes the member `conditions`; nothing where there are none.
  void Write(absl::string_view update_key, codec::JsonWriter& status) const;

  friend bool operator==(const WorkloadConditions&, const WorkloadConditions&) = default;

 private:
  std::vector<WorkloadCondition> conditions_;
};

// `value` in a form that is the same for what means the same: members sorted, without those that are null, or
// empty where that is the same, or named in `without_label` below metadata.labels.
std::string CanonicalJson(const codec::Value& value, absl::string_view without_label);

// What has been read of each object, kept until the object changes. `Spec` is a struct, made by `Read`, which
// returns InvalidArgument for what is malformed.
template <typename Spec>
class SpecCache {
 public:
  using Read = absl::Status (*)(const api::Object& object, Spec& spec);
  explicit SpecCache(Read read) : read_(read) {}

  // Valid until the next call. nullptr where the object is malformed; `error` says why, the first time.
  Spec* Of(const api::ObjectPtr& object, std::string& error) {
    Entry& entry = entries_[object->metadata.uid];
    if (entry.object != object) {
      entry = Entry{.object = object};
      const absl::Status status = read_(*object, entry.spec);
      entry.is_valid = status.ok();
      if (!status.ok()) error = std::string(status.message());
    }
    return entry.is_valid ? &entry.spec : nullptr;
  }
  // Stores the object with this status, which its entry has to have when the call is over. Returns the object
  // as stored; nullptr where it could not be.
  api::ObjectPtr WriteStatus(ApiServer& server, const api::Object& object, absl::string_view status_json) {
    is_writing_ = true;
    const absl::Status written = server.Update(WithField(object, {"status"}, status_json));
    is_writing_ = false;
    if (!written.ok()) return nullptr;
    api::ObjectPtr stored = server.Find(object);
    Keep(stored);
    return stored;
  }
  // Whether a change comes from WriteStatus, which nobody has to look at.
  bool is_writing() const { return is_writing_; }
  // The object was stored anew, and its entry says what it says.
  void Keep(const api::ObjectPtr& object) { entries_[object->metadata.uid].object = object; }
  void Erase(const std::string& uid) { entries_.erase(uid); }

 private:
  struct Entry {
    api::ObjectPtr object;
    Spec spec = Spec();
    bool is_valid = false;
  };
  const Read read_;
  std::map<std::string, Entry> entries_;
  bool is_writing_ = false;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_WORKLOAD_FIELDS_H_
