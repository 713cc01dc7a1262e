#include "sim/cluster/admission/update_validation.h"

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/codec/patch/merge_patch.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "sim/cluster/admission/policy_json.h"

namespace schedsim::sim {
namespace {

using codec::Value;

constexpr char kImmutable[] = "field is immutable";

// A field that nobody may change.
struct FixedField {
  absl::string_view group;
  absl::string_view kind;
  absl::string_view path;
  // What counts where it is absent, as JSON.
  absl::string_view fallback = "null";
  // What the message calls it where that is not its path.
  absl::string_view shown = "";
  // The message has no value of what follows from the declaration of a field.
  bool is_declared = false;
};

// Those of a kind in the API server's order.
constexpr FixedField kFixedFields[] = {
    {"apps", "DaemonSet", "spec.selector"},
    {"apps", "Deployment", "spec.selector"},
    {"apps", "ReplicaSet", "spec.selector"},
    {"apps", "StatefulSet", "spec.selector"},
    {"apps", "StatefulSet", "spec.volumeClaimTemplates"},
    {"apps", "StatefulSet", "spec.serviceName"},
    {"apps", "StatefulSet", "spec.podManagementPolicy", "\"OrderedReady\""},
    {"batch", "Job", "spec.selector"},
    {"batch", "Job", "spec.template"},
    {"batch", "Job", "spec.completionMode", "\"NonIndexed\""},
    {"batch", "Job", "spec.podFailurePolicy"},
    {"batch", "Job", "spec.backoffLimitPerIndex"},
    {"batch", "Job", "spec.managedBy"},
    {"batch", "Job", "spec.successPolicy"},
    {"", "PersistentVolume", "spec.volumeMode", "\"Filesystem\"", "volumeMode"},
    {"", "PersistentVolumeClaim", "spec.volumeMode", "\"Filesystem\"", "volumeMode"},
    {"storage.k8s.io", "StorageClass", "parameters", "null", "", true},
    {"storage.k8s.io", "StorageClass", "provisioner", "null", "", true},
    {"storage.k8s.io", "StorageClass", "reclaimPolicy", "\"Delete\"", "", true},
    {"storage.k8s.io", "StorageClass", "volumeBindingMode", "\"Immediate\"", "", true},
    {"scheduling.k8s.io", "PriorityClass", "preemptionPolicy", "\"PreemptLowerPriority\""},
    {"", "ResourceQuota", "spec.scopes"},
    {"node.k8s.io", "RuntimeClass", "handler", "null", "", true},
};

FieldAt At(const Value& root, absl::string_view path) {
  FieldAt field = RootOf(root);
  for (const absl::string_view name : absl::StrSplit(path, '.')) field = field.Child(name);
  return field;
}

std::string TextWith(const FieldAt& field, absl::string_view fallback) {
  if (!field.is_present()) return std::string(fallback);
  return absl::EndsWith(field.path, "selector") ? SelectorJson(field) : SortedJson(field);
}

void CheckFixed(const FixedField& fixed, const Value& before, const Value& after, ValidationErrors& errors) {
  const FieldAt old_field = At(before, fixed.path);
  const FieldAt field = At(after, fixed.path);
  if (HoldTheSame(old_field, field)) return;
  const std::string text = TextWith(field, fixed.fallback);
  if (text == TextWith(old_field, fixed.fallback)) return;
  const std::string shown(fixed.shown.empty() ? fixed.path : fixed.shown);
  const bool is_older = errors.line() < api::KubernetesLine::k1_36;
  if (fixed.kind == "StorageClass" && is_older && shown != "volumeBindingMode")
    return errors.Forbidden(shown, absl::StrCat("updates to ", shown, " are forbidden."));
  // Validation follows from the declaration of fields from 1.37 on.
  const bool is_declared = fixed.is_declared && errors.line() >= api::KubernetesLine::k1_37;
  errors.InvalidJson(shown, is_declared ? "null" : text, kImmutable);
}

// Up to 1.36 one message is about all fields that are fixed.
// Source: kubernetes v1.36, pkg/apis/apps/validation/validation.go, ValidateStatefulSetUpdate.
void CheckStatefulSetUpdate(const Value& before, const Value& after, ValidationErrors& errors) {
  ValidationErrors changes(errors.line());
  for (const FixedField& fixed : kFixedFields)
    if (fixed.kind == "StatefulSet") CheckFixed(fixed, before, after, changes);
  if (changes.empty()) return;
  errors.Forbidden("spec",
                   "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
                   "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
                   "'minReadySeconds' are forbidden");
}

// A Job that is suspended and has not begun may be sent to other nodes: these parts of its template may
// change. Calls `compare` with what is compared with `after` then.
// Source: kubernetes v1.37, pkg/registry/batch/job/strategy.go, validationOptionsForJob.
void WithOpenParts(const Value& before, const Value& after,
                   absl::FunctionRef<void(const Value& compared)> compare) {
  const FieldAt spec = RootOf(before).Child("spec");
  const bool is_open = spec.Child("suspend").IsTrue() && !At(before, "status.startTime").is_present();
  if (!is_open) return compare(before);
  const auto part = [&after](absl::string_view path) {
    const FieldAt field = At(after, absl::StrCat("spec.template.", path));
    return field.is_present() ? codec::ToJson(*field.value) : "null";
  };
  constexpr char kWithout[] =
      R"({"spec":{"template":{"metadata":{"labels":null,"annotations":null},"spec":{"nodeSelector":null,)"
      R"("tolerations":null,"schedulingGates":null,"affinity":{"nodeAffinity":null}}}}})";
  const std::string parts = absl::StrCat(
      R"({"spec":{"template":{"metadata":{"labels":)", part("metadata.labels"), R"(,"annotations":)",
      part("metadata.annotations"), R"(},"spec":{"nodeSelector":)", part("spec.nodeSelector"),
      R"(,"tolerations":)", part("spec.tolerations"), R"(,"schedulingGates":)", part("spec.schedulingGates"),
      R"(,"affinity":{"nodeAffinity":)", part("spec.affinity.nodeAffinity"), "}}}}}");
  codec::ReadText(kWithout, "parts.json", {}, [&](const codec::Document& without) {
    return codec::ReadText(parts, "parts.json", {}, [&](const codec::Document& open) {
      codec::Document merged;
      const Value closed = codec::MergePatch(before, without.root, merged);
      compare(codec::MergePatch(closed, open.root, merged));
      return absl::OkStatus();
    });
  }).IgnoreError();
}

void CheckCompletions(const Value& before, const Value& after, ValidationErrors& errors) {
  const FieldAt completions = At(after, "spec.completions");
  if (HoldTheSame(At(before, "spec.completions"), completions)) return;
  if (At(after, "spec.completionMode").Text() != "Indexed") {
    errors.InvalidJson(completions.path, SortedJson(completions), kImmutable);
  } else if (completions.is_present() && completions.Number() != At(after, "spec.parallelism").Number()) {
    errors.InvalidJson(completions.path, SortedJson(completions),
                       "can only be modified in tandem with spec.parallelism");
  }
}

// A claim's spec without what may change.
std::string ClaimText(const Value& claim, bool is_bound, bool may_get_volume) {
  const FieldAt spec = RootOf(claim).Child("spec");
  std::string text;
  for (const absl::string_view name :
       {"accessModes", "selector", "storageClassName", "dataSource", "dataSourceRef", "volumeName",
        "resources", "volumeAttributesClassName"}) {
    const bool may_change = (name == "volumeName" && may_get_volume) ||
                            (is_bound && (name == "resources" || name == "volumeAttributesClassName"));
    if (!may_change) absl::StrAppend(&text, name, SortedJson(spec.Child(name)));
  }
  const FieldAt mode = spec.Child("volumeMode");
  return absl::StrCat(text, mode.is_present() ? mode.Text() : "Filesystem");
}

void CheckClaimUpdate(const Value& before, const Value& after, ValidationErrors& errors) {
  const bool is_bound = At(after, "status.phase").Text() == "Bound";
  const bool may_get_volume = At(before, "spec.volumeName").Text().empty();
  if (ClaimText(before, is_bound, may_get_volume) != ClaimText(after, is_bound, may_get_volume)) {
    errors.Forbidden("spec",
                     "spec is immutable after creation except resources.requests and "
                     "volumeAttributesClassName for bound claims");
  }
  const auto size = [](const Value& claim) {
    const api::ResourceList requests = AmountsOf(At(claim, "spec.resources.requests").value);
    const api::Quantity* storage = requests.Find("storage");
    return storage == nullptr ? api::Quantity() : *storage;
  };
  const api::ResourceList capacity = AmountsOf(At(after, "status.capacity").value);
  const api::Quantity* there = capacity.Find("storage");
  const bool is_smaller = size(after) < size(before);
  if (is_smaller && size(after) <= (there == nullptr ? api::Quantity() : *there)) {
    errors.Forbidden("spec.resources.requests.storage", "field can not be less than status.capacity");
  }
}

// A volume's spec without what may change: its source.
std::string SourceText(const Value& volume) {
  constexpr absl::string_view kOthers[] = {
      "accessModes",      "capacity",     "claimRef",
      "mountOptions",     "nodeAffinity", "persistentVolumeReclaimPolicy",
      "storageClassName", "volumeMode",   "volumeAttributesClassName"};
  const FieldAt spec = RootOf(volume).Child("spec");
  std::vector<std::string> parts;
  if (!spec.is_present()) return "";
  for (const codec::Member& member : spec.value->members) {
    if (absl::c_linear_search(kOthers, member.key)) continue;
    parts.push_back(absl::StrCat(member.key, SortedJson(spec.Child(member.key))));
  }
  absl::c_sort(parts);
  return absl::StrJoin(parts, ",");
}

void CheckVolumeUpdate(const Value& before, const Value& after, ValidationErrors& errors) {
  if (SourceText(before) != SourceText(after)) {
    errors.Forbidden("spec.persistentvolumesource",
                     "spec.persistentvolumesource is immutable after creation");
  }
}

void CheckVolumeNodes(const Value& before, const Value& after, ValidationErrors& errors) {
  const FieldAt old_affinity = At(before, "spec.nodeAffinity");
  const FieldAt affinity = At(after, "spec.nodeAffinity");
  if (!old_affinity.is_present() || HoldTheSame(old_affinity, affinity)) return;
  errors.InvalidJson("nodeAffinity", SortedJson(affinity),
                     "field is immutable, except for updating from beta label to GA");
}

// A driver as the API server prints it: by the names of its Go struct, without the part that may change.
std::string DriverJson(const FieldAt& driver) {
  return absl::StrCat(
      "{\"Name\":", SortedJson(driver.Child("name")), ",\"NodeID\":", SortedJson(driver.Child("nodeID")),
      ",\"TopologyKeys\":", SortedJson(driver.Child("topologyKeys")), ",\"Allocatable\":null}");
}

void CheckDrivers(const Value& before, const Value& after, ValidationErrors& errors) {
  const FieldAt old_drivers = At(before, "spec.drivers");
  const FieldAt drivers = At(after, "spec.drivers");
  const auto text = [](const FieldAt& driver) {
    return absl::StrCat(driver.Child("nodeID").Text(), "/", SortedJson(driver.Child("topologyKeys")));
  };
  for (size_t i = 0; i < old_drivers.size(); ++i) {
    for (size_t j = 0; j < drivers.size(); ++j) {
      const FieldAt driver = drivers.Item(j);
      const bool is_it = driver.Child("name").Text() == old_drivers.Item(i).Child("name").Text();
      if (is_it && text(driver) != text(old_drivers.Item(i)))
        errors.InvalidJson(drivers.path, DriverJson(driver), kImmutable);
    }
  }
}

}  // namespace

void CheckUpdate(absl::string_view group, absl::string_view kind, const Value& before, const Value& after,
                 ValidationErrors& errors) {
  const auto check_fixed = [&](const Value& compared) {
    for (const FixedField& fixed : kFixedFields) {
      if (fixed.group == group && fixed.kind == kind) CheckFixed(fixed, compared, after, errors);
    }
  };
  if (group == "batch" && kind == "Job") {
    CheckCompletions(before, after, errors);
    return WithOpenParts(before, after, check_fixed);
  }
  const bool is_volume = group.empty() && kind == "PersistentVolume";
  if (group.empty() && kind == "PersistentVolumeClaim") {
    CheckClaimUpdate(before, after, errors);
  } else if (is_volume) {
    CheckVolumeUpdate(before, after, errors);
  } else if (kind == "PriorityClass" && !HoldTheSame(At(before, "value"), At(after, "value"))) {
    errors.Forbidden("value", "may not be changed in an update.");
  } else if (kind == "CSINode") {
    CheckDrivers(before, after, errors);
  }
  if (kind == "StatefulSet" && errors.line() < api::KubernetesLine::k1_37)
    return CheckStatefulSetUpdate(before, after, errors);
  check_fixed(before);
  if (is_volume) CheckVolumeNodes(before, after, errors);
}

}  // namespace schedsim::sim
