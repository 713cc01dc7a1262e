#include "sim/measure/history_tables.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace schedsim::sim {
namespace {

using codec::Table;

Table::Cell Micros(std::optional<absl::Duration> time) {
  if (!time.has_value()) return {};
  return absl::ToInt64Microseconds(*time);
}

Table::Cell Between(absl::Duration from, std::optional<absl::Duration> to) {
  return to.has_value() ? Micros(*to - from) : Table::Cell();
}

std::string StatusOf(const PodRow& pod) {
  if (!pod.ending.empty()) return pod.ending;
  if (!pod.node.empty()) return "Bound";
  return pod.is_ours ? "Pending" : "Ignored";
}

}  // namespace

std::string AmountName(absl::string_view resource) {
  if (resource == "cpu") return "cpu_milli";
  const bool is_bytes = resource == "memory" || resource == "ephemeral-storage";
  return absl::StrCat(resource, is_bytes ? "_bytes" : "");
}

Table PodTable(const RunHistory& history) {
  std::set<std::string> resources;
  for (const PodRow& pod : history.pods()) {
    for (const auto& [name, amount] : *pod.requests) resources.insert(name);
  }
  std::vector<std::string> columns = {"namespace",
                                      "name",
                                      "status",
                                      "node",
                                      "created_microseconds",
                                      "first_attempt_microseconds",
                                      "bound_microseconds",
                                      "gone_microseconds",
                                      "waiting_microseconds",
                                      "attempts",
                                      "measured"};
  for (const std::string& name : resources) columns.push_back(absl::StrCat("requests.", AmountName(name)));
  Table table("PodTable", std::move(columns));
  for (const PodRow& pod : history.pods()) {
    std::vector<Table::Cell> row = {pod.name_space,
                                    pod.name,
                                    StatusOf(pod),
                                    pod.node,
                                    Micros(pod.created),
                                    Micros(pod.first_attempt),
                                    Micros(pod.bound),
                                    Micros(pod.gone),
                                    Between(pod.created, pod.bound),
                                    pod.attempts,
                                    history.IsMeasured(pod)};
    auto amount = pod.requests->begin();
    for (const std::string& name : resources) {
      const bool is_asked_for = amount != pod.requests->end() && amount->first == name;
      row.emplace_back(is_asked_for ? (amount++)->second : int64_t{0});
    }
    table.Add(std::move(row));
  }
  return table;
}

Table NodeTable(const RunHistory& history) {
  std::set<std::string> resources;
  for (const auto& [node_name, node] : history.nodes()) {
    for (const auto& [name, use] : node.uses) resources.insert(name);
  }
  std::vector<std::string> columns = {"name", "created_microseconds", "gone_microseconds", "pods",
                                      "pods_bound"};
  for (const std::string& name : resources) {
    const std::string amount = AmountName(name);
    for (const char* column : {"allocatable.", "requested.", "requested_max."})
      columns.push_back(absl::StrCat(column, amount));
    columns.push_back(absl::StrCat("mean_share.", name, "_basis_points"));
  }
  Table table("NodeTable", std::move(columns));
  for (const auto& [node_name, node] : history.nodes()) {
    std::vector<Table::Cell> row = {node.name, Micros(node.created), Micros(node.gone), node.pods,
                                    node.pods_bound};
    for (const std::string& name : resources) {
      const auto found = node.uses.find(name);
      const NodeRow::Use use = found == node.uses.end() ? NodeRow::Use() : found->second;
      row.insert(row.end(), {use.allocatable, Saturated(use.requested), Saturated(use.requested_max),
                             codec::CellOf(use.MeanShare())});
    }
    table.Add(std::move(row));
  }
  return table;
}

Table SeriesTable(const TimeSeries& series) {
  std::vector<std::string> columns = {"time_microseconds"};
  for (const CountColumn& column : kCountColumns) columns.emplace_back(column.name);
  for (const TimeSeries::Resource& resource : series.resources) {
    columns.push_back(absl::StrCat("requested.", AmountName(resource.name)));
    columns.push_back(absl::StrCat("allocatable.", AmountName(resource.name)));
  }
  Table table("SeriesTable", std::move(columns));
  for (size_t i = 0; i < series.size(); ++i) {
    std::vector<Table::Cell> row = {Micros(series.times[i])};
    for (const CountColumn& column : kCountColumns) row.emplace_back((series.*column.values)[i]);
    for (const TimeSeries::Resource& resource : series.resources)
      row.insert(row.end(), {resource.requested[i], resource.allocatable[i]});
    table.Add(std::move(row));
  }
  return table;
}

}  // namespace schedsim::sim
