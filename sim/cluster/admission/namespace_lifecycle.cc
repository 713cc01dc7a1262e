#include "sim/cluster/admission/namespace_lifecycle.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "sim/cluster/admission/policy_json.h"

namespace schedsim::sim {
namespace {

constexpr absl::string_view kSystemNamespaces[] = {"default", "kube-node-lease", "kube-public",
                                                   "kube-system"};

bool IsTerminating(const api::Object& name_space) {
  if (name_space.metadata.deletion_timestamp.has_value()) return true;
  bool terminating = false;
  ReadPolicy(name_space, [&terminating](const codec::Value& root) {
    terminating = TextOf(Below(&root, {"status"}), "phase") == "Terminating";
  });
  return terminating;
}

}  // namespace

absl::Span<const absl::string_view> SystemNamespaces() { return kSystemNamespaces; }

bool IsSystemNamespace(absl::string_view name) {
  return std::find(std::begin(kSystemNamespaces), std::end(kSystemNamespaces), name) !=
         std::end(kSystemNamespaces);
}

bool NamespaceLifecyclePlugin::OnChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  const api::Object& object = new_object != nullptr ? *new_object : *old_object;
  if (object.kind != api::Kind::kNamespace) return false;
  if (new_object == nullptr) {
    is_terminating_.erase(object.metadata.name);
  } else {
    is_terminating_[object.metadata.name] = IsTerminating(*new_object);
  }
  return false;
}

absl::Status NamespaceLifecyclePlugin::Mutate(api::Object& object) const {
  const std::string& name = object.metadata.namespace_;
  if (name.empty()) return absl::OkStatus();
  const auto found = is_terminating_.find(name);
  if (found == is_terminating_.end()) {
    if (IsSystemNamespace(name)) return absl::OkStatus();
    return absl::NotFoundError(absl::StrCat("namespaces \"", name, "\" not found"));
  }
  if (!found->second) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("unable to create new content in namespace ", name, " because it is being terminated"));
}

}  // namespace schedsim::sim
