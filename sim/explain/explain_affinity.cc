// InterPodAffinity: pods that are near, or not, where terms want them.

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/plugins/inter_pod_affinity/inter_pod_affinity_terms.h"
#include "sim/explain/filter_explainer.h"
#include "sim/explain/selector_text.h"

namespace schedsim::sim {
namespace {

using Type = Change::Type;
using framework::AffinityTerm;
using framework::NodeInfo;
using framework::PodInfo;
using framework::PodInfoPtr;

// More pods than this are not proposed to go.
constexpr size_t kPodsAwayMax = 8;
// So many pods are named in a fact.
constexpr size_t kShown = 3;

// A pod with its node.
struct PlacedPod {
  const PodInfo* pod = nullptr;
  const NodeInfo* node = nullptr;
};

// Whether pods that are nominated to the refused node count. They stand in the way of others, but that they
// come is not certain, so affinity to them is not enough.
enum class Nominated : uint8_t { kCounted, kLeftOut };

// Calls `visit` for each pod of the cluster.
template <typename Visit>
void ForEachPod(const RefusedPod& refused, Nominated nominated, const Visit& visit) {
  for (const NodeInfo* node : refused.handle.snapshot().List()) {
    const bool is_own = node->name == refused.node.name && nominated == Nominated::kCounted;
    const NodeInfo& seen = is_own ? refused.node : *node;
    for (const PodInfoPtr& pod : seen.pods) visit(PlacedPod{.pod = pod.get(), .node = &seen});
  }
}

std::string NamesText(const std::vector<PlacedPod>& pods) {
  std::string text;
  for (size_t i = 0; i < std::min(kShown, pods.size()); ++i)
    absl::StrAppend(&text, i == 0 ? "" : ", ", pods[i].pod->pod->Key());
  if (pods.size() > kShown) absl::StrAppend(&text, " and ", pods.size() - kShown, " more");
  return text;
}

std::vector<Change> Away(const std::vector<PlacedPod>& pods) {
  std::set<std::string> keys;
  for (const PlacedPod& placed : pods) keys.insert(placed.pod->pod->Key());
  std::vector<Change> changes;
  for (const std::string& key : keys) changes.push_back({.type = Type::kPodAway, .name = key, .size = 1500});
  return changes;
}

// A required term of the pod, as compiled and as written.
struct OwnTerm {
  plugins::IncomingTerm term;
  const api::PodAffinityTerm* written = nullptr;
};

class AffinityExplainer {
 public:
  explicit AffinityExplainer(const RefusedPod& refused) : refused_(refused), namespaces_(refused.handle) {}

  Refusal OfExisting() {
    Refusal refusal;
    std::vector<PlacedPod> holders;
    ForEachPod(refused_, Nominated::kCounted,
               [&](const PlacedPod& placed) { AddExisting(placed, holders, refusal); });
    Propose(holders, "pods whose anti-affinity is against this one", refusal);
    return refusal;
  }

  Refusal OfOwnAntiAffinity() {
    Refusal refusal;
    std::vector<PlacedPod> holders;
    std::vector<Change> left_out;
    const api::PodSpec& spec = refused_.spec();
    for (const OwnTerm& own : OwnTerms(refused_.pod.spec_info->affinity_terms.required_anti_affinity,
                                       *spec.affinity->pod_anti_affinity)) {
      const std::vector<PlacedPod> pods =
          PodsInDomain({own}, own.term.term->topology_key, Nominated::kCounted);
      if (pods.empty()) continue;
      holders.insert(holders.end(), pods.begin(), pods.end());
      const std::string term = AffinityTermText(*own.written);
      refusal.facts.push_back(
          {.kind = "antiAffinity",
           .text = absl::StrCat("must not be with ", term, "; ", DomainText(own.term.term->topology_key),
                                " has ", NamesText(pods)),
           .fields = {{"term", term},
                      {"domain", DomainText(own.term.term->topology_key)},
                      {"pods", static_cast<int64_t>(pods.size())},
                      {"pod", pods[0].pod->pod->Key()}}});
      left_out.push_back({.type = Type::kLeaveOut, .name = kPodAntiAffinity, .value = term, .size = 2000});
    }
    Propose(holders, "pods that its anti-affinity is against", refusal);
    refusal.no_remedy.clear();
    refusal.remedies.push_back(std::move(left_out));
    return refusal;
  }

  Refusal OfOwnAffinity() {
    Refusal refusal;
    std::vector<Change> labels;
    std::vector<Change> left_out;
    const std::vector<OwnTerm> terms = OwnTerms(refused_.pod.spec_info->affinity_terms.required_affinity,
                                                *refused_.spec().affinity->pod_affinity);
    for (const OwnTerm& own : terms) {
      const Symbol key = own.term.term->topology_key;
      const std::string term = AffinityTermText(*own.written);
      const bool has_label = refused_.node.labels.Find(key) != nullptr;
      if (has_label && !PodsInDomain(terms, key, Nominated::kLeftOut).empty()) continue;
      const std::string elsewhere = DomainWithPods(terms, key);
      const std::string where =
          elsewhere.empty() ? "no node has any" : absl::StrCat("such are in ", elsewhere);
      refusal.facts.push_back(
          {.kind = "affinity",
           .text = absl::StrCat("must be with ", term, "; ",
                                has_label ? absl::StrCat(DomainText(key), " has none")
                                          : absl::StrCat("the node has no label ", refused_.Text(key)),
                                ", ", where),
           .fields = {{"term", term}, {"domain", DomainText(key)}, {"elsewhere", elsewhere}}});
      if (!elsewhere.empty() && refused_.Text(key) != "kubernetes.io/hostname") {
        labels.push_back({.type = Type::kLabel, .name = std::string(refused_.Text(key)), .value = elsewhere});
      }
      left_out.push_back({.type = Type::kLeaveOut, .name = kPodAffinity, .value = term, .size = 2000});
    }
    if (!labels.empty()) refusal.remedies.push_back(std::move(labels));
    refusal.remedies.push_back(std::move(left_out));
    return refusal;
  }

 private:
  std::vector<OwnTerm> OwnTerms(const std::vector<AffinityTerm>& compiled, const api::PodAffinity& written) {
    std::vector<OwnTerm> terms;
    for (size_t i = 0; i < compiled.size(); ++i) {
      OwnTerm own = {.term = {.term = &compiled[i]},
                     .written = &written.required_during_scheduling_ignored_during_execution[i]};
      own.term.all_namespaces = compiled[i].namespace_selector.empty();
      if (!own.term.all_namespaces)
        own.term.selected_namespaces = namespaces_.Matching(compiled[i].namespace_selector);
      terms.push_back(std::move(own));
    }
    return terms;
  }

  bool SharesDomain(const NodeInfo& other, Symbol key) const {
    const Symbol* const own = refused_.node.labels.Find(key);
    const Symbol* const value = other.labels.Find(key);
    return own != nullptr && value != nullptr && *own == *value;
  }

  // "zone=a".
  std::string DomainText(Symbol key) const {
    const Symbol* const value = refused_.node.labels.Find(key);
    return absl::StrCat(refused_.Text(key), "=", value == nullptr ? "" : refused_.Text(*value));
  }

  bool MatchesAll(const std::vector<OwnTerm>& terms, const PodInfo& pod) const {
    return std::all_of(terms.begin(), terms.end(), [&](const OwnTerm& own) {
      return own.term.Matches(refused_.pod.namespace_, pod, refused_.handle.symbols());
    });
  }

  std::vector<PlacedPod> PodsInDomain(const std::vector<OwnTerm>& terms, Symbol key,
                                      Nominated nominated) const {
    std::vector<PlacedPod> pods;
    ForEachPod(refused_, nominated, [&](const PlacedPod& placed) {
      if (SharesDomain(*placed.node, key) && MatchesAll(terms, *placed.pod)) pods.push_back(placed);
    });
    return pods;
  }

  // The first value of the label, by name, whose domain has pods for all terms; "": none.
  std::string DomainWithPods(const std::vector<OwnTerm>& terms, Symbol key) const {
    std::string found;
    ForEachPod(refused_, Nominated::kLeftOut, [&](const PlacedPod& placed) {
      const Symbol* const value = placed.node->labels.Find(key);
      if (value == nullptr || !MatchesAll(terms, *placed.pod)) return;
      const std::string name(refused_.Text(*value));
      if (found.empty() || name < found) found = name;
    });
    return found;
  }

  void AddExisting(const PlacedPod& placed, std::vector<PlacedPod>& holders, Refusal& refusal) {
    const std::vector<AffinityTerm>& terms = placed.pod->spec_info->affinity_terms.required_anti_affinity;
    for (size_t i = 0; i < terms.size(); ++i) {
      if (!SharesDomain(*placed.node, terms[i].topology_key)) continue;
      if (!plugins::ExistingTermMatches(terms[i], placed.pod->namespace_, refused_.pod, namespaces_,
                                        refused_.handle.symbols())) {
        continue;
      }
      const api::PodAffinity& written = *placed.pod->pod->spec->affinity->pod_anti_affinity;
      const std::string term =
          AffinityTermText(written.required_during_scheduling_ignored_during_execution[i]);
      const std::string key = placed.pod->pod->Key();
      const std::string node(refused_.Text(placed.node->name));
      refusal.facts.push_back(
          {.kind = "existingAntiAffinity",
           .text = absl::StrCat(key, " on ", node, " must not be with ", term, ", and this pod is one in ",
                                DomainText(terms[i].topology_key)),
           .fields = {
               {"pod", key}, {"node", node}, {"term", term}, {"domain", DomainText(terms[i].topology_key)}}});
      holders.push_back(placed);
    }
  }

  void Propose(const std::vector<PlacedPod>& holders, absl::string_view whose, Refusal& refusal) const {
    std::vector<Change> away = Away(holders);
    if (away.size() > kPodsAwayMax) {
      refusal.no_remedy = absl::StrCat(away.size(), " ", whose, " would have to go");
    } else {
      refusal.remedies.push_back(std::move(away));
    }
  }

  const RefusedPod& refused_;
  plugins::NamespaceLabels namespaces_;
};

}  // namespace

Refusal ExplainInterPodAffinity(const RefusedPod& refused) {
  AffinityExplainer explainer(refused);
  const std::string message = refused.status.Message();
  if (message == "node(s) didn't match pod affinity rules") return explainer.OfOwnAffinity();
  if (message == "node(s) didn't match pod anti-affinity rules") return explainer.OfOwnAntiAffinity();
  return explainer.OfExisting();
}

}  // namespace schedsim::sim
