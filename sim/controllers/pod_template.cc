#include "sim/controllers/pod_template.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codec/patch/merge_patch.h"
#include "core/codec/text/reader.h"

namespace schedsim::sim {
namespace {

// Source: apimachinery v0.37, pkg/util/rand/rand.go: no vowels, and nothing that looks like another.
constexpr absl::string_view kNameCharacters = "bcdfghjklmnpqrstvwxz2456789";
constexpr int kSuffixLength = 5;
constexpr size_t kBaseLengthMax = 58;

}  // namespace

void WriteControllerRef(const api::Object& owner, codec::JsonWriter& metadata) {
  metadata.Key("ownerReferences").BeginArray().BeginObject();
  metadata.Field("apiVersion", owner.api_version).Field("kind", owner.kind_name);
  metadata.Field("name", owner.metadata.name).Field("uid", owner.metadata.uid);
  metadata.Key("controller").Bool(true).Key("blockOwnerDeletion").Bool(true).EndObject().EndArray();
}

std::string GenerateName(absl::string_view base, Rng& rng) {
  std::string name(base.substr(0, kBaseLengthMax));
  for (int i = 0; i < kSuffixLength; ++i) {
    name += kNameCharacters[static_cast<size_t>(rng.Below(static_cast<int64_t>(kNameCharacters.size())))];
  }
  return name;
}

absl::StatusOr<std::shared_ptr<const api::Pod>> PodFromTemplate(const api::Object& owner,
                                                                const codec::Value& pod_template,
                                                                absl::string_view metadata,
                                                                absl::string_view spec,
                                                                codec::ObjectReader& reader) {
  const std::string file = absl::StrCat(owner.kind_name, " ", owner.Key());
  if (pod_template.Find("spec") == nullptr) {
    return absl::FailedPreconditionError("has no template of a pod");
  }
  codec::JsonWriter own;
  own.BeginObject().Field("apiVersion", "v1").Field("kind", "Pod");
  own.Key("metadata").Raw(metadata).Key("spec").Raw(spec).EndObject();
  codec::JsonWriter of_owner;
  of_owner.BeginObject().Key("metadata").BeginObject();
  of_owner.Field("namespace", owner.metadata.namespace_);
  of_owner.Key("name").Null().Key("creationTimestamp").Null();
  WriteControllerRef(owner, of_owner);
  of_owner.EndObject().Key("status").Null().EndObject();
  api::ObjectPtr pod;
  codec::Document merged;
  // The endings make JSON of the texts.
  RETURN_IF_ERROR(codec::ReadText(of_owner.text(), "owner.json", {}, [&](const codec::Document& base) {
    const codec::Value with_owner = codec::MergePatch(pod_template, base.root, merged);
    return codec::ReadText(own.text(), "pod.json", {}, [&](const codec::Document& change) -> absl::Status {
      ASSIGN_OR_RETURN(pod, reader.Decode(codec::MergePatch(with_owner, change.root, merged), file));
      return absl::OkStatus();
    });
  }));
  return std::static_pointer_cast<const api::Pod>(pod);
}

std::shared_ptr<api::Pod> CopyWithName(const api::Pod& prototype, const std::string& name) {
  auto pod = std::static_pointer_cast<api::Pod>(prototype.Clone());
  pod->metadata.name = name;
  return pod;
}

}  // namespace schedsim::sim
