#include "sim/stages/metric_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "sim/stages/stage_functions.h"
#include "sim/stages/stage_object.h"

namespace schedsim::sim {
namespace {

using cel::CelValue;
using Kind = MetricFamily::Kind;
using Dimension = MetricFamily::Dimension;

constexpr size_t kWarningsMax = 20;

// The shortest text that reads as the number.
std::string NumberText(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
  std::array<char, 64> text = {};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end.ptr};
}

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}});
}

std::string HeadOf(const MetricFamily& family) {
  constexpr const char* kKinds[] = {"counter", "gauge", "histogram"};
  const absl::string_view help = absl::StripSuffix(family.help, "\n");
  return absl::StrCat("# HELP ", family.name, " ", absl::StrReplaceAll(help, {{"\\", "\\\\"}, {"\n", "\\n"}}),
                      "\n# TYPE ", family.name, " ", kKinds[static_cast<size_t>(family.kind)], "\n");
}

std::string TextAt(const CelValue& object, absl::string_view field) {
  const CelValue* metadata = object.Find("metadata");
  const CelValue* text = metadata == nullptr ? nullptr : metadata->Find(field);
  return text == nullptr || !text->Is(CelValue::Type::kString) ? "" : text->AsString();
}

}  // namespace

MetricTable::MetricTable(std::vector<MetricRule> rules, UsageMeter& meter, absl::Duration interval,
                         EventLoop& loop, ApiServer& server, const Rng& rng)
    : rules_(std::move(rules)),
      meter_(meter),
      interval_(interval),
      loop_(loop),
      server_(server),
      rng_(rng.Fork("stages/metrics")),
      functions_(MetricCelFunctions(StageCelFunctions(loop_, rng_), *this)) {
  for (const MetricRule& rule : rules_) {
    for (const MetricFamily& family : rule.metrics) {
      if (series_.emplace(family.name, Series{.head = HeadOf(family)}).second) names_.push_back(family.name);
    }
  }
  for (const auto& [key, object] : server_.List(api::Kind::kPod))
    Count(static_cast<const api::Pod&>(*object));
  server_.Watch([this](const WatchEvent& event) {
    if (event.new_object == nullptr || event.new_object->kind != api::Kind::kPod) return;
    Count(static_cast<const api::Pod&>(*event.new_object));
  });
}

void MetricTable::Count(const api::Pod& pod) {
  if (pod.node_name.empty() || !counted_.insert(pod.metadata.uid).second) return;
  started_[pod.node_name] += static_cast<int64_t>(ContainersOf(meter_.Read(pod)).size());
}

void MetricTable::Start() {
  Scrape();
  loop_.AtInBackground(loop_.Now() + interval_, EventLoop::Phase::kStep, [this] { Start(); });
}

void MetricTable::Scrape() {
  uses_of_nodes_.clear();
  std::map<std::string, std::vector<api::PodPtr>> pods;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    auto pod = std::static_pointer_cast<const api::Pod>(object);
    if (!pod->node_name.empty()) pods[pod->node_name].push_back(std::move(pod));
  }
  for (const MetricRule& rule : rules_) {
    for (const auto& [name, node] : server_.List(api::Kind::kNode)) {
      if (rule.is_of_each_node || rule.name == name) ScrapeNode(rule, *node, pods[name]);
    }
  }
}

void MetricTable::ScrapeNode(const MetricRule& rule, const api::Object& node,
                             const std::vector<api::PodPtr>& pods) {
  const std::string& name = node.metadata.name;
  cel::CelVariables variables = {{"node", meter_.Read(node).cel()}};
  for (const MetricFamily& family : rule.metrics) {
    if (family.dimension == Dimension::kNode) {
      AddSamples(family, name, variables);
      continue;
    }
    for (const api::PodPtr& pod : pods) {
      const StageObject& seen = meter_.Read(*pod);
      variables.emplace_back("pod", seen.cel());
      if (family.dimension == Dimension::kPod) {
        AddSamples(family, name, variables);
      } else {
        for (const CelValue& container : ContainersOf(seen)) {
          variables.emplace_back("container", container);
          AddSamples(family, name, variables);
          variables.pop_back();
        }
      }
      variables.pop_back();
    }
  }
}

void MetricTable::AddSamples(const MetricFamily& family, const std::string& node,
                             const cel::CelVariables& variables) {
  const std::optional<std::string> labels = LabelsOf(family, node, variables);
  if (!labels.has_value()) return;
  std::string& out = series_.at(family.name).samples;
  const std::string time = absl::StrCat(" ", absl::ToUnixMillis(loop_.Now()), "\n");
  if (family.kind != Kind::kHistogram) {
    const std::optional<double> value = NumberOf(family, *family.value, variables);
    if (value.has_value()) absl::StrAppend(&out, family.name, "{", *labels, "} ", NumberText(*value), time);
    return;
  }
  double count = 0;
  double sum = 0;
  const auto add_bucket = [&](double le) {
    absl::StrAppend(&out, family.name, "_bucket{", *labels, ",le=\"", NumberText(le), "\"} ",
                    NumberText(count), time);
  };
  for (const MetricBucket& bucket : family.buckets) {
    // How many there are is a whole number.
    const double in_bucket = std::trunc(std::max(NumberOf(family, bucket.value, variables).value_or(0), 0.0));
    count += in_bucket;
    if (in_bucket > 0) sum += bucket.le * in_bucket;
    if (!bucket.hidden) add_bucket(bucket.le);
  }
  const bool has_infinity = !family.buckets.empty() && std::isinf(family.buckets.back().le);
  if (!has_infinity) add_bucket(std::numeric_limits<double>::infinity());
  absl::StrAppend(&out, family.name, "_sum{", *labels, "} ", NumberText(sum), time);
  absl::StrAppend(&out, family.name, "_count{", *labels, "} ", NumberText(count), time);
}

std::optional<double> MetricTable::NumberOf(const MetricFamily& family, const cel::CelProgram& program,
                                            const cel::CelVariables& variables) {
  const absl::StatusOr<double> number = UsageNumber(program.Evaluate(variables, functions_));
  if (number.ok()) return *number;
  Warn(family, number.status().message());
  return std::nullopt;
}

std::optional<std::string> MetricTable::LabelsOf(const MetricFamily& family, const std::string& node,
                                                 const cel::CelVariables& variables) {
  std::map<std::string, std::string> labels = {{"node", node}};
  for (const MetricLabel& label : family.labels) {
    const cel::CelResult value = label.value.Evaluate(variables, functions_);
    if (!value.ok() || !value->Is(CelValue::Type::kString)) {
      Warn(family, absl::StrCat("label ", label.name, ": ",
                                value.ok() ? absl::StrCat("expected a string, got ", value->TypeName())
                                           : std::string(value.status().message())));
      return std::nullopt;
    }
    labels[label.name] = value->AsString();
  }
  std::string out;
  for (const auto& [name, value] : labels) {
    absl::StrAppend(&out, out.empty() ? "" : ",", name, "=\"", Escaped(value), "\"");
  }
  return out;
}

double MetricTable::UsageOfNode(absl::string_view node_name, absl::string_view resource) {
  if (uses_of_nodes_.empty()) uses_of_nodes_ = meter_.OfNodes();
  const std::vector<std::string> resources = meter_.Resources();
  const auto found = std::find(resources.begin(), resources.end(), resource);
  const auto uses = uses_of_nodes_.find(std::string(node_name));
  if (found == resources.end() || uses == uses_of_nodes_.end()) return 0;
  return uses->second[static_cast<size_t>(found - resources.begin())];
}

absl::StatusOr<double> MetricTable::Usage(const CelValue& object, absl::string_view resource,
                                          absl::string_view container) {
  const std::string name = TextAt(object, "name");
  const std::string name_space = TextAt(object, "namespace");
  // Of the two only pods have one.
  if (name_space.empty()) return UsageOfNode(name, resource);
  const api::PodPtr pod = server_.FindPod(name_space, name);
  if (pod == nullptr) return absl::NotFoundError(absl::StrCat("no pod ", name_space, "/", name));
  return container.empty() ? meter_.OfPod(*pod, resource) : meter_.OfContainer(*pod, container, resource);
}

absl::StatusOr<double> MetricTable::CumulativeUsage(const CelValue& object, absl::string_view resource,
                                                    absl::string_view container) {
  double now = 0;
  ASSIGN_OR_RETURN(now, Usage(object, resource, container));
  const std::string name_space = TextAt(object, "namespace");
  std::string key = absl::StrCat(name_space, "/", TextAt(object, "name"));
  // kwok has one for all resources of a node.
  if (!name_space.empty()) absl::StrAppend(&key, "/", TextAt(object, "uid"), "/", container, "/", resource);
  const auto [at, is_new] = integrals_.emplace(std::move(key), Integral{.last = loop_.Now()});
  Integral& integral = at->second;
  integral.sum += absl::ToDoubleSeconds(loop_.Now() - integral.last) * now;
  integral.last = loop_.Now();
  return integral.sum;
}

int64_t MetricTable::StartedContainersTotal(absl::string_view node_name) {
  const auto found = started_.find(node_name);
  return found == started_.end() ? 0 : found->second;
}

std::string MetricTable::Text() const {
  std::string text;
  for (const std::string& name : names_) {
    const Series& series = series_.at(name);
    if (!series.samples.empty()) absl::StrAppend(&text, series.head, series.samples);
  }
  return text;
}

void MetricTable::Warn(const MetricFamily& family, absl::string_view what) {
  const std::string text = absl::StrCat("metric ", family.name, ": ", what);
  const bool is_new = std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end();
  if (is_new && warnings_.size() < kWarningsMax) warnings_.push_back(text);
}

}  // namespace schedsim::sim
