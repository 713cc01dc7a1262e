// What is odd about objects that users give: kinds and fields that the API server does not know.
#ifndef SCHEDSIM_SIM_FORMATS_OBJECT_INSPECTOR_H_
#define SCHEDSIM_SIM_FORMATS_OBJECT_INSPECTOR_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/codec/objects/api_fields.h"
#include "core/codec/objects/field_check.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// A message about the input.
struct InputWarning {
  // The place of its file among the files, in the order of reading; then the place in the file.
  int32_t file_index = 0;
  codec::Position position = {};
  // `file:line:column: object: what; what helps`.
  std::string text;
};

// By file, line and column; equal places keep their order.
void SortByPlace(std::vector<InputWarning>& warnings);

// InvalidArgument for an object of a kind that no API server serves in its version, where it is created by
// name: nothing would come of it.
absl::Status RefuseUnservedKind(const api::Object& object, const codec::Location& location);

// Sees the objects of all files before they are decoded.
class ObjectInspector {
 public:
  // InvalidArgument for a document that is something else than an object (see DescribeForeign), for a
  // manifest of a policy with a quantity that cannot be read, and for one with a value of a wrong type. What
  // is merely odd is kept for Warnings.
  absl::Status Inspect(const codec::Value& document, absl::string_view api_version, absl::string_view kind,
                       absl::string_view file);

  // Whether no API server serves the object's kind in its version and it means nothing here, so that it is to
  // be left out. The warning of it says so.
  bool LeavesOut(const api::Object& object);

  // Keeps a warning of a key that a document has twice.
  void NoteRepeatedKey(const codec::Value& document, const codec::RepeatedKey& repeated);

  // A warning for each kind, each path of a field that is not known and each kind of list without items, in
  // the order of their first places; behind kFaultsMax of them one that says how many more there are.
  std::vector<InputWarning> Warnings() const;

  // The file index of a file that was seen, or of a new one.
  int32_t FileIndex(absl::string_view file);
  // By file index.
  const std::vector<std::string>& files() const { return files_; }

 private:
  // The first of some equal faults.
  struct Fault {
    InputWarning warning;
    int64_t count = 0;
    std::string help;  // Comes last.
  };

  // Counts a fault. Returns it when it is the first of its kind and there is room: then it is to be
  // described.
  Fault* Count(const std::string& key);

  static constexpr size_t kFaultsMax = 100;

  // Objects of one kind mostly stand together.
  struct LastKind {
    std::string api_version;
    std::string name;
    const codec::ApiKind* served = nullptr;  // nullptr: it is not known.
    std::string problem;                     // See codec::KindProblem.
  };
  const LastKind& LookAtKind(absl::string_view api_version, absl::string_view kind);

  // InvalidArgument for a manifest with a value that the API server could not decode; of kinds that nobody
  // reads, and of what a cluster gave out, it is a warning.
  absl::Status CheckFields(const codec::Value& document, const codec::ApiKind& known, absl::string_view file);
  // A list whose items nobody would find: under another name, or none at all.
  void CheckList(const codec::Value& list, absl::string_view kind, absl::string_view file);
  // InvalidArgument for a manifest of a ResourceQuota, LimitRange or RuntimeClass with a quantity that cannot
  // be read. What a cluster gave out gets a warning.
  absl::Status CheckPolicy(const codec::Value& document, absl::string_view api_version,
                           absl::string_view kind, absl::string_view file);
  // Warns of what the API server warns of in a manifest.
  void CheckPods(const codec::Value& document, absl::string_view kind, absl::string_view file);
  InputWarning WarningAt(absl::string_view file, codec::Position position, absl::string_view what);

  codec::FieldCheck check_;
  LastKind last_kind_;
  std::map<std::string, Fault> faults_;  // By what makes them equal.
  int64_t more_count_ = 0;               // Beyond kFaultsMax.
  std::vector<std::string> files_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_OBJECT_INSPECTOR_H_
