#include "sim/formats/foreign_file.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "core/base/printable.h"
#include "sim/formats/relative_time.h"

namespace schedsim::sim {
namespace {

// A document that says what it is by the group of its apiVersion and, where given, its kind.
struct ForeignKind {
  absl::string_view group;  // A suffix of it.
  absl::string_view kind;   // "": any.
  absl::string_view what;
  absl::string_view instead;  // FILE and FOLDER stand for the names.
};

// The first row that fits counts.
constexpr ForeignKind kForeignKinds[] = {
    {"schedsim", "Scenario", "a scenario", "run it with `schedsim run FILE`"},
    {"schedsim", "RunReport", "the report of a run", "give the cluster of that run"},
    {"schedsim", "", "a file of this program", "see `schedsim --help`"},
    {"kubescheduler.config.k8s.io", "", "the configuration of a scheduler", "give it with `--config FILE`"},
    {"kwok.x-k8s.io", "KwokConfiguration", "the configuration of kwok",
     "dump kwok's cluster with `kubectl get nodes,pods -A -o yaml`"},
    {"kwok.x-k8s.io", "KwokctlConfiguration", "the configuration of kwokctl", "give it with `--config FILE`"},
    {"kustomize.config.k8s.io", "", "a kustomization",
     "render it with `kubectl kustomize FOLDER | schedsim run -f -`"},
    {"audit.k8s.io", "Event", "an audit log", "give it to `schedsim calibrate FILE`"},
    {"audit.k8s.io", "EventList", "an audit log", "give it to `schedsim calibrate FILE`"},
    {"action.kwok.x-k8s.io", "", "a recording of kwok", "replay it with `schedsim run FILE`"},
    {"kind.x-k8s.io", "", "the configuration of kind",
     "dump kind's cluster with `kubectl get nodes,pods -A -o yaml`"},
    {"kubeadm.k8s.io", "", "the configuration of kubeadm",
     "dump the cluster with `kubectl get nodes,pods -A -o yaml`"},
    {"config.k8s.io", "", "the configuration of a component of Kubernetes",
     "dump the cluster with `kubectl get nodes,pods -A -o yaml`"},
};

constexpr absl::string_view kRenderChart = "render the chart with `helm template FOLDER | schedsim run -f -`";

// The text of a message that is still to say what was expected: `this is a trace, expected `, and then `;
// give it to ...`.
struct Description {
  std::string what;
  std::string instead;
};

Description Message(absl::string_view what, absl::string_view instead, absl::string_view file) {
  const size_t slash = file.rfind('/');
  const absl::string_view folder = slash == absl::string_view::npos ? "." : file.substr(0, slash);
  return {.what = absl::StrCat("this is ", what, ", expected "),
          .instead = absl::StrCat("; ", absl::StrReplaceAll(instead, {{"FILE", Printable(file)},
                                                                      {"FOLDER", Printable(folder)}}))};
}

bool HasText(const codec::Value& document, absl::string_view key) {
  const codec::Value* value = document.Find(key);
  return value != nullptr && value->is_string();
}

bool HasAny(const codec::Value& document, absl::string_view key) { return document.Find(key) != nullptr; }

// Files without a kind: what is in them tells, or the name.
Description DescribeWithoutKind(const codec::Value& document, absl::string_view api_version,
                                absl::string_view file) {
  const absl::string_view name = file.substr(file.rfind('/') + 1);
  if (HasText(document, "ev") && HasAny(document, "t")) {
    return Message("a trace", "give it to `schedsim why NAMESPACE/POD FILE`", file);
  }
  if (HasText(document, "case") && HasAny(document, "trace")) {
    return Message("a recorded trace of the conformance suite", "give it to `schedsim conform CASES FILE`",
                   file);
  }
  if (HasText(document, "name") && HasAny(document, "objects") && HasAny(document, "end")) {
    return Message("a case of the conformance suite", "run it with `schedsim run FILE --case NAME`", file);
  }
  if (absl::StartsWithIgnoreCase(name, "kustomization.y") || HasAny(document, "kustomize")) {
    return Message("a kustomization", "render it with `kubectl kustomize FOLDER | schedsim run -f -`", file);
  }
  const bool is_chart = HasText(document, "name") && HasAny(document, "version") && !api_version.empty();
  if (is_chart || absl::StartsWith(name, "Chart.y"))
    return Message("the head of a Helm chart", kRenderChart, file);
  if (api_version.empty() && absl::StartsWith(name, "values")) {
    return Message("the values of a Helm chart", kRenderChart, file);
  }
  if (HasAny(document, "clusters") && HasAny(document, "users")) {
    return Message("a kubeconfig",
                   "dump the cluster with `kubectl --kubeconfig FILE get nodes,pods -A -o yaml`", file);
  }
  return {};
}

Description DescribeAny(const codec::Value& document, absl::string_view api_version, absl::string_view kind,
                        absl::string_view file) {
  if (kind.empty()) return DescribeWithoutKind(document, api_version, file);
  const codec::Value* const metadata = document.Find("metadata");
  const codec::Value* const created = metadata == nullptr ? nullptr : metadata->Find("creationTimestamp");
  if (created != nullptr && absl::StartsWith(created->text, kTimeOffset))
    return Message("a recording of kwok", "replay it with `schedsim run FILE`", file);
  const absl::string_view group = api_version.substr(0, api_version.find('/'));
  for (const ForeignKind& foreign : kForeignKinds) {
    absl::string_view domain = group;
    const bool ends_so = absl::ConsumeSuffix(&domain, foreign.group);
    const bool has_group = ends_so && (domain.empty() || absl::EndsWith(domain, "."));
    if (has_group && (foreign.kind.empty() || foreign.kind == kind)) {
      return Message(foreign.what, foreign.instead, file);
    }
  }
  if (api_version == "v1" && kind == "Config" && HasAny(document, "clusters")) {
    return Message("a kubeconfig",
                   "dump the cluster with `kubectl --kubeconfig FILE get nodes,pods -A -o yaml`", file);
  }
  return {};
}

}  // namespace

std::string DescribeForeign(const codec::Value& document, absl::string_view api_version,
                            absl::string_view kind, absl::string_view file, absl::string_view expected) {
  const Description found = DescribeAny(document, api_version, kind, file);
  return found.what.empty() ? "" : absl::StrCat(found.what, expected, found.instead);
}

}  // namespace schedsim::sim
