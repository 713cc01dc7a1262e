#include "sim/formats/unchecked_admission.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/api/kinds.h"
#include "core/base/and_more.h"
#include "core/base/printable.h"
#include "core/codec/text/value.h"
#include "sim/cluster/admission/policy_json.h"
#include "sim/formats/pod_sources.h"

namespace schedsim::sim {
namespace {

using codec::Value;
using Labels = std::map<std::string, std::string>;

constexpr absl::string_view kEnforce = "pod-security.kubernetes.io/enforce";

absl::Span<const Value> ItemsOf(const Value* list) {
  return list == nullptr ? absl::Span<const Value>() : absl::Span<const Value>(list->items);
}

bool IsTrue(const Value* value) { return value != nullptr && value->boolean; }

bool IsFalse(const Value* value) {
  return value != nullptr && value->type == Value::Type::kBool && !value->boolean;
}

Labels LabelsOf(const Value* map) {
  Labels labels;
  if (map == nullptr) return labels;
  for (const codec::Member& member : map->members)
    labels[std::string(member.key)] = std::string(member.value.text);
  return labels;
}

// What is created: a pod, or a workload's pods.
struct Source {
  size_t index = 0;
  std::string name_space;
};

std::string LabelOf(const api::Object& object) {
  const std::string& name = object.metadata.name;
  const std::string key = name.empty()
                              ? absl::StrCat(object.metadata.namespace_, "/", object.metadata.generate_name)
                              : object.Key();
  return absl::StrCat(object.kind_name, " ", Printable(key, kShownBytesMax));
}

// What of PodSecurity is wrong with all containers together.
// Source: k8s.io/pod-security-admission v0.37, policy/check_*.go; only what is common.
std::vector<std::string> ContainerFaults(const Value& spec, bool is_restricted) {
  std::vector<std::string> faults;
  const auto add = [&faults](const char* fault) {
    if (std::find(faults.begin(), faults.end(), fault) == faults.end()) faults.emplace_back(fault);
  };
  const Value* const pod_context = spec.Find("securityContext");
  const bool pod_is_non_root = IsTrue(Below(pod_context, {"runAsNonRoot"}));
  for (const char* const list : {"initContainers", "containers"}) {
    for (const Value& container : ItemsOf(spec.Find(list))) {
      const Value* const context = container.Find("securityContext");
      if (IsTrue(Below(context, {"privileged"}))) add("privileged");
      for (const Value& port : ItemsOf(container.Find("ports"))) {
        const Value* const host_port = port.Find("hostPort");
        if (host_port != nullptr && !host_port->text.empty() && host_port->text != "0") add("hostPort");
      }
      if (!is_restricted) continue;
      if (!IsFalse(Below(context, {"allowPrivilegeEscalation"}))) add("allowPrivilegeEscalation != false");
      const Value* const own = Below(context, {"runAsNonRoot"});
      const bool says_own = own != nullptr && !own->is_null();
      if (says_own ? !own->boolean : !pod_is_non_root) add("runAsNonRoot != true");
    }
  }
  return faults;
}

std::vector<std::string> SecurityFaults(const Value& spec, bool is_restricted) {
  std::vector<std::string> faults;
  for (const char* const field : {"hostNetwork", "hostPID", "hostIPC"})
    if (IsTrue(spec.Find(field))) faults.push_back(absl::StrCat(field, "=true"));
  for (const Value& volume : ItemsOf(spec.Find("volumes"))) {
    if (volume.Find("hostPath") == nullptr) continue;
    faults.emplace_back("hostPath volumes");
    break;
  }
  for (std::string& fault : ContainerFaults(spec, is_restricted)) faults.push_back(std::move(fault));
  return faults;
}

// Whether one of the names is this one, or stands for all.
bool Has(const Value* names, absl::string_view wanted) {
  const std::vector<std::string> texts = TextsOf(names);
  return std::any_of(texts.begin(), texts.end(),
                     [wanted](const std::string& text) { return text == wanted || text == "*"; });
}

// Source: apiserver v0.37, pkg/admission/plugin/webhook/predicates/rules/rules.go.
bool RuleMatchesPods(const Value& rule) {
  if (!Has(rule.Find("operations"), "CREATE") || !Has(rule.Find("apiGroups"), "")) return false;
  const std::string scope = TextOf(&rule, "scope");
  if (scope == "Cluster") return false;
  const std::vector<std::string> resources = TextsOf(rule.Find("resources"));
  return std::any_of(resources.begin(), resources.end(), [](const std::string& resource) {
    return resource == "pods" || resource == "pods/*" || resource == "*" || resource == "*/*";
  });
}

bool MatchesPods(const Value* rules) {
  const absl::Span<const Value> items = ItemsOf(rules);
  return std::any_of(items.begin(), items.end(), RuleMatchesPods);
}

// An absent selector selects all, as the API server makes it an empty one.
bool Selects(const Value* selector, const Labels& labels) {
  if (selector == nullptr) return true;
  for (const auto& [key, value] : LabelsOf(selector->Find("matchLabels"))) {
    const auto found = labels.find(key);
    if (found == labels.end() || found->second != value) return false;
  }
  for (const Value& expression : ItemsOf(selector->Find("matchExpressions"))) {
    const auto found = labels.find(TextOf(&expression, "key"));
    const std::string operation = TextOf(&expression, "operator");
    const bool is_there = found != labels.end();
    const std::vector<std::string> values = TextsOf(expression.Find("values"));
    const bool is_listed = is_there && std::find(values.begin(), values.end(), found->second) != values.end();
    const bool matches = operation == "In"       ? is_listed
                         : operation == "NotIn"  ? !is_listed
                         : operation == "Exists" ? is_there
                                                 : !is_there;
    if (!matches) return false;
  }
  return true;
}

// All of it, over the objects of an input.
class Finder {
 public:
  Finder(absl::Span<const api::ObjectPtr> objects, bool goes_on) : objects_(objects), goes_on_(goes_on) {
    for (size_t i = 0; i < objects.size(); ++i) LookAt(*objects[i], i);
  }

  std::vector<UncheckedAdmission> Find() {
    std::vector<UncheckedAdmission> found;
    // The sources take some time to find, and most inputs have none of this.
    if (levels_.empty() && accounts_.empty() && askers_.empty()) return found;
    for (const size_t index : PodSources(objects_, goes_on_))
      sources_.push_back({.index = index, .name_space = objects_[index]->metadata.namespace_});
    AddSecurity(found);
    AddAccounts(found);
    AddAskers(found);
    return found;
  }

 private:
  void LookAt(const api::Object& object, size_t index) {
    const std::string& name = object.metadata.name;
    if (object.kind == api::Kind::kNamespace) {
      Labels labels;
      for (const auto& [key, value] : object.metadata.labels) labels[key] = value;
      const auto level = labels.find(std::string(kEnforce));
      if (level != labels.end() && (level->second == "baseline" || level->second == "restricted"))
        levels_[name] = level->second;
      namespaces_[name] = std::move(labels);
    } else if (object.kind == api::Kind::kOther) {
      if (object.kind_name == "ServiceAccount" && object.api_version == "v1")
        accounts_[object.metadata.namespace_].insert(name);
      if (api::GroupOf(object.api_version) != "admissionregistration.k8s.io") return;
      const absl::string_view kind = object.kind_name;
      constexpr absl::string_view kAskers[] = {"MutatingAdmissionPolicy", "MutatingWebhookConfiguration",
                                               "ValidatingAdmissionPolicy", "ValidatingWebhookConfiguration"};
      if (std::find(std::begin(kAskers), std::end(kAskers), kind) != std::end(kAskers))
        askers_.push_back(index);
      if (kind == "ValidatingAdmissionPolicyBinding" || kind == "MutatingAdmissionPolicyBinding")
        bindings_.push_back(index);
    }
  }

  // One line for all of some sources, with what is said of the first.
  void Add(const std::vector<std::pair<size_t, std::string>>& sources,
           std::vector<UncheckedAdmission>& found) const {
    if (sources.empty()) return;
    const auto& [index, text] = sources[0];
    found.push_back({.index = index,
                     .text = absl::StrCat(LabelOf(*objects_[index]), ": ", text, AndMore(sources.size()))});
  }

  void AddSecurity(std::vector<UncheckedAdmission>& found) const {
    std::vector<std::pair<size_t, std::string>> broken;
    for (const Source& source : sources_) {
      const auto level = levels_.find(source.name_space);
      if (level == levels_.end()) continue;
      ReadPodOf(*objects_[source.index], [&](const Value& pod) {
        const std::vector<std::string> faults =
            SecurityFaults(*pod.Find("spec"), level->second == "restricted");
        if (faults.empty()) return;
        broken.emplace_back(source.index,
                            absl::StrCat("violates PodSecurity \"", level->second, "\", which Namespace ",
                                         Printable(source.name_space, kShownBytesMax), " enforces (",
                                         absl::StrJoin(faults, ", "),
                                         "); that is not checked here, where a cluster creates no such pod"));
      });
    }
    Add(broken, found);
  }

  void AddAccounts(std::vector<UncheckedAdmission>& found) const {
    std::vector<std::pair<size_t, std::string>> lost;
    for (const Source& source : sources_) {
      const auto accounts = accounts_.find(source.name_space);
      if (accounts == accounts_.end()) continue;
      ReadPodOf(*objects_[source.index], [&](const Value& pod) {
        std::string name = TextOf(pod.Find("spec"), "serviceAccountName");
        if (name.empty()) name = TextOf(pod.Find("spec"), "serviceAccount");
        // A controller makes this one in each namespace.
        if (name.empty() || name == "default" || accounts->second.contains(name)) return;
        lost.emplace_back(source.index,
                          absl::StrCat("serviceaccount \"", Printable(name, kShownBytesMax),
                                       "\" not found among those of Namespace ",
                                       Printable(source.name_space, kShownBytesMax),
                                       "; that is not checked here, where a cluster creates no such pod"));
      });
    }
    Add(lost, found);
  }

  const Labels& LabelsOfNamespace(const std::string& name) {
    Labels& labels = namespaces_[name];
    // The API server sets it.
    labels["kubernetes.io/metadata.name"] = name;
    return labels;
  }

  // Whether the selectors of a webhook, or of what a policy matches, select one of the sources.
  bool SelectsSource(const std::vector<const Value*>& selections) {
    return std::any_of(sources_.begin(), sources_.end(), [&](const Source& source) {
      const Labels& of_namespace = LabelsOfNamespace(source.name_space);
      bool is_selected = true;
      for (const Value* selection : selections)
        is_selected = is_selected && Selects(Below(selection, {"namespaceSelector"}), of_namespace);
      if (!is_selected) return false;
      ReadPodOf(*objects_[source.index], [&](const Value& pod) {
        const Labels labels = LabelsOf(Below(&pod, {"metadata", "labels"}));
        for (const Value* selection : selections)
          is_selected = is_selected && Selects(Below(selection, {"objectSelector"}), labels);
      });
      return is_selected;
    });
  }

  bool ConfigurationAsks(const Value& root) {
    const absl::Span<const Value> webhooks = ItemsOf(root.Find("webhooks"));
    return std::any_of(webhooks.begin(), webhooks.end(), [this](const Value& webhook) {
      return MatchesPods(webhook.Find("rules")) && SelectsSource({&webhook});
    });
  }

  // A policy counts where a binding of it does.
  bool PolicyAsks(const api::Object& policy, const Value& root) {
    const Value* const matched = Below(&root, {"spec", "matchConstraints"});
    if (!MatchesPods(Below(matched, {"resourceRules"})) ||
        MatchesPods(Below(matched, {"excludeResourceRules"})))
      return false;
    const std::string binding_kind = absl::StrCat(policy.kind_name, "Binding");
    return std::any_of(bindings_.begin(), bindings_.end(), [&](size_t index) {
      const api::Object& binding = *objects_[index];
      bool counts = false;
      ReadPolicy(binding, [&](const Value& bound) {
        const Value* const spec = bound.Find("spec");
        if (binding.kind_name != binding_kind || TextOf(spec, "policyName") != policy.metadata.name) return;
        const Value* const actions = Below(spec, {"validationActions"});
        // What only warns, or is written to the audit log, refuses nothing.
        if (actions != nullptr && !Has(actions, "Deny")) return;
        const Value* const resources = Below(spec, {"matchResources"});
        const Value* const rules = Below(resources, {"resourceRules"});
        const bool has_rules = rules != nullptr && !rules->items.empty();
        if ((has_rules && !MatchesPods(rules)) || MatchesPods(Below(resources, {"excludeResourceRules"})))
          return;
        counts = SelectsSource({matched, resources});
      });
      return counts;
    });
  }

  void AddAskers(std::vector<UncheckedAdmission>& found) {
    std::vector<std::pair<size_t, std::string>> asking;
    for (const size_t index : askers_) {
      const api::Object& asker = *objects_[index];
      const bool is_policy =
          asker.kind_name == "MutatingAdmissionPolicy" || asker.kind_name == "ValidatingAdmissionPolicy";
      bool asks = false;
      ReadPolicy(asker, [&](const Value& root) {
        asks = is_policy ? PolicyAsks(asker, root) : ConfigurationAsks(root);
      });
      if (!asks) continue;
      asking.emplace_back(
          index,
          "matches the creation of pods and is not asked, so pods that it would refuse or change "
          "are created as they are");
    }
    Add(asking, found);
  }

  const absl::Span<const api::ObjectPtr> objects_;
  const bool goes_on_;
  std::map<std::string, std::string> levels_;              // Of PodSecurity, by namespace.
  std::map<std::string, std::set<std::string>> accounts_;  // By namespace.
  std::map<std::string, Labels> namespaces_;
  // The indexes of webhooks and policies, and of the bindings of these.
  std::vector<size_t> askers_;
  std::vector<size_t> bindings_;
  std::vector<Source> sources_;
};

}  // namespace

std::vector<UncheckedAdmission> FindUncheckedAdmission(absl::Span<const api::ObjectPtr> objects,
                                                       bool goes_on) {
  return Finder(objects, goes_on).Find();
}

}  // namespace schedsim::sim
