// What is left of each field of a Kubernetes object that is made fit to share.
#ifndef SCHEDSIM_SIM_FORMATS_REDACT_FIELD_RULES_H_
#define SCHEDSIM_SIM_FORMATS_REDACT_FIELD_RULES_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace schedsim::sim {

enum class Redaction : uint8_t {
  kDrop,          // The field goes.
  kKeep,          // It stays as it is, with all that is in it.
  kWalk,          // A map or a list: its fields have rules of their own. A text goes, other scalars stay.
  kWalkOrKeep,    // The same, and a text stays.
  kName,          // A text, or a list of texts: pseudonyms.
  kNames,         // A map whose keys are names.
  kUid,           // As kName, for uids.
  kLabelKey,      // A text, or a list of texts: keys of labels.
  kLabels,        // A map of labels.
  kAnnotations,   // A map of annotations, of which those stay that Kubernetes or this program reads.
  kResources,     // A map of resources and amounts; of a list, each item is walked.
  kQuota,         // A map of what a ResourceQuota counts.
  kRequirements,  // A list of maps with key and value or values: taints, tolerations, expressions.
  kSelector,      // A label selector, or a map of labels.
  kDriver,        // The name of a storage driver.
  kHostIp,        // An address of a node to listen at.
  kType,          // A text; pseudonyms where it is none of Kubernetes' own.
  kReason,        // A text; pseudonyms where it is none of Kubernetes' own.
  kVersion,       // That of a kubelet: what its provider put behind it goes.
  kEmpty,         // An empty map in its place.
};

// What becomes of the field `name` below the field `parent`, lists left out; "" for those of the object
// itself. Fields without a rule go.
Redaction RedactionOf(absl::string_view parent, absl::string_view name);

// What is left of objects of a kind: nothing; metadata; or what the rules say.
enum class KindRedaction : uint8_t { kDrop, kMetadata, kRules };
KindRedaction KindRedactionOf(absl::string_view api_version, absl::string_view kind);

// Whether a label or an annotation has this key wherever Kubernetes runs.
bool IsWellKnownKey(absl::string_view key);
// Whether its value says nothing of a cluster, or is read by Kubernetes.
bool IsWellKnownValueOf(absl::string_view key);
// Whether a resource, or a storage driver, has this name wherever it is used.
bool IsWellKnownResource(absl::string_view name);
bool IsWellKnownDriver(absl::string_view name);
// Whether Kubernetes itself gives this reason.
bool IsWellKnownReason(absl::string_view reason);
// Whether a condition, a strategy, a path and the like has this type wherever Kubernetes runs.
bool IsWellKnownType(absl::string_view type);
// Whether pods are placed by objects of a kind although nothing is left of them.
bool PlacesPods(absl::string_view kind);
// Annotations that stay, with their values (then is_name is false), or the pseudonyms of these.
bool IsKeptAnnotation(absl::string_view key, bool& is_name);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_REDACT_FIELD_RULES_H_
