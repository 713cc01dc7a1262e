#include "sim/explain/miss.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace schedsim::sim {
namespace {

using framework::Status;

// A remedy for each filter, and some more where remedies stand in each other's way.
constexpr int kStepsMax = 24;
// Beyond this, pods that were made are forgotten.
constexpr size_t kPodsMax = 4096;

bool Same(const Change& a, const Change& b) {
  return a.type == b.type && a.name == b.name && a.value == b.value && a.taint == b.taint;
}

// Adds the change, or puts it in the place of an older one for the same thing.
void Add(const Change& change, std::vector<Change>& changes) {
  for (Change& known : changes) {
    const bool replaces = Same(known, change) ||
                          (known.type == change.type && known.name == change.name &&
                           (change.type == Change::Type::kLabel || change.type == Change::Type::kMaxSkew));
    if (!replaces) continue;
    const api::Quantity before = known.amount;
    known = change;
    known.amount += before;
    return;
  }
  changes.push_back(change);
}

// Whether `other` does the same as `change`, and less of it.
bool IsLess(const Change& other, const Change& change) {
  if (change.type != Change::Type::kMaxSkew) return Same(other, change) && other.amount < change.amount;
  int64_t other_skew = 0;
  int64_t skew = 0;
  return other.type == change.type && other.name == change.name &&
         absl::SimpleAtoi(*other.value, &other_skew) && absl::SimpleAtoi(*change.value, &skew) &&
         other_skew < skew;
}

std::vector<Change> Without(const std::vector<Change>& changes, size_t index) {
  std::vector<Change> left = changes;
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(index));
  return left;
}

}  // namespace

api::PodPtr MissFinder::PodAfter(const std::vector<Change>& changes) {
  std::string key;
  for (const Change& change : changes) {
    if (change.IsOfPod()) absl::StrAppend(&key, ChangeText(change), "\n");
  }
  if (key.empty()) return pod_;
  if (pods_.size() > kPodsMax) pods_.clear();
  api::PodPtr& pod = pods_[key];
  if (pod == nullptr) pod = PodWith(pod_, changes);
  return pod;
}

Status MissFinder::Try(const std::string& node, const std::vector<Change>& changes) {
  ApplyTo(trial_, node, changes);
  const Status status = trial_.FitOn(PodAfter(changes), node);
  trial_.Revert();
  return status;
}

// Each plugin that refuses the node proposes what may help; nothing is tried twice.
bool MissFinder::AddRemedy(const std::string& node, const Status& status, Miss& miss) {
  ApplyTo(trial_, node, miss.changes);
  const Refusal refusal = explainer_.Explain(PodAfter(miss.changes), node, status);
  trial_.Revert();
  for (const std::vector<Change>& remedy : refusal.remedies) {
    std::string key;
    for (const Change& change : remedy) absl::StrAppend(&key, ChangeText(change), "\n");
    if (remedy.empty() || !tried_.insert(key).second) continue;
    for (const Change& change : remedy) Add(change, miss.changes);
    return true;
  }
  miss.why_not = refusal.no_remedy.empty() ? status.Message() : refusal.no_remedy;
  return false;
}

Miss MissFinder::Find(const std::string& node) {
  tried_.clear();
  Miss miss;
  for (int step = 0; step < kStepsMax; ++step) {
    const Status status = Try(node, miss.changes);
    if (status.IsSuccess()) {
      Minimise(node, miss);
      Tighten(node, miss);
      return miss;
    }
    if (!AddRemedy(node, status, miss)) {
      miss.changes.clear();
      return miss;
    }
  }
  return {.changes = {}, .why_not = "what helps against one filter brings up another"};
}

void MissFinder::Minimise(const std::string& node, Miss& miss) {
  // The largest first. Again after each that could go, since another one may be needless then.
  std::stable_sort(miss.changes.begin(), miss.changes.end(),
                   [](const Change& a, const Change& b) { return a.size > b.size; });
  for (size_t i = 0; i < miss.changes.size() && miss.changes.size() > 1;) {
    std::vector<Change> left = Without(miss.changes, i);
    if (!Try(node, left).IsSuccess()) {
      ++i;
      continue;
    }
    miss.changes = std::move(left);
    i = 0;
  }
  std::stable_sort(miss.changes.begin(), miss.changes.end(),
                   [](const Change& a, const Change& b) { return a.size < b.size; });
}

void MissFinder::Tighten(const std::string& node, Miss& miss) {
  for (size_t i = 0; i < miss.changes.size(); ++i) {
    const Change change = miss.changes[i];
    if (change.amount.IsZero() && change.type != Change::Type::kMaxSkew) continue;
    const std::vector<Change> others = Without(miss.changes, i);
    const Status status = Try(node, others);
    ApplyTo(trial_, node, others);
    const Refusal refusal = explainer_.Explain(PodAfter(others), node, status);
    trial_.Revert();
    for (const std::vector<Change>& remedy : refusal.remedies) {
      for (const Change& other : remedy) {
        if (!IsLess(other, miss.changes[i])) continue;
        std::vector<Change> tighter = miss.changes;
        tighter[i] = other;
        if (Try(node, tighter).IsSuccess()) miss.changes[i] = other;
      }
    }
  }
}

}  // namespace schedsim::sim
