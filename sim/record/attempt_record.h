// The record of one scheduling cycle, and of a binding that failed after it. See record_field.h on tables.
#ifndef SCHEDSIM_SIM_RECORD_ATTEMPT_RECORD_H_
#define SCHEDSIM_SIM_RECORD_ATTEMPT_RECORD_H_

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/record/record_field.h"

namespace schedsim::sim::record {

// The answer of a plugin or of a cycle. Success has none, but for PostFilter, whose message is a reason then.
struct Status {
  Text code;
  // "": no single one.
  Text plugin;
  // As users see them in messages.
  Texts reasons;
};

template <>
struct Fields<Status> {
  static constexpr std::tuple kList = {Always("code", &Status::code), Always("plugin", &Status::plugin),
                                       Always("reasons", &Status::reasons)};
};

struct PreFilter {
  std::optional<Status> status;
  // The nodes that are left, sorted. Absent: PreFilter did not narrow them.
  std::optional<Texts> nodes;
  // Who narrowed the nodes, sorted.
  Texts plugins;
  // Who answered Skip, sorted.
  Texts skip_filter;
};

template <>
struct Fields<PreFilter> {
  static constexpr std::tuple kList = {IfAny("status", &PreFilter::status), IfAny("nodes", &PreFilter::nodes),
                                       IfAny("plugins", &PreFilter::plugins),
                                       IfAny("skipFilter", &PreFilter::skip_filter)};
};

// What the filters say of one node.
struct FilteredNode {
  Text node;
  // "": it passed them all. Else that of the first plugin that rejected it, and what this plugin said.
  Text code;
  Text plugin;
  Texts reasons;

  static bool Rejected(const FilteredNode& node) { return !node.code.empty(); }
};

template <>
struct Fields<FilteredNode> {
  static constexpr std::tuple kList = {Required("node", &FilteredNode::node),
                                       IfAny("code", &FilteredNode::code),
                                       If(FilteredNode::Rejected, "plugin", &FilteredNode::plugin),
                                       If(FilteredNode::Rejected, "reasons", &FilteredNode::reasons)};
};

// Shape: all columns belong to `nodes`, the feasible ones in the order in which they were found.
struct Scores {
  Texts nodes;
  // By plugin: what Score returned; then normalised and weighted.
  Map<Column> raw;
  Map<Column> weighted;
  // The sum over all plugins.
  Column total;
  // By extender: what it adds; null for nodes that its answer leaves out. Only where extenders were asked, as
  // the sum over plugins and extenders.
  Map<SparseColumn> extenders;
  std::optional<Column> final_total;
};

template <>
struct Fields<Scores> {
  static constexpr std::tuple kList = {
      Required("nodes", &Scores::nodes),      Always("raw", &Scores::raw),
      Always("weighted", &Scores::weighted),  Required("total", &Scores::total),
      IfAny("extenders", &Scores::extenders), IfAny("final", &Scores::final_total)};
};

// A Permit plugin that asks the pod to wait.
struct Wait {
  Text plugin;
  // Then the pod is rejected.
  absl::Duration timeout;
};

template <>
struct Fields<Wait> {
  static constexpr std::tuple kList = {Always("plugin", &Wait::plugin), Always("timeout", &Wait::timeout)};
};

struct PostFilter {
  // "": the nomination is cleared. Absent: it stays as it is.
  std::optional<Text> nominate;
  // Always 1: override.
  int64_t mode = 1;
  std::optional<Status> status;

  static bool Nominates(const PostFilter& post_filter) { return post_filter.nominate.has_value(); }
};

template <>
struct Fields<PostFilter> {
  static constexpr std::tuple kList = {IfAny("nominate", &PostFilter::nominate),
                                       If(PostFilter::Nominates, "mode", &PostFilter::mode),
                                       Always("status", &PostFilter::status)};
};

// What preemption found on one node: victims, or why it would not help.
struct DryRun {
  Text node;
  // The most important first.
  Texts victims;
  // How many of them exceed a disruption budget.
  int64_t violations = 0;
  Text code;
  Texts reasons;

  static bool Helps(const DryRun& run) { return run.code.empty(); }
  static bool DoesNotHelp(const DryRun& run) { return !Helps(run); }
};

template <>
struct Fields<DryRun> {
  static constexpr std::tuple kList = {
      Required("node", &DryRun::node), If(DryRun::Helps, "victims", &DryRun::victims),
      If(DryRun::Helps, "violations", &DryRun::violations), IfAny("code", &DryRun::code),
      If(DryRun::DoesNotHelp, "reasons", &DryRun::reasons)};
};

// How an attempt ended without a binding.
struct Failure {
  // Its reason is the error.
  std::optional<Status> status;
  // The full message, as in the pod's condition.
  Text error;
  std::optional<Text> nominate;
  int64_t mode = 1;
  // Who rejected a pod that had a node already, sorted.
  Texts unschedulable_plugins;
  Texts pending_plugins;

  static bool Nominates(const Failure& failure) { return failure.nominate.has_value(); }
};

template <>
struct Fields<Failure> {
  static constexpr std::tuple kList = {Always("status", &Failure::status),
                                       Always("error", &Failure::error),
                                       IfAny("nominate", &Failure::nominate),
                                       If(Failure::Nominates, "mode", &Failure::mode),
                                       IfAny("unschedulablePlugins", &Failure::unschedulable_plugins),
                                       IfAny("pendingPlugins", &Failure::pending_plugins)};
};

struct Attempt {
  static constexpr absl::string_view kKind = "attempt";

  Text pod;
  // 1 for the first attempt of the pod.
  int64_t attempts = 0;
  Text profile;
  // nextStartNodeIndex before the cycle.
  int64_t start = 0;
  Text nominated_before;
  // Of a pod that is tried in its group's cycle: the group, and "preemption" where its preemption tries it.
  Text group;
  Text phase;
  // When it began, where it took time: extenders may take some.
  std::optional<absl::Duration> began;
  std::optional<PreFilter> pre_filter;
  // The node that opportunistic batching had tried first.
  std::optional<Text> hint;
  // In the order in which the nodes were looked at. A node that is tried before the search, because the pod
  // is nominated to it or the hint names it, has an entry of its own for that.
  std::vector<FilteredNode> filter;
  // The nodes with the highest total, sorted by name. Not with level decisions, which has their count.
  Texts best;
  std::optional<int64_t> best_count;
  // Points; not with level full.
  std::optional<int64_t> best_score;
  std::optional<Scores> scores;
  // "": no node was found.
  Text host;
  // Feasible nodes plus rejected ones; how many passed.
  int64_t evaluated = 0;
  int64_t feasible = 0;
  std::vector<Wait> waits;
  // What the search ended with, without what PostFilter adds.
  Text error;
  // Whether the pod was rejected; then by whom, sorted.
  bool fit_error = false;
  Texts unschedulable_plugins;
  Texts pending_plugins;
  std::optional<PostFilter> post_filter;
  std::vector<DryRun> dry_run;
  std::optional<Failure> failure;

  static bool HasHost(const Attempt& attempt) { return !attempt.host.empty(); }
  static bool HasFitError(const Attempt& attempt) { return attempt.fit_error; }
};

template <>
struct Fields<Attempt> {
  static constexpr std::tuple kList = {
      Required("pod", &Attempt::pod),
      Required("attempts", &Attempt::attempts),
      Always("profile", &Attempt::profile),
      Always("start", &Attempt::start),
      IfAny("nominatedBefore", &Attempt::nominated_before),
      IfAny("group", &Attempt::group),
      IfAny("phase", &Attempt::phase),
      IfAny("began", &Attempt::began),
      IfAny("preFilter", &Attempt::pre_filter),
      IfAny("hint", &Attempt::hint),
      IfAny("filter", &Attempt::filter),
      IfAny("best", &Attempt::best),
      IfAny("bestCount", &Attempt::best_count),
      IfAny("bestScore", &Attempt::best_score),
      IfAny("scores", &Attempt::scores),
      IfAny("host", &Attempt::host),
      If(Attempt::HasHost, "evaluated", &Attempt::evaluated),
      If(Attempt::HasHost, "feasible", &Attempt::feasible),
      IfAny("waits", &Attempt::waits),
      IfAny("error", &Attempt::error),
      IfAny("fitError", &Attempt::fit_error),
      If(Attempt::HasFitError, "unschedulablePlugins", &Attempt::unschedulable_plugins),
      If(Attempt::HasFitError, "pendingPlugins", &Attempt::pending_plugins),
      IfAny("postFilter", &Attempt::post_filter),
      IfAny("dryRun", &Attempt::dry_run),
      IfAny("failure", &Attempt::failure)};
};

// A pod with a host could not be bound, or was rejected while it waited on Permit.
struct BindFailure : Failure {
  static constexpr absl::string_view kKind = "bindFailure";

  Text pod;
};

template <>
struct Fields<BindFailure> {
  static constexpr std::tuple kList =
      std::tuple_cat(std::tuple(Required("pod", &BindFailure::pod)), Fields<Failure>::kList);
};

}  // namespace schedsim::sim::record

#endif  // SCHEDSIM_SIM_RECORD_ATTEMPT_RECORD_H_
