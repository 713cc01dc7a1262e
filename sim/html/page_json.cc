#include "sim/html/page_json.h"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "core/base/lookup_map.h"
#include "core/codec/text/json_writer.h"
#include "sim/diff/diff_text.h"
#include "sim/explain/explanation_text.h"
#include "sim/report/pod_story_text.h"

namespace schedsim::sim {
namespace {

using codec::JsonWriter;

// The same text is written once.
class TextList {
 public:
  int64_t Add(const std::string& text) {
    if (const int64_t* place = places_.Find(text)) return *place;
    const auto place = static_cast<int64_t>(texts_.size());
    places_[text] = place;
    texts_.push_back(text);
    return place;
  }
  void Write(JsonWriter& json) const {
    json.Key("texts").BeginArray();
    for (const std::string& text : texts_) json.String(text);
    json.EndArray();
  }

 private:
  LookupMap<std::string, int64_t> places_;
  std::vector<std::string> texts_;
};

// One column: what `value_of` makes of each row.
template <typename Row, typename ValueOf>
void WriteInts(absl::string_view name, const std::vector<Row>& rows, ValueOf value_of, JsonWriter& json) {
  json.Key(name).BeginArray();
  for (const Row& row : rows) json.Int(value_of(row));
  json.EndArray();
}

void WriteInts(absl::string_view name, const std::vector<int64_t>& values, JsonWriter& json) {
  WriteInts(
      name, values, [](int64_t value) { return value; }, json);
}

template <typename Row>
void WriteTexts(absl::string_view name, const std::vector<Row>& rows, std::string Row::*text,
                JsonWriter& json) {
  json.Key(name).BeginArray();
  for (const Row& row : rows) json.String(row.*text);
  json.EndArray();
}

void WriteSetup(const PageSetup& setup, JsonWriter& json) {
  json.Key("setup").BeginObject().Key("inputs").BeginArray();
  for (const std::string& input : setup.inputs) json.String(input);
  json.EndArray().Field("seed", std::to_string(setup.seed));
  json.Key("controllers").Bool(setup.has_controllers).Field("configuration", setup.config_yaml).EndObject();
}

void WriteSeries(const TimeSeries& series, JsonWriter& json) {
  json.Key("series").BeginObject();
  WriteInts(
      "microseconds", series.times, [](absl::Duration time) { return absl::ToInt64Microseconds(time); },
      json);
  for (const CountColumn& column : kCountColumns) WriteInts(column.name, series.*column.values, json);
  json.Key("resources").BeginArray();
  for (const TimeSeries::Resource& resource : series.resources) {
    json.BeginObject().Field("name", resource.name);
    WriteInts("requested", resource.requested, json);
    WriteInts("allocatable", resource.allocatable, json);
    json.EndObject();
  }
  json.EndArray().EndObject();
}

// The amounts of one resource on all nodes.
void WriteNodeResource(const std::vector<PageNode>& nodes, const std::string& name, JsonWriter& json) {
  const auto amount_of = [&name](const PageNode& node) {
    for (const SeriesCollector::Amount& amount : node.amounts) {
      if (amount.name == name) return amount;
    }
    return SeriesCollector::Amount();
  };
  json.BeginObject().Field("name", name);
  WriteInts(
      "requested", nodes, [&](const PageNode& node) { return Saturated(amount_of(node).requested); }, json);
  WriteInts(
      "allocatable", nodes, [&](const PageNode& node) { return Saturated(amount_of(node).allocatable); },
      json);
  json.EndObject();
}

void WriteNodes(const std::vector<PageNode>& nodes, JsonWriter& json) {
  TextList texts;
  std::set<std::string> resources;
  for (const PageNode& node : nodes) {
    for (const SeriesCollector::Amount& amount : node.amounts) resources.insert(amount.name);
  }
  json.Key("nodes").BeginObject();
  WriteTexts("name", nodes, &PageNode::name, json);
  WriteInts(
      "zone", nodes, [&](const PageNode& node) { return texts.Add(node.zone); }, json);
  WriteInts(
      "pool", nodes, [&](const PageNode& node) { return texts.Add(node.pool); }, json);
  WriteInts(
      "unschedulable", nodes, [](const PageNode& node) { return node.is_unschedulable ? 1 : 0; }, json);
  json.Key("resources").BeginArray();
  for (const std::string& name : resources) WriteNodeResource(nodes, name, json);
  json.EndArray();
  texts.Write(json);
  json.EndObject();
}

void WritePods(const PageRun& run, JsonWriter& json) {
  const std::vector<Report::Pod>& pods = run.report.pods;
  TextList texts;
  json.Key("pods").BeginObject();
  WriteTexts("name", pods, &Report::Pod::name, json);
  for (const auto& [name, text] :
       {std::pair("namespace", &Report::Pod::name_space), std::pair("status", &Report::Pod::status),
        std::pair("node", &Report::Pod::node), std::pair("reason", &Report::Pod::reason),
        std::pair("message", &Report::Pod::message)}) {
    WriteInts(
        name, pods, [&, text = text](const Report::Pod& pod) { return texts.Add(pod.*text); }, json);
  }
  WriteInts(
      "attempts", pods,
      [&run](const Report::Pod& pod) {
        const auto found = run.attempts.find(pod.name_space + "/" + pod.name);
        return found == run.attempts.end() ? 0 : found->second;
      },
      json);
  // -1: the pod was not bound in this run.
  WriteInts(
      "queueLatencyMicroseconds", pods,
      [](const Report::Pod& pod) {
        return pod.queue_latency < absl::ZeroDuration() ? -1 : absl::ToInt64Microseconds(pod.queue_latency);
      },
      json);
  WriteInts(
      "inexact", pods, [](const Report::Pod& pod) { return pod.inexact ? 1 : 0; }, json);
  texts.Write(json);
  json.EndObject();
}

void WriteLatencies(const std::vector<LatencyRow>& rows, JsonWriter& json) {
  json.Key("latencies").BeginObject();
  WriteInts(
      "limitMicroseconds", rows, [](const LatencyRow& row) { return absl::ToInt64Microseconds(row.limit); },
      json);
  WriteInts(
      "count", rows, [](const LatencyRow& row) { return row.count; }, json);
  json.EndObject();
}

void WritePreemptions(const PageRun& run, JsonWriter& json) {
  json.Key("preemptions").BeginObject().Field("count", run.preemption_count).Key("list").BeginArray();
  for (const PagePreemption& preemption : run.preemptions) {
    json.BeginObject().Field("microseconds", absl::ToInt64Microseconds(preemption.time));
    json.Field("pod", preemption.pod).Field("attempt", int64_t{preemption.attempt});
    json.Field("node", preemption.node).Key("victims");
    if (preemption.victims.has_value()) {
      json.BeginArray();
      for (const std::string& victim : *preemption.victims) json.String(victim);
      json.EndArray();
    } else {
      json.Null();
    }
    json.EndObject();
  }
  json.EndArray().EndObject();
}

void WriteRun(const PageRun& run, JsonWriter& json) {
  json.BeginObject();
  WriteSetup(run.setup, json);
  // The rows of pods are a table of their own.
  Report report = run.report;
  report.pods.clear();
  std::string text = ReportJson(report);
  if (text.back() == '\n') text.pop_back();
  json.Key("report").Raw(text);
  WriteSeries(run.series, json);
  WriteNodes(run.nodes, json);
  WritePods(run, json);
  WriteLatencies(run.latencies, json);
  WritePreemptions(run, json);
  json.EndObject();
}

void WriteExplanations(const std::vector<PageExplanation>& explanations, JsonWriter& json) {
  json.Key("explanations").BeginArray();
  for (const PageExplanation& entry : explanations) {
    json.BeginObject().Field("message", entry.message).Field("pod", entry.explanation.pod);
    json.Field("text", ExplanationText(entry.explanation, ExplanationView())).EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string PageJson(const Page& page) {
  JsonWriter json;
  json.BeginObject().Key("run");
  WriteRun(page.run, json);
  if (page.other.has_value()) {
    json.Key("other");
    WriteRun(*page.other, json);
  }
  if (page.diff.has_value()) {
    std::string text = DiffJson(*page.diff);
    if (text.back() == '\n') text.pop_back();
    json.Key("diff").Raw(text);
  }
  WriteExplanations(page.explanations, json);
  json.EndObject();
  return json.text();
}

}  // namespace schedsim::sim
