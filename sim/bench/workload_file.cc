#include "sim/bench/workload_file.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codec/config/strict_reader.h"
#include "core/codec/text/input.h"
#include "core/codec/text/reader.h"
#include "sim/bench/workload_op_reader.h"

namespace schedsim::sim {
namespace {

using codec::ErrorList;
using codec::StrictReader;
using codec::Value;

std::string FolderOf(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? std::string() : std::string(path.substr(0, slash + 1));
}

class FileReader {
 public:
  explicit FileReader(const std::string& file)
      : file_(file), errors_(file_), ops_(file_, FolderOf(file), errors_) {}

  absl::StatusOr<std::vector<TestCase>> Read(const Value& root) {
    if (!root.is_array()) {
      return codec::ErrorAt(
          {.file = file_, .position = root.position},
          absl::StrCat("expected a list of test cases, each with a name, a workloadTemplate and "
                       "workloads, got ",
                       codec::Describe(root.type)));
    }
    if (root.items.empty()) Error(root, "no test cases defined");
    std::vector<TestCase> cases;
    std::set<std::string> names;
    for (size_t i = 0; i < root.items.size(); ++i) {
      const std::string path = absl::StrCat("[", i, "]");
      cases.push_back(ReadCase(root.items[i], path));
      const std::string& name = cases.back().name;
      if (!names.insert(name).second)
        Error(root.items[i], absl::StrCat(path, ".name: ", name, " is not unique"));
    }
    RETURN_IF_ERROR(errors_.ToStatusByPlace());
    return cases;
  }

 private:
  void Error(const Value& value, absl::string_view what) { errors_.Add(value.position, what); }

  std::string PlaceOf(const Value& value, absl::string_view path) const {
    return std::string(codec::ErrorAt({.file = file_, .position = value.position}, path).message());
  }

  TestCase ReadCase(const Value& value, const std::string& path) {
    TestCase test_case;
    StrictReader reader(value, path, errors_);
    if (!value.is_object()) return test_case;
    test_case.place = PlaceOf(value, path);
    reader.Read("name", test_case.name);
    if (test_case.name.empty()) Error(value, absl::StrCat(path, ".name: expected a name"));
    ReadGates(reader, test_case.feature_gates);
    ReadMetrics(reader);
    ops_.ReadPath(reader, "schedulerConfigPath", test_case.scheduler_config_path);
    ops_.ReadPath(reader, "defaultPodTemplatePath", test_case.default_pod_template_path);
    reader.ReadStrings("labels", test_case.labels);
    ThresholdMetricSelector metric;
    reader.ReadMap("defaultThresholdMetricSelector", [&](const Value& map, const std::string& map_path) {
      metric = ReadMetricSelector(map, map_path);
    });
    reader.ReadList("workloadTemplate", [&](const Value& item, const std::string& item_path) {
      test_case.steps.push_back(ops_.Read(item, item_path));
    });
    reader.ReadList("workloads", [&](const Value& item, const std::string& item_path) {
      test_case.workloads.push_back(ReadWorkload(item, item_path, metric));
    });
    reader.Finish();
    Check(value, path, test_case);
    return test_case;
  }

  void Check(const Value& value, const std::string& path, const TestCase& test_case) {
    if (test_case.workloads.empty()) Error(value, absl::StrCat(path, ".workloads: no workloads defined"));
    if (test_case.steps.empty()) Error(value, absl::StrCat(path, ".workloadTemplate: no ops defined"));
    std::set<std::string> names;
    for (const WorkloadSpec& workload : test_case.workloads) {
      if (names.insert(workload.name).second) continue;
      Error(value, absl::StrCat(path, ".workloads: the name ", workload.name, " is not unique"));
    }
    const bool collects = std::any_of(test_case.steps.begin(), test_case.steps.end(), CollectsMetrics);
    if (collects || test_case.steps.empty()) return;
    Error(value, absl::StrCat(path, ".workloadTemplate: no op in the workload template collects metrics"));
  }

  static bool CollectsMetrics(const WorkloadStep& step) {
    if (const auto* pods = std::get_if<CreatePodsOp>(&step.op)) return pods->collect_metrics;
    if (const auto* sets = std::get_if<CreatePodSetsOp>(&step.op)) return sets->pods.collect_metrics;
    return std::holds_alternative<StopCollectingMetricsOp>(step.op);
  }

  void ReadGates(StrictReader& reader, std::map<std::string, bool>& gates) {
    reader.ReadMap("featureGates", [&](const Value& map, const std::string& path) {
      for (const codec::Member& member : map.members) {
        if (member.value.type != Value::Type::kBool) {
          Error(member.value, absl::StrCat(path, ".", member.key, ": expected true or false"));
        }
        gates[std::string(member.key)] = member.value.boolean;
      }
    });
  }

  // Which of the real one's histograms are written; none of them is measured here.
  void ReadMetrics(StrictReader& reader) {
    reader.ReadMap("metricsCollectorConfig", [&](const Value& map, const std::string& path) {
      StrictReader config(map, path, errors_);
      config.Skip("metrics");
      config.Finish();
    });
  }

  ThresholdMetricSelector ReadMetricSelector(const Value& value, const std::string& path) {
    ThresholdMetricSelector metric;
    metric.name.clear();
    metric.data_bucket.clear();
    StrictReader reader(value, path, errors_);
    reader.Read("name", metric.name);
    ops_.ReadLabels(reader, "labels", metric.labels);
    reader.Read("dataBucket", metric.data_bucket);
    reader.Read("expectLower", metric.expect_lower);
    reader.Finish();
    if (metric.data_bucket.empty()) {
      Error(value, absl::StrCat(path, ".dataBucket: dataBucket should be set for metric ", metric.name));
    }
    return metric;
  }

  WorkloadSpec ReadWorkload(const Value& value, const std::string& path,
                            const ThresholdMetricSelector& metric) {
    WorkloadSpec workload = {.threshold_metric = metric};
    StrictReader reader(value, path, errors_);
    if (!value.is_object()) return workload;
    workload.place = PlaceOf(value, path);
    reader.Read("name", workload.name);
    if (workload.name.empty()) Error(value, absl::StrCat(path, ".name: expected a name"));
    ops_.ReadParams(reader, "params", workload.params);
    reader.ReadStrings("labels", workload.labels);
    ReadGates(reader, workload.feature_gates);
    ReadThreshold(reader, workload);
    reader.ReadMap("thresholdMetricSelector", [&](const Value& map, const std::string& map_path) {
      workload.threshold_metric = ReadMetricSelector(map, map_path);
    });
    reader.Finish();
    return workload;
  }

  // A number, or numbers by topic.
  void ReadThreshold(StrictReader& reader, WorkloadSpec& workload) {
    const Value* value = reader.Take("threshold");
    if (value == nullptr) return;
    const std::string path = reader.PathOf("threshold");
    const auto read = [&](const Value& number, const std::string& number_path) {
      const GoValue threshold = GoValueOf(number);
      if (threshold.AsFloat() != nullptr && *threshold.AsFloat() >= 0) return *threshold.AsFloat();
      Error(number, absl::StrCat(number_path,
                                 ": expected a number that is not negative, or a map from topics to "
                                 "such numbers"));
      return 0.0;
    };
    if (!value->is_object()) {
      workload.threshold = read(*value, path);
      return;
    }
    for (const codec::Member& member : value->members) {
      const std::string topic(member.key);
      workload.threshold_by_topic[topic] = read(member.value, absl::StrCat(path, ".", topic));
    }
  }

  const std::string file_;
  ErrorList errors_;
  WorkloadOpReader ops_;
};

}  // namespace

absl::StatusOr<std::vector<TestCase>> ReadWorkloadFile(const std::string& path) {
  std::string text;
  ASSIGN_OR_RETURN(text, codec::ReadFile(path));
  const std::string file = path == "-" ? "stdin" : path;
  std::optional<std::vector<TestCase>> cases;
  const auto read = [&](const codec::Document& document) -> absl::Status {
    if (document.root.is_null()) return absl::OkStatus();
    if (cases.has_value()) {
      return codec::ErrorAt({.file = file, .position = document.root.position},
                            "expected one list of test cases, got another document");
    }
    ASSIGN_OR_RETURN(cases, FileReader(file).Read(document.root));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(codec::ReadText(std::move(text), file, {}, read));
  if (cases.has_value()) return *std::move(cases);
  return absl::InvalidArgumentError(absl::StrCat(file, ": expected a list of test cases, got nothing"));
}

}  // namespace schedsim::sim
