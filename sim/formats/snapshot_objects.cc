#include "sim/formats/snapshot_objects.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"
#include "core/api/object_text.h"
#include "core/base/check.h"
#include "core/base/lookup_map.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/reader.h"
#include "sim/formats/cluster_files.h"
#include "sim/formats/foreign_file.h"

namespace schedsim::sim {
namespace {

class Collector {
 public:
  Collector() : reader_({.validate = false, .by_source = true}) {
    reader_.set_inspector([](const codec::Value& document, absl::string_view api_version,
                             absl::string_view kind, absl::string_view file) -> absl::Status {
      const std::string what = DescribeForeign(document, api_version, kind, file);
      if (what.empty()) return absl::OkStatus();
      return codec::ErrorAt({.file = file, .position = document.position}, what);
    });
  }

  absl::Status Read(const std::string& path) {
    const size_t count = content_.objects.size();
    RETURN_IF_ERROR(
        reader_.ReadFrom([this, &path](const codec::ReadOptions& options,
                                       auto on_document) { return files_.Read(path, options, on_document); },
                         [this](const api::ObjectPtr& object, const codec::Location& location) {
                           return Take(*object, location);
                         }));
    if (content_.objects.size() > count) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(path == "-" ? "stdin" : Printable(path), ": no objects in it, expected at least one"));
  }

  SnapshotObjects Finish() && {
    content_.warnings = files_.warnings();
    return std::move(content_);
  }

 private:
  absl::Status Take(const api::Object& object, const codec::Location& location) {
    const std::string key =
        absl::StrCat(object.kind_name, ".", api::GroupOf(object.api_version), " ", object.Key());
    std::string place = absl::StrCat(location.file, location.position.line == 0 ? "" : ":",
                                     location.position.line == 0 ? "" : absl::StrCat(location.position.line));
    if (!object.metadata.name.empty()) {
      if (const std::string* first = places_.Find(key)) {
        return codec::ErrorAt(
            location,
            absl::StrCat("metadata.name: ", object.kind_name, " ", Printable(object.Key(), kShownBytesMax),
                         " is there twice, expected it once; the first is at ", *first));
      }
      places_[key] = std::move(place);
    }
    content_.objects.push_back(object.json->ToString());
    return absl::OkStatus();
  }

  ClusterFiles files_;
  codec::ObjectReader reader_;
  LookupMap<std::string, std::string> places_;  // By group, kind, namespace and name.
  SnapshotObjects content_;
};

}  // namespace

absl::StatusOr<SnapshotObjects> ReadSnapshotObjects(const std::vector<std::string>& paths) {
  Collector collector;
  for (const std::string& path : paths) RETURN_IF_ERROR(collector.Read(path));
  return std::move(collector).Finish();
}

void VisitSnapshotObject(const std::string& json, absl::FunctionRef<void(const codec::Value& root)> visit) {
  const absl::Status status =
      codec::ReadText(json, "object.json", {}, [&visit](const codec::Document& document) {
        visit(document.root);
        return absl::OkStatus();
      });
  CHECK(status.ok());
}

codec::Value WithMetadata(const codec::Value& root, codec::Document& document,
                          absl::FunctionRef<void(std::vector<codec::Member>& metadata)> change) {
  std::vector<codec::Member> members(root.members.begin(), root.members.end());
  for (codec::Member& member : members) {
    if (member.key != "metadata" || !member.value.is_object()) continue;
    std::vector<codec::Member> metadata(member.value.members.begin(), member.value.members.end());
    change(metadata);
    member.value = document.MakeObject(metadata);
  }
  return document.MakeObject(members);
}

codec::Value WithoutVersion(const codec::Value& root, codec::Document& document) {
  return WithMetadata(root, document, [](std::vector<codec::Member>& metadata) {
    std::erase_if(metadata, [](const codec::Member& member) { return member.key == "resourceVersion"; });
  });
}

}  // namespace schedsim::sim
