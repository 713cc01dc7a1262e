// The kinds that are built into Kubernetes: one row a kind.
#ifndef SCHEDSIM_CORE_API_KINDS_H_
#define SCHEDSIM_CORE_API_KINDS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/api/object.h"

namespace schedsim::api {

// What the API server knows about a kind before it reads any field of it.
struct KindInfo {
  // kOther for kinds that scheduling does not read.
  Kind kind = Kind::kOther;
  // "" for the core group.
  absl::string_view group;
  // The versions that any supported release serves, newest first, with a blank between them.
  absl::string_view versions;
  // As in `kind:`, and as in the path of the API.
  absl::string_view name;
  absl::string_view plural;
  // Whether objects of the kind live in a namespace.
  bool is_namespaced = false;
  // What kubectl takes for it, with a blank between them; "" for none.
  absl::string_view short_names;
};

// All rows: first those with a Kind of their own, in the order of the enumeration, then the others by group
// and name. No group has two rows of one name.
absl::Span<const KindInfo> BuiltInKinds();

// The row of a kind; `kind` is not kOther.
const KindInfo& KindInfoOf(Kind kind);

// The row for what an object says of itself, ("apps/v1", "ReplicaSet"), or nullptr. Any version of the right
// group counts.
const KindInfo* FindKind(absl::string_view api_version, absl::string_view name);

// The row of this name in any group, or nullptr. Event gives the one of the core group.
const KindInfo* FindKindByName(absl::string_view name);

// The row for a group and the plural, ("apps", "replicasets"), or nullptr.
const KindInfo* FindKindByResource(absl::string_view group, absl::string_view plural);

// The row for a word that kubectl takes: the kind, its plural or a short name, in any case, also with the
// group (`Deployment`, `deployments`, `deploy`, `deployments.apps`), or nullptr.
const KindInfo* FindKindByWord(absl::string_view word);

// "apps" for "apps/v1"; "" for "v1".
absl::string_view GroupOf(absl::string_view api_version);

// The resource in the API server's messages: "pods", "deployments.apps". The plural of a kind that is not
// built in is a guess, since only its definition says it.
// Source: apimachinery v0.37, pkg/runtime/schema, GroupResource.
std::string GroupResource(absl::string_view api_version, absl::string_view name);

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_KINDS_H_
