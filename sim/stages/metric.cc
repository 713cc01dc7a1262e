#include "sim/stages/metric.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/api/go_text.h"
#include "core/base/status_macros.h"
#include "core/codec/config/strict_reader.h"
#include "sim/stages/kwok_object.h"
#include "sim/stages/stage_functions.h"

namespace schedsim::sim {
namespace {

using cel::CelArguments;
using cel::CelResult;
using cel::CelValue;
using codec::StrictReader;
using codec::Value;

// For expressions that are only read.
class NoMetrics : public MetricEnvironment {
 public:
  absl::StatusOr<double> Usage(const CelValue& /*object*/, absl::string_view /*resource*/,
                               absl::string_view /*container*/) override {
    return 0.0;
  }
  absl::StatusOr<double> CumulativeUsage(const CelValue& object, absl::string_view resource,
                                         absl::string_view container) override {
    return Usage(object, resource, container);
  }
  int64_t StartedContainersTotal(absl::string_view /*node_name*/) override { return 0; }
};

const cel::CelFunctions& KnownFunctions() {
  static const cel::CelFunctions* const kKnown =
      new cel::CelFunctions(MetricCelFunctions(KnownStageCelFunctions(), *new NoMetrics()));
  return *kKnown;
}

// Whether Prometheus takes it as the name of a metric, or of a label.
bool IsMetricName(absl::string_view name, bool of_label) {
  const bool is_reserved = of_label && absl::StartsWith(name, "__");
  const auto may_stand = [of_label](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || (c == ':' && !of_label);
  };
  return !name.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(name.front())) && !is_reserved &&
         std::all_of(name.begin(), name.end(), may_stand);
}

class Reader {
 public:
  Reader(const std::vector<MetricRule>& known, codec::ErrorList& errors) : known_(known), errors_(errors) {}

  void Read(const Value& root, MetricRule& rule) {
    StrictReader reader(root, "", errors_);
    rule.name = ReadKwokObjectHead(root, reader, errors_).name;
    for (const MetricRule& other : known_) {
      if (other.name != rule.name) continue;
      errors_.Add(root.position, absl::StrCat("metadata.name: expected a name that no other Metric has, got ",
                                              api::GoQuote(rule.name)));
    }
    reader.ReadMap("spec", [&](const Value& value, const std::string& path) {
      StrictReader spec(value, path, errors_);
      std::string text;
      spec.Read("path", text);
      if (!absl::StartsWith(text, "/metrics")) {
        errors_.Add(
            value.position,
            absl::StrCat(path, ".path: expected a path that begins with /metrics, got ", api::GoQuote(text)));
      }
      rule.is_of_each_node = absl::StrContains(text, "{nodeName}");
      spec.ReadList("metrics", [&](const Value& item, const std::string& below) {
        MetricFamily family;
        ReadFamily(item, below, family);
        CheckName(item, below, family, rule.metrics);
        rule.metrics.push_back(std::move(family));
      });
      spec.Finish();
    });
    reader.Finish();
  }

 private:
  using Kind = MetricFamily::Kind;
  using Dimension = MetricFamily::Dimension;

  // Source: Prometheus, data model, and client_golang, which registers each name once for an endpoint.
  void CheckName(const Value& item, const std::string& path, const MetricFamily& family,
                 const std::vector<MetricFamily>& before) {
    const auto is_same = [&family](const MetricFamily& other) { return other.name == family.name; };
    if (!IsMetricName(family.name, /*of_label=*/false)) {
      errors_.Add(item.position, absl::StrCat(path,
                                              ".name: expected letters, digits, _ and :, without a digit in "
                                              "front, got ",
                                              api::GoQuote(family.name)));
    } else if (std::any_of(before.begin(), before.end(), is_same)) {
      errors_.Add(item.position, absl::StrCat(path, ".name: expected a name that no other metric has, got ",
                                              api::GoQuote(family.name)));
    }
    for (const MetricRule& rule : known_) {
      const auto other = std::find_if(rule.metrics.begin(), rule.metrics.end(), is_same);
      if (other == rule.metrics.end() || other->kind == family.kind) continue;
      errors_.Add(
          item.position,
          absl::StrCat(path, ".kind: expected that of the metric of this name in Metric ", rule.name));
    }
  }

  void ReadFamily(const Value& item, const std::string& path, MetricFamily& family) {
    StrictReader reader(item, path, errors_);
    reader.Read("name", family.name);
    reader.Read("help", family.help);
    std::string text;
    reader.Read("kind", text);
    family.kind = static_cast<Kind>(OneOf(text, {"counter", "gauge", "histogram"}, item, path + ".kind"));
    text = "node";
    reader.Read("dimension", text);
    family.dimension =
        static_cast<Dimension>(OneOf(text, {"node", "pod", "container"}, item, path + ".dimension"));
    variables_ = {"node", "pod", "container"};
    variables_.resize(static_cast<size_t>(family.dimension) + 1);
    reader.ReadList("labels", [&](const Value& value, const std::string& below) {
      StrictReader label(value, below, errors_);
      std::string name;
      label.Read("name", name);
      std::optional<cel::CelProgram> program = ReadProgram(label, "value", value, below);
      label.Finish();
      const bool is_known = std::any_of(family.labels.begin(), family.labels.end(),
                                        [&name](const MetricLabel& other) { return other.name == name; });
      const bool is_of_bucket = family.kind == Kind::kHistogram && name == "le";
      if (!IsMetricName(name, /*of_label=*/true) || is_of_bucket) {
        errors_.Add(value.position,
                    absl::StrCat(below,
                                 ".name: expected letters, digits and _, without a digit or __ in front, "
                                 "and of a histogram no le, got ",
                                 api::GoQuote(name)));
      } else if (is_known) {
        errors_.Add(
            value.position,
            absl::StrCat(below, ".name: expected a name that no other label has, got ", api::GoQuote(name)));
      }
      if (program.has_value()) family.labels.push_back({std::move(name), *std::move(program)});
    });
    std::sort(family.labels.begin(), family.labels.end(),
              [](const MetricLabel& a, const MetricLabel& b) { return a.name < b.name; });
    if (family.kind == Kind::kHistogram) {
      ReadBuckets(reader, family);
    } else {
      family.value = ReadProgram(reader, "value", item, path);
    }
    reader.Finish();
  }

  void ReadBuckets(StrictReader& reader, MetricFamily& family) {
    reader.ReadList("buckets", [&](const Value& value, const std::string& below) {
      StrictReader bucket(value, below, errors_);
      double le = 0;
      bool hidden = false;
      bucket.Read("le", le);
      bucket.Read("hidden", hidden);
      std::optional<cel::CelProgram> program = ReadProgram(bucket, "value", value, below);
      bucket.Finish();
      if (program.has_value()) family.buckets.push_back({le, *std::move(program), hidden});
    });
    std::stable_sort(family.buckets.begin(), family.buckets.end(),
                     [](const MetricBucket& a, const MetricBucket& b) { return a.le < b.le; });
  }

  size_t OneOf(absl::string_view text, absl::Span<const absl::string_view> words, const Value& at,
               const std::string& path) {
    const auto* const found = std::find(words.begin(), words.end(), text);
    if (found != words.end()) return static_cast<size_t>(found - words.begin());
    errors_.Add(at.position, absl::StrCat(path, ": expected ", words[0], ", ", words[1], " or ", words[2],
                                          ", got ", api::GoQuote(text)));
    return 0;
  }

  std::optional<cel::CelProgram> ReadProgram(StrictReader& reader, absl::string_view field, const Value& map,
                                             const std::string& path) {
    std::string text;
    reader.Read(field, text);
    const Value* value = reader.Take(field);
    if (value == nullptr) {
      errors_.Add(map.position, absl::StrCat(path, ".", field, ": expected an expression"));
      return std::nullopt;
    }
    absl::StatusOr<cel::CelProgram> program = cel::CelProgram::Parse(text, KnownFunctions(), variables_);
    if (program.ok()) return *std::move(program);
    errors_.Add(value->position, absl::StrCat(path, ".", field, ": ", program.status().message(), ", in ",
                                              api::GoQuote(text)));
    return std::nullopt;
  }

  const std::vector<MetricRule>& known_;
  codec::ErrorList& errors_;
  // Those that expressions of the family may name.
  std::vector<absl::string_view> variables_;
};

using UsageFunction = absl::StatusOr<double> (MetricEnvironment::*)(const CelValue&, absl::string_view,
                                                                    absl::string_view);

CelResult CallUsage(const char* name, UsageFunction function, MetricEnvironment& environment,
                    const CelArguments& arguments) {
  const bool has_container = arguments.size() == 3;
  const bool fits = (has_container || arguments.size() == 2) && arguments[0].IsMapLike() &&
                    arguments[1].Is(CelValue::Type::kString) &&
                    (!has_container || arguments[2].Is(CelValue::Type::kString));
  if (!fits) return cel::NoSuchOverload(name, arguments);
  double use = 0;
  ASSIGN_OR_RETURN(use, (environment.*function)(arguments[0], arguments[1].AsString(),
                                                has_container ? arguments[2].AsString() : ""));
  return CelValue::Double(use);
}

// Takes a name, or the node.
CelResult CallStarted(MetricEnvironment& environment, const CelArguments& arguments) {
  const CelValue* name = arguments.size() == 1 ? &arguments[0] : nullptr;
  if (name != nullptr && name->IsMapLike()) {
    const CelValue* metadata = name->Find("metadata");
    name = metadata == nullptr ? nullptr : metadata->Find("name");
  }
  if (name == nullptr || !name->Is(CelValue::Type::kString)) {
    return cel::NoSuchOverload("StartedContainersTotal", arguments);
  }
  return CelValue::Double(static_cast<double>(environment.StartedContainersTotal(name->AsString())));
}

}  // namespace

absl::StatusOr<MetricRule> ReadMetricRule(const Value& document, absl::string_view file,
                                          const std::vector<MetricRule>& known) {
  codec::ErrorList errors(file);
  MetricRule rule;
  Reader(known, errors).Read(document, rule);
  RETURN_IF_ERROR(errors.ToStatus());
  return rule;
}

cel::CelFunctions MetricCelFunctions(cel::CelFunctions functions, MetricEnvironment& environment) {
  functions.Add("Usage", [&environment](const CelArguments& arguments) {
    return CallUsage("Usage", &MetricEnvironment::Usage, environment, arguments);
  });
  functions.Add("CumulativeUsage", [&environment](const CelArguments& arguments) {
    return CallUsage("CumulativeUsage", &MetricEnvironment::CumulativeUsage, environment, arguments);
  });
  for (const char* name : {"StartedContainersTotal", "startedContainersTotal"}) {
    functions.Add(
        name, [&environment](const CelArguments& arguments) { return CallStarted(environment, arguments); });
  }
  return functions;
}

}  // namespace schedsim::sim
