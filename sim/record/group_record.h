// Records of the cycles of groups.
#ifndef SCHEDSIM_SIM_RECORD_GROUP_RECORD_H_
#define SCHEDSIM_SIM_RECORD_GROUP_RECORD_H_

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/record/attempt_record.h"
#include "sim/record/record_field.h"

namespace schedsim::sim::record {

// The cycle of a group begins.
struct GroupCycle {
  static constexpr absl::string_view kKind = "group";
  Text group;
  // Where the group itself stands in the queue, and its pods in order.
  std::optional<int64_t> attempts;
  std::optional<int64_t> priority;
  Texts pods;
  // Of a gang: how many of its pods must have a node, and how many have one already.
  std::optional<int64_t> min_count;
  int64_t scheduled = 0;
};

template <>
struct Fields<GroupCycle> {
  static constexpr std::tuple kList = {
      Required("group", &GroupCycle::group),     IfAny("attempts", &GroupCycle::attempts),
      IfAny("priority", &GroupCycle::priority),  IfAny("pods", &GroupCycle::pods),
      IfAny("minCount", &GroupCycle::min_count), IfAny("scheduled", &GroupCycle::scheduled)};
};

// The sets of nodes on which the group may go, by name.
struct Placements {
  static constexpr absl::string_view kKind = "placements";
  Text group;
  Texts names;
  // Where there are none.
  std::optional<Status> status;
};

template <>
struct Fields<Placements> {
  static constexpr std::tuple kList = {Required("group", &Placements::group),
                                       Always("names", &Placements::names),
                                       IfAny("status", &Placements::status)};
};

// Several of them take the group.
struct PlacementScores {
  static constexpr absl::string_view kKind = "placementScores";
  Text group;
  // By name.
  Map<int64_t> total;
  // Those with the highest total, by name, and the one that is taken.
  Texts best;
  Text taken;
};

template <>
struct Fields<PlacementScores> {
  static constexpr std::tuple kList = {
      Required("group", &PlacementScores::group), Always("total", &PlacementScores::total),
      Always("best", &PlacementScores::best), Always("taken", &PlacementScores::taken)};
};

// What became of the attempt to make room for the group.
struct GroupPostFilter {
  static constexpr absl::string_view kKind = "groupPostFilter";
  Text group;
  std::optional<Status> status;
  // By pod: the node that it is nominated to.
  Map<Text> nominate;
};

template <>
struct Fields<GroupPostFilter> {
  static constexpr std::tuple kList = {Required("group", &GroupPostFilter::group),
                                       Always("status", &GroupPostFilter::status),
                                       IfAny("nominate", &GroupPostFilter::nominate)};
};

// A pod stays behind at the end of its group's cycle.
struct GroupFailure : Failure {
  static constexpr absl::string_view kKind = "groupFailure";
  Text pod;
  Text group;
};

template <>
struct Fields<GroupFailure> {
  static constexpr std::tuple kList =
      std::tuple_cat(std::tuple(Required("pod", &GroupFailure::pod), Required("group", &GroupFailure::group)),
                     Fields<Failure>::kList);
};

}  // namespace schedsim::sim::record

#endif  // SCHEDSIM_SIM_RECORD_GROUP_RECORD_H_
