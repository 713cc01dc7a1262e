// What every API object has.
#ifndef SCHEDSIM_CORE_API_OBJECT_H_
#define SCHEDSIM_CORE_API_OBJECT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/object_text.h"
#include "core/api/shared_list.h"

namespace schedsim::api {

// The kinds that scheduling reads. Objects of all other kinds are kept whole under kOther.
enum class Kind : uint8_t {
  kOther,
  kNamespace,
  kNode,
  kPod,
  kService,
  kReplicationController,
  kReplicaSet,
  kStatefulSet,
  kPodDisruptionBudget,
  kPriorityClass,
  kStorageClass,
  kPersistentVolume,
  kPersistentVolumeClaim,
  kCSINode,
  kCSIDriver,
  kCSIStorageCapacity,
  kVolumeAttachment,
  kResourceClaim,
  kResourceClaimTemplate,
  kResourceSlice,
  kDeviceClass,
  kWorkload,
  kPodGroup,
};
inline constexpr int kKindCount = static_cast<int>(Kind::kPodGroup) + 1;

// "Pod" for kPod and so on; "" for kOther.
absl::string_view KindName(Kind kind);

// Strings by key: sorted by key, no key twice. Copies share the entries until one of them is changed.
class StringMap {
 public:
  using Entry = std::pair<std::string, std::string>;

  // The value of `key`, or nullptr.
  const std::string* Find(absl::string_view key) const;
  // Sets `key` to `value`.
  void Set(absl::string_view key, absl::string_view value);
  // Returns whether there was an entry.
  bool Erase(absl::string_view key);

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  friend bool operator==(const StringMap&, const StringMap&) = default;

  SharedList<Entry>& entries() { return entries_; }
  const SharedList<Entry>& entries() const { return entries_; }

 private:
  SharedList<Entry> entries_;
};

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
};

struct ObjectMeta {
  std::string name;
  std::string generate_name;
  std::string namespace_;
  std::string uid;
  // 0: not set. Input with a resource version that is no number keeps it in the object's JSON only.
  uint64_t resource_version = 0;
  std::optional<absl::Time> creation_timestamp;
  std::optional<absl::Time> deletion_timestamp;
  StringMap labels;
  StringMap annotations;
  SharedList<OwnerReference> owner_references;
};

// One object of any kind. Immutable once the API server has it; a change is a new version.
struct Object {
  virtual ~Object() = default;

  Kind kind = Kind::kOther;
  // As written in the input: "v1", "apps/v1"; and "Pod", "Widget".
  std::string api_version;
  std::string kind_name;
  ObjectMeta metadata;

  // The whole object as it came in: compact JSON, fields in input order, none lost. What scheduling
  // changed since (node, conditions, nomination, versions) is in the typed fields and goes on top
  // when the object is saved. nullptr for objects that the simulation made.
  std::shared_ptr<const ObjectText> json;

  // "namespace/name", or "name" where there is no namespace.
  std::string Key() const;

  // A copy of the same type, to be changed before it is stored.
  virtual std::shared_ptr<Object> Clone() const { return std::make_shared<Object>(*this); }
};

// Whether a cluster gave the object out, rather than that it comes from a manifest.
bool CameFromCluster(const Object& object);

// The reference to what controls the object, or nullptr.
// Source: apimachinery v0.37, pkg/apis/meta/v1/controller_ref.go, GetControllerOfNoCopy.
const OwnerReference* ControllerOf(const Object& object);

// Whether the pod is a mirror pod: it stands for one that the kubelet has from elsewhere.
// Source: kubectl v0.37, pkg/drain/filters.go, mirrorPodFilter.
bool IsMirrorPod(const Object& pod);

// Base of the kinds that have a struct of their own.
template <typename T, Kind K>
struct TypedObject : Object {
  TypedObject() { kind = K; }

  std::shared_ptr<Object> Clone() const override { return std::make_shared<T>(static_cast<const T&>(*this)); }
};

using ObjectPtr = std::shared_ptr<const Object>;

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_OBJECT_H_
