#include "sim/plan/ignored_groups.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/api/pod.h"
#include "core/base/and_more.h"
#include "core/base/json_member.h"
#include "core/base/printable.h"

namespace schedsim::sim {
namespace {

constexpr absl::string_view kFields[] = {"schedulingGroup", "workloadRef"};

bool HasField(absl::string_view field, api::KubernetesLine line) {
  return field == kFields[0] ? line >= api::KubernetesLine::k1_36 : line == api::KubernetesLine::k1_35;
}

// The spec of the pods that a workload makes, as JSON; "" for all else.
absl::string_view TemplateSpec(absl::string_view text) {
  absl::string_view spec = FindJsonMember(text, "spec");
  const absl::string_view job = FindJsonMember(spec, "jobTemplate");
  if (!job.empty()) spec = FindJsonMember(job, "spec");
  return FindJsonMember(FindJsonMember(spec, "template"), "spec");
}

// Whether a pod that is to be placed names a group by the field, or a manifest makes such pods.
bool NamesGroup(const api::Object& object, absl::string_view field) {
  if (object.kind == api::Kind::kPod) {
    const auto& pod = static_cast<const api::Pod&>(object);
    if (!pod.node_name.empty() || pod.IsTerminal()) return false;
    return field == kFields[0] ? !pod.spec->pod_group_name.empty() : pod.spec->workload_ref.has_value();
  }
  if (object.kind == api::Kind::kNode || object.json == nullptr || api::CameFromCluster(object)) return false;
  const std::string text = object.json->ToString();
  return !FindJsonMember(TemplateSpec(text), field).empty();
}

std::string WhyNot(absl::string_view field, const api::LineBehavior& line) {
  const absl::string_view name = api::KubernetesLineName(line.line);
  if (!HasField(field, line.line)) {
    const absl::string_view other = field == kFields[0] ? kFields[1] : kFields[0];
    return absl::StrCat("Kubernetes ", name, " has no such field",
                        HasField(other, line.line) ? absl::StrCat(", but spec.", other) : "");
  }
  return absl::StrCat("the feature gate GenericWorkload is off; --feature-gates GenericWorkload=true",
                      line.line < api::KubernetesLine::k1_37 ? ",GangScheduling=true" : "", " turns it on");
}

}  // namespace

std::vector<std::string> IgnoredGroupWarnings(const ClusterInput& input, const api::LineBehavior& line) {
  std::vector<std::string> warnings;
  for (const absl::string_view field : kFields) {
    if (HasField(field, line.line) && line.pod_groups.enabled()) continue;
    size_t count = 0;
    std::string first;
    for (size_t i = 0; i < input.objects.size(); ++i) {
      const api::Object& object = *input.objects[i];
      if (!NamesGroup(object, field) || count++ > 0) continue;
      const std::string& name = object.metadata.name;
      first =
          absl::StrCat(input.places.empty() ? "" : input.PlaceOf(i) + ": ", object.kind_name, " ",
                       Printable(name.empty() ? object.metadata.generate_name : object.Key(), kShownBytesMax),
                       object.kind == api::Kind::kPod ? ": spec." : ": spec of its template: ", field);
    }
    if (count == 0) continue;
    warnings.push_back(
        absl::StrCat(first, " has no effect", AndMore(count),
                     ", so that pods of a group are scheduled one by one: ", WhyNot(field, line)));
  }
  return warnings;
}

}  // namespace schedsim::sim
